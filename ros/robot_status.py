"""What a robot says about itself beside its joint states: speed scaling, its program, safety, active controllers.

The topics are those of the Universal Robots driver; a robot without them says nothing about the thing. What needs
message packages that are not installed (ur_dashboard_msgs, controller_manager_msgs) stays unknown too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from robosim.execution.clock import monotonic
from robosim.execution.messages import SafetyMode
from robosim.ros import names
from robosim.ros.qos import LATCHED, samples

__all__ = ["RobotStatus"]

_ASK = 0.5  # [s] between questions for the controllers
_LOST = 1.0  # [s] until an answer counts as lost
_VALID = 3.0  # [s] until an old one says nothing any more
_FURTHER_MODES = {  # of newer controllers, by number
    10: SafetyMode.FAULT,  # a joint has to be identified
    12: SafetyMode.SAFEGUARD_STOP,  # in automatic mode
    13: SafetyMode.SAFEGUARD_STOP,  # three-position enabling device
}


class RobotStatus:
    """Listens; callbacks run in the node's executor.

    Args:
        node: rclpy node.
        speed_scaling: topic with percent (std_msgs/Float64).

    Attributes:
        speed_scaling: 0 to 1; 1 while nothing was heard.
        program_running, safety_mode: None while nothing was heard.
        controllers: state by name as of the last answer, or None.
    """

    def __init__(self, node: Any, speed_scaling: str = names.SPEED_SCALING) -> None:
        from rclpy.clock import Clock, ClockType
        from std_msgs.msg import Bool, Float64

        self._node = node
        self.speed_scaling = 1.0
        self.program_running: bool | None = None
        self.safety_mode: SafetyMode | None = None
        self._states: dict[str, str] | None = None
        self._answered = -math.inf
        self._asked = -math.inf
        self._question: Any = None
        self._subscriptions = [
            node.create_subscription(Float64, speed_scaling, self._on_scaling, samples(100.0)),
            node.create_subscription(Bool, names.PROGRAM_RUNNING, self._on_program, LATCHED),
        ]
        self._listen_to_safety()
        self._client: Any = None
        self._timer: Any = None
        try:
            from controller_manager_msgs.srv import ListControllers
        except ImportError:
            node.get_logger().info(
                "controller_manager_msgs is not installed: active controllers stay unknown"
            )
        else:
            self._client = node.create_client(ListControllers, names.LIST_CONTROLLERS)
            self._timer = node.create_timer(_ASK, self._ask, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def destroy(self) -> None:
        """Stop listening."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        if self._client is not None:
            self._node.destroy_timer(self._timer)
            self._node.destroy_client(self._client)

    @property
    def controllers(self) -> dict[str, str] | None:
        """State of each controller, when that is known."""
        return self._states if monotonic() - self._answered <= _VALID else None

    def active(self, controller: str) -> bool | None:
        """Whether a controller is active, when that is known."""
        states = self.controllers
        return None if states is None else states.get(controller) == "active"

    def pick(self, candidates: Sequence[str]) -> str | None:
        """The first of these that is active, when that is known."""
        return next((name for name in candidates if self.active(name)), None)

    @property
    def expects_controllers(self) -> bool:
        """Whether somebody is there to answer who has not yet."""
        return self._client is not None and self.controllers is None and self._client.service_is_ready()

    def _listen_to_safety(self) -> None:
        try:
            from ur_dashboard_msgs.msg import SafetyMode as Message
        except ImportError:
            self._node.get_logger().info("ur_dashboard_msgs is not installed: the safety mode stays unknown")
            return
        topic = names.SAFETY_MODE
        self._subscriptions.append(self._node.create_subscription(Message, topic, self._on_safety, LATCHED))

    def _on_scaling(self, message: Any) -> None:
        # What cannot be a speed means: do not move.
        percent = message.data if math.isfinite(message.data) else 0.0
        self.speed_scaling = min(max(percent / 100.0, 0.0), 1.0)

    def _on_program(self, message: Any) -> None:
        self.program_running = bool(message.data)

    def _on_safety(self, message: Any) -> None:
        number = int(message.mode)
        known = number in SafetyMode._value2member_map_
        self.safety_mode = SafetyMode(number) if known else _FURTHER_MODES.get(number)

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
