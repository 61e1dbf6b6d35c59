"""Overlaps, joints beyond limits and open closures are corrected without adding velocity."""

from __future__ import annotations

import numpy as np
import pytest

import robosim
from robosim.errors import SimulationError
from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder
from robosim.scene import Scene
from robosim.simulation import Control, Simulation, StepStatus
from robosim.world import JointEquality, Material, PointClosure, World

from .solvers import ALL

FLOOR = Scene("room")
FLOOR.add_half_space("floor")


def box(height: float, material: Material | None = None) -> World:
    world = World(scene=FLOOR, materials={} if material is None else {("box", "floor"): material})
    world.add_body("box", Shape.box((0.1, 0.1, 0.1)), mass=1.0, pose=pose((0, 0, 0.05 + height)))
    return world


@pytest.mark.parametrize("bounce", ["step", "time_of_impact"])
@pytest.mark.parametrize("dt", [1e-4, 1e-3, 4e-3])
@pytest.mark.parametrize("depth", [1e-3, 1e-2])
@pytest.mark.parametrize("solver", ALL)
def test_what_begins_in_the_floor_comes_to_rest_on_it(solver, depth, dt, bounce):
    simulation = Simulation(box(-depth), dt=dt, solver=solver, bounce=bounce)
    run = simulation.rollout(simulation.state(), round(0.4 / dt))
    assert run.report.solved
    heights = run.q[:, 2] - 0.05
    assert (np.diff(heights) > -1e-12).all()  # it only rises,
    assert heights.max() < 1e-9  # never above the floor,
    assert abs(heights[-1]) < 1e-8
    assert np.abs(run.v).max() < 1e-12  # and has no velocity except rounding
    # The speed is at most the recovery speed.
    assert (np.diff(heights) / dt).max() <= 1.0 + 1e-9


@pytest.mark.parametrize("solver", ALL)
@pytest.mark.parametrize(("drop", "dt"), [(0.5, 1e-3), (0.5, 4e-3), (2.0, 1e-3), (2.0, 1e-4)])
def test_what_lands_does_not_rebound(drop, dt, solver):
    """The box is faster than margin / dt, so it is found within a step and stops at the surface."""
    simulation = Simulation(box(drop, Material(0.5)), dt=dt, solver=solver)
    run = simulation.rollout(simulation.state(), round((np.sqrt(2 * drop / 9.81) + 0.3) / dt))
    landed = int(run.v[:, 2].argmin())
    assert run.v[landed:, 2].max() < 1e-9
    assert run.q[:, 2].min() > 0.05 - 1e-9
    assert abs(run.q[-1, 2] - 0.05) < 1e-6
    model = simulation.model
    energy = model.kinetic_energy(run.q, run.v) + model.potential_energy(run.q)
    raised = 9.81 * (0.05 - run.q[:, 2].min())  # position correction lifts it
    assert max(energy) - energy[0] < 1e-3 * energy[0]
    assert np.diff(energy)[landed:].max() <= raised + 1e-9


@pytest.mark.parametrize("solver", ALL)
def test_what_bounces_keeps_to_its_restitution(solver):
    """The impact is half a step of gravity later: velocities are those in the middle of steps."""
    world = box(-2e-3, Material(0.5, restitution=0.5))
    for bounce in "step", "automatic":
        simulation = Simulation(world, solver=solver, bounce=bounce)
        half = 0.0 if bounce == "step" else 0.5 * simulation.dt * 9.80665
        state = simulation.state(v=[0, 0, -1.0, 0, 0, 0])
        assert simulation.step(state).v[2] == pytest.approx(0.5 * (1 + half) - half, abs=1e-9)


def rail(**limits) -> ModelBuilder:
    builder = ModelBuilder("rail")
    builder.add_link("root")
    builder.add_link("cart", mass=1.0, inertia=0.01 * np.eye(3))
    builder.add_joint("x", "prismatic", "root", "cart", axis=(1, 0, 0), **limits)
    return builder


@pytest.mark.parametrize("solver", ALL)
@pytest.mark.parametrize(("start", "end"), [(-0.01, 0.0), (1.01, 1.0)])
def test_a_joint_beyond_its_limit_comes_to_rest_there(start, end, solver):
    world = World(rail(lower=0.0, upper=1.0).build())
    simulation = Simulation(world, solver=solver)
    run = simulation.rollout(simulation.state([start]), 400)
    assert run.q[-1, 0] == pytest.approx(end, abs=1e-9)
    assert not run.v.any()


@pytest.mark.parametrize("solver", ALL)
def test_it_is_no_faster_than_asked_for(solver):
    world = World(rail(lower=0.0, upper=1.0, velocity=0.05).build())
    for options, speed in (({"recovery_speed": 0.2}, 0.2), ({"speed_limits": True}, 0.05)):
        simulation = Simulation(world, solver=solver, **options)
        run = simulation.rollout(simulation.state([-0.01]), 10)
        assert np.diff(run.q[:, 0]).max() == pytest.approx(1e-3 * speed, rel=1e-9)
        assert not run.v.any()


