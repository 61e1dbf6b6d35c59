"""Collision queries, beside coal in the same run: every pair of shapes, derivatives, self-collision of a UR5.

Both sides run from loops in C++ over the same shapes and poses: coal's functors, one per pair and with the quickest of its
initial guesses in each row, against its wheel; the engine compiled from this checkout. Every query is timed by itself with the
processor's counter, in passes that take turns; a figure is the median over poses of each pose's median over passes, so that what
the machine does meanwhile does not count. coal stops at 1e-6 m, robosim at rounding. Before anything is timed the answers have to
agree; where they do not, ours has to be certified by a pair of supporting planes.

    python benchmarks/bench_collision.py [--quick] [--json FILE] [--markdown FILE] [--only TYPE]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.report import Report, Row, arguments, machine, require_peers

PAIR_BAR, CONVEX_BAR, DERIVATIVES_BAR = 1.0, 0.7, 2.0  # ours / coal's; derivatives / value
ANY_BAR, ALL_BAR = 0.3, 0.4  # UR5: any collision, all distances
AGREEMENT = 5e-6  # [m], coal's own precision


@dataclass(frozen=True)
class Timed:
    """Seconds: ours, the peer's, and their ratio."""

    ours: float
    peer: float

    @property
    def ratio(self) -> float:
        return self.ours / self.peer


class Subject:
    """Pairs of shapes with poses on both sides."""

    def __init__(self, name, poses, libraries):
        from harness.pair_loop import PairLoop

        self.name, self.poses = name, poses
        self.ours, self.coal = (
            PairLoop(library, poses.pairs, poses.X_WA, poses.X_WB) for library in libraries
        )

    def check(self) -> tuple[float, int]:
        """The largest difference of a distance where coal is right, and in how many poses coal is wrong.

        Raises:
            AssertionError: an answer of ours is wrong.
        """
        worst, wrong = 0.0, 0
        for pose in range(self.ours.n):
            ours, theirs = self.ours.answer(pose), self.coal.answer(pose)
            if abs(ours.distance - theirs.distance) < AGREEMENT:
                worst = max(worst, abs(ours.distance - theirs.distance))
            elif ours.distance > theirs.distance:  # a plane that separates by more, or by less overlap, proves ours
                if not abs(self.ours.plane(pose, ours.normal) - ours.distance) < 1e-9:
                    raise AssertionError(f"{self.name}, pose {pose}: {ours} is not certified; coal has {theirs}")
                wrong += 1
            else:  # coal's own normal has to fail
                if self.ours.plane(pose, theirs.normal) > ours.distance + 1e-9:
                    raise AssertionError(f"{self.name}, pose {pose}: {ours}, and coal's plane separates by more: {theirs}")
                wrong += 1
            if abs(ours.distance) > 1e-9 and self.ours.overlap(pose) != (ours.distance < 0):
                raise AssertionError(f"{self.name}, pose {pose}: the distance is {ours.distance}, overlap says otherwise")
        return worst, wrong

    def timed(self, operation, passes: int, *, cold: bool) -> Timed:
        """Ours beside the quickest of coal's guesses."""
        kinds = (0, 1) if cold else (0, 1, 2)
        spent = {kind: [] for kind in ("ours", *kinds)}
        for _ in range(passes):
            for kind in kinds:
                self.coal.guess(kind)
                spent[kind].append(self.coal.seconds(operation, cold=cold))
            spent["ours"].append(self.ours.seconds(operation, cold=cold))
        medians = {kind: float(np.median(np.median(times, axis=0))) for kind, times in spent.items()}
        return Timed(medians["ours"], min(medians[kind] for kind in kinds))

    def derivatives(self, passes: int) -> Timed:
        """Derivatives beside the value that they belong to, both ours."""
        from harness.pair_loop import Operation

        value, rates = [], []
        for _ in range(passes):
            value.append(self.ours.seconds(Operation.DISTANCE, cold=True))
            rates.append(self.ours.seconds(Operation.DERIVATIVES, cold=True))
        return Timed(*(float(np.median(np.median(times, axis=0))) for times in (rates, value)))


