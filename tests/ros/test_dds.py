"""The dds transport against a talker, a listener and an arm that share no code with it.

These run in processes of their own.
"""

from __future__ import annotations

import argparse
import sys
import threading

import numpy as np
import pytest

pytest.importorskip("cyclonedds", reason="the dds transport needs the extra `dds`")

from robosim.errors import ExecutionError, MissingDependencyError
from robosim.execution.goals import ErrorCode, GoalStatus, Rejection, RejectReason
from robosim.execution.joint_trajectory import to_trajectory
from robosim.execution.messages import (
    ArmState,
    Goal,
    JointTrajectory,
    JointTrajectoryPoint,
    SafetyMode,
    Setpoint,
)
from robosim.ros.dds_arm import DdsArm, DdsNames
from robosim.ros.dds_domain import configuration, domain_id, wire_name
from robosim.ros.published_goal import Judgment, PublishedGoal
from robosim.ros.transports.dds import TRANSPORT

from .harness.waiting import wait_for
from .wire_peer import numbers
from .wire_process import Peer

JOINTS = ("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint")
START = (0.1, -1.2, 0.7)
# More magnitudes than an arm has, and every bit of the significand.
SECONDS = 2.0


def move(to, duration=1.0, joint_names=JOINTS, **fields):
    """Goal with a single point, at rest."""
    point = JointTrajectoryPoint(duration, to, np.zeros(len(to)), np.zeros(len(to)))
    return Goal(JointTrajectory(joint_names, (point,)), **fields)


def ended(handle):
    return wait_for(lambda: handle.result, "the goal's end")


# -- The wire: bits, order, lost messages ----------------------------------------------------------


@pytest.mark.parametrize("rate", [125, 500])
def test_joint_states_arrive_whole_and_in_order(domain, rate):
    """Every message of a foreign talker arrives bit for bit, exactly once."""
    taken = []

    class Recording(DdsArm):
        def _take_joint_state(self, message, now):
            super()._take_joint_state(message, now)
            taken.append((message.header.stamp.sec, self.state()))

    given = (*reversed(JOINTS), "gripper")
    count = int(rate * SECONDS)
    with (
        Recording(JOINTS) as arm,
        Peer(
            "talk", domain, topic="rt/joint_states", type="state", joints=given, rate=rate,
            count=count,
            held=True,
        ) as peer,
    ):  # fmt: skip
        wait_for(arm._readers[0][0].get_matched_publications, "the talker to be found")
        peer.go()
        assert peer.next("talked") == count
        wait_for(lambda: len(taken) >= count, "all states")
        assert arm.refused == {}
    assert [k for k, _ in taken] == list(range(count))
    for k, state in taken:
        assert state.joint_names == JOINTS
        for channel, values in enumerate((state.position, state.velocity, state.effort)):
            assert values.tolist() == numbers(k, len(given), channel)[2::-1]


@pytest.mark.parametrize("rate", [125, 500])
def test_set_points_arrive_whole_and_in_order(domain, rate):
    count = int(rate * SECONDS)
    topic = "rt/forward_position_controller/commands"
    with (
        DdsArm(JOINTS, setpoints=True) as arm,
        Peer("listen", domain, topic=topic, type="commands", count=count) as peer,
    ):
        peer.next("matched")
        wait_for(lambda: arm.listens(), "the listener")
        begin = arm.clock()
        for k in range(count):
            arm.sleep_until(begin + k / rate)
            arm.stream(Setpoint(np.array(numbers(k, len(JOINTS)))))
        heard = peer.heard(count)
    for k, message in enumerate(heard):
        assert message == {
            "layout": {"dim": [], "data_offset": 0},
            "data": [value.hex() for value in numbers(k, len(JOINTS))],
        }


