"""Perspective camera, and its framing of the visible content.

Camera frame C: x right, y down, z forwards. Pixel = focal * (x, y) / z + center.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Camera:
    """A perspective camera.

    Attributes:
        position: position of the eye in W (3,) [m].
        look_at: a point on the line of sight in W (3,) [m].
        fov: vertical field of view [rad].
    """

    position: NDArray[np.float64]
    look_at: NDArray[np.float64]
    fov: float = np.deg2rad(32.0)

    @property
    def R_WC(self) -> NDArray[np.float64]:
        """Axes of the camera frame in W, as columns. W's z axis is up in the picture."""
        forward = self.look_at - self.position
        return camera_axes(forward)

    def focal(self, height: int) -> float:
        """Focal length [pixels] of a picture of this height."""
        return float(height / 2 / np.tan(self.fov / 2))

    def project(self, points: NDArray[np.float64], width: int, height: int) -> NDArray[np.float64]:
        """Pixel coordinates and nearness 1 / depth of points (..., 3) in the camera frame.

        All points must be in front of the eye.
        """
        focal = self.focal(height)
        z = points[..., 2]
        return np.stack(
            [
                focal * points[..., 0] / z + width / 2,
                focal * points[..., 1] / z + height / 2,
                1 / z,
            ],
            axis=-1,
        )

    def rays(
        self, width: int, height: int, dtype: type[np.floating[Any]] = np.float64
    ) -> NDArray[Any]:
        """Direction in W (height, width, 3) through each pixel's center.

        The component along the line of sight is 1.
        """
        focal = self.focal(height)
        x = ((np.arange(width) + 0.5 - width / 2) / focal).astype(dtype)
        y = ((np.arange(height) + 0.5 - height / 2) / focal).astype(dtype)
        R = self.R_WC.astype(dtype)
        return np.asarray(x[None, :, None] * R[:, 0] + y[:, None, None] * R[:, 1] + R[:, 2])


def camera_axes(forward: NDArray[np.float64]) -> NDArray[np.float64]:
    """Camera axes in W for a line of sight: columns right, down, forwards.

    W's z axis is upright in the picture.
    """
    z = forward / np.linalg.norm(forward)
    up = np.array([0.0, 0.0, 1.0]) if abs(z[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
    x = np.cross(z, up)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def direction(azimuth: float, elevation: float) -> NDArray[np.float64]:
    """Line of sight of an eye at an azimuth and an elevation [rad].

    `azimuth` is about z, from x; `elevation` is above the horizon.
    """
    c = np.cos(elevation)
    return np.array([-c * np.cos(azimuth), -c * np.sin(azimuth), -np.sin(elevation)])


def fit(
    points: ArrayLike,
    forward: NDArray[np.float64],
    aspect: float,
    *,
    fov: float = np.deg2rad(32.0),
    margin: float = 0.06,
) -> Camera:
    """Find the nearest camera with this line of sight that has all points (n, 3) in the picture.

    In camera axes a point is inside the right border of a camera at c if x - c_x <= t (z - c_z),
    with t the tangent of half the field of view. Each border therefore needs only the largest x - t
    z (and so on) over the points, and two opposite borders determine c.

    Args:
        points: points that must be visible, in W [m].
        forward: line of sight in W.
        aspect: width / height of the picture.
        fov: vertical field of view [rad].
        margin: fraction of the picture left free at each border.
    """
    R = camera_axes(np.asarray(forward, dtype=float))
    x, y, z = (np.asarray(points, dtype=float) @ R).T
    ty = np.tan(fov / 2) * (1 - 2 * margin)
    tx = aspect * np.tan(fov / 2) * (1 - 2 * margin)
    right, left = np.max(x - tx * z), np.max(-x - tx * z)
    down, up = np.max(y - ty * z), np.max(-y - ty * z)
    depth = -max((right + left) / (2 * tx), (down + up) / (2 * ty))
    depth = min(depth, float(z.min()) - 0.05)
    eye = np.array([(right - left) / 2, (down - up) / 2, depth])
    target = np.array([eye[0], eye[1], (z.min() + z.max()) / 2])
    return Camera(R @ eye, R @ target, float(fov))
