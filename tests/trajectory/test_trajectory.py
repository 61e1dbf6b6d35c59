"""Calculus and construction of trajectories."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robosim.errors import TrajectoryError
from robosim.trajectory import Trajectory, TrajectoryLimits

NAMES = ("a", "b", "c")


def random_trajectory(seed, *, pieces=7, n=3, quintic=True, **fields):
    """Trajectory with random knots.

    Only the acceleration of cubic pieces has jumps.
    """
    rng = np.random.default_rng(seed)
    t = np.concatenate([[0.0], np.cumsum(rng.uniform(0.05, 1.0, pieces))])
    knots = rng.normal(size=(3, pieces + 1, n))
    names = [f"joint_{i}" for i in range(n)]
    return Trajectory.from_knots(
        t, knots[0], knots[1], knots[2] if quintic else None, position_names=names, **fields
    )


def ridders(f, t, h=0.02, order=8):
    """Derivative of f at t by Ridders' extrapolation: the entry with the least estimated error."""
    table = [[(f(t + h) - f(t - h)) / (2 * h)]]
    best, error = table[0][0], np.inf
    for i in range(1, order):
        h /= 1.4
        row = [(f(t + h) - f(t - h)) / (2 * h)]
        factor = 1.96
        for j in range(i):
            row.append((row[j] * factor - table[-1][j]) / (factor - 1))
            factor *= 1.96
            estimate = max(np.abs(row[-1] - row[-2]).max(), np.abs(row[-1] - table[-1][j]).max())
            if estimate < error:
                best, error = row[-1], estimate
        table.append(row)
    return best


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("quintic", [True, False])
def test_each_derivative_is_the_derivative_of_the_one_below(seed, quintic):
    T = random_trajectory(seed, quintic=quintic)
    chain = [T.position, T.velocity, T.acceleration, T.jerk]
    # Inside the pieces the functions are polynomials, for which the extrapolation is exact to
    # rounding / h.
    for start, end in zip(T.breaks[:-1], T.breaks[1:], strict=True):
        middle, h = 0.5 * (start + end), 0.4 * (end - start)
        for below, above in pairwise(chain):
            scale = max(1.0, np.abs(above(np.linspace(start, end, 22)[1:-1])).max())
            np.testing.assert_allclose(ridders(below, middle, h), above(middle), atol=1e-10 * scale)


@pytest.mark.parametrize("seed", range(5))
def test_hermite_pieces_pass_through_the_knots_with_all_they_are_given(seed):
    rng = np.random.default_rng(seed)
    t = np.array([0.0, 0.3, 1.7, 1.8])
    q, v, a = rng.normal(size=(3, 4, 3))
    quintic = Trajectory.from_knots(t, q, v, a, position_names=NAMES)
    cubic = Trajectory.from_knots(t, q, v, position_names=NAMES)
    before = np.nextafter(t[1:], 0)
    for T in (quintic, cubic):
        for times in (t, before):
            rows = slice(None) if times is t else slice(1, None)
            np.testing.assert_allclose(T.position(times), q[rows], atol=1e-11)
            np.testing.assert_allclose(T.velocity(times), v[rows], atol=1e-9)
    np.testing.assert_allclose(quintic.acceleration(t), a, atol=1e-7)
    np.testing.assert_allclose(quintic.acceleration(before), a[1:], atol=1e-7)
    assert not cubic.coefficients[:, 4:].any()


def test_the_spline_is_twice_differentiable_at_rest_at_its_ends_and_agrees_with_scipy():
    from scipy.interpolate import CubicSpline

    rng = np.random.default_rng(3)
    t = np.concatenate([[0.0], np.cumsum(rng.uniform(0.1, 1, 12))])
    q = rng.normal(size=(13, 3))
    T = Trajectory.from_waypoints(t, q, position_names=NAMES)
    oracle = CubicSpline(t, q, bc_type="clamped")
    times = np.linspace(0, t[-1], 777)
    np.testing.assert_allclose(T.position(times), oracle(times), atol=1e-12)
    np.testing.assert_allclose(T.acceleration(times), oracle(times, 2), atol=1e-9)
    np.testing.assert_allclose(
        Trajectory.from_waypoints(t[:2], q[:2], position_names=NAMES).velocity(t[:2]), 0, atol=1e-12
    )


def test_outside_its_span_it_rests_in_its_end_positions():
    T = random_trajectory(0)
    for t, end in ((-1.0, 0.0), (T.duration + 1e-9, T.duration), (1e300, T.duration)):
        np.testing.assert_array_equal(T.position(t), T.position(end))
        for derivative in (T.velocity, T.acceleration, T.jerk):
            np.testing.assert_array_equal(derivative(t), 0)
    assert np.abs(T.velocity(T.duration)).min() > 0  # at the end itself it still moves


