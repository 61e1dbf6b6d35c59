"""Limits of a trajectory and the exact search for what violates them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from robosim.errors import TrajectoryError, suggestion, told_apart
from robosim.pickling import Value
from robosim.trajectory import polynomial
from robosim.trajectory.polynomial import Array

if TYPE_CHECKING:
    from robosim.trajectory.trajectory import Trajectory

# Array fields of TrajectoryLimits, as they are called in files too.
FIELDS = ("lower", "upper", "velocity", "acceleration", "jerk", "effort")
# How far beyond a position limit a joint that stands at it may be measured, by unit: calibration and play of a joint,
# and a gripper that is pressed on its stop. More than encoders err, less than a limit is set off from a hard stop.
LIMIT_NOISE = {"rad": 1e-3, "m": 1e-4, "1": 0.0}


@dataclass(frozen=True, eq=False)
class TrajectoryLimits(Value):
    """Limits per position entry, in the order of the trajectory's ``position_names``; infinite (or None)
    where there is none.

    Attributes:
        lower, upper: position bounds, (n,), [rad] or [m].
        velocity, acceleration, jerk: symmetric bounds >= 0, (n,).
        effort: symmetric bounds of force or torque >= 0, one per entry of the trajectory's ``torque_names``,
        [N m] or [N]. acceleration_source: where the acceleration limits come from (URDF has none).
    """

    lower: Array | None = None
    upper: Array | None = None
    velocity: Array | None = None
    acceleration: Array | None = None
    jerk: Array | None = None
    effort: Array | None = None
    acceleration_source: str = ""

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
                raise TrajectoryError(f"limits.{name}: must be a 1-D array without NaN, not {value!r}")
            if name not in ("lower", "upper") and (array < 0).any():
                raise TrajectoryError(f"limits.{name}: must not be negative, got {array.min()}")
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if not isinstance(self.acceleration_source, str):
            raise TrajectoryError(
                f"limits.acceleration_source: must be a string, not {self.acceleration_source!r}"
            )

    def check_sizes(self, n: int, n_torques: int) -> None:
        """Raise TrajectoryError unless every array fits n positions and n_torques torques."""
        for name in FIELDS:
            value, size = getattr(self, name), n_torques if name == "effort" else n
            if value is not None and len(value) != size:
                raise TrajectoryError(f"limits.{name}: has {len(value)} entries, the trajectory needs {size}")

    def reordered(self, index: Sequence[int], torque_index: Sequence[int]) -> TrajectoryLimits:
        """The limits with entry i taken from entry index[i] (efforts: torque_index[i])."""
        arrays = {}
        for name in FIELDS:
            value = getattr(self, name)
            arrays[name] = None if value is None else value[list(torque_index if name == "effort" else index)]
        return TrajectoryLimits(**arrays, acceleration_source=self.acceleration_source)

    def to_dict(self) -> dict[str, Any]:
        """JSON form: arrays as lists with None for infinity; absent arrays left out."""
        out: dict[str, Any] = {"acceleration_source": self.acceleration_source}
        for name in FIELDS:
            value = getattr(self, name)
            if value is not None:
                out[name] = [float(x) if np.isfinite(x) else None for x in value]
        return out

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> TrajectoryLimits:
        """Inverse of to_dict. Raises TrajectoryError naming the field."""
        unknown = set(data) - {*FIELDS, "acceleration_source"}
        if unknown:
            field = sorted(unknown)[0]
            raise TrajectoryError(f"limits: unknown field {field!r}{suggestion(field, FIELDS)}")
        arrays: dict[str, Any] = {}
        for name in FIELDS:
            if name not in data:
                continue
            infinity = -np.inf if name == "lower" else np.inf
            values = data[name]
            if not isinstance(values, list) or not all(x is None or type(x) in (int, float) for x in values):
                raise TrajectoryError(f"limits.{name}: must be a list of numbers, null for no limit")
            try:
                arrays[name] = np.array([infinity if x is None else x for x in values], dtype=float)
            except OverflowError:
                raise TrajectoryError(f"limits.{name}: a number is too large") from None
        return TrajectoryLimits(**arrays, acceleration_source=data.get("acceleration_source", ""))


@dataclass(frozen=True)
class Violation:
    """The worst violation of one limit by one joint.

    Attributes:
        quantity: "position", "velocity", "acceleration", "jerk" or "torque".
        name: the position (or torque) it concerns.
        time: when it is worst, [s] from the trajectory's start.
        value, limit: the value then and the bound that it breaks, SI units.
    """

    quantity: str
    name: str
    time: float
    value: float
    limit: float

    def __str__(self) -> str:
        side = "above" if self.value > self.limit else "below"
        value, limit = told_apart(self.value, self.limit, digits=9)
        return f"{self.quantity} of {self.name} is {value} at {self.time:.6g} s, {side} its limit {limit}"


def find_violations(trajectory: Trajectory, limits: TrajectoryLimits, tolerance: float) -> list[Violation]:
    """See Trajectory.validate."""
    found: list[Violation] = []
    bounds: list[tuple[str, int, Array | None, Array | None]] = [("position", 0, limits.lower, limits.upper)]
    for order, quantity in enumerate(("velocity", "acceleration", "jerk"), start=1):
        bound = getattr(limits, quantity)
        bounds.append((quantity, order, None if bound is None else -bound, bound))
    for quantity, order, lower, upper in bounds:
        if lower is None and upper is None:
            continue
        times, values = extremes(trajectory, order)
        room = [
            _room(trajectory, times, values, bound, sign) if order == 0 else 0.0
            for bound, sign in ((lower, -1.0), (upper, 1.0))
        ]
        found += _worst(quantity, trajectory.position_names, times, values, lower, upper, tolerance, room)
    if trajectory.inverse_dynamics is not None and limits.effort is not None:
        times, values = _torque_extremes(trajectory)
        found += _worst(
            "torque", trajectory.torque_names, times, values, -limits.effort, limits.effort, tolerance
        )
    return found


def extremes(trajectory: Trajectory, order: int) -> tuple[Array, Array]:
    """Times (m, n) and values (m, n) among which each joint's order-th derivative has its minimum and
    maximum, exactly."""
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
    """How far beyond its bound each position may be, at the times of `extremes`: (m, n), or 0 where all start within.

    A motion that starts beyond a limit by no more than LIMIT_NOISE may go back from there: it may be where it
    has been at its nearest to the limit until then, so what is beyond never grows. Between the extremes positions
    are monotone, so nothing else needs to be looked at.
    """
    if bound is None:
        return 0.0
    noise = np.array([LIMIT_NOISE[unit] for unit in trajectory.units])
    first = np.maximum(sign * (trajectory.coefficients[0, 0] - bound), 0.0)
    first[first > noise + 1e-9] = 0.0  # a limit plus noise is rounded
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
    """The worst of each that is beyond its bound by more than its `room` and the tolerance."""
    found = []
    for bound, sign, allowed in ((lower, -1.0, room[0]), (upper, 1.0, room[1])):
        if bound is None:
            continue
        beyond = sign * values - allowed
        for j, name in enumerate(names):
            worst = int(np.argmax(beyond[:, j]))
            value = float(values[worst, j])
            if beyond[worst, j] - sign * bound[j] > tolerance * abs(bound[j]) + 1e-9:
                found.append(Violation(quantity, name, float(times[worst, j]), value, float(bound[j])))
    return found


def _torque_extremes(trajectory: Trajectory) -> tuple[Array, Array]:
    """Torques at both sides of every break and between, at 1 kHz and at least 8 per piece, the peaks refined.

    The inverse dynamics is an arbitrary function, so this is a search, not a proof: around each joint's
    greatest and least sample the bracket is narrowed three times by 16.
    """
    h = np.diff(trajectory.breaks)
    count = np.maximum(8, np.ceil(h * 1000)).astype(int)
    fraction = np.concatenate([np.arange(m + 1) / m for m in count])
    piece = np.repeat(np.arange(len(h)), count + 1)
    step = np.repeat(h / count, count + 1)
    s = fraction * h[piece]
    values = trajectory.piece_torque(piece, s)
    names = range(values.shape[1])
    times = np.repeat((trajectory.breaks[piece] + s)[:, None], values.shape[1], axis=1)
    extra_t, extra_v = [], []
    for sign in (-1.0, 1.0):
        for j in names:
            i = int(np.argmax(sign * values[:, j]))
            centre, width = float(s[i]), float(step[i])
            for _ in range(3):
                local = np.clip(centre + width * np.linspace(-1, 1, 33), 0, h[piece[i]])
                tau = trajectory.piece_torque(np.full(33, piece[i]), local)
                best = int(np.argmax(sign * tau[:, j]))
                centre, width = float(local[best]), width / 16
                extra_t.append(np.full(values.shape[1], trajectory.breaks[piece[i]] + centre))
                extra_v.append(tau[best])
    return np.vstack([times, *[t[None] for t in extra_t]]), np.vstack([values, *[v[None] for v in extra_v]])
