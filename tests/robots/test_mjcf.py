"""The benchmarks' MJCF writer: MuJoCo computes robosim's dynamics from its files."""

from __future__ import annotations

import copy
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from robosim import load_robot
from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder
from robosim.scene import Scene
from robosim.simulation import Simulation
from robosim.world import World

FILE = Path(__file__).parents[2] / "benchmarks" / "harness" / "mjcf.py"
ROUNDING = (
    # Relative error of inertias of trees of about ten bodies, which MuJoCo stores in principal
    # axes.
    1e-11
)


@pytest.fixture(scope="module")
def mujoco():
    return pytest.importorskip(
        "mujoco", reason="the peer that our MJCF is compared with, extra `bench`"
    )


@pytest.fixture(scope="module")
def harness():
    spec = importlib.util.spec_from_file_location("mjcf", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["mjcf"] = module  # dataclasses look up their module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["mjcf"]


def mixed():
    """Every joint that both libraries have, with inertias in any axes.

    The model also has welded links, springs, damping and rotors.
    """
    builder = ModelBuilder("mixed")
    builder.add_link("ground")
    inertia = np.array([[0.03, 0.004, -0.002], [0.004, 0.05, 0.003], [-0.002, 0.003, 0.04]])
    for i, name in enumerate(("slider", "arm", "weld", "tool", "tray", "ball")):
        builder.add_link(name, mass=1.0 + i, com=(0.1, -0.2, 0.05 * i), inertia=(1 + i) * inertia)
    tilt = pose((0.1, 0.2, 0.3), rpy=(0.4, -0.3, 0.8))
    builder.add_joint(
        "slide",
        "prismatic",
        "ground",
        "slider",
        X_PJ=tilt,
        axis=(0, 1, 0),
        stiffness=30.0,
        spring_reference=0.2,
    )
    builder.add_joint(
        "hinge",
        "continuous",
        "slider",
        "arm",
        X_PJ=tilt,
        axis=(0.6, 0, 0.8),
        damping=0.7,
        armature=0.02,
    )
    builder.add_joint("welded", "fixed", "arm", "weld", X_PJ=tilt)
    builder.add_joint(
        "wrist", "revolute", "weld", "tool", X_PJ=tilt, axis=(1, 0, 0), lower=-1, upper=1,
        rotor_inertia=1e-4, gear_ratio=50.0,
    )  # fmt: skip
    builder.add_joint("plane", "planar", "ground", "tray", X_PJ=tilt, axis=(0, -0.6, 0.8))
    builder.add_joint("free", "floating", "ground", "ball")
    for name in ("slider", "tool", "tray"):
        builder.add_collider(name, Shape.box((0.1, 0.2, 0.3)))
    return builder.build()


MODELS = {
    "half_cheetah": lambda: load_robot("half_cheetah"),
    "jump_worm": lambda: load_robot("jump_worm"),
    "catapult": lambda: load_robot("catapult"),
    "quadruped": lambda: load_robot("quadruped", base="floating"),
    "panda": lambda: load_robot("panda"),
    "mixed": mixed,
}


@pytest.fixture(scope="module", params=MODELS)
def matched(request, harness, mujoco):
    model = MODELS[request.param]()
    scene = Scene("floor")
    scene.add_half_space("floor")
    text = harness.mjcf(model, Simulation(World(model, scene)).pairs, dt=1e-3, friction=0.8)
    return harness.Matched(model, mujoco.MjModel.from_xml_string(text))


def states(model, count=5):
    rng = np.random.default_rng(3)
    for _ in range(count):
        yield (
            model.random_configuration(rng),
            rng.normal(size=model.n_v),
            rng.normal(size=model.n_v),
        )


def test_mass_matrix_and_nonlinear_effects_are_the_same(matched):
    assert max(matched.disagreement(q, v) for q, v, _ in states(matched.model)) < ROUNDING


def test_forces_of_joints_accelerate_both_alike(matched, mujoco):
    """Damping, springs and armature are included.

    They are part of neither the mass matrix nor the nonlinear effects.
    """
    model, peer = matched.model, copy.copy(matched.peer)
    assert not model.friction.any()  # a smooth law in robosim, a constraint in MuJoCo
    flags = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    peer.opt.disableflags |= int(flags)
    data = mujoco.MjData(peer)
    for q, v, tau in states(model):
        matched.put(data, q, v, tau)
        mujoco.mj_forward(peer, data)
        a = model.forward_dynamics(q, v, tau, joint_forces=True)
        expected = matched.velocity_map(q) @ a + matched.turning(q, v)
        np.testing.assert_allclose(
            data.qacc, expected, rtol=0, atol=1e-9 * max(1, np.abs(expected).max())
        )


def test_velocities_move_both_alike(matched, mujoco):
    """Motions agree to second order in time, as one moves along a curve and one straight."""
    dt = 1e-5
    for q, v, _ in states(matched.model):
        moved = matched.position(q)
        mujoco.mj_integratePos(matched.peer, moved, matched.velocity_map(q) @ v, dt)
        expected = matched.position(matched.model.integrate(q, dt * v))
        assert np.abs(moved - expected).max() < 100 * dt**2


def test_limits_are_the_same(matched):
    model, peer = matched.model, matched.peer
    limits = dict(
        zip(
            model.position_names,
            zip(model.limits.lower, model.limits.upper, strict=True),
            strict=True,
        )
    )
    for name in model.joint_names:
        if name not in limits:
            continue
        joint = peer.joint(name)
        assert bool(joint.limited[0]) == bool(np.isfinite(limits[name]).all())
        if joint.limited[0]:
            np.testing.assert_allclose(joint.range, limits[name], rtol=1e-15)


def test_the_same_may_touch(matched, mujoco):
    """Colliders are replaced by balls of 100 m, so that all overlap.

    Contacts then occur exactly between the bodies that may touch.
    """
    model, peer = matched.model, copy.copy(matched.peer)
    scene = Scene("floor")
    scene.add_half_space("floor")
    body = {c.name: int(peer.geom(c.name).bodyid[0]) for c in model.colliders} | {"floor": 0}
    expected = {frozenset((body[a], body[b])) for a, b in Simulation(World(model, scene)).pairs}
    balls = peer.geom_type != mujoco.mjtGeom.mjGEOM_PLANE
    peer.geom_type[balls] = mujoco.mjtGeom.mjGEOM_SPHERE
    peer.geom_size[balls, 0] = peer.geom_rbound[balls] = 100.0
    peer.geom_aabb[balls] = [0, 0, 0, 100, 100, 100]
    # The bounding boxes are still those of the original colliders.
    peer.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
    data = mujoco.MjData(peer)
    data.qpos[:] = matched.position(model.neutral())
    mujoco.mj_forward(peer, data)
    pairs = (data.contact[i].geom for i in range(data.ncon))
    assert {frozenset(int(peer.geom_bodyid[g]) for g in pair) for pair in pairs} == expected


def two_links(kind="revolute", shape=None, **options):
    builder = ModelBuilder("two")
    builder.add_link("a", mass=1, inertia=np.eye(3))
    builder.add_link("b", mass=1, inertia=np.eye(3))
    builder.add_joint(
        "j", kind, "a", "b", **({"axis": (0, 0, 1)} if kind != "floating" else {}), **options
    )
    builder.add_collider("b", shape or Shape.sphere(0.1))
    return builder


@pytest.mark.parametrize(
    ("builder", "message"),
    [
        (two_links("helical", pitch=0.1), "no such joint"),
        (two_links("floating", X_PJ=pose((0, 0, 1))), "only the world"),
        (two_links(shape=Shape.box((0.1, 0.1, 0.1), rounding=0.01)), "rounded"),
        (two_links(shape=Shape.cone(0.1, 0.2)), "no geom"),
    ],
)
def test_what_mujoco_does_not_have_is_refused(harness, builder, message):
    with pytest.raises(ValueError, match=message):
        harness.mjcf(builder.build(), [], dt=1e-3, friction=1.0)


def test_mimic_joints_are_refused(harness):
    builder = two_links("revolute", lower=-1, upper=1)
    builder.add_link("c", mass=1, inertia=np.eye(3))
    builder.add_joint(
        "follower", "revolute", "b", "c", axis=(0, 0, 1), lower=-1, upper=1, mimic=("j", 1.0, 0.0)
    )
    with pytest.raises(ValueError, match="no such joint"):
        harness.mjcf(builder.build(), [], dt=1e-3, friction=1.0)


def test_pairs_of_only_some_colliders_are_refused(harness):
    builder = ModelBuilder("star")
    builder.add_link("hub")
    for name in ("a", "b"):
        builder.add_link(name, mass=1, inertia=np.eye(3))
        builder.add_joint(f"to_{name}", "continuous", "hub", name, axis=(0, 0, 1))
        builder.add_collider(name, Shape.sphere(0.1))
    builder.add_collider("a", Shape.sphere(0.2))
    with pytest.raises(ValueError, match="the same of their colliders"):
        harness.mjcf(builder.build(), [("a/0", "b/0")], dt=1e-3, friction=1.0)
