"""RRT-Connect, in C++: see engine/planning/rrt_connect.h."""

from __future__ import annotations

import numpy as np

from robosim import _engine
from robosim.planners.registry import SearchOutcome, SearchQuery, SearchStatus, planner

_STATUS = {
    "solved": SearchStatus.FOUND,
    "budget_exhausted": SearchStatus.EXHAUSTED,
    "time_out": SearchStatus.TIMEOUT,
    "cancelled": SearchStatus.CANCELLED,
}


@planner("rrt_connect", complete=True)
def rrt_connect(query: SearchQuery) -> SearchOutcome:
    """Two trees, from the start and from all goals, that grow towards each other.

    Source: Kuffner, LaValle, ICRA 2000.
    """
    stop, turns = query.stop, query.turns
    result = _engine.rrt_connect(
        query.scene,
        query.start,
        query.goals,
        query.columns,
        query.lower if turns is None else turns.lower,
        query.upper if turns is None else turns.upper,
        query.seed,
        query.max_iterations,
        query.deadline_s,
        query.resolution,
        None if stop is None else lambda: not stop(),
        periodic=None if turns is None else turns.columns,
        full_turns=None if turns is None else turns.goals,
    )
    status = _STATUS[result.status]
    path = (
        np.asarray(result.path) if status is SearchStatus.FOUND else np.empty((0, len(query.start)))
    )
    return SearchOutcome(
        status, path, result.goal_index, result.iterations, result.n_checks, result.n_lines
    )
