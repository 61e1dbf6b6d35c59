"""Convex hulls (Qhull), optionally with fewer vertices and still containing all points.

Flat or thread-like meshes have no volume. They are thickened by 0.2 mm in each missing direction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robosim.errors import MeshError
from robosim.meshes.mesh import TriangleMesh

__all__ = ["convex_hull"]

_HALF_THICKNESS = 1e-4  # [m]
_FLAT = 1e-7  # relative to the largest extent; a thinner extent is flat


def convex_hull(points: NDArray[np.float64], *, max_vertices: int | None = None) -> TriangleMesh:
    """Compute the convex hull of points, as a closed triangle mesh with outward faces.

    Args:
        points: (n, 3) [m].
        max_vertices: if the hull has more, select a subset of its vertices by farthest-point
            sampling, and scale the subset's hull about its centroid until it contains all points.
            The result is an outer approximation, so no collision is missed.

    Raises:
        MeshError: there are no two distinct points, or a point is not finite.
    """
    points = np.asarray(points, dtype=np.float64)
    if (
        points.ndim != 2
        or points.shape[1] != 3
        or len(points) == 0
        or not np.all(np.isfinite(points))
    ):
        raise MeshError(f"a convex hull needs finite points of shape (n, 3), not {points.shape}")
    if max_vertices is not None and max_vertices < 4:
        raise MeshError(f"a convex hull needs at least 4 vertices, not max_vertices={max_vertices}")
    hull = _qhull(_thickened(points))
    if max_vertices is None or len(hull.vertices) <= max_vertices:
        return hull
    return _reduced(hull, max_vertices)


def _thickened(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the points, with offset copies to both sides in directions without extent."""
    centered = points - points.mean(axis=0)
    directions = np.linalg.eigh(centered.T @ centered)[1].T
    extents = np.ptp(centered @ directions.T, axis=0)
    if extents.max() == 0.0:
        raise MeshError("all vertices coincide: a single point has no convex hull")
    for direction, extent in zip(directions, extents, strict=True):
        if extent <= _FLAT * extents.max():
            points = np.vstack(
                [points - _HALF_THICKNESS * direction, points + _HALF_THICKNESS * direction]
            )
    return points


def _qhull(points: NDArray[np.float64]) -> TriangleMesh:
    """Qhull's triangles, oriented outward and indexing the hull's own vertices (in input order)."""
    # Slow to import, and not needed if the result is cached.
    from scipy.spatial import ConvexHull, QhullError

    # Qhull works with absolute tolerances: scale the points to unit size, so that small meshes keep
    # their shape.
    center, size = points.mean(axis=0), float(np.ptp(points, axis=0).max())
    try:
        hull = ConvexHull((points - center) / size)
    except (QhullError, ValueError) as e:
        raise MeshError(f"no convex hull: {str(e).splitlines()[0]}") from None
    faces = hull.simplices.astype(np.int64)
    corners = hull.points[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ij,ij->i", normals, hull.equations[:, :3]) < 0
    faces[inward] = faces[inward, ::-1]
    used, renumbered = np.unique(faces, return_inverse=True)
    return TriangleMesh(points[used], renumbered.reshape(-1, 3).astype(np.int64))


def _reduced(hull: TriangleMesh, max_vertices: int) -> TriangleMesh:
    """Farthest-point subset of the vertices, scaled about its centroid to contain the hull."""
    vertices = hull.vertices
    chosen = [int(np.argmax(np.linalg.norm(vertices - vertices.mean(axis=0), axis=1)))]
    distance = np.linalg.norm(vertices - vertices[chosen[0]], axis=1)
    while len(chosen) < max_vertices:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(vertices - vertices[chosen[-1]], axis=1))
    core = _qhull(_thickened(vertices[chosen]))
    center = core.vertices.mean(axis=0)
    # The plane n.x = d of each face must move out to the farthest vertex. The scale is the largest
    # ratio over faces.
    corners = core.triangles
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    d = np.einsum("ij,ij->i", normals, corners[:, 0] - center)
    reach = ((vertices - center) @ normals.T).max(axis=0)
    proper = d > 0
    growth = max(1.0, float((reach[proper] / d[proper]).max()))
    return TriangleMesh(center + growth * (core.vertices - center), core.faces)
