"""Shapes as triangle meshes, and normals that shade round surfaces smoothly.

A mesh here is a pair of arrays: vertices (n, 3) float64 [m] in the shape's frame, and faces (m, 3)
int64, counter-clockwise seen from outside. Meshes of round shapes are inscribed, with every vertex
on the shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robosim.geometry import PointCloud, Shape, TriangleMesh

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mesh = tuple[NDArray[np.float64], NDArray[np.int64]]

HALF_SPACE_EDGE = 4.0  # edge of the square that represents a half-space's boundary [m]


def shape_mesh(shape: Shape | TriangleMesh | PointCloud, *, segments: int = 48) -> Mesh:
    """Tessellate a collision shape.

    Args:
        shape: of any type, a mesh, or a cloud, whose balls are coarse. A half-space becomes a
            square of its boundary plane, HALF_SPACE_EDGE wide.
        segments: number of sides of a round cross-section, at least 3.

    Returns:
        vertices (n, 3) [m] and faces (m, 3), in the shape's frame.
    """
    if isinstance(shape, TriangleMesh):
        return shape.vertices, shape.faces.astype(np.int64)
    if isinstance(shape, PointCloud):
        ball, faces = shape_mesh(Shape.sphere(shape.radius), segments=6)
        first = len(ball) * np.arange(len(shape.points))[:, None, None]
        return (shape.points[:, None] + ball).reshape(-1, 3), (first + faces).reshape(-1, 3)
    kind = str(shape.type)
    if kind == "sphere":
        return _revolve(*_cap_profile(shape.radius, 0.0, segments), segments)
    if kind == "capsule":
        return _revolve(*_cap_profile(shape.radius, shape.length, segments), segments)
    if kind == "cylinder":
        h = shape.length / 2
        return _revolve(
            np.array([0.0, shape.radius, shape.radius, 0.0]), np.array([-h, -h, h, h]), segments
        )
    if kind == "cone":
        h = shape.length / 2
        return _revolve(np.array([0.0, shape.radius, 0.0]), np.array([-h, -h, h]), segments)
    if kind == "ellipsoid":
        ball, faces = _revolve(*_cap_profile(1.0, 0.0, segments), segments)
        return ball * np.asarray(shape.radii, float), faces
    if kind in ("box", "convex", "triangle") and shape.rounding > 0:
        # Qhull is slow to load, and rarely needed here.
        from robosim.meshes.tessellate import rounded_hull

        hull = rounded_hull(shape, segments)
        return hull.vertices, hull.faces
    if kind == "box":
        return box_mesh(np.asarray(shape.size, float))
    if kind == "triangle":  # from both sides
        return np.array(shape.vertices, dtype=np.float64), np.array(
            [[0, 1, 2], [0, 2, 1]], dtype=np.int64
        )
    if kind == "half_space":
        e = HALF_SPACE_EDGE / 2
        square = np.array([[-e, -e, 0.0], [e, -e, 0.0], [e, e, 0.0], [-e, e, 0.0]])
        return square, np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int64)
    if kind == "convex":
        return np.array(shape.vertices, dtype=np.float64), np.array(shape.faces, dtype=np.int64)
    from robosim.meshes.tessellate import support_hull

    hull = support_hull(shape, segments)
    return hull.vertices, hull.faces


def box_mesh(size: NDArray[np.float64]) -> Mesh:
    """Box of full edge lengths `size` (3,) [m] about the origin."""
    corners = (
        np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size
    )
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return corners, np.array(faces, dtype=np.int64)


def arrow_mesh(*, segments: int = 16) -> Mesh:
    """Arrow from the origin along z, of length 1, with a head of radius 1 and length 0.35."""
    r, z = np.array([0.0, 0.4, 0.4, 1.0, 0.0]), np.array([0.0, 0.0, 0.65, 0.65, 1.0])
    return _revolve(r, z, segments)


def tube_mesh(points: NDArray[np.float64], radius: float, *, segments: int = 8) -> Mesh:
    """Tube of `radius` [m] around a polyline (k, 3), k >= 2, to draw a path in space.

    The cross-section is rotated from one tangent to the next (rotation-minimizing frames), so the
    tube does not twist.
    """
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    points = points[np.concatenate([[True], steps > 1e-9])]
    if len(points) < 2:
        return np.empty((0, 3)), np.empty((0, 3), dtype=np.int64)
    tangents = np.gradient(points, axis=0)
    tangents /= np.maximum(np.linalg.norm(tangents, axis=1, keepdims=True), 1e-300)
    normal = np.cross(tangents[0], np.eye(3)[np.argmin(np.abs(tangents[0]))])
    angles = np.arange(segments) * (2 * np.pi / segments)
    rings = []
    for p, t in zip(points, tangents, strict=True):
        normal = normal - t * (t @ normal)
        normal /= max(float(np.linalg.norm(normal)), 1e-300)
        rings.append(
            p
            + radius
            * (np.cos(angles)[:, None] * normal + np.sin(angles)[:, None] * np.cross(t, normal))
        )
    return np.concatenate(rings), _ring_faces(len(points), segments)


def _cap_profile(
    radius: float, length: float, segments: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Radii and heights, from the lower to the upper pole, of a sphere elongated by `length`."""
    quarter = np.linspace(-np.pi / 2, 0, max(segments // 4, 2) + 1)
    r, z = radius * np.cos(quarter), radius * np.sin(quarter) - length / 2
    r[0] = 0.0
    skip = 1 if length == 0.0 else 0  # a sphere has one equator, not two
    return np.concatenate([r, r[::-1][skip:]]), np.concatenate([z, -z[::-1][skip:]])


def _revolve(r: NDArray[np.float64], z: NDArray[np.float64], segments: int) -> Mesh:
    """Surface of revolution of the profile (r, z) about z.

    The profile begins and ends on the axis.
    """
    angles = np.arange(segments) * (2 * np.pi / segments)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    inner = np.concatenate(
        [
            np.column_stack([ri * ring, np.full(segments, zi)])
            for ri, zi in zip(r[1:-1], z[1:-1], strict=True)
        ]
    )
    vertices = np.concatenate([inner, [[0.0, 0.0, z[0]], [0.0, 0.0, z[-1]]]])
    n_rings = len(r) - 2
    i = np.arange(segments)
    j = (i + 1) % segments
    south, north, last = len(inner), len(inner) + 1, (n_rings - 1) * segments
    bottom = np.stack([np.full(segments, south), j, i], axis=1)
    top = np.stack([np.full(segments, north), last + i, last + j], axis=1)
    return vertices, np.concatenate([bottom, _ring_faces(n_rings, segments), top])


def _ring_faces(n_rings: int, segments: int) -> NDArray[np.int64]:
    """Faces between consecutive rings of `segments` vertices.

    Rings run counter-clockwise about the stacking direction.
    """
    i = np.arange(segments)
    j = (i + 1) % segments
    base = (np.arange(n_rings - 1) * segments)[:, None]
    a, b, c, d = base + i, base + j, base + segments + j, base + segments + i
    lower, upper = np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)
    return np.concatenate([lower.reshape(-1, 3), upper.reshape(-1, 3)]).astype(np.int64)


def corner_normals(
    vertices: NDArray[np.float64], faces: NDArray[np.int64], *, crease: float = 0.6
) -> NDArray[np.float64]:
    """Unit normals (m, 3, 3) at the corners of each face: smooth at soft edges, sharp at creases.

    A crease is an edge bent by more than `crease` [rad]. The normal at a corner is the
    area-weighted mean over those faces around the vertex whose own normal is within `crease` of the
    face's. Vertices at the same position (to 1e-7 of the mesh's size) count as one, since STL
    repeats them. Cost: sum over the vertices of the squared number of adjacent faces.
    """
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    weighted = np.cross(b - a, c - a)  # length is twice the area
    unit = weighted / np.maximum(np.linalg.norm(weighted, axis=1, keepdims=True), 1e-300)
    size = max(float(np.ptp(vertices, axis=0).max()), 1e-300) if len(vertices) else 1.0
    _, same = np.unique(np.round(vertices / (1e-7 * size)), axis=0, return_inverse=True)
    corner_vertex = np.asarray(same).reshape(-1)[faces].reshape(-1)
    order = np.argsort(corner_vertex, kind="stable")
    counts = np.bincount(corner_vertex)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    total = np.zeros((len(corner_vertex), 3))
    # Pair every corner with the k-th corner around its vertex, k = 0, 1, ...: the number of rounds
    # is the largest degree of a vertex.
    degree = counts[corner_vertex]
    own = np.arange(len(corner_vertex)) // 3
    for k in range(min(int(counts.max(initial=0)), 64)):
        here = np.flatnonzero(degree > k)
        other = order[starts[corner_vertex[here]] + k] // 3
        close = np.einsum("ij,ij->i", unit[own[here]], unit[other]) > np.cos(crease)
        total[here[close]] += weighted[other[close]]
    length = np.linalg.norm(total, axis=1, keepdims=True)
    normals = np.where(length > 0, total / np.maximum(length, 1e-300), unit[own])
    return np.asarray(normals.reshape(-1, 3, 3))


def is_solid(vertices: NDArray[np.float64], faces: NDArray[np.int64]) -> bool:
    """Return true if the mesh is closed and outward, so that one side of triangles suffices.

    Every edge must occur once in each direction between the same two positions, and the enclosed
    volume must be positive.
    """
    _, place = np.unique(vertices, axis=0, return_inverse=True)
    corners = np.asarray(place).reshape(-1)[faces]
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    there, back = edges @ [len(vertices), 1], edges[:, ::-1] @ [len(vertices), 1]
    if len(np.unique(there)) != len(there) or not np.array_equal(np.sort(there), np.sort(back)):
        return False
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return bool(np.einsum("ij,ij->", a, np.cross(b, c)) > 0)


def split_creases(
    vertices: NDArray[np.float64], faces: NDArray[np.int64], *, crease: float = 0.6
) -> Mesh:
    """Return the same surface with separate vertices for each side of a sharp edge.

    For viewers that average the normals of all faces at a vertex. Otherwise a box would be shaded
    like a ball.
    """
    normals = np.round(corner_normals(vertices, faces, crease=crease).reshape(-1, 3), 4)
    key = np.column_stack([faces.reshape(-1), normals])
    unique, inverse = np.unique(key, axis=0, return_inverse=True)
    return vertices[unique[:, 0].astype(np.int64)], np.asarray(inverse).reshape(-1, 3).astype(
        np.int64
    )
