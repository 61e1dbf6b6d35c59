"""Replacement of a trajectory: splicing as on rolling, and deceleration to rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robosim.execution.interpolation import JointSpline, Knots

__all__ = ["decelerating", "splice"]

Array = NDArray[np.float64]

# Knots closer together than this [s] count as one; messages have whole nanoseconds.
CLOSE = 0.5e-9


def splice(
    old: JointSpline, cursor: float, new: Knots, named: NDArray[np.bool_], delay: float
) -> JointSpline | None:
    """Follow the old trajectory from its time `cursor`, then the new one after it takes over.

    Time 0 of the result is now. Time 0 of the new trajectory is `delay` [s] from now (negative: it
    has started already). The seam is a knot sampled from the old trajectory, with velocity and
    acceleration. New knots are kept if they are ahead of the seam. Joints (n,) that the new
    trajectory does not name continue along the old one until its end. Returns None if no new knot
    is ahead.
    """
    seam = max(delay, 0.0)
    new, going_on = new.later(delay), old.knots.later(-cursor)
    new = new.where(new.times > seam + CLOSE)
    if not len(new.times):
        return None

    parts = [Knots.one(0.0, *old.sample(cursor)[0])]
    if seam > CLOSE:
        parts.append(going_on.where((going_on.times > CLOSE) & (going_on.times < seam - CLOSE)))
        parts.append(Knots.one(seam, *old.sample(cursor + seam)[0]))
    if named.all():
        parts.append(new)
    else:
        sampled = np.array([old.sample(cursor + t)[0] for t in new.times])
        parts.append(_mixed(named, new, sampled))
        rest = going_on.where(going_on.times > new.times[-1] + CLOSE)
        still = np.zeros_like(rest.values)
        still[:, 0] = new.values[-1, 0]
        parts.append(_mixed(named, rest._replace(values=still), rest.values))
    return JointSpline(Knots.joined(*parts), old.method)


def _mixed(named: NDArray[np.bool_], new: Knots, old: Array) -> Knots:
    """Return the new knots.

    Joints that are not named have the values (m, 3, n) of the old motion.
    """
    given = np.arange(3)[None, :, None] < new.fields[:, None, None]
    return new._replace(values=np.where(given, np.where(named, new.values, old), 0.0))


def decelerating(position: Array, velocity: Array, deceleration: Array) -> JointSpline | None:
    """Decelerate to rest, each joint at its own deceleration (n,) > 0; None if nothing moves.

    There is a knot where each joint stops. Between knots the motion of every joint is a parabola or
    rest, which a cubic reproduces.
    """
    stops = np.abs(velocity) / deceleration
    times = np.unique(np.append(stops, 0.0))
    if len(times) == 1:
        return None
    braking = -np.sign(velocity) * deceleration
    knots = []
    for t in times:
        s = np.minimum(t, stops)
        moving = np.where(t < stops, velocity + braking * s, 0.0)
        knots.append(Knots.one(t, position + velocity * s + 0.5 * braking * s * s, moving))
    return JointSpline(Knots.joined(*knots))
