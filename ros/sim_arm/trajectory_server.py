"""ROS interface of the joint trajectory controller: action, topic, and published state.

A goal that the arm refuses is rejected. In ROS a rejection has no reason, so the reason is logged.
The callback of an accepted goal is a coroutine that waits for a future. The control thread sets the
future when the goal has ended, so no thread ever blocks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.action import CancelResponse, GoalResponse
from rclpy.action.server import GoalEvent, ServerGoalHandle
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from robosim.execution.executor import ExecutorGoal, Feedback
from robosim.execution.goals import GoalStatus, Rejection
from robosim.execution.messages import JointTrajectory
from robosim.execution.simulated import SimulatedArm
from robosim.ros import messages
from robosim.ros.action_server import ExecutingActionServer
from robosim.ros.answers import Answers
from robosim.ros.qos import samples

__all__ = ["TrajectoryServer"]


@dataclass(eq=False)
class _Running:
    """A goal between its acceptance and its result."""

    goal: ExecutorGoal
    ended: Any  # Future without a value
    handle: ServerGoalHandle | None = None


class TrajectoryServer:
    """Serves an arm's trajectory controller.

    Args:
        node: rclpy node, whose name is the prefix of names (`~/follow_joint_trajectory`).
        arm: the arm.
        lock: held during each access to the arm.
        from_ros: converts a stamp [ns, ROS time] to the arm's clock [s].
        answers: records the results of goals.
    """

    def __init__(
        self,
        node: Any,
        arm: SimulatedArm,
        lock: threading.Lock,
        from_ros: Callable[[int], float],
        answers: Answers,
    ) -> None:
        self._node, self._arm, self._lock, self._from_ros = node, arm, lock, from_ros
        self._answers = answers
        self._log = node.get_logger()
        self._running: list[_Running] = []
        # Passed from the goal callback to the execute callback.
        self._accepted: _Running | None = None
        self._by_id: dict[bytes, _Running] = {}
        self.accepted = self.rejected = 0
        self.last_rejection = ""
        self._feedback = FollowJointTrajectory.Feedback(joint_names=list(arm.joint_names))
        self._state = JointTrajectoryControllerState(joint_names=list(arm.joint_names))
        self._state_publisher = node.create_publisher(
            JointTrajectoryControllerState, "~/controller_state", samples(50.0)
        )
        self._subscription = node.create_subscription(
            JointTrajectoryMessage, "~/joint_trajectory", self._on_trajectory, samples(arm.rate)
        )
        self._server = ExecutingActionServer(
            node,
            FollowJointTrajectory,
            "~/follow_joint_trajectory",
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
        )

    def destroy(self) -> None:
        """Destroy the action and the topics."""
        self._server.destroy()
        self._node.destroy_subscription(self._subscription)
        self._node.destroy_publisher(self._state_publisher)

    def notice(self) -> None:
        """Check for goals that have ended. Call with the lock held.

        Called after every control period, and after any change that ends goals.
        """
        ended = [running for running in self._running if running.goal.status.done]
        if not ended:
            return
        self._running = [running for running in self._running if not running.goal.status.done]
        for running in ended:
            running.ended.set_result(None)
        if self._node.executor is not None:
            self._node.executor.wake()

    # -- The action --------------------------------------------------------------------------------

    def _on_goal(self, request: Any) -> GoalResponse:
        self._answers.given()  # whether accepted or not
        goal = messages.goal(request)
        goal = replace(goal, trajectory=self._on_our_clock(goal.trajectory, request.trajectory))
        with self._lock:
            answer = self._arm.send(goal)
            self.notice()  # for the goal that it replaces
            if isinstance(answer, Rejection):
                self.rejected += 1
                self.last_rejection = answer.text
                return GoalResponse.REJECT
            self.accepted += 1
            self._accepted = _Running(answer, Future())
            self._running.append(self._accepted)
        return GoalResponse.ACCEPT

    def _on_accepted(self, handle: ServerGoalHandle) -> None:
        running, self._accepted = self._accepted, None
        assert running is not None
        running.handle = handle
        self._by_id[bytes(handle.goal_id.uuid)] = running
        handle.execute()

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        running = self._by_id.get(bytes(handle.goal_id.uuid))
        if running is not None:
            with self._lock:
                running.goal.cancel()
                self.notice()
        return CancelResponse.ACCEPT

    async def _execute(self, handle: ServerGoalHandle) -> Any:
        goal_id = bytes(handle.goal_id.uuid)
        running = self._by_id[goal_id]
        with self._answers.due():
            await running.ended
        result = running.goal.result
        assert result is not None
        if result.status is GoalStatus.SUCCEEDED:
            handle.succeed()
        elif result.status is GoalStatus.ABORTED:
            handle.abort()
        else:
            # Humble's controller cancels a replaced goal without a request. The states of an action
            # have no such transition, so it goes through CANCELING.
            if not handle.is_cancel_requested:
                handle._update_state(GoalEvent.CANCEL_GOAL)
            handle.canceled()
        del self._by_id[goal_id]
        return messages.result_message(result)

    def publish_feedback(self) -> None:
        """Publish the progress of all goals to their clients."""
        for running in list(self._by_id.values()):
            with self._lock:
                feedback = None if running.goal.status.done else running.goal.feedback
            if feedback is None or running.handle is None:
                continue
            message = self._feedback
            message.header.stamp = self._node.get_clock().now().to_msg()
            for name in ("desired", "actual", "error"):
                setattr(message, name, _point(feedback, name))
            running.handle.publish_feedback(message)

    # -- The topics --------------------------------------------------------------------------------

    def _on_trajectory(self, message: Any) -> None:
        trajectory = self._on_our_clock(messages.joint_trajectory(message), message)
        with self._lock:
            rejection = self._arm.publish(trajectory)
            self.notice()
            if rejection is not None:
                self.rejected += 1
                self.last_rejection = rejection.text

    def publish_state(self) -> None:
        """Publish desired, actual and commanded states."""
        with self._lock:
            feedback, command = self._arm.executor.feedback, self._arm.executor.command
            scaling = self._arm.speed_scaling
        message = self._state
        message.header.stamp = self._node.get_clock().now().to_msg()
        output = JointTrajectoryPoint(
            positions=command.position,
            velocities=command.velocity,
            accelerations=command.acceleration,
        )
        desired, actual = _point(feedback, "desired"), _point(feedback, "actual")
        # Field names differ between distributions; some have older and newer names side by side.
        for field, point in (
            ("reference", desired),
            ("desired", desired),
            ("feedback", actual),
            ("actual", actual),
            ("error", _point(feedback, "error")),
            ("output", output),
        ):
            if hasattr(message, field):
                setattr(message, field, point)
        if hasattr(message, "speed_scaling_factor"):
            message.speed_scaling_factor = scaling
        self._state_publisher.publish(message)

    def _on_our_clock(self, trajectory: JointTrajectory, message: Any) -> JointTrajectory:
        stamp = messages.nanoseconds_of(message.header.stamp)
        return replace(trajectory, stamp=self._from_ros(stamp)) if stamp else trajectory


def _point(feedback: Feedback, name: str) -> Any:
    state = getattr(feedback, name)
    message = JointTrajectoryPoint(
        positions=state.position, velocities=state.velocity, accelerations=state.acceleration
    )
    messages.set_time(message.time_from_start, messages.nanoseconds(feedback.time))
    return message
