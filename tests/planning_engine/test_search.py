"""RRT-Connect, shortcuts and blends: valid results, every status, reproducible by seed."""

from __future__ import annotations

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from robosim import _engine
from robosim.geometry import Shape, pose

# The planner's clearance of 2.5 mm is not required again: other samples than the planner's see the
# same edge.
PROOF = 1e-5


def limits(model):
    return np.clip(model.limits.lower, -3, 3), np.clip(model.limits.upper, -3, 3)


def search(scene, model, start, goals, **options):
    options.setdefault("columns", list(range(model.n_q)))
    lower, upper = limits(model)
    options.setdefault("lower", lower[options["columns"]])
    options.setdefault("upper", upper[options["columns"]])
    return _engine.rrt_connect(scene, start, np.atleast_2d(goals), **options)


def dense(path, n=150):
    return np.concatenate(
        [a + np.linspace(0, 1, n)[:, None] * (b - a) for a, b in itertools.pairwise(path)]
    )


def length(path):
    return np.linalg.norm(np.diff(path, axis=0), axis=1).sum()


def free_pair(problems, model, scene, seed):
    rng = np.random.default_rng(seed)
    while True:
        a, b = problems.random_q(model, rng), problems.random_q(model, rng)
        if not scene.collides(a) and not scene.collides(b):
            return a, b


@pytest.fixture(scope="module")
def passage(problems):
    """The two-link arm between two posts.

    Straight ahead is blocked, so the arm has to fold to change sides.
    """
    model = problems.planar_arm()
    posts = [pose((0.75, 0.0, 0)), pose((-0.7, 0.0, 0)), pose((0.55, 0.42, 0))]
    scene = problems.scene_of(model, [Shape.cylinder(0.12, 0.5)] * 3, posts)
    return model, scene, np.array([-0.9, 0.2]), np.array([1.25, -0.1])


@pytest.fixture(scope="module")
def arm_problem(problems):
    model = problems.arm()
    scene = problems.cluttered(model, 2, 14, size=0.9, attach=True)
    for seed in range(100):
        start, goal = free_pair(problems, model, scene, seed)
        if (
            not scene.edge_free(start, goal)
            and search(scene, model, start, goal, max_iterations=3000).status == "solved"
        ):
            return model, scene, start, goal
    raise AssertionError("no problem found")


def check_solved(result, scene, start, goals):
    assert result.status == "solved"
    path = result.path
    assert np.array_equal(path[0], start)
    assert np.array_equal(path[-1], np.atleast_2d(goals)[result.goal_index])
    assert all(scene.edge_free(a, b, PROOF) for a, b in itertools.pairwise(path))
    assert not any(scene.collides(q) for q in dense(path))


@pytest.mark.parametrize("which", ["passage", "arm_problem"])
def test_solutions_are_free_and_repeat(which, request):
    model, scene, start, goal = request.getfixturevalue(which)
    paths = {}
    for seed in range(4):
        result = search(scene, model, start, goal, seed=seed)
        check_solved(result, scene, start, goal)
        assert result.iterations > 0
        assert result.n_edges > 1
        assert result.n_checks > 0
        assert result.n_vertices > 2
        paths[seed] = result.path
    # The same seed again: in other threads at once, and after other searches.
    with ThreadPoolExecutor(4) as pool:
        again = list(
            pool.map(lambda s: search(scene, model, start, goal, seed=s).path, [3, 2, 1, 0] * 2)
        )
    for seed, path in zip([3, 2, 1, 0] * 2, again, strict=True):
        assert np.array_equal(path, paths[seed])
    assert not np.array_equal(paths[0], paths[1])


def test_free_straight_lines_are_taken_to_the_nearest_goal_first(passage):
    model, scene, start, _ = passage
    goals = start + np.array([[-1.0, 0.0], [0.05, 0.0], [-0.5, 0.0]])
    result = search(scene, model, start, goals)
    assert result.goal_index == 1
    assert result.iterations == 0
    assert len(result.path) == 2


def test_of_many_goals_those_in_collision_are_left_out(passage):
    model, scene, start, goal = passage
    blocked = np.array([0.0, 0.0])
    assert scene.collides(blocked)
    result = search(scene, model, start, [blocked, [9.0, 0], goal])
    check_solved(result, scene, start, [blocked, [9.0, 0], goal])
    assert result.goal_index == 2


