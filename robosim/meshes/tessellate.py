"""Closed triangle meshes inscribed in bounded shapes, for exact overlap tests with meshes.

Round surfaces become inscribed polyhedra of 32 segments, which lie inside the shape. Their error is
at most r (1 - cos(pi / 32)) = 0.005 r.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robosim import geometry
from robosim.geometry import Shape
from robosim.meshes.hull import convex_hull
from robosim.meshes.mesh import TriangleMesh

__all__ = ["rounded_hull", "support_hull", "tessellated"]

_SEGMENTS = 32


def tessellated(shape: Shape | geometry.TriangleMesh) -> TriangleMesh:
    """Tessellate a bounded shape in its frame, or return a mesh itself.

    Raise GeometryError for a half-space.
    """
    if not isinstance(shape, Shape):
        return TriangleMesh(shape.vertices, shape.faces.astype(np.int64))
    kind = str(shape.type)
    if kind in ("box", "convex", "triangle") and shape.rounding > 0:
        return rounded_hull(shape, _SEGMENTS)
    if kind == "triangle":
        return TriangleMesh(np.asarray(shape.vertices), np.array([[0, 1, 2], [0, 2, 1]]))
    if kind == "convex":
        return TriangleMesh(np.asarray(shape.vertices), np.asarray(shape.faces, dtype=np.int64))
    if kind == "box":
        return convex_hull(_corners(shape))
    if kind not in ("sphere", "cylinder", "capsule", "ellipsoid", "cone"):
        return support_hull(shape, _SEGMENTS)
    radius = 1.0 if kind == "ellipsoid" else shape.radius
    turn = 2 * np.pi * np.arange(_SEGMENTS) / _SEGMENTS
    circle = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(_SEGMENTS)]) * radius
    if kind == "cylinder":
        shift = np.array([0, 0, shape.length / 2])
        return convex_hull(np.vstack([circle - shift, circle + shift]))
    if kind == "cone":
        shift = np.array([0, 0, shape.length / 2])
        return convex_hull(np.vstack([circle - shift, shift]))
    rise = np.pi * (np.arange(1, _SEGMENTS // 2) / (_SEGMENTS // 2) - 0.5)
    ball = np.vstack([circle * np.cos(r) + [0, 0, radius * np.sin(r)] for r in rise])
    ball = np.vstack([ball, [[0, 0, -radius], [0, 0, radius]]])
    if kind == "sphere":
        return convex_hull(ball)
    if kind == "ellipsoid":
        return convex_hull(ball * np.asarray(shape.radii))
    shift = np.array([0, 0, shape.length / 2])
    return convex_hull(np.vstack([ball - shift, ball + shift]))


def support_hull(shape: Shape, segments: int) -> TriangleMesh:
    """Convex hull of a bounded shape's support points in the directions of a globe.

    Meridians of the globe are 2 pi / `segments` apart. The hull lies inside the shape and works for
    every type of shape. Shapes with a known form are tessellated better without it.

    Raises:
        GeometryError: the shape is unbounded.
    """
    return convex_hull(shape.support(_globe(segments)))


def rounded_hull(shape: Shape, segments: int) -> TriangleMesh:
    """Convex hull of balls about the corners of a box, a convex mesh or a triangle with rounding.

    The balls are polyhedra with meridians 2 pi / `segments` apart, so the hull lies inside the
    shape.
    """
    ball = shape.rounding * _globe(segments)
    return convex_hull((_corners(shape)[:, None] + ball).reshape(-1, 3))


def _corners(shape: Shape) -> NDArray[np.float64]:
    if str(shape.type) != "box":
        return np.asarray(shape.vertices)
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T
    corners: NDArray[np.float64] = signs * np.asarray(shape.size) / 2
    return corners


def _globe(segments: int) -> NDArray[np.float64]:
    """Unit vectors on meridians and parallels, and at both poles."""
    longitude = 2 * np.pi * np.arange(segments) / segments
    latitude = np.pi * (np.arange(1, max(segments // 2, 2)) / max(segments // 2, 2) - 0.5)
    lon, lat = (grid.ravel() for grid in np.meshgrid(longitude, latitude))
    globe = np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    return np.vstack([globe, [[0, 0, -1], [0, 0, 1]]])
