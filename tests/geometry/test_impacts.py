"""Times of impact against samples of the motion.

The C++ tests cover exact times and the derivatives of every pair.
"""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robosim.errors import GeometryError
from robosim.geometry import (
    Shape,
    pose,
    signed_distance,
    time_of_impact,
    time_of_impact_derivatives,
)


def at(X, t):
    """Motion with the origin on a straight line and a rotation about one axis."""
    Y = X[0].copy()
    Y[:3, 3] += t * (X[1][:3, 3] - X[0][:3, 3])
    turn = Rotation.from_matrix(X[0][:3, :3].T @ X[1][:3, :3]).as_rotvec()
    Y[:3, :3] = X[0][:3, :3] @ Rotation.from_rotvec(t * turn).as_matrix()
    return Y


def test_never_later_than_the_first_overlap(oracle, kind_A, kind_B):
    if kind_A == kind_B == "half_space":
        return
    rng = np.random.default_rng(zlib.crc32(f"impact {kind_A} {kind_B}".encode()))
    for _ in range(3):
        A, B = oracle.make(kind_A, rng), oracle.make(kind_B, rng)
        X_WA, X_WB = (np.stack([oracle.random_pose(rng, r) for r in (1.5, 0.4)]) for _ in range(2))
        impact = time_of_impact(A, X_WA, B, X_WB)

        def gap(t, A=A, B=B, X_WA=X_WA, X_WB=X_WB):
            return signed_distance(A, at(X_WA, t), B, at(X_WB, t)).distance

        if impact.status == "overlapping":
            assert gap(0.0) <= 0
            continue
        assert impact.status in ("separated", "touching")
        assert gap(impact.t) == pytest.approx(impact.witness.distance, abs=1e-10)
        assert min(gap(t) for t in np.linspace(0, impact.t, 12)) > -1e-10
        if impact.status == "touching":
            assert 0 < impact.witness.distance <= 1e-9
            if impact.normal_velocity < -0.01:
                assert gap(min(impact.t + 1e-6, 1.0)) < 1e-9
        else:
            assert impact.t == 1


def test_derivatives_of_the_time():
    """Differences with steps of 1e-5 at a tolerance of 1e-13 are accurate to about 1e-8."""
    rng = np.random.default_rng(3)
    A, B = Shape.cylinder(0.2, 0.6), Shape.box((0.3, 0.4, 0.5), rounding=0.05)
    X = np.stack(
        [
            pose(),
            pose((0.1, 0, 0.1), rpy=(0.5, 0.2, 0)),
            pose((2, 0.1, 0)),
            pose((0.2, 0.1, 0), rpy=(1, 1, 0)),
        ]
    )
    d = time_of_impact_derivatives(A, X[:2], B, X[2:], margin=0.01, tolerance=1e-13)
    assert d.impact.status == "touching"
    assert not d.one_sided
    for which, (rates, column) in enumerate(((d.start, 0), (d.end, 0), (d.start, 6), (d.end, 6))):
        direction = rng.normal(size=6)

        def time(step, which=which, direction=direction):
            Y = X.copy()
            Y[which] = X[which] @ pose(step * direction[:3])
            Y[which, :3, :3] = (
                X[which, :3, :3] @ Rotation.from_rotvec(step * direction[3:]).as_matrix()
            )
            return time_of_impact(A, Y[:2], B, Y[2:], margin=0.01, tolerance=1e-13).t

        expected = (time(1e-5) - time(-1e-5)) / 2e-5
        assert rates[column : column + 6] @ direction == pytest.approx(expected, abs=1e-7)


def test_at_rest():
    ball = Shape.sphere(0.5)
    assert time_of_impact(ball, pose(), ball, pose((2, 0, 0))).status == "separated"
    impact = time_of_impact(ball, pose(), ball, pose((0.5, 0, 0)))
    assert (impact.status, impact.t) == ("overlapping", 0)
    assert time_of_impact_derivatives(ball, pose(), ball, pose((2, 0, 0))).one_sided


@pytest.mark.parametrize(
    ("reason", "options"),
    [
        ("margin", {"margin": -1.0}),
        ("margin", {"margin": np.inf}),
        ("tolerance", {"tolerance": 0.0}),
        ("X_WB is of shape", {"X_WB": np.zeros((3, 4, 4))}),
        ("X_WB is 'there'", {"X_WB": "there"}),
        ("X_WA is not a pose", {"X_WA": np.stack([pose(), 2 * pose()])}),
    ],
)
def test_bad_input_is_refused(reason, options):
    arguments = {"X_WA": pose(), "X_WB": pose()} | options
    with pytest.raises(GeometryError, match=reason):
        time_of_impact(
            Shape.sphere(1),
            arguments.pop("X_WA"),
            Shape.sphere(1),
            arguments.pop("X_WB"),
            **arguments,
        )
