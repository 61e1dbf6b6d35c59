"""Reader of recordings: rosbag2's MCAP as arrays and as robosim's own types.

A recording is a folder with MCAP files, or one such file; its metadata.yaml is not needed. Messages
are decoded by the definitions that ROS 2 publishes, because definitions in the file are not
trusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.errors import BagError, ExecutionError, FileError
from robosim.execution.messages import JointTrajectory
from robosim.ros.bags.mcap import McapScan, Message
from robosim.ros.bags.types import (
    FLOAT64,
    FLOAT64_MULTI_ARRAY,
    JOINT_STATE,
    JOINT_TRAJECTORY,
    STRING,
    check_type,
    types,
)
from robosim.ros.messages import arm_state, joint_trajectory, nanoseconds_of

__all__ = ["Bag", "JointStates", "Stamped", "Topic"]

Array = NDArray[np.float64]

# A stamp that differs more from the receive time is of another clock [ns].
_SAME_CLOCK = 10**9


@dataclass(frozen=True)
class Topic:
    """Summary of a recorded topic: type, number of messages, first and last time [ns]."""

    type: str
    count: int
    first_ns: int
    last_ns: int


@dataclass(frozen=True, eq=False)
class JointStates:
    """Joint states as recorded: m samples of n joints.

    Attributes:
        joint_names: (n).
        time: (m,) [s] since the recording's first message, not decreasing.
        position: (m, n) [rad or m].
        velocity, effort: (m, n) [per s; N m or N]; NaN if not recorded.
    """

    joint_names: tuple[str, ...]
    time: Array
    position: Array
    velocity: Array
    effort: Array

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.time)


class Stamped(NamedTuple):
    """A trajectory, its topic, and the time it was sent [s] since the recording's first message."""

    time: float
    topic: str
    trajectory: JointTrajectory


