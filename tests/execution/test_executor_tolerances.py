"""The executor's semantics (docs/execution.md), row by row: tolerances and their violation."""

from __future__ import annotations

import numpy as np

from robosim.execution.goals import ErrorCode, GoalResult, GoalStatus
from robosim.execution.messages import JointTolerance, JointTrajectory
from robosim.execution.tolerances import ControllerTolerances

from .executor_rig import NAMES, REACHED, Rig, each_profile, point


@each_profile
def test_a_violated_path_tolerance_aborts_and_holds(profile):
    rig = Rig(profile, tolerances=ControllerTolerances(path=0.05))
    goal = rig.send(point(0.0, 0.0), point(1.0, 1.0))
    last = rig.step(30)[-1]
    rig.offset = np.array([0.0, 0.12])
    np.testing.assert_array_equal(rig.step()[0], last)  # the command is not passed on
    text = "Aborted due to path tolerance violation"
    assert goal.result == GoalResult(GoalStatus.ABORTED, ErrorCode.PATH_TOLERANCE_VIOLATED, text)
    measured = rig.executor.actual.position.copy()
    np.testing.assert_allclose(rig.step()[0][0], measured)
    assert any("b: position error" in event.text for event in rig.executor.events)
    rig.offset = np.array([0.0, 5.0])
    rig.step(5)  # tolerances do not apply to a hold


def test_a_topics_trajectory_is_held_for_a_violated_path_tolerance_too():
    rig = Rig(tolerances=ControllerTolerances(path=0.05))
    rig.executor.publish(JointTrajectory(NAMES, (point(0.0, 0.0), point(1.0, 1.0))))
    rig.step(30)
    rig.offset = np.array([0.3, 0.0])
    rig.step(2)
    assert rig.executor.holding


def test_a_start_far_away_violates_the_path_tolerance_at_once():
    rig = Rig(tolerances=ControllerTolerances(path=0.05))
    goal = rig.send(point(0.0, 0.5), point(1.0, 1.0))
    assert (rig.step()[0][0] == 0.0).all()
    assert goal.result is not None
    assert goal.result.error_code is ErrorCode.PATH_TOLERANCE_VIOLATED
    single = rig.send(point(0.0, 0.5))  # also if the first sample is past the last point
    rig.step()
    assert single.result is not None
    assert single.result.error_code is ErrorCode.PATH_TOLERANCE_VIOLATED


def test_goal_time_0_waits_as_long_as_it_takes():
    rig = Rig(tolerances=ControllerTolerances(goal=0.05))
    goal = rig.send(point(0.0, 0.0), point(0.2, 1.0))
    rig.offset = np.array([0.1, 0.0])
    rig.step(2000)
    assert goal.status is GoalStatus.EXECUTING
    rig.offset = np.zeros(2)
    rig.step()
    assert goal.result == REACHED


def test_goal_time_is_counted_from_the_last_point():
    rig = Rig(tolerances=ControllerTolerances(goal=0.05, goal_time=0.295))
    goal = rig.send(point(0.0, 0.0), point(0.2, 1.0))
    rig.offset = np.array([0.1, 0.0])
    rig.step(50)  # cycle k is k - 1 periods after the start: this one is at 0.49 s
    assert goal.status is GoalStatus.EXECUTING
    rig.step()
    assert goal.result is not None
    assert (goal.result.status, goal.result.error_code) == (
        GoalStatus.ABORTED,
        ErrorCode.GOAL_TOLERANCE_VIOLATED,
    )
    assert goal.result.error_string.startswith(
        "Aborted due to goal_time_tolerance exceeding by 0.300000"
    )
    measured = rig.executor.actual.position.copy()
    np.testing.assert_allclose(rig.step()[0][0], measured)


def test_a_goal_brings_its_own_tolerances():
    rig = Rig(tolerances=ControllerTolerances(path=0.05, goal=0.05, goal_time=0.1))
    free = [JointTolerance(name, position=-1.0) for name in NAMES]
    rig.offset = np.array([0.2, 0.0])
    rig.step()
    goal = rig.send(
        point(0.3, 0.0),
        point(0.5, 1.0),
        path_tolerance=tuple(free),
        goal_tolerance=(JointTolerance("a", position=0.3),),
        goal_time_tolerance=-1.0,
    )
    rig.step(70)
    assert goal.result == REACHED


def test_being_stopped_is_judged_where_velocities_are_commanded():
    for velocity_command, status in ((True, GoalStatus.EXECUTING), (False, GoalStatus.SUCCEEDED)):
        rig = Rig(
            tolerances=ControllerTolerances(stopped_velocity=0.2),
            velocity_command=velocity_command,
        )
        goal = rig.send(point(0.0, 0.0), point(0.1, 0.1))
        for _ in range(30):
            rig.step()
            rig.velocity = np.array([0.3, 0.0])  # swings past
        assert goal.status is status
        rig.step(2)
        assert goal.result == REACHED


def test_cmd_timeout_gives_up_after_the_end():
    rig = Rig(tolerances=ControllerTolerances(goal=0.05), cmd_timeout=0.5)
    goal = rig.send(point(0.0, 0.0), point(0.2, 1.0))
    rig.offset = np.array([0.1, 0.0])
    rig.step(60)
    assert goal.status is GoalStatus.EXECUTING
    rig.step(15)
    assert goal.result is not None
    assert "command timeout" in goal.result.error_string
    assert goal.result.error_code is ErrorCode.GOAL_TOLERANCE_VIOLATED
    assert (
        Rig(tolerances=ControllerTolerances(goal_time=1.0), cmd_timeout=0.5).executor._cmd_timeout
        == 0.0
    )


def test_errors_of_continuous_joints_go_the_short_way_round():
    for continuous, result in (((), None), (("a", "b"), REACHED)):
        rig = Rig(
            at=(2 * np.pi, 0.0),
            continuous_joints=continuous,
            tolerances=ControllerTolerances(path=0.1, goal=0.05),
        )
        goal = rig.send(point(0.0, 0.0), point(0.1, 0.0))
        rig.step()
        if result is None:
            assert goal.result is not None
            assert goal.result.error_code is ErrorCode.PATH_TOLERANCE_VIOLATED
        else:
            np.testing.assert_allclose(rig.executor.error.position, 0.0, atol=1e-12)
            rig.step(30)
            assert goal.result == result
    rig = Rig(at=(2 * np.pi - 0.1, 0.0), continuous_joints=("a",))
    rig.send(point(1.0, 0.2))
    assert -0.11 < rig.step()[0][0][0] < 0.0  # approached from -0.1, not from 6.18
