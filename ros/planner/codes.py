"""Error codes of responses to motion requests: MoveIt's codes, and their planning statuses.

| planning status | code |
|---|---|
| solved, cut short | SUCCESS |
| start out of limits, start velocity impossible | START_STATE_INVALID |
| start in collision | START_STATE_IN_COLLISION |
| goal out of limits | GOAL_STATE_INVALID |
| goal in collision | GOAL_IN_COLLISION |
| goal unreachable | NO_IK_SOLUTION |
| no path found, no timing | PLANNING_FAILED |
| budget exhausted | TIMED_OUT |
| cancelled | PREEMPTED |

A request that cannot be planned at all is a `Refusal`, which has its code.
robosim_msgs/MotionPlanResponse documents each code.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

from robosim.errors import RobosimError
from robosim.planners import Status

__all__ = ["STATUS_CODES", "ErrorCode", "Refusal"]


class ErrorCode(IntEnum):
    """Error codes, named and numbered as in moveit_msgs/MoveItErrorCodes."""

    SUCCESS = 1
    UNDEFINED = 0
    FAILURE = 99999
    PLANNING_FAILED = -1
    INVALID_MOTION_PLAN = -2
    MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE = -3
    CONTROL_FAILED = -4
    UNABLE_TO_AQUIRE_SENSOR_DATA = -5
    TIMED_OUT = -6
    PREEMPTED = -7
    START_STATE_IN_COLLISION = -10
    START_STATE_VIOLATES_PATH_CONSTRAINTS = -11
    GOAL_IN_COLLISION = -12
    GOAL_VIOLATES_PATH_CONSTRAINTS = -13
    GOAL_CONSTRAINTS_VIOLATED = -14
    INVALID_GROUP_NAME = -15
    INVALID_GOAL_CONSTRAINTS = -16
    INVALID_ROBOT_STATE = -17
    INVALID_LINK_NAME = -18
    INVALID_OBJECT_NAME = -19
    FRAME_TRANSFORM_FAILURE = -21
    COLLISION_CHECKING_UNAVAILABLE = -22
    ROBOT_STATE_STALE = -23
    SENSOR_INFO_STALE = -24
    COMMUNICATION_FAILURE = -25
    START_STATE_INVALID = -26
    GOAL_STATE_INVALID = -27
    UNRECOGNIZED_GOAL_TYPE = -28
    CRASH = -29
    ABORT = -30
    NO_IK_SOLUTION = -31


STATUS_CODES: Mapping[Status, ErrorCode] = MappingProxyType(
    {
        Status.SOLVED: ErrorCode.SUCCESS,
        Status.CUT_SHORT: ErrorCode.SUCCESS,
        Status.START_OUT_OF_LIMITS: ErrorCode.START_STATE_INVALID,
        Status.START_VELOCITY: ErrorCode.START_STATE_INVALID,
        Status.START_IN_COLLISION: ErrorCode.START_STATE_IN_COLLISION,
        Status.GOAL_OUT_OF_LIMITS: ErrorCode.GOAL_STATE_INVALID,
        Status.GOAL_IN_COLLISION: ErrorCode.GOAL_IN_COLLISION,
        Status.GOAL_UNREACHABLE: ErrorCode.NO_IK_SOLUTION,
        Status.NO_PATH: ErrorCode.PLANNING_FAILED,
        Status.NO_TIMING: ErrorCode.PLANNING_FAILED,
        Status.BUDGET: ErrorCode.TIMED_OUT,
        Status.CANCELLED: ErrorCode.PREEMPTED,
    }
)


class Refusal(RobosimError, ValueError):
    """A request that is not planned. `code` and the message state the reason."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type[Refusal], tuple[ErrorCode, str]]:
        return Refusal, (self.code, str(self))
