"""Limits of a trajectory, and the exact search for violations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from robosim.errors import TrajectoryError, suggestion, told_apart
from robosim.pickling import Value
from robosim.trajectory import polynomial
from robosim.trajectory.polynomial import Array, Index
from robosim.trajectory.torque import KnowsFriction

if TYPE_CHECKING:
    from robosim.trajectory.trajectory import Trajectory

# Array fields of TrajectoryLimits, with the same names in files.
FIELDS = ("lower", "upper", "velocity", "acceleration", "jerk", "effort")
# Distance beyond a position limit at which a joint that stands at the limit may be measured, by
# unit. Causes are calibration and play of a joint, and a gripper pressed on its stop. It exceeds
# the error of encoders, and is below the distance of limits from hard stops.
LIMIT_NOISE = {"rad": 1e-3, "m": 1e-4, "1": 0.0}
# Samples of torques and speeds on a piece: one per distance [rad, m] that a joint moves, with a
# smallest and a largest number.
_STEP, _SAMPLES = 0.1, (8, 400)
_CHUNK = 50_000  # samples evaluated at a time
_PEAKS = 4  # refined peaks per value, side and chunk


@dataclass(frozen=True, eq=False)
class TrajectoryLimits(Value):
    """Limits per position entry, in the order of the trajectory's ``position_names``.

    Entries without a limit are infinite, arrays without limits None.

    Attributes:
        lower, upper: position bounds, (n,), [rad] or [m].
        velocity, acceleration, jerk: symmetric bounds >= 0, (n,).
        effort: symmetric bounds >= 0 of force or torque, one per entry of the trajectory's
            ``torque_names``, [N m] or [N].
        acceleration_source: origin of the acceleration limits (URDF has none).
        tool_speed: largest speed of the origin of a link by the link's name, [m/s].
    """

    lower: Array | None = None
    upper: Array | None = None
    velocity: Array | None = None
    acceleration: Array | None = None
    jerk: Array | None = None
    effort: Array | None = None
    acceleration_source: str = ""
    tool_speed: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        for name in FIELDS:
            value = getattr(self, name)
            if value is None:
                continue
            try:
                array = np.array(value, dtype=float)
            except (TypeError, ValueError) as error:
                raise TrajectoryError(f"limits.{name}: not an array of numbers ({error})") from None
            if array.ndim != 1 or np.isnan(array).any():
                raise TrajectoryError(
                    f"limits.{name}: must be a 1-D array without NaN, not {value!r}"
                )
            if name not in ("lower", "upper") and (array < 0).any():
                raise TrajectoryError(f"limits.{name}: must not be negative, got {array.min()}")
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if not isinstance(self.acceleration_source, str):
            raise TrajectoryError(
                f"limits.acceleration_source: must be a string, not {self.acceleration_source!r}"
            )
        if self.tool_speed is not None:
            object.__setattr__(self, "tool_speed", _tool_speed(self.tool_speed))

    def check_sizes(self, n: int, n_torques: int) -> None:
        """Raise TrajectoryError unless every array fits n positions and n_torques torques."""
        for name in FIELDS:
            value, size = getattr(self, name), n_torques if name == "effort" else n
            if value is not None and len(value) != size:
                raise TrajectoryError(
                    f"limits.{name}: has {len(value)} entries, the trajectory needs {size}"
                )

    def reordered(self, index: Sequence[int], torque_index: Sequence[int]) -> TrajectoryLimits:
        """Return the limits with entry i taken from entry index[i] (efforts: torque_index[i])."""
        arrays = {}
        for name in FIELDS:
            value = getattr(self, name)
            arrays[name] = (
                None if value is None else value[list(torque_index if name == "effort" else index)]
            )
        return TrajectoryLimits(
            **arrays, acceleration_source=self.acceleration_source, tool_speed=self.tool_speed
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON form: arrays as lists with None for infinity; missing arrays are left out."""
        out: dict[str, Any] = {"acceleration_source": self.acceleration_source}
        for name in FIELDS:
            value = getattr(self, name)
            if value is not None:
                out[name] = [float(x) if np.isfinite(x) else None for x in value]
        if self.tool_speed is not None:
            out["tool_speed"] = dict(self.tool_speed)
        return out

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> TrajectoryLimits:
        """Inverse of to_dict. Raises TrajectoryError naming the field."""
        others = {"acceleration_source", "tool_speed"}
        unknown = set(data) - {*FIELDS, *others}
        if unknown:
            field = sorted(unknown)[0]
            raise TrajectoryError(
                f"limits: unknown field {field!r}{suggestion(field, (*FIELDS, *sorted(others)))}"
            )
        arrays: dict[str, Any] = {}
        for name in FIELDS:
            if name not in data:
                continue
            infinity = -np.inf if name == "lower" else np.inf
            values = data[name]
            if not isinstance(values, list) or not all(
                x is None or type(x) in (int, float) for x in values
            ):
                raise TrajectoryError(
                    f"limits.{name}: must be a list of numbers, null for no limit"
                )
            try:
                arrays[name] = np.array([infinity if x is None else x for x in values], dtype=float)
            except OverflowError:
                raise TrajectoryError(f"limits.{name}: a number is too large") from None
        return TrajectoryLimits(
            **arrays,
            acceleration_source=data.get("acceleration_source", ""),
            tool_speed=data.get("tool_speed"),
        )


