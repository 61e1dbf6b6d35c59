"""The planner in a real process, with real clients.

Requests, failures, scenes, cancellation and markers.
"""

from __future__ import annotations

import os
import re
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")

import robosim
from robosim.execution.joint_trajectory import to_trajectory
from robosim.geometry import pose, pose_to_xyz_quaternion
from robosim.ros.executor_thread import in_executor
from robosim.ros.names import UR_JOINTS
from robosim.ros.planner.codes import ErrorCode
from robosim.scene import load_scene

from .harness.arm import point_to_point, running_arms
from .harness.endless import NO_WAY, install
from .harness.planner import ABORTED, CANCELED, PATIENT, SUCCEEDED, PlannerClient, trajectory_of
from .harness.processes import Process, environment, node_command
from .harness.waiting import wait_for

CONTROLLER = "scaled_joint_trajectory_controller"


@pytest.fixture(scope="module")
def ur5():
    return robosim.load_robot("ur5")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A simulated UR5 with its driver's names, and a planner that knows the arm by topics alone."""
    folder = tmp_path_factory.mktemp("world")
    with running_arms(folder, {"arm": {"params": {"robot": "ur5"}, "name": CONTROLLER}}) as arms:
        arm = arms["arm"].client
        number = int(os.environ["ROS_DOMAIN_ID"])
        params = {"joint_limits": "ur5", "execution.connect_timeout": 10.0, **PATIENT}
        process = Process(
            "planner", node_command("planner", params=params, folder=folder),
            folder / "planner.log", folder,
            environment(number, folder, install(folder)),
        )  # fmt: skip
        try:
            process.wait_output("robot: <Model 'ur5'")
            yield SimpleNamespace(process=process, planner=PlannerClient(arm.node), arm=arm)
            assert process.alive
            assert "Traceback" not in process.output(), process.output()
            assert process.stop() == 0
        finally:
            process.kill()


@pytest.fixture
def planner(world):
    world.planner.set_scene("")
    return world.planner


def assert_motion(response, ur5, start):
    """Assert that a motion leads from `start` to rest within the limits."""
    assert response.error_code == ErrorCode.SUCCESS, response.message
    points = trajectory_of(response)
    followed = to_trajectory(points)
    # Exact up to the conversion of doubles through ROS.
    np.testing.assert_allclose(points.points[0].positions, start, atol=1e-9)
    limits = ur5.limits
    order = [ur5.position_names.index(name) for name in points.joint_names]
    t = np.linspace(0, followed.duration, 2000)
    assert (followed.position(t) >= limits.lower[order]).all()
    assert (followed.position(t) <= limits.upper[order]).all()
    # Tolerances of 1 % and 5 % for what interpolation between the points adds, see from_trajectory.
    assert (np.abs(followed.velocity(t)) <= 1.01 * limits.velocity[order]).all()
    assert (np.abs(followed.acceleration(t)) <= 1.05 * limits.acceleration[order]).all()
    assert not points.points[-1].velocities.any()
    return followed


# Goals


def test_joint_goal(planner, world, ur5):
    """The motion begins at the arm's position.

    Names may be in any order. Joints that are not named keep their positions.
    """
    start = world.arm.wait_still()
    response = planner.plan(
        goal_joint_names=["wrist_1_joint", "elbow_joint"], goal_positions=[-1.0, 0.8], seed=7
    )
    followed = assert_motion(response, ur5, start)
    goal = [start[0], start[1], 0.8, -1.0, start[4], start[5]]
    np.testing.assert_allclose(followed.position(followed.duration), goal, atol=1e-9)
    assert (response.planning_status, response.goal_index) == ("solved", 0)
    assert (response.planner, response.seed) == ("rrt_connect", 7)
    assert response.stages[-1] == "total"
    assert 0 < response.stage_times[-1] <= response.planning_time


