"""Conversion between a plan (a polynomial Trajectory) and a JointTrajectory of points.

A controller interpolates the points. A quintic is determined by position, velocity and acceleration
at its two ends, so points at a plan's breaks reproduce it. Where the acceleration jumps from a to
b, one point cannot have both values: two points at e before and after the jump let the acceleration
change linearly from a to b. Their positions are offset by (b - a) e^2 / 12, which makes the ramp
exactly linear. (With points on the plan, the acceleration between them would overshoot by 8 % of
the jump.) The adjacent pieces absorb the offset. Times are whole nanoseconds, as in messages, since
rounding the times afterward would change short quintics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.errors import TrajectoryError
from robosim.execution.interpolation import Knots, segment_coefficients
from robosim.execution.messages import ArmState, JointTrajectory, JointTrajectoryPoint
from robosim.trajectory import Trajectory, TrajectoryLimits, polynomial

__all__ = ["Deviation", "deviation", "from_trajectory", "to_trajectory"]

Array = NDArray[np.float64]

# Largest half-width of a ramp between two accelerations [s], also as a fraction of the shorter
# adjacent piece.
RAMP = 1e-3
RAMP_PART = 0.05
# Breaks that are closer together than this [s] are treated as one.
CLOSE = 2e-4
# A jump is ramped if it exceeds JUMP [per s^2], and also either a fraction of the joint's largest
# acceleration, or the size at which ignoring it (0.01 x jump x the square of the points' distance)
# would be noticeable.
JUMP = 1e-6
JUMP_PART = 1e-3
JUMP_SHOWS = 1e-4
# Largest offset of a knot from the plan in a ramp [rad or m], and smallest half-width of a ramp
# [s].
OFFSET = 4e-6
CLOSEST = 2e-6
# The last piece before the fade has the length sqrt(END_LENGTH / braking) [s], and the fade has
# this fraction of it.
END_LENGTH = 4e-3
END_PART = 0.01
# End velocities below this value [per s] are rounding, and count as zero.
AT_REST = 1e-6
# Approximate largest number of points. Slower copies of a plan do not need more points.
MOST_POINTS = 20_000
# Largest number of seconds of a point: a 32-bit integer in messages.
LONGEST = 2**31 - 1


def from_trajectory(
    trajectory: Trajectory,
    *,
    joint_names: Sequence[str] | None = None,
    max_interval: float = 0.1,
    stamp: float = 0.0,
) -> JointTrajectory:
    """Make points with which a controller follows a plan: positions, velocities and accelerations.

    The quintic through the points stays within 1e-5 rad (or m) of the plan, and its accelerations
    within a few percent of the plan's; `deviation` measures both. A plan that ends at rest ends
    with exactly zero velocity and acceleration.

    Args:
        trajectory: the plan.
        joint_names: order of the joints; that of the plan by default.
        max_interval: largest distance of points [s]; it is increased where more than 20,000 points
            would be needed.
        stamp: start time on the arm's clock [s]; 0 for on arrival.

    Raises:
        TrajectoryError: names are missing or extra, max_interval is not positive, or the plan lasts
            more than 68 years.
    """
    if not max_interval > 0:
        raise TrajectoryError(f"max_interval: must be positive, not {max_interval!r}")
    if not trajectory.duration <= LONGEST:
        raise TrajectoryError(
            f"the plan lasts {trajectory.duration:.6g} s; points of messages can be at most"
            f" {LONGEST} s after the start"
        )
    plan = trajectory if joint_names is None else trajectory.reorder(joint_names)
    interval = max(max_interval, plan.duration / MOST_POINTS)
    points = tuple(JointTrajectoryPoint(float(t), q, v, a) for t, q, v, a in _knots(plan, interval))
    return JointTrajectory(plan.position_names, points, stamp)


def _knots(plan: Trajectory, max_interval: float) -> list[tuple[float, Array, Array, Array]]:
    """Return rows of time, position, velocity and acceleration."""
    c, lengths = plan.coefficients, np.diff(plan.breaks)
    after = 2 * c[:, 2]  # (k, n): acceleration at the start of each piece; `before`: at its end
    before = polynomial.horner(polynomial.differentiate(c, 2), lengths[:, None])
    largest = np.maximum(np.abs(after), np.abs(before)).max(axis=0)

    seams = _seams(plan.breaks)
    first, last = seams[0], seams[-1]
    rows = [(0.0, c[0, 0], c[0, 1], after[first.stop - 1])]
    for left, seam, right in zip(seams, seams[1:], seams[2:], strict=False):
        start, end = plan.breaks[seam.start], plan.breaks[seam.stop - 1]
        sides = start - plan.breaks[left.stop - 1], plan.breaks[right.start] - end
        a0, a1 = before[seam.start - 1], after[seam.stop - 1]
        if _shows(a1 - a0, largest, min(max_interval, max(sides))):
            ramp = _ramp(plan, start, end, min(RAMP, RAMP_PART * min(sides)))
            _fill(rows, plan, ramp[0][0], max_interval)
            rows += ramp
        else:
            _fill(rows, plan, 0.5 * (start + end), max_interval)
            rows.append(_knot_at(plan, 0.5 * (start + end), 0.5 * (a0 + a1)))
    end_rows = _end(plan, before[last.start - 1], largest, plan.breaks[last.start] - rows[-1][0])
    _fill(rows, plan, end_rows[0][0], max_interval)
    return rows + end_rows


def _shows(jump: Array, largest: Array, distance: float) -> bool:
    shows = np.maximum(JUMP, np.minimum(JUMP_PART * largest, JUMP_SHOWS / distance**2))
    return bool((np.abs(jump) > shows).any())


def _seams(breaks: Array) -> list[range]:
    """Group breaks that are close together, as ranges of indices.

    The first and last breaks are in groups as well.
    """
    seams, start = [], 0
    for i in range(1, len(breaks)):
        if breaks[i] - breaks[start] > CLOSE:
            seams.append(range(start, i))
            start = i
    if start == 0:  # the whole plan is shorter than CLOSE
        return [range(0, 1), range(len(breaks) - 1, len(breaks))]
    # The last group starts at its first break. Earlier groups too close to the end are merged into
    # it.
    while len(seams) > 1 and breaks[-1] - breaks[seams[-1].stop - 1] < CLOSE:
        start = seams.pop().start
    return [*seams, range(start, len(breaks))]


def _knot_at(
    plan: Trajectory, time: float, a: Array | None = None
) -> tuple[float, Array, Array, Array]:
    """Return the plan's knot at a time rounded to whole nanoseconds, as in messages."""
    time = round(time, 9)
    return (
        time,
        plan.position(time),
        plan.velocity(time),
        plan.acceleration(time) if a is None else a,
    )