def _tool_speed(value: Any) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise TrajectoryError(
            f"limits.tool_speed: must give a speed by the name of a link, not {value!r}"
        )
    for link, speed in value.items():
        number = isinstance(speed, (int, float, np.number)) and not isinstance(speed, bool)
        if not isinstance(link, str) or not number or not 0 < speed < np.inf:
            raise TrajectoryError(
                f"limits.tool_speed: must be positive numbers by name, not {link!r}: {speed!r}"
            )
    return {link: float(speed) for link, speed in value.items()}


@dataclass(frozen=True)
class Violation:
    """The worst violation of one limit by one joint.

    Attributes:
        quantity: "position", "velocity", "acceleration", "jerk", "torque" or "tool speed".
        name: name of the position, torque or link.
        time: time of the worst violation, [s] from the start of the trajectory.
        value, limit: value at that time and the violated bound, SI units.
    """

    quantity: str
    name: str
    time: float
    value: float
    limit: float

    def __str__(self) -> str:
        side = "above" if self.value > self.limit else "below"
        value, limit = told_apart(self.value, self.limit, digits=9)
        return (
            f"{self.quantity} of {self.name} is {value} at {self.time:.6g} s, {side} its limit"
            f" {limit}"
        )


def find_violations(
    trajectory: Trajectory, limits: TrajectoryLimits, tolerance: float
) -> list[Violation]:
    """Find violations of limits. See Trajectory.validate."""
    found: list[Violation] = []
    # Position and its derivatives, at their exact extrema.
    bounds: list[tuple[str, int, Array | None, Array | None]] = [
        ("position", 0, limits.lower, limits.upper)
    ]
    for order, quantity in enumerate(("velocity", "acceleration", "jerk"), start=1):
        bound = getattr(limits, quantity)
        bounds.append((quantity, order, None if bound is None else -bound, bound))
    for quantity, order, lower, upper in bounds:
        if lower is None and upper is None:
            continue
        times, values = extremes(trajectory, order)
        if quantity == "jerk":  # infinite at jumps of the acceleration
            when, sizes = trajectory.acceleration_jumps()
            limited = (sizes != 0) & (False if upper is None else np.isfinite(upper))
            jumps = np.where(limited, np.copysign(np.inf, sizes), 0.0)
            times = np.vstack([times, np.repeat(when[:, None], values.shape[1], axis=1)])
            values = np.vstack([values, jumps])
        room = [
            _room(trajectory, times, values, bound, sign) if order == 0 else 0.0
            for bound, sign in ((lower, -1.0), (upper, 1.0))
        ]
        found += _worst(
            quantity, trajectory.position_names, times, values, lower, upper, tolerance, room
        )
    if trajectory.inverse_dynamics is not None and limits.effort is not None:
        # Check with the described damping and friction of the joints and, if it is known, without.
        certain = not isinstance(trajectory.inverse_dynamics, KnowsFriction)
        peaks = [
            peaks_between(
                trajectory,
                partial(trajectory.piece_torque, frictionless=frictionless),
                limits.effort,
                tolerance,
            )
            for frictionless in ((False,) if certain else (False, True))
        ]
        times, values = (np.concatenate(each) for each in zip(*peaks, strict=True))
        found += _worst(
            "torque",
            trajectory.torque_names,
            times,
            values,
            -limits.effort,
            limits.effort,
            tolerance,
        )
    # Speeds of links.
    if trajectory.link_velocity is not None and limits.tool_speed:
        bound = np.array(list(limits.tool_speed.values()))
        speeds = partial(trajectory._piece_speed, links=tuple(limits.tool_speed))
        times, values = peaks_between(trajectory, speeds, bound, tolerance)
        found += _worst(
            "tool speed", tuple(limits.tool_speed), times, values, None, bound, tolerance
        )
    return found


def extremes(trajectory: Trajectory, order: int) -> tuple[Array, Array]:
    """Exact candidates for the minimum and maximum of each joint's order-th derivative: times (m,
    n) and values (m, n)."""
    h = np.diff(trajectory.breaks)
    derivative = polynomial.differentiate(trajectory.coefficients, order)
    local = polynomial.extreme_times(derivative, h)
    values = polynomial.horner(derivative[:, None], local)
    times = local + trajectory.breaks[:-1, None, None]
    n = local.shape[2]
    return times.reshape(-1, n), values.reshape(-1, n)


