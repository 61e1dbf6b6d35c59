"""Convex approximations of a mesh file: its hull, or convex pieces (CoACD), cached by content.

Source of the decomposition: X. Wei et al., "Approximate convex decomposition for 3D meshes with
collision-aware concavity and tree search", ACM Trans. Graph. 41(4), 2022; package `coacd` (extra
`decomp`). The decomposition runs in a separate process. A mesh that makes the native code fail or
not terminate causes an error, but does not end the program.
"""

from __future__ import annotations

import importlib.util
import io
import subprocess
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robosim.errors import MeshError, MissingDependencyError
from robosim.meshes.cache import cache_key, load_arrays, store_arrays
from robosim.meshes.hull import convex_hull
from robosim.meshes.load import parse_mesh, read_mesh_file
from robosim.meshes.mass import is_convex
from robosim.meshes.mesh import TriangleMesh
from robosim.processes import run_worker

__all__ = [
    "concave_mesh_of_file",
    "convex_decomposition",
    "convex_hull_of_file",
    "convex_pieces_of_file",
]

_TIME_LIMIT = 600.0  # [s] for one mesh
_CONVEX = 1e-5  # volume, relative to the hull's, that a convex mesh may lack due to rounded numbers


def concave_mesh_of_file(
    path: str | PathLike[str], *, scale: Sequence[float] = (1.0, 1.0, 1.0)
) -> TriangleMesh | None:
    """Read the triangles of a mesh file with merged vertices, from the cache if possible.

    Return None if the mesh is its own hull.

    Args:
        path: mesh file, as for `load_mesh`.
        scale: as for `load_mesh`.

    Raises:
        MeshError: the file cannot be read.
    """
    data = read_mesh_file(path)
    suffix = str(path).lower().rpartition(".")[2]
    key = cache_key("mesh", data, suffix=suffix, scale=tuple(map(float, scale)), convex=_CONVEX)
    entry = load_arrays(key, ("vertices", "faces"))
    if entry is not None and entry["faces"].shape == (0, 3):
        return None
    if entry is not None and _is_mesh(entry["vertices"], entry["faces"]):
        return TriangleMesh(entry["vertices"].astype(np.float64), entry["faces"].astype(np.int64))
    mesh = parse_mesh(data, path, scale=scale)
    try:
        concave = None if is_convex(mesh, tolerance=_CONVEX) else mesh.merged()
    except MeshError:  # a flat mesh has no hull either
        concave = mesh.merged()
    kept = (
        TriangleMesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64))
        if concave is None
        else concave
    )
    store_arrays(key, {"vertices": kept.vertices, "faces": kept.faces.astype(np.int64)})
    return concave


def convex_hull_of_file(
    path: str | PathLike[str],
    *,
    scale: Sequence[float] = (1.0, 1.0, 1.0),
    max_vertices: int | None = None,
) -> TriangleMesh:
    """Compute the convex hull of a mesh file, or read it from the cache.

    Args:
        path: mesh file, as for `load_mesh`.
        scale: as for `load_mesh`.
        max_vertices: as for `convex_hull`.

    Raises:
        MeshError: the file cannot be read, or has no hull.
    """
    data = read_mesh_file(path)
    suffix = str(path).lower().rpartition(".")[2]
    key = cache_key(
        "hull", data, suffix=suffix, scale=tuple(map(float, scale)), max_vertices=max_vertices
    )
    entry = load_arrays(key, ("vertices", "faces"))
    if entry is not None and _is_mesh(entry["vertices"], entry["faces"]):
        return TriangleMesh(entry["vertices"].astype(np.float64), entry["faces"].astype(np.int64))
    mesh = parse_mesh(data, path, scale=scale)
    try:
        hull = convex_hull(mesh.used_vertices, max_vertices=max_vertices)
    except MeshError as e:
        raise MeshError(str(e), file=path) from None
    store_arrays(key, {"vertices": hull.vertices, "faces": hull.faces})
    return hull


