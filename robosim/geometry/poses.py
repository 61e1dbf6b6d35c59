"""Poses as (4, 4) homogeneous matrices: `X_WB` maps coordinates in frame B to W."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import GeometryError

Array = NDArray[np.float64]


def pose(
    xyz: Sequence[float] | Array = (0.0, 0.0, 0.0),
    rpy: Sequence[float] | Array | None = None,
    quaternion: Sequence[float] | Array | None = None,
) -> Array:
    """Create a pose from a position and, optionally, an orientation.

    Args:
        xyz: position [m], (3,).
        rpy: roll, pitch, yaw [rad] about the fixed axes x, y, z, as in URDF: R = Rz(yaw) Ry(pitch)
            Rx(roll).
        quaternion: x, y, z, w; scaled to unit length.

    Returns:
        (4, 4) homogeneous matrix.

    Raises:
        GeometryError: a value is not finite or of the wrong shape, the quaternion is zero, or both
            orientations are given.
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
            raise GeometryError(
                "pose: quaternion is zero; x y z w of any positive length is needed"
            )
        q = q / largest  # neither overflows nor underflows when squared
        x, y, z, w = (q / np.sqrt(q @ q)).tolist()  # plain numbers are faster, one by one
        X[:3, :3] = np.array([
            (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
            (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
            (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
        ])  # fmt: skip
    return X


def pose_to_xyz_quaternion(X: ArrayLike) -> tuple[Array, Array]:
    """Position (3,) [m] and unit quaternion (4,) x, y, z, w with w >= 0 of a pose (4, 4).

    Raises:
        GeometryError: X is not a rigid (4, 4) matrix of finite numbers (rotation orthonormal to
            1e-6).
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
