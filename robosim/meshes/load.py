"""Reading of mesh files as triangles: STL (text and binary), OBJ, DAE, PLY and GLB.

There are three steps. A guard per format (guards/) checks the declared counts against the file's
size and removes all content except geometry (materials, textures, animations), so that no content
can allocate without bound or open another file. trimesh parses the rest. The result is checked
(finite, indices in range, declared number of triangles) and flattened, with each node's transform
applied, into one TriangleMesh.

Axes and units: numbers are in meters, as in ROS tools. Two rules are format-specific. The `<unit
meter="...">` of a DAE is applied, but not its `<up_axis>` (RViz, MoveIt and Pinocchio ignore it as
well: robot meshes are exported in the link's own axes). A GLB is not rotated from its nominal y-up
either.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from functools import lru_cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robosim.errors import FileError, MeshError
from robosim.files import read_file
from robosim.meshes.guards import GUARDS
from robosim.meshes.mesh import TriangleMesh

__all__ = ["MESH_FORMATS", "load_mesh", "parse_mesh", "read_mesh_file"]

MESH_FORMATS = tuple(GUARDS)
_MAX_BYTES = 256 * 2**20
_MAX_FACES = 5_000_000
_MAX_COORDINATE = 1e6  # [m]; a larger value is in other units, or invalid


def load_mesh(
    path: str | PathLike[str], *, scale: Sequence[float] = (1.0, 1.0, 1.0)
) -> TriangleMesh:
    """Read a mesh file.

    Args:
        path: an .stl, .obj, .dae, .ply or .glb file (upper or lower case).
        scale: factor along x, y, z, applied last; negative factors mirror.

    Returns:
        All triangles of the file, in its root frame [m].

    Raises:
        MeshError: the file is missing, malformed, empty, not finite, or too large. The message
            names the file and the reason.
    """
    return parse_mesh(read_mesh_file(path), path, scale=scale)


def read_mesh_file(path: str | PathLike[str]) -> bytes:
    """Read a mesh file of a supported format and size, otherwise raise MeshError."""
    suffix = Path(path).suffix.lower()
    if suffix not in GUARDS:
        formats = ", ".join(MESH_FORMATS)
        raise MeshError(
            f"mesh format {suffix or '(no suffix)'!r} is not supported; use one of {formats}",
            file=path,
        )
    try:
        data = read_file(path, max_bytes=_MAX_BYTES)
    except FileError as e:
        raise MeshError(f"mesh {e}") from None
    if not data:
        raise MeshError("mesh file is empty (0 bytes)", file=path)
    if data.startswith(b"version https://git-lfs."):
        raise MeshError(
            "is a pointer of Git LFS, not the mesh; `git lfs pull` brings the mesh", file=path
        )
    return data


def parse_mesh(
    data: bytes, path: str | PathLike[str], *, scale: Sequence[float] = (1.0, 1.0, 1.0)
) -> TriangleMesh:
    """Parse bytes as `load_mesh` does. `path` determines the format and is named in errors.

    The most recent result is cached.
    """
    return _parsed(data, fspath(path), tuple(_check_scale(scale, path).tolist()))


# Loading a robot needs each mesh's hull and then its triangles.
@lru_cache(maxsize=1)
def _parsed(data: bytes, path: str, scale: tuple[float, float, float]) -> TriangleMesh:
    suffix = Path(path).suffix.lower()
    guarded = GUARDS[suffix](data, path)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            vertices, faces = _parse(guarded.data, suffix[1:])
    except MeshError as e:
        raise MeshError(str(e), file=path) from None
    except Exception as e:
        # Any failure of trimesh or its readers on a file that the guard accepted.
        raise MeshError(
            f"mesh cannot be read as {suffix[1:].upper()}: {type(e).__name__}: {e}"[:500], file=path
        ) from None
    if guarded.n_faces is not None and len(faces) != guarded.n_faces:
        raise MeshError(
            f"mesh declares {guarded.n_faces} triangles, but {len(faces)} could be read", file=path
        )
    mesh = TriangleMesh(vertices * guarded.unit, faces).scaled(np.array(scale))
    _check(mesh, path)
    for array in mesh.vertices, mesh.faces:
        array.setflags(write=False)
    return mesh


def _check_scale(scale: Sequence[float], path: str | PathLike[str]) -> NDArray[np.float64]:
    factor = np.asarray(scale, dtype=np.float64)
    if factor.shape != (3,) or not np.all(np.isfinite(factor)) or np.any(factor == 0.0):
        raise MeshError(
            f"mesh scale {tuple(np.ravel(scale))} must be three finite numbers other than zero",
            file=path,
        )
    return factor


def _parse(data: bytes, file_type: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Parse with trimesh, and flatten the scene."""
    import trimesh  # slow to import (0.6 s): only if a mesh is parsed

    options: dict[str, Any] = {"ignore_broken": False} if file_type in ("dae", "glb") else {}
    scene = trimesh.load_scene(io.BytesIO(data), file_type=file_type, process=False, **options)
    vertices, faces, offset, total = [], [], 0, 0
    for node in scene.graph.nodes_geometry:
        transform, name = scene.graph[node]
        geometry = scene.geometry[name]
        if not isinstance(geometry, trimesh.Trimesh):
            continue  # lines and points
        total += len(geometry.faces)
        if total > _MAX_FACES:
            raise MeshError(f"mesh has more than {_MAX_FACES} triangles")
        points = np.asarray(geometry.vertices, dtype=np.float64)
        triangles = np.asarray(geometry.faces, dtype=np.int64)
        if len(triangles) and (triangles.min() < 0 or triangles.max() >= len(points)):
            bad = triangles[(triangles < 0) | (triangles >= len(points))][0]
            raise MeshError(f"mesh uses vertex {bad}, but has only {len(points)}")
        if np.linalg.det(transform[:3, :3]) < 0:
            triangles = triangles[:, ::-1]
        vertices.append(points @ transform[:3, :3].T + transform[:3, 3])
        faces.append(triangles + offset)
        offset += len(points)
    if total == 0:
        raise MeshError("mesh has no triangles")
    return np.vstack(vertices), np.ascontiguousarray(np.vstack(faces))


def _check(mesh: TriangleMesh, path: str | PathLike[str]) -> None:
    used = mesh.used_vertices
    if not np.all(np.isfinite(used)):
        raise MeshError("mesh has vertices that are not finite (nan or inf)", file=path)
    largest = float(np.abs(used).max())
    if largest > _MAX_COORDINATE:
        raise MeshError(
            f"mesh reaches {largest:.3g} m from its origin (more than {_MAX_COORDINATE:g} m): a"
            " broken file, or other units than meters (use the mesh's scale)",
            file=path,
        )
