"""The lifecycle node: unconfigured there is no robot; inactive the robot stands there and shows its state, but refuses
commands; active it follows them.

Threads: the control thread steps the arm and publishes joint_states; the executor's thread does everything else. One
lock guards the arm; it is held for one step, or for judging one goal.
"""

from __future__ import annotations

import gc
import threading
import time
import traceback
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, State, TransitionCallbackReturn
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from robosim.errors import RobosimError
from robosim.execution.executor import Event
from robosim.execution.messages import Setpoint
from robosim.execution.plant import commandable, joint_columns
from robosim.ros import names
from robosim.ros.description import Description
from robosim.ros.diagnostics import Diagnostics, Level, Report
from robosim.ros.messages import JointStateMessage
from robosim.ros.parameters import Value, declare
from robosim.ros.qos import LATCHED, NEWEST, samples
from robosim.ros.sim_arm import PARAMETERS
from robosim.ros.sim_arm.arm import make_arm, read_robot
from robosim.ros.sim_arm.control import ControlThread
from robosim.ros.sim_arm.robot import Robot
from robosim.ros.sim_arm.trajectory_server import TrajectoryServer

__all__ = ["SimArm"]

_SLIDER_SPEED = 5.0  # [1/s] by which the speed scaling follows the slider
_PARTING = 1.0  # [s] at most, for the results of goals that the end aborts to be sent
_FAREWELL = 0.1  # [s] for what was sent to leave the process


class SimArm(LifecycleNode):
    """A simulated arm.

    Args:
        stop: ends the process with an exit code.

    Raises:
        RobosimError: a parameter is not valid, or with `autostart` the robot cannot be configured.
    """

    def __init__(self, stop: Callable[[int], None]) -> None:
        super().__init__("sim_arm")
        self._stop = stop
        self._lock = threading.Lock()
        self._robot: _Running | None = None
        self._failure: Exception | None = None
        self.values = declare(self, PARAMETERS, self._on_parameter)
        if self.values.autostart:
            self.trigger_configure()
            if self._failure is not None:
                raise self._failure
            self.trigger_activate()

    def close(self) -> None:
        """Stop the arm and tell the clients."""
        if self._robot is not None:
            self._robot.stop()

    def _on_parameter(self, name: str, value: Value) -> None:
        if name == "speed_slider" and self._robot is not None:
            self._robot.slider = float(value)  # type: ignore[arg-type]

    # -- Lifecycle -------------------------------------------------------------------------------------------

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        """Read the robot and let it stand there."""
        self._failure = None
        try:
            self._robot = _Running(self, self.values, self._lock, self._stop)
        except RobosimError as error:
            self._failure = error
            self.get_logger().error(f"cannot be configured: {error}")
            return TransitionCallbackReturn.FAILURE
        except Exception as error:  # rclpy would pass over it in silence
            self._failure = error
            self.get_logger().error(traceback.format_exc())
            return TransitionCallbackReturn.ERROR
        return super().on_configure(state)

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        """Take commands."""
        self._switch(True)
        return super().on_activate(state)

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        """Abort a goal, hold, refuse commands."""
        self._switch(False)
        return super().on_deactivate(state)

    def on_cleanup(self, state: State) -> TransitionCallbackReturn:
        """Take the robot away."""
        self._remove()
        return super().on_cleanup(state)

    def on_shutdown(self, state: State) -> TransitionCallbackReturn:
        """Abort a goal, hold, and end the process, once the answers to this and to the goal are sent."""
        if self._robot is not None:
            self._robot.switch(False)
        self.create_timer(_FAREWELL, lambda: self._stop(0), clock=Clock(clock_type=ClockType.STEADY_TIME))
        return super().on_shutdown(state)

    def on_error(self, state: State) -> TransitionCallbackReturn:
        """Take away what is left of the robot, so that it can be configured again."""
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


