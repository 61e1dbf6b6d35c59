"""Everyday contact: seams without effect, loads on their supports, chains that only lose energy."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.geometry import Compound, Shape, TriangleMesh, pose
from robosim.model import ModelBuilder
from robosim.scene import Scene
from robosim.simulation import Control, Simulation, State, StepStatus
from robosim.world import Material, World

from .solvers import ALL, EXACT

G = 9.81
FOOT = Shape.convex(
    np.array(
        [
            [x, y, z]
            for z, s in ((0.0, 1.0), (0.05, 0.6))
            for x in (-0.06 * s, 0.06 * s)
            for y in (-0.04 * s, 0.04 * s)
        ]
    )
)
ON_ITS_SIDE = pose(rpy=(0, np.pi / 2, 0))
SLIDERS = {  # with the heights of their origins
    "box": (Shape.box((0.1, 0.1, 0.05)), np.eye(4), 0.025),
    "capsule": (Shape.capsule(0.03, 0.1), ON_ITS_SIDE, 0.03),
    "cylinder": (Shape.cylinder(0.05, 0.05), np.eye(4), 0.025),
    "foot": (FOOT, np.eye(4), 0.0),
}
TILES = [(Shape.box((0.05, 1, 0.1)), pose((0.05 * i, 0, -0.05))) for i in range(-8, 12)]


def two_boxes(scene: Scene) -> None:
    scene.add_box("a", (1, 1, 0.1), pose((-0.4, 0, -0.05)))
    scene.add_box("b", (1, 1, 0.1), pose((0.6, 0, -0.05)))


def tiles(scene: Scene) -> None:
    for i, (shape, X) in enumerate(TILES):
        scene.add_box(f"tile_{i}", tuple(shape.size), X)


def compound(scene: Scene) -> None:
    scene.add_shape("floor", Compound(TILES))


def triangles(scene: Scene) -> None:
    corners = np.array([[0.05 * i, y, 0.0] for i in range(-8, 13) for y in (-0.5, 0.5)])
    faces = [
        f
        for i in range(20)
        for f in ((2 * i, 2 * i + 2, 2 * i + 1), (2 * i + 1, 2 * i + 2, 2 * i + 3))
    ]
    scene.add_shape("floor", TriangleMesh(corners, np.array(faces)))


def slider(name: str, floor, x: float = -0.1, height: float = 0.0) -> World:
    shape, X, z = SLIDERS[name]
    scene = Scene("floor")
    floor(scene)
    world = World(
        scene=scene, materials={("it", surface): Material(0.2) for surface in scene.objects}
    )
    world.add_body("it", shape, mass=1.0, pose=pose((x, 0.01, z + height)) @ X)
    return world


FLOORS = [two_boxes, tiles, compound, triangles]
# Steps of 0.1 ms take long, so they run with one solver and on two of the floors.
SEAMS = [(floor, solver, dt) for floor in FLOORS for solver in ALL for dt in (1e-3, 4e-3)] + [
    (floor, "lcp", 1e-4) for floor in (two_boxes, triangles)
]


@pytest.mark.parametrize(("floor", "solver", "dt"), SEAMS)
@pytest.mark.parametrize("name", SLIDERS)
def test_what_slides_feels_no_seam(name, floor, solver, dt):
    simulation = Simulation(slider(name, floor), dt=dt, solver=solver)
    start = simulation.world.start
    v = np.zeros(6)
    v[:3] = simulation.model.link_poses(start)["it"][:3, :3].T @ [1, 0, 0]
    run = simulation.rollout(simulation.state(start, v), round(0.8 / dt))
    assert run.q[-1, 0] - run.q[0, 0] == pytest.approx(1 / (2 * 0.2 * G), rel=1e-2)
    assert abs(run.q[:, 2] - run.q[0, 2]).max() < 2e-5
    assert abs(run.q[:, 1] - run.q[0, 1]).max() < 1e-4


def test_a_step_up_is_run_into():
    """Steps of 2 mm and of 0.2 mm stop a box."""
    for height in (2e-3, 2e-4):
        scene = Scene("floor")
        scene.add_box("a", (1, 1, 0.1), pose((-0.4, 0, -0.05)))
        scene.add_box("b", (1, 1, 0.1), pose((0.6, 0, height - 0.05)))
        world = World(scene=scene, materials={("it", x): Material(0.2) for x in "ab"})
        world.add_body("it", Shape.box((0.1, 0.1, 0.05)), mass=1.0, pose=pose((-0.1, 0, 0.025)))
        simulation = Simulation(world)
        run = simulation.rollout(simulation.state(v=[1, 0, 0, 0, 0, 0]), 400)
        assert run.q[-1, 0] < 0.08


def push(friction: float) -> World:
    """A world where a slider pushes a box over the floor."""
    builder = ModelBuilder("push")
    builder.add_link("root")
    builder.add_link("pusher", mass=2.0, inertia=0.01 * np.eye(3))
    builder.add_joint(
        "x", "prismatic", "root", "pusher", axis=(1, 0, 0), X_PJ=pose((-0.2, 0, 0.06))
    )
    builder.add_collider("pusher", Shape.box((0.08, 0.08, 0.08)))
    floor = Scene("ground")
    floor.add_half_space("floor")
    materials = {("pusher", "box"): Material(friction), ("box", "floor"): Material(0.8)}
    world = World(builder.build(), floor, materials=materials)
    world.add_body("box", Shape.box((0.12, 0.12, 0.12)), mass=1.0, pose=pose((0, 0, 0.06)))
    return world


@pytest.mark.parametrize("dt", [5e-4, 1e-3, 2e-3, 4e-3])
@pytest.mark.parametrize("solver", ALL)
def test_a_pusher_does_not_carry_what_it_pushes(solver, dt):
    """The floor can carry the box without friction at the pusher, so the box goes 2.42 m.

    A frictionless pusher would push it as far.
    """
    simulation = Simulation(push(0.8), dt=dt, solver=solver)
    drive = Control(tau=[12.0, 0, 0, 0, 0, 0, 0])
    run = simulation.rollout(simulation.state(), round(1.6 / dt), drive)
    x, y = run.q[-1, 1:3]
    assert 2.3 < x < 2.45
    assert abs(y) < 1e-9
    assert np.abs(run.q[-1, 4:7]).max() < 1e-9  # it does not turn
    if solver == "pgs":  # its sweeps share the load in their own way
        return
    # With `convex` the pusher's friction keeps a hundredth of the part of the box's 9.81 N that
    # springs would carry there.
    share = 0.01 if solver == "convex" else 1e-10
    assert x == pytest.approx(2.424, abs=2e-2 if solver == "convex" else 5e-3)
    step = simulation.linearize(simulation.state(run.q[-1], run.v[-1]), drive)
    carried = [c.force[2] for c in step.contacts if "pusher" in c.A + c.B]
    assert np.abs(carried).max() < share * G
    assert step.report.status == StepStatus.solved


@pytest.mark.parametrize("solver", EXACT)
def test_gradients_go_with_the_choice_of_who_carries(solver):
    """The pusher's friction could carry any share of the weight, which changes how the box slides.

    The rule selects one share, and gradients follow the selection.
    """
    drive = Control(tau=[12.0, 0.2, 0.6, 0, 0, 0, 0])
    simulation = Simulation(push(0.8), dt=2e-3, solver=solver)
    state = simulation.rollout(simulation.state(), 200, drive).end
    step, model = simulation.linearize(state, drive), simulation.model
    assert {contact.mode for contact in step.contacts} == {"sliding", "sticking"}
    by = ("mass", "box")
    jacobians = step.jacobians("q", "v", "tau", by)
    assert not jacobians.one_sided

    def after(q=0, v=0, tau=0, mass=0):
        other = (
            simulation
            if not mass
            else simulation.with_parameters({by: simulation.parameters[by] + mass})
        )
        start = State(model.integrate(state.q, np.zeros(7) + q), state.v + v)
        end = other.linearize(start, Control(tau=drive.tau + np.zeros(7) + tau))
        assert end.signature == step.signature
        return np.stack([model.difference(step.state.q, end.state.q), end.state.v])

    # Redundant rows of `convex` magnify the rounding of their contact points by 1e6.
    h, rounding = 1e-6, 1e-14 if solver == "convex" else 1e-16
    for name in ("q", "v", "tau"):
        found = getattr(jacobians, name)
        for i, unit in enumerate(np.eye(7)):
            change = (after(**{name: h * unit}) - after(**{name: -h * unit})) / (2 * h)
            np.testing.assert_allclose(
                found[..., i], change, rtol=0, atol=1e-8 * np.abs(found).max() + 4 * rounding / h
            )
    change = (after(mass=h) - after(mass=-h)) / (2 * h)
    np.testing.assert_allclose(jacobians.parameters[by], change, rtol=0, atol=1e-8)
    bars = np.random.default_rng(0).normal(size=(2, 7))
    gradient = step.vjp(*bars)
    for name in ("q", "v", "tau"):
        product = np.einsum("ki,kij->j", bars, getattr(jacobians, name))
        np.testing.assert_allclose(getattr(gradient, name), product, rtol=0, atol=1e-11)


def chain(links: int) -> World:
    """A chain of capsules on hinges with alternating axes, fixed to the world at one end."""
    builder = ModelBuilder("chain")
    builder.add_link("w")
    parent, X = "w", pose((0, 0, 1.5))
    for k in range(links):
        name = f"c{k}"
        builder.add_link(name, mass=0.2, com=(0.03, 0, 0), inertia=np.diag([2e-5, 8e-5, 8e-5]))
        builder.add_joint(
            f"j{k}",
            "revolute",
            parent,
            name,
            X_PJ=X,
            axis=(0, k % 2, 1 - k % 2),
            lower=-10,
            upper=10,
        )
        builder.add_collider(
            name, Shape.capsule(0.015, 0.05), X_LC=pose((0.03, 0, 0), rpy=(0, np.pi / 2, 0))
        )
        parent, X = name, pose((0.06, 0, 0))
    return World(builder.build(), materials={f"c{i}": Material(0.5) for i in range(links)})


@pytest.mark.parametrize("solver", ALL)
def test_a_chain_that_hits_itself_gains_nothing_of_it(solver):
    """The work of contacts and friction is never positive.

    In steps of 1 ms the whip of the chain's end gains energy without any contact. Its last link
    turns by 0.3 rad in one step.
    """
    simulation = Simulation(chain(20), solver=solver, dt=2.5e-4)
    run = simulation.rollout(simulation.state(), 10_000)
    model = simulation.model
    energy = model.kinetic_energy(run.q, run.v) + model.potential_energy(run.q)
    assert run.report.status < StepStatus.diverged
    assert energy.max() <= 1.1 * energy[0]
    touched = 0
    for q, v in zip(run.q[5000::4], run.v[5000::4], strict=True):
        step = simulation.linearize(simulation.state(q, v))
        if not step.contacts:
            continue
        balance = step.balance()
        given = balance.work["contacts"] + balance.work["friction"]
        touched += given < 0
        assert given <= 1e-9 * balance.before.kinetic
    assert touched >= 4
