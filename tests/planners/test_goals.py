"""Every form of goal and start: the requested goal is reached, and the nearest of equal ones."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.errors import ModelError
from robosim.geometry import pose
from robosim.planners import (
    JointGoal,
    PoseGoal,
    Problem,
    goal_configurations,
    inverse_kinematics,
    plan,
    prepare,
)
from robosim.planners.stages import sampling_window
from robosim.scene import LinkPose

HOME = [-1.0, -1.2, 1.2, -1.57, -1.57, 0.0]
RNG_SEEDS = range(6)


def end(result):
    return result.configuration(result.trajectory.duration)


def pose_error(goal_pose, X):
    """Distance [m] and angle [rad] between two poses."""
    R = goal_pose[:3, :3].T @ X[:3, :3]
    angle = np.arccos(np.clip((np.trace(R) - 1) / 2, -1, 1))
    return np.linalg.norm(goal_pose[:3, 3] - X[:3, 3]), angle


def test_forms_of_positions(arm, check_plan):
    """Array, mapping, named state and goal object have the same end, so the same plan."""
    ends = []
    for goal in (
        [0.3, 0.3, 0.3],
        {"joint1": 0.3, "joint2": 0.3, "joint3": 0.3},
        "left",
        "arm/left",
        JointGoal("left"),
    ):
        problem = (
            Problem(arm, None, "left", goal)
            if goal == "never"
            else Problem(arm, None, [0, 0, 0], goal)
        )
        result = plan(problem)
        check_plan(problem, result)
        ends.append(end(result))
    assert all((e == ends[0]).all() for e in ends)


def test_scene_start_and_goal(arm, robots, check_plan):
    """Without its own start and goal, a problem takes the scene's. Names work, too."""
    scene = robots.pillar_scene()
    scene.set_start({"joint1": 0.9})
    scene.set_goal({"joint1": -0.9})
    scene.set_start({"joint1": 1.4}, "far")
    scene.set_goal(LinkPose("tip", arm.frame_pose([1.2, 0.3, 0.4], "tip")), "posed")
    problem = Problem(arm, scene)
    result = plan(problem)
    check_plan(problem, result)
    np.testing.assert_allclose(end(result), [-0.9, 0, 0], atol=1e-9)
    problem = Problem(arm, scene, "far", "posed")
    result = plan(problem)
    check_plan(problem, result)
    assert pose_error(scene.goals["posed"].pose, arm.frame_pose(end(result), "tip"))[0] < 2e-6


def test_unnamed_joints_stay(arm):
    result = plan(Problem(arm, None, {"joint2": 0.5}, {"joint1": 1.0}, group=["joint1"]))
    assert result.trajectory.position_names == ("joint1",)
    np.testing.assert_allclose(end(result), [1.0, 0.5, 0.0], atol=1e-9)
    assert result.trajectory.metadata["positions_at_rest"] == {"joint2": 0.5, "joint3": 0.0}


def test_the_whole_configuration_of_a_plan_that_moves_some_joints(arm):
    result = plan(Problem(arm, None, {"joint2": 0.5}, {"joint1": 1.0}, group=["joint1"]))
    t = np.linspace(0, result.trajectory.duration, 5)
    whole = result.configuration(t)
    assert whole.shape == (5, 3)
    np.testing.assert_array_equal(result.trajectory.configuration(t, arm), whole)
    assert arm.frame_pose(result.configuration(t[2]), "tip").shape == (4, 4)
    for call in (arm.frame_pose, arm.jacobian):
        with pytest.raises(
            ModelError, match=r"q has shape \(1,\); expected \(3,\).* result\.configuration\(t\)"
        ):
            call(result.trajectory.position(t[2]), "tip")
    with pytest.raises(ModelError, match=r"trajectory\.configuration\(t, model\)"):
        arm.link_poses(result.trajectory.position(t[2]))
    # The hint is absent where it would not help.
    for wrong in ([0.0] * 4, [], [[0.0, 0.0]], 1.0):
        with pytest.raises(ModelError) as caught:
            arm.frame_pose(wrong, "tip")
        assert "configuration" not in str(caught.value)


