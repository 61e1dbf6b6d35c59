"""A world for steps, and worlds with changed parameters, to check gradients by parameters.

The simulation lists its parameters (`Simulation.parameters.kinds`): each kind is a group, compared
along one direction. By default the change of a kind follows from the range of its values. `_UNITS`
and `_STEPS` have the kinds for which better values are known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import robosim
from robosim.model import Model
from robosim.scene import Scene
from robosim.simulation import Jacobians, Simulation, StepGradient
from robosim.world import Material, Motor

Array = NDArray[np.float64]
# Lengths of differences, as fractions of a unit, that are tried in turn.
COARSER = (1e-1, 1e-2, 1e-3, 1e-4)
FINER = (1e-2, 1e-3, 1e-4, 1e-5)
FINEST = (1e-3, 1e-4, 1e-5, 1e-6)


@dataclass(frozen=True)
class World:
    """Arguments of a simulation.

    Attributes:
        model: robots and free objects.
        scene: obstacles of one shape each.
        material: of all pairs.
        motors: by coordinate.
        options: other arguments of `Simulation`.
    """

    model: Model
    scene: Scene
    material: Material
    motors: Mapping[str, Motor] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def simulation(self) -> Simulation:
        """Return a simulation of the world."""
        names = [*self.model.link_names, *(thing.name for thing in self.scene)]
        materials = dict.fromkeys(combinations(names, 2), self.material)
        return Simulation(
            robosim.World(self.model, self.scene, motors=self.motors, materials=materials),
            **self.options,
        )


class Group(NamedTuple):
    """Parameters of one kind.

    Attributes:
        name: of the kind.
        simulation: simulation with these parameters.
        units: change of each parameter for a direction of 1; zero if it cannot change, or lies at
            the end of its range.
        steps: of differences along a direction of such units, tried in turn.
    """

    name: str
    simulation: Simulation
    units: Array
    steps: tuple[float, ...]

    def direction(self, rng: np.random.Generator) -> Array:
        """Return a random direction, of at most one unit in each parameter."""
        return self.units * rng.uniform(-1, 1, self.units.shape)

    def along(self, gradient: StepGradient, direction: Array) -> float:
        """Return the directional derivative from a gradient."""
        return float(
            np.sum(np.where(self.units == 0, 0.0, gradient.parameters[self.name]) * direction)
        )

    def columns_along(self, jacobians: Jacobians, direction: Array) -> tuple[Array, Array]:
        """Return the derivative (2, n_v) along a direction from Jacobians.

        Also returns their largest entries (2,), per unit.
        """
        columns = np.where(self.units == 0, 0.0, jacobians.parameters[self.name])
        columns = columns.reshape(*columns.shape[:2], -1)
        largest = np.abs(columns * self.units.reshape(-1)).max(axis=(1, 2), initial=0.0)
        return columns @ direction.reshape(-1), largest

    def changed(self, d: Array) -> Simulation:
        """Return the simulation with `d` added to the parameters."""
        parameters = self.simulation.parameters
        new = parameters[self.name] + d
        if parameters.kinds[self.name].owner != "object":
            return self.simulation.with_parameters({self.name: new})
        # Bodies made of pieces have no sizes, so sizes are passed shape by shape.
        moved = d.reshape(len(d), -1).any(axis=1)
        owners = parameters.owners(self.name)
        return self.simulation.with_parameters(
            {(self.name, owners[i]): new[i] for i in np.flatnonzero(moved)}
        )


def groups(simulation: Simulation) -> list[Group]:
    """Return all kinds of parameters of which a simulation has any."""
    found = []
    for name, kind in simulation.parameters.kinds.items():
        # Non-negative numbers change by a fraction of themselves, poses by a fraction of a unit.
        size = (
            np.abs(simulation.parameters[name])
            if kind.least == 0
            else np.ones_like(simulation.parameters[name])
        )
        units = _UNITS.get(name, lambda simulation, x: x)(simulation, size)
        steps = _STEPS.get(name, COARSER if kind.least == 0 else FINEST)
        found.append(
            Group(
                name,
                simulation,
                np.where(np.isfinite(simulation.parameters[name]), units, 0.0),
                steps,
            )
        )
    return [group for group in found if group.units.any()]


def _gyration(simulation: Simulation, _: Array) -> Array:
    """Radius of gyration of each link, (links, 3); zero for massless links."""
    mass, greatest = simulation.parameters["mass"], _moments(simulation)[:, 2]
    radius = np.sqrt(np.divide(greatest, mass, out=np.zeros_like(mass), where=mass > 0))
    return np.outer(radius, np.ones(3))


def _part_of_least_moment(simulation: Simulation, _: Array) -> Array:
    """A tenth of each link's least moment, (links, 6).

    Zero for a link whose inertia is at the border of the physically possible.
    """
    moments = _moments(simulation)
    return np.outer(moments[:, 0] * (moments[:, 0] > 1e-6 * moments[:, 2]), np.full(6, 0.1))


def _moments(simulation: Simulation) -> Array:
    """Principal moments, (links, 3), the least first."""
    xx, xy, yy, xz, yz, zz = simulation.parameters["inertia"].T
    return np.linalg.eigvalsh(
        np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=1).reshape(-1, 3, 3)
    )


# Units of some kinds, from the usual size of a change.
_UNITS: Mapping[str, Callable[[Simulation, Array], Array]] = {
    "restitution": lambda _, size: np.where(size == 1, 0.0, size),  # the end of its range
    "com": _gyration,  # a meter is far too large for a finger, for example
    # Small enough that inertias remain physical, also for entries off the diagonal.
    "inertia": _part_of_least_moment,
}
_STEPS: Mapping[str, tuple[float, ...]] = {
    # Geometry changes the active features.
    "sizes": FINEST,
    "scale": FINEST,
    # Measured: lengths that balance truncation and rounding.
    "com": FINER,
    "inertia": FINER[1:],
    "spring_reference": FINER,
    "gravity": (1e-1, 1e-3),
    "dt": FINER,
}
