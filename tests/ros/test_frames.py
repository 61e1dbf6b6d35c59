"""Frames of tf and a base away from the world's origin, without ROS.

Compositions are compared with the poses themselves.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import robosim
from robosim.errors import ExecutionError, UrdfError
from robosim.geometry import pose, pose_to_xyz_quaternion
from robosim.ros.description import describe, placed
from robosim.ros.planner.codes import ErrorCode, Refusal
from robosim.ros.planner.frames import Frames
from robosim.ros.planner.placed_robot import PlacedRobot
from robosim.ros.planner.request import FramePose, MotionRequest, Settings, make_problem
from robosim.ros.planner.robot import RobotOptions
from robosim.urdf import bundled_robots, load_robot

from .harness.plans import Q, heard

NOW = 100.0
ARMS = [name for name in bundled_robots() if not load_robot(name, visuals=False).floating_base]


def transform(parent, child, X):
    """A geometry_msgs/TransformStamped."""
    (x, y, z), (qx, qy, qz, qw) = pose_to_xyz_quaternion(X)
    return SimpleNamespace(
        header=SimpleNamespace(frame_id=parent),
        child_frame_id=child,
        transform=SimpleNamespace(
            translation=SimpleNamespace(x=x, y=y, z=z),
            rotation=SimpleNamespace(x=qx, y=qy, z=qz, w=qw),
        ),
    )


def some_pose(rng):
    return pose(rng.uniform(-1, 1, 3), quaternion=rng.normal(size=4))


@pytest.fixture
def tree():
    """Tree of ten frames, each in a random one before it, and their poses in the first frame."""
    rng = np.random.default_rng(5)
    frames, X = Frames(), {"f0": np.eye(4)}
    for i in range(1, 10):
        parent, X_PC = f"f{rng.integers(i)}", some_pose(rng)
        frames.take([transform(parent, f"/f{i}", X_PC)], static=i % 2 == 0, received=NOW)
        X[f"f{i}"] = X[parent] @ X_PC
    return frames, X


def test_every_frame_in_every_other(tree):
    frames, X = tree
    for target in X:
        for frame in X:
            got = frames.between(frame, target, now=NOW, max_age=1.0)
            np.testing.assert_allclose(got, np.linalg.inv(X[target]) @ X[frame], rtol=0, atol=1e-12)
            assert frames.connected(frame, target)


def test_the_nearest_known_frame_is_found_upward(tree):
    frames, X = tree
    for frame in X:
        known = {frame for frame in X if int(frame[1]) < 4}
        name, X_KF = frames.above(frame, known, now=NOW, max_age=1.0)
        np.testing.assert_allclose(X[name] @ X_KF, X[frame], rtol=0, atol=1e-12)
        assert name in known
    assert frames.above("f9", {"elsewhere"}, now=NOW, max_age=1.0) is None


def test_old_transforms_do_not_count_and_static_ones_always_do():
    frames = Frames()
    frames.take([transform("a", "b", np.eye(4))], static=True, received=NOW)
    frames.take([transform("b", "c", np.eye(4))], static=False, received=NOW)
    np.testing.assert_array_equal(frames.between("b", "a", now=NOW + 1e6, max_age=0.5), np.eye(4))
    np.testing.assert_array_equal(frames.between("c", "a", now=NOW + 0.4, max_age=0.5), np.eye(4))
    with pytest.raises(
        Refusal, match=r"from 'b' to 'c' is 0\.6 s old; at most 0\.5 s .*'state_timeout'"
    ):
        frames.between("c", "a", now=NOW + 0.6, max_age=0.5)


@pytest.mark.parametrize(
    ("frame", "problem", "text"),
    [
        (
            "camera",
            "",
            "'camera' and 'base': nothing has arrived on /tf and /tf_static of 'camera'",
        ),
        ("lone", "", "they belong to trees that are not connected"),
        (
            "camera",
            "the ROS 2 package 'tf2_msgs' is missing",
            "the ROS 2 package 'tf2_msgs' is missing",
        ),
    ],
)
def test_what_is_not_there_is_named(frame, problem, text):
    frames = Frames()
    frames.problem = problem
    frames.take(
        [transform("base", "tool", np.eye(4)), transform("x", "lone", np.eye(4))],
        static=True,
        received=0,
    )
    with pytest.raises(Refusal) as error:
        frames.between(frame, "base", now=NOW, max_age=1.0)
    assert error.value.code is ErrorCode.FRAME_TRANSFORM_FAILURE
    assert text in str(error.value)


def test_transforms_that_are_none_or_loop_are_refused():
    frames = Frames()
    bad = transform("base", "bad", np.eye(4))
    bad.transform.rotation.w = 0.0
    frames.take([bad], static=True, received=NOW)
    with pytest.raises(Refusal, match="from 'base' to 'bad' is not valid"):
        frames.between("bad", "base", now=NOW, max_age=1.0)
    frames.take(
        [transform("a", "b", np.eye(4)), transform("b", "a", np.eye(4))], static=True, received=NOW
    )
    with pytest.raises(Refusal, match="not connected"):
        frames.between("a", "base", now=NOW, max_age=1.0)


# The robot in the world


@pytest.mark.parametrize("robot", ARMS)
def test_a_placed_robot_is_the_same_robot_elsewhere(robot):
    text = describe(robot).urdf
    model, rng = load_robot(text, visuals=False), np.random.default_rng(3)
    q = np.clip(model.neutral(), model.limits.lower, model.limits.upper)
    for X in (some_pose(rng), pose((1, 2, 3), rpy=(0.4, np.pi / 2, -0.3)), np.eye(4)):
        moved = load_robot(placed(text, "world frame", X), visuals=False)
        assert moved.root_link == "world frame"
        assert moved.position_names == model.position_names
        for link in model.link_names:
            want = X @ model.frame_pose(q, link)
            np.testing.assert_allclose(moved.frame_pose(q, link), want, rtol=0, atol=1e-12)
    assert placed(text, model.root_link, np.eye(4)) == text


def test_a_frame_that_is_a_link_within_the_robot_is_refused():
    with pytest.raises(UrdfError, match="a link 'tool0' that is not its root link"):
        placed(describe("ur5").urdf, "tool0", np.eye(4))


@pytest.mark.parametrize("numbers", [(1.0,), (0.0,) * 5, (0.0,) * 7])
def test_a_base_pose_has_six_numbers(numbers):
    with pytest.raises(
        ExecutionError, match=f"'base_pose' has {len(numbers)} numbers; it must have 6"
    ):
        PlacedRobot(RobotOptions(robot="ur5"), Frames(), "world", numbers)


def test_the_base_stands_where_the_parameter_says_whatever_tf_says():
    frames = Frames()
    frames.take([transform("world", "base_link", pose((9, 9, 9)))], static=True, received=NOW)
    robot = PlacedRobot(
        RobotOptions(robot="ur5"), frames, "world", (1.0, 2.0, 0.5, 0.0, 0.0, np.pi / 2)
    )
    robot.read("", "")
    assert not robot.stand(NOW, 1.0)
    X = pose((1, 2, 0.5), rpy=(0, 0, np.pi / 2))
    np.testing.assert_allclose(robot.model.frame_pose(Q, "base_link"), X, rtol=0, atol=1e-12)
    assert robot.where == "with its base at (1, 2, 0.5) in 'world', as parameter 'base_pose' says"


def test_the_base_follows_tf():
    frames = Frames()
    robot = PlacedRobot(RobotOptions(robot="ur5"), frames, "map")
    robot.read("", "")
    root = robot.model.root_link
    assert robot.where == "at the origin of 'map'"
    for x in (1.0, 1.0, 2.0):
        before = robot.model
        frames.take([transform("map", "cart", pose((x, 0, 0)))], static=False, received=NOW)
        frames.take([transform("cart", root, pose((0, 0, 0.7)))], static=True, received=NOW)
        moved = robot.stand(NOW, 1.0)
        assert moved is (robot.model is not before)
        np.testing.assert_allclose(
            robot.model.frame_pose(Q, root), pose((x, 0, 0.7)), rtol=0, atol=1e-12
        )
    assert "(2, 0, 0.7) in 'map', as tf says" in robot.where
    with pytest.raises(Refusal, match="from 'map' to 'cart' is 5 s old"):
        robot.stand(NOW + 5, 1.0)


def test_goals_in_frames_of_tf():
    """Frames on moving links use the link's pose at the start; frames on the base use the base."""
    model, X_TC, X_WB, X_BM = (
        robosim.load_robot("ur5"),
        pose((0, 0, 0.1)),
        pose((1, 0, 0)),
        pose((0, 3, 0)),
    )
    model = load_robot(placed(describe("ur5").urdf, "world", X_WB))
    frames = Frames()
    frames.take(
        [
            transform("tool0", "camera", X_TC),
            # The link's true position, which differs from its position at the given start.
            transform("base_link", "tool0", pose((5, 5, 5))),
            transform("map", "base_link", np.linalg.inv(X_BM)),
            transform("map", "table", pose((0, 0, 0.4))),
        ],
        static=True,
        received=NOW,
    )
    given = (0.4, 0.1, 0.3)
    wanted = {
        "camera": model.frame_pose(Q, "tool0") @ X_TC,
        "map": X_WB @ X_BM,
        "table": X_WB @ X_BM @ pose((0, 0, 0.4)),
        "base_link": X_WB,
        "world": np.eye(4),
        "": np.eye(4),
    }
    request = MotionRequest(
        goal_poses=tuple(FramePose(f, given) for f in wanted), goal_link="tool0"
    )
    states = heard(model.position_names, Q, time=NOW)
    problem = make_problem(request, model, None, states, Settings(), now=NOW, frames=frames)
    for goal, X in zip(problem.goal, wanted.values(), strict=True):
        np.testing.assert_allclose(goal.pose, X @ pose(given), rtol=0, atol=1e-12)
    unknown = MotionRequest(goal_poses=(FramePose("nowhere", given),), goal_link="tool0")
    with pytest.raises(Refusal, match="the frame 'nowhere' is not known") as error:
        make_problem(unknown, model, None, states, Settings(), now=NOW, frames=frames)
    assert error.value.code is ErrorCode.FRAME_TRANSFORM_FAILURE
