"""Goal published on a topic without acknowledgment, judged from the joint states.

The trajectory's time runs with the arm's reported speed scaling. The goal has succeeded if, after
its end, every joint of the goal is within its tolerance and at rest. It has failed if this does not
happen within the goal time, if the arm does not move when it should, or if the states stop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robosim.execution.goals import ErrorCode, GoalResult, GoalStatus
from robosim.execution.joint_trajectory import to_trajectory
from robosim.execution.messages import (
    ArmState,
    Goal,
    JointTrajectory,
    JointTrajectoryPoint,
    names_in_order,
)

__all__ = ["Judgment", "PublishedGoal"]

# Time to brake a canceled motion, in seconds per (rad/s or m/s); its bounds [s].
BRAKING = 0.5
BRAKING_TIMES = (0.1, 1.5)
_BRAKING_POINTS = 10
# Largest distance of an arm from its path [rad or m]; arms lag by some ten milliseconds.
_OFF_THE_WAY = 0.2
# An arm that should have moved by the first, but moved less than the second, does not follow [rad
# or m].
_SHOULD_HAVE_MOVED = 0.05
_MOVED = 0.005


@dataclass(frozen=True)
class Judgment:
    """Criteria of completion.

    Attributes:
        position: largest distance of a joint from the end [rad or m], if the goal does not specify
            it.
        velocity: largest velocity at rest [rad/s or m/s].
        goal_time: time allowed after the end [s], if the goal does not specify it.
        stale: time without states after which the goal has failed [s].
        start_time: longest standstill of an arm that should move [s].
    """

    position: float = 0.01
    velocity: float = 0.02
    goal_time: float = 5.0
    stale: float = 1.0
    start_time: float = 1.5


class PublishedGoal:
    """Handle of a goal without acknowledgment. Call `update` with each state. It uses no thread.

    Args:
        goal: goal as published.
        state: state of the arm at that time.
        now: time of publication [s].
        judgment: criteria of completion.
        cancel: stops the arm.
        delay: time until the trajectory starts [s].

    Raises TrajectoryError if the points do not define a motion.
    """

    def __init__(
        self,
        goal: Goal,
        state: ArmState,
        now: float,
        judgment: Judgment,
        cancel: Callable[[], None],
        *,
        delay: float = 0.0,
    ) -> None:
        trajectory = goal.trajectory
        self._names = trajectory.joint_names
        self._index = names_in_order(self._names, state.joint_names)
        # The controller's interpolation, which reaches a first point later than 0 from the arm's
        # state.
        self._way = to_trajectory(trajectory, from_state=state)
        self._start: NDArray[np.float64] = state.position[self._index]
        own = {tolerance.name: tolerance.position for tolerance in goal.goal_tolerance}
        self._tolerance = np.array(
            [_tolerance(own.get(n, 0.0), judgment.position) for n in self._names]
        )
        self._goal_time = _tolerance(goal.goal_time_tolerance, judgment.goal_time)
        self._judgment = judgment
        self._cancel = cancel
        self._furthest = 0.0  # largest displacement of a joint from its start
        self._standing = 0.0  # time at standstill while the arm should have moved
        self._now = now
        self._heard = now
        self.trajectory_time = -delay
        self._lock = threading.Lock()
        self._status = GoalStatus.EXECUTING
        self._result: GoalResult | None = None

    @property
    def status(self) -> GoalStatus:
        """Current status, as judged from the joint states."""
        return self._status

    @property
    def result(self) -> GoalResult | None:
        """Result, or None while the goal is active."""
        return self._result

    def cancel(self) -> None:
        """Brake and hold. The goal is canceled once the states show the arm at rest."""
        with self._lock:
            if self._status is not GoalStatus.EXECUTING:
                return
            self._status = GoalStatus.CANCELING
        self._cancel()

    def replaced(self) -> None:
        """Abort the goal because a later trajectory replaces it."""
        with self._lock:
            self._end(
                GoalStatus.ABORTED,
                ErrorCode.INVALID_GOAL,
                "replaced by a trajectory that was sent after it",
            )

    def update(self, now: float, state: ArmState | None, speed_scaling: float) -> None:
        """Update the judgment. `state` is None if none has arrived since the last call."""
        with self._lock:
            self._judge(now, state, speed_scaling)

    def braking(self, state: ArmState | None) -> JointTrajectory:
        """Points that end the motion early: along its path, with time slowing down to a standstill.

        The arm thus stays on the plan, within limits, even if its state is old or unknown (None).
        An arm whose state shows it off the path, or at rest, brakes straight ahead instead.
        """
        with self._lock:
            now = self.trajectory_time
        if state is not None:
            position, velocity = state.position[self._index], state.velocity[self._index]
            off = np.abs(position - self._way.position(now)).max()
            if off > _OFF_THE_WAY or np.abs(velocity).max() <= self._judgment.velocity:
                # From velocity v to rest after T takes the displacement v T / 2: the cubic through
                # it brakes at a constant rate.
                time = _braking_time(velocity)
                end = JointTrajectoryPoint(
                    time, position + velocity * time / 2, np.zeros(len(position))
                )
                return JointTrajectory(self._names, (end,))
        time = _braking_time(self._way.velocity(now))
        points = []
        for t in np.linspace(0.0, time, _BRAKING_POINTS + 1)[1:]:
            at, rate = now + t - t**2 / (2 * time), 1 - t / time
            points.append(
                JointTrajectoryPoint(
                    float(t), self._way.position(at), self._way.velocity(at) * rate
                )
            )
        return JointTrajectory(self._names, tuple(points))

    def _judge(self, now: float, state: ArmState | None, speed_scaling: float) -> None:
        if self._status.done:
            return
        # Advance the trajectory's time. Fail if states have stopped.
        elapsed, self._now = max(0.0, now - self._now), max(now, self._now)
        self.trajectory_time += elapsed * speed_scaling
        if state is None:
            if now - self._heard > self._judgment.stale:
                self._end(
                    GoalStatus.ABORTED,
                    ErrorCode.INVALID_GOAL,
                    f"no joint states for {now - self._heard:.2f} s: where the arm is, is not"
                    " known",
                )
            return
        self._heard = now
        # Cancellation is complete once the arm is at rest.
        at_rest = bool(np.all(np.abs(state.velocity[self._index]) <= self._judgment.velocity))
        if self._status is GoalStatus.CANCELING:
            if at_rest:
                self._end(GoalStatus.CANCELED, ErrorCode.SUCCESSFUL, "")
            return

        # Success within tolerance and at rest; failure after the goal time, or without motion.
        position = state.position[self._index]
        self._furthest = max(self._furthest, float(np.abs(position - self._start).max()))
        error = np.abs(position - self._way.position(self._way.duration))
        late = self.trajectory_time - self._way.duration
        if late >= 0 and at_rest and bool(np.all(error <= self._tolerance)):
            self._end(
                GoalStatus.SUCCEEDED, ErrorCode.SUCCESSFUL, "in place, as the joint states show"
            )
        elif late > self._goal_time:
            worst = int(np.argmax(error / self._tolerance))
            why = f"joint {self._names[worst]} is {error[worst]:.4g} from its goal"
            if np.all(error <= self._tolerance):
                why = "the arm is not at rest"
            self._end(
                GoalStatus.ABORTED,
                ErrorCode.GOAL_TOLERANCE_VIOLATED,
                f"{why} {late:.2f} s after the end of the trajectory (tolerance"
                f" {self._tolerance[worst]:g})",
            )
        elif self._stands_still(elapsed * speed_scaling):
            self._end(
                GoalStatus.ABORTED,
                ErrorCode.INVALID_GOAL,
                f"the arm has not moved in {self.trajectory_time:.2f} s: a controller that refuses"
                " a trajectory, is not active, or is not listened to by the robot does not say so"
                " on a topic; see its log",
            )

    def _stands_still(self, elapsed: float) -> bool:
        """Return true if the arm has not moved at all, although it should have for some time."""
        should = self._way.position(self.trajectory_time)
        if self._furthest < _MOVED and np.abs(should - self._start).max() > _SHOULD_HAVE_MOVED:
            self._standing += elapsed
        return self._standing > self._judgment.start_time

    def _end(self, status: GoalStatus, code: ErrorCode, text: str) -> None:
        if not self._status.done:
            self._status, self._result = status, GoalResult(status, code, text)


def _tolerance(own: float, default: float) -> float:
    """A goal's tolerance: 0 means the default, a negative value means none."""
    return default if own == 0 else np.inf if own < 0 else own


def _braking_time(velocity: NDArray[np.float64]) -> float:
    return float(np.clip(BRAKING * np.abs(velocity).max(), *BRAKING_TIMES))
