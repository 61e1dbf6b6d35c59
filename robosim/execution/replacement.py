"""How one trajectory follows another: joints put in order, partial ones completed, splicing, slowing down."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robosim.execution.interpolation import Interpolation, JointSpline, Knot, knot
from robosim.execution.messages import JointTrajectory

__all__ = ["decelerating", "splice", "taken_over"]

Array = NDArray[np.float64]


def taken_over(
    trajectory: JointTrajectory, joint_names: Sequence[str], missing: Array
) -> tuple[list[float], list[Knot], NDArray[np.bool_]]:
    """Times and knots of all joints, in the controller's order, and which joints (n,) the trajectory names.

    Joints that it does not name stay at `missing` (n,) with zero velocity and acceleration.
    """
    n = len(joint_names)
    index = [list(joint_names).index(name) for name in trajectory.joint_names]
    named = np.zeros(n, dtype=bool)
    named[index] = True
    knots = []
    for point in trajectory.points:
        given, fields = knot(point), []
        for values, rest in zip(given, (missing, np.zeros(n), np.zeros(n)), strict=True):
            full = None if values is None else rest.copy()
            if full is not None:
                full[index] = values
            fields.append(full)
        assert fields[0] is not None  # positions are always given
        knots.append(Knot(fields[0], fields[1], fields[2]))
    return [float(point.time_from_start) for point in trajectory.points], knots, named


def splice(
    old: JointSpline,
    cursor: float,
    times: Sequence[float],
    knots: Sequence[Knot],
    named: NDArray[np.bool_],
    delay: float,
    method: Interpolation,
) -> JointSpline | None:
    """The old trajectory from its time `cursor` until the new one takes over, then the new one.

    Its time 0 is now. The new trajectory's own time 0 is `delay` [s] from now (negative: it has begun already). The
    seam is a knot sampled from the old one, with velocity and acceleration; of the new points those that lie ahead
    of the seam are kept. Joints that the new one does not name go on along the old one until its end. None when
    no new point lies ahead.
    """
    seam = max(delay, 0.0)
    ahead = [(delay + t, k) for t, k in zip(times, knots, strict=True) if delay + t > seam]
    if not ahead:
        return None

    def sampled(time: float) -> Knot:
        return Knot(*old.sample(cursor + time)[0])

    merged = [(0.0, sampled(0.0))]
    merged += [
        (t - cursor, k) for t, k in zip(old.times, old.knots, strict=True) if cursor < t < cursor + seam
    ]
    if seam > 0:
        merged.append((seam, sampled(seam)))
    for time, new in ahead:
        merged.append((time, new if named.all() else _mixed(named, new, sampled(time))))
    last_time, last = merged[-1]
    if not named.all():
        still = Knot(last.position, np.zeros(len(named)), np.zeros(len(named)))
        for t, k in zip(old.times, old.knots, strict=True):
            if t - cursor > last_time:
                merged.append((t - cursor, _mixed(named, still, k)))
    return JointSpline([t for t, _ in merged], [k for _, k in merged], method)


def _mixed(named: NDArray[np.bool_], new: Knot, old: Knot) -> Knot:
    """The named joints from one knot, the others from another; a field that one of them lacks is left out."""
    fields = [
        None if a is None or b is None else np.where(named, a, b) for a, b in zip(new, old, strict=True)
    ]
    assert fields[0] is not None  # positions are always given
    return Knot(fields[0], fields[1], fields[2])


def decelerating(position: Array, velocity: Array, deceleration: Array) -> JointSpline | None:
    """To rest from here, each joint at its own constant deceleration (n,) > 0; None when nothing moves.

    A knot at each joint's stop: between knots every joint's motion is a parabola or rest, which a cubic reproduces.
    """
    stops = np.abs(velocity) / deceleration
    times = np.unique(np.append(stops, 0.0))
    if len(times) == 1:
        return None
    knots = []
    for t in times:
        s = np.minimum(t, stops)
        braking = -np.sign(velocity) * deceleration
        rest = t >= stops
        knots.append(
            Knot(position + velocity * s + 0.5 * braking * s * s, np.where(rest, 0.0, velocity + braking * s))
        )
    return JointSpline(list(times), knots)
