"""`TrajectoryExecutor`: a joint trajectory controller as a state machine, without threads or I/O.

It accepts goals (an action) and trajectories (a topic) and makes one command per control cycle,
with the semantics of ros2_controllers' joint_trajectory_controller; docs/execution.md lists them
row by row. Trajectory time advances by period x speed scaling, so a scaling of 0 pauses a motion,
its tolerances and its goal time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import ExecutionError
from robosim.execution import acceptance, tolerances
from robosim.execution.clock import Clock
from robosim.execution.cycle import Command, Event, Feedback
from robosim.execution.goals import ErrorCode, GoalResult, GoalStatus, Rejection, RejectReason
from robosim.execution.interpolation import Interpolation, JointSpline, Knots, PointState
from robosim.execution.messages import ArmState, Goal, JointTrajectory
from robosim.execution.profiles import JAZZY, Profile
from robosim.execution.replacement import decelerating, splice
from robosim.execution.tolerances import ControllerTolerances
from robosim.trajectory import TrajectoryLimits

__all__ = ["Command", "Event", "ExecutorGoal", "Feedback", "TrajectoryExecutor"]

Array = NDArray[np.float64]


class ExecutorGoal:
    """An accepted goal."""

    def __init__(self, goal: Goal, executor: TrajectoryExecutor) -> None:
        self.goal = goal
        self._executor = executor
        self._status = GoalStatus.EXECUTING
        self._result: GoalResult | None = None
        self._followed = False
        self._feedback: Feedback | None = None

    @property
    def status(self) -> GoalStatus:
        """Current status of the goal."""
        return self._status

    @property
    def result(self) -> GoalResult | None:
        """Result of the goal, or None while it is executing."""
        return self._result

    @property
    def feedback(self) -> Feedback | None:
        """Feedback of the last cycle that followed the goal; None before the first."""
        return (
            self._executor.feedback if self._followed and self._result is None else self._feedback
        )

    def cancel(self) -> None:
        """Cancel the goal, so that the arm holds. Nothing happens if it is not the current goal."""
        self._executor.cancel(self)

    def _finish(self, result: GoalResult) -> None:
        self._feedback = self.feedback
        self._status, self._result = result.status, result


class _Pending(NamedTuple):
    """A user's trajectory for the next cycle: spline, mask (n,) of named joints, and stamp [s]."""

    spline: JointSpline
    named: NDArray[np.bool_]
    stamp: float


