"""`Trajectory`: piecewise polynomials in time of degree 5 or less, with names, limits and origin.

On piece i, q(t) = sum_j coefficients[i, j] (t - breaks[i])**j. Time starts at 0. A trajectory has
names and numbers, and does not depend on a robot model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robosim.errors import TrajectoryError, told_apart
from robosim.pickling import Value
from robosim.trajectory import polynomial
from robosim.trajectory.configurations import Robot, position_columns, resting
from robosim.trajectory.events import Event, checked_events, moved
from robosim.trajectory.limits import TrajectoryLimits, Violation, find_violations
from robosim.trajectory.polynomial import Array, Index
from robosim.trajectory.torque import (
    InverseDynamics,
    KnowsFriction,
    LinkVelocity,
    PermutedVelocity,
    permuted,
    torque_rows,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Format = Literal["json", "csv", "npz"]

UNITS = ("rad", "m", "1")
# Tolerances of jumps between pieces, far above rounding, even for pieces as short as a microsecond.
_POSITION_TOLERANCE = 1e-8
_VELOCITY_TOLERANCE = 1e-5
_MOST_SAMPLES = 20_000_000  # some gigabytes for an arm


class Samples(NamedTuple):
    """Samples of a trajectory at m times: time (m,) [s]; position, velocity, acceleration (m,
    n)."""

    time: Array
    position: Array
    velocity: Array
    acceleration: Array


class Trajectory(Value):
    """A motion q(t) of named positions over [0, duration], continuous in position and velocity.

    Outside [0, duration] the motion is at rest in its first or last position: positions are
    constant and all derivatives are zero, as a trajectory controller holds its last command. At an
    inner break, values are those of the piece that starts there.

    Args:
        breaks: (k + 1,) [s], strictly increasing from 0.
        coefficients: (k, m, n) with 1 <= m <= 6: powers of (t - breaks[i]), lowest first.
        position_names: n distinct names, one per position.
        units: n of "rad", "m", "1", the units of the positions; one string applies to all.
        robot: name of the robot that moves.
        limits: the limits that the trajectory was made for.
        seed: seed of the planner that made it.
        metadata: any data that JSON can represent.
        events: events during the motion, in the order of their times: objects that are attached to
            a link or detached.
        inverse_dynamics: tau = f(q, v, a), for ``torque``. It is not saved in files, and pickled if
            possible.
        torque_names: names of the torques; by default the position names.
        link_velocity: velocities (m, 3) = f(link, q, v) of a link's origin [m/s] for rows (m, n),
            for ``tool_speed``. It is not saved in files, and pickled if possible.

    Raises:
        TrajectoryError: an argument has the wrong shape or is not finite, or the motion jumps at a
            break; the message names the field.
    """

    def __init__(
        self,
        breaks: ArrayLike,
        coefficients: ArrayLike,
        position_names: Sequence[str],
        *,
        units: str | Sequence[str] = "rad",
        robot: str = "",
        limits: TrajectoryLimits | None = None,
        seed: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        events: Sequence[Event | Mapping[str, Any]] = (),
        inverse_dynamics: InverseDynamics | None = None,
        torque_names: Sequence[str] | None = None,
        link_velocity: LinkVelocity | None = None,
    ) -> None:
        self.position_names = _names("position_names", position_names)
        n = len(self.position_names)
        self.torque_names = (
            self.position_names if torque_names is None else _names("torque_names", torque_names)
        )
        self.breaks, self.coefficients = _pieces(breaks, coefficients, self.position_names)
        self.units = (units,) * n if isinstance(units, str) else tuple(units)
        if len(self.units) != n or any(unit not in UNITS for unit in self.units):
            raise TrajectoryError(f"units: must be {n} of {', '.join(UNITS)}, not {units!r}")
        if not isinstance(robot, str):
            raise TrajectoryError(f"robot: must be a string, not {robot!r}")
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer))):
            raise TrajectoryError(f"seed: must be an integer or None, not {seed!r}")
        if limits is not None:
            limits.check_sizes(n, len(self.torque_names))
        self.robot = robot
        self.limits = limits
        self.seed = None if seed is None else int(seed)
        try:
            self.metadata: dict[str, Any] = json.loads(
                json.dumps(dict(metadata or {}), allow_nan=False)
            )
        except (TypeError, ValueError, RecursionError) as error:
            raise TrajectoryError(f"metadata: not representable in JSON ({error})") from None
        self.events = checked_events(events, self.duration)
        self.inverse_dynamics = inverse_dynamics
        self.link_velocity = link_velocity

    # Construction

    @staticmethod
    def from_knots(
        times: ArrayLike,
        positions: ArrayLike,
        velocities: ArrayLike,
        accelerations: ArrayLike | None = None,
        *,
        position_names: Sequence[str],
        **fields: Any,
    ) -> Trajectory:
        """Make a trajectory through knots: cubic Hermite pieces, or quintic with accelerations.

        Args:
            times: (m,) [s], strictly increasing from 0, m >= 2.
            positions, velocities, accelerations: (m, n).
            position_names, fields: as in Trajectory.
        """
        if velocities is None:
            raise TrajectoryError("velocities: must be an array, not None; see from_waypoints")
        t, knots = _knots(times, positions, velocities, accelerations, len(position_names))
        q, v = knots[0], knots[1]
        a = knots[2] if len(knots) > 2 else None
        start = (q[:-1], v[:-1], None if a is None else a[:-1])
        end = (q[1:], v[1:], None if a is None else a[1:])
        return Trajectory(t, polynomial.hermite(np.diff(t), start, end), position_names, **fields)

    @staticmethod
    def from_waypoints(
        times: ArrayLike, positions: ArrayLike, *, position_names: Sequence[str], **fields: Any
    ) -> Trajectory:
        """Make a cubic spline through (m, n) positions at (m,) times.

        The spline starts and ends at rest, and its acceleration is continuous between.
        """
        t, knots = _knots(times, positions, None, None, len(position_names))
        velocities = polynomial.spline_velocities(t, knots[0])
        return Trajectory.from_knots(
            t, knots[0], velocities, position_names=position_names, **fields
        )

    def replace(self, **fields: Any) -> Trajectory:
        """Return a copy with some constructor arguments changed."""
        current = self._arguments()
        if (
            "position_names" in fields
            and "torque_names" not in fields
            and self.torque_names == self.position_names
        ):
            current["torque_names"] = None
        return Trajectory(**{**current, **fields})

    # Values

    @property
    def n(self) -> int:
        """Number of positions."""
        return len(self.position_names)

    @property
    def duration(self) -> float:
        """Duration of the motion [s]."""
        return float(self.breaks[-1])

    def position(self, t: ArrayLike) -> Array:
        """Positions q at times t of any shape: (..., n)."""
        return self._derivative(t, 0)

    def configuration(self, t: ArrayLike, model: Robot, rest: ArrayLike | None = None) -> Array:
        """Configurations of the whole robot at times t of any shape: (..., n_q).

        Positions that the trajectory does not move are those recorded by its planner, else those of
        `rest` (n_q,), else neutral. Raises TrajectoryError if the trajectory names a position that
        the robot lacks.
        """
        position, columns = self.position(t), position_columns(model, self)
        q = resting(model, self, rest)
        whole: Array = np.broadcast_to(q, (*position.shape[:-1], len(q))).copy()
        whole[..., columns] = position
        return whole

    def velocity(self, t: ArrayLike) -> Array:
        """Velocities dq/dt at times t of any shape: (..., n)."""
        return self._derivative(t, 1)

    def acceleration(self, t: ArrayLike) -> Array:
        """Accelerations d2q/dt2 at times t of any shape: (..., n).

        They may jump at breaks, see ``acceleration_jumps``.
        """
        return self._derivative(t, 2)

    def jerk(self, t: ArrayLike) -> Array:
        """Jerks d3q/dt3 at times t of any shape: (..., n).

        Exactly at a break where the acceleration jumps (``acceleration_jumps``), the jerk is
        infinite, with the sign of the jump. Elsewhere it is the derivative within the piece.
        """
        times = _times(t)
        jerk = self._derivative(times, 3)
        when, sizes = self.acceleration_jumps()
        if len(when):
            i = np.minimum(np.searchsorted(when, times), len(when) - 1)
            jumps = (times == when[i])[..., None] & (sizes[i] != 0)
            jerk = np.where(jumps, np.copysign(np.inf, sizes[i]), jerk)
        return jerk

    def acceleration_jumps(self) -> tuple[Array, Array]:
        """Jumps of the acceleration: times (m,) [s] and sizes (m, n), zero for positions without a
        jump.

        A motion that is at rest at an end has a jump there from or to standing still. A motion that
        moves at an end, such as a slice, has none there, since the motion before and after is
        unknown. A jump below a millionth of the largest acceleration of a position counts as
        rounding.
        """
        h = np.diff(self.breaks)[:, None]
        second = polynomial.differentiate(self.coefficients, 2)
        ends = polynomial.horner(second, h)
        jumps = np.vstack([second[:1, 0], second[1:, 0] - ends[:-1], -ends[-1:]])
        velocity = polynomial.differentiate(self.coefficients, 1)
        top = np.abs(velocity[:, 0]).max(initial=0.0)
        for row, v in ((0, velocity[0, 0]), (-1, polynomial.horner(velocity[-1:], h[-1:])[0])):
            if (np.abs(v) > 1e-9 * top).any():
                jumps[row] = 0.0
        # Rounding is measured by the terms that are summed and, for positions that hardly move, by
        # the terms of the other positions.
        terms = np.abs(second) * h[:, :, None] ** np.arange(second.shape[1])[:, None]
        size = terms.sum(axis=1).max(axis=0)
        jumps[np.abs(jumps) <= 1e-6 * size + 1e-9 * size.max()] = 0.0
        found = np.flatnonzero(jumps.any(axis=1))
        return self.breaks[found], jumps[found]

    def torque(self, t: ArrayLike) -> Array:
        """Torques of the inverse dynamics along the motion at times t of any shape: (..., n
        torques).

        Requires ``inverse_dynamics``. That of a plan includes the joints' damping, dry friction and
        springs.
        """
        times = _times(t)
        f = self._inverse_dynamics()
        tau = torque_rows(
            f, *(self._derivative(times, order).reshape(-1, self.n) for order in range(3))
        )
        return tau.reshape(*times.shape, len(self.torque_names))

    def piece_torque(self, piece: Index, s: Array, frictionless: bool = False) -> Array:
        """Torques on the given pieces (m,) at local times s (m,).

        At a break, the piece selects the side.

        frictionless: True for torques without damping and dry friction; requires an inverse
        dynamics that can compute them.
        """
        f = self._inverse_dynamics()
        c = self.coefficients[piece]
        states = [
            polynomial.horner(polynomial.differentiate(c, order), s[:, None]) for order in range(3)
        ]
        if not frictionless:
            tau = torque_rows(f, *states)
        elif isinstance(f, KnowsFriction):
            tau = f.frictionless(*states)
        else:
            raise TrajectoryError(
                "piece_torque: the inverse dynamics does not know its torques without friction"
            )
        return np.asarray(tau, dtype=float).reshape(len(s), len(self.torque_names))

    def tool_speed(self, t: ArrayLike, link: str | None = None) -> Array:
        """Speeds of the origin of a link in the world [m/s] at times t of any shape: (...).

        Requires ``link_velocity``. link: by default the link whose speed is limited.
        """
        times = _times(t)
        if link is None:
            limited = tuple((self.limits and self.limits.tool_speed) or ())
            if len(limited) != 1:
                raise TrajectoryError("tool_speed: of which link? Name it: tool_speed(t, link)")
            link = limited[0]
        q, v = (self._derivative(times, order).reshape(-1, self.n) for order in range(2))
        return self._speeds(q, v, (link,)).reshape(times.shape)

    def _piece_speed(self, piece: Index, s: Array, links: Sequence[str]) -> Array:
        """Speeds (m, links) of origins of links on the given pieces (m,) at local times s (m,)."""
        c = self.coefficients[piece]
        q, v = (
            polynomial.horner(polynomial.differentiate(c, order), s[:, None]) for order in range(2)
        )
        return self._speeds(q, v, links)

    def _speeds(self, q: Array, v: Array, links: Sequence[str]) -> Array:
        f = self.link_velocity
        if f is None:
            raise TrajectoryError(
                "tool_speed: no link velocities are attached; use replace(link_velocity=...)"
            )
        return np.stack(
            [np.linalg.norm(np.asarray(f(link, q, v)), axis=-1) for link in links], axis=-1
        )

    def sample(self, rate: float) -> Samples:
        """Sample the motion at 0, 1/rate, 2/rate, ... [Hz] and at its end, which is the last
        sample."""
        if not (np.isfinite(rate) and rate > 0):
            raise TrajectoryError(
                f"rate: must be a positive number of samples per second, not {rate!r}"
            )
        if self.duration * rate > _MOST_SAMPLES:
            raise TrajectoryError(
                f"rate: {rate:.6g} per second would give {self.duration * rate:.3g} samples of"
                f" {self.duration:.6g} s; it must be at most {_MOST_SAMPLES / self.duration:.3g},"
                f" for {_MOST_SAMPLES} samples"
            )
        # A regular sample within a millionth of a period of the end is replaced by the end itself.
        count = int(np.ceil(self.duration * rate - 1e-6))
        t = np.append(np.arange(count) / rate, self.duration)
        return Samples(t, self.position(t), self.velocity(t), self.acceleration(t))

    # Derived trajectories

    def slice(self, t0: float, t1: float) -> Trajectory:
        """Return the part from t0 to t1, 0 <= t0 < t1 <= duration, with time starting at 0."""
        if not (0 <= t0 < t1 <= self.duration):
            raise TrajectoryError(
                f"slice: needs 0 <= t0 < t1 <= {self.duration}, got {t0!r}, {t1!r}"
            )
        first = int(np.searchsorted(self.breaks, t0, side="right")) - 1
        last = int(np.searchsorted(self.breaks, t1, side="left"))
        breaks = np.concatenate([[t0], self.breaks[first + 1 : last], [t1]])
        c = self.coefficients[first:last].copy()
        c[:1] = polynomial.shift(c[:1], np.array([t0 - self.breaks[first]]))
        events = moved([e for e in self.events if t0 <= e.time <= t1], -t0)
        return self.replace(breaks=breaks - t0, coefficients=c, events=events)

    def concatenate(self, *others: Trajectory) -> Trajectory:
        """Append other motions, each starting where the one before ends, with the events of all.

        The positions of the others are matched by name. Raises TrajectoryError if names differ, or
        if position or velocity jumps between two motions.
        """
        breaks, pieces, events = [self.breaks], [self.coefficients], list(self.events)
        for other in others:
            if set(other.position_names) != set(self.position_names):
                odd = sorted(set(other.position_names) ^ set(self.position_names))
                raise TrajectoryError(
                    f"concatenate: the position names differ in {', '.join(map(repr, odd))}"
                )
            index = [other.position_names.index(name) for name in self.position_names]
            events += moved(other.events, breaks[-1][-1])
            breaks.append(breaks[-1][-1] + other.breaks[1:])
            pieces.append(other.coefficients[:, :, index])
        return self.replace(
            breaks=np.concatenate(breaks), coefficients=np.concatenate(pieces), events=events
        )

    def reverse(self) -> Trajectory:
        """Return the path in reverse: q(duration - t), without the events, which do not run
        backward."""
        h = np.diff(self.breaks)
        c = polynomial.shift(self.coefficients, h)[::-1].copy()
        c[:, 1::2] *= -1
        breaks = (self.duration - self.breaks)[::-1]
        breaks[-1] = self.duration
        return self.replace(breaks=breaks, coefficients=c, events=())

    def scale(self, factor: float) -> Trajectory:
        """Return the same path in factor times the time: velocities divide by factor, accelerations
        by its square."""
        if not (np.isfinite(factor) and factor > 0):
            raise TrajectoryError(f"scale: the factor must be positive and finite, not {factor!r}")
        return self.replace(
            breaks=self.breaks * factor,
            coefficients=polynomial.scale_time(self.coefficients, factor),
            events=moved(self.events, 0.0, factor),
        )

    def reorder(self, position_names: Sequence[str]) -> Trajectory:
        """Return the same motion with its positions in another order.

        Raises TrajectoryError for missing or extra names.
        """
        names = tuple(position_names)
        missing = [name for name in self.position_names if name not in names]
        extra = [name for name in names if name not in self.position_names]
        if missing or extra:
            parts = []
            if extra:
                parts.append(f"has no {', '.join(map(repr, extra))}")
            if missing:
                parts.append(f"moves {', '.join(map(repr, missing))}, which is not asked for")
            raise TrajectoryError(f"position_names: the trajectory {' and '.join(parts)}")
        if names == self.position_names:
            return self
        index = [self.position_names.index(name) for name in names]
        torque_names, torque_index = self.torque_names, list(range(len(self.torque_names)))
        if self.torque_names == self.position_names:
            torque_names, torque_index = names, index
        inverse_dynamics = self.inverse_dynamics
        if inverse_dynamics is not None:
            inverse_dynamics = permuted(inverse_dynamics, np.argsort(index), np.array(torque_index))
        link_velocity = self.link_velocity
        if link_velocity is not None:
            link_velocity = PermutedVelocity(link_velocity, np.argsort(index))
        return self.replace(
            coefficients=self.coefficients[:, :, index],
            position_names=names,
            torque_names=torque_names,
            units=tuple(self.units[i] for i in index),
            limits=None if self.limits is None else self.limits.reordered(index, torque_index),
            inverse_dynamics=inverse_dynamics,
            link_velocity=link_velocity,
        )

    # Checks, files, plots

    def validate(
        self, limits: TrajectoryLimits | None = None, *, tolerance: float = 1e-6
    ) -> list[Violation]:
        """Find violations of limits (by default the trajectory's own) by more than a relative
        tolerance.

        Positions, velocities, accelerations and jerks are checked at all times, at the exact
        extrema of the polynomials. Where the acceleration jumps, the jerk is infinite. A motion may
        start beyond a position limit by the error of a measurement (1e-3 rad, 1e-4 m) and go back
        inside; its excess must never grow.

        Torques are checked if inverse dynamics is attached. They are sampled by the distance that q
        moves, and peaks are refined. Torques of a plan are checked with the damping and dry
        friction of the robot's description, and without. Speeds of links are checked likewise if
        they are limited and ``link_velocity`` is attached.

        The result has one entry per joint or link, quantity and side, the worst; it is empty
        without violations or limits. Cost: linear in the number of pieces, independent of the
        duration.
        """
        limits = self.limits if limits is None else limits
        if limits is None:
            return []
        limits.check_sizes(self.n, len(self.torque_names))
        return find_violations(self, limits, tolerance)

    def save(self, path: str | PathLike[str], format: Format | None = None) -> None:
        """Write to a file, whole or not at all: JSON, CSV or NPZ, by the suffix of the file or
        `format`.

        JSON and NPZ preserve the trajectory to the last bit. CSV preserves it to the last digits.
        It is meant for spreadsheets and has a row per knot: time, then position, velocity,
        acceleration, jerk, snap and crackle of each joint just after it.
        """
        from robosim.trajectory import files

        files.save(self, path, format)

    @staticmethod
    def load(
        path: str | PathLike[str],
        position_names: Sequence[str] | None = None,
        format: Format | None = None,
    ) -> Trajectory:
        """Read a file of ``save``.

        With position_names, positions are put in that order, matched by name.

        Raises TrajectoryError, with file and location, for content that is malformed, of an unknown
        version, or with missing or extra names; OSError if the file cannot be read.
        """
        from robosim.trajectory import files

        trajectory = files.load(path, format)
        if position_names is None:
            return trajectory
        try:
            return trajectory.reorder(position_names)
        except TrajectoryError as error:
            raise TrajectoryError(str(error), file=path) from None

    def plot(self, *, names: Sequence[str] | None = None, rate: float = 500.0) -> Figure:
        """Plot positions, velocities, accelerations and, if known, torques with their limits.

        Args:
            names: positions to show (and torques of the same names); all by default.
            rate: samples per second of the curves, fewer if these would exceed 100,000.

        Returns:
            A matplotlib Figure.
        """
        from robosim.trajectory.plot import plot

        return plot(self, names, rate)

    def _arguments(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    def __repr__(self) -> str:
        robot = f" of {self.robot}" if self.robot else ""
        return (
            f"<Trajectory{robot}: {self.n} positions, {len(self.coefficients)} pieces,"
            f" {self.duration:.4g} s>"
        )

    def _derivative(self, t: ArrayLike, order: int) -> Array:
        return polynomial.evaluate(self.breaks, self.coefficients, _times(t), order)

    def _inverse_dynamics(self) -> InverseDynamics:
        if self.inverse_dynamics is None:
            raise TrajectoryError(
                "torque: no inverse dynamics is attached; use replace(inverse_dynamics=...)"
            )
        return self.inverse_dynamics


_FIELDS = (
    "breaks", "coefficients", "position_names", "units", "robot", "limits", "seed", "metadata",
    "events",
    "inverse_dynamics", "torque_names", "link_velocity",
)  # fmt: skip


def _times(t: ArrayLike) -> Array:
    times = np.asarray(t, dtype=float)
    if np.isnan(times).any():
        raise TrajectoryError("t: a time is NaN")
    return times


def _names(field: str, names: Sequence[str]) -> tuple[str, ...]:
    out = tuple(names)
    if isinstance(names, str) or not out or not all(isinstance(name, str) and name for name in out):
        raise TrajectoryError(f"{field}: must be a sequence of one or more names, not {names!r}")
    repeated = sorted({name for name in out if out.count(name) > 1})
    if repeated:
        raise TrajectoryError(f"{field}: {repeated[0]!r} appears more than once")
    return out


def _array(field: str, value: ArrayLike, ndim: int) -> Array:
    try:
        array = np.array(value, dtype=float, order="C")
    except (TypeError, ValueError) as error:
        raise TrajectoryError(f"{field}: not a regular array of numbers ({error})") from None
    if array.ndim != ndim:
        raise TrajectoryError(f"{field}: must have {ndim} dimensions, has shape {array.shape}")
    if not np.isfinite(array).all():
        place = np.argwhere(~np.isfinite(array))[0]
        raise TrajectoryError(f"{field}[{', '.join(map(str, place))}]: is not finite")
    return array


def _increasing(field: str, times: Array) -> None:
    if len(times) < 2:
        raise TrajectoryError(f"{field}: needs at least two times, has {len(times)}")
    if times[0] != 0:
        raise TrajectoryError(f"{field}[0]: time starts at 0, not {times[0]}")
    if (np.diff(times) <= 0).any():
        i = int(np.argmax(np.diff(times) <= 0))
        raise TrajectoryError(f"{field}[{i + 1}]: {times[i + 1]} does not come after {times[i]}")


def _knots(
    times: ArrayLike,
    positions: ArrayLike,
    velocities: ArrayLike | None,
    accelerations: ArrayLike | None,
    n: int,
) -> tuple[Array, list[Array]]:
    t = _array("times", times, 1)
    _increasing("times", t)
    knots = []
    fields = [("positions", positions)]
    if velocities is not None:
        fields.append(("velocities", velocities))
    if accelerations is not None:
        fields.append(("accelerations", accelerations))
    for field, value in fields:
        knots.append(_array(field, value, 2))
        if knots[-1].shape != (len(t), n):
            raise TrajectoryError(f"{field}: must have shape {(len(t), n)}, has {knots[-1].shape}")
    return t, knots


def _pieces(
    breaks: ArrayLike, coefficients: ArrayLike, names: tuple[str, ...]
) -> tuple[Array, Array]:
    b = _array("breaks", breaks, 1)
    _increasing("breaks", b)
    given = _array("coefficients", coefficients, 3)
    k, m, n = given.shape
    if k != len(b) - 1 or n != len(names) or not 1 <= m <= polynomial.DEGREE + 1:
        raise TrajectoryError(
            f"coefficients: must have shape ({len(b) - 1}, 1 to 6, {len(names)}), has {given.shape}"
        )
    c = np.zeros((k, polynomial.DEGREE + 1, n))
    c[:, :m] = given
    h = np.diff(b)[:-1, None]
    for order, what, tolerance in (
        (0, "position", _POSITION_TOLERANCE),
        (1, "velocity", _VELOCITY_TOLERANCE),
    ):
        end = polynomial.horner(polynomial.differentiate(c[:-1], order), h)
        start = c[1:, order]
        jump = np.abs(start - end)
        bad = np.argwhere(~(jump <= tolerance * np.maximum(1.0, np.abs(start))))
        if len(bad):
            i, j = bad[0]
            left, right = told_apart(end[i, j], start[i, j], digits=9)
            raise TrajectoryError(
                f"{what} of {names[j]} jumps from {left} to {right} at {b[i + 1]:.9g} s"
            )
    b.setflags(write=False)
    c.setflags(write=False)
    return b, c
