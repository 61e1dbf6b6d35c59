"""Conversion between messages and robosim's types: exact, by name, for any kind of message."""

from __future__ import annotations

import dataclasses
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robosim.errors import ExecutionError
from robosim.execution.goals import ErrorCode, GoalResult, GoalStatus
from robosim.execution.messages import (
    ArmState,
    Goal,
    JointTolerance,
    JointTrajectory,
    JointTrajectoryPoint,
)
from robosim.ros import messages

ROS = "rclpy is not installed: the ROS 2 tests run in CI's ros lane"
DAYS_97 = 2**23 * 10**9  # [ns] doubles up to 2^23 s are less than a nanosecond apart


def stamp(sec=0, nanosec=0):
    return SimpleNamespace(sec=sec, nanosec=nanosec)


@given(st.integers(-DAYS_97, DAYS_97))
def test_durations_come_back_to_the_nanosecond(ns):
    message = stamp()
    messages.set_time(message, ns)
    assert 0 <= message.nanosec < 10**9
    assert messages.nanoseconds_of(message) == ns
    assert messages.nanoseconds(messages.seconds_of(message)) == ns


@given(st.integers(0, 2**31 * 10**9 - 1))
def test_stamps_are_exact_as_integers_and_next_to_it_as_doubles(ns):
    message = stamp()
    messages.set_time(message, ns)
    assert messages.nanoseconds_of(message) == ns
    # Half the spacing of doubles at 2^31 s.
    assert abs(messages.nanoseconds(messages.seconds(ns)) - ns) <= 239


def test_times_that_no_message_holds_are_refused():
    with pytest.raises(ExecutionError, match="nan"):
        messages.nanoseconds(math.nan)
    with pytest.raises(ExecutionError, match="32 bits"):
        messages.set_time(stamp(), 2**31 * 10**9)


def joint_state(names, position, velocity=(), effort=(), sec=3, nanosec=5):
    return SimpleNamespace(
        header=SimpleNamespace(stamp=stamp(sec, nanosec)),
        name=names,
        position=position,
        velocity=velocity,
        effort=effort,
    )


def test_a_joint_state_is_read_by_name_in_the_order_asked_for():
    state = messages.arm_state(
        joint_state(["c", "a", "b"], [3.0, 1.0, 2.0], [30.0, 10.0, 20.0]),
        joint_names=("a", "b", "c"),
    )
    assert state.joint_names == ("a", "b", "c")
    np.testing.assert_array_equal(state.position, [1, 2, 3])
    np.testing.assert_array_equal(state.velocity, [10, 20, 30])
    assert state.stamp == 3.000000005
    assert state.effort is None


def test_a_joint_state_may_have_more_joints_and_no_velocities():
    state = messages.arm_state(
        joint_state(["x", "a"], [9.0, 1.0], effort=[5.0, 6.0]), joint_names=("a",)
    )
    np.testing.assert_array_equal(state.position, [1])
    assert np.isnan(state.velocity).all()
    np.testing.assert_array_equal(state.effort, [6])


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (joint_state(["a"], [1.0]), "lacks b; it has a"),
        (joint_state(["a", "a", "b"], [1.0, 2.0, 3.0]), "twice"),
        (joint_state(["a", "b"], [1.0]), "2 joints and has 1 entries of position"),
        (joint_state(["a", "b"], []), "0 entries of position"),
        (joint_state(["a", "b"], [1.0, 2.0], [1.0]), "1 entries of velocity"),
    ],
)
def test_a_joint_state_that_does_not_fit_is_refused(message, says):
    with pytest.raises(ExecutionError, match=says):
        messages.arm_state(message, joint_names=("a", "b"))


def test_the_state_does_not_change_with_the_message():
    message = joint_state(["a"], np.array([1.0]), np.array([2.0]))
    state = messages.arm_state(message)
    message.position[0] = message.velocity[0] = 9
    assert (state.position[0], state.velocity[0]) == (1, 2)


