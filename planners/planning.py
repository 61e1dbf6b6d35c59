"""`plan`: from a Problem to a timed, checked trajectory, or to a status and a reason."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import PlanningError, check_type
from robosim.planners.braking import FRACTIONS, GENTLE, brake, check_start_velocity
from robosim.planners.motion import checked, motion_along
from robosim.planners.noise import NEAR, merged
from robosim.planners.prepare import Prepared, prepare
from robosim.planners.problem import Goal, Problem
from robosim.planners.registry import SearchStatus, get_planner
from robosim.planners.result import NoPlan, PlanResult, Status
from robosim.planners.run import Progress, Run
from robosim.planners.stages import (
    MAX_ITERATIONS,
    OPTIMIZER_ITERATIONS,
    RESOLUTION,
    SHORTCUT_ITERATIONS,
    optimize,
    path_length,
    search,
    simplify,
    straight_line,
)
from robosim.planners.targets import Targets, goal_configurations, turns_from_goal
from robosim.planners.timing import MotionLimits, as_trajectory, motion_limits, with_torque_note
from robosim.trajectory import Trajectory

__all__ = ["plan"]

FloatArray = NDArray[np.float64]


def plan(
    problem: Problem,
    *,
    planner: str = "rrt_connect",
    seed: int = 0,
    budget_s: float = math.inf,
    max_iterations: int = MAX_ITERATIONS,
    shortcut_iterations: int = SHORTCUT_ITERATIONS,
    optimizer_iterations: int | None = None,
    velocity_scaling: float = 1.0,
    acceleration_scaling: float = 1.0,
    jerk: float | ArrayLike | Mapping[str, float] | None = None,
    torque_limits: bool = True,
    tool_speed: float | Mapping[str, float] | None = None,
    resolution: float = RESOLUTION,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> PlanResult:
    """Plan a trajectory: collision-free at every time, within all limits, at rest at its end.

    The stages are `prepare`, `goal_configurations` (inverse kinematics), `search`, `simplify`,
    `optimize` (if a clearance is required), `time_parameterize` and `check`. Each of them is
    public. The seed and the iteration numbers determine the result, on any machine at any load. The
    wall-clock budget can only cut planning short, and then the status says so.

    A start velocity is respected: the trajectory leaves in its direction and turns towards the goal
    as soon as possible. Intermediate goals (`problem.via`) are passed exactly. The trajectory stops
    there only if it has to reverse or lacks the clearance for a blend.

    Args:
        problem: the robot, its scene, start and goals.
        planner: name of a registered planner, see `available_planners`.
        seed: of all random numbers.
        budget_s: wall-clock seconds for all stages.
        max_iterations: of the search. An iteration that queries the scene a lot counts as several.
            The default ends a search without a solution within about 20 s.
        shortcut_iterations: of the simplification; 0 leaves the path as the search found it.
        optimizer_iterations: of the optimization of the path; 0 skips it. None: as many as pay off
            if the problem requires a clearance, else none, as a shorter and smoother path costs
            about ten milliseconds.
        velocity_scaling: 1e-12 <= factor <= 1 of the velocity limits.
        acceleration_scaling: 1e-12 <= factor <= 1 of the acceleration limits.
        jerk: [rad/s^3, m/s^3] limit: one for all, one per coordinate that moves, or by name; None:
            unlimited.
        torque_limits: whether to satisfy the joints' effort limits, too. If the model has no valid
            dynamics (`Model.dynamics_faults`) they are ignored, and the reason says so.
        tool_speed: [m/s] upper bound on the speed of a link's origin in the world, at every time,
            such as 0.25 near people: by the link's name, or a number for the link of the pose
            goals, else the only tip of the moving joints.
        resolution: [m] of collider motion, of the collision checks: a motion with less than half of
            it as clearance may be rejected.
        progress: called with the name of each stage as it begins.
        stop: called before each stage, and about every 50 ms during the search. If it returns True,
            planning ends with the status CANCELLED.

    Returns:
        A PlanResult, true if there is a trajectory. Failure to find one is not an exception.

    Raises:
        PlanningError: the problem or an option is not well posed.
        SceneError: the scene does not fit the robot.
        MissingDependencyError: the planner needs a package that is not installed.
    """
    check_type(problem, Problem, "problem", PlanningError)
    if optimizer_iterations is None:
        optimizer_iterations = OPTIMIZER_ITERATIONS if problem.clearance > 0 else 0
    _validate(
        planner,
        seed,
        budget_s,
        max_iterations,
        shortcut_iterations,
        optimizer_iterations,
        resolution,
    )
    begin = time.perf_counter()
    run = Run(
        planner,
        seed,
        max_iterations,
        shortcut_iterations,
        optimizer_iterations,
        resolution,
        begin + budget_s,
        progress,
        stop,
    )
    model = problem.model
    prepared: Prepared | None = None
    status, reason = Status.SOLVED, ""
    trajectory: Trajectory | None = None
    path = np.empty((0, model.n_q))
    # Run the stages. A NoPlan from any of them becomes the status and the reason.
    goal_index = -1
    try:
        with run.stage("setup"):
            prepared = prepare(problem)
            limits = motion_limits(
                prepared,
                velocity_scaling=velocity_scaling,
                acceleration_scaling=acceleration_scaling,
                jerk=jerk,
                torque_limits=torque_limits,
                tool_speed=tool_speed,
            )
        path, goal_index, trajectory = _solve(prepared, limits, run)
        if run.cut_short:
            status = Status.CUT_SHORT
            reason = f"the budget of {budget_s} s ended the simplification of the path"
        reason = with_torque_note(reason, model, torque_limits)
        if turned := turns_from_goal(prepared, prepared.goals[goal_index], path[-1]):
            reason = f"{reason}; {turned}" if reason else turned
    except NoPlan as failure:
        status, reason = failure.status, failure.reason
    run.timings["total"] = time.perf_counter() - begin
    columns = prepared.columns.q if prepared is not None else ()
    return PlanResult(
        status=status,
        reason=reason,
        trajectory=trajectory,
        path=path[:, list(columns)],
        position_names=prepared.columns.names if prepared is not None else (),
        path_length=path_length(path[:, list(columns)]),
        goal_index=goal_index,
        timings=run.timings,
        planner=planner,
        seed=seed,
        iterations=run.iterations,
        checks=run.checks,
        acceleration_source=model.limits.acceleration_source,
        robot=model.name,
        q_rest=prepared.start if prepared is not None else model.neutral(),
        columns=columns,
    )


def _validate(
    planner: str,
    seed: int,
    budget_s: float,
    max_iterations: int,
    shortcut_iterations: int,
    optimizer_iterations: int,
    resolution: float,
) -> None:
    get_planner(planner)
    for name, number, least in (
        ("seed", seed, 0),
        ("max_iterations", max_iterations, 1),
        ("shortcut_iterations", shortcut_iterations, 0),
        ("optimizer_iterations", optimizer_iterations, 0),
    ):
        if (
            isinstance(number, bool)
            or not isinstance(number, (int, np.integer))
            or not least <= number < 2**63
        ):
            raise PlanningError(f"{name} is {number!r}; it must be an integer of at least {least}")
    for name, value in (("budget_s", budget_s), ("resolution", resolution)):
        if not (isinstance(value, (int, float, np.number)) and value > 0):
            raise PlanningError(f"{name} is {value!r}; it must be positive")
    if not math.isfinite(resolution):
        raise PlanningError(f"resolution is {resolution}; it must be finite")


def _solve(
    prepared: Prepared, limits: MotionLimits, run: Run
) -> tuple[FloatArray, int, Trajectory]:
    """Return the path (p, n_q), the goal's index, and the trajectory.

    From a moving start, the shortest feasible braking motion is the first edge of the path.
    """
    if not prepared.start_velocity.any():
        path, waypoints, goal_index = _from_rest(prepared, prepared.start, run)
        return path, goal_index, motion_along(prepared, path, waypoints, limits, run)
    check_start_velocity(prepared, limits)
    columns = list(prepared.columns.q)
    failure: NoPlan | None = None
    for fraction in (*FRACTIONS, *GENTLE):
        try:
            breaks, coefficients, stopped = brake(prepared, limits, fraction, run.resolution)
        except NoPlan:
            if failure is None or fraction not in GENTLE:
                raise
            break
        rest, waypoints, goal_index = _from_rest(prepared, stopped, run)
        path = np.concatenate([prepared.start[None], rest])
        # Blend what follows the brake into it, unless either is a single point.
        edges = (
            path_length(path[:2, columns]) >= NEAR and not 0 < path_length(rest[:, columns]) < NEAR
        )
        try:
            if limits.jerk is None and edges:
                velocity = prepared.start_velocity
                passed = [i + 1 for i in waypoints]
                motion = motion_along(prepared, path, passed, limits, run, start_velocity=velocity)
            else:  # keep the brake as it is, and continue from rest
                first = as_trajectory(
                    prepared, breaks, coefficients, limits, run.seed, run.metadata()
                )
                if broken := first.validate():  # torques, which `brake` does not check
                    raise NoPlan(Status.NO_TIMING, "; ".join(map(str, broken)))
                on = motion_along(prepared, rest, waypoints, limits, run)
                motion = checked(prepared, first.concatenate(on), run)
            return path, goal_index, motion
        except NoPlan as refused:
            failure = refused
    assert failure is not None
    raise failure


def _from_rest(
    prepared: Prepared, start: FloatArray, run: Run
) -> tuple[FloatArray, list[int], int]:
    """Plan a path from a start at rest.

    The result is the path (p, n_q), the indices of waypoints to be passed exactly, and the goal's
    index. If the start is beyond limits, the first edge leads back to them.
    """
    entry = prepared.columns.inside(start)
    legs, goal_index = _legs(prepared, entry, [*prepared.via, prepared.goals], run)
    path = np.concatenate([entry[None], *(leg[1:] for leg in legs)])
    meets = list(itertools.accumulate(len(leg) - 1 for leg in legs[:-1]))
    if entry is not start:
        path, meets = np.concatenate([start[None], path]), [i + 1 for i in meets]
    path, waypoints = merged(path, prepared.columns.q, meets)
    return path, waypoints, goal_index


# Search


def _legs(
    prepared: Prepared, start: FloatArray, goals: Sequence[tuple[Goal, ...]], run: Run
) -> tuple[list[FloatArray], int]:
    """Plan simplified free paths from goal to goal.

    The result is the paths, and the index of the alternative reached among those of the last goal.
    Everything that one leg reaches is connected with its start, so no other choice there would
    enable the next leg.
    """
    legs: list[FloatArray] = []
    goal_index = -1
    for i, alternatives in enumerate(goals):
        what = "goal" if i == len(goals) - 1 else f"via[{i}]"
        with run.stage("inverse kinematics"):
            targets = goal_configurations(prepared, alternatives, start, seed=run.seed, what=what)
        path, goal_index = _leg(prepared, start, targets, what, run)
        legs.append(path)
        start = path[-1]
    return legs, goal_index


def _leg(
    prepared: Prepared, start: FloatArray, targets: Targets, what: str, run: Run
) -> tuple[FloatArray, int]:
    """Plan one free path to any of the targets, and return it with the index of its goal.

    The path is simplified and, if a clearance is required, optimized.
    """
    with run.stage("search"):
        found = search(
            prepared,
            targets.q,
            start=start,
            full_turns=targets.full_turns,
            planner=run.planner,
            seed=run.seed,
            max_iterations=run.max_iterations,
            deadline_s=run.left(),
            resolution=run.resolution,
            stop=run.stop,
        )
    run.iterations += found.iterations
    run.checks += found.checks
    # Failures of the search, with their reasons.
    if found.status is SearchStatus.TIMEOUT:
        reason = (
            f"no path to the {what} before the wall-clock budget ended, after {found.iterations}"
            " iterations"
        )
        raise NoPlan(Status.BUDGET, reason)
    if found.status is SearchStatus.CANCELLED:
        raise NoPlan(
            Status.CANCELLED, f"cancelled after {found.iterations} iterations of the search"
        )
    if found.status is SearchStatus.EXHAUSTED:
        reason = (
            f"no path to the {what} within {found.iterations} iterations of {run.planner!r}: it may"
            " be shut off, or the way too narrow to be found by then; a larger max_iterations (now"
            f" {run.max_iterations}) goes on longer, another seed looks elsewhere"
        )
        raise NoPlan(Status.NO_PATH, reason)
    with run.stage("simplify"):
        path = simplify(
            prepared,
            found.path,
            seed=run.seed,
            iterations=run.shortcut_iterations,
            deadline_s=run.left(),
            resolution=run.resolution,
        )
        # A detour to the nearest goal may be longer than the straight line to another turn or goal.
        shorter = None
        if len(path) > 2 or found.lines != 1:
            shorter = straight_line(
                prepared,
                targets.q,
                start=start,
                full_turns=targets.full_turns,
                below=path_length(path[:, list(prepared.columns.q)]),
                skip=found.lines,
                deadline_s=run.left(),
                resolution=run.resolution,
            )
        goal = found.goal_index
        if shorter is not None:
            path, goal = shorter
    if run.optimizer_iterations > 0:
        with run.stage("optimize"):
            path = optimize(
                prepared,
                path,
                iterations=run.optimizer_iterations,
                deadline_s=run.left(),
                resolution=run.resolution,
            )
    run.cut_short |= run.left() == 0.0
    return path, targets.goal_index[goal]
