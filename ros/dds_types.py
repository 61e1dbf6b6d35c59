"""Messages of arms as DDS types for cyclonedds, with ROS 2's names on the wire.

A ROS 2 type pkg/msg/Name is sent as pkg::msg::dds_::Name_, keyless and final (without added
fields), in CDR. A time is int32 seconds and uint32 nanoseconds. Field names and their order are
those of the interfaces that ROS 2 publishes. cyclonedds reads the annotations when a class is
created, so they must not be strings here.
"""

from dataclasses import dataclass, field

from cyclonedds.idl import IdlStruct
from cyclonedds.idl.annotations import final
from cyclonedds.idl.types import float64, int32, sequence, uint8, uint32

from robosim.execution import messages
from robosim.ros.messages import nanoseconds, set_time

__all__ = [
    "Bool",
    "Duration",
    "Float64",
    "Float64MultiArray",
    "Header",
    "JointState",
    "JointTrajectory",
    "JointTrajectoryPoint",
    "MultiArrayDimension",
    "MultiArrayLayout",
    "SafetyMode",
    "String",
    "Time",
    "to_wire",
]


@dataclass
@final
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    """builtin_interfaces/Time."""

    sec: int32 = 0
    nanosec: uint32 = 0


@dataclass
@final
class Duration(IdlStruct, typename="builtin_interfaces::msg::dds_::Duration_"):
    """builtin_interfaces/Duration."""

    sec: int32 = 0
    nanosec: uint32 = 0


@dataclass
@final
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    """std_msgs/Header."""

    stamp: Time = field(default_factory=Time)
    frame_id: str = ""


@dataclass
@final
class JointState(IdlStruct, typename="sensor_msgs::msg::dds_::JointState_"):
    """sensor_msgs/JointState."""

    header: Header = field(default_factory=Header)
    name: sequence[str] = field(default_factory=list)
    position: sequence[float64] = field(default_factory=list)
    velocity: sequence[float64] = field(default_factory=list)
    effort: sequence[float64] = field(default_factory=list)


@dataclass
@final
class JointTrajectoryPoint(IdlStruct, typename="trajectory_msgs::msg::dds_::JointTrajectoryPoint_"):
    """trajectory_msgs/JointTrajectoryPoint."""

    positions: sequence[float64] = field(default_factory=list)
    velocities: sequence[float64] = field(default_factory=list)
    accelerations: sequence[float64] = field(default_factory=list)
    effort: sequence[float64] = field(default_factory=list)
    time_from_start: Duration = field(default_factory=Duration)


@dataclass
@final
class JointTrajectory(IdlStruct, typename="trajectory_msgs::msg::dds_::JointTrajectory_"):
    """trajectory_msgs/JointTrajectory."""

    header: Header = field(default_factory=Header)
    joint_names: sequence[str] = field(default_factory=list)
    points: sequence[JointTrajectoryPoint] = field(default_factory=list)


@dataclass
@final
class MultiArrayDimension(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayDimension_"):
    """std_msgs/MultiArrayDimension."""

    label: str = ""
    size: uint32 = 0
    stride: uint32 = 0


@dataclass
@final
class MultiArrayLayout(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayLayout_"):
    """std_msgs/MultiArrayLayout."""

    dim: sequence[MultiArrayDimension] = field(default_factory=list)
    data_offset: uint32 = 0


@dataclass
@final
class Float64MultiArray(IdlStruct, typename="std_msgs::msg::dds_::Float64MultiArray_"):
    """std_msgs/Float64MultiArray."""

    layout: MultiArrayLayout = field(default_factory=MultiArrayLayout)
    data: sequence[float64] = field(default_factory=list)


@dataclass
@final
class Float64(IdlStruct, typename="std_msgs::msg::dds_::Float64_"):
    """std_msgs/Float64."""

    data: float64 = 0.0


@dataclass
@final
class Bool(IdlStruct, typename="std_msgs::msg::dds_::Bool_"):
    """std_msgs/Bool."""

    data: bool = False


@dataclass
@final
class String(IdlStruct, typename="std_msgs::msg::dds_::String_"):
    """std_msgs/String."""

    data: str = ""


@dataclass
@final
class SafetyMode(IdlStruct, typename="ur_dashboard_msgs::msg::dds_::SafetyMode_"):
    """ur_dashboard_msgs/SafetyMode, numbered as robosim.execution.messages.SafetyMode."""

    mode: uint8 = 0


def to_wire(trajectory: messages.JointTrajectory, tf_prefix: str = "") -> JointTrajectory:
    """Convert a trajectory to a message, with `tf_prefix` before the joints' names.

    Raises ExecutionError for a time that does not fit.
    """
    message = JointTrajectory(joint_names=[f"{tf_prefix}{name}" for name in trajectory.joint_names])
    set_time(message.header.stamp, nanoseconds(trajectory.stamp))
    for point in trajectory.points:
        made = JointTrajectoryPoint(
            positions=point.positions.tolist(),
            velocities=point.velocities.tolist(),
            accelerations=point.accelerations.tolist(),
            effort=point.effort.tolist(),
        )
        set_time(made.time_from_start, nanoseconds(point.time_from_start))
        message.points.append(made)
    return message
