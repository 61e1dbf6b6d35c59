"""Gradients of steps and runs, against each other and against differences of what is run."""

from __future__ import annotations

import numpy as np
import pytest

import robosim
from robosim.errors import SimulationError
from robosim.simulation import Control, Material, Motor, Simulation, State

from .worlds import ball_on_rails, floor, free_boxes, resting


def differences(values, size, step=1e-6):
    """Derivatives of `values` of a vector of `size` numbers, at zero: one column each. Central, of fourth order."""
    columns = []
    for e in step * np.eye(size):
        near, far = values(e) - values(-e), values(2 * e) - values(-2 * e)
        columns.append((8 * np.asarray(near) - np.asarray(far)) / (12 * step))
    return np.stack(columns, axis=-1)


def sliding_box():
    """On the floor, sliding and turning, with a motorless world: all four corners slide."""
    simulation = Simulation(
        free_boxes(1), floor(), materials={"floor": Material(0.4), "box0": Material(0.4)}, dt=2e-3
    )
    return simulation, simulation.state(resting(0.05), [0.8, 0.3, 0, 0, 0, 1.5])


def test_jacobians_are_products_with_unit_vectors():
    simulation, state = sliding_box()
    jacobians = simulation.jacobians(state)
    assert not jacobians.one_sided
    rng = np.random.default_rng(1)
    q_bar, v_bar = rng.normal(size=(2, 6))
    gradient = simulation.vjp(state, q_bar, v_bar)
    for name in ("q", "v", "tau", "q_target", "v_target"):
        matrices = getattr(jacobians, name)
        expected = q_bar @ matrices[0] + v_bar @ matrices[1]
        np.testing.assert_allclose(
            getattr(gradient, name), expected, rtol=0, atol=1e-12 * max(1, np.abs(matrices).max())
        )


def test_jacobians_of_a_sliding_box_are_differences():
    simulation, state = sliding_box()
    model = simulation.model
    jacobians = simulation.jacobians(state)
    end = simulation.step(state)

    def after(q, v, tau):
        reached = simulation.step(State(q, v), Control(tau=tau))
        return np.stack([model.difference(end.q, reached.q), reached.v])

    none = np.zeros(6)
    # 1e-8: rounding of 1e-16 over steps of 1e-6, and truncation below it.
    for got, expected in (
        (jacobians.q, differences(lambda e: after(model.integrate(state.q, e), state.v, none), 6)),
        (jacobians.v, differences(lambda e: after(state.q, state.v + e, none), 6)),
        (jacobians.tau, differences(lambda e: after(state.q, state.v, e), 6, 1e-4)),
    ):
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-8 * max(1, np.abs(expected).max()))


def test_two_balls_after_a_second():
    """The right ball's place after 1 s against (x1, x2, v1, v2): of the plain step, which meets at whole steps.

    So places at the start only decide in which step: (0, 1, 0.7, 0.3), where a true time of impact gives
    (1, 0, 1, 0).
    """
    simulation = Simulation(
        ball_on_rails([1.0, 1.0]), materials={("ball0", "ball1"): Material(0.0, 1.0)}, erp=0.0
    )
    start = np.array([0.0, 0.50037, 1.0, 0.0])  # met in the middle of a step

    def end(x):
        return simulation.run(State(x[:2], x[2:]), 1000).q[-1, 1]

    motion = simulation.run(State(start[:2], start[2:]), 1000)
    q_bar, v_bar = np.zeros((2, 1001, 2))
    q_bar[-1, 1] = 1
    gradient = simulation.run_vjp(motion, q_bar, v_bar)
    expected = differences(lambda e: end(start + e), 4)
    np.testing.assert_allclose(np.concatenate([gradient.q, gradient.v]), expected, rtol=0, atol=1e-6)


def test_a_run_is_its_steps_one_after_the_other():
    simulation, state = sliding_box()
    rng = np.random.default_rng(2)
    tau = 0.1 * rng.normal(size=(40, 6))
    motion = simulation.run(state, 40, Control(tau=tau))
    q_bar, v_bar = rng.normal(size=(2, 41, 6))
    whole = simulation.run_vjp(motion, q_bar, v_bar, Control(tau=tau))
    q, v, materials = q_bar[-1], v_bar[-1], 0
    for i in reversed(range(40)):
        one = simulation.vjp(State(motion.q[i], motion.v[i]), q, v, Control(tau=tau[i]))
        np.testing.assert_array_equal(one.tau, whole.tau[i])
        q, v, materials = one.q + q_bar[i], one.v + v_bar[i], materials + one.materials
    np.testing.assert_array_equal(q, whole.q)
    np.testing.assert_array_equal(v, whole.v)
    np.testing.assert_allclose(materials, whole.materials, rtol=1e-12)


