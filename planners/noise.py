"""Negligible differences: points that almost coincide, and velocities that are noise.

Points and poses pass through files, messages in single precision, degrees with six digits and
measurements, and then differ slightly from the originals. A path through both would turn on the
spot in steps that no drive resolves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["NEAR", "RESTING", "is_at_rest", "merged"]

FloatArray = NDArray[np.float64]
# Points nearer to each other than this are merged [Euclidean metric of q: rad, m]: the accuracy of
# inverse kinematics, and the size of the smallest blend (engine/planning/blend.cpp). At a reach of
# a meter it is a micrometer, a twentieth of the repeatability of arms.
NEAR = 1e-6
# A joint slower than this is at rest [rad/s, m/s]: one turn in ten weeks, below the last digit of
# measured velocities.
RESTING = 1e-6


def is_at_rest(velocity: FloatArray) -> bool:
    """True if no coordinate moves faster than noise."""
    return bool((np.abs(velocity) < RESTING).all())


def merged(
    path: FloatArray, columns: Sequence[int], marks: Sequence[int] = (), *, first: int = 0
) -> tuple[FloatArray, list[int]]:
    """Merge points of a path (p, n_q) that almost coincide, and return the marks' indices, too.

    A point less than NEAR from the last kept point is removed, so the path still passes every point
    within NEAR. The first and the last point always keep their values, even if they are the only
    two and nearer to each other.

    Args:
        path: (p, n_q) waypoints.
        columns: entries of q that move; the distance is Euclidean over them.
        marks: increasing indices of points; for merged points, of the point that replaces them.
        first: points up to this index are kept as they are.
    """
    x = path[:, list(columns)]
    if len(path) < 2 or (np.linalg.norm(np.diff(x, axis=0), axis=1) >= NEAR).all():
        return path, list(marks)

    def near(i: int, j: int) -> bool:
        return bool(np.linalg.norm(x[i] - x[j]) < NEAR)

    last = len(path) - 1
    # kept[stand_in[i]] replaces point i.
    kept, stand_in = list(range(first + 1)), list(range(first + 1))
    for i in range(first + 1, len(path)):
        if not near(i, kept[-1]):
            kept.append(i)
        stand_in.append(len(kept) - 1)
    if kept[-1] != last:  # the end replaces points near it
        while len(kept) > first + 1 and near(kept[-1], last):
            kept.pop()
        if (x[kept[-1]] != x[last]).any():
            kept.append(last)
    return path[kept], sorted({min(stand_in[mark], len(kept) - 1) for mark in marks})
