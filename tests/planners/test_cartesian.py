"""Straight moves: on the line, to its end, or as far as possible and why not farther."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robosim.errors import PlanningError
from robosim.geometry import pose
from robosim.planners import PoseGoal, Problem, Status, plan_cartesian
from robosim.planners.cartesian import rotation_exp, rotation_log
from robosim.scene import Scene

HOME = [-1.0, -1.2, 1.2, -1.57, -1.57, 0.0]


def moved(X, xyz=(0, 0, 0), rpy=(0, 0, 0)):
    """X shifted in the world and turned about its own axes."""
    Y = X @ pose((0, 0, 0), rpy)
    Y[:3, 3] += xyz
    return Y


def test_rotation_log_and_exp():
    """Against scipy, from the identity to a half turn."""
    rng = np.random.default_rng(0)
    for angle in [0.0, 1e-12, 1e-6, 0.3, 1.5, 2.6, 3.0, np.pi - 1e-9]:
        axis = rng.normal(size=3)
        vector = angle * axis / np.linalg.norm(axis)
        R = Rotation.from_rotvec(vector).as_matrix()
        np.testing.assert_allclose(rotation_exp(vector), R, atol=1e-14)
        np.testing.assert_allclose(rotation_log(R), vector, atol=1e-7 if angle > 3.1 else 1e-13)


@pytest.mark.parametrize("bound", [1e-3, 1e-5])
def test_line(ur5, bound):
    """Independent measure: the distance from the segment, and the orientation at the nearest point, at 2000 times."""
    X0 = ur5.frame_pose(HOME, "tool0")
    X1 = moved(X0, (0.1, 0.05, -0.2), (0.1, -0.2, 0.5))
    result = plan_cartesian(
        Problem(ur5, None, HOME, PoseGoal("tool0", X1)), position_bound=bound, rotation_bound=10 * bound
    )
    assert result.ok, result.reason
    assert result.fraction == 1.0
    along = X1[:3, 3] - X0[:3, 3]
    turn = Rotation.from_matrix(X0[:3, :3].T @ X1[:3, :3]).as_rotvec()
    for q in result.configuration(np.linspace(0, result.trajectory.duration, 2000)):
        X = ur5.frame_pose(q, "tool0")
        u = np.clip(along @ (X[:3, 3] - X0[:3, 3]) / (along @ along), 0, 1)
        assert np.linalg.norm(X[:3, 3] - X0[:3, 3] - u * along) <= bound
        R = X0[:3, :3] @ Rotation.from_rotvec(u * turn).as_matrix()
        assert np.linalg.norm(Rotation.from_matrix(R.T @ X[:3, :3]).as_rotvec()) <= 10 * bound
    assert result.position_deviation <= bound
    np.testing.assert_allclose(
        ur5.frame_pose(result.configuration(result.trajectory.duration), "tool0"), X1, atol=1e-8
    )
    assert result.trajectory.validate() == []


def test_several_lines_stop_between(ur5):
    X0 = ur5.frame_pose(HOME, "tool0")
    X1, X2 = moved(X0, (0, 0, -0.15)), moved(X0, (0.15, 0, -0.15), (0, 0, 0.4))
    result = plan_cartesian(Problem(ur5, None, HOME, PoseGoal("tool0", X2), via=[PoseGoal("tool0", X1)]))
    assert result.ok, result.reason
    times = np.linspace(0, result.trajectory.duration, 8001)
    away = [
        np.linalg.norm(ur5.frame_pose(q, "tool0")[:3, 3] - X1[:3, 3]) for q in result.configuration(times)
    ]
    assert min(away) < 1e-5
    assert np.abs(result.trajectory.velocity(times[int(np.argmin(away))])).max() < 0.05


def test_rotation_in_place(ur5):
    X0 = ur5.frame_pose(HOME, "tool0")
    result = plan_cartesian(Problem(ur5, None, HOME, PoseGoal("tool0", moved(X0, rpy=(0, 0, 1.0)))))
    assert result.ok, result.reason
    for q in result.configuration(np.linspace(0, result.trajectory.duration, 100)):
        assert np.linalg.norm(ur5.frame_pose(q, "tool0")[:3, 3] - X0[:3, 3]) < 1e-3


def test_no_motion(ur5):
    result = plan_cartesian(Problem(ur5, None, HOME, PoseGoal("tool0", ur5.frame_pose(HOME, "tool0"))))
    assert result.ok
    assert result.fraction == 1.0


def test_ends_at_an_obstacle(ur5):
    """The part before the plate is given, and the plate named."""
    scene = Scene("plate")
    X0 = ur5.frame_pose(HOME, "tool0")
    scene.add_box("plate", (0.4, 0.4, 0.02), pose(X0[:3, 3] - [0, 0, 0.25]))
    result = plan_cartesian(Problem(ur5, scene, HOME, PoseGoal("tool0", moved(X0, (0, 0, -0.4)))))
    assert result.status is Status.NO_PATH
    assert "'plate'" in result.reason
    assert 0.3 < result.fraction < 0.62
    reached = ur5.frame_pose(result.configuration(result.trajectory.duration), "tool0")[:3, 3]
    np.testing.assert_allclose(reached, X0[:3, 3] - [0, 0, 0.4 * result.fraction], atol=1e-6)


def test_cancelled(ur5):
    X0 = ur5.frame_pose(HOME, "tool0")
    asked = []
    problem = Problem(ur5, None, HOME, PoseGoal("tool0", moved(X0, (0, 0, -0.2))))
    result = plan_cartesian(problem, stop=lambda: asked.append(1) or len(asked) >= 3)
    assert result.status is Status.CANCELLED
    assert result.trajectory is None
    assert len(asked) == 3


def test_ends_at_the_reach(ur5):
    X0 = ur5.frame_pose(HOME, "tool0")
    result = plan_cartesian(Problem(ur5, None, HOME, PoseGoal("tool0", moved(X0, (0.0, -1.5, 0)))))
    assert result.status is Status.NO_PATH
    assert "%" in result.reason
    assert 0.05 < result.fraction < 0.6
    assert result.trajectory is not None


def test_ends_at_a_joint_limit(ur5):
    tight = ur5.with_limits(upper={"wrist_3_joint": 0.3})
    X0 = ur5.frame_pose(HOME, "tool0")
    result = plan_cartesian(Problem(tight, None, HOME, PoseGoal("tool0", moved(X0, rpy=(0, 0, 1.0)))))
    assert result.status is Status.NO_PATH
    assert "'wrist_3_joint'" in result.reason
    assert result.fraction == pytest.approx(0.3, abs=0.01)


def test_joints_do_not_jump(ur5):
    """Through a wrist singularity the wrist would have to flip: refused there, not jumped."""
    q = np.array([0.0, -1.2, 1.6, -1.97, 0.02, 0.0])
    X0 = ur5.frame_pose(q, "tool0")
    result = plan_cartesian(
        Problem(ur5, None, q, PoseGoal("tool0", moved(X0, (0, 0.3, 0)))), largest_step=0.1
    )
    steps = np.abs(np.diff(result.path, axis=0)) if len(result.path) > 1 else np.zeros((1, 6))
    assert steps.max() <= 0.1


def test_seven_joints(robots):
    """More joints than needed, none of which can tilt the tip: it goes straight in its plane, by least motion."""
    arm = robots.planar_arm(7)
    q = [1.2, -0.8, 0.9, -0.9, 0.8, -0.5, 0.6]
    X0 = arm.frame_pose(q, "tip")
    result = plan_cartesian(Problem(arm, None, q, PoseGoal("tip", moved(X0, (0.2, -0.3, 0), (0, 0, 0.5)))))
    assert result.ok, result.reason


def test_badly_posed(ur5):
    X = ur5.frame_pose(HOME, "tool0")
    for problem, words in [
        (Problem(ur5, None, HOME, HOME), "needs a PoseGoal"),
        (Problem(ur5, None, HOME, HOME, via=[PoseGoal("tool0", X)]), "needs a PoseGoal"),
        (Problem(ur5, None, HOME, PoseGoal("tool0", X, 0.1)), "exact poses"),
        (Problem(ur5, None, HOME, [PoseGoal("tool0", X)] * 2), "one goal"),
        (Problem(ur5, None, HOME, PoseGoal("tool0", X), via=[PoseGoal("forearm_link", X)]), "same link"),
        (Problem(ur5, None, HOME, PoseGoal("tool0", X), start_velocity=[0.1] * 6), "starts at rest"),
    ]:
        with pytest.raises(PlanningError, match=words):
            plan_cartesian(problem)
    for option in ("position_bound", "rotation_bound", "largest_step"):
        with pytest.raises(PlanningError, match=option):
            plan_cartesian(Problem(ur5, None, HOME, PoseGoal("tool0", X)), **{option: 0})
