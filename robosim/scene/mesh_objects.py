"""Scene objects from triangle meshes.

Convex meshes are used as they are. Concave meshes are cut into convex pieces or kept, on request.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike, fspath

import numpy as np
from numpy.typing import ArrayLike

from robosim import geometry
from robosim.errors import GeometryError, MeshError, SceneError
from robosim.geometry import Shape
from robosim.meshes import (
    TriangleMesh,
    convex_decomposition,
    convex_hull,
    convex_pieces_of_file,
    is_convex,
    load_mesh,
)
from robosim.scene.objects import (
    MeshSource,
    SceneObject,
    Solidity,
    checked_color,
    checked_name,
    checked_pose,
    make_shape,
)

__all__ = ["mesh_object"]


def mesh_object(
    name: str,
    mesh: str | PathLike[str] | TriangleMesh | tuple[ArrayLike, ArrayLike],
    pose: ArrayLike | None = None,
    *,
    scale: float | ArrayLike = 1.0,
    decompose: bool = False,
    keep: Solidity | None = None,
    color: Sequence[float] | None = None,
) -> SceneObject:
    """Make an object from a mesh; see `Scene.add_mesh`."""
    what = f"object {checked_name(name)!r}"
    # Load or check the triangles, and apply the scale.
    factors = _checked_scale(scale, what)
    file: str | None = None
    if isinstance(mesh, (str, PathLike)):
        file = fspath(mesh)
        triangles = load_mesh(file, scale=factors)
    else:
        triangles = _checked_mesh(mesh, what).scaled(np.array(factors))
    place = "" if file is None else f" of {file!r}"
    if keep not in (None, "solid", "surface"):
        raise SceneError(f"{what}: keep is {keep!r}; it must be 'solid', 'surface' or None")
    if keep is not None and decompose:
        raise SceneError(f"{what}: a mesh is either kept or decomposed; give one of the two")
    # Colliding shapes: the kept mesh, its hull if convex, or convex pieces.
    shapes: tuple[Shape | geometry.TriangleMesh, ...]
    if keep == "surface":
        shapes = (_kept(triangles, what, place, solid=False),)
    elif is_convex(triangles):
        hull = convex_hull(triangles.vertices)
        shapes = (make_shape(what, "convex", hull.vertices, hull.faces),)
    elif keep == "solid":
        shapes = (_kept(triangles, what, place, solid=True),)
    elif decompose:
        pieces = (
            convex_decomposition(triangles)
            if file is None
            else convex_pieces_of_file(file, scale=factors)
        )
        shapes = tuple(make_shape(what, "convex", piece.vertices, piece.faces) for piece in pieces)
    else:
        raise SceneError(
            f"{what}: the mesh{place} is not convex, and its hull would fill the hollows. Pass"
            " keep='solid' (in a file: keep: solid) to keep it as it is, decompose=True to cut it"
            " into convex pieces, or model it as several shapes"
        )
    # Triangles given in memory are stored scaled, so that the source is complete.
    source = MeshSource(
        triangles, file, factors if file is not None else (1.0, 1.0, 1.0), decompose, keep
    )
    poses = np.tile(np.eye(4), (len(shapes), 1, 1))
    return SceneObject(
        name, shapes, poses, checked_pose(pose, what), checked_color(color, what), source
    )


def _kept(mesh: TriangleMesh, what: str, place: str, *, solid: bool) -> geometry.TriangleMesh:
    """Return the mesh as it is; SceneError if it must be solid and encloses nothing."""
    try:
        body = geometry.TriangleMesh(mesh.vertices, mesh.faces, solid=solid)
    except GeometryError as error:
        raise SceneError(f"{what}: the mesh{place}: {error}") from error
    if solid and not body.is_closed:
        raise SceneError(
            f"{what}: the mesh{place} encloses nothing: it has edges without a face on either side,"
            " or its faces look inwards. Pass keep='surface' (in a file: keep: surface) to take it"
            " as a surface with nothing behind, or close it"
        )
    return body


def _checked_scale(scale: float | ArrayLike, what: str) -> tuple[float, float, float]:
    """Return three scale factors from one number or three; all must be finite and not zero."""
    try:
        factors = np.broadcast_to(np.asarray(scale, dtype=np.float64), (3,))
    except (TypeError, ValueError):
        raise SceneError(f"{what}: scale must be one number or three, found {scale!r}") from None
    if not np.isfinite(factors).all() or (factors == 0).any():
        raise SceneError(f"{what}: scale must be finite and not zero, found {factors.tolist()}")
    x, y, z = factors.tolist()
    return (x, y, z)


def _checked_mesh(mesh: TriangleMesh | Iterable[ArrayLike], what: str) -> TriangleMesh:
    """Return a mesh of vertices and faces, with indices in range."""
    if isinstance(mesh, TriangleMesh):
        vertices, faces = mesh.vertices, mesh.faces
    else:
        try:
            vertices, numbers = (np.array(part, dtype=np.float64) for part in mesh)
            faces = numbers.astype(np.int64)
        except (TypeError, ValueError):
            raise SceneError(
                f"{what}: a mesh is a file or (vertices (n, 3), faces (m, 3))"
            ) from None
        if not np.array_equal(faces, numbers):
            raise MeshError(f"{what}: faces must be whole numbers")
    if (
        vertices.ndim != 2
        or vertices.shape[1:] != (3,)
        or faces.ndim != 2
        or faces.shape[1:] != (3,)
        or not len(faces)
    ):
        raise SceneError(
            f"{what}: a mesh is vertices (n, 3) and faces (m, 3); found {vertices.shape},"
            f" {faces.shape}"
        )
    if not np.isfinite(vertices).all():
        raise SceneError(f"{what}: a vertex of the mesh is not finite")
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise SceneError(
            f"{what}: a face names vertex {faces.max()} of {len(vertices)}, counted from 0"
        )
    return TriangleMesh(vertices, faces)