def test_times_of_any_shape_and_right_continuity():
    T = random_trajectory(1, quintic=False)
    assert T.position(0.5).shape == (3,)
    assert T.position([[0.1, 0.2], [0.3, 0.4]]).shape == (2, 2, 3)
    assert T.velocity(np.zeros((0,))).shape == (0, 3)
    np.testing.assert_array_equal(T.acceleration(T.breaks[1]), 2 * T.coefficients[1, 2])
    with pytest.raises(TrajectoryError, match="NaN"):
        T.position(np.nan)


@given(st.integers(0, 10**6), st.floats(0.3, 3000.0))
@settings(max_examples=40, deadline=None)
def test_samples_are_regular_and_end_at_the_end(seed, rate):
    T = random_trajectory(seed, pieces=3)
    s = T.sample(rate)
    assert s.time[-1] == T.duration
    assert (np.diff(s.time) > 0).all()
    np.testing.assert_allclose(np.diff(s.time)[:-1], 1 / rate, rtol=1e-6)
    assert s.time[-1] - s.time[-2] <= (1 + 1e-5) / rate
    np.testing.assert_array_equal(s.velocity, T.velocity(s.time))


def test_a_sample_at_the_end_is_not_doubled():
    # 0.3 * 10 is 3.0000000000000004 in floating point.
    T = Trajectory([0, 0.3], [[[0.0], [1.0]]], ["a"])
    np.testing.assert_allclose(T.sample(10).time, [0, 0.1, 0.2, 0.3], rtol=1e-15)
    with pytest.raises(TrajectoryError, match="rate"):
        T.sample(0)
    with pytest.raises(
        TrajectoryError, match=r"100 per second would give 1e\+12 samples of 1e\+10 s"
    ):
        Trajectory([0, 1e10], [[[0.0], [1e-10]]], ["a"]).sample(100)


@given(st.integers(0, 10**6), st.floats(0, 0.9), st.floats(0.05, 1))
@settings(max_examples=50, deadline=None)
def test_a_slice_is_the_same_motion(seed, start, length):
    T = random_trajectory(seed)
    t0 = start * T.duration
    t1 = min(T.duration, t0 + length * T.duration)
    part = T.slice(t0, t1)
    assert part.duration == pytest.approx(t1 - t0, rel=1e-14)
    t = np.linspace(0, part.duration, 101)[1:-1]
    # A knot within rounding of a sample may be on either side of the sample, where only the jerk
    # differs.
    np.testing.assert_allclose(part.position(t), T.position(t + t0), atol=1e-9)
    np.testing.assert_allclose(part.velocity(t), T.velocity(t + t0), atol=1e-7)
    np.testing.assert_allclose(part.acceleration(t), T.acceleration(t + t0), atol=1e-4)


def test_slices_joined_again_are_the_whole():
    T = random_trajectory(5)
    cuts = [0, 0.31, float(T.breaks[2]), 1.9, T.duration]
    parts = [T.slice(a, b) for a, b in pairwise(cuts)]
    whole = parts[0].concatenate(*parts[1:])
    t = np.linspace(0, T.duration, 500)
    assert whole.duration == pytest.approx(T.duration, rel=1e-14)
    np.testing.assert_allclose(whole.position(t), T.position(t), atol=1e-10)
    for t0, t1 in ((-0.1, 1), (1, 1), (2, 1), (0, T.duration * 1.01), (np.nan, 1)):
        with pytest.raises(TrajectoryError, match="slice"):
            T.slice(t0, t1)


def test_concatenate_matches_names_and_refuses_jumps():
    T = random_trajectory(6)
    there_and_back = T.slice(0, 1).scale(2)
    joined = T.slice(0, 1).concatenate(T.slice(1, 2).reorder(("joint_2", "joint_0", "joint_1")))
    np.testing.assert_allclose(joined.position(1.5), T.position(1.5), atol=1e-10)
    with pytest.raises(TrajectoryError, match="velocity of joint_0 jumps"):
        T.slice(0, 1).concatenate(
            there_and_back.slice(0, 0.5).replace(coefficients=_held(T, 1.0), breaks=[0, 1])
        )
    with pytest.raises(TrajectoryError, match="position of joint_0 jumps"):
        T.slice(0, 1).concatenate(T.slice(1.5, 2))
    with pytest.raises(TrajectoryError, match="'joint_0'"):
        T.concatenate(Trajectory([0, 1], np.zeros((1, 1, 2)), ["joint_1", "joint_2"]))


def _held(T, t):
    c = np.zeros((1, 6, T.n))
    c[0, 0] = T.position(t)
    return c


@pytest.mark.parametrize("seed", range(5))
def test_reverse_runs_back_and_twice_is_the_same(seed):
    T = random_trajectory(seed)
    R = T.reverse()
    t = np.linspace(0, T.duration, 301)
    inner = t[(np.abs(t[:, None] - T.breaks) > 1e-9).all(axis=1)]
    np.testing.assert_allclose(R.position(T.duration - t), T.position(t), atol=1e-8)
    np.testing.assert_allclose(R.velocity(T.duration - inner), -T.velocity(inner), atol=1e-7)
    np.testing.assert_allclose(R.acceleration(T.duration - inner), T.acceleration(inner), atol=1e-5)
    np.testing.assert_allclose(R.reverse().position(t), T.position(t), atol=1e-8)


