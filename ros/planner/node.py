"""The ROS node of the planner; `robosim.ros.planner` describes it. Needs rclpy."""

from __future__ import annotations

import dataclasses
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rclpy.action import CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future
from robosim_msgs.action import PlanMotion as PlanMotionAction
from robosim_msgs.srv import PlanMotion as PlanMotionService
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from robosim.errors import RobosimError
from robosim.ros.action_server import ExecutingActionServer
from robosim.ros.answers import Answers
from robosim.ros.arm import RosArm, RosArmOptions
from robosim.ros.clock_watch import no_clock
from robosim.ros.diagnostics import Diagnostics, Level, Report
from robosim.ros.drivers import find_driver
from robosim.ros.log_once import Repetition
from robosim.ros.messages import seconds_of
from robosim.ros.names import JOINT_STATES, ROBOT_DESCRIPTION, ROBOT_DESCRIPTION_SEMANTIC
from robosim.ros.parameters import declare
from robosim.ros.planner import messages
from robosim.ros.planner.codes import ErrorCode, Refusal
from robosim.ros.planner.execution import execute, stream_options
from robosim.ros.planner.frames import Frames, listen
from robosim.ros.planner.jobs import Job, Worker
from robosim.ros.planner.joint_states import JointStates
from robosim.ros.planner.parameters import PARAMETERS
from robosim.ros.planner.placed_robot import PlacedRobot
from robosim.ros.planner.planning import Answer, plan_motion
from robosim.ros.planner.request import MotionRequest, Settings
from robosim.ros.planner.robot import RobotOptions
from robosim.ros.planner.screen import Screen
from robosim.ros.planner.surroundings import Surroundings
from robosim.ros.qos import EVENTS, LATCHED

if TYPE_CHECKING:
    from robosim.execution.checks import Requirements
    from robosim.model import Model
    from robosim.scene import Scene

__all__ = ["PlannerNode"]

Feedback = Callable[[str, float], None]


