"""Writer of recordings: a folder with one MCAP file and metadata.yaml, like `ros2 bag record`.

A recording grows under the name <name>.partial and is renamed when it is closed, so a recording
with the final name is complete. Data flushed before an interruption stay readable under the partial
name.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from robosim.errors import BagError, FileError
from robosim.execution.messages import ArmState, JointTrajectory
from robosim.ros.bags.types import (
    FLOAT64,
    FLOAT64_MULTI_ARRAY,
    JOINT_STATE,
    JOINT_TRAJECTORY,
    STRING,
    check_type,
    types,
)
from robosim.ros.messages import nanoseconds, set_time

__all__ = ["BagWriter"]

# Version of rosbag2's metadata that Humble and all later distributions read.
_VERSION: Final = 8


class BagWriter:
    """Writer of one recording, to be closed or used as context. Not thread-safe.

    Args:
        path: folder to create; its parent must exist.

    Raises:
        MissingDependencyError: rosbags is not installed.
        FileError: the name exists already, or the folder cannot be created.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._types = types()
        from rosbags.rosbag2 import StoragePlugin, Writer

        self.path = Path(path)
        if not self.path.name or self.path.exists():
            raise FileError("exists already; a recording makes a new folder", file=path)
        self.partial = self.path.with_name(f"{self.path.name}.partial")
        self._connections: dict[tuple[str, str], Any] = {}
        self.counts: dict[str, int] = {}  # messages by topic
        self._unflushed = 0
        self._closed = False
        try:
            # The inner folder has the final name, because the MCAP file is named after it.
            self.partial.mkdir()
            self._writer = Writer(
                self.partial / self.path.name, version=_VERSION, storage_plugin=StoragePlugin.MCAP
            )
            self._writer.open()
            self._flush_file()
        except FileExistsError:
            raise FileError(
                "is left over from an interrupted recording; move it away", file=self.partial
            ) from None
        except OSError as error:
            raise FileError(
                f"cannot be made: {error.strerror or error}", file=self.partial
            ) from None

    # -- Messages ----------------------------------------------------------------------------------

    def add_topic(self, topic: str, type_: str, *, latched: bool = False) -> None:
        """Declare a topic and its type (such as "std_msgs/msg/String"), unless already declared.

        `latched`: late subscribers of a replay get the last message. Raises BagError for a type
        without a known definition.
        """
        if (topic, type_) in self._connections:
            return
        check_type(topic, type_, self.path)
        self._connections[topic, type_] = self._writer.add_connection(
            topic, type_, typestore=self._types, offered_qos_profiles=[_qos(latched)]
        )
        self.counts.setdefault(topic, 0)

    def write(self, topic: str, type_: str, data: bytes | memoryview, time_ns: int) -> None:
        """Write a message as received: CDR with its header of 4 bytes, at a time on the ROS clock.

        The time is in [ns] since 1970.
        """
        self.add_topic(topic, type_)
        if not 0 <= time_ns < 2**63:
            raise BagError(f"a time of {time_ns} ns cannot be recorded", file=self.path)
        try:
            self._writer.write(self._connections[topic, type_], int(time_ns), data)
        except OSError as error:
            raise FileError(
                f"cannot be written: {error.strerror or error}", file=self.partial
            ) from None
        self.counts[topic] += 1
        self._unflushed += 1

    def write_joint_state(
        self, state: ArmState, *, topic: str = "/joint_states", time_ns: int | None = None
    ) -> None:
        """Write a joint state. Velocities that are all NaN, and efforts that are None, are omitted.

        `time_ns`: receive time; by default the state's own stamp.
        """
        stamp = nanoseconds(state.stamp)
        velocity = (
            np.zeros(0)
            if np.isnan(state.velocity).all()
            else np.asarray(state.velocity, dtype=float)
        )
        message = self._make(
            JOINT_STATE,
            header=self._header(stamp),
            name=list(state.joint_names),
            position=np.asarray(state.position, dtype=float),
            velocity=velocity,
            effort=np.zeros(0) if state.effort is None else np.asarray(state.effort, dtype=float),
        )
        self._write(topic, JOINT_STATE, message, stamp if time_ns is None else time_ns)

    def write_joint_trajectory(
        self, trajectory: JointTrajectory, *, topic: str = "/joint_trajectory", time_ns: int
    ) -> None:
        """Write a trajectory that was sent at `time_ns`."""
        points = []
        for point in trajectory.points:
            duration = self._make("builtin_interfaces/msg/Duration", sec=0, nanosec=0)
            set_time(duration, nanoseconds(point.time_from_start))
            points.append(
                self._make(
                    "trajectory_msgs/msg/JointTrajectoryPoint",
                    positions=point.positions,
                    velocities=point.velocities,
                    accelerations=point.accelerations,
                    effort=point.effort,
                    time_from_start=duration,
                )
            )
        message = self._make(
            JOINT_TRAJECTORY,
            header=self._header(nanoseconds(trajectory.stamp)),
            joint_names=list(trajectory.joint_names),
            points=points,
        )
        self._write(topic, JOINT_TRAJECTORY, message, time_ns)

    def write_command(
        self,
        values: ArrayLike,
        *,
        topic: str = "/forward_position_controller/commands",
        time_ns: int,
    ) -> None:
        """Write a set point of a forward controller, (n,) in the order of its joints."""
        layout = self._make("std_msgs/msg/MultiArrayLayout", dim=[], data_offset=0)
        message = self._make(
            FLOAT64_MULTI_ARRAY, layout=layout, data=np.array(values, dtype=float).reshape(-1)
        )
        self._write(topic, FLOAT64_MULTI_ARRAY, message, time_ns)

    def write_number(self, value: float, *, topic: str, time_ns: int) -> None:
        """Write a std_msgs/Float64, such as the speed scaling in percent."""
        self._write(topic, FLOAT64, self._make(FLOAT64, data=float(value)), time_ns)

    def write_robot_description(
        self, text: str, *, topic: str = "/robot_description", time_ns: int
    ) -> None:
        """Write the robot's URDF."""
        self.add_topic(topic, STRING, latched=True)
        self._write(topic, STRING, self._make(STRING, data=text), time_ns)

    # -- The file ----------------------------------------------------------------------------------

    def flush(self) -> None:
        """Pass all data to the operating system, so that they survive this process."""
        if not self._unflushed:
            return
        # rosbags writes chunks of 1 MiB, which are seconds of an arm's states. Ending a chunk early
        # is not part of its interface, but of its MCAP storage.
        storage: Any = self._writer.storage
        try:
            storage.close_chunk()
            self._flush_file()
        except OSError as error:
            raise FileError(
                f"cannot be written: {error.strerror or error}", file=self.partial
            ) from None
        self._unflushed = 0

    def close(self) -> None:
        """End the file and rename it. May be called twice."""
        if self._closed:
            return
        self._closed = True
        try:
            self._writer.close()
            (self.partial / self.path.name).rename(self.path)
            self.partial.rmdir()
        except OSError as error:
            raise FileError(
                f"cannot be finished: {error.strerror or error}; what was written is in"
                f" {self.partial}",
                file=self.path,
            ) from None

    def abandon(self) -> None:
        """Leave the data under the partial name, as after an interruption."""
        if not self._closed:
            self._closed = True
            self.flush()
            self._writer.abort()

    def __enter__(self) -> BagWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
        else:
            self.abandon()

    def _flush_file(self) -> None:
        storage: Any = self._writer.storage
        storage.bio.flush()

    def _write(self, topic: str, type_: str, message: Any, time_ns: int) -> None:
        self.write(topic, type_, self._types.serialize_cdr(message, type_), time_ns)

    def _make(self, type_: str, **fields: Any) -> Any:
        return self._types.types[type_](**fields)

    def _header(self, stamp: int) -> Any:
        made = self._make("builtin_interfaces/msg/Time", sec=0, nanosec=0)
        set_time(made, stamp)
        return self._make("std_msgs/msg/Header", stamp=made, frame_id="")


def _qos(latched: bool) -> Any:
    from rosbags.interfaces import (
        Qos,
        QosDurability,
        QosHistory,
        QosLiveliness,
        QosReliability,
        QosTime,
    )

    # rosbag2 writes unlimited times as the longest that fit.
    never = QosTime(9223372036, 854775807)
    return Qos(
        history=QosHistory.KEEP_LAST,
        depth=1 if latched else 10,
        reliability=QosReliability.RELIABLE,
        durability=QosDurability.TRANSIENT_LOCAL if latched else QosDurability.VOLATILE,
        deadline=never,
        lifespan=never,
        liveliness=QosLiveliness.AUTOMATIC,
        liveliness_lease_duration=never,
        avoid_ros_namespace_conventions=False,
    )
