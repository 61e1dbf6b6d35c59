"""From a polyline in q to a timed trajectory: free blends at corners, then the fastest timing.

The blended path is piecewise quadratic (engine/planning/blend.h). Its time parameterization is
within the limits of velocity, acceleration and torque at every time, not only at samples
(engine/planning/timing.h).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import _engine
from robosim.errors import PlanningError, suggestion
from robosim.model.tips import tip_links
from robosim.parallel import threads
from robosim.planners.noise import merged
from robosim.planners.positions import Columns, chain
from robosim.planners.prepare import Prepared
from robosim.planners.problem import PoseGoal
from robosim.planners.result import NoPlan, Status
from robosim.planners.stages import RESOLUTION
from robosim.trajectory import Trajectory, TrajectoryLimits

if TYPE_CHECKING:
    from robosim.model import Model

__all__ = ["MotionLimits", "motion_limits", "time_parameterize"]

FloatArray = NDArray[np.float64]
ROUNDING = 1e-13  # length [metric of q] that counts as no motion (engine/planning/timing_grid.cpp)
SLOWEST = 1e-12  # factor of velocity and acceleration limits: below, numbers lose digits
SLOWEST_TOOL = 1e-6  # [m/s]
STOP = 1e-9  # largest blend [metric of q] that makes a trajectory stop at its corners


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """Scaled limits of a trajectory.

    Per column: velocity, acceleration, and jerk or None; efforts (n_v,) or None; and the largest
    speeds of the origins of links, [m/s] by name.
    """

    velocity: FloatArray
    acceleration: FloatArray
    jerk: FloatArray | None
    effort: FloatArray | None
    tool_speed: Mapping[str, float] = field(default_factory=dict)


def motion_limits(
    prepared: Prepared,
    *,
    velocity_scaling: float = 1.0,
    acceleration_scaling: float = 1.0,
    jerk: float | ArrayLike | Mapping[str, float] | None = None,
    torque_limits: bool = True,
    tool_speed: float | Mapping[str, float] | None = None,
) -> MotionLimits:
    """Return the model's limits for the columns that move, scaled.

    Args:
        prepared: the problem.
        velocity_scaling: 1e-12 <= factor <= 1 of the velocity limits.
        acceleration_scaling: 1e-12 <= factor <= 1 of the acceleration limits.
        jerk: [rad/s^3, m/s^3] one for all, one per column, or by position name (others unlimited);
            None: unlimited.
        torque_limits: whether efforts are limited too, by the model's limits; ignored for a model
            without valid dynamics (`Model.dynamics_faults`).
        tool_speed: [m/s] upper bound on the speed of a link's origin in the world: by the link's
            name, or a number for the link of the pose goals, else for the only tip of the moving
            joints.

    Raises:
        PlanningError: a factor or a limit is not valid, or the link of a tool speed is ambiguous.
    """
    for name, factor in (
        ("velocity_scaling", velocity_scaling),
        ("acceleration_scaling", acceleration_scaling),
    ):
        if not (isinstance(factor, (int, float, np.number)) and 0 < factor <= 1):
            raise PlanningError(f"{name} is {factor!r}; it must be above 0 and at most 1")
        if factor < SLOWEST:
            raise PlanningError(
                f"{name} is {factor!r}; the least that motions are timed with is {SLOWEST}"
            )
    columns = prepared.columns
    effort = None
    if torque_limits and not prepared.model.dynamics_faults:  # of the joints that move
        effort = np.full(prepared.model.n_v, np.inf)
        effort[list(columns.v)] = prepared.model.limits.effort[list(columns.v)]
    return MotionLimits(
        columns.velocity * velocity_scaling,
        columns.acceleration * acceleration_scaling,
        _jerk(columns, jerk),
        effort,
        _tool_speed(prepared, tool_speed),
    )


def with_torque_note(reason: str, model: Model, torque_limits: bool) -> str:
    """Append to the reason that requested torque limits are ignored for lack of valid dynamics."""
    if not torque_limits or not model.dynamics_faults:
        return reason
    note = (
        "torque limits are not kept, for the model has no valid dynamics:"
        f" {model.dynamics_faults[0]}"
    )
    return f"{reason}; {note}" if reason else note


def _jerk(
    columns: Columns, jerk: float | ArrayLike | Mapping[str, float] | None
) -> FloatArray | None:
    if jerk is None:
        return None
    n = len(columns.q)
    if isinstance(jerk, Mapping):
        out = np.full(n, np.inf)
        for name, value in jerk.items():
            if name not in columns.names:
                raise PlanningError(f"jerk: no {name!r} moves{suggestion(name, columns.names)}")
            out[columns.names.index(name)] = value
    else:
        try:
            out = np.broadcast_to(np.asarray(jerk, dtype=float), (n,)).copy()
        except (TypeError, ValueError):
            raise PlanningError(
                f"jerk is {jerk!r}; it must be one number or {n}, one per coordinate that moves"
            ) from None
    if not (out > 0).all():
        raise PlanningError(f"jerk is {jerk!r}; limits must be positive")
    return out


def _tool_speed(
    prepared: Prepared, tool_speed: float | Mapping[str, float] | None
) -> dict[str, float]:
    """[m/s] by link."""
    if tool_speed is None:
        return {}
    model = prepared.model
    by_link = dict(tool_speed) if isinstance(tool_speed, Mapping) else {"": tool_speed}
    for link, speed in by_link.items():
        what = f"tool_speed of {link!r}" if link else "tool_speed"
        number = isinstance(speed, (int, float, np.number)) and not isinstance(speed, bool)
        if not number or not SLOWEST_TOOL <= speed < math.inf:
            raise PlanningError(
                f"{what} is {speed!r}; it must be a number of at least {SLOWEST_TOOL} [m/s]"
            )
        if link not in model.link_names and (link or isinstance(tool_speed, Mapping)):
            raise PlanningError(
                f"tool_speed: {model.name!r} has no link"
                f" {link!r}{suggestion(link, model.link_names)}"
            )
    if isinstance(tool_speed, Mapping):
        return {link: float(speed) for link, speed in by_link.items()}
    goals = [goal for alternatives in (*prepared.via, prepared.goals) for goal in alternatives]
    links = list(dict.fromkeys(goal.link for goal in goals if isinstance(goal, PoseGoal)))
    if not links:
        moving = set(prepared.columns.joints)
        links = [link for link in tip_links(model) if chain(model, link) & moving]
    if len(links) != 1:
        which = f"one of {', '.join(map(repr, links))}" if links else "a link"
        raise PlanningError(
            f"tool_speed is {tool_speed!r}, but of which link? Name {which}: {{link: speed}}"
        )
    return {links[0]: float(tool_speed)}


def rounded(
    prepared: Prepared, path: FloatArray, stops: Sequence[int], largest: float, resolution: float
) -> tuple[FloatArray, FloatArray]:
    """Blend the corners of a path (p, n_q): breaks (k + 1,) and coefficients (k, 3, c).

    The result is q[columns](s). Corners at the indices `stops`, and those that no blend clears,
    keep their shape, and the trajectory stops there. No two neighboring points may be equal or near
    (see `merged`), except for the ends of a path of only two.
    """
    columns = list(prepared.columns.q)
    breaks, coefficients = [np.zeros(1)], [np.zeros((0, 3, len(columns)))]
    bounds = [0, *stops, len(path) - 1]
    for first, last in itertools.pairwise(bounds):
        if first == last:  # a stop at an end, where the trajectory stops anyway
            continue
        blend = _engine.blend_corners(
            prepared.scene, path[first : last + 1], columns, resolution=resolution, largest=largest
        )
        pieces = blend.coefficients.reshape(-1, 3, len(columns))
        lengths = blend.breaks[1:]
        if len(pieces) == 0:  # shorter than the smallest blended edge: straight
            a, b = path[first, columns], path[last, columns]
            lengths = np.array([np.linalg.norm(b - a)])
            if lengths[0] == 0:
                continue
            pieces = np.array([[a, (b - a) / lengths[0], np.zeros(len(columns))]])
        breaks.append(breaks[-1][-1] + lengths)
        coefficients.append(pieces)
    s, c = np.concatenate(breaks), np.concatenate(coefficients)
    # Drop pieces that are rounding between two corners at a short edge; s may not even grow by
    # them.
    proper = np.diff(s) > ROUNDING
    if not proper.all():
        s, c = np.append(s[:1], s[1:][proper]), c[proper]
    if len(c) == 0:  # nothing moves
        s, c = np.array([0.0, 1.0]), np.zeros((1, 3, len(columns)))
        c[0, 0] = path[0, columns]
    return s, c


def time_parameterize(
    prepared: Prepared,
    path: FloatArray,
    limits: MotionLimits | None = None,
    *,
    start_velocity: FloatArray | None = None,
    stops: Sequence[int] = (),
    largest_blend: float = math.inf,
    resolution: float = RESOLUTION,
    seed: int | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Trajectory:
    """Compute the fastest trajectory along a blended free polyline, at rest at its end.

    Waypoints less than 1e-6 apart, in the Euclidean metric of q, are merged
    (`robosim.planners.noise`); the ends keep their values.

    Args:
        prepared: the problem.
        path: (p, n_q) waypoints joined by free straight lines in q.
        limits: result of `motion_limits`; the model's limits by default.
        start_velocity: (c,) of the columns, along the first edge; None is at rest.
        stops: indices of waypoints at which the trajectory has to stop.
        largest_blend: upper bound on the part of an edge that a blend takes, in the Euclidean
            metric of q.
        resolution: [m] of the collision checks.
        seed: recorded in the trajectory.
        metadata: recorded in the trajectory.

    Raises:
        NoPlan: the path cannot be followed within the limits; the reason names the joint.
        PlanningError: `stops` names a waypoint that the path does not have.
    """
    for i in stops:
        if not 0 <= i < len(path):
            raise PlanningError(
                f"stops holds {i}; it must hold indices of the path's waypoints, 0 to"
                f" {len(path) - 1}"
            )
    stops = sorted(set(stops))
    limits = motion_limits(prepared) if limits is None else limits
    columns = prepared.columns
    # A moving start needs the direction of the first edge, so keep that edge.
    moves = start_velocity is not None and bool(np.any(start_velocity))
    path, stops = merged(path, columns.q, stops, first=min(int(moves), len(path) - 1))
    breaks, coefficients = rounded(prepared, path, stops, largest_blend, resolution)
    timed = _engine.time_path(
        breaks,
        coefficients,
        limits.velocity,
        limits.acceleration,
        jerk=limits.jerk,
        start_velocity=start_velocity,
        **_of_model(prepared, limits),
        names=list(columns.names),
    )
    if timed.status != "solved":
        status = Status.START_VELOCITY if "start_velocity" in timed.status else Status.NO_TIMING
        raise NoPlan(status, timed.reason)
    noted = dict(metadata or {})
    if timed.resisted:
        noted["friction_cost"] = {"stated": timed.sooner_as_stated, "none": timed.sooner_without}
    return as_trajectory(prepared, timed.breaks, timed.coefficients, limits, seed, noted)


def _of_model(prepared: Prepared, limits: MotionLimits) -> dict[str, Any]:
    """Arguments of the engine for limits of torques and of link speeds."""
    if limits.effort is None and not limits.tool_speed:
        return {}
    model = prepared.model
    return {
        "model": model._engine,
        "columns": list(prepared.columns.q),
        "q_rest": prepared.start,
        "effort": np.full(model.n_v, np.inf) if limits.effort is None else limits.effort,
        "tool_speed": dict(limits.tool_speed),
    }


def as_trajectory(
    prepared: Prepared,
    breaks: FloatArray,
    coefficients: FloatArray,
    limits: MotionLimits,
    seed: int | None,
    metadata: Mapping[str, Any] | None,
) -> Trajectory:
    """Make a Trajectory of the columns, with limits, torques, and the positions of fixed joints."""
    model, columns = prepared.model, prepared.columns
    rest = {
        name: float(prepared.start[i])
        for i, name in enumerate(model.position_names)
        if i not in set(columns.q)
    }
    return Trajectory(
        breaks,
        coefficients,
        columns.names,
        units=columns.units,
        robot=model.name,
        limits=TrajectoryLimits(
            lower=columns.lower,
            upper=columns.upper,
            velocity=limits.velocity,
            acceleration=limits.acceleration,
            jerk=limits.jerk,
            effort=None if limits.effort is None else limits.effort[list(columns.v)],
            acceleration_source=model.limits.acceleration_source,
            tool_speed=limits.tool_speed or None,
        ),
        seed=seed,
        metadata={**(metadata or {}), "positions_at_rest": rest},
        inverse_dynamics=(
            None if model.dynamics_faults else ColumnTorque(model, columns, prepared.start)
        ),
        torque_names=[model.velocity_names[j] for j in columns.v],
        link_velocity=ColumnVelocity(model, columns, prepared.start),
    )


class _ColumnStates:
    """States of the whole robot from those of its columns; its other joints are fixed."""

    def __init__(self, model: Model, columns: Columns, q_rest: FloatArray) -> None:
        self._model, self._rest = model, q_rest.copy()
        self._q, self._v = list(columns.q), list(columns.v)
        # Planar joints: v is in the moving frame, R(theta)^T d(x, y)/dt. Rows (x, y, theta) of the
        # columns.
        names = columns.names
        self._planar = [
            [names.index(f"{joint}/{part}") for part in ("x", "y", "theta")]
            for joint in columns.joints
            if f"{joint}/theta" in names
        ]

    def _states(
        self, q: FloatArray, dq: FloatArray, ddq: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return (m, n_q), (m, n_v), (m, n_v) of the whole robot."""
        full = np.tile(self._rest, (len(q), 1))
        v, a = np.zeros((len(q), self._model.n_v)), np.zeros((len(q), self._model.n_v))
        full[:, self._q] = q
        dq, ddq = np.array(dq), np.array(ddq)
        for x, y, theta in self._planar:
            c, s, rate = np.cos(q[:, theta]), np.sin(q[:, theta]), dq[:, theta]
            # R^T, from the plane's axes to those of the moving frame.
            vx, vy = c * dq[:, x] + s * dq[:, y], c * dq[:, y] - s * dq[:, x]
            ax, ay = c * ddq[:, x] + s * ddq[:, y], c * ddq[:, y] - s * ddq[:, x]
            dq[:, x], dq[:, y] = vx, vy
            ddq[:, x], ddq[:, y] = ax + rate * vy, ay - rate * vx
        v[:, self._v], a[:, self._v] = dq, ddq
        return full, v, a


