"""Random trees with joints of every kind, built by robosim."""

from __future__ import annotations

import numpy as np

from robosim.geometry import pose
from robosim.model import Model, ModelBuilder

KINDS = ("revolute", "prismatic", "continuous", "helical", "planar", "floating")


def random_tree(seed: int, n: int, *, floating: bool, mimic: bool) -> Model:
    """Tree of n moving joints, each on one of the last bodies: chains with branches.

    Some joints mimic others.
    """
    rng = np.random.default_rng(seed)
    builder = ModelBuilder(f"tree {seed}", floating_base=floating)
    builder.add_link(
        "link 0", mass=2, com=rng.uniform(-0.2, 0.2, 3), inertia=np.diag([0.2, 0.3, 0.25])
    )
    simple: list[str] = []
    for i in range(1, n + 1):
        kind = KINDS[i % len(KINDS)] if i % 4 == 0 else "revolute"
        follows = bool(mimic and simple and kind == "revolute" and rng.random() < 0.3)
        size = rng.uniform(0.05, 0.3, 3)
        inertia = np.diag(size @ size - size**2)
        builder.add_link(
            f"link {i}", mass=rng.uniform(0.5, 3), com=rng.uniform(-0.2, 0.2, 3), inertia=inertia
        )
        builder.add_joint(
            f"joint {i}",
            kind,
            f"link {max(0, i - 1 - int(rng.integers(0, 3)))}",
            f"link {i}",
            X_PJ=pose(rng.uniform(-0.4, 0.4, 3), rpy=rng.uniform(-3, 3, 3)),
            axis=rng.normal(size=3),
            pitch=rng.uniform(-0.3, 0.3) if kind == "helical" else None,
            armature=rng.uniform(0, 0.2) if kind != "floating" else 0,
            damping=rng.uniform(0, 1) if kind not in ("planar", "floating") else 0,
            friction=rng.uniform(0, 1) if kind not in ("planar", "floating") else 0,
            mimic=(simple[int(rng.integers(len(simple)))], rng.uniform(-2, 2), rng.uniform(-1, 1))
            if follows
            else None,
        )
        if kind == "revolute" and not follows:
            simple.append(f"joint {i}")
    return builder.build()


def battery() -> list[Model]:
    """Fixed and free-flying trees, with and without mimic joints, from small to large."""
    return [
        random_tree(1, 1, floating=False, mimic=False),
        random_tree(2, 7, floating=False, mimic=False),
        random_tree(3, 24, floating=True, mimic=False),
        random_tree(4, 40, floating=False, mimic=True),
        random_tree(5, 12, floating=True, mimic=True),
    ]
