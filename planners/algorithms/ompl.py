"""OMPL's RRT-Connect over robosim's edge checks, if the package `ompl` is installed.

OMPL draws from one random generator per process, which is seeded here at each call. The same query
results in the same path if no other thread uses OMPL at the same time.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robosim import _engine
from robosim.planners.registry import SearchOutcome, SearchQuery, SearchStatus, planner

FloatArray = NDArray[np.float64]
# Work of a call from OMPL into Python in addition to that of the scene, in units of
# `EdgeResult.work`.
_CALL = 400
# Factor of the work of OMPL's edges: they are long and profit little from caches.
_LONG = 2
# Largest number of goals, including configurations equal to them up to full turns.
_MOST_GOALS = 200


@planner("ompl", complete=True, requires=["ompl"])
def ompl_rrt_connect(query: SearchQuery) -> SearchOutcome:
    """`ompl.geometric.RRTConnect`; each motion is proven free by `edge_free`, not by samples.

    If goals are periodic, half of the iterations search for the goals as given, in the query's
    bounds. The others search for all turns within limits: first along straight lines, then by the
    same search.
    """
    from ompl import util

    util.setLogLevel(util.LOG_NONE)
    util.RNG.setSeed(query.seed % (2**31 - 1) + 1)  # 0 would mean a seed from the clock
    turns = query.turns
    if turns is None or not turns.columns.any():
        return _search(query)
    # Half of the iterations: the goals as given.
    end = time.perf_counter() + query.deadline_s
    first = _search(dataclasses.replace(query, max_iterations=(query.max_iterations + 1) // 2))
    if first.status is not SearchStatus.EXHAUSTED:
        return first
    # Straight lines to all turns within limits.
    where = (query.columns, turns.lower, turns.upper, turns.columns, turns.goals)
    line = _engine.free_line(
        query.scene,
        query.start,
        query.goals,
        *where,
        deadline_s=max(end - time.perf_counter(), 0.0),
        resolution=query.resolution,
    )
    if line.status == "solved":
        checks = first.checks + line.n_edges
        path = np.asarray(line.path)
        return SearchOutcome(
            SearchStatus.FOUND, path, line.goal_index, first.iterations, checks, line.n_lines
        )
    # The other iterations: all turns within limits as goals.
    goals, standing_for = _engine.full_turns(query.start, query.goals, *where, _MOST_GOALS)
    wider = dataclasses.replace(
        query,
        goals=goals,
        lower=turns.lower,
        upper=turns.upper,
        max_iterations=query.max_iterations - first.iterations,
        deadline_s=max(end - time.perf_counter(), 0.0),
    )
    found = _search(wider)
    found.iterations += first.iterations
    found.checks += first.checks + line.n_edges
    found.lines = line.n_lines
    if found.goal_index >= 0:
        found.goal_index = standing_for[found.goal_index]
    return found


def _search(query: SearchQuery) -> SearchOutcome:
    """Search from the start to one of the goals as given, within the bounds."""
    from ompl import base, geometric

    # State space of the moving columns, within pi of start and goals where there are no limits.
    columns = np.array(query.columns)
    n = len(columns)
    ends = np.vstack([query.start, query.goals])[:, columns]
    lower = np.where(np.isfinite(query.lower), query.lower, ends.min(axis=0) - np.pi)
    upper = np.where(np.isfinite(query.upper), query.upper, ends.max(axis=0) + np.pi)
    space = base.RealVectorStateSpace(n)
    bounds = base.RealVectorBounds(n)
    for i in range(n):
        bounds.setLow(i, float(lower[i]))
        bounds.setHigh(i, float(upper[i]))
    space.setBounds(bounds)
    information = base.SpaceInformation(space)
    checks, work = 0, 0

    def configuration(state: Any) -> FloatArray:
        q: FloatArray = query.start.copy()
        q[columns] = state[0:n]
        return q

    class ExactMotions(base.MotionValidator):  # type: ignore[misc]  # OMPL has no types
        def checkMotion(self, a: Any, b: Any) -> bool:
            nonlocal checks, work
            edge = query.scene.edge_free(configuration(a), configuration(b), query.resolution)
            checks += 1
            work += _CALL + _LONG * edge.work
            return bool(edge.free)

    def is_free(state: Any) -> bool:
        nonlocal work
        work += _CALL
        return not query.scene.collides(configuration(state))

    def state_of(q: FloatArray) -> Any:
        state = space.allocState()
        for i, column in enumerate(columns):
            state[i] = float(q[column])
        return state

    # Problem definition: motion validator, start and goals.
    motions = ExactMotions(information)
    information.setMotionValidator(motions)
    information.setStateValidityChecker(is_free)
    information.setup()
    goals = base.GoalStates(information)
    for goal in query.goals:
        goals.addState(state_of(goal))
    problem = base.ProblemDefinition(information)
    problem.addStartState(state_of(query.start))
    problem.setGoal(goals)
    search = geometric.RRTConnect(information)
    search.setProblemDefinition(problem)
    search.setup()
    # Solve until a path is found, iterations or time run out, or the caller cancels.
    end = time.perf_counter() + query.deadline_s
    calls, late, cancelled = 0, False, False

    def iterations() -> int:
        return max(calls, work // _engine.work_per_iteration)

    def stop() -> bool:  # called once per iteration
        nonlocal calls, late, cancelled
        calls += 1
        late = time.perf_counter() > end
        cancelled = query.stop is not None and query.stop()
        return late or cancelled or iterations() > query.max_iterations

    search.solve(base.PlannerTerminationCondition(stop))
    done = min(iterations(), query.max_iterations)
    if not problem.hasExactSolution():
        status = SearchStatus.EXHAUSTED
        if cancelled or late:
            status = SearchStatus.CANCELLED if cancelled else SearchStatus.TIMEOUT
        return SearchOutcome(status, np.empty((0, len(query.start))), -1, done, checks)
    # Path with exact values at its ends.
    path = np.array([configuration(state) for state in problem.getSolutionPath().getStates()])
    path[0] = query.start
    reached = int(np.argmin(np.abs(query.goals - path[-1]).max(axis=1)))
    path[-1] = query.goals[reached]
    return SearchOutcome(SearchStatus.FOUND, path, reached, done, checks)
