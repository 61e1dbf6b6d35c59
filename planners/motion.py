"""From a polyline in q to a checked trajectory.

The trajectory is as smooth as possible, and less so where that collides or is too fast.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robosim.planners.checking import CHECK_RESOLUTION, check
from robosim.planners.passing import pass_through
from robosim.planners.prepare import Prepared
from robosim.planners.result import NoPlan, Status
from robosim.planners.run import Run
from robosim.planners.timing import STOP, MotionLimits, time_parameterize
from robosim.trajectory import Trajectory

__all__ = ["checked", "motion_along"]

FloatArray = NDArray[np.float64]
# Attempts in this order: the largest blend [metric of q], and whether to stop at the end of the
# first edge.
_FROM_REST = ((math.inf, False), (0.2, False), (0.05, False), (STOP, False))
_FROM_MOTION = ((math.inf, False), (0.2, False), (math.inf, True), (STOP, True))


def motion_along(
    prepared: Prepared,
    path: FloatArray,
    waypoints: Sequence[int],
    limits: MotionLimits,
    run: Run,
    *,
    start_velocity: FloatArray | None = None,
) -> Trajectory:
    """Compute a checked trajectory along the path.

    With a jerk limit the trajectory deviates slightly from the path. Where that collides, blends
    are made smaller and accelerations lower, which reduces the deviation: it decreases with the
    third power of the acceleration.

    Args:
        prepared: the problem.
        path: (p, n_q) free polyline.
        waypoints: indices of the waypoints to be passed exactly.
        limits: limits of the trajectory.
        run: seed, resolution and clock.
        start_velocity: (c,) along the first edge, which is then at least the braking distance; None
            is at rest.

    Raises:
        NoPlan: there is none within the limits.
    """
    smooth = path
    stops: list[int] = []
    if waypoints:
        with run.stage("timing"):
            smooth, stops = pass_through(prepared, path, waypoints, run.resolution)
    slower, failure = limits, None
    for blend, stop_first in _FROM_REST if start_velocity is None else _FROM_MOTION:
        try:
            with run.stage("timing"):
                trajectory = time_parameterize(
                    prepared,
                    smooth,
                    slower,
                    start_velocity=start_velocity,
                    stops=[1, *stops] if stop_first and len(smooth) > 2 else stops,
                    largest_blend=blend,
                    resolution=run.resolution,
                    seed=run.seed,
                    metadata=run.metadata(),
                )
            if slower is not limits and trajectory.limits is not None:
                asked = dataclasses.replace(trajectory.limits, acceleration=limits.acceleration)
                trajectory = trajectory.replace(limits=asked)
            return checked(prepared, trajectory, run)
        except NoPlan as refused:
            failure = refused
        if limits.jerk is not None:
            slower = dataclasses.replace(slower, acceleration=slower.acceleration / 2)
    assert failure is not None
    raise failure


def checked(prepared: Prepared, trajectory: Trajectory, run: Run) -> Trajectory:
    """Return the trajectory if it passes the final check; else raise NoPlan."""
    with run.stage("check"):
        wrong = check(prepared, trajectory, resolution=min(run.resolution, CHECK_RESOLUTION))
    if wrong:
        raise NoPlan(Status.NO_TIMING, "; ".join(wrong))
    return trajectory