class ColumnTorque(_ColumnStates):
    """Torques of the columns: tau = f(q, dq/dt, d2q/dt2), each (c,).

    They are the inverse dynamics of the whole robot, with the damping, dry friction and springs
    that its description specifies.
    """

    def __call__(self, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> FloatArray:
        tau: FloatArray = self.many(
            np.asarray(q)[None], np.asarray(dq)[None], np.asarray(ddq)[None]
        )[0]
        return tau

    def many(self, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> FloatArray:
        """Torques of rows: (m, c) from (m, c) each."""
        full, v, a = self._states(q, dq, ddq)
        with threads(1):
            tau = self._model.inverse_dynamics(full, v, a, joint_forces=True)
        return np.asarray(tau[:, self._v])

    def frictionless(self, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> FloatArray:
        """Torques of rows with springs, but without damping and dry friction.

        The result is (m, c) from (m, c) each.
        """
        full, v, a = self._states(q, dq, ddq)
        with threads(1):
            tau = self._model.inverse_dynamics(full, v, a)
            springs = self._model.joint_forces(full, np.zeros_like(v))
        return np.asarray((tau - springs)[:, self._v])


class ColumnVelocity(_ColumnStates):
    """Velocities (m, 3) of a link's origin in the world = f(link, q, dq/dt), of rows (m, c)."""

    def __call__(self, link: str, q: FloatArray, dq: FloatArray) -> FloatArray:
        full, v, _ = self._states(q, dq, np.zeros_like(dq))
        with threads(1):
            return np.asarray(self._model.frame_velocity(full, v, link)[:, :3])