def free_and_distances(robot, libraries, quick: bool, report: Report) -> None:
    """Self-collision of a robot of hulls: any collision, then all distances, at random configurations and along motions."""
    from harness.coal_checker import CoalChecker
    from harness.scene_loop import SceneLoop
    from harness.timing import Patience, alternate

    names = [joint.name for joint in robot.model.joints if joint.kind != "fixed"]
    ours = SceneLoop(robot.model, robot.colliders, robot.pairs, libraries)
    coal = CoalChecker(robot.urdf, names, {}, robot.colliders, [], robot.pairs)
    rng = np.random.default_rng(0)
    ends = rng.uniform(-np.pi, np.pi, (9, len(names)))
    motion = np.concatenate([np.linspace(a, b, 64, endpoint=False) for a, b in zip(ends[:-1], ends[1:], strict=True)])
    patience = Patience(5, 0.02) if quick else Patience(21, 0.05)
    for label, q in (("random states", rng.uniform(-np.pi, np.pi, (512, len(names)))), ("along motions", motion)):
        coal.guess(0)
        check_states(robot, ours, coal, q)
        coal_rows = coal.rows(q)
        best: dict[str, tuple[Timed, float]] = {}
        for guess, way in ((0, "boxes"), (0, "trees"), (1, "boxes"), (2, "boxes")):
            coal.guess(guess)
            coal.use(way)
            works = {
                "any collision": (repeated(lambda: ours.count_free(q)), repeated(lambda: coal.count_free_rows(coal_rows))),
                "all distances": (repeated(lambda: ours.distances(q)), repeated(lambda: coal.distances_rows(coal_rows))),
            }
            for work, (mine, theirs) in works.items():
                if work == "all distances" and way == "trees":
                    continue
                t = alternate(mine, theirs, len(q), patience)
                if work not in best or t.peer < best[work][0].peer:
                    best[work] = Timed(t.ours, t.peer), t.ratio
        for work, bar in (("any collision", ANY_BAR), ("all distances", ALL_BAR)):
            add(report, f"{robot.name}, {work}, {label}", best[work][0], bar, ratio=best[work][1])


def repeated(call):
    """A call as often as `alternate` wants it."""

    def work(passes: int) -> None:
        for _ in range(passes):
            call()

    return work


def check_states(robot, ours, coal, q) -> None:
    """Raises AssertionError unless both sides agree where neither is within coal's precision of a touch."""
    mine, theirs = ours.distances(q), coal.distances(q)
    off = np.abs(mine - theirs)
    if not off.max() < 1e-4:
        row, pair = np.unravel_index(off.argmax(), off.shape)
        raise AssertionError(f"{robot.name}, state {row}, pair {pair}: {mine[row, pair]} and {theirs[row, pair]} m")
    clear = (mine > AGREEMENT).all(axis=1)
    touching = ~clear & ~(mine < -AGREEMENT).any(axis=1)
    if abs(ours.count_free(q) - int(clear.sum())) > int(touching.sum()):
        raise AssertionError(f"{robot.name}: {ours.count_free(q)} states called free, {int(clear.sum())} by distances")


def add(report: Report, name: str, timed: Timed, bar: float | None, note: str = "", ratio: float | None = None) -> None:
    """A row in nanoseconds."""
    report.add(
        Row(
            name,
            1e9 * timed.ours,
            "ns",
            1e9 * timed.peer,
            bar=bar,
            on_ratio=True,
            of_peer=True,
            measured=ratio,
            note=note,
        )
    )


def main() -> int:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", help="only pairs with this type of shape, or robot; may be repeated")
    options = parser.parse_args()
    require_peers("coal")
    from harness import shape_pairs
    from harness.pair_loop import Operation, load_coal, load_ours

    libraries = load_ours(), load_coal()
    passes = 5 if options.quick else 25
    report = Report("Collision, beside coal")
    report.remark(
        f"{machine()['cpu']}; coal {metadata.version('coal')}. Load {os.getloadavg()[0]:.2f}."
    )
    for a, b in shape_pairs.type_pairs():
        if options.only and not {a, b} & set(options.only):
            continue
        bar = CONVEX_BAR if a == b == "convex" else PAIR_BAR
        apart, moving = (Subject(f"{a} - {b}", make(a, b), libraries) for make in (shape_pairs.independent, shape_pairs.sequences))
        worst, wrong = np.max([subject.check() for subject in (apart, moving)], axis=0)
        note = f"coal is wrong in {wrong:.0f}" if wrong else ""
        name = f"{a} - {b}"
        add(report, f"{name}, distance", apart.timed(Operation.DISTANCE, passes, cold=True), bar, note)
        add(report, f"{name}, distance in motion", moving.timed(Operation.DISTANCE, passes, cold=False), bar)
        add(report, f"{name}, collision", apart.timed(Operation.OVERLAP, passes, cold=True), bar)
        add(report, f"{name}, derivatives to value", apart.derivatives(passes), DERIVATIVES_BAR)
    if not options.only or "robot" in options.only:
        from harness import scene_loop
        from harness.hulls import hull_robots

        scene_library = scene_loop.load()
        for robot in hull_robots():
            free_and_distances(robot, scene_library, options.quick, report)
    return report.finish(options.json)


if __name__ == "__main__":
    raise SystemExit(main())