def test_a_trajectory_arrives_bit_for_bit(domain):
    values = np.random.default_rng(5).standard_normal((1000, 4, len(JOINTS)))
    points = tuple(
        JointTrajectoryPoint(0.125 * i + 1e-9 * (i > 0), *fields) for i, fields in enumerate(values)
    )
    topic = "rt/left/my_controller/joint_trajectory"
    prefixed = [f"left_{name}" for name in JOINTS]
    names = DdsNames(namespace="/left", controller="my_controller", tf_prefix="left_")
    with (
        Peer(
            "talk", domain, topic="rt/left/joint_states", type="state", joints=prefixed, count=5000
        ),
        DdsArm(JOINTS, names) as arm,
        Peer("listen", domain, topic=topic, type="trajectory") as peer,
    ):
        peer.next("matched")
        arm.wait_until_ready(60.0)
        assert not isinstance(
            arm.send(Goal(JointTrajectory(JOINTS, points, stamp=5.25))), Rejection
        )
        (message,) = peer.heard(1)
    assert message["header"] == {"stamp": {"sec": 5, "nanosec": 250_000_000}, "frame_id": ""}
    assert message["joint_names"] == prefixed
    assert len(message["points"]) == 1000
    for i, point in enumerate(message["points"]):
        fields = ("positions", "velocities", "accelerations", "effort")
        for channel, field in enumerate(fields):
            assert point[field] == [value.hex() for value in values[i, channel].tolist()]
        span = divmod(125_000_000 * i + (i > 0), 10**9)
        assert point["time_from_start"] == {"sec": span[0], "nanosec": span[1]}


# -- Goals, judged from joint states ---------------------------------------------------------------


def test_a_goal_succeeds_when_the_states_show_it(domain):
    with Peer("arm", domain, joints=JOINTS, start=START), DdsArm(JOINTS) as arm:
        arm.wait_until_ready(60.0)
        target = np.add(START, (0.3, -0.2, 0.1))
        # Joints in another order than the arm's.
        before = arm.clock()  # the code after this may run long after the goal's time has begun
        handle = arm.send(move(target[[2, 0, 1]], 0.5, (JOINTS[2], JOINTS[0], JOINTS[1])))
        result = ended(handle)
        assert result.status is GoalStatus.SUCCEEDED
        assert arm.clock() - before >= 0.5
        assert np.abs(arm.state().position - target).max() < 0.01


def test_a_goal_waits_for_an_arm_that_scales_its_speed(domain):
    with Peer("arm", domain, joints=JOINTS, start=START, scaling=0.3), DdsArm(JOINTS) as arm:
        arm.wait_until_ready(60.0)
        wait_for(lambda: arm.status().speed_scaling == pytest.approx(0.3), "the speed scaling")
        # The arm takes 1.67 s. If the goal's time were not scaled, the goal would be late after 0.5
        # + 0.2 s.
        before = arm.clock()
        handle = arm.send(move(np.array(START) + 0.3, 0.5, goal_time_tolerance=0.2))
        assert ended(handle).status is GoalStatus.SUCCEEDED
        assert arm.clock() - before > 0.5 / 0.3 - 0.05


def test_a_goal_that_starts_later_is_judged_later():
    """An arm that stands still until the trajectory's stamp counts as following."""
    still, there = (ArmState(JOINTS, np.full(3, q), np.zeros(3), 0.0) for q in (0.0, 1.0))
    goal = PublishedGoal(move(np.ones(3)), still, 100.0, Judgment(), lambda: None, delay=10.0)
    for now in np.arange(100.0, 110.0, 0.5):
        goal.update(now, still, 1.0)
        assert goal.status is GoalStatus.EXECUTING
    goal.update(110.5, there, 1.0)
    assert goal.result is None  # in place, but before the trajectory's end
    goal.update(111.0, there, 1.0)
    assert goal.result.ok


def test_an_arm_that_does_not_follow_is_told_from_its_states(domain):
    """Topics have no acknowledgment: an arm that ignores a trajectory is noticed as it stands."""
    with Peer("arm", domain, joints=JOINTS, start=START, deaf=True), DdsArm(JOINTS) as arm:
        arm.wait_until_ready(60.0)
        result = ended(arm.send(move(np.array(START) + 1.0, 2.0)))
        assert (result.status, result.error_code) == (GoalStatus.ABORTED, ErrorCode.INVALID_GOAL)
        assert "has not moved" in result.error_string


def test_cancel_brakes_along_the_way(domain):
    with Peer("arm", domain, joints=JOINTS, start=START), DdsArm(JOINTS) as arm:
        arm.wait_until_ready(60.0)
        handle = arm.send(move(np.add(START, (2.0, 0.0, 0.0)), 2.0))
        wait_for(lambda: arm.state().position[0] > START[0] + 0.5, "half of the way")
        handle.cancel()
        begin = arm.state()
        assert ended(handle).status is GoalStatus.CANCELED
        end = arm.state()
        # The arm moves on along the path by its braking distance, v T / 2 with T = v / 2, and by
        # its motion until the cancellation arrived.
        assert (
            begin.position[0]
            <= end.position[0]
            < begin.position[0] + begin.velocity[0] ** 2 / 4 + 0.3
        )
        assert np.array_equal(end.position[1:], START[1:])
        assert handle.result.error_code is ErrorCode.SUCCESSFUL


