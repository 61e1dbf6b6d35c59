"""Self-collision of robots of convex hulls, compared with coal: any collision, all distances."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from harness import scene_loop
from harness.coal_checker import CoalChecker
from harness.hulls import HullRobot, hull_robots
from harness.scene_loop import SceneLoop
from harness.timing import Patience, Timing, Work, alternate

AGREEMENT = 5e-6  # [m], coal's own precision
STATES = 512
# Initial guesses of coal's GJK (0 default, 1 bounding volumes, 2 last answer) and broad phases. The
# fastest combination counts.
WAYS = ((0, "boxes"), (0, "trees"), (1, "boxes"), (2, "boxes"))


class Measured(NamedTuple):
    """Seconds per configuration of robosim and of the peer, and their ratio by alternation."""

    robot: str
    query: str
    ours: float
    peer: float
    ratio: float


def _repeated(call: Callable[[], object]) -> Work:
    def work(passes: int) -> None:
        for _ in range(passes):
            call()

    return work


def _check(robot: HullRobot, ours: SceneLoop, coal: CoalChecker, q: np.ndarray) -> None:
    """Raise AssertionError unless both sides agree, but for the few pairs that coal gets wrong."""
    mine, theirs = ours.distances(q), coal.distances(q)
    if not np.abs(ours.distances_many(q) - mine).max() < 1e-12:
        raise AssertionError(
            f"{robot.name}: distances at many configurations are not those of one at a time"
        )
    off = np.abs(mine - theirs)
    if not np.median(off) < AGREEMENT or not (off > 1e-4).mean() < 1e-3:
        row, pair = np.unravel_index(off.argmax(), off.shape)
        raise AssertionError(
            f"{robot.name}, state {row}, pair {pair}: {mine[row, pair]}, {theirs[row, pair]} m"
        )
    clear = (mine > 0).all(axis=1)
    touching = int((np.abs(mine) < 1e-9).any(axis=1).sum())
    if abs(ours.count_free(q) - int(clear.sum())) > touching:
        raise AssertionError(
            f"{robot.name}: {ours.count_free(q)} states free, {clear.sum()} by distances"
        )


def _best(
    ours: SceneLoop, coal: CoalChecker, q: np.ndarray, patience: Patience
) -> dict[str, Timing]:
    """Return the timing of each query against coal's fastest variant."""
    rows = coal.rows(q)
    works: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "any collision": (lambda: ours.count_free(q), lambda: coal.count_free_rows(rows)),
        "all distances": (lambda: ours.distances_many(q), lambda: coal.distances_rows(rows)),
        "all distances one by one": (lambda: ours.distances(q), lambda: coal.distances_rows(rows)),
    }
    best: dict[str, Timing] = {}
    for guess, way in WAYS:
        coal.guess(guess)
        coal.use(way)
        for name, (mine, theirs) in works.items():
            if name.startswith("all distances") and way == "trees":
                continue  # every pair is queried, so the trees cannot skip any
            timing = alternate(_repeated(mine), _repeated(theirs), len(q), patience)
            if name not in best or timing.peer < best[name].peer:
                best[name] = timing
    return best


def measure(quick: bool) -> Iterator[Measured]:
    """Measure all robots, at random configurations and along straight motions of 64 steps."""
    library = scene_loop.load()
    patience = Patience(5, 0.02) if quick else Patience(21, 0.05)
    for robot in hull_robots():
        names = [joint.name for joint in robot.model.joints if joint.kind != "fixed"]
        ours = SceneLoop(robot.model, robot.colliders, robot.pairs, library)
        coal = CoalChecker(robot.urdf, names, {}, robot.colliders, [], robot.pairs)
        rng = np.random.default_rng(0)
        anywhere = rng.uniform(-np.pi, np.pi, (STATES, len(names)))
        ends = rng.uniform(-np.pi, np.pi, (STATES // 64 + 1, len(names)))
        moving = np.concatenate([np.linspace(a, b, 64, endpoint=False) for a, b in pairwise(ends)])
        for label, q in (("random states", anywhere), ("motions", moving)):
            coal.guess(0)
            _check(robot, ours, coal, q)
            for query, timing in _best(ours, coal, q, patience).items():
                yield Measured(
                    robot.name, f"{query}, {label}", timing.ours, timing.peer, timing.ratio
                )
