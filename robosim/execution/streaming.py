"""stream_trajectory: a plan goes to an arm and is watched to its end. Every transport and the
command line use it.

Two ways. "trajectory" sends the plan whole: the arm interpolates, and keeps its deadlines even when
this process does not. "setpoints" sends one position per period; use it where an arm takes nothing
else.
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
    """How a stream ended."""

    FINISHED = "finished"
    REFUSED = "refused"  # nothing moved
    STOPPED = "stopped"  # someone asked for it
    HELD = "held"  # a fault was seen here, and the arm was told to hold
    ABORTED = "aborted"  # the arm gave up


@dataclass(frozen=True)
class Progress:
    """Where a stream stands.

    Attributes:
        time: since the stream began, on the arm's clock [s].
        plan_time, duration: how much of the plan is done, and its length [s]; speed scaling slows
        plan_time down.
        speed_scaling: that is followed now, 0 to 1.
        error: greatest distance of a joint from where it is meant to be [rad or m].
    """

    time: float
    plan_time: float
    duration: float
    speed_scaling: float
    error: float


@dataclass(frozen=True, eq=False)
class StreamReport:
    """How a stream went.

    Attributes:
        outcome: how it ended.
        reason: why, in words; one per line where several checks failed.
        tracking: desired and actual positions; None when nothing was sent.
        statistics: how well our own loop kept its deadlines.
        plan_time: how much of the plan was done [s].
        states: how many states of the arm were seen.
        longest_gap: the longest time between two of them [s].
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
        """Whether the arm is where it was sent."""
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
    """Check, send, and watch a trajectory to its end. Returns when the arm is there, or holds.

    The arm is told to hold when its state is stale or jumps, when the connection is lost, when it
    may not move any more, when it is too far from where it is meant to be, and on Ctrl-C or
    `stop_event`. Set points then first slow down along the plan; a second Ctrl-C holds at once.

    Args:
        arm: to move. It is not closed here.
        trajectory: a plan, or a message as it is to be sent; its joints are matched by name.
        mode: "trajectory" or "setpoints".
        rate: of the set points [Hz], 125 by default; of looking at the arm when it has the whole
        trajectory, 50.
        limits: in the order of the trajectory's joints; a plan's own by default.
        start_tolerance: how far the start may be from the present position, for each joint [rad or
        m].
        requirements: what has to be known to be good before and during the motion; by default the
        arm's own attribute
            `requirements`, if it has one, else what a simulated arm needs.
        continuous: joints without end, whose start may be off by whole turns; by default those
        without limits.
        tracking_error: how far a joint may be from where it is meant to be [rad or m]; inf: any.
        goal_tolerance: how near a joint has to come to the end of a stream of set points [rad or
        m].
        goal_time: how long that may take after the plan's end, or the arm's answer [s].
        path_tolerance: sent along with a whole trajectory; the controller's own by default.
        scaling_ramp: how long set points take from standing to full speed, and when asked to stop
        [s]; by default as
            long as the acceleration limits ask for at the plan's greatest speed, and 0.1 s at
            least.
        connect_timeout: how long to wait for the first state [s].
        on_progress: called about ten times a second.
        stop_event: set it, from another thread, to stop.

    Raises ExecutionError for an argument that is not valid. Whatever the arm or a check has to say
    is in the report.
    """
    _check_arguments(mode, tracking_error, goal_tolerance, goal_time, scaling_ramp)
    needed = getattr(arm, "requirements", Requirements()) if requirements is None else requirements
    loop = DeadlineLoop(DEFAULT_RATE[mode] if rate is None else rate, arm.clock, arm.sleep_until)
    motion = motion_of(trajectory)
    names, units = motion.joint_names, motion.units
    limits = motion.limits if limits is None else limits
    if limits is not None:
        # Efforts belong to torques, which not every trajectory knows: they are checked with it.
        limits.check_sizes(len(names), 0 if limits.effort is None else len(limits.effort))
    turning = continuous_joints(names, units, limits) if continuous is None else set(continuous)
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
    assert state is not None  # the checks have seen one
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
    """Give a connection that was just made the time to bring a first state and status."""
    until = arm.clock() + timeout
    while (arm.state() is None or not arm.status().connected) and arm.clock() < until:
        arm.sleep_until(arm.clock() + 0.01)


def _speed(plan: Trajectory, limits: TrajectoryLimits | None) -> NDArray[np.float64]:
    """(n,) what a joint can do at most: its limit, or twice what the plan asks where none is
    known."""
    peak = np.abs(extremes(plan, 1)[1]).max(axis=0)
    known = (
        np.full(plan.n, np.inf) if limits is None or limits.velocity is None else limits.velocity
    )
    speed: NDArray[np.float64] = np.where(np.isfinite(known), np.maximum(known, peak), 2 * peak)
    return speed


def _ramp(plan: Trajectory, limits: TrajectoryLimits | None) -> float:
    """From standing to the plan's greatest speed within the acceleration limits [s]."""
    if limits is None or limits.acceleration is None:
        return 0.5
    peak = np.abs(extremes(plan, 1)[1]).max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(limits.acceleration > 0, peak / limits.acceleration, 0.0)
    return max(0.1, float(times.max()))


def _reporter(
    on_progress: Callable[[Progress], None] | None, start: float, duration: float
) -> Callable[[float, float, float, float], None]:
    """Calls on_progress, but not more often than it is worth."""
    last = -math.inf

    def report(now: float, plan_time: float, scaling: float, error: float) -> None:
        nonlocal last
        if on_progress is not None and now - last >= PROGRESS_INTERVAL:
            last = now
            on_progress(Progress(now - start, plan_time, duration, scaling, error))

    return report
