"""Inverse kinematics: every configuration that brings a link to a pose, nearest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import _engine
from robosim.errors import PlanningError, check_type, suggestion
from robosim.model import Model
from robosim.planners.positions import chain, configuration, joint_kinds, make_columns
from robosim.planners.problem import POSITION_TOLERANCE, ROTATION_TOLERANCE, PoseGoal

__all__ = ["IkResult", "inverse_kinematics"]

FloatArray = NDArray[np.float64]
# What an arm can hold, along [m] and about [rad] the axes.
_HELD = np.repeat((POSITION_TOLERANCE, ROTATION_TOLERANCE), 3)
# Where the closest of all attempts misses a pose by more than so many of these, none is within them of it. It is the
# closest in a weighted sum, in which a meter counts as two radians (engine/planning/ik_residual.cpp).
_HOPELESS = 20.0


@dataclass(frozen=True, eq=False)
class IkResult:
    """What inverse kinematics found; true when there is a solution.

    Attributes:
        solutions: (k, n_q) distinct configurations within limits, nearest to the start first; k may be 0.
        reason: why there is none; empty otherwise.
        closest: (n_q,) the first solution, or the configuration that came closest to being one.
        position_error: [m] by which `closest` misses the goal, beyond its tolerance.
        rotation_error: [rad] likewise.
        seconds: that it took.
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
    """All distinct configurations within limits in which a link is at a pose, or within its tolerances of it.

    Damped Gauss-Newton in the tangent space from the start and from seeds spread evenly over the limits
    (engine/planning/ik.h). On axes whose tolerance is no more than an arm can hold (1e-4 m, 1e-3 rad) the pose itself
    is sought, and the tolerance only accepts what comes near where nothing reaches it. An arm with six joints has a
    finite number of them; for one with more, they are a sample. Collisions are not looked at.

    Args:
        model: the robot.
        goal: link, pose and tolerances.
        start: (n_q,) what the solutions are to be near to, and where joints that may not move stay; None: neutral.
        joints: names of those that may move; None takes all that move the link, without a floating base.
        seed: of the spread seeds.
        n_seeds: how many of them, after the start itself.
        max_solutions: stop at so many.

    Raises:
        PlanningError: no such link, start or joints.
    """
    check_type(model, Model, "model", PlanningError)
    check_type(goal, PoseGoal, "goal", PlanningError)
    if goal.link not in model.link_names:
        raise PlanningError(
            f"{model.name!r} has no link {goal.link!r}{suggestion(goal.link, model.link_names)}"
        )
    reference = np.clip(model.neutral(), model.limits.lower, model.limits.upper)
    if start is not None:
        reference = configuration(model, start, reference, "start")
    kinds = joint_kinds(model)
    if joints is None:
        joints = [joint for joint in chain(model, goal.link) if kinds[joint] != "floating"]
    for joint in joints:
        if joint not in model.joint_names or kinds[joint] == "floating":
            raise PlanningError(f"joint {joint!r} cannot be moved{suggestion(joint, model.joint_names)}")
    columns = make_columns(model, joints)
    if not columns.q:
        raise PlanningError(f"no joint that may move is on the way to link {goal.link!r}")
    bounds = np.concatenate([np.asarray(goal.position_tolerance), np.asarray(goal.rotation_tolerance)])

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
        )

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
    reason = (
        f"link {goal.link!r} cannot reach the pose: the closest of {found.seeds} attempts misses it by "
        f"{position:.3g} m and {rotation:.3g} rad"
    )
    return IkResult(
        solutions.reshape(0, model.n_q), reason, np.asarray(found.best), position, rotation, seconds
    )
