"""Straight moves: on the line, to its end or as far as possible, with a reason for stopping."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robosim
from robosim.errors import PlanningError
from robosim.geometry import pose
from robosim.planners import PoseGoal, Problem, Status, plan_cartesian, prepare
from robosim.planners.cartesian import rotation_exp, rotation_log
from robosim.planners.null_space import redundancy
from robosim.scene import Scene

from ..scale import some  # noqa: TID252 (tests have no absolute name)

HOME = [-1.0, -1.2, 1.2, -1.57, -1.57, 0.0]


def moved(X, xyz=(0, 0, 0), rpy=(0, 0, 0)):
    """Pose X shifted in the world and rotated about its own axes."""
    Y = X @ pose((0, 0, 0), rpy)
    Y[:3, 3] += xyz
    return Y


def test_rotation_log_and_exp():
    """Both functions agree with scipy, from the identity to a half turn."""
    rng = np.random.default_rng(0)
    for angle in [0.0, 1e-12, 1e-6, 0.3, 1.5, 2.6, 3.0, np.pi - 1e-9]:
        axis = rng.normal(size=3)
        vector = angle * axis / np.linalg.norm(axis)
        R = Rotation.from_rotvec(vector).as_matrix()
        np.testing.assert_allclose(rotation_exp(vector), R, atol=1e-14)
        np.testing.assert_allclose(rotation_log(R), vector, atol=1e-7 if angle > 3.1 else 1e-13)


@pytest.mark.parametrize("bound", [1e-3, 1e-5])
def test_line(ur5, bound):
    """The tool stays close to the segment and to the interpolated orientation.

    The distance from the segment, and the orientation at its nearest point, are measured
    independently at 2000 times.
    """
    X0 = ur5.frame_pose(HOME, "tool0")
    X1 = moved(X0, (0.1, 0.05, -0.2), (0.1, -0.2, 0.5))
    result = plan_cartesian(
        Problem(ur5, None, HOME, PoseGoal("tool0", X1)),
        position_bound=bound,
        rotation_bound=10 * bound,
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
    result = plan_cartesian(
        Problem(ur5, None, HOME, PoseGoal("tool0", X2), via=[PoseGoal("tool0", X1)])
    )
    assert result.ok, result.reason
    times = np.linspace(0, result.trajectory.duration, 8001)
    away = [
        np.linalg.norm(ur5.frame_pose(q, "tool0")[:3, 3] - X1[:3, 3])
        for q in result.configuration(times)
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
    result = plan_cartesian(
        Problem(ur5, None, HOME, PoseGoal("tool0", ur5.frame_pose(HOME, "tool0")))
    )
    assert result.ok
    assert result.fraction == 1.0


def test_ends_at_an_obstacle(ur5):
    """The result has the part before the plate, and its reason names the plate."""
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
    result = plan_cartesian(
        Problem(tight, None, HOME, PoseGoal("tool0", moved(X0, rpy=(0, 0, 1.0))))
    )
    assert result.status is Status.NO_PATH
    assert "'wrist_3_joint'" in result.reason
    assert result.fraction == pytest.approx(0.3, abs=0.01)


def test_joints_do_not_jump(ur5):
    """At a wrist singularity the wrist would have to flip. The motion ends there without a jump."""
    q = np.array([0.0, -1.2, 1.6, -1.97, 0.02, 0.0])
    X0 = ur5.frame_pose(q, "tool0")
    result = plan_cartesian(
        Problem(ur5, None, q, PoseGoal("tool0", moved(X0, (0, 0.3, 0)))), largest_step=0.1
    )
    steps = np.abs(np.diff(result.path, axis=0)) if len(result.path) > 1 else np.zeros((1, 6))
    assert steps.max() <= 0.1


def test_seven_joints(robots):
    """A redundant arm that cannot tilt its tip moves straight in its plane, by least motion."""
    arm = robots.planar_arm(7)
    q = [1.2, -0.8, 0.9, -0.9, 0.8, -0.5, 0.6]
    X0 = arm.frame_pose(q, "tip")
    result = plan_cartesian(
        Problem(arm, None, q, PoseGoal("tip", moved(X0, (0.2, -0.3, 0), (0, 0, 0.5))))
    )
    assert result.ok, result.reason


# Redundant arms


@pytest.fixture(scope="module")
def panda():
    return robosim.load_robot("panda")


def random_lines(model, link, n):
    """Random lines as in benchmarks/harness/null_space_lines.py.

    Configurations are free of collision, and poses are 0.1 to 0.3 m away.
    """
    rng = np.random.default_rng(0)
    scene = Scene().compile(model)
    while n > 0:
        q = model.random_configuration(rng)
        direction = rng.normal(size=3)
        length = rng.uniform(0.1, 0.3)
        if not scene.collides(q):
            n -= 1
            yield (
                q,
                moved(model.frame_pose(q, link), length * direction / np.linalg.norm(direction)),
            )


def assert_follows(model, link, q, poses, result, bound=1e-3):
    """Assert at 1000 times that a motion follows the polyline through the poses.

    It is free of collision and within limits, from q to the last pose.
    """
    assert result.ok, result.reason
    ends = [model.frame_pose(q, link)[:3, 3], *(X[:3, 3] for X in poses)]
    scene = Scene().compile(model)
    for t in np.linspace(0, result.trajectory.duration, 1000):
        there = result.configuration(t)
        X = model.frame_pose(there, link)
        away = []
        for a, b in pairwise(ends):
            u = np.clip((b - a) @ (X[:3, 3] - a) / ((b - a) @ (b - a)), 0, 1)
            away.append(np.linalg.norm(X[:3, 3] - a - u * (b - a)))
        assert min(away) <= bound
        assert np.linalg.norm(rotation_log(poses[0][:3, :3].T @ X[:3, :3])) <= 10 * bound
        assert not scene.collides(there)
    assert result.trajectory.validate() == []
    np.testing.assert_allclose(result.configuration(0.0), q, atol=1e-12)
    end = result.configuration(result.trajectory.duration)
    np.testing.assert_allclose(model.frame_pose(end, link), poses[-1], atol=1e-8)


def test_redundancy(ur5, panda, robots):
    """Number of coordinates that can move while the link is held.

    Three joints about z leave none, although they are fewer than six.
    """
    for model, link, expected in [
        (ur5, "tool0", 0),
        (panda, "panda_link8", 1),
        (robots.planar_arm(3), "tip", 0),
        (robots.planar_arm(7), "tip", 4),
        (robots.rover(), "mast", 1),
    ]:
        q, _ = next(random_lines(model, link, 1))
        prepared = prepare(Problem(model, None, q, PoseGoal(link, model.frame_pose(q, link))))
        assert redundancy(prepared, link) == expected


def test_lines_that_least_motion_does_not_follow(panda):
    """Random lines that a dense search over closed forms follows and least motion does not.

    Of the first hundred lines, these are ten. Least motion meets limits or singularities on them.
    """
    hard = {3, 19, 21, 25, 45, 69, 72, 75, 78, 82}
    chosen = some(sorted(hard), 4)
    for i, (q, X) in enumerate(random_lines(panda, "panda_link8", 100)):
        if i in chosen:
            result = plan_cartesian(Problem(panda, None, q, PoseGoal("panda_link8", X)))
            assert_follows(panda, "panda_link8", q, [X], result)
            steps = np.abs(np.diff(result.path, axis=0))
            assert steps.max() <= 0.2


def test_there_and_back_over_the_null_space(panda):
    """Several lines, on the first of which least motion ends early."""
    q, X = list(random_lines(panda, "panda_link8", 4))[3]
    back = panda.frame_pose(q, "panda_link8")
    problem = Problem(
        panda, None, q, PoseGoal("panda_link8", back), via=[PoseGoal("panda_link8", X)]
    )
    result = plan_cartesian(problem)
    assert_follows(panda, "panda_link8", q, [X, back], result)
    times = np.linspace(0, result.trajectory.duration, 4001)
    away = [
        np.linalg.norm(panda.frame_pose(each, "panda_link8") - X)
        for each in result.configuration(times)
    ]
    assert min(away) < 1e-4
    again = plan_cartesian(problem)
    assert again.path.tobytes() == result.path.tobytes()


def test_an_obstacle_is_passed_by_the_elbow(robots):
    """A planar arm of seven joints follows the same line, while its inner links avoid a post."""
    arm = robots.planar_arm(7)
    q = np.array([1.2, -0.8, 0.9, -0.9, 0.8, -0.5, 0.6])
    X = moved(arm.frame_pose(q, "tip"), (-0.5, 0.3, 0))
    free = plan_cartesian(Problem(arm, None, q, PoseGoal("tip", X)))
    assert free.ok, free.reason
    # Add a post where the elbow passes without an obstacle.
    middle = free.configuration(0.7 * free.trajectory.duration)
    post = arm.frame_pose(middle, "link4")[:3, 3]
    start = arm.frame_pose(q, "link4")[:3, 3]
    assert np.linalg.norm(post - start) > 0.1
    scene = Scene("post")
    outwards = (post - start) / np.linalg.norm(post - start)
    scene.add_cylinder("post", 0.02, 1.0, robosim.geometry.pose(post + 0.04 * outwards))
    problem = Problem(arm, scene, q, PoseGoal("tip", X))
    result = plan_cartesian(problem)
    assert result.ok, result.reason
    compiled = scene.compile(arm)
    times = np.linspace(0, result.trajectory.duration, 500)
    assert not compiled.collides_many(result.configuration(times)).any()


# Reasons


def test_says_that_what_is_ahead_is_out_of_reach(ur5, panda):
    """The reason has the bound that proves it, with joints and distances."""
    X0 = ur5.frame_pose(HOME, "tool0")
    result = plan_cartesian(Problem(ur5, None, HOME, PoseGoal("tool0", moved(X0, (0.0, -1.5, 0)))))
    assert "out of reach" in result.reason
    assert "'shoulder_pan_joint'" in result.reason
    assert "at most" in result.reason
    q = (
        panda.configuration("ready")
        if "ready" in {s.name for s in panda.named_states}
        else panda.neutral()
    )
    X = moved(panda.frame_pose(q, "panda_link8"), (1.5, 0, 0))
    result = plan_cartesian(Problem(panda, None, q, PoseGoal("panda_link8", X)))
    assert "out of reach" in result.reason
    assert "'panda_joint1'" in result.reason
    assert 0 < result.fraction < 1


def test_says_that_the_arm_is_singular(ur5):
    """With wrist axes 4 and 6 aligned, the reason names the singularity.

    No joint then rotates the tool about the axis normal to them and to axis 5. The reason has the
    smallest singular value, and says that other configurations reach the pose.
    """
    q = np.array([0.0, -1.2, 1.6, -1.97, 0.0, 0.0])
    X = moved(ur5.frame_pose(q, "tool0"), rpy=(0.4, 0, 0))
    result = plan_cartesian(Problem(ur5, None, q, PoseGoal("tool0", X)))
    assert result.status is Status.NO_PATH
    assert "other configurations could" in result.reason
    told = float(result.reason.split("singular value of the Jacobian being ")[1].split(";")[0])
    assert told == pytest.approx(
        np.linalg.svd(ur5.jacobian(q, "tool0"), compute_uv=False)[-1], abs=1e-12
    )
    assert told < 1e-12


def test_says_which_joint_stops_all_configurations(panda):
    """The reason names the joint that stops most configurations, its value and its limit.

    The arm is redundant.
    """
    q, X = list(random_lines(panda, "panda_link8", 7))[6]
    result = plan_cartesian(Problem(panda, None, q, PoseGoal("panda_link8", X)))
    assert result.status is Status.NO_PATH
    assert "configurations that lead there" in result.reason
    assert "beyond its upper limit 1.7628" in result.reason
    assert "'panda_joint2'" in result.reason


def test_badly_posed(ur5):
    X = ur5.frame_pose(HOME, "tool0")
    for problem, words in [
        (Problem(ur5, None, HOME, HOME), "needs a PoseGoal"),
        (Problem(ur5, None, HOME, HOME, via=[PoseGoal("tool0", X)]), "needs a PoseGoal"),
        (Problem(ur5, None, HOME, PoseGoal("tool0", X, 0.1)), "exact poses"),
        (Problem(ur5, None, HOME, [PoseGoal("tool0", X)] * 2), "one goal"),
        (
            Problem(ur5, None, HOME, PoseGoal("tool0", X), via=[PoseGoal("forearm_link", X)]),
            "same link",
        ),
        (
            Problem(ur5, None, HOME, PoseGoal("tool0", X), start_velocity=[0.1] * 6),
            "starts at rest",
        ),
    ]:
        with pytest.raises(PlanningError, match=words):
            plan_cartesian(problem)
    for option in ("position_bound", "rotation_bound", "largest_step"):
        with pytest.raises(PlanningError, match=option):
            plan_cartesian(Problem(ur5, None, HOME, PoseGoal("tool0", X)), **{option: 0})