def test_group_is_found(robots, check_plan):
    """The smallest group with all joints of the goal is planned.

    The gripper's joint does not move with the carriage.
    """
    gantry = robots.gantry()
    for goal, names in (
        ({"x": 1.0}, ("x", "y", "turn")),
        ({"finger_left_joint": 0.03}, ("finger_left_joint",)),
        ({"x": 1.0, "finger_left_joint": 0.03}, ("x", "y", "turn", "finger_left_joint")),
        (PoseGoal("wrist", pose((1.2, 0.4, -0.2))), ("x", "y", "turn")),
    ):
        problem = Problem(gantry, None, {}, goal)
        result = plan(problem)
        check_plan(problem, result)
        assert result.trajectory.position_names == names


def test_mimic_joint_follows(robots):
    """The second finger mirrors the first in the model, and states must agree with that."""
    gantry = robots.gantry()
    result = plan(
        Problem(gantry, None, {}, {"finger_left_joint": 0.03, "finger_right_joint": 0.03})
    )
    q = end(result)
    left, right = (gantry.frame_pose(q, f"finger_{side}")[1, 3] for side in ("left", "right"))
    assert left == pytest.approx(0.07)
    assert right == pytest.approx(-0.07)
    with pytest.raises(ValueError, match=r"it follows 'finger_left_joint' and is 0\.03 there"):
        plan(Problem(gantry, None, {}, {"finger_left_joint": 0.03, "finger_right_joint": 0.01}))


@pytest.mark.parametrize(
    ("start", "goal", "expected"),
    [
        (3.0, -3.0, 2 * np.pi - 3),
        (0.1, -6.2, 2 * np.pi - 6.2),
        (6.0, 0.1, 0.1),
        (6.0, -0.1, 2 * np.pi - 0.1),
    ],
)
def test_nearest_turn(ur5, start, goal, expected):
    """Goals 2 pi apart are equal. The nearest one within limits (+-2 pi) is reached."""
    q0, q1 = np.array(HOME), np.array(HOME)
    q0[5], q1[5] = start, goal
    result = plan(Problem(ur5, None, q0, q1))
    assert result.ok
    assert end(result)[5] == pytest.approx(expected, abs=1e-9)


def test_continuous_joint_takes_the_short_way(robots):
    arm = robots.planar_arm(continuous=True)
    result = plan(Problem(arm, None, [20.0, 0, 0], [1.0, 0, 0]))
    turns = np.round((20.0 - 1.0) / (2 * np.pi))
    assert end(result)[0] == pytest.approx(1.0 + 2 * np.pi * turns)
    assert result.path_length < np.pi


def test_several_goals(ur5):
    """The straight motion to the nearest goal is free, so the plan reaches it and has its index."""
    goals = [JointGoal(np.array(HOME) + 0.9), JointGoal(np.array(HOME) + 0.2), JointGoal([9] * 6)]
    result = plan(Problem(ur5, None, HOME, goals))
    assert result.goal_index == 1
    np.testing.assert_allclose(end(result), np.array(HOME) + 0.2, atol=1e-9)


def test_targets_come_nearest_first(arm):
    goals = [JointGoal([1.0, 1.0, 0]), JointGoal([0.2, 0, 0]), JointGoal([0.5, 0, 0])]
    prepared = prepare(Problem(arm, None, [0, 0, 0], goals))
    targets = goal_configurations(prepared, prepared.goals, prepared.start)
    assert targets.goal_index == (1, 2, 0)
    assert targets.q[:, 0].tolist() == [0.2, 0.5, 1.0]