def test_a_stop_brakes_along_the_way():
    """The stop never jumps and never leaves the plan's range, whatever the state is.

    The states are old, on the path, off the path, or at rest.
    """
    way = (0.0, 1.0, 0.5), (0.3, -0.2, 0.5), (-1.0, 0.4, 0.0)
    points = tuple(
        JointTrajectoryPoint(float(i + 1), q, np.full(3, 0.3 * (i < 2))) for i, q in enumerate(way)
    )
    start = ArmState(JOINTS, np.zeros(3), np.zeros(3), 0.0)
    goal = PublishedGoal(
        Goal(JointTrajectory(JOINTS, points)), start, 0.0, Judgment(), lambda: None
    )
    plan = to_trajectory(JointTrajectory(JOINTS, points), from_state=start)
    goal.update(1.5, ArmState(JOINTS, plan.position(1.5), plan.velocity(1.5), 1.5), 1.0)
    assert goal.trajectory_time == 1.5
    on_the_way = ArmState(JOINTS, plan.position(1.49), plan.velocity(1.49), 1.5)
    for state in (None, on_the_way):
        # As a controller executes the stop, from the arm's position.
        now = ArmState(JOINTS, plan.position(1.5), plan.velocity(1.5), 1.5)
        braked = to_trajectory(goal.braking(state), from_state=now)
        times = np.linspace(0, braked.duration, 200)
        assert np.abs(braked.velocity(braked.duration)).max() < 1e-12
        # Samples of the path are 0.8 mrad apart, which contributes half of that distance.
        passed = plan.position(np.linspace(1.5, 3, 4000))
        near = np.abs(braked.position(times)[:, None] - passed[None]).max(axis=2)
        assert near.min(axis=1).max() < 6e-4
    for velocity in (np.zeros(3), np.array([1.0, 0.0, -2.0])):
        elsewhere = ArmState(JOINTS, np.array([2.0, 2.0, 2.0]), velocity, 1.5)
        (point,) = goal.braking(elsewhere).points
        assert np.array_equal(point.positions, 2.0 + velocity * point.time_from_start / 2)
        assert not point.velocities.any()


def test_a_new_goal_replaces_the_old_one(domain):
    with Peer("arm", domain, joints=JOINTS, start=START), DdsArm(JOINTS) as arm:
        arm.wait_until_ready(60.0)
        first = arm.send(move(np.array(START) + 1.0, 5.0))
        wrong = arm.send(Goal(JointTrajectory(JOINTS, (JointTrajectoryPoint(1.0, [1.0, 2.0]),))))
        assert isinstance(wrong, Rejection)
        assert (wrong.reason, first.result) == (RejectReason.SIZE, None)
        second = arm.send(move(np.array(START) + 0.1, 0.5))
        assert (first.result.status, first.result.error_code) == (
            GoalStatus.ABORTED,
            ErrorCode.INVALID_GOAL,
        )
        assert ended(second).status is GoalStatus.SUCCEEDED


def test_states_that_stop_end_the_goal(domain):
    with Peer("arm", domain, joints=JOINTS, start=START, silent_after=3.0), DdsArm(JOINTS) as arm:
        arm.wait_until_ready(60.0)
        result = ended(arm.send(move(np.array(START) + 0.5, 8.0)))
        assert result.status is GoalStatus.ABORTED
        assert "no joint states" in result.error_string
        assert not arm.status().connected
        refused = arm.send(move(START))
        assert isinstance(refused, Rejection)
        assert "no joint states" in refused.text


def test_an_arm_that_was_killed_and_comes_back_is_heard_again(domain):
    with DdsArm(JOINTS) as arm:
        for position in (START, (0.5, 0.6, 0.7)):
            with Peer("arm", domain, joints=JOINTS, start=position):
                wait_for(lambda: arm.status().connected, "the arm")
                wait_for(lambda p=position: np.array_equal(arm.state().position, p), "its state")
                assert ended(arm.send(move(position, 0.2))).status is GoalStatus.SUCCEEDED
            wait_for(lambda: not arm.status().connected, "its end")


