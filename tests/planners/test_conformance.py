"""Conditions on every registered planner, bundled or installed, on small problems."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from robosim.geometry import pose
from robosim.planners import Problem, SearchQuery, SearchStatus, available_planners, plan, prepare
from robosim.planners.stages import sampling_window
from robosim.scene import Scene


def walled() -> Scene:
    """A wall with a gap that the gantry's carriage has to find."""
    scene = Scene("walled")
    scene.add_box("wall_low", (0.1, 0.7, 1.0), pose((1.0, 0.45, 0)))
    scene.add_box("wall_high", (0.1, 0.9, 1.0), pose((1.0, 1.65, 0)))
    return scene


def blocks() -> Scene:
    scene = Scene("blocks")
    scene.add_box("block", (0.4, 2.0, 1.0), pose((0.0, 0.8, 0)))
    scene.add_box("post", (0.2, 0.2, 1.0), pose((0.0, -1.2, 0)))
    return scene


PROBLEMS = {
    "arm around a pillar": lambda r: Problem(
        r.planar_arm(), r.pillar_scene(), [0.9, -0.2, 0.1], [-0.9, 0.2, -0.1]
    ),
    "arm of seven joints": lambda r: Problem(
        r.planar_arm(7), r.pillar_scene(), [1.0] + [0.3] * 6, [-1.0] + [-0.3] * 6
    ),
    "continuous joints": lambda r: Problem(
        r.planar_arm(continuous=True), r.pillar_scene(), [9.0, -0.2, 0.1], [2.5, 0.2, -0.1]
    ),
    "gantry through a gap": lambda r: Problem(
        r.gantry(), walled(), {"x": 0.3, "y": 0.3}, {"x": 1.7, "y": 1.7, "turn": 1}
    ),
    "rover around blocks": lambda r: Problem(
        r.rover(),
        blocks(),
        {"drive/x": -1, "drive/y": 0.5},
        {"drive/x": 1.0, "drive/y": 0.5, "drive/theta": 3.0, "pan": 1},
    ),
    "free space": lambda r: Problem(r.planar_arm(), None, [0, 0, 0], [1, 1, 1]),
}


def query_of(problem: Problem, **changes) -> SearchQuery:
    from robosim.planners import goal_configurations

    prepared = prepare(problem)
    goals = goal_configurations(prepared, prepared.goals, prepared.start).q
    lower, upper = sampling_window(prepared.columns, prepared.start, goals)
    query = SearchQuery(prepared.scene, prepared.start, goals, prepared.columns.q, lower, upper)
    return dataclasses.replace(query, **changes)


@pytest.fixture(params=sorted(available_planners()))
def planner(request):
    return available_planners()[request.param]


@pytest.mark.parametrize("name", PROBLEMS)
def test_path_is_valid(planner, name, robots):
    """The path leads from the start to a goal, within bounds.

    Only the query's columns move, and every edge is free at its samples.
    """
    query = query_of(PROBLEMS[name](robots))
    found = planner.search(query)
    if not planner.complete and found.status is not SearchStatus.FOUND:
        return
    assert found.status is SearchStatus.FOUND
    assert (found.path[0] == query.start).all()
    assert (found.path[-1] == query.goals[found.goal_index]).all()
    moving = list(query.columns)
    still = [i for i in range(len(query.start)) if i not in moving]
    assert (found.path[:, still] == query.start[still]).all()
    assert (found.path[:, moving] >= query.lower - 1e-12).all()
    assert (found.path[:, moving] <= query.upper + 1e-12).all()
    for a, b in zip(found.path[:-1], found.path[1:], strict=True):
        for t in np.linspace(0, 1, 60):
            assert not query.scene.collides(a + t * (b - a))


@pytest.mark.parametrize("name", PROBLEMS)
def test_plan_is_valid(planner, name, robots, check_plan):
    problem = PROBLEMS[name](robots)
    result = plan(problem, planner=planner.name)
    if planner.complete or result.ok:
        check_plan(problem, result)


def test_seed_decides(planner, robots):
    """Equal queries have the same path, bit for bit."""
    if not planner.deterministic:
        pytest.skip(f"{planner.name} says that it is not deterministic")
    query = query_of(PROBLEMS["arm around a pillar"](robots))
    first, again = planner.search(query), planner.search(query)
    assert first.path.tobytes() == again.path.tobytes()
    assert first.iterations == again.iterations


def closed_query(robots, **changes) -> SearchQuery:
    """The gantry before a wall without a gap, with its goal behind the wall."""
    scene = Scene("closed")
    scene.add_box("wall", (0.1, 6.0, 1.0), pose((1.0, 1.0, 0)))
    problem = Problem(robots.gantry(), scene, {"x": 0.3, "y": 0.3}, {"x": 1.7, "y": 1.7})
    return query_of(problem, **changes)


def test_several_goals(planner, robots):
    """The planner reaches a goal that is not behind the wall, instead of the one behind it."""
    query = closed_query(robots)
    near = query.start.copy()
    near[:2] = 0.6, 1.5
    found = planner.search(dataclasses.replace(query, goals=np.vstack([query.goals, near])))
    assert found.status is SearchStatus.FOUND
    assert found.goal_index == 1
    assert (found.path[-1] == near).all()


def test_gives_up(planner, robots):
    """With its goal behind a closed wall, a planner stops at its iteration limit or deadline.

    The status says which.
    """
    found = planner.search(closed_query(robots, max_iterations=200))
    assert found.status is SearchStatus.EXHAUSTED
    assert found.path.shape == (0, 4)
    assert found.goal_index == -1
    found = planner.search(closed_query(robots, max_iterations=10**9, deadline_s=0.05))
    assert found.status is (SearchStatus.TIMEOUT if planner.complete else found.status)
    assert found.status is not SearchStatus.FOUND
    found = planner.search(
        closed_query(robots, max_iterations=10**9, deadline_s=60.0, stop=lambda: True)
    )
    assert found.status is (SearchStatus.CANCELLED if planner.complete else found.status)
    assert found.status is not SearchStatus.FOUND