def test_search_window(ur5):
    """Joints with limits of +-2 pi are searched over at least one turn about start and goal.

    The range lies within their limits. Other joints are searched over their whole range.
    """
    rng = np.random.default_rng(0)
    columns = prepare(Problem(ur5, None, HOME, HOME)).columns
    for _ in range(50):
        ends = rng.uniform(ur5.limits.lower, ur5.limits.upper, (2, 6))
        lower, upper = sampling_window(columns, ends[0], ends[1:])
        assert (lower >= ur5.limits.lower).all()
        assert (upper <= ur5.limits.upper).all()
        assert (lower <= ends.min(axis=0)).all()
        assert (upper >= ends.max(axis=0)).all()
        # One turn covers all poses. A part that limits cut off on one side, as of the elbow, is
        # added on the other.
        whole = np.minimum(ur5.limits.upper - ur5.limits.lower, 2 * np.pi)
        assert (upper - lower >= whole - 1e-9).all()
    lower, upper = sampling_window(columns, np.zeros(6), np.zeros((1, 6)))
    np.testing.assert_allclose(upper - lower, 2 * np.pi, atol=1e-6)


@pytest.mark.parametrize("seed", RNG_SEEDS)
def test_pose_goal(ur5, seed, check_plan):
    """The pose of a random configuration is reached to 1e-6 m and rad.

    That is the tolerance of inverse kinematics.
    """
    rng = np.random.default_rng(seed)
    target = np.array(HOME) + rng.uniform(-0.8, 0.8, 6)
    X = ur5.frame_pose(target, "tool0")
    problem = Problem(ur5, None, HOME, PoseGoal("tool0", X))
    result = plan(problem)
    if not result.ok:  # only if the random target itself is in collision
        assert prepare(problem).scene.collides(target)
        return
    check_plan(problem, result)
    position, angle = pose_error(X, ur5.frame_pose(end(result), "tool0"))
    assert position < 2e-6
    assert angle < 3e-6


def test_pose_goal_is_not_farther_than_known(ur5):
    """Solutions are sorted by distance. The first is no farther than the known configuration."""
    target = np.array(HOME) + np.array([0.3, -0.2, 0.3, 0.1, 0.2, -0.4])
    goal = PoseGoal("tool0", ur5.frame_pose(target, "tool0"))
    prepared = prepare(Problem(ur5, None, HOME, goal))
    q = goal_configurations(prepared, prepared.goals, prepared.start).q
    distances = np.linalg.norm(q - HOME, axis=1)
    assert (np.diff(distances) >= -1e-12).all()
    assert distances[0] <= np.linalg.norm(target - HOME) + 1e-6


def test_tolerances(ur5, check_plan):
    """With a region and a free axis, the end is within tolerances.

    It is nearer than the end for the exact pose.
    """
    X = pose((0.35, -0.45, 0.3), rpy=(np.pi, 0, 0))
    exact = inverse_kinematics(ur5, PoseGoal("tool0", X), start=HOME)
    goal = PoseGoal(
        "tool0", X, position_tolerance=(0.05, 0.1, 0.0), rotation_tolerance=(0, 0, np.inf)
    )
    problem = Problem(ur5, None, HOME, goal)
    result = plan(problem)
    check_plan(problem, result)
    E = np.linalg.inv(X) @ ur5.frame_pose(end(result), "tool0")
    assert (np.abs(E[:3, 3]) <= np.array([0.05, 0.1, 0.0]) + 2e-6).all()
    assert E[2, 2] == pytest.approx(1.0, abs=1e-9)  # rotated about z alone
    nearest = np.linalg.norm(end(result) - HOME)
    assert nearest < min(np.linalg.norm(q - HOME) for q in exact.solutions)


def test_position_only(ur5):
    goal = PoseGoal("tool0", pose((0.4, 0.3, 0.5)), rotation_tolerance=np.inf)
    result = plan(Problem(ur5, None, HOME, goal))
    np.testing.assert_allclose(
        ur5.frame_pose(end(result), "tool0")[:3, 3], [0.4, 0.3, 0.5], atol=2e-6
    )


