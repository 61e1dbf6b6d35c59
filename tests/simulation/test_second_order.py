"""Second-order products of steps: compared with forward dynamics and differences, and symmetric."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import robosim
from robosim import _engine
from robosim.errors import SimulationError
from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder
from robosim.simulation import Control, Simulation
from robosim.world import Material, Motor, World

from .differences import differences
from .solvers import ALL
from .worlds import ball_on_rails, floor, free_boxes, resting

RNG = np.random.default_rng
SOLVERS = [(solver, {"sweeps": 10} if solver == "pgs" else {}) for solver in ALL]
DRIVES = ("q", "v", "tau", "q_target", "v_target")


def along(gradient, direction):
    """Product of a gradient with a direction in state and control."""
    return sum(getattr(gradient, name) @ step for name, step in direction.items())


def sizes(gradient, direction):
    """Product without regard to sign, which rounding is relative to."""
    return sum(np.abs(getattr(gradient, name)) @ np.abs(step) for name, step in direction.items())


def random_direction(rng, model, *, dt, force=1.0):
    """Random direction in state and control. Each part moves bodies about as far in a step."""
    n = model.n_v
    return {
        "q": rng.normal(size=n),
        "v": rng.normal(size=n) / dt,
        "tau": force * rng.normal(size=n),
        "q_target": rng.normal(size=model.n_q),
        "v_target": rng.normal(size=n),
    }


def moved(model, state, control, direction, by):
    """State and control moved along a direction."""
    known = {"tau": model.n_v, "q_target": model.n_q, "v_target": model.n_v}
    drive = {
        name: (np.zeros(n) if getattr(control, name) is None else getattr(control, name))
        + by * direction[name]
        for name, n in known.items()
        if name != "q_target" or control.q_target is not None
    }
    q = model.integrate(state.q, by * direction["q"])
    return replace(state, q=q, v=state.v + by * direction["v"]), Control(**drive)


def quadruped(solver, **options):
    """A quadruped that stands on its motors, pressed slightly into the floor."""
    model = robosim.load_robot("quadruped", base="floating")
    motors = {name: Motor(60, 3, limit=40) for name in model.velocity_names[6:]}
    simulation = Simulation(
        World(model, floor(), motors=motors, materials={"floor": Material(0.8)}),
        dt=2e-3,
        solver=solver,
        **options,
    )
    q = model.neutral()
    q[7:] = np.tile([0.0, 0.8, -1.6], 4)
    q[2] = 0.4
    q[2] -= floor().compile(model).min_distance(q)[0] + 1e-4
    control = Control(q_target=q)
    state = simulation.rollout(simulation.state(q), 200, control).end
    return simulation, state, control


def round_things(solver, **options):
    """An ellipsoid that slides over the floor, turning, and a capsule that slides over it."""
    builder = ModelBuilder("things")
    builder.add_link("root")
    for name, shape in (
        ("ellipsoid", Shape.ellipsoid((0.2, 0.15, 0.1))),
        ("capsule", Shape.capsule(0.05, 0.2)),
    ):
        builder.add_link(
            name, mass=2.0, com=(0.01, 0, -0.005), inertia=0.01 * np.diag([1.0, 1.2, 0.8])
        )
        builder.add_joint(f"free_{name}", "floating", "root", name)
        builder.add_collider(name, shape)
    model = builder.build()
    materials = {"floor": Material(0.3, torsional_friction=0.01), "capsule": Material(0.2)}
    simulation = Simulation(World(model, floor(), materials=materials), solver=solver, **options)
    q = model.neutral()
    q[3:7] = 0.1, 0.05, 0, 1
    q[7:14] = 0.02, 0.01, 2, 0.5, 0.4, 0.3, 0.6
    compiled = floor().compile(model)
    for above, overlap in (2, 1e-5), (9, 2e-5):
        q[above] += 1
        while (gap := compiled.min_distance(q)[0]) > 1e-9 - overlap:
            q[above] -= max(gap, 0) + 0.2 * overlap
    return (
        simulation,
        simulation.state(q, [0.5, 0.2, 0, 0, 0, 1, -0.3, 0.4, 0, 0, 0, -2]),
        Control(),
    )


def chain():
    """Five links on joints without damping, where the step's velocity is v + dt a."""
    rng = RNG(6)
    builder = ModelBuilder("chain")
    builder.add_link("link0")
    for i in range(5):
        com, moments = 0.1 * rng.normal(size=3), rng.uniform(0.1, 0.15, 3)
        builder.add_link(f"link{i + 1}", mass=rng.uniform(1, 2), com=com, inertia=np.diag(moments))
        kind = "prismatic" if i == 2 else "revolute"
        at = pose(0.3 * rng.normal(size=3), rpy=rng.normal(size=3))
        builder.add_joint(
            f"joint{i}", kind, f"link{i}", f"link{i + 1}", X_PJ=at, axis=rng.normal(size=3)
        )
    return builder.build()


