"""Braking from a moving start: its feasibility, and the straight stop that precedes the path.

From velocity v0 all joints brake together, so the robot moves straight along v0 in q
(engine/planning/timing.h). The search begins where the robot would stop, and the straight line up
to there is the first edge of the path. An arm that almost stands still stops within less than the
shortest edge (`robosim.planners.noise`): then it stops, and continues from rest.
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
)  # of the acceleration limits, in this order: torque limits may allow less than all
# Fractions for the case that slower braking is free: acceleration limits may be far above the
# capability of the motors.
GENTLE = (0.05, 0.01, 2e-3, 4e-4)
# Shortest duration of a brake [s]: a tenth of the period of the fastest controllers, and far above
# the nanoseconds of messages.
_SHORTEST = 1e-4
# Acceleration that stands for no limit in the engine (engine/planning/timing.cpp).
_NO_LIMIT = 1e5


def check_start_velocity(prepared: Prepared, limits: MotionLimits) -> None:
    """Raise NoPlan if the start exceeds a velocity limit, or cannot decelerate."""
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
    """Compute the straight stop at a fraction of the acceleration limits.

    The fraction is reduced where the stop would take almost no time.

    Returns:
        breaks (k + 1,) and coefficients (k, 6, c) of the columns' trajectory, and its end, (n_q,).

    Raises:
        NoPlan: it leaves the position limits, moves further beyond them than the start, or
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
    # Beyond the limits by no more than the start, or what `Trajectory.validate` allows in the end.
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
