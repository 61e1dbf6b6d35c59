"""The sim_arm node in place of a robot with its driver.

States, description, transforms, speed scaling, stops and streams of set points.
"""

from __future__ import annotations

import math
import re
from functools import partial

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")

from rclpy.qos import DurabilityPolicy, QoSProfile

from robosim import load_robot
from robosim.geometry import pose
from robosim.ros import messages, names
from robosim.ros.executor_thread import in_executor
from robosim.ros.names import UR_JOINTS

from .harness.arm import (
    ABORTED,
    ACTIVATE,
    CLEANUP,
    CONFIGURE,
    DEACTIVATE,
    SUCCEEDED,
    largest_step,
    log_since_now,
    point_to_point,
    running_arms,
)
from .harness.waiting import wait_for

HOME = np.array([0, -math.pi / 2, 0, -math.pi / 2, 0, 0])
SPEED = math.pi  # [rad/s] limit of every joint of UR5 and UR5e
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
LEFT = tuple(f"left_{name}" for name in UR_JOINTS)


@pytest.fixture(scope="module")
def arms(tmp_path_factory):
    """A UR5, a UR5e with other names, and a UR5 with a gripper.

    The UR5e has a namespace, a prefix, another joint order and a renamed topic.
    """
    order = [LEFT[i] for i in (2, 0, 1, 5, 4, 3)]
    kinds = {
        "cb3": {},
        "left": {
            "params": {
                "robot": "ur5e",
                "tf_prefix": "left_",
                "joints": order,
                "initial_state": "ready",
            },
            "name": names.SCALED_CONTROLLER,
            "namespace": "/left",
            "remap": {"joint_states": "states"},
        },
        # Its links have the same names as the links of the first arm. /tf has no namespace, so only
        # one of the arms can use it.
        "gripper": {
            "params": {"robot": "ur5_gripper", "rate": 100.0, "publish_tf": False},
            "namespace": "/gripper",
        },
    }
    with running_arms(tmp_path_factory.mktemp("arms"), kinds) as running:
        yield running


@pytest.fixture
def arm(arms):
    return arms["cb3"].client


@pytest.fixture
def said(arms):
    return log_since_now(arms["cb3"].process)


@pytest.fixture
def listen(arm):
    """`listen(type, topic, qos)`: the list that collects arriving messages."""
    subscriptions = []

    def begin(kind, topic, qos=10):
        heard = []
        subscriptions.append(arm.node.create_subscription(kind, topic, heard.append, qos))
        return heard

    yield begin
    for subscription in subscriptions:
        in_executor(arm.node, partial(arm.node.destroy_subscription, subscription))


# -- States ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "rate"), [("cb3", 125), ("left", 500), ("gripper", 100)])
def test_states_come_at_the_rate_in_order_and_without_holes(arms, kind, rate):
    client, process = arms[kind].client, arms[kind].process
    begin = len(client.samples)
    wait_for(lambda: len(client.samples) >= begin + rate, "a second of states")
    stamps = np.array([s.stamp for s in client.samples[begin:]])
    periods = np.diff(stamps) * rate / 1e9
    # Stamps lie on the grid of the loop, up to slewing of the clock. A hole would be one whole
    # period more. Periods that the loop reports as missing, after a stall of this machine, are not
    # counted as lost.
    assert (periods > 0.9).all()
    assert (periods > 1.1).sum() <= process.output().count("are missing")
    assert np.median(periods) == pytest.approx(1, abs=0.01)


def test_the_joints_are_those_of_the_controller_then_the_others(arms):
    assert arms["left"].client.samples[-1].names == tuple(LEFT[i] for i in (2, 0, 1, 5, 4, 3))
    gripper = arms["gripper"].client.samples[-1].names
    assert gripper[:6] == UR_JOINTS
    assert len(gripper) > 6
    client = arms["gripper"].client
    assert client.outcome(client.send(point_to_point(HOME + 0.1, 0.2))).status == SUCCEEDED


def test_it_starts_where_it_is_told(arms):
    ready = load_robot("ur5e").configuration("ready")
    assert arms["left"].client.at(LEFT) == pytest.approx(ready)


def test_namespace_names_and_remapping_hold_for_all(arms):
    node = arms["left"].client.node
    topics = {name for name, _ in node.get_topic_names_and_types()}
    controller = f"/left/{names.SCALED_CONTROLLER}"
    for topic in (
        "/left/states", "/left/robot_description", f"/left/{names.SPEED_SCALING}",
        f"/left/{names.PROGRAM_RUNNING}",
        f"/left/{names.FORWARD_COMMANDS}", f"{controller}/joint_trajectory",
        f"{controller}/controller_state",
    ):  # fmt: skip
        assert topic in topics
    assert "/left/joint_states" not in topics