@pytest.mark.parametrize("factor", [0.5, 1.0, 3.0])
def test_scaling_time_divides_each_derivative_by_its_power(factor):
    T = random_trajectory(2)
    S = T.scale(factor)
    t = np.linspace(0, T.duration, 100)[1:-1]
    assert S.duration == pytest.approx(factor * T.duration)
    for order, name in enumerate(("position", "velocity", "acceleration", "jerk")):
        expected = getattr(T, name)(t) / factor**order
        np.testing.assert_allclose(getattr(S, name)(t * factor), expected, rtol=1e-9, atol=1e-7)
    for bad in (0, -1, np.inf, np.nan):
        with pytest.raises(TrajectoryError, match="scale"):
            T.scale(bad)


def test_reorder_carries_units_limits_and_torques_along():
    def inverse_dynamics(q, v, a):
        return np.array([q[0] + 10 * v[1], a[2], q[1]])

    limits = TrajectoryLimits(upper=[1, 2, 3], effort=[4, 5, 6])
    T = random_trajectory(
        3, limits=limits, units=("rad", "m", "1"), inverse_dynamics=inverse_dynamics
    )
    order = ("joint_2", "joint_0", "joint_1")
    R = T.reorder(order)
    assert R.position_names == order == R.torque_names
    assert R.units == ("1", "rad", "m")
    np.testing.assert_array_equal(R.limits.upper, [3, 1, 2])
    np.testing.assert_array_equal(R.limits.effort, [6, 4, 5])
    t = np.linspace(0, 1, 7)
    np.testing.assert_array_equal(R.position(t), T.position(t)[:, [2, 0, 1]])
    np.testing.assert_array_equal(R.torque(t), T.torque(t)[:, [2, 0, 1]])
    assert T.torque([[0.1, 0.2]]).shape == (1, 2, 3)
    with pytest.raises(TrajectoryError, match=r"has no 'x' and moves 'joint_2'"):
        T.reorder(("joint_0", "joint_1", "x"))
    with pytest.raises(TrajectoryError, match="inverse_dynamics"):
        random_trajectory(0).torque(0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"breaks": [0, 1]}, "coefficients: must have shape"),
        ({"breaks": [0.5, 1, 2]}, r"breaks\[0\]: time starts at 0"),
        ({"breaks": [0, 1, 1]}, r"breaks\[2\]: 1.0 does not come after 1.0"),
        ({"breaks": [0, np.nan, 1]}, r"breaks\[1\]: is not finite"),
        ({"breaks": [0]}, "at least two"),
        ({"breaks": "abc"}, "breaks: not a regular array"),
        ({"coefficients": np.zeros((2, 7, 2))}, "1 to 6"),
        ({"coefficients": np.full((2, 6, 2), np.inf)}, r"coefficients\[0, 0, 0\]: is not finite"),
        ({"coefficients": [[[0, 0]], [[1, 0]]]}, "position of a jumps from 0 to 1 at 1 s"),
        ({"coefficients": [[[0, 0], [0, 0]], [[0, 0], [0, 1]]]}, "velocity of b jumps"),
        ({"position_names": ["a"]}, "coefficients"),
        ({"position_names": ["a", "a"]}, "'a' appears more than once"),
        ({"position_names": ["a", ""]}, "position_names"),
        ({"position_names": "ab"}, "position_names"),
        ({"units": "deg"}, "units"),
        ({"units": ["rad"]}, "units"),
        ({"robot": 3}, "robot"),
        ({"seed": 1.5}, "seed"),
        ({"seed": True}, "seed"),
        ({"metadata": {"x": {1, 2}}}, "metadata"),
        ({"metadata": {"x": np.nan}}, "metadata"),
        ({"limits": TrajectoryLimits(velocity=[1.0])}, "limits.velocity: has 1 entries"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change, message):
    valid = {"breaks": [0, 1, 2], "coefficients": np.zeros((2, 6, 2)), "position_names": ["a", "b"]}
    Trajectory(**valid)
    with pytest.raises(TrajectoryError, match=message):
        Trajectory(**{**valid, **change})


@pytest.mark.parametrize("field", ["velocity", "acceleration", "jerk", "effort"])
def test_limits_are_not_negative_nor_nan(field):
    for bad in ([-1.0], [np.nan], [[1.0]], "x"):
        with pytest.raises(TrajectoryError, match=f"limits.{field}"):
            TrajectoryLimits(**{field: bad})


def test_it_is_immutable():
    T = random_trajectory(0)
    for array in (T.breaks, T.coefficients):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
