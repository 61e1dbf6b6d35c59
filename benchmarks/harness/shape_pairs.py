"""Seeded pairs of shapes and poses, separated, touching and overlapping.

Poses are independent, or lie along smooth motions.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from robosim.geometry import Shape, signed_distance

PAIRS_OF_SHAPES = 12
POSES = 24  # poses of each pair
TYPES = (
    "sphere",
    "box",
    "capsule",
    "cylinder",
    "cone",
    "ellipsoid",
    "convex",
    "triangle",
    "half_space",
)


def _hull(rng: np.random.Generator) -> Shape:
    """Return the hull of 8 to 120 points inside an ellipsoid, with 8 to about 40 vertices."""
    points = rng.normal(size=(int(rng.integers(8, 120)), 3))
    points *= (0.5 + 0.5 * rng.random((len(points), 1))) / np.linalg.norm(
        points, axis=1, keepdims=True
    )
    return Shape.convex(points * rng.uniform(0.1, 0.5, 3))


_MAKE: Mapping[str, Callable[[np.random.Generator], Shape]] = {
    "sphere": lambda rng: Shape.sphere(rng.uniform(0.05, 0.5)),
    "box": lambda rng: Shape.box(rng.uniform(0.1, 1.0, 3)),
    "capsule": lambda rng: Shape.capsule(rng.uniform(0.05, 0.3), rng.uniform(0.1, 1.0)),
    "cylinder": lambda rng: Shape.cylinder(rng.uniform(0.05, 0.4), rng.uniform(0.1, 1.0)),
    "cone": lambda rng: Shape.cone(rng.uniform(0.1, 0.5), rng.uniform(0.1, 1.0)),
    "ellipsoid": lambda rng: Shape.ellipsoid(rng.uniform(0.05, 0.5, 3)),
    "convex": _hull,
    "triangle": lambda rng: Shape.triangle(rng.uniform(-0.5, 0.5, (3, 3))),
    "half_space": lambda rng: Shape.half_space(),
}


@dataclass(frozen=True)
class Poses:
    """Pairs of shapes with poses, the same number for each pair.

    Attributes:
        pairs: (A, B) of each.
        X_WA: (n, 4, 4) poses of A, those of the first pair first.
        X_WB: (n, 4, 4) poses of B.
    """

    pairs: list[tuple[Shape, Shape]]
    X_WA: np.ndarray
    X_WB: np.ndarray


def _pose(rng: np.random.Generator) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    X[:3, :3] *= np.sign(np.linalg.det(X[:3, :3]))
    X[:3, 3] = rng.uniform(-1, 1, 3)
    return X


def _turn(angle: np.ndarray) -> np.ndarray:
    """Rotation by a rotation vector (3,)."""
    size = float(np.linalg.norm(angle))
    x, y, z = angle / size
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(size) * K + (1 - np.cos(size)) * K @ K


def _at_gap(A: Shape, X_WA: np.ndarray, B: Shape, X_WB: np.ndarray, gap: float) -> np.ndarray:
    """Translate B along normals to about this gap; an overlap is at most as deep."""
    X = X_WB.copy()
    for _ in range(4):
        witness = signed_distance(A, X_WA, B, X)
        X[:3, 3] += (max(gap, 0.0) - witness.distance) * witness.normal
    X[:3, 3] += min(gap, 0.0) * signed_distance(A, X_WA, B, X).normal
    return X


def _generator(*words: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(" ".join(words).encode()))


def independent(type_A: str, type_B: str) -> Poses:
    """Return independent poses of each pair of shapes.

    A third is separated (1 mm to 1 m), a third touching (to 0.1 mm), and a third overlapping (1 mm
    to 5 cm).
    """
    rng = _generator("independent", type_A, type_B)
    pairs, placed_A, placed_B = [], [], []
    for _ in range(PAIRS_OF_SHAPES):
        A, B = _MAKE[type_A](rng), _MAKE[type_B](rng)
        pairs.append((A, B))
        for k in range(POSES):
            X_WA, X_WB = _pose(rng), _pose(rng)
            if type_A == "half_space":  # well above the plane
                X_WB[:3, 3] = X_WA[:3, 3] + 2 * X_WA[:3, 2]
            gap = (
                10 ** rng.uniform(-3, 0),
                rng.uniform(-1e-4, 1e-4),
                -(10 ** rng.uniform(-3, np.log10(0.05))),
            )[k % 3]
            placed_A.append(X_WA)
            placed_B.append(_at_gap(A, X_WA, B, X_WB, gap))
    return Poses(pairs, np.array(placed_A), np.array(placed_B))


def sequences(type_A: str, type_B: str) -> Poses:
    """Return poses along a motion of each pair of shapes.

    B moves from a gap of 0.1 m to a depth of 2 cm, by 5 mm and one degree per step.
    """
    rng = _generator("sequences", type_A, type_B)
    pairs, placed_A, placed_B = [], [], []
    for _ in range(PAIRS_OF_SHAPES):
        A, B = _MAKE[type_A](rng), _MAKE[type_B](rng)
        pairs.append((A, B))
        X_WA, X_WB = _pose(rng), _pose(rng)
        if type_A == "half_space":
            X_WB[:3, 3] = X_WA[:3, 3] + 2 * X_WA[:3, 2]
        X_WB = _at_gap(A, X_WA, B, X_WB, 0.1)
        step = -0.005 * signed_distance(A, X_WA, B, X_WB).normal
        axis = rng.normal(size=3)
        turn = _turn(np.deg2rad(1.0) * axis / np.linalg.norm(axis))
        for _ in range(POSES):
            placed_A.append(X_WA)
            placed_B.append(X_WB.copy())
            X_WB[:3, 3] += step
            X_WB[:3, :3] = turn @ X_WB[:3, :3]
    return Poses(pairs, np.array(placed_A), np.array(placed_B))


def type_pairs() -> list[tuple[str, str]]:
    """Return every pair of types once.

    The half-space comes first and is not paired with itself, for which coal has another convention.
    """
    found = [(a, b) for i, a in enumerate(TYPES) for b in TYPES[i:] if b != "half_space"]
    return found + [("half_space", b) for b in TYPES if b != "half_space"]
