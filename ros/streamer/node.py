"""Node of the streamer, which sends trajectories from a file or a topic.

One thread connects, checks and keeps the deadlines. The executor's thread does everything else.
"""

from __future__ import annotations

import queue
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage

from robosim.errors import ExecutionError, RobosimError
from robosim.execution.checks import Requirements
from robosim.execution.clock import monotonic
from robosim.execution.limits import model_limits, strictest
from robosim.execution.messages import JointTolerance, JointTrajectory, SafetyMode
from robosim.execution.motion import motion_of
from robosim.execution.streaming import Outcome, Progress, StreamReport, stream_trajectory
from robosim.model import Model
from robosim.ros import names
from robosim.ros.arm import RosArm, RosArmOptions
from robosim.ros.diagnostics import Diagnostics, Level, Report
from robosim.ros.drivers import find_driver
from robosim.ros.log_once import Repetition
from robosim.ros.messages import joint_trajectory, nanoseconds_of
from robosim.ros.parameters import Value, declare
from robosim.ros.qos import COMMANDS, LATCHED
from robosim.ros.streamer import PARAMETERS
from robosim.ros.transports.ros2 import requirements_of
from robosim.trajectory import Trajectory, TrajectoryLimits

__all__ = ["Streamer"]

EXIT_DONE, EXIT_NOT_THERE = 0, 3
_DESCRIPTION = 1.0  # [s] for robot_description to arrive, if limits are needed
_PARTING = 15.0  # [s] for a motion to stop when the node ends
_ARRIVING = 1.0  # [s] longest wait for subscribers to receive the outcome


