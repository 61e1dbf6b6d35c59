"""The planner node's parameters."""

from __future__ import annotations

from dataclasses import replace

from robosim.ros.parameters import Parameter
from robosim.ros.streamer import PARAMETERS as STREAMER_PARAMETERS

__all__ = ["EXECUTION", "PARAMETERS"]

# Parameters of execution are those of the streamer, in the group `execution`.
EXECUTION = (
    "profile",
    "interface",
    "controller",
    "connect_timeout",
    "rate",
    "scaling_ramp",
    "start_tolerance",
    "require",
    "allow_reduced_mode",
    "watchdog",
    "tracking_error",
    "path_tolerance",
    "goal_tolerance",
    "goal_time",
)

PARAMETERS = (
    Parameter(
        "robot",
        "",
        "Robot to plan for: a bundled robot's name, or a URDF or xacro file. Empty: what arrives on"
        " robot_description.",
        read_only=True,
    ),
    Parameter(
        "srdf",
        "",
        "Groups, named states and pairs not to check: an SRDF file, or a bundled robot's name for"
        " its own. Empty: what arrives on robot_description_semantic, or what lies beside the file"
        " of 'robot'.",
        read_only=True,
    ),
    Parameter(
        "joint_limits",
        "",
        "MoveIt's joint_limits.yaml, or a bundled robot's name for its own: a URDF has no limits of"
        " acceleration.",
        read_only=True,
    ),
    Parameter(
        "tf_prefix",
        "",
        "Put before the names in what 'robot', 'srdf', 'joint_limits' and 'scene' name. What"
        " arrives on topics is taken as it is.",
        read_only=True,
    ),
    Parameter(
        "package_dirs",
        (),
        "Folders in which package:// is looked up before ROS_PACKAGE_PATH and AMENT_PREFIX_PATH.",
        kind="string array",
        read_only=True,
    ),
    Parameter(
        "scene",
        "",
        "What stands around the robot, until something arrives on ~/scene: a bundled scene's name,"
        " or a scene file.",
        read_only=True,
    ),
    Parameter(
        "world_frame",
        "world",
        "The frame of tf in which scenes and goals without a frame are given.",
        read_only=True,
    ),
    Parameter(
        "base_pose",
        (),
        "Where the robot's root link stands in the world frame: x, y, z [m], roll, pitch, yaw"
        " [rad]. Empty: as tf says, else at the origin.",
        kind="double array",
        read_only=True,
    ),
    Parameter(
        "group", "", "Group of joints that may move where a request names none. Empty: by the goal."
    ),
    Parameter(
        "planner",
        "rrt_connect",
        "Planner where a request names none; 'cartesian' goes in straight lines.",
    ),
    Parameter(
        "allowed_planning_time",
        5.0,
        "Wall clock for one plan where a request says nothing [s].",
        minimum=1e-3,
    ),
    Parameter(
        "max_velocity_scaling_factor",
        1.0,
        "Share of the velocity limits that is used where a request says nothing.",
        minimum=1e-3,
        maximum=1.0,
    ),
    Parameter(
        "max_acceleration_scaling_factor",
        1.0,
        "Share of the acceleration limits that is used where a request says nothing.",
        minimum=1e-3,
        maximum=1.0,
    ),
    Parameter(
        "jerk_limit",
        0.0,
        "Limit of the jerk of every joint where a request says nothing [rad/s^3, m/s^3]; 0 is"
        " none.",
        minimum=0.0,
    ),
    Parameter(
        "tool_speed",
        0.0,
        "The most that the link of the pose goals moves, else the arm's only tip [m/s]; 0 is no"
        " limit.",
        minimum=0.0,
    ),
    Parameter(
        "state_timeout",
        1.0,
        "A joint state older than this is refused as a start, and a first one is waited for so long"
        " [s].",
        minimum=1e-3,
    ),
    Parameter(
        "stopped_velocity",
        0.05,
        "A joint that moves faster is not at rest, and no plan starts from where it is [rad/s,"
        " m/s].",
        minimum=0.0,
    ),
    Parameter(
        "limit_tolerance",
        1e-3,
        "A joint that is measured beyond its position limit by at most this is taken to be at it"
        " [rad, m].",
        minimum=0.0,
        maximum=0.01,
    ),
    Parameter(
        "point_interval",
        0.1,
        "Largest distance of two points of a trajectory that is sent or shown [s].",
        minimum=1e-3,
        maximum=10.0,
    ),
    *(replace(p, name=f"execution.{p.name}") for p in STREAMER_PARAMETERS if p.name in EXECUTION),
)
