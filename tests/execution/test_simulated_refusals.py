"""Refusals, holds and stops of the simulated arm, and their reported reasons."""

import numpy as np
import pytest

from robosim.execution.goals import ErrorCode, GoalStatus, Rejection, RejectReason
from robosim.execution.joint_trajectory import from_trajectory
from robosim.execution.messages import Goal, SafetyMode, Setpoint
from robosim.execution.profiles import HUMBLE, JAZZY
from robosim.execution.simulated import SimulatedArm

from .simulated_ur5 import READY, SHELF, START, UR5, N, arm_at, texts, trajectory


@pytest.mark.parametrize(
    ("goal", "reason", "text"),
    [
        (trajectory((1.0, np.full(N, np.nan))), RejectReason.NOT_FINITE, "nan"),
        (trajectory((1.0, np.full(N, 7.0))), RejectReason.OUT_OF_LIMITS, "7"),
        (
            trajectory((1.0, READY[:3]), names=UR5.joint_names[:3]),
            RejectReason.JOINT_COUNT,
            "3 joints",
        ),
        (trajectory((1.0, READY, np.full(N, 0.1))), RejectReason.END_VELOCITY, "0.1"),
        (trajectory(), RejectReason.NO_POINTS, "no points"),
    ],
)
def test_what_the_controller_rejects_is_told(goal, reason, text):
    arm = arm_at()
    answer = arm.send(Goal(goal))
    assert isinstance(answer, Rejection)
    assert answer.reason is reason
    assert text in answer.text
    if reason is not RejectReason.NO_POINTS:  # on the topic, an empty trajectory means hold
        assert arm.publish(goal).reason is reason
    # The goal and the topic report their refusals once each.
    assert texts(arm).count(f"goal rejected: {answer.text}") == 1
    assert texts(arm).count(answer.text) == (1 if reason is RejectReason.NO_POINTS else 2)
    arm.sleep_until(1.0)
    assert np.array_equal(arm.state().position, READY)


def test_a_trajectory_by_topic_moves_it():
    arm = arm_at()
    assert arm.publish(trajectory((1.0, READY + 0.2))) is None
    arm.sleep_until(1.5)
    assert np.allclose(arm.state().position, READY + 0.2)


def test_a_set_point_is_copied():
    arm, position = arm_at(), READY.copy()
    arm.stream(Setpoint(position))
    position[:] = np.nan
    arm.sleep_until(0.01)
    assert np.array_equal(arm.state().position, READY)


@pytest.mark.parametrize(
    ("setpoint", "text"),
    [
        (Setpoint(np.append(READY[:-1], np.nan)), "position of wrist_3_joint is nan"),
        (Setpoint(READY, np.append(np.inf, READY[1:])), "velocity of shoulder_pan_joint is inf"),
        (Setpoint(READY[:3]), "position has shape (3,); expected (6,)"),
    ],
)
def test_an_unfit_set_point_is_refused_once_and_said_so(setpoint, text):
    arm = arm_at()
    arm.stream(Setpoint(READY + 0.001))
    arm.sleep_until(0.01)
    for k in range(2, 5):
        arm.stream(setpoint)
        arm.sleep_until(k * 0.01)
    assert np.allclose(arm.state().position, READY + 0.001)
    assert text in texts(arm)
    assert len([event for event in arm.events if "refused" in event.text]) == 1
    arm.stream(Setpoint(READY + 0.002))
    arm.stream(setpoint)
    assert len([event for event in arm.events if "refused" in event.text]) == 2


def test_each_new_reason_to_refuse_set_points_is_told_once():
    arm = arm_at()
    broken = Setpoint(np.append(READY[:-1], np.nan))
    for _ in range(3):
        arm.stream(Setpoint(READY[:3]))
        arm.stream(broken)
    arm.protective_stop()
    for _ in range(3):
        arm.stream(broken)  # the arm's stop is the first reason
    told = [event.text for event in arm.events if "refused" in event.text]
    assert told == [
        "set point refused: position has shape (3,); expected (6,)",
        "set point refused: position of wrist_3_joint is nan",
        "set point refused: the safety mode is PROTECTIVE_STOP, not NORMAL",
    ]


