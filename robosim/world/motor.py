"""`Motor`: what drives a joint."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Motor"]


@dataclass(frozen=True)
class Motor:
    """A drive that pulls a joint to a position and a velocity, within a limit.

    tau = position_gain (q_target - q) + velocity_gain (v_target - v), of q and v at the end of each
    step: it is as steady with stiff gains as with weak ones.

    Attributes:
        position_gain: [N m/rad or N/m]; of joints with one position.
        velocity_gain: [N m s/rad or N s/m].
        limit: of |tau| [N m or N]; None: the joint's effort limit.
    """

    position_gain: float = 0.0
    velocity_gain: float = 0.0
    limit: float | None = None
