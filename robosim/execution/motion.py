"""`Motion`: a plan or a message in one form, for all code that checks and follows it."""

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
    """A motion of joints, given as a plan or as a message.

    Attributes:
        joint_names: (n) joints that move.
        units: (n) units of the positions; a message has none and is taken to be in radians.
        limits: limits of the motion, or None.
        stamp: start time on the arm's clock [s]; 0 for on arrival.
    """

    joint_names: tuple[str, ...]
    units: tuple[str, ...]
    limits: TrajectoryLimits | None = None
    stamp: float = 0.0

    @property
    @abstractmethod
    def position(self) -> Array:
        """(n,) position at the first point."""

    @property
    @abstractmethod
    def velocity(self) -> Array:
        """(n,) velocity at the first point."""

    @property
    def begins_there(self) -> bool:
        """True if the motion begins at its first point.

        Otherwise it leads there from the arm's position.
        """
        return True

    @property
    @abstractmethod
    def message(self) -> JointTrajectory:
        """Points that a controller interpolates."""

    @abstractmethod
    def followed(self, state: ArmState) -> Trajectory:
        """Return the desired trajectory of the arm, from this state on."""

    @abstractmethod
    def flaw(self, now: float) -> Rejection | None:
        """Return a flaw for which every controller refuses the motion at this time [s], or None."""

    @abstractmethod
    def violations(self, limits: TrajectoryLimits | None) -> list[Violation]:
        """Return violations of limits by the motion itself.

        Interpolation by a controller is checked elsewhere.
        """

    @abstractmethod
    def shifted(self, by: Array) -> Motion:
        """Return the motion shifted by positions (n,)."""


def motion_of(trajectory: Trajectory | JointTrajectory) -> Motion:
    """Return the motion of a plan or a message."""
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
        # Names in any order: the caller has checked that they are those of the arm.
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