def test_a_jump_becomes_a_motion_at_the_speed_limit_and_is_told():
    arm = arm_at(rate=125.0, watchdog=np.inf)
    arm.stream(Setpoint(READY + 1.0))
    moved = []
    for _ in range(60):
        before = arm.state().position
        moved.append(np.abs(arm.step().position - before).max())
    assert max(moved) <= np.pi / 125 * (1 + 1e-12)
    assert np.array_equal(arm.state().position, READY + 1.0)
    assert "more than one sample's motion, 0.0251327; clipped" in texts(arm)


def test_a_set_point_beyond_a_limit_ends_at_the_limit_and_is_told():
    arm = arm_at(watchdog=np.inf)
    wild = READY.copy()
    wild[2] = 100.0
    arm.stream(Setpoint(wild))
    arm.sleep_until(3.0)
    assert arm.state().position[2] == UR5.limits.upper[2]
    assert (
        "position 100 of elbow_joint is outside its limits -3.14159 to 3.14159; clipped"
        in texts(arm)
    )


def test_when_the_stream_stops_it_holds_within_the_watchdog():
    arm = arm_at(watchdog=0.05)
    for k in range(1, 51):
        arm.stream(Setpoint(READY + 0.001 * k, np.full(N, 0.5)))
        arm.sleep_until(k * 0.002)
    there = arm.state().position
    arm.sleep_until(0.1 + 0.05 - 0.002)
    assert "holding" not in texts(arm)
    arm.sleep_until(0.1 + 0.05 + 0.002)
    assert "no set point for 0.05 s; holding" in texts(arm)
    arm.sleep_until(1.0)
    assert np.array_equal(arm.state().position, there)
    # The arm moves on when the stream does, or when a goal comes.
    arm.stream(Setpoint(READY))
    arm.sleep_until(1.2)
    assert "holding" in texts(arm)
    assert arm.send(Goal(trajectory((0.5, READY + 0.1)))).status is GoalStatus.EXECUTING
    arm.sleep_until(2.0)
    assert np.allclose(arm.state().position, READY + 0.1)


def test_set_points_do_not_take_the_arm_from_a_goal_but_a_goal_ends_a_stream():
    arm = arm_at()
    arm.stream(Setpoint(READY + 0.01))
    arm.sleep_until(0.01)
    handle = arm.send(Goal(trajectory((1.0, READY + 0.2))))
    arm.stream(Setpoint(READY - 0.2))
    arm.sleep_until(0.5)
    assert handle.status is GoalStatus.EXECUTING
    assert "a trajectory is being followed; stop it first" in texts(arm)
    arm.sleep_until(1.5)
    assert handle.result.ok
    assert np.allclose(arm.state().position, READY + 0.2)


def test_stop_gives_up_a_goal_and_a_stream():
    arm = arm_at(START)
    handle = arm.send(Goal(from_trajectory(SHELF)))
    arm.sleep_until(1.0)
    there = arm.state().position
    arm.stop()
    assert handle.result.status is GoalStatus.CANCELED
    arm.sleep_until(2.0)
    # The controller holds its last measured position, from a period ago.
    assert (np.abs(arm.state().position - there) <= np.pi / 500).all()
    there = arm.state().position
    arm.sleep_until(2.5)
    assert np.array_equal(arm.state().position, there)
    arm.stream(Setpoint(there + 0.01))
    arm.step()
    there = arm.state().position
    arm.stop()
    arm.sleep_until(3.0)
    assert np.array_equal(arm.state().position, there)


def test_a_goal_that_is_preempted_ends_as_the_distribution_has_it():
    for profile, status in ((HUMBLE, GoalStatus.CANCELED), (JAZZY, GoalStatus.ABORTED)):
        arm = arm_at(profile=profile)
        first = arm.send(Goal(trajectory((1.0, READY + 0.2))))
        arm.sleep_until(0.5)
        second = arm.send(Goal(trajectory((1.0, READY))))
        arm.sleep_until(2.0)
        assert first.result.status is status
        assert second.result.ok


