"""Robots and scenes for the tests of the planning engine, all seeded."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from robosim import _engine
from robosim.geometry import Shape, pose
from robosim.model import Model, ModelBuilder

# Name, offset from the parent xyz and rpy, axis, collider length along z: a UR5-like arm of
# capsules and boxes.
UR5 = (
    ("pan", (0, 0, 0.089), (0, 0, 0), (0, 0, 1)),
    ("lift", (0, 0.136, 0), (0, np.pi / 2, 0), (0, 1, 0)),
    ("elbow", (0, -0.12, 0.425), (0, 0, 0), (0, 1, 0)),
    ("wrist1", (0, 0, 0.392), (0, np.pi / 2, 0), (0, 1, 0)),
    ("wrist2", (0, 0.093, 0), (0, 0, 0), (0, 0, 1)),
    ("wrist3", (0, 0, 0.095), (0, 0, 0), (0, 1, 0)),
)


TURN = {"lower": -np.pi, "upper": np.pi, "velocity": 3, "effort": 100}
SLIDE = {"lower": 0, "velocity": 1, "effort": 9}


def arm() -> Model:
    """Six revolute joints like a UR5's; capsules, cylinders, boxes and a convex hand."""
    rng = np.random.default_rng(1)
    builder = ModelBuilder("arm")
    builder.add_link("base")
    parent = "base"
    for name, xyz, rpy, axis in UR5:
        builder.add_link(name)
        builder.add_joint(
            f"{name}_joint",
            "revolute",
            parent,
            name,
            X_PJ=pose(xyz, rpy=rpy),
            axis=axis,
            lower=-np.pi,
            upper=np.pi,
            velocity=3,
            effort=100,
        )
        parent = name
    builder.add_collider("pan", Shape.cylinder(0.06, 0.12))
    builder.add_collider("lift", Shape.capsule(0.055, 0.40), X_LC=pose((0, 0, 0.21)))
    builder.add_collider("elbow", Shape.box((0.09, 0.09, 0.36)), X_LC=pose((0, 0, 0.2)))
    builder.add_collider("wrist1", Shape.cylinder(0.045, 0.1))
    builder.add_collider("wrist2", Shape.sphere(0.04))
    builder.add_collider(
        "wrist3",
        Shape.convex(rng.normal(size=(30, 3)) * (0.015, 0.02, 0.015)),
        X_LC=pose((0, 0.08, 0)),
    )
    return builder.build(allow_massless=True)


def mobile() -> Model:
    """Mobile robot with every type of bounded joint.

    A planar base, a lift, an arm of two joints of which one is a mimic joint, and a sliding tool.
    """
    builder = ModelBuilder("mobile")
    for name in ("world", "base", "lift", "upper", "lower", "tool"):
        builder.add_link(name)
    builder.add_joint("base", "planar", "world", "base")
    builder.add_joint(
        "lift",
        "prismatic",
        "base",
        "lift",
        X_PJ=pose((0, 0, 0.2)),
        axis=(0, 0, 1),
        lower=0,
        upper=0.5,
        velocity=1,
        effort=9,
    )
    builder.add_joint(
        "upper",
        "continuous",
        "lift",
        "upper",
        X_PJ=pose((0.1, 0, 0.1), rpy=(0.3, 0, 0)),
        axis=(0, 1, 0),
        velocity=1,
        effort=9,
    )
    builder.add_joint(
        "lower",
        "continuous",
        "upper",
        "lower",
        X_PJ=pose((0.4, 0, 0)),
        axis=(0, 0.6, 0.8),
        mimic=("upper", -0.7, 0.2),
    )
    builder.add_joint(
        "tool",
        "prismatic",
        "lower",
        "tool",
        X_PJ=pose((0.3, 0, 0)),
        axis=(1, 0, 0),
        lower=0,
        upper=0.3,
        velocity=1,
        effort=9,
    )
    builder.add_collider("base", Shape.box((0.4, 0.3, 0.2)))
    builder.add_collider(
        "upper", Shape.capsule(0.04, 0.35), X_LC=pose((0.2, 0, 0), rpy=(0, np.pi / 2, 0))
    )
    builder.add_collider(
        "lower", Shape.cylinder(0.04, 0.25), X_LC=pose((0.15, 0, 0), rpy=(0, np.pi / 2, 0))
    )
    builder.add_collider("tool", Shape.box((0.2, 0.05, 0.02)))
    return builder.build(allow_massless=True)


