"""Conversion of a request to a planning problem for this robot, state and scene.

Every field is checked before planning begins. Invalid fields are refused with the code that a user
of MoveIt would expect. Field names are those of robosim_msgs/MotionPlanRequest, which documents
them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robosim.errors import ModelError, RobosimError, suggestion
from robosim.geometry import pose
from robosim.model.tips import tip_links
from robosim.planners import Goal, JointGoal, PoseGoal, Problem, get_planner
from robosim.ros.planner.codes import ErrorCode, Refusal
from robosim.scene import LinkPose

if TYPE_CHECKING:
    from robosim.model import Model
    from robosim.ros.planner.frames import Frames
    from robosim.ros.planner.joint_states import JointStates
    from robosim.scene import Scene

__all__ = [
    "CARTESIAN",
    "FramePose",
    "MotionRequest",
    "Options",
    "Settings",
    "make_options",
    "make_problem",
]

FloatArray = NDArray[np.float64]
CARTESIAN = "cartesian"  # the planner's name that asks for a straight line


@dataclass(frozen=True)
class FramePose:
    """Pose of a request: position [m] and quaternion x, y, z, w, in a frame."""

    frame_id: str = ""
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    quaternion: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class MotionRequest:
    """Fields of robosim_msgs/MotionPlanRequest."""

    group: str = ""
    start_joint_names: tuple[str, ...] = ()
    start_positions: tuple[float, ...] = ()
    start_velocities: tuple[float, ...] = ()
    goal_joint_names: tuple[str, ...] = ()
    goal_positions: tuple[float, ...] = ()
    goal_name: str = ""
    full_turns: bool = True
    goal_poses: tuple[FramePose, ...] = ()
    goal_link: str = ""
    position_tolerance: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation_tolerance: tuple[float, float, float] = (0.0, 0.0, 0.0)
    scene_name: str = ""
    scene_text: str = ""
    planner: str = ""
    seed: int = 0
    allowed_planning_time: float = 0.0
    max_velocity_scaling_factor: float = 0.0
    max_acceleration_scaling_factor: float = 0.0
    jerk_limit: float = 0.0
    execute: bool = False


@dataclass(frozen=True)
class Settings:
    """Values of the node's parameters of these names; `parameters.PARAMETERS` documents them."""

    group: str = ""
    planner: str = "rrt_connect"
    allowed_planning_time: float = 5.0
    max_velocity_scaling_factor: float = 1.0
    max_acceleration_scaling_factor: float = 1.0
    jerk_limit: float = 0.0
    tool_speed: float = 0.0
    state_timeout: float = 1.0
    stopped_velocity: float = 0.05
    limit_tolerance: float = 1e-3
    point_interval: float = 0.1
    world_frame: str = "world"


@dataclass(frozen=True)
class Options:
    """Planning options. `jerk` and `tool_speed` are None for no limit."""

    planner: str
    seed: int
    allowed_time: float
    velocity_scaling: float
    acceleration_scaling: float
    jerk: float | None
    tool_speed: float | None


def make_options(request: MotionRequest, settings: Settings) -> Options:
    """Return the request's options. Options that it leaves open are those of the settings.

    Raises:
        Refusal: an option is invalid.
    """

    def refuse(name: str, value: object, valid: str) -> Refusal:
        return Refusal(ErrorCode.PLANNING_FAILED, f"{name} is {value}; it must be {valid}")

    # Check each option, with the settings' values as defaults.
    planner = request.planner or settings.planner
    if planner != CARTESIAN:
        try:
            get_planner(planner)
        except RobosimError as error:
            hint = f", and {CARTESIAN!r} for straight lines"
            raise Refusal(ErrorCode.PLANNING_FAILED, f"planner: {error}{hint}") from error
    if request.seed < 0:
        raise refuse("seed", request.seed, "0 or more")
    allowed_time = request.allowed_planning_time or settings.allowed_planning_time
    if not allowed_time > 0:  # infinity is valid
        raise refuse(
            "allowed_planning_time",
            f"{allowed_time:g} s",
            "positive, or 0 for the node's parameter",
        )
    scalings = {}
    for name in ("max_velocity_scaling_factor", "max_acceleration_scaling_factor"):
        scalings[name] = getattr(request, name) or getattr(settings, name)
        if not 0 < scalings[name] <= 1:
            raise refuse(
                name, f"{scalings[name]:g}", "above 0 and at most 1, or 0 for the node's parameter"
            )
    jerk = request.jerk_limit or settings.jerk_limit
    if not jerk >= 0:
        raise refuse("jerk_limit", f"{jerk:g}", "positive, or 0 for the node's parameter")
    return Options(
        planner,
        request.seed,
        allowed_time,
        scalings["max_velocity_scaling_factor"],
        scalings["max_acceleration_scaling_factor"],
        jerk if 0 < jerk < math.inf else None,
        settings.tool_speed if 0 < settings.tool_speed < math.inf else None,
    )


