"""Streaming of a plan as set points, one per period, at the speed that the arm allows.

Plan time advances by period x scaling per set point that is sent, not by elapsed time. After a
stall the stream continues where it was, so two set points are never further apart than one sample's
motion.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robosim.execution.arm import Arm
from robosim.execution.loop import DeadlineLoop
from robosim.execution.messages import Setpoint, names_in_order
from robosim.execution.tracking import TrackingRecorder
from robosim.execution.watch import Watch
from robosim.trajectory import Trajectory

__all__ = ["stream_setpoints"]

AT_REST = 0.02  # [rad/s or m/s]: an arm near the goal that still moves faster is waited for
# An arm that slows down by itself has done so before it reports it. Follow quickly, or the set
# points run away from it.
SLOW_DOWN = 0.1  # [s] from full speed to rest
RESTART, RESTART_TIME = (
    5,
    0.04,
)  # periods, and [s], without a set point after which the stream restarts gently


def stream_setpoints(
    arm: Arm,
    plan: Trajectory,
    loop: DeadlineLoop,
    watch: Watch,
    recorder: TrackingRecorder,
    report: Callable[[float, float, float, float], None],
    *,
    ramp: float,
    tracking_error: float,
    goal_tolerance: float,
    goal_time: float,
) -> tuple[str, str, float]:
    """Stream set points to the end of the plan, or until there is a reason to hold.

    Returns:
        The value of an Outcome, the reason, and the completed part of the plan [s].
    """
    restart = max(RESTART, RESTART_TIME * loop.rate)
    order = names_in_order(arm.joint_names, plan.position_names)
    time, scaling, waited, interrupts = 0.0, min(max(watch.status.speed_scaling, 0.0), 1.0), 0.0, 0
    wanted = plan.position(0.0)
    while True:
        try:
            tick = loop.wait()
            # Hold on a fault, or if the tracking error is too large.
            fault = watch.look(tick.time)
            if fault:
                arm.stop()
                return "held", fault, time
            off = np.abs(watch.off(wanted))
            recorder.add(tick.time, wanted, wanted, watch.position)
            worst = int(np.argmax(off))
            where = f"{plan.position_names[worst]} is {off[worst]:.6g} from"
            if not off[worst] <= tracking_error:
                arm.stop()
                reason = f"{where} where it is meant to be; it may be {tracking_error:g} at most"
                return "held", reason + watch.requirements.hint("tracking_error"), time
            # End if stopped on request, at rest at the goal, or late at the goal.
            if watch.stop_reason and scaling == 0:
                arm.stop()
                return "stopped", watch.stop_reason, time
            if time >= plan.duration and off[worst] <= goal_tolerance and watch.speed <= AT_REST:
                arm.stop()
                return "finished", f"at rest within {goal_tolerance:g} of the goal", time
            if waited > goal_time:
                arm.stop()
                moving = f", moving at {watch.speed:.3g} per s" if watch.speed > AT_REST else ""
                reason = (
                    f"{where} the goal {goal_time:g} s after the plan's end{moving}; "
                    f"it may be {goal_tolerance:g} at most, at rest"
                    f"{watch.requirements.hint('goal_tolerance', 'goal_time')}"
                )
                return "aborted", reason, time
            # Ramp the scaling toward its allowed value, from zero after a long stall.
            allowed = 0.0 if watch.stop_reason else min(max(watch.status.speed_scaling, 0.0), 1.0)
            before = 0.0 if tick.missed >= restart else scaling
            down = loop.period / (ramp if watch.stop_reason else min(SLOW_DOWN, ramp))
            scaling = min(max(allowed, before - down), before + loop.period / ramp)
            # Advance the plan time by the mean scaling, and send the set point.
            step = loop.period * (before + scaling) / 2
            waited += step if time >= plan.duration else 0.0
            time = min(time + step, plan.duration)
            if time >= plan.duration and watch.stop_reason:
                scaling = 0.0
            wanted = plan.position(time)
            velocity = plan.velocity(time) * scaling
            arm.stream(Setpoint(wanted[order], velocity[order]))
            report(tick.time, time, scaling, float(off[worst]))
        except KeyboardInterrupt:
            interrupts += 1
            watch.request_stop("interrupted")
            if interrupts > 1:
                arm.stop()
                return "stopped", f"{watch.stop_reason}; held at once", time
