"""Message types of recordings, from rosbags: definitions and serialization."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from robosim.errors import BagError, MissingDependencyError

__all__ = [
    "FLOAT64",
    "FLOAT64_MULTI_ARRAY",
    "JOINT_STATE",
    "JOINT_TRAJECTORY",
    "STRING",
    "check_type",
    "types",
]

JOINT_STATE = "sensor_msgs/msg/JointState"
JOINT_TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
FLOAT64 = "std_msgs/msg/Float64"
FLOAT64_MULTI_ARRAY = "std_msgs/msg/Float64MultiArray"
STRING = "std_msgs/msg/String"

# Types outside ROS 2's common interfaces. Constants affect neither serialization nor the type's
# hash.
_EXTRA = {
    "ur_dashboard_msgs/msg/SafetyMode": "uint8 mode",
    "ur_dashboard_msgs/msg/RobotMode": "int8 mode",
}


@cache
def types() -> Any:
    """Return rosbags' store of ROS 2's common interfaces.

    The types used here are equal in Humble and Jazzy.

    Raises MissingDependencyError without rosbags.
    """
    try:
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore
    except ImportError as error:
        raise MissingDependencyError(
            f"recordings need rosbags ({error}): pip install 'robosim[bag]'"
        ) from None
    store = get_typestore(Stores.ROS2_JAZZY)
    for name, text in _EXTRA.items():
        store.register(get_types_from_msg(text, name))
    return store


def check_type(topic: str, type_: str, path: Path) -> None:
    """Raise BagError, naming the recording, for a type without a known definition."""
    if type_ not in types().fielddefs:
        raise BagError(
            f"type {type_!r} of topic {topic} is none of ROS 2's common interfaces", file=path
        )
