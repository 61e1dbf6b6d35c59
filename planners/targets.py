"""From goals to configurations: inverse kinematics, limits, collisions, and full turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robosim.errors import PlanningError
from robosim.planners.inverse import inverse_kinematics
from robosim.planners.positions import limit_violations, nearest_equivalent
from robosim.planners.prepare import Prepared, describe_collisions
from robosim.planners.problem import Goal, JointGoal
from robosim.planners.result import NoPlan, Status
from robosim.planners.units import degrees_hint, millimeters_hint

__all__ = ["Targets", "goal_configurations", "turns_from_goal"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Targets:
    """Configurations that satisfy a goal.

    Attributes:
        q: (k, n_q) free and within limits, nearest to the start first; k >= 1. Among configurations
            equal up to full turns it contains only the nearest.
        goal_index: (k) index of the alternative that each satisfies.
        full_turns: (k) True if any configuration equal up to full turns satisfies the goal, too.
    """

    q: FloatArray
    goal_index: tuple[int, ...]
    full_turns: tuple[bool, ...]


def goal_configurations(
    prepared: Prepared,
    goals: Sequence[Goal],
    start: FloatArray,
    *,
    seed: int = 0,
    what: str = "goal",
) -> Targets:
    """Return all valid configurations of any of `goals`, nearest to `start` (n_q,) first.

    Raises:
        NoPlan: there is none; the status is that of the alternative closest to being valid.
        PlanningError: there is no goal, or positions are not (n_q,).
    """
    if not goals:
        raise PlanningError(f"{what} is empty; there must be at least one to reach")
    failures: list[NoPlan] = []
    found: list[tuple[float, int, FloatArray]] = []
    for index, goal in enumerate(goals):
        label = what if len(goals) == 1 else f"{what}[{index}]"
        try:
            for q in _configurations(prepared, goal, start, seed, label):
                distance = float(np.linalg.norm((q - start)[list(prepared.columns.q)]))
                found.append((distance, index, q))
        except NoPlan as failure:
            failures.append(failure)
    if not found:
        closest = min(failures, key=lambda failure: _CLOSENESS[failure.status])
        raise NoPlan(closest.status, "; ".join(str(failure) for failure in failures))
    found.sort(key=lambda item: item[:2])
    indices = tuple(index for _, index, _ in found)
    turning = tuple(_may_turn(goals[i]) for i in indices)
    return Targets(np.array([q for _, _, q in found]), indices, turning)


def turns_from_goal(prepared: Prepared, goal: Goal, q: FloatArray) -> str:
    """Describe the full turns between the end q (n_q,) and a goal's positions; empty if none."""
    if not isinstance(goal, JointGoal):
        return ""
    columns = prepared.columns
    away = (q - np.asarray(goal.positions, dtype=float))[list(columns.q)]
    turns = np.where(columns.periodic, np.round(away / (2 * np.pi)), 0.0)
    far = [f"{name!r} by {abs(n):g}" for name, n in zip(columns.names, turns, strict=True) if n]
    if not far:
        return ""
    asked = "JointGoal(..., full_turns=False) asks for the positions as given"
    return f"the goal is reached full turns away, {', '.join(far)}; {asked}"


def _may_turn(goal: Goal) -> bool:
    return goal.full_turns if isinstance(goal, JointGoal) else True


_CLOSENESS = {Status.GOAL_IN_COLLISION: 0, Status.GOAL_OUT_OF_LIMITS: 1, Status.GOAL_UNREACHABLE: 2}


def _configurations(
    prepared: Prepared, goal: Goal, start: FloatArray, seed: int, label: str
) -> list[FloatArray]:
    model, scene = prepared.model, prepared.scene
    if isinstance(goal, JointGoal):
        q = np.asarray(goal.positions, dtype=float)
        if q.shape != (model.n_q,):
            raise PlanningError(f"{label} has shape {q.shape}; expected {(model.n_q,)}")
        violations = limit_violations(prepared.columns, q)
        if violations:
            raise NoPlan(
                Status.GOAL_OUT_OF_LIMITS,
                f"{label}: " + "; ".join(violations) + degrees_hint(model, q),
            )
        q = prepared.columns.inside(q)
        if goal.full_turns:
            q = nearest_equivalent(prepared.columns, q, start)
        if scene.collides(q):
            raise NoPlan(Status.GOAL_IN_COLLISION, f"{label}: " + describe_collisions(scene, q))
        return [q]
    answer = inverse_kinematics(model, goal, start=start, joints=prepared.columns.joints, seed=seed)
    if not len(answer.solutions):
        hint = millimeters_hint(model, goal.link, np.asarray(goal.pose))
        raise NoPlan(Status.GOAL_UNREACHABLE, f"{label}: {answer.reason}{hint}")
    free = [q for q in answer.solutions if not scene.collides(q)]
    if not free:
        n = len(answer.solutions)
        each = (
            f"each of {n} configurations with this pose collides; in the nearest, " if n > 1 else ""
        )
        raise NoPlan(
            Status.GOAL_IN_COLLISION,
            f"{label}: {each}{describe_collisions(scene, answer.solutions[0])}",
        )
    return free
