"""Shapes: their data and their refusals."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.errors import GeometryError
from robosim.geometry import (
    Shape,
    bounding_ball,
    bounding_box,
    collide,
    pose,
    shape_sizes,
    signed_distance,
)

_TETRAHEDRON = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
BAD_SIZES = [0.0, -1.0, np.nan, np.inf, -np.inf, 1e-12, 1e300]


def test_full_sizes_come_back():
    assert Shape.sphere(0.25).radius == 0.25
    np.testing.assert_array_equal(Shape.box((0.1, 0.2, 0.3)).size, (0.1, 0.2, 0.3))
    capsule, cylinder = Shape.capsule(0.1, 0.5), Shape.cylinder(0.2, 0.7)
    assert (capsule.radius, capsule.length, cylinder.radius, cylinder.length) == (
        0.1,
        0.5,
        0.2,
        0.7,
    )
    cone = Shape.cone(radius=0.2, length=0.7)
    assert (cone.radius, cone.length) == (0.2, 0.7)
    np.testing.assert_array_equal(Shape.ellipsoid(radii=(0.1, 0.2, 0.3)).radii, (0.1, 0.2, 0.3))


def test_type_and_repr_name_the_shape(oracle, kind):
    shape = oracle.make(kind, np.random.default_rng(0))
    assert shape.type == kind
    assert repr(shape).startswith(f"Shape.{kind}(")


def test_every_type_is_in_the_battery(oracle):
    assert set(oracle.kinds) == set(shape_sizes())


def test_sizes_make_the_same_shape_again(oracle, kind):
    shape = oracle.make(kind, np.random.default_rng(0))
    sizes = {name: getattr(shape, name) for name in shape_sizes()[kind]}
    shapes = [getattr(Shape, kind)(**sizes)]
    if kind != "convex":  # its faces come before its rounding
        shapes.append(getattr(Shape, kind)(*sizes.values()))
    for again in shapes:
        assert again.type == kind
        for name, value in sizes.items():
            # Halving and doubling is exact.
            np.testing.assert_array_equal(getattr(again, name), value)
    ranks = {"number": (), "vector": (3,), "points": (len(getattr(shape, "vertices", ())), 3)}
    for name, of_kind in shape_sizes()[kind].items():
        assert np.shape(sizes[name]) == ranks[of_kind]
        assert name in repr(shape)


@pytest.mark.parametrize(
    "attribute", sorted({name for row in shape_sizes().values() for name in row} | {"faces"})
)
def test_a_size_that_a_shape_does_not_have_is_named(oracle, kind, attribute):
    shape = oracle.make(kind, np.random.default_rng(0))
    if attribute in shape_sizes()[kind] or (kind, attribute) == ("convex", "faces"):
        getattr(shape, attribute)
    else:
        article = "an" if kind[0] in "aeiou" else "a"
        with pytest.raises(AttributeError, match=f"^{article} {kind} has no {attribute}$"):
            getattr(shape, attribute)


def test_farthest_points_attain_the_support_function(oracle, kind):
    rng = np.random.default_rng(4)
    shape = oracle.make(kind, rng)
    directions = np.vstack([rng.normal(size=(50, 3)), np.eye(3), -np.eye(3)])
    if kind == "half_space":
        with pytest.raises(GeometryError, match="half_space: it is unbounded"):
            shape.support(directions)
        return
    points = shape.support(directions)
    # Sizes are about 1 m, so the tolerance is rounding of a few sums.
    expected = oracle.support(shape, np.eye(4), directions)
    np.testing.assert_allclose(np.einsum("ij,ij->i", directions, points), expected, atol=1e-13)
    assert max(oracle.outside(shape, np.eye(4), p) for p in points) < 1e-13
    for scale in (1e-300, 1e300):  # the length of a direction does not matter
        np.testing.assert_allclose(shape.support(scale * directions), points, atol=1e-13)
    assert oracle.outside(shape, np.eye(4), shape.support(np.zeros((1, 3)))[0]) < 1e-13


@pytest.mark.parametrize("directions", [(0, 0, 1), [[0, 1]], "up", [[0, 0, np.nan]]])
def test_directions_of_the_wrong_form_are_refused(directions):
    with pytest.raises(GeometryError, match="support: directions"):
        Shape.sphere(1).support(directions)


@pytest.mark.parametrize("bad", BAD_SIZES)
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("radius", Shape.sphere),
        ("size", lambda x: Shape.box((1, x, 1))),
        ("radius", lambda x: Shape.capsule(x, 1)),
        ("length", lambda x: Shape.capsule(1, x)),
        ("radius", lambda x: Shape.cylinder(x, 1)),
        ("length", lambda x: Shape.cylinder(1, x)),
        ("ellipsoid: radii", lambda x: Shape.ellipsoid((1, x, 1))),
        ("cone: radius is", lambda x: Shape.cone(x, 1)),
        ("cone: length is", lambda x: Shape.cone(1, x)),
        ("box: rounding is", lambda x: Shape.box((1, 1, 1), x or -1)),
        ("convex: rounding is", lambda x: Shape.convex(_TETRAHEDRON, rounding=x or -1)),
        ("triangle: rounding is", lambda x: Shape.triangle(_TETRAHEDRON[:3], x or -1)),
    ],
)
def test_sizes_that_make_no_body_are_refused(name, make, bad):
    with pytest.raises(GeometryError, match=name):
        make(bad)


@pytest.mark.parametrize(
    "size", [(1, 2), (1, 2, 3, 4), 1.0, "abc", [[1, 2, 3]], (1, 2, None), (1, 2j, 3)]
)
def test_sizes_of_the_wrong_form_are_refused(size):
    with pytest.raises(GeometryError, match="box: size"):
        Shape.box(size)
    with pytest.raises(GeometryError, match="ellipsoid: radii"):
        Shape.ellipsoid(size)


@pytest.mark.parametrize(
    ("vertices", "reason"),
    [
        ([], "vertices"),
        ([[0, 0, 0]], "4"),
        ([[0, 0], [1, 0], [0, 1], [1, 1]], "shape"),
        (np.zeros((10, 3)), "flat"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], "flat"),
        (np.outer(np.arange(5), (1, 2, 3)), "flat"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, np.nan]], "finite"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1e300]], "1000000 m"),
        ("abc", "vertices"),
    ],
)
def test_points_that_span_no_volume_are_refused(vertices, reason):
    with pytest.raises(GeometryError, match=reason):
        Shape.convex(vertices)


@pytest.mark.parametrize(
    ("vertices", "reason"),
    [
        ([[0, 0, 0], [1, 0, 0]], "2 vertices; it has 3"),
        ([[0, 0], [1, 0], [0, 1]], "shape"),
        ([[0, 0, 0], [1, 1, 1], [2, 2, 2]], "on one line"),
        ([[0, 0, 0], [1, 0, 0], [0.5, 1e-10, 0]], "on one line"),
        (np.ones((3, 3)), "on one line"),
        (1e-10 * np.eye(3), "on one line"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, np.inf]], "finite"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 2e6]], "vertex 2 has the coordinate 2"),
        (None, "triangle: vertices"),
    ],
)
def test_points_that_make_no_triangle_are_refused(vertices, reason):
    with pytest.raises(GeometryError, match=reason):
        Shape.triangle(vertices)


def test_a_rounding_offsets_the_surface_and_keeps_the_sizes():
    plain = (Shape.box((1, 2, 3)), Shape.convex(_TETRAHEDRON), Shape.triangle(_TETRAHEDRON[1:]))
    rounded = (
        Shape.box((1, 2, 3), 0.25),
        Shape.convex(_TETRAHEDRON, rounding=0.25),
        Shape.triangle(_TETRAHEDRON[1:], 0.25),
    )
    rng = np.random.default_rng(6)
    for core, shape in zip(plain, rounded, strict=True):
        name = next(iter(shape_sizes()[core.type]))
        np.testing.assert_array_equal(getattr(shape, name), getattr(core, name))
        assert (core.rounding, shape.rounding) == (0, 0.25)
        for _ in range(20):
            other, X = (
                Shape.cylinder(0.3, 0.5),
                pose(rng.uniform(-2, 2, 3), quaternion=rng.normal(size=4)),
            )
            gap = signed_distance(core, pose(), other, X).distance
            assert signed_distance(shape, pose(), other, X).distance == pytest.approx(
                gap - 0.25, abs=1e-14
            )


def test_faces_are_checked():
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    assert len(Shape.convex(vertices, faces).faces) == 4
    for wrong in (
        faces[:, ::-1],
        faces[:3],
        faces + 1,
        faces - 1,
        faces.astype(float),
        faces[:, :2],
        faces + 2**40,
    ):
        with pytest.raises(GeometryError, match="face"):
            Shape.convex(vertices, wrong)
    dented = np.vstack([vertices, [0.1, 0.1, 0.1]])
    with pytest.raises(GeometryError, match="convex"):
        Shape.convex(dented, [[0, 2, 1], [0, 1, 3], [2, 0, 3], [1, 2, 4], [2, 3, 4], [3, 1, 4]])


def test_hull_agrees_with_qhull():
    from scipy.spatial import ConvexHull

    rng = np.random.default_rng(2)
    for n in (5, 50, 2000):
        points = rng.normal(size=(n, 3)) * (1, 0.1, 3)
        shape, hull = Shape.convex(points), ConvexHull(points)
        np.testing.assert_array_equal(shape.vertices, points[np.sort(hull.vertices)])
        a, b, c = (shape.vertices[shape.faces[:, i]] for i in range(3))
        np.testing.assert_allclose(
            np.einsum("ij,ij->", a, np.cross(b, c)) / 6, hull.volume, rtol=1e-12
        )


def test_a_large_cloud_becomes_a_hull():
    points = np.random.default_rng(3).uniform(-1, 1, (100_000, 3))
    shape = Shape.convex(points)
    assert len(shape.faces) == 2 * len(shape.vertices) - 4
    _, radius = bounding_ball(shape)
    assert radius <= np.sqrt(3)


@pytest.mark.parametrize(
    "X",
    [
        np.full((4, 4), np.nan),
        np.eye(3),
        np.zeros((4, 4)),
        np.diag([1.0, 1, -1, 1]),
        np.diag([2.0, 2, 2, 1]),
        np.diag([1.0, 1, 1, 2]),
        np.full((4, 4), np.inf),
        np.vstack([np.eye(4)[:3], [0, 0, 1, 1]]),
        "pose",
        None,
    ],
    ids=lambda X: str(np.shape(X)),
)
def test_what_is_no_pose_is_refused(X):
    shape = Shape.sphere(1)
    for call in (
        lambda: signed_distance(shape, X, shape, pose()),
        lambda: signed_distance(shape, pose(), shape, X),
        lambda: collide(shape, pose(), shape, X),
        lambda: bounding_box(shape, X),
    ):
        with pytest.raises(GeometryError):
            call()


@pytest.mark.parametrize("margin", [-1.0, np.nan])
def test_a_negative_margin_is_refused(margin):
    with pytest.raises(GeometryError, match="margin"):
        collide(Shape.sphere(1), pose(), Shape.sphere(1), pose(), margin=margin)
