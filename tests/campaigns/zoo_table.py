"""All scenes of the zoo by one solver and by MuJoCo: times, contact laws, energy, derivatives.

Both sides take the same steps from the same start, on one thread, in alternating blocks of 20. Each
step's time is the least of three identical runs, minus the overhead of a call from Python, which is
measured in the same run. MuJoCo has the elliptic cone and its default tolerance. Contacts of both
are counted, as they may differ. The laws of contact and the energy are audited in sixty steps of
each run. Drift at rest is measured in the last tenth of the runs that come to rest, and derivatives
are compared at states spread over each run. zoo_measures.py defines the figures. The exit status is
1 if a bar is missed.

    python tests/campaigns/zoo_table.py [--solver NAME] [--scene PART]... [--without PART]...
        [--states N] [--seconds S] [--quick] [--markdown] [--json FILE] [--any-machine]
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.mjcf_world import Twin
from harness.report import machine, write_json
from zoo import SCENES, AbsentRobotError, ZooScene
from zoo_measures import AUDITED, Gradients, Laws, drift, gradients, laws, moved
from zoo_timing import Overhead, Patience, Run, overhead, timed_run

from robosim import set_threads
from robosim.simulation import Simulation, StepStatus

STATES, SECONDS = 40, 60.0
RUNS = 3
QUICK = Patience(runs=1, steps=60, states=5, seconds=10.0)
MEDIAN_BAR, P99_BAR, WORST_BAR, MEAN_BAR = 1.5, 3.0, 10.0, 0.8  # relative to MuJoCo's median
OVERLAP_BAR = 1e-4  # [m]
DRIFT_BAR = 1e-6  # [m/s]
MOVED_BAR = 1e-4  # [m] of scenes with `stays`
GLIDING_BAR = 1e-3  # relative to the speed of slip
FLAGGED_BAR, FLAGGED_BAR_OF_IMPACTS = 0.03, 0.1  # fraction of a scene's states
NOT_SOLVED = (StepStatus.relaxed, StepStatus.inconsistent, StepStatus.diverged)
AGREEMENT = 1e-10  # relative, of mass matrix and nonlinear effects of both sides
BY_MACHINE = ("p50", "p99", "worst", "cut")


@dataclass
class Row:
    """All figures of a scene.

    Attributes:
        scene: its name.
        steps: of a run.
        dt: [s].
        p50, p99, worst: times of robosim's steps [s].
        peer_p50, peer_p99, peer_worst: times of MuJoCo's steps [s]; None without a twin.
        contacts, peer_contacts: largest number in one step.
        statuses: of all steps, counted.
        laws: laws of contact, and the energy.
        drift: at rest [m/s]; None if the scene does not come to rest.
        moved: displacement from the start [m]; None if motion is allowed.
        gradients: comparison with differences.
        note: differences of MuJoCo's twin, or the reason for which there is none.
        missed: names of the bars that are missed.
    """

    scene: str
    steps: int
    dt: float
    p50: float
    p99: float
    worst: float
    peer_p50: float | None
    peer_p99: float | None
    peer_worst: float | None
    contacts: int
    peer_contacts: int | None
    peer_overlap: float | None
    statuses: dict[str, int]
    laws: Laws
    drift: float | None
    moved: float | None
    gradients: Gradients
    note: str
    missed: list[str] = field(default_factory=list)

    def ratios(self) -> tuple[float, float, float] | None:
        """Return robosim's median, 99th percentile and longest time over MuJoCo's median."""
        if not self.peer_p50:
            return None
        return self.p50 / self.peer_p50, self.p99 / self.peer_p50, self.worst / self.peer_p50


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solver", default="convex", help="of ours (default convex)")
    parser.add_argument(
        "--scene", action="append", metavar="PART", help="only scenes whose names have this in them"
    )
    parser.add_argument(
        "--without", action="append", default=[], metavar="PART", help="but those that have this"
    )
    parser.add_argument(
        "--states", type=int, help=f"whose derivatives are checked (default {STATES})"
    )
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, metavar="S",
        help=f"the most for our steps in a run, and for derivatives (default {SECONDS:g})",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="short runs, once, and few states")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to a file")
    parser.add_argument("--any-machine", action="store_true", help="do not fail for times")
    options = parser.parse_args()
    # Select the scenes.
    parts = options.scene or [""]
    names = [name for name in SCENES if any(x in name for x in parts)]
    names = [name for name in names if not any(x in name for x in options.without)]
    if not names:
        parser.error(f"no scene is left of {', '.join(SCENES)}")
    set_threads(1)
    patience = Patience(RUNS, sys.maxsize, options.states or STATES, options.seconds)
    if options.quick:
        patience = replace(QUICK, states=options.states or QUICK.states)
    cost = overhead()
    _tell(f"overhead of a call: {1e6 * cost.ours:.2f} us, MuJoCo's {1e6 * cost.peer:.2f} us")
    # Measure the scenes one by one.
    rows, absent = [], []
    for k, name in enumerate(names, start=1):
        begin = time.perf_counter()
        try:
            row = measured(name, SCENES[name](), options.solver, cost, patience)
        except AbsentRobotError as reason:
            absent.append(f"{name}: {reason}")
            continue
        rows.append(row)
        _write(options, rows, absent)
        missed = f"; missed: {', '.join(row.missed)}" if row.missed else ""
        _tell(f"{k} of {len(names)}: {name}, {time.perf_counter() - begin:.1f} s{missed}")
    # Print the figures and the missed bars.
    mean = _mean(rows)
    _print_table(rows, options.markdown)
    failures = [f"{row.scene}: {', '.join(row.missed)}" for row in rows if row.missed]
    judged = [
        row.scene
        for row in rows
        if any(not (options.any_machine and _by_machine(x)) for x in row.missed)
    ]
    if mean is not None:
        print(f"\ngeometric mean of medians, ours / MuJoCo's: {mean:.3f} (bar {MEAN_BAR})")
        if mean > MEAN_BAR:
            failures.append("geometric mean of medians")
            judged += [] if options.any_machine else ["mean"]
    for reason in absent:
        print(f"left out: {reason}")
    print("\nmissed:\n  " + "\n  ".join(failures) if failures else "\nevery bar is reached")
    return 1 if judged else 0


def _write(options: argparse.Namespace, rows: list[Row], absent: list[str]) -> None:
    """Write the results so far, so that an interrupted run leaves them."""
    if options.json is not None:
        content = {
            "solver": options.solver,
            "machine": machine(),
            "mean": _mean(rows),
            "absent": absent,
        }
        write_json(options.json, content | {"rows": [asdict(row) for row in rows]})


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _by_machine(missed: str) -> bool:
    return missed.split()[0] in BY_MACHINE


def _mean(rows: list[Row]) -> float | None:
    """Return the geometric mean of the ratios of medians."""
    ratios = [found[0] for found in (row.ratios() for row in rows) if found is not None]
    return float(np.exp(np.mean(np.log(np.maximum(ratios, 1e-9))))) if ratios else None


def measured(name: str, scene: ZooScene, solver: str, cost: Overhead, patience: Patience) -> Row:
    """Run a scene and measure all of it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*overlap by their hulls")
        simulation = Simulation(scene.world, dt=scene.dt, solver=solver, **scene.options)
    twin, note = _twin_of(scene, simulation)
    asked = min(scene.steps, patience.steps)
    run = timed_run(scene, simulation, twin, asked, cost, patience)
    steps = len(run.controls)
    times, peers = run.times, run.peer_times
    row = Row(
        scene=name,
        steps=steps,
        dt=scene.dt,
        p50=float(np.median(times)),
        p99=float(np.percentile(times, 99)),
        worst=float(times.max()),
        peer_p50=None if twin is None else float(np.median(peers)),
        peer_p99=None if twin is None else float(np.percentile(peers, 99)),
        peer_worst=None if twin is None else float(peers.max()),
        contacts=max(run.contacts),
        peer_contacts=None if twin is None else max(run.peer_contacts),
        peer_overlap=None if twin is None else max(run.peer_overlaps[scene.settles :], default=0.0),
        statuses=dict(Counter(StepStatus(status).name for status in run.statuses)),
        laws=laws(scene, simulation, run, solver, patience),
        drift=drift(simulation, run) if scene.comes_to_rest and steps == scene.steps else None,
        moved=moved(simulation, run) if scene.stays else None,
        gradients=gradients(simulation, run, patience),
        note=note,
    )
    row.missed = _missed(scene, row, run)
    if steps < asked:
        row.missed.append(f"cut at step {steps} of {asked} after {patience.seconds:g} s")
    if row.laws.looked < min(AUDITED, steps):
        row.missed.append(f"cut at {row.laws.looked} of {min(AUDITED, steps)} audits")
    asked = min(patience.states, steps)
    if row.gradients.states < asked:
        row.missed.append(f"cut at {row.gradients.states} of {asked} derivatives")
    return row


