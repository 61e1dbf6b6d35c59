"""Motion of an arm from a recording: as a Trajectory, as samples, and compared with its plan.

Filter: samples are interpolated linearly to an even grid at their median period. Then a Butterworth
low-pass of order 4 is applied forwards and backwards, which causes no delay and halves the power at
the cutoff twice (-6 dB). Derivatives are central differences on that grid. M. Gautier, Dynamic
identification of robots with power model (ICRA 1997), is the usual method. A cutoff of ten times
the motion's bandwidth preserves the motion.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.errors import BagError
from robosim.execution.tracking import Tracking
from robosim.ros import names
from robosim.ros.bags.reading import Bag, JointStates
from robosim.trajectory import Trajectory

__all__ = ["Measurements", "find_start", "fit_start", "measurements", "to_trajectory", "track"]

Array = NDArray[np.float64]

_ORDER = 4
# Largest difference of a recorded trajectory's points from the plan to match it [rad or m].
_SAME = 1e-3
# Step of the initial search for a plan's start [s].
_SEARCH_STEP = 0.01


class Measurements(NamedTuple):
    """Samples for identification: time (m,) [s], and q, v, a and effort (m, n).

    Values that were not recorded are NaN.
    """

    joint_names: tuple[str, ...]
    time: Array
    q: Array
    v: Array
    a: Array
    effort: Array


def measurements(states: JointStates, *, cutoff: float | None = None) -> Measurements:
    """Positions, velocities, accelerations and efforts of joint states.

    Args:
        states: at least 4 samples at different times.
        cutoff: cutoff of the filter [Hz], below half the rate of the samples, applied to q, v and
            effort. None for no filter and no resampling. Accelerations are then differences of raw
            velocities, suitable for clean data only.

    Velocities are the recorded ones. For joints without velocities, they are differences of
    positions.

    Raises BagError for too few samples, or for an invalid cutoff.
    """
    keep = np.diff(states.time, prepend=-np.inf) > 0
    time, q, v, effort = (
        states.time[keep],
        states.position[keep],
        states.velocity[keep],
        states.effort[keep],
    )
    if len(time) < _ORDER:
        raise BagError(f"{len(time)} joint states at different times; at least {_ORDER} are needed")
    if cutoff is not None:
        period = float(np.median(np.diff(time)))
        if not 0 < cutoff < 0.5 / period:
            raise BagError(
                f"a cutoff of {cutoff} Hz; it must be between 0 and {0.5 / period:.4g} Hz, half the"
                " rate"
            )
        even = time[0] + period * np.arange(int((time[-1] - time[0]) / period + 1e-6) + 1)
        q, v, effort = (
            _low_pass(_resample(even, time, values), cutoff * period * 2)
            for values in (q, v, effort)
        )
        time = even
    unknown = np.isnan(v).any(axis=0)
    v = np.where(unknown, np.gradient(q, time, axis=0), v)
    return Measurements(states.joint_names, time, q, v, np.gradient(v, time, axis=0), effort)


def to_trajectory(states: JointStates, *, cutoff: float | None = None, **fields: Any) -> Trajectory:
    """Convert to piecewise cubics with a knot at each sample's position and velocity.

    Time begins at 0.

    Args:
        states, cutoff: as in `measurements`; without a cutoff the trajectory interpolates every
            recorded position and velocity exactly.
        fields: fields of Trajectory, such as units and robot.
    """
    m = measurements(states, cutoff=cutoff)
    return Trajectory.from_knots(
        m.time - m.time[0], m.q, m.v, position_names=m.joint_names, **fields
    )


def track(
    bag: Bag,
    plan: Trajectory,
    *,
    start: float | None = None,
    tf_prefix: str = "",
    joint_states: str | None = None,
    speed_scaling: str | None = None,
    commands: str | None = None,
) -> Tracking:
    """Compute the tracking error of a recorded arm.

    It covers the time from the plan's start to a second after its end.

    Args:
        bag: the recording.
        plan: its joints are matched by name.
        start: start of the plan [s] since the recording's start; by default `find_start`.
        tf_prefix: prefix of the recorded names that the plan's names lack.
        joint_states: topic, required if there are several.
        speed_scaling: topic (std_msgs/Float64, percent) of the speed of the plan's time; by default
            the recorded topic of that name, if any.
        commands: topic of a forward controller with joints in the plan's order, for the commanded
            positions.

    Raises BagError if there are no such topics or joints, or no sample during the plan.
    """
    # Time of the plan at each sample, from its start and the speed scaling.
    recorded = names.prefixed(plan.position_names, tf_prefix)
    states = bag.joint_states(joint_states, joint_names=recorded)
    if speed_scaling is None:
        usual = [topic for topic in bag.topics if topic.endswith(f"/{names.SPEED_SCALING}")]
        speed_scaling = usual[0] if usual else None
    times, scalings = bag.numbers(speed_scaling) if speed_scaling else (np.zeros(0), np.zeros(0))
    if start is None:
        start = find_start(bag, plan, states)
    clock = _scaled_time(states.time, start, times, np.clip(scalings / 100, 0.0, 1.0))
    # The last second shows how the arm settles.
    end = np.interp(plan.duration, clock, states.time) + 1.0
    shown = (states.time >= start) & (states.time <= end)
    if not shown.any():
        raise BagError(
            f"no joint state while the plan ran, from {start:.4g} s to {end:.4g} s after the start"
            f" of the recording, which lasts {bag.duration:.4g} s",
            file=bag.path,
        )
    # Commanded positions: the latest set point at each sample.
    commanded = np.full(states.position[shown].shape, np.nan)
    if commands is not None:
        sent, values = bag.commands(commands)
        if values.shape[1:] != (plan.n,):
            raise BagError(
                f"topic {commands} has {values.shape[-1]} values for {plan.n} joints", file=bag.path
            )
        last = np.searchsorted(sent, states.time[shown], side="right") - 1
        commanded[last >= 0] = values[last[last >= 0]]
    return Tracking(
        plan.position_names,
        states.time[shown] - start,
        plan.position(clock[shown]),
        commanded,
        states.position[shown],
        units=plan.units,
        robot=plan.robot,
    )


def find_start(bag: Bag, plan: Trajectory, states: JointStates) -> float:
    """Find the start of a plan [s] since the recording's start.

    It is the time when a trajectory that matches the plan was sent on a recorded topic. Otherwise
    (goals of actions are not recorded) it is the best fit, see `fit_start`.
    """
    recorded = states.joint_names
    for sent in bag.joint_trajectories():
        trajectory = sent.trajectory
        if set(trajectory.joint_names) != set(recorded) or not trajectory.points:
            continue
        order = [trajectory.joint_names.index(name) for name in recorded]
        last = trajectory.points[-1]
        points = [p for p in trajectory.points if len(p.positions) == len(order)]
        if abs(last.time_from_start - plan.duration) > _SAME or len(points) < len(
            trajectory.points
        ):
            continue
        at = np.array([point.time_from_start for point in points])
        positions = np.array([point.positions for point in points])[:, order]
        if np.abs(plan.position(at) - positions).max() <= _SAME:
            return sent.time if trajectory.stamp == 0 else trajectory.stamp - bag.start_ns / 1e9
    return fit_start(plan, states)


def fit_start(plan: Trajectory, states: JointStates) -> float:
    """Find the start of a plan [s] that fits the states best, by least squares at full speed."""
    from scipy.optimize import minimize_scalar

    def misfit(start: float) -> float:
        return float(np.mean((plan.position(states.time - start) - states.position) ** 2))

    first, last_time = states.time[0] - plan.duration, states.time[-1]
    starts = np.arange(
        first, last_time + _SEARCH_STEP, max(_SEARCH_STEP, (last_time - first) / 2000)
    )
    best = float(starts[int(np.argmin([misfit(float(s)) for s in starts]))])
    step = float(starts[1] - starts[0]) if len(starts) > 1 else _SEARCH_STEP
    return float(minimize_scalar(misfit, bounds=(best - step, best + step), method="bounded").x)


def _scaled_time(time: Array, start: float, changes: Array, scalings: Array) -> Array:
    """Time of the plan at each moment, from `start`, with the latest speed scaling.

    The scaling is 1 before its first message.
    """
    if not len(changes):
        return time - start
    keep = np.isfinite(scalings)
    changes, scalings = changes[keep], scalings[keep]
    later = changes > start
    before = scalings[~later][-1] if (~later).any() else 1.0
    knots = np.concatenate(([start], changes[later]))
    speeds = np.concatenate(([before], scalings[later]))
    elapsed = np.concatenate(([0.0], np.cumsum(np.diff(knots) * speeds[:-1])))
    i = np.maximum(np.searchsorted(knots, time, side="right") - 1, 0)
    clock: Array = np.where(time < start, time - start, elapsed[i] + (time - knots[i]) * speeds[i])
    return clock


def _resample(even: Array, time: Array, values: Array) -> Array:
    return np.stack([np.interp(even, time, column) for column in values.T], axis=1)


def _low_pass(values: Array, cutoff: float) -> Array:
    """Filter forwards and backwards. Columns with NaN stay NaN.

    `cutoff` is relative to half the rate.
    """
    from scipy.signal import butter, sosfiltfilt

    sections = butter(_ORDER, cutoff, output="sos")
    known = ~np.isnan(values).any(axis=0)
    filtered = np.full_like(values, np.nan)
    if known.any():
        # Enough padding for the filter to settle, limited by the number of samples.
        settle = min(len(values) - 1, int(np.ceil(3 * _ORDER / cutoff)))
        filtered[:, known] = sosfiltfilt(sections, values[:, known], axis=0, padlen=settle)
    return filtered
