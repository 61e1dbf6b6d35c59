"""Timed motions: moving starts, limited jerk, scalings, poses to pass, and single stages."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.errors import PlanningError
from robosim.geometry import pose
from robosim.planners import (
    MotionLimits,
    NoPlan,
    PoseGoal,
    Problem,
    SearchStatus,
    Status,
    check,
    goal_configurations,
    motion_limits,
    plan,
    prepare,
    search,
    simplify,
    time_parameterize,
)
from robosim.scene import Scene

HOME = [-1.0, -1.2, 1.2, -1.57, -1.57, 0.0]
GOAL = [1.3, -0.9, 1.4, -1.8, -1.57, 0.3]


@pytest.fixture(scope="module")
def wall() -> Scene:
    scene = Scene("wall")
    scene.add_box("wall", (0.05, 0.6, 0.5), pose((0.45, 0.2, 0.35)))
    scene.add_half_space("floor", pose((0, 0, -0.02)))
    return scene


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("jerk", [None, 80.0])
def test_start_velocity_is_honoured(ur5, wall, seed, jerk, check_plan):
    """Position and velocity at time 0 are those of the start (`assert_plan`), in any direction."""
    v = np.random.default_rng(seed).uniform(-0.6, 0.6, 6)
    problem = Problem(ur5, wall, HOME, GOAL, start_velocity=v)
    result = plan(problem, jerk=jerk)
    check_plan(problem, result)
    assert np.abs(result.trajectory.velocity(0.0) - v).max() < 1e-9


def test_moving_start_needs_no_stop(arm):
    """A start that moves along the path makes the motion faster than from rest, without a stop."""
    rest = plan(Problem(arm, None, [0, 0, 0], [1.5, 0, 0]))
    moving = plan(Problem(arm, None, [0, 0, 0], [1.5, 0, 0], start_velocity={"joint1": 1.5}))
    assert moving.trajectory.duration < rest.trajectory.duration - 0.2
    times = np.linspace(0, 0.9 * moving.trajectory.duration, 200)
    assert (np.abs(moving.trajectory.velocity(times)).max(axis=1) > 0.1).all()


def test_braking_uses_torque_too(arm):
    """With weak motors the robot brakes below its acceleration limit.

    Torques are within their limits (`validate`).
    """
    weak = arm.with_limits(effort=2.0)
    result = plan(Problem(weak, None, [0, 0, 0], [1.5, 0.5, 0], start_velocity=[0.8, 0.0, 0.0]))
    assert result.ok, result.reason
    assert result.trajectory.validate() == []


def test_jerk_limit(ur5, wall, check_plan):
    """The jerk is within its limit and the acceleration continuous, which takes more time."""
    problem = Problem(ur5, wall, HOME, GOAL)
    free, limited = plan(problem), plan(problem, jerk=60.0)
    check_plan(problem, limited)
    trajectory = limited.trajectory
    assert trajectory.duration > free.trajectory.duration
    assert np.abs(trajectory.jerk(np.linspace(0, trajectory.duration, 5000))).max() <= 60 * (
        1 + 1e-6
    )
    inner = trajectory.breaks[1:-1]
    jumps = np.abs(trajectory.acceleration(inner + 1e-9) - trajectory.acceleration(inner - 1e-9))
    assert jumps.max() < 1e-5  # 60 rad/s^3 over 2e-9 s, and rounding of fifth powers


def test_scaling(ur5):
    """A tenth of the velocity more than doubles the time. The trajectory has the scaled limits."""
    problem = Problem(ur5, None, HOME, GOAL)
    full, slow = plan(problem), plan(problem, velocity_scaling=0.1)
    assert slow.trajectory.duration > 2 * full.trajectory.duration
    np.testing.assert_allclose(slow.trajectory.limits.velocity, 0.1 * ur5.limits.velocity)
    assert np.abs(
        slow.trajectory.velocity(np.linspace(0, slow.trajectory.duration, 999))
    ).max() <= 0.1 * ur5.limits.velocity.max() * (1 + 1e-9)
    gentle = plan(problem, acceleration_scaling=0.25)
    np.testing.assert_allclose(
        gentle.trajectory.limits.acceleration, 0.25 * ur5.limits.acceleration
    )
    assert gentle.trajectory.validate() == []


def test_poses_are_passed_exactly_and_in_motion(ur5, check_plan):
    """The tool reaches each pose on the way without a stop.

    The tolerance is that of inverse kinematics.
    """

    def tool(q):
        return ur5.frame_pose(q, "tool0")[:3, 3]

    via = [[-0.5, -1.9, 0.8, -1.0, -1.57, 0.0], [0.1, -1.6, 0.7, -1.0, -1.57, 0.0]]
    poses = [PoseGoal("tool0", ur5.frame_pose(q, "tool0")) for q in via]
    problem = Problem(ur5, None, HOME, GOAL, via=poses)
    result = plan(problem)
    check_plan(problem, result)
    times = np.linspace(0, result.trajectory.duration, 4001)
    last = 0.0
    for goal in poses:
        away = [np.linalg.norm(tool(q) - goal.pose[:3, 3]) for q in result.configuration(times)]
        k = int(np.argmin(away))
        # Refine about the nearest sample.
        near = np.linspace(times[max(k - 1, 0)], times[min(k + 1, 4000)], 4001)
        distances = [np.linalg.norm(tool(q) - goal.pose[:3, 3]) for q in result.configuration(near)]
        t = near[int(np.argmin(distances))]
        assert min(distances) < 1e-5
        assert np.abs(result.trajectory.velocity(t)).max() > 0.2
        assert t > last
        last = t


def test_turning_back_at_a_pose_stops_there(arm):
    """On a way there and back, the motion stops at the turning point, and reaches it."""
    result = plan(Problem(arm, None, [0, 0, 0], [0, 0, 0], via=[[1.0, 0, 0]]))
    assert result.ok
    positions = result.trajectory.position(np.linspace(0, result.trajectory.duration, 2001))
    assert positions[:, 0].max() == pytest.approx(1.0, abs=1e-6)
    assert positions[:, 0].max() <= 1.0 + 1e-12


def test_via_in_collision_is_named(arm, robots):
    result = plan(
        Problem(arm, robots.pillar_scene(), [1, 0, 0], [-1, 0, 0], via=[[2, 0, 0], [0, 0, 0]])
    )
    assert result.status is Status.GOAL_IN_COLLISION
    assert result.reason.startswith("via[1]:")


def test_stages_alone(ur5, wall):
    """prepare, goal_configurations, search, simplify, time_parameterize, check make up `plan`."""
    prepared = prepare(Problem(ur5, wall, HOME, GOAL))
    targets = goal_configurations(prepared, prepared.goals, prepared.start)
    found = search(prepared, targets.q)
    assert found.status is SearchStatus.FOUND
    path = simplify(prepared, found.path)
    trajectory = time_parameterize(prepared, path, motion_limits(prepared))
    assert check(prepared, trajectory) == []
    whole = plan(Problem(ur5, wall, HOME, GOAL))
    assert (whole.path == path[:, list(prepared.columns.q)]).all()
    assert whole.trajectory.duration == trajectory.duration


def test_check_finds_what_is_wrong(ur5, wall):
    """A straight motion through the wall, and one timed for more than the model's limits."""
    prepared = prepare(Problem(ur5, wall, HOME, GOAL))
    through = plan(Problem(ur5, None, HOME, GOAL)).trajectory
    assert any("'wall'" in line for line in check(prepared, through))
    free = plan(Problem(ur5, wall, HOME, GOAL)).trajectory
    assert check(prepared, free) == []
    lower = free.replace(limits=type(free.limits)(velocity=0.5 * free.limits.velocity))
    assert any("velocity" in line for line in check(prepared, lower))
    narrow = free.replace(limits=type(free.limits)(upper=np.asarray(GOAL) - 0.01))
    assert any("position" in line for line in check(prepared, narrow))
    fast = MotionLimits(
        *(2 * x for x in (prepared.columns.velocity, prepared.columns.acceleration)), None, None
    )
    path = np.array([HOME, GOAL])
    hurried = time_parameterize(prepare(Problem(ur5, None, HOME, GOAL)), path, fast)
    assert hurried.duration < free.duration
    with pytest.raises(NoPlan):
        time_parameterize(prepared, path, MotionLimits(np.zeros(6), np.ones(6), None, None))