def test_a_goal_for_joints_with_a_prefix_in_another_order(arms):
    arm = arms["left"].client
    target = HOME + [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]  # noqa: RUF005 (a sum of arrays)
    # From `ready`, 1.6 rad away: at most 1.9 x 1.6 / 1.5 rad/s.
    assert arm.outcome(arm.send(point_to_point(target, 1.5, LEFT))).status == SUCCEEDED
    arm.wait_at(target, LEFT)
    assert not arm.offer(point_to_point(HOME, 1.0)).accepted  # without the prefix


def test_the_description_reaches_late_joiners_and_is_the_robot(arms, listen):
    from std_msgs.msg import String

    texts = listen(String, "/left/robot_description", LATCHED)
    semantics = listen(String, "/left/robot_description_semantic", LATCHED)
    wait_for(lambda: texts and semantics, "the descriptions")
    model = load_robot(texts[0].data, srdf=semantics[0].data)
    assert model.joint_names == LEFT
    bundled = load_robot("ur5e")
    q = model.configuration("ready")
    np.testing.assert_allclose(
        model.frame_pose(q, "left_tool0"), bundled.frame_pose(q, "tool0"), atol=1e-12
    )
    assert len(model.collision_pairs) == len(bundled.collision_pairs)


def test_transforms_lead_from_the_root_to_every_link_and_agree_with_the_model(arms, listen):
    from tf2_msgs.msg import TFMessage

    client, model = arms["cb3"].client, load_robot("ur5")
    moving, static = listen(TFMessage, "/tf", 100), listen(TFMessage, "/tf_static", QoSProfile(
        depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL))  # fmt: skip
    edges = {}

    def complete():
        for message in (*static, *moving):
            for t in message.transforms:
                edges[t.child_frame_id] = t
        return set(model.link_names) - {model.root_link} <= set(edges)

    wait_for(complete, "transforms to every link")
    last = next(m for m in reversed(moving) if m.transforms[0].child_frame_id in model.link_names)
    edges |= {t.child_frame_id: t for t in last.transforms}
    stamp = messages.nanoseconds_of(last.transforms[0].header.stamp)
    assert len({messages.nanoseconds_of(t.header.stamp) for t in last.transforms}) == 1
    state = wait_for(
        lambda: next((s for s in client.samples if s.stamp == stamp), None),
        "the state of that time",
    )
    q = model.configuration(dict(zip(state.names, state.position, strict=True)))

    def in_root(link):
        if link == model.root_link:
            return np.eye(4)
        t = edges[link].transform
        X = pose(
            (t.translation.x, t.translation.y, t.translation.z),
            quaternion=(t.rotation.x, t.rotation.y, t.rotation.z, t.rotation.w),
        )
        return in_root(edges[link].header.frame_id) @ X

    for link in model.link_names:
        np.testing.assert_allclose(in_root(link), model.frame_pose(q, link), atol=1e-9)


def test_the_controllers_state_is_published(arm, listen):
    from control_msgs.msg import JointTrajectoryControllerState

    heard = listen(JointTrajectoryControllerState, "/sim_arm/controller_state")
    wait_for(lambda: len(heard) > 3, "the controller's state")
    assert tuple(heard[-1].joint_names) == UR_JOINTS
    np.testing.assert_allclose(heard[-1].reference.positions, arm.at(), atol=1e-9)


def test_diagnostics_tell_of_loop_controller_and_robot(arm, listen):
    from diagnostic_msgs.msg import DiagnosticArray

    heard = listen(DiagnosticArray, "/diagnostics")
    mine = wait_for(
        lambda: [
            m
            for m in heard
            if any(s.name == "sim_arm: robot" and s.hardware_id == "ur5" for s in m.status)
        ],
        "diagnostics",
    )[-1]
    by_name = {s.name: s for s in mine.status}
    assert set(by_name) == {
        "sim_arm: control loop",
        "sim_arm: trajectory controller",
        "sim_arm: robot",
    }
    assert by_name["sim_arm: robot"].level == b"\x00"
    loop = {v.key: v.value for v in by_name["sim_arm: control loop"].values}
    assert float(loop["rate [Hz]"]) == 125


# -- Speed scaling ---------------------------------------------------------------------------------


