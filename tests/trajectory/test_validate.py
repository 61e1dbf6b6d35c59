"""Limits are checked at all times, not at samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robosim.trajectory import Trajectory, TrajectoryLimits
from robosim.trajectory.limits import extremes
from robosim.trajectory.polynomial import extreme_times


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_extreme_times_hold_every_extremum_of_random_polynomials(seed):
    rng = np.random.default_rng(seed)
    degree = rng.integers(1, 6)
    # Roots of the derivative inside, outside and coincident; leading coefficients may vanish.
    c = rng.normal(size=(4, degree + 1, 3)) * 10.0 ** rng.integers(-3, 4, size=(4, degree + 1, 3))
    c[rng.uniform(size=c.shape) < 0.2] = 0
    h = 10.0 ** rng.uniform(-3, 2, size=4)
    times = extreme_times(c, h)
    dense = np.linspace(0, 1, 4001)
    for i in range(4):
        for j in range(3):
            p = np.polynomial.Polynomial(c[i, :, j])
            found, sampled = p(times[i, :, j]), p(dense * h[i])
            scale = np.sum(np.abs(c[i, :, j]) * h[i] ** np.arange(degree + 1))
            assert found.max() >= sampled.max() - 1e-12 * scale
            assert found.min() <= sampled.min() + 1e-12 * scale
            assert (times[i, :, j] >= 0).all()
            assert (times[i, :, j] <= h[i]).all()


def test_a_peak_between_samples_is_found_with_its_time():
    # One quintic piece from rest to rest: velocity peaks at the middle, 15/8 of the mean.
    T = Trajectory.from_knots(
        [0, 2], [[0.0], [1.0]], [[0.0], [0.0]], [[0.0], [0.0]], position_names=["a"]
    )
    peak = 15 / 16
    assert T.validate(TrajectoryLimits(velocity=[peak * (1 + 1e-9)])) == []
    (violation,) = T.validate(TrajectoryLimits(velocity=[peak * (1 - 1e-5)]))
    assert violation.quantity == "velocity"
    assert violation.name == "a"
    assert violation.time == pytest.approx(1.0, abs=1e-6)
    assert violation.value == pytest.approx(peak, rel=1e-12)
    assert "velocity of a is 0.9375 at 1 s, above its limit" in str(violation)
    # Acceleration peaks at (3 - sqrt 3) / 6 of the duration, at 10 / sqrt(3) d / T^2; jerk at the
    # ends, at 60 d / T^3.
    for field, value in (("acceleration", 10 / np.sqrt(3) / 4), ("jerk", 60 / 8)):
        assert T.validate(TrajectoryLimits(**{field: [value * (1 + 1e-9)]})) == []
        found = T.validate(TrajectoryLimits(**{field: [value * (1 - 1e-4)]}))
        assert found
        assert {v.quantity for v in found} == {field}
        assert abs(found[0].value) == pytest.approx(value, rel=1e-10)


def test_every_kind_of_limit_and_both_sides():
    limits = TrajectoryLimits(
        lower=[-0.5, -np.inf],
        upper=[np.inf, 0.5],
        velocity=[1, np.inf],
        acceleration=[np.inf, 1],
        effort=[1, 9],
    )
    t = np.array([0.0, 1, 2])
    q = np.array([[0, 0], [-1, 1], [0, 0]])
    T = Trajectory.from_waypoints(
        t, q, position_names=["a", "b"], limits=limits, inverse_dynamics=lambda q, v, a: 3 * v
    )
    found = {(v.quantity, v.name, v.value > v.limit) for v in T.validate()}
    assert found == {
        ("position", "a", False),
        ("position", "b", True),
        ("velocity", "a", False),
        ("velocity", "a", True),
        ("acceleration", "b", False),
        ("acceleration", "b", True),
        ("torque", "a", False),
        ("torque", "a", True),
    }
    assert T.replace(limits=None).validate() == []


def test_torque_peaks_are_refined():
    # tau = v: the peak of a parabola between samples, known in closed form.
    T = Trajectory.from_knots(
        [0, 0.0123],
        [[0.0], [1.0]],
        [[0.0], [0.0]],
        position_names=["a"],
        inverse_dynamics=lambda q, v, a: v,
    )
    peak = 1.5 / 0.0123
    assert T.validate(TrajectoryLimits(effort=[peak * (1 + 1e-9)])) == []
    (violation,) = T.validate(TrajectoryLimits(effort=[peak * (1 - 1e-4)]), tolerance=1e-9)
    assert violation.value == pytest.approx(peak, rel=1e-9)


def test_extremes_are_those_of_each_joint():
    rng = np.random.default_rng(0)
    t = np.concatenate([[0.0], np.cumsum(rng.uniform(0.1, 1, 10))])
    T = Trajectory.from_waypoints(t, rng.normal(size=(11, 4)), position_names=list("abcd"))
    for order, derivative in enumerate((T.position, T.velocity, T.acceleration)):
        times, values = extremes(T, order)
        dense = derivative(np.linspace(0, T.duration, 20001))
        assert (values.max(axis=0) >= dense.max(axis=0) - 1e-12).all()
        assert (values.min(axis=0) <= dense.min(axis=0) + 1e-12).all()
        # Samples are within half a step times the slope of the peak: accelerations have kinks
        # there.
        np.testing.assert_allclose(values.max(axis=0), dense.max(axis=0), rtol=5e-3, atol=1e-3)
        assert times.min() >= 0
        assert times.max() <= T.duration


def through(*positions, unit="rad"):
    """Motion at rest in these positions, a second apart, and monotone in between."""
    q = np.array(positions)[:, None]
    return Trajectory.from_knots(np.arange(len(q)), q, 0 * q, position_names=["a"], units=unit)


@pytest.mark.parametrize("side", [1, -1])
def test_back_inside_from_beyond_a_limit_by_noise(side):
    """A motion may start beyond a limit by up to 1e-3 rad or 1e-4 m.

    This excess must not grow, and must not occur again later.
    """
    limits = TrajectoryLimits(lower=[-1.0], upper=[1.0])

    def broken(*positions, **fields):
        return through(*(side * q for q in positions), **fields).validate(limits)

    for inside in (1.0005, 0.5), (1.001, 1.0005, 1.0005, 0.2), (1.0005, 1.0005), (1 + 1e-12, -0.5):
        assert broken(*inside) == []
    assert broken(1.00009, 0.5, unit="m") == []
    (grown,) = broken(1.0002, 1.0005, 0.5)
    assert grown.value == pytest.approx(side * 1.0005)
    assert grown.time == pytest.approx(1.0)
    (again,) = broken(1.0005, 1.0001, 1.0004, 0.5)
    assert again.time == pytest.approx(2.0)
    for outside in (1.0011, 0.5), (0.5, 1.0005), (1.0005, 0.5, 1.0005), (1.0005, -1.0005):
        (violation,) = broken(*outside)
        assert violation.quantity == "position"
    assert broken(1.00011, 0.5, unit="m")
    assert broken(1.0001, 0.5, unit="1")
    # Slices of a valid motion are valid, its reverse is not.
    valid = through(side * 1.0005, side * 0.5)
    assert valid.slice(0.05, 0.9).validate(limits) == []
    assert valid.reverse().validate(limits)


def test_a_violation_tells_its_numbers_apart():
    (violation,) = through(0.0, 1.0 + 1.5e-9).validate(TrajectoryLimits(upper=[1.0]), tolerance=0)
    assert "is 1.000000001 at 1 s, above its limit 1" in str(violation)
