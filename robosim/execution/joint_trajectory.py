"""Between a plan, a Trajectory of polynomials, and a JointTrajectory, the points that a controller
interpolates.

A quintic is given by position, velocity and acceleration at its two ends, so points at a plan's
breaks reproduce it. Where the acceleration jumps from a to b, one point cannot have both: two
points e before and after the jump let it run linearly from a to b. Their positions are off by (b -
a) e^2 / 12, which makes the ramp exactly linear (points on the plan would make the acceleration
between them overshoot by 8 % of the jump); the pieces around absorb it. Times are whole
nanoseconds, as in messages: to round the times of given points would change what short quintics do.
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

# Half the width of a ramp between two accelerations [s], at most, and as a part of the shorter
# piece beside it.
RAMP = 1e-3
RAMP_PART = 0.05
# Breaks that are closer together than this [s] are treated as one.
CLOSE = 2e-4
# A jump is ramped when it is more than this [per s^2] and either more than this part of the joint's
# largest acceleration or so large that to let it pass (0.01 x jump x the square of the points'
# distance) would show.
JUMP = 1e-6
JUMP_PART = 1e-3
JUMP_SHOWS = 1e-4
# The largest offset of a knot from the plan that a ramp may need [rad or m]; ramps are not made
# shorter than this [s].
OFFSET = 4e-6
CLOSEST = 2e-6
# The last piece before the fade is sqrt(END_LENGTH / braking) long [s], and the fade this part of
# it.
END_LENGTH = 4e-3
END_PART = 0.01
# An end velocity below this [per s] is rounding, and zero.
AT_REST = 1e-6
# A plan at a billionth of the speed has no more to tell than the same at full speed: at most about
# so many points.
MOST_POINTS = 20_000
# The seconds of a point are a whole number of 32 bits in messages.
LONGEST = 2**31 - 1


def from_trajectory(
    trajectory: Trajectory,
    *,
    joint_names: Sequence[str] | None = None,
    max_interval: float = 0.1,
    stamp: float = 0.0,
) -> JointTrajectory:
    """The points that make a controller follow a plan: positions, velocities and accelerations in
    each.

    The quintic through them stays within 1e-5 rad (or m) of the plan, and its accelerations within
    a few per cent of the plan's; `deviation` measures it. A plan that ends at rest ends with zero
    velocity and acceleration exactly.

    Args:
        trajectory: the plan.
        joint_names: the order of the joints; the plan's own by default.
        max_interval: points are at most this far apart [s], or farther where they would be more
        than 20,000.
        stamp: when to start, on the arm's clock [s]; 0: on arrival.

    Raises TrajectoryError for names that are missing or extra, a max_interval that is not positive,
    or a plan that lasts for more than 68 years.
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
    """Rows of time, position, velocity and acceleration."""
    c, lengths = plan.coefficients, np.diff(plan.breaks)
    after = 2 * c[:, 2]  # (k, n): acceleration where each piece starts, and below where it ends
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
    """Breaks in groups of those that are close together, as ranges of indices; both ends are in
    one."""
    seams, start = [], 0
    for i in range(1, len(breaks)):
        if breaks[i] - breaks[start] > CLOSE:
            seams.append(range(start, i))
            start = i
    if start == 0:  # the whole plan is shorter than that
        return [range(0, 1), range(len(breaks) - 1, len(breaks))]
    # The last group begins at its first break, but nothing is closer to the end than what belongs
    # to it.
    while len(seams) > 1 and breaks[-1] - breaks[seams[-1].stop - 1] < CLOSE:
        start = seams.pop().start
    return [*seams, range(start, len(breaks))]


def _knot_at(
    plan: Trajectory, time: float, a: Array | None = None
) -> tuple[float, Array, Array, Array]:
    """The plan's knot at a time that is a whole number of nanoseconds, as messages have it."""
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
    """Knots between the last row and `end`, where that is far away."""
    start = rows[-1][0]
    count = max(1, int(np.ceil((end - start) / max_interval - 1e-9)))
    times = np.round(np.linspace(start, end, count + 1)[1:-1], 9)  # as `_knot_at`
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
    """Two knots, e before and after a seam or closer, between which the acceleration runs
    linearly."""
    while True:
        (t0, q0, v0, a0), (t1, q1, v1, a1) = _knot_at(plan, start - e), _knot_at(plan, end + e)
        # A linear ramp from q0, v0 ends here; both positions give way by half of what is missing.
        missing = q1 - (q0 + (t1 - t0) * v0 + (t1 - t0) ** 2 * (2 * a0 + a1) / 6)
        if np.abs(missing).max() <= 2 * OFFSET or e < CLOSEST:
            return [(t0, q0 + 0.5 * missing, v0, a0), (t1, q1 - 0.5 * missing, v1, a1)]
        e *= 0.7


def _end(
    plan: Trajectory, a: Array, largest: Array, room: float
) -> list[tuple[float, Array, Array, Array]]:
    """The last knot. Before it, where the plan brakes with acceleration a until it stands, one from
    which the braking fades out, and one where the plan is left for that."""
    end = plan.duration
    q, v = plan.position(end), plan.velocity(end)
    if (np.abs(v) > AT_REST).any():
        return [(end, q, v, a)]
    rest = np.zeros_like(q)
    last = [(end, q, rest, rest)]
    if not _shows(a, largest, room):
        return last
    # The fade lasts w and is slower than the plan by a w / 2: over a length x before it that moves
    # the arm by up to 0.08 a w x and adds up to about 2 a w / x to the acceleration, so both w and
    # x are short.
    x = min(room, float(np.sqrt(END_LENGTH / np.abs(a).max())))
    w = end - round(end - END_PART * x, 9)
    fade = (end - w, q + a * w * w / 6, -0.5 * a * w, a)
    if (np.abs(plan.acceleration(end - w) - a) < JUMP_SHOWS / x**2).all():
        last.insert(0, fade)
    # It does not brake steadily: to end with no acceleration moves the arm by up to 0.02 a x^2.
    else:
        x = min(room, float(np.sqrt(0.05 * END_LENGTH / np.abs(a).max())))
    return last if x > 0.7 * room else [_knot_at(plan, end - x), *last]


class Deviation(NamedTuple):
    """The largest differences between points as a controller interpolates them and their plan.

    Attributes:
        position, velocity: in size [rad or m, per s].
        acceleration: by which the plan's own largest acceleration is exceeded, joint by joint [per
        s^2].
    """

    position: float
    velocity: float
    acceleration: float


def deviation(
    joint_trajectory: JointTrajectory, trajectory: Trajectory, *, rate: float = 4000.0
) -> Deviation:
    """How far a controller's interpolation of the points leads from the plan, at `rate` samples per
    second [Hz] and at both ends of every piece and its middle."""
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
    """What a controller would execute: linear, cubic or quintic pieces, as the filled fields ask.

    Time 0 is the first point's time or, with from_state, the controller's start: it comes from
    there to a first point that is later. Outside the points a Trajectory is at rest.

    Args:
        joint_trajectory: the points.
        from_state: where the arm is when the controller starts.
        limits: kept in the result, of the joints in the points' order.

    Raises TrajectoryError when the points do not make a motion: fewer than two, sizes that differ,
    times that do not increase, or a velocity that jumps, as it does between positions only.
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