def test_speed_scaling_slows_pauses_and_resumes_a_motion(arm, listen):
    from std_msgs.msg import Float64

    told = listen(Float64, f"/{names.SPEED_SCALING}")

    def scale(value):
        assert arm.set_parameters({"speed_slider": value})[0].successful
        wait_for(
            lambda: told and told[-1].data == pytest.approx(100 * value),
            "the speed scaling to be told",
        )

    begin = len(arm.samples)
    start = arm.wait_still()
    target = start + 0.4
    handle = arm.send(point_to_point(target, 0.8))
    try:
        scale(0.3)
        scale(0.0)
        arm.fresh(5)
        paused = arm.fresh(20).position
        np.testing.assert_array_equal(arm.fresh(30).position, paused)
        assert 0 <= paused[0] - start[0] < 0.4 - 1e-6
        assert handle.status < SUCCEEDED
    finally:
        scale(1.0)
    assert arm.outcome(handle).status == SUCCEEDED
    arm.wait_at(target)
    assert largest_step(arm.samples[begin:]) <= SPEED / 125 * (1 + 1e-9)


def test_a_slider_beyond_its_range_is_refused(arm):
    for value in (-0.1, 1.5, math.nan):
        result = arm.set_parameters({"speed_slider": value})[0]
        assert not result.successful
        assert "speed_slider" in result.reason
    result = arm.set_parameters({"robot": "panda"})[0]
    assert not result.successful


# -- Stops -----------------------------------------------------------------------------------------


def test_a_stopped_program_aborts_refuses_and_goes_on_after_play(arm, said, listen):
    from std_msgs.msg import Bool

    running = listen(Bool, f"/{names.PROGRAM_RUNNING}", LATCHED)
    wait_for(lambda: running and running[-1].data, "the latched word that the program runs")
    handle = arm.send(point_to_point(arm.at() + 0.5, 2.0))
    arm.fresh(10)
    assert arm.trigger("dashboard_client/stop").success
    assert arm.outcome(handle)[:2] == (ABORTED, -1)
    wait_for(lambda: not running[-1].data, "the word that the program has stopped")
    assert not arm.offer(point_to_point(HOME, 0.5)).accepted
    wait_for(lambda: "program is not running" in said(), "the reason")
    assert arm.trigger("dashboard_client/play").success
    wait_for(lambda: running[-1].data, "the word that the program runs")
    assert arm.outcome(arm.send(point_to_point(HOME, 0.8))).status == SUCCEEDED


def test_a_protective_stop_holds_until_it_is_unlocked_and_played(arm, said, listen):
    from ur_dashboard_msgs.msg import RobotMode, SafetyMode

    modes = listen(SafetyMode, f"/{names.SAFETY_MODE}", LATCHED)
    robot = listen(RobotMode, f"/{names.ROBOT_MODE}", LATCHED)
    wait_for(lambda: modes and robot, "the modes")
    assert (modes[-1].mode, robot[-1].mode) == (SafetyMode.NORMAL, RobotMode.RUNNING)
    assert not arm.trigger("dashboard_client/unlock_protective_stop").success

    handle = arm.send(point_to_point(arm.at() + 0.5, 2.0))
    arm.fresh(10)
    assert arm.trigger("/sim_arm/protective_stop").success
    assert arm.outcome(handle)[:2] == (ABORTED, -1)
    wait_for(lambda: modes[-1].mode == SafetyMode.PROTECTIVE_STOP, "the safety mode")
    held = arm.wait_still()
    assert not arm.offer(point_to_point(HOME, 0.5)).accepted
    wait_for(lambda: "PROTECTIVE_STOP" in said(), "the reason")
    assert not arm.trigger("dashboard_client/play").success
    assert arm.trigger("dashboard_client/unlock_protective_stop").success
    assert not arm.offer(point_to_point(HOME, 0.5)).accepted
    assert arm.trigger(names.RESEND_PROGRAM).success
    arm.fresh(10)
    np.testing.assert_array_equal(arm.at(), held)
    assert arm.outcome(arm.send(point_to_point(HOME, 0.8))).status == SUCCEEDED


def test_the_list_of_controllers_says_which_are_active(arm):
    from controller_manager_msgs.srv import ListControllers

    def states():
        answer = arm.call(ListControllers, names.LIST_CONTROLLERS)
        return {controller.name: controller.state for controller in answer.controller}

    assert states()["sim_arm"] == states()[names.JOINT_STATE_BROADCASTER] == "active"
    assert arm.change_state(DEACTIVATE)
    assert (states()["sim_arm"], states()[names.JOINT_STATE_BROADCASTER]) == ("inactive", "active")
    assert arm.change_state(ACTIVATE)
    assert states()["sim_arm"] == "active"