class PlannerNode(Node):
    """See `robosim.ros.planner`.

    Threads: rclpy's thread receives states, scenes and requests, and never waits for a plan. The
    worker's thread loads robots, plans, and executes, one after the other.
    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__("planner", **arguments)
        self._values = declare(self, PARAMETERS)
        self._robot_options = RobotOptions(
            **{f.name: getattr(self._values, f.name) for f in dataclasses.fields(RobotOptions)}
        )
        self._states = JointStates()
        self._surroundings = Surroundings(self._values.scene, self._values.tf_prefix)
        self._description, self._semantic = "", ""
        self._frames = Frames()
        self._robot = PlacedRobot(
            self._robot_options, self._frames, self._values.world_frame, self._values.base_pose
        )
        self._refusals = Repetition()
        self._counts = {"plans": 0, "failures": 0}
        self._last = ""
        self._worker = Worker("planning")
        self._screen = Screen(self)
        self._answers = Answers()
        self._closing = False
        self._arm: RosArm | None = None  # set at the first execution
        self._arm_joints: tuple[str, ...] = ()  # joints that the arm was created for

        listen(self, self._frames)
        self.create_subscription(JointState, JOINT_STATES, self._on_joint_states, EVENTS)
        self.create_subscription(String, "~/scene", self._on_scene, LATCHED)
        if self._robot_options.robot:
            self._reload()
        else:
            self.create_subscription(String, ROBOT_DESCRIPTION, self._on_description, LATCHED)
            self.create_subscription(String, ROBOT_DESCRIPTION_SEMANTIC, self._on_semantic, LATCHED)

        # A request in progress must not block other requests and callbacks.
        waits = ReentrantCallbackGroup()
        self.create_service(PlanMotionService, "~/plan", self._on_service, callback_group=waits)
        self._jobs: dict[bytes, Job[Answer]] = {}
        self._action = ExecutingActionServer(
            self,
            PlanMotionAction,
            "~/plan_motion",
            self._on_goal,
            goal_callback=self._on_request,
            cancel_callback=self._on_cancel,
            callback_group=waits,
        )
        self._diagnostics = Diagnostics(self, "robosim")
        self._diagnostics.add("planning", self._report)

    def close(self) -> None:
        """Stop current work, answer all clients, and let the answers arrive."""
        self._closing = True
        self._worker.close()
        self._screen.close()
        self._answers.see_off()
        self._let_go()

    def destroy_node(self) -> None:
        """Destroy the action server first, which rclpy does not."""
        self._action.destroy()
        super().destroy_node()

    # Messages

    def _seconds(self) -> float:
        return float(self.get_clock().now().nanoseconds) * 1e-9

    def _on_joint_states(self, message: Any) -> None:
        wrong = self._states.update(
            message.name,
            message.position,
            message.velocity,
            received=self._seconds(),
            stamp=seconds_of(message.header.stamp),
        )
        if wrong:
            self.get_logger().warning(wrong, throttle_duration_sec=5.0)

    def _on_scene(self, message: Any) -> None:
        try:
            scene = self._surroundings.update(message.data)
        except RobosimError as error:
            self.get_logger().error(f"~/scene: {error}")
            return
        self.get_logger().info("~/scene: " + ("none any more" if scene is None else f"{scene!r}"))
        self._screen.show_scene(lambda: self._robot.model, self._surroundings)

    def _on_description(self, message: Any) -> None:
        if message.data != self._description:
            self._description = message.data
            self._reload()

    def _on_semantic(self, message: Any) -> None:
        if message.data != self._semantic:
            self._semantic = message.data
            if self._description:
                self._reload()

    def _reload(self) -> None:
        description, semantic = self._description, self._semantic

        def do(job: Job[None]) -> None:
            try:
                self._robot.read(description, semantic)
            except RobosimError:
                self.get_logger().error(self._robot.problem)
                return
            model = self._robot.model
            assert model is not None
            self.get_logger().info(f"robot: {model!r}, {self._robot.where}")
            for warning in model.warnings:
                self.get_logger().warning(warning)
            self._screen.show_scene(lambda: self._robot.model, self._surroundings)

        self._worker.submit(Job(do, lambda: None))

    # Requests

    async def _on_service(self, request: Any, response: Any) -> Any:
        response.response = await self._answer(self._doing(request.request))
        return response

    def _on_request(self, _: Any) -> Any:
        self._answers.given()
        return GoalResponse.ACCEPT

    async def _on_goal(self, goal: Any) -> Any:
        def feedback(stage: str, fraction: float) -> None:
            goal.publish_feedback(PlanMotionAction.Feedback(stage=stage, fraction=fraction))

        response = await self._answer(self._doing(goal.request.request, feedback), goal, feedback)
        if response.error_code == ErrorCode.SUCCESS:
            goal.succeed()
        elif response.error_code == ErrorCode.PREEMPTED and goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        return PlanMotionAction.Result(response=response)

    def _on_cancel(self, goal: Any) -> Any:
        if job := self._jobs.get(bytes(goal.goal_id.uuid)):
            job.cancel()
        return CancelResponse.ACCEPT

    async def _answer(
        self,
        do: Callable[[Job[Answer]], Answer],
        goal: Any = None,
        feedback: Feedback | None = None,
    ) -> Any:
        """Wait for the worker's response. The node's thread serves others meanwhile."""
        done = Future()

        def wake() -> None:
            done.set_result(None)
            if self.executor is not None:  # up to Jazzy, a future does not wake its executor
                self.executor.wake()

        job = Job(do, self._refused, wake)
        key = None if goal is None else bytes(goal.goal_id.uuid)
        if key is not None:
            self._jobs[key] = job
        if goal is not None and goal.is_cancel_requested:  # after it was accepted
            job.cancel()
        with self._answers.due():
            try:
                if self._worker.busy and feedback is not None:
                    feedback("waiting", 0.0)
                self._worker.submit(job)
                await done
                return messages.response(job.result())
            finally:
                if key is not None:
                    del self._jobs[key]

    def _doing(
        self, request: Any, feedback: Feedback | None = None
    ) -> Callable[[Job[Answer]], Answer]:
        """Return the worker's function for a request."""

        def do(job: Job[Answer]) -> Answer:
            try:
                answer = self._plan(messages.motion_request(request), job, feedback)
            except Exception as error:
                self.get_logger().error(traceback.format_exc())
                answer = Answer(
                    ErrorCode.FAILURE,
                    f"a defect in robosim: {type(error).__name__}: {error}; see the log",
                )
            self._note(answer)
            return answer

        return do

    def _refused(self) -> Answer:
        """Answer a request that was never begun."""
        if self._closing:
            return Answer(ErrorCode.ABORT, "the planner is shutting down")
        return Answer(ErrorCode.PREEMPTED, "cancelled while waiting for an earlier request")

    # In the worker's thread

    def _plan(self, request: MotionRequest, job: Job[Answer], feedback: Feedback | None) -> Answer:
        if missing := no_clock(self):
            return Answer(ErrorCode.ROBOT_STATE_STALE, missing)
        if self._robot.model is None:
            return Answer(ErrorCode.INVALID_ROBOT_STATE, self._robot.problem)
        # Place the robot's base.
        try:
            if self._robot.stand(self._seconds(), self._values.state_timeout, job.cancelled):
                self.get_logger().info(f"the robot stands {self._robot.where}")
        except Refusal as refusal:
            return Answer(refusal.code, f"where the robot's base stands is not known: {refusal}")
        except RobosimError as error:
            return Answer(ErrorCode.INVALID_ROBOT_STATE, f"the robot cannot stand there: {error}")
        model = self._robot.model
        settings = Settings(
            **{f.name: getattr(self._values, f.name) for f in dataclasses.fields(Settings)}
        )
        allowed = request.allowed_planning_time or settings.allowed_planning_time
        begin = time.perf_counter()

        def progress(stage: str) -> None:
            if feedback is not None:
                feedback(stage, min((time.perf_counter() - begin) / allowed, 1.0))

        # The request's own scene, read once, or the node's present scene.
        own: list[Scene | None] = []

        def scene_now() -> Scene | None:
            if not own:
                own.append(self._surroundings.of_request(request, model))
            return self._surroundings.now(model) if own[0] is None else own[0]

        # Plan, display and execute.
        answer = plan_motion(
            request, model, scene_now, self._states, settings,
            clock=self._seconds, frames=self._frames, progress=progress, stop=job.cancelled,
        )  # fmt: skip
        if answer.trajectory is not None:
            self._screen.show_plan(answer, model)
        if answer.ok and request.execute:
            answer = self._execute(answer, model, scene_now, job, feedback)
        return answer

    def _execute(
        self,
        answer: Answer,
        model: Model,
        scene_now: Callable[[], Scene | None],
        job: Job[Answer],
        feedback: Feedback | None,
    ) -> Answer:
        assert answer.result is not None
        assert answer.result.trajectory is not None
        tell = feedback or (lambda stage, fraction: None)
        tell("execution", 0.0)
        try:
            names = answer.result.trajectory.position_names
            options = stream_options(self._values, names)
            arm = self._reach(names, options["requirements"], job)
            options["requirements"] = dataclasses.replace(
                options["requirements"], setting=arm.setting
            )
            answer = execute(
                arm, answer, model, scene_now, options, cancelled=job.cancelled, feedback=tell
            )
        except RobosimError as error:
            self._let_go()
            code = ErrorCode.PREEMPTED if job.cancelled() else ErrorCode.COMMUNICATION_FAILURE
            answer = dataclasses.replace(
                answer, code=code, message=f"the arm was not reached: {error}"
            )
        if job.cancelled():  # an interrupted arm stays interrupted
            self._let_go()
        if self._closing and not answer.ok:
            return dataclasses.replace(answer, code=ErrorCode.ABORT)
        return answer

    def _reach(
        self, joint_names: tuple[str, ...], requirements: Requirements, job: Job[Answer]
    ) -> RosArm:
        """Return the connected arm with these joints.

        Raises ExecutionError, naming what is missing.
        """
        if self._arm_joints != joint_names:
            self._let_go()
        if fresh := self._arm is None:
            interface, controller = (
                self._values.execution_interface,
                self._values.execution_controller,
            )
            options = RosArmOptions(
                interface,
                find_driver(self._values.execution_profile, "parameter 'execution.profile'"),
                controller,
                requirements=requirements,
                setting="parameter 'execution.{}'".format,
            )
            self._arm, self._arm_joints = RosArm(self, joint_names, options), joint_names
        assert self._arm is not None
        job.on_cancel(self._arm.interrupt)
        if fresh or not self._arm.status().connected:
            self._arm.wait_until_ready(self._values.execution_connect_timeout)
        return self._arm

    def _let_go(self) -> None:
        if self._arm is not None:
            self._arm.close()
            self._arm = None

    def _note(self, answer: Answer) -> None:
        self._counts["plans" if answer.ok else "failures"] += 1
        self._last = f"{answer.code.name} {answer.message}".strip()
        if answer.ok and answer.result is not None:
            self._refusals.forget()
            self.get_logger().info(f"{answer.result!r}")
        elif self._refusals.is_new(self._last):
            self.get_logger().warning(self._last)

    def _report(self) -> Report:
        values: dict[str, object] = {
            **self._counts,
            "waiting": self._worker.waiting,
            "last": self._last,
        }
        model = self._robot.model
        if model is None:
            return Report(Level.WARN, self._robot.problem, values)
        values["base"] = self._robot.where
        age = self._states.age(model.position_names, self._seconds())
        values |= {"robot": model.name, "oldest joint state [s]": f"{age:.3f}"}
        if age > self._values.state_timeout:
            return Report(Level.WARN, "the present state is not known", values)
        return Report(Level.OK, "ready", values)
