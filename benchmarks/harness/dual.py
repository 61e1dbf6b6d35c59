"""Arrays of dual numbers: values with their rates along several directions at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Dual:
    """Dual numbers x + d e with e^2 = 0.

    Attributes:
        x: values, of any shape.
        d: rates, with the shape of x followed by (k,) directions.
    """

    __slots__ = ("d", "x")
    __array_ufunc__ = None  # so that NumPy arrays leave operations with a Dual to this class

    def __init__(self, x: Any, d: Array):
        self.x = np.asarray(x, dtype=float)
        self.d = d

    @classmethod
    def constant(cls, x: Any, directions: int) -> Dual:
        """Numbers with zero rates."""
        x = np.asarray(x, dtype=float)
        return cls(x, np.zeros((*x.shape, directions)))

    @property
    def T(self) -> Dual:
        """Transpose of a matrix."""
        return Dual(self.x.T, self.d.swapaxes(0, 1))

    def _of(self, other: Any) -> Dual:
        return other if isinstance(other, Dual) else Dual.constant(other, self.d.shape[-1])

    def __neg__(self) -> Dual:
        return Dual(-self.x, -self.d)

    def __add__(self, other: Any) -> Dual:
        other = self._of(other)
        return Dual(self.x + other.x, _wide(self, other) + _wide(other, self))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Dual:
        return self + -self._of(other)

    def __rsub__(self, other: Any) -> Dual:
        return self._of(other) + -self

    def __mul__(self, other: Any) -> Dual:
        other = self._of(other)
        return Dual(
            self.x * other.x,
            _wide(self, other) * other.x[..., None] + self.x[..., None] * _wide(other, self),
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Dual:
        other = self._of(other)
        x = self.x / other.x
        return Dual(
            x, (_wide(self, other) - x[..., None] * _wide(other, self)) / other.x[..., None]
        )

    def __matmul__(self, other: Any) -> Dual:
        other = self._of(other)
        rates = np.tensordot(self.x, other.d, 1) + _times(self.d, other.x)
        return Dual(self.x @ other.x, rates)

    def __rmatmul__(self, other: Any) -> Dual:
        return self._of(other) @ self

    def __getitem__(self, index: Any) -> Dual:
        return Dual(self.x[index], self.d[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        value = self._of(value)
        self.x[index], self.d[index] = value.x, value.d


def _wide(a: Dual, beside: Dual) -> Array:
    """Rates of an array that is broadcast with another array."""
    missing = beside.x.ndim - a.x.ndim
    return a.d.reshape(*(1,) * missing, *a.d.shape) if missing > 0 else a.d


def _times(d: Array, x: Array) -> Array:
    """(rates of a matrix or vector) @ (a matrix or vector), with the directions last."""
    product: Array = np.moveaxis(np.tensordot(d, x, (d.ndim - 2, 0)), d.ndim - 2, -1)
    return product


def cross(a: Dual, b: Dual) -> Dual:
    """Cross product of vectors."""
    return Dual(
        np.cross(a.x, b.x),
        np.cross(a.d, b.x[:, None], axis=0) + np.cross(a.x[:, None], b.d, axis=0),
    )


def skew(a: Dual) -> Dual:
    """The matrix whose product with b is the cross product of a and b."""
    k = a.d.shape[-1]
    out = Dual.constant(np.zeros((3, 3)), k)
    for i, j, m in ((2, 1, 0), (0, 2, 1), (1, 0, 2)):
        out[i, j], out[j, i] = a[m], -a[m]
    return out


def sqrt(a: Dual) -> Dual:
    """Square root of positive numbers."""
    x = np.sqrt(a.x)
    return Dual(x, a.d / (2 * x)[..., None])


def sin_cos(a: Dual) -> tuple[Dual, Dual]:
    """Sine and cosine."""
    s, c = np.sin(a.x), np.cos(a.x)
    return Dual(s, c[..., None] * a.d), Dual(c, -s[..., None] * a.d)


def stacked(parts: Sequence[Dual]) -> Dual:
    """Stack along a new first axis."""
    return Dual(np.stack([p.x for p in parts]), np.stack([p.d for p in parts]))


def turned_about(axis: Array | Dual, angle: Dual) -> Dual:
    """Rotation (3, 3) about a unit axis."""
    s, c = sin_cos(angle)
    W = skew(axis if isinstance(axis, Dual) else Dual.constant(axis, angle.d.shape[-1]))
    return np.eye(3) + s * W + (1 - c) * (W @ W)


def turned_by(vector: Dual) -> Dual:
    """Rotation (3, 3) by a rotation vector, which may be zero."""
    W, square = skew(vector), float(vector.x @ vector.x)
    if square < 1e-8:  # the next terms of the series are below 1e-18
        f, g = 1 - (vector @ vector) / 6, 0.5 - (vector @ vector) / 24
    else:
        angle = sqrt(vector @ vector)
        s, c = sin_cos(angle)
        f, g = s / angle, (1 - c) / (angle * angle)
    return np.eye(3) + f * W + g * (W @ W)


def solved(A: Dual, b: Dual) -> Dual:
    """A^-1 b of a matrix and a vector or matrix."""
    x = np.linalg.solve(A.x, b.x)
    left = b.d - _times(A.d, x)
    flat = np.linalg.solve(A.x, left.reshape(len(left), -1))
    return Dual(x, flat.reshape(left.shape))


def projector(A: Dual, tolerance: float = 1e-9, size: float = 0.0) -> tuple[Dual, float]:
    """Orthogonal projector (n, n) onto the range of a matrix of constant rank.

    Also returns the part of the rates that would change the rank. Singular values count as zero
    below `tolerance` times the larger of the largest one and `size`.

    Golub and Pereyra, SIAM J. Numer. Anal. 10(2), 1973: dP = (1 - P) dA A^+ and its transpose.
    """
    U, sizes, V = np.linalg.svd(A.x, full_matrices=False)
    held = sizes > tolerance * max(sizes.max(initial=0.0), size, 1e-300)
    U, V = U[:, held], V[held]
    P = U @ U.T
    rest = A.d - np.tensordot(P, A.d, 1)
    half = _times(rest, (V.T / sizes[held]) @ U.T)
    outside = rest - _times(rest, V.T @ V)
    return Dual(P, half + half.swapaxes(0, 1)), float(np.abs(outside).max(initial=0.0))
