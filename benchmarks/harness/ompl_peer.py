"""OMPL's RRTConnect with its defaults: real vector space, 1 % resolution, its own range.

Validity is from `is_free`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class OmplResult:
    """Result of one query.

    It has a flag for an exact solution, processor seconds of `solve` alone, state checks, the path
    (p, n), and the path after OMPL's own simplification.
    """

    solved: bool
    seconds: float
    checks: int
    path: np.ndarray
    simplified: np.ndarray


def silence() -> None:
    """Suppress messages of OMPL on the console."""
    from ompl import util

    util.setLogLevel(util.LOG_ERROR)


def rrt_connect(
    is_free: Callable[[Sequence[float]], bool],
    lower: np.ndarray,
    upper: np.ndarray,
    start: np.ndarray,
    goal: np.ndarray,
    *,
    budget_s: float,
    simplify: bool = False,
    step: float | None = None,
) -> OmplResult:
    """Plan from start to goal (n,) within joint limits (n,).

    Only the search is timed, not construction and set-up. With `simplify` the path is also
    shortened as by SimpleSetup.simplifySolution, without a limit of time. `step` is the Euclidean
    distance between checked states; by default it is 1 % of the space's extent.
    """
    from ompl import base, geometric

    # State space, bounds and validity.
    n = len(start)
    space = base.RealVectorStateSpace(n)
    bounds = base.RealVectorBounds(n)
    for i in range(n):
        bounds.setLow(i, float(lower[i]))
        bounds.setHigh(i, float(upper[i]))
    space.setBounds(bounds)
    information = base.SpaceInformation(space)
    checks = 0

    def valid(state: base.State) -> bool:
        nonlocal checks
        checks += 1
        return is_free(state[0:n])

    information.setStateValidityChecker(valid)
    if step is not None:
        information.setStateValidityCheckingResolution(step / space.getMaximumExtent())
    information.setup()
    # Start, goal and planner.
    problem = base.ProblemDefinition(information)
    ends = []
    for values in (start, goal):
        state = space.allocState()
        for i in range(n):
            state[i] = float(values[i])
        ends.append(state)
    problem.setStartAndGoalStates(ends[0], ends[1])
    planner = geometric.RRTConnect(information)
    planner.setProblemDefinition(problem)
    planner.setup()
    # Search, the only part that is timed, then simplification.
    begin = time.thread_time()
    planner.solve(base.timedPlannerTerminationCondition(budget_s))
    seconds = time.thread_time() - begin
    solved = problem.hasExactSolution()
    path = simplified = np.zeros((0, n))
    searched = checks
    if solved:
        found = problem.getSolutionPath()
        path = _states(found, n)
        if simplify:
            geometric.PathSimplifier(information).simplifyMax(found)
            simplified = _states(found, n)
    return OmplResult(solved, seconds, searched, path, simplified)


def _states(path, n: int) -> np.ndarray:
    return np.array([[state[i] for i in range(n)] for state in path.getStates()])


def call_cost(is_free: Callable[[Sequence[float]], bool], n: int, calls: int) -> float:
    """Processor time [s] per validity check as OMPL calls it, through Python, for n joints."""
    from ompl import base

    space = base.RealVectorStateSpace(n)
    bounds = base.RealVectorBounds(n)
    bounds.setLow(-1.0)
    bounds.setHigh(1.0)
    space.setBounds(bounds)
    information = base.SpaceInformation(space)
    checks = 0

    def valid(state: base.State) -> bool:
        nonlocal checks
        checks += 1
        return is_free(state[0:n])

    information.setStateValidityChecker(valid)
    information.setStateValidityCheckingResolution(1.0 / calls)
    information.setup()
    ends = [space.allocState(), space.allocState()]
    for i in range(n):
        ends[0][i], ends[1][i] = -1.0, 1.0
    begin = time.thread_time()
    information.checkMotion(ends[0], ends[1])  # one motion, `calls` states, one call from Python
    return (time.thread_time() - begin) / max(checks, 1)
