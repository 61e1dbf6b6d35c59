"""A motion that an arm is to make, in one form for all who check and follow it: plan or message."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robosim.execution import acceptance
from robosim.execution.acceptance import AcceptanceRules
from robosim.execution.goals import Rejection, RejectReason
from robosim.execution.joint_trajectory import from_trajectory, to_trajectory
from robosim.execution.messages import ArmState, JointTrajectory
from robosim.trajectory import Trajectory, TrajectoryLimits, Violation

__all__ = ["Motion", "motion_of"]

Array = NDArray[np.float64]
AT_REST = 1e-6  # [rad/s or m/s]


class Motion(ABC):
    """A motion of joints, as a plan or as a message tells it.

    Attributes:
        joint_names: (n) what moves.
        units: (n) of the positions; a message does not say, and is taken to be in radians.
        limits: its own, None where it has none.
        stamp: when to start, on the arm's clock [s]; 0: on arrival.
    """

    joint_names: tuple[str, ...]
    units: tuple[str, ...]
    limits: TrajectoryLimits | None = None
    stamp: float = 0.0

    @property
    @abstractmethod
    def position(self) -> Array:
        """(n,) at its first point."""

    @property
    @abstractmethod
    def velocity(self) -> Array:
        """(n,) at its first point."""

    @property
    def begins_there(self) -> bool:
        """True where it begins at its first point; else it leads there from where the arm is."""
        return True

    @property
    @abstractmethod
    def message(self) -> JointTrajectory:
        """The points that a controller interpolates."""

    @abstractmethod
    def followed(self, state: ArmState) -> Trajectory:
        """The trajectory of the arm as it is meant, from this state on."""

    @abstractmethod
    def flaw(self, now: float) -> Rejection | None:
        """A flaw for which no controller takes it at this time [s], whatever the arm and its
        limits."""

    @abstractmethod
    def violations(self, limits: TrajectoryLimits | None) -> list[Violation]:
        """Violations by the motion itself; how a controller interpolates its points is judged for
        all alike."""

    @abstractmethod
    def shifted(self, by: Array) -> Motion:
        """The same motion at other positions, (n,) away."""


def motion_of(trajectory: Trajectory | JointTrajectory) -> Motion:
    """The motion that this plan or message asks for."""
    return _Plan(trajectory) if isinstance(trajectory, Trajectory) else _Message(trajectory)


class _Plan(Motion):
    def __init__(self, plan: Trajectory) -> None:
        self._plan = plan
        self.joint_names, self.units, self.limits = plan.position_names, plan.units, plan.limits

    @property
    def position(self) -> Array:
        return self._plan.position(0.0)

    @property
    def velocity(self) -> Array:
        return self._plan.velocity(0.0)

    @cached_property
    def message(self) -> JointTrajectory:
        return from_trajectory(self._plan)

    def followed(self, state: ArmState) -> Trajectory:
        return self._plan

    def flaw(self, now: float) -> Rejection | None:
        velocity = self._plan.velocity(self._plan.duration)
        worst = int(np.abs(velocity).argmax())
        if abs(velocity[worst]) <= AT_REST:
            return None
        name = self.joint_names[worst]
        text = f"the plan ends with {name} at {velocity[worst]:.6g} per s; it has to end at rest"
        return Rejection(RejectReason.END_VELOCITY, text)

    def violations(self, limits: TrajectoryLimits | None) -> list[Violation]:
        return self._plan.validate(limits)

    def shifted(self, by: Array) -> Motion:
        coefficients = self._plan.coefficients.copy()
        coefficients[:, 0] += by
        return _Plan(self._plan.replace(coefficients=coefficients))


class _Message(Motion):
    def __init__(self, message: JointTrajectory) -> None:
        self._message = message
        self.joint_names, self.stamp = message.joint_names, message.stamp
        self.units = ("rad",) * len(message.joint_names)

    @property
    def begins_there(self) -> bool:
        return not self._message.points[0].time_from_start > 0

    @property
    def position(self) -> Array:
        return self._message.points[0].positions

    @property
    def velocity(self) -> Array:
        given = self._message.points[0].velocities
        return given if len(given) else np.zeros(len(self.joint_names))

    @property
    def message(self) -> JointTrajectory:
        return self._message

    def followed(self, state: ArmState) -> Trajectory:
        return to_trajectory(self._message, from_state=state)

    def flaw(self, now: float) -> Rejection | None:
        # Names in any order: they are those of the arm, as the caller has checked.
        wrong = acceptance.check(self._message, now, AcceptanceRules(self.joint_names))
        return wrong or self._not_finite()

    def _not_finite(self) -> Rejection | None:
        for i, point in enumerate(self._message.points):
            for quantity in ("positions", "velocities", "accelerations"):
                for name, value in zip(self.joint_names, getattr(point, quantity), strict=False):
                    if not math.isfinite(value):
                        text = (
                            f"{quantity} of {name} at point {i} are {value}; they have to be finite"
                        )
                        return Rejection(RejectReason.NOT_FINITE, text)
        return None

    def violations(self, limits: TrajectoryLimits | None) -> list[Violation]:
        return []

    def shifted(self, by: Array) -> Motion:
        points = tuple(
            replace(point, positions=point.positions + by) for point in self._message.points
        )
        return _Message(JointTrajectory(self.joint_names, points, self.stamp))
