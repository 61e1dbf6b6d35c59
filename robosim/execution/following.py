"""Following of an accepted goal to its end: progress, tracking, and reasons to cancel it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robosim.execution.arm import Arm
from robosim.execution.goals import GoalHandle, GoalResult, GoalStatus
from robosim.execution.loop import DeadlineLoop
from robosim.execution.messages import names_in_order
from robosim.execution.tracking import TrackingRecorder
from robosim.execution.watch import Watch
from robosim.trajectory import Trajectory

if TYPE_CHECKING:
    from robosim.execution.executor import Feedback

__all__ = ["follow_goal"]

PIECES = 500  # pieces of a plan in the search for the nearest position
CANCEL_TIME = 2.0  # [s] for an arm to answer a cancel, before it is told to stop


def follow_goal(
    arm: Arm,
    handle: GoalHandle,
    plan: Trajectory,
    loop: DeadlineLoop,
    watch: Watch,
    recorder: TrackingRecorder,
    report: Callable[[float, float, float, float], None],
    *,
    tracking_error: float,
    goal_time: float,
) -> tuple[str, str, float]:
    """Wait for the goal's result, reading the arm once per iteration of the loop.

    If the handle has feedback, the error is the controller's own. Otherwise the plan's time is
    estimated from the speed scaling. Since the delay of the arm's start is unknown, the error is
    then the distance from the part of the plan up to that time.

    Returns:
        The value of an Outcome, the reason, and the completed part of the plan [s], as far as it is
        known.
    """
    follower = _Follower(plan, watch, recorder)
    waited, cancelled, last = 0.0, None, arm.clock()
    while True:
        try:
            tick = loop.wait()
            elapsed, last = tick.time - last, tick.time
            # End with the result of the goal.
            result = handle.result
            if result is not None:
                follower.note(tick.time, handle)
                return *_ended(result, watch.stop_reason), follower.time_at_end(result)
            # Hold on a fault, or if the tracking error is too large.
            fault = watch.look(tick.time)
            if fault:
                arm.stop()
                return "held", fault, follower.time
            past = follower.advance(elapsed)
            error = follower.note(tick.time, handle)
            worst = int(np.argmax(error))
            if not error[worst] <= tracking_error:
                arm.stop()
                reason = (
                    f"{plan.position_names[worst]} is {error[worst]:.6g} from where it is meant to"
                    f" be; it may be {tracking_error:g} at"
                    f" most{watch.requirements.hint('tracking_error')}"
                )
                return "held", reason, follower.time
            # Cancel on a request to stop; hold if the cancel is not answered.
            if watch.stop_reason and cancelled is None:
                cancelled = tick.time
                handle.cancel()
            if cancelled is not None and tick.time - cancelled > CANCEL_TIME:
                arm.stop()
                return "stopped", f"{watch.stop_reason}; the cancel was not answered", follower.time
            # Hold if no result has come for too long after the end of the plan.
            waited += past
            if waited > goal_time:
                arm.stop()
                reason = f"the arm gave no result {goal_time:g} s after the plan's end"
                return "held", reason + watch.requirements.hint("goal_time"), follower.time
            report(tick.time, follower.time, watch.status.speed_scaling, float(error[worst]))
        except KeyboardInterrupt:
            if watch.stop_reason:
                arm.stop()
                return "stopped", f"{watch.stop_reason}; held at once", follower.time
            watch.request_stop("interrupted")


class _Follower:
    """Desired position of the arm: from its feedback, or from the plan at an estimated time."""

    def __init__(self, plan: Trajectory, watch: Watch, recorder: TrackingRecorder) -> None:
        self._plan, self._watch, self._recorder = plan, watch, recorder
        self._way = plan.sample(PIECES / plan.duration)
        self._stamp = self._recorded = -np.inf
        self._error: NDArray[np.float64] = np.zeros(plan.n)
        self.time = 0.0

    def advance(self, elapsed: float) -> float:
        """Advance the plan's time. Returns the time beyond the plan's end [s]."""
        step = elapsed * min(max(self._watch.status.speed_scaling, 0.0), 1.0)
        time = self.time + step
        self.time = min(time, self._plan.duration)
        return time - self.time

    def note(self, now: float, handle: GoalHandle) -> NDArray[np.float64]:
        """(n,) distance of each joint from its desired position; recorded if it is new."""
        feedback: Feedback | None = getattr(handle, "feedback", None)
        if feedback is None:
            return self._estimate(now)
        if feedback.stamp > self._stamp:
            self._stamp = feedback.stamp
            order = names_in_order(self._plan.position_names, feedback.joint_names)
            desired, actual = feedback.desired.position[order], feedback.actual.position[order]
            self._error = np.abs(feedback.error.position[order])
            # Estimates before the first feedback may have later times.
            self._recorded = max(self._recorded, feedback.stamp)
            self._recorder.add(self._recorded, desired, None, actual)
        return self._error

    def _estimate(self, now: float) -> NDArray[np.float64]:
        """(n,) distance from the nearest position of the plan so far."""
        if not self._watch.states:
            return self._error
        self._recorded = now
        self._recorder.add(now, self._plan.position(self.time), None, self._watch.position)
        past = self._way.position[: 2 + int(np.searchsorted(self._way.time, self.time))]
        off = np.abs(self._watch.off(past))
        nearest: NDArray[np.float64] = off[off.max(axis=1).argmin()]
        return nearest

    def time_at_end(self, result: GoalResult) -> float:
        """Plan time at the end: the duration after success, and 0 if the motion never started."""
        if result.rejected:
            return 0.0
        return self._plan.duration if result.ok else self.time


def _ended(result: GoalResult, stop_reason: str) -> tuple[str, str]:
    if result.ok:
        return "finished", result.error_string or "the arm says that it is at the goal"
    if result.rejected:
        return "refused", result.error_string or "the arm refused the goal"
    if stop_reason:
        return "stopped", stop_reason
    if result.status is GoalStatus.CANCELED:
        return "aborted", result.error_string or "someone else cancelled the goal"
    return "aborted", f"{result.error_code.name}: {result.error_string}".rstrip(": ")
