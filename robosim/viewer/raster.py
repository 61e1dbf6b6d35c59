"""Which triangle or ball does each pixel see? Depth buffers of the engine: no window, no GPU, no
browser.

    nearness w = 1 / depth (perspective) or -depth + const (parallel): affine in pixel coordinates,
    larger is
    nearer, positive.

Pixel (row i, column j) is sampled at its center (j + 1/2, i + 1/2); rows run downwards. Both sides
of a triangle are seen. Cost: some 30 ns for a small triangle or ball, and 0.5 ns for each pixel
that it covers.
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
    """What a camera sees: for each pixel of (height, width) the nearest thing's number, -1 for
    none, and its nearness, 0 for none. Triangles are numbered first, then balls.
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
        corners: (m, 3, 3), for each triangle and corner its pixel coordinates x, y and its nearness
            (positive, finite).
        width, height: size of the picture in pixels.
        centers: (k, 3) of balls in the frame of the camera: x right, y down, z forwards [m];
            nearness is 1 / z.
        radii: (k,) of balls [m]. A ball smaller than a pixel covers that about its center.
        focal: the camera's focal length in pixels, its line of sight in the middle of the picture;
            for balls.
        near: balls that reach nearer than this are left out [m].

    Returns:
        The nearest triangle or ball at each pixel; of equally near ones the first.
    """
    return Buffer(*_engine.draw_picture(corners, centers, radii, width, height, focal, near))


def clip_near(
    triangles: NDArray[np.float64], near: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Cut away what lies nearer than `near` (or behind the eye).

    Args:
        triangles: (m, 3, 3) corners in the camera's frame: x right, y down, z forwards [m].
        near: smallest depth kept [m].

    Returns:
        The remaining triangles (k, 3, 3) and, for each, the index of the triangle that it is (a
            part of).
    """
    inside = triangles[:, :, 2] >= near
    n_in = inside.sum(axis=1)
    whole = np.flatnonzero(n_in == 3)
    parts, sources = [triangles[whole]], [whole]
    for n in (1, 2):
        cut = np.flatnonzero(n_in == n)
        if len(cut) == 0:
            continue
        # Rotate the odd corner out to the front: the only one inside (n = 1) or outside (n = 2).
        odd = np.argmax(inside[cut] == (n == 1), axis=1)
        a, b, c = (triangles[cut, (odd + k) % 3] for k in range(3))
        ab = a + (b - a) * ((near - a[:, 2]) / (b[:, 2] - a[:, 2]))[:, None]
        ac = a + (c - a) * ((near - a[:, 2]) / (c[:, 2] - a[:, 2]))[:, None]
        pieces = [(a, ab, ac)] if n == 1 else [(ab, b, c), (ab, c, ac)]
        for piece in pieces:
            parts.append(np.stack(piece, axis=1))
            sources.append(cut)
    return np.concatenate(parts), np.concatenate(sources)