def test_named_goal_and_scaling(planner, world, ur5):
    home = ur5.configuration("home")
    away = [*home[:2], 1.0, *home[3:]]
    given = {
        "start_joint_names": list(ur5.joint_names),
        "start_positions": away,
        "goal_name": "home",
    }
    fast = assert_motion(planner.plan(**given), ur5, away)
    np.testing.assert_allclose(fast.position(fast.duration), home, atol=1e-9)
    slow = assert_motion(planner.plan(**given, max_velocity_scaling_factor=0.1), ur5, away)
    t = np.linspace(0, slow.duration, 1000)
    assert (np.abs(slow.velocity(t)) <= 0.101 * ur5.limits.velocity).all()


def test_pose_goal(planner, world, ur5):
    """Any of several poses is reached, given in the world or in a link's frame."""
    start = world.arm.wait_still()
    X = ur5.frame_pose([*start[:2], 0.7, *start[3:]], "tool0")
    out_of_reach = planner.pose((3.0, 0, 0))
    response = planner.plan(
        goal_poses=[out_of_reach, planner.pose(*pose_to_xyz_quaternion(X), frame="base_link")]
    )
    if "base_link" not in ur5.link_names:
        assert response.error_code == ErrorCode.FRAME_TRANSFORM_FAILURE
        response = planner.plan(goal_poses=[out_of_reach, planner.pose(*pose_to_xyz_quaternion(X))])
    else:
        X = ur5.frame_pose(start, "base_link") @ X
    followed = assert_motion(response, ur5, start)
    assert response.goal_index == 1
    np.testing.assert_allclose(
        ur5.frame_pose(followed.position(followed.duration), "tool0"), X, atol=1e-5
    )


def test_straight_line(planner, world, ur5):
    start = ur5.configuration(
        {"shoulder_lift_joint": -1.6, "elbow_joint": 1.2, "wrist_2_joint": -1.5}
    )
    X = ur5.frame_pose(start, "tool0") @ pose((0, 0.05, -0.1))
    response = planner.plan(
        start_joint_names=list(ur5.joint_names), start_positions=start.tolist(),
        planner="cartesian",
        goal_poses=[planner.pose(*pose_to_xyz_quaternion(X))],
    )  # fmt: skip
    followed = assert_motion(response, ur5, start)
    p0, p1 = ur5.frame_pose(start, "tool0")[:3, 3], X[:3, 3]
    for q in followed.position(np.linspace(0, followed.duration, 40)):
        p = ur5.frame_pose(q, "tool0")[:3, 3]
        assert np.linalg.norm(np.cross(p1 - p0, p - p0)) / np.linalg.norm(p1 - p0) < 1e-3


# Failures


def box_at(ur5, q, link, name="block"):
    xyz, quaternion = pose_to_xyz_quaternion(ur5.frame_pose(q, link))
    return (
        "format: robosim-scene\nversion: 1\nobjects:\n"
        f"  - name: {name}\n    box: {{size: [0.1, 0.1, 0.1]}}\n"
        f"    pose: {{xyz: {xyz.tolist()}, quaternion: {quaternion.tolist()}}}\n"
    )


