"""A start that moves: whether it may, and the straight stop that is always possible when planning
begins there.

From velocity v0 all joints brake together, so the robot goes straight along v0 in q
(engine/planning/timing.h). Where it would stop is where the search begins; the straight part before
it is the first edge of the path. An arm that all but stands stops within less than an edge can be
(`robosim.planners.noise`): then it stops, and goes on from rest.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from robosim import _engine
from robosim.errors import told_apart
from robosim.planners.positions import limit_violations
from robosim.planners.prepare import Prepared
from robosim.planners.result import NoPlan, Status
from robosim.planners.timing import MotionLimits

__all__ = ["FRACTIONS", "GENTLE", "brake", "check_start_velocity"]

FloatArray = NDArray[np.float64]
FRACTIONS = (
    0.95,
    0.6,
    0.35,
    0.2,
)  # of the acceleration limits, tried in turn: torque limits may leave less than all
# Likewise, where there is room for so much longer a stop: limits of acceleration may be far above
# what motors can do.
GENTLE = (0.05, 0.01, 2e-3, 4e-4)
# No brake is quicker [s]: a tenth of the period of the fastest controllers, and far above the
# nanoseconds of messages.
_SHORTEST = 1e-4
# What the engine takes for an acceleration without limit (engine/planning/timing.cpp).
_NO_LIMIT = 1e5


def check_start_velocity(prepared: Prepared, limits: MotionLimits) -> None:
    """Raises NoPlan where the start is faster than a velocity limit, or moves what nothing may
    decelerate."""
    rows = zip(
        prepared.columns.names,
        prepared.start_velocity,
        limits.velocity,
        limits.acceleration,
        strict=True,
    )
    for name, v, limit, acceleration in rows:
        if abs(v) > limit * (1 + 1e-9):
            asked, bound = told_apart(v, math.copysign(limit, v))
            reason = f"start velocity of {name!r} is {asked}, beyond its limit {bound}"
            raise NoPlan(Status.START_VELOCITY, reason)
        if v != 0 and acceleration == 0:
            reason = (
                f"start velocity of {name!r} is {v:.6g}, and its acceleration limit is zero: it"
                " cannot stop"
            )
            raise NoPlan(Status.START_VELOCITY, reason)


def brake(
    prepared: Prepared, limits: MotionLimits, fraction: float, resolution: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The straight stop at this fraction of the acceleration limits, or less where that would take
    no time.

    Returns:
        breaks (k + 1,) and coefficients (k, 6, c) of the columns' motion, and where it ends,
        (n_q,).

    Raises:
        NoPlan: it leaves the position limits, or goes on where the start is beyond them, or
        collides.
    """
    columns, velocity = list(prepared.columns.q), prepared.start_velocity
    moving = velocity != 0
    quickest = float(
        (np.abs(velocity[moving]) / np.minimum(limits.acceleration[moving], _NO_LIMIT)).max()
    )
    breaks, coefficients = _engine.brake(
        prepared.start[columns],
        velocity,
        limits.acceleration,
        limits.jerk,
        min(fraction, quickest / _SHORTEST),
    )
    h = breaks[-1] - breaks[-2]
    stopped: FloatArray = prepared.start.copy()
    stopped[columns] = h ** np.arange(coefficients.shape[1]) @ coefficients[-1]
    # Farther out than the start by no more than `Trajectory.validate` allows, which judges the
    # motion in the end.
    bound = np.where(
        stopped[columns] > prepared.columns.upper, prepared.columns.upper, prepared.columns.lower
    )
    rounding = 1e-6 * np.where(np.isfinite(bound), np.abs(bound), 0.0)
    allowed = prepared.columns.excess(prepared.start) + rounding
    violations = limit_violations(prepared.columns, stopped, allowed)
    if violations:
        reason = "the robot cannot stop in time from its start velocity: " + "; ".join(violations)
        raise NoPlan(Status.START_VELOCITY, reason)
    free = prepared.scene.trajectory_free(breaks, coefficients, columns, prepared.start, resolution)
    if not free.free:
        a, b = free.pair
        reason = (
            f"the robot cannot stop from its start velocity before {a!r} meets {b!r} at"
            f" {free.t:.4f} s"
        )
        raise NoPlan(Status.START_VELOCITY, reason)
    return breaks, coefficients, stopped
