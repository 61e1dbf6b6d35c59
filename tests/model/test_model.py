"""Methods of Model: arguments, results, and physics that needs no other library."""

import numpy as np
import pytest

from robosim.errors import ModelError
from robosim.model import Model, ModelBuilder

from ..reference.dalembert import (  # noqa: TID252 (tests have no absolute name)
    Body,
    inverse_dynamics,
)
from .mechanisms import branched_robot


@pytest.fixture
def robot() -> Model:
    """Free-flying robot with every kind of joint, a branch and a mimic joint."""
    return branched_robot()


@pytest.fixture
def state(robot):
    rng = np.random.default_rng(6)
    return robot.random_configuration(rng), *rng.uniform(-1, 1, (2, robot.n_v))


def test_inverse_dynamics_agrees_with_the_numerical_oracle(robot, state):
    q, v, a = state
    bodies = [
        Body(lambda q, name=link.name: robot.frame_pose(q, name), link.mass, link.com, link.inertia)
        for link in robot.links
    ]
    gravity = np.array([0, 0, -9.80665])
    expected = inverse_dynamics(bodies, robot.integrate, q, v, a, gravity)
    # Five-point differences applied twice with step 1e-3: truncation and rounding near 1e-9 of
    # forces near 100 N.
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), expected, atol=1e-6)


def test_free_flying_robot_keeps_its_momentum(robot, state):
    # Without gravity and joint forces the total momentum is constant, so that the center of mass
    # moves on a line.
    q, v, _ = state
    robot = robot.with_gravity((0, 0, 0))
    a = robot.forward_dynamics(q, v, np.zeros(robot.n_v))
    h = 1e-3
    com = [robot.center_of_mass(robot.integrate(q, v * t + a * t**2 / 2)) for t in (-h, 0, h)]
    np.testing.assert_allclose(
        (com[0] - 2 * com[1] + com[2]) / h**2, 0, atol=1e-6
    )  # error O(h^2), rounding 1e-10


def test_equations_of_motion_fit_together(robot, state):
    q, v, a = state
    M, h = robot.mass_matrix(q), robot.nonlinear_effects(q, v)
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), M @ a + h, atol=1e-11)
    np.testing.assert_allclose(robot.gravity(q), robot.nonlinear_effects(q, 0 * v), atol=1e-12)
    assert robot.kinetic_energy(q, v) == pytest.approx(v @ M @ v / 2, rel=1e-13)
    wrench = {"l3": [1, 2, 3, 4, 5, 6], "l5": [0, -1, 0, 2, 0, 1]}
    tau = robot.inverse_dynamics(q, v, a, external=wrench)
    pushed = sum(robot.jacobian(q, link).T @ np.array(w, float) for link, w in wrench.items())
    np.testing.assert_allclose(tau, M @ a + h - pushed, atol=1e-11)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau, external=wrench), a, atol=1e-10)


def test_joint_forces_are_the_same_in_both_directions(robot, state):
    q, v, a = state
    tau = robot.inverse_dynamics(q, v, a, joint_forces=True)
    np.testing.assert_allclose(
        tau, robot.inverse_dynamics(q, v, a) - robot.joint_forces(q, v), atol=1e-13
    )
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau, joint_forces=True), a, atol=1e-10)
    assert robot.with_stiffness(0).joint_forces(q, v) @ v < 0
    out = np.empty(robot.n_v)
    assert robot.inverse_dynamics(q, v, a, joint_forces=True, out=out) is out
    np.testing.assert_array_equal(out, tau)


def test_any_real_array_like_is_an_argument():
    builder = ModelBuilder("m")
    builder.add_link("a")
    for i, parent in ((1, "a"), (2, "b1")):
        builder.add_link(f"b{i}", mass=1, com=(0.1, 0, 0), inertia=np.eye(3) * 0.01)
        builder.add_joint(f"j{i}", "revolute", parent, f"b{i}")
    model = builder.build()
    expected = model.mass_matrix(np.array([0.0, 1.0]))
    for q in ([0, 1], (False, True), np.array([0, 1], np.int8), np.array([0, 1], np.float32)[:]):
        np.testing.assert_array_equal(model.mass_matrix(q), expected)
    strided = np.array([[0.0, 5.0], [1.0, 5.0]])[:, 0]
    np.testing.assert_array_equal(model.mass_matrix(strided), expected)


@pytest.mark.parametrize(
    ("q", "message"),
    [
        ([1.0], r"q has shape \(1,\); expected \(13,\)"),
        (np.zeros((13, 1)), r"q has shape \(13, 1\)"),
        (0.0, r"q has shape \(\)"),
        ([np.nan] * 13, "finite"),
        ([1j] * 13, "complex"),
        (["a"] * 13, "dtype"),
        (None, "q"),
        ([[1], [1, 2]], "q"),
    ],
)
def test_wrong_arrays_are_refused(robot, q, message):
    for method in (robot.mass_matrix, robot.gravity, robot.link_poses, robot.potential_energy):
        with pytest.raises(ModelError, match=message):
            method(q)


