"""Splines through the points of a JointTrajectory, of the degree that the filled fields allow.

Between two points the spline is quintic if both have velocities and accelerations, cubic if both
have velocities, else linear. Before the first point the motion comes from a given state, and after
the last point it stays there. The coefficients of q(t) = sum_j c[i, j] (t - t_i)**j are computed
once, when the trajectory is accepted; a sample is one matrix product.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.execution.messages import JointTrajectoryPoint
from robosim.trajectory import polynomial

__all__ = ["Interpolation", "JointSpline", "Knots", "PointState"]

Array = NDArray[np.float64]
Interpolation = Literal["splines", "none"]


class PointState(NamedTuple):
    """Position, velocity and acceleration of the joints, each (n,)."""

    position: Array
    velocity: Array
    acceleration: Array


class Knots(NamedTuple):
    """Knots of a motion.

    Attributes:
        times: (m,) [s].
        values: (m, 3, n), position, velocity and acceleration; zero if not given.
        fields: (m,) number of given values: 1, 2 or 3.
    """

    times: Array
    values: Array
    fields: NDArray[np.int64]

    @staticmethod
    def of(points: Sequence[JointTrajectoryPoint], joints: Sequence[int], rest: Array) -> Knots:
        """Make knots of points, with entries for the given joints; other joints stay at rest (n,).

        Accelerations are used only with velocities.
        """
        fields = np.array(
            [1 if not len(p.velocities) else 3 if len(p.accelerations) else 2 for p in points]
        )
        values = np.zeros((len(points), 3, len(rest)))
        values[:, 0] = rest
        for k, name in enumerate(("positions", "velocities", "accelerations")):
            rows = np.flatnonzero(fields > k)
            if len(rows):
                given = np.array([getattr(points[int(i)], name) for i in rows])
                values[rows[:, None], k, np.asarray(joints)] = given
        return Knots(np.array([p.time_from_start for p in points], dtype=float), values, fields)

    @staticmethod
    def one(time: float, *values: Array) -> Knots:
        """Make a single knot, with position and, if known, velocity and acceleration, (n,) each."""
        row = np.zeros((1, 3, len(values[0])))
        row[0, : len(values)] = values
        return Knots(np.array([time]), row, np.array([len(values)]))

    @staticmethod
    def joined(*parts: Knots) -> Knots:
        """Concatenate knots."""
        times, values, fields = zip(*parts, strict=True)
        return Knots(np.concatenate(times), np.concatenate(values), np.concatenate(fields))

    def later(self, seconds: float) -> Knots:
        """Shift knots in time."""
        return self._replace(times=self.times + seconds)

    def where(self, chosen: NDArray[np.bool_]) -> Knots:
        """Select knots by a mask (m,)."""
        return Knots(self.times[chosen], self.values[chosen], self.fields[chosen])


def segment_coefficients(knots: Knots) -> Array:
    """Coefficients (m - 1, 6, n) of the segments between knots."""
    lengths, values = np.diff(knots.times), knots.values
    q0, q1 = values[:-1, 0], values[1:, 0]
    c = np.zeros((len(lengths), polynomial.DEGREE + 1, values.shape[2]))
    c[:, 0], c[:, 1] = q0, (q1 - q0) / lengths[:, None]
    common = np.minimum(knots.fields[:-1], knots.fields[1:])
    for count in (2, 3):
        i = np.flatnonzero(common == count)
        if len(i):
            start, end = (
                (values[k, 0], values[k, 1], values[k, 2] if count == 3 else None)
                for k in (i, i + 1)
            )
            c[i] = polynomial.hermite(lengths[i], start, end)
    return c


class JointSpline:
    """Motion of a controller through knots, over time from the start of the trajectory [s].

    Args:
        knots: m of n joints, at strictly increasing times.
        method: "splines", or "none" to jump from point to point.
    """

    def __init__(self, knots: Knots, method: Interpolation = "splines") -> None:
        self.knots, self.method = knots, method
        self.times: list[float] = knots.times.tolist()
        self._coefficients = segment_coefficients(knots)
        self._before: tuple[float, Array] | None = None
        # Row d holds the d-th derivative of (1, s, ..., s**5); times the coefficients it yields q,
        # v, a.
        self._basis = np.zeros((3, polynomial.DEGREE + 1))
        self._basis[0, 0] = self._basis[1, 1] = 1.0
        self._basis[2, 2] = 2.0

    @property
    def end(self) -> float:
        """Time of the last point [s]."""
        return self.times[-1]

    @property
    def last(self) -> PointState:
        """State at the last point; missing values are zero."""
        return PointState(*self.knots.values[-1])

    def come_from(self, start: Knots) -> None:
        """Set the state from which the motion comes.

        It is one knot, and has an effect if it is before the first knot.
        """
        self._before = None
        if start.times[0] < self.times[0]:
            if self.method == "none":
                coefficients = np.zeros_like(
                    start.values, shape=(polynomial.DEGREE + 1, start.values.shape[2])
                )
                coefficients[0] = start.values[0, 0]
            else:
                first = self.knots.where(np.arange(len(self.times)) == 0)
                coefficients = segment_coefficients(Knots.joined(start, first))[0]
            self._before = (float(start.times[0]), coefficients)

    def sample(self, time: float) -> tuple[Array, bool]:
        """Return position, velocity and acceleration (3, n) at `time`.

        The second value is True after the last point.
        """
        times = self.times
        if time >= times[-1]:
            return self.knots.values[-1].copy(), True
        if time < times[0]:
            if self._before is None:  # no start is known: wait at the first point
                still = np.zeros_like(self.knots.values[0])
                still[0] = self.knots.values[0, 0]
                return still, False
            origin, coefficients = self._before
            return self._evaluate(coefficients, max(time - origin, 0.0)), False
        i = bisect_right(times, time) - 1
        if self.method == "none":
            return self.knots.values[i + 1].copy(), False
        return self._evaluate(self._coefficients[i], time - times[i]), False

    def _evaluate(self, coefficients: Array, s: float) -> Array:
        s2 = s * s
        s3, s4 = s2 * s, s2 * s2
        basis = self._basis
        basis[0, 1:] = (s, s2, s3, s4, s4 * s)
        basis[1, 2:] = (2 * s, 3 * s2, 4 * s3, 5 * s4)
        basis[2, 3:] = (6 * s, 12 * s2, 20 * s3)
        return basis @ coefficients