def test_failures(planner, world, ur5):
    """Each error code, with the message that a person needs."""
    start = world.arm.wait_still()
    turned = [start[0], start[1] + 1.0, *start[2:]]
    lift = {"goal_joint_names": ["shoulder_lift_joint"], "goal_positions": [turned[1]]}
    for code, fields, words in (
        ("START_STATE_IN_COLLISION", {**lift, "scene_text": box_at(ur5, start, "wrist_2_link")},
            "'block' overlap by"),
        ("GOAL_IN_COLLISION", {**lift, "scene_text": box_at(ur5, turned, "wrist_2_link")},
            "'block' overlap by"),
        ("GOAL_STATE_INVALID", {**lift, "goal_positions": [9.0]}, "'shoulder_lift_joint' is at 9"),
        ("NO_IK_SOLUTION", {"goal_poses": [planner.pose((3, 0, 0))]}, "cannot reach"),
        ("INVALID_GOAL_CONSTRAINTS", {**lift, "goal_joint_names": ["shoulder_lift"]},
            "'shoulder_lift_joint'"),
        ("INVALID_GOAL_CONSTRAINTS", {}, "no goal is given"),
        ("INVALID_ROBOT_STATE", {**lift, "start_joint_names": ["knee"], "start_positions": [0.0]},
            "'knee'"),
        ("INVALID_GROUP_NAME", {**lift, "group": "legs"}, "'legs'"),
        ("INVALID_LINK_NAME", {"goal_poses": [planner.pose((0, 0, 1))], "goal_link": "hand"},
            "'hand'"),
        ("FRAME_TRANSFORM_FAILURE", {"goal_poses": [planner.pose((0, 0, 1), frame="map")]},
            "'map'"),
        ("INVALID_OBJECT_NAME",
            {**lift, "scene_text": "format: robosim-scene\nversion: 1\nobjects: 3\n"}, ":3:"),
        ("INVALID_OBJECT_NAME", {**lift, "scene_name": "no_such_scene"}, "'no_such_scene'"),
        ("PLANNING_FAILED", {**lift, "planner": "magic"}, "'magic'"),
        ("PLANNING_FAILED", {**lift, "max_velocity_scaling_factor": 2.0},
            "max_velocity_scaling_factor is 2"),
        ("TIMED_OUT", {**NO_WAY, "allowed_planning_time": 0.1}, "budget"),
    ):  # fmt: skip
        response = planner.plan(**fields)
        assert response.error_code == ErrorCode[code], (code, response.error_code, response.message)
        assert words in response.message
        assert not response.trajectory.points
        status, answer = planner.outcome(planner.send(**fields))
        assert (status, answer.error_code) == (ABORTED, response.error_code)


# Scenes


def test_scene_from_a_topic(planner, world, ur5):
    """The arm moves around an obstacle; a text that is no scene is refused with its line.

    The planner does not plan as if an unreadable scene were empty.
    """
    start = world.arm.wait_still()
    goal = {"goal_joint_names": ["shoulder_pan_joint"], "goal_positions": [start[0] - 2.0]}
    direct = assert_motion(planner.plan(**goal), ur5, start)
    half_way = direct.position(direct.duration / 2)
    planner.set_scene(box_at(ur5, half_way, "wrist_3_link"))
    wait_for(lambda: ("scene/block", 1) in planner.marks(), "the block among the markers")
    around = assert_motion(planner.plan(**goal), ur5, start)
    scene = robosim.scene.Scene.from_text(box_at(ur5, half_way, "wrist_3_link")).compile(ur5)
    assert scene.collides(half_way)
    for q in around.position(np.linspace(0, around.duration, 300)):
        assert not scene.collides(q)
    planner.set_scene(
        "format: robosim-scene\nversion: 1\nobjects:\n  - name: a\n    torus: {radius: 1}\n"
    )
    world.process.wait_output("unknown key 'torus'")
    response = planner.plan(**goal)
    assert response.error_code == ErrorCode.INVALID_OBJECT_NAME
    assert re.search(r"<scene text>:5: object 'a': unknown key 'torus'", response.message)
    planner.set_scene("")
    wait_for(
        lambda: planner.plan(**goal).error_code == ErrorCode.SUCCESS, "the scene to be empty again"
    )


# Action


def test_action(planner, world, ur5):
    start = world.arm.wait_still()
    handle = planner.send(goal_joint_names=["elbow_joint"], goal_positions=[0.5])
    # Take all feedback before requesting the result: rclpy drops feedback that arrives later.
    stages = ["setup", "inverse kinematics", "search", "simplify", "timing", "check"]
    wait_for(lambda: len(planner.feedback) >= len(stages), "the feedback")
    status, response = planner.outcome(handle)
    assert status == SUCCEEDED
    assert_motion(response, ur5, start)
    assert [stage for stage, _ in planner.feedback] == stages
    fractions = [fraction for _, fraction in planner.feedback]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] <= fractions[-1] <= 1


