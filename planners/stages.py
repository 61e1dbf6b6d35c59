"""Search and simplification: from configurations to a short free polyline in q. Each stage can be
used alone."""

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
MAX_ITERATIONS = 1_000_000  # a search without a way out takes some 5 to 20 s to do them all
SHORTCUT_ITERATIONS = 10  # twice as many shorten a path by some one per cent, for 0.04 ms

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
    """A free path from the start to any of the goals.

    Args:
        prepared: the problem.
        goals: (k, n_q) free configurations, such as `goal_configurations` gives, or a single one
        (n_q,).
        start: (n_q,) free and within limits; by default the problem's, moved to limits that it is
        beyond by noise.
        full_turns: whether any configuration that is equal up to full turns will do too, for all
        goals or for each. The
            path may then end some turns from the goal, which is the same pose.
        planner: name of a registered planner.
        seed: of the random numbers.
        max_iterations: of the planner. One that asks much of the scene counts as several, so that
        their number tells
            about how long a search takes.
        deadline_s: [s] from now.
        resolution: [m] of the edge checks.
        stop: asked every 50 ms or so; the search ends when it says True.

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
    """The shortest straight line (2, n_q) that is free and leads to what satisfies a goal, and
    which goal that is.

    Args:
        prepared: the problem.
        goals: (k, n_q) free configurations.
        start: (n_q,) free and within limits.
        full_turns: as for `search`.
        below: the length that it must be less than, Euclidean in q.
        skip: how many lines, nearest first, are known not to be free.
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
    n_q) shows all of them; the whole range of a joint with +-2 pi would only double the space, for
    each such joint. Where start and goal are far apart, a quarter turn is left beyond either; where
    limits cut it off on one side, it goes on on the other.
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
    """A shorter free polyline (p', n_q) between the ends of the free polyline `path` (p, n_q), by
    seeded shortcuts.

    Args:
        prepared: the problem.
        path: waypoints joined by free straight lines in q.
        seed: of the random numbers.
        iterations: attempts; fewer when they stop paying.
        deadline_s: [s] from now; what there is then is returned.
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
    """A free polyline (p', n_q) between the ends of `path` that is shorter, rounder and keeps the
    problem's clearance.

    The sum of length, acceleration and missing clearance falls, by Gauss-Newton steps with exact
    gradients of the signed distances, within the joints' limits; then every edge is proven free.
    Where nothing better is found, the path itself is given back. Without a clearance the new path
    is not longer.

    Args:
        prepared: the problem.
        path: waypoints (p, n_q) joined by free straight lines in q.
        iterations: at most; fewer when they stop paying.
        deadline_s: [s] from now; what there is then is returned.
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
