"""Noise: almost equal points, small velocities of an arm at rest, and joints beyond limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import robosim
from robosim.errors import PlanningError, RobosimError, told_apart
from robosim.geometry import pose
from robosim.model import Model
from robosim.planners import (
    JointGoal,
    PoseGoal,
    Problem,
    Status,
    available_planners,
    inverse_kinematics,
    plan,
    plan_cartesian,
    prepare,
    time_parameterize,
)
from robosim.planners.noise import NEAR, merged
from robosim.planners.positions import Columns, joint_kinds, make_columns
from robosim.scene import Scene
from robosim.urdf import bundled_robots

from ..scale import repeats  # noqa: TID252

HOME = np.array([0.3, -1.3, 1.4, -1.57, -1.3, 0.2])
FIRST, SECOND = np.eye(6)[:2]
# Rounding of a start velocity: it is divided by the speed along the path, which is the square root
# of a square, and multiplied by it. Four roundings of 1.1e-16, and as much again.
ROUNDED = {"rtol": 1e-15, "atol": 0.0}


# Almost equal points


@pytest.mark.parametrize("off", [0, 1e-15, 1e-12, 3e-8, 1e-7, 9e-7])
def test_near_duplicates_are_like_exact_ones(ur5, off):
    """A via point almost at the start or at another one causes no stop and no longer duration.

    The goal is reached exactly.
    """
    goal = HOME + 0.1 * FIRST
    plain = plan(Problem(ur5, None, HOME, goal)).trajectory.duration
    middle = HOME + 0.04 * FIRST
    for via in (
        [HOME + off * FIRST],
        [HOME - off * FIRST],
        [HOME + off * SECOND],
        [middle, middle - off * FIRST],
        [middle, middle + off * SECOND],
        [goal - off * SECOND],
    ):
        result = plan(Problem(ur5, None, HOME, goal, via=via))
        assert result.ok, result.reason
        # The corner is off by less than NEAR. So are the length of the path and its duration.
        assert result.trajectory.duration == pytest.approx(plain, abs=1e-4)
        times = np.linspace(0, result.trajectory.duration, 20001)
        for q in via:
            away = np.abs(result.trajectory.position(times) - q).max(axis=1).min()
            assert away < NEAR + 5e-6  # between two samples the arm moves about 1e-5
        np.testing.assert_allclose(
            result.configuration(result.trajectory.duration), goal, atol=1e-15
        )


def test_rounded_copies_of_the_start(ur5):
    """Copies of the start as in a single-precision message or a file in degrees."""
    for copy in (HOME.astype(np.float32), np.radians(np.degrees(HOME).round(6))):
        result = plan(Problem(ur5, None, HOME, HOME + 0.1 * FIRST, via=[copy]))
        assert result.trajectory.duration == pytest.approx(0.2828, abs=1e-3)  # 2 sqrt(0.1 / 5)


@pytest.mark.parametrize("jerk", [None, 100.0])
@pytest.mark.parametrize("off", [1e-12, 3e-8, 1e-7, 1e-6, 1e-5])
def test_a_tiny_motion_ends_at_its_goal(ur5, off, jerk):
    result = plan(Problem(ur5, None, HOME, HOME + off * SECOND), jerk=jerk)
    assert result.ok
    np.testing.assert_allclose(
        result.configuration(result.trajectory.duration), HOME + off * SECOND, rtol=0, atol=1e-15
    )
    assert result.trajectory.validate() == []


def test_stops_at_duplicates(ur5):
    prepared = prepare(Problem(ur5, None, HOME, HOME + 0.1 * FIRST))
    plain = time_parameterize(prepared, np.array([HOME, HOME + 0.1 * FIRST]))
    for off in 0, 1e-12, 1e-8, 5e-7:
        near = HOME + off * SECOND
        for path, stops in (
            ([HOME, near, HOME + 0.1 * FIRST], [1]),
            ([HOME, HOME + 0.1 * FIRST - off * SECOND, HOME + 0.1 * FIRST], [1]),
            ([HOME, near, HOME, HOME + 0.1 * FIRST], [1, 2]),
        ):
            trajectory = time_parameterize(prepared, np.array(path), stops=stops)
            assert trajectory.duration == pytest.approx(plain.duration, abs=1e-4)
            np.testing.assert_allclose(
                trajectory.position(trajectory.duration), path[-1], atol=1e-15
            )
    corner = HOME + 0.1 * FIRST
    path = np.array([HOME, corner, corner + 1e-9 * SECOND, corner + 0.1 * SECOND])
    for stops in ([1], [2], [1, 2]):  # a single stop, wherever it is requested
        twice = time_parameterize(prepared, path, stops=stops)
        assert twice.duration == pytest.approx(2 * plain.duration, abs=1e-4)


def test_merged_keeps_the_ends_and_maps_the_marks():
    line = np.array([[0.0], [3e-7], [1.0], [1.0 + 2e-7], [2.0], [3.0 - 4e-7], [3.0]])
    path, marks = merged(line, [0], [1, 2, 3, 4, 5])
    assert path[:, 0].tolist() == [0, 1, 2, 3]
    assert marks == [0, 1, 2, 3]
    untouched, marks = merged(path, [0], [2])
    assert untouched is path
    assert marks == [2]
    # Sequences of small steps are thinned, not merged into one point.
    steps = np.arange(0, 1e-4, 3e-7)[:, None]
    thin, _ = merged(steps, [0])
    assert np.diff(thin[:, 0]).min() >= NEAR
    assert np.diff(thin[:, 0]).max() < 2 * NEAR
    assert thin[-1] == steps[-1]
    two, marks = merged(np.array([[0.0], [1e-9], [2e-9]]), [0], [1])
    assert two[:, 0].tolist() == [0, 2e-9]
    assert marks == [0]
    # Columns that do not move have no effect. Points that must be kept are kept.
    one, _ = merged(np.array([[0.0, 0.0], [0.0, 1.0]]), [0])
    assert len(one) == 1
    kept, _ = merged(np.array([[0.0], [1e-9], [2e-9]]), [0], first=1)
    assert kept[:, 0].tolist() == [0, 1e-9, 2e-9]


@pytest.mark.parametrize("name", ["ur5", "panda"])
@pytest.mark.parametrize("off", [1e-15, 2e-9, 1e-7, 3e-6, 1e-5, 1e-4])
def test_poses_that_all_but_repeat(name, off):
    model = robosim.load_robot(name)
    (group,) = model.groups.values()
    link = group.tip
    start = HOME if name == "ur5" else np.array([0, -0.5, 0, -2.0, 0, 1.6, 0.7])
    X = model.frame_pose(start, link)

    def moved(x: float, y: float, z: float) -> PoseGoal:
        Y = X.copy()
        Y[:3, 3] += x, y, z
        return PoseGoal(link, Y)

    for ways in (
        [moved(off, 0, 0), moved(0, 0, -0.05)],
        [moved(0, 0, -0.05), moved(0, off, -0.05), moved(0.03, 0, -0.05)],
        [moved(0, 0, -0.05), moved(0, off, -0.05)],
        [moved(0, off, 0)],
    ):
        result = plan_cartesian(Problem(model, None, start, ways[-1], via=ways[:-1]))
        assert result.ok, result.reason
        assert result.fraction == 1.0
        assert result.trajectory.validate() == []
        end = model.frame_pose(result.configuration(result.trajectory.duration), link)
        # A line is followed to 1e-9. Shorter ones count as no motion.
        assert np.abs(end - ways[-1].pose).max() < 3e-9


# Start velocities of an arm at rest


@pytest.mark.parametrize("jerk", [None, 500.0])
@pytest.mark.parametrize("size", [0.0, *(10.0**k for k in range(-15, 0)), 0.3])
def test_start_velocity_of_any_size(ur5, size, jerk):
    rng = np.random.default_rng(0)
    for _ in range(repeats(6, 60)):
        v = size * rng.normal(size=6)
        problem = Problem(ur5, None, HOME, HOME + 0.4 * rng.normal(size=6), start_velocity=v)
        result = plan(problem, jerk=jerk)
        assert result.ok, result.reason
        rests = np.abs(v).max() < 1e-6
        np.testing.assert_allclose(
            result.trajectory.velocity(0.0), 0 * v if rests else v, **ROUNDED
        )
        assert result.trajectory.validate() == []


def test_start_velocity_back_where_it_came_from(ur5):
    """The goal is the start, and the whole path is shorter than the threshold of a motion.

    The robot brakes and returns.
    """
    for size in 2e-6, 1e-4, 1e-3, 3e-3:
        result = plan(Problem(ur5, None, HOME, HOME, start_velocity=size * FIRST))
        assert result.ok, result.reason
        np.testing.assert_allclose(result.trajectory.velocity(0.0), size * FIRST, **ROUNDED)
        np.testing.assert_allclose(
            result.configuration(result.trajectory.duration), HOME, atol=1e-13
        )


def test_velocity_of_joints_that_stay(ur5):
    """Noise in a joint outside the group counts as rest. Larger velocities are refused.

    Such a joint would have to stop at once.
    """
    hand = robosim.load_robot("ur5_gripper")
    finger = "gripper_left_finger_joint"
    problem = {"goal": {"elbow_joint": 1.0}, "group": "manipulator"}
    for noise in 1e-12, 9e-7:
        assert plan(Problem(hand, start_velocity={finger: noise, "elbow_joint": 0.1}, **problem)).ok
    with pytest.raises(PlanningError, match="moves, but is not in the group"):
        plan(Problem(hand, start_velocity={finger: 1e-5}, **problem))
    X = ur5.frame_pose(HOME, "tool0")
    X[2, 3] -= 0.05
    assert plan_cartesian(
        Problem(ur5, None, HOME, PoseGoal("tool0", X), start_velocity=9e-7 * FIRST)
    ).ok


@pytest.mark.parametrize("jerk", [None, 1e4])
def test_a_gentle_stop_where_motors_are_weak(arm, jerk):
    """Motors cannot reach the acceleration limits, so braking is as gentle as motors require."""
    weak = arm.with_limits(acceleration=1000.0, effort=2.0)
    for size in 1e-5, 1e-3, 1e-2, 1e-1:
        v = size * np.ones(3)
        result = plan(Problem(weak, None, [0, 0, 0], [1.0, 0.5, 0.2], start_velocity=v), jerk=jerk)
        assert result.ok, result.reason
        assert result.trajectory.validate() == []
        np.testing.assert_allclose(result.trajectory.velocity(0.0), v, **ROUNDED)


@pytest.mark.parametrize("size", [1e-6, 1e-5, 1e-4])
def test_no_brake_takes_no_time(arm, size):
    """Even without acceleration limits, a stop lasts long enough for messages in nanoseconds."""
    free = arm.with_limits(acceleration=1e6)
    v = size * np.ones(3)
    problem = Problem(free, None, [0, 0, 0], [1.0, 0.5, 0.2], start_velocity=v)
    trajectory = plan(problem, torque_limits=False).trajectory
    assert trajectory.breaks[1] >= 1e-4 * (1 - 1e-9)
    np.testing.assert_allclose(trajectory.velocity(0.0), v, **ROUNDED)


def test_no_acceleration_no_brake(arm):
    still = arm.with_limits(acceleration=0.0)
    result = plan(Problem(still, None, [0, 0, 0], [1.0, 0.5, 0.2], start_velocity=[1e-3, 0, 0]))
    assert result.status is Status.START_VELOCITY
    assert "acceleration limit is zero" in result.reason


# Beyond limits


@pytest.mark.parametrize("excess", [1e-15, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("joint", ["shoulder_pan_joint", "wrist_3_joint"])
def test_beyond_a_limit_by_noise(ur5, joint, excess):
    """A start beyond a limit is kept, and its excess only shrinks.

    A goal and a via point are moved to the limit.
    """
    i = list(ur5.position_names).index(joint)
    for side, bound in (1, ur5.limits.upper[i]), (-1, ur5.limits.lower[i]):
        home, beyond = HOME.copy(), HOME.copy()
        home[i], beyond[i] = bound - 0.5 * side, bound + side * excess
        out = plan(Problem(ur5, None, beyond, JointGoal(home)))
        assert out.ok, out.reason
        trajectory = out.trajectory
        np.testing.assert_array_equal(trajectory.position(0.0), beyond)
        assert trajectory.validate() == []
        excesses = np.maximum(
            side * (trajectory.position(np.linspace(0, 1, 5001))[:, i] - bound), 0
        )
        assert (np.diff(excesses) <= 1e-15).all()
        assert excesses[-1] == 0
        result = plan(
            Problem(ur5, None, home, JointGoal(beyond), via=[JointGoal(beyond), JointGoal(home)])
        )
        assert result.ok, result.reason
        assert result.configuration(result.trajectory.duration)[i] == pytest.approx(
            bound, abs=1e-12
        )
        assert result.trajectory.validate() == []
        # The joint may also start with an inward velocity or at rest, but not with an outward
        # velocity.
        for v in (-1e-3, -0.2):
            moving = plan(
                Problem(ur5, None, beyond, JointGoal(home), start_velocity={joint: v * side})
            )
            assert moving.ok, moving.reason
            assert moving.trajectory.validate() == []
        away = plan(Problem(ur5, None, beyond, JointGoal(home), start_velocity={joint: 0.2 * side}))
        assert away.status is Status.START_VELOCITY


def test_beyond_a_limit_by_more_is_refused(ur5, robots):
    gantry = robots.gantry()
    for model, joint, excess in (ur5, "wrist_3_joint", 1.01e-3), (gantry, "x", 1.01e-4):
        i = list(model.position_names).index(joint)
        q = np.clip(model.neutral(), model.limits.lower, model.limits.upper)
        inside = q + 0.02
        q[i] = model.limits.upper[i] + excess
        assert plan(Problem(model, None, q, inside)).status is Status.START_OUT_OF_LIMITS
        assert plan(Problem(model, None, inside, q)).status is Status.GOAL_OUT_OF_LIMITS
        assert (
            plan(Problem(model, None, inside, inside, via=[q])).status is Status.GOAL_OUT_OF_LIMITS
        )
        q[i] = model.limits.upper[i] + 0.9 * excess
        assert plan(Problem(model, None, q, inside)).ok


def test_joints_outside_the_group_do_not_matter():
    """A finger that is pressed beyond its stop, or is far out, stays at its position."""
    hand = robosim.load_robot("ur5_gripper")
    i = list(hand.position_names).index("gripper_left_finger_joint")
    q = hand.neutral()
    q[:6] = HOME
    for excess in 1e-6, 1e-3:
        q[i] = hand.limits.lower[i] - excess
        result = plan(Problem(hand, None, q, {"elbow_joint": 1.0}, group="manipulator"))
        assert result.ok, result.reason
        assert (result.configuration([0, 0.1, result.trajectory.duration])[:, i] == q[i]).all()
        X = hand.frame_pose(q, "tool0")
        X[2, 3] -= 0.05
        for planned in plan, plan_cartesian:
            moved = planned(Problem(hand, None, q, PoseGoal("tool0", X), group="manipulator"))
            assert moved.ok, moved.reason
    # Start and goal may have different measured positions of the finger.
    goal = q.copy()
    goal[2], goal[i] = 1.0, q[i] + 9e-5
    result = plan(Problem(hand, None, q, goal, group="manipulator"))
    assert result.configuration(result.trajectory.duration)[i] == q[i]
    goal[i] = q[i] + 2e-4
    with pytest.raises(PlanningError, match="may not move"):
        plan(Problem(hand, None, q, goal, group="manipulator"))


@pytest.mark.parametrize("excess", [1e-12, 1e-9, 1e-7, 1e-5, 1e-3])
def test_straight_lines_at_a_limit(ur5, excess):
    """Lines from beyond a limit, and to a pose of a joint beyond its limit."""
    q = HOME.copy()
    q[5] = ur5.limits.upper[5] + excess
    X = ur5.frame_pose(q, "tool0")
    up = X.copy()
    up[2, 3] += 0.05
    out = plan_cartesian(Problem(ur5, None, q, PoseGoal("tool0", up)))
    assert out.ok, out.reason
    np.testing.assert_array_equal(out.trajectory.position(0.0), q)
    assert out.trajectory.validate() == []
    near = q.copy()
    near[5] -= 0.1
    into = plan_cartesian(Problem(ur5, None, near, PoseGoal("tool0", X)))
    assert into.ok, into.reason
    assert into.trajectory.validate() == []
    assert into.rotation_deviation < 2e-3


# Poses at the limit of an arm's reach


def test_pose_tolerances_by_default(arm):
    """A pose that can be reached is reached exactly.

    Otherwise the arm reaches a pose within tolerances, and nothing beyond them.
    """
    goal = PoseGoal("tip", pose((0.9, 0.2, 0.5)))
    assert (goal.position_tolerance == 1e-4).all()
    assert (goal.rotation_tolerance == 1e-3).all()
    for q in np.random.default_rng(0).uniform(-1, 1, (20, 3)):
        X = arm.frame_pose(q, "tip")
        exact = inverse_kinematics(arm, PoseGoal("tip", X, 0.0, 0.0))
        default = inverse_kinematics(arm, PoseGoal("tip", X))
        assert exact.solutions.tobytes() == default.solutions.tobytes()
        for solution in default.solutions:
            assert np.abs(arm.frame_pose(solution, "tip") - X).max() < 3e-6
    # Three links of 0.4 m reach 1.2 m. No joint can rotate the tip about x.
    for beyond, turned, reached in (
        (9e-5, 0, True),
        (0, 9e-4, True),
        (9e-5, 9e-4, True),
        (1.2e-4, 0, False),
        (0, 1.2e-3, False),
        (0.01, 0, False),
    ):
        X = pose((1.2 + beyond, 0, 0.5), rpy=(turned, 0, 0))
        answer = inverse_kinematics(arm, PoseGoal("tip", X))
        assert bool(answer) == reached
        result = plan(Problem(arm, None, [0.5, 0.5, 0.5], PoseGoal("tip", X)))
        assert result.ok == reached
        assert not inverse_kinematics(arm, PoseGoal("tip", X, 0.0, 0.0))
        if reached:
            np.testing.assert_allclose(
                arm.frame_pose(answer.closest, "tip")[:3, 3], (1.2, 0, 0.5), atol=1e-4
            )
    # A free axis remains free.
    free = PoseGoal("tip", pose((1.2 + 9e-5, 0, 0.5)), rotation_tolerance=(0, 0, np.inf))
    assert inverse_kinematics(arm, free)


# Messages


def test_numbers_that_differ_look_different(ur5):
    assert told_apart(1.0, 2.0) == ("1", "2")
    assert told_apart(6.28318530718, 6.28318530818) == ("6.283185307", "6.283185308")
    assert told_apart(1.0, 1.0) == ("1", "1")
    assert len(set(told_apart(1.0, np.nextafter(1.0, 2.0)))) == 2
    limit = ur5.limits.velocity[0]
    fast = plan(
        Problem(
            ur5, None, HOME, HOME + 0.1, start_velocity={ur5.velocity_names[0]: limit * (1 + 1e-8)}
        )
    )
    assert fast.status is Status.START_VELOCITY
    said, bound = fast.reason.split(" is ")[1].split(", beyond its limit ")
    assert float(said) > float(bound)
    hand = robosim.load_robot("ur5_gripper")
    q = np.append(HOME, 0.0123456789)
    goal = q + np.array([0.1, 0, 0, 0, 0, 0, 1.0001e-4])
    with pytest.raises(PlanningError) as refused:
        plan(
            Problem(
                hand, None, q + 1e5 * np.eye(7)[6], goal + 1e5 * np.eye(7)[6], group="manipulator"
            )
        )
    there, here = str(refused.value).split(" is ")[1].split(" at the start")[0].split(" and ")
    assert float(there) > float(here)


# Every planner, every robot


class Mover(NamedTuple):
    """A robot, one of its groups, and the coordinates that the group moves."""

    name: str
    model: Model
    group: str
    columns: Columns


def movers() -> list[Mover]:
    out = []
    for name in bundled_robots():
        model = robosim.load_robot(name)
        kinds = joint_kinds(model)
        for group in model.groups.values():
            if any(kinds[joint] == "floating" for joint in group.joints):
                continue
            columns = make_columns(model, group.joints)
            if columns.q:
                out.append(Mover(name, model, group.name, columns))
    return out


def free_motion(mover: Mover, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two configurations with free straight motions between them, some coordinates at a limit."""
    model, columns = mover.model, mover.columns
    scene, moving = Scene().compile(model), list(columns.q)
    rest = np.clip(model.neutral(), model.limits.lower, model.limits.upper)

    def shifted(q: np.ndarray, by: float) -> np.ndarray:
        out = q.copy()
        x = q[moving] + rng.uniform(-by, by, len(moving))
        at_limit = rng.uniform(size=len(moving)) < 0.2
        for bound in columns.lower, columns.upper:
            x = np.where(at_limit & (np.abs(x - bound) < 0.7), bound, x)
        out[moving] = np.clip(x, columns.lower, columns.upper)
        return out

    for _ in range(200):
        a = shifted(rest, 0.6)
        b = shifted(a, 0.2)
        if not scene.collides(a) and scene.edge_free(a, b, 0.005).free:
            return a, b
    raise AssertionError(f"no free motion of {mover.name}")


