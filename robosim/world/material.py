"""`Material`: how surfaces touch."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from robosim.errors import SimulationError
from robosim.pickling import Value

__all__ = ["Material"]


@dataclass(frozen=True)
class Material(Value):
    """How a surface touches others.

    Two surfaces have the geometric means of their values, so that two of one material have its own.
    What they give adds up, as of springs one behind the other, with the mean of their relaxation
    times by what each gives.

    Attributes:
        friction: Coulomb's mu: the greatest force along each of two axes across the normal, per
        normal force.
        restitution: share of the approaching speed that comes back, 0 (none) to 1.
        torsional_friction: greatest moment about the normal, per normal force [m].
        rolling_friction: greatest moment about each axis across the normal, per normal force [m].
        compliance: how far each point of a contact gives along the normal, per force: one over its
        stiffness [m/N]. 0
            is hard, to rounding.
        relaxation_time: of what gives: its damping over its stiffness [s].

    Raises:
        SimulationError: a number is negative or not finite, the restitution is above 1, or there is
        one beside a
            compliance: what gives comes back by itself.
    """

    friction: float = 1.0
    restitution: float = 0.0
    torsional_friction: float = 0.0
    rolling_friction: float = 0.0
    compliance: float = 0.0
    relaxation_time: float = 0.0

    def __post_init__(self) -> None:
        for field, value in zip(fields(self), self.numbers(), strict=True):
            if not (0 <= value < np.inf):
                raise SimulationError(
                    f"material: {field.name} is {value}; it must not be negative, and finite"
                )
        if self.restitution > 1:
            raise SimulationError(
                f"material: restitution is {self.restitution}; it must lie between 0 and 1"
            )
        if self.restitution > 0 and self.compliance > 0:
            raise SimulationError(
                f"material: restitution is {self.restitution} beside a compliance of"
                f" {self.compliance}; what gives comes back by that, so one of them is 0"
            )

    def numbers(self) -> tuple[float, ...]:
        """All six, in this order."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def against(self, other: Material) -> Material:
        """That of this surface against another."""
        friction, restitution, torsional_friction, rolling_friction = (
            float(np.sqrt(x * y))
            for x, y in zip(self.numbers()[:4], other.numbers()[:4], strict=True)
        )
        give = self.compliance + other.compliance
        share = self.compliance / give if give > 0 else 0.5
        return Material(
            friction,
            restitution,
            torsional_friction,
            rolling_friction,
            compliance=give,
            relaxation_time=share * self.relaxation_time + (1 - share) * other.relaxation_time,
        )
