"""Complementarity-aware gradients: which contacts at rest count as separating."""

import numpy as np
import pytest

import robosim
from robosim.errors import SimulationError
from robosim.geometry import Shape
from robosim.model import ModelBuilder
from robosim.simulation import Control, Simulation
from robosim.world import World

from .worlds import G, floor, free_boxes, resting

STEPS, DT, RADIUS, MASS = 60, 2e-3, 0.1, 1.5


def ball_on_an_actuator(**options):
    """A ball at rest on the floor: figure 3 of Werling et al., RSS 2021."""
    builder = ModelBuilder("circle")
    builder.add_link("root")
    builder.add_link("ball", mass=MASS, inertia=0.4 * MASS * RADIUS**2 * np.eye(3))
    builder.add_joint("lift", "prismatic", "root", "ball", axis=(0, 0, 1), velocity=5.0)
    builder.add_collider("ball", Shape.sphere(RADIUS))
    return Simulation(World(builder.build(), floor()), dt=DT, **{"solver": "lcp"} | options)


def gradient_of_height(simulation, q, tau, loss=-1.0):
    """Gradient of `loss` times the final height. By default a higher ball has less loss."""
    control = Control(tau)
    motion = simulation.rollout(simulation.state(q), len(tau), control)
    bar = np.zeros((len(tau) + 1, simulation.model.n_v))
    bar[-1, 0] = loss
    return motion.vjp(bar, np.zeros_like(bar))


@pytest.mark.parametrize("bounce", ["step", "time_of_impact"])
def test_a_ball_at_rest_has_the_gradient_of_one_that_flies(bounce):
    tau = np.full((STEPS, 1), 0.5 * MASS * G)  # too weak to lift it
    plain = gradient_of_height(ball_on_an_actuator(bounce=bounce), [RADIUS], tau)
    np.testing.assert_allclose(plain.tau, 0, rtol=0, atol=1e-18)
    assert not plain.one_sided
    aware = ball_on_an_actuator(bounce=bounce, complementarity_aware=True)
    gradient = gradient_of_height(aware, [RADIUS], tau)
    free_fall = -(DT**2) / MASS * np.arange(STEPS, 0, -1)[:, None]
    np.testing.assert_allclose(gradient.tau, free_fall, rtol=1e-12)
    assert gradient.one_sided
    # A loss that pushes the ball down, where it cannot go, has the plain gradient.
    lower = gradient_of_height(aware, [RADIUS], tau, loss=1.0)
    assert not lower.one_sided
    np.testing.assert_allclose(lower.tau, 0, rtol=0, atol=1e-18)


def test_limits_of_speeds_that_are_far_let_it_rise():
    tau = np.full((STEPS, 1), 0.5 * MASS * G)
    free, limited = (
        gradient_of_height(
            ball_on_an_actuator(complementarity_aware=True, speed_limits=limited),
            [RADIUS],
            tau,
        )
        for limited in (False, True)
    )
    np.testing.assert_allclose(limited.tau, free.tau, rtol=1e-12)


def test_a_drone_lifts_off_by_plain_descent():
    """As in section VII-C of the paper, the drone rests for a while, then rises to its mark."""
    drone = robosim.load_robot("drone", base="floating")
    weight = sum(link.mass for link in drone.links) * G
    q = np.array(drone.neutral())
    q[2] = 0.06
    wanted, losses = 0.02, {}
    for aware in False, True:
        simulation = Simulation(
            World(drone, floor()), dt=DT, solver="lcp", complementarity_aware=aware
        )
        thrust = np.zeros(STEPS)
        trace = []
        for _ in range(80):
            tau = np.zeros((STEPS, drone.n_v))
            tau[:, 2] = thrust
            control = Control(tau)
            motion = simulation.rollout(simulation.state(q), STEPS, control)
            miss = motion.q[-1, 2] - q[2] - wanted
            trace.append(miss**2)
            bar = np.zeros((STEPS + 1, drone.n_v))
            bar[-1, 2] = 2 * miss
            slope = motion.vjp(bar, np.zeros_like(bar)).tau[:, 2]
            free = (
                2 * wanted * DT**2 * G / weight * np.arange(STEPS, 0, -1)
            )  # gradient of the first step in which it is not zero
            thrust = thrust - 0.5 * wanted**2 / (free @ free) * slope
        losses[aware] = trace
    np.testing.assert_allclose(losses[False], wanted**2, rtol=1e-12)  # no progress
    assert losses[True][0] == pytest.approx(wanted**2)
    assert min(losses[True]) < 1e-2 * wanted**2


