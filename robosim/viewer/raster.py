"""Depth buffers of the nearest triangle or ball at each pixel, drawn by the engine on the CPU.

    nearness w = 1 / depth (perspective) or -depth + const (parallel):
    affine in pixel coordinates, larger is nearer, positive.

Pixel (row i, column j) is sampled at its center (j + 1/2, i + 1/2). Rows run downwards. Both sides
of a triangle are visible. Cost: some 30 ns per small triangle or ball, and 0.5 ns per covered
pixel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robosim import _engine

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NO_POINTS, _NO_RADII = np.empty((0, 3)), np.empty(0)


@dataclass(frozen=True)
class Buffer:
    """Depth buffer of a camera, (height, width).

    For each pixel the number of the nearest triangle or ball, -1 for none, and its nearness, 0 for
    none. Triangles are numbered first, then balls.
    """

    face: NDArray[np.int32]
    nearness: NDArray[np.float32]


def rasterize(
    corners: NDArray[np.float64],
    width: int,
    height: int,
    *,
    centers: NDArray[np.float64] = _NO_POINTS,
    radii: NDArray[np.float64] = _NO_RADII,
    focal: float = 1.0,
    near: float = 0.01,
) -> Buffer:
    """Draw triangles and balls into a depth buffer.

    Args:
        corners: (m, 3, 3) pixel coordinates x, y and nearness (positive, finite) of each triangle's
            corners.
        width, height: size of the picture in pixels.
        centers: (k, 3) centers of balls in the camera frame: x right, y down, z forwards [m];
            nearness is 1 / z.
        radii: (k,) radii of balls [m]. A ball smaller than a pixel covers the pixel around its
            center.
        focal: focal length of the camera in pixels, for balls. The line of sight is at the
            picture's center.
        near: balls that reach nearer than this are omitted [m].

    Returns:
        The nearest triangle or ball at each pixel; the first if several are equally near.
    """
    return Buffer(*_engine.draw_picture(corners, centers, radii, width, height, focal, near))


def clip_near(
    triangles: NDArray[np.float64], near: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Clip triangles to depths of at least `near`.

    Args:
        triangles: (m, 3, 3) corners in the camera frame: x right, y down, z forwards [m].
        near: smallest depth kept [m].

    Returns:
        The remaining triangles (k, 3, 3) and, for each, the index of the triangle that it is (part
            of).
    """
    inside = triangles[:, :, 2] >= near
    n_in = inside.sum(axis=1)
    whole = np.flatnonzero(n_in == 3)
    parts, sources = [triangles[whole]], [whole]
    for n in (1, 2):
        cut = np.flatnonzero(n_in == n)
        if len(cut) == 0:
            continue
        # Rotate the odd corner to the front: the only one inside (n = 1) or outside (n = 2).
        odd = np.argmax(inside[cut] == (n == 1), axis=1)
        a, b, c = (triangles[cut, (odd + k) % 3] for k in range(3))
        ab = a + (b - a) * ((near - a[:, 2]) / (b[:, 2] - a[:, 2]))[:, None]
        ac = a + (c - a) * ((near - a[:, 2]) / (c[:, 2] - a[:, 2]))[:, None]
        pieces = [(a, ab, ac)] if n == 1 else [(ab, b, c), (ab, c, ac)]
        for piece in pieces:
            parts.append(np.stack(piece, axis=1))
            sources.append(cut)
    return np.concatenate(parts), np.concatenate(sources)