def test_entries_outside_the_columns_stay(problems):
    model = problems.mobile()
    scene = problems.scene_of(model, [Shape.box((0.2, 2.0, 1.0))], [pose((3, 0, 0))])
    start = np.array([0, 0, 0, 0.1, 0, 0.1])
    goal = np.array([1.0, 1.5, 0.4, 9, 9, 9])
    result = search(scene, model, start, goal, columns=[0, 1, 2])
    assert result.status == "solved"
    assert np.array_equal(result.path[:, 3:], np.broadcast_to(start[3:], (len(result.path), 3)))
    assert np.array_equal(result.path[-1, :3], goal[:3])


def test_statuses(passage):
    model, scene, start, goal = passage
    blocked, outside = np.array([0.0, 0.0]), np.array([3.5, 0.0])
    wide = {"lower": [-3, -3], "upper": [3, 3]}
    result = search(scene, model, blocked, goal, **wide)
    assert result.status == "start_in_collision"
    assert "object0" in result.pair
    result = search(scene, model, start, blocked, **wide)
    assert result.status == "goal_in_collision"
    assert "object0" in result.pair
    assert search(scene, model, outside, goal, **wide).status == "start_out_of_limits"
    assert search(scene, model, start, outside, **wide).status == "goal_out_of_limits"
    result = search(scene, model, start, goal, max_iterations=3)
    assert result.status == "budget_exhausted"
    assert result.iterations == 3
    assert result.path.shape == (0, 2)
    assert result.goal_index == -1
    assert search(scene, model, start, goal, deadline_s=0).status == "time_out"


@pytest.fixture
def hopeless(problems):
    """The goal is enclosed: the search runs until it is stopped."""
    model = problems.planar_arm()
    posts = [pose((0.3 * np.cos(a), 0.3 * np.sin(a), 0)) for a in (-0.7, 0.7)]
    scene = problems.scene_of(model, [Shape.cylinder(0.05, 0.5)] * 2, posts)
    return model, scene, np.array([0.0, 0.0]), np.array([1.7, 0.0])


def test_deadline_and_progress_stop_a_hopeless_search(hopeless):
    model, scene, start, goal = hopeless
    before = time.perf_counter()
    result = search(scene, model, start, goal, deadline_s=0.1, max_iterations=10**9)
    assert result.status == "time_out"
    assert result.iterations > 0
    assert time.perf_counter() - before < 5
    calls = []
    result = search(
        scene,
        model,
        start,
        goal,
        max_iterations=10**9,
        progress=lambda: calls.append(1) or len(calls) < 2,
    )
    assert result.status == "cancelled"
    assert len(calls) == 2

    def fail():
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        search(scene, model, start, goal, max_iterations=10**9, progress=fail)


def test_iterations_count_what_they_take(hopeless, problems):
    """Among many shapes an iteration is more costly, and counts as several.

    So the number of iterations bounds the cost of a search.
    """
    model, scene, start, goal = hopeless
    posts = [pose((0.3 * np.cos(a), 0.3 * np.sin(a), 0)) for a in (-0.7, 0.7)]
    rng = np.random.default_rng(0)
    far = [
        pose((x, y, 0)) for x, y in rng.uniform(0.45, 0.9, (400, 2)) * rng.choice([-1, 1], (400, 2))
    ]
    crowded = problems.scene_of(
        model, [Shape.cylinder(0.05, 0.5)] * 2 + [Shape.sphere(0.005)] * 400, posts + far
    )
    n = 20_000
    edges = []
    for where in (scene, crowded):
        result = search(where, model, start, goal, max_iterations=n)
        assert (result.status, result.iterations) == ("budget_exhausted", n)
        # The last iteration exceeds the budget by less than a hundredth of the whole.
        assert result.work < 1.01 * n * _engine.work_per_iteration
        edges.append(result.n_edges / result.work)
    assert edges[1] < 0.8 * edges[0]  # an edge costs more there


