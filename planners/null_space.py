"""Straight lines for redundant arms: a ladder of configurations over the null space.

At poses along the line (rungs), configurations with that pose are spread out from those reached
from the previous rung. They advance along the null space of the Jacobian by one step at a time.
Each is projected back to the pose, and kept if it is free, within limits and not near another. From
rung to rung each continues by least motion. Dynamic programming finds the cheapest chain through
all rungs. The chain is smoothed, and then every edge of it is proven. An edge that fails is
removed, and the next chain is tried. De Maeyer, Moyers, Demeester, "Cartesian path planning for arc
welding robots: evaluation of the Descartes algorithm" (ETFA 2017) describes ladders of sampled
configurations. Here the ladder grows from the start, so that all configurations can be reached.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from robosim import _engine
from robosim.planners.prepare import Prepared

__all__ = ["Rung", "climb", "redundancy"]

FloatArray = NDArray[np.float64]
Edge = Callable[[int, FloatArray, FloatArray], tuple[bool, bool]]
# Distance of neighbors in the null space [rad, m], and largest number of configurations per rung;
# in one dimension all of them fit.
_SPREAD, _MOST = {1: 0.1}, {1: 400}
_SPREAD_MANY, _MOST_MANY = 0.15, 200
_SPACING = 0.025  # of rungs [m], see `_Follower._size`
_HALVINGS = 4  # of the interval to the next rung, if no configuration leads to it
_DEEPEST = 7  # halvings of an edge that leaves the line
_CHAINS = 200  # largest number tried
_SMOOTHINGS = 10
_RANK = 1e-3  # singular values below this part of the largest count as zero


@dataclass(eq=False)
class Rung:
    """A pose along a line, and configurations with this pose.

    Attributes:
        line: index of the line.
        u: position on the line, 0 to 1.
        pose: (4, 4) of the link.
        q: (m, n_q) configurations.
        blocked: pairs (a, b) of configurations of this rung and the next whose edge is rejected;
            (a, -1 - b) for two of this rung.
    """

    line: int
    u: float
    pose: FloatArray
    q: FloatArray
    blocked: set[tuple[int, int]] = field(default_factory=set)


@dataclass(frozen=True, eq=False)
class _Task:
    """Moving coordinates, and projection of configurations to poses."""

    prepared: Prepared
    link: str
    rank: int
    largest_step: float

    def project(self, pose: FloatArray, q: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Project each q (m, n_q) to a nearby configuration with this pose, or its own (m, 4, 4).

        The second result is True where such a configuration exists.
        """
        prepared, columns = self.prepared, self.prepared.columns
        found = _engine.inverse_kinematics_many(
            prepared.model._engine,
            prepared.model._frame(self.link),
            np.ascontiguousarray(np.broadcast_to(pose, (len(q), 4, 4))),
            start=q,
            columns=list(columns.q),
            lower=columns.lower,
            upper=columns.upper,
            box_lower=np.zeros(6),
            box_upper=np.zeros(6),
            position_tolerance=1e-9,
            rotation_tolerance=1e-9,
            attempts=1,
            threads=1,
        )
        return found["q"], found["status"] == 0

    def directions(self, q: FloatArray) -> FloatArray:
        """(m, k, c) unit vectors along which the columns move and the link almost stays."""
        J = self.prepared.model.jacobian(q, self.link)[:, :, list(self.prepared.columns.v)]
        out: FloatArray = np.linalg.svd(J)[2][:, self.rank :]
        return out

    def moves(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """(..., c) displacement of each column."""
        out: FloatArray = (b - a)[..., list(self.prepared.columns.q)]
        return out


def redundancy(prepared: Prepared, link: str) -> int:
    """Number of moving coordinates in excess of the rank of the link's Jacobian."""
    columns, model = prepared.columns, prepared.model
    rng = np.random.default_rng(0)
    q = np.repeat(prepared.entry[None], 4, axis=0)
    low, high = np.maximum(columns.lower, -math.pi), np.minimum(columns.upper, math.pi)
    q[1:, list(columns.q)] = rng.uniform(
        np.minimum(low, high), np.maximum(low, high), (3, len(columns.q))
    )
    values = np.linalg.svd(model.jacobian(q, link)[:, :, list(columns.v)], compute_uv=False)
    return len(columns.v) - int(
        (values > _RANK * values.max(axis=1, keepdims=True)).sum(axis=1).max()
    )


def climb(
    prepared: Prepared,
    link: str,
    sizes: Sequence[float],
    pose: Callable[[int, float], FloatArray],
    edge: Edge,
    largest_step: float,
    go_on: Callable[[], None],
) -> tuple[list[tuple[int, float, FloatArray]], Rung | None]:
    """Find waypoints along lines, as far as possible.

    Args:
        prepared: robot, scene and start.
        link: name of the link that follows the lines.
        sizes: of each line [m]; lines of size zero are skipped.
        pose: (line, u) to the link's pose there.
        edge: (line, q0, q1) to whether the straight motion between the two is allowed and, if not,
            whether shorter ones may be.
        largest_step: [rad or m] upper bound on the motion of a column between two waypoints.
        go_on: called repeatedly; raises to cancel.

    Returns:
        (line, u, q) of each waypoint after the start, and the last rung if the path ends before the
        last line does.
    """
    task = _Task(prepared, link, len(prepared.columns.v) - redundancy(prepared, link), largest_step)
    lines = [i for i, size in enumerate(sizes) if size > 0]
    ladder = [Rung(lines[0], 0.0, pose(lines[0], 0.0), prepared.entry[None])]
    # Grow the ladder rung by rung, up to the first rung that cannot be reached.
    ladder[0].q = _spread(task, ladder[0].pose, ladder[0].q)
    ended: Rung | None = None
    for line in lines:
        us = np.linspace(0, 1, max(8, math.ceil(sizes[line] / _SPACING)) + 1)[1:]
        for u in us:
            go_on()
            if not _grow(task, ladder, line, float(u), pose):
                ended = ladder[-1]
                break
        if ended is not None:
            break
    # Prove the cheapest chains. If all of them fail, drop the last rung.
    while len(ladder) > 1:
        for _ in range(_CHAINS):
            go_on()
            chain = _cheapest(task, ladder)
            if chain is None:
                break
            points = _proven(task, ladder, chain, pose, edge)
            if points is not None:
                return points, ended
        ladder.pop()
        ended = ladder[-1]
    return [], ladder[0]


def _spread(task: _Task, pose: FloatArray, q: FloatArray) -> FloatArray:
    """Extend the configurations q (m, n_q) with this pose by motion in the null space."""
    free = len(task.prepared.columns.v) - task.rank
    step, most = _SPREAD.get(free, _SPREAD_MANY), _MOST.get(free, _MOST_MANY)
    columns = list(task.prepared.columns.q)
    known = q
    frontier = q
    while len(frontier) and len(known) < most:
        directions = step * task.directions(frontier)
        k = directions.shape[1]
        trial = np.repeat(frontier, 2 * k, axis=0)
        trial[:, columns] += np.concatenate([directions, -directions], axis=1).reshape(
            -1, len(columns)
        )
        found, ok = task.project(pose, trial)
        ok &= np.abs(task.moves(trial, found)).max(axis=1) <= step
        frontier = _new(task, known, found[ok], 0.6 * step)
        known = np.concatenate([known, frontier])[:most]
    return known


def _new(task: _Task, known: FloatArray, q: FloatArray, apart: float) -> FloatArray:
    """Select the q that are free, and `apart` from the known ones and from each other."""
    if not len(q):
        return q
    gaps = np.linalg.norm(task.moves(known[None], q[:, None]), axis=2)
    q = q[gaps.min(axis=1) >= apart]
    keep: list[int] = []
    between = np.linalg.norm(task.moves(q[None], q[:, None]), axis=2)
    for i in range(len(q)):
        if not keep or between[i, keep].min() >= apart:
            keep.append(i)
    q = q[keep]
    return q[~task.prepared.scene.collides_many(q)] if len(q) else q


def _grow(
    task: _Task, ladder: list[Rung], line: int, u: float, pose: Callable[[int, float], FloatArray]
) -> bool:
    """Add the rung at u of a line, with rungs between as needed.

    Returns False if no configuration leads there.
    """
    begin = ladder[-1].u if ladder[-1].line == line else 0.0
    at, gap = begin, u - begin
    while at < u - 1e-12:
        target = min(at + gap, u)
        X = pose(line, target)
        before = ladder[-1].q
        found, ok = task.project(X, before)
        ok &= np.abs(task.moves(before, found)).max(axis=1) <= task.largest_step
        # Shortest moves first: among configurations near each other, the one that continues best is
        # kept.
        order = np.argsort(np.linalg.norm(task.moves(before, found), axis=1)[ok], kind="stable")
        free = len(task.prepared.columns.v) - task.rank
        q = _new(
            task,
            np.full((1, before.shape[1]), np.inf),
            found[ok][order],
            0.5 * _SPREAD.get(free, _SPREAD_MANY),
        )
        if not len(q):
            gap /= 2
            if gap < (u - begin) / 2**_HALVINGS:
                return False
            continue
        ladder.append(Rung(line, target, X, _spread(task, X, q)))
        at = target
    return True


def _cheapest(task: _Task, ladder: list[Rung]) -> list[tuple[int, int]] | None:
    """Return the chain with the least joint motion to the last rung, or None.

    The chain is a list of (rung, configuration).
    """
    first = ladder[0]
    cost, before = _in_rung(task, first)
    parents: list[NDArray[np.int_]] = []
    for a, b in pairwise(ladder):
        moves = task.moves(a.q[:, None], b.q[None])
        way = np.linalg.norm(moves, axis=2)
        way[np.abs(moves).max(axis=2) > task.largest_step] = np.inf
        for i, j in a.blocked:
            if j >= 0:
                way[i, j] = np.inf
        total = cost[:, None] + way
        parents.append(total.argmin(axis=0))
        cost = total.min(axis=0)
    if not np.isfinite(cost).any():
        return None
    at = int(cost.argmin())
    chain = [(len(ladder) - 1, at)]
    for k in range(len(ladder) - 2, -1, -1):
        at = int(parents[k][at])
        chain.append((k, at))
    while before[at] >= 0:
        at = int(before[at])
        chain.append((0, at))
    return chain[::-1]


def _in_rung(task: _Task, rung: Rung) -> tuple[FloatArray, NDArray[np.int_]]:
    """Distances (m,) from configuration 0 to all others of a rung, and predecessors.

    Dijkstra's algorithm.
    """
    free = len(task.prepared.columns.v) - task.rank
    gaps = np.linalg.norm(task.moves(rung.q[:, None], rung.q[None]), axis=2)
    gaps[gaps > 1.7 * _SPREAD.get(free, _SPREAD_MANY)] = np.inf
    for i, j in rung.blocked:
        if j < 0:  # within the rung
            gaps[i, -1 - j] = gaps[-1 - j, i] = np.inf
    cost = np.full(len(rung.q), np.inf)
    before = np.full(len(rung.q), -1)
    done = np.zeros(len(rung.q), dtype=bool)
    cost[0] = 0.0
    while True:
        at = int(np.where(done, np.inf, cost).argmin())
        if done[at] or not np.isfinite(cost[at]):
            return cost, before
        done[at] = True
        shorter = cost[at] + gaps[at] < cost
        cost[shorter] = cost[at] + gaps[at][shorter]
        before[shorter] = at


def _proven(
    task: _Task,
    ladder: list[Rung],
    chain: list[tuple[int, int]],
    pose: Callable[[int, float], FloatArray],
    edge: Edge,
) -> list[tuple[int, float, FloatArray]] | None:
    """Convert a chain to waypoints whose edges are all allowed.

    The chain is smoothed first if its edges are then allowed, too. None: an edge was blocked.
    """
    q = np.array([ladder[k].q[i] for k, i in chain])
    rungs = [ladder[k] for k, _ in chain]

    def fine(q: FloatArray) -> list[tuple[int, float, FloatArray]] | int:
        points: list[tuple[int, float, FloatArray]] = []
        for k in range(1, len(q)):
            begin, end = rungs[k - 1], rungs[k]
            u = begin.u if begin.line == end.line else 0.0
            between = _edge(task, end.line, (u, q[k - 1]), (end.u, q[k]), pose, edge, _DEEPEST)
            if between is None:
                return k
            points += between
        return points

    smooth = fine(_smoothed(task, rungs, q))
    if not isinstance(smooth, int):
        return smooth
    plain = fine(q)
    if not isinstance(plain, int):
        return plain
    (rung, i), (to, j) = chain[plain - 1], chain[plain]
    ladder[rung].blocked.add((i, j) if rung != to else (i, -1 - j))
    return None


def _smoothed(task: _Task, rungs: list[Rung], q: FloatArray) -> FloatArray:
    """Move configurations to the middle of their neighbors where possible.

    Even and odd ones move in turns.
    """
    q = q.copy()
    poses = np.array([rung.pose for rung in rungs])
    for sweep in range(2 * _SMOOTHINGS):
        k = np.arange(1 + sweep % 2, len(q) - 1, 2)
        if not len(k):
            continue
        found, ok = task.project(poses[k], 0.5 * (q[k - 1] + q[k + 1]))
        for other in (q[k - 1], q[k + 1]):
            ok &= np.abs(task.moves(found, other)).max(axis=1) <= task.largest_step
        ok &= ~task.prepared.scene.collides_many(found)
        q[k[ok]] = found[ok]
    return q


def _edge(
    task: _Task,
    line: int,
    begin: tuple[float, FloatArray],
    end: tuple[float, FloatArray],
    pose: Callable[[int, float], FloatArray],
    edge: Edge,
    depth: int,
) -> list[tuple[int, float, FloatArray]] | None:
    """Return waypoints after `begin` up to `end`, with intermediate ones that make edges allowed.

    None: there are none.
    """
    (ua, qa), (ub, qb) = begin, end
    allowed, may_be_halved = edge(line, qa, qb)
    if allowed:
        return [(line, ub, qb)]
    if depth == 0 or not may_be_halved:
        return None
    u = 0.5 * (ua + ub)
    found, ok = task.project(pose(line, u), 0.5 * (qa + qb)[None])
    if not ok[0] or np.abs(task.moves(qa, qb)).max() < 1e-6:
        return None
    # The intermediate configuration has to lie between, or halving does not end.
    if max(
        np.linalg.norm(task.moves(qa, found[0])), np.linalg.norm(task.moves(found[0], qb))
    ) > 0.9 * np.linalg.norm(task.moves(qa, qb)):
        return None
    first = _edge(task, line, begin, (u, found[0]), pose, edge, depth - 1)
    if first is None:
        return None
    second = _edge(task, line, (u, found[0]), end, pose, edge, depth - 1)
    return None if second is None else first + second
