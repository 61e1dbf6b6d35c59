"""Limits for the joints of a trajectory: those of a robot, and the strictest of two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robosim.execution.plant import joint_columns
from robosim.model import Model
from robosim.trajectory import TrajectoryLimits

__all__ = ["model_limits", "strictest"]

Array = NDArray[np.float64]


def model_limits(model: Model, joint_names: Sequence[str]) -> TrajectoryLimits:
    """Return a robot's limits of position, velocity and acceleration for these joints in order.

    Raises:
        ExecutionError: the robot has no such joint, or a joint controller cannot command it.
    """
    in_q = joint_columns(model, joint_names)
    in_v = [model.velocity_names.index(name) for name in joint_names]
    limits = model.limits
    return TrajectoryLimits(
        lower=limits.lower[in_q],
        upper=limits.upper[in_q],
        velocity=limits.velocity[in_v],
        acceleration=limits.acceleration[in_v],
        acceleration_source=limits.acceleration_source,
    )


def strictest(
    first: TrajectoryLimits | None, second: TrajectoryLimits | None
) -> TrajectoryLimits | None:
    """Return the stricter of two limits for the same joints; None stands for no limits."""
    if first is None or second is None:
        return second if first is None else first

    def both(a: Array | None, b: Array | None, pick: np.ufunc) -> Array | None:
        if a is None or b is None:
            return b if a is None else a
        picked: Array = pick(a, b)
        return picked

    return TrajectoryLimits(
        lower=both(first.lower, second.lower, np.maximum),
        upper=both(first.upper, second.upper, np.minimum),
        velocity=both(first.velocity, second.velocity, np.minimum),
        acceleration=both(first.acceleration, second.acceleration, np.minimum),
        jerk=both(first.jerk, second.jerk, np.minimum),
        effort=both(first.effort, second.effort, np.minimum),
        acceleration_source=first.acceleration_source or second.acceleration_source,
    )