def test_cancel_a_search(planner, world):
    """A search can be cancelled, and the next request is served then.

    A waiting request can be cancelled before it begins.
    """
    handle = planner.send(**NO_WAY, allowed_planning_time=300.0)
    wait_for(lambda: "search" in dict(planner.feedback), "the search to begin")
    waiting = planner.ask(goal_name="home")
    second = planner.send(goal_name="home")
    notes = planner.feedback
    wait_for(lambda: notes, "feedback to the second")
    assert notes[0][0] == "waiting"
    planner.cancel(second)
    status, response = planner.outcome(second)
    assert (status, response.error_code) == (CANCELED, ErrorCode.PREEMPTED)
    assert "waiting" in response.message
    assert not waiting.done()
    # The node keeps listening meanwhile: its state stays fresh.
    before = len(world.arm.samples)
    wait_for(lambda: len(world.arm.samples) > before + 50, "states")
    planner.cancel(handle)
    status, response = planner.outcome(handle)
    assert (status, response.error_code) == (CANCELED, ErrorCode.PREEMPTED)
    assert response.planning_status == "cancelled"
    assert planner.answer(waiting).error_code == ErrorCode.SUCCESS


# Markers


def test_late_subscribers_see_the_last_plan(planner, world, ur5):
    from trajectory_msgs.msg import JointTrajectory
    from visualization_msgs.msg import Marker, MarkerArray

    start = world.arm.wait_still()
    response = planner.plan(
        scene_name="bookshelf_small", goal_joint_names=["elbow_joint"], goal_positions=[0.3], seed=3
    )
    assert_motion(response, ur5, start)
    shown = planner.latest(JointTrajectory, "trajectory")
    assert shown == response.trajectory
    names = {f"scene/{name}" for name in load_scene("bookshelf_small", model=ur5).objects}
    wait_for(lambda: names <= {ns for ns, _ in planner.marks()}, "the shelf among the markers")
    marks = planner.marks()
    assert ("path/tool0", Marker.LINE_STRIP) in marks
    assert {"goal/forearm_link", "goal/wrist_3_link"} <= {ns for ns, _ in marks}
    array = planner.latest(MarkerArray, "markers")
    assert {marker.header.frame_id for marker in array.markers} == {ur5.root_link}
    assert len({(m.ns, m.id) for m in array.markers[1:]}) == len(marks)
    path = next(marker for marker in array.markers if marker.ns == "path/tool0").points
    goal = to_trajectory(trajectory_of(response)).position(100.0)
    for point, q in ((path[0], start), (path[-1], goal)):
        np.testing.assert_allclose(
            (point.x, point.y, point.z), ur5.frame_pose(q, "tool0")[:3, 3], atol=1e-5
        )


def test_diagnostics(planner, world):
    from diagnostic_msgs.msg import DiagnosticArray

    got = {}

    def note(message):
        got.update({status.name: status for status in message.status})

    subscription = world.arm.node.create_subscription(DiagnosticArray, "/diagnostics", note, 10)
    planner.plan(goal_name="nowhere")
    wait_for(
        lambda: (
            (s := got.get("planner: planning")) is not None
            and any("'nowhere'" in value.value for value in s.values)
        ),
        "diagnostics that tell of the failure",
    )
    in_executor(world.arm.node, lambda: world.arm.node.destroy_subscription(subscription))
    status = got["planner: planning"]
    assert status.level == b"\x00"
    assert status.message == "ready"


# Execution


def test_execution(planner, world, ur5):
    """The arm follows the plan, and has arrived when the answer comes."""
    start = world.arm.wait_still()
    target = [start[0] + 0.6, start[1] + 0.3, *start[2:]]
    handle = planner.send(goal_joint_names=list(UR_JOINTS), goal_positions=target, execute=True)
    status, response = planner.outcome(handle)
    assert (status, response.error_code) == (SUCCEEDED, ErrorCode.SUCCESS), response.message
    followed = assert_motion(response, ur5, start)
    world.arm.fresh()
    np.testing.assert_allclose(
        world.arm.at(), target, atol=1e-3
    )  # the simulated arm is exactly at the commanded position
    parts = [fraction for stage, fraction in planner.feedback if stage == "execution"]
    assert parts == sorted(parts)
    assert len(parts) >= 3
    assert planner.feedback[-1][0] == "execution"
    # Back again, by the service.
    response = planner.plan(
        goal_joint_names=list(UR_JOINTS), goal_positions=[float(q) for q in start], execute=True
    )
    assert response.error_code == ErrorCode.SUCCESS, response.message
    np.testing.assert_allclose(world.arm.wait_still(), start, atol=1e-3)
    assert followed.duration < 10


