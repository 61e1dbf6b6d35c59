"""Drivers of arms: one entry each in `DRIVERS`, with names of controllers and status topics.

The streamer's parameter `profile` selects one. Every value of an entry can be overridden by a
parameter of its own. Message packages are named here and imported only by subscribers
(`robot_status`), so that none needs to be installed.

Sources: the public interfaces of ros2_control, ur_robot_driver, franka_ros2, xarm_ros2 and
topic_based_ros2_control.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from robosim.errors import ExecutionError
from robosim.execution.messages import SafetyMode
from robosim.ros import names

__all__ = ["DRIVERS", "GENERIC", "UR", "Driver", "StatusTopic", "find_driver", "markdown"]

Status = Mapping[str, Any]
ALL = ("controller_active", "program_running", "safety_mode")


@dataclass(frozen=True)
class StatusTopic:
    """A status topic of a driver.

    Attributes:
        name: relative, so that a node's namespace applies.
        message: "package/Type".
        read: converts a message to the fields; None as a value means unknown.
        fields: names of these fields of ArmStatus.
        latched: True if published on change and kept for late subscribers; False if published
            periodically.
        valid: time for which a message that is not latched is valid [s].
    """

    name: str
    message: str
    read: Callable[[Any], Status]
    fields: tuple[str, ...]
    latched: bool = False
    valid: float = math.inf

    @property
    def package(self) -> str:
        """Package of the topic's message."""
        return self.message.split("/")[0]


@dataclass(frozen=True)
class Driver:
    """A type of driver.

    Attributes:
        name: name of the profile.
        summary: description of the driver.
        status: status topics of the robot. Whether a controller is active is queried from the
            controller manager.
        require: conditions that must be known to hold before a motion (names of Requirements).
        action: preferred controllers with FollowJointTrajectory, best first.
        discover: True to use the only such controller if none of these exists.
        passthrough: preferred controllers that pass the whole trajectory to the robot.
        forward_position: preferred controllers of set points.
        joints: joints of the arm if neither a plan nor the controller reports them; () if unknown.
        joint_states: topic.
        seen_by: topics by which the driver is recognized when another profile is selected.
    """

    name: str
    summary: str
    status: tuple[StatusTopic, ...] = ()
    require: tuple[str, ...] = ()
    action: tuple[str, ...] = (names.JOINT_TRAJECTORY_CONTROLLER,)
    discover: bool = True
    passthrough: tuple[str, ...] = ()
    forward_position: tuple[str, ...] = (names.FORWARD_POSITION_CONTROLLER,)
    joints: tuple[str, ...] = ()
    joint_states: str = names.JOINT_STATES
    seen_by: tuple[str, ...] = ()

    @property
    def reported(self) -> frozenset[str]:
        """Names of Requirements that this driver's topics report."""
        reported = {field for topic in self.status for field in topic.fields}
        return frozenset(reported & set(ALL)) | {"controller_active"}

    def controllers(self, interface: str) -> tuple[str, ...]:
        """Preferred controllers of an interface."""
        found: tuple[str, ...] = getattr(self, interface)
        return found


def percentage(message: Any) -> Status:
    """Speed scaling as std_msgs/Float64 in per cent."""
    # An invalid speed stops the motion.
    percent = message.data if math.isfinite(message.data) else 0.0
    return {"speed_scaling": min(max(percent / 100.0, 0.0), 1.0)}


def _ur_program(message: Any) -> Status:
    return {"program_running": bool(message.data)}


_UR_FURTHER_MODES = {  # modes of newer controllers, by number
    10: SafetyMode.FAULT,  # a joint has to be identified
    12: SafetyMode.SAFEGUARD_STOP,  # in automatic mode
    13: SafetyMode.SAFEGUARD_STOP,  # three-position enabling device
}


def _ur_safety(message: Any) -> Status:
    number = int(message.mode)
    known = number in SafetyMode._value2member_map_
    return {"safety_mode": SafetyMode(number) if known else _UR_FURTHER_MODES.get(number)}


# robot_mode of franka_msgs/FrankaRobotState, by number. 0 (other) carries no information.
_FRANKA_IDLE, _FRANKA_MOVE, _FRANKA_GUIDING, _FRANKA_REFLEX, _FRANKA_STOPPED, _FRANKA_RECOVERY = (
    range(1, 7)
)
_FRANKA_SAFETY = {
    _FRANKA_IDLE: SafetyMode.NORMAL,
    _FRANKA_MOVE: SafetyMode.NORMAL,
    _FRANKA_GUIDING: SafetyMode.NORMAL,
    _FRANKA_REFLEX: SafetyMode.PROTECTIVE_STOP,
    _FRANKA_STOPPED: SafetyMode.SAFEGUARD_STOP,
    _FRANKA_RECOVERY: SafetyMode.RECOVERY,
}


