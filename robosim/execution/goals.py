"""What becomes of a goal: accepted or rejected at once, then a status and a result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Protocol

__all__ = ["ErrorCode", "GoalHandle", "GoalResult", "GoalStatus", "RejectReason", "Rejection"]


class GoalStatus(IntEnum):
    """Status of an action goal, numbered as in action_msgs/GoalStatus."""

    ACCEPTED = 1
    EXECUTING = 2
    CANCELING = 3
    SUCCEEDED = 4
    CANCELED = 5
    ABORTED = 6

    @property
    def done(self) -> bool:
        """Whether it will not change any more."""
        return self >= GoalStatus.SUCCEEDED


class ErrorCode(IntEnum):
    """Error code of a result, numbered as in control_msgs/FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class RejectReason(Enum):
    """Why a goal is refused before it starts. An action server gives no code for it: only its log
    says."""

    INACTIVE = "controller not active"
    JOINT_COUNT = "wrong number of joints"
    UNKNOWN_JOINT = "unknown joint"
    REPEATED_JOINT = "joint named twice"
    NO_JOINTS = "no joints"
    NO_POINTS = "no points"
    END_VELOCITY = "does not end at rest"
    ENDS_IN_PAST = "ends in the past"
    TIMES = "times not strictly increasing"
    SIZE = "fields of the wrong size"
    EFFORT = "efforts not accepted"
    NOT_FINITE = "not finite"
    OUT_OF_LIMITS = "out of limits"
    TOLERANCE = "invalid tolerance"
    CHECK = "a check before the motion failed"


@dataclass(frozen=True)
class Rejection:
    """A refused goal: `text` names the thing, its value, and what would be valid."""

    reason: RejectReason
    text: str


@dataclass(frozen=True)
class GoalResult:
    """How a goal ended. `rejected`: it was refused after all, by a transport that answers late; it
    never began."""

    status: GoalStatus
    error_code: ErrorCode = ErrorCode.SUCCESSFUL
    error_string: str = ""
    rejected: bool = False

    @property
    def ok(self) -> bool:
        """Whether the arm is where it was sent."""
        return self.status is GoalStatus.SUCCEEDED


class GoalHandle(Protocol):
    """An accepted goal, as its sender sees it."""

    @property
    def status(self) -> GoalStatus:
        """Where it stands."""

    @property
    def result(self) -> GoalResult | None:
        """How it ended, or None while it goes on."""

    def cancel(self) -> None:
        """Ask for it to be given up; the arm holds."""
