"""Contacts that begin within a step are found ahead, so that nothing overlaps."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.geometry import Compound, Shape, TriangleMesh, pose
from robosim.model import ModelBuilder
from robosim.scene import Scene
from robosim.simulation import Simulation, State
from robosim.world import Material, World

from .solvers import ALL, EXACT

DT = 2e-3
MOST = 1e-4  # [m] of overlap
PLATE = Shape.box((0.3, 0.2, 0.002))


def half_space(scene: Scene) -> None:
    scene.add_half_space("floor")


def mesh(scene: Scene) -> None:
    x = np.linspace(-1, 1, 9)
    corners = np.array([(a, b, 0.0) for a in x for b in x])
    cells = [9 * i + j for i in range(8) for j in range(8)]
    faces = [f for k in cells for f in ((k, k + 9, k + 1), (k + 1, k + 9, k + 10))]
    scene.add_shape("floor", TriangleMesh(corners, np.array(faces)))


def height_field(scene: Scene) -> None:
    scene.add_height_field("floor", np.zeros((9, 9)), (0.25, 0.25))


def tiles(scene: Scene) -> None:
    places = [0.25 * i - 0.875 for i in range(8)]
    boxes = [(Shape.box((0.25, 0.25, 0.1)), pose((x, y, -0.05))) for x in places for y in places]
    scene.add_shape("floor", Compound(boxes))


FLOORS = {f.__name__: f for f in (half_space, mesh, height_field, tiles)}


def free(shapes: dict, floor=half_space, material: Material | None = None) -> World:
    """A world of free bodies of 1 kg above a floor, with a shape and a pose for each name."""
    scene = Scene("room")
    floor(scene)
    world = World(scene=scene, materials={"floor": material or Material(0.5)})
    for name, (shape, X) in shapes.items():
        world.add_body(name, shape, mass=1.0, pose=X, material=material or Material(0.5))
    return world


def overlap(simulation: Simulation, state: State, steps: int) -> float:
    """Deepest overlap of a run [m]."""
    deepest = 0.0
    for _ in range(steps):
        step = simulation.linearize(state)
        deepest = max([deepest, *(-contact.gap for contact in step.contacts)])
        state = step.state
    return deepest


@pytest.mark.parametrize(
    ("floor", "tilt"),
    [(floor, 0.0) for floor in FLOORS]
    + [(floor, tilt) for floor in ("half_space", "tiles") for tilt in (0.01, 0.2)],
)
@pytest.mark.parametrize("height", [1.3e-3, 2.6e-3, 3.9e-3])
@pytest.mark.parametrize("solver", ALL)
def test_a_plate_that_drops_stays_above_its_floor(solver, height, floor, tilt):
    """At 2 m/s the plate moves by twice its thickness in a step."""
    lowest = 0.15 * np.sin(tilt) + 0.001 * np.cos(tilt)
    X = pose((0.03, 0.02, lowest + height), rpy=(0, tilt, 0))
    world = free({"plate": (PLATE, X)}, FLOORS[floor])
    simulation = Simulation(world, dt=DT, solver=solver)
    assert overlap(simulation, simulation.state(v=[0, 0, -2.0, 0, 0, 0]), 60) < MOST


def door() -> World:
    builder = ModelBuilder("door")
    builder.add_link("frame")
    builder.add_link("leaf", mass=10.0, com=(0.4, 0, 0), inertia=np.diag([3.4, 0.54, 3.9]))
    builder.add_joint("hinge", "revolute", "frame", "leaf", axis=(0, 0, 1), lower=-2, upper=2)
    builder.add_collider("leaf", Shape.box((0.8, 0.04, 2.0)), X_LC=pose((0.4, 0, 0)))
    scene = Scene("wall")
    scene.add_box("post", (0.1, 0.1, 1.0), pose((0.5, 0.55, 0)))
    return World(builder.build(), scene, materials={"leaf": Material(0.5), "post": Material(0.5)})


@pytest.mark.parametrize("speed", [1.0, 3.0, 7.0])
@pytest.mark.parametrize("solver", ALL)
def test_a_door_that_swings_stops_at_its_post(solver, speed):
    simulation = Simulation(door(), dt=DT, solver=solver)
    for q in np.linspace(0.6, 0.62, 5):
        state = simulation.state(q=[q], v=[speed])
        assert overlap(simulation, state, round(0.5 / speed / DT)) < MOST


@pytest.mark.parametrize("solver", ALL)
def test_a_rod_that_spins_hits_a_box_with_its_end(solver):
    """The end of the rod moves at 3 m/s. The box flies on, against another one 2.5 mm behind it."""
    bodies = {
        "rod": (Shape.capsule(0.02, 0.5), pose((0, 0, 0.5), rpy=(np.pi / 2, 0, 0))),
        "box": (Shape.box((0.1, 0.1, 0.1)), pose((-0.11, 0.22, 0.5))),
        "next": (Shape.box((0.1, 0.1, 0.1)), pose((-0.2125, 0.22, 0.5))),
    }
    simulation = Simulation(free(bodies), dt=DT, solver=solver)
    v = np.zeros(18)
    v[4] = 12.0
    run = simulation.rollout(simulation.state(v=v), 60)
    assert np.abs(run.v[-1, 6:]).max() > 0.1  # both boxes are hit
    assert overlap(simulation, simulation.state(v=v), 60) < MOST


@pytest.mark.parametrize("solver", ALL)
def test_what_flies_behind_stops_behind_what_stops(solver):
    """Five boxes fall at the same speed, each 1.5 mm above the next."""
    shape = Shape.box((0.1, 0.1, 0.1))
    bodies = {f"box_{k}": (shape, pose((0, 0, 0.053 + 0.1015 * k))) for k in range(5)}
    simulation = Simulation(free(bodies), dt=DT, solver=solver)
    assert overlap(simulation, simulation.state(v=[0, 0, -2.0, 0, 0, 0] * 5), 20) < MOST


@pytest.mark.parametrize("solver", ALL)
def test_a_box_that_tumbles_comes_down_on_the_next_face(solver):
    """The box turns by 0.06 rad in a step. Its next face has points only beyond the edge."""
    bodies = {"box": (Shape.box((0.1, 0.1, 0.1)), pose((0, 0, 0.0715), rpy=(0, 0.76, 0)))}
    simulation = Simulation(free(bodies), dt=DT, solver=solver)
    for turned in np.linspace(0.7, 0.85, 7):
        q = simulation.state().q.copy()
        q[3:7] = 0, np.sin(turned / 2), 0, np.cos(turned / 2)
        q[2] = 0.05 * (np.sin(turned) + np.cos(turned)) + 1e-4
        assert overlap(simulation, simulation.state(q, [1.5, 0, 0, 0, 30.0, 0]), 60) < MOST


@pytest.mark.parametrize("solver", EXACT)
def test_plates_thinner_than_the_margin_do_not_sink_into_each_other(solver):
    plate = Shape.box((0.2, 0.2, 5e-4))
    bodies = {f"plate_{k}": (plate, pose((0, 0, 2.5e-4 + 1.5e-3 * k))) for k in range(4)}
    simulation = Simulation(free(bodies), dt=DT, solver=solver)
    run = simulation.rollout(simulation.state(), 100)
    assert np.diff(run.q.reshape(101, 4, 7)[..., 2], axis=1).min() > 5e-4 - 1e-5


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("angle", [0.01, 0.3])
def test_derivatives_of_what_is_met_ahead_are_those_of_differences(solver, angle):
    """A box slides as it lands, from 2 mm above the floor: normals push and friction slides."""
    X = pose((0, 0, 0.0525 if angle == 0.01 else 0.0645), rpy=(0.0, angle, 0.4))
    simulation = Simulation(free({"box": (Shape.box((0.1, 0.1, 0.1)), X)}), dt=DT, solver=solver)
    model, state = simulation.model, simulation.state(v=[1.5, 0.3, -2.0, 0.1, 0.2, 0.3])
    step = simulation.linearize(state)
    rows = [row for island in step.islands for row in island.rows]
    assert any(row.law == "ahead" and row.impulse > 0 for row in rows)
    jacobians = step.jacobians("q", "v")
    assert not jacobians.one_sided
    end = simulation.step(state)

    def after(q, v):
        reached = simulation.step(State(model.integrate(state.q, q), state.v + v))
        return np.stack([model.difference(end.q, reached.q), reached.v - end.v])

    h, still = 1e-6, np.zeros(6)
    for i, e in enumerate(h * np.eye(6)):
        by_q = (after(e, still) - after(-e, still)) / (2 * h)
        by_v = (after(still, e) - after(still, -e)) / (2 * h)
        for found, change in ((jacobians.q, by_q), (jacobians.v, by_v)):
            bar = 1e-5 * max(1, np.abs(change).max())
            np.testing.assert_allclose(found[..., i], change, rtol=0, atol=bar)


@pytest.mark.parametrize("solver", ALL)
def test_a_bounce_of_a_step_is_not_met_ahead(solver):
    """With bounce="step" a ball keeps its speed until a step finds it within the margin."""
    ball = {"ball": (Shape.sphere(0.05), pose((0, 0, 0.053)))}
    world = free(ball, material=Material(0.5, restitution=0.5))
    simulation = Simulation(world, dt=DT, solver=solver, bounce="step")
    run = simulation.rollout(simulation.state(v=[0, 0, -2.0, 0, 0, 0]), 3)
    assert run.v[1, 2] == pytest.approx(-2.0 - 9.80665 * DT, abs=1e-6)
    assert run.v[-1, 2] == pytest.approx(1.0, abs=0.1)
