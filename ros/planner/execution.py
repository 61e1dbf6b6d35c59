"""Execution of a plan by an arm, which stops if the plan becomes invalid."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from robosim.errors import RobosimError
from robosim.execution.messages import JointTolerance, SafetyMode
from robosim.execution.streaming import Outcome, Progress, StreamReport, stream_trajectory
from robosim.ros.drivers import find_driver
from robosim.ros.planner.codes import ErrorCode
from robosim.ros.planner.planning import Answer, obstructions
from robosim.ros.transports.ros2 import requirements_of

if TYPE_CHECKING:
    from robosim.execution.arm import Arm
    from robosim.model import Model
    from robosim.scene import Scene

__all__ = ["execute", "stream_options"]


def stream_options(values: Any, joint_names: Sequence[str]) -> dict[str, Any]:
    """Keyword arguments of `stream_trajectory`, from the node's parameters `execution.*`.

    Raises:
        ExecutionError: a requirement is unknown.
    """
    modes = {SafetyMode.NORMAL} | (
        {SafetyMode.REDUCED} if values.execution_allow_reduced_mode else set()
    )
    path = values.execution_path_tolerance
    return {
        "mode": "setpoints" if values.execution_interface == "forward_position" else "trajectory",
        "rate": values.execution_rate or None,
        "requirements": requirements_of(
            values.execution_require or find_driver(values.execution_profile).require,
            "parameter 'execution.require'",
            safety_modes=frozenset(modes),
            state_age=values.execution_watchdog,
        ),
        "start_tolerance": values.execution_start_tolerance,
        "tracking_error": values.execution_tracking_error or math.inf,
        "goal_tolerance": values.execution_goal_tolerance,
        "goal_time": values.execution_goal_time,
        "path_tolerance": tuple(JointTolerance(name, path) for name in joint_names) if path else (),
        "scaling_ramp": values.execution_scaling_ramp or None,
    }


class _Stop:
    """Stop request: the caller has canceled, or `reason` is set."""

    def __init__(self, cancelled: Callable[[], bool]) -> None:
        self._cancelled = cancelled
        self.reason = ""

    def is_set(self) -> bool:
        return bool(self.reason) or self._cancelled()


def execute(
    arm: Arm,
    answer: Answer,
    model: Model,
    scene_now: Callable[[], Scene | None],
    options: Mapping[str, Any],
    *,
    cancelled: Callable[[], bool],
    feedback: Callable[[str, float], None],
) -> Answer:
    """Execute the plan to its end.

    The scene is checked about ten times a second. If it has changed and the rest of the motion
    collides in it, the arm is stopped.

    Args:
        arm: arm to move.
        answer: answer with a plan.
        model: the robot.
        scene_now: as in `plan_motion`.
        options: keyword arguments of `stream_trajectory`.
        cancelled: returns True if the arm must stop.
        feedback: called with "execution" and the completed fraction of the motion.

    Returns:
        The answer: SUCCESS if the arm has arrived, otherwise a code and a message with the reason.
    """
    result = answer.result
    assert result is not None
    assert result.trajectory is not None
    stop = _Stop(cancelled)
    seen = answer.scene

    def look(progress: Progress) -> None:
        nonlocal seen
        feedback("execution", min(progress.plan_time / progress.duration, 1.0))
        try:
            latest = scene_now()
            if latest is not seen and not stop.reason:
                seen = latest
                stop.reason = "; ".join(
                    obstructions(model, result, latest, since=progress.plan_time)
                )
        except RobosimError as error:
            stop.reason = str(error)

    report = stream_trajectory(arm, result.trajectory, on_progress=look, stop_event=stop, **options)
    code, message = _judged(report, stop.reason, result.trajectory.duration)
    return dataclasses.replace(answer, code=code, message=message or answer.message)


def _judged(report: StreamReport, blocked: str, duration: float) -> tuple[ErrorCode, str]:
    if report.ok:
        return ErrorCode.SUCCESS, ""
    where = f"{report.plan_time:.2f} s of {duration:.2f} s"
    if report.outcome is not Outcome.STOPPED:
        return ErrorCode.CONTROL_FAILED, f"{report.outcome.value} at {where}: {report.reason}"
    if blocked:
        code = ErrorCode.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE
        return code, f"stopped at {where}: the scene has changed: {blocked}"
    return ErrorCode.PREEMPTED, f"stopped at {where}"
