"""Search and simplification: from configurations to a short free polyline in q.

Each stage can be used alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from robosim import _engine
from robosim.planners.positions import Columns
from robosim.planners.prepare import Prepared
from robosim.planners.registry import SearchOutcome, SearchQuery, Turns, get_planner

__all__ = [
    "MAX_ITERATIONS",
    "OPTIMIZER_ITERATIONS",
    "RESOLUTION",
    "SHORTCUT_ITERATIONS",
    "optimize",
    "path_length",
    "search",
    "simplify",
]

FloatArray = NDArray[np.float64]
RESOLUTION = 0.005  # [m] of collider motion, see _engine.CollisionScene.edge_free
MAX_ITERATIONS = 1_000_000  # a search without a solution takes about 5 to 20 s
SHORTCUT_ITERATIONS = 10  # twice as many shorten a path by about one percent, for 0.04 ms

OPTIMIZER_ITERATIONS = 60  # a third for each weight of the clearance


def search(
    prepared: Prepared,
    goals: FloatArray,
    *,
    start: FloatArray | None = None,
    full_turns: bool | Sequence[bool] = True,
    planner: str = "rrt_connect",
    seed: int = 0,
    max_iterations: int = MAX_ITERATIONS,
    deadline_s: float = math.inf,
    resolution: float = RESOLUTION,
    stop: Callable[[], bool] | None = None,
) -> SearchOutcome:
    """Search a free path from the start to any of the goals.

    Args:
        prepared: the problem.
        goals: (k, n_q) free configurations, such as those of `goal_configurations`, or a single one
            (n_q,).
        start: (n_q,) free and within limits; by default the problem's start, moved to limits that
            it exceeds by noise.
        full_turns: whether any configuration that is equal up to full turns satisfies the goal as
            well, for all goals or for each. The path may then end some turns from the goal, at the
            same pose.
        planner: name of a registered planner.
        seed: of the random numbers.
        max_iterations: of the planner. An iteration that queries the scene a lot counts as several,
            so that the number determines the approximate duration of a search.
        deadline_s: [s] from now.
        resolution: [m] of the edge checks.
        stop: called about every 50 ms; the search ends if it returns True.

    Raises:
        PlanningError: there is no such planner.
        MissingDependencyError: it needs a package that is not installed.
    """
    q0 = prepared.entry if start is None else start
    if goals.ndim == 1:
        goals = goals[None]
    columns = prepared.columns
    lower, upper = sampling_window(columns, q0, goals)
    turns = Turns(_of_each(full_turns, goals), columns.periodic, columns.lower, columns.upper)
    query = SearchQuery(
        prepared.scene,
        q0,
        goals,
        columns.q,
        lower,
        upper,
        seed,
        max_iterations,
        deadline_s,
        resolution,
        stop,
        turns,
    )
    return get_planner(planner).search(query)


def _of_each(full_turns: bool | Sequence[bool], goals: FloatArray) -> NDArray[np.bool_]:
    return np.array(
        [full_turns] * len(goals) if isinstance(full_turns, bool) else full_turns, dtype=bool
    )


def straight_line(
    prepared: Prepared,
    goals: FloatArray,
    *,
    start: FloatArray,
    full_turns: bool | Sequence[bool] = True,
    below: float = math.inf,
    skip: int = 0,
    deadline_s: float = math.inf,
    resolution: float = RESOLUTION,
) -> tuple[FloatArray, int] | None:
    """Return the shortest free straight line (2, n_q) to a goal, with the index of the goal.

    Returns None if no line is free.

    Args:
        prepared: the problem.
        goals: (k, n_q) free configurations.
        start: (n_q,) free and within limits.
        full_turns: as for `search`.
        below: upper bound on the length, Euclidean in q.
        skip: number of lines, nearest first, that are known not to be free.
        deadline_s: [s] from now.
        resolution: [m] of the edge checks.
    """
    columns = prepared.columns
    found = _engine.free_line(
        prepared.scene,
        start,
        goals,
        columns.q,
        columns.lower,
        columns.upper,
        columns.periodic,
        _of_each(full_turns, goals),
        skip,
        below,
        max(deadline_s, 0.0),
        resolution,
    )
    return (np.asarray(found.path), found.goal_index) if found.status == "solved" else None


def sampling_window(
    columns: Columns, start: FloatArray, goals: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Bounds (c,), (c,) for the search: the limits, narrowed for joints that turn more than once.

    Poses repeat every 2 pi, so one turn about the middle of the `start` (n_q,) and the `goals` (k,
    n_q) covers all of them. The whole range of a joint with +-2 pi would only double the space, for
    each such joint. Where start and goal are far apart, a quarter turn is left beyond either end.
    Where limits cut the turn off on one side, it extends on the other side.
    """
    lower, upper = _engine.sampling_window(
        start, goals, columns.q, columns.lower, columns.upper, columns.periodic
    )
    return lower, upper


def simplify(
    prepared: Prepared,
    path: FloatArray,
    *,
    seed: int = 0,
    iterations: int = SHORTCUT_ITERATIONS,
    deadline_s: float = math.inf,
    resolution: float = RESOLUTION,
) -> FloatArray:
    """Shorten a free polyline by seeded shortcuts.

    The result is a free polyline (p', n_q) between the ends of `path` (p, n_q).

    Args:
        prepared: the problem.
        path: waypoints joined by free straight lines in q.
        seed: of the random numbers.
        iterations: attempts; fewer once they do not pay off.
        deadline_s: [s] from now; the path at that time is returned.
        resolution: [m] of the edge checks.
    """
    if len(path) < 3 or iterations == 0:
        return path
    shorter: FloatArray = _engine.shortcut(
        prepared.scene, path, prepared.columns.q, seed, iterations, max(deadline_s, 0.0), resolution
    )
    return shorter


def optimize(
    prepared: Prepared,
    path: FloatArray,
    *,
    iterations: int = OPTIMIZER_ITERATIONS,
    deadline_s: float = math.inf,
    resolution: float = RESOLUTION,
) -> FloatArray:
    """Optimize a free polyline: shorter, smoother and with the problem's clearance.

    The result is a free polyline (p', n_q) between the ends of `path`. Gauss-Newton steps with
    exact gradients of the signed distances reduce the sum of length, acceleration and missing
    clearance, within the joints' limits. Then every edge is proven free. If nothing better is
    found, the result is the path itself. Without a clearance the result is not longer than the
    path.

    Args:
        prepared: the problem.
        path: waypoints (p, n_q) joined by free straight lines in q.
        iterations: at most; fewer once they do not pay off.
        deadline_s: [s] from now; the path at that time is returned.
        resolution: [m] of the edge checks.

    Source: the cost is that of elastic bands (Quinlan, Khatib 1993) and CHOMP (Zucker et al., IJRR
    2013).
    """
    if len(path) < 2 or iterations == 0:
        return path
    found = _engine.optimize_path(
        prepared.scene,
        path,
        prepared.columns.q,
        prepared.columns.lower,
        prepared.columns.upper,
        clearance=prepared.clearance,
        iterations=iterations,
        deadline_s=max(deadline_s, 0.0),
        resolution=resolution,
    )
    better: FloatArray = found.path
    return better


def path_length(path: FloatArray) -> float:
    """Length of a polyline (p, n)."""
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
