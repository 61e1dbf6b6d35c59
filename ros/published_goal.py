"""A goal that was published on a topic: nobody answers, so how it ends is judged from the joint
states.

The time of the trajectory runs with the speed scaling that the arm reports. The goal has succeeded
when after its end every joint that it names is inside its tolerance and at rest; it has failed when
that does not come about in the goal time, when the arm does not move though it should have, or when
the states stop.
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

# How long it takes to brake a motion that is given up, in seconds per (rad/s or m/s); at the least
# and most [s].
BRAKING = 0.5
BRAKING_TIMES = (0.1, 1.5)
_BRAKING_POINTS = 10
# An arm that is further from its way than this is not on it [rad or m]; arms lag by some ten
# milliseconds.
_OFF_THE_WAY = 0.2
# An arm that should have moved by as much as the first, but moved less than the second, does not
# follow [rad or m].
_SHOULD_HAVE_MOVED = 0.05
_MOVED = 0.005


@dataclass(frozen=True)
class Judgment:
    """What counts as done.

    Attributes:
        position: how far from the end a joint may be [rad or m], where the goal does not say.
        velocity: what counts as at rest [rad/s or m/s].
        goal_time: how long after its end the arm may take [s], where the goal does not say.
        stale: without states for so long [s] the goal has failed.
        start_time: how long an arm that should move may stand still [s].
    """

    position: float = 0.01
    velocity: float = 0.02
    goal_time: float = 5.0
    stale: float = 1.0
    start_time: float = 1.5


class PublishedGoal:
    """The handle of a goal without acknowledgement. `update` is called with each state; it keeps no
    thread.

    Args:
        goal: as it was published.
        state: where the arm was then.
        now: when that was [s].
        judgment: what counts as done.
        cancel: stops the arm.
        delay: until the trajectory starts [s].

    Raises TrajectoryError when the points do not make a motion.
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
        # What a controller makes of it, from where the arm is; a first point later than 0 is
        # reached from there.
        self._way = to_trajectory(trajectory, from_state=state)
        self._start: NDArray[np.float64] = state.position[self._index]
        own = {tolerance.name: tolerance.position for tolerance in goal.goal_tolerance}
        self._tolerance = np.array(
            [_tolerance(own.get(n, 0.0), judgment.position) for n in self._names]
        )
        self._goal_time = _tolerance(goal.goal_time_tolerance, judgment.goal_time)
        self._judgment = judgment
        self._cancel = cancel
        self._furthest = 0.0  # that a joint was seen from where it started
        self._standing = 0.0  # time that the arm stood still though it should have moved
        self._now = now
        self._heard = now
        self.trajectory_time = -delay
        self._lock = threading.Lock()
        self._status = GoalStatus.EXECUTING
        self._result: GoalResult | None = None

    @property
    def status(self) -> GoalStatus:
        """Where it stands, as far as the joint states tell."""
        return self._status

    @property
    def result(self) -> GoalResult | None:
        """How it ended, or None while it goes on."""
        return self._result

    def cancel(self) -> None:
        """Brake and hold; canceled once the states show the arm at rest."""
        with self._lock:
            if self._status is not GoalStatus.EXECUTING:
                return
            self._status = GoalStatus.CANCELING
        self._cancel()

    def replaced(self) -> None:
        """Another trajectory was published: the arm goes on with that one."""
        with self._lock:
            self._end(
                GoalStatus.ABORTED,
                ErrorCode.INVALID_GOAL,
                "replaced by a trajectory that was sent after it",
            )

    def update(self, now: float, state: ArmState | None, speed_scaling: float) -> None:
        """Judge anew. `state`: one that came after the last call, or None when none came."""
        with self._lock:
            self._judge(now, state, speed_scaling)

    def braking(self, state: ArmState | None) -> JointTrajectory:
        """Points that end the motion early: along its way with time slowing down to a standstill.

        So the arm stays where the plan is, within limits, though its state may be old or unknown
        (None). An arm whose state shows it elsewhere, or standing, holds there: it brakes straight
        on instead.
        """
        with self._lock:
            now = self.trajectory_time
        if state is not None:
            position, velocity = state.position[self._index], state.velocity[self._index]
            off = np.abs(position - self._way.position(now)).max()
            if off > _OFF_THE_WAY or np.abs(velocity).max() <= self._judgment.velocity:
                # From velocity v, v T / 2 further at rest after T: the cubic through that brakes
                # evenly.
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
        at_rest = bool(np.all(np.abs(state.velocity[self._index]) <= self._judgment.velocity))
        if self._status is GoalStatus.CANCELING:
            if at_rest:
                self._end(GoalStatus.CANCELED, ErrorCode.SUCCESSFUL, "")
            return

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
        """Whether the arm has not moved at all, though for a while now it should have."""
        should = self._way.position(self.trajectory_time)
        if self._furthest < _MOVED and np.abs(should - self._start).max() > _SHOULD_HAVE_MOVED:
            self._standing += elapsed
        return self._standing > self._judgment.start_time

    def _end(self, status: GoalStatus, code: ErrorCode, text: str) -> None:
        if not self._status.done:
            self._status, self._result = status, GoalResult(status, code, text)


def _tolerance(own: float, default: float) -> float:
    """A goal's tolerance: 0 asks for the default, a negative one for none."""
    return default if own == 0 else np.inf if own < 0 else own


def _braking_time(velocity: NDArray[np.float64]) -> float:
    return float(np.clip(BRAKING * np.abs(velocity).max(), *BRAKING_TIMES))
