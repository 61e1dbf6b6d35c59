"""Lifecycle node of the simulated arm.

Unconfigured, there is no robot. Inactive, the robot publishes its state but refuses commands.
Active, it follows commands.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any, cast

from lifecycle_msgs.srv import ChangeState
from rclpy.lifecycle import LifecycleNode, State, TransitionCallbackReturn

from robosim.errors import RobosimError
from robosim.ros.answers import Answers
from robosim.ros.parameters import Value, declare
from robosim.ros.sim_arm import PARAMETERS
from robosim.ros.sim_arm.simulation import Simulation

__all__ = ["SimArm"]


class SimArm(LifecycleNode):
    """A simulated arm.

    Args:
        stop: ends the process with an exit code.

    Raises:
        RobosimError: a parameter is invalid, or with `autostart` the robot cannot be configured.
    """

    def __init__(self, stop: Callable[[int], None]) -> None:
        super().__init__("sim_arm")
        self._stop = stop
        self._robot: Simulation | None = None
        self._failure: Exception | None = None
        self._answers = Answers()
        self.values = declare(self, PARAMETERS, self._on_parameter)
        for service in self.services:
            if service.srv_type is ChangeState:
                service.callback = self._refusing(service.callback)
        if self.values.autostart:
            self.trigger_configure()
            if self._failure is not None:
                raise self._failure
            self.trigger_activate()

    def close(self) -> None:
        """Stop the arm, and let its clients receive the results."""
        if self._robot is not None:
            self._robot.switch(False)
        self._answers.see_off()
        if self._robot is not None:
            self._robot.stop_control()

    def _on_parameter(self, name: str, value: Value) -> None:
        if name == "speed_slider" and self._robot is not None:
            self._robot.slider = cast(float, value)

    # -- Lifecycle ---------------------------------------------------------------------------------

    def _refusing(self, change_state: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Wrap the lifecycle's service, to refuse an impossible transition as ROS nodes in C++ do.

        In rclpy (up to Jazzy at least) an impossible transition raises in the executor, which ends
        the node. A transition by label is refused by rclpy itself.
        """

        def answer(request: Any, response: Any) -> Any:
            possible = {
                number: label for number, label, *_ in self._state_machine.available_transitions
            }
            if not request.transition.label and request.transition.id not in possible:
                state = self._state_machine.current_state[1]
                others = ", ".join(f"{label} ({number})" for number, label in possible.items())
                self.get_logger().warning(
                    f"transition {request.transition.id} is refused: the node is {state}; possible:"
                    f" {others or 'none'}"
                )
                response.success = False
                return response
            return change_state(request, response)

        return answer

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        """Read the robot and place it."""
        self._failure = None
        try:
            self._robot = Simulation(self, self.values, self._stop, self._answers)
        except RobosimError as error:
            self._failure = error
            self.get_logger().error(f"cannot be configured: {error}")
            return TransitionCallbackReturn.FAILURE
        except Exception as error:  # rclpy would ignore it silently
            self._failure = error
            self.get_logger().error(traceback.format_exc())
            return TransitionCallbackReturn.ERROR
        return super().on_configure(state)

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        """Accept commands."""
        self._switch(True)
        return super().on_activate(state)

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        """Abort a goal, hold, and refuse commands."""
        self._switch(False)
        return super().on_deactivate(state)

    def on_cleanup(self, state: State) -> TransitionCallbackReturn:
        """Remove the robot."""
        self._remove()
        return super().on_cleanup(state)

    def on_shutdown(self, state: State) -> TransitionCallbackReturn:
        """Abort a goal, hold, and end the process.

        The process lets the answers to this request and to the goal arrive.
        """
        if self._robot is not None:
            self._robot.switch(False)
        self._answers.given()
        self._stop(0)
        return super().on_shutdown(state)

    def on_error(self, state: State) -> TransitionCallbackReturn:
        """Remove the rest of the robot, so that it can be configured again."""
        self._remove()
        return TransitionCallbackReturn.SUCCESS

    def _switch(self, active: bool) -> None:
        assert self._robot is not None
        self._robot.switch(active)
        self.get_logger().info(
            "active: commands are followed" if active else "inactive: commands are refused"
        )

    def _remove(self) -> None:
        if self._robot is not None:
            self._robot.switch(False)
            self._robot.stop_control()
            self._robot.destroy()
            self._robot = None
