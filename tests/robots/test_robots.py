"""Tests for every folder of robots/: an additional robot is tested without changes here."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from robosim import load_robot
from robosim.scene import Scene

ROBOTS = Path(__file__).parents[2] / "robots"
NAMES = sorted(path.name for path in ROBOTS.iterdir() if (path / f"{path.name}.urdf").is_file())


def capsule(radius, length):
    """Volume of a capsule."""
    return np.pi * radius**2 * length + 4 / 3 * np.pi * radius**3


# Masses [kg] as published, or as designed for the gripper: of the moving links, and of the base
# where it is stated.
PUBLISHED_MASS = {
    "ur5": 4.0 + 3.7 + 8.393 + 2.33 + 1.219 + 1.219 + 0.1879,
    "ur5e": 4.0 + 3.761 + 8.058 + 2.846 + 1.37 + 1.3 + 0.365,
    "panda": 0.629769 + 4.970684 + 0.646926 + 3.228604 + 3.587895 + 1.225946 + 1.666555 + 0.735522,
    "gripper_2f": 0.8,
    "ur5_gripper": 4.0 + 3.7 + 8.393 + 2.33 + 1.219 + 1.219 + 0.1879 + 0.8,
    "quadruped": 6.0 + 4 * (0.595 + 0.888 + 0.151 + 0.06),
    "half_cheetah": 14.0,
    "cart_pole": 1.1,
    "double_cart_pole": 1000 * (capsule(0.1, 0.2) + 2 * capsule(0.045, 0.6)),
    "drone": 0.68 + 4 * 0.009,
    "humanoid": 73.0,
    "race_car": 3.74,
    "jump_worm": 4.0,
    "catapult": 4.0,
    "ant": 5
    * (
        4 / 3 * np.pi * 0.25**3
        + 8 * capsule(0.08, np.hypot(0.2, 0.2))
        + 4 * capsule(0.08, np.hypot(0.4, 0.4))
    ),
}


@pytest.fixture(scope="module", params=NAMES)
def robot(request):
    return load_robot(request.param)


def driven(robot):
    """(n_v,) true for coordinates with a motor, which are those of the groups.

    The other coordinates swing, roll or fly.
    """
    joints = {joint for group in robot.groups.values() for joint in group.joints}
    return np.array([name in joints for name in robot.velocity_names])


@pytest.mark.parametrize("name", PUBLISHED_MASS)
def test_the_shipped_robots_are_there_and_complete(name):
    assert name in NAMES
    robot = load_robot(name)
    assert robot.named_states
    assert {collider.link for collider in robot.colliders} <= {
        link for link, drawn in robot.visuals.items() if drawn
    }
    for file in (f"{name}.srdf", "joint_limits.yaml"):
        assert (ROBOTS / name / file).is_file()
    # A motor has limits; only continuous joints have no position limits.
    motors, limits = driven(robot), robot.limits
    assert motors.any()
    for values in (limits.velocity, limits.acceleration, limits.effort):
        assert np.isfinite(values[motors]).all()
    endless = {joint.name for joint in robot.joints if joint.kind in ("continuous", "planar")}
    for joint, kind, *ends in zip(
        robot.position_names, robot.position_kinds, limits.lower, limits.upper, strict=True
    ):
        assert np.isfinite(ends).all() or joint.split("/")[0] in endless, (joint, kind)


def test_what_has_no_motor_is_said_to_be_passive(robot):
    file = ROBOTS / robot.name / f"{robot.name}.srdf"
    named = re.findall(r'<passive_joint name="([^"]+)"', file.read_text()) if file.is_file() else []
    without = {
        n.split("/")[0]
        for n, motor in zip(robot.velocity_names, driven(robot), strict=True)
        if not motor
    }
    assert sorted(named) == sorted(without)


def test_folder_is_complete_and_self_contained(robot):
    folder = ROBOTS / robot.name
    for file in (f"{robot.name}.urdf", "README.md"):
        assert (folder / file).is_file(), file
    text = (folder / f"{robot.name}.urdf").read_text()
    assert "package://" not in text
    for mesh in re.findall(r'filename="([^"]+)"', text):
        assert (folder / mesh).is_file(), mesh
    assert sum(file.stat().st_size for file in folder.rglob("*")) < 500_000


def test_loads_without_a_warning(robot):
    assert robot.warnings == ()
    assert robot.colliders


def test_limits_are_in_order_and_their_source_is_known(robot):
    limits = robot.limits
    assert (limits.lower < limits.upper).all()
    assert min(limits.velocity.min(), limits.acceleration.min(), limits.effort.min()) > 0
    if (ROBOTS / robot.name / "joint_limits.yaml").is_file():
        # The file, and the joints that it covers if it does not cover all: then all joints with a
        # motor.
        source, _, joints = limits.acceleration_source.partition(" for ")
        assert source.endswith("joint_limits.yaml")
        motors = driven(robot)
        assert joints or motors.all()
        assert {
            n for n, motor in zip(robot.velocity_names, motors, strict=True) if motor and joints
        } <= set(joints.split(";")[0].split(", "))
    else:
        assert "default" in limits.acceleration_source


def test_named_states_are_whole_within_limits_and_free(robot):
    space = Scene().compile(robot)
    for state in robot.named_states:
        group = robot.groups[state.group]
        assert set(state.positions) == set(group.joints), state.name
        q = robot.neutral()
        for i, name in enumerate(robot.position_names):
            q[i] = state.positions.get(name, q[i])
        assert (robot.limits.lower <= q).all(), state.name
        assert (q <= robot.limits.upper).all(), state.name
        assert not space.collides(q), (state.name, space.collisions(q))


def test_masses_and_inertias(robot):
    total = sum(link.mass for link in robot.links)
    if robot.name in PUBLISHED_MASS:
        assert total == pytest.approx(PUBLISHED_MASS[robot.name], abs=1e-9)
    for link in robot.links:
        if link.mass > 0:
            a, b, c = np.linalg.eigvalsh(link.inertia)
            assert a > 0, link.name
            # Condition for the inertia of a rigid body; six printed digits may violate it by this
            # much.
            assert c <= (a + b) * (1 + 1e-5), link.name
            # Radii of gyration of a link of this size: a unit of grams or millimeters would be
            # noticed.
            assert 1e-3 < np.sqrt(a / link.mass) < 0.5, link.name


def test_gravity_can_be_held(robot):
    """At rest with a fixed base, no motor exceeds its torque limit in any configuration.

    A wrong unit would exceed it. Joints without a motor fall. Other tests let robots stand on their
    legs.
    """
    motors = driven(robot)
    rng = np.random.default_rng(0)
    for _ in range(200):
        q = rng.uniform(
            np.maximum(robot.limits.lower, -np.pi), np.minimum(robot.limits.upper, np.pi)
        )
        assert (np.abs(robot.gravity(q)) < robot.limits.effort)[motors].all()


def test_unchecked_pairs_are_next_to_each_other_or_never_meet(robot):
    """`Never` pairs of the SRDF are sampled; of `Adjacent` links one is above the other.

    It is the nearest link above that has a shape.
    """
    from robosim import _engine

    body = {frame.name: frame.body for frame in robot._engine.frames}
    shaped = {body[collider.link] for collider in robot.colliders}
    parents = {}
    for i, joint in enumerate(robot._engine.joints):  # parents come first
        parents[i] = (
            joint.parent if joint.parent in shaped else parents.get(joint.parent, joint.parent)
        )
    indices = {
        name: [i for i, c in enumerate(robot.colliders) if c.link == name]
        for name in robot.link_names
    }
    never = []
    for pair in robot.disabled_collisions:
        a, b = body[pair.link_a], body[pair.link_b]
        if pair.reason == "Adjacent":
            assert a == b or parents[a] == b or parents[b] == a, pair
        elif pair.reason == "Never":
            never += [(i, j) for i in indices[pair.link_a] for j in indices[pair.link_b]]
    if never:
        # A quarter turn more than the limits would not help: 4000 samples of at most three joints
        # between the links.
        never_pairs, counts = _engine.sample_self_collisions(robot._engine, 0, 4000, never)
        assert not counts.any(), never_pairs[counts > 0]


def test_groups_reach_their_tips(robot):
    for group in robot.groups.values():
        assert group.joints, group.name
        assert group.tip is None or group.tip in robot.link_names


@pytest.mark.parametrize("name", NAMES)
def test_base_is_described_as_the_documents_say(name):
    page = (ROBOTS.parent / "docs" / "robots.md").read_text(encoding="utf-8")
    rows = [
        line.split("|")
        for line in page.splitlines()
        if line.startswith("|") and f"`{name}`" in line
    ]
    (base,) = {row[3].strip() for row in rows}
    assert load_robot(name, base="described").floating_base == (base == "floating")
    readme = (ROBOTS / name / "README.md").read_text(encoding="utf-8")
    assert ("A floating base" in readme) == (base == "floating")