def _fill(
    rows: list[tuple[float, Array, Array, Array]], plan: Trajectory, end: float, max_interval: float
) -> None:
    """Add knots between the last row and `end`, if they are far apart."""
    start = rows[-1][0]
    count = max(1, int(np.ceil((end - start) / max_interval - 1e-9)))
    times = np.round(np.linspace(start, end, count + 1)[1:-1], 9)  # as in `_knot_at`
    if len(times):
        rows += zip(
            times.tolist(),
            plan.position(times),
            plan.velocity(times),
            plan.acceleration(times),
            strict=True,
        )


def _ramp(
    plan: Trajectory, start: float, end: float, e: float
) -> list[tuple[float, Array, Array, Array]]:
    """Return two knots, e or less before and after a seam, with linear acceleration between."""
    while True:
        (t0, q0, v0, a0), (t1, q1, v1, a1) = _knot_at(plan, start - e), _knot_at(plan, end + e)
        # Linear acceleration from q0, v0 misses q1 by this; each position is offset by half of it.
        missing = q1 - (q0 + (t1 - t0) * v0 + (t1 - t0) ** 2 * (2 * a0 + a1) / 6)
        if np.abs(missing).max() <= 2 * OFFSET or e < CLOSEST:
            return [(t0, q0 + 0.5 * missing, v0, a0), (t1, q1 - 0.5 * missing, v1, a1)]
        e *= 0.7


def _end(
    plan: Trajectory, a: Array, largest: Array, room: float
) -> list[tuple[float, Array, Array, Array]]:
    """Return the last knots of a plan.

    If the plan brakes with acceleration a until it stops, a knot before the last one starts a fade
    of the braking, and another one marks where the points leave the plan.
    """
    end = plan.duration
    q, v = plan.position(end), plan.velocity(end)
    if (np.abs(v) > AT_REST).any():
        return [(end, q, v, a)]
    rest = np.zeros_like(q)
    last = [(end, q, rest, rest)]
    if not _shows(a, largest, room):
        return last
    # The fade lasts w and is slower than the plan by a w / 2. Over a length x before the fade, this
    # offsets positions by up to 0.08 a w x and adds up to about 2 a w / x to the acceleration, so
    # both w and x are short.
    x = min(room, float(np.sqrt(END_LENGTH / np.abs(a).max())))
    w = end - round(end - END_PART * x, 9)
    fade = (end - w, q + a * w * w / 6, -0.5 * a * w, a)
    if (np.abs(plan.acceleration(end - w) - a) < JUMP_SHOWS / x**2).all():
        last.insert(0, fade)
    # Braking is not steady: ending without acceleration offsets positions by up to 0.02 a x^2.
    else:
        x = min(room, float(np.sqrt(0.05 * END_LENGTH / np.abs(a).max())))
    return last if x > 0.7 * room else [_knot_at(plan, end - x), *last]


