"""Collision shapes, poses, and how two posed shapes lie to each other.

A pose `X_WB` is a (4, 4) homogeneous matrix that maps coordinates in frame B to W. `Shape` describes a convex
body in its own frame by full sizes in metres, `Shape.box(size)` for example; `shape_sizes` lists the types of shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import _engine
from robosim._engine import Shape
from robosim.errors import GeometryError

__all__ = [
    "Shape",
    "Witness",
    "bounding_ball",
    "bounding_box",
    "collide",
    "pose",
    "pose_to_xyz_quaternion",
    "shape_sizes",
    "signed_distance",
]

Array = NDArray[np.float64]


class Witness(NamedTuple):
    """How the closest features of two shapes A and B lie, in W.

    `p_WB - p_WA = distance * normal`. Where the nearest points are not unique (parallel faces, coincident centres),
    one pair of them is given.
    """

    distance: float
    """Signed [m]: the gap, or minus the length of the shortest translation that separates overlapping shapes."""
    p_WA: Array
    """Nearest (when overlapping: deepest) point of A, (3,) [m]."""
    p_WB: Array
    """The same of B, (3,) [m]."""
    normal: Array
    """Unit vector from A to B, (3,)."""


def shape_sizes() -> dict[str, dict[str, str]]:
    """The types of shapes, each with its sizes: name and kind, in the order of the constructor's arguments.

    `Shape.<type>(...)` takes them, a shape has them as attributes, scene files as keys. Kinds: "number" (float),
    "vector" ((3,)) and "points" ((n, 3)), all in metres.

    Example:
        >>> shape_sizes()["capsule"]
        {'radius': 'number', 'length': 'number'}
    """
    return _engine.shape_sizes()


def signed_distance(A: Shape, X_WA: ArrayLike, B: Shape, X_WB: ArrayLike) -> Witness:
    """Signed distance of two posed shapes, with the points that attain it.

    Args:
        A: the first shape.
        X_WA: its pose, (4, 4).
        B: the second shape.
        X_WB: its pose, (4, 4).

    Returns:
        Distance [m], negative inside; exact to rounding for polytopes and for the pairs in closed form, to about
        1e-9 m where a curved surface takes part (that of a cylinder, cone or ellipsoid; the points of such an overlap
        to 1e-7 m, on shapes of about 1 m). Two half-spaces overlap without end (distance -inf) unless they face
        each other.

    Raises:
        GeometryError: a pose is not a rigid (4, 4) matrix of finite numbers.
    """
    return Witness(*_engine.signed_distance(A, X_WA, B, X_WB))


def collide(A: Shape, X_WA: ArrayLike, B: Shape, X_WB: ArrayLike, *, margin: float = 0.0) -> bool:
    """Whether two posed shapes are closer than `margin` [m] (zero or more): by default, whether they overlap.

    Cheaper than `signed_distance`. Shapes that just touch do not overlap; rounding decides within about 1e-14 of
    their size.

    Raises:
        GeometryError: a pose is not a rigid (4, 4) matrix of finite numbers, or margin is negative.
    """
    return _engine.closer_than(margin, A, X_WA, B, X_WB)


def bounding_ball(shape: Shape) -> tuple[Array, float]:
    """Centre (3,) and radius [m], in the shape's frame, of the smallest ball around it; infinite for a half-space."""
    return _engine.bounding_ball(shape)


def bounding_box(shape: Shape, X_WS: ArrayLike) -> tuple[Array, Array]:
    """Lower and upper corner (3,) [m] in W of the smallest axis-aligned box around a shape at pose X_WS (4, 4)."""
    return _engine.bounding_box(shape, X_WS)


def pose(
    xyz: Sequence[float] | Array = (0.0, 0.0, 0.0),
    rpy: Sequence[float] | Array | None = None,
    quaternion: Sequence[float] | Array | None = None,
) -> Array:
    """Pose from a position and, optionally, an orientation.

    Args:
        xyz: position [m], (3,).
        rpy: roll, pitch, yaw [rad] about the fixed axes x, y, z, as in URDF: R = Rz(yaw) Ry(pitch) Rx(roll).
        quaternion: x, y, z, w; scaled to unit length.

    Returns:
        (4, 4) homogeneous matrix.

    Raises:
        GeometryError: a value is not finite or of the wrong shape, the quaternion is zero, or both orientations are
            given.
    """
    X = np.eye(4)
    X[:3, 3] = _numbers("xyz", xyz, 3)
    if rpy is not None and quaternion is not None:
        raise GeometryError("pose: give rpy or quaternion, not both")
    if rpy is not None:
        (sr, sp, sy), (cr, cp, cy) = (f(_numbers("rpy", rpy, 3)) for f in (np.sin, np.cos))
        X[:3, :3] = [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    if quaternion is not None:
        q = _numbers("quaternion", quaternion, 4)
        largest = np.abs(q).max()
        if largest == 0:
            raise GeometryError("pose: quaternion is zero; x y z w of any positive length is needed")
        q = q / largest  # neither overflows nor underflows when squared
        x, y, z, w = q / np.sqrt(q @ q)
        X[:3, :3] = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    return X


def pose_to_xyz_quaternion(X: ArrayLike) -> tuple[Array, Array]:
    """Position (3,) [m] and unit quaternion (4,) x, y, z, w with w >= 0 of a pose (4, 4).

    Raises:
        GeometryError: X is not a rigid (4, 4) matrix of finite numbers (rotation orthonormal to 1e-6).
    """
    try:
        X = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise GeometryError(f"{X!r} is not a pose: a (4, 4) array of numbers is needed") from None
    rigid = X.shape == (4, 4) and bool(np.isfinite(X).all()) and np.array_equal(X[3], (0, 0, 0, 1))
    R = X[:3, :3] if rigid else np.zeros((3, 3))
    if not (np.abs(R @ R.T - np.eye(3)).max() < 1e-6 and np.linalg.det(R) > 0):
        raise GeometryError(f"not a pose: a rigid (4, 4) matrix is needed, got\n{X}")
    # Columns of 4 q q^T; the one with the largest diagonal entry loses no digits (Shepperd 1978).
    xx, yy, zz = np.diag(R)
    K = np.empty((4, 4))
    K[:3, :3] = R + R.T
    np.fill_diagonal(K, (1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz, 1 + xx + yy + zz))
    K[3, :3] = K[:3, 3] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    q = K[np.argmax(np.diag(K))]
    q = q / np.linalg.norm(q)
    return X[:3, 3].copy(), -q if q[3] < 0 else q


def _numbers(name: str, values: ArrayLike, n: int) -> Array:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise GeometryError(f"pose: {name} is {values!r}; {n} numbers are needed") from None
    if array.shape != (n,) or not np.isfinite(array).all():
        raise GeometryError(f"pose: {name} is {values!r}; {n} finite numbers are needed")
    return array
