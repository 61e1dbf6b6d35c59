"""Exact passing of a waypoint without stopping there.

Blending the corner of a path at a waypoint w would cut w off. So the path is led straight through w
instead: with unit directions u (in) and v (out), the points w - d t and w + d t with t = (u + v) /
|u + v| are inserted beside w. Only the corners at these two points are blended, each blend ends at
w at the latest, and the trajectory passes w exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robosim.planners.prepare import Prepared

__all__ = ["pass_through"]

FloatArray = NDArray[np.float64]
_LARGEST, _SMALLEST = 0.3, 0.01  # of d, in the Euclidean metric of q


def pass_through(
    prepared: Prepared, path: FloatArray, waypoints: Sequence[int], resolution: float
) -> tuple[FloatArray, list[int]]:
    """Replace inner waypoints by two points on a free straight line through each.

    Args:
        prepared: the problem.
        path: (p, n_q) free polyline.
        waypoints: increasing indices of waypoints to be passed exactly.
        resolution: [m] of the edge checks.

    Returns:
        The resulting path (p', n_q), and the indices in it of those waypoints where no straight
        line is free or the path reverses: the trajectory has to stop there.
    """
    points: list[FloatArray] = []
    stops: list[int] = []
    for i, q in enumerate(path):
        if i not in waypoints or i in (0, len(path) - 1):
            points.append(q)
            continue
        beside = _beside(prepared, points[-1], q, path[i + 1], resolution)
        if beside is None:
            stops.append(len(points))
            points.append(q)
        else:
            points += beside
    return np.array(points), stops


def _beside(
    prepared: Prepared, before: FloatArray, q: FloatArray, after: FloatArray, resolution: float
) -> list[FloatArray] | None:
    columns, scene = list(prepared.columns.q), prepared.scene
    into, out = q - before, after - q
    length_in, length_out = np.linalg.norm(into), np.linalg.norm(out)
    if min(length_in, length_out) < 2 * _SMALLEST:
        return None
    tangent = into / length_in + out / length_out
    if np.linalg.norm(tangent) < 0.1:  # nearly a reversal
        return None
    tangent /= np.linalg.norm(tangent)
    d = min(_LARGEST, length_in / 3, length_out / 3)
    while d >= _SMALLEST:
        a, b = q - d * tangent, q + d * tangent
        inside = all(
            ((prepared.columns.lower <= p[columns]) & (p[columns] <= prepared.columns.upper)).all()
            for p in (a, b)
        )
        ends = [(before, a), (a, b), (b, after)]
        if inside and all(scene.edge_free(p0, p1, resolution).free for p0, p1 in ends):
            return [a, b]
        d /= 2
    return None