def test_out_is_filled_or_refused(robot, state):
    q, v, a = state
    n = robot.n_v
    for call, shape in (
        (lambda out: robot.mass_matrix(q, out=out), (n, n)),
        (lambda out: robot.jacobian(q, "l4", out=out), (6, n)),
        (lambda out: robot.frame_pose(q, "l4", out=out), (4, 4)),
        (lambda out: robot.inverse_dynamics(q, v, a, out=out), (n,)),
        (lambda out: robot.forward_dynamics(q, v, a, out=out), (n,)),
        (lambda out: robot.nonlinear_effects(q, v, out=out), (n,)),
        (lambda out: robot.gravity(q, out=out), (n,)),
        (lambda out: robot.joint_forces(q, v, out=out), (n,)),
        (lambda out: robot.integrate(q, v, out=out), (robot.n_q,)),
        (lambda out: robot.difference(q, q, out=out), (n,)),
    ):
        fresh, out = call(None), np.full(shape, np.nan)
        assert call(out) is out
        np.testing.assert_array_equal(out, fresh)
        readonly = np.empty(shape)
        readonly.setflags(write=False)
        for bad in (
            np.empty((*shape, 1)),
            np.empty(shape, np.float32),
            readonly,
            np.empty((2, *shape)).T,
            [0.0],
        ):
            with pytest.raises(ModelError, match="out"):
                call(bad)


def test_out_may_be_an_argument(robot, state):
    q, v, a = state
    for call, index in (
        (lambda s, out: robot.inverse_dynamics(*s, out=out), 2),
        (lambda s, out: robot.forward_dynamics(*s, out=out), 2),
        (lambda s, out: robot.nonlinear_effects(*s[:2], out=out), 1),
        (lambda s, out: robot.integrate(*s[:2], out=out), 0),
    ):
        expected = call((q, v, a), None)
        own = [q.copy(), v.copy(), a.copy()]
        np.testing.assert_array_equal(call(own, own[index]), expected)


def test_unknown_names_are_refused_with_a_suggestion(robot, state):
    q = state[0]
    with pytest.raises(ModelError, match="no link 'l44'; did you mean 'l4'"):
        robot.frame_pose(q, "l44")
    with pytest.raises(ModelError, match="no link 7"):
        robot.frame_pose(q, 7)
    with pytest.raises(ModelError, match="'base'; valid are 'world' and 'local'"):
        robot.jacobian(q, "l1", "base")


def test_limits_can_be_changed(robot):
    changed = robot.with_limits(
        lower={"j3": -1, "j2/x": -2}, upper={"j2": 9}, velocity=3, effort=np.arange(robot.n_v)
    )
    names = changed.position_names
    assert changed.limits.lower[names.index("j3")] == -1
    assert changed.limits.lower[names.index("j2/x")] == -2
    assert (changed.limits.upper[[names.index(f"j2/{k}") for k in ("x", "y", "theta")]] == 9).all()
    assert (changed.limits.velocity == 3).all()
    assert robot.limits.velocity[0] == np.inf
    faster = robot.with_acceleration_limits({"j3": 8.0}, "the maker")
    assert faster.limits.acceleration[faster.velocity_names.index("j3")] == 8
    assert faster.limits.acceleration_source.startswith("the maker for j3; default")
    twice = faster.with_acceleration_limits({"j2": 4.0}, "a test").limits.acceleration_source
    assert twice.startswith("a test for j2; the maker for j3; default")
    assert twice.count("for the others") == 1
    assert robot.with_acceleration_limits(8.0).limits.acceleration_source == "argument"
    for bad in (
        {"lower": {"j9": 0}},
        {"lower": {"j3": 1}, "upper": {"j3": 0}},
        {"velocity": -1},
        {"velocity": np.nan},
        {"effort": [1, 2]},
        {"upper": {"j3": "far"}},
    ):
        with pytest.raises(ModelError):
            robot.with_limits(**bad)
    with pytest.raises(ModelError):
        robot.with_acceleration_limits({"j3": -1})


def test_random_configurations_keep_the_limits_and_repeat(robot):
    model = robot.with_limits(lower={"j3": 0.1}, upper={"j3": 0.2})
    rng = np.random.default_rng(1)
    samples = np.array([model.random_configuration(rng) for _ in range(200)])
    j3 = samples[:, model.position_names.index("j3")]
    assert ((j3 >= 0.1) & (j3 <= 0.2)).all()
    np.testing.assert_allclose(np.linalg.norm(samples[:, 3:7], axis=1), 1, atol=1e-15)
    np.testing.assert_array_equal(model.random_configuration(np.random.default_rng(1)), samples[0])


def test_models_in_threads_do_not_disturb_each_other(robot, state):
    from concurrent.futures import ThreadPoolExecutor

    q, v, a = state
    expected = robot.inverse_dynamics(q, v, a)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: robot.inverse_dynamics(q, v, a), range(400)))
    assert all((tau == expected).all() for tau in results)
