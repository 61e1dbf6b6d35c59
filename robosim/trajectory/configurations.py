"""Configurations of the whole robot from the positions that a trajectory moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robosim.errors import TrajectoryError, suggestion
from robosim.trajectory.polynomial import Array

if TYPE_CHECKING:
    from robosim.trajectory.trajectory import Trajectory


class Robot(Protocol):
    """Part of `robosim.model.Model` that this module uses."""

    @property
    def name(self) -> str:
        """Name of the robot, for messages."""

    @property
    def position_names(self) -> tuple[str, ...]:
        """Names of the entries of q."""

    def neutral(self) -> Array:
        """Neutral configuration (n_q,)."""


def position_columns(model: Robot, trajectory: Trajectory) -> list[int]:
    """Return the index in q of each position of the trajectory, by name.

    Raises:
        TrajectoryError: the trajectory names a position that the robot lacks.
    """
    known = {name: k for k, name in enumerate(model.position_names)}
    for name in trajectory.position_names:
        if name not in known:
            raise TrajectoryError(
                f"the trajectory moves {name!r}, which {model.name} does not"
                f" have{suggestion(name, known)}"
            )
    return [known[name] for name in trajectory.position_names]


def resting(model: Robot, trajectory: Trajectory, rest: ArrayLike | None) -> Array:
    """Return (n_q,) positions for the joints that the trajectory does not move.

    They are those recorded by its planner, else those of `rest`, else neutral.

    Raises:
        TrajectoryError: rest is not (n_q,) finite numbers.
    """
    n = len(model.position_names)
    try:
        q = np.array(model.neutral() if rest is None else rest, dtype=np.float64)
    except (TypeError, ValueError):
        raise TrajectoryError("rest must be an array of numbers") from None
    if q.shape != (n,) or not np.isfinite(q).all():
        raise TrajectoryError(f"rest must be ({n},) finite numbers, has shape {q.shape}")
    index = {name: k for k, name in enumerate(model.position_names)}
    for name, value in positions_at_rest(trajectory).items():
        if name in index:
            q[index[name]] = value
    return q


def positions_at_rest(trajectory: Trajectory) -> dict[str, float]:
    """Positions of the joints that the trajectory does not move, as recorded by `planners.plan`.

    Invalid entries, which a file may contain, are ignored.
    """
    noted = trajectory.metadata.get("positions_at_rest")
    if not isinstance(noted, dict):
        return {}
    return {k: float(v) for k, v in noted.items() if isinstance(v, int | float) and np.isfinite(v)}
