"""Results of an executor's control cycle: a command, feedback, and events for the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.execution.interpolation import PointState

__all__ = ["Command", "Event", "Feedback"]

Array = NDArray[np.float64]


class Command(NamedTuple):
    """Command in the executor's joint order: position, velocity, acceleration, (n,) each."""

    position: Array
    velocity: Array
    acceleration: Array


class Event(NamedTuple):
    """Log entry: time [s] on the executor's clock, level "info", "warning" or "error", and text."""

    time: float
    level: str
    text: str


@dataclass(frozen=True, eq=False)
class Feedback:
    """Feedback on following a trajectory, as in control_msgs/FollowJointTrajectory.

    Attributes:
        stamp: time of the cycle, on the executor's clock [s].
        time: time on the trajectory, which speed scaling slows down [s].
        joint_names: (n) names of the joints.
        desired, actual, error: states; error is desired minus actual. The arm's acceleration is not
        measured: zero in actual and error.
    """

    stamp: float
    time: float
    joint_names: tuple[str, ...]
    desired: PointState
    actual: PointState
    error: PointState
