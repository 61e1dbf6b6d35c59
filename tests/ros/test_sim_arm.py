"""The sim_arm node in a real process, with a real client.

Its action and topics are those of the trajectory controller.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")

from robosim.execution.messages import Goal, JointTolerance, JointTrajectory, JointTrajectoryPoint
from robosim.ros import messages
from robosim.ros.executor_thread import in_executor
from robosim.ros.names import UR_JOINTS

from .harness.arm import (
    ABORTED,
    ACTIVATE,
    CANCELED,
    DEACTIVATE,
    SUCCEEDED,
    asked,
    largest_step,
    log_since_now,
    point_to_point,
    running_arms,
)
from .harness.waiting import wait_for

CONTROLLER = "/scaled_joint_trajectory_controller"
HOME = np.array([0, -math.pi / 2, 0, -math.pi / 2, 0, 0])
SPEED = math.pi  # [rad/s] limit of every joint of a UR5e
NS = 10**9


@pytest.fixture(scope="module")
def arms(tmp_path_factory):
    """A UR5e at 500 Hz with its driver's names, a UR5 at 125 Hz as in Humble, one with masses."""
    kinds = {
        "jazzy": {"params": {"robot": "ur5e"}, "name": CONTROLLER[1:]},
        "humble": {"params": {"distribution": "humble"}, "namespace": "/humble"},
        "heavy": {"params": {"tracking": "dynamics"}, "namespace": "/heavy"},
    }
    with running_arms(tmp_path_factory.mktemp("arms"), kinds) as running:
        yield running


@pytest.fixture
def arm(arms):
    return arms["jazzy"].client


@pytest.fixture
def said(arms):
    """Output of the UR5e's process during the test."""
    return log_since_now(arms["jazzy"].process)


def trajectory(*points: JointTrajectoryPoint, joints=UR_JOINTS, stamp=0.0) -> JointTrajectory:
    return JointTrajectory(tuple(joints), points, stamp)


def rest(time: float, position) -> JointTrajectoryPoint:
    return JointTrajectoryPoint(time, positions=position, velocities=np.zeros(len(position)))


# -- The action ------------------------------------------------------------------------------------


def test_a_goal_is_followed_to_its_end_with_feedback(arm):
    arm.feedback.clear()
    begin = len(arm.samples)
    target = np.add(arm.at(), [0.3, -0.2, 0.1, 0.1, 0.2, -0.3])
    assert arm.outcome(arm.send(point_to_point(target, 0.5))) == (
        SUCCEEDED,
        0,
        "Goal successfully reached!",
    )
    arm.wait_at(target)
    assert largest_step(arm.samples[begin:]) <= SPEED * 0.002 * (1 + 1e-9)

    assert arm.feedback  # 20 Hz during half a second
    for one in arm.feedback:
        assert tuple(one.joint_names) == UR_JOINTS
        error = np.array(one.desired.positions) - np.array(one.actual.positions)
        np.testing.assert_allclose(one.error.positions, error, atol=1e-12)
        assert 0 <= messages.seconds_of(one.desired.time_from_start) <= 0.5 + 0.25