def test_stops(arm):
    """A waypoint with a stop is reached exactly and at rest."""
    prepared = prepare(Problem(arm, None, [0, 0, 0], [1, 1, 0]))
    path = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0]], dtype=float)
    for wrong in (-1, len(path)):
        with pytest.raises(
            PlanningError,
            match=f"stops holds {wrong}; it must hold indices .* 0 to {len(path) - 1}",
        ):
            time_parameterize(prepared, path, stops=[wrong])
    rounded, stopped = (
        time_parameterize(prepared, path),
        time_parameterize(prepared, path, stops=[1]),
    )
    assert stopped.duration > rounded.duration
    times = np.linspace(0, stopped.duration, 20001)
    away = np.abs(stopped.position(times) - path[1]).max(axis=1)
    assert away.min() < 1e-4
    assert np.abs(stopped.velocity(times[away.argmin()])).max() < 1e-2


def test_torque_function(ur5):
    """The torque is the inverse dynamics of the motion, within the effort limits."""
    result = plan(Problem(ur5, None, HOME, GOAL))
    trajectory = result.trajectory
    for t in np.linspace(0, trajectory.duration, 7):
        expected = ur5.inverse_dynamics(
            trajectory.position(t), trajectory.velocity(t), trajectory.acceleration(t)
        )
        np.testing.assert_allclose(trajectory.torque(t), expected, atol=1e-12)


