"""What differs by less than can matter: points that all but coincide, and velocities that are
noise.

Points and poses come back from files, messages in single precision, degrees with six digits and
measurements, and are then not quite what they were. A path through both would turn on the spot in
steps that no drive resolves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["NEAR", "RESTING", "is_at_rest", "merged"]

FloatArray = NDArray[np.float64]
# Points nearer to each other than this are one [Euclidean metric of q: rad, m]: the accuracy of
# inverse kinematics, and the size of the smallest rounded corner (engine/planning/blend.cpp). At a
# meter's reach it is a micrometer, a twentieth of what arms repeat.
NEAR = 1e-6
# A joint slower than this stands still [rad/s, m/s]: a turn in ten weeks, below the last digit of
# measured velocities.
RESTING = 1e-6


def is_at_rest(velocity: FloatArray) -> bool:
    """Whether no coordinate moves faster than noise."""
    return bool((np.abs(velocity) < RESTING).all())


def merged(
    path: FloatArray, columns: Sequence[int], marks: Sequence[int] = (), *, first: int = 0
) -> tuple[FloatArray, list[int]]:
    """The path (p, n_q) without points that all but repeat the one before, and where the marked
    points are in it.

    A point less than NEAR from the last one that was kept is left out: the path still passes every
    point within NEAR. The first and the last point always keep their values, even where they are
    the only two and nearer to each other.

    Args:
        path: (p, n_q) waypoints.
        columns: entries of q that move; the distance is Euclidean over them.
        marks: increasing indices of points; of merged ones, that of the point that stands for them.
        first: points up to this index are kept as they are.
    """
    x = path[:, list(columns)]
    if len(path) < 2 or (np.linalg.norm(np.diff(x, axis=0), axis=1) >= NEAR).all():
        return path, list(marks)

    def near(i: int, j: int) -> bool:
        return bool(np.linalg.norm(x[i] - x[j]) < NEAR)

    last = len(path) - 1
    # kept[stand_in[i]] stands for point i.
    kept, stand_in = list(range(first + 1)), list(range(first + 1))
    for i in range(first + 1, len(path)):
        if not near(i, kept[-1]):
            kept.append(i)
        stand_in.append(len(kept) - 1)
    if kept[-1] != last:  # the end stands for what is near it
        while len(kept) > first + 1 and near(kept[-1], last):
            kept.pop()
        if (x[kept[-1]] != x[last]).any():
            kept.append(last)
    return path[kept], sorted({min(stand_in[mark], len(kept) - 1) for mark in marks})
