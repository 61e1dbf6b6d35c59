"""Optimized paths: never worse, free, within limits, and with the requested clearance."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from robosim import _engine
from robosim.errors import PlanningError
from robosim.geometry import pose
from robosim.planners import (
    Problem,
    SearchStatus,
    goal_configurations,
    optimize,
    plan,
    prepare,
    search,
    simplify,
)
from robosim.planners.stages import path_length
from robosim.scene import Scene, generate, load_scene


def found_path(problem: Problem, *, shortcuts: int = 40, seed: int = 0):
    prepared = prepare(problem)
    goals = goal_configurations(prepared, prepared.goals, prepared.start).q
    found = search(prepared, goals, seed=seed)
    assert found.status is SearchStatus.FOUND
    return prepared, simplify(prepared, found.path, iterations=shortcuts)


def resampled(path: np.ndarray, steps: int) -> np.ndarray:
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    at = np.linspace(0, along[-1], steps + 1)
    return np.column_stack([np.interp(at, along, column) for column in path.T])


def least_distance(prepared, path: np.ndarray, columns=()) -> float:
    """Least distance of moving shapes from others, at points 0.01 apart.

    Points within a tenth of the path from its ends are left out.
    """
    points = resampled(path, max(int(path_length(path) / 0.01), 20))
    part = len(points) // 10
    return min(prepared.scene.min_distance(q)[0] for q in points[part:-part])


def assert_valid(prepared, before: np.ndarray, after: np.ndarray) -> None:
    np.testing.assert_array_equal(after[[0, -1]], before[[0, -1]])
    columns = list(prepared.columns.q)
    assert (after[:, columns] >= prepared.columns.lower).all()
    assert (after[:, columns] <= prepared.columns.upper).all()
    still = np.setdiff1d(np.arange(before.shape[1]), columns)
    assert (after[:, still] == before[0, still]).all()
    for a, b in pairwise(after):
        # Edges are no closer to obstacles than the planner's resolution of 5 mm allows.
        assert prepared.scene.edge_free(a, b, resolution=5e-4)
    for q in resampled(after, 300):
        assert not prepared.scene.collides(q)


@pytest.mark.parametrize("clearance", [0.0, 0.03])
@pytest.mark.parametrize("family", ["bookshelf_small", "cage", "table_pick"])
def test_never_worse(family, clearance, ur5):
    scene = generate(family, seed=4, model=ur5)
    prepared, path = found_path(
        dataclasses.replace(Problem(ur5, scene), clearance=clearance), shortcuts=5
    )
    better = optimize(prepared, path)
    assert_valid(prepared, path, better)
    if clearance == 0:
        assert path_length(better) <= path_length(path)
    np.testing.assert_array_equal(optimize(prepared, path), better)  # repeatable


def test_pulls_taut(robots):
    """A rough path around a pillar becomes about as short as a hundred shortcuts make it."""
    problem = Problem(
        robots.planar_arm(), robots.pillar_scene(), [0.9, -0.2, 0.1], [-0.9, 0.2, -0.1]
    )
    prepared, rough = found_path(problem, shortcuts=0)
    short = optimize(prepared, rough)
    assert_valid(prepared, rough, short)
    _, reference = found_path(problem, shortcuts=100)
    assert path_length(short) < 0.8 * path_length(rough)
    assert path_length(short) < 1.1 * path_length(reference)


def test_keeps_the_clearance(robots):
    """The clearance is kept where there is space, up to the few percent that the penalty allows."""
    for clearance in (0.02, 0.1):
        problem = Problem(
            robots.planar_arm(),
            robots.pillar_scene(),
            [0.9, -0.2, 0.1],
            [-0.9, 0.2, -0.1],
            clearance=clearance,
        )
        prepared, path = found_path(problem)
        better = optimize(prepared, path)
        assert_valid(prepared, path, better)
        assert least_distance(prepared, path) < clearance / 2
        assert least_distance(prepared, better) > 0.9 * clearance


def test_cost_is_what_it_says(robots):
    """The initial cost agrees with the formula in the header, for distances from the scene."""
    clearance, smoothness = 0.05, 0.03
    problem = Problem(
        robots.planar_arm(), robots.pillar_scene(), [0.9, -0.2, 0.1], [-0.9, 0.2, -0.1]
    )
    prepared, path = found_path(problem)
    columns = list(prepared.columns.q)
    result = _engine.optimize_path(
        prepared.scene,
        path,
        columns,
        prepared.columns.lower,
        prepared.columns.upper,
        clearance=clearance,
        smoothness=smoothness,
    )
    assert result.improved
    assert result.cost_after < result.cost_before
    length = path_length(path)
    steps = int(np.clip(np.ceil(length / 0.08), 8, 96))
    x = resampled(path, steps)
    cost = steps / (2 * length**2) * (np.diff(x, axis=0) ** 2).sum()
    cost += smoothness**2 * steps**3 / (2 * length**2) * (np.diff(x, n=2, axis=0) ** 2).sum()
    missing = [
        max(0.0, clearance - d) / clearance
        for q in x[1:-1]
        for a, b, d in prepared.scene.collisions(q, clearance)
        if "pillar" in (a, b)
    ]
    # Links of the arm keep their distance from each other. Only the pillar counts here.
    weights = [(result.cost_before - cost) * 2 * steps / np.square(missing).sum()]
    assert min(abs(weights[0] / b - 1) for b in (30, 300, 3000, 30000)) < 1e-9


def test_limits_are_respected(robots):
    """A carriage passes a block with less clearance than requested, since its limits leave less."""
    scene = Scene("block")
    scene.add_box("block", (0.3, 1.35, 1.0), pose((1.0, 1.025, 0)))
    problem = Problem(
        robots.gantry(),
        scene,
        {"x": 0.3, "y": 1.8},
        {"x": 1.7, "y": 1.8},
        group=["x", "y"],
        clearance=0.3,
    )
    prepared, path = found_path(problem)
    better = optimize(prepared, path)
    assert_valid(prepared, path, better)
    assert better[:, 1].max() == prepared.columns.upper[1]
    assert least_distance(prepared, better) > least_distance(prepared, path)


def test_plan_with_clearance(ur5, check_plan):
    scene = generate("bookshelf_small", seed=1, model=ur5)
    problem = Problem(ur5, scene, clearance=0.02)
    result = plan(problem, seed=1)
    check_plan(problem, result)
    assert "optimize" in result.timings
    plain = dataclasses.replace(problem, clearance=0.0)
    assert "optimize" not in plan(plain, seed=1).timings
    rounder = plan(plain, seed=1, optimizer_iterations=60)
    check_plan(plain, rounder)
    assert rounder.path_length < plan(plain, seed=1).path_length


def test_refused(ur5):
    for wrong in (-0.1, np.nan, np.inf, "far", True):
        with pytest.raises(PlanningError, match="clearance is"):
            Problem(ur5, clearance=wrong)
    with pytest.raises(PlanningError, match="optimizer_iterations is -1"):
        plan(Problem(ur5, goal=ur5.neutral()), optimizer_iterations=-1)


def test_nothing_to_do(robots):
    """A path of one point, and a straight line in free space, are returned unchanged."""
    problem = Problem(robots.planar_arm(), Scene("empty"), [0, 0, 0], [1, 1, 1])
    prepared = prepare(problem)
    line = np.array([[0.0, 0, 0], [1, 1, 1]])
    np.testing.assert_array_equal(optimize(prepared, line), line)
    np.testing.assert_array_equal(optimize(prepared, line[:1]), line[:1])
    still = line[[0, 0]]
    np.testing.assert_array_equal(optimize(prepared, still), still)


def sign_changes(trajectory) -> float:
    """Sign changes of the acceleration per joint and second.

    Accelerations below a tenth of the limit are ignored.
    """
    t = np.unique(np.concatenate([np.linspace(0, trajectory.duration, 20001), trajectory.breaks]))
    share = trajectory.acceleration(t) / trajectory.limits.acceleration
    count = 0
    for joint in share.T:
        signs = np.sign(joint[np.abs(joint) > 0.1])
        count += int((np.diff(signs) != 0).sum())
    return count / share.shape[1] / trajectory.duration


def test_motions_with_a_clearance_do_not_chatter(ur5):
    """Sign changes are about 2 per joint and second, nearly as few as on a few long edges, 1.4.

    There are 6 to 7 if each point is rounded alone.
    """
    plain, wide = [], []
    for name in ("table_pick", "table_under_pick", "box", "bookshelf_small", "bookshelf_tall"):
        scene = load_scene(name, model=ur5)
        for seed in range(2):
            for clearance, into in ((0.0, plain), (0.02, wide), (0.04, wide)):
                result = plan(Problem(ur5, scene, goal="goal", clearance=clearance), seed=seed)
                assert result.ok, result.reason
                assert result.trajectory.validate() == []
                into.append((sign_changes(result.trajectory), result.trajectory.duration))
    plain, wide = np.mean(plain, axis=0), np.mean(wide, axis=0)
    assert wide[0] < 3.5
    assert wide[1] < 1.1 * plain[1]


def test_smooth_runs_are_splines_through_the_middles(robots):
    """For equidistant points on an arc, the curve touches each edge in its middle.

    It is curved everywhere except at its ends.
    """
    model = robots.planar_arm()
    prepared = prepare(Problem(model, None, [0.5, 0, 0], [0.5, 0, 0]))
    angle = np.linspace(0, np.pi / 2, 9)
    path = np.stack([0.5 * np.cos(angle), 0.5 * np.sin(angle), 0 * angle], axis=1)
    curve = _engine.blend_corners(prepared.scene, path, [0, 1, 2])
    assert len(curve.stops) == 0
    assert len(curve.coefficients) == 9  # seven corners and half an edge at either end
    bends = np.linalg.norm(curve.coefficients[:, 2], axis=1)
    np.testing.assert_allclose(bends[[0, -1]], 0, atol=1e-12)
    np.testing.assert_allclose(bends[1:-1], bends[1], rtol=1e-9)
    starts = curve.coefficients[1:, 0]
    np.testing.assert_allclose(starts, (path[1:] + path[:-1]) / 2, atol=1e-12)
    # Edges that grow by a tenth each: the curve is C1, and faster on longer edges.
    steps = 0.05 * 1.1 ** np.arange(6)
    turn = 0.2 * np.arange(6)
    edges = steps[:, None] * np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
    path = np.concatenate([np.zeros((1, 3)), np.cumsum(edges, axis=0)])
    curve = _engine.blend_corners(prepared.scene, path, [0, 1, 2])
    h = np.diff(curve.breaks)[:-1, None]
    c = curve.coefficients
    np.testing.assert_allclose(c[:-1, 0] + h * (c[:-1, 1] + h * c[:-1, 2]), c[1:, 0], atol=1e-12)
    np.testing.assert_allclose(c[:-1, 1] + 2 * h * c[:-1, 2], c[1:, 1], atol=1e-12)
    assert np.linalg.norm(c[-1, 1]) == pytest.approx(1.1**5)
    # Uneven edges, and turns of more than 45 degrees, are rounded one by one.
    for corner in (
        [[0, 0, 0], [0.2, 0, 0], [0.4, 0.1, 0], [0.9, 0.2, 0]],
        [[0, 0, 0], [0.2, 0, 0], [0.2, 0.2, 0]],
    ):
        curve = _engine.blend_corners(prepared.scene, np.array(corner, dtype=float), [0, 1, 2])
        np.testing.assert_allclose(np.linalg.norm(curve.coefficients[:, 1], axis=1)[0], 1.0)
        assert np.linalg.norm(curve.coefficients[-1, 1]) == pytest.approx(
            1.0 if len(corner) == 3 else 1.118, abs=1e-3
        )
