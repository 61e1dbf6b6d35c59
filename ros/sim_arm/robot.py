"""Interface of a Universal Robots driver besides its trajectory controller, and dashboard services.

Topics: speed scaling in percent, state of the program, safety and robot mode. Services: play, stop
and unlock as on the dashboard, a protective stop (as after a collision), the list of controllers.
Interfaces with message packages that are not installed (ur_dashboard_msgs, controller_manager_msgs)
are omitted, and the log says so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from std_msgs.msg import Bool, Float64
from std_srvs.srv import Trigger

from robosim.execution.messages import SafetyMode
from robosim.execution.simulated import SimulatedArm
from robosim.ros import names
from robosim.ros.qos import LATCHED, samples

__all__ = ["Robot"]

_RUNNING, _POWER_OFF = 7, 3  # values of ur_dashboard_msgs/RobotMode


class Robot:
    """Serves the interface around an arm's controller.

    Args:
        node: rclpy node.
        arm: the arm.
        lock: held during each access to the arm.
        changed: called with the lock held after a change that may end goals.
    """

    def __init__(
        self, node: Any, arm: SimulatedArm, lock: threading.Lock, changed: Callable[[], None]
    ) -> None:
        self._node, self._arm, self._lock, self._changed = node, arm, lock, changed
        self._publishers: list[Any] = []
        self._services: list[Any] = []
        self._shown: tuple[bool, int] | None = None
        self._scaling = self._publisher(Float64, names.SPEED_SCALING, samples(100.0))
        self._program = self._publisher(Bool, names.PROGRAM_RUNNING, LATCHED)
        self._modes: list[tuple[Any, Any]] = []
        self._offer_modes()
        play, stop = f"{names.DASHBOARD}/play", f"{names.DASHBOARD}/stop"
        unlock = f"{names.DASHBOARD}/unlock_protective_stop"
        self._trigger(play, self._play)
        self._trigger(names.RESEND_PROGRAM, self._play)
        self._trigger(stop, self._stop)
        self._trigger(unlock, self._unlock)
        self._trigger("~/protective_stop", self._protective_stop)
        self._offer_controllers()

    def destroy(self) -> None:
        """Destroy topics and services."""
        for service in self._services:
            self._node.destroy_service(service)
        for publisher in self._publishers:
            self._node.destroy_publisher(publisher)

    def publish(self) -> None:
        """Publish the speed scaling, and changes of the other topics."""
        with self._lock:
            status = self._arm.status()
        self._scaling.publish(Float64(data=100.0 * status.speed_scaling))
        running, mode = bool(status.program_running), int(status.safety_mode or SafetyMode.NORMAL)
        if (running, mode) == self._shown:
            return
        self._shown = (running, mode)
        self._program.publish(Bool(data=running))
        stopped = mode in (SafetyMode.SYSTEM_EMERGENCY_STOP, SafetyMode.ROBOT_EMERGENCY_STOP)
        for (publisher, message), value in zip(
            self._modes, (mode, _POWER_OFF if stopped else _RUNNING), strict=False
        ):
            message.mode = value
            publisher.publish(message)

    # -- Buttons -----------------------------------------------------------------------------------

    def _play(self) -> tuple[bool, str]:
        if self._arm.safety_mode not in (SafetyMode.NORMAL, SafetyMode.REDUCED):
            return False, f"the safety mode is {self._arm.safety_mode.name}; unlock it first"
        self._arm.program_running = True
        return True, "the program runs"

    def _stop(self) -> tuple[bool, str]:
        self._arm.program_running = False
        return True, "the program has stopped"

    def _protective_stop(self) -> tuple[bool, str]:
        self._arm.protective_stop()
        return True, "protective stop"

    def _unlock(self) -> tuple[bool, str]:
        if self._arm.safety_mode is not SafetyMode.PROTECTIVE_STOP:
            return (
                False,
                f"there is no protective stop; the safety mode is {self._arm.safety_mode.name}",
            )
        self._arm.unlock_protective_stop()
        return True, "unlocked; play starts the program again"

    def _trigger(self, name: str, press: Callable[[], tuple[bool, str]]) -> None:
        def serve(_: Any, response: Any) -> Any:
            with self._lock:
                response.success, response.message = press()
                self._changed()
            self.publish()
            return response

        self._services.append(self._node.create_service(Trigger, name, serve))

    # -- Optional interfaces -----------------------------------------------------------------------

    def _offer_modes(self) -> None:
        try:
            from ur_dashboard_msgs.msg import RobotMode
            from ur_dashboard_msgs.msg import SafetyMode as SafetyModeMessage
        except ImportError:
            self._node.get_logger().info(
                "ur_dashboard_msgs is not installed: no safety_mode and robot_mode"
            )
            return
        for kind, topic in ((SafetyModeMessage, names.SAFETY_MODE), (RobotMode, names.ROBOT_MODE)):
            self._modes.append((self._publisher(kind, topic, LATCHED), kind()))

    def _offer_controllers(self) -> None:
        try:
            from controller_manager_msgs.srv import ListControllers
        except ImportError:
            self._node.get_logger().info(
                "controller_manager_msgs is not installed: no list_controllers"
            )
            return
        self._services.append(
            self._node.create_service(
                ListControllers, names.LIST_CONTROLLERS, self._list_controllers
            )
        )

    def _list_controllers(self, _: Any, response: Any) -> Any:
        from controller_manager_msgs.msg import ControllerState

        with self._lock:
            commands = "active" if self._arm.status().controller_active else "inactive"
        positions = [f"{joint}/position" for joint in self._arm.joint_names]
        own = self._node.get_name()
        kind = (
            "ur_controllers/ScaledJointTrajectoryController"
            if own == names.SCALED_CONTROLLER
            else "joint_trajectory_controller/JointTrajectoryController"
        )
        for name, type_, state, claimed in (
            (own, kind, commands, positions),
            (
                names.FORWARD_POSITION_CONTROLLER,
                "position_controllers/JointGroupPositionController",
                commands,
                positions,
            ),
            (
                names.JOINT_STATE_BROADCASTER,
                "joint_state_broadcaster/JointStateBroadcaster",
                "active",
                [],
            ),
            (
                "speed_scaling_state_broadcaster",
                "ur_controllers/SpeedScalingStateBroadcaster",
                "active",
                [],
            ),
            ("io_and_status_controller", "ur_controllers/GPIOController", "active", []),
        ):
            controller = ControllerState(name=name, type=type_, state=state)
            controller.required_command_interfaces = claimed
            controller.claimed_interfaces = claimed if state == "active" else []
            response.controller.append(controller)
        return response

    def _publisher(self, kind: Any, topic: str, qos: Any) -> Any:
        publisher = self._node.create_publisher(kind, topic, qos)
        self._publishers.append(publisher)
        return publisher
