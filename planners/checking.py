"""Final check of a trajectory: free of collision at every time, and within its limits."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from robosim.planners.prepare import Prepared
from robosim.trajectory import Trajectory

__all__ = ["CHECK_RESOLUTION", "check"]

FloatArray = NDArray[np.float64]
# [m] of the final check: finer, since it confirms the results of the earlier stages.
CHECK_RESOLUTION = 1e-4


def check(
    prepared: Prepared, trajectory: Trajectory, *, resolution: float = CHECK_RESOLUTION
) -> list[str]:
    """Describe the faults of a trajectory of the problem's columns; empty if there are none.

    Collisions are excluded at every time, not only at samples. Limits of position, velocity,
    acceleration and jerk are checked at the exact extrema of the polynomials. Torques are limited
    by the time parameterization, and checked by `trajectory.validate()`.

    Args:
        prepared: the problem.
        trajectory: of its columns.
        resolution: [m] a trajectory with less than half of it as clearance may be rejected.
    """
    wrong = []
    free = prepared.scene.trajectory_free(
        trajectory.breaks,
        trajectory.coefficients,
        list(prepared.columns.q),
        prepared.start,
        resolution,
    )
    if not free.free:
        a, b = free.pair
        wrong.append(f"{a!r} and {b!r} come within {1e3 * resolution / 2:.3g} mm at {free.t:.4f} s")
    if not _surely_within_limits(trajectory):
        wrong += [
            str(violation) for violation in trajectory.replace(inverse_dynamics=None).validate()
        ]
    return wrong


def _surely_within_limits(trajectory: Trajectory) -> bool:
    """Quick sufficient test of the limits.

    Bernstein coefficients bound the part of a piece that they describe (Farouki, CAGD 2012, 3).
    Each piece, coordinate and derivative is tested by itself: first the whole piece, then 8 parts
    of it, then 64.
    """
    limits = trajectory.limits
    if limits is None:
        return True
    if limits.jerk is not None and len(trajectory.acceleration_jumps()[0]):
        return False
    bounds = [(limits.lower, limits.upper)]
    bounds += [
        (None if x is None else -x, x) for x in (limits.velocity, limits.acceleration, limits.jerk)
    ]
    c, h = trajectory.coefficients, np.diff(trajectory.breaks)
    for lower, upper in bounds:
        n_powers = c.shape[1]
        if n_powers == 0:  # zero, within all bounds that follow
            break
        if lower is not None or upper is not None:
            # Rows of coefficients in powers of time relative to the piece, per piece and
            # coordinate.
            powers = np.cumprod(np.column_stack([np.ones(len(h)), *[h] * (n_powers - 1)]), axis=1)
            rows = (c * powers[:, :, None]).swapaxes(1, 2).reshape(-1, n_powers)
            low = _repeated(lower, -np.inf, c.shape)
            high = _repeated(upper, np.inf, c.shape)
            if not _is_within(rows, low - 1e-6 * np.abs(low), high + 1e-6 * np.abs(high)):
                return False
        c = c[:, 1:] * np.arange(1, n_powers)[:, None]
    return True


def _repeated(bound: FloatArray | None, none: float, shape: tuple[int, ...]) -> FloatArray:
    """Repeat a bound of each coordinate (n,), or `none`, for every piece: (k n,)."""
    return np.full(shape[0] * shape[2], none) if bound is None else np.tile(bound, shape[0])


def _is_within(rows: FloatArray, low: FloatArray, high: FloatArray) -> bool:
    """True if polynomials (m, d + 1) on [0, 1] are proven to be within bounds (m,)."""
    for parts in (1, 8, 64):
        b = rows @ _bernstein(rows.shape[1] - 1, parts)
        open_ = ~((b.max(axis=1) <= high) & (b.min(axis=1) >= low))
        rows, low, high = rows[open_], low[open_], high[open_]
        if len(rows) == 0:
            return True
    return False


@cache
def _bernstein(d: int, parts: int) -> FloatArray:
    """Matrix (d + 1, parts (d + 1)) from powers on [0, 1] to Bernstein coefficients of equal parts.

    With b_i = sum_j C(i, j) / C(d, j) p_j a polynomial on [0, 1] lies between the least and the
    greatest b_i. The part of width w from s on has the powers p'_j = w^j sum_i C(i, j) s^(i - j)
    p_i.
    """
    to_bernstein = np.array(
        [[math.comb(i, j) / math.comb(d, j) for j in range(d + 1)] for i in range(d + 1)]
    )
    columns = []
    for k in range(parts):
        s, w = k / parts, 1 / parts
        cut = np.array(
            [
                [math.comb(i, j) * s ** max(i - j, 0) * w**j for i in range(d + 1)]
                for j in range(d + 1)
            ]
        )
        columns.append((to_bernstein @ cut).T)
    return np.concatenate(columns, axis=1)