def stop_controller(arm):
    arm.controller_active = False


def stop_program(arm):
    arm.program_running = False


def emergency(arm):
    arm.safety_mode = SafetyMode.ROBOT_EMERGENCY_STOP


@pytest.mark.parametrize(
    ("happens", "text"),
    [
        (stop_controller, "the controller is not active"),
        (stop_program, "the robot's program is not running"),
        (emergency, "the safety mode is ROBOT_EMERGENCY_STOP, not NORMAL"),
        (SimulatedArm.protective_stop, "the safety mode is PROTECTIVE_STOP, not NORMAL"),
        (SimulatedArm.close, "the arm is closed"),
    ],
)
@pytest.mark.parametrize("tracking", ["ideal", "dynamics"])
def test_what_stops_an_arm_aborts_its_goal_and_refuses_others_with_the_reason(
    happens, text, tracking
):
    arm = arm_at(START, tracking=tracking)
    handle = arm.send(Goal(from_trajectory(SHELF)))
    arm.sleep_until(1.0)
    there = arm.state().position
    happens(arm)
    assert handle.result.status in (GoalStatus.ABORTED, GoalStatus.CANCELED)
    assert handle.result.error_code in (ErrorCode.INVALID_GOAL, ErrorCode.SUCCESSFUL)
    assert arm.status().controller_active is False
    assert text in texts(arm)
    answer = arm.send(Goal(trajectory((1.0, READY))))
    assert answer.reason is RejectReason.INACTIVE
    assert text in answer.text
    assert text in arm.publish(trajectory((1.0, READY))).text
    arm.stream(Setpoint(READY))
    assert f"set point refused: {text}" in texts(arm)
    arm.sleep_until(2.0)
    # A body with dynamics needs a moment to stop: from 3 rad/s under its drives, some hundredths of
    # a radian.
    assert np.abs(arm.state().position - there).max() < (1e-12 if tracking == "ideal" else 0.05)
    assert np.abs(arm.state().velocity).max() < 1e-6


def test_after_a_protective_stop_nothing_goes_on_by_itself():
    arm = arm_at(START)
    arm.send(Goal(from_trajectory(SHELF)))
    arm.sleep_until(1.0)
    there = arm.state().position
    arm.protective_stop()
    assert arm.status().safety_mode is SafetyMode.PROTECTIVE_STOP
    arm.unlock_protective_stop()
    assert arm.status().safety_mode is SafetyMode.NORMAL
    assert arm.status().program_running is False
    assert isinstance(arm.send(Goal(trajectory((1.0, there)))), Rejection)
    arm.program_running = True
    assert arm.status().controller_active
    arm.sleep_until(3.0)
    assert np.array_equal(arm.state().position, there)
    handle = arm.send(Goal(trajectory((6.0, READY))))  # from wherever the plan had brought it
    arm.sleep_until(10.0)
    assert handle.result.ok


def test_a_body_that_sags_does_not_sag_further_with_every_stop():
    """Without feedforward the arm rests below its command.

    Switching off and on holds the command, not the sagged position.
    """
    arm = arm_at(tracking="dynamics", feedforward="none")
    arm.sleep_until(2.0)
    sagged = arm.state().position
    assert np.abs(sagged - READY).max() > 1e-4
    for _ in range(5):
        arm.controller_active = False
        arm.controller_active = True
        arm.sleep_until(arm.clock() + 0.5)
    assert np.abs(arm.state().position - sagged).max() < 1e-6


def test_an_arm_too_weak_for_a_plan_gives_it_up():
    """A UR5 with a tenth of its torque violates the path tolerance. The reason names the joint."""
    weak = UR5.with_limits(effort=UR5.limits.effort * 0.1)
    arm = SimulatedArm(weak, tracking="dynamics", initial=START)
    handle = arm.send(Goal(from_trajectory(SHELF)))
    arm.sleep_until(5.0)
    assert handle.result.status is GoalStatus.ABORTED
    assert handle.result.error_code is ErrorCode.PATH_TOLERANCE_VIOLATED
    assert "position error" in texts(arm)
