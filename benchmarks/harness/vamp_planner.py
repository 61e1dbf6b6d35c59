"""VAMP's RRT-Connect and simplification as a peer, if installed, with paths rechecked by triangles.

Thomason, Kingston and Kavraki, "Motions in Microseconds via Vectorized Sampling-Based Planning",
ICRA 2024; package `vamp-planner`. It approximates a robot by spheres, and checks motions at
samples, eight or more at once, in single precision. Its robots are compiled in. A robot is measured
only if its spheres move with the links of robosim's model and lie at them. Scenes, settings and the
sequence of samples are those of VAMP's own evaluation (`evaluate_mbm.py`): cylinders become
capsules, which cover them, except in the family "box", where they become boxes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from harness.coal_checker import CoalChecker
from harness.problem_sets import Case
from harness.recheck import recheck_path
from harness.report import Report, Row
from robosim.geometry import Shape, collide, pose
from robosim.model import Model
from robosim.scene import Scene
from robosim.scene.objects import pieces_of

ROBOT = "ur5"
BUDGET = 1.0  # [s] the same as for robosim
# Largest motion [m] of a sphere in its link: 20 times the single precision of VAMP's kinematics at
# arm's length.
RIGID = 1e-4
POSES = 20  # random configurations that determine the link of each sphere


def load() -> Any | None:
    """Return the package, or None.

    None means that it is not installed (an audio package has the same name) or lacks the robot.
    """
    try:
        library = import_module("vamp")
    except ImportError:
        return None
    return library if hasattr(library, ROBOT) else None


@dataclass(frozen=True)
class Run:
    """Result of one problem.

    Attributes:
        free: True if VAMP's spheres are free at start and goal; else it does not plan.
        solved: within the budget.
        search: seconds by VAMP's clock, or of processor time if that is less: a busy machine does
            not count.
        simplify: seconds of simplification, likewise.
        again: search and simplification, repeated immediately.
        path: (p, n) in robosim's order of joints; without rows if there is none.
        overlaps: number of configurations on the path, at most 1 mm of motion apart, with
            overlapping triangles.
        deepest: [m] signed distance of the worst configuration.
    """

    free: bool
    solved: bool = False
    search: float = np.nan
    simplify: float = np.nan
    again: float = np.nan
    path: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    overlaps: int = 0
    deepest: float = 0.0

    def checked(self, checker: CoalChecker) -> Run:
        """Return the run with its path checked by a checker of triangles."""
        overlaps, deepest = recheck_path(checker, self.path)
        return replace(self, overlaps=overlaps, deepest=deepest)


def difference(library: Any, model: Model, joints: Sequence[str]) -> str:
    """Describe the difference of VAMP's robot from a model; empty if there is none.

    The model's `joints` move, and the others are at zero.
    """
    robot = getattr(library, ROBOT)
    names = list(robot.joint_names())
    if set(names) != set(joints):
        return f"its joints are {', '.join(names)}"
    columns = [model.position_names.index(name) for name in names]
    q = np.zeros((POSES, model.n_q))
    q[:, columns] = np.random.default_rng(0).uniform(-np.pi, np.pi, (POSES, len(names)))
    spheres = [robot.fk(list(row[columns])) for row in q]
    links = [model.link_poses(row) for row in q]

    # A sphere moves with a link if it is fixed in the link's frame, and lies at the link if it
    # touches the link's collider.
    met = set()
    for i, sphere in enumerate(spheres[0]):
        centers = np.array([[*row[i].position, 1.0] for row in spheres])
        still = set()
        for link in links[0]:
            seen = [
                np.linalg.inv(X[link]) @ center for X, center in zip(links, centers, strict=True)
            ]
            if np.ptp(seen, axis=0).max() < RIGID:
                still.add(link)
        X_WS, ball = pose(centers[0, :3]), Shape.sphere(sphere.r)
        about = {
            c.name
            for c in model.colliders
            if c.link in still and collide(ball, X_WS, c.shape, links[0][c.link] @ c.X_LC)
        }
        if not about:
            return f"its sphere {i} lies about no link that it moves with"
        met |= {c.link for c in model.colliders if c.name in about}
    bare = {c.link for c in model.colliders} - met
    return f"it has no sphere at {', '.join(sorted(bare))}" if bare else ""


def environment(library: Any, family: str, scene: Scene) -> Any:
    """Convert a scene as in VAMP's own evaluation.

    Raises:
        ValueError: shapes that are not boxes, cylinders or spheres.
    """
    said: dict[str, Any] = {"problem": family, "sphere": [], "cylinder": [], "box": []}
    for thing in scene:
        for shape, X_OS in pieces_of(thing):
            X = thing.pose @ X_OS
            entry = {
                "name": thing.name,
                "position": X[:3, 3].tolist(),
                "orientation_euler_xyz": Rotation.from_matrix(X[:3, :3]).as_euler("xyz").tolist(),
            }
            match getattr(shape, "type", "mesh"):
                case "box":
                    entry["half_extents"] = (np.asarray(shape.size) / 2).tolist()
                case "cylinder":
                    entry |= {"radius": shape.radius, "length": shape.length}
                case "sphere":
                    entry["radius"] = shape.radius
                case other:
                    raise ValueError(f"{thing.name}: no {other} here")
            said[shape.type].append(entry)
    return library.problem_dict_to_vamp(said)


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.thread_time()
    done = work()
    return done, min(1e-9 * done.nanoseconds, time.thread_time() - begin)


def run(
    library: Any, case: Case, joints: Sequence[str], start: np.ndarray, goal: np.ndarray
) -> Run:
    """Plan from start to goal (n,) of robosim's `joints`."""
    robot, search, settings, simplification = library.configure_robot_and_planner_with_kwargs(
        ROBOT, "rrtc"
    )
    world = environment(library, case.family.removeprefix("mbm "), case.problem.scene)
    order = [list(joints).index(name) for name in robot.joint_names()]
    ends = [start[order].tolist(), goal[order].tolist()]
    if not all(robot.validate(end, world) for end in ends):
        return Run(free=False)
    sampler = robot.halton()

    def plan() -> tuple[Any, float, float]:
        sampler.reset()
        found, searched = _timed(lambda: search(*ends, world, settings, sampler))
        if not found.solved:
            return found, searched, 0.0
        return *_timed(lambda: robot.simplify(found.path, world, simplification, sampler)), searched

    short, simplified, searched = plan()
    if not short.solved or searched + simplified > BUDGET:
        return Run(free=True)
    path = np.empty((len(short.path), len(order)))
    path[:, order] = [short.path[i] for i in range(len(short.path))]
    return Run(True, True, searched, simplified, sum(plan()[1:]), path)


