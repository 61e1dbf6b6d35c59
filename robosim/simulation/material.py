"""What surfaces are made of, and what drives joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robosim import _engine
from robosim.errors import SimulationError, suggestion
from robosim.pickling import Value

if TYPE_CHECKING:
    from robosim.model import Model

__all__ = ["Material", "Motor", "motor_rows", "pair_materials"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Material(Value):
    """How a surface touches others.

    Two surfaces have the geometric means of their values, so that two of one material have its own. What they give adds
    up, as of springs one behind the other, with the mean of their relaxation times by what each gives.

    Attributes:
        friction: Coulomb's mu: the greatest force along each of two axes across the normal, per normal force.
        restitution: share of the approaching speed that comes back, 0 (none) to 1.
        torsional_friction: greatest moment about the normal, per normal force [m].
        rolling_friction: greatest moment about each axis across the normal, per normal force [m].
        compliance: how far each point of a contact gives along the normal, per force: one over its stiffness [m/N]. 0
            is hard, to rounding.
        relaxation_time: of what gives: its damping over its stiffness [s].

    Raises:
        SimulationError: a number is negative or not finite, the restitution is above 1, or there is one beside a
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
            raise SimulationError(f"material: restitution is {self.restitution}; it must lie between 0 and 1")
        if self.restitution > 0 and self.compliance > 0:
            raise SimulationError(
                f"material: restitution is {self.restitution} beside a compliance of {self.compliance}; "
                "what gives comes back by that, so one of them is 0"
            )

    def numbers(self) -> tuple[float, ...]:
        """All six, in this order."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def against(self, other: Material) -> Material:
        """That of this surface against another."""
        friction, restitution, torsional_friction, rolling_friction = (
            float(np.sqrt(x * y)) for x, y in zip(self.numbers()[:4], other.numbers()[:4], strict=True)
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


@dataclass(frozen=True)
class Motor:
    """What pulls a joint to a position and a velocity, within a limit.

    tau = position_gain (q_target - q) + velocity_gain (v_target - v), of q and v at the end of each step: it is as
    steady with stiff gains as with weak ones.

    Attributes:
        position_gain: [N m/rad or N/m]; of joints with one position.
        velocity_gain: [N m s/rad or N s/m].
        limit: of |tau| [N m or N]; None: the joint's effort limit.
    """

    position_gain: float = 0.0
    velocity_gain: float = 0.0
    limit: float | None = None


def pair_materials(
    model: Model, scene: _engine.CollisionScene, materials: Mapping[str | tuple[str, str], Material]
) -> Array:
    """(m, 6): of each pair of the scene."""
    frames = model._engine.frames
    owners = [frames[c.frame].name for c in model._engine.colliders] + list(scene.names[scene.n_colliders :])
    known = dict.fromkeys([*(frame.name for frame in frames), *owners])
    single: dict[str, Material] = {}
    paired: dict[frozenset[str], Material] = {}
    for names, material in materials.items():
        for name in (names,) if isinstance(names, str) else names:
            if name not in known:
                raise SimulationError(
                    f"materials name {name!r}, which is no link and no object{suggestion(name, known)}"
                )
        if isinstance(names, str):
            single[names] = material
        else:
            paired[frozenset(names)] = material
    plain = Material()
    rows = [
        (
            paired.get(frozenset((owners[a], owners[b])))
            or single.get(owners[a], plain).against(single.get(owners[b], plain))
        ).numbers()
        for a, b in scene.pairs
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, len(fields(Material)))


def motor_rows(model: Model, motors: Mapping[str, Motor]) -> Array:
    """(n_v, 3): gains and limit of each coordinate."""
    rows = np.zeros((model.n_v, 3))
    rows[:, 2] = np.inf
    names = list(model.velocity_names)
    for name, motor in motors.items():
        if name not in names:
            raise SimulationError(f"motors name {name!r}, which is no coordinate{suggestion(name, names)}")
        i = names.index(name)
        limit = model.limits.effort[i] if motor.limit is None else motor.limit
        rows[i] = motor.position_gain, motor.velocity_gain, limit
    return rows