def trajectory(rng, n=3, points=5):
    return JointTrajectory(
        tuple(f"joint_{i}" for i in range(n)),
        tuple(
            JointTrajectoryPoint(
                round(0.123456789 * (k + 1), 9),
                positions=rng.normal(size=n),
                velocities=rng.normal(size=n) if k % 2 else (),
                accelerations=rng.normal(size=n) if k % 3 else (),
                effort=rng.normal(size=n) if k == 4 else (),
            )
            for k in range(points)
        ),
        stamp=12.5,
    )


def same(a, b):
    assert a.joint_names == b.joint_names
    assert a.stamp == b.stamp
    assert len(a.points) == len(b.points)
    for p, r in zip(a.points, b.points, strict=True):
        assert p.time_from_start == r.time_from_start
        for name in ("positions", "velocities", "accelerations", "effort"):
            np.testing.assert_array_equal(getattr(p, name), getattr(r, name))


def test_a_trajectory_survives_the_wire_format_bit_for_bit():
    pytest.importorskip("rclpy", reason=ROS)
    from rclpy.serialization import deserialize_message, serialize_message
    from trajectory_msgs.msg import JointTrajectory as Message

    sent = trajectory(np.random.default_rng(0))
    message = messages.joint_trajectory_message(sent)
    same(messages.joint_trajectory(deserialize_message(serialize_message(message), Message)), sent)


def test_nonsense_passes_unjudged():
    pytest.importorskip("rclpy", reason=ROS)
    sent = JointTrajectory(
        (), (JointTrajectoryPoint(-1.5, positions=[math.nan]), JointTrajectoryPoint(-2.0))
    )
    same(messages.joint_trajectory(messages.joint_trajectory_message(sent)), sent)


def test_a_goal_and_a_result_come_back_whole():
    pytest.importorskip("rclpy", reason=ROS)
    pytest.importorskip("control_msgs", reason="control_msgs is not installed")
    sent = Goal(
        trajectory(np.random.default_rng(1)),
        (JointTolerance("joint_0", 0.1, 0.2, 0.3),),
        (JointTolerance("joint_1", -1), JointTolerance("joint_2", 0)),
        0.75,
    )
    back = messages.goal(messages.goal_message(sent))
    same(back.trajectory, sent.trajectory)
    assert (back.path_tolerance, back.goal_tolerance) == (sent.path_tolerance, sent.goal_tolerance)
    assert back.goal_time_tolerance == 0.75

    result = GoalResult(GoalStatus.ABORTED, ErrorCode.PATH_TOLERANCE_VIOLATED, "why")
    assert messages.goal_error(messages.result_message(result)) == (result.error_code, "why")


def test_a_message_is_filled_in_place():
    pytest.importorskip("rclpy", reason=ROS)
    reused = messages.JointStateMessage(("a", "b"))
    first = reused.fill(1, [1.0, 2.0], [3.0, 4.0])
    buffer = first.position
    second = reused.fill(
        2_000_000_003, np.array([5.0, 6.0]), np.array([7.0, 8.0]), np.array([9.0, 10.0])
    )
    assert second is first
    assert second.position is buffer
    assert list(second.position) == [5, 6]
    assert list(second.velocity) == [7, 8]
    assert list(second.effort) == [9, 10]
    assert (second.header.stamp.sec, second.header.stamp.nanosec) == (2, 3)

    state = ArmState(("a",), np.array([1.5]), np.array([2.5]), 4.5)
    back = messages.arm_state(messages.joint_state_message(state))
    assert (back.joint_names, back.position[0], back.velocity[0], back.stamp) == (
        ("a",),
        1.5,
        2.5,
        4.5,
    )
    assert back.effort is None
    # A stamp of 0 means that the source reports no time.
    unstamped = messages.arm_state(
        messages.joint_state_message(dataclasses.replace(state, stamp=0.0))
    )
    assert (back.measured, unstamped.measured) == (4.5, None)

    point = messages.PointMessage(2, ("positions", "velocities"))
    filled = point.fill(1_500_000_000, [1, 2], [3, 4])
    assert list(filled.positions) == [1, 2]
    assert list(filled.velocities) == [3, 4]
    assert not filled.accelerations
    assert (filled.time_from_start.sec, filled.time_from_start.nanosec) == (1, 500_000_000)