def test_other_threads_run_while_it_searches(hopeless):
    model, scene, start, goal = hopeless
    ticks = []
    done = threading.Event()

    def tick():
        while not done.wait(0.005):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    search(scene, model, start, goal, deadline_s=0.3, max_iterations=10**9)
    done.set()
    thread.join()
    assert len(ticks) > 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"columns": []}, "nothing may move"),
        ({"columns": [0, 5]}, "column 5"),
        ({"lower": [1, 1], "upper": [0, 0]}, "lower must not exceed"),
        ({"lower": [0]}, "lower has shape"),
        ({"max_iterations": -1}, "max_iterations"),
        ({"deadline_s": -1}, "deadline_s"),
        ({"range": 0}, "range"),
        ({"weights": [1, 0]}, "weights"),
        ({"resolution": 0}, "resolution"),
        ({"start": [0, np.nan]}, "finite"),
        ({"goals": np.zeros((0, 2))}, "no goal"),
        ({"goals": np.zeros((1, 3))}, "goals has shape"),
    ],
)
def test_wrong_arguments_are_refused(passage, change, said):
    _, scene, start, goal = passage
    arguments = {
        "start": start,
        "goals": goal[None],
        "columns": [0, 1],
        "lower": [-3, -3],
        "upper": [3, 3],
    }
    with pytest.raises(ValueError, match=said):
        _engine.rrt_connect(scene, **(arguments | change))


@pytest.mark.parametrize("which", ["passage", "arm_problem"])
def test_shortcuts_are_shorter_free_and_repeat(which, request):
    model, scene, start, goal = request.getfixturevalue(which)
    columns = list(range(model.n_q))
    gains = []
    for seed in range(4):
        path = search(scene, model, start, goal, seed=seed).path
        shorter = _engine.shortcut(scene, path, columns, seed=seed)
        assert np.array_equal(shorter[[0, -1]], path[[0, -1]])
        assert length(shorter) <= length(path) * (1 + 1e-12)
        assert all(scene.edge_free(a, b, PROOF) for a, b in itertools.pairwise(shorter))
        assert not any(scene.collides(q) for q in dense(shorter))
        assert np.array_equal(_engine.shortcut(scene, path, columns, seed=seed), shorter)
        gains.append(length(shorter) / length(path))
        # Interrupted at once, it still returns a valid path.
        cut = _engine.shortcut(scene, path, columns, seed=seed, deadline_s=0)
        assert length(cut) <= length(path) * (1 + 1e-12)
    assert min(gains) < 0.9


def test_shortcuts_among_pins_are_free(problems):
    """Pins of half a millimeter, which samples of an edge usually miss.

    Edges that seem free are often not free.
    """
    model = problems.planar_arm()
    columns = [0, 1]
    refused = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        angle, radius = rng.uniform(-np.pi, np.pi, 14), rng.uniform(0.55, 0.95, 14)
        pins = [pose((r * np.cos(a), r * np.sin(a), 0)) for a, r in zip(angle, radius, strict=True)]
        scene = problems.scene_of(model, [Shape.cylinder(0.0005, 0.2)] * len(pins), pins)
        start, goal = free_pair(problems, model, scene, seed)
        path = search(scene, model, start, goal, seed=seed).path
        refused += sum(
            not scene.edge_free(path[i], path[j], 0.005).free
            and not scene.collides_many(dense(path[[i, j]], 9)[:-1]).any()
            for i, j in itertools.combinations(range(len(path)), 2)
        )
        shorter = _engine.shortcut(scene, path, columns, seed=seed, iterations=40)
        assert np.array_equal(shorter[[0, -1]], path[[0, -1]])
        assert length(shorter) <= length(path) * (1 + 1e-12)
        assert all(scene.edge_free(a, b, PROOF) for a, b in itertools.pairwise(shorter))
        assert not any(scene.collides(q) for q in dense(shorter, 400))
        assert np.array_equal(
            _engine.shortcut(scene, path, columns, seed=seed, iterations=40), shorter
        )
    assert refused > 20


def test_shortcut_of_a_detour_in_free_space_is_the_straight_line(problems):
    model = problems.arm()
    scene = problems.scene_of(model, [], [])
    path = np.array([[0.0] * 6, [0.4] * 6, [0.1, 0.5, 0, 0, 0, 0], [0.2] * 6])
    assert not any(scene.collides(q) for q in dense(path))
    shorter = _engine.shortcut(scene, path, list(range(6)))
    assert np.array_equal(shorter, path[[0, -1]])


def evaluate(blend, s, derivative=0):
    breaks, c = blend.breaks, blend.coefficients
    i = np.clip(np.searchsorted(breaks, s, side="right") - 1, 0, len(c) - 1)
    u = s - breaks[i]
    return c[i, 0] + u * c[i, 1] + u * u * c[i, 2] if derivative == 0 else c[i, 1] + 2 * u * c[i, 2]


