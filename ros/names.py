"""Names and constants of Universal Robots arms in ROS 2: joints, controllers, topics, series.

Source: the public interface of ur_robot_driver and ur_description.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from robosim.execution.universal_robots import UR_JOINTS

__all__ = [
    "DASHBOARD",
    "FORWARD_COMMANDS",
    "FORWARD_POSITION_CONTROLLER",
    "JOINT_STATES",
    "JOINT_STATE_BROADCASTER",
    "JOINT_TRAJECTORY_CONTROLLER",
    "LIST_CONTROLLERS",
    "PASSTHROUGH_CONTROLLER",
    "PROGRAM_RUNNING",
    "RESEND_PROGRAM",
    "ROBOT_DESCRIPTION",
    "ROBOT_DESCRIPTION_SEMANTIC",
    "ROBOT_MODE",
    "SAFETY_MODE",
    "SCALED_CONTROLLER",
    "SPEED_SCALING",
    "UR_JOINTS",
    "UR_SERIES",
    "Series",
    "driver_order",
    "prefixed",
    "series_of",
]

# Controllers. The scaled one is the driver's default up to Kilted; in later versions the plain one
# scales.
SCALED_CONTROLLER = "scaled_joint_trajectory_controller"
JOINT_TRAJECTORY_CONTROLLER = "joint_trajectory_controller"
PASSTHROUGH_CONTROLLER = "passthrough_trajectory_controller"
FORWARD_POSITION_CONTROLLER = "forward_position_controller"
JOINT_STATE_BROADCASTER = "joint_state_broadcaster"

# Topics and services, relative, so that a node's namespace applies.
JOINT_STATES = "joint_states"
ROBOT_DESCRIPTION = "robot_description"
ROBOT_DESCRIPTION_SEMANTIC = "robot_description_semantic"
FORWARD_COMMANDS = f"{FORWARD_POSITION_CONTROLLER}/commands"
SPEED_SCALING = "speed_scaling_state_broadcaster/speed_scaling"
ROBOT_MODE = "io_and_status_controller/robot_mode"
SAFETY_MODE = "io_and_status_controller/safety_mode"
PROGRAM_RUNNING = "io_and_status_controller/robot_program_running"
RESEND_PROGRAM = "io_and_status_controller/resend_robot_program"
DASHBOARD = "dashboard_client"
LIST_CONTROLLERS = "controller_manager/list_controllers"


@dataclass(frozen=True)
class Series:
    """A generation of controllers.

    Attributes:
        name: name used by Universal Robots.
        rate: rate of its control loop and joint states [Hz].
        robots: names of the arms in ur_description.
    """

    name: str
    rate: float
    robots: tuple[str, ...]


UR_SERIES = {
    "cb3": Series("CB3", 125.0, ("ur3", "ur5", "ur10")),
    "e-series": Series(
        "e-Series",
        500.0,
        ("ur3e", "ur5e", "ur7e", "ur10e", "ur12e", "ur16e", "ur15", "ur20", "ur30"),
    ),
}


def series_of(robot: str) -> Series | None:
    """Return the series of an arm by name ("ur5e", also "ur5e_gripper"); None if not a UR arm."""
    arm = robot.split("_")[0].lower()
    return next((series for series in UR_SERIES.values() if arm in series.robots), None)


# Names of drivers, the default first; see `drivers`.
PROFILES = ("generic", "ur", "franka", "xarm", "topic_based")


def prefixed(names: Iterable[str], tf_prefix: str) -> tuple[str, ...]:
    """Names in a description made with `tf_prefix` ("left_elbow_joint" for "left_")."""
    return tuple(f"{tf_prefix}{name}" for name in names)


def driver_order(joint_names: Iterable[str]) -> tuple[str, ...]:
    """Order joints as a UR driver's controllers do, if they are those of a UR arm."""
    given = tuple(joint_names)
    return UR_JOINTS if set(given) == set(UR_JOINTS) else given
