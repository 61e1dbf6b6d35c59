"""A small arm with strong colors, and a motion of it."""

import numpy as np
import pytest

from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder, Visual
from robosim.trajectory import Trajectory

RED, GREEN, BLUE = (0.9, 0.1, 0.1, 1.0), (0.1, 0.7, 0.1, 1.0), (0.1, 0.2, 0.9, 1.0)


@pytest.fixture(scope="session")
def arm():
    """Two links of 0.5 m in the xz plane on a green base; the last link has a red ball."""
    builder = ModelBuilder("arm")
    builder.add_link("base")
    builder.add_visual(
        "base", Visual(shape=Shape.box((0.3, 0.3, 0.1)), X_LV=pose((0, 0, 0.05)), rgba=GREEN)
    )
    X_PJ = pose((0, 0, 0.1))
    for k, parent in enumerate(("base", "link0")):
        name = f"link{k}"
        builder.add_link(name, mass=1.0, com=(0, 0, 0.25), inertia=0.02 * np.eye(3))
        builder.add_joint(
            f"joint{k}",
            "revolute",
            parent,
            name,
            X_PJ=X_PJ,
            axis=(0, 1, 0),
            lower=-2.5,
            upper=2.5,
            velocity=2.0,
        )
        builder.add_visual(
            name, Visual(shape=Shape.capsule(0.04, 0.5), X_LV=pose((0, 0, 0.25)), rgba=BLUE)
        )
        builder.add_collider(name, Shape.box((0.1, 0.1, 0.5)), X_LC=pose((0, 0, 0.25)))
        X_PJ = pose((0, 0, 0.5))
    builder.add_link("tip", mass=0.1, inertia=0.001 * np.eye(3))
    builder.add_joint("weld", "fixed", "link1", "tip", X_PJ=pose((0, 0, 0.5)))
    builder.add_visual("tip", Visual(shape=Shape.sphere(0.09), rgba=RED))
    builder.add_group("arm", ["joint0", "joint1"], tip="tip")
    return builder.build()


@pytest.fixture(scope="session")
def swing():
    """Motion from the left to the right, stretched out at the end."""
    return Trajectory.from_waypoints(
        [0, 1, 2],
        [[-1.2, 0.4], [0.0, 1.0], [1.0, 0.0]],
        position_names=["joint0", "joint1"],
        robot="arm",
    )
