"""Full turns: goals equal up to 2 pi, the shortest path to any of them, and goals as given."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from robosim import _engine
from robosim.errors import PlanningError
from robosim.geometry import pose
from robosim.planners import (
    JointGoal,
    PoseGoal,
    Problem,
    SearchStatus,
    Status,
    available_planners,
    goal_configurations,
    plan,
    prepare,
    search,
)
from robosim.planners.stages import sampling_window
from robosim.scene import Scene

TURN = 2 * np.pi
# Iteration limit for searches without a solution. Solvable worlds here take a few hundred at most.
FEW = 20_000


def turned(columns, goal, most=None):
    """All configurations within limits that differ from goal (n_q,) by whole turns.

    Joints without limits differ by up to `most` turns.
    """
    choices = []
    for i, periodic, lower, upper in zip(
        columns.q, columns.periodic, columns.lower, columns.upper, strict=True
    ):
        if not periodic:
            choices.append([goal[i]])
            continue
        least = -most if np.isinf(lower) else int(np.ceil((lower - goal[i]) / TURN))
        greatest = most if np.isinf(upper) else int(np.floor((upper - goal[i]) / TURN))
        choices.append([goal[i] + TURN * k for k in range(least, greatest + 1)])
    out = []
    for positions in itertools.product(*choices):
        q = goal.copy()
        q[list(columns.q)] = positions
        out.append(q)
    return np.array(out)


def random_world(rng, model):
    """A few posts around the arm, and two free configurations."""
    scene = Scene("posts")
    for i in range(rng.integers(2, 6)):
        angle, r = rng.uniform(-np.pi, np.pi), rng.uniform(0.25, 0.25 + 0.4 * model.n_q)
        scene.add_cylinder(
            f"post{i}",
            rng.uniform(0.02, 0.08),
            1.0,
            pose((r * np.cos(angle), r * np.sin(angle), 0.5)),
        )
    compiled = scene.compile(model)
    lower, upper = model.limits.lower, model.limits.upper
    if not np.isfinite(lower).all():
        lower, upper = np.full(model.n_q, -4.0), np.full(model.n_q, 4.0)
    ends = []
    while len(ends) < 2:
        q = rng.uniform(lower, upper)
        if not compiled.collides(q):
            ends.append(q)
    return scene, compiled, ends[0], ends[1]


@pytest.mark.parametrize("kind", ["revolute of two", "revolute of three", "continuous"])
def test_free_straight_motions_are_found(robots, kind):
    """If the straight motion to any turn is free, the plan is no longer than the shortest of these.

    Tested in 60 random worlds.
    """
    n = 3 if kind == "revolute of three" else 2
    model = robots.planar_arm(n, continuous=kind == "continuous", limit=TURN)
    rng = np.random.default_rng(len(kind))
    nearest_was_blocked = 0
    for _ in range(60):
        scene, compiled, start, goal = random_world(rng, model)
        columns = prepare(Problem(model, scene, start, goal)).columns
        ends = turned(columns, goal, most=2)
        lengths = np.linalg.norm(ends - start, axis=1)
        order = np.argsort(lengths)
        # A coarser check refuses more. The plan must find free what this check finds free.
        best = next((i for i in order if compiled.edge_free(start, ends[i], 0.02).free), None)
        if best is None:
            continue
        nearest_was_blocked += best != order[0]
        result = plan(Problem(model, scene, start, goal), max_iterations=FEW)
        assert result.ok, result.reason
        assert result.path_length <= lengths[best] * (1 + 1e-12) + 1e-12
        # The end is a goal.
        k = (result.path[-1] - goal) / TURN
        np.testing.assert_allclose(k, np.round(k), atol=1e-12)
        assert not columns.excess(result.path[-1]).any()
        # A goal as given is reached exactly, if it is reached.
        exact = plan(
            Problem(model, scene, start, JointGoal(goal, full_turns=False)), max_iterations=FEW
        )
        straight = compiled.edge_free(start, goal, 0.02).free
        assert exact.ok or not straight
        if exact.ok:
            np.testing.assert_array_equal(exact.path[-1], goal)
        if straight:
            assert exact.path_length <= np.linalg.norm(goal - start) * (1 + 1e-12)
    assert nearest_was_blocked >= 3, "the worlds are too easy to show anything"


def wall_behind():
    """Wall that keeps an arm from turning through pi, and posts that it must fold to pass."""
    scene = Scene("behind")
    scene.add_box("wall", (1.2, 0.04, 1.0), pose((-0.7, 0, 0.5)))
    for angle in (-1.9, -1.4, -0.7, 0.0, 0.7, 1.4, 1.9):
        at = pose((0.65 * np.cos(angle), 0.65 * np.sin(angle), 0.5))
        scene.add_cylinder(f"post at {angle}", 0.05, 1.0, at)
    return scene


@pytest.mark.parametrize("planner", sorted(available_planners()))
@pytest.mark.parametrize("continuous", [False, True])
def test_no_straight_motion_is_free(robots, check_plan, planner, continuous):
    """The nearest turn cannot be reached, nor any turn in a straight line.

    The trees have to connect whole turns away.
    """
    model = robots.planar_arm(2, continuous=continuous, limit=TURN)
    scene = wall_behind()
    start, goal = np.array([2.3, 0.0]), np.array([-2.3, 0.0])
    problem = Problem(model, scene, start, goal)
    compiled, columns = scene.compile(model), prepare(problem).columns
    ends = turned(columns, goal, most=1)
    assert not any(compiled.edge_free(start, q, 0.001).free for q in ends)
    nearest = ends[np.argmin(np.linalg.norm(ends - start, axis=1))]
    assert nearest[0] == pytest.approx(-2.3 + TURN)
    result = plan(problem, planner=planner, max_iterations=FEW)
    check_plan(problem, result)
    assert result.path[-1][0] == pytest.approx(-2.3, abs=1e-12)
    # With the turn behind the wall as the only goal there is no path.
    given = Problem(model, scene, start, JointGoal(nearest, full_turns=False))
    shut = plan(given, planner=planner, max_iterations=2000)
    assert shut.status is Status.NO_PATH
    again = plan(problem, planner=planner, max_iterations=FEW)
    assert again.path.tobytes() == result.path.tobytes()


def test_limits_are_kept_on_the_way_to_another_turn(robots, check_plan):
    """With limits of a turn and more, another turn is a goal only within the limits.

    The path to it stays within the limits, too.
    """
    scene = wall_behind()
    start, goal = np.array([2.3, 0.0]), np.array([-2.3, 0.0])
    for limit, ends_at in ((3.3, -2.3), (4.2, -2.3)):
        model = robots.planar_arm(2, limit=limit)
        result = plan(Problem(model, scene, start, goal), max_iterations=FEW)
        check_plan(Problem(model, scene, start, goal), result)
        assert result.path[-1][0] == pytest.approx(ends_at, abs=1e-12)


def test_pose_goals_turn_too(robots, check_plan):
    """Inverse kinematics returns the nearest turn. If it is blocked, another turn is reached."""
    model = robots.planar_arm(2, limit=TURN)
    problem = Problem(
        model, wall_behind(), [2.3, 0.0], PoseGoal("tip", model.frame_pose([-2.3, 0.0], "tip"))
    )
    result = plan(problem, max_iterations=FEW)
    check_plan(problem, result)
    assert result.path[-1][0] == pytest.approx(-2.3, abs=1e-5)


FORMS = {
    "array": lambda q: JointGoal(q, full_turns=False),
    "names": lambda q: JointGoal({"joint1": q[0], "joint2": q[1]}, full_turns=False),
    "group": lambda q: JointGoal(list(q), full_turns=False),
    "several": lambda q: [
        JointGoal(q, full_turns=False),
        JointGoal(np.subtract(q, 0.3), full_turns=False),
    ],
}


@pytest.mark.parametrize("form", FORMS)
def test_unwinding(robots, check_plan, form):
    """From 2 pi to 0, no joint moves by default. With the goal as given, the joint unwinds."""
    model = robots.planar_arm(2, limit=TURN)
    start = np.array([TURN, 0.2])
    stays = plan(Problem(model, None, start, [0.0, 0.2]))
    assert stays.path_length == pytest.approx(0, abs=1e-12)
    assert stays.reason.startswith(
        "the goal is reached full turns away, 'joint1' by 1; JointGoal(..., full_turns=False)"
    )
    problem = Problem(model, None, start, FORMS[form]([0.0, 0.2]), group="arm")
    result = plan(problem)
    check_plan(problem, result)
    assert result.goal_index == 0
    assert result.reason == ""
    np.testing.assert_array_equal(result.path[-1], [0.0, 0.2])
    assert result.trajectory.duration >= np.pi  # at 2 rad/s
    # As a via point, it is passed as given. The remaining path may then have no length.
    problem = Problem(model, None, start, [0.0, 0.2], via=[JointGoal([0.0, 0.2], full_turns=False)])
    by_way = plan(problem)
    check_plan(problem, by_way)
    assert by_way.path[-1][0] == 0.0
    assert by_way.path_length == pytest.approx(TURN)


def test_unwinding_to_a_goal_of_the_scene(arm, robots):
    """A name of the scene's goals or of a state, with and without full turns."""
    model = robots.planar_arm(2, limit=TURN)
    scene = Scene("named")
    scene.set_goal({"joint1": 0.0}, "home")
    start = [TURN, 0.2]
    assert plan(Problem(model, scene, start, "home")).path_length == pytest.approx(0, abs=1e-12)
    for name, end in (("home", 0.0), ("left", 0.3)):
        result = plan(Problem(model, scene, start, JointGoal(name, full_turns=False)))
        assert result.path[-1][0] == end
    from robosim.scene import LinkPose

    scene.set_goal(LinkPose("tip", np.eye(4)), "posed")
    with pytest.raises(PlanningError, match=r"'posed'.*pose of 'tip'"):
        plan(Problem(model, scene, start, JointGoal("posed", full_turns=False)))
    for wrong in (None, 1, "no"):
        with pytest.raises(PlanningError, match="full_turns is"):
            JointGoal([0.0, 0.0], full_turns=wrong)


