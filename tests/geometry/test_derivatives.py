"""Derivatives of signed distances by the public functions, for all pairs and parameters."""

from __future__ import annotations

import gc
import itertools
import zlib

import numpy as np
import pytest

from robosim.errors import GeometryError
from robosim.geometry import (
    Shape,
    Witness,
    WitnessRates,
    pose,
    shape_sizes,
    signed_distance,
    signed_distance_derivatives,
)

# Extrapolated differences over steps of 1e-4 and more, of a query that is exact to 1e-13: 1e-9 at
# best.
TOLERANCE = 1e-7


def moved(X: np.ndarray, k: int, t: float) -> np.ndarray:
    """X after moving along the twist e_k of its own frame for time t.

    Along a single axis a screw is a rotation or a translation.
    """
    e = np.zeros(6)
    e[k] = t
    return X @ pose(e[:3], rpy=e[3:])


def difference(query, h: float) -> tuple[np.ndarray, ...]:
    """Central differences at t = 0, extrapolated to h = 0.

    The query is a function of t. Steps are h, h / 2, h / 4 and h / 8.
    """

    def row(step: float) -> list[np.ndarray]:
        plus, minus = query(step), query(-step)
        return [(np.asarray(a) - b) / (2 * step) for a, b in zip(plus, minus, strict=True)]

    rows = [row(h / 2**i) for i in range(4)]
    for order in (1, 2, 3):
        rows = [
            [(4**order * b - a) / (4**order - 1) for a, b in zip(coarse, fine, strict=True)]
            for coarse, fine in itertools.pairwise(rows)
        ]
    return tuple(rows[0])


def same_rates(rates: WitnessRates, index: tuple[int, ...], query, h: float) -> None:
    expected = difference(query, h)
    size = max(1.0, *(np.abs(x).max() for x in expected))
    for got, want in zip(rates, expected, strict=True):
        np.testing.assert_allclose(got[(..., *index)], want, rtol=0, atol=TOLERANCE * size)


def grown(shape: Shape, name: str, index: tuple[int, ...], t: float) -> Shape:
    """The shape with one entry of one size larger by t."""
    sizes = {key: np.array(getattr(shape, key), dtype=float) for key in shape_sizes()[shape.type]}
    sizes[name][index] += t
    return getattr(Shape, shape.type)(**{key: value[()] for key, value in sizes.items()})


def smooth_cases(oracle, kind_A: str, kind_B: str, n: int):
    """Pairs in poses well away from a change of their contact features."""
    rng = np.random.default_rng(zlib.crc32(f"{kind_A} {kind_B}".encode()))
    for _ in range(40 * n):
        A, B = oracle.make(kind_A, rng), oracle.make(kind_B, rng)
        X_WA, X_WB = oracle.random_pose(rng, 0.6), oracle.random_pose(rng, 0.6)
        d = signed_distance_derivatives(A, X_WA, B, X_WB)
        room = min(d.feature_A.slide, d.feature_A.tilt, d.feature_B.slide, d.feature_B.tilt)
        largest = max(float(np.abs(x).max()) for x in d.twist)
        if (
            d.one_sided or room < 0.01 or largest > 20
        ):  # near a common center of curvature steps would leave the smooth range
            continue
        h = min(2e-3, 0.05 * room)
        around = [
            signed_distance(A, moved(X_WA, k, t), B, X_WB).normal
            for k in range(6)
            for t in (-2 * h, 2 * h)
        ]
        if (
            max(np.linalg.norm(normal - d.witness.normal) for normal in around) < 0.1
        ):  # else another direction of separation is as short
            yield A, X_WA, B, X_WB, d, h
            n -= 1
        if n == 0:
            return
    raise AssertionError("too few smooth cases")


def test_derivatives_are_those_of_the_query(oracle, kind_A, kind_B):
    if kind_A == kind_B == "half_space":
        d = signed_distance_derivatives(
            Shape.half_space(), pose(), Shape.half_space(), pose(rpy=(0.3, 0, 0))
        )
        # Infinite penetration, as for all half-spaces that do not exactly face each other.
        assert d.one_sided
        assert not np.any(d.twist.distance)
        return
    for case in smooth_cases(oracle, kind_A, kind_B, 4):
        check_rates(*case)


def check_rates(A, X_WA, B, X_WB, d, h):
    for a, b in zip(d.witness, signed_distance(A, X_WA, B, X_WB), strict=True):
        np.testing.assert_array_equal(a, b)
    for k in range(6):
        same_rates(d.twist, (k,), lambda t, k=k: signed_distance(A, moved(X_WA, k, t), B, X_WB), h)
        same_rates(
            d.twist, (6 + k,), lambda t, k=k: signed_distance(A, X_WA, B, moved(X_WB, k, t)), h
        )
    for shape, sizes in ((A, d.sizes_A), (B, d.sizes_B)):
        assert sizes.keys() == shape_sizes()[shape.type].keys()
        for name in sizes.keys() - {"vertices"}:
            if name == "rounding" and shape.rounding == 0:  # a rounding is never negative
                assert sizes[name].distance == pytest.approx(-1, rel=1e-14)
                continue
            for i in np.ndindex(sizes[name].distance.shape):

                def query(t, sizes=sizes, name=name, i=i):
                    own = sizes is d.sizes_A
                    return signed_distance(
                        grown(A, name, i, t) if own else A,
                        X_WA,
                        B if own else grown(B, name, i, t),
                        X_WB,
                    )

                same_rates(sizes[name], i, query, h)


