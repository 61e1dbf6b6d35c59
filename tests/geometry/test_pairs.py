"""Certificates of signed distances, for every ordered pair of shapes and any algorithm."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from robosim import _engine
from robosim.geometry import Shape, Witness, collide, pose, signed_distance

# Iterative pairs end by a duality gap: 1e-9 m on shapes of about 1 m. Their accuracy is more than a
# hundred times better.
TOLERANCE = 1e-9
N_POSES = 24


def cases(oracle, kind_A, kind_B, n=N_POSES, size=1.0):
    """Posed pairs: apart, then moved along the normal to touch, to overlap slightly and deeply."""
    rng = np.random.default_rng(zlib.crc32(f"{kind_A} {kind_B}".encode()))
    for i in range(n):
        A, B = oracle.make(kind_A, rng, size), oracle.make(kind_B, rng, size)
        X_WA, X_WB = oracle.random_pose(rng, size), oracle.random_pose(rng, size)
        if kind_A == kind_B == "half_space":  # infinite overlap unless parallel
            X_WB = X_WA @ pose(rng.normal(size=3), rpy=(np.pi, 0, rng.normal()))
        w = signed_distance(A, X_WA, B, X_WB)
        gap = (None, 0.3, 1e-3, 1e-7, 1e-12, 0.0, -1e-9, -1e-5, -1e-2, -0.1)[i % 10]
        if gap is not None:
            X_WB = X_WB.copy()
            X_WB[:3, 3] += (gap * size - w.distance) * w.normal
        yield A, X_WA, B, X_WB


def check(oracle, A, X_WA, B, X_WB, w: Witness, tolerance: float) -> None:
    """Check the certificate of a signed distance.

    Always: both points are on the surfaces, at distance * normal from each other, and both shapes
    are behind the planes through the points with that normal. So a positive distance is a lower
    bound, and a translation by a negative one separates. Negative: no other direction separates by
    less.
    """
    assert np.isfinite(w.distance)
    assert abs(np.linalg.norm(w.normal) - 1) < 1e-12
    np.testing.assert_allclose(w.p_WB - w.p_WA, w.distance * w.normal, rtol=0, atol=tolerance)
    assert abs(oracle.outside(A, X_WA, w.p_WA)) < tolerance
    assert abs(oracle.outside(B, X_WB, w.p_WB)) < tolerance
    n = w.normal[None]
    unbounded = "half_space" in (A.type, B.type)
    if not unbounded:
        gap = -oracle.support(B, X_WB, -n)[0] - oracle.support(A, X_WA, n)[0]
        assert abs(gap - w.distance) < tolerance
    elif A.type != "half_space":
        assert abs(oracle.support(A, X_WA, n)[0] - w.p_WA @ w.normal) < tolerance
    elif B.type != "half_space":
        assert abs(-oracle.support(B, X_WB, -n)[0] - w.p_WB @ w.normal) < tolerance
    if w.distance < 0 and not unbounded:
        rng = np.random.default_rng(1)
        near = w.normal + np.concatenate([rng.normal(size=(300, 3)) * s for s in (1e-3, 1e-1)])
        d = oracle.unit(np.concatenate([rng.normal(size=(600, 3)), near, np.eye(3), -np.eye(3)]))
        depth = oracle.support(A, X_WA, d) + oracle.support(B, X_WB, -d)
        assert depth.min() > -w.distance - tolerance


def test_signed_distance_is_certified(oracle, kind_A, kind_B):
    for A, X_WA, B, X_WB in cases(oracle, kind_A, kind_B):
        check(oracle, A, X_WA, B, X_WB, signed_distance(A, X_WA, B, X_WB), TOLERANCE)


def test_swapping_the_shapes_negates_the_normal(oracle, kind_A, kind_B):
    for A, X_WA, B, X_WB in cases(oracle, kind_A, kind_B):
        w, v = signed_distance(A, X_WA, B, X_WB), signed_distance(B, X_WB, A, X_WA)
        assert abs(w.distance - v.distance) < TOLERANCE
        check(oracle, B, X_WB, A, X_WA, v, TOLERANCE)


def test_rigid_motion_changes_nothing(oracle, kind_A, kind_B):
    rng = np.random.default_rng(5)
    for A, X_WA, B, X_WB in cases(oracle, kind_A, kind_B, 12):
        X = oracle.random_pose(rng, 2.0)
        w, v = signed_distance(A, X_WA, B, X_WB), signed_distance(A, X @ X_WA, B, X @ X_WB)
        assert abs(w.distance - v.distance) < TOLERANCE
        check(oracle, A, X @ X_WA, B, X @ X_WB, v, TOLERANCE)


def test_fast_queries_agree_with_the_distance(oracle, kind_A, kind_B):
    for A, X_WA, B, X_WB in cases(oracle, kind_A, kind_B):
        d = signed_distance(A, X_WA, B, X_WB).distance
        if abs(d) > TOLERANCE:
            assert collide(A, X_WA, B, X_WB) == (d < 0)
        for margin in (0.0, 0.01, 0.2, abs(d) + 2e-9, max(abs(d) - 2e-9, 0.0)):
            if abs(d - margin) > 1e-9:
                assert collide(A, X_WA, B, X_WB, margin=margin) == (d < margin)
        for enough in (0.0, 0.05, 1e9):
            bound = _engine.distance_lower_bound(enough, A, X_WA, B, X_WB)
            assert 0 <= bound <= max(d, 0) + 1e-12
            assert bound >= min(enough, d) - 1e-6


@pytest.mark.parametrize("size", [1e-4, 1e-2, 1e3])
def test_small_and_large_shapes(oracle, kind_A, kind_B, size):
    for A, X_WA, B, X_WB in cases(oracle, kind_A, kind_B, 10, size):
        check(oracle, A, X_WA, B, X_WB, signed_distance(A, X_WA, B, X_WB), 1e-9 * size)


def test_half_spaces_that_cannot_be_separated():
    w = signed_distance(
        Shape.half_space(), pose(), Shape.half_space(), pose((0, 0, 5), rpy=(0.1, 0, 0))
    )
    assert w.distance == -np.inf
    assert collide(Shape.half_space(), pose(), Shape.half_space(), pose((0, 0, 5)))
    slot = signed_distance(
        Shape.half_space(), pose(), Shape.half_space(), pose((0, 0, 0.5), rpy=(np.pi, 0, 0))
    )
    assert slot.distance == pytest.approx(0.5)
