"""`Motor`: a drive of a joint."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Motor"]


@dataclass(frozen=True)
class Motor:
    """A drive that pulls a joint to a target position and velocity, within a force limit.

    tau = position_gain (q_target - q) + velocity_gain (v_target - v), with q and v at the end of
    each step. It is therefore stable with stiff gains, too.

    Attributes:
        position_gain: [N m/rad or N/m]; for joints with one position.
        velocity_gain: [N m s/rad or N s/m].
        limit: largest magnitude of tau [N m or N]; None for the joint's effort limit.
    """

    position_gain: float = 0.0
    velocity_gain: float = 0.0
    limit: float | None = None