class Bag:
    """A recording on disk, read as far as it is intact.

    Args:
        path: folder of `ros2 bag record` or BagWriter (also an unfinished <name>.partial), or an
            MCAP file.

    Attributes:
        topics: summaries of the recorded topics, by topic.
        start_ns, end_ns: times of the first and the last message [ns since 1970 on the ROS clock].
        truncated: True if the recording was interrupted. Data after its last whole message are
            lost.

    Raises:
        FileError: there is no such recording, or it cannot be read.
        BagError: it is not a rosbag2 recording in MCAP, or is damaged.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._files = _mcap_files(self.path)
        self.topics: dict[str, Topic] = {}
        self.truncated = False
        for file in self._files:
            scan = McapScan(file)
            for message in scan:
                seen = self.topics.get(message.topic)
                if seen is None:
                    seen = Topic(message.type, 0, message.time_ns, message.time_ns)
                elif seen.type != message.type:
                    raise BagError(
                        f"topic {message.topic} has the types {seen.type} and {message.type}",
                        file=file,
                    )
                self.topics[message.topic] = Topic(
                    seen.type,
                    seen.count + 1,
                    min(seen.first_ns, message.time_ns),
                    max(seen.last_ns, message.time_ns),
                )
            self.truncated |= scan.truncated
        self.start_ns = min((topic.first_ns for topic in self.topics.values()), default=0)
        self.end_ns = max((topic.last_ns for topic in self.topics.values()), default=0)

    @property
    def duration(self) -> float:
        """Time from the first to the last message [s]."""
        return (self.end_ns - self.start_ns) / 1e9

    def topics_of(self, type_: str) -> list[str]:
        """Topics of a type such as "sensor_msgs/msg/JointState", sorted by name."""
        return sorted(name for name, topic in self.topics.items() if topic.type == type_)

    def messages(self, topic: str) -> Iterator[tuple[int, Any]]:
        """Iterate over a topic: receive times [ns], and messages with fields as attributes.

        Messages are in order of time. Raises BagError for a topic that does not exist, an unknown
        type, or a message that does not fit its type's definition.
        """
        if topic not in self.topics:
            raise BagError(
                f"holds no topic {topic!r}; it holds {', '.join(sorted(self.topics)) or 'none'}",
                file=self.path,
            )
        type_ = self.topics[topic].type
        check_type(topic, type_, self.path)
        store = types()
        raw = [
            message for file in self._files for message in McapScan(file) if message.topic == topic
        ]
        for message in sorted(raw, key=lambda message: message.time_ns):
            yield message.time_ns, self._decode(store, message)

    def joint_states(
        self,
        topic: str | None = None,
        *,
        joint_names: Sequence[str] | None = None,
        stamped: bool = True,
    ) -> JointStates:
        """Return all samples of joint states that include these joints.

        Args:
            topic: by default the only one of that type, otherwise /joint_states.
            joint_names: joints to return, in this order; by default those of the first message.
                Messages that lack one of them (of another part of the robot) are omitted.
            stamped: use the times of the messages' headers, if all have one. Stamps of another
                clock (with a median offset above a second) are shifted by this offset. If False,
                use receive times.

        Raises BagError if there is no such topic, no message with these joints, or an invalid one.
        """
        topic = self._one(JOINT_STATE, topic, "/joint_states")
        names = None if joint_names is None else tuple(joint_names)
        received, stamps, samples = [], [], []
        for time_ns, message in self.messages(topic):
            if names is None:
                names = tuple(message.name)
            if not set(names) <= set(message.name):
                continue
            try:
                samples.append(arm_state(message, joint_names=names))
            except ExecutionError as error:
                raise BagError(
                    f"topic {topic} at {self._seconds(time_ns)} s: {error}", file=self.path
                ) from None
            received.append(time_ns)
            stamps.append(nanoseconds_of(message.header.stamp))
        if not samples or not names:
            raise BagError(
                f"topic {topic} holds no joint state with {', '.join(names or ['a joint'])}",
                file=self.path,
            )
        times = np.array(received)
        if stamped and all(stamps):
            offset = int(np.median(times - np.array(stamps)))
            times = np.array(stamps) + (offset if abs(offset) > _SAME_CLOCK else 0)
        order = np.argsort(times, kind="stable")
        nothing = np.full(len(names), np.nan)
        return JointStates(
            names,
            (times[order] - self.start_ns) / 1e9,
            np.array([samples[i].position for i in order]),
            np.array([samples[i].velocity for i in order]),
            np.array([nothing if (effort := samples[i].effort) is None else effort for i in order]),
        )

    def joint_trajectories(self, topic: str | None = None) -> list[Stamped]:
        """Trajectories sent on a topic, or on all topics, in order of time."""
        topics = (
            self.topics_of(JOINT_TRAJECTORY)
            if topic is None
            else [self._one(JOINT_TRAJECTORY, topic, topic)]
        )
        found = [
            Stamped(self._seconds(time_ns), name, joint_trajectory(message))
            for name in topics
            for time_ns, message in self.messages(name)
        ]
        return sorted(found, key=lambda stamped: stamped.time)

    def commands(self, topic: str | None = None) -> tuple[Array, Array]:
        """Set points of a forward controller: times (m,) [s], and values (m, n).

        Times count from the recording's start.

        Raises BagError if their number changes.
        """
        topic = self._one(FLOAT64_MULTI_ARRAY, topic, "/forward_position_controller/commands")
        times, values = [], []
        for time_ns, message in self.messages(topic):
            times.append(self._seconds(time_ns))
            values.append(np.array(message.data, dtype=float))
            if len(values[-1]) != len(values[0]):
                raise BagError(
                    f"topic {topic} at {times[-1]} s has {len(values[-1])} values, before it had"
                    f" {len(values[0])}",
                    file=self.path,
                )
        return np.array(times), np.array(values)

    def numbers(self, topic: str) -> tuple[Array, Array]:
        """Values of a std_msgs/Float64 topic: times (m,) [s], and values (m,).

        Times count from the recording's start.
        """
        self._one(FLOAT64, topic, topic)
        pairs = [
            (self._seconds(time_ns), float(message.data))
            for time_ns, message in self.messages(topic)
        ]
        times, values = np.array(pairs, dtype=float).reshape(-1, 2).T
        return times, values

    def robot_description(self, topic: str | None = None) -> str | None:
        """Latest published URDF, or None."""
        if topic is None:
            named = [name for name in self.topics_of(STRING) if name.endswith("/robot_description")]
            if not named:
                return None
            topic = named[0]
        *_, (_, message) = self.messages(self._one(STRING, topic, topic))
        return str(message.data)

    def _one(self, type_: str, topic: str | None, usual: str) -> str:
        """Select a topic, and check its type."""
        if topic is None:
            topics = self.topics_of(type_)
            if len(topics) == 1:
                return topics[0]
            if not topics:
                held = ", ".join(sorted(self.topics)) or "no topics"
                raise BagError(f"holds no topic of type {type_}; it holds {held}", file=self.path)
            if usual not in topics:
                raise BagError(
                    f"holds several topics of type {type_}; name one: {', '.join(topics)}",
                    file=self.path,
                )
            return usual
        if topic in self.topics and self.topics[topic].type != type_:
            raise BagError(
                f"topic {topic} is of type {self.topics[topic].type}, not {type_}", file=self.path
            )
        return topic

    def _decode(self, store: Any, message: Message) -> Any:
        try:
            return store.deserialize_cdr(message.data, message.type)
        except Exception as error:  # of any kind, for arbitrary bytes
            raise BagError(
                f"a message on {message.topic} is not a {message.type} ({type(error).__name__}:"
                f" {error})",
                file=self.path,
            ) from None

    def _seconds(self, time_ns: int) -> float:
        return (time_ns - self.start_ns) / 1e9


def _mcap_files(path: Path) -> list[Path]:
    """MCAP files of a recording, in the order of writing."""
    if not path.exists():
        raise FileError("no such recording", file=path)
    if path.is_file():
        if path.suffix != ".mcap":
            raise BagError(f"is not an .mcap file{_HELP.get(path.suffix, '')}", file=path)
        return [path]
    if not path.is_dir():
        raise FileError("is neither a folder nor a regular file", file=path)
    # The folder of an interrupted recording is inside another one.
    found = [
        file
        for pattern in ("*.mcap", "*/*.mcap")
        for file in sorted(path.glob(pattern), key=_natural)
    ]
    if not found:
        help_ = next((text for suffix, text in _HELP.items() if any(path.glob(f"*{suffix}"))), "")
        raise BagError(f"holds no .mcap file{help_}", file=path)
    return [file for file in found if file.parent == found[0].parent and file.is_file()]


_HELP = {
    ".db3": ": it is rosbag2's older format sqlite3; `ros2 bag convert` makes MCAP of it",
    ".zstd": ": it is compressed as a whole; unpack it first: `unzstd FILE`",
    ".bag": ": it is of ROS 1; `rosbags-convert` makes MCAP of it",
}


def _natural(path: Path) -> list[tuple[int, str]]:
    """Sort key that places bag_10 after bag_9."""
    return [
        (int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", path.name)
    ]
