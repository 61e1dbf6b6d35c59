"""Results of planning: a status, a reason, and the timed trajectory with its provenance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import PlanningError
from robosim.pickling import Value
from robosim.trajectory import Trajectory

__all__ = ["NoPlan", "PlanResult", "Status"]

FloatArray = NDArray[np.float64]


class Status(str, Enum):
    """Outcome of planning. The first two come with a trajectory."""

    SOLVED = "solved"
    # The wall-clock budget ended the improvement of the trajectory early. On a faster or less
    # loaded machine it would be better.
    CUT_SHORT = "cut short"
    START_OUT_OF_LIMITS = "start out of limits"
    START_IN_COLLISION = "start in collision"
    START_VELOCITY = (
        # Over its limit, or the robot cannot stop before a collision or a limit.
        "start velocity impossible"
    )
    GOAL_OUT_OF_LIMITS = "goal out of limits"
    GOAL_IN_COLLISION = "goal in collision"
    GOAL_UNREACHABLE = "goal unreachable"  # no configuration has the pose
    NO_PATH = "no path found"  # all iterations done
    BUDGET = "budget exhausted"  # the wall-clock budget ended before a path was found
    CANCELLED = "cancelled"  # requested by the caller
    NO_TIMING = "no timing"  # the path cannot be followed within the limits, at any speed

    @property
    def ok(self) -> bool:
        """True if there is a trajectory."""
        return self in (Status.SOLVED, Status.CUT_SHORT)


class NoPlan(PlanningError):
    """Failure of a stage, with its `status` and `reason`. `plan` turns it into a PlanResult."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason

    def __reduce__(self) -> tuple[type[NoPlan], tuple[Status, str]]:
        return NoPlan, (self.status, self.reason)


@dataclass(frozen=True, eq=False)
class PlanResult(Value):
    """Result for a Problem; true if there is a trajectory.

    Attributes:
        status: how planning ended.
        reason: why there is no trajectory, or remarks on the trajectory; may be empty.
        trajectory: the timed motion of the joints that may move, with torques, or None. Its
            metadata contain the positions of the other joints.
        path: (p, c) waypoints of the simplified path, joined by straight lines, before its corners
            are blended; (0, c) without a path.
        position_names: (c) names of the columns of `path`.
        path_length: length of `path` in joint space, sqrt(sum of squares) [rad and m mixed].
        goal_index: index of the problem's goal that was reached, or -1.
        timings: seconds spent per stage: setup, inverse kinematics, search, simplify, timing,
            check, total.
        planner: name of the planner.
        seed: of the random numbers.
        iterations: of the search.
        checks: number of checks by the search, as its planner counts them.
        acceleration_source: origin of the acceleration limits.
        robot: the model's name.
        q_rest: (n_q,) the start, of which `trajectory` moves some entries.
    """

    status: Status
    reason: str
    trajectory: Trajectory | None
    path: FloatArray
    position_names: tuple[str, ...]
    path_length: float
    goal_index: int
    timings: Mapping[str, float]
    planner: str
    seed: int
    iterations: int
    checks: int
    acceleration_source: str
    robot: str
    q_rest: FloatArray
    columns: tuple[int, ...] = field(repr=False)

    def __post_init__(self) -> None:
        sizes = {"path": np.shape(self.path), "q_rest": np.shape(self.q_rest)}
        n = len(self.position_names)
        if len(sizes["path"]) != 2 or sizes["path"][1] != n or len(sizes["q_rest"]) != 1:
            raise PlanningError(
                f"path and q_rest have shapes {sizes}; they must be (p, {n}) and (n_q,)"
            )
        if not (np.isfinite(self.path).all() and np.isfinite(self.q_rest).all()):
            raise PlanningError("path and q_rest must be finite")
        if len(self.columns) != n or not all(0 <= k < sizes["q_rest"][0] for k in self.columns):
            raise PlanningError(
                f"columns must be {n} entries of q_rest (n_q = {sizes['q_rest'][0]}), found"
                f" {self.columns!r}"
            )

    @property
    def ok(self) -> bool:
        """True if there is a trajectory."""
        return self.status.ok

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        took = f"{1e3 * self.timings.get('total', 0.0):.1f} ms"
        if self.trajectory is None:
            return f"<PlanResult {self.status.value}: {self.reason} ({took})>"
        motion = f"{self.trajectory.duration:.3f} s along {self.path_length:.2f}"
        return f"<PlanResult {self.status.value}: {motion}, in {took}>"

    def configuration(self, t: ArrayLike) -> FloatArray:
        """Return the configurations (..., n_q) of the whole robot at times t [s] of any shape.

        Raises:
            PlanningError: there is no trajectory.
        """
        position = self._planned().position(t)
        q: FloatArray = np.broadcast_to(
            self.q_rest, (*position.shape[:-1], len(self.q_rest))
        ).copy()
        q[..., list(self.columns)] = position
        return q

    def _planned(self) -> Trajectory:
        if self.trajectory is None:
            raise PlanningError(f"there is no trajectory: {self.status.value}: {self.reason}")
        return self.trajectory

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the trajectory itself, in JSON types."""
        return {
            "status": self.status.value,
            "ok": self.ok,
            "reason": self.reason,
            "robot": self.robot,
            "planner": self.planner,
            "seed": self.seed,
            "duration": None if self.trajectory is None else self.trajectory.duration,
            "path_length": self.path_length if len(self.path) else None,
            "waypoints": len(self.path),
            "position_names": list(self.position_names),
            "path": self.path.tolist(),
            "goal_index": self.goal_index,
            "iterations": self.iterations,
            "checks": self.checks,
            "timings": dict(self.timings),
            "acceleration_source": self.acceleration_source,
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write the trajectory (JSON, CSV or NPZ by the name's ending), with its provenance.

        Raises:
            PlanningError: there is no trajectory.
            FileError: the file cannot be written.
        """
        self._planned().save(path)