def _franka(message: Any) -> Status:
    mode = int(message.robot_mode)
    following = mode in (_FRANKA_IDLE, _FRANKA_MOVE) if mode in _FRANKA_SAFETY else None
    return {"safety_mode": _FRANKA_SAFETY.get(mode), "program_running": following}


_XARM_FOLLOWING = (1, 2)  # states moving and ready; others are paused, stopped, configured anew
_XARM_TEACHING = 2  # mode


def _xarm(message: Any) -> Status:
    return {
        "safety_mode": SafetyMode.FAULT if message.err else SafetyMode.NORMAL,
        "program_running": message.state in _XARM_FOLLOWING and message.mode != _XARM_TEACHING,
    }


GENERIC = Driver(
    "generic",
    "any arm under ros2_control",
    action=(names.JOINT_TRAJECTORY_CONTROLLER, names.SCALED_CONTROLLER),
)
UR = Driver(
    "ur",
    "Universal Robots: ur_robot_driver",
    status=(
        StatusTopic(names.SPEED_SCALING, "std_msgs/Float64", percentage, ("speed_scaling",)),
        StatusTopic(
            names.PROGRAM_RUNNING, "std_msgs/Bool", _ur_program, ("program_running",), latched=True
        ),
        StatusTopic(
            names.SAFETY_MODE,
            "ur_dashboard_msgs/SafetyMode",
            _ur_safety,
            ("safety_mode",),
            latched=True,
        ),
    ),
    require=ALL,
    action=(names.SCALED_CONTROLLER, names.JOINT_TRAJECTORY_CONTROLLER),
    discover=False,
    passthrough=(names.PASSTHROUGH_CONTROLLER,),
    joints=names.UR_JOINTS,
    seen_by=(names.ROBOT_MODE, names.SAFETY_MODE, names.PROGRAM_RUNNING),
)
_FRANKA_STATE = "franka_robot_state_broadcaster/robot_state"
FRANKA = Driver(
    "franka",
    "Franka Robotics: franka_ros2",
    status=(
        StatusTopic(
            _FRANKA_STATE,
            "franka_msgs/FrankaRobotState",
            _franka,
            ("safety_mode", "program_running"),
            valid=1.0,
        ),
    ),
    require=ALL,
    action=("fr3_arm_controller", "panda_arm_controller", names.JOINT_TRAJECTORY_CONTROLLER),
    seen_by=(_FRANKA_STATE,),
)
_XARM_STATE = "xarm/robot_states"
XARM = Driver(
    "xarm",
    "UFACTORY: xarm_ros2",
    status=(
        StatusTopic(
            _XARM_STATE, "xarm_msgs/RobotMsg", _xarm, ("safety_mode", "program_running"), valid=2.0
        ),
    ),
    require=ALL,
    action=(
        *(f"{arm}_traj_controller" for arm in ("xarm6", "xarm7", "xarm5", "lite6", "uf850")),
        names.JOINT_TRAJECTORY_CONTROLLER,
    ),
    seen_by=(_XARM_STATE,),
)
TOPIC_BASED = Driver(
    "topic_based",
    "a simulator or driver that ros2_control reaches through topics (topic_based_ros2_control)",
    require=("controller_active",),
    seen_by=("robot_joint_command",),
)

DRIVERS: Mapping[str, Driver] = MappingProxyType(
    {d.name: d for d in (GENERIC, UR, FRANKA, XARM, TOPIC_BASED)}
)


def find_driver(name: str, option: str = "profile") -> Driver:
    """Return the driver of this name.

    Raises ExecutionError, which names `option` and the valid names.
    """
    if name not in DRIVERS:
        raise ExecutionError(f"{option} is {name!r}; it must be one of {', '.join(DRIVERS)}")
    return DRIVERS[name]


def markdown() -> str:
    """Return a Markdown table of the drivers, for documentation."""
    lines = [
        "| profile | for | controllers that are looked for | status topics | required status |",
        "|---|---|---|---|---|",
    ]
    for driver in DRIVERS.values():
        controllers = ", ".join(f"`{name}`" for name in driver.action)
        if driver.discover:
            controllers += ", else the only one there is"
        told = ", ".join(f"`{topic.name}` ({topic.message})" for topic in driver.status) or "none"
        required = ", ".join(f"`{name}`" for name in driver.require) or "nothing"
        lines.append(
            f"| `{driver.name}` | {driver.summary} | {controllers} | {told} | {required} |"
        )
    return "\n".join(lines) + "\n"