@dataclass(frozen=True)
class Ours:
    """Figures of robosim: seconds of search with simplification, repetition, lengths, overlaps.

    Lengths are in [rad].
    """

    solved: bool
    both: float
    again: float
    length: float
    optimized: float
    overlaps: int


def add_rows(label: str, pairs: Sequence[tuple[Ours, Run]], report: Report) -> None:
    """Add success, times and safety of both; times are of the problems that both solved."""

    def share(solved: Sequence[bool]) -> float:
        return 100 * float(np.mean(solved))

    name = f"{label}, beside VAMP"
    caught = sum(not run.free for _, run in pairs)
    note = f"n = {len(pairs)}; in {caught} VAMP's spheres collide at start or goal"
    report.add(
        Row(
            f"{name}: solved within {BUDGET:g} s",
            share([ours.solved for ours, _ in pairs]),
            "%",
            share([run.solved for _, run in pairs]),
            note=note,
        )
    )
    pairs = [(ours, run) for ours, run in pairs if ours.solved and run.solved]
    if not pairs:
        return
    note = f"both solved {len(pairs)}"
    first = np.array([(ours.both, run.search + run.simplify) for ours, run in pairs]).T * 1e3
    again = np.array([(ours.again, run.again) for ours, run in pairs]).T * 1e3
    for what, times, percent in (
        ("search and simplification, median", first, 50),
        ("search and simplification, p95", first, 95),
        ("the same, asked again at once, median", again, 50),
        ("the same, asked again at once, p95", again, 95),
    ):
        mine, theirs = np.percentile(times, percent, axis=1)
        report.add(Row(f"{name}: {what}", float(mine), "ms", float(theirs), note=note))
    length = float(
        np.median([np.linalg.norm(np.diff(run.path, axis=0), axis=1).sum() for _, run in pairs])
    )
    for what, lengths in (
        ("path after simplification", [ours.length for ours, _ in pairs]),
        ("path after optimization", [ours.optimized for ours, _ in pairs]),
    ):
        of = f"{note}; peer: simplified by VAMP"
        mine = float(np.median(lengths))
        report.add(Row(f"{name}: {what}, median", mine, "rad", length, of_peer=True, note=of))
    note += (
        f"; VAMP's worst overlaps by at least {-1e3 * min(run.deepest for _, run in pairs):.1f} mm"
    )
    report.add(
        Row(
            f"{name}: paths on which triangles overlap",
            float(sum(ours.overlaps > 0 for ours, _ in pairs)),
            "",
            float(sum(run.overlaps > 0 for _, run in pairs)),
            note=note,
        )
    )
