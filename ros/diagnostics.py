"""Diagnostics for rqt_robot_monitor: diagnostic_msgs/DiagnosticArray on /diagnostics, at 1 Hz."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

__all__ = ["Diagnostics", "Level", "Report"]


class Level(IntEnum):
    """Severity, numbered as in diagnostic_msgs/DiagnosticStatus."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


@dataclass(frozen=True)
class Report:
    """One status: severity, short message, and values by name."""

    level: Level
    message: str
    values: Mapping[str, object] = field(default_factory=dict)


class Diagnostics:
    """Publishes the reports of a node.

    Args:
        node: rclpy.node.Node; its name is the prefix of each status' name.
        hardware: name of the robot.
        period: time between messages [s], real time.
    """

    def __init__(self, node: Any, hardware: str, period: float = 1.0) -> None:
        from diagnostic_msgs.msg import DiagnosticArray
        from rclpy.clock import Clock, ClockType

        from robosim.ros.qos import EVENTS

        self._node, self._hardware = node, hardware
        self._checks: dict[str, Callable[[], Report]] = {}
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", EVENTS)
        # On a steady clock, so that simulated time that stands still does not stop the messages.
        self._timer = node.create_timer(
            period, self.publish, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def destroy(self) -> None:
        """Stop publishing."""
        self._node.destroy_timer(self._timer)
        self._node.destroy_publisher(self._publisher)

    def add(self, name: str, check: Callable[[], Report]) -> None:
        """Call `check` for each message, in the executor's thread."""
        self._checks[name] = check

    def publish(self) -> None:
        """Call all checks and publish."""
        from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

        message = DiagnosticArray()
        message.header.stamp = self._node.get_clock().now().to_msg()
        for name, check in self._checks.items():
            report = check()
            message.status.append(
                DiagnosticStatus(
                    level=bytes([report.level]),
                    name=f"{self._node.get_name()}: {name}",
                    message=report.message,
                    hardware_id=self._hardware,
                    values=[
                        KeyValue(key=key, value=str(value)) for key, value in report.values.items()
                    ],
                )
            )
        self._publisher.publish(message)
