"""How one trajectory follows another: splicing on rolling, and slowing down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robosim.execution.interpolation import JointSpline, Knots

__all__ = ["decelerating", "splice"]

Array = NDArray[np.float64]

# Knots closer together than this [s] are one; messages count whole nanoseconds.
CLOSE = 0.5e-9


def splice(
    old: JointSpline, cursor: float, new: Knots, named: NDArray[np.bool_], delay: float
) -> JointSpline | None:
    """The old trajectory from its time `cursor` until the new one takes over, then the new one.

    Its time 0 is now. The new trajectory's own time 0 is `delay` [s] from now (negative: it has
    begun already). The seam is a knot sampled from the old one, with velocity and acceleration; of
    the new knots those that lie ahead of the seam are kept. Joints (n,) that the new one does not
    name go on along the old one until its end. None when no new knot lies ahead.
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
    """The new knots' times and fields, but the values (m, 3, n) of the old motion for joints that
    are not named."""
    given = np.arange(3)[None, :, None] < new.fields[:, None, None]
    return new._replace(values=np.where(given, np.where(named, new.values, old), 0.0))


def decelerating(position: Array, velocity: Array, deceleration: Array) -> JointSpline | None:
    """To rest from here, each joint at its own constant deceleration (n,) > 0; None when nothing
    moves.

    A knot at each joint's stop: between knots every joint's motion is a parabola or rest, which a
    cubic reproduces.
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
