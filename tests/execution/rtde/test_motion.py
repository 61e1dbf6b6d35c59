"""Joint commands of each cycle: bounded, evenly spread, with ramps to rest. Also the messages."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from robosim.execution.executor import Feedback
from robosim.execution.goals import ErrorCode, GoalResult, GoalStatus, Rejection, RejectReason
from robosim.execution.interpolation import PointState
from robosim.execution.messages import (
    ArmState,
    ArmStatus,
    Goal,
    JointTolerance,
    JointTrajectory,
    JointTrajectoryPoint,
    SafetyMode,
)
from robosim.execution.transports.rtde import wire
from robosim.execution.transports.rtde.motion import Motion, Playout
from robosim.execution.universal_robots import UR_JOINTS

PERIOD, SPEED, DECELERATION = 0.008, 3.0, 5.0
LIMIT = np.full(6, 2 * math.pi)


def motion(position=None) -> Motion:
    start = np.zeros(6) if position is None else position
    return Motion(UR_JOINTS, -LIMIT, LIMIT, np.full(6, SPEED), DECELERATION, PERIOD, start)


@settings(max_examples=200, deadline=None)
@given(
    arrays(float, (20, 6), elements=st.floats(-10, 10)),
    st.lists(st.booleans(), min_size=20, max_size=20),
)
def test_no_step_leaves_the_limits_or_is_faster_than_allowed(targets, brake):
    arm = motion()
    for target, slow in zip(targets, brake, strict=True):
        before = arm.position
        if slow:
            arm.brake()
        else:
            arm.step_to(target)
        assert (np.abs(arm.position - before) <= SPEED * PERIOD * (1 + 1e-12)).all()
        assert (np.abs(arm.position) <= LIMIT).all()
        np.testing.assert_allclose(arm.velocity * PERIOD, arm.position - before, atol=1e-12)


@settings(max_examples=100, deadline=None)
@given(arrays(float, 6, elements=st.floats(-2.9, 2.9)))
def test_a_ramp_to_rest(velocity):
    arm = motion()
    arm.step_to(velocity * PERIOD)
    np.testing.assert_allclose(arm.velocity, velocity, atol=1e-12)
    begin, last = arm.position.copy(), arm.velocity.copy()
    cycles = 0
    while not arm.at_rest:
        arm.brake()
        change = np.abs(arm.velocity - last)
        assert (change <= DECELERATION * PERIOD * (1 + 1e-9)).all()
        # All joints keep the direction of the motion, to rounding of differences of positions.
        np.testing.assert_allclose(np.cross(arm.velocity[:3], velocity[:3]), 0, atol=1e-9)
        last = arm.velocity.copy()
        cycles += 1
    fastest = np.abs(velocity).max()
    assert cycles <= math.ceil(fastest / DECELERATION / PERIOD) + 1
    # The distance is v^2 / 2a along the fastest joint. The sum over cycles is shorter than the
    # integral by half a cycle at that speed.
    way = np.abs(arm.position - begin).max()
    assert (
        fastest**2 / (2 * DECELERATION) - fastest * PERIOD <= way <= fastest**2 / (2 * DECELERATION)
    )


def test_an_arm_outside_its_limits_may_come_back():
    start = np.array([2 * math.pi + 0.1, 0, 0, 0, 0, 0])
    arm = motion(start)
    np.testing.assert_array_equal(arm.position, start)
    assert arm.step_to(start - 0.01) == ""
    assert "outside its limits" in arm.step_to(start + 0.02)
    assert arm.position[0] <= start[0]


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (np.zeros(5), "6 positions, this one 5"),
        (np.array([0, math.nan, 0, 0, 0, 0]), "shoulder_lift_joint is not finite"),
        (np.array([0, 0, 0, 0, 0, math.inf]), "wrist_3_joint is not finite"),
        (np.array([0, 0, 0.1501, 0, 0, 0]), "elbow_joint is 0.1501 rad away"),
        (np.array([0, 0, 0.1499, 0, 0, 0]), ""),
    ],
)
def test_what_is_no_motion_is_refused(wanted, text):
    refusal = motion().refusal(wanted)
    assert text in refusal
    assert bool(refusal) == bool(text)


def test_set_points_at_the_controllers_rate_are_handed_out_one_by_one():
    playout = Playout(PERIOD, np.zeros(1))
    position, out = np.zeros(1), []
    for k in range(20):
        playout.put(np.array([float(k)]), k * PERIOD)
        if (wanted := playout.next(position)) is not None:
            position = wanted
            out.append(float(wanted[0]))
    assert out == list(map(float, range(19)))  # the first waits for the second


def test_set_points_at_a_quarter_of_the_rate_are_spread():
    playout = Playout(PERIOD, np.zeros(1))
    position, out = np.zeros(1), []
    for cycle in range(80):
        if cycle % 4 == 0:
            playout.put(np.array([0.4 * cycle / 4]), cycle * PERIOD)
        if (wanted := playout.next(position)) is not None:
            position = wanted
            out.append(float(wanted[0]))
    # After the first few set points, whose interval is unknown, every cycle makes a quarter of a
    # set point's displacement.
    np.testing.assert_allclose(np.diff(out[8:]), 0.1, atol=1e-12)


def test_a_late_set_point_is_not_felt():
    playout = Playout(PERIOD, np.zeros(1))
    position, out = np.zeros(1), []
    for k in range(20):
        for late in {5: [], 6: [5, 6]}.get(k, [k]):
            playout.put(np.array([float(late)]), k * PERIOD)
        if (wanted := playout.next(position)) is not None:
            position = wanted
            out.append(float(wanted[0]))
    assert out == list(map(float, range(19)))


def test_a_backlog_is_dropped_and_not_followed_late():
    playout = Playout(PERIOD, np.zeros(1))
    for k in range(10):
        playout.put(np.array([float(k)]), 0.0)
    assert [float(playout.next(np.zeros(1))[0]) for _ in range(3)] == [7.0, 8.0, 9.0]
    assert playout.next(np.zeros(1)) is None


def test_a_single_set_point_is_handed_out_at_the_end_of_the_stream():
    playout = Playout(PERIOD, np.zeros(1))
    playout.put(np.ones(1), 0.0)
    assert playout.next(np.zeros(1)) is None
    assert playout.age(0.2) == pytest.approx(0.2)
    np.testing.assert_array_equal(playout.next(np.zeros(1), flush=True), 1.0)
    assert playout.next(np.ones(1), flush=True) is None


def test_messages_survive_to_the_last_bit():
    rng = np.random.default_rng(0)
    points = tuple(
        JointTrajectoryPoint(
            0.1 * k, rng.normal(size=2), rng.normal(size=2), effort=np.array([np.nan, np.inf])
        )
        for k in range(3)
    )
    goal = Goal(
        JointTrajectory(("a", "b"), points, 12.5),
        (JointTolerance("a", 0.1, -1.0),),
        (JointTolerance("b", 0.2),),
        0.5,
    )
    back = wire.goal(wire.decode(wire.encode(wire.goal_fields(goal))))
    assert back.trajectory.joint_names == ("a", "b")
    assert back.trajectory.stamp == 12.5
    assert (back.path_tolerance, back.goal_tolerance, back.goal_time_tolerance) == (
        goal.path_tolerance, goal.goal_tolerance, 0.5
    )  # fmt: skip
    for one, other in zip(back.trajectory.points, points, strict=True):
        assert one.time_from_start == other.time_from_start
        for name in ("positions", "velocities", "accelerations", "effort"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for outcome in (
        Rejection(RejectReason.JOINT_COUNT, "no"),
        GoalResult(GoalStatus.ABORTED, ErrorCode.PATH_TOLERANCE_VIOLATED, "why"),
    ):
        assert wire.outcome(wire.decode(wire.encode(wire.outcome_fields(outcome)))) == outcome
    status = ArmStatus(True, False, None, SafetyMode.REDUCED, 0.3)
    state = ArmState(("a", "b"), rng.normal(size=2), rng.normal(size=2), 3.25)
    fields = wire.decode(wire.encode(wire.state_fields(state, status)))
    assert wire.status(fields) == status
    np.testing.assert_array_equal(fields["q"], state.position)
    three = [PointState(*rng.normal(size=(3, 2))) for _ in range(3)]
    feedback = Feedback(1.5, 0.25, ("a", "b"), *three)
    again = wire.feedback(wire.decode(wire.encode(wire.feedback_fields(feedback))), ("a", "b"))
    assert (again.stamp, again.time) == (1.5, 0.25)
    for name in ("desired", "actual", "error"):
        np.testing.assert_array_equal(getattr(again, name), getattr(feedback, name))
