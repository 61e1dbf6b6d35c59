"""Stand-off, left-out distance, mass properties and overlap.

Compared with closed forms and with the engine.
"""

from __future__ import annotations

import numpy as np
import pytest

from robosim.geometry import Shape, pose, signed_distance
from robosim.meshes import (
    TriangleMesh,
    convex_hull,
    hull_standoff,
    is_closed,
    left_out,
    mesh_mass_properties,
)
from robosim.meshes.intersect import meshes_overlap
from robosim.meshes.tessellate import tessellated


def prism(outline: np.ndarray, caps: list[list[int]], height: float) -> TriangleMesh:
    """Extrude a counter-clockwise outline; `caps` triangulates it."""
    n = len(outline)
    lower, upper = (
        np.column_stack([outline, np.zeros(n)]),
        np.column_stack([outline, np.full(n, height)]),
    )
    sides = [
        f
        for i in range(n)
        for f in ([i, (i + 1) % n, n + i], [(i + 1) % n, n + (i + 1) % n, n + i])
    ]
    faces = [c[::-1] for c in caps] + [[n + i for i in c] for c in caps] + sides
    return TriangleMesh(np.vstack([lower, upper]), np.array(faces))


# A channel: 3 wide, 2 high, with a slot 1 wide and 1.5 deep from the top.
U = np.array([[0, 0], [3, 0], [3, 2], [2, 2], [2, 0.5], [1, 0.5], [1, 2], [0, 2]], dtype=float)
U_CAPS = [[0, 1, 4], [0, 4, 5], [1, 2, 4], [2, 3, 4], [0, 5, 7], [5, 6, 7]]
CHANNEL = prism(U, U_CAPS, 4.0)


def test_channel_is_sound():
    assert is_closed(CHANNEL)
    properties, exact = mesh_mass_properties(CHANNEL)
    assert exact
    assert properties.volume == pytest.approx((3 * 2 - 1 * 1.5) * 4, rel=1e-12)


def test_mass_properties_without_symmetry():
    """Mass properties of a tetrahedron and of a channel made of three boxes.

    Tetrahedron: volume by the triple product, center at the mean of its corners, second moment V/20
    (sum x x^T + 4^2 c c^T) about the origin.
    """
    corners = np.random.default_rng(3).normal(size=(4, 3)) + 2
    got, _ = mesh_mass_properties(convex_hull(corners))
    volume = abs(np.linalg.det(corners[1:] - corners[0])) / 6
    center = corners.mean(axis=0)
    assert got.volume == pytest.approx(volume, rel=1e-12)
    np.testing.assert_allclose(got.com, center, rtol=1e-12)
    about_origin = volume / 20 * (corners.T @ corners + 16 * np.outer(center, center))
    np.testing.assert_allclose(
        got.second_moment, about_origin - volume * np.outer(center, center), atol=1e-12
    )
    channel, _ = mesh_mass_properties(CHANNEL)
    np.testing.assert_allclose(channel.com, [1.5, (1.5 * 0.25 + 3 * 1.25) / 4.5, 2], rtol=1e-12)


def test_standoff_of_overlapping_pieces():
    """A second copy of a piece, with a coincident surface, changes nothing."""
    hull = convex_hull(CHANNEL.vertices)
    assert hull_standoff([hull, hull], CHANNEL) == hull_standoff([hull], CHANNEL)


def test_standoff_of_a_channel():
    """The hull bridges the slot.

    The point of the bridge farthest from the mesh is in the middle, half a slot from each side.
    """
    standoff = hull_standoff([convex_hull(CHANNEL.vertices)], CHANNEL)
    assert abs(standoff.distance - 0.5) <= standoff.resolution
    assert standoff.resolution < 0.05
    assert left_out([convex_hull(CHANNEL.vertices)], CHANNEL) == pytest.approx(0, abs=1e-12)


def test_standoff_of_exact_pieces_is_zero():
    """Three boxes that tile the channel: no free space counts as solid."""
    boxes = [((0, 0), (3, 0.5)), ((0, 0.5), (1, 2)), ((2, 0.5), (3, 2))]
    pieces = [
        convex_hull(
            np.array(
                [[x, y, z] for x in (a[0], b[0]) for y in (a[1], b[1]) for z in (0, 4)], dtype=float
            )
        )
        for a, b in boxes
    ]
    assert hull_standoff(pieces, CHANNEL).distance == 0
    assert left_out(pieces, CHANNEL) == pytest.approx(0, abs=1e-12)
    # Without one of the pieces, its far corner is left out by the length of the channel's arm.
    assert left_out(pieces[:2], CHANNEL) == pytest.approx(1.5, abs=1e-12)


def test_standoff_of_a_larger_box():
    cube = tessellated(Shape.box((1, 1, 1)))
    larger = TriangleMesh(cube.vertices * 1.5, cube.faces)
    standoff = hull_standoff([larger], cube)
    # The corners are farthest.
    assert abs(standoff.distance - 0.25 * np.sqrt(3)) <= 2 * standoff.resolution


