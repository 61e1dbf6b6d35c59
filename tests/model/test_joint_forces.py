"""Damping, smooth dry friction, springs and drives of joints, through the public functions."""

import numpy as np
import pytest

from robosim.errors import ModelError
from robosim.geometry import pose
from robosim.model import Model, ModelBuilder

INERTIA = np.diag([0.02, 0.03, 0.04])


def robot(*, planar: bool = True, **joint) -> Model:
    """Robot with a revolute, a prismatic, a mimic and a planar joint, all with joint forces.

    The mimic joint follows the prismatic one backwards.
    """
    builder = ModelBuilder("springs")
    builder.add_link("base")
    for i, (kind, options) in enumerate(
        [
            (
                "revolute",
                {"stiffness": 5.0, "spring_reference": 0.4, "friction": 0.8, "damping": 0.1},
            ),
            ("prismatic", {"stiffness": 60.0, "friction_width": 0.05, "friction": 2.0}),
            (
                "prismatic",
                {"stiffness": 30.0, "spring_reference": -0.1, "mimic": ("j1", -2.0, 0.05)},
            ),
            ("planar", {"damping": 0.7, "friction": 0.3}),
        ][: 4 if planar else 3]
    ):
        builder.add_link(f"l{i}", mass=1, com=(0.1, 0, 0.05), inertia=INERTIA)
        parent = "base" if i == 0 else f"l{i - 1}"
        builder.add_joint(
            f"j{i}",
            kind,
            parent,
            f"l{i}",
            axis=(0, 1, 0),
            X_PJ=pose((0, 0, 0.1)),
            **options | joint,
        )
    return builder.build()


def test_the_law():
    model = robot()
    q, v = np.array([0.9, 0.2, 1, 2, 3]), np.array([0.5, -0.3, 0.2, -0.1, 0.4])
    follower = -2 * q[1] + 0.05
    springs = np.array([-5 * (0.9 - 0.4), -60 * 0.2 + 2 * 30 * (follower + 0.1), 0, 0, 0])
    friction = model.friction * v / np.sqrt(v**2 + model.friction_width**2)
    np.testing.assert_allclose(
        model.joint_forces(q, v), springs - model.damping * v - friction, atol=1e-14
    )
    np.testing.assert_allclose(model.joint_forces(q, 0 * v), springs, atol=1e-14)
    # Energy stored in the springs, in addition to gravity's.
    held = 2.5 * 0.5**2 + 30 * 0.2**2 + 15 * (follower + 0.1) ** 2
    bare = model.with_stiffness(0)
    assert model.potential_energy(q) - bare.potential_energy(q) == pytest.approx(held, rel=1e-12)
    np.testing.assert_array_equal(bare.spring_reference, model.spring_reference)


def test_forces_act_in_both_directions_of_the_dynamics():
    model = robot()
    rng = np.random.default_rng(0)
    q, v, a = model.random_configuration(rng), rng.normal(size=5), rng.normal(size=5)
    tau = model.inverse_dynamics(q, v, a, joint_forces=True)
    np.testing.assert_allclose(
        tau, model.inverse_dynamics(q, v, a) - model.joint_forces(q, v), atol=1e-13
    )
    np.testing.assert_allclose(model.forward_dynamics(q, v, tau, joint_forces=True), a, atol=1e-11)


def test_energy_is_kept_by_springs_and_gravity_alone():
    """Fourth-order Runge-Kutta steps of 1 ms keep the energy.

    Each has an error of (20 rad/s dt)^5 / 120, or 3e-8 of the energy in 1000 steps.
    """
    model = robot(planar=False, damping=0.0, friction=0.0).with_stiffness({"j0": 40.0})
    x, dt = np.array([1.4, 0.2, 1.0, 0.2]), 1e-3

    def rate(x):
        return np.concatenate(
            [x[2:], model.forward_dynamics(x[:2], x[2:], np.zeros(2), joint_forces=True)]
        )

    potential, total = [], []
    for _ in range(1000):
        potential.append(model.potential_energy(x[:2]))
        total.append(potential[-1] + model.kinetic_energy(x[:2], x[2:]))
        k1 = rate(x)
        k2 = rate(x + dt / 2 * k1)
        k3 = rate(x + dt / 2 * k2)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + rate(x + dt * k3))
    assert np.ptp(potential) > 1  # the motion goes back and forth
    assert np.ptp(total) < 1e-6 * np.ptp(potential)


