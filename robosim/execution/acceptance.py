"""Acceptance checks of a joint trajectory controller, in its order, with reasons.

Each reason names the object and its value. Two checks are added to those of ros2_controllers:
repeated joints, and times that are not finite. With limits, points that are not finite or outside
the limits are refused, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.errors import suggestion
from robosim.execution.goals import Rejection, RejectReason
from robosim.execution.messages import JointTrajectory, JointTrajectoryPoint
from robosim.trajectory import TrajectoryLimits

__all__ = ["AcceptanceRules", "check"]

Array = NDArray[np.float64]

# Last velocities below this value (float32's rounding unit) count as zero, as in ros2_controllers.
END_VELOCITY = float(np.finfo(np.float32).eps)


@dataclass(frozen=True, eq=False)
class AcceptanceRules:
    """Rules by which a trajectory is accepted.

    Attributes:
        joint_names: (n) joints of the controller.
        allow_partial_joints_goal: True if a trajectory may omit joints.
        allow_nonzero_velocity_at_trajectory_end: True if a trajectory may end moving.
        limits: limits of the n joints, in their order; None for no check.
        limits_tolerance: relative excess over a limit that is accepted, for rounding.
    """

    joint_names: tuple[str, ...]
    allow_partial_joints_goal: bool = False
    allow_nonzero_velocity_at_trajectory_end: bool = False
    limits: TrajectoryLimits | None = None
    limits_tolerance: float = 1e-6


def check(trajectory: JointTrajectory, now: float, rules: AcceptanceRules) -> Rejection | None:
    """Return None if a controller accepts the trajectory at `now` [s], else the first fault."""
    return (
        _check_names(trajectory, rules)
        or _check_end(trajectory, now, rules)
        or _check_points(trajectory)
        or (
            _check_limits(trajectory, rules.joint_names, rules.limits, rules.limits_tolerance)
            if rules.limits
            else None
        )
    )


def _check_names(trajectory: JointTrajectory, rules: AcceptanceRules) -> Rejection | None:
    names, known = trajectory.joint_names, rules.joint_names
    if not rules.allow_partial_joints_goal and len(names) != len(known):
        text = (
            f"the trajectory has {len(names)} joints ({_list(names)}), the controller {len(known)}:"
            f" {_list(known)}"
        )
        return Rejection(RejectReason.JOINT_COUNT, text)
    if not names:
        return Rejection(
            RejectReason.NO_JOINTS, f"the trajectory names no joints; known: {_list(known)}"
        )
    if not trajectory.points:
        return Rejection(
            RejectReason.NO_POINTS, "the trajectory has no points; it needs one or more"
        )
    for name in names:
        if name not in known:
            text = f"there is no joint {name!r}{suggestion(name, known)}"
            return Rejection(RejectReason.UNKNOWN_JOINT, text)
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        return Rejection(
            RejectReason.REPEATED_JOINT,
            f"joint {repeated!r} is named {names.count(repeated)} times, not once",
        )
    return None


def _check_end(trajectory: JointTrajectory, now: float, rules: AcceptanceRules) -> Rejection | None:
    last = trajectory.points[-1]
    if not rules.allow_nonzero_velocity_at_trajectory_end:
        for name, velocity in zip(trajectory.joint_names, last.velocities, strict=False):
            if abs(velocity) > END_VELOCITY:
                text = f"the last point moves {name} at {velocity:.9g}, it must be at rest"
                return Rejection(RejectReason.END_VELOCITY, text)
    end = trajectory.stamp + last.time_from_start
    if trajectory.stamp != 0 and end < now:
        text = (
            f"the trajectory starts at {trajectory.stamp:.9f} s and ends at {end:.9f} s, before"
            f" now, {now:.9f} s"
        )
        return Rejection(RejectReason.ENDS_IN_PAST, text)
    return None


def _check_points(trajectory: JointTrajectory) -> Rejection | None:
    n, before = len(trajectory.joint_names), 0.0
    if not np.isfinite(trajectory.stamp):
        return Rejection(RejectReason.TIMES, f"the stamp is {trajectory.stamp}, it must be finite")
    for i, point in enumerate(trajectory.points):
        time = point.time_from_start
        if not np.isfinite(time):
            return Rejection(
                RejectReason.TIMES, f"the time of point {i} is {time}, it must be finite"
            )
        if i > 0 and not time - before > 0.5e-9:  # messages count whole nanoseconds
            text = (
                f"point {i} is at {time:.9f} s, which is not after point {i - 1} at {before:.9f} s"
            )
            return Rejection(RejectReason.TIMES, text)
        before = time
        wrong = _check_sizes(point, i, n)
        if wrong is not None:
            return wrong
    return None


def _check_sizes(point: JointTrajectoryPoint, i: int, n: int) -> Rejection | None:
    for field, may_be_empty in (
        ("positions", False),
        ("velocities", True),
        ("accelerations", True),
    ):
        size = len(getattr(point, field))
        if size != n and not (may_be_empty and size == 0):
            valid = f"0 or {n}" if may_be_empty else str(n)
            return Rejection(
                RejectReason.SIZE, f"point {i} has {size} {field}, it must have {valid}"
            )
    if len(point.effort):
        text = (
            f"point {i} has {len(point.effort)} efforts; this controller commands positions, leave"
            " them out"
        )
        return Rejection(RejectReason.EFFORT, text)
    return None


class _Bounds(NamedTuple):
    """Bounds of the values of one field, (n,) each, in the trajectory's order of joints."""

    field: str
    lower: Array
    upper: Array
    tolerance: float

    def outside(self, values: Array) -> NDArray[np.bool_]:
        """Mark values (..., n) that are outside.

        For values that are not finite the result is arbitrary.
        """
        margin = self.tolerance * np.maximum(1.0, np.abs(values))
        outside: NDArray[np.bool_] = (values < self.lower - margin) | (values > self.upper + margin)
        return outside


