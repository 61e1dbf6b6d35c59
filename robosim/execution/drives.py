"""Velocities of joints after a short step of time, under drives of limited force, friction and hard stops.

    M (v+ - v) = dt (f(v+) - h),   f_i(x) = clip(u_i - g_i x, -L_i, L_i) - d_i x - mu_i sgn(x) - stop_i(x)

The forces act with the velocity at the step's *end*: u - g x is a PD law (g = kd + dt kp), which is therefore stable at
any gain; d is viscous and mu dry friction, which holds a joint at rest with any force up to mu; stop_i keeps x within
[lower_i, upper_i] without a bounce. Each f_i falls with x, and M is positive definite, so that v+ is unique.

It is found by active sets: guess the piece of each joint's graph, solve the linear equations, correct the pieces, all
at once as long as that gets anywhere and then the first wrong one alone (Judice and Pires, "A block principal pivoting
algorithm for large-scale strictly monotone linear complementarity problems", 1994). Usually the first guess is right.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Drives", "end_velocity"]

Array = NDArray[np.float64]

_BLOCK, _MOST = 10, 500  # iterations that correct all joints at once, and iterations in all
_SLACK = 1e-10  # relative; a force that is over its bound by rounding does not release a joint


class Drives(NamedTuple):
    """What acts on n joints, each (n,), in SI units.

    Attributes:
        u: force of the PD law and the feedforward at zero velocity.
        g: how much that falls with velocity, >= 0.
        limit: greatest force of the drive, >= 0; infinite where there is no limit.
        damping, friction: of the joints, >= 0.
        lower, upper: least and greatest velocity, lower <= 0 <= upper; infinite where there is none.
    """

    u: Array
    g: Array
    limit: Array
    damping: Array
    friction: Array
    lower: Array
    upper: Array

    def force(self, velocity: Array) -> Array:
        """(n,) what the drives themselves exert at this velocity."""
        return np.clip(self.u - self.g * velocity, -self.limit, self.limit)


def end_velocity(M: Array, momentum: Array, drives: Drives, dt: float) -> Array:
    """(n,) v+ of the equation above.

    Args:
        M: (n, n) mass matrix; with the drives' g and damping on its diagonal it is positive definite.
        momentum: (n,) M v - dt h.
        drives: what acts.
        dt: step [s].
    """
    u, g, limit, damping, friction, lower, upper = drives
    n = len(u)
    v = _solve(M, dt * (g + damping), momentum + dt * u)
    if not friction.any() and _plain(v, drives):
        return v

    rough = friction > 0
    side = np.where(v < 0, -1.0, 1.0)  # of zero, where a joint with friction moves
    saturated = _saturation(v, drives)
    fixed = np.zeros(n, dtype=bool)  # at the end of its piece: a stop, or at rest
    for iteration in range(_MOST):
        within = saturated == 0
        extra = dt * (damping + np.where(within, g, 0.0))
        force = np.where(within, u, saturated * np.where(within, 0.0, limit)) - friction * side
        if fixed.any():
            free = np.flatnonzero(~fixed)
            held = np.flatnonzero(fixed)
            b = momentum[free] + dt * force[free] - M[np.ix_(free, held)] @ v[held]
            v = v.copy()
            if len(free):
                v[free] = _solve(M[np.ix_(free, free)], extra[free], b)
        else:
            v = _solve(M, extra, momentum + dt * force)

        # A free joint stays between the ends of its piece.
        low = np.where(rough & (side > 0), 0.0, lower)
        high = np.where(rough & (side < 0), 0.0, upper)
        beyond = ~fixed & ((v < low) | (v > high))
        # A fixed one needs a force between those of the pieces beside it.
        needed = (M @ v - momentum) / dt
        base = drives.force(v) - damping * v
        most = np.where(v <= lower, np.inf, base + np.where(v <= 0, friction, -friction))
        least = np.where(v >= upper, -np.inf, base - np.where(v >= 0, friction, -friction))
        slack = _SLACK * (1.0 + np.abs(needed))
        down = fixed & (needed > most + slack)
        up = fixed & (needed < least - slack)
        # A drive goes from one limit to the other only by way of its linear piece.
        now_saturated = _saturation(v, drives)
        now_saturated = np.where((now_saturated == saturated) | within, now_saturated, 0.0)
        wrong = beyond | down | up | (~fixed & ~beyond & (now_saturated != saturated))
        if not wrong.any():
            break
        if iteration >= _BLOCK:
            j = int(np.argmax(wrong))
            only = np.arange(n) == j
            beyond, down, up, wrong = beyond & only, down & only, up & only, only
            # Corrected alone, a joint goes to the piece next to its own; else it may jump to and fro over the right.
            if fixed[j]:
                now_saturated = _saturation(v, drives)
            else:
                ends = _ends(drives, j, saturated[j])
                if v[j] > ends[1] and ends[1] < high[j]:
                    now_saturated[j], beyond[j] = saturated[j] - 1, False
                elif v[j] < ends[0] and ends[0] > low[j]:
                    now_saturated[j], beyond[j] = saturated[j] + 1, False
        saturated = np.where(wrong, now_saturated, saturated)
        side = np.where(down, np.where(v <= 0, -1.0, 1.0), np.where(up, np.where(v >= 0, 1.0, -1.0), side))
        v = np.where(beyond, np.clip(v, low, high), v)
        fixed = (fixed | beyond) & ~(down | up)
    return np.asarray(np.clip(v, lower, upper))


def _solve(M: Array, extra: Array, b: Array) -> Array:
    """(M + diag(extra))^-1 b by Cholesky."""
    from scipy.linalg.lapack import dposv

    A = M.copy()
    A.flat[:: len(b) + 1] += extra
    _, x, failed = dposv(A, b)
    if failed:
        # A motion that moves no mass, and no drive that would damp it: an inertia of next to nothing decides.
        A.flat[:: len(b) + 1] += 1e-9 * A.diagonal().max()
        _, x, failed = dposv(A, b)
    return np.asarray(x)


def _plain(v: Array, drives: Drives) -> bool:
    """Whether no drive is at its limit and no joint at a stop."""
    raw = drives.u - drives.g * v
    return bool(
        (np.abs(raw) <= drives.limit).all() and (v >= drives.lower).all() and (v <= drives.upper).all()
    )


def _ends(drives: Drives, joint: int, saturated: float) -> tuple[float, float]:
    """Least and greatest velocity at which the joint's drive is at its limit, or is not, as `saturated` says."""
    u, g, limit = drives.u[joint], drives.g[joint], drives.limit[joint]
    if g == 0:
        return -np.inf, np.inf
    # Up to `forward` the drive is at its limit forwards, from `backward` on at its limit backwards.
    forward, backward = (u - limit) / g, (u + limit) / g
    if saturated > 0:
        return -np.inf, forward
    if saturated < 0:
        return backward, np.inf
    return forward, backward


def _saturation(v: Array, drives: Drives) -> Array:
    """(n,) 1 or -1 where the drive is at its limit on that side, else 0."""
    raw = drives.u - drives.g * v
    return (raw > drives.limit).astype(float) - (raw < -drives.limit)
