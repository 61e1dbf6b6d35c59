"""Diagnostics of the node."""

from __future__ import annotations

import threading

from robosim.execution.simulated import SimulatedArm
from robosim.ros.diagnostics import Level, Report
from robosim.ros.sim_arm.control import ControlThread
from robosim.ros.sim_arm.trajectory_server import TrajectoryServer

__all__ = ["report_arm", "report_controller", "report_loop"]

_OVERRUN = 0.01  # fraction of missed deadlines that causes a warning


def report_loop(control: ControlThread) -> Report:
    """Report on the deadlines of the control loop."""
    statistics = control.statistics()
    if statistics is None or statistics.ticks == 0:
        return Report(Level.WARN, "waits for the clock")
    overruns = statistics.missed > _OVERRUN * (statistics.ticks + statistics.missed)
    return Report(
        Level.WARN if overruns else Level.OK,
        "overruns its deadlines" if overruns else "keeps its deadlines",
        {
            "rate [Hz]": statistics.rate,
            "periods": statistics.ticks,
            "deadlines missed": statistics.missed,
            "clock jumps": control.jumps,
            "lateness p99 [ms]": round(1e3 * statistics.lateness_p99, 3),
        },
    )


def report_controller(arm: SimulatedArm, lock: threading.Lock, server: TrajectoryServer) -> Report:
    """Report on the trajectory controller."""
    with lock:
        active, goal = bool(arm.status().controller_active), arm.executor.goal
    return Report(
        Level.OK if active else Level.WARN,
        "follows a goal" if goal is not None else "ready" if active else "inactive",
        {
            "goals accepted": server.accepted,
            "refused": server.rejected,
            "last refusal": server.last_rejection,
        },
    )


def report_arm(arm: SimulatedArm, lock: threading.Lock) -> Report:
    """Report on the robot's program and safety mode."""
    with lock:
        status = arm.status()
    runs = bool(status.program_running) and status.speed_scaling > 0
    mode = "unknown" if status.safety_mode is None else status.safety_mode.name
    return Report(
        Level.OK if runs else Level.WARN,
        "runs" if runs else "stands still",
        {
            "safety mode": mode,
            "program running": status.program_running,
            "speed scaling": status.speed_scaling,
        },
    )
