"""OMPL's RRT-Connect over robosim's edge checks, where the package `ompl` is installed.

OMPL draws from one random generator per process, which is seeded here at each call: the same query gives the same
path, as long as no other thread uses OMPL at the same time.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robosim.planners.registry import SearchOutcome, SearchQuery, SearchStatus, planner


@planner("ompl", complete=True, requires=["ompl"])
def ompl_rrt_connect(query: SearchQuery) -> SearchOutcome:
    """`ompl.geometric.RRTConnect`; each motion is proven free by `edge_free`, none by samples."""
    from ompl import base, geometric, util

    util.setLogLevel(util.LOG_NONE)
    util.RNG.setSeed(query.seed % (2**31 - 1) + 1)  # 0 would mean a seed from the clock
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
    checks = 0

    def configuration(state: Any) -> NDArray[np.float64]:
        q: NDArray[np.float64] = query.start.copy()
        q[columns] = state[0:n]
        return q

    class ExactMotions(base.MotionValidator):  # type: ignore[misc]  # OMPL has no types
        def checkMotion(self, a: Any, b: Any) -> bool:
            nonlocal checks
            checks += 1
            return bool(query.scene.edge_free(configuration(a), configuration(b), query.resolution).free)

    def state_of(q: NDArray[np.float64]) -> Any:
        state = space.allocState()
        for i, column in enumerate(columns):
            state[i] = float(q[column])
        return state

    motions = ExactMotions(information)
    information.setMotionValidator(motions)
    information.setStateValidityChecker(lambda state: not query.scene.collides(configuration(state)))
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
    end = time.perf_counter() + query.deadline_s
    iterations, late, cancelled = 0, False, False

    def stop() -> bool:  # asked once per iteration
        nonlocal iterations, late, cancelled
        iterations += 1
        late = time.perf_counter() > end
        cancelled = query.stop is not None and query.stop()
        return late or cancelled or iterations > query.max_iterations

    search.solve(base.PlannerTerminationCondition(stop))
    if not problem.hasExactSolution():
        status = SearchStatus.EXHAUSTED
        if cancelled or late:
            status = SearchStatus.CANCELLED if cancelled else SearchStatus.TIMEOUT
        return SearchOutcome(status, np.empty((0, len(query.start))), -1, iterations, checks)
    path = np.array([configuration(state) for state in problem.getSolutionPath().getStates()])
    path[0] = query.start
    reached = int(np.argmin(np.abs(query.goals - path[-1]).max(axis=1)))
    path[-1] = query.goals[reached]
    return SearchOutcome(SearchStatus.FOUND, path, reached, iterations, checks)
