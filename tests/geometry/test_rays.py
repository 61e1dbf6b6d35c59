"""Ray casts: properties of every hit, for any algorithm.

The C++ tests compare with extended precision.
"""

from __future__ import annotations

import numpy as np
import pytest

from robosim.errors import GeometryError
from robosim.geometry import (
    Shape,
    collide,
    pose,
    ray_cast,
    ray_cast_derivatives,
    shape_sizes,
    signed_distance,
)


def rays_at(oracle, shape, X, rng, n):
    """Rays from about 2 m away to points around a shape of about 1 m."""
    origins = X[:3, 3] + 2 * oracle.unit(rng.normal(size=(n, 3)))
    return origins, (X[:3, 3] + rng.uniform(-0.4, 0.4, (n, 3)) - origins) * rng.uniform(
        0.1, 3, (n, 1)
    )


def test_hits_lie_on_the_surface_and_nothing_lies_before(oracle, kind):
    rng = np.random.default_rng(1)
    n_hits = 0
    for _ in range(6):
        shape, X = oracle.make(kind, rng), oracle.random_pose(rng, 1.0)
        origins, directions = rays_at(oracle, shape, X, rng, 12)
        hits = ray_cast(shape, X, origins, directions)
        moved = oracle.random_pose(rng, 1.0)
        again = ray_cast(
            shape, moved @ X, origins @ moved[:3, :3].T + moved[:3, 3], directions @ moved[:3, :3].T
        )
        for i in range(12):
            if not hits.hit[i]:
                assert np.isinf(hits.t[i])
                assert not hits.point[i].any()
                reach = 3 / np.linalg.norm(directions[i])
            elif hits.inside[i]:
                assert hits.t[i] == 0
                continue
            else:
                n_hits += 1
                reach, steep = (
                    hits.t[i],
                    -hits.normal[i] @ directions[i] / np.linalg.norm(directions[i]),
                )
                np.testing.assert_allclose(
                    hits.point[i], origins[i] + reach * directions[i], atol=1e-14
                )
                assert abs(np.linalg.norm(hits.normal[i]) - 1) < 1e-14
                assert steep >= 0
                assert abs(oracle.outside(shape, X, hits.point[i])) < 1e-13
                if kind != "half_space":
                    plane = oracle.support(shape, X, hits.normal[i : i + 1])[0]
                    assert abs(hits.normal[i] @ hits.point[i] - plane) < 1e-12
                # A ball around the point penetrates the shape by its radius, except at a sharp
                # edge.
                depth = signed_distance(shape, X, Shape.sphere(1e-3), pose(hits.point[i])).distance
                assert depth == pytest.approx(-1e-3, abs=1e-12)
                if steep > 1e-2:
                    assert again.hit[i]
                    assert again.t[i] == pytest.approx(reach, rel=1e-12)
            for part in np.linspace(0, 1, 20, endpoint=False):  # a ball of 1 nm before the hit
                p = origins[i] + part * reach * directions[i]
                assert not collide(shape, X, Shape.sphere(1e-9), pose(p)) or part * reach > hits.t[
                    i
                ] * (1 - 1e-6)
    assert n_hits > 10


