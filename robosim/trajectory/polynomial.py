"""Piecewise polynomials in time: values, shifts, exact extrema, Hermite pieces and splines.

Coefficients c have shape (k, 6, n): on piece i, q(t) = sum_j c[i, j] (t - breaks[i])**j. Cost:
linear in the size of the result.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]

DEGREE = 5
_ROOT_STEPS = (
    # Upper bound: every fourth step halves the bracket, the others converge on simple roots in ten.
    80
)
# _FALLING[d, j] = j (j-1) ... (j-d+1), the factor of (t - b)**(j - d) after d derivatives.
_FALLING: Array = np.array(
    [[np.prod(np.arange(j - d + 1, j + 1)) for j in range(6)] for d in range(6)], dtype=float
)


def differentiate(coefficients: Array, order: int) -> Array:
    """Coefficients of the order-th derivative, along axis -2: shape (..., 6 - order, n)."""
    derivative: Array = coefficients[..., order:, :] * _FALLING[order, order:, None]
    return derivative


def horner(coefficients: Array, s: Array) -> Array:
    """Evaluate sum_j c[..., j, :] s**j, with s of a shape that broadcasts against (..., n)."""
    value = coefficients[..., -1, :]
    for j in range(coefficients.shape[-2] - 2, -1, -1):
        value = value * s + coefficients[..., j, :]
    return value


def evaluate(breaks: Array, coefficients: Array, t: Array, order: int) -> Array:
    """Evaluate the order-th derivative at times t (any shape): (..., n).

    At an inner break, values are those of the piece that starts there. Outside the span the motion
    is at rest in its end positions: positions are constant and every derivative is zero.
    """
    piece = np.clip(np.searchsorted(breaks, t, side="right") - 1, 0, len(coefficients) - 1)
    s = np.clip(t, breaks[0], breaks[-1]) - breaks[piece]
    value = horner(differentiate(coefficients[piece], order), s[..., None])
    if order > 0:
        value[(t < breaks[0]) | (t > breaks[-1])] = 0.0
    return value


def shift(coefficients: Array, s: Array) -> Array:
    """Coefficients of p(x + s), piece by piece, by Taylor's formula: s has shape (k,)."""
    out = np.zeros_like(coefficients)
    for j in range(DEGREE + 1):
        for m in range(j, DEGREE + 1):
            out[:, j] += comb(m, j) * coefficients[:, m] * (s ** (m - j))[:, None]
    return out


def scale_time(coefficients: Array, factor: float | Array) -> Array:
    """Coefficients of p(x / factor)."""
    powers = np.asarray(factor, dtype=float)[..., None] ** np.arange(DEGREE + 1)
    return coefficients / powers[..., None]


def hermite(
    h: Array, start: tuple[Array, Array, Array | None], end: tuple[Array, Array, Array | None]
) -> Array:
    """Pieces of lengths h (k,) from positions, velocities and, for quintics, accelerations at both
    ends.

    The arrays of both ends are (k, n). Without accelerations (None at both ends) the pieces are
    cubic.
    """
    q0, v0, a0 = start
    q1, v1, a1 = end
    h = h[:, None]
    c = np.zeros((len(h), DEGREE + 1, q0.shape[1]))
    c[:, 0], c[:, 1] = q0, v0
    # Remainder for the higher terms, in the normalized time u = s / h.
    dq = q1 - q0 - h * v0
    dv = h * (v1 - v0)
    if a0 is None or a1 is None:
        c[:, 2] = (3 * dq - dv) / h**2
        c[:, 3] = (dv - 2 * dq) / h**3
        return c
    c[:, 2] = a0 / 2
    half = h**2 * a0 / 2
    dq, dv, da = dq - half, dv - 2 * half, h**2 * (a1 - a0)
    c[:, 3] = (10 * dq - 4 * dv + da / 2) / h**3
    c[:, 4] = (-15 * dq + 7 * dv - da) / h**4
    c[:, 5] = (6 * dq - 3 * dv + da / 2) / h**5
    return c


