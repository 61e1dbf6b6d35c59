"""Client side of a FollowJointTrajectory goal, from acceptance to result.

All calls of rclpy's action client run in the executor's thread. rclpy registers a request only
after sending it, so an answer that another thread takes in between is lost.

An acceptance can be lost altogether. A server that has not discovered its client yet drops the
answer, and moves the arm. Therefore a goal has an id from the beginning. It is canceled by this id
whether it was accepted or not, and its result is requested by the id if no answer arrives. Such a
server may also know the goal and never execute it (as servers of rclpy and rclcpp do if sending the
acceptance fails). It reports this to nobody, but its status topic shows it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from robosim.execution.executor import Feedback
from robosim.execution.goals import ErrorCode, GoalResult, GoalStatus
from robosim.execution.interpolation import PointState
from robosim.ros.messages import goal_error, seconds_of

__all__ = ["ActionGoal"]

# [s] without an answer after which, and at which interval, the result is requested.
_ASK = 1.0
# Number of intervals after which an unknown goal is abandoned; one more for a goal not executed.
_LOST = 5


class ActionGoal:
    """Sends a goal; implements GoalHandle.

    Args:
        node: rclpy node whose executor is single-threaded and spins.
        client: rclpy ActionClient.
        message: the goal.
        controller: name of the controller, for messages.
        clock: clock for the time of feedback [s].
        rename: maps a joint's name to its name in the plan.
    """

    def __init__(
        self,
        node: Any,
        client: Any,
        message: Any,
        controller: str,
        clock: Callable[[], float],
        rename: Callable[[str], str],
    ) -> None:
        self._node, self._client, self._message = node, client, message
        self._controller, self._clock, self._rename = controller, clock, rename
        self._status = GoalStatus.ACCEPTED
        self._result: GoalResult | None = None
        self._feedback: Feedback | None = None
        self._handle: Any = None  # set when sent
        self._timer: Any = None  # runs until the answer
        self._statuses: Any = None  # subscription, if the answer is late
        self._answered = self._cancelled = False
        self._executed = False  # according to the server's status
        self._asked = False  # True while a request for the result is pending
        self._silences = 0  # number of _ASK intervals without an answer
        self._run(self._send)

    @property
    def status(self) -> GoalStatus:
        """Current status."""
        return self._status

    @property
    def result(self) -> GoalResult | None:
        """Result, or None while the goal is active."""
        return self._result

    @property
    def feedback(self) -> Feedback | None:
        """Latest feedback; None before the first, and for controllers without feedback."""
        return self._feedback

    def cancel(self) -> None:
        """Request cancellation. If the goal is not accepted yet, request again on acceptance."""
        self._run(self._cancel)

    def give_up(self, reason: str) -> None:
        """Abort the goal and cancel it on the server. Call in the executor's thread."""
        self._cancel()
        self._end(GoalResult(GoalStatus.ABORTED, ErrorCode.INVALID_GOAL, reason))

    def abandon(self) -> None:
        """End the goal because the client closes. Nothing more can be sent or received."""
        self._end(
            GoalResult(GoalStatus.ABORTED, ErrorCode.INVALID_GOAL, "the connection was closed")
        )

    # -- In the executor's thread ------------------------------------------------------------------

    def _run(self, action: Callable[[], None]) -> None:
        self._node.executor.create_task(action)

    def _send(self) -> None:
        if self._result is not None:
            return
        from control_msgs.action import FollowJointTrajectory
        from rclpy.action.client import ClientGoalHandle
        from rclpy.clock import Clock, ClockType
        from unique_identifier_msgs.msg import UUID

        goal_id = UUID(uuid=list(uuid.uuid4().bytes))
        sent = self._client.send_goal_async(
            self._message, feedback_callback=self._on_feedback, goal_uuid=goal_id
        )
        sent.add_done_callback(self._on_answer)
        accepted = FollowJointTrajectory.Impl.SendGoalService.Response(accepted=True)
        self._handle = ClientGoalHandle(self._client, goal_id, accepted)
        # On a steady clock, which runs even if simulated time stands still.
        self._timer = self._node.create_timer(
            _ASK, self._on_silence, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        if self._cancelled:
            self._cancel()

    def _on_answer(self, future: Any) -> None:
        handle = future.result()
        self._answered = True
        self._stop_timer()
        if self._result is not None:
            if handle.accepted:  # an abandoned goal must not move the arm
                handle.cancel_goal_async()
            return
        if not handle.accepted:
            text = f"{self._controller} rejected the goal; ROS 2 carries no reason, its log has it"
            self._end(GoalResult(GoalStatus.ABORTED, ErrorCode.INVALID_GOAL, text, rejected=True))
            return
        self._handle, self._status = handle, GoalStatus.EXECUTING
        self._ask()
        if self._cancelled:
            self._cancel()

    def _on_silence(self) -> None:
        """Handle an interval without an answer.

        A server that knows the goal sends its result when the goal ends. A server that does not
        know it says so.
        """
        self._silences += 1
        self._ask()
        if self._statuses is None:
            from action_msgs.msg import GoalStatusArray
            from rclpy.qos import qos_profile_action_status_default

            topic = f"{self._controller}/follow_joint_trajectory/_action/status"
            self._statuses = self._node.create_subscription(
                GoalStatusArray, topic, self._on_status, qos_profile_action_status_default
            )
        if self._silences > _LOST and not self._executed and self._feedback is None:
            self._handle.cancel_goal_async()
            text = (
                f"{self._controller} did not answer for {_ASK * self._silences:g} s, and does not"
                " execute the goal"
            )
            self._end(GoalResult(GoalStatus.ABORTED, ErrorCode.INVALID_GOAL, text))

    def _on_status(self, message: Any) -> None:
        """Handle the status of all goals of the server."""
        ours = [
            s.status for s in message.status_list if s.goal_info.goal_id == self._handle.goal_id
        ]
        self._executed = self._executed or any(status > GoalStatus.ACCEPTED for status in ours)
        if self._executed and self._status is GoalStatus.ACCEPTED:
            self._status = GoalStatus.EXECUTING

    def _ask(self) -> None:
        if not self._asked:
            self._asked = True
            early = not self._answered
            self._handle.get_result_async().add_done_callback(
                lambda future: self._on_result(future, early)
            )

    def _cancel(self) -> None:
        self._cancelled = True
        if self._handle is not None and self._result is None:
            self._status = GoalStatus.CANCELING
            self._handle.cancel_goal_async()

    def _on_feedback(self, message: Any) -> None:
        feedback = message.feedback
        names = tuple(self._rename(name) for name in feedback.joint_names)
        points = [
            _point_state(point, len(names))
            for point in (feedback.desired, feedback.actual, feedback.error)
        ]
        if all(len(point.position) == len(names) for point in points):
            time = seconds_of(feedback.desired.time_from_start)
            self._feedback = Feedback(self._clock(), time, names, *points)

    def _on_result(self, future: Any, early: bool) -> None:
        """Handle the answer.

        Ignore an `early` answer, requested before acceptance, from a server that may not know the
        goal yet.
        """
        answer = future.result()
        unknown = answer.status == 0
        if unknown and early and (self._answered or self._silences < _LOST):
            self._asked = False
            if self._answered:
                self._ask()
            return
        code, text = goal_error(answer.result)
        if answer.status == GoalStatus.SUCCEEDED and code is ErrorCode.SUCCESSFUL:
            self._end(GoalResult(GoalStatus.SUCCEEDED, code, text))
        elif answer.status == GoalStatus.CANCELED:
            self._end(GoalResult(GoalStatus.CANCELED, code, text))
        else:
            if unknown:
                lost = f"did not answer for {_ASK * _LOST:g} s, and does not know the goal"
                text = f"{self._controller} {lost if early else 'does not know the goal any more'}"
            self._end(GoalResult(GoalStatus.ABORTED, code, text))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None
        if self._statuses is not None:
            self._node.destroy_subscription(self._statuses)
            self._statuses = None

    def _end(self, result: GoalResult) -> None:
        self._stop_timer()
        if self._result is None:
            self._status, self._result = result.status, result


def _point_state(point: Any, n: int) -> PointState:
    import numpy as np

    def field(values: Any) -> Any:
        return np.array(values) if len(values) else np.zeros(n)

    return PointState(
        np.array(point.positions), field(point.velocities), field(point.accelerations)
    )
