"""Limited jerk: the moving average, its properties and its cost."""

import numpy as np
import pytest

from robosim import _engine
from robosim.trajectory import Trajectory, TrajectoryLimits


def to_trajectory(result, **limits):
    assert result.status == "solved", result.reason
    names = [f"joint_{j}" for j in range(result.coefficients.shape[2])]
    return Trajectory(result.breaks, result.coefficients, names, limits=TrajectoryLimits(**limits))


@pytest.mark.parametrize("seed", range(15))
def test_it_is_the_moving_average_and_keeps_every_limit(seed, blend):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    path = blend(rng.uniform(-1.5, 1.5, (int(rng.integers(2, 8)), n)))
    velocity, acceleration = rng.uniform(1, 4, n), rng.uniform(2, 20, n)
    jerk = acceleration * rng.uniform(3, 60, n)
    sharp = to_trajectory(_engine.time_path(*path, velocity, acceleration))
    result = _engine.time_path(*path, velocity, acceleration, jerk=jerk)
    smooth = to_trajectory(result, velocity=velocity, acceleration=acceleration, jerk=jerk)
    assert smooth.validate(tolerance=1e-9) == []

    window = result.window
    assert smooth.duration == pytest.approx(sharp.duration + window, rel=1e-12)
    # The average by its definition: differences of the exact integral of the sharp motion.
    t = np.linspace(0, smooth.duration, 400)
    np.testing.assert_allclose(smooth.position(t), mean(sharp, t, window), atol=1e-10)
    np.testing.assert_allclose(
        smooth.velocity(t), (sharp.position(t) - sharp.position(t - window)) / window, atol=1e-8
    )
    # Accelerations are continuous, from zero to zero.
    before = np.nextafter(smooth.breaks[1:], 0)
    np.testing.assert_allclose(
        smooth.acceleration(before)[:-1], smooth.acceleration(smooth.breaks[1:-1]), atol=1e-6
    )
    np.testing.assert_allclose(smooth.acceleration([0, smooth.duration]), 0, atol=1e-6)
    # The motion ends at the path's end. It deviates from the sharp motion half a window earlier by
    # at most the reported deviation.
    np.testing.assert_allclose(
        smooth.position([0, smooth.duration]), sharp.position([0, sharp.duration]), atol=1e-11
    )
    gap = np.abs(smooth.position(t) - sharp.position(t - window / 2)).max()
    assert gap <= result.deviation * (1 + 1e-6) + 1e-12
    # The jerk limit of some joint determines the window.
    peak = np.abs(sharp.acceleration(np.linspace(0, sharp.duration, 20000))).max(axis=0)
    assert window == pytest.approx((2 * peak / jerk).max(), rel=1e-2)


def mean(T, t, window):
    """(1 / window) times the integral of T.position from t - window to t, at rest outside."""
    h = np.diff(T.breaks)[:, None]
    powers = np.arange(1, 7)
    whole = sum(T.coefficients[:, p - 1] * h**p / p for p in powers)
    upto = np.concatenate([np.zeros((1, T.n)), np.cumsum(whole, axis=0)])

    def integral(times):
        i = np.clip(np.searchsorted(T.breaks, times, side="right") - 1, 0, len(h) - 1)
        s = (np.clip(times, 0, T.duration) - T.breaks[i])[:, None]
        inside = upto[i] + sum(T.coefficients[i, p - 1] * s**p / p for p in powers)
        return (
            inside
            + np.minimum(times, 0)[:, None] * T.position(0)
            + np.maximum(times - T.duration, 0)[:, None] * T.position(T.duration)
        )

    return (integral(t) - integral(t - window)) / window


def test_joints_without_a_jerk_limit_do_not_count(blend):
    path = blend(np.random.default_rng(0).uniform(-1, 1, (4, 3)))
    limits = (np.full(3, 2.0), np.full(3, 5.0))
    free = _engine.time_path(*path, *limits)
    same = _engine.time_path(*path, *limits, jerk=[np.inf] * 3)
    np.testing.assert_array_equal(free.coefficients, same.coefficients)
    assert same.window == same.deviation == 0
    one = _engine.time_path(*path, *limits, jerk=[np.inf, 50.0, np.inf])
    assert one.window > 0
    assert to_trajectory(one, jerk=[np.inf, 50.0, np.inf]).validate() == []


def test_zero_jerk_and_start_velocities_are_refused():
    breaks, c = [0, 1], np.array([[[0.0], [1.0], [0.0]]])
    assert _engine.time_path(breaks, c, [1], [1], jerk=[0]).status == "zero_limit"
    moving = _engine.time_path(breaks, c, [1], [1], jerk=[5], start_velocity=[0.5])
    assert moving.status == "jerk_start_velocity"
    assert "rest" in moving.reason


def test_torques_are_kept_after_averaging(ur5, blend):
    rng = np.random.default_rng(5)
    for _ in range(5):
        path = blend(rng.uniform(-2, 2, (5, 6)))
        velocity, acceleration, jerk = ur5.limits.velocity, np.full(6, 40.0), np.full(6, 400.0)
        effort = 0.8 * ur5.limits.effort
        result = _engine.time_path(
            *path, velocity, acceleration, jerk=jerk, model=ur5._engine, effort=effort
        )
        T = to_trajectory(
            result, velocity=velocity, acceleration=acceleration, jerk=jerk, effort=effort
        )
        T = T.replace(inverse_dynamics=ur5.inverse_dynamics)
        assert T.validate() == []
