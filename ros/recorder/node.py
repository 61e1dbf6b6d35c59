"""Node of the recorder: subscribes to all topics, and writes messages during a recording.

Threads: the executor's thread receives messages as bytes and queues them; the recording's own
thread writes them.
"""

from __future__ import annotations

import importlib
import time
from pathlib import Path
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_srvs.srv import SetBool

from robosim.errors import ExecutionError, RobosimError
from robosim.ros.bags.recording import Recording
from robosim.ros.diagnostics import Diagnostics, Level, Report
from robosim.ros.parameters import declare
from robosim.ros.qos import LATCHED
from robosim.ros.recorder import PARAMETERS, parse_topic

__all__ = ["Recorder"]


class Recorder(Node):
    """Records topics.

    Raises:
        RobosimError: a parameter is invalid, a type is unknown, or the recording cannot be created.
    """

    def __init__(self) -> None:
        super().__init__("recorder")
        self.values = declare(self, PARAMETERS)
        self._recording: Recording | None = None
        self._made = 0  # number of recordings
        self._latched: dict[
            str, bytes
        ] = {}  # the last message of each latched topic, for later recordings
        self._topics = [parse_topic(text) for text in self.values.topics]
        self._topics = [
            (self.resolve_topic_name(name), type_, latched) for name, type_, latched in self._topics
        ]
        if self.values.start:
            self._begin()
        try:
            for topic in self._topics:
                self._subscribe(*topic)
        except RobosimError:
            self.close()
            raise
        self.create_service(SetBool, "~/record", self._on_record)
        Diagnostics(self, "recorder").add("recording", self._report)

    def close(self) -> None:
        """End the recording and log its content."""
        recording, self._recording = self._recording, None
        if recording is None:
            return
        recording.close()
        for line in recording.summary():
            self.get_logger().info(line)
        if recording.error is None:
            self.get_logger().info(f"recorded {recording.path}")
        else:
            self.get_logger().error(f"the recording failed: {recording.error}")

    def _begin(self) -> None:
        path = Path(self.values.bag or time.strftime("robosim-%Y%m%d-%H%M%S"))
        if self.values.bag and self._made:
            path = path.with_name(f"{path.name}_{self._made}")
        recording = Recording(path, flush_period=self.values.flush_period)
        self._made += 1
        try:
            for topic, type_, latched in self._topics:
                recording.add_topic(topic, type_, latched=latched)
        except RobosimError:
            recording.close()
            raise
        self._recording = recording
        now = self.get_clock().now().nanoseconds
        for topic, type_, _ in self._topics:
            if topic in self._latched:
                recording.put(topic, type_, self._latched[topic], now)
        self.get_logger().info(f"recording to {path}")

    def _on_record(self, request: Any, response: Any) -> Any:
        """Begin or end a recording. Without a change, nothing happens."""
        try:
            if request.data and self._recording is None:
                self._begin()
            elif not request.data:
                self.close()
        except RobosimError as error:
            response.success, response.message = False, str(error)
            return response
        response.success = True
        response.message = (
            "not recording" if self._recording is None else f"recording to {self._recording.path}"
        )
        return response

    def _subscribe(self, topic: str, type_: str, latched: bool) -> None:
        # Find the message type.
        package, _, name = type_.split("/")
        try:
            kind = getattr(importlib.import_module(f"{package}.msg"), name)
        except (ImportError, AttributeError) as error:
            raise ExecutionError(
                f"type {type_!r} of topic {topic} cannot be had: {error}"
            ) from None
        # Subscribe with the QoS of the topic.
        qos = LATCHED
        if not latched:
            reliable = (
                ReliabilityPolicy.RELIABLE
                if self.values.reliable
                else ReliabilityPolicy.BEST_EFFORT
            )
            qos = QoSProfile(depth=self.values.depth, reliability=reliable)

        def alone() -> bool:
            return bool(self.count_publishers(topic) == 1)

        def take(data: bytes, info: dict[str, Any]) -> None:
            if latched:
                self._latched[topic] = data
            recording = self._recording
            if recording is None:
                return
            simulated = self.get_clock().ros_time_is_active
            time_ns = (
                self.get_clock().now().nanoseconds if simulated else info["received_timestamp"]
            )
            number = info.get("publication_sequence_number")
            if not recording.topics[topic].count:
                self.get_logger().info(f"hears {topic}")
            recording.put(topic, type_, data, time_ns, number=number, alone=alone)

        self.create_subscription(kind, topic, take, qos, raw=True)

    def _report(self) -> Report:
        recording = self._recording
        if recording is None:
            return Report(Level.OK, "not recording")
        if recording.error is not None:
            return Report(Level.ERROR, f"the recording failed: {recording.error}")
        lost = sum(topic.lost + topic.dropped for topic in recording.topics.values())
        values = {
            name: f"{topic.count} messages, {topic.lost} lost"
            for name, topic in recording.topics.items()
        }
        return Report(
            Level.WARN if lost else Level.OK,
            f"{lost} messages lost" if lost else "recording",
            values,
        )