def test_velocities_that_are_not_told_are_differences(domain):
    with Peer("arm", domain, joints=JOINTS, start=START, no_velocities=True), DdsArm(JOINTS) as arm:
        arm.wait_until_ready(60.0)
        handle = arm.send(move(np.add(START, (0.8, 0.0, 0.0)), 2.0))
        speeds = []
        wait_for(
            lambda: speeds.append(float(arm.state().velocity[0])) or handle.result, "the result"
        )
        assert handle.result.status is GoalStatus.SUCCEEDED
        assert max(speeds) > 0.4  # the cubic's peak is 0.6; single differences scatter only upwards


# -- Refusals and reports --------------------------------------------------------------------------


def test_goals_that_nobody_could_judge_are_refused(domain):
    with DdsArm(JOINTS) as arm:
        refused = arm.send(move(START))
        assert isinstance(refused, Rejection)
        assert (
            "nobody listens on rt/scaled_joint_trajectory_controller/joint_trajectory"
            in refused.text
        )
        for goal, reason in (
            (move(START, joint_names=("a", "b", "c")), RejectReason.UNKNOWN_JOINT),
            (Goal(JointTrajectory(JOINTS, ())), RejectReason.NO_POINTS),
        ):
            refused = arm.send(goal)
            assert isinstance(refused, Rejection)
            assert refused.reason is reason


def options(**changes):
    parser = argparse.ArgumentParser()
    TRANSPORT.add_arguments(parser)
    given = parser.parse_args([])
    for name, value in changes.items():
        assert hasattr(given, name)
        setattr(given, name, value)
    return given


def test_connect_says_who_is_missing(domain):
    with pytest.raises(
        ExecutionError, match=rf"ID {domain}: nobody publishes joint states on rt/joint_states"
    ):
        TRANSPORT.connect(None, JOINTS, options(dds_timeout=0.5))
    with (
        Peer(
            "talk", domain, topic="rt/joint_states", type="state", joints=JOINTS[:2], count=20_000
        ),
        pytest.raises(
            ExecutionError,
            match=r"lacks elbow_joint; it has shoulder_pan_joint, shoulder_lift_joint",
        ),
    ):
        TRANSPORT.connect(None, JOINTS, options(dds_timeout=3.0))
    with (
        Peer("arm", domain, joints=JOINTS, start=START),
        pytest.raises(ExecutionError, match=r"nobody listens on rt/other/joint_trajectory: is"),
    ):
        TRANSPORT.connect(
            None,
            JOINTS,
            options(dds_timeout=3.0, dds_controller="other", dds_forward_controller="another"),
        )
    for timeout in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ExecutionError, match="--dds-timeout"):
            TRANSPORT.connect(None, JOINTS, options(dds_timeout=timeout))


def test_unusable_joint_states_are_left_out_and_counted(domain):
    """Unusable messages leave the state as it is and are named; good messages are used."""
    from robosim.ros.dds_domain import Participant
    from robosim.ros.dds_types import JointState

    good = JointState(name=list(JOINTS), position=[1.0, 2.0, 3.0])
    bad = {
        "names a joint twice": JointState(name=[*JOINTS, "elbow_joint"], position=[1.0] * 4),
        "lacks shoulder_lift_joint, elbow_joint; it": JointState(name=[JOINTS[0]], position=[1.0]),
        "lacks shoulder_pan_joint, shoulder_lift_joint": JointState(),
        "3 joints and has 2 entries of position": JointState(
            name=list(JOINTS), position=[1.0, 2.0]
        ),
        "3 joints and has 1 entries of velocity": JointState(
            name=list(JOINTS), position=[0.0] * 3, velocity=[1.0]
        ),
        "joint 'shoulder_lift_joint' is at nan": JointState(
            name=list(JOINTS), position=[0.0, np.nan, 0.0]
        ),
        "joint 'shoulder_pan_joint' is at -inf": JointState(
            name=list(JOINTS), position=[-np.inf, 0.0, 0.0]
        ),
    }
    with DdsArm(JOINTS) as arm:
        part = Participant()
        writer = part.writer("joint_states", JointState)
        wait_for(lambda: writer.get_matched_subscriptions(), "a match")
        for message in bad.values():
            writer.write(message)
            writer.write(good)
        wait_for(lambda: arm.received == len(bad), "the good ones")
        assert arm.state().position.tolist() == [1.0, 2.0, 3.0]
        assert len(arm.refused) == len(bad)
        for text in bad:
            assert sum(text in why for why in arm.refused) == 1
        part.close()


