"""Contact manifolds and their derivatives, through the public functions."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from robosim.errors import GeometryError
from robosim.geometry import (
    Shape,
    contact_manifold,
    contact_manifold_derivatives,
    pose,
    shape_sizes,
    signed_distance,
)

MARGIN = 0.05


def brought_near(A, X_WA, B, X_WB, gap):
    """Shift X_WB along the normal to this gap."""
    for _ in range(3):
        witness = signed_distance(A, X_WA, B, X_WB)
        X_WB = X_WB @ pose(X_WB[:3, :3].T @ ((gap - witness.distance) * witness.normal))
    return X_WB


def contacts(oracle, kind_A, kind_B, n):
    rng = np.random.default_rng(zlib.crc32(f"{kind_A} {kind_B} manifold".encode()))
    for i in range(n):
        A, B = oracle.make(kind_A, rng), oracle.make(kind_B, rng)
        X_WA, X_WB = oracle.random_pose(rng, 0.3), oracle.random_pose(rng, 2.0)
        if i % 2:  # parallel axes: ends, bases and faces; else mostly a corner or an edge
            X_WB = X_WA @ pose(
                (0.05, 0.02, 1.5), rpy=(np.pi + 1e-4 * (i % 4 - 1), 1e-4 * (i % 4 - 1), i)
            )
        yield A, X_WA, B, brought_near(A, X_WA, B, X_WB, (0.02, 0.001, 0.0, -0.003)[i // 2 % 4])


def test_points_lie_on_both_surfaces_along_one_normal(oracle, kind_A, kind_B):
    if kind_A == kind_B == "half_space":
        assert contact_manifold(
            Shape.half_space(), pose(), Shape.half_space(), pose()
        ).gap.shape == (0,)
        return
    for A, X_WA, B, X_WB in contacts(oracle, kind_A, kind_B, 16):
        m = contact_manifold(A, X_WA, B, X_WB, margin=MARGIN)
        n = len(m.gap)
        assert 1 <= n <= 8
        assert len(m.features_A) == len(m.features_B) == n
        assert len(set(zip(m.features_A, m.features_B, strict=True))) == n
        # Equal up to rounding, which an iterative distance multiplies by the size of coordinates.
        assert m.gap.min() == pytest.approx(m.distance, abs=2e-9)
        assert (m.gap > m.distance - 1e-12).all()
        assert (m.gap <= MARGIN).all()
        np.testing.assert_allclose(m.p_WB - m.p_WA, m.gap[:, None] * m.normal, atol=1e-13)
        np.testing.assert_allclose(np.ptp(m.p_W @ m.normal), 0, atol=1e-13)
        for a, b in zip(m.p_WA, m.p_WB, strict=True):
            assert abs(oracle.outside(A, X_WA, a)) < 1e-8
            assert abs(oracle.outside(B, X_WB, b)) < 1e-8
        back = contact_manifold(B, X_WB, A, X_WA, margin=MARGIN)
        if (
            m.slide.min() > 1e-6
            and (MARGIN - m.gap).min() > 1e-6
            and np.abs(back.normal + m.normal).max() < 1e-9
        ):
            order = {f: i for i, f in enumerate(zip(back.features_B, back.features_A, strict=True))}
            same = [order[f] for f in zip(m.features_A, m.features_B, strict=True)]
            np.testing.assert_allclose(back.p_WB[same], m.p_WA, atol=1e-8)
            assert back.reference == {"A": "B", "B": "A", None: None}[m.reference]


def moved(X, k, t):
    e = np.zeros(6)
    e[k] = t
    return X @ pose(e[:3], rpy=e[3:])


def grown(shape, name, index, t):
    sizes = {key: np.array(getattr(shape, key), dtype=float) for key in shape_sizes()[shape.type]}
    sizes[name][index] += t
    return getattr(Shape, shape.type)(**{key: value[()] for key, value in sizes.items()})


def same_rates(rates, index, query, base, h=1e-4, *, forward=False):
    """Compare rates with differences of all points, extrapolated once: 1e-9 of the entries at best.

    Differences are central, or else forward.
    """
    steps, weights = ((0, 1, 2), (-3, 4, -1)) if forward else ((-1, 1), (-1, 1))

    def row(step):
        ends = []
        for m in (query(k * step) for k in steps):
            assert m.reference == base.reference
            # A tilted disc has its lowest point in addition.
            order = {f: i for i, f in enumerate(zip(m.features_A, m.features_B, strict=True))}
            same = [order[f] for f in zip(base.features_A, base.features_B, strict=True)]
            ends.append(
                [m.normal if name == "normal" else getattr(m, name)[same] for name in rates._fields]
            )
        return [
            sum(map(np.multiply, weights, parts)) / (2 * step) for parts in zip(*ends, strict=True)
        ]

    for name, coarse, fine in zip(rates._fields, row(h), row(h / 2), strict=True):
        want = (4 * fine - coarse) / 3
        np.testing.assert_allclose(
            getattr(rates, name)[(..., *index)],
            want,
            rtol=0,
            atol=1e-7 * max(1, np.abs(want).max()),
            err_msg=name,
        )


PRISM = Shape.convex(
    [(x, y, z) for z in (-0.2, 0.3) for x, y in ((-0.3, -0.2), (0.4, -0.3), (0.1, 0.5))]
)
RESTING = {
    "box on a box": (
        Shape.box((2, 2, 1)),
        pose((0, 0, -0.5)),
        Shape.box((0.4, 0.3, 0.2)),
        pose((0.1, 0.2, 0.099)),
    ),
    "over an edge": (
        Shape.box((2, 2, 1)),
        pose((0, 0, -0.5), rpy=(0, 0, 0.2)),
        Shape.box((0.6, 0.5, 0.2)),
        pose((0.9, 0, 0.11), rpy=(0.02, 0.05, 0.1)),
    ),
    "prism on a box": (
        Shape.box((2, 2, 1)),
        pose((0, 0, -0.5)),
        PRISM,
        pose((0.1, 0.2, 0.202), rpy=(0, 0, 0.3)),
    ),
    "box on a prism": (Shape.box((2, 2, 1)), pose((0, 0, 0.8)), PRISM, pose((0.1, 0.2, 0))),
    "cylinder on the ground": (
        Shape.half_space(),
        pose(),
        Shape.cylinder(0.3, 0.5),
        pose((0, 0, 0.25)),
    ),
    "lying cylinder": (
        Shape.box((2, 2, 1)),
        pose((0, 0, -0.5)),
        Shape.cylinder(0.3, 0.5),
        pose((0, 0, 0.301), rpy=(0, np.pi / 2 + 0.01, 0)),
    ),
    "lying cone": (
        Shape.box((2, 2, 1)),
        pose((0, 0, -0.5)),
        Shape.cone(0.3, 1),
        pose((0, 0, 0.15), rpy=(0, 1.9, 0.4)),
    ),
    "lying capsule": (
        Shape.capsule(0.1, 0.6),
        pose((0, 0, 0.1), rpy=(0, 1.56, 0.2)),
        Shape.half_space(),
        pose(),
    ),
}


@pytest.mark.parametrize("case", RESTING)
def test_derivatives_are_those_of_the_manifold(case):
    A, X_WA, B, X_WB = RESTING[case]
    d = contact_manifold_derivatives(A, X_WA, B, X_WB, margin=MARGIN)
    base = contact_manifold(A, X_WA, B, X_WB, margin=MARGIN)
    assert len(base.gap) >= 2
    for got, want in zip(d.manifold, base, strict=True):
        np.testing.assert_array_equal(got, want)
    assert not d.one_sided.any()

    def at(A=A, X_WA=X_WA, B=B, X_WB=X_WB):
        return contact_manifold(A, X_WA, B, X_WB, margin=MARGIN)

    for k in range(6):
        same_rates(d.twist, (k,), lambda t, k=k: at(X_WA=moved(X_WA, k, t)), base)
        same_rates(d.twist, (6 + k,), lambda t, k=k: at(X_WB=moved(X_WB, k, t)), base)
    for own, shape, sizes, scale in (
        ("A", A, d.sizes_A, d.scale_A),
        ("B", B, d.sizes_B, d.scale_B),
    ):
        assert sizes.keys() == shape_sizes()[shape.type].keys()
        for name, rates in sizes.items():
            if name == "rounding" and case == "over an edge":
                # The derivative in the rounding of a tilted corner without rounding belongs to the
                # adjacent face, see docs/geometry.md.
                continue
            for i in np.ndindex(rates.gap.shape[1:]):
                same_rates(
                    rates,
                    i,
                    lambda t, own=own, s=shape, name=name, i=i: at(**{own: grown(s, name, i, t)}),
                    base,
                    forward=name == "rounding" and shape.rounding == 0,
                )
        if sizes:  # Euler: growing as a whole is growing in every size
            for part in ("gap", "normal"):
                want = getattr(scale, part)
                parts = [
                    np.asarray(getattr(shape, name)) * getattr(r, part) for name, r in sizes.items()
                ]
                total = sum(x.reshape(*want.shape, -1).sum(-1) for x in parts)
                np.testing.assert_allclose(total, want, atol=1e-12)


def test_faces_that_only_nearly_lie_on_each_other_say_that_they_are_at_a_switch():
    cube = Shape.box((1, 1, 1))
    d = contact_manifold_derivatives(cube, pose(), cube, pose((0, 0, 1)))
    assert len(d.manifold.gap) == 4
    assert d.one_sided.all()
    assert (d.manifold.slide == 0).all()
    assert all(np.isfinite(x).all() for x in (*d.twist, *d.scale_A, *d.sizes_B["size"]))


@pytest.mark.parametrize("margin", [-1e-9, np.nan, np.inf])
def test_bad_margins_are_refused(margin):
    for query in (contact_manifold, contact_manifold_derivatives):
        with pytest.raises(GeometryError, match="margin"):
            query(Shape.sphere(1), pose(), Shape.sphere(1), pose(), margin=margin)


def test_bad_poses_are_refused():
    with pytest.raises(GeometryError, match="X_WB"):
        contact_manifold(Shape.sphere(1), pose(), Shape.sphere(1), 2 * np.eye(4))


@pytest.mark.parametrize("body", ["box", "hull"])
def test_a_rounded_corner_that_all_but_lies_flat_turns_with_the_lean(body):
    """Near a corner of the core, the surface is the corner's ball, an edge's or the face.

    The lean decides among them. Its contribution to the gap's derivative is the rounding times the
    lean. This share is the same for every small lean, also where these surfaces differ in height
    only by rounding errors.
    """
    rounding, ground = 0.01, Shape.box((2, 2, 2))
    corners = np.array(
        [[x, y, z] for x in (-0.06, 0.05) for y in (-0.05, 0.07) for z in (-0.05, 0.05)]
    )
    shape = (
        Shape.box((0.12, 0.1, 0.1), rounding)
        if body == "box"
        else Shape.convex(corners, rounding=rounding)
    )
    rng = np.random.default_rng(5)

    def beyond(way, lean):
        """(n, 3) gaps' derivatives by rotations of the shape, minus those of its points."""
        X = pose((0.1, 0.2, 1.0 + 0.05 + rounding * (body == "hull")), rpy=(*(lean * way), 0.3))
        d = contact_manifold_derivatives(ground, pose(), shape, X, margin=1e-3)
        assert len(d.manifold.gap) == 4
        assert d.manifold.reference == "A"
        arms = d.manifold.p_WB - X[:3, 3]
        rigid = np.array(
            [[d.manifold.normal @ np.cross(X[:3, k], arm) for k in range(3)] for arm in arms]
        )
        return d.twist.gap[:, 9:] - rigid

    for _ in range(20):
        way = rng.normal(size=2)
        way /= np.linalg.norm(way)
        whole = beyond(way, 9e-7) / 9e-7
        assert 0.5 * rounding < np.abs(whole).max() < 2 * rounding
        for lean in (3e-7, 1e-7, 3e-8, 1e-9):
            # Poses are accurate to 1e-16, which limits the accuracy of normals.
            np.testing.assert_allclose(
                beyond(way, lean), lean * whole, rtol=0, atol=1e-15 + 1e-6 * lean * rounding
            )
