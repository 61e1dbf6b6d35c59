"""Torques and link velocities along a trajectory: functions of its positions that a planner
attaches to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from robosim.trajectory.polynomial import Array, Index

# tau = f(q, v, a), each (n,): what Trajectory.torque evaluates. It may have two methods more, of
# rows (m, n) at once: many(q, v, a) are its own values, and frictionless(q, v, a) those without
# damping and dry friction; then limits have to hold with and without.
InverseDynamics = Callable[[Array, Array, Array], ArrayLike]
# The velocities (m, 3) [m/s] of the origin of a link in the world, by its name and rows (m, n) of q
# and v.
LinkVelocity = Callable[[str, Array, Array], ArrayLike]


@runtime_checkable
class KnowsFriction(Protocol):
    """Inverse dynamics that tells its torques without damping and dry friction, too."""

    def __call__(self, q: Array, v: Array, a: Array) -> ArrayLike:
        """Torques (n,) with them."""

    def frictionless(self, q: Array, v: Array, a: Array) -> Array:
        """Torques of rows (m, n) without them."""


def permuted(f: InverseDynamics, back: Index, torque_index: Index) -> InverseDynamics:
    """Inverse dynamics of reordered positions: `back` puts these in f's order, `torque_index`
    reorders its torques."""
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
    """Inverse dynamics of reordered positions: put the inputs back in order, call, reorder the
    torques."""

    def __init__(self, f: InverseDynamics, back: Index, torque_index: Index) -> None:
        self.f, self.back, self.torque_index = f, back, torque_index

    def __call__(self, q: Array, v: Array, a: Array) -> Array:
        tau: Array = np.asarray(self.f(q[self.back], v[self.back], a[self.back]), dtype=float)
        return tau[self.torque_index]

    def many(self, q: Array, v: Array, a: Array) -> Array:
        return torque_rows(self.f, *(x[:, self.back] for x in (q, v, a)))[:, self.torque_index]


class _PermutedFrictionless(_Permuted):
    """The same of one that knows its torques without friction."""

    f: KnowsFriction  # what `permuted` gives it

    def frictionless(self, q: Array, v: Array, a: Array) -> Array:
        return self.f.frictionless(*(x[:, self.back] for x in (q, v, a)))[:, self.torque_index]