def _twin_of(scene: ZooScene, simulation: Simulation) -> tuple[Twin | None, str]:
    """Return MuJoCo's twin of a scene, and a note about its differences.

    Raises:
        AssertionError: the dynamics of both sides do not agree.
    """
    try:
        import mujoco  # noqa: F401 (imported to check that it is installed)
    except ImportError:
        return None, "MuJoCo is not installed"
    if scene.no_twin:
        return None, f"measured alone: {scene.no_twin}"
    twin = Twin(simulation)
    state = simulation.state(scene.q, scene.v)
    v = np.random.default_rng(0).normal(size=simulation.model.n_v)
    error = twin.disagreement(state.q, v)
    assert error < AGREEMENT, f"the dynamics differ from MuJoCo's by {error:.2g}"
    return twin, "; ".join(twin.notes)


def _missed(scene: ZooScene, row: Row, run: Run) -> list[str]:
    """Return the bars that are missed, each with its figure."""
    found = []
    ratios = row.ratios()
    if ratios is not None:
        for name, ratio, bar in zip(
            BY_MACHINE[:3], ratios, (MEDIAN_BAR, P99_BAR, WORST_BAR), strict=True
        ):
            if ratio > bar:
                at = f" at step {int(np.argmax(run.times))}" if name == "worst" else ""
                found.append(f"{name} {ratio:.1f} x{at}")
    for status in NOT_SOLVED:
        count = row.statuses.get(status.name, 0)
        if count and (status == StepStatus.diverged or not scene.contradicts):
            first = next(k for k, x in enumerate(run.statuses) if x == status)
            found.append(f"{count} {status.name} from step {first}")
    laws = row.laws
    if laws.overlap > OVERLAP_BAR and not scene.contradicts:
        found.append(f"overlap {1e3 * laws.overlap:.3g} mm at step {laws.overlap_step}")
    if row.drift is not None and row.drift > DRIFT_BAR:
        found.append(f"drift {row.drift:.1e} m/s")
    if row.moved is not None and row.moved > MOVED_BAR:
        found.append(f"moved by {1e3 * row.moved:.3g} mm")
    if laws.gliding > GLIDING_BAR:
        found.append(f"gliding {laws.gliding:.1e}")
    if laws.gained:
        found.append(f"energy gained in {len(laws.gained)} steps, first {laws.gained[0]}")
    told = row.gradients
    if told.wrong:
        k, error = max(told.wrong.items(), key=lambda x: x[1])
        found.append(f"{len(told.wrong)} gradients wrong, by {error:.1e} at step {k}")
    bar = FLAGGED_BAR_OF_IMPACTS if scene.impacts else FLAGGED_BAR
    if told.flagged_states > bar * told.states:
        causes = ", ".join(f"{name} {n}" for name, n in told.flagged.items())
        found.append(f"{told.flagged_states} of {told.states} flagged ({causes})")
    return found