def test_status_topics(domain):
    """The latched status of a UR reaches a late subscriber; implausible values are ignored."""
    from robosim.ros import names
    from robosim.ros.dds_domain import Participant
    from robosim.ros.dds_types import Bool, Float64
    from robosim.ros.dds_types import SafetyMode as SafetyModeMessage

    part = Participant()
    program = part.writer(names.PROGRAM_RUNNING, Bool, latched=True)
    safety = part.writer(names.SAFETY_MODE, SafetyModeMessage, latched=True)
    scaling = part.writer(names.SPEED_SCALING, Float64)
    program.write(Bool(True))
    safety.write(SafetyModeMessage(3))
    with DdsArm(JOINTS) as arm:
        wait_for(lambda: arm.status().program_running, "program running")
        wait_for(lambda: arm.status().safety_mode is SafetyMode.PROTECTIVE_STOP, "the safety mode")
        wait_for(lambda: scaling.get_matched_subscriptions(), "a match")
        for sent, expected in ((30.0, 0.3), (np.nan, 0.3), (0.0, 0.0), (250.0, 1.0), (-5.0, 0.0)):
            scaling.write(Float64(sent))
            wait_for(
                lambda expected=expected: arm.status().speed_scaling == pytest.approx(expected),
                sent,
            )
        safety.write(SafetyModeMessage(200))
        wait_for(lambda: arm.status().safety_mode is None, "an unknown mode")
    part.close()


@pytest.mark.parametrize(
    ("topic", "namespace", "expected"),
    [
        ("joint_states", "", "rt/joint_states"),
        ("joint_states", "/left/arm/", "rt/left/arm/joint_states"),
        ("/joint_states", "left", "rt/joint_states"),
        ("a/b_c", "n", "rt/n/a/b_c"),
    ],
)
def test_wire_names(topic, namespace, expected):
    assert wire_name(topic, namespace) == expected


@pytest.mark.parametrize("topic", ["", "/", "a//b", "1a", "a b", "a__b", "~/a", "\xe4", "a\0"])
def test_wire_names_that_ros_would_not_take(topic):
    with pytest.raises(ExecutionError, match="topic"):
        wire_name(topic)


def test_the_environment_is_read_as_ros_reads_it():
    assert domain_id({}) == domain_id({"ROS_DOMAIN_ID": ""}) == 0
    assert domain_id({"ROS_DOMAIN_ID": "232"}) == 232
    for wrong in ("233", "-1", "x", "1.0"):
        with pytest.raises(ExecutionError, match=f"ROS_DOMAIN_ID is '{wrong}'"):
            domain_id({"ROS_DOMAIN_ID": wrong})
    assert "Peer" not in configuration({})
    for local in ({"ROS_LOCALHOST_ONLY": "1"}, {"ROS_AUTOMATIC_DISCOVERY_RANGE": "localhost"}):
        assert '<NetworkInterface address="127.0.0.1"' in configuration(local)
    assert '<Peer address="10.0.0.7"/><Peer address="a&amp;b"/>' in configuration(
        {"ROS_STATIC_PEERS": "10.0.0.7; a&b;"}
    )
    # The user's configuration comes last, and so takes precedence.
    assert configuration({"CYCLONEDDS_URI": "file:///my.xml"}).endswith(
        "</CycloneDDS>,file:///my.xml"
    )
    for name, value in (
        ("ROS_AUTOMATIC_DISCOVERY_RANGE", "OFF"),
        ("ROS_AUTOMATIC_DISCOVERY_RANGE", "NEAR"),
        ("ROS_LOCALHOST_ONLY", "yes"),
    ):
        with pytest.raises(
            ExecutionError, match=f"{name} is '{value.upper() if 'RANGE' in name else value}'"
        ):
            configuration({name: value})


def test_without_cyclonedds_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "cyclonedds.domain", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'robosim\[dds\]'"):
        TRANSPORT.connect(None, JOINTS, options())


def test_what_the_user_configures_for_cyclone_wins_or_is_refused(domain, monkeypatch):
    monkeypatch.setenv("CYCLONEDDS_URI", "<CycloneDDS><Domain><Nonsense/></Domain></CycloneDDS>")
    with pytest.raises(
        ExecutionError, match=f"Cyclone DDS cannot open domain {domain} .*<Nonsense/>"
    ):
        DdsArm(JOINTS)


def test_no_thread_stays_behind(domain):
    before = threading.active_count()
    for _ in range(3):
        arm = DdsArm(JOINTS)
        arm.close()
        arm.close()
    assert threading.active_count() == before