def _room(
    trajectory: Trajectory, times: Array, values: Array, bound: Array | None, sign: float
) -> Array | float:
    """Allowed excess of each position over its bound at the times of `extremes`: (m, n), or 0 if
    all start within.

    A motion that starts beyond a limit by at most LIMIT_NOISE may return from there. Its allowed
    excess is the smallest excess so far, so the excess never grows. Positions are monotone between
    the extremes, so no other times need a check.
    """
    if bound is None:
        return 0.0
    noise = np.array([LIMIT_NOISE[unit] for unit in trajectory.units])
    first = np.maximum(sign * (trajectory.coefficients[0, 0] - bound), 0.0)
    first[first > noise + 1e-9] = 0.0  # tolerance for rounding of the limit plus noise
    if not first.any():
        return 0.0
    room = np.empty_like(values)
    for j in range(values.shape[1]):
        in_time = np.argsort(times[:, j], kind="stable")
        excess = np.maximum(sign * (values[in_time, j] - bound[j]), 0.0)
        room[in_time, j] = np.minimum.accumulate(np.minimum(excess, first[j]))
    return room


def _worst(
    quantity: str,
    names: Sequence[str],
    times: Array,
    values: Array,
    lower: Array | None,
    upper: Array | None,
    tolerance: float,
    room: Sequence[Array | float] = (0.0, 0.0),
) -> list[Violation]:
    """Return the worst violation of each value beyond its bound by more than its `room` and the
    tolerance."""
    found = []
    for bound, sign, allowed in ((lower, -1.0, room[0]), (upper, 1.0, room[1])):
        if bound is None:
            continue
        beyond = sign * values - allowed
        for j, name in enumerate(names):
            worst = int(np.argmax(beyond[:, j]))
            value = float(values[worst, j])
            if beyond[worst, j] - sign * bound[j] > tolerance * abs(bound[j]) + 1e-9:
                found.append(
                    Violation(quantity, name, float(times[worst, j]), value, float(bound[j]))
                )
    return found


def peaks_between(
    trajectory: Trajectory, f: Callable[[Index, Array], Array], bound: Array, tolerance: float
) -> tuple[Array, Array]:
    """Times (2, n) and values (2, n) of the minimum and the maximum of each function value.

    Exact where the extremum decides about a bound. f returns values (m, n) on pieces (m,) at local
    times (m,). It is an arbitrary function of the motion, so this is a search without a proof.
    Samples at both sides of every break and between them measure values and their curvature.
    Torques and speeds vary with q, so the number of samples follows the distance that q moves, not
    the time. Where a peak between samples may exceed its bound, its bracket is narrowed.
    """
    # Number of samples per piece, from the distance that q moves.
    h = np.diff(trajectory.breaks)
    powers = np.arange(1, polynomial.DEGREE + 1)
    moves = (np.abs(trajectory.coefficients[:, 1:]) * (h[:, None] ** powers)[:, :, None]).sum(
        axis=1
    )
    count = np.clip(np.ceil(moves.max(axis=1) / _STEP), *_SAMPLES).astype(int)
    n = len(bound)
    times, values = np.zeros((2, n)), np.zeros((2, n))
    values[0], values[1] = np.inf, -np.inf
    # Long motions are processed in chunks of pieces, to bound the memory.
    part = np.cumsum(count + 1) // _CHUNK
    for pieces in np.split(np.arange(len(h)), np.flatnonzero(np.diff(part)) + 1):
        piece = np.repeat(pieces, count[pieces] + 1)
        first = np.cumsum(count[pieces] + 1) - (count[pieces] + 1)  # sample of each piece
        fraction = (np.arange(len(piece)) - np.repeat(first, count[pieces] + 1)) / count[piece]
        s = fraction * h[piece]
        sampled = f(piece, s)
        bend = np.zeros_like(sampled)
        bend[1:-1] = np.abs(sampled[:-2] - 2 * sampled[1:-1] + sampled[2:])
        bend[first], bend[first + count[pieces]] = bend[first + 1], bend[first + count[pieces] - 1]
        for row, sign in enumerate((-1.0, 1.0)):
            y = sign * sampled
            highest = y.argmax(axis=0)
            best, when = y[highest, range(n)], (trajectory.breaks[piece] + s)[highest]
            # Peaks between samples that may be the highest and beyond the bound; only the highest
            # few of them.
            may = y + bend > np.maximum(best, bound * (1 + tolerance))
            for j in np.flatnonzero(may.any(axis=0)):
                peaks = np.flatnonzero(may[:, j])
                for i in peaks[np.argsort(-(y + bend)[peaks, j], kind="stable")[:_PEAKS]]:
                    length = float(h[piece[i]])
                    width = length / int(count[piece[i]])
                    found, local = _narrowed(
                        f, int(piece[i]), float(s[i]), width, length, int(j), sign
                    )
                    if found > best[j]:
                        best[j], when[j] = found, trajectory.breaks[piece[i]] + local
            better = best > sign * values[row]
            times[row, better], values[row, better] = when[better], sign * best[better]
    return times, values


def _narrowed(
    f: Callable[[Index, Array], Array],
    piece: int,
    center: float,
    width: float,
    h: float,
    j: int,
    sign: float,
) -> tuple[float, float]:
    """Highest sign * value j within a width of a local time on a piece of length h, and its local
    time."""
    best = -np.inf
    for _ in range(3):
        local = np.clip(center + width * np.linspace(-1, 1, 17), 0, h)
        values = sign * f(np.full(17, piece), local)[:, j]
        i = int(np.argmax(values))
        center, width, best = float(local[i]), width / 8, max(best, float(values[i]))
    return best, center