def test_inverse_kinematics_finds_all_branches(ur5):
    """A pose away from singularities has eight branches (shoulder, elbow, wrist).

    With limits of +-2 pi the nearest solution of each branch is returned.
    """
    X = ur5.frame_pose([0.4, -1.1, 1.3, -1.2, -1.1, 0.3], "tool0")
    answer = inverse_kinematics(ur5, PoseGoal("tool0", X), start=HOME)
    assert answer
    for q in answer.solutions:
        assert (q >= ur5.limits.lower).all()
        assert (q <= ur5.limits.upper).all()
        position, angle = pose_error(X, ur5.frame_pose(q, "tool0"))
        assert position < 2e-6
        assert angle < 3e-6
    apart = [
        np.abs(a - b).max() for i, a in enumerate(answer.solutions) for b in answer.solutions[:i]
    ]
    assert min(apart) > 1e-2
    assert len(answer.solutions) == 8


def test_inverse_kinematics_of_any_link_and_some_joints(arm):
    X = arm.frame_pose([0.5, 0.4, 0.2], "link3")
    goal = PoseGoal("link3", X, rotation_tolerance=np.inf)
    answer = inverse_kinematics(arm, goal, start=[0, 0, 0.2], joints=["joint1", "joint2"])
    assert any(np.allclose(q[:2], [0.5, 0.4], atol=1e-5) for q in answer.solutions)
    assert (answer.solutions[:, 2] == 0.2).all()
    missed = inverse_kinematics(arm, PoseGoal("tip", pose((2, 0, 0.5)), rotation_tolerance=np.inf))
    assert not missed
    assert missed.position_error == pytest.approx(0.8, abs=0.01)
    assert missed.closest.shape == (3,)
    for wrong in ({"joints": ["base"]}, {"joints": []}, {"start": [1, 2]}):
        with pytest.raises(ValueError, match=r"base|no joint|shape"):
            inverse_kinematics(arm, goal, **wrong)


def test_attached_object_counts(arm, robots):
    """A rod in the hand touches the pillar where the bare arm does not."""
    from robosim.planners import Status

    scene = robots.pillar_scene()
    goal = [0.25, 0, 0]
    bare = plan(Problem(arm, scene, [1.2, 0, 0], goal))
    scene.add_box("rod", (0.05, 0.6, 0.05))
    scene.attach("rod", "link2", pose=pose((0.3, 0, 0)))
    held = plan(Problem(arm, scene, [1.2, 0, 0], goal))
    assert bare.ok
    assert held.status is Status.GOAL_IN_COLLISION
    assert "'rod'" in held.reason


def test_start_equals_goal(arm, check_plan):
    problem = Problem(arm, None, [0.1, 0.2, 0.3], [0.1, 0.2, 0.3])
    result = plan(problem)
    check_plan(problem, result)
    assert result.path_length == 0


def test_floating_base_stays(robots, check_plan):
    arm = robots.planar_arm(floating=True)
    q0 = arm.neutral()
    q0[:3] = 0.3, 0.2, 0.1
    q1 = q0.copy()
    q1[7:] = 0.4, 0.5, 0.6
    problem = Problem(arm, None, q0, q1)
    result = plan(problem)
    check_plan(problem, result)
    assert result.trajectory.position_names == ("joint1", "joint2", "joint3")
    np.testing.assert_allclose(end(result), q1, atol=1e-9)
    q1[0] += 0.1
    with pytest.raises(ValueError, match="may not move"):
        plan(Problem(arm, None, q0, q1))
    with pytest.raises(ValueError, match="never moved"):
        plan(Problem(arm, None, q0, q0, group=["floating_base"]))
    q0[3:7] = 0, 0, 0, 2
    with pytest.raises(ValueError, match="quaternion"):
        plan(Problem(arm, None, q0, q0))