def linked() -> World:
    """Two carts that a closure keeps at one place, and a third that follows the second."""
    builder = rail()
    for name in ("y", "z"):
        builder.add_link(name, mass=2.0, inertia=0.01 * np.eye(3))
        builder.add_joint(f"j{name}", "prismatic", "root", name, axis=(1, 0, 0))
    closures = [PointClosure("cart", "y", axes="x"), JointEquality("jz", "jy", (0.1, 2.0))]
    return World(builder.build().with_gravity([0, 0, 0]), closures=closures)


@pytest.mark.parametrize("solver", ALL)
def test_what_has_come_apart_comes_together_and_stands_still(solver):
    simulation = Simulation(linked(), solver=solver, sweeps=400)
    run = simulation.rollout(simulation.state([0.01, 0.0, 0.1]), 300)
    x, y, z = run.q[-1]
    assert x == pytest.approx(y, abs=1e-9)
    assert z == pytest.approx(0.1 + 2 * y, abs=1e-9)
    assert np.abs(run.v).max() < 1e-9
    assert run.report.status <= StepStatus.basic


def in_the_floor(simulation: Simulation, seed: int):
    """State and control of a quadruped whose lowest foot is 2 to 10 mm deep in the floor."""
    rng = np.random.default_rng(seed)
    model = simulation.model
    q = np.array(simulation.world.start)
    q[2] = 1.0
    q = model.integrate(q, 0.02 * rng.normal(size=model.n_v))
    feet = simulation.world.scene.compile(model.with_collision_pairs([]))
    q[2] -= feet.min_distance(q)[0] + rng.uniform(2e-3, 1e-2)
    return simulation.state(q, 0.5 * rng.normal(size=model.n_v)), Control(
        tau=rng.normal(size=model.n_v)
    )


@pytest.mark.parametrize("bounce", ["step", "time_of_impact"])
@pytest.mark.parametrize("solver", ["lcp", "pgs"])
@pytest.mark.parametrize("seed", range(3))
def test_all_derivatives_are_differences(seed, solver, bounce):
    """Jacobians, gradient and tangent with respect to state, control and a few parameters.

    The quadruped stands in the floor.
    """
    walker = robosim.load_robot("quadruped", base="floating")
    world = World(walker, FLOOR, q="standing")
    simulation = Simulation(world, solver=solver, bounce=bounce, dt=2e-3, substeps=1 + seed % 2)
    state, control = in_the_floor(simulation, seed)
    step = simulation.linearize(state, control)
    assert min(contact.gap for contact in step.contacts) < -1e-3
    model, rng = simulation.model, np.random.default_rng([seed, 9])
    keys = ["gravity", "dt", ("mass", walker.link_names[-1])]
    J = step.jacobians("q", "v", "tau", *keys)
    bars = rng.normal(size=(2, model.n_v))
    gradient = step.vjp(*bars)
    direction = {name: rng.normal(size=model.n_v) for name in ("q", "v", "tau")}
    tangent = step.jvp(**direction)
    product = sum(getattr(J, name) @ x for name, x in direction.items())
    size = np.abs(product).max()
    assert np.allclose(np.array([tangent.q, tangent.v]), product, rtol=0, atol=1e-9 * size)
    for name in direction:
        rows = np.einsum("ki,kij->j", bars, getattr(J, name))
        scale = np.abs(getattr(J, name)).max()
        assert np.allclose(
            getattr(gradient, name), rows, rtol=0, atol=1e-8 * scale * np.abs(bars).sum()
        )
    for key in keys:
        rows = np.einsum("ki,ki...->...", bars, J.parameters[key])
        scale = np.abs(J.parameters[key]).max()
        assert np.allclose(
            gradient.parameters[key], rows, rtol=0, atol=1e-8 * (1 + scale) * np.abs(bars).sum()
        )

    def moved(h: float):
        q = model.integrate(state.q, h * direction["q"])
        driven = Control(tau=control.tau + h * direction["tau"])
        return simulation.linearize(simulation.state(q, state.v + h * direction["v"]), driven)

    errors = []
    for h in (1e-5, 1e-6, 1e-7):
        there, back = moved(h), moved(-h)
        if there.signature == step.signature == back.signature:
            change = model.difference(back.state.q, there.state.q), there.state.v - back.state.v
            errors.append(np.abs(np.array(change) / (2 * h) - product).max())
    # Rounding of 1e-16 over differences of 1e-6, and the error of the differences.
    assert errors
    assert min(errors) < 1e-7 * size


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"recovery_speed": 0.0}, "recovery_speed is 0; it must be positive and finite"),
        ({"recovery_speed": np.inf}, "recovery_speed is inf; it must be positive and finite"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(SimulationError, match=message):
        Simulation(box(0.0), **options)
