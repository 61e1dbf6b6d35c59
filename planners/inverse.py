"""Inverse kinematics: all configurations that bring a link to a pose, nearest first.

For many poses, one configuration each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import _engine
from robosim.errors import PlanningError, check_type, suggestion
from robosim.model import Model
from robosim.planners.positions import Columns, chain, configuration, joint_kinds, make_columns
from robosim.planners.problem import POSITION_TOLERANCE, ROTATION_TOLERANCE, PoseGoal
from robosim.scene import Scene

__all__ = ["IkResult", "IkResults", "IkStatus", "inverse_kinematics", "inverse_kinematics_many"]

FloatArray = NDArray[np.float64]
# Accuracy of an arm, along [m] and about [rad] the axes.
_HELD = np.repeat((POSITION_TOLERANCE, ROTATION_TOLERANCE), 3)
# Multiple of this accuracy beyond which a miss by the closest attempt means that no configuration
# is within it. The closest attempt minimizes a weighted sum in which a meter counts as two radians
# (engine/planning/ik_residual.cpp).
_HOPELESS = 20.0


@dataclass(frozen=True, eq=False)
class IkResult:
    """Result of inverse kinematics; true if there is a solution.

    Attributes:
        solutions: (k, n_q) distinct configurations within limits, nearest to the start first; k may
            be 0.
        reason: why there is none; empty otherwise.
        closest: (n_q,) the first solution, or the configuration closest to being one.
        position_error: [m] by which `closest` misses the goal, beyond its tolerance.
        rotation_error: [rad] likewise.
        seconds: duration.
    """

    solutions: FloatArray
    reason: str
    closest: FloatArray
    position_error: float
    rotation_error: float
    seconds: float

    def __bool__(self) -> bool:
        return len(self.solutions) > 0


def inverse_kinematics(
    model: Model,
    goal: PoseGoal,
    *,
    start: ArrayLike | None = None,
    joints: Sequence[str] | None = None,
    seed: int = 0,
    n_seeds: int = 100,
    max_solutions: int = 64,
) -> IkResult:
    """Find all distinct configurations within limits with a link at a pose, within tolerances.

    Damped Gauss-Newton in the tangent space from the start and from seeds spread evenly over the
    limits (engine/planning/ik.h). On axes whose tolerance is at most the accuracy of an arm (1e-4
    m, 1e-3 rad) the method solves for the pose itself. Configurations within the tolerance are
    accepted only if no configuration has the pose. An arm with six joints has a finite number of
    solutions; for an arm with more joints, the result is a sample. Collisions are not checked. A
    pose that is farther away than lengths and limits let the joints reach
    (engine/planning/ik_reach.h) takes few attempts, to report by how much.

    Args:
        model: the robot.
        goal: link, pose and tolerances.
        start: (n_q,) reference for the distance of solutions, and for joints that may not move;
            None: neutral.
        joints: names of joints that may move; None takes all that move the link, without a floating
            base.
        seed: of the spread seeds.
        n_seeds: number of spread seeds, after the start itself.
        max_solutions: number of solutions at which the search stops.

    Raises:
        PlanningError: no such link, start or joints.
    """
    check_type(model, Model, "model", PlanningError)
    check_type(goal, PoseGoal, "goal", PlanningError)
    _check_link(model, goal.link)
    reference = _rest(model)
    if start is not None:
        reference = configuration(model, start, reference, "start")
    columns = _columns(model, goal.link, joints)
    bounds = np.concatenate(
        [np.asarray(goal.position_tolerance), np.asarray(goal.rotation_tolerance)]
    )

    def solve(bounds: FloatArray, seeds: FloatArray) -> _engine.IkResult:
        return _engine.inverse_kinematics(
            model._engine,
            model._frame(goal.link),
            goal.pose,
            box_lower=-bounds,
            box_upper=bounds,
            columns=list(columns.q),
            seeds=seeds,
            reference=reference,
            random_seeds=n_seeds,
            seed=seed,
            max_solutions=max_solutions,
            # On these axes configurations within the tolerance are accepted.
            position_slack=float(np.where(held, bounds, 0.0)[:3].max()),
            rotation_slack=float(np.where(held, bounds, 0.0)[3:].max()),
        )

    # Solve for the pose itself on axes with small tolerances. If that nearly succeeds, accept
    # configurations within the tolerances.
    held = bounds <= _HELD
    exact = found = solve(np.where(held, 0.0, bounds), reference[None])
    seconds = found.seconds
    missed = np.repeat(exact.best_error, 3) if len(exact.solutions) == 0 else np.zeros(6)
    if len(exact.solutions) == 0 and bounds[held].any() and (missed <= _HOPELESS * _HELD).all():
        found = solve(bounds, np.array([exact.best, reference]))
        seconds += found.seconds
    solutions = np.asarray(found.solutions)
    if len(solutions):
        position, rotation = found.errors[0]
        return IkResult(solutions, "", solutions[0], float(position), float(rotation), seconds)
    position, rotation = found.best_error
    beyond = found.beyond
    reason = (
        _not_found(goal.link, found.seeds) if beyond is None else out_of_reach(goal.link, *beyond)
    )
    reason += _missed(position, rotation)
    return IkResult(
        solutions.reshape(0, model.n_q), reason, np.asarray(found.best), position, rotation, seconds
    )


def _not_found(link: str, attempts: int) -> str:
    return f"link {link!r} cannot reach the pose: none of {attempts} attempts does"


def _missed(position: float, rotation: float) -> str:
    return f"; the closest misses it by {position:.3g} m and {rotation:.3g} rad"


def _check_link(model: Model, link: str) -> None:
    if link not in model.link_names:
        raise PlanningError(
            f"{model.name!r} has no link {link!r}{suggestion(link, model.link_names)}"
        )


def _rest(model: Model) -> FloatArray:
    """Return the neutral configuration, moved into the limits."""
    q: FloatArray = np.clip(model.neutral(), model.limits.lower, model.limits.upper)
    return q


def _columns(model: Model, link: str, joints: Sequence[str] | None) -> Columns:
    """Coordinates that may move to place a link.

    These are those of `joints`, or of all joints between it and the root except a floating base.
    """
    kinds = joint_kinds(model)
    if joints is None:
        joints = [joint for joint in chain(model, link) if kinds[joint] != "floating"]
    for joint in joints:
        if joint not in model.joint_names or kinds[joint] == "floating":
            raise PlanningError(
                f"joint {joint!r} cannot be moved{suggestion(joint, model.joint_names)}"
            )
    columns = make_columns(model, joints)
    if not columns.q:
        raise PlanningError(f"no joint that may move is on the way to link {link!r}")
    return columns


def out_of_reach(
    link: str, distance: float, least: float, most: float, first: str, last: str
) -> str:
    """Describe why no configuration brings a link to a pose.

    Args:
        link: name of the link.
        distance: [m] between two points, as the pose requires.
        least, most: [m] possible range of that distance.
        first, last: the joints whose axes contain these points, or the link; empty if all joints
            slide.
    """
    limit = f"at most {most:.3g} m" if distance > most else f"at least {least:.3g} m"
    between = "it and the middle of what it can reach"
    if first:
        between = f"joint {first!r} and " + (
            f"joint {last!r} or the link" if first != last else "the link"
        )
    what = f"that takes {distance:.3g} m between {between}, which are {limit} apart"
    return f"link {link!r} cannot reach the pose: {what}"


class IkStatus(IntEnum):
    """Outcome for one of many poses."""

    SOLVED = 0
    """The configuration is a solution."""
    OUT_OF_REACH = 1
    """No configuration within limits has the pose: proven by lengths, without an attempt."""
    IN_COLLISION = 2
    """All solutions that were found collide."""
    NOT_FOUND = 3
    """No attempt reached the pose; the result is the closest."""


@dataclass(frozen=True, eq=False)
class IkResults:
    """Results of inverse kinematics for each of n poses.

    Attributes:
        q: (n, n_q) a configuration within limits with this pose. If there is none, the closest or a
            colliding one; the start if the pose is out of reach.
        status: (n,) of `IkStatus`.
        attempts: (n,) number of attempts, including that from the start.
        position_error: (n,) [m] by which `q` misses the pose, beyond a required region; NaN out of
            reach.
        rotation_error: (n,) [rad] likewise.
    """

    q: FloatArray
    status: NDArray[np.int_]
    attempts: NDArray[np.int_]
    position_error: FloatArray
    rotation_error: FloatArray
    _reach: FloatArray = field(repr=False)
    _names: tuple[str, str, str] = field(repr=False)

    @property
    def solved(self) -> NDArray[np.bool_]:
        """(n,) True if there is a solution."""
        return np.asarray(self.status == IkStatus.SOLVED)

    def __len__(self) -> int:
        return len(self.status)

    def reason(self, i: int) -> str:
        """Describe why there is no solution for pose i; empty if there is one.

        Raises:
            PlanningError: there is no pose i.
        """
        if not 0 <= i < len(self):
            raise PlanningError(f"there is no pose {i}; there are {len(self)}")
        status, link = IkStatus(self.status[i]), self._names[0]
        if status is IkStatus.OUT_OF_REACH:
            distance, least, most = self._reach[i]
            return out_of_reach(link, distance, least, most, *self._names[1:])
        if status is IkStatus.IN_COLLISION:
            return (
                f"all configurations found with link {link!r} at the pose collide, in"
                f" {self.attempts[i]} attempts"
            )
        if status is IkStatus.NOT_FOUND:
            return _not_found(link, self.attempts[i]) + _missed(
                self.position_error[i], self.rotation_error[i]
            )
        return ""


def inverse_kinematics_many(
    model: Model,
    link: str,
    poses: ArrayLike,
    *,
    start: ArrayLike | None = None,
    position_tolerance: ArrayLike = POSITION_TOLERANCE,
    rotation_tolerance: ArrayLike = ROTATION_TOLERANCE,
    joints: Sequence[str] | None = None,
    scene: Scene | _engine.CollisionScene | None = None,
    seed: int = 0,
    attempts: int = 101,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> IkResults:
    """Find one configuration within limits for each of many poses of a link.

    With a scene, the configurations are free of collision. The method is Levenberg's as in
    `inverse_kinematics`, with many poses side by side in the lanes of the processor's registers and
    on several threads (engine/planning/ik_lanes.h). Attempts begin at the start, then at random
    configurations whose pose is near the goal. Poses out of reach take no attempt. The results do
    not depend on the number of threads.

    Args:
        model: the robot.
        link: any of its links.
        poses: (n, 4, 4) goal poses X_WL.
        start: (n_q,) or (n, n_q): the first attempt of all or of each, and the positions of joints
            that may not move; None: neutral.
        position_tolerance: [m] one number or (3,) along the axes of each pose, as of a `PoseGoal`.
            Up to the accuracy of an arm (1e-4 m) the method solves for the pose itself, and accepts
            configurations within the tolerance only if none has the pose. Infinity leaves an axis
            free.
        rotation_tolerance: [rad] likewise about the axes of each pose (1e-3 rad).
        joints: names of joints that may move; None takes all that move the link, without a floating
            base.
        scene: solutions are free of collision with it and of the robot with itself: a `Scene`, or
            one compiled for this model. None: collisions are not checked.
        seed: of the random configurations.
        attempts: upper bound per pose.
        threads: upper bound; None for as many as allowed.
        progress: called repeatedly with the number of poses done. If it returns False, the
            remaining poses are not found.

    Raises:
        PlanningError: no such link, start or joints; invalid poses; attempts below one.
    """
    check_type(model, Model, "model", PlanningError)
    _check_link(model, link)
    X = _poses(poses)
    columns = _columns(model, link, joints)
    reference: FloatArray = _rest(model)
    if start is not None:
        given = np.asarray(start)
        if given.ndim == 2:
            reference = _starts(model, given, len(X))
        else:
            reference = configuration(model, start, reference, "start")
    # PoseGoal parses the tolerances, and reports errors in them.
    goal = PoseGoal(link, np.eye(4), position_tolerance, rotation_tolerance)
    bounds = np.concatenate(
        [np.asarray(goal.position_tolerance), np.asarray(goal.rotation_tolerance)]
    )
    # Small tolerances only accept solutions: the box of these axes is the pose itself.
    held = bounds <= _HELD
    box = np.where(held, 0.0, bounds)
    accepted = np.maximum(np.where(held, bounds, 1e-6).reshape(2, 3).min(axis=1), 1e-6)
    for name, value, least in (
        ("attempts", attempts, 1),
        ("threads", 1 if threads is None else threads, 1),
        ("seed", seed, 0),
    ):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
            raise PlanningError(f"{name} is {value!r}; it must be a whole number, at least {least}")
    if scene is not None and not isinstance(scene, _engine.CollisionScene):
        check_type(scene, Scene, "scene", PlanningError)
        scene = scene.compile(model)
    found = _engine.inverse_kinematics_many(
        model._engine,
        model._frame(link),
        X,
        start=reference,
        columns=list(columns.q),
        lower=columns.lower,
        upper=columns.upper,
        box_lower=-box,
        box_upper=box,
        position_tolerance=accepted[0],
        rotation_tolerance=accepted[1],
        scene=scene,
        seed=int(seed),
        attempts=int(attempts),
        threads=0 if threads is None else int(threads),
        progress=progress,
    )
    return IkResults(
        found["q"],
        found["status"],
        found["attempts"],
        found["position_error"],
        found["rotation_error"],
        found["reach"],
        (link, *found["joints"]),
    )


def _poses(value: ArrayLike) -> FloatArray:
    """Return (n, 4, 4) rigid transforms."""
    try:
        X = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        X = np.empty(0)
    if X.ndim != 3 or X.shape[1:] != (4, 4):
        raise PlanningError(
            f"poses has shape {X.shape}; expected (1, 4, 4) for one pose, (n, 4, 4) for n"
        )
    R = X[:, :3, :3]
    finite = np.isfinite(X).all(axis=(1, 2))
    with np.errstate(invalid="ignore", over="ignore"):
        turned = np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2), initial=0.0) <= 1e-6
        rigid = finite & turned & (np.linalg.det(R) > 0) & (X[:, 3] == (0, 0, 0, 1)).all(axis=1)
    for i in np.flatnonzero(~rigid):
        raise PlanningError(f"poses[{i}] is not a rigid transform: {X[i].tolist()}")
    return X


def _starts(model: Model, start: NDArray[np.generic], n: int) -> FloatArray:
    """Return (n, n_q), one start for each pose."""
    if start.dtype.kind not in "iuf" or start.shape != (n, model.n_q):
        raise PlanningError(
            f"start has shape {start.shape}; expected ({model.n_q},), or one for each pose,"
            f" {(n, model.n_q)}"
        )
    out: FloatArray = start.astype(float)
    for i in np.flatnonzero(~np.isfinite(out).all(axis=1)):
        raise PlanningError(f"start[{i}] is {out[i].tolist()}; it must be finite")
    return out
