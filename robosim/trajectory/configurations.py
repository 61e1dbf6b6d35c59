"""From the positions that a trajectory moves to configurations of the whole robot, which has others
beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robosim.errors import TrajectoryError, suggestion
from robosim.trajectory.polynomial import Array

if TYPE_CHECKING:
    from robosim.trajectory.trajectory import Trajectory


class Robot(Protocol):
    """What of a `robosim.model.Model` counts here."""

    @property
    def name(self) -> str:
        """For messages."""

    @property
    def position_names(self) -> tuple[str, ...]:
        """Of the entries of q."""

    def neutral(self) -> Array:
        """(n_q,)."""


def position_columns(model: Robot, trajectory: Trajectory) -> list[int]:
    """Where in q each position of the trajectory belongs, by name.

    Raises:
        TrajectoryError: it names a position that the robot lacks.
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
    """(n_q,) where what the trajectory leaves alone stands: as its plan noted, else as in `rest`,
    else neutral.

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
    """Positions of the joints that the trajectory does not move, as `planners.plan` notes them; a
    file may say anything.
    """
    noted = trajectory.metadata.get("positions_at_rest")
    if not isinstance(noted, dict):
        return {}
    return {k: float(v) for k, v in noted.items() if isinstance(v, int | float) and np.isfinite(v)}