def spline_velocities(times: Array, positions: Array) -> Array:
    """Knot velocities (m, n) of the cubic spline with continuous acceleration and rest at both
    ends.

    Tridiagonal system (de Boor, A Practical Guide to Splines, ch. IV), solved by elimination
    without pivoting, which is stable by diagonal dominance.
    """
    h = np.diff(times)[:, None]
    slope = np.diff(positions, axis=0) / h
    v = np.zeros_like(positions)
    if len(times) == 2:
        return v
    lower, upper = h[1:], h[:-1]
    diagonal = 2 * (h[:-1] + h[1:])
    rhs = 3 * (h[1:] * slope[:-1] + h[:-1] * slope[1:])
    for i in range(1, len(rhs)):
        w = lower[i] / diagonal[i - 1]
        diagonal[i] -= w * upper[i - 1]
        rhs[i] -= w * rhs[i - 1]
    v[-2] = rhs[-1] / diagonal[-1]
    for i in range(len(rhs) - 2, -1, -1):
        v[i + 1] = (rhs[i] - upper[i] * v[i + 2]) / diagonal[i]
    return v


def extreme_times(coefficients: Array, h: Array) -> Array:
    """Local times in [0, h] at which each polynomial can be extreme: both ends and all roots of p'.

    coefficients: (k, d + 1, n), h: (k,). Returns (k, m, n) with m <= d + 1, sorted along axis 1,
    with repetitions where there are fewer roots. Between the roots of p'' the derivative p' is
    monotone, so each of its roots is bracketed. Newton's method, kept inside the bracket, finds
    them, starting from the linear derivative upward. No root is missed, and the result does not
    depend on the conditioning of an eigenvalue problem.
    """
    degree = coefficients.shape[1] - 1
    while degree > 1 and not coefficients[:, degree].any():
        degree -= 1
    # p(u h) has the coefficients c_j h**j in u = s / h, in [0, 1].
    c = coefficients[:, : degree + 1] * (h[:, None] ** np.arange(degree + 1))[:, :, None]
    k, _, n = c.shape
    points = np.stack([np.zeros((k, n)), np.ones((k, n))], axis=1)
    for order in range(degree - 1, 0, -1):
        d = np.moveaxis(c[:, order:] * _FALLING[order, order : degree + 1, None], 1, 0)[
            :, :, None, :
        ]
        at_points = _horner_first(d, points)
        f_lo, f_hi = at_points[:, :-1], at_points[:, 1:]
        root = points[:, 1:].copy()
        crosses = np.nonzero((np.minimum(f_lo, f_hi) < 0) & (np.maximum(f_lo, f_hi) > 0))
        if len(crosses[0]):
            lo, hi = points[:, :-1][crosses], points[:, 1:][crosses]
            root[crosses] = _root(d[:, crosses[0], 0, crosses[2]], lo, hi, (f_hi > f_lo)[crosses])
        points = np.concatenate([points[:, :1], root, points[:, -1:]], axis=1)
    times: Array = points * h[:, None, None]
    return times


def _root(d: Array, lo: Array, hi: Array, rising: NDArray[np.bool_]) -> Array:
    """Root of each polynomial d (powers, m) in (lo, hi), where it is monotone and changes sign."""
    slope = d[1:] * np.arange(1, len(d))[:, None]
    u = 0.5 * (lo + hi)
    for step in range(_ROOT_STEPS):
        value = _horner_first(d, u)
        below = (value < 0) == rising
        lo, hi = np.where(below, u, lo), np.where(below, hi, u)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = u - value / _horner_first(slope, u)
        middle = 0.5 * (lo + hi)
        # Every fourth step halves the bracket, in case Newton's steps are tiny.
        inside = (newton > lo) & (newton < hi) & (step % 4 != 3)
        before, u = u, np.where(inside, newton, middle)
        if (np.abs(u - before) <= 2e-16).all():
            break
    return u


def _horner_first(d: Array, u: Array) -> Array:
    value: Array = d[-1] * np.ones_like(u)
    for j in range(len(d) - 2, -1, -1):
        value = value * u + d[j]
    return value