def test_what_flies_or_slides_has_its_own_gradient_to_the_bit():
    q, v = resting(0.05), [1.0, 0.2, 0, 0, 0, 0.5]
    found = []
    for aware in False, True:
        simulation = Simulation(
            World(free_boxes(1), floor()), solver="lcp", complementarity_aware=aware
        )
        high = simulation.state(resting(1.0), v)
        # The loss presses the box against the floor.
        slides = simulation.state(q, v)
        found.append(
            [
                simulation.linearize(s).vjp([0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 0, 0])
                for s in (high, slides)
            ]
        )
        matrices = simulation.linearize(slides).jacobians()
        np.testing.assert_allclose(matrices.v[1, 2], 0, atol=1e-16)  # exact
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.v, other.v)
        np.testing.assert_array_equal(one.tau, other.tau)


def test_a_gradient_asked_for_again_is_the_same():
    world, options = World(free_boxes(2), floor()), {"solver": "lcp", "bounce": "time_of_impact"}
    simulation = Simulation(world, complementarity_aware=True, **options)
    state = simulation.state(resting(0.05, 0.15), np.r_[np.zeros(6), 0.1, 0, 0, 0, 0, 0])
    bars = np.random.default_rng(1).normal(size=(2, 12))
    first, again = (simulation.linearize(state).vjp(*bars) for _ in range(2))
    plain = Simulation(world, **options).linearize(state).vjp(*bars)
    np.testing.assert_array_equal(first.v, again.v)
    np.testing.assert_array_equal(first.parameters["mass"], again.parameters["mass"])
    assert not np.array_equal(first.v, plain.v)


def ball_on_a_platform(**options):
    """A ball at rest on a platform that rests at its lower limit: figure 4 of the same paper."""
    builder = ModelBuilder("lift")
    builder.add_link("root")
    builder.add_link("platform", mass=2 * MASS, inertia=0.1 * np.eye(3))
    builder.add_joint("lift", "prismatic", "root", "platform", axis=(0, 0, 1), lower=0.0)
    builder.add_collider("platform", Shape.box((0.4, 0.4, 0.1)))
    builder.add_link("ball", mass=MASS, inertia=0.4 * MASS * RADIUS**2 * np.eye(3))
    builder.add_joint("rises", "prismatic", "root", "ball", axis=(0, 0, 1))
    builder.add_collider("ball", Shape.sphere(RADIUS))
    return Simulation(World(builder.build()), dt=DT, **{"solver": "lcp"} | options)


@pytest.mark.parametrize("bounce", ["step", "time_of_impact"])
def test_a_platform_lifts_what_is_kept_on_it(bounce):
    tau = np.zeros((STEPS, 2))  # no force acts on the ball itself
    q_bar = np.zeros((STEPS + 1, 2))
    q_bar[-1, 1] = -1.0
    found = {}
    for rule in False, True, "together":
        simulation = ball_on_a_platform(complementarity_aware=rule, bounce=bounce)
        # The rule is kept by a world with other parameters.
        simulation = simulation.with_parameters(
            {"motor_limit": simulation.parameters["motor_limit"]}
        )
        motion = simulation.rollout(simulation.state([0, 0.05 + RADIUS]), STEPS, Control(tau))
        found[rule] = motion.vjp(q_bar, np.zeros_like(q_bar))
    for rule in False, True:
        np.testing.assert_allclose(found[rule].tau[:, 0], 0, rtol=0, atol=1e-18)
    free_flight = -(DT**2) / (3 * MASS) * np.arange(STEPS, 0, -1)
    np.testing.assert_allclose(found["together"].tau[:, 0], free_flight, rtol=1e-12)
    assert found["together"].one_sided
    assert not found[False].one_sided


@pytest.mark.parametrize("rule", ["each", "Together", 1, None, np.ones(2)])
def test_a_rule_that_there_is_not_is_named(rule):
    with pytest.raises(
        SimulationError, match=r"complementarity_aware is .*; it is False, True or 'together'"
    ):
        ball_on_a_platform(complementarity_aware=rule)


@pytest.mark.parametrize("solver", ["convex", "pgs"])
def test_a_solver_that_knows_no_classes_is_refused(solver):
    text = f"need a solver that knows classes, as 'lcp' does; this one is '{solver}'"
    with pytest.raises(SimulationError, match=text):
        ball_on_an_actuator(solver=solver, complementarity_aware=True)
    with pytest.raises(SimulationError, match=text):
        ball_on_a_platform(solver=solver, complementarity_aware="together")