@pytest.mark.parametrize("seed", range(5))
def test_box_mass_properties_anywhere(seed):
    rng = np.random.default_rng(seed)
    size, X = rng.uniform(0.1, 2, 3), pose(rng.normal(size=3) * 10, rpy=rng.normal(size=3))
    cube = tessellated(Shape.box(size))
    moved = TriangleMesh(cube.vertices @ X[:3, :3].T + X[:3, 3], cube.faces)
    got, exact = mesh_mass_properties(moved)
    volume = float(np.prod(size))
    squares = np.square(size)
    inertia = X[:3, :3] @ np.diag(volume / 12 * (squares.sum() - squares)) @ X[:3, :3].T
    assert exact
    assert got.volume == pytest.approx(volume, rel=1e-10)
    np.testing.assert_allclose(got.com, X[:3, 3], atol=1e-10)
    np.testing.assert_allclose(got.inertia, inertia, atol=1e-9 * volume)


def test_open_mesh_counts_with_its_hull():
    cube = tessellated(Shape.box((1, 2, 3)))
    got, exact = mesh_mass_properties(TriangleMesh(cube.vertices, cube.faces[2:]))
    assert not exact
    assert got.volume == pytest.approx(6, rel=1e-12)


@pytest.mark.parametrize(
    "shape",
    [
        Shape.sphere(0.7),
        Shape.cylinder(0.4, 1.3),
        Shape.capsule(0.3, 0.9),
        Shape.box((1, 2, 3)),
        Shape.cone(0.4, 1.3),
        Shape.ellipsoid((0.1, 0.7, 0.4)),
        Shape.box((1, 2, 3), rounding=0.5),
        Shape.convex([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], rounding=0.5),
        Shape.triangle([[0, 0, 0], [1, 0, 0], [0, 1, 0]], rounding=0.5),
    ],
)
def test_tessellation_is_inscribed(shape):
    mesh = tessellated(shape)
    assert is_closed(mesh)
    # Angle between the normals at the tetrahedron's slanted edges.
    slanted = np.pi - np.arccos(1 / np.sqrt(3))

    def rounded(volume, area, bends):
        """Steiner's formula; bends is the sum of edge lengths times angles between normals."""
        r = shape.rounding
        return volume + area * r + bends / 2 * r**2 + 4 / 3 * np.pi * r**3

    volume = {
        "sphere": lambda: 4 / 3 * np.pi * shape.radius**3,
        "cylinder": lambda: np.pi * shape.radius**2 * shape.length,
        "capsule": lambda: np.pi * shape.radius**2 * (shape.length + 4 / 3 * shape.radius),
        "box": lambda: rounded(np.prod(shape.size), 22, 24 * np.pi / 2),
        "convex": lambda: rounded(
            1 / 6, (3 + np.sqrt(3)) / 2, 3 * np.pi / 2 + 3 * np.sqrt(2) * slanted
        ),
        "triangle": lambda: rounded(0, 1, np.pi * (2 + np.sqrt(2))),
        "cone": lambda: np.pi / 3 * shape.radius**2 * shape.length,
        "ellipsoid": lambda: 4 / 3 * np.pi * np.prod(shape.radii),
    }[str(shape.type)]()
    # 32 segments lose 0.6 % of a circle's area, and up to twice that of a ball's volume.
    assert 0.98 * volume <= mesh_mass_properties(mesh)[0].volume <= volume * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_overlap_of_convex_meshes_against_the_engine(seed):
    """Random polyhedra at random distances.

    The triangles overlap exactly if the engine's convex shapes do.
    """
    rng = np.random.default_rng(seed)
    A, B = (
        convex_hull(rng.normal(size=(20, 3))),
        convex_hull(rng.normal(size=(20, 3)) * rng.choice([0.1, 0.5, 1])),
    )
    for scale in (0.5, 1.5, 2.5, 3.5):
        X = pose(scale * rng.normal(size=3), rpy=rng.normal(size=3))
        distance = signed_distance(
            Shape.convex(A.vertices, A.faces), np.eye(4), Shape.convex(B.vertices, B.faces), X
        ).distance
        if abs(distance) < 1e-9:
            continue
        moved = TriangleMesh(B.vertices @ X[:3, :3].T + X[:3, 3], B.faces)
        assert meshes_overlap(A, moved) == (distance < 0)
        assert meshes_overlap(moved, A) == (distance < 0)


def test_a_peg_in_the_slot_does_not_overlap():
    """A peg inside the slot of the channel is free, although it collides with the hull."""
    peg = tessellated(Shape.box((0.8, 1.0, 10.0)))
    free = TriangleMesh(peg.vertices + np.array([1.5, 1.2, 2.0]), peg.faces)
    assert not meshes_overlap(CHANNEL, free)
    assert meshes_overlap(convex_hull(CHANNEL.vertices), free)
    assert meshes_overlap(CHANNEL, TriangleMesh(free.vertices + np.array([0.2, 0, 0]), free.faces))


def test_inside_counts_as_overlap():
    small, large = tessellated(Shape.sphere(0.1)), tessellated(Shape.box((2, 2, 2)))
    assert meshes_overlap(small, large)
    assert meshes_overlap(large, small)
