"""Slow motions: any scaling from 1 to 1e-12 has a plan, without more computation."""

import time

import numpy as np
import pytest

import robosim
from robosim.errors import PlanningError
from robosim.planners import JointGoal, PoseGoal, Problem, plan, plan_cartesian

from ..scale import repeats  # noqa: TID252

HOME = np.array([0.3, -1.3, 1.4, -1.57, -1.3, 0.2])
# [s] of processor time. Planning takes milliseconds, where a cost proportional to the duration
# would take minutes.
PATIENCE = 3.0


def test_scalings_of_any_size():
    rng = np.random.default_rng(0)
    robots = [robosim.load_robot(name) for name in ("ur5", "panda")]
    rests = [HOME, np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8, 0.02])]
    for k in range(repeats(60, 2000)):
        model, rest = robots[k % 2], rests[k % 2][: robots[k % 2].n_q]
        rest = np.concatenate([rest, model.neutral()[len(rest) :]])
        moves = rng.uniform(-0.4, 0.4, (3, model.n_q))
        moves[:, 7:] = 0
        velocity, acceleration = (
            10.0 ** rng.choice([0, -3, -6, -9, -12, rng.uniform(-12, 0)]) for _ in range(2)
        )
        options = [{}, {"jerk": 200.0}, {"torque_limits": False}, {"tool_speed": 0.1}][k % 4]
        what = f"{k}: {velocity}, {acceleration}, {options}"
        problem = Problem(
            model,
            None,
            rest,
            JointGoal(rest + moves[0]),
            [JointGoal(rest + moves[1])] * (k % 3 == 0),
        )
        begin = time.process_time()
        result = plan(
            problem, velocity_scaling=velocity, acceleration_scaling=acceleration, seed=k, **options
        )
        if not result.ok:
            assert "collision" in result.status.value, what
            continue
        trajectory = result.trajectory
        assert trajectory.validate() == [], what
        assert time.process_time() - begin < PATIENCE, what
        # The duration is at least that of full speed, and of full acceleration and full braking.
        columns = [model.position_names.index(name) for name in trajectory.position_names]
        way = np.abs(trajectory.position(trajectory.duration) - trajectory.position(0.0))
        least = max(
            (way / (velocity * model.limits.velocity[columns])).max(),
            (2 * np.sqrt(way / (acceleration * model.limits.acceleration[columns]))).max(),
        )
        assert trajectory.duration >= least * (1 - 1e-6), what
        np.testing.assert_allclose(
            trajectory.position(trajectory.duration), (rest + moves[0])[columns], atol=1e-9
        )


def test_the_law_of_slow_motions():
    """If acceleration takes no time, a thousandth of the speed takes a thousand times as long."""
    ur5 = robosim.load_robot("ur5")
    problem = Problem(ur5, None, HOME, HOME + 0.3)
    durations = [
        plan(problem, velocity_scaling=s).trajectory.duration for s in (1e-4, 1e-7, 1e-10, 1e-12)
    ]
    np.testing.assert_allclose(
        np.array(durations) * [1e-4, 1e-7, 1e-10, 1e-12], 0.3 / ur5.limits.velocity.min(), rtol=1e-3
    )


@pytest.mark.parametrize("scaling", [1e-3, 1e-6, 1e-9, 1e-12])
def test_slow_straight_lines(scaling):
    ur5 = robosim.load_robot("ur5")
    X = ur5.frame_pose(HOME, "tool0")
    X[2, 3] -= 0.1
    result = plan_cartesian(
        Problem(ur5, None, HOME, PoseGoal("tool0", X)), velocity_scaling=scaling
    )
    assert result.ok, result.reason
    assert result.trajectory.validate() == []


@pytest.mark.parametrize("name", ["velocity_scaling", "acceleration_scaling"])
@pytest.mark.parametrize("value", [9e-13, 1e-100, 0.0, -1.0, 1.5, np.nan])
def test_other_scalings_are_refused(name, value):
    ur5 = robosim.load_robot("ur5")
    with pytest.raises(PlanningError, match=f"{name} is "):
        plan(Problem(ur5, None, HOME, HOME + 0.3), **{name: value})
