"""Derivatives by Model's methods against finite differences, and against each other.

Central differences with steps of 1e-6 in double precision leave errors of 1e-8 of the values' size,
here up to a few hundred. The engine's own tests compare the derivatives with dual numbers to 1e-12.
"""

import numpy as np
import pytest

from robosim.errors import ModelError
from robosim.model import Model

from .mechanisms import branched_robot

STEP = 1e-6
TOLERANCE = {"rtol": 2e-7, "atol": 2e-7}
WRENCHES = {"l3": [1.0, 2, 3, 4, 5, 6], "l5": [0.0, -1, 0, 2, 0, 1]}


@pytest.fixture(
    params=[(True, True), (True, False), (False, False)], ids=["mimic", "floating", "fixed"]
)
def robot(request) -> Model:
    floating, mimic = request.param
    return branched_robot(floating=floating, mimic=mimic)


@pytest.fixture
def state(robot):
    rng = np.random.default_rng(16)
    return robot.random_configuration(rng), *rng.uniform(-1, 1, (2, robot.n_v))


def in_q(model: Model, f, q):
    """df/dq in the tangent space; the last axis has n_v entries."""
    columns = []
    for k in range(model.n_v):
        step = np.zeros(model.n_v)
        step[k] = STEP
        columns.append((f(model.integrate(q, step)) - f(model.integrate(q, -step))) / (2 * STEP))
    return np.stack(columns, axis=-1)


def in_vector(f, x):
    columns = []
    for k in range(len(x)):
        step = np.zeros(len(x))
        step[k] = STEP
        columns.append((f(x + step) - f(x - step)) / (2 * STEP))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize(
    "choices", [{}, {"external": WRENCHES, "joint_forces": True}], ids=["plain", "all"]
)
def test_inverse_dynamics(robot, state, choices):
    q, v, a = state
    found = robot.inverse_dynamics_derivatives(q, v, a, **choices)
    np.testing.assert_allclose(
        found.dtau_dq,
        in_q(robot, lambda q: robot.inverse_dynamics(q, v, a, **choices), q),
        **TOLERANCE,
    )
    np.testing.assert_allclose(
        found.dtau_dv,
        in_vector(lambda v: robot.inverse_dynamics(q, v, a, **choices), v),
        **TOLERANCE,
    )
    np.testing.assert_allclose(found.dtau_da, robot.mass_matrix(q), atol=1e-13)


