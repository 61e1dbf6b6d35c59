"""Meaning of requests for a motion, and the answers, without ROS."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import robosim
from robosim.errors import RobosimError, SceneError
from robosim.geometry import pose, pose_to_xyz_quaternion
from robosim.planners import JointGoal, PoseGoal, Status
from robosim.ros.planner import PARAMETERS
from robosim.ros.planner.codes import STATUS_CODES, ErrorCode, Refusal
from robosim.ros.planner.joint_states import JointStates
from robosim.ros.planner.messages import motion_request
from robosim.ros.planner.request import (
    FramePose,
    MotionRequest,
    Settings,
    make_options,
    make_problem,
)
from robosim.ros.planner.robot import RobotOptions, load
from robosim.ros.planner.surroundings import Surroundings, with_prefix
from robosim.scene import load_scene

from .harness.plans import Q, answer_to, heard

INTERFACES = Path(__file__).parents[2] / "ros" / "robosim_msgs"


@pytest.fixture(scope="module")
def ur5():
    return robosim.load_robot("ur5")


@pytest.fixture
def states(ur5):
    return heard(ur5.joint_names, Q)


def problem_of(model, states, scene=None, now=100.0, **fields):
    return make_problem(MotionRequest(**fields), model, scene, states, Settings(), now=now)


def refused(code, *words, call=problem_of, **arguments):
    with pytest.raises(Refusal) as caught:
        call(**arguments)
    assert caught.value.code is code
    for word in words:
        assert word in str(caught.value)


# Codes


def test_codes_are_those_of_the_interface():
    text = (INTERFACES / "msg" / "MotionPlanResponse.msg").read_text()
    constants = {
        name: int(value)
        for name, value in re.findall(r"^int32 ([A-Z_]+)=(-?\d+)$", text, re.MULTILINE)
    }
    assert constants == {code.name: int(code) for code in ErrorCode}
    assert len(constants) == len(set(constants.values())) == 31


def test_every_status_has_a_code():
    assert set(STATUS_CODES) == set(Status)
    assert {status for status, code in STATUS_CODES.items() if code is ErrorCode.SUCCESS} == {
        status for status in Status if status.ok
    }


def test_request_has_the_interface_fields():
    text = (INTERFACES / "msg" / "MotionPlanRequest.msg").read_text()
    fields = re.findall(r"^[a-z][\w/\[\]]* ([a-z_]+)(?: \S+)?$", text, re.MULTILINE)
    assert fields == [field.name for field in dataclasses.fields(MotionRequest)]


def test_settings_are_parameters():
    """Every setting is a parameter with the same name and default."""
    defaults = {p.name: p.default for p in PARAMETERS}
    for field in (*dataclasses.fields(Settings), *dataclasses.fields(RobotOptions)):
        assert defaults[field.name] == field.default, field.name


# Joint states


def test_states_by_name(ur5):
    """Joints are identified by name.

    Names in any order, joints that the robot does not have, joints in several messages.
    """
    states = heard(["gripper", *reversed(ur5.joint_names[:4])], [9.0, *reversed(Q[:4])])
    refused(
        ErrorCode.INVALID_ROBOT_STATE, "'wrist_2_joint', 'wrist_3_joint'", "'gripper'", model=ur5,
        states=states,
        goal_name="home",
    )  # fmt: skip
    assert states.update(ur5.joint_names[4:], Q[4:], (), received=100.1) == ""
    problem = problem_of(ur5, states, now=100.5, goal_name="home")
    np.testing.assert_array_equal(problem.start, Q)


def test_no_state_and_stale_state(ur5, states):
    refused(
        ErrorCode.ROBOT_STATE_STALE,
        "no joint state",
        model=ur5,
        states=JointStates(),
        goal_name="home",
    )
    problem_of(ur5, states, now=100.99, goal_name="home")
    refused(
        ErrorCode.ROBOT_STATE_STALE,
        "1.5 s old",
        model=ur5,
        states=states,
        now=101.5,
        goal_name="home",
    )
    # One stale joint of six makes the state stale.
    states.update(ur5.joint_names[:5], Q[:5], (), received=102.0)
    refused(
        ErrorCode.ROBOT_STATE_STALE,
        "'wrist_3_joint'",
        model=ur5,
        states=states,
        now=102.0,
        goal_name="home",
    )
    # The clock was set back.
    refused(
        ErrorCode.ROBOT_STATE_STALE,
        "ahead of this",
        model=ur5,
        states=states,
        now=50.0,
        goal_name="home",
    )


def test_a_message_is_as_old_as_its_stamp(ur5):
    states = JointStates()
    states.update(ur5.joint_names, Q, (), received=100.0, stamp=97.0)
    refused(ErrorCode.ROBOT_STATE_STALE, "3 s old", model=ur5, states=states, goal_name="home")
    assert states.age(ur5.joint_names, 100.0) == 3.0
    assert states.age(["other"], 100.0) == math.inf
    states.update(ur5.joint_names, Q, (), received=100.0, stamp=100.0)
    assert states.age(ur5.joint_names, 100.0) == 0.0


def test_malformed_states_are_not_used(ur5, states):
    assert "6 joints" in states.update(ur5.joint_names, Q[:5], (), received=101.0)
    assert "2 velocities" in states.update(ur5.joint_names, Q, (0, 0), received=101.0)
    states.update(ur5.joint_names, [math.nan, *Q[1:]], (), received=100.9)
    refused(
        ErrorCode.ROBOT_STATE_STALE,
        "'shoulder_pan_joint'",
        model=ur5,
        states=states,
        now=101.5,
        goal_name="home",
    )


def test_a_moving_arm_is_no_start(ur5):
    states = heard(ur5.joint_names, Q, [0.0, 0.0, -0.2, 0.0, 0.0, 0.0])
    refused(
        ErrorCode.START_STATE_INVALID,
        "'elbow_joint' moves at -0.2",
        model=ur5,
        states=states,
        goal_name="home",
    )
    problem_of(ur5, heard(ur5.joint_names, Q, [0.01] * 6), goal_name="home")  # noise
    problem_of(ur5, heard(ur5.joint_names, Q, [math.nan] * 6), goal_name="home")  # not measured


def test_noise_at_a_limit(ur5):
    """A position slightly beyond a limit is moved to it; planning refuses a larger excess."""
    tight = ur5.with_limits(upper={"elbow_joint": Q[2] - 5e-4})
    problem = problem_of(tight, heard(ur5.joint_names, Q), goal_name="home")
    assert problem.start[2] == Q[2] - 5e-4
    tight = ur5.with_limits(upper={"elbow_joint": Q[2] - 5e-3})
    answer = answer_to(tight, heard(ur5.joint_names, Q), goal_name="home")
    assert answer.code is ErrorCode.START_STATE_INVALID
    assert "'elbow_joint'" in answer.message


# Start


def test_given_start(ur5):
    """Named joints start at the given positions, the others at their present ones.

    If all joints are named, no state is needed.
    """
    names = ur5.joint_names
    some = problem_of(
        ur5,
        heard(names, Q),
        start_joint_names=names[2:4],
        start_positions=(0.5, 0.6),
        goal_name="home",
    )
    np.testing.assert_array_equal(some.start, [Q[0], Q[1], 0.5, 0.6, Q[4], Q[5]])
    every = problem_of(
        ur5, JointStates(), start_joint_names=names, start_positions=tuple(Q),
        start_velocities=(0.1,) * 6,
        goal_name="home",
    )  # fmt: skip
    np.testing.assert_array_equal(every.start, Q)
    assert every.start_velocity == dict.fromkeys(names, 0.1)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"start_joint_names": ("elbow",), "start_positions": (1.0,)},
            ("'elbow'", "'elbow_joint'"),
        ),
        ({"start_joint_names": ("elbow_joint",)}, ("1 joints are named", "0 positions")),
        ({"start_positions": (1.0,)}, ("0 joints are named", "1 positions")),
        (
            {"start_joint_names": ("elbow_joint",) * 2, "start_positions": (1.0, 1.0)},
            ("named twice",),
        ),
        (
            {"start_joint_names": ("elbow_joint",), "start_positions": (math.nan,)},
            ("nan", "'elbow_joint'"),
        ),
        (
            {
                "start_joint_names": ("elbow_joint",),
                "start_positions": (1.0,),
                "start_velocities": (1.0, 2.0),
            },
            ("2 velocities",),
        ),
    ],
)
def test_invalid_start(ur5, states, fields, words):
    refused(
        ErrorCode.INVALID_ROBOT_STATE, *words, model=ur5, states=states, goal_name="home", **fields
    )


# Goal


def test_joint_goal(ur5, states):
    problem = problem_of(ur5, states, goal_joint_names=("elbow_joint",), goal_positions=(1.0,))
    assert isinstance(problem.goal, JointGoal)
    assert problem.goal.positions == {"elbow_joint": 1.0}
    assert problem.goal.full_turns


def test_goals_as_given(ur5, states):
    """`full_turns: false` applies to positions and names of positions.

    A pose that a name stands for has no turns.
    """
    fields = {"goal_joint_names": ("elbow_joint",), "goal_positions": (1.0,)}
    assert not problem_of(ur5, states, full_turns=False, **fields).goal.full_turns
    named = problem_of(ur5, states, full_turns=False, goal_name="home").goal
    assert (named.positions, named.full_turns) == ("home", False)
    assert problem_of(ur5, states, goal_name="home").goal == "home"


def test_pose_goals_in_frames(ur5, states):
    """A pose in a link's frame refers to the link's pose at the start."""
    X = pose((0.1, -0.2, 0.3), rpy=(0.4, 0.5, 0.6))
    xyz, quaternion = (tuple(values.tolist()) for values in pose_to_xyz_quaternion(X))
    frames = ("", "world", "/world", ur5.root_link, "tool0")
    given = tuple(FramePose(frame, xyz, quaternion) for frame in frames)
    problem = problem_of(ur5, states, goal_poses=given, position_tolerance=(0, 0, 0.01))
    assert [type(goal) for goal in problem.goal] == [PoseGoal] * len(frames)
    for goal in problem.goal:
        assert goal.link == "tool0"
        assert goal.position_tolerance.tolist() == [0, 0, 0.01]
        assert goal.rotation_tolerance.tolist() == [1e-3] * 3  # the default, as none is given
    for goal in problem.goal[:4]:
        np.testing.assert_allclose(goal.pose, X, atol=1e-12)  # rounding of the quaternion
    np.testing.assert_allclose(problem.goal[4].pose, ur5.frame_pose(Q, "tool0") @ X, atol=1e-12)


@pytest.mark.parametrize(
    ("code", "fields", "words"),
    [
        ("INVALID_GOAL_CONSTRAINTS", {}, ("no goal is given", "home")),
        ("INVALID_GOAL_CONSTRAINTS", {"goal_name": "hoem"}, ("'hoem'", "'home'")),
        (
            "INVALID_GOAL_CONSTRAINTS",
            {"goal_joint_names": ("elbow",), "goal_positions": (1.0,)},
            ("'elbow'", "'elbow_joint'"),
        ),
        ("INVALID_GOAL_CONSTRAINTS", {"goal_positions": (1.0,)}, ("0 joints are named",)),
        (
            "INVALID_GOAL_CONSTRAINTS",
            {"goal_joint_names": ("elbow_joint",), "goal_positions": (math.inf,)},
            ("inf",),
        ),
        (
            "INVALID_GOAL_CONSTRAINTS",
            {"goal_name": "home", "goal_poses": (FramePose(),)},
            ("2 ways", "a name"),
        ),
        (
            "INVALID_GOAL_CONSTRAINTS",
            {"goal_poses": (FramePose(quaternion=(0, 0, 0, 0)),)},
            ("length 0",),
        ),
        (
            "INVALID_GOAL_CONSTRAINTS",
            {"goal_poses": (FramePose(position=(math.nan, 0, 0)),)},
            ("nan",),
        ),
        (
            "INVALID_GOAL_CONSTRAINTS",
            {"goal_poses": (FramePose(),), "position_tolerance": (-1.0, 0, 0)},
            ("position_tolerance", "negative"),
        ),
        ("FRAME_TRANSFORM_FAILURE", {"goal_poses": (FramePose("map"),)}, ("'map'", "a link of")),
        (
            "INVALID_LINK_NAME",
            {"goal_poses": (FramePose(),), "goal_link": "tool"},
            ("'tool'", "'tool0'"),
        ),
        ("INVALID_GROUP_NAME", {"goal_name": "home", "group": "arm"}, ("'arm'", "manipulator")),
    ],
)
def test_invalid_goal(ur5, states, code, fields, words):
    refused(ErrorCode[code], *words, model=ur5, states=states, **fields)


def test_goals_of_the_scene(ur5, states):
    scene = load_scene("table_pick", model=ur5)
    assert problem_of(ur5, states, scene).goal == "goal"
    scene.set_goal({"elbw": 1.0}, "wrong")
    refused(
        ErrorCode.INVALID_GOAL_CONSTRAINTS,
        "'elbw'",
        model=ur5,
        states=states,
        scene=scene,
        goal_name="wrong",
    )


# Options


def test_options_and_their_defaults():
    settings = Settings(
        allowed_planning_time=7.0,
        max_velocity_scaling_factor=0.5,
        jerk_limit=100.0,
        tool_speed=0.25,
    )
    options = make_options(MotionRequest(), settings)
    assert dataclasses.astuple(options) == ("rrt_connect", 0, 7.0, 0.5, 1.0, 100.0, 0.25)
    asked = MotionRequest(
        planner="cartesian", seed=3, allowed_planning_time=0.5, max_velocity_scaling_factor=0.1,
        max_acceleration_scaling_factor=0.2, jerk_limit=math.inf,
    )  # fmt: skip
    assert dataclasses.astuple(make_options(asked, settings)) == (
        "cartesian",
        3,
        0.5,
        0.1,
        0.2,
        None,
        0.25,
    )
    assert make_options(MotionRequest(), Settings()).tool_speed is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("planner", "rrt_conect"),
        ("seed", -1),
        ("allowed_planning_time", -1.0),
        ("allowed_planning_time", math.nan),
        ("max_velocity_scaling_factor", 1.5),
        ("max_acceleration_scaling_factor", -0.1),
        ("jerk_limit", -1.0),
        ("jerk_limit", math.nan),
    ],
)
def test_invalid_options(ur5, states, name, value):
    answer = answer_to(ur5, states, goal_name="home", **{name: value})
    assert answer.code is ErrorCode.PLANNING_FAILED
    assert name in answer.message
    assert str(value)[:2] in answer.message


def test_scenes_that_follow_one_another(ur5):
    around = Surroundings("table_pick")
    assert around.now(ur5) is around.now(ur5)
    assert around.now(ur5).name == load_scene("table_pick", model=ur5).name
    around.update("{format: robosim-scene, version: 1, name: other}")
    assert around.now(ur5).name == "other"
    with pytest.raises(SceneError, match=":3:"):
        around.update("format: robosim-scene\nversion: 1\nobjects: 7\n")
    with pytest.raises(SceneError, match="arrived last cannot be used: <scene text>:3: objects"):
        around.now(ur5)
    around.update("")
    assert "table" in around.now(ur5).name


def test_scene_of_a_request(ur5):
    around = Surroundings()
    assert around.of_request(MotionRequest(), ur5) is None
    assert around.of_request(MotionRequest(scene_name="cage"), ur5).goals
    assert (
        around.of_request(MotionRequest(scene_text="{format: robosim-scene, version: 1}"), ur5).name
        == "scene"
    )
    with pytest.raises(Refusal, match="both"):
        around.of_request(MotionRequest(scene_name="cage", scene_text="x"), ur5)
    with pytest.raises(RobosimError, match="no bundled scene 'cagee'"):
        around.of_request(MotionRequest(scene_name="cagee"), ur5)


# The robot


def test_robot_with_prefix():
    """A bundled robot, or a description that already has the prefix.

    Names, states, limits and scenes are consistent.
    """
    options = RobotOptions(robot="ur5", tf_prefix="left_")
    model = load(options)
    assert model.joint_names[0] == "left_shoulder_pan_joint"
    assert all(name.startswith("left_") for name in model.link_names)
    assert [state.name for state in model.named_states] == [
        state.name for state in robosim.load_robot("ur5").named_states
    ]
    from robosim.ros.description import describe

    arrived = describe("ur5", tf_prefix="left_")
    side = RobotOptions(srdf="ur5", joint_limits="ur5", tf_prefix="left_")
    again = load(side, arrived.urdf)
    assert again.joint_names == model.joint_names
    np.testing.assert_array_equal(
        again.limits.acceleration, robosim.load_robot("ur5").limits.acceleration
    )
    np.testing.assert_array_equal(again.collision_pairs, model.collision_pairs)
    # If no other file is given, the semantic description that arrived is used.
    assert load(RobotOptions(), arrived.urdf, arrived.srdf).groups.keys() == model.groups.keys()
    assert not load(RobotOptions(), arrived.urdf).groups

    plain = load_scene("table_pick", model=robosim.load_robot("ur5"))
    plain.add_box("held", (0.01, 0.01, 0.01))
    plain.attach("held", "tool0", pose=pose((0, 0, 0.1)), touch_links=["wrist_3_link"])
    plain.allow("held", "wrist_2_link")
    plain.allow("held", "target")
    scene = with_prefix(plain, "left_", model)
    assert set(scene.starts["start"]) == set(model.joint_names)
    assert scene.attachments["held"].link == "left_tool0"
    assert scene.attachments["held"].touch_links == ("left_wrist_3_link",)
    assert ("held", "left_wrist_2_link") in scene.allowed
    scene.compile(model)  # every name in the scene is one of the robot's
    q = tuple(scene.starts["start"][name] for name in model.joint_names)
    assert answer_to(model, heard(model.joint_names, q), scene).ok


def test_wrong_robots_are_named():
    with pytest.raises(RobosimError, match="no bundled robot 'ur55'"):
        load(RobotOptions(srdf="ur55"), "<robot name='a'><link name='b'/></robot>")
    with pytest.raises(RobosimError, match="<string>:1"):
        load(RobotOptions(), "<robot")


# Messages


def test_request_from_a_message():
    """Fields are read by name: any message object will do."""
    xyz = SimpleNamespace(x=1.0, y=2.0, z=3.0)
    quaternion = SimpleNamespace(x=0.0, y=0.0, z=0.0, w=1.0)
    stamped = SimpleNamespace(
        header=SimpleNamespace(frame_id="tool0"),
        pose=SimpleNamespace(position=xyz, orientation=quaternion),
    )
    plain = {f.name: f.default for f in dataclasses.fields(MotionRequest)}
    message = SimpleNamespace(
        **{**plain, "goal_joint_names": ["a", "b"], "goal_positions": np.array([1.0, 2.0]),
            "goal_poses": [stamped],
           "position_tolerance": xyz, "rotation_tolerance": xyz, "seed": 5, "execute": True}
    )  # fmt: skip
    request = motion_request(message)
    assert request == MotionRequest(
        goal_joint_names=("a", "b"), goal_positions=(1.0, 2.0), seed=5, execute=True,
        goal_poses=(FramePose("tool0", (1.0, 2.0, 3.0), (0.0, 0.0, 0.0, 1.0)),),
        position_tolerance=(1.0, 2.0, 3.0), rotation_tolerance=(1.0, 2.0, 3.0),
    )  # fmt: skip
