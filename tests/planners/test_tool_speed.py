"""A limit on the speed of a link's origin: kept at every time, and reached where it is active."""

import numpy as np
import pytest

import robosim
from robosim import _engine
from robosim.errors import PlanningError, TrajectoryError
from robosim.model import ModelBuilder
from robosim.planners import (
    JointGoal,
    PoseGoal,
    Problem,
    motion_limits,
    plan,
    plan_cartesian,
    prepare,
)
from robosim.trajectory import Trajectory

from ..scale import repeats  # noqa: TID252

HOME = np.array([0.3, -1.3, 1.4, -1.57, -1.3, 0.2])


def configuration_of(result):
    q = result.q_rest.copy()
    columns = list(result.columns)

    def at(t):
        q[columns] = result.trajectory.position(t)
        return q

    return at


@pytest.mark.parametrize("name", ["ur5", "panda"])
@pytest.mark.parametrize("jerk", [None, 200.0])
def test_the_cap_holds_at_every_time(name, jerk):
    rng = np.random.default_rng(0)
    model = robosim.load_robot(name)
    solved = 0
    for k in range(repeats(12, 300)):
        start, goal = model.random_configuration(rng), model.random_configuration(rng)
        cap = (0.25, 1.0, 0.02)[k % 3]
        result = plan(Problem(model, None, start, goal), seed=k, jerk=jerk, tool_speed=cap)
        if not result.ok:
            continue
        solved += 1
        trajectory = result.trajectory
        (link,) = trajectory.limits.tool_speed
        assert trajectory.validate() == [], k
        at = configuration_of(result)
        t = np.linspace(0, trajectory.duration, 4001)
        p = np.array([model.frame_pose(at(s), link)[:3, 3] for s in t])
        by_difference = np.linalg.norm(np.diff(p, axis=0), axis=1) / np.diff(t)
        assert by_difference.max() <= cap * (1 + 1e-9), k
        exact = trajectory.tool_speed(t)
        assert exact.max() <= cap * (1 + 1e-9), k
        assert np.abs(by_difference - 0.5 * (exact[1:] + exact[:-1])).mean() < 1e-2 * cap, k
        # The speed is within a hundredth of the limit if no other limit is active.
        if cap == 0.02 and jerk is None:
            assert np.median(exact) > 0.98 * cap, k
    assert solved > repeats(3, 60)


def test_a_turning_link_in_closed_form():
    """One joint with a link 0.5 m away, at most 2 rad/s: 0.25 m/s is 0.5 rad/s."""
    builder = ModelBuilder("one")
    builder.add_link("base")
    builder.add_link("arm", mass=1, inertia=0.01 * np.eye(3))
    builder.add_link("tip")
    builder.add_joint(
        "turn",
        "revolute",
        "base",
        "arm",
        axis=(0, 0, 1),
        lower=-3,
        upper=3,
        velocity=2,
        acceleration=4,
    )
    builder.add_joint("end", "fixed", "arm", "tip", X_PJ=robosim.geometry.pose((0.5, 0, 0)))
    model = builder.build()
    problem = Problem(model, None, [-1.0], [1.0])
    capped = plan(problem, tool_speed=0.25, torque_limits=False).trajectory
    assert capped.duration == pytest.approx(2.0 / 0.5 + 0.5 / 4, rel=0.01)
    assert capped.duration >= 2.0 / 0.5 + 0.5 / 4
    assert capped.limits.tool_speed == {"tip": 0.25}
    free = plan(problem, torque_limits=False).trajectory
    same = plan(problem, tool_speed={"tip": 1.0 + 1e-2}, torque_limits=False).trajectory
    assert same.duration == pytest.approx(free.duration, rel=1e-9)
    assert (
        plan(problem, tool_speed={"arm": 1e-3}, torque_limits=False).trajectory.duration
        == free.duration
    )
    (violation,) = free.validate(capped.limits)
    assert (violation.quantity, violation.name, violation.limit) == ("tool speed", "tip", 0.25)
    assert violation.value == pytest.approx(1.0, rel=1e-6)


def test_the_link_that_is_meant():
    ur5 = robosim.load_robot("ur5")
    X = ur5.frame_pose(HOME + 0.1, "wrist_2_link")
    by_pose = plan(Problem(ur5, None, HOME, PoseGoal("wrist_2_link", X)), tool_speed=0.1)
    assert by_pose.trajectory.limits.tool_speed == {"wrist_2_link": 0.1}
    line = ur5.frame_pose(HOME, "tool0")
    line[0, 3] += 0.05
    straight = plan_cartesian(Problem(ur5, None, HOME, PoseGoal("tool0", line)), tool_speed=0.02)
    assert straight.trajectory.limits.tool_speed == {"tool0": 0.02}
    assert straight.trajectory.duration > 2.5
    assert straight.trajectory.validate() == []
    both = {"tool0": 0.3, "forearm_link": 0.1}
    result = plan(Problem(ur5, None, HOME, HOME + 0.8), tool_speed=both)
    t = np.linspace(0, result.trajectory.duration, 3001)
    for link, cap in both.items():
        assert result.trajectory.tool_speed(t, link).max() <= cap * (1 + 1e-9)
    prepared = prepare(Problem(ur5, None, HOME, HOME))
    assert dict(motion_limits(prepared, tool_speed=0.5).tool_speed) == {"tool0": 0.5}
    for bad, match in (
        ("fast", "tool_speed is 'fast'"),
        (0.0, "tool_speed is 0.0; it must be a number of at least 1e-06"),
        (np.nan, "tool_speed is nan"),
        (np.inf, "tool_speed is inf"),
        (True, "tool_speed is True"),
        ({"tol0": 0.1}, "has no link 'tol0'; did you mean 'tool0'"),
        ({"tool0": -1}, "tool_speed of 'tool0' is -1"),
    ):
        with pytest.raises(PlanningError, match=match):
            plan(Problem(ur5, None, HOME, HOME + 0.3), tool_speed=bad)