def test_substeps_have_the_gradient_of_their_steps():
    options = {"materials": {"floor": Material(0.4)}}
    whole = Simulation(free_boxes(1), floor(), dt=4e-3, substeps=4, **options)
    parts = Simulation(free_boxes(1), floor(), dt=1e-3, **options)
    state = whole.state(resting(0.05), [0.8, 0.3, 0, 0, 0, 1.5])
    tau = np.array([0.3, -0.2, 0, 0, 0, 0.1])
    rng = np.random.default_rng(3)
    q_bar, v_bar = rng.normal(size=(2, 6))
    one = whole.vjp(state, q_bar, v_bar, Control(tau=tau))
    motion = parts.run(state, 4, Control(tau=tau))
    bars = np.zeros((2, 5, 6))
    bars[0, -1], bars[1, -1] = q_bar, v_bar
    run = parts.run_vjp(motion, *bars, Control(tau=tau))
    np.testing.assert_array_equal(one.q, run.q)
    np.testing.assert_array_equal(one.v, run.v)
    np.testing.assert_allclose(one.tau, run.tau.sum(axis=0), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(one.materials, run.materials)


def test_friction_is_found_from_where_a_block_stops():
    """As of the race car: gradient descent on mu until the block stops where it was seen to."""
    wanted = 0.5

    def stopping(mu):
        simulation = Simulation(free_boxes(1), floor(), materials={("box0", "floor"): Material(mu)}, dt=2e-3)
        motion = simulation.run(simulation.state(resting(0.05), [2.0, 0, 0, 0, 0, 0]), 600)
        q_bar, v_bar = np.zeros((2, 601, 6))
        q_bar[-1, 0] = motion.q[-1, 0] - wanted  # of half its square
        return motion.q[-1, 0], simulation.run_vjp(motion, q_bar, v_bar).materials[0, 0]

    mu = 0.25
    for _ in range(12):
        x, slope = stopping(mu)
        mu -= (x - wanted) ** 2 / slope  # Newton's step on the place: its derivative is slope / (x - wanted)
    assert x == pytest.approx(wanted, abs=1e-3)
    assert mu == pytest.approx(4 / (2 * 9.80665 * wanted), rel=0.01)


def test_motors_of_an_arm_have_gradients():
    arm = robosim.load_robot("ur5")
    q = np.array([0.3, -1.2, 1.1, -1.4, -1.5, 0.4])
    names = arm.joint_names
    rng = np.random.default_rng(4)
    q_bar, v_bar = rng.normal(size=(2, 6))
    target = q + 0.01

    def simulation(gain):
        return Simulation(arm, motors={name: Motor(gain[i], 50.0) for i, name in enumerate(names)})

    def loss(gain, q_target, start):
        s = simulation(gain)
        end = s.step(s.state(start), Control(q_target=q_target))
        return q_bar @ end.q + v_bar @ end.v

    gain = np.full(6, 2000.0)
    s = simulation(gain)
    gradient = s.vjp(s.state(q), q_bar, v_bar, Control(q_target=target))
    np.testing.assert_allclose(
        gradient.motors[:, 0], differences(lambda e: loss(gain + e, target, q), 6, 1.0), rtol=1e-6, atol=1e-12
    )
    np.testing.assert_allclose(
        gradient.q_target, differences(lambda e: loss(gain, target + e, q), 6, 1e-4), rtol=1e-7, atol=1e-9
    )
    np.testing.assert_allclose(
        gradient.q, differences(lambda e: loss(gain, target, q + e), 6, 1e-4), rtol=1e-7, atol=1e-7
    )


def test_what_has_no_gradient_says_so():
    simulation = Simulation(free_boxes(1), floor(), solver="pgs")
    with pytest.raises(SimulationError, match="gradients of steps are those of the solver 'lcp'"):
        simulation.vjp(simulation.state(), np.zeros(6), np.zeros(6))
    simulation = Simulation(free_boxes(1), floor())
    with pytest.raises(SimulationError, match=r"q_bar has shape \(7,\); expected \(6,\)"):
        simulation.vjp(simulation.state(), np.zeros(7), np.zeros(6))
    motion = simulation.run(simulation.state(), 3)
    with pytest.raises(SimulationError, match=r"v_bar has shape \(3, 6\); expected \(4, 6\)"):
        simulation.run_vjp(motion, np.zeros((4, 6)), np.zeros((3, 6)))
