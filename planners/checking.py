"""The last look at a motion: free of collisions at every time, and within its limits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robosim.planners.prepare import Prepared
from robosim.trajectory import Trajectory

__all__ = ["CHECK_RESOLUTION", "check"]

FloatArray = NDArray[np.float64]
CHECK_RESOLUTION = 1e-4  # [m] of the last check: finer, since it confirms what the stages before have found


def check(prepared: Prepared, trajectory: Trajectory, *, resolution: float = CHECK_RESOLUTION) -> list[str]:
    """What is wrong with a motion of the problem's columns, in words; empty when it is free and within its limits.

    Collisions are excluded at every time, not at samples; limits of position, velocity, acceleration and jerk at the
    exact extrema of the polynomials. Torques are kept by the time parametrisation, and `trajectory.validate()` looks
    at them.

    Args:
        prepared: the problem.
        trajectory: of its columns.
        resolution: [m] a motion that passes nearer than half of it may be refused.
    """
    wrong = []
    free = prepared.scene.trajectory_free(
        trajectory.breaks, trajectory.coefficients, list(prepared.columns.q), prepared.start, resolution
    )
    if not free.free:
        a, b = free.pair
        wrong.append(f"{a!r} and {b!r} come within {1e3 * resolution / 2:.3g} mm at {free.t:.4f} s")
    if not _surely_within_limits(trajectory):
        wrong += [str(violation) for violation in trajectory.replace(inverse_dynamics=None).validate()]
    return wrong


def _surely_within_limits(trajectory: Trajectory) -> bool:
    """A quick sufficient test: Bernstein coefficients bound the part of a piece they are of (Farouki, CAGD 2012, 3).

    Pieces that fail whole are cut into 8 parts, and those that still fail into 8 again.
    """
    limits = trajectory.limits
    if limits is None:
        return True
    if limits.jerk is not None and len(trajectory.acceleration_jumps()[0]):
        return False
    bounds = [(limits.lower, limits.upper)]
    bounds += [(None if x is None else -x, x) for x in (limits.velocity, limits.acceleration, limits.jerk)]
    c, h = trajectory.coefficients, np.diff(trajectory.breaks)
    for parts in (1, 8, 8):
        c, h = _cut(c, h, parts)
        open_ = _may_exceed(c, h, bounds)
        c, h = c[open_], h[open_]
        if len(h) == 0:
            return True
    return False


def _cut(c: FloatArray, h: FloatArray, parts: int) -> tuple[FloatArray, FloatArray]:
    """Polynomials c (k, d + 1, n) of lengths h (k,) cut into equal parts: powers of the time from the start of each.

    From t0 on, c'_j = sum_i C(i, j) t0^(i - j) c_i.
    """
    n_powers = c.shape[1]
    start = np.arange(parts) * (h / parts)[:, None]
    shift = np.zeros((*start.shape, n_powers, n_powers))
    for j in range(n_powers):
        for i in range(j, n_powers):
            shift[:, :, j, i] = math.comb(i, j) * start ** (i - j)
    return (shift @ c[:, None]).reshape(-1, *c.shape[1:]), np.repeat(h / parts, parts)


def _may_exceed(
    c: FloatArray, h: FloatArray, bounds: Sequence[tuple[FloatArray | None, FloatArray | None]]
) -> NDArray[np.bool_]:
    """Which polynomials c (k, d + 1, n) on [0, h] are not proven within bounds of value and derivatives, to 1e-6.

    With b_i = sum_j C(i, j) / C(d, j) c_j h^j the polynomial lies between the least and the greatest b_i.
    """
    exceeds = np.zeros(len(h), dtype=bool)
    for lower, upper in bounds:
        d = c.shape[1] - 1
        bernstein = np.array(
            [[math.comb(i, j) / math.comb(d, j) for j in range(d + 1)] for i in range(d + 1)]
        )
        b = bernstein @ (c * h[:, None, None] ** np.arange(d + 1)[:, None])
        if upper is not None:
            exceeds |= (b > upper + 1e-6 * np.abs(upper)).any(axis=(1, 2))
        if lower is not None:
            exceeds |= (b < lower - 1e-6 * np.abs(lower)).any(axis=(1, 2))
        c = c[:, 1:] * np.arange(1, d + 1)[:, None]
    return exceeds
