"""Searches if hulls represent meshes: by the hulls if they leave a path, else by the meshes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from robosim import _engine, geometry
from robosim.geometry import Shape
from robosim.model import ModelBuilder
from robosim.scene import Scene

from ..concave import channel  # noqa: TID252 (tests have no absolute name)

INERTIA = np.eye(3)
REACH = 1.0  # of each coordinate of the box [m]
COLUMNS = [0, 1, 2]


CHANNEL = channel()


@pytest.fixture(scope="module")
def model():
    """A box of 10 cm that slides along x, y and z around a channel, whose hull fills it."""
    builder = ModelBuilder("box and channel")
    builder.add_link("world")
    builder.add_collider("world", Shape.convex(CHANNEL.vertices), exact=CHANNEL)
    at = "world"
    for axis, name in zip(np.eye(3), "xyz", strict=True):
        builder.add_link(name, mass=1, inertia=INERTIA)
        builder.add_joint(
            f"along {name}",
            "prismatic",
            at,
            name,
            axis=axis,
            lower=-REACH,
            upper=REACH,
            velocity=1,
            effort=1,
        )
        at = name
    builder.add_collider(at, Shape.box((0.1, 0.1, 0.1)))
    return builder.build(filter_adjacent=False)


@pytest.fixture
def scene(model):
    return Scene().compile(model)


def closed(model):
    """The channel in walls that leave only the path through it."""
    around = Scene()
    wall = 0.3
    for name, sides, at in (
        ("above", (0.02, 2 * REACH, 2 * REACH), (0, 0, 0.15 + REACH)),
        ("below", (0.02, 2 * REACH, 2 * REACH), (0, 0, -0.15 - REACH)),
        ("left", (0.02, 2 * REACH, wall), (0, 0.15 + REACH, 0)),
        ("right", (0.02, 2 * REACH, wall), (0, -0.15 - REACH, 0)),
    ):
        pose = np.eye(4)
        pose[:3, 3] = at
        around.add_box(name, sides, pose)
    return around.compile(model)


def search(scene, start, goal, **options):
    bounds = np.full(3, REACH)
    return _engine.rrt_connect(scene, start, [goal], COLUMNS, -bounds, bounds, **options)


def is_free(scene, path):
    """True if every edge of the path is free, according to the meshes."""
    return all(scene.edge_free(a, b, 0.005).free for a, b in itertools.pairwise(path))


OUTSIDE, THROUGH = np.array([-0.6, 0.0, 0.0]), np.array([0.6, 0.0, 0.0])
INSIDE = np.array([0.0, 0.0, 0.05])


def test_around_the_hull_where_there_is_room(scene):
    """The path around is found among the hulls, although the straight one through is free."""
    assert scene.edge_free(OUTSIDE, THROUGH, 0.005).free
    found = search(scene, OUTSIDE, THROUGH)
    assert found.status == "solved"
    assert len(found.path) > 2
    hulls = Shape.convex(CHANNEL.vertices)
    box = Shape.box((0.1, 0.1, 0.1))
    for a, b in itertools.pairwise(found.path):
        for t in np.linspace(0, 1, 50):
            at = np.eye(4)
            at[:3, 3] = a + t * (b - a)
            assert not geometry.collide(hulls, np.eye(4), box, at)


def test_through_the_channel_where_the_hull_leaves_no_way(model):
    scene = closed(model)
    found = search(scene, OUTSIDE, THROUGH, max_iterations=1_000_000)
    assert found.status == "solved"
    assert is_free(scene, found.path)
    assert found.iterations > 0, "the straight line is free only by the mesh"


def test_too_few_iterations_for_the_meshes(model):
    found = search(closed(model), OUTSIDE, THROUGH, max_iterations=100)
    assert (found.status, found.iterations) == ("budget_exhausted", 100)


@pytest.mark.parametrize(
    ("start", "goal"), [(INSIDE, THROUGH), (OUTSIDE, INSIDE), (INSIDE, INSIDE * [1, 0, 0])]
)
def test_start_or_goal_within_the_hull(scene, start, goal):
    """The pair is checked by its mesh from the first edge on: the straight line is free."""
    assert scene.edge_free(start, goal, 0.005).free
    found = search(scene, start, goal)
    assert (found.status, found.iterations, len(found.path)) == ("solved", 0, 2)


def test_of_several_goals_one_within_the_hull(scene):
    bounds = np.full(3, REACH)
    blocked = np.array([0.0, 0.0, -0.15])  # in the channel's floor
    found = _engine.rrt_connect(scene, OUTSIDE, [blocked, INSIDE], COLUMNS, -bounds, bounds)
    assert (found.status, found.goal_index) == ("solved", 1)
    found = _engine.rrt_connect(scene, OUTSIDE, [blocked], COLUMNS, -bounds, bounds)
    assert found.status == "goal_in_collision"


def test_detours_within_the_hull_become_straight(scene):
    path = np.array([[-0.1, 0.0, 0.0], [-0.1, 0.02, 0.06], [0.0, -0.02, -0.02], [0.1, 0.0, 0.0]])
    assert is_free(scene, path)
    short = _engine.shortcut(scene, path, COLUMNS)
    np.testing.assert_array_equal(short, path[[0, -1]])


def test_a_path_through_the_hull_is_optimized(scene):
    """Between the ends, the pair whose hull overlaps is checked by its mesh.

    The optimizer proves all edges.
    """
    path = np.array([[-0.6, 0.0, 0.0], [0.0, 0.02, 0.06], [0.6, 0.0, 0.0]])
    bounds = np.full(3, REACH)
    found = _engine.optimize_path(
        scene, path, COLUMNS, -bounds, bounds, clearance=0.01, iterations=60
    )
    assert found.improved
    assert is_free(scene, found.path)
    length = np.linalg.norm(np.diff(found.path, axis=0), axis=1).sum()
    assert length < np.linalg.norm(np.diff(path, axis=0), axis=1).sum()


def test_other_questions_go_by_the_meshes_after_a_search(scene):
    """Also after a search that was interrupted or cancelled; repeated searches are equal."""
    before = search(scene, OUTSIDE, THROUGH, seed=3)
    for options in ({"deadline_s": 0.0}, {"max_iterations": 1}, {"progress": lambda: False}, {}):
        search(scene, OUTSIDE, THROUGH, **options)
        assert scene.edge_free(OUTSIDE, THROUGH, 0.005).free
        assert not scene.collides(INSIDE)
    again = search(scene, OUTSIDE, THROUGH, seed=3)
    np.testing.assert_array_equal(before.path, again.path)
    assert (before.iterations, before.n_edges, before.n_checks) == (
        again.iterations,
        again.n_edges,
        again.n_checks,
    )
