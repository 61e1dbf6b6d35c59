"""Bodies made of convex pieces: the data and refusals of their classes, and all queries."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.errors import GeometryError
from robosim.geometry import (
    Compound,
    HeightField,
    PointCloud,
    Shape,
    TriangleMesh,
    bounding_box,
    closest_pieces,
    collide,
    contact_manifolds,
    contacts,
    pose,
    signed_distance,
    signed_distance_derivatives,
)

SQUARE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
TETRAHEDRON = (
    [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
    [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)],
)


def random_pose(rng: np.random.Generator, reach: float) -> np.ndarray:
    return pose(rng.uniform(-reach, reach, 3), quaternion=rng.normal(size=4))


def test_bodies_give_back_what_they_hold():
    mesh = TriangleMesh(SQUARE, [(0, 1, 2), (0, 2, 3)])
    np.testing.assert_array_equal(mesh.vertices, SQUARE)
    np.testing.assert_array_equal(mesh.faces, [(0, 1, 2), (0, 2, 3)])
    assert (mesh.n_pieces, mesh.is_closed, repr(mesh)) == (
        2,
        False,
        "TriangleMesh(4 vertices, 2 faces)",
    )
    assert TriangleMesh(*TETRAHEDRON).is_closed
    heights = np.arange(12.0).reshape(3, 4) / 10
    field = HeightField(heights, (0.5, 0.25))
    np.testing.assert_array_equal(field.heights, heights)
    np.testing.assert_array_equal(field.spacing, (0.5, 0.25))
    np.testing.assert_array_equal(HeightField(heights, 2).spacing, (2, 2))
    cloud = PointCloud(SQUARE, 0.5)
    np.testing.assert_array_equal(cloud.points, SQUARE)
    assert (cloud.radius, cloud.n_pieces, field.n_pieces) == (0.5, 4, 12)
    assert (
        repr(Compound([(cloud, pose()), (Shape.sphere(1), pose())]))
        == "Compound(2 parts, 5 pieces)"
    )


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (
            lambda: TriangleMesh(SQUARE, [(0, 1, 2), (0, 2, 7)]),
            "face 1 names vertex 7; there are 4",
        ),
        (lambda: TriangleMesh(SQUARE, [(0, 1, 2**40)]), "face 0 names vertex"),
        (lambda: TriangleMesh([(0, 0, 0), (1, np.nan, 0), (0, 1, 0)], [(0, 1, 2)]), "vertex 1"),
        (lambda: TriangleMesh(SQUARE, [(0, 1, 1)]), "none of its 1 faces has an area"),
        (lambda: TriangleMesh(SQUARE, [(0.0, 1.0, 2.0)]), "integers of shape"),
        (lambda: TriangleMesh(SQUARE, [(0, 1, 2, 3)]), "integers of shape"),
        (lambda: TriangleMesh("square", [(0, 1, 2)]), "vertices"),
        (lambda: HeightField([0.0, 1.0], 1), "shape"),
        (lambda: HeightField([[0.0, 1.0]], 1), "1 by 2"),
        (lambda: HeightField([[0.0, np.inf], [0, 0]], 1), r"height \(0, 1\) is inf"),
        (lambda: HeightField(np.zeros((2, 2)), 0), "spacing is 0"),
        (lambda: HeightField(np.zeros((2, 2)), (1, np.nan)), "spacing is nan"),
        (lambda: HeightField(np.zeros((2, 2)), (1, 2, 3)), "spacing"),
        (lambda: PointCloud([(0, 0, 0), (0, np.inf, 0)], 0.1), "point 1"),
        (lambda: PointCloud(np.zeros((0, 3)), 0.1), "no points"),
        (lambda: PointCloud(SQUARE, 0.0), "radius"),
        (lambda: Compound([]), "no parts"),
        (
            lambda: Compound([(Shape.sphere(1), pose()), (Shape.sphere(1), np.eye(3))]),
            "part 1: its pose",
        ),
    ],
)
def test_bad_bodies_are_refused_by_name(make, named):
    with pytest.raises(GeometryError, match=named):
        make()


def test_every_query_takes_them_in_either_order():
    rng = np.random.default_rng(0)
    heights = rng.uniform(-0.1, 0.1, (8, 9))
    part = [
        (Shape.capsule(0.1, 0.3), random_pose(rng, 0.3)),
        (Shape.box((0.2, 0.3, 0.1)), random_pose(rng, 0.3)),
    ]
    bodies = [
        TriangleMesh(*TETRAHEDRON),
        HeightField(heights, 0.2),
        PointCloud(rng.uniform(-0.5, 0.5, (30, 3)), 0.05),
        Compound(part),
        Compound(
            [
                (TriangleMesh(*TETRAHEDRON), random_pose(rng, 0.2)),
                (Compound(part), random_pose(rng, 0.2)),
            ]
        ),
        Shape.cylinder(0.2, 0.4),
    ]
    surfaces = [bodies[0], bodies[1], bodies[4]]
    for A in bodies:
        for B in bodies:
            X_WA, X_WB = random_pose(rng, 0.7), random_pose(rng, 1.0)
            w, other = signed_distance(A, X_WA, B, X_WB), signed_distance(B, X_WB, A, X_WA)
            assert w.distance == pytest.approx(other.distance, abs=1e-11)
            np.testing.assert_allclose(w.p_WB - w.p_WA, w.distance * w.normal, atol=1e-11)
            assert collide(A, X_WA, B, X_WB) == (w.distance < 0)
            assert collide(A, X_WA, B, X_WB, margin=0.1) == (w.distance < 0.1)
            near = contacts(A, X_WA, B, X_WB, margin=0.1)
            assert bool(near) == (w.distance < 0.1)
            closest = closest_pieces(A, X_WA, B, X_WB)
            manifolds = contact_manifolds(A, X_WA, B, X_WB, margin=0.1)
            # The order is the same, except for triangles without features of their own, or whose
            # features are touched first by another triangle.
            known = {c[1:] for c in near}
            others = [m for m in manifolds if m[1:] not in known]
            manifolds = [m for m in manifolds if m[1:] in known]
            has_surface = any(x is surface for x in (A, B) for surface in surfaces)
            assert (len(manifolds) == len(near) and not others) or has_surface
            for m in others:
                apart = m.manifold.p_WB - m.manifold.p_WA
                np.testing.assert_allclose(
                    apart, m.manifold.gap[:, None] * m.manifold.normal, atol=1e-11
                )
                assert m.manifold.gap.max() <= 0.1
                assert m.manifold.gap.min() >= min(w.distance, 0) - 1e-11
            left = iter(near)
            of = [next(c for c in left if c[1:] == m[1:]) for m in manifolds]
            assert {c.witness.distance for c in of} >= {
                min((c.witness.distance for c in near), default=None)
            } - {None}
            for m, c in zip(manifolds, of, strict=True):
                np.testing.assert_array_equal(m.manifold.normal, c.witness.normal)
                np.testing.assert_allclose(
                    m.manifold.p_WB - m.manifold.p_WA,
                    m.manifold.gap[:, None] * c.witness.normal,
                    atol=1e-11,
                )
            assert not near or closest[1:] in [c[1:] for c in near]
            d = signed_distance_derivatives(A, X_WA, B, X_WB)
            assert d.witness.distance == w.distance
            # The derivative of the distance along a translation of B, in B's axes, is the normal.
            if not d.one_sided and w.distance > 0:
                np.testing.assert_allclose(
                    d.twist.distance[6:9], X_WB[:3, :3].T @ w.normal, atol=1e-9
                )


def test_a_body_of_the_parts_of_a_shape_is_that_shape_and_its_box():
    rng = np.random.default_rng(1)
    box, halves = Shape.box((0.4, 0.2, 0.3)), Shape.box((0.2, 0.2, 0.3))
    body = Compound([(halves, pose((-0.1, 0, 0))), (halves, pose((0.1, 0, 0)))])
    for _ in range(50):
        X, other, X_other = random_pose(rng, 1), Shape.sphere(0.1), random_pose(rng, 1)
        whole, parts = (
            signed_distance(box, X, other, X_other),
            signed_distance(body, X, other, X_other),
        )
        if whole.distance > 0:
            assert parts.distance == pytest.approx(whole.distance, abs=1e-13)
            np.testing.assert_allclose(parts.p_WA, whole.p_WA, atol=1e-12)
        np.testing.assert_allclose(bounding_box(body, X), bounding_box(box, X), atol=1e-14)


def test_derivatives_in_sizes_of_the_piece_that_touches():
    cloud = PointCloud([(0, 0, 0), (1, 0, 0)], 0.1)
    d = signed_distance_derivatives(cloud, pose(), Shape.sphere(0.2), pose((1.5, 0, 0)))
    assert d.sizes_A["radius"].distance == pytest.approx(-1)
    ground = HeightField(np.zeros((3, 3)), 1.0)
    below = signed_distance_derivatives(ground, pose(), Shape.sphere(0.2), pose((0.6, 0.3, 0.15)))
    assert below.witness.distance == pytest.approx(-0.05, abs=1e-15)
    rates = below.sizes_A["vertices"].distance
    # Raising a vertex raises the plane under the ball by the vertex's weight: (1 - x, x - y, y) of
    # this triangle.
    np.testing.assert_allclose(rates[:, 2], (-0.4, -0.3, -0.3), atol=1e-12)
    assert closest_pieces(ground, pose(), Shape.sphere(0.2), pose((0.6, 0.3, 0.15))).piece_A == 0


def test_queries_refuse_what_is_no_body():
    mesh = TriangleMesh(*TETRAHEDRON)
    with pytest.raises(GeometryError, match="X_WB"):
        signed_distance(mesh, pose(), Shape.sphere(1), np.zeros((4, 4)))
    with pytest.raises(GeometryError, match="margin is -1"):
        collide(mesh, pose(), mesh, pose(), margin=-1)
    with pytest.raises(GeometryError, match="margin is nan"):
        contacts(mesh, pose(), mesh, pose(), margin=np.nan)
    with pytest.raises(GeometryError, match="B is None"):
        signed_distance(mesh, pose(), None, pose())
    with pytest.raises(TypeError):
        signed_distance(mesh, pose(), "floor", pose())
