"""Messages between a commander and an arm: the content of ROS messages, without ROS.

Field names are those of trajectory_msgs, sensor_msgs and control_msgs. A JointTrajectory may be
invalid (wrong sizes, NaN, unknown joints), since it holds what was sent; the executor checks it.
Arrays are float64; an empty array is a field that was not filled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "ArmState",
    "ArmStatus",
    "Goal",
    "JointTolerance",
    "JointTrajectory",
    "JointTrajectoryPoint",
    "SafetyMode",
    "Setpoint",
]

Array = NDArray[np.float64]


def _array(values: ArrayLike) -> Array:
    array = np.array(values, dtype=float).reshape(-1)
    array.setflags(write=False)
    return array


def _to_arrays(message: object, fields: Sequence[str]) -> None:
    """Convert fields to float64 arrays if necessary.

    States come at the control rate and mostly need none.
    """
    for name in fields:
        value = getattr(message, name)
        if value is not None and not (isinstance(value, np.ndarray) and value.dtype == np.float64):
            object.__setattr__(message, name, np.array(value, dtype=float))


@dataclass(frozen=True, eq=False)
class JointTrajectoryPoint:
    """One knot, `time_from_start` [s] after the trajectory's start.

    Attributes:
        positions, velocities, accelerations, effort: one entry per joint of the trajectory, or
        empty.
    """

    time_from_start: float
    positions: Array = field(default_factory=lambda: _array(()))
    velocities: Array = field(default_factory=lambda: _array(()))
    accelerations: Array = field(default_factory=lambda: _array(()))
    effort: Array = field(default_factory=lambda: _array(()))

    def __post_init__(self) -> None:
        for name in ("positions", "velocities", "accelerations", "effort"):
            object.__setattr__(self, name, _array(getattr(self, name)))


@dataclass(frozen=True, eq=False)
class JointTrajectory:
    """Named joints and knots, as in trajectory_msgs/JointTrajectory.

    Attributes:
        joint_names: joints of the entries of the points, in their order.
        points: points by increasing time.
        stamp: start time on the arm's clock [s]; 0 means on arrival.
    """

    joint_names: tuple[str, ...]
    points: tuple[JointTrajectoryPoint, ...]
    stamp: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint_names", tuple(self.joint_names))
        object.__setattr__(self, "points", tuple(self.points))


@dataclass(frozen=True)
class JointTolerance:
    """Tolerances of one joint [rad or m, and per s, per s^2]; 0: the controller's own value, -1: no
    limit."""

    name: str
    position: float = 0.0
    velocity: float = 0.0
    acceleration: float = 0.0


@dataclass(frozen=True, eq=False)
class Goal:
    """The goal of control_msgs/FollowJointTrajectory.

    Attributes:
        trajectory: trajectory to follow.
        path_tolerance: allowed errors during the motion; joints not named keep the controller's.
        goal_tolerance: allowed errors at the end.
        goal_time_tolerance: time allowed after the last point's time [s]; 0: the controller's own
            value, -1: no limit.
    """

    trajectory: JointTrajectory
    path_tolerance: tuple[JointTolerance, ...] = ()
    goal_tolerance: tuple[JointTolerance, ...] = ()
    goal_time_tolerance: float = 0.0


@dataclass(frozen=True, eq=False)
class ArmState:
    """State of the joints.

    Attributes:
        joint_names: (n) in the arm's own order.
        position, velocity: (n,) [rad or m, per s]; a velocity that is not measured is NaN.
        stamp: time of the measurement on the arm's clock [s].
        effort: (n,) [N m or N], or None if the arm does not measure it.
        measured: time of the measurement on the clock of the measuring device [s], or None if
            unknown. Only differences of it are meaningful: unlike stamps, it has no transport
            delay.
    """

    joint_names: tuple[str, ...]
    position: Array
    velocity: Array
    stamp: float
    effort: Array | None = None
    measured: float | None = None

    def __post_init__(self) -> None:
        _to_arrays(self, ("position", "velocity", "effort"))


class SafetyMode(IntEnum):
    """Safety mode of a UR controller, numbered as its driver and its RTDE interface do."""

    NORMAL = 1
    REDUCED = 2
    PROTECTIVE_STOP = 3
    RECOVERY = 4
    SAFEGUARD_STOP = 5
    SYSTEM_EMERGENCY_STOP = 6
    ROBOT_EMERGENCY_STOP = 7
    VIOLATION = 8
    FAULT = 9


@dataclass(frozen=True)
class ArmStatus:
    """Readiness of the arm to follow commands; None for conditions that the arm does not report.

    Attributes:
        connected: True if states arrive.
        controller_active: True if the controller in use is active.
        program_running: True if the robot's program that receives commands runs (External Control
            on a UR).
        safety_mode: safety mode of the robot.
        speed_scaling: 0 (paused) to 1 (full speed), as reported by the robot.
    """

    connected: bool = True
    controller_active: bool | None = None
    program_running: bool | None = None
    safety_mode: SafetyMode | None = None
    speed_scaling: float = 1.0


@dataclass(frozen=True, eq=False)
class Setpoint:
    """Desired state in the arm's joint order: position (n,), and optionally velocity (n,)."""

    position: Array
    velocity: Array | None = None

    def __post_init__(self) -> None:
        _to_arrays(self, ("position", "velocity"))


def names_in_order(wanted: Sequence[str], given: Sequence[str]) -> list[int]:
    """Return the index in `given` of each wanted name.

    Raises KeyError with the first missing name.
    """
    index = {name: i for i, name in enumerate(given)}
    return [index[name] for name in wanted]
