"""Collision queries compared with coal: all pairs of shapes, derivatives, self-collision of a UR5.

Both sides run in the same process from loops in C++ over the same shapes and poses. coal's functors
come from its wheel, one per pair and with the fastest of its initial guesses in each row. The
engine is compiled from this checkout. Every query is timed by itself with the processor's counter,
in passes that alternate. A figure is the median over poses of each pose's median over passes, so
that disturbances hardly count. coal stops at 1e-6 m, robosim at rounding. Before any timing the
results are compared. Where they differ, a pair of supporting planes has to certify robosim's.

    python benchmarks/bench_collision.py [--quick] [--json FILE] [--markdown FILE] [--only TYPE]
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.report import Report, Row, arguments, machine, require_peers
from harness.timing import Bystanders

PAIR_BAR, CONVEX_BAR = 1.0, 0.7  # ours / coal's
DERIVATIVES_BAR = 2.0  # alone / value in C++; with the value, as matrices / value from Python
ANY_BAR, ALL_BAR = 0.3, 0.4  # UR5: any collision, all distances
CALLS = 10  # calls from Python in a row, so that the clock's own time is negligible
AGREEMENT = 5e-6  # [m], coal's own precision


@dataclass(frozen=True)
class Timed:
    """Seconds of robosim and of the peer."""

    ours: float
    peer: float


class Subject:
    """Pairs of shapes with poses on both sides."""

    def __init__(self, name, poses, libraries):
        from harness.pair_loop import PairLoop

        self.name, self.poses = name, poses
        self.ours, self.coal = (
            PairLoop(library, poses.pairs, poses.X_WA, poses.X_WB) for library in libraries
        )

    def check(self) -> int:
        """Count the poses in which coal is wrong by more than its precision.

        Raises:
            AssertionError: a result of robosim is wrong.
        """
        wrong = 0
        for pose in range(self.ours.n):
            ours, theirs = self.ours.answer(pose), self.coal.answer(pose)
            if abs(ours.distance) > 1e-9 and self.ours.overlap(pose) != (ours.distance < 0):
                raise AssertionError(
                    f"{self.name}, pose {pose}: {ours}, but overlap says otherwise"
                )
            if abs(ours.distance - theirs.distance) < AGREEMENT:
                continue
            wrong += 1
            if ours.distance > theirs.distance:  # a separating plane proves the distance
                if not abs(self.ours.plane(pose, ours.normal) - ours.distance) < 1e-9:
                    raise AssertionError(
                        f"{self.name}, pose {pose}: {ours} is not certified; coal: {theirs}"
                    )
            elif self.ours.plane(pose, theirs.normal) > ours.distance + 1e-9:
                raise AssertionError(
                    f"{self.name}, pose {pose}: {ours}, coal's plane is better: {theirs}"
                )
        return wrong

    def timed(self, operation, passes: int, *, cold: bool) -> Timed:
        """Time robosim against the fastest of coal's guesses."""
        kinds = (0, 1) if cold else (0, 1, 2)
        spent = {kind: [] for kind in ("ours", *kinds)}
        for _ in range(passes):
            for kind in kinds:
                self.coal.guess(kind)
                spent[kind].append(self.coal.seconds(operation, cold=cold))
            spent["ours"].append(self.ours.seconds(operation, cold=cold))
        medians = {
            kind: float(np.median(np.median(times, axis=0))) for kind, times in spent.items()
        }
        return Timed(medians["ours"], min(medians[kind] for kind in kinds))

    def derivatives(self, passes: int) -> tuple[Timed, Timed]:
        """Time robosim's derivatives in both poses, factored and dense, against their value."""
        from harness.pair_loop import Operation

        operations = Operation.FACTORS, Operation.DENSE, Operation.DISTANCE
        spent = {operation: [] for operation in operations}
        for _ in range(passes):
            for operation, times in spent.items():
                times.append(self.ours.seconds(operation, cold=True))
        factors, dense, value = (
            float(np.median(np.median(times, axis=0))) for times in spent.values()
        )
        return Timed(factors, value), Timed(dense, value)

    def from_python(self, passes: int) -> tuple[Timed, float]:
        """Time derivatives as matrices with their value against the value alone, from Python.

        Returns:
            The times, and their ratio.
        """
        from robosim.geometry import signed_distance, signed_distance_derivatives

        shapes = [pair for pair in self.poses.pairs for _ in range(self.ours.n_per_pair)]
        asked = [
            (A, X_WA, B, X_WB)
            for (A, B), X_WA, X_WB in zip(shapes, self.poses.X_WA, self.poses.X_WB, strict=True)
        ]
        queries = signed_distance_derivatives, signed_distance
        spent = np.array(
            [
                [[_call(query, arguments) for query in queries] for arguments in asked]
                for _ in range(passes)
            ]
        )
        both, value = np.median(spent, axis=(0, 1))
        return Timed(float(both), float(value)), float(np.median(spent[..., 0] / spent[..., 1]))