def test_of_free_motion_they_are_those_of_forward_dynamics():
    model = chain()
    rng = RNG(1)
    simulation = Simulation(World(model), dt=0.01)
    for _ in range(5):
        q, v, tau, q_bar, v_bar = rng.normal(size=(5, model.n_v))
        direction = random_direction(rng, model, dt=1)
        dq, dv, dtau = (direction[name] for name in ("q", "v", "tau"))
        found = simulation.linearize(simulation.state(q, v), Control(tau)).hvp(
            q_bar, v_bar, **direction
        )
        # With q+ = q + dt v+, the nonlinear part of the loss is dt (v_bar + dt q_bar) . a.
        a_bar = simulation.dt * (v_bar + simulation.dt * q_bar)
        exact = model.forward_dynamics_hvp(q, v, tau, a_bar, dq, dv, dtau)
        for got, expected, off in zip(found.gradient[:3], exact, found.error[:3], strict=True):
            assert np.abs(got - expected).max() < 1e-9 * np.abs(exact[0]).max()
            assert np.abs(got - expected).max() < 10 * off.max()
        assert not found.gradient.one_sided


@pytest.mark.parametrize("world", [quadruped, round_things])
@pytest.mark.parametrize(("solver", "options"), [*SOLVERS, ("lcp", {"substeps": 3})])
def test_they_are_symmetric_where_things_touch(world, solver, options):
    simulation, state, control = world(solver, **options)
    assert simulation.step(state, control).report.contacts >= 2
    rng = RNG(2)
    model = simulation.model
    q_bar = rng.normal(size=model.n_v)
    v_bar = simulation.dt * rng.normal(size=model.n_v)
    directions = [random_direction(rng, model, dt=simulation.dt, force=10) for _ in range(4)]
    products = [
        simulation.linearize(state, control).hvp(q_bar, v_bar, **step) for step in directions
    ]
    for i, (a, at_a) in enumerate(zip(directions, products, strict=True)):
        assert not at_a.gradient.one_sided
        for b, at_b in zip(directions[:i], products[:i], strict=True):
            size = max(sizes(at_a.gradient, b), sizes(at_b.gradient, a))
            off = abs(along(at_a.gradient, b) - along(at_b.gradient, a))
            # Products are differences of gradients. Redundant rows of `convex` share impulses,
            # which magnifies rounding.
            assert off < (1e-6 if solver == "convex" else 1e-7) * size
            assert off < 10 * (sizes(at_a.error, b) + sizes(at_b.error, a))


@pytest.mark.parametrize("world", [quadruped, round_things])
@pytest.mark.parametrize(("solver", "options"), SOLVERS)
def test_they_are_second_differences_of_steps(world, solver, options):
    simulation, state, control = world(solver, **options)
    rng = RNG(3)
    model = simulation.model
    state = replace(state, v=state.v + 1e-3 * rng.normal(size=model.n_v))
    q_bar, v_bar = rng.normal(size=model.n_v), simulation.dt * rng.normal(size=model.n_v)
    here = simulation.step(state, control)
    formula = simulation.linearize(state, control).signature
    compared = 0
    for _ in range(8):
        direction = random_direction(rng, model, dt=simulation.dt, force=10)
        points = {
            by: moved(model, state, control, direction, by * 4e-6) for by in (-2, -1, 0, 1, 2)
        }
        if any(simulation.linearize(*point).signature != formula for point in points.values()):
            continue
        ends = {by: simulation.step(*point) for by, point in points.items()}
        loss = {
            by: q_bar @ model.difference(here.q, end.q) + v_bar @ end.v for by, end in ends.items()
        }
        near, far = (loss[k] - 2 * loss[0] + loss[-k] for k in (1, 2))
        expected = (16 * near - far) / 12 / 4e-6**2
        product = simulation.linearize(state, control).hvp(q_bar, v_bar, **direction)
        # Rounding of the loss, about 1e-15, over 4e-6 squared.
        assert along(product.gradient, direction) == pytest.approx(expected, rel=1e-5, abs=1e-4)
        assert abs(expected) > 1
        compared += 1
    assert compared >= 4


