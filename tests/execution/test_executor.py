"""The executor's semantics (docs/execution.md), row by row: following, time, reports, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.errors import ExecutionError
from robosim.execution.goals import GoalStatus, Rejection, RejectReason
from robosim.execution.messages import (
    ArmState,
    Goal,
    JointTolerance,
    JointTrajectory,
    JointTrajectoryPoint,
)
from robosim.execution.profiles import HUMBLE, JAZZY
from robosim.execution.tolerances import ControllerTolerances

from .executor_rig import NAMES, PERIOD, REACHED, Rig, each_profile, point, spline

# -- Following -------------------------------------------------------------------------------------


@each_profile
def test_a_goal_is_followed_to_its_end_and_its_last_point_kept(profile):
    rig = Rig(profile)
    points = (point(0.0, 0.0), point(0.5, 0.4, 1.0), point(1.0, 1.0))
    goal = rig.send(*points)
    assert goal.status is GoalStatus.EXECUTING
    assert goal.result is None
    commands = rig.step(130)
    # The goal starts in the first cycle. With a look-ahead, commands are for the end of the cycle.
    ahead = PERIOD if profile.command_lookahead else 0.0
    want = spline(*points)
    for k, command in enumerate(commands):
        np.testing.assert_allclose(command, want.sample(k * PERIOD + ahead)[0], atol=1e-9)
    assert goal.result == REACHED
    np.testing.assert_array_equal(commands[-1], [[1, 1], [0, 0], [0, 0]])
    assert rig.executor.goal is None
    assert rig.executor.holding


def test_a_last_point_that_moves_is_kept_as_it_is_where_it_is_allowed():
    rig = Rig(HUMBLE)
    goal = rig.send(point(0.0, 0.0), point(0.1, 0.1, 2.0, 3.0))
    assert (rig.step(40)[-5:] == [[0.1, 0.1], [2.0, 2.0], [3.0, 3.0]]).all()
    assert goal.result == REACHED
    refused = Rig(JAZZY).executor.submit(Goal(JointTrajectory(NAMES, (point(1.0, 0.1, 2.0),))))
    assert isinstance(refused, Rejection)
    assert refused.reason is RejectReason.END_VELOCITY


def test_before_the_first_point_the_motion_comes_from_the_measured_state():
    rig = Rig(at=(0.2, -0.1))
    rig.step()
    rig.offset = np.array([0.05, 0.0])
    rig.velocity = np.array([0.3, 0.0])
    rig.send(point(0.5, 1.0))
    commands = rig.step(60)
    # Cubic, because the measured state has no acceleration: q0 + v0 t + ...
    start = JointTrajectoryPoint(0.0, (0.25, -0.1), (0.3, 0.0))
    want = spline(start, point(0.5, 1.0))
    np.testing.assert_allclose(commands[0], want.sample(PERIOD)[0], atol=1e-12)
    np.testing.assert_allclose(commands[20], want.sample(21 * PERIOD)[0], atol=1e-12)


def test_or_from_the_last_command_when_asked_for():
    rig = Rig(interpolate_from_desired_state=True)
    rig.send(point(0.0, 0.0), point(0.5, 1.0), point(1.0, 1.0))
    last = rig.step(30)[-1]
    rig.offset = np.array([0.05, -0.05])
    rig.send(point(0.4, 1.5), point(1.0, 1.0))
    want = spline(JointTrajectoryPoint(0.0, *last), point(0.4, 1.5))
    np.testing.assert_allclose(rig.step()[0], want.sample(PERIOD)[0], atol=1e-12)


def test_a_first_point_at_time_0_is_where_it_begins():
    rig = Rig(HUMBLE)
    rig.send(point(0.0, 0.7), point(1.0, 1.0))
    assert rig.step()[0][0] == pytest.approx([0.7, 0.7])


@pytest.mark.parametrize("delay", [0.5, -0.3])
def test_a_stamp_says_when_it_starts(delay):
    rig = Rig(at=(0.3, 0.3))
    points = (point(0.0, 0.0), point(1.0, 1.0))
    rig.step()
    goal = rig.send(*points, stamp=rig.clock() + PERIOD + delay)
    commands = rig.step(160)
    want = spline(*points)
    for k, command in enumerate(commands):
        t = (k + 1) * PERIOD - delay
        if t >= 0:
            np.testing.assert_allclose(command, want.sample(t)[0], atol=1e-9)
    if delay > 0:  # until then the motion is a cubic from the state at submission
        coming = spline(JointTrajectoryPoint(-delay, (0.3, 0.3), (0, 0)), points[0])
        np.testing.assert_allclose(commands[20], coming.sample(21 * PERIOD - delay)[0], atol=1e-9)
    assert goal.result == REACHED


def test_joints_are_matched_by_name_in_trajectories_and_states():
    rig = Rig(at=(0.0, 5.0))
    points = (JointTrajectoryPoint(0.0, (5.0, 0.0)), JointTrajectoryPoint(1.0, (6.0, -1.0)))
    assert rig.executor.publish(JointTrajectory(("b", "a"), points)) is None
    state = ArmState(("x", "b", "a"), (9.0, 5.0, 0.0), (0.0, 0.0, 0.0), 0.0)
    command = rig.executor.update(state, 0.5)
    np.testing.assert_allclose(command.position, (-0.5, 5.5))
    np.testing.assert_allclose(command.velocity, (-1.0, 1.0))
    np.testing.assert_allclose(rig.executor.actual.position, (0.0, 5.0))


def test_joints_that_are_left_out_keep_their_last_command():
    rig = Rig(allow_partial_joints_goal=True, at=(0.0, 1.0))
    rig.step(2)
    rig.offset = np.array([0.0, 0.3])  # the measured position differs from the commanded one
    goal = rig.executor.submit(
        Goal(
            JointTrajectory(
                ("a",),
                (JointTrajectoryPoint(0.0, [0.0], [0.0]), JointTrajectoryPoint(0.5, [1.0], [0.0])),
            )
        )
    )
    commands = rig.step(70)
    np.testing.assert_allclose(commands[:, 0, 1], 1.0)
    np.testing.assert_allclose(commands[:, 1, 1], 0.0, atol=1e-12)
    assert goal.result == REACHED
    assert commands[-1, 0, 0] == 1.0


# -- Speed scaling and time ------------------------------------------------------------------------


@each_profile
def test_speed_scaling_slows_the_trajectorys_time_down_to_a_stop(profile):
    rig = Rig(profile, tolerances=ControllerTolerances(path=0.1, goal=0.01, goal_time=0.05))
    points = (point(0.0, 0.0), point(0.5, 0.4, 1.0), point(1.0, 1.0))
    goal = rig.send(*points)
    ahead = PERIOD if profile.command_lookahead else 0.0
    want, time, first = spline(*points), 0.0, True
    for cycles, scaling in ((20, 1.0), (60, 0.3), (500, 0.0), (90, 1.0)):
        rig.scaling = scaling
        for command in rig.step(cycles):
            time += 0.0 if first else PERIOD * scaling
            first = False
            if goal.result is None:
                np.testing.assert_allclose(command, want.sample(time + ahead)[0], atol=1e-9)
        if scaling == 0.0:  # a pause of 5 s does not exceed a goal time of 0.05 s
            assert goal.status is GoalStatus.EXECUTING
    assert goal.result == REACHED


def test_a_pause_after_the_end_does_not_count_as_goal_time():
    rig = Rig(tolerances=ControllerTolerances(goal=0.05, goal_time=0.3))
    goal = rig.send(point(0.0, 0.0), point(0.2, 1.0))
    rig.offset = np.array([0.1, 0.0])
    rig.step(30)
    rig.scaling = 0.0
    rig.step(1000)
    assert goal.status is GoalStatus.EXECUTING
    rig.scaling = 1.0
    rig.step(30)
    assert goal.status is GoalStatus.ABORTED


def test_a_clock_that_jumps_does_not_move_what_goes_on():
    rig, jumped = Rig(), Rig()
    for each in (rig, jumped):
        each.send(point(0.0, 0.0), point(1.0, 1.0))
        each.step(20)
    jumped.clock.advance(1000.0)
    np.testing.assert_array_equal(jumped.step(50), rig.step(50))


# -- Reports and refusals --------------------------------------------------------------------------


def test_feedback_is_desired_minus_actual():
    rig = Rig(at=(0.0, 0.0))
    goal = rig.send(point(0.0, 0.0), point(1.0, 1.0))
    assert goal.feedback is None
    rig.step(10)
    rig.offset = np.array([0.1, 0.0])
    rig.step()
    feedback = goal.feedback
    assert feedback is not None
    assert feedback.joint_names == NAMES
    assert feedback.stamp == rig.clock()
    assert feedback.time == pytest.approx(10 * PERIOD)
    np.testing.assert_allclose(feedback.error.position, [-0.1, 0.0], atol=1e-12)
    np.testing.assert_array_equal(
        feedback.error.position, feedback.desired.position - feedback.actual.position
    )
    goal.cancel()
    rig.step(10)
    assert goal.feedback.stamp == feedback.stamp  # from the last cycle that followed it


def test_events_are_for_the_log():
    heard = []
    rig = Rig(on_event=heard.append)
    rig.send(point(0.0, 0.0), point(0.1, 0.0), goal_tolerance=(JointTolerance("nobody", 1.0),))
    rig.step(20)
    assert [event.level for event in heard] == ["warning", "info"]
    assert "'nobody'" in heard[0].text
    assert heard[1].text == "Goal successfully reached!"
    assert list(rig.executor.events) == heard


def test_a_state_that_is_not_finite_is_ignored():
    rig = Rig()
    rig.send(point(0.0, 0.0), point(1.0, 1.0))
    rig.step(30)
    before = rig.executor.actual.position
    bad = ArmState(NAMES, (np.nan, 0.0), (0.0, 0.0), rig.clock.advance(PERIOD))
    assert np.isfinite(rig.executor.update(bad, PERIOD)).all()
    np.testing.assert_array_equal(rig.executor.actual.position, before)
    assert "not finite" in rig.executor.events[-1].text


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"interpolation": "cubic"}, "interpolation"),
        ({"cmd_timeout": -1.0}, "cmd_timeout"),
        ({"decelerate_on_cancel": True}, "max_deceleration"),
        ({"decelerate_on_cancel": True, "max_deceleration": (1.0, 0.0)}, "max_deceleration"),
        ({"continuous_joints": ("c",)}, "'c'"),
        ({"tolerances": ControllerTolerances(path=(1.0,))}, "tolerances.path"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(options, word):
    with pytest.raises(ExecutionError, match=word):
        Rig(**options)


@pytest.mark.parametrize(
    ("state", "period", "scaling", "word"),
    [
        (ArmState(("a",), (0.0,), (0.0,), 0.0), PERIOD, 1.0, "'b'"),
        (ArmState(NAMES, (0.0,), (0.0, 0.0), 0.0), PERIOD, 1.0, "1 positions"),
        (ArmState(NAMES, (0.0, 0.0), (0.0, 0.0), 0.0), -PERIOD, 1.0, "period"),
        (ArmState(NAMES, (0.0, 0.0), (0.0, 0.0), 0.0), PERIOD, float("nan"), "nan"),
    ],
)
def test_calls_that_make_no_sense_are_refused(state, period, scaling, word):
    with pytest.raises(ExecutionError, match=word):
        Rig().executor.update(state, period, speed_scaling=scaling)
