"""Plans as points: a controller's interpolation reproduces the plan, within its limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robosim
from robosim.errors import TrajectoryError
from robosim.execution.clock import ManualClock
from robosim.execution.executor import TrajectoryExecutor
from robosim.execution.goals import GoalStatus
from robosim.execution.joint_trajectory import (
    MOST_POINTS,
    deviation,
    from_trajectory,
    to_trajectory,
)
from robosim.execution.messages import ArmState, Goal, JointTrajectory, JointTrajectoryPoint
from robosim.execution.profiles import JAZZY
from robosim.planners import Problem, plan
from robosim.scene import load_scene
from robosim.trajectory import Trajectory, TrajectoryLimits

NAMES = ("a", "b")


@pytest.fixture(scope="module")
def ur5():
    return robosim.load_robot("ur5")


@pytest.fixture(scope="module", params=[None, 500.0], ids=["time-optimal", "jerk-limited"])
def plans(request, ur5):
    """Real plans. Those of table_pick have pieces of a microsecond."""
    scenes = ("table_pick", "bookshelf_small", "cage")
    results = [
        plan(Problem(ur5, load_scene(s, model=ur5)), jerk=request.param, seed=1) for s in scenes
    ]
    assert all(results)
    return [result.trajectory for result in results]


def bang_bang(acceleration=5.0, half=0.4):
    """Time-optimal motion of one joint under an acceleration limit. The other moves half as far."""
    a = np.array([acceleration, -acceleration / 2])
    zero = np.zeros(2)
    v, q = a * half, a * half**2 / 2
    return Trajectory([0.0, half, 2 * half], [[zero, zero, a / 2], [q, v, -a / 2]], NAMES)


def test_real_plans_are_followed_to_a_hundred_thousandth_and_within_their_limits(plans):
    for trajectory in plans:
        points = from_trajectory(trajectory)
        off = deviation(points, trajectory)
        assert off.position <= 1e-5
        # At the exact extrema, also between samples, the acceleration limit is exceeded by at most
        # 3 %, and no other limit.
        follow = to_trajectory(points)
        limits = trajectory.limits
        assert limits is not None
        accelerated = TrajectoryLimits(acceleration=limits.acceleration)
        assert follow.validate(accelerated, tolerance=0.03) == []
        others = TrajectoryLimits(lower=limits.lower, upper=limits.upper, velocity=limits.velocity)
        assert follow.validate(others, tolerance=1e-3) == []


def test_points_are_complete_and_as_messages_have_them(plans):
    for trajectory in plans:
        made = from_trajectory(trajectory, stamp=7.0)
        assert made.stamp == 7.0
        assert made.joint_names == trajectory.position_names
        times = np.array([p.time_from_start for p in made.points])
        assert times[0] == 0.0
        assert times[-1] == trajectory.duration
        # ROS durations are whole nanoseconds. Nothing is lost, and no gap is so short that rounding
        # matters.
        np.testing.assert_array_equal(times[:-1], np.round(times[:-1], 9))
        assert np.diff(times).min() > 1e-5
        assert np.diff(times).max() <= 0.1 + 1e-9
        for p in made.points:
            assert len(p.positions) == len(p.velocities) == len(p.accelerations) == trajectory.n
            assert len(p.effort) == 0
        last = made.points[-1]
        np.testing.assert_array_equal(last.positions, trajectory.position(trajectory.duration))
        np.testing.assert_array_equal(last.velocities, 0.0)
        np.testing.assert_array_equal(last.accelerations, 0.0)


def test_rounding_to_a_message_and_back_changes_nothing(plans):
    for trajectory in plans:
        made = from_trajectory(trajectory)
        rounded = [
            JointTrajectoryPoint(
                round(p.time_from_start * 1e9) / 1e9, p.positions, p.velocities, p.accelerations
            )
            for p in made.points
        ]
        off = deviation(JointTrajectory(made.joint_names, tuple(rounded)), trajectory)
        assert off.position <= 1e-5
        assert off.acceleration <= 0.03 * 5.0


def test_an_executor_commands_the_plan(plans):
    trajectory = plans[1]
    clock, period = ManualClock(), 0.002
    executor = TrajectoryExecutor(
        trajectory.position_names, clock=clock, profile=JAZZY, limits=trajectory.limits.__class__(
            velocity=trajectory.limits.velocity, acceleration=1.001 * trajectory.limits.acceleration
        )
    )  # fmt: skip
    q = trajectory.position(0.0)
    executor.activate(ArmState(trajectory.position_names, q, 0 * q, 0.0))
    goal = executor.submit(Goal(from_trajectory(trajectory)))
    commands = []
    while not goal.status.done:
        command = executor.update(ArmState(trajectory.position_names, q, 0 * q, clock()), period)
        q = command.position
        commands.append(q)
        clock.advance(period)
        assert len(commands) < 5000
    assert goal.status is GoalStatus.SUCCEEDED
    t = np.minimum(np.arange(1, len(commands) + 1) * period, trajectory.duration)
    np.testing.assert_allclose(commands, trajectory.position(t), atol=1e-5)


def test_a_plan_that_takes_days_has_a_bounded_number_of_points(ur5):
    """At a millionth of the speed, a moderate number of points still reproduces the plan."""
    goal = {"elbow_joint": 1.0}
    slow = plan(Problem(ur5, goal=goal), velocity_scaling=1e-6).trajectory
    assert slow.duration > 1e5
    points = from_trajectory(slow).points
    assert 10_000 < len(points) < 20_100  # plus a few where the acceleration jumps
    np.testing.assert_allclose(points[-1].positions, slow.position(slow.duration), atol=1e-12)


@pytest.mark.parametrize("max_interval", [0.1, 0.013, 5.0])
def test_jumps_of_the_acceleration_become_ramps_without_overshoot(max_interval):
    trajectory = bang_bang()
    points = from_trajectory(trajectory, max_interval=max_interval)
    off = deviation(points, trajectory)
    assert off.position <= 1e-5
    assert off.acceleration <= 0.025 * 5.0
    around = [p.time_from_start for p in points.points if abs(p.time_from_start - 0.4) < 2e-3]
    assert len(around) == 2  # on either side of the jump, none on it


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_any_continuous_plan_is_reproduced(seed):
    """Plans through random knots: cubics, and quintics with acceleration jumps at the end only."""
    random = np.random.default_rng(seed)
    m = random.integers(2, 8)
    times = np.concatenate([[0.0], np.cumsum(random.choice([0.003, 0.05, 0.4, 1.3], m))])
    q, v, a = random.normal(size=(3, m + 1, 2)) * [[[0.5]], [[0.3]], [[2.0]]]
    v[[0, -1]] = 0.0
    whole = Trajectory.from_knots(times, q, v, a, position_names=NAMES)
    assert deviation(from_trajectory(whole), whole).position <= 1e-5
    cubic = Trajectory.from_knots(times, q, v, position_names=NAMES)
    off = deviation(from_trajectory(cubic), cubic)
    assert off.position <= 1e-5
    # A jump becomes a ramp without overshoot. 3 % allow for the neighboring pieces.
    largest = np.abs([cubic.acceleration(t) for t in np.union1d(times, times[1:] - 1e-9)]).max()
    assert off.acceleration <= 0.03 * largest


def test_joints_come_in_the_order_asked_for():
    trajectory = bang_bang()
    turned = from_trajectory(trajectory, joint_names=("b", "a"))
    assert turned.joint_names == ("b", "a")
    np.testing.assert_array_equal(
        turned.points[3].positions, from_trajectory(trajectory).points[3].positions[::-1]
    )
    for names in (("a",), ("a", "b", "c")):
        with pytest.raises(TrajectoryError, match=r"'[bc]'"):
            from_trajectory(trajectory, joint_names=names)
    with pytest.raises(TrajectoryError, match="max_interval"):
        from_trajectory(trajectory, max_interval=0.0)


def test_a_motion_that_lasts_for_days_has_few_points():
    """Memory and time are bounded. The points are as exact, since the motion has few pieces.

    A motion longer than messages can express is refused.
    """
    days = Trajectory([0, 1e6], [[[0.0], [1e-6]]], ["a"])
    sent = from_trajectory(days)
    assert len(sent.points) == MOST_POINTS + 1
    np.testing.assert_allclose(sent.points[MOST_POINTS // 2].positions, 0.5, atol=1e-12)
    assert deviation(sent, days, rate=0.01).position < 1e-5  # as for any plan
    with pytest.raises(
        TrajectoryError, match=r"lasts 1e\+10 s; points of messages can be at most 2147483647 s"
    ):
        from_trajectory(Trajectory([0, 1e10], [[[0.0], [1e-10]]], ["a"]))


def test_a_plan_that_ends_moving_keeps_its_end():
    chunk = bang_bang().slice(0.0, 0.6)
    made = from_trajectory(chunk)
    np.testing.assert_allclose(made.points[-1].velocities, chunk.velocity(chunk.duration))
    np.testing.assert_allclose(made.points[-1].accelerations, chunk.acceleration(chunk.duration))
    assert deviation(made, chunk).position <= 1e-5


def test_there_and_back(plans):
    for trajectory in plans:
        follow = to_trajectory(from_trajectory(trajectory), limits=trajectory.limits)
        assert follow.limits is trajectory.limits
        again = to_trajectory(from_trajectory(follow))
        t = np.linspace(0, trajectory.duration, 999)
        np.testing.assert_allclose(again.position(t), follow.position(t), atol=2e-5)


def test_to_trajectory_is_what_the_fields_ask_for():
    cubic = JointTrajectory(
        NAMES, tuple(JointTrajectoryPoint(t, (t, 0), (0, 0)) for t in (0.0, 1.0, 3.0))
    )
    made = to_trajectory(cubic)
    want = Trajectory.from_knots(
        [0, 1, 3], [[0, 0], [1, 0], [3, 0]], np.zeros((3, 2)), position_names=NAMES
    )
    np.testing.assert_allclose(made.coefficients, want.coefficients, atol=1e-14)
    state = ArmState(("b", "x", "a"), (2.0, 9.0, 1.0), (0.5, 9.0, 0.0), 0.0)
    later = JointTrajectory(
        NAMES, tuple(JointTrajectoryPoint(t, (t, 0), (0, 0)) for t in (1.0, 3.0))
    )
    coming = to_trajectory(later, from_state=state)
    assert coming.duration == 3.0
    np.testing.assert_allclose(coming.position(0.0), (1.0, 2.0))
    np.testing.assert_allclose(coming.velocity(0.0), (0.0, 0.5))
    assert to_trajectory(later).duration == 2.0  # without a state it begins at its first point


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([], "there are 0"),
        ([JointTrajectoryPoint(1.0, (0, 0))], "there are 1"),
        (
            [JointTrajectoryPoint(0.0, (0, 0)), JointTrajectoryPoint(0.0, (1, 1))],
            "strictly increasing",
        ),
        (
            [JointTrajectoryPoint(0.0, (0, 0)), JointTrajectoryPoint(1.0, (1,))],
            r"points\[1\].positions",
        ),
        (
            [JointTrajectoryPoint(0.0, (0, 0), (1,)), JointTrajectoryPoint(1.0, (1, 1))],
            r"points\[0\].velocities",
        ),
        ([JointTrajectoryPoint(0.0, (0, 0)), JointTrajectoryPoint(1.0, (np.nan, 1))], "finite"),
        (
            [JointTrajectoryPoint(t, (q, q)) for t, q in ((0, 0), (1, 1), (2, 0))],
            "velocity of a jumps",
        ),
    ],
)
def test_points_that_make_no_motion_are_refused(points, words):
    with pytest.raises(TrajectoryError, match=words):
        to_trajectory(JointTrajectory(NAMES, tuple(points)))