def _check_limits(
    trajectory: JointTrajectory, known: Sequence[str], limits: TrajectoryLimits, tolerance: float
) -> Rejection | None:
    """Check all values of a field at once, then describe the first flawed point, if any."""
    index, count = [list(known).index(name) for name in trajectory.joint_names], len(known)
    bounds = []
    for field, low, high in (
        ("positions", limits.lower, limits.upper),
        ("velocities", None if limits.velocity is None else -limits.velocity, limits.velocity),
        (
            "accelerations",
            None if limits.acceleration is None else -limits.acceleration,
            limits.acceleration,
        ),
    ):
        lower = np.full(count, -np.inf) if low is None else low
        upper = np.full(count, np.inf) if high is None else high
        bounds.append(_Bounds(field, lower[index], upper[index], tolerance))
    flawed = []
    for each in bounds:
        fields: list[Array] = [getattr(point, each.field) for point in trajectory.points]
        filled = [i for i, values in enumerate(fields) if len(values)]
        if filled:
            values = np.array([fields[i] for i in filled])
            bad = (~np.isfinite(values) | each.outside(values)).any(axis=1)
            if bad.any():
                flawed.append(filled[int(bad.argmax())])
    return _flaw_of_point(trajectory, min(flawed), bounds) if flawed else None


def _flaw_of_point(
    trajectory: JointTrajectory, i: int, bounds: Sequence[_Bounds]
) -> Rejection | None:
    for each in bounds:
        values: Array = getattr(trajectory.points[i], each.field)
        if not len(values):
            continue
        bad = ~np.isfinite(values)
        if bad.any():
            j = int(bad.argmax())
            text = (
                f"{each.field} of {trajectory.joint_names[j]} at point {i}: {values[j]} is not"
                " finite"
            )
            return Rejection(RejectReason.NOT_FINITE, text)
        bad = each.outside(values)
        if bad.any():
            j = int(bad.argmax())
            text = (
                f"{each.field} of {trajectory.joint_names[j]} at point {i}: {values[j]:.9g} is"
                f" outside [{each.lower[j]:.9g}, {each.upper[j]:.9g}]"
            )
            return Rejection(RejectReason.OUT_OF_LIMITS, text)
    return None


def _list(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "none"
