"""The executor's semantics (docs/execution.md), row by row: goals ended from outside."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.execution.goals import ErrorCode, GoalResult, GoalStatus, Rejection, RejectReason
from robosim.execution.messages import Goal, JointTrajectory, JointTrajectoryPoint
from robosim.execution.profiles import HUMBLE, JAZZY, ROLLING

from .executor_rig import NAMES, PERIOD, REACHED, Rig, each_profile, point, spline

# -- Successive goals ------------------------------------------------------------------------------


@each_profile
def test_a_new_goal_ends_the_one_that_goes_on(profile):
    rig = Rig(profile)
    first = rig.send(point(0.0, 0.0), point(1.0, 1.0))
    rig.step(10)
    second = rig.send(point(0.3, 0.1))
    status = GoalStatus.CANCELED if profile is HUMBLE else GoalStatus.ABORTED
    assert first.result is not None
    assert first.result.status is status
    assert first.result.error_code is ErrorCode.INVALID_GOAL
    assert "incoming action" in first.result.error_string
    rig.step(50)
    assert second.result == REACHED
    assert first.result.status is status
    np.testing.assert_array_equal(rig.executor.command.position, [0.1, 0.1])


@each_profile
def test_a_refused_goal_leaves_the_one_that_goes_on_alone(profile):
    rig = Rig(profile)
    first = rig.send(point(0.0, 0.0), point(0.5, 1.0))
    rig.step(10)
    refused = rig.executor.submit(Goal(JointTrajectory(("a", "x"), (point(1, 0),))))
    assert isinstance(refused, Rejection)
    assert refused.reason is RejectReason.UNKNOWN_JOINT
    rig.step(50)
    assert first.result == REACHED
    assert [event.text for event in rig.executor.events].count(
        f"goal rejected: {refused.text}"
    ) == 1


@each_profile
def test_a_topic_takes_the_motion_and_the_goal_goes_on_with_it(profile):
    rig = Rig(profile)
    goal = rig.send(point(0.0, 0.0), point(0.5, 1.0))
    rig.step(10)
    assert rig.executor.publish(JointTrajectory(NAMES, (point(1.0, -1.0),))) is None
    rig.step(60)
    assert goal.status is GoalStatus.EXECUTING
    rig.step(60)
    assert goal.result == REACHED
    np.testing.assert_array_equal(rig.executor.command.position, [-1.0, -1.0])


@each_profile
@pytest.mark.parametrize("names", [(), NAMES])
def test_an_empty_topic_ends_the_goal_and_holds_the_last_command(profile, names):
    rig = Rig(profile)
    goal = rig.send(point(0.0, 0.0), point(0.5, 1.0))
    last = rig.step(20)[-1]
    assert rig.executor.publish(JointTrajectory(names, ())) is None
    for command in rig.step(100):
        np.testing.assert_array_equal(command[0], last[0])
        np.testing.assert_array_equal(command[1:], 0.0)
    assert goal.result is not None
    assert (goal.result.status, goal.result.error_code) == (
        GoalStatus.ABORTED,
        ErrorCode.INVALID_GOAL,
    )
    assert goal.result.error_string == "Current goal ended by an empty trajectory on the topic."
    again = rig.send(point(0.2, 0.5))
    rig.step(40)
    assert again.result == REACHED


def test_rolling_follows_the_old_trajectory_until_the_new_one_starts():
    old = (point(0.0, 0.0), point(0.5, 0.5, 1.0), point(1.0, 1.0, 1.0), point(1.5, 1.2))
    rig, plain = Rig(ROLLING), Rig(JAZZY)
    for each in (rig, plain):
        each.send(*old)
        each.step(30)
        each.offset = np.array([0.02, 0.0])  # a following error, which has no effect on the seam
        each.send(point(0.5, 0.2), stamp=each.clock() + PERIOD + 0.3)
    commands = rig.step(90)
    want = spline(*old)
    for k in range(30):
        np.testing.assert_allclose(commands[k], want.sample(0.31 + k * PERIOD)[0], atol=1e-9)
    # From the seam on, one quintic leads to the new point, 0.5 s later.
    seam = JointTrajectoryPoint(0.0, *want.sample(0.6)[0])
    rest = spline(seam, point(0.5, 0.2))
    for k in range(30, 90):
        np.testing.assert_allclose(commands[k], rest.sample((k - 29) * PERIOD)[0], atol=1e-8)
    # Other profiles leave the old trajectory at once. They move from the measured position to the
    # first point at its time.
    plain.step()
    measured = JointTrajectoryPoint(
        0.0, plain.executor.actual.position, plain.executor.actual.velocity
    )
    coming = spline(measured, point(0.8, 0.2))
    for k, command in enumerate(plain.step(70)):
        np.testing.assert_allclose(command, coming.sample((k + 2) * PERIOD)[0], atol=1e-8)


def test_on_rolling_joints_that_are_left_out_finish_the_old_trajectory():
    rig = Rig(ROLLING, allow_partial_joints_goal=True)
    old = (point(0.0, 0.0), point(0.5, 0.5, 1.0), point(1.0, 1.0))
    rig.send(*old)
    rig.step(30)
    new = (JointTrajectoryPoint(0.2, [0.0], [0.0], [0.0]),)
    goal = rig.executor.submit(Goal(JointTrajectory(("a",), new)))
    commands = rig.step(100)
    want = spline(*old)
    for k, command in enumerate(commands[:70]):
        np.testing.assert_allclose(
            command[:, 1], want.sample(0.31 + k * PERIOD)[0][:, 1], atol=1e-8
        )
    np.testing.assert_allclose(commands[25:, 0, 0], 0.0, atol=1e-12)
    assert goal.result == REACHED


def test_a_joint_that_arrives_before_the_others_rests_where_it_was_sent():
    rig = Rig(
        ROLLING, allow_partial_joints_goal=True, allow_nonzero_velocity_at_trajectory_end=True
    )
    rig.send(point(0.0, 0.0), point(0.5, 0.5, 1.0), point(1.0, 1.0))
    rig.step(30)
    moving_end = (JointTrajectoryPoint(0.1, [0.3], [2.0], [1.0]),)
    assert rig.executor.publish(JointTrajectory(("a",), moving_end)) is None
    # Joint a rests at 0.3 from the old trajectory's next point, 0.5 s, to that trajectory's end.
    commands = rig.step(100)[19:]
    np.testing.assert_allclose(commands[:, 0, 0], 0.3, atol=1e-6)
    np.testing.assert_allclose(commands[:, 1, 0], 0.0, atol=1e-6)
    np.testing.assert_array_equal(commands[-1, 0], [0.3, 1.0])


# -- Cancel, stop, deactivate ----------------------------------------------------------------------


@each_profile
def test_cancel_gives_an_empty_result_and_holds_the_measured_position(profile):
    rig = Rig(profile)
    goal = rig.send(point(0.0, 0.0), point(1.0, 1.0))
    rig.step(50)
    rig.offset = np.array([0.01, -0.02])
    rig.step()
    measured = rig.executor.actual.position.copy()
    goal.cancel()
    assert goal.result == GoalResult(GoalStatus.CANCELED, ErrorCode.SUCCESSFUL, "")
    for command in rig.step(5):
        np.testing.assert_array_equal(command, [measured, [0, 0], [0, 0]])
    goal.cancel()  # a second call has no effect
    assert goal.result.status is GoalStatus.CANCELED


def test_cancel_before_the_first_cycle_never_moves():
    rig = Rig()
    goal = rig.send(point(0.0, 0.5), point(1.0, 1.0))
    goal.cancel()
    np.testing.assert_array_equal(rig.step(5)[:, 0], 0.0)


def test_decelerate_on_cancel_brakes_each_joint_at_its_own_rate():
    rig = Rig(decelerate_on_cancel=True, max_deceleration=(2.0, 5.0))
    goal = rig.send(
        JointTrajectoryPoint(0.0, (0, 0), (1.0, -1.0)), JointTrajectoryPoint(2.0, (2, -2), (0, 0))
    )
    rig.step(20)
    start, v = rig.position, rig.velocity
    rig.step()
    start, v = rig.executor.actual.position, rig.executor.actual.velocity
    goal.cancel()
    commands = rig.step(80)
    for j, a in enumerate((2.0, 5.0)):
        for k, t in enumerate(np.arange(1, 81) * PERIOD):
            s = min(t, abs(v[j]) / a)
            want = start[j] + v[j] * s - np.sign(v[j]) * a * s * s / 2
            assert commands[k, 0, j] == pytest.approx(want, abs=1e-9)
    np.testing.assert_allclose(commands[-1, 1:], 0.0, atol=1e-9)


def test_stop_gives_up_a_topics_trajectory_too():
    rig = Rig()
    rig.executor.publish(JointTrajectory(NAMES, (point(0.0, 0.0), point(1.0, 1.0))))
    rig.step(30)
    measured = rig.executor.actual.position
    rig.executor.stop()
    commands = rig.step(3)
    assert rig.executor.holding
    np.testing.assert_array_equal(commands[:, 0], [measured] * 3)


def test_deactivation_aborts_and_activation_holds_where_the_arm_is():
    rig = Rig()
    goal = rig.send(point(0.0, 0.0), point(1.0, 1.0))
    rig.step(30)
    rig.executor.deactivate()
    assert goal.result is not None
    assert (goal.result.status, goal.result.error_code) == (
        GoalStatus.ABORTED,
        ErrorCode.INVALID_GOAL,
    )
    assert "deactivate" in goal.result.error_string
    last = rig.executor.command.position
    np.testing.assert_array_equal(rig.step(3)[:, 0], [last] * 3)
    for answer in (
        rig.executor.submit(Goal(JointTrajectory(NAMES, (point(1.0, 1.0),)))),
        rig.executor.publish(JointTrajectory(NAMES, (point(1.0, 1.0),))),
        rig.executor.publish(JointTrajectory(NAMES, ())),
    ):
        assert isinstance(answer, Rejection)
        assert answer.reason is RejectReason.INACTIVE
    rig.position = np.array([0.7, 0.7])
    rig.executor.activate(rig.state())
    np.testing.assert_array_equal(rig.step(3)[:, 0], 0.7)