class TrajectoryExecutor:
    """A joint trajectory controller.

    Args:
        joint_names: (n) names of the joints, in the order of commands.
        clock: returns the time of stamps.
        profile: ROS 2 distribution whose semantics apply.
        tolerances: the controller's own tolerances; a goal may override them.
        allow_partial_joints_goal: True if trajectories may omit joints; these keep their last
            command.
        allow_nonzero_velocity_at_trajectory_end: True if trajectories may end moving; None for the
            default of the profile.
        interpolate_from_desired_state: True to start a trajectory from the last command, not from
            the measured state.
        interpolation: "splines" or "none".
        decelerate_on_cancel: True to slow down instead of stopping at once; requires
            max_deceleration.
        max_deceleration: deceleration of each joint in that case, or one for all, > 0 [rad or m per
            s^2].
        cmd_timeout: time after the end of a trajectory at which an unreached goal is aborted [s]; 0
            for never. Applies only if larger than tolerances.goal_time.
        velocity_command: True if velocities are commanded too, so that velocity errors count.
            Controllers of positions alone (UR arms) do not check velocities.
        continuous_joints: joints whose errors are taken modulo full turns.
        limits: limits of the joints, in their order; with limits, points outside or not finite are
            refused.
        on_event: called with events that a controller would log.

    Raises:
        ExecutionError: parameters are not valid.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        *,
        clock: Clock,
        profile: Profile = JAZZY,
        tolerances: ControllerTolerances | None = None,
        allow_partial_joints_goal: bool = False,
        allow_nonzero_velocity_at_trajectory_end: bool | None = None,
        interpolate_from_desired_state: bool = False,
        interpolation: Interpolation = "splines",
        decelerate_on_cancel: bool = False,
        max_deceleration: ArrayLike | None = None,
        cmd_timeout: float = 0.0,
        velocity_command: bool = True,
        continuous_joints: Sequence[str] = (),
        limits: TrajectoryLimits | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        # Check the parameters.
        self.joint_names = tuple(joint_names)
        n = len(self.joint_names)
        if not n or len(set(self.joint_names)) != n:
            raise ExecutionError(
                f"joint_names: must be one or more distinct names, not {self.joint_names!r}"
            )
        unknown = [name for name in continuous_joints if name not in self.joint_names]
        if unknown:
            raise ExecutionError(
                f"continuous_joints: {unknown[0]!r} is not one of {', '.join(self.joint_names)}"
            )
        if interpolation not in ("splines", "none"):
            raise ExecutionError(
                f"interpolation: must be 'splines' or 'none', not {interpolation!r}"
            )
        if not (np.isfinite(cmd_timeout) and cmd_timeout >= 0):
            raise ExecutionError(
                f"cmd_timeout: must be finite and not negative, not {cmd_timeout!r}"
            )
        if limits is not None:
            limits.check_sizes(n, 0 if limits.effort is None else len(limits.effort))
        # Tolerances, acceptance rules and options.
        self.profile = profile
        self.events: deque[Event] = deque(maxlen=100)
        self._clock, self._on_event = clock, on_event
        self._own_tolerances = (tolerances or ControllerTolerances()).resolve(n)
        self._tolerances = self._own_tolerances
        allow_moving_end = allow_nonzero_velocity_at_trajectory_end
        if allow_moving_end is None:
            allow_moving_end = profile.allow_nonzero_velocity_at_trajectory_end
        self._rules = acceptance.AcceptanceRules(
            self.joint_names, allow_partial_joints_goal, allow_moving_end, limits
        )
        self._from_desired, self._interpolation = interpolate_from_desired_state, interpolation
        self._deceleration = _deceleration(max_deceleration, n) if decelerate_on_cancel else None
        self._cmd_timeout = cmd_timeout if cmd_timeout > self._own_tolerances.goal_time else 0.0
        self._velocity_command = velocity_command
        self._wraps = np.array([name in continuous_joints for name in self.joint_names])
        self._any_wraps = bool(self._wraps.any())

        self._active = False
        self._goal: ExecutorGoal | None = None
        # The active spline and the time on it; and the motion of the next cycle: a user's
        # trajectory, or a spline made here.
        self._spline: JointSpline | None = None
        self._time, self._sampled, self._holding = 0.0, False, True
        self._pending: _Pending | JointSpline | None = None
        self._stamp = 0.0
        self._names_seen: tuple[str, ...] | None = None
        self._index: Array | None = None
        self._position = self._velocity = np.zeros(n)
        self._zeros = np.zeros(n)
        self._command = Command(self._zeros, self._zeros, self._zeros)
        self._desired = np.zeros((3, n))
        self._error, self._velocity_error = self._zeros, self._zeros

    # Queries

    @property
    def active(self) -> bool:
        """True if the controller is active: it commands, and accepts goals."""
        return self._active

    @property
    def goal(self) -> ExecutorGoal | None:
        """The goal that is being followed, or None."""
        return self._goal

    @property
    def holding(self) -> bool:
        """True if the controller holds a position, without a request or after its end."""
        return self._holding

    @property
    def command(self) -> Command:
        """The last command."""
        return self._command

    @property
    def feedback(self) -> Feedback:
        """Desired state, actual state and error of the last cycle."""
        desired = PointState(*self._desired)
        actual = PointState(self._position, self._velocity, self._zeros)
        error = PointState(self._error, self._velocity_error, self._zeros)
        return Feedback(self._stamp, self._time, self.joint_names, desired, actual, error)

    @property
    def desired(self) -> PointState:
        """Desired state of the joints in the last cycle."""
        return self.feedback.desired

    @property
    def actual(self) -> PointState:
        """Measured state of the joints in the last cycle.

        Accelerations are not measured and zero.
        """
        return self.feedback.actual

    @property
    def error(self) -> PointState:
        """Desired minus actual state."""
        return self.feedback.error

    # Commands

    def activate(self, state: ArmState) -> None:
        """Start to command, holding the position of `state`."""
        self._read(state)
        self._active = True
        self._goal, self._tolerances = None, self._own_tolerances
        self._command = Command(self._position, self._zeros, self._zeros)
        self._desired = np.stack(self._command)
        self._error = self._velocity_error = self._zeros
        self._stamp = self._clock()
        self._spline = None
        self._hold()

    def deactivate(self) -> None:
        """Stop commanding; an executing goal is aborted."""
        if self._goal is not None:
            text = "Current goal cancelled during deactivate transition."
            self._finish(GoalResult(GoalStatus.ABORTED, ErrorCode.INVALID_GOAL, text))
        self._active = False
        self._spline = self._pending = None
        self._holding = True
        self._command = Command(self._command.position, self._zeros, self._zeros)

    def submit(self, goal: Goal) -> ExecutorGoal | Rejection:
        """Check a goal and, if it is accepted, follow it from the next cycle on.

        The current goal is preempted.
        """
        rejection = self._judge(goal.trajectory)
        if rejection is not None:
            self._log("error", f"goal rejected: {rejection.text}")
            return rejection
        if self._goal is not None:
            code, text = ErrorCode.INVALID_GOAL, self.profile.preempted_text
            self._finish(GoalResult(self.profile.preempted_status, code, text))
        self._take(goal.trajectory)
        self._goal = ExecutorGoal(goal, self)
        self._tolerances, ignored = tolerances.merge(self._own_tolerances, goal, self.joint_names)
        if ignored:
            self._log("warning", ignored)
        return self._goal

    def publish(self, trajectory: JointTrajectory) -> Rejection | None:
        """Follow a trajectory of the topic from the next cycle on.

        The current goal does not end, and is judged by the new trajectory from then on. A
        trajectory without points aborts the goal, and the last command is held until the next
        request.
        """
        if (
            self._active
            and not trajectory.points
            and set(trajectory.joint_names) <= set(self.joint_names)
        ):
            if self._goal is not None:
                text = "Current goal ended by an empty trajectory on the topic."
                self._finish(GoalResult(GoalStatus.ABORTED, ErrorCode.INVALID_GOAL, text))
            self._spline = self._pending = None
            self._holding = True
            return None
        rejection = self._judge(trajectory)
        if rejection is None:
            self._take(trajectory)
        else:
            self._log("error", f"trajectory rejected: {rejection.text}")
        return rejection

    def cancel(self, goal: ExecutorGoal) -> None:
        """Cancel a goal and hold, or slow down to a stop; nothing happens if it is not current."""
        if goal is self._goal:
            self._finish(GoalResult(GoalStatus.CANCELED))
            self._hold(decelerate=True)

    def stop(self) -> None:
        """Cancel the current motion and hold."""
        if self._goal is not None:
            self.cancel(self._goal)
        elif self._active and not self._holding:
            self._hold(decelerate=True)

    # Control cycle

    def update(self, state: ArmState, period: float, *, speed_scaling: float = 1.0) -> Command:
        """Run one control cycle.

        Args:
            state: present measured state.
            period: time since the last cycle [s].
            speed_scaling: factor >= 0 by which trajectory time advances per period.

        Returns:
            The command, for the end of this cycle if the profile has a look-ahead.
        """
        if not (0 <= period < np.inf and 0 <= speed_scaling < np.inf):
            raise ExecutionError(
                f"period and speed_scaling must be finite and not negative, not {period!r} and"
                f" {speed_scaling!r}"
            )
        self._read(state)
        self._stamp = now = self._clock()
        if not self._active:
            return self._command
        if self._pending is not None:
            self._begin(self._pending, now, self._time + period * speed_scaling)
        spline = self._spline
        if spline is None:  # after an empty trajectory on the topic
            self._command = Command(self._command.position, self._zeros, self._zeros)
            self._desired = np.stack(self._command)
            self._measure_errors()
            return self._command

        first = not self._sampled
        if first:
            self._sampled = True
        else:
            self._time += period * speed_scaling
        self._desired, past = spline.sample(self._time)
        command = self._desired
        if self.profile.command_lookahead:
            command, past = spline.sample(self._time + period)
        self._measure_errors()
        if self._goal is not None:
            self._goal._followed = True
        self._judge_progress(spline, command, first, past)
        return self._command

    def _judge_progress(self, spline: JointSpline, command: Array, first: bool, past: bool) -> None:
        """Check tolerances.

        If they are kept the command is passed on, and a goal that is reached or lost ends.
        """
        tolerances, overdue = self._tolerances, self._time - spline.end
        velocity_error = self._velocity_error if self._velocity_command else None
        path = goal = None
        late = timed_out = False
        if not self._holding:
            if first or not past:
                path = tolerances.path.violation(self._error, velocity_error)
            if past:
                goal = tolerances.goal.violation(self._error, velocity_error)
                late = (
                    goal is not None
                    and tolerances.goal_time != 0
                    and overdue > tolerances.goal_time
                )
                timed_out = 0 < self._cmd_timeout < overdue
        if path is None and not late:
            self._command = Command(*command)
        if path is not None:
            self._abort(
                ErrorCode.PATH_TOLERANCE_VIOLATED, "Aborted due to path tolerance violation", path
            )
        elif late:
            text = f"Aborted due to goal_time_tolerance exceeding by {overdue:.6f} seconds"
            self._abort(ErrorCode.GOAL_TOLERANCE_VIOLATED, text, goal)
        elif past and goal is None and self._goal is not None:
            code, text = ErrorCode.SUCCESSFUL, "Goal successfully reached!"
            self._finish(GoalResult(GoalStatus.SUCCEEDED, code, text))
            self._pending, self._holding = JointSpline(Knots.one(0.0, *spline.last)), True
        elif timed_out:
            self._abort(ErrorCode.GOAL_TOLERANCE_VIOLATED, "Aborted due to command timeout", goal)

    def _abort(
        self, code: ErrorCode, text: str, violation: tuple[int, str, float, float] | None
    ) -> None:
        if violation is not None:
            joint, what, error, tolerance = violation
            name = self.joint_names[joint]
            self._log("warning", f"{name}: {what} error {error:.6g}, tolerance {tolerance:.6g}")
        if self._goal is not None:
            self._finish(GoalResult(GoalStatus.ABORTED, code, text))
        else:
            self._log("warning", f"{text}; holding position")
        self._hold(decelerate=code is ErrorCode.GOAL_TOLERANCE_VIOLATED)

    # Start, hold and end of motions

    def _judge(self, trajectory: JointTrajectory) -> Rejection | None:
        if not self._active:
            return Rejection(
                RejectReason.INACTIVE, "the controller is not active; activate it first"
            )
        return acceptance.check(trajectory, self._clock(), self._rules)

    def _take(self, trajectory: JointTrajectory) -> None:
        """Make the spline of a trajectory outside of the cycle.

        The cycle only adds its start, or splices it to the old one.
        """
        joints = [self.joint_names.index(name) for name in trajectory.joint_names]
        knots = Knots.of(trajectory.points, joints, self._command.position)
        named = np.zeros(len(self.joint_names), dtype=bool)
        named[joints] = True
        self._pending = _Pending(JointSpline(knots, self._interpolation), named, trajectory.stamp)
        self._holding = False

    def _begin(self, pending: _Pending | JointSpline, now: float, cursor: float) -> None:
        """Activate the pending trajectory and set its time; `cursor` is the time on the old one."""
        old = self._spline
        self._pending, self._sampled = None, False
        if isinstance(pending, JointSpline):
            self._spline, self._time = pending, 0.0
            return
        spline = pending.spline
        elapsed = now - pending.stamp if pending.stamp != 0 else 0.0
        if self.profile.replacement_splice and old is not None and len(old.times) > 1:
            joined = splice(old, cursor, spline.knots, pending.named, -elapsed)
            if joined is not None:
                self._spline, self._time = joined, 0.0
                return
        self._spline, self._time = spline, elapsed
        if elapsed < spline.times[0]:
            spline.come_from(self._state_before(elapsed, spline.knots.values[0, 0]))

    def _state_before(self, time: float, target: Array) -> Knots:
        position, *rest = self._command if self._from_desired else (self._position, self._velocity)
        if self._any_wraps:
            turns = np.round((target - position) / (2 * np.pi)) * (2 * np.pi)
            position = np.where(self._wraps, position + turns, position)
        return Knots.one(time, position, *rest)

    def _hold(self, *, decelerate: bool = False) -> None:
        """Hold from the next cycle on.

        The position is the measured one, or the joints slow down from the measured velocity.
        """
        spline = None
        if decelerate and self._deceleration is not None:
            spline = decelerating(self._position, self._velocity, self._deceleration)
        if spline is None:
            spline = JointSpline(Knots.one(0.0, self._position, self._zeros, self._zeros))
        self._pending, self._holding = spline, True

    def _finish(self, result: GoalResult) -> None:
        assert self._goal is not None
        self._goal._finish(result)
        self._goal = None
        good = result.status is GoalStatus.SUCCEEDED
        self._log("info" if good else "warning", result.error_string or "Goal canceled")

    # Measurements

    def _read(self, state: ArmState) -> None:
        if state.joint_names is not self._names_seen:
            missing = [name for name in self.joint_names if name not in state.joint_names]
            if missing:
                raise ExecutionError(
                    f"the state lacks {missing[0]!r}; it has {', '.join(state.joint_names)}"
                )
            self._names_seen = state.joint_names
            same = state.joint_names == self.joint_names
            self._index = (
                None
                if same
                else np.array([state.joint_names.index(name) for name in self.joint_names])
            )
        position, velocity = state.position, state.velocity
        if not len(position) == len(velocity) == len(state.joint_names):
            sizes = f"{len(state.position)} positions and {len(state.velocity)} velocities"
            raise ExecutionError(f"the state has {sizes} for {len(state.joint_names)} joints")
        if self._index is not None:
            position, velocity = position[self._index], velocity[self._index]
        if not (np.isfinite(position).all() and np.isfinite(velocity).all()):
            self._log(
                "error",
                f"the state is not finite and is ignored: position {position}, velocity {velocity}",
            )
            return
        self._position, self._velocity = position.copy(), velocity.copy()

    def _measure_errors(self) -> None:
        self._error = self._desired[0] - self._position
        if self._any_wraps:
            turns = np.round(self._error / (2 * np.pi)) * (2 * np.pi)
            self._error = np.where(self._wraps, self._error - turns, self._error)
        self._velocity_error = self._desired[1] - self._velocity

    def _log(self, level: str, text: str) -> None:
        event = Event(self._clock(), level, text)
        self.events.append(event)
        if self._on_event is not None:
            self._on_event(event)


def _deceleration(value: ArrayLike | None, n: int) -> Array:
    array = np.array(np.nan if value is None else value, dtype=float)
    if array.shape not in ((), (n,)) or not (np.isfinite(array).all() and (array > 0).all()):
        raise ExecutionError(
            f"max_deceleration: must be {n} positive numbers or one, not {value!r}"
        )
    values: Array = np.broadcast_to(array, (n,)).copy()
    return values
