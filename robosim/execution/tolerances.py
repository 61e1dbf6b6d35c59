"""Tolerances of a joint trajectory controller: its own, merged with a goal's, and checks of errors.

In this module 0 means no check. In a goal, 0 stands for the controller's own value and -1 for no
check. If a goal has any other negative value, or a joint that the controller does not have, all of
its tolerances are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import ExecutionError, suggestion
from robosim.execution.messages import Goal, JointTolerance

__all__ = ["ControllerTolerances", "StateTolerance", "Tolerances"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StateTolerance:
    """Largest errors of position and velocity, (n,) each; 0 for no check."""

    position: Array
    velocity: Array

    def violation(
        self, position_error: Array, velocity_error: Array | None
    ) -> tuple[int, str, float, float] | None:
        """Return the first violation, or None.

        It has the joint's index, "position" or "velocity", the error and the tolerance.
        """
        found = (
            _violation("position", position_error, self.position),
            (
                None
                if velocity_error is None
                else _violation("velocity", velocity_error, self.velocity)
            ),
        )
        return min((v for v in found if v is not None), default=None)


def _violation(what: str, error: Array, tolerance: Array) -> tuple[int, str, float, float] | None:
    outside = (np.abs(error) > tolerance) & (tolerance > 0)
    if not outside.any():
        return None
    i = int(outside.argmax())
    return i, what, float(error[i]), float(tolerance[i])


@dataclass(frozen=True, eq=False)
class Tolerances:
    """Tolerances in force during a trajectory.

    `path` applies during the motion, `goal` after the last point. `goal_time` [s] is the time
    allowed to reach the goal then (0 for unlimited).
    """

    path: StateTolerance
    goal: StateTolerance
    goal_time: float


@dataclass(frozen=True)
class ControllerTolerances:
    """A controller's own tolerances, its parameters `constraints.*`; 0 for no check.

    Attributes:
        path: `<joint>.trajectory`, allowed position error during the motion, of all joints or one
            per joint [rad or m].
        goal: `<joint>.goal`, allowed position error at the end.
        stopped_velocity: `stopped_velocity_tolerance`, allowed velocity error at the end [per s].
        goal_time: time allowed to reach the goal tolerance after the last point's time [s]; 0 for
            unlimited.
    """

    path: float | Sequence[float] = 0.0
    goal: float | Sequence[float] = 0.0
    stopped_velocity: float = 0.01
    goal_time: float = 0.0

    def resolve(self, n: int) -> Tolerances:
        """Return the tolerances of n joints.

        Raises ExecutionError for a wrong number of values, or negative or nonfinite values.
        """
        path, goal = _per_joint("path", self.path, n), _per_joint("goal", self.goal, n)
        velocity = _per_joint("stopped_velocity", self.stopped_velocity, n)
        goal_time = float(_per_joint("goal_time", self.goal_time, 1)[0])
        return Tolerances(
            StateTolerance(path, np.zeros(n)), StateTolerance(goal, velocity), goal_time
        )


def _per_joint(field: str, value: ArrayLike, n: int) -> Array:
    array = np.array(value, dtype=float)
    if array.ndim > 1 or (array.ndim == 1 and len(array) != n):
        raise ExecutionError(
            f"tolerances.{field}: must be one number or {n}, has shape {array.shape}"
        )
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise ExecutionError(f"tolerances.{field}: must be finite and not negative, not {value!r}")
    values: Array = np.broadcast_to(array, (n,)).copy()
    return values


def merge(own: Tolerances, goal: Goal, joint_names: Sequence[str]) -> tuple[Tolerances, str]:
    """Return the tolerances for a goal, and the reason if the goal's own are ignored, else ""."""
    try:
        goal_time = _resolve("goal_time_tolerance", own.goal_time, goal.goal_time_tolerance)
        path = _overridden("path_tolerance", own.path, goal.path_tolerance, joint_names)
        end = _overridden("goal_tolerance", own.goal, goal.goal_tolerance, joint_names)
    except ValueError as error:
        return own, f"{error}; the goal's tolerances are ignored, the controller's own are used"
    return Tolerances(path, end, goal_time), ""


def _overridden(
    field: str, own: StateTolerance, given: Iterable[JointTolerance], joint_names: Sequence[str]
) -> StateTolerance:
    position, velocity = own.position.copy(), own.velocity.copy()
    for tolerance in given:
        if tolerance.name not in joint_names:
            raise ValueError(
                f"{field}: there is no joint"
                f" {tolerance.name!r}{suggestion(tolerance.name, joint_names)}"
            )
        i, name = joint_names.index(tolerance.name), f"{field} of {tolerance.name}"
        position[i] = _resolve(f"{name}, position", float(own.position[i]), tolerance.position)
        velocity[i] = _resolve(f"{name}, velocity", float(own.velocity[i]), tolerance.velocity)
        # The acceleration is only checked to be valid, since no arm here measures accelerations.
        _resolve(f"{name}, acceleration", 0.0, tolerance.acceleration)
    return StateTolerance(position, velocity)


def _resolve(field: str, own: float, given: float) -> float:
    if given > 0:
        return float(given)
    if abs(given + 1.0) < np.finfo(float).eps:
        return 0.0
    if given < 0:
        raise ValueError(f"{field}: {given} is not valid, only numbers >= 0 and -1 (no limit) are")
    return own  # 0, and NaN