def test_torque_of_planar_joint(robots):
    """Forces of a rover that turns while it slides, in its moving frame, by Newton's law.

    The hull's center of mass is its origin, so m R^T p'' is the force, whatever the rotation.
    """
    rover = robots.rover()
    result = plan(
        Problem(
            rover, None, {}, {"drive/x": 1.0, "drive/y": 0.5, "drive/theta": 2.0}, group=["drive"]
        )
    )
    trajectory = result.trajectory
    assert trajectory.torque_names == ("drive/vx", "drive/vy", "drive/omega")
    assert trajectory.validate() == []
    mast = 1.0  # its center of mass is on the axis, too
    for t in np.linspace(0.05, 0.95, 7) * trajectory.duration:
        theta = trajectory.position(t)[2]
        R = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
        force = (5.0 + mast) * R.T @ trajectory.acceleration(t)[:2]
        np.testing.assert_allclose(trajectory.torque(t)[:2], force, atol=1e-9)


def test_result_tells(ur5, wall, tmp_path):
    """A result has its status, timings of each stage, length, source of limits, and files."""
    import json

    from robosim.trajectory import Trajectory

    stages = []
    result = plan(Problem(ur5, wall, HOME, GOAL), progress=stages.append)
    assert list(dict.fromkeys(stages)) == list(result.timings)[:-1]
    assert {"setup", "search", "simplify", "timing", "check", "total"} <= set(result.timings)
    assert result.timings["total"] >= sum(v for k, v in result.timings.items() if k != "total")
    assert result.path_length == pytest.approx(
        np.linalg.norm(np.diff(result.path, axis=0), axis=1).sum()
    )
    assert result.acceleration_source == ur5.limits.acceleration_source
    assert result.trajectory.limits.acceleration_source == ur5.limits.acceleration_source
    told = json.loads(json.dumps(result.to_dict()))
    assert told["ok"]
    assert told["duration"] == result.trajectory.duration
    result.save(tmp_path / "plan.json")
    again = Trajectory.load(tmp_path / "plan.json")
    assert again.seed == 0
    assert again.robot == "ur5"
    assert again.metadata["planner"] == "rrt_connect"
    assert "solved" in repr(result)


def test_budget_cuts_the_improvement_short(ur5, wall):
    """If the budget ends during simplification, there is still a trajectory, with a status."""
    import time

    spent = []

    def slow(stage):
        if stage == "simplify":
            time.sleep(max(0.0, 0.3 - spent[0]) if spent else 0.3)

    result = plan(Problem(ur5, wall, HOME, GOAL), budget_s=0.25, progress=slow)
    assert result.status is Status.CUT_SHORT
    assert result.ok
    assert "budget" in result.reason
    assert result.trajectory.validate() == []


def test_start_velocity_outside_the_group(arm):
    with pytest.raises(PlanningError, match="joint3"):
        plan(
            Problem(
                arm,
                None,
                [0, 0, 0],
                [1, 1, 0],
                group=["joint1", "joint2"],
                start_velocity=[0, 0, 1],
            )
        )
