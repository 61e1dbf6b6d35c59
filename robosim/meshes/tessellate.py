"""Closed triangle meshes inscribed in the bounded shapes: for exact overlap tests between meshes and primitives.

Round surfaces are inscribed polyhedra of 32 segments: they lie inside the shape, off by at most r (1 - cos(pi /
    32)) = 0.005 r.
"""

from __future__ import annotations

import numpy as np

from robosim.geometry import Shape
from robosim.meshes.hull import convex_hull
from robosim.meshes.mesh import TriangleMesh

__all__ = ["support_hull", "tessellated"]

_SEGMENTS = 32


def tessellated(shape: Shape) -> TriangleMesh:
    """A mesh of a bounded shape, in the shape's frame; GeometryError for a half-space."""
    kind = str(shape.type)
    if kind == "convex":
        return TriangleMesh(np.asarray(shape.vertices), np.asarray(shape.faces, dtype=np.int64))
    if kind == "box":
        signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T
        return convex_hull(signs * np.asarray(shape.size) / 2)
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
    """The hull of a bounded shape's farthest points in the directions of a globe: meridians 2 pi / `segments` apart.

    It lies inside the shape and serves any type of shape; those whose form is known are meshed better without it.

    Raises:
        GeometryError: the shape is unbounded.
    """
    longitude = 2 * np.pi * np.arange(segments) / segments
    latitude = np.pi * (np.arange(1, max(segments // 2, 2)) / max(segments // 2, 2) - 0.5)
    lon, lat = (grid.ravel() for grid in np.meshgrid(longitude, latitude))
    globe = np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    return convex_hull(shape.support(np.vstack([globe, [[0, 0, -1], [0, 0, 1]]])))