def make_problem(
    request: MotionRequest,
    model: Model,
    scene: Scene | None,
    states: JointStates,
    settings: Settings,
    *,
    now: float,
    frames: Frames | None = None,
) -> Problem:
    """Create the problem of a request.

    Args:
        request: the request.
        model: the robot.
        scene: the surroundings, with the scene of the request already resolved.
        states: states of the joints.
        settings: values that the request leaves open.
        now: present time on the clock of the states [s].
        frames: frames of tf, in which goals may be specified as well.

    Raises:
        Refusal: the request is invalid, or the state is unknown.
    """
    group = request.group or settings.group
    if group and group not in model.groups:
        known = f"{model.name!r} has {', '.join(model.groups) or 'no groups'}"
        raise Refusal(
            ErrorCode.INVALID_GROUP_NAME,
            f"there is no group {group!r}{suggestion(group, model.groups)}; {known}",
        )
    start, velocity = _start(request, model, states, settings, now)
    where = _Where(model, start, settings, frames, now)
    goal = _goal(request, model, scene, start, where)
    return Problem(
        model, scene, start=start, goal=goal, start_velocity=velocity, group=group or None
    )


# Start


def _start(
    request: MotionRequest, model: Model, states: JointStates, settings: Settings, now: float
) -> tuple[FloatArray, Mapping[str, float] | None]:
    """Configuration q (n_q,) at the start, and requested velocities by name."""
    names = request.start_joint_names
    given = _by_name("start", names, request.start_positions, ErrorCode.INVALID_ROBOT_STATE)
    velocity = None
    if request.start_velocities:
        velocity = _by_name(
            "start", names, request.start_velocities, ErrorCode.INVALID_ROBOT_STATE, "velocities"
        )
    present = [name for name in model.position_names if name not in given]
    measured = states.of(present, now=now, timeout=settings.state_timeout)
    for name, sample in measured.items():
        if abs(sample.velocity) > settings.stopped_velocity:  # false for NaN, that is, unreported
            raise Refusal(
                ErrorCode.START_STATE_INVALID,
                f"joint {name!r} moves at {sample.velocity:.3g} per s; a plan from the present"
                f" state needs an arm at rest, below {settings.stopped_velocity:g}, since it would"
                " have gone on when the plan is there (parameter 'stopped_velocity')",
            )
    try:
        rest = model.configuration({name: sample.position for name, sample in measured.items()})
        # A measured position may exceed its limit by measurement noise.
        low, high = model.limits.lower, model.limits.upper
        beyond = (np.clip(rest, low, high) != rest) & (
            np.abs(np.clip(rest, low, high) - rest) <= settings.limit_tolerance
        )
        rest[beyond] = np.clip(rest, low, high)[beyond]
        return model.configuration(given, rest=rest), velocity
    except ModelError as error:
        raise Refusal(ErrorCode.INVALID_ROBOT_STATE, f"start: {error}") from error


def _by_name(
    what: str,
    names: Sequence[str],
    values: Sequence[float],
    code: ErrorCode,
    kind: str = "positions",
) -> dict[str, float]:
    """Return values by name.

    There must be one finite value per name, and names must be distinct.
    """
    if len(names) != len(values):
        raise Refusal(
            code, f"{what}: {len(names)} joints are named, and there are {len(values)} {kind}"
        )
    by_name = dict(zip(names, values, strict=True))
    if len(by_name) != len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise Refusal(code, f"{what}: joint {twice!r} is named twice")
    for name, value in by_name.items():
        if not math.isfinite(value):
            raise Refusal(
                code, f"{what}: the {kind} hold {value} for joint {name!r}; they must be finite"
            )
    return by_name


# Goal


def _goal(
    request: MotionRequest, model: Model, scene: Scene | None, start: FloatArray, where: _Where
) -> Goal | str | list[Goal]:
    code = ErrorCode.INVALID_GOAL_CONSTRAINTS
    ways = {
        "joint positions": request.goal_joint_names or request.goal_positions,
        "a name": request.goal_name,
        "poses": request.goal_poses,
    }
    given = [way for way, value in ways.items() if value]
    if len(given) > 1:
        raise Refusal(
            code, f"the goal is given in {len(given)} ways: {' and '.join(given)}; give one"
        )
    if request.goal_poses:
        return _pose_goals(request, model, where)
    if given == ["joint positions"]:
        positions = _by_name("goal", request.goal_joint_names, request.goal_positions, code)
        _check_positions(model, positions, start, "goal")
        return JointGoal(positions, request.full_turns)
    name = _named_goal(request.goal_name, model, scene, start)
    is_pose = scene is not None and isinstance(scene.goals.get(name), LinkPose)
    return name if request.full_turns or is_pose else JointGoal(name, full_turns=False)


