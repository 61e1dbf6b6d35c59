"""Messages between the two processes of this transport: JSON texts.

- To the process at the controller: {"goal": ...}, {"cancel": id}, {"setpoint": [...]}, {"stop":
  true}, {"close": true}.
- From it: {"ready": ...} or {"error": text} once; {"answer": ...} and {"result": ...} about goals;
  {"note": text}; and a state per control cycle.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np

from robosim.execution.executor import Feedback
from robosim.execution.goals import ErrorCode, GoalResult, GoalStatus, Rejection, RejectReason
from robosim.execution.interpolation import PointState
from robosim.execution.messages import (
    ArmState,
    ArmStatus,
    Goal,
    JointTolerance,
    JointTrajectory,
    JointTrajectoryPoint,
    SafetyMode,
)

__all__ = [
    "decode", "encode", "feedback", "feedback_fields", "goal", "goal_fields", "outcome",
    "outcome_fields",
    "state_fields", "status",
]  # fmt: skip

_FIELDS = ("positions", "velocities", "accelerations", "effort")
_POINTS = ("desired", "actual", "error")


def encode(message: dict[str, Any]) -> bytes:
    """Encode a message. Numbers are preserved to the last bit, including NaN."""
    return json.dumps(message).encode()


def decode(data: bytes) -> dict[str, Any]:
    """Decode a message."""
    message: dict[str, Any] = json.loads(data)
    return message


def goal_fields(goal: Goal) -> dict[str, Any]:
    """Convert a goal to a message."""
    points = [
        {"time": point.time_from_start, **{name: getattr(point, name).tolist() for name in _FIELDS}}
        for point in goal.trajectory.points
    ]
    return {
        "joint_names": goal.trajectory.joint_names,
        "stamp": goal.trajectory.stamp,
        "points": points,
        "path_tolerance": [asdict(tolerance) for tolerance in goal.path_tolerance],
        "goal_tolerance": [asdict(tolerance) for tolerance in goal.goal_tolerance],
        "goal_time_tolerance": goal.goal_time_tolerance,
    }


def goal(fields: dict[str, Any]) -> Goal:
    """Convert a message to a goal."""
    points = tuple(
        JointTrajectoryPoint(point["time"], *(np.array(point[name]) for name in _FIELDS))
        for point in fields["points"]
    )
    return Goal(
        JointTrajectory(tuple(fields["joint_names"]), points, fields["stamp"]),
        tuple(JointTolerance(**tolerance) for tolerance in fields["path_tolerance"]),
        tuple(JointTolerance(**tolerance) for tolerance in fields["goal_tolerance"]),
        fields["goal_time_tolerance"],
    )


def outcome_fields(outcome: GoalResult | Rejection) -> dict[str, Any]:
    """Convert the result of a goal, or its refusal, to a message."""
    if isinstance(outcome, Rejection):
        return {"reason": outcome.reason.value, "text": outcome.text}
    return {"status": outcome.status, "code": outcome.error_code, "text": outcome.error_string}


def outcome(fields: dict[str, Any]) -> GoalResult | Rejection:
    """Convert a message to the result of a goal, or its refusal."""
    if "reason" in fields:
        return Rejection(RejectReason(fields["reason"]), fields["text"])
    return GoalResult(GoalStatus(fields["status"]), ErrorCode(fields["code"]), fields["text"])


def state_fields(state: ArmState, status: ArmStatus) -> dict[str, Any]:
    """Convert state and status to a message."""
    return {
        "q": state.position.tolist(),
        "v": state.velocity.tolist(),
        "stamp": state.stamp,
        "active": status.controller_active,
        "running": status.program_running,
        "safety": None if status.safety_mode is None else int(status.safety_mode),
        "scaling": status.speed_scaling,
    }


def feedback_fields(feedback: Feedback) -> dict[str, Any]:
    """Convert feedback on a goal to a message."""
    points = {name: [values.tolist() for values in getattr(feedback, name)] for name in _POINTS}
    return {"stamp": feedback.stamp, "time": feedback.time, **points}


def feedback(fields: dict[str, Any], joint_names: tuple[str, ...]) -> Feedback:
    """Convert a message to feedback on a goal."""
    points = (PointState(*map(np.array, fields[name])) for name in _POINTS)
    return Feedback(fields["stamp"], fields["time"], joint_names, *points)


def status(fields: dict[str, Any]) -> ArmStatus:
    """Convert a message to a status."""
    safety = fields["safety"]
    return ArmStatus(
        controller_active=fields["active"],
        program_running=fields["running"],
        safety_mode=None if safety is None else SafetyMode(safety),
        speed_scaling=fields["scaling"],
    )