# -- Streams of set points -------------------------------------------------------------------------


@pytest.fixture
def command(arm):
    """`command(position)`: publish a set point."""
    from std_msgs.msg import Float64MultiArray

    publisher = arm.node.create_publisher(Float64MultiArray, f"/{names.FORWARD_COMMANDS}", 1)
    wait_for(lambda: publisher.get_subscription_count() == 1, "the subscriber of commands")
    yield lambda position: publisher.publish(Float64MultiArray(data=[float(p) for p in position]))
    in_executor(arm.node, lambda: arm.node.destroy_publisher(publisher))


def next_state(arm):
    """Return when the arm's next control period is over."""
    seen = len(arm.samples)
    wait_for(lambda: len(arm.samples) > seen, "the next state", pause=0.001)


def test_set_points_are_followed_and_the_arm_holds_when_they_stop(arm, said, command):
    arm.outcome(arm.send(point_to_point(HOME, 0.5)))
    start, begin = arm.wait_still(), len(arm.samples)
    position = start.copy()
    for _ in range(60):
        position[0] += 0.002
        command(position)
        next_state(arm)
    held = (
        wait_for(lambda: "no set point for 0.1 s; holding" in said(), "the watchdog")
        and arm.wait_still()
    )
    assert 0.02 < held[0] - start[0] <= 0.12 + 1e-9
    np.testing.assert_array_equal(held[1:], start[1:])
    assert largest_step(arm.samples[begin:]) <= SPEED / 125 * (1 + 1e-9)
    # The trajectory controller takes over from there.
    assert arm.outcome(arm.send(point_to_point(HOME, 0.5))).status == SUCCEEDED


def test_a_set_point_far_away_is_gone_to_no_faster_than_the_limits(arm, said, command):
    start, begin = arm.wait_still(), len(arm.samples)
    target = start + [1.0, 0, 0, 0, 0, 0]  # noqa: RUF005 (a sum of arrays)
    for _ in range(10):
        command(target)
        next_state(arm)
    wait_for(lambda: "more than one sample's motion" in said(), "the word that it was clipped")
    arm.wait_still()
    assert largest_step(arm.samples[begin:]) <= SPEED / 125 * (1 + 1e-9)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([0.0] * 5, r"shape \(5,\)"),
        ([math.nan] * 6, "is nan"),
        ([0, -1, 0, 0, math.inf, 0], "wrist_2_joint is inf"),
    ],
)
def test_a_set_point_that_is_none_is_refused(arm, said, command, data, says):
    before = arm.wait_still()
    command(data)
    wait_for(lambda: re.search(f"set point refused: .*{says}", said()), "the reason")
    arm.fresh(5)
    np.testing.assert_array_equal(arm.at(), before)
    command(before)  # a valid set point, so that the next refusal is logged again
    wait_for(lambda: "no set point for" in said(), "the good one to be taken")


# -- Lifecycle -------------------------------------------------------------------------------------


@pytest.mark.parametrize("transition", [ACTIVATE, CONFIGURE, 99])
def test_a_transition_that_is_not_possible_is_refused(arms, transition):
    """The node keeps working; a request for the present state is refused, too."""
    arm, said = arms["gripper"].client, log_since_now(arms["gripper"].process)
    assert not arm.change_state(transition)
    wait_for(
        lambda: (
            f"transition {transition} is refused: the node is active; possible: deactivate (4),"
            " shutdown (7)" in said()
        ),
        "the reason",
    )
    assert arm.outcome(arm.send(point_to_point(HOME, 0.2))).status == SUCCEEDED


def test_cleanup_takes_the_robot_away_and_configure_brings_it_back(arms):
    arm = arms["gripper"].client
    assert arm.change_state(DEACTIVATE)
    assert arm.change_state(CLEANUP)
    wait_for(lambda: not arm.action.server_is_ready(), "the action to be gone")
    seen = len(arm.samples)
    assert arm.change_state(CONFIGURE)
    wait_for(lambda: len(arm.samples) > seen + 10, "new states")
    assert not arm.offer(point_to_point(HOME, 0.5)).accepted
    assert arm.change_state(ACTIVATE)
    assert arm.outcome(arm.send(point_to_point(HOME + 0.1, 0.4))).status == SUCCEEDED
