"""The first stage: resolve a Problem and validate its start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from robosim import _engine
from robosim.errors import PlanningError, suggestion, told_apart
from robosim.model.configurations import joint_positions
from robosim.planners.noise import is_at_rest
from robosim.planners.positions import (
    Columns,
    chain,
    configuration,
    joint_kinds,
    limit_violations,
    make_columns,
    velocities,
)
from robosim.planners.problem import Goal, JointGoal, PoseGoal, Positions, Problem
from robosim.planners.result import NoPlan, Status
from robosim.planners.units import degrees_hint
from robosim.scene import Scene
from robosim.trajectory.limits import LIMIT_NOISE

if TYPE_CHECKING:
    from robosim.model import Model

__all__ = ["Prepared", "describe_collisions", "prepare"]

FloatArray = NDArray[np.float64]
_TOUCHING = 1e-3  # [m] within which a pair counts as touching


@dataclass(frozen=True, eq=False)
class Prepared:
    """Resolved problem, the input of the stages after `prepare`.

    Attributes:
        model: the robot.
        scene: compiled scene, for collision queries.
        start: (n_q,) as given: free, and beyond limits of the columns by no more than noise.
        start_velocity: (c,) of the columns [rad/s, m/s]; all zero if it is no more than noise.
        columns: coordinates that may move, with their limits.
        goals: alternatives, of which any satisfies the problem.
        via: goals to be passed before, in this order; each with its alternatives.
        clearance: [m] required by the problem.
    """

    model: Model
    scene: _engine.CollisionScene
    start: FloatArray
    start_velocity: FloatArray
    columns: Columns
    goals: tuple[Goal, ...]
    via: tuple[tuple[Goal, ...], ...]
    clearance: float = 0.0

    @property
    def entry(self) -> FloatArray:
        """(n_q,) the start moved within limits: the first waypoint, at which searches begin."""
        return self.columns.inside(self.start)


def describe_collisions(scene: _engine.CollisionScene, q: FloatArray, limit: int = 3) -> str:
    """Describe the pairs that overlap at q (n_q,), deepest first; empty if there are none.

    The depth of hulls that stand for meshes is an upper bound.
    """
    pairs = sorted(scene.collisions(q), key=lambda pair: pair[2])
    hulls = set(scene.stand_ins)
    words = [
        f"{a!r} and {b!r} overlap by"
        f" {'up to ' if {a, b} & hulls else ''}{1e3 * max(-depth, 0.0):.3g} mm"
        for a, b, depth in pairs[:limit]
    ]
    if len(pairs) > limit:
        words.append(f"{len(pairs) - limit} more pairs")
    return "; ".join(words)


def prepare(problem: Problem) -> Prepared:
    """Read the problem's start, goals and group; compile its scene; check the start.

    Raises:
        PlanningError: the problem is not well posed: unknown names, wrong lengths, no movable
            joint.
        NoPlan: the start is out of limits, by more than noise and in joints that may move, or in
            collision.
        SceneError: the scene does not fit the robot.
    """
    model, scene = problem.model, problem.scene
    q = _start(problem)
    goals = _goals(problem.goal, problem, "goal")
    via = tuple(_goals(item, problem, f"via[{i}]") for i, item in enumerate(problem.via))
    joints = _group(problem, q, [goal for alternatives in (goals, *via) for goal in alternatives])
    columns = make_columns(model, joints)
    if not columns.q:
        raise PlanningError(f"no joint of {model.name!r} may move: group {list(joints)}")
    # Convert positions to arrays, so that the later stages handle one form only.
    goals = _resolved(goals, q, joints, problem, "goal")
    via = tuple(_resolved(item, q, joints, problem, f"via[{i}]") for i, item in enumerate(via))
    compiled = _compile(scene, model)
    violations = limit_violations(columns, q)
    if violations:
        raise NoPlan(
            Status.START_OUT_OF_LIMITS, "start: " + "; ".join(violations) + degrees_hint(model, q)
        )
    if compiled.collides(q):
        raise NoPlan(Status.START_IN_COLLISION, "start: " + describe_collisions(compiled, q))
    entry = columns.inside(q)
    if entry is not q and compiled.collides(entry):
        reason = "start, moved back to its limits: " + describe_collisions(compiled, entry)
        raise NoPlan(Status.START_IN_COLLISION, reason)
    if len(columns.v) < model.n_v:
        compiled = _without_what_rests(compiled, scene, model, columns, entry, problem.clearance)
    v = velocities(model, problem.start_velocity, "start_velocity")
    if is_at_rest(v):
        v[:] = 0.0
    still = [i for i in range(model.n_v) if i not in columns.v and not is_at_rest(v[[i]])]
    if still:
        raise PlanningError(
            f"start_velocity: {model.velocity_names[still[0]]!r} moves, but is not in the group"
            f" {list(joints)}"
        )
    return Prepared(model, compiled, q, v[list(columns.v)], columns, goals, via, problem.clearance)


def _without_what_rests(
    compiled: _engine.CollisionScene,
    scene: Scene | None,
    model: Model,
    columns: Columns,
    q: FloatArray,
    clearance: float,
) -> _engine.CollisionScene:
    """Allow contact of touching pairs that no column moves, such as objects on the floor."""
    near = compiled.collisions(q, clearance + _TOUCHING)
    if not near:
        return compiled
    link_of = {collider.name: collider.link for collider in model.colliders}
    held = (
        {}
        if scene is None
        else {name: attachment.link for name, attachment in scene.attachments.items()}
    )
    step = np.zeros(model.n_v)
    step[list(columns.v)] = np.sqrt(2) * np.arange(
        1, len(columns.v) + 1
    )  # no two cancel each other
    before, after = (model.link_poses(x) for x in (q, model.integrate(q, step)))

    def rests(name: str) -> bool:
        link = link_of.get(name) or held.get(name)
        return link is None or np.array_equal(before[link], after[link])

    still = [(a, b) for a, b, _ in near if rests(a) and rests(b)]
    if not still:
        return compiled
    other = Scene() if scene is None else scene.copy()
    for a, b in still:
        other.allow(link_of.get(a, a), link_of.get(b, b))
    return other.compile(model)


def _compile(scene: Scene | None, model: Model) -> _engine.CollisionScene:
    return (Scene() if scene is None else scene).compile(model)


def _start(problem: Problem) -> FloatArray:
    model, scene = problem.model, problem.scene
    rest = model.neutral()
    value = problem.start
    if value is None:
        if scene is None or "start" not in scene.starts:
            return np.clip(rest, model.limits.lower, model.limits.upper)
        value = scene.starts["start"]
    group = _named_group(problem) or ()
    return configuration(model, value, rest, "start", group=group, scene=scene)


def _goals(
    value: Goal | Positions | Sequence[Goal] | None, problem: Problem, what: str
) -> tuple[Goal, ...]:
    """Return the alternatives that `value` stands for."""
    scene = problem.scene
    if value is None:
        if scene is None or "goal" not in scene.goals:
            raise PlanningError(
                f"{what}: the problem has none, and the scene has no goal named 'goal'"
            )
        value = "goal"
    if isinstance(value, str) and scene is not None and value in scene.goals:
        named = scene.goals[value]
        return (
            JointGoal(named) if isinstance(named, Mapping) else PoseGoal(named.link, named.pose),
        )
    if isinstance(value, (JointGoal, PoseGoal)):
        return (_from_scene(value, scene, what),)
    if (
        isinstance(value, Sequence)
        and value
        and all(isinstance(item, (JointGoal, PoseGoal)) for item in value)
    ):
        return tuple(_from_scene(goal, scene, what) for goal in cast("Sequence[Goal]", value))
    if isinstance(value, Sequence) and not isinstance(value, str):
        if not value:
            raise PlanningError(f"{what}: an empty list of goals")
        odd = [item for item in value if not isinstance(item, (int, float, np.number))]
        if odd:
            raise PlanningError(
                f"{what}: expected JointGoal or PoseGoal or numbers, found {odd[0]!r}"
            )
    return (JointGoal(cast("Positions", value)),)


def _from_scene(goal: Goal, scene: Scene | None, what: str) -> Goal:
    """Replace the name of a goal of the scene by its positions."""
    if isinstance(goal, PoseGoal) or scene is None or not isinstance(goal.positions, str):
        return goal
    named = scene.goals.get(goal.positions)
    if named is None:
        return goal
    if not isinstance(named, Mapping):
        raise PlanningError(
            f"{what}: JointGoal({goal.positions!r}) needs positions, but that goal of the scene is"
            f" a pose of {named.link!r}; name it without JointGoal"
        )
    return JointGoal(named, goal.full_turns)


def _resolved(
    goals: tuple[Goal, ...], q: FloatArray, joints: Sequence[str], problem: Problem, what: str
) -> tuple[Goal, ...]:
    out: list[Goal] = []
    for goal in goals:
        if isinstance(goal, PoseGoal):
            if goal.link not in problem.model.link_names:
                known = problem.model.link_names
                raise PlanningError(
                    f"{what}: {problem.model.name!r} has no link"
                    f" {goal.link!r}{suggestion(goal.link, known)}"
                )
            out.append(goal)
            continue
        full = configuration(
            problem.model, goal.positions, q, what, group=joints, scene=problem.scene
        )
        moved = {i for joint in joints for i in joint_positions(problem.model, joint)}
        kinds = problem.model.position_kinds
        for i, name in enumerate(problem.model.position_names):
            if i in moved:
                continue
            if abs(full[i] - q[i]) > LIMIT_NOISE["m" if kinds[i] == "length" else "rad"]:
                there, here = told_apart(full[i], q[i])
                raise PlanningError(
                    f"{what}: {name!r} is {there} and {here} at the start, but may not move; "
                    f"the group is {list(joints)}"
                )
            full[i] = q[i]  # the joint stays: the difference is between two measurements of it
        out.append(JointGoal(full, goal.full_turns))
    return tuple(out)


def _named_group(problem: Problem) -> tuple[str, ...] | None:
    """Return the joints of `problem.group`, or None if it is not given."""
    model, group = problem.model, problem.group
    if group is None:
        return None
    if isinstance(group, str):
        if group not in model.groups:
            raise PlanningError(f"there is no group {group!r}{suggestion(group, model.groups)}")
        joints = tuple(model.groups[group].joints)
    else:
        joints = tuple(group)
    kinds = joint_kinds(model)
    for joint in joints:
        if joint not in kinds:
            raise PlanningError(
                f"group: there is no joint {joint!r}{suggestion(joint, [*model.groups, *kinds])}"
            )
        if kinds[joint] == "floating":
            raise PlanningError(
                f"group: the floating joint {joint!r} is never moved by a plan; leave it out"
            )
    return tuple(joint for joint in model.joint_names if joint in joints)


def _group(problem: Problem, q: FloatArray, goals: Sequence[Goal]) -> tuple[str, ...]:
    """Return the joints that may move.

    These are the named group, else the smallest group that has all joints that the goals need, else
    all joints but floating ones.
    """
    named = _named_group(problem)
    if named is not None:
        return named
    model = problem.model
    kinds = joint_kinds(model)
    movable = [joint for joint in model.joint_names if kinds[joint] != "floating"]
    needed: set[str] = set()
    for goal in goals:
        if isinstance(goal, PoseGoal):
            needed |= chain(model, goal.link) & set(movable)
        else:
            full = configuration(model, goal.positions, q, "goal", scene=problem.scene)
            needed |= {
                j for j in movable if any(full[i] != q[i] for i in joint_positions(model, j))
            }
    fitting = [group for group in model.groups.values() if needed and needed <= set(group.joints)]
    if fitting:
        smallest = min(fitting, key=lambda group: len(group.joints))
        return tuple(joint for joint in movable if joint in smallest.joints)
    return tuple(movable)