def test_derivatives():
    model = robot()
    q, v = np.array([0.9, 0.2, 1, 2, 3]), np.array([0.005, -0.03, 0.2, -0.01, 0.4])
    got = model.joint_force_derivatives(q, v)
    h = 1e-6

    def difference(function):
        return (function(h) - function(-h)) / (2 * h)

    for k in range(5):
        unit = np.eye(5)[k]
        cases = {
            "q": lambda x, e=unit: model.joint_forces(model.integrate(q, x * e), v),
            "v": lambda x, e=unit: model.joint_forces(q, v + x * e),
            "damping": lambda x, e=unit: model.with_damping(
                model.damping + (x + h) * e
            ).joint_forces(q, v),
            "friction": lambda x, e=unit: model.with_friction(
                model.friction + (x + h) * e
            ).joint_forces(q, v),
            "friction_width": lambda x, e=unit: model.with_friction(
                width=model.friction_width + x * e
            ).joint_forces(q, v),
        }
        if k < 2:
            cases["stiffness"] = lambda x, e=unit: model.with_stiffness(
                model.stiffness + x * e
            ).joint_forces(q, v)
            cases["spring_reference"] = lambda x, e=unit: model.with_stiffness(
                reference=model.spring_reference + x * e
            ).joint_forces(q, v)
        for name, function in cases.items():
            # Error of central differences: h^2 / width^2 of the friction's size, and rounding over
            # h.
            np.testing.assert_allclose(
                difference(function), got[name][k] * unit, atol=1e-6 * (1 + abs(got[name][k]))
            )
    assert set(got) == {
        "q",
        "v",
        "damping",
        "friction",
        "friction_width",
        "stiffness",
        "spring_reference",
    }
    assert not got["stiffness"][2:].any()
    assert not got["q"][2:].any()


def test_a_geared_rotor_is_armature():
    model = robot(armature=0.02, rotor_inertia=1e-5, gear_ratio=-100.0)
    # A mimic joint contributes with the square of its ratio.
    np.testing.assert_allclose(model.armature, [0.12, 0.12 * 5, 0.12, 0.12, 0.12], rtol=1e-14)
    assert (
        model.joints[0].rotor_inertia,
        model.joints[0].gear_ratio,
        model.joints[0].armature,
    ) == (
        1e-5,
        -100,
        0.02,
    )
    q = model.neutral()
    change = model.mass_matrix(q) - model.with_armature(0).mass_matrix(q)
    np.testing.assert_allclose(change, np.diag(model.armature), atol=1e-13)


def test_copies_change_what_they_say_and_nothing_else():
    model = robot()
    v = np.full(5, 0.3)
    q = model.neutral()
    changed = model.with_damping({"j0": 2.0, "j3/omega": 3.0})
    assert changed.damping.tolist() == [2.0, 0.0, 0.7, 0.7, 3.0]
    assert changed.friction.tolist() == model.friction.tolist()
    np.testing.assert_allclose(
        changed.joint_forces(q, v) - model.joint_forces(q, v),
        [-1.9 * 0.3, 0, 0, 0, -2.3 * 0.3],
        atol=1e-13,
    )
    assert model.with_friction(4.0).friction.tolist() == [4.0] * 5
    assert model.with_friction(width={"j3": 0.5}).friction_width[2:].tolist() == [0.5] * 3
    assert model.with_friction(width={"j3": 0.5}).friction.tolist() == model.friction.tolist()
    stiff = model.with_stiffness({"j1": 7.0}, reference={"j1": 0.25})
    assert (stiff.stiffness[1], stiff.spring_reference[1]) == (7.0, 0.25)
    assert stiff.stiffness[0] == model.stiffness[0]
    assert model.with_armature([1, 2, 3, 4, 5]).armature.tolist() == [1, 2, 3, 4, 5]
    assert model.joints is changed.joints


def test_armature_decides_whether_a_joint_moves_mass():
    builder = ModelBuilder("m")
    builder.add_link("base")
    builder.add_link("wheel")
    builder.add_joint("spin", "continuous", "base", "wheel")
    model = builder.build(allow_massless=True)
    with pytest.raises(ModelError, match="spin"):
        model.forward_dynamics([0], [0], [1])
    driven = model.with_armature(0.5)
    assert driven.forward_dynamics([0], [0], [1]).tolist() == [2.0]
    with pytest.raises(ModelError, match="spin"):
        driven.with_armature(0).forward_dynamics([0], [0], [1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.with_damping(-1), "damping of 'j0' is -1.0; it must be a number >= 0"),
        (lambda m: m.with_damping({"j9": 1}), "there is no joint or coordinate 'j9'"),
        (lambda m: m.with_friction([1, 2]), "friction has 2 numbers; 1 or 5 are needed"),
        (lambda m: m.with_friction({"j0": np.inf}), "friction of 'j0' is inf"),
        (
            lambda m: m.with_friction(width={"j1": 0}),
            "friction width of 'j1' is 0; it must be positive",
        ),
        (lambda m: m.with_stiffness(1), "joint 'j3' has not one position and so has no spring"),
        (lambda m: m.with_stiffness({"j0": -1}), "stiffness of 'j0' is -1"),
        (lambda m: m.with_stiffness(reference={"j0": np.inf}), "spring reference of 'j0' is inf"),
        (lambda m: m.with_armature({"j0": np.nan}), "armature of 'j0'"),
    ],
)
def test_impossible_numbers_are_refused(change, message):
    with pytest.raises(ModelError, match=message):
        change(robot())
