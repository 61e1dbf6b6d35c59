"""Cartesian moves: a link follows straight lines from pose to pose.

Along one line, from X0 to X1 with u from 0 to 1,

    p(u) = p0 + u (p1 - p0),    R(u) = R0 exp(u log(R0^T R1))

The joints follow by continuation: from the configuration at u, Gauss-Newton (the Jacobian's
pseudo-inverse, minimal norm for redundant arms) to the configuration at u + du. A step is accepted
if the straight edge in q between the two stays near the line (measured at three points inside the
edge), moves no joint by more than `largest_step`, stays in limits, and is free as a whole; else du
is halved. So the joints cannot jump to another branch.

If continuation ends before the line does and the robot is redundant, a ladder over the null space
replaces it (`robosim.planners.null_space`). The ladder may also move the joints at the start while
the link stays.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import PlanningError, check_type
from robosim.planners.checking import CHECK_RESOLUTION, check
from robosim.planners.inverse import IkStatus, inverse_kinematics_many
from robosim.planners.noise import merged
from robosim.planners.null_space import Rung, climb, redundancy
from robosim.planners.positions import limit_violations
from robosim.planners.prepare import Prepared, prepare
from robosim.planners.problem import POSITION_TOLERANCE, ROTATION_TOLERANCE, PoseGoal, Problem
from robosim.planners.result import NoPlan, PlanResult, Status
from robosim.planners.stages import RESOLUTION, path_length
from robosim.planners.timing import STOP, motion_limits, time_parameterize, with_torque_note
from robosim.trajectory import Trajectory

__all__ = ["CartesianResult", "plan_cartesian"]

FloatArray = NDArray[np.float64]
_SMALLEST_STEP = 1e-4  # of u
_INSIDE = (0.25, 0.5, 0.75)  # parts of an edge at which it is measured
_PER_PIECE = 8
_AHEAD = (
    0.01  # of a line: distance beyond the end of a path at which the reason for the end is examined
)
_ATTEMPTS = 200  # to find a configuration there
_ASKED = 20  # configurations of a ladder's last rung, at most, examined for the reason of its end


@dataclass(frozen=True, eq=False, repr=False)
class CartesianResult(PlanResult):
    """A PlanResult of a Cartesian move.

    Attributes:
        fraction: achieved part of the path, 0 to 1, by length along the poses; the reason describes
            why it ended.
        position_deviation: [m] largest distance of the link from the line, measured at 8 times per
            piece of the trajectory.
        rotation_deviation: [rad] likewise.
    """

    fraction: float = 0.0
    position_deviation: float = 0.0
    rotation_deviation: float = 0.0


@dataclass(frozen=True, eq=False)
class _Line:
    """One straight move."""

    X0: FloatArray
    X1: FloatArray

    def pose(self, u: float) -> FloatArray:
        X = np.eye(4)
        X[:3, 3] = self.X0[:3, 3] + u * (self.X1[:3, 3] - self.X0[:3, 3])
        X[:3, :3] = self.X0[:3, :3] @ rotation_exp(
            u * rotation_log(self.X0[:3, :3].T @ self.X1[:3, :3])
        )
        return X

    def nearest(self, X: FloatArray) -> tuple[float, float]:
        """Distances [m], [rad] of a pose from the line.

        Position is relative to the segment and rotation relative to the arc.
        """
        along = self.X1[:3, 3] - self.X0[:3, 3]
        turn = rotation_log(self.X0[:3, :3].T @ self.X1[:3, :3])
        length, angle = float(np.linalg.norm(along)), float(np.linalg.norm(turn))
        # One parameter for both: of the position if it moves, else of the rotation.
        if length > 1e-9:
            u = float(along @ (X[:3, 3] - self.X0[:3, 3])) / length**2
        elif angle > 1e-9:
            u = float(turn @ rotation_log(self.X0[:3, :3].T @ X[:3, :3])) / angle**2
        else:
            u = 0.0
        target = self.pose(min(max(u, 0.0), 1.0))
        position = float(np.linalg.norm(X[:3, 3] - target[:3, 3]))
        return position, float(np.linalg.norm(rotation_log(target[:3, :3].T @ X[:3, :3])))


def rotation_log(R: FloatArray) -> FloatArray:
    """Rotation vector (3,) of a rotation matrix, of length 0 to pi."""
    # sin(angle) times the unit axis
    axis = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = math.sqrt(axis @ axis), 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1)
    if cosine > -0.9:
        return axis * (math.atan2(sine, cosine) / sine if sine > 1e-12 else 1.0)
    from scipy.spatial.transform import Rotation  # near pi, where the skew part vanishes

    vector: FloatArray = Rotation.from_matrix(R).as_rotvec()
    return vector


def rotation_exp(vector: FloatArray) -> FloatArray:
    """Rotation matrix (3, 3) of a rotation vector, by Rodrigues' formula.

    I + sin(a)/a K + (1 - cos(a))/a^2 K^2
    """
    angle = math.sqrt(vector @ vector)
    x, y, z = vector
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    if angle < 1e-8:
        return np.asarray(np.eye(3) + K)
    R: FloatArray = (
        np.eye(3) + math.sin(angle) / angle * K + (1 - math.cos(angle)) / angle**2 * (K @ K)
    )
    return R


def plan_cartesian(
    problem: Problem,
    *,
    position_bound: float = 1e-3,
    rotation_bound: float = 1e-2,
    largest_step: float = 0.2,
    seed: int = 0,
    velocity_scaling: float = 1.0,
    acceleration_scaling: float = 1.0,
    jerk: float | ArrayLike | Mapping[str, float] | None = None,
    torque_limits: bool = True,
    tool_speed: float | Mapping[str, float] | None = None,
    resolution: float = RESOLUTION,
    stop: Callable[[], bool] | None = None,
) -> CartesianResult:
    """Move a link in straight lines through the poses of `problem.via` to that of `problem.goal`.

    Position and orientation change together, each at a constant rate in the line's parameter. The
    trajectory stops at the poses between lines. The link stays within `position_bound` and
    `rotation_bound` of the line, and collisions are excluded at every time.

    Args:
        problem: its goal and via must be PoseGoals of one link, with no greater tolerances than the
            default; its start must be at rest.
        position_bound: [m] largest distance from the line.
        rotation_bound: [rad] largest angle from the line's orientation at the nearest point.
        largest_step: [rad or m] upper bound on the motion of a joint between two neighboring points
            of the line, however close, which prevents jumps.
        seed: recorded in the result; nothing here is random.
        velocity_scaling, acceleration_scaling, jerk, torque_limits, tool_speed, resolution: as of
            `plan`.
        stop: called at each step along the line and before each timing; if it returns True,
            planning ends with the status CANCELLED.

    Returns:
        A CartesianResult. If only part of the path is possible, its status is NO_PATH, `fraction`
        and `reason` describe how much and why it ended there, and the trajectory covers that part
        (None if it is empty).

    Raises:
        PlanningError: the problem is not of this kind, or an option is not valid.
        SceneError: the scene does not fit the robot.
    """
    check_type(problem, Problem, "problem", PlanningError)
    for name, value in (
        ("position_bound", position_bound),
        ("rotation_bound", rotation_bound),
        ("largest_step", largest_step),
    ):
        if not (isinstance(value, (int, float, np.number)) and 0 < value < math.inf):
            raise PlanningError(f"{name} is {value!r}; it must be positive")
    begin = time.perf_counter()
    timings: dict[str, float] = {}
    prepared: Prepared | None = None
    trajectory: Trajectory | None = None
    status, reason, fraction, deviation = Status.SOLVED, "", 0.0, (0.0, 0.0)
    path = np.empty((0, problem.model.n_q))
    try:
        prepared = prepare(problem)
        limits = motion_limits(
            prepared,
            velocity_scaling=velocity_scaling,
            acceleration_scaling=acceleration_scaling,
            jerk=jerk,
            torque_limits=torque_limits,
            tool_speed=tool_speed,
        )
        # Waypoints along the lines.
        link, lines = _lines(prepared)
        follower = _Follower(
            prepared, link, position_bound / 2, rotation_bound / 2, largest_step, resolution, stop
        )
        path, corners, fraction, reason = follower.follow(lines)
        timings["search"] = time.perf_counter() - begin
        if reason:
            status = Status.NO_PATH
        if len(path) > 1 or not reason:
            # From beyond limits, the first edge leads back within them.
            way_in: list[_Line] = []
            if prepared.entry is not prepared.start:
                way_in = [_Line(problem.model.frame_pose(prepared.start, link), lines[0].X0)]
                path, corners = np.vstack([prepared.start, path]), [1, *(i + 1 for i in corners)]
            path, corners = merged(path, prepared.columns.q, corners)
            largest = math.inf
            # Reduce the blends until the trajectory is within the bounds and passes the check.
            while trajectory is None:
                _go_on(stop)
                trajectory = time_parameterize(
                    prepared,
                    path,
                    limits,
                    stops=corners,
                    largest_blend=largest,
                    resolution=resolution,
                    seed=seed,
                )
                deviation = _measured(prepared, link, [*way_in, *lines], trajectory)
                inside = deviation[0] <= position_bound and deviation[1] <= rotation_bound
                if not inside or (
                    wrong := check(
                        prepared, trajectory, resolution=min(resolution, CHECK_RESOLUTION)
                    )
                ):
                    if largest == STOP:
                        away = (
                            f"the link leaves the line by {deviation[0]:.3g} m,"
                            f" {deviation[1]:.3g} rad"
                        )
                        raise NoPlan(Status.NO_TIMING, "; ".join(wrong) if inside else away)
                    largest = (
                        0.02
                        if math.isinf(largest)
                        else max(largest / 8, STOP)
                        if largest > 1e-4
                        else STOP
                    )
                    trajectory = None
            timings["timing"] = time.perf_counter() - begin - timings["search"]
        reason = with_torque_note(reason, problem.model, torque_limits)
    except NoPlan as failure:
        status, reason, trajectory = failure.status, failure.reason, None
    timings["total"] = time.perf_counter() - begin
    columns = prepared.columns.q if prepared is not None else ()
    moved = path[:, list(columns)]
    return CartesianResult(
        status=status,
        reason=reason,
        trajectory=trajectory,
        path=moved,
        position_names=prepared.columns.names if prepared is not None else (),
        path_length=path_length(moved),
        goal_index=0 if status.ok else -1,
        timings=timings,
        planner="cartesian",
        seed=seed,
        iterations=max(len(path) - 1, 0),
        checks=max(len(path) - 1, 0),
        acceleration_source=problem.model.limits.acceleration_source,
        robot=problem.model.name,
        q_rest=prepared.start if prepared is not None else problem.model.neutral(),
        columns=columns,
        fraction=fraction,
        position_deviation=deviation[0],
        rotation_deviation=deviation[1],
    )


def _go_on(stop: Callable[[], bool] | None) -> None:
    """Raise NoPlan if the caller canceled."""
    if stop is not None and stop():
        raise NoPlan(Status.CANCELLED, "cancelled")


def _lines(prepared: Prepared) -> tuple[str, list[_Line]]:
    """Return the link and the straight moves."""
    goals = [alternatives[0] for alternatives in (*prepared.via, prepared.goals)]
    if prepared.start_velocity.any():
        raise PlanningError("a Cartesian move starts at rest; leave out start_velocity")
    if len(prepared.goals) != 1 or any(len(alternatives) != 1 for alternatives in prepared.via):
        raise PlanningError("a Cartesian move has one goal")
    poses, link = [], ""
    for goal in goals:
        if not isinstance(goal, PoseGoal) or goal.link != (link or goal.link):
            raise PlanningError(
                "a Cartesian move needs a PoseGoal, and all its poses of the same link"
            )
        region = np.max(goal.position_tolerance) > POSITION_TOLERANCE
        if region or np.max(goal.rotation_tolerance) > ROTATION_TOLERANCE:
            raise PlanningError(
                "a Cartesian move goes to exact poses; its bounds are options of plan_cartesian"
            )
        poses.append(np.asarray(goal.pose))
        link = goal.link
    poses.insert(0, prepared.model.frame_pose(prepared.entry, link))
    return link, [_Line(a, b) for a, b in itertools.pairwise(poses)]


def _measured(
    prepared: Prepared, link: str, lines: Sequence[_Line], trajectory: Trajectory
) -> tuple[float, float]:
    """Largest distance [m], [rad] of the link from the nearest line, at 8 times per piece."""
    q = prepared.start.copy()
    worst = (0.0, 0.0)
    parts = np.linspace(0, 1, _PER_PIECE, endpoint=False)
    times = (trajectory.breaks[:-1, None] + parts * np.diff(trajectory.breaks)[:, None]).ravel()
    for row in trajectory.position(times):
        q[list(prepared.columns.q)] = row
        X = prepared.model.frame_pose(q, link)
        away = [line.nearest(X) for line in lines]
        position, rotation = min(away, key=lambda each: each[0] + 0.1 * each[1])
        worst = (max(worst[0], position), max(worst[1], rotation))
    return worst


_Waypoint = tuple[int, float, FloatArray]  # line, u, q


class _Refusal(NamedTuple):
    """Rejection of an edge.

    Attributes:
        reason: description; empty if the joints cannot follow at all.
        is_too_long: True if a part of the edge may be allowed.
    """

    reason: str
    is_too_long: bool


class _Follower:
    """Paths along lines: by continuation, and if that ends, by a ladder over the null space."""

    def __init__(
        self,
        prepared: Prepared,
        link: str,
        position: float,
        rotation: float,
        largest_step: float,
        resolution: float,
        stop: Callable[[], bool] | None,
    ) -> None:
        self._prepared, self._link = prepared, link
        self._position, self._rotation = position, rotation
        self._largest_step, self._resolution, self._stop = largest_step, resolution, stop
        self._columns, self._v = list(prepared.columns.q), list(prepared.columns.v)

    def follow(self, lines: Sequence[_Line]) -> tuple[FloatArray, list[int], float, str]:
        """Follow the lines as far as possible.

        The result is waypoints (p, n_q), the indices of those between two lines, the achieved
        fraction, and why it ended early.
        """
        sizes = [self._size(line) for line in lines]
        way, reason = self._by_continuation(lines, sizes)
        if reason and self._redundancy > 0:
            other, rung = self._by_climbing(lines, sizes)
            if rung is None or self._length(other, sizes) > self._length(way, sizes):
                way = other
                reason = "" if rung is None else self._why_ladder_ends(lines[rung.line], rung)
        points = [q for _, _, q in way]
        numbers = [i for i, _, _ in way]
        corners = [k for k, (a, b) in enumerate(itertools.pairwise(numbers), start=1) if a != b]
        fraction = self._length(way, sizes) / sum(sizes) if reason else 1.0
        return np.array([self._prepared.entry, *points]), corners, fraction, reason

    @staticmethod
    def _length(way: Sequence[_Waypoint], sizes: Sequence[float]) -> float:
        """Length [m] of a path along the lines."""
        if not way:
            return 0.0
        line, u, _ = way[-1]
        return sum(sizes[:line]) + u * sizes[line]

    def _by_continuation(
        self, lines: Sequence[_Line], sizes: Sequence[float]
    ) -> tuple[list[_Waypoint], str]:
        """Return (line, u, q) of waypoints after the start by least motion, and why they end."""
        way: list[_Waypoint] = []
        q = self._prepared.entry
        for i, line in enumerate(lines):
            if sizes[i] > 0:
                points, reason = self._line(line, q)
                way += [(i, u, q) for u, q in points]
                if reason:
                    return way, reason
                q = way[-1][2]
        return way, ""

    def _by_climbing(
        self, lines: Sequence[_Line], sizes: Sequence[float]
    ) -> tuple[list[_Waypoint], Rung | None]:
        """Return waypoints by a ladder over the null space, and the rung at which it ends."""

        def edge(i: int, q0: FloatArray, q1: FloatArray) -> tuple[bool, bool]:
            refusal = self._refusal(lines[i], q0, q1, _INSIDE)
            return refusal is None, refusal is not None and refusal.is_too_long

        return climb(
            self._prepared,
            self._link,
            sizes,
            lambda i, u: lines[i].pose(u),
            edge,
            self._largest_step,
            lambda: _go_on(self._stop),
        )

    @staticmethod
    def _size(line: _Line) -> float:
        """Length [m], a radian of rotation counted as 0.1 m."""
        turn = float(np.linalg.norm(rotation_log(line.X0[:3, :3].T @ line.X1[:3, :3])))
        size = float(np.linalg.norm(line.X1[:3, 3] - line.X0[:3, 3])) + 0.1 * turn
        return size if size > 1e-9 else 0.0

    def _line(self, line: _Line, q: FloatArray) -> tuple[list[tuple[float, FloatArray]], str]:
        """Return (u, q) of the waypoints after q along one line, and why they end early."""
        points: list[tuple[float, FloatArray]] = []
        largest = min(0.125, 0.05 / self._size(line))
        u, step = 0.0, largest
        while u < 1:
            _go_on(self._stop)
            target = min(u + step, 1.0)
            following = self._step(line, q, target)
            if isinstance(following, _Refusal):
                step = (target - u) / 2
                if step < _SMALLEST_STEP:
                    return (
                        points,
                        f"{100 * u:.1f} % along the line, {self._told(following, line, q, u)}",
                    )
                continue
            q, u = following, target
            points.append((u, q))
            step = min(1.5 * step, largest)
        return points, ""

    def _step(self, line: _Line, q: FloatArray, u: float) -> FloatArray | _Refusal:
        """Return the configuration at u, or why the edge to it from q is rejected."""
        q_next = self._solve(line.pose(u), q)
        if q_next is None:
            return _Refusal("", True)
        violations = limit_violations(self._prepared.columns, q_next)
        if violations:
            return _Refusal("; ".join(violations), False)
        within = self._prepared.columns.inside(q_next)
        # A configuration moved to a limit may be off the line.
        at = _INSIDE if within is q_next else (*_INSIDE, 1.0)
        return self._refusal(line, q, within, at) or within

    def _refusal(
        self, line: _Line, q: FloatArray, q_next: FloatArray, at: Sequence[float]
    ) -> _Refusal | None:
        """Return why the edge from q to q_next is rejected, or None.

        `at` are the parts of the edge at which it is measured.
        """
        model = self._prepared.model
        moves = np.abs(q_next - q)[self._columns]
        if moves.max() > self._largest_step:
            name = self._prepared.columns.names[int(moves.argmax())]
            return _Refusal(f"joint {name!r} would jump by {moves.max():.3g}", True)
        for t in at:
            position, rotation = line.nearest(model.frame_pose(q + t * (q_next - q), self._link))
            if position > self._position or rotation > self._rotation:
                away = f"{position:.3g} m, {rotation:.3g} rad"
                return _Refusal(f"the joints would leave the line by {away}", True)
        edge = self._prepared.scene.edge_free(q, q_next, self._resolution)
        if not edge.free:
            return _Refusal(f"{edge.pair[0]!r} and {edge.pair[1]!r} collide", False)
        return None

    def _told(self, refusal: _Refusal, line: _Line, q: FloatArray, u: float) -> str:
        """Describe why no step continues from q at u."""
        if not refusal.is_too_long:
            return refusal.reason
        return (
            f"{refusal.reason}: {self._nearly_singular(q)}"
            if refusal.reason
            else self._why(line, q, u)
        )

    def _nearly_singular(self, q: FloatArray) -> str:
        """Describe how near to a singularity a configuration is."""
        J = self._prepared.model.jacobian(q, self._link)[:, self._v]
        values = np.linalg.svd(J, compute_uv=False)
        # For an arm that cannot move its link in all directions, some singular values are always
        # zero.
        smallest = values[len(self._v) - self._redundancy - 1]
        return (
            f"near a singularity, the smallest singular value of the Jacobian being {smallest:.2g}"
        )

    @cached_property
    def _redundancy(self) -> int:
        """Number of redundant joints."""
        return redundancy(self._prepared, self._link)

    def _why(self, line: _Line, q: FloatArray, u: float) -> str:
        """Describe why the joints cannot continue from q at u: out of reach, or singular."""
        # Test a pose a little ahead, and the end of the line, which may be proven out of reach when
        # the pose ahead is not.
        ahead = np.array([line.pose(min(u + _AHEAD, 1.0)), line.pose(1.0)])
        found = inverse_kinematics_many(
            self._prepared.model,
            self._link,
            ahead,
            start=q,
            joints=self._prepared.columns.joints,
            position_tolerance=0.0,
            rotation_tolerance=0.0,
            attempts=_ATTEMPTS,
        )
        if not found.solved[0]:
            proven = list(found.status == IkStatus.OUT_OF_REACH)
            if proven == [False, True]:
                return f"out of reach, as the end of the line is: {found.reason(1)}"
            return f"out of reach: {found.reason(0)}"
        return f"the joints cannot follow: {self._nearly_singular(q)}; other configurations could"

    def _why_ladder_ends(self, line: _Line, rung: Rung) -> str:
        """Describe why none of the configurations of the last rung leads on."""
        u = min(rung.u + _AHEAD, 1.0)
        # Group by the words before the numbers, as numbers differ from one reason to the next.
        alike: dict[str, list[tuple[_Refusal, FloatArray]]] = {}
        for q in rung.q[:: max(1, len(rung.q) // _ASKED)]:
            following = self._step(line, q, u)
            if isinstance(following, _Refusal):
                words = following.reason.split(" is at ")[0].split(" by ")[0]
                alike.setdefault(words, []).append((following, q))
        most, q = max(alike.values(), key=len)[0] if alike else (_Refusal("", True), rung.q[0])
        what = self._told(most, line, q, rung.u)
        n = len(rung.q)
        none = (
            f"none of {n} configurations that lead there leads on"
            if n > 1
            else "no configuration leads on"
        )
        return f"{100 * rung.u:.1f} % along the line, {none}: {what}"

    def _solve(self, X: FloatArray, q: FloatArray) -> FloatArray | None:
        """Return the configuration near q with the link at X, within 1e-9 m and rad, or None."""
        model, q = self._prepared.model, q.copy()
        for _ in range(15):
            X_WL = model.frame_pose(q, self._link)
            R = X_WL[:3, :3]
            error = np.concatenate([R.T @ (X[:3, 3] - X_WL[:3, 3]), rotation_log(R.T @ X[:3, :3])])
            if np.abs(error).max() < 1e-9:
                return q
            J = model.jacobian(q, self._link, frame="local")[:, self._v]
            dv = np.zeros(model.n_v)
            dv[self._v] = np.linalg.lstsq(J, error, rcond=1e-8)[0]  # of least norm
            if np.abs(dv).max() > 2 * self._largest_step:
                return None
            q = model.integrate(q, dv)
        return None