def _call(query, arguments) -> float:
    """Time [s] of one call, averaged over several in a row."""
    begin = time.perf_counter_ns()
    for _ in range(CALLS):
        query(*arguments)
    return 1e-9 * (time.perf_counter_ns() - begin) / CALLS


def add(
    report: Report,
    name: str,
    timed: Timed,
    bar: float | None,
    note: str = "",
    ratio: float | None = None,
) -> None:
    """Add a row in nanoseconds."""
    figures = 1e9 * timed.ours, "ns", 1e9 * timed.peer, bar
    report.add(Row(name, *figures, on_ratio=True, of_peer=True, measured=ratio, note=note))


def pairs(report: Report, only: list[str] | None, passes: int) -> None:
    """Add rows for all pairs of shapes."""
    from harness import shape_pairs
    from harness.pair_loop import Operation, load_coal, load_ours

    libraries = load_ours(), load_coal()
    for a, b in shape_pairs.type_pairs():
        if only and not {a, b} & set(only):
            continue
        bar = CONVEX_BAR if a == b == "convex" else PAIR_BAR
        name = f"{a} - {b}"
        apart = Subject(name, shape_pairs.independent(a, b), libraries)
        moving = Subject(name, shape_pairs.sequences(a, b), libraries)
        wrong = apart.check() + moving.check()
        note = f"coal is wrong in {wrong} of {apart.ours.n + moving.ours.n} poses" if wrong else ""
        add(
            report,
            f"{name}, distance",
            apart.timed(Operation.DISTANCE, passes, cold=True),
            bar,
            note,
        )
        add(
            report,
            f"{name}, distance in motion",
            moving.timed(Operation.DISTANCE, passes, cold=False),
            bar,
        )
        add(report, f"{name}, collision", apart.timed(Operation.OVERLAP, passes, cold=True), bar)
        factors, dense = apart.derivatives(passes)
        add(report, f"{name}, derivatives to value", factors, DERIVATIVES_BAR)
        add(report, f"{name}, as 120 numbers", dense, DERIVATIVES_BAR)
        both, ratio = apart.from_python(passes)
        add(report, f"{name}, from Python", both, DERIVATIVES_BAR, ratio=ratio)


def robots(report: Report, quick: bool) -> None:
    """Add rows for self-collision of a UR5 of convex hulls."""
    from harness.self_collision import measure

    for name, query, ours, peer, ratio in measure(quick):
        bar = ANY_BAR if query.startswith("any") else None if "one by one" in query else ALL_BAR
        add(report, f"{name}, {query}", Timed(ours, peer), bar, ratio=ratio)


def main() -> int:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument(
        "--only",
        action="append",
        help="only pairs with this type of shape, or robot; may be repeated",
    )
    parser.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        help="write tables, into a page between its markers",
    )
    options = parser.parse_args()
    require_peers("coal", "pin", "example-robot-data")
    from harness import collision_table, page

    report = Report("Collision, beside coal")
    conditions = f"{machine()['cpu']}; coal {metadata.version('coal')}."
    report.remark(f"{conditions} Load {os.getloadavg()[0]:.2f}.")
    bystanders = Bystanders()
    pairs(report, options.only, 5 if options.quick else 25)
    if not options.only or "robot" in options.only:
        robots(report, options.quick)
    report.remark(f"Other programs used {100 * bystanders.share():.0f} % of a processor meanwhile.")
    if options.markdown is not None:
        text = collision_table.document(conditions, report.rows)
        page.write(options.markdown, text, "collision tables")
    return report.finish(options)


if __name__ == "__main__":
    raise SystemExit(main())
