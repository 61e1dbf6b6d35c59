"""Answers to requests for a motion, without ROS: plans, failures, changing scenes, any request."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import robosim
from robosim.execution.joint_trajectory import to_trajectory
from robosim.geometry import pose, pose_to_xyz_quaternion
from robosim.planners import Status
from robosim.ros.planner.codes import ErrorCode
from robosim.ros.planner.planning import obstructions, plan_motion
from robosim.ros.planner.request import FramePose, MotionRequest, Settings
from robosim.ros.planner.surroundings import Surroundings
from robosim.scene import Scene, load_scene

from .harness.plans import Q, answer_to, heard


@pytest.fixture(scope="module")
def ur5():
    return robosim.load_robot("ur5")


@pytest.fixture
def states(ur5):
    return heard(ur5.joint_names, Q)


# Answers


def test_plan(ur5, states):
    """The plan leads from the arm's position to rest at the goal.

    The points sent keep the limits and avoid the obstacles.
    """
    scene = load_scene("table_pick", model=ur5)
    goal = tuple(scene.starts["start"][name] for name in ur5.joint_names)
    answer = answer_to(
        ur5, states, scene, goal_joint_names=ur5.joint_names, goal_positions=goal, seed=4
    )
    assert answer.ok, answer.message
    assert (answer.status, answer.goal_index, answer.planner, answer.seed) == (
        Status.SOLVED,
        0,
        "rrt_connect",
        4,
    )
    assert answer.trajectory.joint_names == ur5.joint_names
    first, last = answer.trajectory.points[0], answer.trajectory.points[-1]
    assert first.time_from_start == 0.0
    np.testing.assert_allclose(first.positions, Q, atol=1e-12)  # rounding
    # Accuracy of a plan's end, see the tests of planners.
    np.testing.assert_allclose(last.positions, goal, atol=1e-9)
    for point in (first, last):
        assert not point.velocities.any()
    # The motion that a controller makes of the points, with exact extrema against the limits. The 2
    # % are for the ramps between accelerations.
    followed = to_trajectory(answer.trajectory)
    limits = answer.result.trajectory.limits
    relaxed = dataclasses.replace(limits, acceleration=1.05 * limits.acceleration, effort=None)
    assert followed.validate(relaxed, tolerance=1e-4) == []
    collisions = scene.compile(ur5)
    for q in followed.position(np.linspace(0, followed.duration, 300)):
        assert not collisions.collides(q)


def test_scaling_slows_down(ur5, states):
    fast = answer_to(ur5, states, goal_name="home")
    slow = answer_to(ur5, states, goal_name="home", max_velocity_scaling_factor=0.1)
    peak = np.abs(slow.result.trajectory.sample(200).velocity).max(axis=0)
    assert (peak <= 0.1 * ur5.limits.velocity * (1 + 1e-9)).all()
    assert (
        slow.trajectory.points[-1].time_from_start > 3 * fast.trajectory.points[-1].time_from_start
    )


@pytest.mark.parametrize("scaling", [1e-6, 1e-12])
def test_plans_without_end_are_answered(ur5, states, scaling):
    """A motion of weeks has few points; one of a lifetime does not fit into a message."""
    answer = answer_to(ur5, states, goal_name="home", max_velocity_scaling_factor=scaling)
    if scaling > 1e-9:
        assert answer.ok, answer.message
        assert len(answer.trajectory.points) < 30_000
    else:
        assert answer.code == ErrorCode.INVALID_MOTION_PLAN
        assert re.search(
            r"the plan lasts .* s; points of messages can be at most 2147483647 s", answer.message
        )
        assert answer.trajectory is None


def test_straight_line(ur5, states):
    X = ur5.frame_pose(Q, "tool0") @ pose((0, 0, -0.1))
    xyz, quaternion = (tuple(values.tolist()) for values in pose_to_xyz_quaternion(X))
    answer = answer_to(
        ur5, states, planner="cartesian", goal_poses=(FramePose("", xyz, quaternion),)
    )
    assert answer.ok, answer.message
    start = ur5.frame_pose(Q, "tool0")[:3, 3]
    along = (X[:3, 3] - start) / 0.1
    for q in answer.result.configuration(np.linspace(0, answer.result.trajectory.duration, 50)):
        p = ur5.frame_pose(q, "tool0")[:3, 3] - start
        assert np.linalg.norm(p - (p @ along) * along) < 1e-3  # bound of plan_cartesian
    # A line that cannot be followed to its end is refused, and so are positions as a goal.
    far = FramePose("", (5.0, 0.0, 0.5), quaternion)
    answer = answer_to(ur5, states, planner="cartesian", goal_poses=(far,))
    assert (answer.code, answer.trajectory) == (ErrorCode.PLANNING_FAILED, None)
    assert "along the line" in answer.message
    answer = answer_to(ur5, states, planner="cartesian", goal_name="home")
    assert answer.code is ErrorCode.INVALID_GOAL_CONSTRAINTS
    answer = answer_to(
        ur5,
        states,
        planner="cartesian",
        goal_poses=(FramePose("", xyz, quaternion),),
        allowed_planning_time=1e-6,
    )
    assert answer.code is ErrorCode.TIMED_OUT


@pytest.mark.parametrize(
    ("code", "fields", "words"),
    [
        ("START_STATE_IN_COLLISION", {"scene": "start"}, ("'block'", "overlap")),
        ("GOAL_IN_COLLISION", {"scene": "goal"}, ("'block'", "overlap")),
        ("GOAL_STATE_INVALID", {"goal_positions": (9.0,)}, ("'elbow_joint' is at 9",)),
        ("START_STATE_INVALID", {"start_positions": (9.0,)}, ("'elbow_joint' is at 9",)),
        (
            "NO_IK_SOLUTION",
            {"goal_poses": (FramePose(position=(3.0, 0, 0)),)},
            ("'tool0'", "misses"),
        ),
        ("INVALID_OBJECT_NAME", {"scene": "attached"}, ("'no_link'",)),
    ],
)
def test_failures(ur5, states, code, fields, words):
    fields = dict(fields)
    scene = Scene("s")
    where = fields.pop("scene", None)
    if where == "attached":
        scene.add_box("held", (0.1, 0.1, 0.1))
        scene.attach("held", "no_link", pose=np.eye(4))
    elif where is not None:
        q = [Q[0] + (1.0 if where == "goal" else 0.0), *Q[1:]]
        scene.add_box("block", (0.1, 0.1, 0.1), ur5.frame_pose(q, "wrist_2_link"))
        fields |= {"goal_joint_names": ("shoulder_pan_joint",), "goal_positions": (Q[0] + 1.0,)}
    if "start_positions" in fields:
        fields["start_joint_names"] = ("elbow_joint",)
    if "goal_poses" not in fields:
        fields.setdefault("goal_joint_names", ("elbow_joint",))
        fields.setdefault("goal_positions", (1.0,))
    answer = answer_to(ur5, states, scene, **fields)
    assert answer.code is ErrorCode[code], answer.message
    assert answer.trajectory is None
    for word in words:
        assert word in answer.message


def test_time_is_up(ur5, states):
    """No path leads into the cage from outside, so the planner searches until its time is up."""
    scene = load_scene("cage", model=ur5)
    outside = {"start_joint_names": ur5.joint_names, "start_positions": (0.0,) * 6}
    answer = answer_to(ur5, states, scene, **outside, allowed_planning_time=0.05)
    assert (answer.code, answer.status) == (ErrorCode.TIMED_OUT, Status.BUDGET), answer.message
    assert answer.seconds < 2.0


def test_group_that_cannot(ur5):
    gripper = robosim.load_robot("ur5_gripper")
    states = heard(
        gripper.position_names,
        np.clip(np.zeros(gripper.n_q), gripper.limits.lower, gripper.limits.upper),
    )
    group = next(name for name, g in gripper.groups.items() if "elbow_joint" not in g.joints)
    answer = answer_to(
        gripper, states, group=group, goal_joint_names=("elbow_joint",), goal_positions=(0.5,)
    )
    assert answer.code is ErrorCode.INVALID_GROUP_NAME
    assert "'elbow_joint'" in answer.message


def test_cancelled(ur5, states):
    answer = plan_motion(
        MotionRequest(goal_name="home"),
        ur5,
        lambda: None,
        states,
        Settings(),
        clock=lambda: 100.0,
        stop=lambda: True,
    )
    assert (answer.code, answer.trajectory) == (ErrorCode.PREEMPTED, None)


# The scene changes


def test_new_scene_while_planning(ur5, states):
    """A plan that is valid in the new scene is kept; an invalid one is replaced by a new plan.

    If the scene changes too often, the answer says so.
    """
    empty = Scene("empty")
    goal = {"goal_joint_names": ("shoulder_pan_joint",), "goal_positions": (Q[0] - 1.5,)}
    direct = answer_to(ur5, states, empty, **goal)
    half_way = direct.result.configuration(direct.result.trajectory.duration / 2)
    blocking = Scene("blocking")
    blocking.add_box("block", (0.1, 0.1, 0.1), ur5.frame_pose(half_way, "tool0"))
    aside = Scene("aside")
    aside.add_box("far", (0.1, 0.1, 0.1), pose((-3.0, 0, 0)))

    def run(*scenes):
        left = list(scenes)
        return plan_motion(
            MotionRequest(**goal), ur5, lambda: left.pop(0) if len(left) > 1 else left[0], states,
            Settings(),
            clock=lambda: 100.0,
        )  # fmt: skip

    kept = run(empty, aside)
    assert kept.ok
    assert kept.scene is aside
    assert len(kept.trajectory.points) == len(direct.trajectory.points)
    anew = run(empty, blocking)
    assert anew.ok, anew.message
    assert anew.scene is blocking
    collisions = blocking.compile(ur5)
    times = np.linspace(0, anew.result.trajectory.duration, 200)
    assert not any(collisions.collides(q) for q in anew.result.configuration(times))
    restless = run(*(s for _ in range(10) for s in (empty, blocking)))
    if restless.ok:  # a path around the block is valid in both scenes
        assert obstructions(ur5, restless.result, blocking) == []
    else:
        assert restless.code is ErrorCode.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE
    assert "'block'" in obstructions(ur5, direct.result, blocking)[0]
    assert (
        obstructions(ur5, direct.result, blocking, since=0.9 * direct.result.trajectory.duration)
        == []
    )


# Any request


_numbers = st.sampled_from(
    [0.0, 0.5, -1.0, 2.0, 1e-9, 1e300, -1e300, math.inf, -math.inf, math.nan, 7.0]
)
_names = st.sampled_from(
    [
        "",
        "elbow_joint",
        "shoulder_pan_joint",
        "tool0",
        "home",
        "goal",
        "manipulator",
        "world",
        "nobody",
        "\x00",
        "ü" * 50,
    ]
)
_three = st.tuples(_numbers, _numbers, _numbers)
_poses = st.builds(
    FramePose, _names, st.one_of(st.just((0.4, 0.2, 0.5)), _three),
    st.one_of(st.just((1.0, 0.0, 0.0, 0.0)), st.tuples(_numbers, _numbers, _numbers, _numbers)),
)  # fmt: skip
_texts = st.sampled_from(
    [
        "",
        "",
        "",
        "cage",
        "/dev/zero",
        "a: [",
        "{format: robosim-scene, version: 1}",
        "\ufeff",
        "&a [*a]",
    ]
)


@st.composite
def requests(draw):
    """Any request, mostly with one or two odd fields: only the first odd one would be reported."""
    kinds = {
        "str": _names, "int": st.sampled_from([0, 1, -1, 2**63 - 1]), "float": _numbers,
        "bool": st.booleans(),
        "tuple[str, ...]": st.lists(_names, max_size=3).map(tuple),
        "tuple[float, ...]": st.lists(_numbers, max_size=3).map(tuple),
        "tuple[float, float, float]": _three,
        "tuple[FramePose, ...]": st.lists(_poses, max_size=2).map(tuple),
    }  # fmt: skip
    fields = {f.name: kinds[str(f.type)] for f in dataclasses.fields(MotionRequest)}
    fields |= {"scene_name": _texts, "scene_text": _texts}
    chosen = draw(st.lists(st.sampled_from(sorted(fields)), max_size=4, unique=True))
    made = (
        {"goal_joint_names": ("elbow_joint",), "goal_positions": (1.0,)}
        if draw(st.booleans())
        else {}
    )
    return MotionRequest(**{**made, **{name: draw(fields[name]) for name in chosen}})


@given(request=requests())
@settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_request_is_answered(ur5, states, request):
    """No request raises an exception, each gets a code with a message.

    The answer has a plan exactly if the code is SUCCESS.
    """
    around = Surroundings()
    request = dataclasses.replace(
        request, planner=request.planner if request.planner == "cartesian" else ""
    )
    answer = plan_motion(
        request, ur5, lambda: around.of_request(request, ur5), states,
        Settings(allowed_planning_time=0.2),
        clock=lambda: 100.0,
    )  # fmt: skip
    assert answer.code not in (ErrorCode.FAILURE, ErrorCode.UNDEFINED)
    assert (answer.trajectory is not None) == answer.ok
    assert answer.ok or answer.message
    if answer.ok:
        start = dict(zip(request.start_joint_names, request.start_positions, strict=True))
        names = answer.trajectory.joint_names
        expected = [start.get(name, Q[ur5.joint_names.index(name)]) for name in names]
        np.testing.assert_allclose(answer.trajectory.points[0].positions, expected, atol=1e-9)