def test_joints_are_matched_by_name_whatever_their_order(arm):
    order = [3, 0, 5, 1, 4, 2]
    target = np.add(HOME, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    goal = point_to_point(target[order], 0.5, [UR_JOINTS[i] for i in order])
    assert arm.outcome(arm.send(goal)).status == SUCCEEDED
    arm.wait_at(target)


N = len(UR_JOINTS)
OK = np.zeros(N)
REJECTED = {
    "too few joints": (trajectory(rest(1, OK[:5]), joints=UR_JOINTS[:5]), "joint"),
    "unknown joint": (trajectory(rest(1, OK), joints=(*UR_JOINTS[:5], "tail_joint")), "tail_joint"),
    "joint named twice": (
        trajectory(rest(1, OK), joints=(*UR_JOINTS[:5], "elbow_joint")),
        "elbow_joint",
    ),
    "no joints": (trajectory(rest(1, ()), joints=()), "joint"),
    "no points": (trajectory(), "point"),
    "moves at the end": (
        trajectory(JointTrajectoryPoint(1, positions=OK, velocities=OK + 0.1)),
        "at rest",
    ),
    "times stand still": (trajectory(rest(1, OK), rest(1, OK)), "not after point 0"),
    "times go back": (trajectory(rest(1, OK), rest(0.5, OK)), "not after point 0"),
    "too few positions": (trajectory(JointTrajectoryPoint(1, positions=OK[:5])), "positions"),
    "too few velocities": (
        trajectory(JointTrajectoryPoint(1, positions=OK, velocities=OK[:5])),
        "velocities",
    ),
    "accelerations of wrong size": (
        trajectory(JointTrajectoryPoint(1, positions=OK, velocities=OK, accelerations=OK[:1])),
        "accelerations",
    ),
    "effort": (trajectory(JointTrajectoryPoint(1, positions=OK, effort=OK)), "effort"),
    "empty point": (trajectory(JointTrajectoryPoint(1)), "positions"),
    "not a number": (trajectory(rest(1, np.add(OK, [0, 0, math.nan, 0, 0, 0]))), "elbow_joint"),
    "infinite": (trajectory(rest(1, np.add(OK, [0, math.inf, 0, 0, 0, 0]))), "shoulder_lift_joint"),
    "outside the limits": (trajectory(rest(1, np.add(OK, [0, 0, 3.2, 0, 0, 0]))), "elbow_joint"),
    "too fast": (
        trajectory(
            JointTrajectoryPoint(1, positions=OK, velocities=np.add(OK, [4, 0, 0, 0, 0, 0])),
            rest(2, OK),
        ),
        "shoulder_pan_joint",
    ),
}


@pytest.mark.parametrize("case", REJECTED)
def test_an_invalid_goal_is_rejected_the_log_says_why_and_the_arm_stays(arm, said, case):
    goal, word = REJECTED[case]
    before = arm.wait_still()
    assert not arm.offer(Goal(goal)).accepted
    said = wait_for(
        lambda: [line for line in said().splitlines() if "goal rejected:" in line], "the reason"
    )
    assert word in said[0].split("goal rejected:")[1]
    arm.fresh(5)
    np.testing.assert_array_equal(arm.at(), before)


def test_a_goal_in_the_past_is_rejected_and_one_in_the_future_arrives_in_time(arm, said):
    now = arm.fresh().stamp
    goal = messages.goal_message(point_to_point(HOME, 0.5))
    messages.set_time(goal.trajectory.header.stamp, now - 10 * NS)
    assert not arm.offer(goal).accepted
    wait_for(lambda: "before now" in said(), "the reason")

    # As in ros2_control, the motion to the first point begins at once and ends at that point's
    # time.
    target = arm.wait_still() + 0.1
    goal = messages.goal_message(point_to_point(target, 0.2))
    start = arm.fresh().stamp + NS // 2
    messages.set_time(goal.trajectory.header.stamp, start)
    begin = len(arm.samples)
    assert arm.outcome(arm.send(goal)).status == SUCCEEDED
    arm.wait_at(target)
    there = [s.stamp for s in arm.samples[begin:] if np.abs(s.position - target).max() < 1e-9]
    # The clocks of the arm and of ROS are read one after the other, by a thread that may be
    # suspended in between.
    assert abs(there[0] - (start + NS // 5)) < NS // 10


def test_a_new_goal_takes_over_and_the_old_one_is_aborted(arm):
    begin = len(arm.samples)
    old = arm.send(point_to_point(arm.at() + 0.5, 2.0))
    arm.fresh(30)
    target = HOME + 0.1
    new = arm.send(point_to_point(target, 0.5))
    assert arm.outcome(old) == (ABORTED, -1, "Current goal preempted by new incoming action.")
    assert arm.outcome(new).status == SUCCEEDED
    arm.wait_at(target)
    assert largest_step(arm.samples[begin:]) <= SPEED * 0.002 * (1 + 1e-9)


def test_eight_goals_at_once_each_have_their_result(arm):
    rng, begin = np.random.default_rng(3), len(arm.samples)
    goals = [
        messages.goal_message(point_to_point(HOME + rng.uniform(-0.2, 0.2, N), 0.4))
        for _ in range(8)
    ]  # services queue ten requests
    answers = asked(arm.node, lambda: [arm.action.send_goal_async(goal) for goal in goals])
    wait_for(lambda: all(answer.done() for answer in answers), "all answers")
    outcomes = [arm.outcome(answer.result()) for answer in answers]
    # The goals may arrive in any order; the last one to arrive is followed.
    assert sorted(outcome.status for outcome in outcomes) == [SUCCEEDED] + [ABORTED] * 7
    assert {outcome.code for outcome in outcomes if outcome.status == ABORTED} == {-1}
    assert largest_step(arm.samples[begin:]) <= SPEED * 0.002 * (1 + 1e-9)


def test_humble_cancels_the_old_goal(arms):
    arm = arms["humble"].client
    old = arm.send(point_to_point(HOME + 0.5, 2.0))
    arm.fresh(10)
    new = arm.send(point_to_point(HOME + 0.1, 0.3))
    outcome = arm.outcome(old)
    assert (outcome.status, outcome.code) == (CANCELED, -1)
    assert arm.outcome(new).status == SUCCEEDED


def test_a_cancelled_goal_has_an_empty_result_and_the_arm_holds(arm):
    handle = arm.send(point_to_point(np.add(arm.at(), [1, 0, 0, 0, 0, 0]), 2.0))
    start = arm.at()
    wait_for(lambda: abs(arm.at() - start)[0] > 0.02, "the arm to move")
    assert arm.cancel(handle)
    assert arm.outcome(handle) == (CANCELED, 0, "")
    held = arm.wait_still()
    assert 0.01 < held[0] - start[0] < 0.9
    assert arm.outcome(arm.send(point_to_point(HOME, 0.5))).status == SUCCEEDED


def test_a_path_tolerance_that_is_violated_aborts_and_holds(arms):
    arm = arms["heavy"].client
    goal = point_to_point(np.add(arm.at(), [0.5, 0.1, 0.2, 0, 0, 0]), 0.6)
    strict = replace(goal, path_tolerance=(JointTolerance("shoulder_pan_joint", 1e-6),))
    outcome = arm.outcome(arm.send(strict))
    assert (outcome.status, outcome.code) == (ABORTED, -4)
    assert "shoulder_pan_joint" in outcome.text or "path" in outcome.text.lower()
    # Tolerance -1 means no limit: the same motion succeeds.
    free = replace(goal, path_tolerance=tuple(JointTolerance(name, -1.0) for name in UR_JOINTS))
    assert arm.outcome(arm.send(free)).status == SUCCEEDED


def test_a_goal_tolerance_that_is_not_met_in_time_aborts(arms):
    arm = arms["heavy"].client
    goal = point_to_point(np.subtract(arm.at(), [0.3, 0, 0, 0, 0, 0]), 0.3)
    strict = replace(
        goal,
        goal_tolerance=tuple(JointTolerance(name, 1e-13) for name in UR_JOINTS),
        goal_time_tolerance=0.05,
    )
    outcome = arm.outcome(arm.send(strict))
    assert (outcome.status, outcome.code) == (ABORTED, -5)


# -- Lifecycle -------------------------------------------------------------------------------------


def test_deactivation_aborts_refuses_and_keeps_telling_the_state(arm, said):
    handle = arm.send(point_to_point(np.add(arm.at(), [0.5, 0, 0, 0, 0, 0]), 2.0))
    start = arm.at()
    wait_for(lambda: abs(arm.at() - start)[0] > 0.01, "the arm to move")
    assert arm.change_state(DEACTIVATE)
    outcome = arm.outcome(handle)
    assert (outcome.status, outcome.code) == (ABORTED, -1)
    held = arm.wait_still()

    assert not arm.offer(point_to_point(HOME, 0.5)).accepted
    wait_for(lambda: "goal rejected: the controller is not active" in said(), "the reason")
    arm.fresh(10)
    np.testing.assert_array_equal(arm.at(), held)

    assert arm.change_state(ACTIVATE)
    arm.fresh(10)
    np.testing.assert_allclose(arm.at(), held, atol=1e-12)  # activation does not move the arm
    assert arm.outcome(arm.send(point_to_point(HOME, 0.5))).status == SUCCEEDED


# -- The topic -------------------------------------------------------------------------------------


@pytest.fixture
def publish(arm):
    from trajectory_msgs.msg import JointTrajectory as Message

    publisher = arm.node.create_publisher(Message, f"{CONTROLLER}/joint_trajectory", 10)
    wait_for(lambda: publisher.get_subscription_count() == 1, "the topic's subscriber")
    yield lambda sent: publisher.publish(messages.joint_trajectory_message(sent))
    in_executor(arm.node, lambda: arm.node.destroy_publisher(publisher))


def test_a_trajectory_by_topic_is_followed(arm, publish):
    target = HOME + 0.15
    publish(trajectory(rest(0.3, target)))
    arm.wait_at(target)


def test_a_wrong_trajectory_by_topic_is_refused(arm, said, publish):
    before = arm.wait_still()
    publish(trajectory(rest(0.3, HOME), joints=(*UR_JOINTS[:5], "tail_joint")))
    wait_for(lambda: "trajectory rejected" in said() and "tail_joint" in said(), "the reason")
    for _ in range(3):
        publish(trajectory(rest(0.3, HOME), joints=(*UR_JOINTS[:5], "tail_joint")))
    arm.fresh(5)
    assert said().count("tail_joint") == 1  # repetitions are not logged
    np.testing.assert_array_equal(arm.at(), before)


def test_an_empty_trajectory_stops_the_arm_and_ends_the_goal(arm, publish):
    handle = arm.send(point_to_point(np.add(arm.at(), [0.5, 0, 0, 0, 0, 0]), 1.0))
    start = arm.at()
    wait_for(lambda: abs(arm.at() - start)[0] > 0.01, "the arm to move")
    publish(trajectory())
    status, code, text = arm.outcome(handle)
    assert (status, code) == (ABORTED, -1)
    assert text == "Current goal ended by an empty trajectory on the topic."
    assert abs(arm.wait_still() - start)[0] < 0.45