@pytest.mark.parametrize(
    "choices", [{}, {"external": WRENCHES, "joint_forces": True}], ids=["plain", "all"]
)
def test_forward_dynamics(robot, state, choices):
    q, v, tau = state
    found = robot.forward_dynamics_derivatives(q, v, tau, **choices)
    np.testing.assert_allclose(
        found.a, robot.forward_dynamics(q, v, tau, **choices), rtol=1e-11, atol=1e-11
    )
    scale = max(1.0, np.abs(found.da_dq).max())
    for matrix, expected in (
        (found.da_dq, in_q(robot, lambda q: robot.forward_dynamics(q, v, tau, **choices), q)),
        (found.da_dv, in_vector(lambda v: robot.forward_dynamics(q, v, tau, **choices), v)),
        (found.da_dtau, in_vector(lambda tau: robot.forward_dynamics(q, v, tau, **choices), tau)),
    ):
        np.testing.assert_allclose(matrix, expected, atol=1e-6 * scale)
    np.testing.assert_allclose(found.da_dtau, robot.mass_matrix_inverse(q), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    "choices", [{}, {"external": WRENCHES, "joint_forces": True}], ids=["plain", "all"]
)
def test_products_are_those_of_the_matrices(robot, state, choices):
    q, v, x = state
    rng = np.random.default_rng(17)
    dq, dv, dx, bar = rng.uniform(-1, 1, (4, robot.n_v))
    J_wrench = [robot.jacobian(q, link) for link in choices.get("external", {})]

    inverse = robot.inverse_dynamics_derivatives(q, v, x, **choices)
    dtau = robot.inverse_dynamics_jvp(q, v, x, dq, dv, dx, **choices)
    expected = inverse.dtau_dq @ dq + inverse.dtau_dv @ dv + inverse.dtau_da @ dx
    np.testing.assert_allclose(dtau, expected, rtol=1e-11, atol=1e-10)
    back = robot.inverse_dynamics_vjp(q, v, x, bar, **choices)
    for gradient, matrix in zip(back[:3], inverse, strict=True):
        np.testing.assert_allclose(gradient, bar @ matrix, rtol=1e-11, atol=1e-10)
    assert back.wrenches_bar.shape == (len(J_wrench), 6)
    for gradient, J in zip(back.wrenches_bar, J_wrench, strict=True):
        np.testing.assert_allclose(gradient, -J @ bar, rtol=1e-11, atol=1e-11)

    forward = robot.forward_dynamics_derivatives(q, v, x, **choices)
    scale = np.abs(forward.da_dtau).max() * np.abs(inverse.dtau_dq).max()
    change = robot.forward_dynamics_jvp(q, v, x, dq, dv, dx, **choices)
    expected = forward.da_dq @ dq + forward.da_dv @ dv + forward.da_dtau @ dx
    np.testing.assert_allclose(change.a, forward.a, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(change.da, expected, atol=1e-11 * scale)
    back = robot.forward_dynamics_vjp(q, v, x, bar, **choices)
    for gradient, matrix in zip(back[1:4], forward[1:], strict=True):
        np.testing.assert_allclose(gradient, bar @ matrix, atol=1e-11 * scale)
    for gradient, J in zip(back.wrenches_bar, J_wrench, strict=True):
        np.testing.assert_allclose(gradient, J @ back.tau_bar, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    "choices", [{}, {"external": WRENCHES, "joint_forces": True}], ids=["plain", "all"]
)
def test_second_order_products(robot, state, choices):
    q, v, x = state
    rng = np.random.default_rng(18)
    dq, dv, dx, bar = rng.uniform(-1, 1, (4, robot.n_v))

    def change(vjp, part):
        def at(t):
            return np.concatenate(
                vjp(robot.integrate(q, t * dq), v + t * dv, x + t * dx, bar, **choices)[part]
            )

        return (at(1e-5) - at(-1e-5)) / 2e-5

    for hvp, vjp, part in (
        (robot.inverse_dynamics_hvp, robot.inverse_dynamics_vjp, slice(0, 3)),
        (robot.forward_dynamics_hvp, robot.forward_dynamics_vjp, slice(1, 4)),
    ):
        found = np.concatenate(hvp(q, v, x, bar, dq, dv, dx, **choices))
        expected = change(vjp, part)
        np.testing.assert_allclose(found, expected, atol=1e-6 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("frame", ["world", "local"])
@pytest.mark.parametrize("point", [None, (0.2, -0.1, 0.4)], ids=["origin", "point"])
def test_kinematics(robot, state, frame, point):
    q, v, a = state
    link = "l3"
    J = robot.jacobian(q, link, frame, point=point)
    np.testing.assert_allclose(
        J @ v, robot.frame_velocity(q, v, link, frame, point=point), atol=1e-13
    )
    rate = (
        robot.jacobian(robot.integrate(q, STEP * v), link, frame, point=point)
        - robot.jacobian(robot.integrate(q, -STEP * v), link, frame, point=point)
    ) / (2 * STEP)
    np.testing.assert_allclose(
        robot.jacobian_rate(q, v, link, frame, point=point), rate, **TOLERANCE
    )

    velocity = robot.frame_velocity_derivatives(q, v, link, frame, point=point)
    acceleration = robot.frame_acceleration_derivatives(q, v, a, link, frame, point=point)
    for found, expected in (
        (
            velocity.dV_dq,
            in_q(robot, lambda q: robot.frame_velocity(q, v, link, frame, point=point), q),
        ),
        (velocity.dV_dv, J),
        (acceleration.dV_dq, velocity.dV_dq),
        (
            acceleration.dA_dq,
            in_q(robot, lambda q: robot.frame_acceleration(q, v, a, link, frame, point=point), q),
        ),
        (
            acceleration.dA_dv,
            in_vector(lambda v: robot.frame_acceleration(q, v, a, link, frame, point=point), v),
        ),
        (acceleration.dA_da, J),
    ):
        np.testing.assert_allclose(found, expected, **TOLERANCE)
    if point is not None:  # the point moves with the frame's velocity

        def place(q):
            X = robot.frame_pose(q, link)
            return X[:3, :3] @ point + X[:3, 3]

        J_world = robot.jacobian(q, link, point=point)
        np.testing.assert_allclose(J_world[:3], in_q(robot, place, q), **TOLERANCE)


def test_momentum(robot, state):
    q, v, a = state
    mass = robot.total_mass
    J = robot.center_of_mass_jacobian(q)
    np.testing.assert_allclose(J, in_q(robot, robot.center_of_mass, q), **TOLERANCE)
    np.testing.assert_allclose(J @ v, robot.center_of_mass_velocity(q, v), atol=1e-13)
    jerk = robot.center_of_mass_jacobian(robot.integrate(q, STEP * v)) @ (v + STEP * a)
    jerk -= robot.center_of_mass_jacobian(robot.integrate(q, -STEP * v)) @ (v - STEP * a)
    np.testing.assert_allclose(
        robot.center_of_mass_acceleration(q, v, a), jerk / (2 * STEP), **TOLERANCE
    )

    h, A = robot.centroidal_momentum(q, v), robot.centroidal_momentum_matrix(q)
    np.testing.assert_allclose(A @ v, h, atol=1e-12)
    np.testing.assert_allclose(h[:3], mass * (J @ v), atol=1e-11)
    rate, matrix = (
        robot.centroidal_momentum_rate(q, v, a),
        robot.centroidal_momentum_matrix_rate(q, v),
    )
    np.testing.assert_allclose(rate.h, h, atol=1e-12)
    np.testing.assert_allclose(matrix.A, A, atol=1e-12)
    np.testing.assert_allclose(A @ a + matrix.A_dot @ v, rate.h_dot, atol=1e-11)
    np.testing.assert_allclose(
        rate.h_dot[:3], mass * robot.center_of_mass_acceleration(q, v, a), atol=1e-11
    )
    found = robot.centroidal_momentum_derivatives(q, v, a)
    for matrix, expected in (
        (found.dh_dq, in_q(robot, lambda q: robot.centroidal_momentum(q, v), q)),
        (found.dhdot_dq, in_q(robot, lambda q: robot.centroidal_momentum_rate(q, v, a).h_dot, q)),
        (found.dhdot_dv, in_vector(lambda v: robot.centroidal_momentum_rate(q, v, a).h_dot, v)),
        (found.dhdot_da, A),
    ):
        np.testing.assert_allclose(matrix, expected, **TOLERANCE)


def test_coriolis_gravity_and_energies(robot, state):
    q, v, _ = state
    C = robot.coriolis_matrix(q, v)
    np.testing.assert_allclose(C @ v, robot.nonlinear_effects(q, v) - robot.gravity(q), atol=1e-11)
    M_rate = robot.mass_matrix(robot.integrate(q, STEP * v)) - robot.mass_matrix(
        robot.integrate(q, -STEP * v)
    )
    np.testing.assert_allclose(C + C.T, M_rate / (2 * STEP), **TOLERANCE)
    np.testing.assert_allclose(
        robot.gravity_derivatives(q), in_q(robot, robot.gravity, q), **TOLERANCE
    )
    # At rest, the joints' own forces are those of springs only.
    conservative = robot.gravity(q) - robot.joint_forces(q, 0 * v)
    np.testing.assert_allclose(
        conservative, in_q(robot, lambda q: np.array(robot.potential_energy(q)), q), **TOLERANCE
    )
    energy = robot.kinetic_energy_derivatives(q, v)
    np.testing.assert_allclose(
        energy.dT_dq, in_q(robot, lambda q: np.array(robot.kinetic_energy(q, v)), q), **TOLERANCE
    )
    np.testing.assert_allclose(energy.dT_dv, robot.mass_matrix(q) @ v, atol=1e-12)


def test_regressor(robot, state):
    q, v, a = state
    rng = np.random.default_rng(19)
    Y, pi = robot.inertial_regressor(q, v, a), robot.inertial_parameters
    assert Y.shape == (robot.n_v, 10 * len(robot.body_joints)) == (robot.n_v, pi.size)
    np.testing.assert_allclose(Y @ pi, robot.inverse_dynamics(q, v, a), rtol=1e-12, atol=1e-11)
    x, bar = rng.uniform(-1, 1, pi.size), rng.uniform(-1, 1, robot.n_v)
    np.testing.assert_allclose(robot.regressor_times(q, v, a, x), Y @ x, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(
        robot.regressor_transpose_times(q, v, a, bar), bar @ Y, rtol=1e-11, atol=1e-10
    )


def test_parameters(robot, state):
    q, v, x = state
    bar = np.random.default_rng(20).uniform(-1, 1, robot.n_v)
    choices = {"external": WRENCHES}
    n, n_b = robot.n_v, len(robot.body_joints)

    inverse = robot.inverse_dynamics_parameter_derivatives(q, v, x, **choices)
    assert [array.shape for array in inverse] == [
        (n, n_b),
        (n, n_b, 3),
        (n, n_b, 6),
        (n, n_b, 6),
        (n, n),
    ]
    # Mass at the fixed center c with fixed moments about it: m, m c, I = I_c + m (c^2 1 - c c^T) in
    # the regressor.
    Y = robot.inertial_regressor(q, v, x).reshape(n, n_b, 10)
    pi = robot.inertial_parameters.reshape(n_b, 10)
    c = pi[:, 1:4] / pi[:, :1]
    shift = np.stack(
        [
            c[:, 1] ** 2 + c[:, 2] ** 2,
            -c[:, 0] * c[:, 1],
            c[:, 0] ** 2 + c[:, 2] ** 2,
            -c[:, 0] * c[:, 2],
            -c[:, 1] * c[:, 2],
            c[:, 0] ** 2 + c[:, 1] ** 2,
        ],
        axis=1,
    )
    by_mass = np.einsum("nbk,bk->nb", Y, np.concatenate([np.ones((n_b, 1)), c, shift], axis=1))
    np.testing.assert_allclose(inverse.mass, by_mass, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(inverse.inertia, Y[:, :, 4:], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(inverse.armature, np.diag(x), atol=0)
    for gradient, matrix in zip(
        robot.inverse_dynamics_parameter_vjp(q, v, x, bar, **choices), inverse, strict=True
    ):
        np.testing.assert_allclose(gradient, np.tensordot(bar, matrix, 1), rtol=1e-10, atol=1e-9)

    choices["joint_forces"] = True
    forward = robot.forward_dynamics_parameter_derivatives(q, v, x, **choices)
    np.testing.assert_allclose(
        forward.a, robot.forward_dynamics(q, v, x, **choices), rtol=1e-10, atol=1e-10
    )
    at_a = robot.inverse_dynamics_parameter_derivatives(q, v, forward.a, external=WRENCHES)
    factor = robot.mass_factor(q)
    for found, matrix in zip(forward[1:], at_a, strict=True):
        solved = -factor.solve(matrix.reshape(n, -1)).reshape(matrix.shape)
        np.testing.assert_allclose(found, solved, atol=1e-10 * max(1.0, np.abs(solved).max()))
    gradients = robot.forward_dynamics_parameter_vjp(q, v, x, bar, **choices)
    for gradient, matrix in zip(gradients, forward[1:], strict=True):
        np.testing.assert_allclose(
            gradient, np.tensordot(bar, matrix, 1), atol=1e-10 * max(1.0, np.abs(matrix).max())
        )


def test_mass_factor(robot, state):
    q, v, _ = state
    M, J = robot.mass_matrix(q), robot.jacobian(q, "l3")
    factor = robot.mass_factor(q)
    L = np.tril(factor.factor, -1) + np.eye(robot.n_v)
    np.testing.assert_allclose(L.T @ np.diag(1 / np.diag(factor.factor)) @ L, M, atol=1e-12)
    assert not np.triu(factor.factor, 1).any()
    eps = np.finfo(float).eps * np.linalg.cond(M)
    for B in (v, J.T, np.eye(robot.n_v), np.asfortranarray(J.T), np.zeros((robot.n_v, 0))):
        found, expected = factor.solve(B), np.linalg.solve(M, B)
        assert found.shape == B.shape
        np.testing.assert_allclose(
            found, expected, atol=10 * eps * max(1.0, np.abs(expected).max(initial=0))
        )
    out = np.empty((robot.n_v, 6))
    assert factor.solve(J.T, out=out) is out
    np.testing.assert_allclose(
        factor.solve(np.eye(robot.n_v)), robot.mass_matrix_inverse(q), rtol=1e-9, atol=1e-11
    )
    # A factor of a Model stays unchanged when another one is computed. A factor of Data is
    # overwritten.
    other = robot.integrate(q, v)
    before, after = factor.solve(v), robot.mass_factor(other).solve(v)
    np.testing.assert_array_equal(factor.solve(v), before)
    data = robot.data()
    reused = data.mass_factor(q)
    solved = reused.solve(v)
    np.testing.assert_array_equal(solved, before)
    assert data.mass_factor(other) is reused
    assert reused.solve(v) is solved
    np.testing.assert_array_equal(solved, after)
    for bad in (v[:-1], J, np.zeros((robot.n_v, 2, 2)), 1.0):
        with pytest.raises(ModelError, match=r"B has shape .*; it must be"):
            factor.solve(bad)
    with pytest.raises(ModelError, match="B holds nan"):
        factor.solve(v * np.nan)
