"""Status of a robot besides its joint states: speed scaling, program, safety, active controllers.

The topics are those of the robot's driver (`drivers`). Values without a topic are unknown, and so
are values whose message packages are not installed (ur_dashboard_msgs, franka_msgs, xarm_msgs,
controller_manager_msgs).
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from robosim.execution.clock import monotonic
from robosim.execution.messages import SafetyMode
from robosim.ros import names
from robosim.ros.drivers import DRIVERS, GENERIC, Driver, StatusTopic, percentage
from robosim.ros.qos import LATCHED, NEWEST, samples

__all__ = ["RobotStatus"]

_ASK = 0.5  # [s] between requests for the controllers
_LOST = 1.0  # [s] until an answer counts as lost
_VALID = 3.0  # [s] for which an answer is valid
_THINGS = {  # descriptions, by the names of Requirements
    "controller_active": "whether the controller is active",
    "program_running": "whether the robot's program runs",
    "safety_mode": "the safety mode",
}


class RobotStatus:
    """Subscribes to status topics. Callbacks run in the node's executor.

    Args:
        node: rclpy node.
        driver: driver with the topics.
        speed_scaling: topic with percent (std_msgs/Float64); "" for the driver's.

    Attributes:
        missing: missing message packages, by the name of Requirements that needs them.
    """

    def __init__(self, node: Any, driver: Driver = GENERIC, speed_scaling: str = "") -> None:
        from rclpy.clock import Clock, ClockType

        self._node, self._driver = node, driver
        self.missing: dict[str, str] = {}
        self._told: dict[str, tuple[Any, float]] = {}  # value, and end of its validity
        self._states: dict[str, str] | None = None
        self._answered = -math.inf
        self._asked = -math.inf
        self._question: Any = None
        self._subscriptions: list[Any] = []
        for topic in _topics(driver, speed_scaling):
            self._listen(topic)
        self._client: Any = None
        self._timer: Any = None
        try:
            from controller_manager_msgs.srv import ListControllers
        except ImportError:
            self.missing["controller_active"] = "controller_manager_msgs"
            node.get_logger().info(
                "controller_manager_msgs is not installed: active controllers stay unknown"
            )
        else:
            self._client = node.create_client(ListControllers, names.LIST_CONTROLLERS)
            self._timer = node.create_timer(
                _ASK, self._ask, clock=Clock(clock_type=ClockType.STEADY_TIME)
            )

    def destroy(self) -> None:
        """Stop listening."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        if self._client is not None:
            self._node.destroy_timer(self._timer)
            self._node.destroy_client(self._client)

    # -- Status ------------------------------------------------------------------------------------

    @property
    def speed_scaling(self) -> float:
        """Speed scaling from 0 to 1; 1 before the first message."""
        scaling = self._now("speed_scaling")
        return 1.0 if scaling is None else float(scaling)

    @property
    def program_running(self) -> bool | None:
        """True if the program runs; None before the first message."""
        running: bool | None = self._now("program_running")
        return running

    @property
    def safety_mode(self) -> SafetyMode | None:
        """Safety mode; None before the first message."""
        mode: SafetyMode | None = self._now("safety_mode")
        return mode

    @property
    def controllers(self) -> dict[str, str] | None:
        """State of each controller; None if unknown."""
        return self._states if monotonic() - self._answered <= _VALID else None

    def active(self, controller: str) -> bool | None:
        """Return true if a controller is active; None if unknown."""
        states = self.controllers
        return None if states is None else states.get(controller) == "active"

    def pick(self, candidates: Sequence[str]) -> str | None:
        """Return the first of these that is active; None if unknown."""
        return next((name for name in candidates if self.active(name.rsplit("/", 1)[-1])), None)

    @property
    def expects_controllers(self) -> bool:
        """True if a controller manager exists that has not answered yet."""
        return (
            self._client is not None
            and self.controllers is None
            and self._client.service_is_ready()
        )

    def unknown(self) -> list[str]:
        """Describe the unknown status, with reasons if any."""
        known = {
            "controller_active": self.controllers,
            "program_running": self.program_running,
            "safety_mode": self.safety_mode,
        }
        found = []
        for field, value in known.items():
            if value is None:
                why = f"{self.missing[field]} is not installed" if field in self.missing else ""
                if field == "controller_active" and not why:
                    why = (
                        "nobody answers on"
                        f" {self._node.resolve_service_name(names.LIST_CONTROLLERS)}"
                    )
                found.append(f"{_THINGS[field]} ({why})" if why else _THINGS[field])
        return found

    def other_driver(self) -> tuple[str, str] | None:
        """Return profile and topic of another driver on the graph, or None."""
        for driver in DRIVERS.values():
            if driver is self._driver:
                continue
            for topic in driver.seen_by:
                name = self._node.resolve_topic_name(topic)
                if self._node.count_publishers(name) > 0:
                    return driver.name, name
        return None

    # -- In the executor's thread ------------------------------------------------------------------

    def _now(self, field: str) -> Any:
        value, until = self._told.get(field, (None, 0.0))
        return value if monotonic() <= until else None

    def _listen(self, topic: StatusTopic) -> None:
        package, kind = topic.message.split("/")
        try:
            message = getattr(importlib.import_module(f"{package}.msg"), kind)
        except (ImportError, AttributeError):
            for field in topic.fields:
                self.missing[field] = package
            things = " and ".join(_THINGS.get(field, field) for field in topic.fields)
            self._node.get_logger().info(
                f"{package} is not installed: {things} will not be known. With ROS 2 sourced: "
                f"sudo apt install ros-$ROS_DISTRO-{package.replace('_', '-')}"
            )
            return
        quality = (
            LATCHED if topic.latched else samples(100.0) if math.isinf(topic.valid) else NEWEST
        )
        self._subscriptions.append(
            self._node.create_subscription(
                message, topic.name, partial(self._on_status, topic), quality
            )
        )

    def _on_status(self, topic: StatusTopic, message: Any) -> None:
        until = monotonic() + topic.valid
        self._told.update({field: (value, until) for field, value in topic.read(message).items()})

    def _ask(self) -> None:
        now = monotonic()
        if self._question is not None and now - self._asked > _LOST:
            self._client.remove_pending_request(self._question)
            self._question = None
        if self._question is None and self._client.service_is_ready():
            self._asked = now
            self._question = self._client.call_async(self._client.srv_type.Request())
            self._question.add_done_callback(self._on_controllers)

    def _on_controllers(self, future: Any) -> None:
        self._question = None
        answer = future.result()
        if answer is not None:
            self._states = {controller.name: controller.state for controller in answer.controller}
            self._answered = monotonic()


def _topics(driver: Driver, speed_scaling: str) -> list[StatusTopic]:
    """Topics of the driver, with the speed scaling's name replaced if given."""
    topics = list(driver.status)
    if not speed_scaling:
        return topics
    others = [topic for topic in topics if "speed_scaling" not in topic.fields]
    scaling = StatusTopic(speed_scaling, "std_msgs/Float64", percentage, ("speed_scaling",))
    given = next((topic for topic in topics if "speed_scaling" in topic.fields), scaling)
    return [replace(given, name=speed_scaling), *others]
