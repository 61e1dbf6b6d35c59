"""Errors of distances at many configurations; also run as a script with ROBOSIM_ISA set."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from robosim import _engine
from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder

SIZE = 0.5  # approximate size of the shapes [m]


def shapes() -> list[Shape]:
    """All types of shapes.

    Hulls are also flat or needles, have repeated points, or faces of many vertices.
    """
    rng = np.random.default_rng(5)
    ball = rng.normal(size=(300, 3))
    ball *= 0.2 / np.linalg.norm(ball, axis=1)[:, None]
    angle = 2 * np.pi * np.arange(24) / 24
    ring = np.stack([0.1 * np.cos(angle), 0.1 * np.sin(angle)], axis=1)
    prism = [(x, y, z) for x, y in ring for z in (-0.2, 0.2)]
    return [
        Shape.sphere(0.15),
        Shape.box((0.3, 0.2, 0.1)),
        Shape.box((0.2, 0.2, 0.2), rounding=0.03),
        Shape.capsule(0.06, 0.3),
        Shape.cylinder(0.1, 0.2),
        Shape.cone(0.1, 0.2),
        Shape.ellipsoid((0.1, 0.15, 0.2)),
        Shape.convex(ball),
        Shape.convex(ball * (1, 0.5, 1e-3), rounding=0.01),
        Shape.convex(ball[:40] * (1, 1e-5, 1e-5)),
        Shape.convex([*ball[:6], *ball[:6]]),
        Shape.convex(prism),
        Shape.triangle([(0.2, 0, 0), (0, 0.2, 0), (0, 0, 0.2)]),
        Shape.half_space(),  # last, since nothing that moves is unbounded
    ]


def bodies() -> tuple[_engine.CollisionScene, Callable[[int], np.ndarray]]:
    """Every shape on a free-flying body against every shape, and seeded configurations.

    The configurations are those of the body.
    """
    builder = ModelBuilder("free")
    names = ("ground", "x", "y", "z", "roll", "pitch", "yaw")
    for name in names:
        builder.add_link(name)
    for k, (parent, child) in enumerate(pairwise(names)):
        kind = "prismatic" if k < 3 else "continuous"
        limits = {"lower": -9, "upper": 9} if k < 3 else {}
        builder.add_joint(
            child, kind, parent, child, axis=np.eye(3)[k % 3], velocity=1, effort=1, **limits
        )
    all_shapes = shapes()
    for shape in all_shapes[:-1]:
        builder.add_collider("yaw", shape)
    model = builder.build(allow_massless=True)
    n = len(all_shapes)
    pairs = [(i, n - 1 + j) for i in range(n - 1) for j in range(n)]
    extras = [f"extra {j}" for j in range(n)]
    # Every second one is aligned with the axes, so that faces and edges may be parallel.
    poses = [pose(rpy=(0.3 * j, 0.2 * j, 0.1 * j) if j % 2 else (0, 0, 0)) for j in range(n)]
    scene = _engine.CollisionScene(
        model._engine, extras, all_shapes, np.array(poses), [0] * n, pairs
    )

    def configurations(count: int) -> np.ndarray:
        """Random, on a grid with parallel axes, moving in small steps, and far away."""
        rng = np.random.default_rng(7)
        q = np.zeros((count, 6))
        q[:, :3] = rng.uniform(-SIZE, SIZE, (count, 3))
        q[:, 3:] = rng.uniform(-np.pi, np.pi, (count, 3))
        grid = np.arange(count) % 4 == 1
        q[grid, :3] = np.round(q[grid, :3] * 10) / 10
        q[grid, 3:] = np.round(q[grid, 3:] * 2 / np.pi) * np.pi / 2
        steps = np.arange(count) % 4 == 2
        q[steps] = np.linspace(q[0], q[-1], int(steps.sum()))
        q[np.arange(count) % 16 == 3, :3] *= 1e3
        return q

    return scene, configurations


def worst_error() -> float:
    """Largest error of all pairs at 160 configurations, relative to the tolerance.

    The tolerance is that of the code for single pairs: about 1e-12 of the size.
    """
    scene, configurations = bodies()
    q = configurations(160)
    one_at_a_time = np.array([scene.distances(row) for row in q])
    error = np.abs(scene.distances_many(q) - one_at_a_time)
    allowed = 1e-12 * (1 + np.linalg.norm(q[:, :3], axis=1))[:, None]
    assert (one_at_a_time < -1e-3).mean() > 0.1
    assert (one_at_a_time > 1e-3).mean() > 0.1
    return float((error / allowed).max())


if __name__ == "__main__":
    print(worst_error())
