"""Conversion of ROS messages to robosim's own types and back.

Reading uses the fields' names alone. It works with messages of rclpy, cyclonedds and rosbags, and
needs no ROS. Creating or filling a message needs the package that defines it. Times are whole
nanoseconds on both sides. A double represents those of a duration exactly (up to 97 days), but
those of a date only to 0.2 microseconds. Stamps of dates are therefore better handled as integers
(`nanoseconds_of`, `set_time`).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import ExecutionError
from robosim.execution.goals import ErrorCode, GoalResult
from robosim.execution.messages import (
    ArmState,
    Goal,
    JointTolerance,
    JointTrajectory,
    JointTrajectoryPoint,
)

__all__ = [
    "JointStateMessage",
    "PointMessage",
    "arm_state",
    "goal",
    "goal_error",
    "goal_message",
    "joint_state_message",
    "joint_trajectory",
    "joint_trajectory_message",
    "nanoseconds",
    "nanoseconds_of",
    "result_message",
    "seconds",
    "seconds_of",
    "set_time",
]

Array = NDArray[np.float64]

_SECOND = 10**9


# Times


def nanoseconds(time: float) -> int:
    """Round a time [s] to whole nanoseconds. Raises ExecutionError unless it is finite."""
    if not math.isfinite(time):
        raise ExecutionError(f"a time of {time} s cannot be sent")
    whole = math.floor(time)
    return whole * _SECOND + round((time - whole) * _SECOND)


def seconds(nanoseconds: int) -> float:
    """Convert whole nanoseconds to the nearest double [s]."""
    return nanoseconds / _SECOND


def nanoseconds_of(message: Any) -> int:
    """Read builtin_interfaces/Time or Duration [ns]."""
    return int(message.sec) * _SECOND + int(message.nanosec)


def seconds_of(message: Any) -> float:
    """Read builtin_interfaces/Time or Duration [s]."""
    return nanoseconds_of(message) / _SECOND


def set_time(message: Any, nanoseconds: int) -> None:
    """Write a time [ns] to builtin_interfaces/Time or Duration.

    Raises ExecutionError beyond 68 years.
    """
    whole, rest = divmod(nanoseconds, _SECOND)
    if not -(2**31) <= whole < 2**31:
        raise ExecutionError(
            f"a time of {whole} s does not fit into a message, which holds 32 bits of seconds"
        )
    message.sec, message.nanosec = whole, rest


# Trajectories


def joint_trajectory(message: Any) -> JointTrajectory:
    """Read trajectory_msgs/JointTrajectory, without validation. A stamp of 0 means on arrival."""
    points = tuple(
        JointTrajectoryPoint(
            seconds_of(point.time_from_start),
            positions=point.positions,
            velocities=point.velocities,
            accelerations=point.accelerations,
            effort=point.effort,
        )
        for point in message.points
    )
    return JointTrajectory(tuple(message.joint_names), points, seconds_of(message.header.stamp))


def joint_trajectory_message(trajectory: JointTrajectory) -> Any:
    """Create a trajectory_msgs/JointTrajectory.

    Raises:
        ExecutionError: a time is not finite or does not fit.
    """
    from trajectory_msgs.msg import JointTrajectory as Message
    from trajectory_msgs.msg import JointTrajectoryPoint as PointMessage

    message = Message(joint_names=list(trajectory.joint_names))
    set_time(message.header.stamp, nanoseconds(trajectory.stamp))
    for point in trajectory.points:
        made = PointMessage(
            positions=_doubles(point.positions),
            velocities=_doubles(point.velocities),
            accelerations=_doubles(point.accelerations),
            effort=_doubles(point.effort),
        )
        set_time(made.time_from_start, nanoseconds(point.time_from_start))
        message.points.append(made)
    return message


# Goals


def goal(message: Any) -> Goal:
    """Read the goal of control_msgs/FollowJointTrajectory."""
    return Goal(
        joint_trajectory(message.trajectory),
        _tolerances(message.path_tolerance),
        _tolerances(message.goal_tolerance),
        seconds_of(message.goal_time_tolerance),
    )


def goal_message(goal: Goal) -> Any:
    """Create a control_msgs/FollowJointTrajectory goal.

    Raises:
        ExecutionError: a time is not finite or does not fit.
    """
    from control_msgs.action import FollowJointTrajectory
    from control_msgs.msg import JointTolerance as ToleranceMessage

    message = FollowJointTrajectory.Goal(trajectory=joint_trajectory_message(goal.trajectory))
    for field, tolerances in (
        (message.path_tolerance, goal.path_tolerance),
        (message.goal_tolerance, goal.goal_tolerance),
    ):
        for t in tolerances:
            field.append(
                ToleranceMessage(
                    name=t.name,
                    position=float(t.position),
                    velocity=float(t.velocity),
                    acceleration=float(t.acceleration),
                )
            )
    set_time(message.goal_time_tolerance, nanoseconds(goal.goal_time_tolerance))
    return message


def _tolerances(messages: Sequence[Any]) -> tuple[JointTolerance, ...]:
    return tuple(JointTolerance(t.name, t.position, t.velocity, t.acceleration) for t in messages)


def result_message(result: GoalResult) -> Any:
    """Create a control_msgs/FollowJointTrajectory result. The status is sent separately."""
    from control_msgs.action import FollowJointTrajectory

    return FollowJointTrajectory.Result(
        error_code=int(result.error_code), error_string=result.error_string
    )


def goal_error(message: Any) -> tuple[ErrorCode, str]:
    """Read code and text of a control_msgs/FollowJointTrajectory result.

    Unknown codes become INVALID_GOAL.
    """
    known = message.error_code in ErrorCode._value2member_map_
    return ErrorCode(message.error_code) if known else ErrorCode.INVALID_GOAL, message.error_string


# States


def arm_state(message: Any, *, joint_names: Sequence[str] | None = None) -> ArmState:
    """Read sensor_msgs/JointState, whose joints are in any order.

    Args:
        message: the message.
        joint_names: required joints, in this order; None for those of the message.

    Returns:
        The state. Velocities are NaN and effort is None if the message lacks them.

    Raises:
        ExecutionError: a joint is missing or named twice, or array sizes do not match the names.
    """
    names = list(message.name)
    fields = {
        name: np.array(getattr(message, name), dtype=float)
        for name in ("position", "velocity", "effort")
    }
    for name, values in fields.items():
        if values.size not in ((len(names),) if name == "position" else (0, len(names))):
            raise ExecutionError(
                f"a joint state names {len(names)} joints and has {values.size} entries of {name}"
            )
    if len(set(names)) != len(names):
        raise ExecutionError(f"a joint state names a joint twice: {', '.join(names)}")
    if joint_names is not None and list(joint_names) != names:
        index = {name: i for i, name in enumerate(names)}
        if missing := [name for name in joint_names if name not in index]:
            raise ExecutionError(
                f"a joint state lacks {', '.join(missing)}; it has {', '.join(names)}"
            )
        order = [index[name] for name in joint_names]
        fields = {name: values[order] if values.size else values for name, values in fields.items()}
        names = list(joint_names)
    velocity = fields["velocity"] if fields["velocity"].size else np.full(len(names), math.nan)
    effort = fields["effort"] if fields["effort"].size else None
    stamp = seconds_of(message.header.stamp)
    return ArmState(
        tuple(names), fields["position"], velocity, stamp, effort, measured=stamp or None
    )


class JointStateMessage:
    """A sensor_msgs/JointState that is filled and published repeatedly, without allocation.

    Attributes:
        message: message to publish.
    """

    def __init__(self, joint_names: Sequence[str], *, effort: bool = True) -> None:
        from sensor_msgs.msg import JointState

        n = len(joint_names)
        self.message = JointState(
            name=list(joint_names),
            position=[0.0] * n,
            velocity=[0.0] * n,
            effort=[0.0] * (n if effort else 0),
        )
        self._position = _view(self.message.position)
        self._velocity = _view(self.message.velocity)
        self._effort = _view(self.message.effort)

    def fill(
        self,
        nanoseconds: int,
        position: ArrayLike,
        velocity: ArrayLike,
        effort: ArrayLike | None = None,
    ) -> Any:
        """Write a stamp [ns] and (n,) values; unknown efforts are NaN. Return the message."""
        set_time(self.message.header.stamp, nanoseconds)
        self._position[:] = position
        self._velocity[:] = velocity
        self._effort[:] = math.nan if effort is None else effort
        return self.message


class PointMessage:
    """A trajectory_msgs/JointTrajectoryPoint of n joints, filled repeatedly without allocation.

    Args:
        n: number of joints.
        fields: arrays of the message, among positions, velocities, accelerations, effort.

    Attributes:
        message: message to put into others.
    """

    def __init__(
        self, n: int, fields: Sequence[str] = ("positions", "velocities", "accelerations")
    ) -> None:
        from trajectory_msgs.msg import JointTrajectoryPoint as Message

        self.message = Message(**{field: [0.0] * n for field in fields})
        self._views = [_view(getattr(self.message, field)) for field in fields]

    def fill(self, nanoseconds: int, *values: ArrayLike) -> Any:
        """Write the time from start [ns] and (n,) values, one array per field.

        Return the message.
        """
        set_time(self.message.time_from_start, nanoseconds)
        for view, value in zip(self._views, values, strict=True):
            view[:] = value
        return self.message


def joint_state_message(state: ArmState) -> Any:
    """Create a sensor_msgs/JointState."""
    filled = JointStateMessage(state.joint_names, effort=state.effort is not None)
    return filled.fill(nanoseconds(state.stamp), state.position, state.velocity, state.effort)


def _doubles(values: Array) -> array[float]:
    """Convert to the type that a message's float64[] accepts without conversion per number."""
    return array("d", values.tobytes())


def _view(values: Any) -> Array:
    """View a message's array.array('d') as NumPy array. Writing to the view changes the message."""
    return np.frombuffer(values, dtype=np.float64)