class _Running:
    """All that there is of a robot from configure to cleanup."""

    def __init__(
        self, node: LifecycleNode, values: SimpleNamespace, lock: threading.Lock, stop: Callable[[int], None]
    ) -> None:
        self._node, self._lock, self._stop = node, lock, stop
        self.slider = values.speed_slider
        self._jumps = 0
        self._stamp = self._published = 0
        description = read_robot(values)
        self._model = description.model
        now = node.get_clock().now().nanoseconds / 1e9
        self._arm, self._q = make_arm(values, description.model, now, self._on_event)
        self._columns = joint_columns(self._model, self._arm.joint_names)
        rate = self._arm.rate

        # joint_states has the commanded joints first, then the others, which do not move.
        others = [name for name in commandable(self._model) if name not in self._arm.joint_names]
        self._n = len(self._arm.joint_names)
        self._position = np.concatenate(
            [self._arm.state().position, self._q[joint_columns(self._model, others)] if others else []]
        )
        self._velocity = np.zeros(len(self._position))
        self._effort = np.zeros(len(self._position)) if values.tracking == "dynamics" else None
        joints = [*self._arm.joint_names, *others]
        self._message = JointStateMessage(joints, effort=self._effort is not None)
        self._states = node.create_publisher(JointState, names.JOINT_STATES, samples(rate))

        self._publishers = [self._states]
        self._describe(description)
        self._transforms: Any = None
        if values.publish_tf:
            self._offer_transforms()
        self._server = TrajectoryServer(node, self._arm, lock, self._on_arm_clock)
        self._surroundings = Robot(node, self._arm, lock, self._server.notice)
        self._commands = node.create_subscription(
            Float64MultiArray, names.FORWARD_COMMANDS, self._on_command, NEWEST
        )
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timers = [
            node.create_timer(1 / values.action_monitor_rate, self._server.publish_feedback, clock=steady),
            node.create_timer(1 / values.state_publish_rate, self._publish_slowly, clock=steady),
        ]
        self._diagnostics = Diagnostics(node, self._model.name)
        self._diagnostics.add("control loop", self._report_loop)
        self._diagnostics.add("trajectory controller", self._report_controller)
        self._diagnostics.add("robot", self._report_robot)
        self._control = ControlThread(
            node.get_clock(), rate, self._on_period, self._on_jump, self._on_failure
        )
        # What lives as long as the node need not be looked through again at every collection of garbage.
        gc.collect()
        gc.freeze()
        self._control.start()
        node.get_logger().info(
            f"{self._model.name} with {self._n} joints at {rate:g} Hz ({', '.join(self._arm.joint_names)})"
        )

    # -- Ending ----------------------------------------------------------------------------------------------

    def switch(self, active: bool) -> None:
        """Follow commands, or refuse them."""
        with self._lock:
            self._arm.controller_active = active
            self._server.notice()

    def stop(self) -> None:
        """Hold for good; called from another thread than the executor's, which sends the last results."""
        self.switch(False)
        if self._server.busy:
            end = time.monotonic() + _PARTING
            while self._server.busy and time.monotonic() < end:
                time.sleep(0.005)
            time.sleep(_FAREWELL)
        self.stop_control()

    def stop_control(self) -> None:
        """End the control thread."""
        self._control.stop()

    def destroy(self) -> None:
        """Take away what ROS sees of it."""
        for timer in self._timers:
            self._node.destroy_timer(timer)
        self._diagnostics.destroy()
        self._node.destroy_subscription(self._commands)
        self._surroundings.destroy()
        self._server.destroy()
        for publisher in self._publishers:
            self._node.destroy_publisher(publisher)

    # -- The control thread ----------------------------------------------------------------------------------

    def _on_period(self, stamp: int) -> None:
        arm = self._arm
        with self._lock:
            scaling, step = arm.speed_scaling, _SLIDER_SPEED * arm.period
            if scaling != self.slider:
                arm.speed_scaling = min(max(self.slider, scaling - step), scaling + step)
            state = arm.step()
            self._server.notice()
        self._position[: self._n] = state.position
        self._velocity[: self._n] = state.velocity
        if self._effort is not None and state.effort is not None:
            self._effort[: self._n] = state.effort
        self._stamp = stamp
        self._states.publish(self._message.fill(stamp, self._position, self._velocity, self._effort))

    def _on_jump(self, text: str) -> None:
        self._jumps += 1
        self._node.get_logger().warning(text)

    def _on_failure(self, failure: BaseException) -> None:
        if not self._node.context.ok():  # the context was shut down under us
            return
        self._node.get_logger().fatal("".join(traceback.format_exception(failure)))
        self._stop(1)

    def _on_event(self, event: Event) -> None:
        log = self._node.get_logger()
        # rclpy wants each place in the code to log at one level only.
        if event.level == "error":
            log.error(event.text)
        elif event.level == "warning":
            log.warning(event.text)
        else:
            log.info(event.text)

    # -- The executor's thread -------------------------------------------------------------------------------

    def _on_command(self, message: Any) -> None:
        setpoint = Setpoint(np.array(message.data, dtype=float))
        with self._lock:
            self._arm.stream(setpoint)

    def _on_arm_clock(self, nanoseconds: int) -> float:
        """A time of the ROS clock on the arm's clock [s]."""
        ahead = nanoseconds - int(self._node.get_clock().now().nanoseconds)
        return self._arm.clock() + ahead / 1e9

    def _publish_slowly(self) -> None:
        self._server.publish_state()
        self._surroundings.publish()
        if self._transforms is not None and self._stamp != self._published:
            self._published = self._stamp
            q = self._q.copy()
            q[self._columns] = self._arm.state().position
            self._tf.publish(self._transforms.at(self._stamp, q))

    def _describe(self, description: Description) -> None:
        for topic, text in (
            (names.ROBOT_DESCRIPTION, description.urdf),
            (names.ROBOT_DESCRIPTION_SEMANTIC, description.srdf),
        ):
            if text:
                publisher = self._node.create_publisher(String, topic, LATCHED)
                publisher.publish(String(data=text))
                self._publishers.append(publisher)

    def _offer_transforms(self) -> None:
        try:
            from tf2_msgs.msg import TFMessage
        except ImportError:
            self._node.get_logger().info("tf2_msgs is not installed: no /tf and /tf_static")
            return
        from robosim.ros.sim_arm.transforms import Transforms

        self._transforms = Transforms(self._model)
        static = self._node.create_publisher(TFMessage, "/tf_static", LATCHED)
        static.publish(self._transforms.static)
        self._tf = self._node.create_publisher(TFMessage, "/tf", samples(50.0))
        self._publishers += [static, self._tf]

    # -- Diagnostics -----------------------------------------------------------------------------------------

    def _report_loop(self) -> Report:
        statistics = self._control.statistics()
        if statistics is None or statistics.ticks == 0:
            return Report(Level.WARN, "waits for the clock")
        share = statistics.missed / (statistics.ticks + statistics.missed)
        level = Level.OK if share < 0.01 else Level.WARN
        return Report(
            level,
            "keeps its deadlines" if level is Level.OK else "overruns its deadlines",
            {
                "rate [Hz]": statistics.rate,
                "periods": statistics.ticks,
                "deadlines missed": statistics.missed,
                "clock jumps": self._jumps,
                "lateness p99 [ms]": round(1e3 * statistics.lateness_p99, 3),
            },
        )

    def _report_controller(self) -> Report:
        server = self._server
        with self._lock:
            active, goal = bool(self._arm.status().controller_active), self._arm.executor.goal
        message = "follows a goal" if goal is not None else "ready" if active else "inactive"
        return Report(
            Level.OK if active else Level.WARN,
            message,
            {
                "goals accepted": server.accepted,
                "refused": server.rejected,
                "last refusal": server.last_rejection,
            },
        )

    def _report_robot(self) -> Report:
        with self._lock:
            status = self._arm.status()
        fine = bool(status.program_running) and status.speed_scaling > 0
        mode = "unknown" if status.safety_mode is None else status.safety_mode.name
        return Report(
            Level.OK if fine else Level.WARN,
            "runs" if fine else "stands still",
            {
                "safety mode": mode,
                "program running": status.program_running,
                "speed scaling": status.speed_scaling,
            },
        )