@pytest.mark.parametrize("planner", sorted(available_planners()))
def test_noise_of_any_size(planner):
    """Noise in start, goal, via points and start velocity never prevents a valid result.

    Complete planners return a plan.
    """
    rng = np.random.default_rng(34)
    everyone = movers()
    solved = 0
    runs = repeats(75, 4000)
    for k in range(runs):
        mover = everyone[k % len(everyone)]
        model, columns = mover.model, mover.columns
        moving, unit = list(columns.q), np.where(np.array(columns.units) == "m", 0.1, 1.0)

        def noise(scale=unit) -> np.ndarray:
            """Noise of one size for all coordinates, up to 1e-3 rad and 1e-4 m."""
            return 10 ** rng.uniform(-15, -3) * rng.uniform(-1, 1, len(scale)) * scale

        def noisy(q: np.ndarray, moving=moving, noise=noise) -> np.ndarray:
            out = q.copy()
            out[moving] += noise()
            return out

        a, b = free_motion(mover, rng)
        start, goal = noisy(a), noisy(b)
        via = [noisy(q) for q in ([], [a], [b], [a, a], [a, b, b], [a, b, a, b])[rng.integers(6)]]
        v = np.zeros(model.n_v)
        if rng.uniform() < 0.6:
            v[list(columns.v)] = noise()
            # A coordinate at a limit with an outward velocity could not stop within the limit.
            x, w = start[moving], v[list(columns.v)]
            out = ((x < columns.lower + 2e-3) & (w < 0)) | ((x > columns.upper - 2e-3) & (w > 0))
            v[list(columns.v)] = np.where(out, -w, w)
        problem = Problem(
            model, None, start, JointGoal(goal), [JointGoal(q) for q in via], v, mover.group
        )
        options = ({}, {"jerk": 500.0}, {"optimizer_iterations": 5}, {"torque_limits": False})[
            k % 4
        ]
        what = f"{k}: {mover.name}, {mover.group}, {options}"
        try:
            result = plan(problem, planner=planner, seed=k, **options)
        except RobosimError as error:
            raise AssertionError(f"{what}: {error}") from error
        if not result.ok:
            assert not available_planners()[planner].complete, f"{what}: {result.reason}"
            continue
        solved += 1
        trajectory = result.trajectory
        given = np.where(np.abs(v).max() < 1e-6, 0.0, v[list(columns.v)])
        end = np.clip(goal[moving], columns.lower, columns.upper)
        np.testing.assert_array_equal(trajectory.position(0.0), start[moving], what)
        np.testing.assert_allclose(trajectory.velocity(0.0), given, **ROUNDED, err_msg=what)
        np.testing.assert_allclose(
            trajectory.position(trajectory.duration), end, atol=1e-9, err_msg=what
        )
        assert trajectory.validate() == [], what
        if k % 10 == 0:
            again = plan(problem, planner=planner, seed=k, **options)
            assert again.trajectory.coefficients.tobytes() == trajectory.coefficients.tobytes(), (
                what
            )
    assert solved >= runs / 2 or not available_planners()[planner].complete