def test_growing_as_a_whole_is_growing_in_every_size(oracle, kind_A, kind_B):
    """Euler: the rate of a common factor is the sum of all sizes times their rates."""
    if kind_A == kind_B == "half_space":
        return  # no sizes
    for A, _, B, _, d, _ in smooth_cases(oracle, kind_A, kind_B, 3):
        for shape, sizes, scale in ((A, d.sizes_A, d.scale_A), (B, d.sizes_B, d.scale_B)):
            if not sizes:
                continue
            for part in range(4):
                total = sum(
                    (rates[part] * np.asarray(getattr(shape, name)))
                    .reshape((*np.shape(scale[part]), -1))
                    .sum(-1)
                    for name, rates in sizes.items()
                )
                # Parallel straight features have no unique points: points differ along them, gap
                # and normal do not.
                if part in (0, 3):
                    np.testing.assert_allclose(total, scale[part], rtol=0, atol=1e-11)


def test_of_a_mesh_the_vertices_that_touch_alone_count():
    box = Shape.convex(np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T)
    d = signed_distance_derivatives(
        Shape.half_space(), pose(), box, pose((0, 0, 2), rpy=(0.3, 0.4, 0))
    )
    assert d.feature_B.kind == "vertex"
    rates = d.sizes_B["vertices"]
    assert rates.distance.shape == (8, 3)
    assert rates.p_WB.shape == (3, 8, 3)
    moving = np.flatnonzero(np.abs(rates.distance).max(axis=1))
    assert moving.tolist() == [d.feature_B.number]
    np.testing.assert_allclose(
        rates.p_WB[:, moving[0]], pose(rpy=(0.3, 0.4, 0))[:3, :3], atol=1e-15
    )  # in its own frame's axes


@pytest.mark.parametrize(
    ("A", "B", "X_WB", "kinds"),
    [
        (Shape.box((1, 1, 1)), Shape.box((1, 1, 1)), pose((0, 0, 2)), {"face", "edge", "vertex"}),
        (Shape.capsule(0.1, 1), Shape.capsule(0.1, 1), pose((1, 0, 0)), {"curved"}),
        (Shape.sphere(1), Shape.sphere(1), pose(), {"curved"}),
        (Shape.capsule(0.5, 1), Shape.sphere(0.2), pose(), {"curved"}),
        (Shape.cylinder(1, 1), Shape.cylinder(1, 1), pose((0, 0, 3)), {"face", "edge"}),
        (
            Shape.box((1, 1, 1)),
            Shape.sphere(0.1),
            pose((0.5, 0.5, 2)),
            {"face", "edge", "vertex", "curved"},
        ),
        (Shape.half_space(), Shape.half_space(), pose(), {"face"}),
        (Shape.half_space(), Shape.box((1, 1, 1)), pose((0, 0, 1)), {"face", "edge", "vertex"}),
    ],
)
def test_where_points_are_not_unique_derivatives_are_finite_and_say_so(A, B, X_WB, kinds):
    d = signed_distance_derivatives(A, pose(), B, X_WB)
    assert d.one_sided
    assert {d.feature_A.kind, d.feature_B.kind} <= kinds
    for rates in (d.twist, d.scale_A, d.scale_B, *d.sizes_A.values(), *d.sizes_B.values()):
        assert all(np.isfinite(x).all() for x in rates)
    if np.isfinite(d.witness.distance):  # the gap's own derivative is defined nevertheless
        n = d.witness.normal
        np.testing.assert_allclose(d.twist.distance[:3], -n, atol=1e-15)
        np.testing.assert_allclose(d.twist.distance[6:9], X_WB[:3, :3].T @ n, atol=1e-15)


def test_bad_poses_are_refused():
    with pytest.raises(GeometryError, match="X_WB"):
        signed_distance_derivatives(Shape.sphere(1), pose(), Shape.sphere(1), 2 * np.eye(4))


def test_a_witness_is_part_of_its_derivatives():
    d = signed_distance_derivatives(
        Shape.sphere(1), pose(), Shape.box((1, 1, 1)), pose((3, 0.1, 0.2))
    )
    assert isinstance(d.witness, Witness)
    assert d.witness.distance == pytest.approx(1.5, abs=1e-15)


def test_arrays_that_are_made_later_are_of_the_shapes_and_poses_that_were_given():
    def queried(X_WA, X_WB):
        return signed_distance_derivatives(
            Shape.capsule(0.1, 0.5), X_WA, Shape.box((1, 0.8, 0.6)), X_WB
        )

    X_WA, X_WB = pose((0.1, 0.2, 0.9), rpy=(0.2, 1.4, 0.3)), pose(rpy=(0.1, 0.2, 0.3))
    at_once, later = queried(X_WA, X_WB), queried(X_WA, X_WB)
    expected = repr(at_once)  # this computes all arrays
    X_WA[:3, 3] += 1
    gc.collect()
    assert repr(later) == expected
    assert later.sizes_B is later.sizes_B
    assert set(later.sizes_A) == {"radius", "length"}
    assert later.feature_B.kind in {"face", "edge", "vertex"}
