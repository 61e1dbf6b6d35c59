"""Small robots made in code, and conditions on every plan."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import robosim
from robosim.geometry import Shape, pose
from robosim.model import Model, ModelBuilder
from robosim.planners import PlanResult, prepare
from robosim.scene import Scene

INERTIA = np.diag([0.01, 0.01, 0.01])


def planar_arm(
    n: int = 3, *, continuous: bool = False, floating: bool = False, limit: float = np.pi
) -> Model:
    """Planar arm of n links of 0.4 m that rotate about z, at a height of 0.5 m."""
    builder = ModelBuilder(f"arm{n}", floating_base=floating)
    builder.add_link("base", mass=1.0, inertia=INERTIA)
    builder.add_collider("base", Shape.cylinder(0.05, 0.4), X_LC=pose((0, 0, 0.2)))
    parent, X = "base", pose((0, 0, 0.5))
    for i in range(1, n + 1):
        link = f"link{i}"
        builder.add_link(link, mass=1.0, com=(0.2, 0, 0), inertia=INERTIA)
        builder.add_collider(
            link, Shape.capsule(0.03, 0.3), X_LC=pose((0.2, 0, 0), rpy=(0, np.pi / 2, 0))
        )
        bounds = {} if continuous else {"lower": -limit, "upper": limit}
        kind = "continuous" if continuous else "revolute"
        builder.add_joint(
            f"joint{i}",
            kind,
            parent,
            link,
            X_PJ=X,
            velocity=2.0,
            effort=50.0,
            acceleration=4.0,
            **bounds,
        )
        parent, X = link, pose((0.4, 0, 0))
    builder.add_link("tip")
    builder.add_joint("tip_fixed", "fixed", parent, "tip", X_PJ=X)
    joints = [f"joint{i}" for i in range(1, n + 1)]
    builder.add_group("arm", joints, tip="tip")
    builder.add_named_state("arm", "left", dict.fromkeys(joints, 0.3))
    return builder.build(allow_massless=True)


def gantry() -> Model:
    """Two sliding axes, a rotating wrist, and a gripper whose second finger mimics the first."""
    builder = ModelBuilder("gantry")
    builder.add_link("rail")
    for name in ("slide_x", "slide_y", "wrist", "finger_left", "finger_right"):
        builder.add_link(name, mass=0.5, inertia=INERTIA)
        builder.add_collider(name, Shape.box((0.06, 0.03, 0.06)))
    numbers = {"velocity": 1.0, "effort": 100.0, "acceleration": 3.0}
    builder.add_joint(
        "x", "prismatic", "rail", "slide_x", axis=(1, 0, 0), lower=0, upper=2, **numbers
    )
    builder.add_joint(
        "y", "prismatic", "slide_x", "slide_y", axis=(0, 1, 0), lower=0, upper=2, **numbers
    )
    builder.add_joint(
        "turn",
        "revolute",
        "slide_y",
        "wrist",
        X_PJ=pose((0, 0, -0.2)),
        lower=-2,
        upper=2,
        **numbers,
    )
    for side, sign, mimic in (("left", 1, None), ("right", -1, ("finger_left_joint", 1.0, 0.0))):
        builder.add_joint(
            f"finger_{side}_joint",
            "prismatic",
            "wrist",
            f"finger_{side}",
            X_PJ=pose((0, sign * 0.04, -0.1)),
            axis=(0, sign, 0),
            lower=0,
            upper=0.05,
            mimic=mimic,
            **numbers,
        )
    builder.add_group("carriage", ["x", "y", "turn"], tip="wrist")
    builder.add_group("gripper", ["finger_left_joint"])
    return builder.build(allow_massless=True)


def rover() -> Model:
    """A box on a planar joint, with a mast that rotates."""
    builder = ModelBuilder("rover")
    builder.add_link("ground")
    builder.add_link("hull", mass=5.0, inertia=INERTIA)
    builder.add_link("mast", mass=1.0, inertia=INERTIA)
    builder.add_collider("hull", Shape.box((0.4, 0.2, 0.1)))
    builder.add_collider("mast", Shape.box((0.3, 0.04, 0.04)), X_LC=pose((0.15, 0, 0)))
    bounds = {
        "lower": (-3, -3, -10),
        "upper": (3, 3, 10),
        "velocity": (1, 1, 2),
        "acceleration": (2, 2, 4),
    }
    builder.add_joint(
        "drive", "planar", "ground", "hull", X_PJ=pose((0, 0, 0.1)), effort=(60, 60, 60), **bounds
    )
    builder.add_joint(
        "pan",
        "continuous",
        "hull",
        "mast",
        X_PJ=pose((0, 0, 0.15)),
        velocity=2,
        acceleration=4,
        effort=10,
    )
    return builder.build(allow_massless=True)


@pytest.fixture(scope="session")
def ur5() -> Model:
    return robosim.load_robot("ur5")


@pytest.fixture(scope="session")
def arm() -> Model:
    return planar_arm()


@pytest.fixture(scope="session")
def robots() -> SimpleNamespace:
    """Functions of this module that make robots and scenes."""
    return SimpleNamespace(
        planar_arm=planar_arm, gantry=gantry, rover=rover, pillar_scene=pillar_scene
    )


@pytest.fixture(scope="session")
def check_plan():
    """Fixture for `assert_plan`."""
    return assert_plan


def pillar_scene() -> Scene:
    """Scene with a pillar in the way of the planar arm."""
    scene = Scene("pillar")
    scene.add_cylinder("pillar", 0.08, 1.0, pose((0.8, 0.0, 0.5)))
    return scene


def assert_plan(problem, result: PlanResult, *, samples: int = 400) -> None:
    """Assert that a plan is at rest at both ends, free of collision, and within all limits.

    Limits include torques.
    """
    assert result.ok, f"{result.status.value}: {result.reason}"
    trajectory = result.trajectory
    assert trajectory is not None
    prepared = prepare(problem)
    columns = list(prepared.columns.q)
    assert trajectory.position_names == prepared.columns.names == result.position_names
    # The start and its velocity are reached to rounding. The end is at rest.
    np.testing.assert_allclose(trajectory.position(0.0), prepared.start[columns], atol=1e-12)
    np.testing.assert_allclose(trajectory.velocity(0.0), prepared.start_velocity, atol=1e-9)
    np.testing.assert_allclose(trajectory.velocity(trajectory.duration), 0.0, atol=1e-9)
    np.testing.assert_allclose(result.path[0], prepared.start[columns], atol=1e-12)
    np.testing.assert_allclose(trajectory.position(trajectory.duration), result.path[-1], atol=1e-9)
    # Dense samples are checked by plain collision queries, not by the edge check of the planner.
    times = np.linspace(0.0, trajectory.duration, samples)
    for q in result.configuration(times):
        assert not prepared.scene.collides(q), prepared.scene.collisions(q)
    # Exact extrema of position, velocity, acceleration and jerk. Torques at 1 kHz.
    assert trajectory.validate() == []
