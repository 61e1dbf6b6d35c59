"""Smoothed distances by the public function; the C++ tests cover every pair and property."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.errors import GeometryError
from robosim.geometry import Compound, Shape, pose, signed_distance, smoothed_distance

GROUND, BOX = Shape.half_space(), Shape.box((0.4, 0.3, 0.2))


def tilted(angle: float) -> np.ndarray:
    return pose((0, 0, 0.2), rpy=(0, angle, 0))


def test_follows_its_derivative_where_the_exact_point_jumps():
    """Over the ground there is a closed form.

    In the box's frame, x = 0.2 tanh(0.2 sin(tilt) / smoothing).
    """
    e = 0.004
    for tilt in (-0.05, -1e-3, 0.0, 2e-3, 0.1):
        s = smoothed_distance(GROUND, pose(), BOX, tilted(tilt), smoothing=e)
        p = tilted(tilt)[:3, :3].T @ (s.witness.p_WB - (0, 0, 0.2))
        n = -tilted(tilt)[:3, :3].T @ s.witness.normal
        weights = 0.5 * (1 + np.tanh(np.array([0.2, 0.15, 0.1]) * n / e))
        entropy = -sum(w * np.log(w) + (1 - w) * np.log1p(-w) for w in weights if 0 < w < 1)
        expected = np.array([0.2, 0.15, 0.1]) * (2 * weights - 1) + e * entropy * n
        np.testing.assert_allclose(p, expected, rtol=0, atol=1e-14)
        h = 1e-5
        after, before = (
            smoothed_distance(
                GROUND, pose(), BOX, tilted(tilt) @ pose(rpy=(0, t, 0)), smoothing=e
            ).witness
            for t in (h, -h)
        )
        # Second-order differences: the third derivative is about 10 / (smoothing / size)^2 of the
        # first one at most.
        slope = (after.p_WB - before.p_WB) / (2 * h)
        np.testing.assert_allclose(
            s.twist.p_WB[:, 10], slope, rtol=0, atol=1e-5 * max(1, abs(slope[0]))
        )
        assert not s.one_sided


def test_same_bits_every_time_and_never_above_the_exact_distance():
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = pose(rng.uniform(-0.5, 0.5, 3), rpy=rng.uniform(-3, 3, 3))
        cone = Shape.cone(0.2, 0.4)
        a, b = (smoothed_distance(BOX, pose(), cone, X, smoothing=0.01) for _ in range(2))
        exact = signed_distance(BOX, pose(), cone, X).distance
        assert exact - 0.01 * (3 * np.log(2) + 1 + np.log(2)) <= a.witness.distance <= exact
        for got, same in zip((*a.witness, *a.twist), (*b.witness, *b.twist), strict=True):
            np.testing.assert_array_equal(got, same)


@pytest.mark.parametrize("smoothing", [0.0, -1e-3, np.nan, np.inf])
def test_lengths_that_smooth_nothing_are_refused(smoothing):
    with pytest.raises(GeometryError, match="smoothing is"):
        smoothed_distance(GROUND, pose(), BOX, pose(), smoothing=smoothing)


def test_bodies_made_of_pieces_are_refused():
    with pytest.raises(TypeError):
        smoothed_distance(GROUND, pose(), Compound([(BOX, pose())]), pose(), smoothing=0.01)