def test_each_goal_says_for_itself(robots):
    """One of two goals is wanted as given. Only the other may be reached whole turns away."""
    model = robots.planar_arm(2, limit=TURN)
    goals = [JointGoal([-0.5, 0.0], full_turns=False), JointGoal([-0.1, 0.0])]
    problem = Problem(model, None, [TURN - 0.4, 0.0], goals)
    prepared = prepare(problem)
    targets = goal_configurations(prepared, prepared.goals, prepared.start)
    assert targets.goal_index == (1, 0)
    assert targets.full_turns == (True, False)
    result = plan(problem)
    assert result.goal_index == 1
    assert result.path[-1][0] == pytest.approx(TURN - 0.1)


@pytest.mark.parametrize("seed", range(20))
def test_all_turns_come_nearest_first(robots, seed):
    """The enumeration is the product of all turns, sorted by length, each exactly once."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    model = robots.planar_arm(
        n, continuous=bool(seed % 2), limit=float(rng.uniform(3.2, 14.0 if n < 4 else 7.0))
    )
    columns = prepare(Problem(model, None, model.neutral(), model.neutral())).columns
    low, high = (-3.0, 3.0) if seed % 2 else (columns.lower, columns.upper)
    start = rng.uniform(low, high, n)
    goals = rng.uniform(low, high, (3, n))
    full_turns = np.array([True, False, True])
    where = (columns.q, columns.lower, columns.upper, columns.periodic, full_turns)
    q, of = _engine.full_turns(start, goals, *where, 100_000)
    expected = []
    for i, goal in enumerate(goals):
        if not full_turns[i]:
            expected.append(goal[None])
        elif seed % 2:  # the nearest turn of each joint and its neighbors
            nearest = goal - TURN * np.round((goal - start) / TURN)
            expected.append(turned(columns, nearest, most=1))
        else:
            expected.append(turned(columns, goal))
    assert [of.count(i) for i in range(3)] == [len(e) for e in expected]
    lengths = np.linalg.norm(q - start, axis=1)
    assert (np.diff(lengths) >= -1e-12).all()
    for i, e in enumerate(expected):
        mine = q[np.array(of) == i]
        apart = np.abs(mine[:, None] - e[None]).max(axis=2)
        assert (apart.min(axis=1) < 1e-9).all()
        assert (apart.min(axis=0) < 1e-9).all()
    assert len(_engine.full_turns(start, goals, *where, 2)[1]) == 2


def test_a_longer_way_round_gives_way_to_another_turn(robots):
    """The path around a post to the nearest turn is longer than the straight one to the next.

    The plan takes the straight one.
    """
    model = robots.planar_arm(1, limit=TURN)
    shut = Scene("post")
    shut.add_cylinder("post", 0.05, 1.0, pose((-0.3, 0, 0.5)))
    result = plan(Problem(model, shut, [2.7], [-2.7]))
    assert result.ok
    assert result.path[-1][0] == -2.7
    model = robots.planar_arm(2, limit=TURN)
    scene = Scene("post")
    scene.add_cylinder("post", 0.3, 1.0, pose((-0.55, 0, 0.5)))
    problem = Problem(model, scene, [1.8, 0.0], [-1.8, 0.0])
    result = plan(problem)
    assert result.path_length == pytest.approx(3.6)
    # The search alone finds the path around the post.
    prepared = prepare(problem)
    targets = goal_configurations(prepared, prepared.goals, prepared.start)
    found = search(prepared, targets.q, full_turns=targets.full_turns)
    assert found.status is SearchStatus.FOUND
    assert len(found.path) > 2


@pytest.mark.parametrize("planner", sorted(available_planners()))
def test_planners_end_whole_turns_from_a_goal(planner, robots):
    """With `turns` a path may leave the query's bounds, but not the limits.

    It ends whole turns from its goal.
    """
    from robosim.planners.registry import SearchQuery, Turns

    model = robots.planar_arm(2, limit=TURN)
    prepared = prepare(Problem(model, wall_behind(), [2.3, 0.0], [-2.3, 0.0]))
    columns = prepared.columns
    goals = goal_configurations(prepared, prepared.goals, prepared.start).q
    lower, upper = sampling_window(columns, prepared.start, goals)
    query = SearchQuery(
        prepared.scene, prepared.start, goals, columns.q, lower, upper, max_iterations=FEW
    )
    query.turns = Turns(np.array([True]), columns.periodic, columns.lower, columns.upper)
    found = available_planners()[planner].search(query)
    assert found.status is SearchStatus.FOUND
    assert found.goal_index == 0
    turns = (found.path[-1] - goals[0]) / TURN
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-12)
    assert np.round(turns[0]) == -1
    assert (found.path >= columns.lower).all()
    assert (found.path <= columns.upper).all()
    alone = dataclasses.replace(query, turns=None, max_iterations=1000)
    assert available_planners()[planner].search(alone).status is SearchStatus.EXHAUSTED
