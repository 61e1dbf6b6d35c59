"""The executor, row by row of the written semantics (docs/execution.md)."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.errors import ExecutionError
from robosim.execution.clock import ManualClock
from robosim.execution.executor import ExecutorGoal, TrajectoryExecutor
from robosim.execution.goals import ErrorCode, GoalResult, GoalStatus, Rejection, RejectReason
from robosim.execution.interpolation import JointSpline, Knots
from robosim.execution.messages import ArmState, Goal, JointTolerance, JointTrajectory, JointTrajectoryPoint
from robosim.execution.profiles import HUMBLE, JAZZY, PROFILES, ROLLING
from robosim.execution.tolerances import ControllerTolerances

NAMES = ("a", "b")
PERIOD = 0.01
REACHED = GoalResult(GoalStatus.SUCCEEDED, ErrorCode.SUCCESSFUL, "Goal successfully reached!")
each_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)


class Rig:
    """An executor and an arm that is where it is told, plus an offset."""

    def __init__(self, profile=JAZZY, at=(0.0, 0.0), now=3.0, **options):
        self.clock = ManualClock(now)
        self.executor = TrajectoryExecutor(NAMES, clock=self.clock, profile=profile, **options)
        self.position, self.velocity = np.array(at), np.zeros(2)
        self.offset, self.scaling = np.zeros(2), 1.0
        self.executor.activate(self.state())

    def state(self):
        return ArmState(NAMES, self.position + self.offset, self.velocity, self.clock())

    def step(self, cycles=1):
        """The commands of that many cycles, (cycles, 3, n)."""
        commands = []
        for _ in range(cycles):
            self.clock.advance(PERIOD)
            command = self.executor.update(self.state(), PERIOD, speed_scaling=self.scaling)
            self.position, self.velocity = command.position, command.velocity
            commands.append(command)
        return np.array(commands)

    def send(self, *points, **fields):
        """Submit points; the goal, which must be accepted."""
        goal = self.executor.submit(Goal(JointTrajectory(NAMES, points, fields.pop("stamp", 0.0)), **fields))
        assert isinstance(goal, ExecutorGoal), goal
        return goal


def point(time, q, v=0.0, a=0.0):
    """A knot with the same values for both joints."""
    return JointTrajectoryPoint(time, (q, q), (v, v), (a, a))


def spline(*points):
    return JointSpline(Knots.of(points, range(2), np.zeros(2)))


# -- Following ----------------------------------------------------------------------------------------------


@each_profile
def test_a_goal_is_followed_to_its_end_and_its_last_point_kept(profile):
    rig = Rig(profile)
    points = (point(0.0, 0.0), point(0.5, 0.4, 1.0), point(1.0, 1.0))
    goal = rig.send(*points)
    assert goal.status is GoalStatus.EXECUTING
    assert goal.result is None
    commands = rig.step(130)
    # Taken over in the first cycle; commands are for the end of the cycle where the profile looks ahead.
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
    if delay > 0:  # and until then it comes from where it was, cubic
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
    rig.offset = np.array([0.0, 0.3])  # measured is not commanded
    goal = rig.executor.submit(
        Goal(
            JointTrajectory(
                ("a",), (JointTrajectoryPoint(0.0, [0.0], [0.0]), JointTrajectoryPoint(0.5, [1.0], [0.0]))
            )
        )
    )
    commands = rig.step(70)
    np.testing.assert_allclose(commands[:, 0, 1], 1.0)
    np.testing.assert_allclose(commands[:, 1, 1], 0.0, atol=1e-12)
    assert goal.result == REACHED
    assert commands[-1, 0, 0] == 1.0


# -- One after the other -------------------------------------------------------------------------------------


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
    assert isinstance(rig.executor.submit(Goal(JointTrajectory(("a", "x"), (point(1, 0),)))), Rejection)
    rig.step(50)
    assert first.result == REACHED
    assert any("unknown joint" in event.text for event in rig.executor.events)


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
def test_an_empty_topic_takes_the_motion_from_the_goal_without_ending_it(profile, names):
    rig = Rig(profile)
    goal = rig.send(point(0.0, 0.0), point(0.5, 1.0))
    last = rig.step(20)[-1]
    assert rig.executor.publish(JointTrajectory(names, ())) is None
    for command in rig.step(100):
        np.testing.assert_array_equal(command[0], last[0])
        np.testing.assert_array_equal(command[1:], 0.0)
    assert goal.status is GoalStatus.EXECUTING
    assert rig.executor.publish(JointTrajectory(NAMES, (point(0.2, 0.5),))) is None
    rig.step(30)
    assert goal.result == REACHED


def test_rolling_follows_the_old_trajectory_until_the_new_one_starts():
    old = (point(0.0, 0.0), point(0.5, 0.5, 1.0), point(1.0, 1.0, 1.0), point(1.5, 1.2))
    rig, plain = Rig(ROLLING), Rig(JAZZY)
    for each in (rig, plain):
        each.send(*old)
        each.step(30)
        each.offset = np.array([0.02, 0.0])  # a following error: the seam does not see it
        each.send(point(0.5, 0.2), stamp=each.clock() + PERIOD + 0.3)
    commands = rig.step(90)
    want = spline(*old)
    for k in range(30):
        np.testing.assert_allclose(commands[k], want.sample(0.31 + k * PERIOD)[0], atol=1e-9)
    # From the seam on one quintic to the new point, 0.5 s later.
    seam = JointTrajectoryPoint(0.0, *want.sample(0.6)[0])
    rest = spline(seam, point(0.5, 0.2))
    for k in range(30, 90):
        np.testing.assert_allclose(commands[k], rest.sample((k - 29) * PERIOD)[0], atol=1e-8)
    # The others leave the old trajectory at once: from where the arm is measured, to the first point at its time.
    plain.step()
    measured = JointTrajectoryPoint(0.0, plain.executor.actual.position, plain.executor.actual.velocity)
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
        np.testing.assert_allclose(command[:, 1], want.sample(0.31 + k * PERIOD)[0][:, 1], atol=1e-8)
    np.testing.assert_allclose(commands[25:, 0, 0], 0.0, atol=1e-12)
    assert goal.result == REACHED


def test_a_joint_that_arrives_before_the_others_rests_where_it_was_sent():
    rig = Rig(ROLLING, allow_partial_joints_goal=True, allow_nonzero_velocity_at_trajectory_end=True)
    rig.send(point(0.0, 0.0), point(0.5, 0.5, 1.0), point(1.0, 1.0))
    rig.step(30)
    moving_end = (JointTrajectoryPoint(0.1, [0.3], [2.0], [1.0]),)
    assert rig.executor.publish(JointTrajectory(("a",), moving_end)) is None
    # At the old trajectory's next point, 0.5 s, and from there on to its end.
    commands = rig.step(100)[19:]
    np.testing.assert_allclose(commands[:, 0, 0], 0.3, atol=1e-6)
    np.testing.assert_allclose(commands[:, 1, 0], 0.0, atol=1e-6)
    np.testing.assert_array_equal(commands[-1, 0], [0.3, 1.0])


# -- Cancel, stop, deactivate ---------------------------------------------------------------------------------


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
    goal.cancel()  # again: nothing
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
    assert (goal.result.status, goal.result.error_code) == (GoalStatus.ABORTED, ErrorCode.INVALID_GOAL)
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


# -- Tolerances -----------------------------------------------------------------------------------------------


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
    rig.step(5)  # a hold is not judged


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
    single = rig.send(point(0.0, 0.5))  # also where the first sample is past the last point
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
    assert goal.result.error_string.startswith("Aborted due to goal_time_tolerance exceeding by 0.300000")
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
    assert Rig(tolerances=ControllerTolerances(goal_time=1.0), cmd_timeout=0.5).executor._cmd_timeout == 0.0


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


# -- Speed scaling and time -----------------------------------------------------------------------------------


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
        if scaling == 0.0:  # 5 s of pause are nothing to a goal time of 0.05 s
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


# -- What it tells, and what it does not take -----------------------------------------------------------------


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
    assert goal.feedback.stamp == feedback.stamp  # of the last cycle that followed it


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
