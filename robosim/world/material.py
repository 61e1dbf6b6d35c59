"""`Material`: friction, restitution and compliance of a surface."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from robosim.errors import SimulationError
from robosim.pickling import Value

__all__ = ["Material"]


@dataclass(frozen=True)
class Material(Value):
    """Contact properties of a surface.

    Two surfaces in contact have the geometric means of their values, so that two surfaces of one
    material have its values. Compliances add up, as for springs in series, and the relaxation time
    is the mean weighted by compliance.

    Attributes:
        friction: Coulomb's mu: largest force along each of two tangential axes, per normal force.
        restitution: fraction of the approach speed that is returned, 0 (none) to 1.
        torsional_friction: largest moment about the normal, per normal force [m].
        rolling_friction: largest moment about each tangential axis, per normal force [m].
        compliance: displacement of each contact point along the normal per force, the inverse of
            stiffness [m/N]. 0 is hard, to rounding.
        relaxation_time: damping over stiffness of a compliant contact [s].

    Raises:
        SimulationError: a number is negative or not finite, restitution is above 1, or restitution
            and compliance are both positive: compliant contacts rebound elastically.
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
        """Return all six numbers, in the order of the attributes."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def against(self, other: Material) -> Material:
        """Return the material of the contact of this surface with another."""
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
