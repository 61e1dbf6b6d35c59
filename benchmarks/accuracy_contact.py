"""Accuracy of the derivatives of steps with contact: all Jacobians and all parameters.

Each is compared with Ridders differences of the production step itself, for all three solvers, in
scenes with robots, boxes, balls and triangle meshes, thrown and at rest. The comparison is along
random directions, one per block and state and one per kind of parameter and state, with all rows of
the Jacobian at once. Where modes and features are the same at all points of the differences, the
bar is 1e-8 of the block's largest entry. All other states are counted separately. There the
one-sided derivative is compared, to 1e-5, and the derivative of the same step in dual numbers with
fixed modes, to 1e-10. Products with random covectors (`vjp`) are compared with the matrices.
Products with random directions of all numbers (`jvp`) are compared with the covector products.
Second-order products (`hvp`) along one direction are compared with those along another. A quick run
leaves out parameters. If Nimble is installed, its Jacobians at rest, like robosim's, are compared
with differences of its own step, for the robots of `bench_contact.py` that its paper measures.

In five scenes rows are almost linearly dependent, or most states are close to a change of mode.
Bars that are known to be missed there are in `KNOWN`, with other limits that must be kept.

    python benchmarks/accuracy_contact.py [--states 1000] [--quick] [--keep FILE]
                                          [--markdown docs/simulation.md] [--json FILE]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.report import Report, Row, arguments

if TYPE_CHECKING:
    from harness.contact_accuracy import Tally

STATES, QUICK_STATES = 1000, 6
APART_BAR = 0.1
SHOWN = 5  # failures shown per scene


class Known(NamedTuple):
    """Limits that replace bars which a scene is known to miss with a solver.

    Attributes:
        apart: fraction of states with a direction along which something changes.
        one_side: error of one-sided derivatives.
        frozen: error relative to the same step in dual numbers.
        products: error of products relative to the matrices.
        failures: number of failures per state.
    """

    apart: float | None = None
    one_side: float | None = None
    frozen: float | None = None
    products: float | None = None
    failures: float | None = None


# Limits by scene and solver. They are set by hand, above the figures of 25 states with seed 1
# (docs/simulation.md).
KNOWN = {
    ("jump worm", "pgs"): Known(apart=0.3),
    ("race car", "lcp"): Known(apart=0.6, products=1e-9, failures=0.4),
    ("race car", "convex"): Known(products=1e-9, failures=0.8),
    ("balls in a pit", "pgs"): Known(frozen=1e-9, products=1e-8, failures=1.5),
    ("round things on a floor", "pgs"): Known(apart=0.8),
}


def main() -> int:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument(
        "--states", type=int, default=STATES, help="per scene and solver (default 1000)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of states and directions")
    parser.add_argument(
        "--only", action="append", metavar="SCENE", help="this scene; may be given again"
    )
    parser.add_argument("--solver", action="append", help="with this one; may be given again")
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FILE",
        help="what is found, as it is; the next run with it goes on from there",
    )
    parser.add_argument("--processes", type=int, help="at a time (default: as many as cores)")
    parser.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        help="write the table, into a page between its markers",
    )
    options = parser.parse_args()
    from harness import contact_table, page
    from harness.contact_accuracy import SOLVERS, compared
    from harness.kept_tallies import KeptTallies
    from harness.touching_scenes import SCENES

    states = QUICK_STATES if options.quick else options.states
    names = options.only or list(SCENES)
    solvers = options.solver or list(SOLVERS)
    for what, given, known in (("scene", names, SCENES), ("solver", solvers, SOLVERS)):
        for x in given:
            if x not in known:
                parser.error(f"{what} {x!r} is not known; there are {', '.join(known)}")
    jobs = [(name, solver) for name in names for solver in solvers]
    report, start = Report("Accuracy of derivatives of steps with contact"), time.perf_counter()
    found = KeptTallies(options.keep, states, options.seed, parameters=not options.quick)
    # Jobs with kept tallies are done. All others run in parallel.
    for job in jobs:
        if job in found:
            report.remark(f"kept: {contact_table.line(found[job])}")
    with ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool:
        running = {
            pool.submit(compared, *job, states, options.seed, parameters=not options.quick): job
            for job in jobs
            if job not in found
        }
        for k, future in enumerate(as_completed(running), start=1):
            tally = future.result()
            found.add(running[future], tally)
            report.remark(
                f"{k} of {len(running)}, {time.perf_counter() - start:.0f} s:"
                f" {contact_table.line(tally)}"
            )
            for failure in tally.failures[:SHOWN]:
                report.remark(
                    f"  seed {failure.seed}, state {failure.case}: {failure.what}, off by"
                    f" {failure.error:.1e}"
                )
    tallies = [found[job] for job in jobs]
    for tally in tallies:
        for row in judged(tally):
            report.add(row)
    beside_nimble(report)
    if options.markdown is not None:
        text = contact_table.document(tallies, states, options.seed)
        page.write(options.markdown, text, "contact accuracy table")
    return report.finish(options)


def judged(tally: Tally) -> Iterator[Row]:
    """Yield the rows of a scene with a solver, each with its bar, or with a limit of `KNOWN`."""
    from harness import contact_table
    from harness.contact_accuracy import BAR, FROZEN_BAR, ONE_SIDED_BAR, PRODUCT_BAR

    name, states = f"{tally.scene}, {tally.solver}", max(tally.states, 1)
    known = KNOWN.get((tally.scene, tally.solver), Known())
    for kind, error, what, at in contact_table.worst(tally):
        yield Row(f"{name}: {kind}", error, bar=BAR, note=f"{what}, state {at}")
    for what, value, bar, limit in (
        ("one side", tally.worst_side, ONE_SIDED_BAR, known.one_side),
        ("dual numbers", tally.worst_frozen, FROZEN_BAR, known.frozen),
        ("products", tally.products, PRODUCT_BAR, known.products),
        ("states apart", tally.apart / states, APART_BAR, known.apart),
        ("failures for each state", len(tally.failures) / states, 0, known.failures),
    ):
        missed = limit is not None and value > bar
        yield Row(
            f"{name}: {what}",
            value,
            bar=bar if limit is None else limit,
            note=f"known to miss its bar, {bar:g}" if missed else "",
        )


def beside_nimble(report: Report) -> None:
    """Add rows with the errors of Nimble's and robosim's Jacobians at rest, at the same states."""
    from harness import nimble_peer
    from harness.contact_accuracy import BAR
    from harness.contact_scenes import DT, FRICTION, KINDS, make
    from harness.differences import Differences

    library = nimble_peer.load()
    if library is None:
        report.remark(
            "Nimble is not installed (nimblephysics, with numpy<2): nothing is compared with it"
        )
        return
    for kind in KINDS:
        if kind.published is None:
            continue
        try:
            scene = make(kind)
        except FileNotFoundError as error:
            report.remark(f"{kind.name}: not compared with Nimble, {error}")
            continue
        simulation = scene.simulations["lcp"]
        ours = Differences(simulation, scene.rest, scene.control).error()
        peer = nimble_peer.NimbleWorld(
            library, scene.model, simulation.pairs, dt=DT, friction=FRICTION
        )
        peer.put(scene.rest.q, scene.rest.v, scene.tau)
        theirs = peer.error()
        kink = simulation.linearize(scene.rest, scene.control).jacobians().one_sided
        report.add(
            Row(
                f"{kind.name} at rest, beside Nimble: Jacobians",
                ours,
                bar=None if kink else BAR,
                note=("one-sided: a kink here; " if kink else "")
                + f"Nimble's {theirs.largest:.2g}, {100 * theirs.open:.0f} % of its entries have no"
                " differences",
            )
        )


if __name__ == "__main__":
    raise SystemExit(main())