def convex_pieces_of_file(
    path: str | PathLike[str],
    *,
    scale: Sequence[float] = (1.0, 1.0, 1.0),
    threshold: float = 0.05,
    max_pieces: int | None = None,
    seed: int = 0,
) -> list[TriangleMesh]:
    """Compute the convex pieces of a mesh file, or read them from the cache.

    Args:
        path: mesh file, as for `load_mesh`.
        scale: as for `load_mesh`.
        threshold: as for `convex_decomposition`.
        max_pieces: as for `convex_decomposition`.
        seed: as for `convex_decomposition`.

    Raises:
        MeshError: the file cannot be read or decomposed.
        MissingDependencyError: coacd is not installed (and the pieces are not in the cache).
    """
    data = read_mesh_file(path)
    suffix = str(path).lower().rpartition(".")[2]
    parameters = {"threshold": float(threshold), "max_pieces": max_pieces, "seed": int(seed)}
    key = cache_key("pieces", data, suffix=suffix, scale=tuple(map(float, scale)), **parameters)
    # All pieces in two arrays, and the end of each piece in them.
    entry = load_arrays(key, ("vertices", "faces", "ends"))
    if entry is not None and (pieces := _split(entry["vertices"], entry["faces"], entry["ends"])):
        return pieces
    mesh = parse_mesh(data, path, scale=scale)
    try:
        pieces = convex_decomposition(mesh, threshold=threshold, max_pieces=max_pieces, seed=seed)
    except MeshError as e:
        raise MeshError(str(e), file=path) from None
    ends = np.cumsum([[len(p.vertices), len(p.faces)] for p in pieces], axis=0).astype(np.int64)
    vertices, faces = np.vstack([p.vertices for p in pieces]), np.vstack([p.faces for p in pieces])
    store_arrays(key, {"vertices": vertices, "faces": faces, "ends": ends})
    return pieces


def convex_decomposition(
    mesh: TriangleMesh, *, threshold: float = 0.05, max_pieces: int | None = None, seed: int = 0
) -> list[TriangleMesh]:
    """Decompose a mesh into convex pieces that together approximate it.

    Args:
        mesh: preferably closed; an open mesh is first closed by voxels.
        threshold: largest concavity of a piece, relative to the mesh's size, 0.01 (fine) to 1
            (coarse).
        max_pieces: largest number of pieces; more concavity may then remain.
        seed: seed of the decomposition, which is deterministic for a seed.

    Returns:
        Closed convex meshes with outward faces.

    Raises:
        MissingDependencyError: coacd is not installed.
        MeshError: the decomposition failed or took too long.
    """
    if importlib.util.find_spec("coacd") is None:
        message = (
            "convex decomposition needs coacd, which is not installed: pip install"
            " 'robosim[decomp]'"
        )
        raise MissingDependencyError(message)
    if not 0.01 <= threshold <= 1 or (max_pieces is not None and max_pieces < 1):
        message = (
            f"threshold={threshold} must be in [0.01, 1] and max_pieces={max_pieces} at least 1"
        )
        raise MeshError(message)
    # Decompose in a worker process.
    merged = mesh.merged()
    if len(merged.faces) < 4:
        return [convex_hull(mesh.vertices)]
    buffer = io.BytesIO()
    np.savez(
        buffer, vertices=merged.vertices, faces=merged.faces.astype(np.int32), threshold=threshold,
        seed=seed,
        max_pieces=-1 if max_pieces is None else max_pieces,
    )  # fmt: skip
    try:
        run = run_worker("robosim.meshes.coacd_worker", buffer.getvalue(), timeout=_TIME_LIMIT)
    except subprocess.TimeoutExpired:
        raise MeshError(
            f"convex decomposition took more than {_TIME_LIMIT:g} s; use convex='hull'"
        ) from None
    if run.returncode != 0:
        reason = run.stderr.decode(errors="replace").strip().splitlines()[-1:] or [
            f"exit status {run.returncode}"
        ]
        raise MeshError(f"convex decomposition failed: {reason[0][:200]}")
    # Pieces are the hulls of the parts, which makes them exactly convex.
    with np.load(io.BytesIO(run.stdout), allow_pickle=False) as parts:
        pieces = [
            convex_hull(parts[f"v{i}"].astype(np.float64)) for i in range(len(parts.files) // 2)
        ]
    if not pieces:
        raise MeshError("convex decomposition gave no pieces; use convex='hull'")
    return pieces


def _is_mesh(vertices: NDArray[Any], faces: NDArray[Any]) -> bool:
    shapes = (
        vertices.ndim == 2
        and vertices.shape[1:] == (3,)
        and faces.ndim == 2
        and faces.shape[1:] == (3,)
    )
    return (
        shapes
        and faces.dtype == np.int64
        and len(faces) > 0
        and faces.min() >= 0
        and faces.max() < len(vertices)
    )


def _split(vertices: NDArray[Any], faces: NDArray[Any], ends: NDArray[Any]) -> list[TriangleMesh]:
    """Pieces of a cache entry; empty if the entry is invalid."""
    pieces = []
    if ends.ndim != 2 or ends.shape[1:] != (2,) or ends.dtype != np.int64:
        return []
    begin = np.zeros(2, dtype=np.int64)
    for end in ends:
        v, f = vertices[begin[0] : end[0]], faces[begin[1] : end[1]]
        if not _is_mesh(v, f):
            return []
        pieces.append(TriangleMesh(v.astype(np.float64), f.astype(np.int64)))
        begin = end
    return pieces
