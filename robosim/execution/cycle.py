"""What a control cycle of an executor yields: a command, feedback, and events for the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.execution.interpolation import PointState

__all__ = ["Command", "Event", "Feedback"]

Array = NDArray[np.float64]


class Command(NamedTuple):
    """What the joints shall do, in the executor's joint order: position, velocity, acceleration,
    (n,) each."""

    position: Array
    velocity: Array
    acceleration: Array


class Event(NamedTuple):
    """Something for the log: when [s] on the executor's clock, "info", "warning" or "error", and
    the text."""

    time: float
    level: str
    text: str


@dataclass(frozen=True, eq=False)
class Feedback:
    """How a trajectory is followed, as in control_msgs/FollowJointTrajectory.

    Attributes:
        stamp: of the cycle, on the executor's clock [s].
        time: on the trajectory's time, which speed scaling slows down [s].
        joint_names: (n).
        desired, actual, error: desired minus actual; the arm's acceleration is not measured: zero
        in actual and error.
    """

    stamp: float
    time: float
    joint_names: tuple[str, ...]
    desired: PointState
    actual: PointState
    error: PointState