def test_two_tips_have_to_be_told_apart():
    builder = ModelBuilder("two arms")
    builder.add_link("base")
    for side, y in (("left", 0.3), ("right", -0.3)):
        builder.add_link(side, mass=1, inertia=0.01 * np.eye(3))
        builder.add_joint(
            f"{side}_turn",
            "revolute",
            "base",
            side,
            X_PJ=robosim.geometry.pose((0, y, 0)),
            lower=-1,
            upper=1,
            velocity=1,
        )
        builder.add_link(f"{side}_hand")
        builder.add_joint(
            f"{side}_end", "fixed", side, f"{side}_hand", X_PJ=robosim.geometry.pose((0.4, 0, 0))
        )
        builder.add_group(f"{side}_arm", [f"{side}_turn"], tip=f"{side}_hand")
    model = builder.build()
    problem = Problem(model, None, [0, 0], [0.5, 0.5])
    with pytest.raises(PlanningError, match=r"of which link.*'left_hand', 'right_hand'"):
        plan(problem, tool_speed=0.1)
    one = plan(Problem(model, None, [0, 0], [0.5, 0], group="left_arm"), tool_speed=0.1)
    assert one.trajectory.limits.tool_speed == {"left_hand": 0.1}


def test_a_start_that_is_too_fast_is_refused():
    ur5 = robosim.load_robot("ur5")
    problem = Problem(ur5, None, HOME, HOME + 0.5, start_velocity=[0.5, 0, 0, 0, 0, 0])
    slow = plan(problem, tool_speed=0.05)
    assert not slow.ok
    assert "start velocity" in slow.status.value
    brisk = plan(problem, tool_speed=0.6)
    assert brisk.ok, brisk.reason
    assert brisk.trajectory.validate() == []


def test_files_and_other_orders_keep_it(tmp_path):
    ur5 = robosim.load_robot("ur5")
    trajectory = plan(Problem(ur5, None, HOME, HOME + 0.3), tool_speed=0.25).trajectory
    for name in ("a.json", "a.csv", "a.npz"):
        trajectory.save(tmp_path / name)
        loaded = Trajectory.load(tmp_path / name)
        assert loaded.limits.tool_speed == {"tool0": 0.25}
        with pytest.raises(TrajectoryError, match="no link velocities are attached"):
            loaded.tool_speed(0.1)
        attached = loaded.replace(link_velocity=trajectory.link_velocity)
        np.testing.assert_allclose(
            attached.tool_speed([0.1, 0.2]), trajectory.tool_speed([0.1, 0.2]), rtol=1e-9
        )
        assert attached.validate() == []
    names = list(reversed(trajectory.position_names))
    turned = trajectory.reorder(names)
    np.testing.assert_allclose(turned.tool_speed([0.1, 0.2]), trajectory.tool_speed([0.1, 0.2]))
    assert turned.slice(0.1, 0.3).validate() == []
    with pytest.raises(TrajectoryError, match="of which link"):
        trajectory.replace(limits=None).tool_speed(0.1)


def test_the_engine_names_what_is_wrong():
    ur5 = robosim.load_robot("ur5")
    path = ([0, 1], np.array([[np.zeros(6), np.ones(6), np.zeros(6)]]), np.ones(6), np.ones(6))
    with pytest.raises(ValueError, match="tool_speed needs a model"):
        _engine.time_path(*path, tool_speed={"tool0": 1.0})
    with pytest.raises(ValueError, match="there is no link 'tol'"):
        _engine.time_path(*path, model=ur5._engine, tool_speed={"tol": 1.0})
    with pytest.raises(ValueError, match="it must be positive"):
        _engine.time_path(*path, model=ur5._engine, tool_speed={"tool0": 0.0})


def test_goals_on_the_way_keep_it_too():
    ur5 = robosim.load_robot("ur5")
    via = [JointGoal(HOME + 0.3), JointGoal(HOME + np.array([0.6, -0.2, 0.1, 0.4, 0.2, 0]))]
    result = plan(Problem(ur5, None, HOME, HOME + 0.8, via), tool_speed=0.25)
    assert result.trajectory.validate() == []
    t = np.linspace(0, result.trajectory.duration, 3001)
    assert result.trajectory.tool_speed(t).max() <= 0.25 * (1 + 1e-9)
