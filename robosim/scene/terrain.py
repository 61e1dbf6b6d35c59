"""Terrain: heights over a grid, as the closed surface of a block with sides and bottom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import GeometryError, SceneError
from robosim.geometry import HeightField, TriangleMesh

__all__ = ["DEFAULT_DEPTH", "Terrain", "checked_terrain", "terrain_mesh"]

DEFAULT_DEPTH = 1.0  # [m]


@dataclass(frozen=True, eq=False)
class Terrain:
    """Heights (n_x, n_y) [m] over a grid.

    The height heights[i, j] is at x = i spacing[0], y = j spacing[1] of the terrain's frame.

    The terrain is solid from there down to `depth` [m] below the lowest height.
    """

    heights: NDArray[np.float64]
    spacing: tuple[float, float]
    depth: float = DEFAULT_DEPTH


def checked_terrain(heights: ArrayLike, spacing: ArrayLike, depth: float, what: str) -> Terrain:
    """Convert numbers to terrain, which `terrain_mesh` checks further; SceneError naming `what`."""
    try:
        H, d = np.array(heights, dtype=np.float64), np.asarray(spacing, dtype=np.float64)
        depth = float(depth)
    except (TypeError, ValueError):
        raise SceneError(f"{what}: heights, spacing and depth must be numbers") from None
    if d.shape not in ((), (2,)):
        raise SceneError(f"{what}: spacing must be one number or two, found shape {d.shape}")
    dx, dy = np.broadcast_to(d, (2,)).tolist()
    return Terrain(H, (dx, dy), depth)


def terrain_mesh(terrain: Terrain) -> TriangleMesh:
    """Return the closed surface of terrain.

    Faces 0, 1, ... are the triangles of `robosim.geometry.HeightField`, followed by those of the
    sides and the bottom.

    Raises:
        GeometryError: heights, spacing or depth are not valid.
    """
    field = HeightField(terrain.heights, np.asarray(terrain.spacing))  # checks heights and spacing
    H, (dx, dy), depth = field.heights, terrain.spacing, terrain.depth
    if not 1e-9 <= depth <= 1e6:
        raise GeometryError(f"terrain: depth is {depth} m; it must be from 1e-9 to 1e6 m")
    n_x, n_y = H.shape
    x, y = np.arange(n_x) * dx, np.arange(n_y) * dy
    top = np.column_stack([np.repeat(x, n_y), np.tile(y, n_x), H.reshape(-1)])
    number = np.arange(n_x * n_y).reshape(n_x, n_y)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    lower, upper = np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)
    surface = np.stack([lower, upper], axis=2).reshape(-1, 3)

    # Indices around the border, counter-clockwise from above, and a copy of its points at the
    # bottom.
    ring = np.concatenate([number[:-1, 0], number[-1, :-1], number[:0:-1, -1], number[0, :0:-1]])
    low = top[ring]
    low[:, 2] = H.min() - depth
    middle = [[x[-1] / 2, y[-1] / 2, H.min() - depth]]
    A = len(top) + np.arange(len(ring))
    B, after = np.roll(A, -1), np.roll(ring, -1)
    sides = np.concatenate([np.stack([A, B, after], axis=1), np.stack([A, after, ring], axis=1)])
    bottom = np.stack([np.full(len(ring), len(top) + len(ring)), B, A], axis=1)
    return TriangleMesh(
        np.concatenate([top, low, middle]), np.concatenate([surface, sides, bottom])
    )
