"""Splines through the points of a JointTrajectory, of the degree that the filled fields allow.

Between two points that both give velocities and accelerations: quintic; velocities only: cubic; else linear. Before
the first point the motion comes from a given state, after the last point it stays there. The coefficients of
q(t) = sum_j c[i, j] (t - t_i)**j are made once, when the trajectory is taken over; a sample is one matrix product.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.execution.messages import JointTrajectoryPoint
from robosim.trajectory import polynomial

__all__ = ["Interpolation", "JointSpline", "Knot", "PointState"]

Array = NDArray[np.float64]
Interpolation = Literal["splines", "none"]


class PointState(NamedTuple):
    """Position, velocity and acceleration of the joints, each (n,)."""

    position: Array
    velocity: Array
    acceleration: Array


class Knot(NamedTuple):
    """A point to interpolate from or to; a field that is None was not given."""

    position: Array
    velocity: Array | None = None
    acceleration: Array | None = None


def _field(values: Array) -> Array | None:
    return values if len(values) else None


def knot(point: JointTrajectoryPoint) -> Knot:
    """The knot that a point asks for; accelerations count only beside velocities."""
    velocity = _field(point.velocities)
    return Knot(point.positions, velocity, None if velocity is None else _field(point.accelerations))


def segment_coefficients(lengths: Array, starts: Sequence[Knot], ends: Sequence[Knot]) -> Array:
    """Coefficients (k, 6, n) of the segments of the given lengths (k,) [s] between starts and ends."""
    q0, q1 = np.array([k.position for k in starts]), np.array([k.position for k in ends])
    c = np.zeros((len(lengths), polynomial.DEGREE + 1, q0.shape[1]))
    c[:, 0], c[:, 1] = q0, (q1 - q0) / lengths[:, None]
    cubic = [
        i
        for i, (a, b) in enumerate(zip(starts, ends, strict=True))
        if a.velocity is not None and b.velocity is not None
    ]
    quintic = [i for i in cubic if starts[i].acceleration is not None and ends[i].acceleration is not None]
    for chosen, order in ((cubic, 2), (quintic, 3)):
        if chosen:
            start, end = (
                [np.array([knots[i][k] for i in chosen]) for k in range(order)] + [None] * (3 - order)
                for knots in (starts, ends)
            )
            c[chosen] = polynomial.hermite(lengths[chosen], tuple(start), tuple(end))  # type: ignore[arg-type]
    return c


class JointSpline:
    """The motion that a controller makes of points, over time from the trajectory's start [s].

    Args:
        times: (m,) strictly increasing.
        knots: m of them, each with n joints.
        method: "splines", or "none" to jump from point to point.
    """

    def __init__(
        self, times: Sequence[float], knots: Sequence[Knot], method: Interpolation = "splines"
    ) -> None:
        self.times = [float(t) for t in times]
        self.method = method
        self.knots = list(knots)
        n = len(self.knots[0].position)
        self._points = np.array([_filled(k) for k in self.knots])
        lengths = np.diff(self.times)
        self._coefficients = (
            segment_coefficients(lengths, self.knots[:-1], self.knots[1:]) if len(lengths) else None
        )
        self._before: tuple[float, Array] | None = None
        self._still = np.zeros((3, n))
        # Row d holds the d-th derivative of (1, s, ..., s**5): times the coefficients it gives q, v, a.
        self._basis = np.zeros((3, polynomial.DEGREE + 1))
        self._basis[0, 0] = self._basis[1, 1] = 1.0
        self._basis[2, 2] = 2.0

    @property
    def end(self) -> float:
        """When the last point is due [s]."""
        return self.times[-1]

    @property
    def last(self) -> PointState:
        """The last point; what it does not give is zero."""
        return PointState(*self._points[-1])

    def come_from(self, time: float, start: Knot) -> None:
        """Say where the motion is at `time`; it matters when that is before the first point."""
        self._before = None
        if time < self.times[0]:
            if self.method == "none":
                coefficients = np.zeros((polynomial.DEGREE + 1, len(start.position)))
                coefficients[0] = start.position
            else:
                length = np.array([self.times[0] - time])
                coefficients = segment_coefficients(length, [start], [self.knots[0]])[0]
            self._before = (time, coefficients)

    def sample(self, time: float) -> tuple[Array, bool]:
        """Position, velocity and acceleration (3, n) at `time`, and whether the last point is passed."""
        times = self.times
        if time >= times[-1]:
            return self._points[-1].copy(), True
        if time < times[0]:
            if self._before is None:  # nobody said where from: wait at the first point
                return np.stack([self._points[0][0], *self._still[1:]]), False
            origin, coefficients = self._before
            return self._evaluate(coefficients, max(time - origin, 0.0)), False
        i = bisect_right(times, time) - 1
        if self.method == "none":
            return self._points[i + 1].copy(), False
        assert self._coefficients is not None  # there are two points or more here
        return self._evaluate(self._coefficients[i], time - times[i]), False

    def _evaluate(self, coefficients: Array, s: float) -> Array:
        s2 = s * s
        s3, s4 = s2 * s, s2 * s2
        basis = self._basis
        basis[0, 1:] = (s, s2, s3, s4, s4 * s)
        basis[1, 2:] = (2 * s, 3 * s2, 4 * s3, 5 * s4)
        basis[2, 3:] = (6 * s, 12 * s2, 20 * s3)
        return basis @ coefficients


def _filled(knot: Knot) -> Array:
    zeros = np.zeros(len(knot.position))
    velocity = zeros if knot.velocity is None else knot.velocity
    return np.stack(
        [knot.position, velocity, zeros if knot.acceleration is None else knot.acceleration]
    ).astype(float)