def planar_arm() -> Model:
    """Two links of 0.5 m that rotate about z."""
    builder = ModelBuilder("two")
    for name in ("base", "upper", "lower"):
        builder.add_link(name)
    for i, (parent, child) in enumerate((("base", "upper"), ("upper", "lower"))):
        builder.add_joint(
            f"j{i}",
            "revolute",
            parent,
            child,
            X_PJ=pose((0.5 * i, 0, 0)),
            axis=(0, 0, 1),
            lower=-3.0,
            upper=3.0,
            velocity=1,
            effort=1,
        )
    for name in ("upper", "lower"):
        builder.add_collider(name, Shape.box((0.48, 0.04, 0.04)), X_LC=pose((0.25, 0, 0)))
    return builder.build(allow_massless=True)


def pairs_of(model: Model, n_extras: int, bodies: list[int]) -> np.ndarray:
    """All pairs on different bodies that are not parent and child, extras included."""
    colliders, joints = model._engine.colliders, model._engine.joints
    n = len(colliders)
    body = [c.body for c in colliders] + bodies
    pairs = []
    for a, b in itertools.combinations(range(n + n_extras), 2):
        if body[a] == body[b]:
            continue
        low, high = sorted((body[a], body[b]))
        if low > 0 and joints[high].parent == low:
            continue
        pairs.append((a, b))
    return np.array(pairs, dtype=int).reshape(-1, 2)


def scene_of(
    model: Model, shapes: list[Shape], poses: list[np.ndarray], bodies: list[int] | None = None
) -> _engine.CollisionScene:
    """Scene of the model and extra objects, with all pairs checked."""
    bodies = [0] * len(shapes) if bodies is None else bodies
    names = [f"object{i}" for i in range(len(shapes))]
    X = np.array(poses).reshape(-1, 4, 4)
    return _engine.CollisionScene(
        model._engine, names, shapes, X, bodies, pairs_of(model, len(shapes), bodies)
    )


def random_pose(rng: np.random.Generator, size: float) -> np.ndarray:
    return pose(rng.uniform(-size, size, 3), rpy=rng.uniform(-np.pi, np.pi, 3))


def cluttered(
    model: Model, seed: int, n: int = 12, size: float = 0.9, attach: bool = False
) -> _engine.CollisionScene:
    """Random obstacles of every shape; optionally an object attached to the last body."""
    rng = np.random.default_rng(seed)
    make = (
        lambda: Shape.box(rng.uniform(0.03, 0.3, 3)),
        lambda: Shape.cylinder(rng.uniform(0.02, 0.1), rng.uniform(0.05, 0.4)),
        lambda: Shape.sphere(rng.uniform(0.02, 0.12)),
        lambda: Shape.capsule(rng.uniform(0.02, 0.08), rng.uniform(0.05, 0.3)),
        lambda: Shape.convex(rng.normal(size=(12, 3)) * 0.06),
    )
    shapes = [make[i % len(make)]() for i in range(n)]
    poses = [random_pose(rng, size) for _ in range(n)]
    bodies = [0] * n
    shapes.append(Shape.half_space())
    poses.append(pose((0, 0, -0.8)))
    bodies.append(0)
    if attach:
        shapes.append(Shape.box((0.05, 0.3, 0.05)))
        poses.append(pose((0.1, 0.2, 0)))
        bodies.append(model._engine.n_bodies - 1)
    return scene_of(model, shapes, poses, bodies)


def random_q(model: Model, rng: np.random.Generator) -> np.ndarray:
    lower, upper = np.clip(model.limits.lower, -2, 2), np.clip(model.limits.upper, -2, 2)
    return rng.uniform(lower, upper)


@pytest.fixture(scope="session")
def problems() -> SimpleNamespace:
    """The functions of this file."""
    return SimpleNamespace(
        models={"arm": arm, "mobile": mobile, "planar_arm": planar_arm},
        arm=arm,
        mobile=mobile,
        planar_arm=planar_arm,
        pairs_of=pairs_of,
        scene_of=scene_of,
        cluttered=cluttered,
        random_pose=random_pose,
        random_q=random_q,
    )
