"""Bounding volumes enclose the shape, and no smaller volume does."""

from __future__ import annotations

import numpy as np
import pytest

from robosim import _engine
from robosim.geometry import Shape, bounding_ball, bounding_box, pose

from ..scale import repeats  # noqa: TID252 (tests have no absolute name)


def surface_points(oracle, shape, rng):
    """Points near the surface in random directions, found by bisection along rays from inside."""
    center = bounding_ball(shape)[0] if shape.type != "convex" else shape.vertices.mean(axis=0)
    points = []
    for d in oracle.unit(rng.normal(size=(200, 3))):
        low, high = 0.0, 10.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (
                (middle, high)
                if oracle.outside(shape, np.eye(4), center + middle * d) < 0
                else (low, middle)
            )
        points.append(center + low * d)
    return np.array(points)


def test_volumes_hold_the_shape(oracle, kind):
    rng = np.random.default_rng(0)
    for _ in range(repeats(1, 5)):
        shape, X = oracle.make(kind, rng), oracle.random_pose(rng, 1.0)
        if kind == "half_space":
            assert bounding_ball(shape)[1] == np.inf
            assert _engine.farthest_from(shape, (0, 0, 0)) == np.inf
            lower, upper = bounding_box(shape, X)
            assert (lower == -np.inf).all()
            assert (upper == np.inf).all()
            continue
        points = surface_points(oracle, shape, rng)
        center, radius = bounding_ball(shape)
        assert np.linalg.norm(points - center, axis=1).max() <= radius + 1e-12
        lower, upper = bounding_box(shape, X)
        in_W = points @ X[:3, :3].T + X[:3, 3]
        assert (in_W >= lower - 1e-12).all()
        assert (in_W <= upper + 1e-12).all()
        for p in rng.normal(size=(5, 3)):
            farthest = np.linalg.norm(points - p, axis=1).max()
            bound = _engine.farthest_from(shape, p)
            assert farthest <= bound + 1e-12


def test_boxes_are_the_smallest(oracle, kind):
    if kind == "half_space":
        return  # unbounded: see test_a_level_half_space_has_a_top
    rng = np.random.default_rng(1)
    for _ in range(10):
        shape, X = oracle.make(kind, rng), oracle.random_pose(rng, 1.0)
        lower, upper = bounding_box(shape, X)
        np.testing.assert_allclose(upper, oracle.support(shape, X, np.eye(3)), atol=1e-14)
        np.testing.assert_allclose(lower, -oracle.support(shape, X, -np.eye(3)), atol=1e-14)


def test_balls_of_primitives_are_the_smallest():
    assert bounding_ball(Shape.sphere(2))[1] == 2
    assert bounding_ball(Shape.box((2, 4, 4)))[1] == pytest.approx(3)
    assert bounding_ball(Shape.capsule(0.5, 2))[1] == pytest.approx(1.5)
    assert bounding_ball(Shape.cylinder(3, 8))[1] == pytest.approx(5)
    assert bounding_ball(Shape.ellipsoid((1, 3, 2)))[1] == 3
    center, radius = bounding_ball(Shape.convex([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, 0, 0.5]]))
    np.testing.assert_allclose(center, 0, atol=1e-12)
    assert radius == pytest.approx(1)


@pytest.mark.parametrize(
    ("radius", "length"), [(3, 8), (3, 3.001), (3, 3), (3, 2), (1e-6, 1), (1, 1e-6)], ids=str
)
def test_the_ball_of_a_cone_is_the_smallest(radius, length):
    """The center is in the hull of the touched points, which are the apex and the rim.

    Otherwise a smaller ball would exist.
    """
    center, r = bounding_ball(Shape.cone(radius, length))
    np.testing.assert_array_equal(center[:2], 0)
    to_apex, to_rim = length / 2 - center[2], np.hypot(radius, center[2] + length / 2)
    assert r == pytest.approx(max(to_apex, to_rim), rel=1e-14)
    assert to_rim == pytest.approx(r, rel=1e-14)
    if to_apex < r * (1 - 1e-14):  # touches only the rim
        assert center[2] == -length / 2
    else:
        assert -length / 2 <= center[2] <= length / 2


def test_farthest_points_of_primitives():
    p = np.array((0.3, -0.4, 0.2))
    assert _engine.farthest_from(Shape.sphere(2), p) == pytest.approx(2 + np.linalg.norm(p))
    assert _engine.farthest_from(Shape.box((2, 4, 6)), p) == pytest.approx(
        np.linalg.norm((1.3, 2.4, 3.2))
    )
    assert _engine.farthest_from(Shape.capsule(0.1, 2), p) == pytest.approx(
        np.hypot(0.5, 1.2) + 0.1
    )
    assert _engine.farthest_from(Shape.cylinder(0.1, 2), p) == pytest.approx(np.hypot(0.6, 1.2))
    apex, rim = np.linalg.norm((0.3, 0.4, 0.8)), np.hypot(0.5 + 0.1, 1.2)
    assert _engine.farthest_from(Shape.cone(0.1, 2), p) == pytest.approx(max(apex, rim))
    assert _engine.farthest_from(Shape.cone(0.1, 2), p * (1, 1, -4)) == pytest.approx(
        np.hypot(0.5, 1.8)
    )
    tetrahedron = Shape.convex([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, 0, 0.5]])
    assert _engine.farthest_from(tetrahedron, p) == pytest.approx(np.linalg.norm(p - (0, 1, 0)))


def test_a_level_half_space_has_a_top():
    lower, upper = bounding_box(Shape.half_space(), pose((1, 2, 3)))
    np.testing.assert_array_equal(upper, (np.inf, np.inf, 3))
    np.testing.assert_array_equal(lower, -np.inf)