def test_cancel_an_execution(planner, world):
    """The arm stops during the motion and stays there."""
    start = world.arm.wait_still()
    handle = planner.send(
        goal_joint_names=["shoulder_pan_joint"], goal_positions=[start[0] + 2.0], execute=True,
        max_velocity_scaling_factor=0.2,
    )  # fmt: skip
    wait_for(lambda: world.arm.at()[0] > start[0] + 0.1, "the arm to move")
    planner.cancel(handle)
    status, response = planner.outcome(handle)
    assert (status, response.error_code) == (CANCELED, ErrorCode.PREEMPTED), response.message
    assert response.trajectory.points
    rest = world.arm.wait_still()
    assert start[0] + 0.1 < rest[0] < start[0] + 1.9
    # The arm can be moved again.
    back = planner.plan(
        goal_joint_names=["shoulder_pan_joint"], goal_positions=[start[0]], execute=True
    )
    assert back.error_code == ErrorCode.SUCCESS, back.message


def test_a_scene_that_gets_in_the_way(planner, world, ur5):
    """An obstacle appears on the rest of the path: the arm is stopped, and the answer names it."""
    start = world.arm.wait_still()
    target = [start[0] - 2.0, *start[1:]]
    handle = planner.send(
        goal_joint_names=list(UR_JOINTS),
        goal_positions=target,
        execute=True,
        max_velocity_scaling_factor=0.2,
    )
    wait_for(lambda: world.arm.at()[0] < start[0] - 0.05, "the arm to move")
    planner.set_scene(box_at(ur5, target, "wrist_3_link", "visitor"))
    status, response = planner.outcome(handle)
    assert status == ABORTED
    assert response.error_code == ErrorCode.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE
    assert "'visitor'" in response.message
    rest = world.arm.wait_still()
    assert rest[0] > target[0] + 0.2
    planner.set_scene("")
    back = {
        "goal_joint_names": list(UR_JOINTS),
        "goal_positions": [float(q) for q in start],
        "execute": True,
    }
    wait_for(lambda: planner.plan(**back).error_code == ErrorCode.SUCCESS, "the arm to be back")


def test_an_arm_that_moves_is_no_start(planner, world):
    """The arm is being moved by another client.

    A plan from the last state would begin at a position that the arm has left.
    """
    start = world.arm.wait_still()
    handle = world.arm.send(point_to_point(start + 0.3, 3.0))
    try:
        wait_for(lambda: np.abs(world.arm.samples[-1].velocity).max() > 0.1, "the arm to move")
        response = planner.plan(goal_joint_names=["elbow_joint"], goal_positions=[0.0])
        assert response.error_code == ErrorCode.START_STATE_INVALID, response.message
        assert "moves at" in response.message
    finally:
        world.arm.outcome(handle)
    world.arm.outcome(world.arm.send(point_to_point(start, 2.0)))


def test_an_arm_that_refuses(planner, world):
    """With an inactive controller, the answer has the plan and the reason for its failure."""
    from .harness.arm import ACTIVATE, DEACTIVATE

    start = world.arm.wait_still()
    assert world.arm.change_state(DEACTIVATE)
    try:
        response = planner.plan(
            goal_joint_names=list(UR_JOINTS),
            goal_positions=[start[0] + 0.3, *start[1:].tolist()],
            execute=True,
        )
        assert response.error_code == ErrorCode.CONTROL_FAILED, response.message
        # The planner's checks or the controller may be the first to refuse.
        assert re.match(r"(refused|held|aborted) at 0.00 s of .*controller", response.message), (
            response.message
        )
        assert response.trajectory.points
    finally:
        assert world.arm.change_state(ACTIVATE)
    np.testing.assert_allclose(world.arm.wait_still(), start, atol=1e-6)