class Streamer(Node):
    """Sends trajectories to an arm.

    Args:
        stop: ends the process with an exit code.

    Raises:
        RobosimError: a parameter is invalid, or the plan or the robot cannot be read.
    """

    def __init__(self, stop: Callable[[int], None]) -> None:
        super().__init__("streamer")
        self._stop = stop
        self.values = declare(self, PARAMETERS, self._on_parameter)
        self._driver = find_driver(self.values.profile, "parameter 'profile'")
        self._on_parameter("require", self.values.require)
        self._refusals = Repetition()
        self._plan = Trajectory.load(self.values.plan_file) if self.values.plan_file else None
        self._model = self._read_robot()
        self._description = ""
        self._ending, self._stop_event = threading.Event(), threading.Event()
        self._moving = self._busy = False
        self._progress: Progress | None = None
        self._report: StreamReport | None = None
        self._trajectories: queue.Queue[JointTrajectory] = queue.Queue()
        self._status = self.create_publisher(String, "~/status", LATCHED)
        self.create_service(Trigger, "~/stop", self._on_stop)
        if self._plan is None:
            self.create_subscription(
                JointTrajectoryMessage, "~/joint_trajectory", self._on_trajectory, COMMANDS
            )
        if self._model is None:
            self.create_subscription(String, names.ROBOT_DESCRIPTION, self._on_description, LATCHED)
        self._arm = RosArm(self, self._joint_names(), self._options())
        diagnostics = Diagnostics(self, self.values.robot or self._arm.controller)
        diagnostics.add("arm", self._report_arm)
        diagnostics.add("stream", self._report_stream)
        self._worker = threading.Thread(target=self._work, name="deadlines")
        self._worker.start()

    def close(self) -> int:
        """Hold the arm, and end. Return the exit code: 3 if a plan is left unfinished."""
        undone = self._plan is not None and (self._report is None or not self._report.ok)
        self._ending.set()
        self._stop_event.set()
        self._arm.interrupt()
        self._worker.join(_PARTING)
        self._arm.close()
        # Data that DDS has not delivered when the process ends are lost. Some middlewares cannot
        # wait for delivery and raise.
        with suppress(NotImplementedError):
            self._status.wait_for_all_acked(Duration(seconds=_ARRIVING))
        return EXIT_NOT_THERE if undone else EXIT_DONE

    # -- Parameters --------------------------------------------------------------------------------

    def _on_parameter(self, name: str, value: Value) -> None:
        if name == "require":
            requirements_of(value, "parameter 'require'")

    def _joint_names(self) -> tuple[str, ...]:
        if self._plan is not None:
            return self._plan.position_names
        return tuple(self.values.joints) or self._driver.joints

    def _options(self) -> RosArmOptions:
        values = self.values
        return RosArmOptions(
            values.interface,
            self._driver,
            values.controller,
            tf_prefix=values.tf_prefix,
            requirements=self._requirements(),
        )

    def _requirements(self) -> Requirements:
        modes = {SafetyMode.NORMAL} | (
            {SafetyMode.REDUCED} if self.values.allow_reduced_mode else set()
        )
        given: Requirements = requirements_of(
            self.values.require or self._driver.require,
            "parameter 'require'",
            safety_modes=frozenset(modes),
            state_age=self.values.watchdog,
        )
        return given

    def _rate(self) -> float | None:
        values = self.values
        if values.rate:
            return float(values.rate)
        if values.interface != "forward_position":
            return None
        if values.series != "auto":
            return names.UR_SERIES[values.series].rate
        robot = self._plan.robot if self._plan is not None and self._plan.robot else values.robot
        return (names.series_of(robot) or names.UR_SERIES["cb3"]).rate

    def _read_robot(self) -> Model | None:
        if not self.values.robot:
            return None
        from robosim.urdf import load_robot

        return load_robot(self.values.robot, visuals=False)

    def _limits(self, trajectory: Trajectory | JointTrajectory) -> TrajectoryLimits | None:
        """Limits of the plan and the robot, in the trajectory's order; None if both are unknown."""
        motion = motion_of(trajectory)
        own, joints = motion.limits, motion.joint_names
        end = monotonic() + _DESCRIPTION
        while self._model is None and not self._description and monotonic() < end:
            time.sleep(0.01)
        if self._model is None and self._description:
            from robosim.urdf import load_robot

            self._model = load_robot(self._description, visuals=False)
        if self._model is None:
            return own
        # A description made with the prefix has it in its names. Joints unknown to the robot are
        # reported later.
        for ours in (names.prefixed(joints, self.values.tf_prefix), joints):
            if all(name in self._model.velocity_names for name in ours):
                return strictest(own, model_limits(self._model, ours))
        return own

    # -- In the executor's thread ------------------------------------------------------------------

    def _on_description(self, message: Any) -> None:
        self._description = message.data

    def _on_stop(self, _: Any, response: Any) -> Any:
        response.success = self._moving
        response.message = "stopping" if self._moving else "nothing is moving"
        if self._moving:
            self._stop_event.set()
        return response

    def _on_trajectory(self, message: Any) -> None:
        if self._busy and not message.points:
            self.get_logger().info("an empty trajectory: stopping")
            self._stop_event.set()
            return
        if self._busy:
            text = (
                "a trajectory is refused: another one is being followed; ~/stop or an empty one"
                " ends it"
            )
            if self._refusals.is_new(text):
                self.get_logger().warning(text)
            return
        self._busy = True
        self._stop_event.clear()
        trajectory = joint_trajectory(message)
        stamp = nanoseconds_of(message.header.stamp)
        self._trajectories.put(
            replace(trajectory, stamp=self._arm.from_ros(stamp)) if stamp else trajectory
        )

    def _report_arm(self) -> Report:
        arm, status = self._arm, self._arm.status()
        values = {
            "profile": self._driver.name,
            "controller": arm.controller,
            "controller active": status.controller_active,
            "program running": status.program_running,
            "safety mode": None if status.safety_mode is None else status.safety_mode.name,
            "speed scaling": f"{status.speed_scaling:g}",
            "joint states": arm.states,
            "joint states with an old stamp": arm.repeated,
            "joint states malformed": arm.malformed,
        }
        if not status.connected:
            return Report(Level.ERROR, "not connected", values)
        return Report(Level.OK, "connected", values)

    def _report_stream(self) -> Report:
        progress, report = self._progress, self._report
        values: dict[str, object] = {}
        if self._moving:
            if progress is not None:
                values = {
                    "plan time": f"{progress.plan_time:.3f}",
                    "duration": f"{progress.duration:.3f}",
                    "tracking error": f"{progress.error:.6g}",
                }
            return Report(Level.OK, "moving", values)
        if report is None:
            return Report(Level.OK, "nothing was sent yet")
        statistics = report.statistics
        values = {
            "reason": report.reason,
            "samples": statistics.ticks,
            "deadlines missed": statistics.missed,
            "lateness p99 [ms]": f"{1e3 * statistics.lateness_p99:.3f}",
            "jitter p99 [ms]": f"{1e3 * statistics.jitter_p99:.3f}",
            "longest gap of states [ms]": f"{1e3 * report.longest_gap:.1f}",
        }
        return Report(Level.OK if report.ok else Level.WARN, report.outcome.value, values)

    # -- In the deadlines' thread ------------------------------------------------------------------

    def _work(self) -> None:
        try:
            while not self._connect():
                if self._plan is not None or self._ending.is_set():
                    self._stop(EXIT_NOT_THERE)
                    return
            if self._plan is not None:
                self._send(self._plan)
                self._stop(
                    EXIT_DONE if self._report is not None and self._report.ok else EXIT_NOT_THERE
                )
                return
            self._tell("ready")
            while not self._ending.is_set():
                try:
                    trajectory = self._trajectories.get(timeout=0.05)
                except queue.Empty:
                    continue
                self._send(trajectory)
        except Exception:
            self.get_logger().error(traceback.format_exc())
            self._stop(1)

    def _connect(self) -> bool:
        try:
            self._arm.wait_until_ready(self.values.connect_timeout)
        except ExecutionError as error:
            if not self._ending.is_set() and self._refusals.is_new(f"{error}"):
                self.get_logger().error(f"not connected {error}")
                self._tell(f"not connected: {error}")
            return False
        self._refusals.forget()
        joints = ", ".join(self._arm.joint_names) or "joints that it does not name"
        self.get_logger().info(f"connected to {self._arm.controller}, which moves {joints}")
        return True

    def _send(self, trajectory: Trajectory | JointTrajectory) -> None:
        """Stream a trajectory. The outcome is published, never raised."""
        values = self.values
        if self._ending.is_set():
            return
        if self._stop_event.is_set():
            self._end("stopped: asked to stop before the motion")
            return
        self._report = self._progress = None
        self._moving = True
        self._tell("moving")
        self._arm.assume_joints(motion_of(trajectory).joint_names)
        joints = self._arm.joint_names
        tolerance = tuple(JointTolerance(name, values.path_tolerance) for name in joints)
        # Stream with the node's parameters.
        try:
            self._report = report = stream_trajectory(
                self._arm,
                trajectory,
                mode="setpoints" if values.interface == "forward_position" else "trajectory",
                rate=self._rate(),
                limits=self._limits(trajectory),
                start_tolerance=values.start_tolerance,
                requirements=replace(self._requirements(), setting=self._arm.setting),
                tracking_error=values.tracking_error or float("inf"),
                goal_tolerance=values.goal_tolerance,
                goal_time=values.goal_time,
                path_tolerance=tolerance if values.path_tolerance else (),
                scaling_ramp=values.scaling_ramp or None,
                on_progress=self._on_progress,
                stop_event=self._stop_event,
            )
        except RobosimError as error:
            if self._refusals.is_new(f"refused: {error}"):
                self.get_logger().error(f"refused: {error}")
            self._end(f"refused: {error}")
            return
        finally:
            self._moving = False
        # rclpy requires one severity per call site of the log.
        if report.outcome is not Outcome.REFUSED:
            self._refusals.forget()
        if report.outcome is Outcome.FINISHED:
            self.get_logger().info(str(report))
        elif report.outcome is not Outcome.REFUSED or self._refusals.is_new(str(report)):
            self.get_logger().error(str(report))
        self._end(f"{report.outcome.value}: {report.reason}")

    def _end(self, text: str) -> None:
        """Become free for the next trajectory, then publish.

        A client may send a trajectory at once.
        """
        self._moving = self._busy = False
        self._tell(text)

    def _on_progress(self, progress: Progress) -> None:
        self._progress = progress

    def _tell(self, text: str) -> None:
        self._status.publish(String(data=text))
