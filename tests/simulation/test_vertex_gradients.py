"""Gradients in vertices of convex meshes, compared with differences of rebuilt worlds."""

from __future__ import annotations

import numpy as np
import pytest

from robosim import _engine
from robosim.errors import SimulationError
from robosim.geometry import Compound, Shape, pose
from robosim.model import ModelBuilder
from robosim.scene import Scene
from robosim.simulation import MeshRows, Simulation
from robosim.world import Material, World

from .differences import differences

MATERIAL = Material(0.4, 0.3)
GROUND = pose((0.01, -0.02, 0), rpy=(0, 0, 0.4))


def gem(seed, corners):
    """Vertices of a hull around the origin, in general position, with a level lowest face."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(corners, 3))
    points *= np.array([0.1, 0.13, 0.08]) / np.linalg.norm(points, axis=1, keepdims=True)
    faces = points[Shape.convex(points).faces]
    normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    nearest = np.einsum("ij,ij->i", normals, faces[:, 0]).argmin()
    down = normals[nearest]
    across = np.cross(down, [0.3, 0.5, 0.8])
    across /= np.linalg.norm(across)
    return points @ np.array([across, np.cross(across, down), -down]).T


def turned(axis, angle):
    """Quaternion x, y, z, w."""
    return [*np.sin(angle / 2) * np.asarray(axis) / np.linalg.norm(axis), np.cos(angle / 2)]


# Faces are level except for this small turn. Round shapes touch level faces with different features
# on both sides of them.
BARELY = turned([0.5, -0.3, 0.2], 1e-3)
SLIDES, SETTLES = [0.8, 0.3, 0, 0, 0, 1.5], [0.001, -0.002, -0.05, 0.01, 0.02, 0.001]


def free(*shapes):
    """Build bodies on floating joints."""
    builder = ModelBuilder("stones")
    builder.add_link("root")
    for i, shape in enumerate(shapes):
        builder.add_link(
            f"stone{i}", mass=1.5, com=(0.01, 0, -0.01), inertia=0.01 * np.diag([1, 1.2, 0.8])
        )
        builder.add_joint(f"free{i}", "floating", "root", f"stone{i}")
        builder.add_collider(f"stone{i}", shape)
    return builder.build()


def on(ground, *shapes, **options):
    """Simulation of shapes over an obstacle. None as obstacle is the half-space z <= 0."""
    scene = Scene("ground")
    if ground is None:
        scene.add_half_space("ground")
    else:
        scene.add_shape("ground", ground, GROUND)
    options = {"dt": 2e-3, "restitution_threshold": 0.2, **options}
    return Simulation(
        World(free(*shapes), scene, materials={"ground": MATERIAL, "stone0": MATERIAL}), **options
    )


def judged(build, vertices, q, v, *, steps=1):
    """Compare the gradient of a random loss of the last state with differences.

    The gradient is with respect to the vertices of all meshes. Returns the simulation and the
    gradient for each mesh.
    """
    simulation = build(*vertices)
    model, state = simulation.model, simulation.state(q, v)
    motion = simulation.rollout(state, steps)
    bars = np.random.default_rng(5).normal(size=(2, model.n_v))
    q_bar, v_bar = np.zeros((2, steps + 1, model.n_v))
    q_bar[-1], v_bar[-1] = bars
    gradient = motion.vjp(q_bar, v_bar)
    assert not gradient.one_sided
    assert [len(mesh.shape.vertices) for mesh in simulation.meshes] == [len(x) for x in vertices]

    def loss(e):
        parts = np.split(e.reshape(-1, 3), np.cumsum([len(x) for x in vertices])[:-1])
        other = build(*(x + part for x, part in zip(vertices, parts, strict=True)))
        end = other.rollout(other.state(q, v), steps).end
        return bars[0] @ model.difference(motion.q[-1], end.q) + bars[1] @ end.v

    found = gradient.parameters["vertices"]
    expected = differences(loss, found.size).reshape(-1, 3)
    assert np.abs(expected).max() > 1
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 * np.abs(expected).max())
    return simulation, [found[mesh.rows] for mesh in simulation.meshes]


def touched(gradient):
    return int(np.abs(gradient).any(axis=1).sum())


@pytest.mark.parametrize("solver", _engine.row_solvers)
@pytest.mark.parametrize("bounce", ["step", "time_of_impact"])
@pytest.mark.parametrize("rounding", [0.0, 0.01])
@pytest.mark.parametrize("moves", ["settles", "slides", "lands on a corner"])
def test_by_the_vertices_of_a_gem_on_a_floor(solver, bounce, rounding, moves):
    vertices = gem(1, 9)
    q = [0.1, 0.2, rounding - vertices[:, 2].min() - 1e-4, *BARELY]
    v = SLIDES if moves == "slides" else SETTLES
    if moves == "lands on a corner":
        q[3:] = turned([0.2, -0.3, 0.1], 1.0)
        R = pose(quaternion=q[3:])[:3, :3]
        q[2] = rounding - (vertices @ R.T)[:, 2].min() + 9e-4
        v = [*R.T @ [0.5, 0.1, -1.0], 0.3, 0.2, 0.1]
    _, (found,) = judged(
        lambda x: on(None, Shape.convex(x, rounding=rounding), solver=solver, bounce=bounce),
        [vertices],
        q,
        v,
    )
    assert touched(found) == (1 if moves == "lands on a corner" else 3)


@pytest.mark.parametrize("solver", _engine.row_solvers)
@pytest.mark.parametrize("slides", [False, True])
def test_by_the_vertices_of_a_gem_and_of_the_mesh_that_it_lies_on(solver, slides):
    """Faces lie on faces, so that vertices of the lower mesh turn the normal."""
    upper = gem(1, 9)
    lower = gem(2, 12) * [4, 4, -1]
    q = [0, 0, lower[:, 2].max() - upper[:, 2].min() - 1e-4, *BARELY]
    v = SLIDES if slides else SETTLES
    _, found = judged(
        lambda x, y: on(Shape.convex(y), Shape.convex(x), solver=solver), [upper, lower], q, v
    )
    assert touched(found[1]) >= 3


@pytest.mark.parametrize("solver", _engine.row_solvers)
@pytest.mark.parametrize("bounce", ["step", "time_of_impact"])
def test_by_the_vertices_of_two_edges_that_cross(solver, bounce):
    """Two tetrahedra, whose normal turns with all four ends of the edges."""
    lower = np.array([[0.01, -0.1, 0], [0, 0.12, 0.004], [-0.1, 0.01, -0.12], [0.11, 0.02, -0.1]])
    upper = np.array([[-0.1, 0.01, 0.003], [0.12, 0, 0], [0.01, -0.1, 0.13], [0.02, 0.11, 0.1]])
    _, found = judged(
        lambda x, y: on(Shape.convex(y, rounding=0.005), Shape.convex(x), solver=solver,
            bounce=bounce),
        [upper, lower], [0.01, 0.02, 0.0065, 0, 0, 0, 1], [0.3, 0.2, -1.0, 0, 0, 1],
    )  # fmt: skip
    assert [touched(x) for x in found] == [2, 2]


@pytest.mark.parametrize("solver", ["lcp", "pgs"])
def test_of_runs_with_substeps(solver):
    """The gem slides, tips over and lands."""
    vertices = gem(4, 8)
    q = [0, 0, -vertices[:, 2].min() + 0.004, 0.05, 0.02, 0, np.sqrt(1 - 0.0029)]

    def build(x):
        return on(None, Shape.convex(x), solver=solver, substeps=2, bounce="time_of_impact")

    _, (found,) = judged(build, [vertices], q, [0.6, 0.2, -0.1, 0, 0, 0.4], steps=30)
    assert touched(found) >= 1


def test_of_parts_of_an_obstacle_in_their_own_frames():
    first, second = gem(1, 6), gem(2, 7)
    places = [pose((0.5, 0, 0.2)), pose((-0.5, 0.1, 0.05)), pose((0.1, 0, 0), rpy=(0.3, 0.2, 0.1))]

    def build(x, y):
        parts = Shape.convex(x), Shape.box((0.1, 0.1, 0.1)), Shape.convex(y)
        return on(Compound(list(zip(parts, places, strict=True))), Shape.sphere(0.05))

    X = GROUND @ places[2]
    corners = second @ X[:3, :3].T + X[:3, 3]
    above = corners[corners[:, 2].argmax()] + [0, 0, 0.0505]
    simulation, found = judged(
        build, [first, second], [*above, 0, 0, 0, 1], [0.3, 0, -0.5, 0, 0, 0.2]
    )
    assert [mesh[:3] for mesh in simulation.meshes] == [
        ("ground", 1, slice(0, 6)),
        ("ground", 3, slice(6, 13)),
    ]
    np.testing.assert_array_equal(simulation.meshes[1].shape.vertices, second)
    assert not found[0].any()
    assert touched(found[1]) == 1


def test_by_the_corners_of_a_triangle():
    corners = np.array([[-0.3, -0.2, 0], [0.4, -0.1, 0.05], [0, 0.3, 0.02]])
    ball = Shape.sphere(0.05)
    simulation, _ = judged(
        lambda x: on(Shape.triangle(x), ball), [corners], [0.02, 0.01, 0.0702, 0, 0, 0, 1],
        [0.1, 0, -0.5, 0, 0, 0]
    )  # fmt: skip
    assert simulation.meshes[0].object == 1


@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("bounce", ["step", "time_of_impact"])
def test_products_with_directions_are_those_of_the_gradient(substeps, bounce):
    vertices = gem(3, 10)
    simulation = on(
        Shape.convex(gem(2, 12) * [4, 4, -1]),
        Shape.convex(vertices),
        substeps=substeps,
        bounce=bounce,
    )
    lower = simulation.meshes[1].shape.vertices
    rng = np.random.default_rng(7)
    q_bar, v_bar = rng.normal(size=(2, 6))
    for gap, angle, down in (
        (-1e-4, 1e-3, 0.05),
        (5e-4, 1e-3, 1.0),
        (5e-4, 0.2, 1.0),
    ):  # on a face, and on a corner
        turn = turned([0.5, -0.3, 0.2], angle)
        R = pose(quaternion=turn)[:3, :3]
        height = lower[:, 2].max() - (vertices @ R.T)[:, 2].min()
        state = simulation.state(
            [0, 0, height + gap, *turn], [*R.T @ [0.3, 0.1, -down], 0.2, 0.1, 0.4]
        )
        gradient = simulation.linearize(state).vjp(q_bar, v_bar)
        direction = rng.normal(size=gradient.parameters["vertices"].shape)
        tangent = simulation.linearize(state).jvp(parameters={"vertices": direction})
        terms = gradient.parameters["vertices"] * direction
        assert np.abs(terms).sum() > 1
        found = q_bar @ tangent.q + v_bar @ tangent.v
        assert found == pytest.approx(terms.sum(), abs=1e-12 * np.abs(terms).sum())
    with pytest.raises(SimulationError, match=r"'vertices' has shape \(2, 3\); expected \(22, 3\)"):
        simulation.linearize(state).jvp(parameters={"vertices": np.zeros((2, 3))})


def test_vertices_that_keep_their_faces_flat_move_as_the_shape_does():
    """Moving or scaling all vertices of a box has the gradients of its pose and scale.

    Each face of the box has four vertices.
    """
    corners = np.array(
        [[x, y, z] for x in (-0.1, 0.1) for y in (-0.15, 0.15) for z in (-0.05, 0.05)]
    )
    simulation = on(None, Shape.convex(corners))
    state = simulation.state([0, 0, 0.0499, 0, 0, 0, 1], [0.8, 0.3, 0, 0, 0, 1.5])
    parameters = (
        simulation.linearize(state).vjp(*np.random.default_rng(2).normal(size=(2, 6))).parameters
    )
    by = parameters["vertices"]
    assert touched(by) == 4
    moved = [*by.sum(axis=0), *np.cross(corners, by).sum(axis=0)]
    np.testing.assert_allclose(
        moved, parameters["pose", "stone0"], rtol=0, atol=1e-12 * np.abs(by).sum()
    )
    assert np.sum(corners * by) == pytest.approx(
        parameters["scale", "stone0"], abs=1e-12 * np.abs(by).sum()
    )


def test_what_has_no_vertices_has_no_rows():
    scene = Scene("terrain")
    scene.add_height_field("terrain", np.zeros((4, 4)), 0.3, pose=np.eye(4))
    simulation = Simulation(World(free(Shape.box((0.1, 0.1, 0.1))), scene))
    assert simulation.meshes == []
    state = simulation.state([0.4, 0.45, 0.0499, 0, 0, 0, 1])
    assert simulation.linearize(state).vjp(np.zeros(6), np.ones(6)).parameters[
        "vertices"
    ].shape == (0, 3)
    (mesh,) = on(None, Shape.convex(gem(1, 6))).meshes
    assert isinstance(mesh, MeshRows)
    assert mesh.rows == slice(0, 6)
