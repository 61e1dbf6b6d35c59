"""Jumps of the acceleration: `acceleration_jumps` lists them, and `jerk` is infinite.

A jump violates every limit of the jerk.
"""

import numpy as np
import pytest

import robosim
from robosim.planners import Problem, plan
from robosim.trajectory import Trajectory, TrajectoryLimits


def bang_bang():
    """One second up at 2, one second down: from rest to rest.

    The second position stays constant.
    """
    c = np.zeros((2, 6, 2))
    c[0, 2, 0] = 1.0
    c[1, :3, 0] = 1.0, 2.0, -1.0
    return Trajectory([0.0, 1.0, 2.0], c, ["a", "b"])


def test_the_jumps_of_a_motion_of_constant_accelerations():
    motion = bang_bang()
    times, sizes = motion.acceleration_jumps()
    np.testing.assert_allclose(times, [0, 1, 2])
    np.testing.assert_allclose(sizes, [[2, 0], [-4, 0], [2, 0]], atol=1e-12)
    jerk = motion.jerk([-0.5, 0, 0.5, 1, np.nextafter(1, 2), 2, 2.5])
    np.testing.assert_array_equal(jerk[:, 0], [0, np.inf, 0, -np.inf, 0, np.inf, 0])
    np.testing.assert_array_equal(jerk[:, 1], 0)
    assert motion.jerk(1.0).shape == (2,)
    assert motion.jerk(np.zeros((2, 3))).shape == (2, 3, 2)


def test_a_jump_breaks_every_limit_of_the_jerk():
    motion = bang_bang()
    low, high = motion.validate(TrajectoryLimits(jerk=[1e9, 1e9]))
    assert (low.quantity, low.name, low.time, low.value) == ("jerk", "a", 1.0, -np.inf)
    assert (high.quantity, high.name, high.time, high.value) == ("jerk", "a", 0.0, np.inf)
    assert "jerk of a is inf at 0 s, above its limit 1e+09" in str(high)
    assert motion.validate(TrajectoryLimits(jerk=[np.inf, 1.0])) == []


def test_what_moves_at_an_end_does_not_jump_there():
    motion = bang_bang()
    part = motion.slice(0.25, 0.75)
    assert len(part.acceleration_jumps()[0]) == 0
    assert part.validate(TrajectoryLimits(jerk=[1.0, 1.0])) == []
    assert motion.slice(0.5, 1.5).acceleration_jumps()[0] == pytest.approx([0.5])


@pytest.mark.parametrize("seed", range(4))
def test_splines_and_quintics(seed):
    """Cubic splines jump only at their ends, cubics at every knot.

    Quintics with given accelerations have no jumps.
    """
    rng = np.random.default_rng(seed)
    t = np.concatenate([[0], np.cumsum(rng.uniform(0.1, 2, 8))])
    q, v, a = rng.normal(size=(3, 9, 3))
    spline = Trajectory.from_waypoints(t, q, position_names=list("abc"))
    np.testing.assert_allclose(spline.acceleration_jumps()[0], [0, t[-1]])
    v[0] = v[-1] = 0
    a[0] = a[-1] = 0
    quintic = Trajectory.from_knots(t, q, v, a, position_names=list("abc"))
    assert len(quintic.acceleration_jumps()[0]) == 0
    assert np.isfinite(quintic.jerk(t)).all()
    cubic = Trajectory.from_knots(t, q, v, position_names=list("abc"))
    times, sizes = cubic.acceleration_jumps()
    np.testing.assert_allclose(times, t)
    inner = t[1:-1, None] + np.array([-1e-9, 1e-9])
    difference = np.diff(cubic.acceleration(inner), axis=1)[:, 0]
    np.testing.assert_allclose(sizes[1:-1], difference, rtol=1e-5, atol=1e-5)
    assert np.isinf(cubic.jerk(t)).all()


@pytest.mark.parametrize("scaling", [1.0, 1e-3, 1e-6, 1e-9, 1e-12])
def test_plans_with_a_limit_of_the_jerk_do_not_jump_and_others_do(scaling):
    ur5 = robosim.load_robot("ur5")
    home = np.array([0.3, -1.3, 1.4, -1.57, -1.3, 0.2])
    problem = Problem(
        ur5,
        None,
        home,
        home + np.array([1, 0.6, -0.6, 0.5, 0.5, 0.5]),
        [home + np.array([0.5, -0.4, 0.2, 0.3, -0.5, 0.2])],
    )
    for velocity, acceleration in ((scaling, 1.0), (1.0, scaling), (scaling, scaling)):
        options = {"velocity_scaling": velocity, "acceleration_scaling": acceleration}
        smooth = plan(problem, jerk=100.0, **options).trajectory
        assert len(smooth.acceleration_jumps()[0]) == 0
        assert smooth.validate() == []
        sharp = plan(problem, **options).trajectory
        assert len(sharp.acceleration_jumps()[0]) >= 3
        (*_,) = broken = sharp.validate(TrajectoryLimits(jerk=np.full(6, 1e9)))
        assert broken
        assert all(np.isinf(v.value) for v in broken)