@pytest.mark.parametrize("which", ["passage", "arm_problem"])
def test_blends_are_smooth_free_and_close(which, request):
    model, scene, start, goal = request.getfixturevalue(which)
    columns = list(range(model.n_q))
    for seed in range(4):
        path = _engine.shortcut(
            scene, search(scene, model, start, goal, seed=seed).path, columns, seed=seed
        )
        blend = _engine.blend_corners(scene, path, columns)
        assert len(blend.stops) == 0
        assert np.allclose(evaluate(blend, 0), start)
        assert np.allclose(evaluate(blend, blend.breaks[-1]), goal)
        for s in blend.breaks[1:-1]:
            # C1: value and slope from both sides, to rounding of the coefficients.
            i = np.searchsorted(blend.breaks, s) - 1
            u = s - blend.breaks[i]
            c = blend.coefficients[i]
            assert np.allclose(c[0] + u * c[1] + u * u * c[2], evaluate(blend, s), atol=1e-12)
            assert np.allclose(c[1] + 2 * u * c[2], evaluate(blend, s, 1), atol=1e-9)
        samples = np.linspace(0, blend.breaks[-1], 2000)
        speeds = np.array([np.linalg.norm(evaluate(blend, s, 1)) for s in samples])
        edges = np.linalg.norm(np.diff(path, axis=0), axis=1)
        assert (
            speeds.max() <= edges.max() / edges.min()
        )  # 1, except in smooth runs, where it depends on the edges
        assert not any(scene.collides(evaluate(blend, s)) for s in samples)
        assert scene.trajectory_free(blend.breaks, blend.coefficients, columns, start)
        tight = _engine.blend_corners(scene, path, columns, largest=1e-3)
        assert tight.breaks[-1] == pytest.approx(length(path), rel=1e-9)
        # Half a blend's size bounds its distance from the corner.
        for corner in path[1:-1]:
            assert min(np.linalg.norm(evaluate(tight, s) - corner) for s in tight.breaks) <= 1.1e-3


def test_degenerate_paths_are_blended(problems):
    model = problems.planar_arm()
    scene = problems.scene_of(model, [], [])
    a, b = np.array([0.0, 0.0]), np.array([0.5, 0.2])
    single = _engine.blend_corners(scene, a[None], [0, 1])
    assert single.breaks.tolist() == [0]
    assert single.coefficients.shape[0] == 0
    assert _engine.blend_corners(scene, np.array([a, a, a]), [0, 1]).breaks.tolist() == [0]
    line = _engine.blend_corners(scene, np.array([a, a, b, b]), [0, 1])
    assert len(line.breaks) == 2
    assert line.breaks[-1] == pytest.approx(np.linalg.norm(b))
    # Forward and back: it slows down and turns before the corner.
    back = _engine.blend_corners(scene, np.array([a, b, a]), [0, 1])
    assert np.allclose(evaluate(back, back.breaks[-1]), a)
    farthest = max(np.linalg.norm(evaluate(back, s)) for s in np.linspace(0, back.breaks[-1], 500))
    assert 0.6 * np.linalg.norm(b) < farthest < np.linalg.norm(b)
    with pytest.raises(ValueError, match="no waypoint"):
        _engine.blend_corners(scene, np.zeros((0, 2)), [0, 1])
    with pytest.raises(ValueError, match="largest"):
        _engine.blend_corners(scene, np.array([a, b]), [0, 1], largest=0)


def test_a_corner_at_a_wall_gets_a_small_blend(problems):
    """The blend cuts the corner's inside; a post there allows a small blend only."""
    model = problems.planar_arm()
    scene = problems.scene_of(
        model, [Shape.cylinder(0.05, 0.5)], [pose((1.05 * np.cos(0.3), 1.05 * np.sin(0.3), 0))]
    )
    path = np.array([[-0.4, 0.0], [-0.1, 1.6], [0.9, 0.0]])
    sizes = []
    for where in (scene, problems.scene_of(model, [], [])):
        assert all(where.edge_free(a, b) for a, b in itertools.pairwise(path))
        blend = _engine.blend_corners(where, path, [0, 1])
        sizes.append(
            blend.breaks[-2] - blend.breaks[1] if len(blend.breaks) > 3 else blend.breaks[-1]
        )
        assert not any(
            where.collides(evaluate(blend, s)) for s in np.linspace(0, blend.breaks[-1], 1000)
        )
    assert sizes[0] <= sizes[1]
