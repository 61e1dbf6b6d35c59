"""Goals of an arm: accepted or rejected at once, then a status and a result."""

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
        """True if the status is final."""
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
    """Reasons to refuse a goal before it starts.

    An action server returns no code for them, and only logs them.
    """

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
    """A refused goal: `text` names the object, its value, and valid values."""

    reason: RejectReason
    text: str


@dataclass(frozen=True)
class GoalResult:
    """Result of a goal.

    `rejected`: it was refused by a transport that answers late, and never started.
    """

    status: GoalStatus
    error_code: ErrorCode = ErrorCode.SUCCESSFUL
    error_string: str = ""
    rejected: bool = False

    @property
    def ok(self) -> bool:
        """True if the arm has reached its goal."""
        return self.status is GoalStatus.SUCCEEDED


class GoalHandle(Protocol):
    """An accepted goal, as seen by its sender."""

    @property
    def status(self) -> GoalStatus:
        """Current status of the goal."""

    @property
    def result(self) -> GoalResult | None:
        """Result of the goal, or None while it is executing."""

    def cancel(self) -> None:
        """Request to cancel the goal; the arm holds."""
