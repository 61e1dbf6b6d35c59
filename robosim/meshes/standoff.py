"""Stand-off of convex pieces from the mesh that they approximate, and parts of the mesh outside.

    standoff  = max over points x of the pieces' outer surface of  dist(x, mesh surface)
    left_out  = max over mesh vertices y of  min over pieces of  max(0, height of y over that
              piece's highest face)

The stand-off is free space that counts as solid: 0 for a convex mesh, the depth of the deepest
pocket under a hull for a concave one. It is computed by sampling. Both surfaces are cut into
triangles whose center is at most r from each of their points, and nearest centers are compared.
dist(x, .) has Lipschitz constant 1, hence |sampled - exact| <= r, which is reported as
`resolution`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robosim.meshes.mesh import TriangleMesh

__all__ = ["Standoff", "hull_standoff", "left_out"]

_RESOLUTION = 1 / 150  # relative to the extent
_BLOCK = 2048


@dataclass(frozen=True)
class Standoff:
    """A sampled stand-off.

    Attributes:
        distance: largest distance found [m].
        resolution: largest difference of the exact value from `distance` [m].
    """

    distance: float
    resolution: float


def hull_standoff(pieces: Sequence[TriangleMesh], mesh: TriangleMesh) -> Standoff:
    """Compute the stand-off of the union of convex `pieces` from `mesh`.

    A hull is a list of one piece.
    """
    from scipy.spatial import cKDTree  # slow to import, and only needed here

    radius = _RESOLUTION * mesh.extent
    tree = cKDTree(_samples(mesh, radius)[0])
    distance = 0.0
    for i, piece in enumerate(pieces):
        samples, normals = _samples(piece, radius)
        # Only the outer surface of the union counts: drop samples whose tiny outward offset is in
        # another piece.
        for other in (*pieces[:i], *pieces[i + 1 :]):
            outer = _heights(other, samples + 1e-6 * mesh.extent * normals) > 0
            samples, normals = samples[outer], normals[outer]
        if len(samples):
            distance = max(distance, float(tree.query(samples)[0].max()))
    # A distance between centers below the resolution is indistinguishable from 0.
    return Standoff(distance if distance > radius else 0.0, radius)


def left_out(pieces: Sequence[TriangleMesh], mesh: TriangleMesh) -> float:
    """Compute how far a vertex of `mesh` lies outside all `pieces` [m].

    This is a lower bound of the distance.
    """
    points = mesh.used_vertices
    heights = np.full(len(points), np.inf)
    for piece in pieces:
        heights = np.minimum(heights, _heights(piece, points))
    return max(0.0, float(heights.max()))


def _heights(piece: TriangleMesh, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) height of each point above the convex piece's highest face plane; negative inside."""
    corners = piece.triangles
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    proper = lengths > 0
    normals = normals[proper] / lengths[proper, None]
    offsets = np.einsum("ij,ij->i", normals, corners[proper, 0])
    blocks = [
        (points[begin : begin + _BLOCK] @ normals.T - offsets).max(axis=1)
        for begin in range(0, len(points), _BLOCK)
    ]
    return np.concatenate(blocks) if blocks else np.empty(0)


def _samples(mesh: TriangleMesh, radius: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centers and unit normals of the mesh's triangles, subdivided to lie within `radius`.

    Each triangle is bisected at its longest edge until it lies within `radius` of its center.
    """
    triangles = mesh.triangles
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    centers, directions = [], []
    while len(triangles):
        center = triangles.mean(axis=1)
        large = np.linalg.norm(triangles - center[:, None], axis=2).max(axis=1) > radius
        centers.append(center[~large])
        directions.append(normals[~large])
        a, b, c = triangles[large].transpose(1, 0, 2)
        # Rotate each triangle's corners so that its longest edge is a-b, then bisect that edge.
        edges = np.stack(
            [
                np.linalg.norm(a - b, axis=1),
                np.linalg.norm(b - c, axis=1),
                np.linalg.norm(c - a, axis=1),
            ]
        )
        order = (edges.argmax(axis=0)[:, None] + np.arange(3)) % 3
        a, b, c = np.take_along_axis(triangles[large], order[:, :, None], axis=1).transpose(1, 0, 2)
        m = (a + b) / 2
        triangles = np.concatenate([np.stack([a, m, c], axis=1), np.stack([m, b, c], axis=1)])
        normals = np.concatenate([normals[large], normals[large]])
    return np.concatenate(centers), np.concatenate(directions)