def test_of_a_body_that_turns_far_in_a_step_they_are_in_its_axes_at_the_start():
    simulation = Simulation(World(free_boxes(1)), dt=0.1)
    model = simulation.model
    rng = RNG(4)
    state = simulation.state(resting(1.0), [1, -2, 3, 6, -4, 5])  # by 0.9 rad
    q_bar, v_bar = rng.normal(size=(2, 6))
    here = simulation.step(state)

    def loss(x):
        end = simulation.step(replace(state, q=model.integrate(state.q, x[:6]), v=state.v + x[6:]))
        return np.array([q_bar @ model.difference(here.q, end.q) + v_bar @ end.v])

    hessian = differences(lambda x: differences(lambda y: loss(x + y), 12, 1e-3)[0], 12, 1e-3)
    for i, unit in enumerate(np.eye(12)):
        product = simulation.linearize(state).hvp(q_bar, v_bar, q=unit[:6], v=unit[6:]).gradient
        # Rounding of the differences, 1e-16 over 1e-3 squared, and their truncation, 1e-12.
        assert np.allclose([*product.q, *product.v], hessian[:, i], atol=1e-8)


@pytest.mark.parametrize("solver", _engine.row_solvers)
def test_parameters_have_mixed_derivatives(solver):
    simulation, state, control = quadruped(solver)
    rng = RNG(5)
    n = simulation.model.n_v
    q_bar, v_bar = rng.normal(size=n), rng.normal(size=n)
    direction = random_direction(rng, simulation.model, dt=simulation.dt)
    product = simulation.linearize(state, control).hvp(q_bar, v_bar, **direction).gradient
    values = simulation.parameters
    moved = {
        name: rng.normal(size=values[name].shape) * (values[name] > 0) * np.isfinite(values[name])
        for name in ("friction", "position_gain", "velocity_gain", "motor_limit")
    }

    def pulled(by):
        other = simulation.with_parameters(
            {name: values[name] + by[0] * d for name, d in moved.items()}
        )
        return np.array([along(other.linearize(state, control).vjp(q_bar, v_bar), direction)])

    expected = differences(pulled, 1, 1e-4)[0, 0]
    mixed = sum(np.sum(product.parameters[name] * d) for name, d in moved.items())
    assert mixed == pytest.approx(expected, rel=1e-6)
    assert np.abs(product.parameters["mass"]).max() > 0
    assert np.abs(product.parameters["pose"]).max() > 0


def test_where_a_kink_is_there_is_none():
    # Two balls that touch without a force. Any motion separates them or presses them together.
    model = ball_on_rails([1, 1])
    simulation = Simulation(World(model))
    state = simulation.state([0, 0.2])
    found = simulation.linearize(state).hvp(np.ones(2), np.ones(2), v=[1.0, 0.0])
    assert found.gradient.one_sided
    assert np.isnan(found.gradient.q).all()
    assert np.isnan(found.error.q).all()


def test_along_nothing_nothing_changes():
    simulation, state, control = quadruped("lcp")
    found = simulation.linearize(state, control).hvp(np.ones(18), np.ones(18))
    for part in (found.gradient, found.error):
        assert all(np.all(getattr(part, name) == 0) for name in DRIVES)


def test_twice_the_loss_has_twice_the_product():
    simulation, state, _ = round_things("convex")
    ones = np.ones(12)
    once, twice = (
        simulation.linearize(state).hvp(x * ones, x * ones, v=ones).gradient for x in (1, 2)
    )
    assert np.allclose(2 * once.q, twice.q, rtol=1e-6, atol=1e-6 * np.abs(twice.q).max())


@pytest.mark.parametrize("name", DRIVES)
def test_arrays_of_the_wrong_shape_are_named(name):
    simulation, state, control = quadruped("lcp")
    with pytest.raises(SimulationError, match=name):
        simulation.linearize(state, control).hvp(np.zeros(18), np.zeros(18), **{name: np.zeros(3)})
