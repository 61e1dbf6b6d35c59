"""Splines pass through their knots, are as smooth as promised, and equal a Trajectory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robosim.execution.interpolation import JointSpline, Knots
from robosim.trajectory import Trajectory

LINEAR, CUBIC, QUINTIC = 1, 2, 3


def random_knots(seed, fields, n=3, m=6):
    random = np.random.default_rng(seed)
    times = np.cumsum(random.uniform(0.05, 1.0, m)) - 0.05
    values = random.normal(size=(3, m, n))
    knots = [Knots.one(t, *values[:fields, i]) for i, t in enumerate(times)]
    return times, values, Knots.joined(*knots)


@given(st.integers(0, 10**6), st.sampled_from((LINEAR, CUBIC, QUINTIC)))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_it_meets_the_knots_and_is_smooth(seed, fields):
    times, values, knots = random_knots(seed, fields)
    spline = JointSpline(knots)
    # Upper bounds of q and its derivatives.
    size = np.abs(values).max() / np.diff(times).min() ** np.arange(4)
    for i, t in enumerate(times):
        at, passed = spline.sample(t)
        assert passed == (i == len(times) - 1)
        for d in range(fields):
            np.testing.assert_allclose(at[d], values[d, i], atol=1e-12 * size[d])
        # As many derivatives are continuous as there are fields. In 1e-9 s a value changes by the
        # next derivative, which in a quintic can be 200 times the size.
        if 0 < i < len(times) - 1:
            left = spline.sample(t - 1e-9)[0]
            for d in range(fields):
                np.testing.assert_allclose(left[d], at[d], atol=2.5e-7 * size[d + 1])


@given(st.integers(0, 10**6), st.sampled_from((CUBIC, QUINTIC)))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_it_equals_the_trajectory_through_the_same_knots(seed, fields):
    times, values, knots = random_knots(seed, fields)
    spline = JointSpline(knots.later(-times[0]))
    times = times - times[0]
    names = ("a", "b", "c")
    trajectory = Trajectory.from_knots(times, *values[:fields], position_names=names)
    for t in np.random.default_rng(seed).uniform(0, times[-1], 20):
        q, v, a = spline.sample(t)[0]
        np.testing.assert_allclose(q, trajectory.position(t), rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(v, trajectory.velocity(t), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(a, trajectory.acceleration(t), rtol=1e-9, atol=1e-8)


def test_the_degree_is_that_of_the_fields_at_both_ends():
    knots = [
        Knots.one(i, *(np.full(1, q), np.zeros(1), np.zeros(1))[:fields])
        for i, (q, fields) in enumerate(zip((0, 1, 1, 2), (3, 3, 2, 1), strict=True))
    ]
    spline = JointSpline(Knots.joined(*knots))
    # Quintic from 0 to 1: position 10 u^3 - 15 u^4 + 6 u^5. Cubic, here at rest. Linear.
    assert spline.sample(0.25)[0][:, 0] == pytest.approx([0.103515625, 1.0546875, 5.625])
    assert spline.sample(1.5)[0][:, 0] == pytest.approx([1.0, 0.0, 0.0])
    assert spline.sample(2.25)[0][:, 0] == pytest.approx([1.25, 1.0, 0.0])


@pytest.mark.parametrize("fields", [LINEAR, CUBIC, QUINTIC])
def test_it_comes_from_a_given_state_before_the_first_point(fields):
    times, values, knots = random_knots(7, fields)
    start = Knots.one(-0.4, *(np.full(3, x) for x in (0.3, -0.2, 0.1)[:fields]))
    spline = JointSpline(knots)
    spline.come_from(start)
    whole = JointSpline(Knots.joined(start, knots))
    for t in (-0.4, -0.1, times[0] - 1e-6, times[0], times[0] + 0.01):
        np.testing.assert_allclose(spline.sample(t)[0], whole.sample(t)[0], atol=1e-12)
    # If the first point is not ahead, the state has no effect.
    spline.come_from(start.later(times[0] + 0.4))
    np.testing.assert_array_equal(spline.sample(times[0])[0][0], values[0, 0])


def test_after_the_last_point_it_stays_there_even_when_that_moves():
    _, values, knots = random_knots(1, QUINTIC)
    spline = JointSpline(knots)
    at, passed = spline.sample(100.0)
    assert passed
    np.testing.assert_array_equal(at, values[:, -1])


def test_without_interpolation_it_goes_from_point_to_point():
    times, values, knots = random_knots(3, CUBIC)
    spline = JointSpline(knots, "none")
    spline.come_from(Knots.one(times[0] - 1, np.full(3, 9.0)))
    np.testing.assert_array_equal(
        spline.sample(times[0] - 0.5)[0], np.array([[9.0] * 3, [0] * 3, [0] * 3])
    )
    for i in range(5):
        at, _ = spline.sample(0.5 * (times[i] + times[i + 1]))
        np.testing.assert_array_equal(at[:2], values[:2, i + 1])