class Deviation(NamedTuple):
    """Largest differences between a plan and the interpolation of its points by a controller.

    Attributes:
        position, velocity: largest absolute differences [rad or m, per s].
        acceleration: largest excess over the plan's largest acceleration, by joint [per s^2].
    """

    position: float
    velocity: float
    acceleration: float


def deviation(
    joint_trajectory: JointTrajectory, trajectory: Trajectory, *, rate: float = 4000.0
) -> Deviation:
    """Measure the deviation of a controller's interpolation of the points from the plan.

    Samples are taken at `rate` per second [Hz], and at the ends and the middle of every piece.
    """
    follow = to_trajectory(joint_trajectory)
    plan = trajectory.reorder(joint_trajectory.joint_names)
    knots = np.union1d(follow.breaks, plan.breaks)
    t = np.union1d(np.union1d(knots, 0.5 * (knots[1:] + knots[:-1])), plan.sample(rate).time)
    t = t[t <= min(follow.duration, plan.duration)]
    excess = np.abs(follow.acceleration(t)).max(axis=0) - _largest_acceleration(plan)
    return Deviation(
        float(np.abs(follow.position(t) - plan.position(t)).max()),
        float(np.abs(follow.velocity(t) - plan.velocity(t)).max()),
        max(0.0, float(excess.max())),
    )


def _largest_acceleration(plan: Trajectory) -> Array:
    c = polynomial.differentiate(plan.coefficients, 2)
    s = polynomial.extreme_times(c, np.diff(plan.breaks))
    value = np.abs(polynomial.horner(c[:, :, None, :], s)) if c.shape[1] > 1 else np.abs(c)
    largest: Array = value.max(axis=(0, 1))
    return largest


def to_trajectory(
    joint_trajectory: JointTrajectory,
    *,
    from_state: ArmState | None = None,
    limits: TrajectoryLimits | None = None,
) -> Trajectory:
    """Return the motion that a controller would execute: linear, cubic or quintic pieces.

    The degree depends on the fields of the points that are filled. Time 0 is the time of the first
    point or, with from_state, the start of the controller, which moves from there to a later first
    point. Outside the points the Trajectory is at rest.

    Args:
        joint_trajectory: the points.
        from_state: state of the arm at the start of the controller.
        limits: limits of the result, in the points' order of joints.

    Raises:
        TrajectoryError: the points are not a valid motion: fewer than two, sizes that differ, times
            that do not increase, or a velocity that jumps, as it does for positions alone.
    """
    names, points = joint_trajectory.joint_names, joint_trajectory.points
    for i, point in enumerate(points):
        for field in ("positions", "velocities", "accelerations"):
            size = len(getattr(point, field))
            if size != len(names) and not (size == 0 and field != "positions"):
                raise TrajectoryError(
                    f"points[{i}].{field}: has {size} values for {len(names)} joints"
                )
    knots = Knots.of(points, range(len(names)), np.zeros(len(names)))
    if from_state is not None and points and knots.times[0] > 0:
        missing = [name for name in names if name not in from_state.joint_names]
        if missing:
            raise TrajectoryError(f"from_state: lacks {missing[0]!r}")
        index = [from_state.joint_names.index(name) for name in names]
        start = Knots.one(0.0, from_state.position[index], from_state.velocity[index])
        knots = Knots.joined(start, knots)
    times = knots.times
    if len(times) < 2:
        raise TrajectoryError(
            f"points: a motion needs two or more, there are {len(times)}; give from_state"
        )
    if not (np.isfinite(times).all() and (np.diff(times) > 0).all()):
        raise TrajectoryError(
            f"points: times must be finite and strictly increasing, they are {times}"
        )
    return Trajectory(times - times[0], segment_coefficients(knots), names, limits=limits)
