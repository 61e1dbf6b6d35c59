"""Torques and link velocities along a trajectory, as functions that a planner attaches to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from robosim.trajectory.polynomial import Array, Index

# tau = f(q, v, a), each (n,), as Trajectory.torque evaluates it. It may have two more methods, for
# rows (m, n) at once: many(q, v, a) returns its own values, and frictionless(q, v, a) the values
# without damping and dry friction. Limits must then hold with and without friction.
InverseDynamics = Callable[[Array, Array, Array], ArrayLike]
# Velocities (m, 3) [m/s] of the origin of a link in the world, from its name and rows (m, n) of q
# and v.
LinkVelocity = Callable[[str, Array, Array], ArrayLike]


@runtime_checkable
class KnowsFriction(Protocol):
    """Inverse dynamics that can also compute torques without damping and dry friction."""

    def __call__(self, q: Array, v: Array, a: Array) -> ArrayLike:
        """Torques (n,) with friction."""

    def frictionless(self, q: Array, v: Array, a: Array) -> Array:
        """Torques of rows (m, n) without friction."""


def permuted(f: InverseDynamics, back: Index, torque_index: Index) -> InverseDynamics:
    """Return inverse dynamics of reordered positions.

    `back` puts the positions in f's order, `torque_index` reorders f's torques.
    """
    if isinstance(f, KnowsFriction):
        return _PermutedFrictionless(f, back, torque_index)
    return _Permuted(f, back, torque_index)


def torque_rows(f: InverseDynamics, q: Array, v: Array, a: Array) -> Array:
    """Torques of rows of q, v and a."""
    many = getattr(f, "many", None)
    return np.asarray(
        many(q, v, a) if many else [f(*state) for state in zip(q, v, a, strict=True)], dtype=float
    )


class PermutedVelocity:
    """Link velocities of reordered positions."""

    def __init__(self, f: LinkVelocity, back: Index) -> None:
        self.f, self.back = f, back

    def __call__(self, link: str, q: Array, v: Array) -> ArrayLike:
        """Velocities (m, 3) of rows (m, n) of the reordered positions."""
        return self.f(link, q[:, self.back], v[:, self.back])


class _Permuted:
    """Inverse dynamics of reordered positions: restores the order of inputs, calls f, reorders
    torques."""

    def __init__(self, f: InverseDynamics, back: Index, torque_index: Index) -> None:
        self.f, self.back, self.torque_index = f, back, torque_index

    def __call__(self, q: Array, v: Array, a: Array) -> Array:
        tau: Array = np.asarray(self.f(q[self.back], v[self.back], a[self.back]), dtype=float)
        return tau[self.torque_index]

    def many(self, q: Array, v: Array, a: Array) -> Array:
        return torque_rows(self.f, *(x[:, self.back] for x in (q, v, a)))[:, self.torque_index]


class _PermutedFrictionless(_Permuted):
    """Inverse dynamics of reordered positions that can also compute torques without friction."""

    f: KnowsFriction  # from `permuted`

    def frictionless(self, q: Array, v: Array, a: Array) -> Array:
        return self.f.frictionless(*(x[:, self.back] for x in (q, v, a)))[:, self.torque_index]
