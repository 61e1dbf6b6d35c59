"""`stream_trajectory`: send a plan to an arm and watch it to its end.

Every transport and the command line use it. There are two modes. "trajectory" sends the whole plan:
the arm interpolates, and keeps its deadlines even if this process does not. "setpoints" sends one
position per period, for arms that accept nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from robosim.errors import ExecutionError
from robosim.execution.arm import Arm
from robosim.execution.checks import (
    START_TOLERANCE,
    Requirements,
    check_before_motion,
    continuous_joints,
    to_present_turn,
)
from robosim.execution.following import follow_goal
from robosim.execution.goals import Rejection, RejectReason
from robosim.execution.loop import DeadlineLoop, LoopStatistics
from robosim.execution.messages import Goal, JointTolerance, JointTrajectory
from robosim.execution.motion import motion_of
from robosim.execution.setpoints import stream_setpoints
from robosim.execution.tracking import Tracking, TrackingRecorder
from robosim.execution.watch import StopEvent, Watch
from robosim.trajectory import Trajectory, TrajectoryLimits
from robosim.trajectory.limits import extremes

__all__ = ["Outcome", "Progress", "StreamReport", "stream_trajectory"]

Mode = Literal["trajectory", "setpoints"]
DEFAULT_RATE = {"trajectory": 50.0, "setpoints": 125.0}
PROGRESS_INTERVAL = 0.1  # [s]


class Outcome(Enum):
    """Outcome of a stream."""

    FINISHED = "finished"
    REFUSED = "refused"  # nothing moved
    STOPPED = "stopped"  # on request
    HELD = "held"  # a fault was detected here, and the arm was told to hold
    ABORTED = "aborted"  # the arm aborted the motion


@dataclass(frozen=True)
class Progress:
    """Progress of a stream.

    Attributes:
        time: time since the start of the stream, on the arm's clock [s].
        plan_time, duration: completed part of the plan and its length [s]; speed scaling slows
        plan_time down.
        speed_scaling: present speed scaling, 0 to 1.
        error: largest distance of a joint from its desired position [rad or m].
    """

    time: float
    plan_time: float
    duration: float
    speed_scaling: float
    error: float


@dataclass(frozen=True, eq=False)
class StreamReport:
    """Report on a stream.

    Attributes:
        outcome: how the stream ended.
        reason: reason in words; one per line if several checks failed.
        tracking: desired and actual positions; None if nothing was sent.
        statistics: how well the loop of this process kept its deadlines.
        plan_time: completed part of the plan [s].
        states: number of states of the arm that were received.
        longest_gap: longest time between two states [s].
    """

    outcome: Outcome
    reason: str
    tracking: Tracking | None
    statistics: LoopStatistics
    plan_time: float = 0.0
    states: int = 0
    longest_gap: float = 0.0

    @property
    def ok(self) -> bool:
        """True if the arm has reached its goal."""
        return self.outcome is Outcome.FINISHED

    def __str__(self) -> str:
        lines = [f"{self.outcome.value}: {self.reason}"]
        if self.tracking is not None and len(self.tracking):
            worst = int(np.argmax(self.tracking.max_error))
            name, error = self.tracking.joint_names[worst], self.tracking.max_error[worst]
            lines.append(f"greatest tracking error {error:.6g} at {name}")
            lines.append(str(self.statistics))
            lines.append(
                f"{self.states} states seen, at most {1e3 * self.longest_gap:.1f} ms apart"
            )
        return "\n".join(lines)


def stream_trajectory(
    arm: Arm,
    trajectory: Trajectory | JointTrajectory,
    *,
    mode: Mode = "trajectory",
    rate: float | None = None,
    limits: TrajectoryLimits | None = None,
    start_tolerance: float = START_TOLERANCE,
    requirements: Requirements | None = None,
    continuous: Collection[str] | None = None,
    tracking_error: float = 0.2,
    goal_tolerance: float = 0.02,
    goal_time: float = 10.0,
    path_tolerance: tuple[JointTolerance, ...] = (),
    scaling_ramp: float | None = None,
    connect_timeout: float = 5.0,
    on_progress: Callable[[Progress], None] | None = None,
    stop_event: StopEvent | None = None,
) -> StreamReport:
    """Check, send, and watch a trajectory to its end.

    Returns when the arm is at the goal, or holds.

    The arm is commanded to hold if its state is stale or jumps, the connection is lost, the arm may
    not move any more, or is too far from its desired position, and on Ctrl-C or `stop_event`. In
    the last two cases, set points first slow down along the plan; a second Ctrl-C holds at once.

    Args:
        arm: arm to move. It is not closed here.
        trajectory: a plan, or a message to send; its joints are matched by name.
        mode: "trajectory" or "setpoints".
        rate: rate of the set points [Hz], 125 by default; in mode "trajectory", rate of reading the
            arm's state, 50 by default.
        limits: in the order of the trajectory's joints; those of the plan by default.
        start_tolerance: largest distance of the start from the present position, for each joint
            [rad or m].
        requirements: conditions that must be known to hold before and during the motion; by default
            the arm's attribute `requirements`, if it has one, else those of a simulated arm.
        continuous: continuous joints, whose start may differ by full turns; by default joints
            without limits.
        tracking_error: largest distance of a joint from its desired position [rad or m]; inf for
            any.
        goal_tolerance: largest distance of a joint from the end of a stream of set points [rad or
            m].
        goal_time: largest time from the plan's end to the goal, or to the arm's answer [s].
        path_tolerance: sent with a whole trajectory; the controller's own by default.
        scaling_ramp: time of set points from rest to full speed, and to stop on request [s]; by
            default as long as the acceleration limits require at the plan's largest speed, and at
            least 0.1 s; 0.5 s without acceleration limits.
        connect_timeout: largest time to the first state [s].
        on_progress: called about ten times a second.
        stop_event: set it, from another thread, to stop.

    Raises:
        ExecutionError: an argument is not valid. All findings of the arm and of the checks are in
            the report.
    """
    _check_arguments(mode, tracking_error, goal_tolerance, goal_time, scaling_ramp)
    needed = getattr(arm, "requirements", Requirements()) if requirements is None else requirements
    loop = DeadlineLoop(DEFAULT_RATE[mode] if rate is None else rate, arm.clock, arm.sleep_until)
    # Motion to execute, and its limits.
    motion = motion_of(trajectory)
    names, units = motion.joint_names, motion.units
    limits = motion.limits if limits is None else limits
    if limits is not None:
        # Efforts belong to torques, which not every trajectory has; they are checked with the
        # trajectory.
        limits.check_sizes(len(names), 0 if limits.effort is None else len(limits.effort))
    turning = continuous_joints(names, units, limits) if continuous is None else set(continuous)
    # Checks before the motion.
    try:
        _await_state(arm, connect_timeout)
        refused = check_before_motion(
            motion, arm.state(), arm.status(), limits,
            now=arm.clock(), joint_names=arm.joint_names, continuous=turning,
            start_tolerance=start_tolerance, requirements=needed,
        )  # fmt: skip
    except KeyboardInterrupt:
        return StreamReport(
            Outcome.STOPPED, "interrupted before the motion", None, loop.statistics()
        )
    if motion.stamp != 0 and mode == "setpoints":
        text = (
            f"the trajectory starts at {motion.stamp:.3f} s; set points start at once, its stamp"
            " has to be 0"
        )
        refused.append(Rejection(RejectReason.CHECK, text))
    if refused:
        return _refused(refused, loop)
    state = arm.state()
    assert state is not None  # guaranteed by the checks
    # Shift continuous joints to the present turns, and prepare monitoring.
    motion = to_present_turn(motion, state, turning)
    plan = motion.followed(state)
    watch = Watch(
        arm,
        names,
        _speed(plan, limits),
        continuous=turning,
        requirements=needed,
        stop_event=stop_event,
    )
    recorder = TrackingRecorder(
        names,
        units=tuple("m" if unit == "m" else "rad" for unit in units),
        robot=plan.robot,
        start=arm.clock(),
    )
    report = _reporter(on_progress, arm.clock(), plan.duration)
    # Send and follow to the end.
    if mode == "trajectory":
        answer = arm.send(Goal(motion.message, path_tolerance))
        if isinstance(answer, Rejection):
            return _refused([answer], loop)
        outcome, reason, done = follow_goal(
            arm,
            answer,
            plan,
            loop,
            watch,
            recorder,
            report,
            tracking_error=tracking_error,
            goal_time=goal_time,
        )
    else:
        ramp = _ramp(plan, limits) if scaling_ramp is None else scaling_ramp
        outcome, reason, done = stream_setpoints(
            arm, plan, loop, watch, recorder, report,
            ramp=ramp, tracking_error=tracking_error, goal_tolerance=goal_tolerance,
            goal_time=goal_time,
        )  # fmt: skip
    return StreamReport(
        Outcome(outcome),
        reason,
        recorder.tracking(),
        loop.statistics(),
        done,
        watch.states,
        watch.longest_gap,
    )


def _check_arguments(
    mode: str, tracking_error: float, goal_tolerance: float, goal_time: float, ramp: float | None
) -> None:
    if mode not in DEFAULT_RATE:
        raise ExecutionError(f"mode is {mode!r}; expected one of {', '.join(DEFAULT_RATE)}")
    for name, value in (
        ("tracking_error", tracking_error),
        ("goal_tolerance", goal_tolerance),
        ("goal_time", goal_time),
        ("scaling_ramp", 1.0 if ramp is None else ramp),
    ):
        if not value > 0:
            raise ExecutionError(f"{name} is {value!r}; expected a positive number")


def _refused(rejections: list[Rejection], loop: DeadlineLoop) -> StreamReport:
    reason = "\n".join(rejection.text for rejection in rejections)
    return StreamReport(Outcome.REFUSED, reason, None, loop.statistics())


def _await_state(arm: Arm, timeout: float) -> None:
    """Wait until a fresh connection has delivered a first state and status."""
    until = arm.clock() + timeout
    while (arm.state() is None or not arm.status().connected) and arm.clock() < until:
        arm.sleep_until(arm.clock() + 0.01)


def _speed(plan: Trajectory, limits: TrajectoryLimits | None) -> NDArray[np.float64]:
    """(n,) largest speed of each joint: its limit, or twice that of the plan if there is none."""
    peak = np.abs(extremes(plan, 1)[1]).max(axis=0)
    known = (
        np.full(plan.n, np.inf) if limits is None or limits.velocity is None else limits.velocity
    )
    speed: NDArray[np.float64] = np.where(np.isfinite(known), np.maximum(known, peak), 2 * peak)
    return speed


def _ramp(plan: Trajectory, limits: TrajectoryLimits | None) -> float:
    """Time from rest to the plan's largest speed within the acceleration limits [s]."""
    if limits is None or limits.acceleration is None:
        return 0.5
    peak = np.abs(extremes(plan, 1)[1]).max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(limits.acceleration > 0, peak / limits.acceleration, 0.0)
    return max(0.1, float(times.max()))


def _reporter(
    on_progress: Callable[[Progress], None] | None, start: float, duration: float
) -> Callable[[float, float, float, float], None]:
    """Return a function that calls on_progress at a limited rate."""
    last = -math.inf

    def report(now: float, plan_time: float, scaling: float, error: float) -> None:
        nonlocal last
        if on_progress is not None and now - last >= PROGRESS_INTERVAL:
            last = now
            on_progress(Progress(now - start, plan_time, duration, scaling, error))

    return report
