"""recorder: states and commands of an arm as a ROS 2 node writes them to rosbag2's MCAP, without
losing one.

Messages are taken as the bytes that came and written as they are, by a thread of their own; topics
need not exist yet. At the end it says what was recorded and what was lost. `python -m
robosim.ros.bags` compares a recording with its plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robosim.errors import ExecutionError
from robosim.ros import names
from robosim.ros.parameters import Parameter

__all__ = ["DEFAULT_TOPICS", "PARAMETERS", "main", "parse_topic"]

_JOINT_TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
DEFAULT_TOPICS = (
    f"{names.JOINT_STATES}:sensor_msgs/msg/JointState",
    f"{names.SCALED_CONTROLLER}/joint_trajectory:{_JOINT_TRAJECTORY}",
    f"{names.JOINT_TRAJECTORY_CONTROLLER}/joint_trajectory:{_JOINT_TRAJECTORY}",
    f"{names.FORWARD_COMMANDS}:std_msgs/msg/Float64MultiArray",
    f"{names.SPEED_SCALING}:std_msgs/msg/Float64",
    f"planner/trajectory:{_JOINT_TRAJECTORY}:latched",
    f"{names.ROBOT_DESCRIPTION}:std_msgs/msg/String:latched",
)

PARAMETERS: tuple[Parameter, ...] = (
    Parameter(
        "bag",
        "",
        "Folder to make; by default robosim-DATE-TIME. A second recording of the same process adds"
        " _1, and so on.",
        read_only=True,
    ),
    Parameter(
        "topics",
        DEFAULT_TOPICS,
        "What to record, each as `topic:package/msg/Type`, with `:latched` after it for transient"
        " local topics.",
        read_only=True,
    ),
    Parameter(
        "start",
        True,
        "Record from the start; else when the service ~/record says so.",
        read_only=True,
    ),
    Parameter(
        "depth",
        2000,
        "Messages that each subscription queues: at least a second of them, or a stall loses some.",
        1,
        100_000,
        read_only=True,
    ),
    Parameter(
        "reliable",
        True,
        "Ask for reliable publishers; false also hears those of best effort, and may lose"
        " messages.",
        read_only=True,
    ),
    Parameter(
        "flush_period",
        0.5,
        "What an interruption may lose at most [s].",
        0.01,
        60.0,
        read_only=True,
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node and return the exit code."""
    from robosim.ros import run

    return run.main(
        _make,
        parameters=PARAMETERS,
        summary=__doc__ or "",
        requires=("sensor_msgs", "trajectory_msgs", "std_msgs", "std_srvs", "diagnostic_msgs"),
        arguments=arguments,
    )


def parse_topic(text: str) -> tuple[str, str, bool]:
    """Parse an entry of the parameter `topics` to topic, type, and True if latched.

    Raises ExecutionError for anything except `topic:package/msg/Type` or
    `topic:package/msg/Type:latched`.
    """
    topic, _, rest = text.partition(":")
    type_, _, how = rest.partition(":")
    parts = type_.split("/")
    if (
        not topic
        or len(parts) != 3
        or parts[1] != "msg"
        or not all(parts)
        or how not in ("", "latched")
    ):
        raise ExecutionError(
            f"parameter 'topics' has the entry {text!r}; each must be topic:package/msg/Type, or"
            " that with :latched"
        )
    return topic, type_, how == "latched"


def _make() -> Any:
    from robosim.ros.recorder.node import Recorder

    return Recorder()