def test_derivatives_are_those_of_the_cast(oracle, kind):
    """Derivatives in the ray and the pose; the C++ tests cover all others."""
    rng = np.random.default_rng(2)
    n = 0
    for _ in range(60):
        shape, X = oracle.make(kind, rng), oracle.random_pose(rng, 1.0)
        origins, directions = rays_at(oracle, shape, X, rng, 1)
        o, d = origins[0], directions[0]
        rates = ray_cast_derivatives(shape, X, o, d)
        assert rates.sizes.keys() == shape_sizes()[kind].keys()
        if (
            not rates.hit.hit
            or rates.one_sided
            or min(rates.feature.slide, rates.feature.tilt) < 0.01
        ):
            continue
        if -rates.hit.normal @ d < 0.3 * np.linalg.norm(d):
            continue
        n += 1
        for k, e in enumerate(np.eye(3)):
            check_rates(
                rates.origin, k, lambda t, o=o, d=d, e=e, S=shape, X=X: ray_cast(S, X, o + t * e, d)
            )
            check_rates(
                rates.direction,
                k,
                lambda t, o=o, d=d, e=e, S=shape, X=X: ray_cast(S, X, o, d + t * e),
            )
        for k in range(6):
            check_rates(
                rates.twist,
                k,
                lambda t, o=o, d=d, k=k, S=shape, X=X: ray_cast(S, moved(X, k, t), o, d),
            )
        for name, size in rates.sizes.items():
            assert size.t.shape == np.shape(getattr(shape, name))
            assert size.point.shape == (3, *size.t.shape)
    assert n >= 5


def moved(X, k, t):
    return X @ (pose(rpy=t * np.eye(6)[k, 3:]) if k > 2 else pose(t * np.eye(6)[k, :3]))


def check_rates(rates, k, cast):
    """Compare with central differences of step 1e-5.

    They have errors of about 1e-7 of the entries on surfaces with radii of 0.05 m and more.
    """
    h = 1e-5
    ahead, behind = cast(h), cast(-h)
    for name in ("t", "point", "normal"):
        expected = (getattr(ahead, name)[0] - getattr(behind, name)[0]) / (2 * h)
        np.testing.assert_allclose(
            getattr(rates, name)[..., k], expected, atol=1e-6 * max(1, np.abs(expected).max())
        )


def test_rows_are_broadcast():
    sphere = Shape.sphere(1)
    one = ray_cast(sphere, pose((3, 0, 0)), (0, 0, 0), (1, 0, 0))
    assert one.t.shape == (1,)
    fan = ray_cast(sphere, pose((3, 0, 0)), (0, 0, 0), [(1, 0, 0), (0, 1, 0)])
    np.testing.assert_array_equal(fan.hit, (True, False))
    beams = ray_cast(sphere, pose((3, 0, 0)), [(0, 0, 0), (0, 0.5, 0), (0, 2, 0)], (2, 0, 0))
    np.testing.assert_allclose(beams.t, (1, (3 - np.sqrt(0.75)) / 2, np.inf))
    assert ray_cast(sphere, pose((3, 0, 0)), (0, 0, 0), (1, 0, 0), max_t=1.99).hit.sum() == 0
    assert ray_cast(sphere, pose(), np.zeros((0, 3)), np.zeros((0, 3))).t.shape == (0,)


@pytest.mark.parametrize(
    ("reason", "call"),
    [
        ("direction is zero", lambda s: ray_cast(s, pose(), (0, 0, 0), (0, 0, 0))),
        ("direction is zero", lambda s: ray_cast_derivatives(s, pose(), (0, 0, 0), (0, 0, 0))),
        ("origins", lambda s: ray_cast(s, pose(), (0, 0), (0, 0, 1))),
        ("origins", lambda s: ray_cast(s, pose(), "here", (0, 0, 1))),
        ("directions", lambda s: ray_cast(s, pose(), (0, 0, 0), (0, np.nan, 1))),
        ("2 and 3 rays", lambda s: ray_cast(s, pose(), np.zeros((2, 3)), np.ones((3, 3)))),
        ("from that of W", lambda s: ray_cast(s, pose(), (1e10, 0, 0), (0, 0, 1))),
        ("max_t", lambda s: ray_cast(s, pose(), (0, 0, 0), (0, 0, 1), max_t=-1)),
        ("X_WS is not a pose", lambda s: ray_cast(s, 2 * np.eye(4), (0, 0, 0), (0, 0, 1))),
    ],
)
def test_what_is_no_ray_is_refused(reason, call):
    with pytest.raises(GeometryError, match=reason):
        call(Shape.sphere(1))
