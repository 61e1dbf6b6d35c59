"""Mechanisms for tests, made in code."""

import numpy as np

from robosim.geometry import pose
from robosim.model import Model, ModelBuilder


def random_inertia(rng: np.random.Generator) -> np.ndarray:
    """Inertia of a random box with random axes."""
    a, b, c = rng.uniform(0.1, 0.5, 3)
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    inertia = Q @ np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) @ Q.T / 12
    return (inertia + inertia.T) / 2


def branched_robot(*, floating: bool = True, mimic: bool = True) -> Model:
    """Robot with all kinds of joints and a branch; floating and mimic joint are optional."""
    rng = np.random.default_rng(5)
    builder = ModelBuilder("robot", floating_base=floating)
    builder.add_link("l0", mass=2, com=rng.normal(size=3) / 5, inertia=random_inertia(rng))
    kinds = ("revolute", "planar", "prismatic", "continuous", "revolute")
    for i, (kind, parent) in enumerate(zip(kinds, (0, 1, 2, 1, 4), strict=True), start=1):
        builder.add_link(f"l{i}", mass=i, com=rng.normal(size=3) / 5, inertia=random_inertia(rng))
        builder.add_joint(
            f"j{i}",
            kind,
            f"l{parent}",
            f"l{i}",
            X_PJ=pose(rng.normal(size=3) / 3, rpy=rng.normal(size=3)),
            axis=rng.normal(size=3),
            damping=0.3,
            friction=0.2,
            stiffness=0.0 if kind == "planar" else 1.5,
            spring_reference=0.0 if kind == "planar" else 0.1,
            mimic=("j1", -0.7, 0.3) if mimic and i == 5 else None,
        )
    return builder.build()
