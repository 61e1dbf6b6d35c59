"""Oracles in plain NumPy for every type of shape: support function and membership."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from robosim.geometry import Shape, pose


class Row(NamedTuple):
    """Definition of a type of shape in NumPy; points and directions are in the shape's frame."""

    make: Callable[[np.random.Generator, float], Shape]
    """Random shape of about this size [m]."""
    support: Callable[[Shape, np.ndarray], np.ndarray]
    """h(d) = max of d.x over the shape, for directions (k, 3)."""
    outside: Callable[[Shape, np.ndarray], float]
    """Distance from the surface to first order: positive outside, zero on it, negative inside."""


def _rounding(rng: np.random.Generator, s: float) -> float:
    return s * rng.uniform(0.02, 0.2) if rng.integers(2) else 0.0


def _outside_box(s: Shape, p: np.ndarray) -> float:
    beyond = np.abs(p) - s.size / 2
    return float(np.linalg.norm(np.maximum(beyond, 0)) + min(beyond.max(), 0) - s.rounding)


def _outside_hull(s: Shape, p: np.ndarray) -> float:
    a, b, c = (s.vertices[s.faces[:, i]] for i in range(3))
    n = np.cross(b - a, c - a)
    most = (np.einsum("ij,ij->i", n, p - a) / np.linalg.norm(n, axis=1)).max()
    if most <= 0 or s.rounding == 0:
        return float(most - s.rounding)
    return _from_triangles(p, a, b, c) - s.rounding


def _from_triangles(p: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """Distance of a point from the nearest of triangles (n, 3)."""
    n = np.cross(b - a, c - a)
    over, distances = np.ones(len(a), bool), []
    for u, v in ((a, b), (b, c), (c, a)):
        e, d = v - u, p - u
        over &= np.einsum("ij,ij->i", np.cross(n, e), d) >= 0
        t = np.clip(np.einsum("ij,ij->i", d, e) / np.einsum("ij,ij->i", e, e), 0, 1)
        distances.append(np.linalg.norm(d - t[:, None] * e, axis=1))
    across = np.abs(np.einsum("ij,ij->i", n, p - a)) / np.linalg.norm(n, axis=1)
    return float(np.where(over, across, np.min(distances, axis=0)).min())


def _outside_ellipsoid(s: Shape, p: np.ndarray) -> float:
    u = p / s.radii
    return float(
        (np.linalg.norm(u) - 1) * np.linalg.norm(u) / max(np.linalg.norm(u / s.radii), 1e-300)
    )


def _outside_cone(s: Shape, p: np.ndarray) -> float:
    across, above = np.hypot(p[0], p[1]), p[2] - s.length / 2  # from the apex
    mantle = (across * s.length + above * s.radius) / np.hypot(s.length, s.radius)
    return max(mantle, -p[2] - s.length / 2)


# Each type of shape is one row.
SHAPES = {
    "sphere": Row(
        lambda rng, s: Shape.sphere(s * rng.uniform(0.1, 0.5)),
        lambda s, d: s.radius * np.linalg.norm(d, axis=1),
        lambda s, p: np.linalg.norm(p) - s.radius,
    ),
    "box": Row(
        lambda rng, s: Shape.box(s * rng.uniform(0.1, 1, 3), rounding=_rounding(rng, s)),
        lambda s, d: np.abs(d) @ s.size / 2 + s.rounding * np.linalg.norm(d, axis=1),
        _outside_box,
    ),
    "capsule": Row(
        lambda rng, s: Shape.capsule(s * rng.uniform(0.05, 0.3), s * rng.uniform(0.1, 1)),
        lambda s, d: s.length / 2 * np.abs(d[:, 2]) + s.radius * np.linalg.norm(d, axis=1),
        lambda s, p: (
            np.linalg.norm(p - (0, 0, np.clip(p[2], -s.length / 2, s.length / 2))) - s.radius
        ),
    ),
    "cylinder": Row(
        lambda rng, s: Shape.cylinder(s * rng.uniform(0.1, 0.5), s * rng.uniform(0.1, 1)),
        lambda s, d: s.length / 2 * np.abs(d[:, 2]) + s.radius * np.hypot(d[:, 0], d[:, 1]),
        lambda s, p: max(np.hypot(p[0], p[1]) - s.radius, abs(p[2]) - s.length / 2),
    ),
    "half_space": Row(
        lambda rng, s: Shape.half_space(),
        lambda s, d: np.where((np.hypot(d[:, 0], d[:, 1]) < 1e-12) & (d[:, 2] > 0), 0.0, np.inf),
        lambda s, p: p[2],
    ),
    "convex": Row(
        lambda rng, s: Shape.convex(
            s * 0.5 * unit(rng.normal(size=(rng.integers(5, 80), 3))) * (1, 0.7, 0.4),
            rounding=_rounding(rng, s),
        ),
        lambda s, d: (d @ s.vertices.T).max(axis=1) + s.rounding * np.linalg.norm(d, axis=1),
        _outside_hull,
    ),
    "ellipsoid": Row(
        lambda rng, s: Shape.ellipsoid(s * rng.uniform(0.05, 0.5, 3)),
        lambda s, d: np.linalg.norm(d * s.radii, axis=1),
        _outside_ellipsoid,
    ),
    "cone": Row(
        lambda rng, s: Shape.cone(s * rng.uniform(0.1, 0.5), s * rng.uniform(0.1, 1)),
        lambda s, d: np.maximum(
            s.length / 2 * d[:, 2], s.radius * np.hypot(d[:, 0], d[:, 1]) - s.length / 2 * d[:, 2]
        ),
        _outside_cone,
    ),
    "triangle": Row(  # without a rounding it has no interior
        lambda rng, s: Shape.triangle(
            s * rng.uniform(-0.5, 0.5, (3, 3)), rounding=_rounding(rng, s)
        ),
        lambda s, d: (d @ s.vertices.T).max(axis=1) + s.rounding * np.linalg.norm(d, axis=1),
        lambda s, p: _from_triangles(p, *s.vertices[:, None]) - s.rounding,
    ),
}


def unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def support(shape: Shape, X: np.ndarray, d: np.ndarray) -> np.ndarray:
    """h(d) in W of a shape at pose X, for directions d (k, 3)."""
    return SHAPES[shape.type].support(shape, d @ X[:3, :3]) + d @ X[:3, 3]


def outside(shape: Shape, X: np.ndarray, p: np.ndarray) -> float:
    return float(SHAPES[shape.type].outside(shape, X[:3, :3].T @ (p - X[:3, 3])))


def random_pose(rng: np.random.Generator, reach: float) -> np.ndarray:
    return pose(rng.uniform(-reach, reach, 3), quaternion=rng.normal(size=4))


@pytest.fixture(scope="session")
def oracle() -> SimpleNamespace:
    return SimpleNamespace(
        support=support,
        outside=outside,
        random_pose=random_pose,
        unit=unit,
        kinds=tuple(SHAPES),
        make=lambda kind, rng, s=1.0: SHAPES[kind].make(rng, s),
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize `kind`, `kind_A` and `kind_B` with all types of shapes."""
    for name in ("kind", "kind_A", "kind_B"):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, SHAPES)
