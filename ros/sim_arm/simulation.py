"""The robot between configure and cleanup: the arm, its control thread, and its ROS interface.

Threads: the control thread steps the arm and publishes joint_states. The executor's thread does
everything else. One lock guards the arm, and is held for one step, or for judging one goal.
"""

from __future__ import annotations

import gc
import threading
import traceback
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from robosim.execution.executor import Event
from robosim.execution.messages import Setpoint
from robosim.execution.plant import commandable, joint_columns
from robosim.ros import names
from robosim.ros.answers import Answers
from robosim.ros.description import Description
from robosim.ros.diagnostics import Diagnostics
from robosim.ros.log_once import Repetition
from robosim.ros.messages import JointStateMessage
from robosim.ros.qos import LATCHED, NEWEST, samples
from robosim.ros.sim_arm.arm import make_arm, read_robot
from robosim.ros.sim_arm.control import ControlThread
from robosim.ros.sim_arm.reports import report_arm, report_controller, report_loop
from robosim.ros.sim_arm.robot import Robot
from robosim.ros.sim_arm.trajectory_server import TrajectoryServer

__all__ = ["Simulation"]

_SLIDER_SPEED = 5.0  # [1/s] rate at which the speed scaling follows the slider


class Simulation:
    """A configured robot.

    Args:
        node: node of the interface.
        values: values of the node's parameters.
        stop: ends the process with an exit code.
        answers: records the results of goals.

    Attributes:
        slider: requested speed scaling; may be set.

    Raises:
        RobosimError: the parameters do not describe a robot.
    """

    def __init__(
        self,
        node: LifecycleNode,
        values: SimpleNamespace,
        stop: Callable[[int], None],
        answers: Answers,
    ) -> None:
        self._node, self._stop = node, stop
        self._lock = lock = threading.Lock()
        self._rejections = Repetition()
        self.slider = values.speed_slider
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
            [
                self._arm.state().position,
                self._q[joint_columns(self._model, others)] if others else [],
            ]
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
        self._server = TrajectoryServer(node, self._arm, lock, self._on_arm_clock, answers)
        self._surroundings = Robot(node, self._arm, lock, self._server.notice)
        self._commands = node.create_subscription(
            Float64MultiArray, names.FORWARD_COMMANDS, self._on_command, NEWEST
        )
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timers = [
            node.create_timer(
                1 / values.action_monitor_rate, self._server.publish_feedback, clock=steady
            ),
            node.create_timer(1 / values.state_publish_rate, self._publish_slowly, clock=steady),
        ]
        self._diagnostics = Diagnostics(node, self._model.name)
        self._control = ControlThread(
            node.get_clock(), rate, self._on_period, node.get_logger().warning, self._on_failure
        )
        self._diagnostics.add("control loop", partial(report_loop, self._control))
        self._diagnostics.add(
            "trajectory controller", partial(report_controller, self._arm, lock, self._server)
        )
        self._diagnostics.add("robot", partial(report_arm, self._arm, lock))
        # Exclude objects that live as long as the node from garbage collections.
        gc.collect()
        gc.freeze()
        self._control.start()
        node.get_logger().info(
            f"{self._model.name} with {self._n} joints at {rate:g} Hz"
            f" ({', '.join(self._arm.joint_names)})"
        )

    # -- Ending ------------------------------------------------------------------------------------

    def switch(self, active: bool) -> None:
        """Follow commands, or refuse them."""
        with self._lock:
            self._arm.controller_active = active
            self._server.notice()

    def stop_control(self) -> None:
        """End the control thread."""
        self._control.stop()

    def destroy(self) -> None:
        """Destroy the ROS interface."""
        for timer in self._timers:
            self._node.destroy_timer(timer)
        self._diagnostics.destroy()
        self._node.destroy_subscription(self._commands)
        self._surroundings.destroy()
        self._server.destroy()
        for publisher in self._publishers:
            self._node.destroy_publisher(publisher)

    # -- The control thread ------------------------------------------------------------------------

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
        self._states.publish(
            self._message.fill(stamp, self._position, self._velocity, self._effort)
        )

    def _on_failure(self, failure: BaseException) -> None:
        if not self._node.context.ok():  # the context was shut down meanwhile
            return
        self._node.get_logger().fatal("".join(traceback.format_exception(failure)))
        self._stop(1)

    def _on_event(self, event: Event) -> None:
        log = self._node.get_logger()
        if " rejected: " not in event.text:
            self._rejections.forget()
        elif not self._rejections.is_new(event.text):  # a client that tries repeatedly
            return
        # rclpy requires one severity per call site of the log.
        if event.level == "error":
            log.error(event.text)
        elif event.level == "warning":
            log.warning(event.text)
        else:
            log.info(event.text)

    # -- The executor's thread ---------------------------------------------------------------------

    def _on_command(self, message: Any) -> None:
        setpoint = Setpoint(np.array(message.data, dtype=float))
        with self._lock:
            self._arm.stream(setpoint)

    def _on_arm_clock(self, nanoseconds: int) -> float:
        """Convert a time of the ROS clock to the arm's clock [s]."""
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