def _named_goal(name: str, model: Model, scene: Scene | None, start: FloatArray) -> str:
    goals = {} if scene is None else scene.goals
    states = [state.name for state in model.named_states]
    known = [*goals, *dict.fromkeys(states)]
    if not name:
        if "goal" not in goals:
            hint = f"; by name there are {', '.join(known)}" if known else ""
            raise Refusal(
                ErrorCode.INVALID_GOAL_CONSTRAINTS,
                f"no goal is given, and the scene has none named 'goal'{hint}",
            )
        name = "goal"
    target = goals.get(name)
    if isinstance(target, LinkPose):
        _check_link(model, target.link)
        return name
    if target is not None:
        _check_positions(model, target, start, f"goal {name!r} of the scene")
        return name
    _check_positions(model, name, start, "goal")
    return name


def _check_positions(
    model: Model, positions: Mapping[str, float] | str, rest: FloatArray, what: str
) -> None:
    try:
        model.configuration(positions, rest=rest)
    except ModelError as error:
        raise Refusal(ErrorCode.INVALID_GOAL_CONSTRAINTS, f"{what}: {error}") from error


def _check_link(model: Model, link: str) -> None:
    if link not in model.link_names:
        raise Refusal(
            ErrorCode.INVALID_LINK_NAME,
            f"{model.name!r} has no link {link!r}{suggestion(link, model.link_names)}",
        )


def _pose_goals(request: MotionRequest, model: Model, where: _Where) -> list[Goal]:
    link = request.goal_link
    if not link:
        tips = tip_links(model)
        if len(tips) != 1:
            raise Refusal(
                ErrorCode.INVALID_LINK_NAME,
                f"goal_link is empty, and {model.name!r} has several end effectors:"
                f" {', '.join(tips)}",
            )
        link = tips[0]
    _check_link(model, link)
    goals: list[Goal] = []
    # Fields that were not filled in are zero: use the default of PoseGoal.
    tolerances = {
        name: value
        for name in ("position_tolerance", "rotation_tolerance")
        if any(value := getattr(request, name))
    }
    for given in request.goal_poses:
        X_WG = where.frame(given.frame_id) @ _pose(given)
        try:
            goals.append(PoseGoal(link, X_WG, **tolerances))
        except RobosimError as error:
            raise Refusal(ErrorCode.INVALID_GOAL_CONSTRAINTS, str(error)) from error
    return goals


@dataclass(frozen=True, eq=False)
class _Where:
    """Poses of frames at the start of the motion."""

    model: Model
    start: FloatArray
    settings: Settings
    frames: Frames | None
    now: float

    def frame(self, name: str) -> FloatArray:
        """Pose X_WF of a frame: the world, a link at the start, or a frame of tf.

        A frame of tf is posed relative to the nearest known frame.
        """
        name = name.lstrip("/")
        if (X := self._own(name)) is not None:
            return X
        if self.frames is None or name not in self.frames:
            raise self._unknown(name)
        age = self.settings.state_timeout
        known = {*self.model.link_names, self.settings.world_frame}
        if (nearest := self.frames.above(name, known, now=self.now, max_age=age)) is not None:
            base, X_BF = nearest
            X_WB = self._own(base)
            assert X_WB is not None
            return X_WB @ X_BF
        # Through the known link nearest to the root that tf has as well.
        links = (self.settings.world_frame, *self.model.link_names)
        link = next(
            (link for link in links if self.frames.connected(name, link)), self.model.root_link
        )
        X_WL = self._own(link)
        assert X_WL is not None
        return X_WL @ self.frames.between(name, link, now=self.now, max_age=age)

    def _own(self, name: str) -> FloatArray | None:
        if name in self.model.link_names:
            return np.asarray(self.model.frame_pose(self.start, name))
        told = self.frames is not None and name in self.frames
        if name in ("", self.settings.world_frame) or (name == "world" and not told):
            return np.eye(4)
        return None

    def _unknown(self, name: str) -> Refusal:
        problem = self.frames.problem if self.frames is not None else ""
        why = problem or "nothing has arrived of it on /tf and /tf_static"
        return Refusal(
            ErrorCode.FRAME_TRANSFORM_FAILURE,
            f"the frame {name!r} is not known: it must be empty or {self.settings.world_frame!r}"
            " for the world, a link of"
            f" {self.model.name!r}{suggestion(name, self.model.link_names)}, or a frame of tf:"
            f" {why}",
        )


def _pose(given: FramePose) -> FloatArray:
    numbers = (*given.position, *given.quaternion)
    length = math.sqrt(sum(c * c for c in given.quaternion))
    if not all(math.isfinite(c) for c in numbers) or not abs(length - 1) < 0.01:
        raise Refusal(
            ErrorCode.INVALID_GOAL_CONSTRAINTS,
            f"a goal pose has the position {list(given.position)} and the quaternion (x, y, z, w)"
            f" {list(given.quaternion)} of length {length:.4g}; numbers must be finite, and the"
            " length 1",
        )
    return pose(given.position, quaternion=given.quaternion)