HEAD = (
    "scene", "p50", "p99", "worst", "MuJoCo", "p50/", "p99/", "worst/", "contacts", "statuses",
    "overlap mm", "MuJoCo's", "moved mm", "drift m/s", "gliding", "cone", "against", "energy",
    "right", "error", "flagged", "untold", "missed", "note",
)  # fmt: skip


def _cells(row: Row) -> list[str]:
    ratios = row.ratios()
    laws, told = row.laws, row.gradients
    peer = "" if row.peer_p50 is None else f"{1e6 * row.peer_p50:.1f}"
    contacts = (
        f"{row.contacts}" if row.peer_contacts is None else f"{row.contacts}/{row.peer_contacts}"
    )
    return [
        row.scene,
        *(f"{1e6 * x:.1f}" for x in (row.p50, row.p99, row.worst)),
        peer,
        *(["", "", ""] if ratios is None else [f"{x:.2f}" for x in ratios]),
        contacts,
        " ".join(f"{name} {n}" for name, n in row.statuses.items()),
        f"{1e3 * laws.overlap:.2g}",
        "" if row.peer_overlap is None else f"{1e3 * row.peer_overlap:.2g}",
        "" if row.moved is None else f"{1e3 * row.moved:.1e}",
        "" if row.drift is None else f"{row.drift:.1e}",
        f"{laws.gliding:.1e}",
        f"{laws.cone:.1e}",
        f"{laws.opposition:.1e}",
        f"{len(laws.gained)}/{laws.audited}",
        f"{told.right}/{told.states}",
        f"{told.error:.1e}",
        f"{told.flagged_states}" + "".join(f" {name}" for name in told.flagged),
        f"{told.untold}",
        f"{len(row.missed)}" if row.missed else "",
        row.note,
    ]


def _print_table(rows: list[Row], markdown: bool) -> None:
    """Print all figures; times are in microseconds."""
    table: list[Any] = [list(HEAD), *(_cells(row) for row in rows)]
    if markdown:
        lines = [f"| {' | '.join(line)} |" for line in table]
        lines.insert(1, "|---" * len(HEAD) + "|")
        print("\n".join(lines))
        return
    widths = [max(len(line[i]) for line in table) for i in range(len(HEAD))]
    for line in table:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        )


if __name__ == "__main__":
    raise SystemExit(main())
