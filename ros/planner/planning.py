"""Planning of a request, in a scene that may change meanwhile."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from robosim.errors import MissingDependencyError, PlanningError, RobosimError, TrajectoryError
from robosim.execution.joint_trajectory import from_trajectory
from robosim.planners import (
    JointGoal,
    NoPlan,
    PlanResult,
    Problem,
    Status,
    check,
    plan,
    plan_cartesian,
    prepare,
)
from robosim.ros.planner.codes import STATUS_CODES, ErrorCode, Refusal
from robosim.ros.planner.request import (
    CARTESIAN,
    MotionRequest,
    Options,
    Settings,
    make_options,
    make_problem,
)

if TYPE_CHECKING:
    from robosim.execution.messages import JointTrajectory
    from robosim.model import Model
    from robosim.planners.run import Progress
    from robosim.ros.planner.frames import Frames
    from robosim.ros.planner.joint_states import JointStates
    from robosim.scene import Scene

__all__ = ["Answer", "obstructions", "plan_motion"]

_ATTEMPTS = 5  # number of plans in changing scenes


@dataclass(frozen=True, eq=False)
class Answer:
    """Result of a request; content of robosim_msgs/MotionPlanResponse.

    Attributes:
        code, message: outcome and reason.
        status: status of planning; None if planning never began.
        trajectory: points for a controller; None without a plan.
        goal_index: index of the goal that was reached, or -1.
        planner, seed: planner and seed that were used.
        seconds: total wall time.
        timings: [s] by stage of planning.
        result: result of the planner; None if planning never began.
        scene: scene in which the plan is collision-free.
    """

    code: ErrorCode
    message: str
    status: Status | None = None
    trajectory: JointTrajectory | None = None
    goal_index: int = -1
    planner: str = ""
    seed: int = 0
    seconds: float = 0.0
    timings: Mapping[str, float] = field(default_factory=dict)
    result: PlanResult | None = None
    scene: Scene | None = None

    @property
    def ok(self) -> bool:
        """True if there is a plan, and it was executed if requested."""
        return self.code is ErrorCode.SUCCESS


def plan_motion(
    request: MotionRequest,
    model: Model,
    scene_now: Callable[[], Scene | None],
    states: JointStates,
    settings: Settings,
    *,
    clock: Callable[[], float],
    frames: Frames | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Answer:
    """Plan a request. Plan again if the scene has changed and the plan collides in it.

    Args:
        request: the request.
        model: the robot.
        scene_now: returns the present surroundings; the same object while they do not change. May
            raise SceneError.
        states: states of the joints.
        settings: values that the request leaves open.
        clock: clock of the states [s].
        frames: frames of tf, in which goals may be specified as well.
        progress, stop: as in `robosim.planners.plan`.
    """
    begin = time.perf_counter()
    planner, seed = request.planner or settings.planner, request.seed
    try:
        options = make_options(request, settings)
        answer = _plan_until_current(
            request, model, scene_now, states, settings, options, clock, frames, progress, stop
        )
    except Refusal as refusal:
        answer = Answer(refusal.code, str(refusal))
    except MissingDependencyError as error:
        answer = Answer(ErrorCode.PLANNING_FAILED, str(error))
    # All else is valid by itself, so the group is the part that does not fit.
    except PlanningError as error:
        code = ErrorCode.INVALID_GROUP_NAME if request.group else ErrorCode.INVALID_GOAL_CONSTRAINTS
        answer = Answer(code, str(error))
    except RobosimError as error:  # SceneError, or error in a file of the scene
        answer = Answer(ErrorCode.INVALID_OBJECT_NAME, f"scene: {error}")
    return dataclasses.replace(
        answer, planner=planner, seed=seed, seconds=time.perf_counter() - begin
    )


def _plan_until_current(
    request: MotionRequest,
    model: Model,
    scene_now: Callable[[], Scene | None],
    states: JointStates,
    settings: Settings,
    options: Options,
    clock: Callable[[], float],
    frames: Frames | None,
    progress: Progress | None,
    stop: Callable[[], bool] | None,
) -> Answer:
    end = time.perf_counter() + options.allowed_time
    scene = scene_now()
    answer = Answer(ErrorCode.TIMED_OUT, "the allowed planning time ended before planning began")
    for _ in range(_ATTEMPTS):
        present = [name for name in model.position_names if name not in request.start_joint_names]
        states.wait_for(present, settings.state_timeout)
        problem = make_problem(request, model, scene, states, settings, now=clock(), frames=frames)
        left = dataclasses.replace(options, allowed_time=max(end - time.perf_counter(), 1e-3))
        answer = _answer(_plan(problem, left, progress, stop), scene, settings)
        latest = scene_now()
        if latest is scene or answer.code in (ErrorCode.PREEMPTED, ErrorCode.TIMED_OUT):
            return answer
        if answer.result is not None and answer.ok and _same_goal(request, scene, latest):
            in_the_way = obstructions(model, answer.result, latest)
            if not in_the_way:
                return dataclasses.replace(answer, scene=latest)
        scene = latest
    return dataclasses.replace(
        answer,
        code=ErrorCode.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE,
        message=(
            f"the scene changed {_ATTEMPTS} times while planning, each time so that the plan no"
            " longer held"
        ),
        trajectory=None,
    )


def _plan(
    problem: Problem, options: Options, progress: Progress | None, stop: Callable[[], bool] | None
) -> PlanResult:
    if options.planner != CARTESIAN:
        return plan(
            problem,
            planner=options.planner,
            seed=options.seed,
            budget_s=options.allowed_time,
            velocity_scaling=options.velocity_scaling,
            acceleration_scaling=options.acceleration_scaling,
            jerk=options.jerk,
            tool_speed=options.tool_speed,
            progress=progress,
            stop=stop,
        )
    # Straight lines have no budget: it is a reason to stop here. The answer distinguishes it from a
    # stop by the caller.
    end = time.perf_counter() + options.allowed_time
    if progress is not None:
        progress("search")
    result = plan_cartesian(
        problem,
        seed=options.seed,
        velocity_scaling=options.velocity_scaling,
        acceleration_scaling=options.acceleration_scaling,
        jerk=options.jerk,
        tool_speed=options.tool_speed,
        stop=lambda: time.perf_counter() > end or (stop is not None and stop()),
    )
    if result.status is Status.CANCELLED and not (stop is not None and stop()):
        reason = f"no straight motion before the {options.allowed_time:.3g} s ended"
        return dataclasses.replace(result, status=Status.BUDGET, reason=reason)
    if not result.status.ok:  # a partial motion is not what was requested
        return dataclasses.replace(result, trajectory=None)
    return result


def _answer(result: PlanResult, scene: Scene | None, settings: Settings) -> Answer:
    points = None
    message = result.reason
    if result.trajectory is not None:
        try:
            points = from_trajectory(result.trajectory, max_interval=settings.point_interval)
        except TrajectoryError as error:  # an extremely long motion
            return Answer(ErrorCode.INVALID_MOTION_PLAN, str(error), status=result.status)
    return Answer(
        STATUS_CODES[result.status],
        message,
        status=result.status,
        trajectory=points,
        goal_index=result.goal_index,
        timings=dict(result.timings),
        result=result,
        scene=scene,
    )


def _same_goal(request: MotionRequest, scene: Scene | None, latest: Scene | None) -> bool:
    """Return true if the goal is the same in both scenes: explicit, or a name in neither."""
    if request.goal_joint_names or request.goal_poses:
        return True
    name = request.goal_name or "goal"
    old, new = (None if s is None else s.goals.get(name) for s in (scene, latest))
    return old is None and new is None


def obstructions(
    model: Model, result: PlanResult, scene: Scene | None, *, since: float = 0.0
) -> list[str]:
    """Find collisions of a plan's motion from time `since` [s] on, in another scene than its own.

    Returns:
        Descriptions; empty if the rest of the motion is collision-free.

    Raises:
        SceneError: the scene does not fit the robot.
    """
    trajectory = result.trajectory
    assert trajectory is not None
    if since >= trajectory.duration:
        return []
    rest = trajectory.slice(since, trajectory.duration) if since > 0 else trajectory
    joints = [
        joint
        for joint in model.joint_names
        if any(p == joint or p.startswith(f"{joint}/") for p in trajectory.position_names)
    ]
    now, last = result.configuration([since, trajectory.duration])
    try:
        prepared = prepare(Problem(model, scene, start=now, goal=JointGoal(last), group=joints))
    except NoPlan as collision:
        return [collision.reason]
    # Velocities and other limits are unchanged.
    return check(prepared, rest.replace(limits=None))
