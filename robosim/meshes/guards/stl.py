"""STL. Binary: 80 bytes of anything, a 32-bit count n, n records of 50 bytes. Text: `solid` ... `facet` ...
`endsolid`."""

from __future__ import annotations

import struct

from robosim.errors import MeshError
from robosim.meshes.guards.guarded import MAX_TEXT_BYTES, Guarded

__all__ = ["guard"]

_MAX_SOLIDS = 1000


def guard(data: bytes, path: str) -> Guarded:
    """Tell binary from text (by size: binary files may begin with `solid` too), and check the count."""
    n = struct.unpack_from("<I", data, 80)[0] if len(data) >= 84 else None
    if n is not None and len(data) == 84 + 50 * n:
        if n == 0:
            raise MeshError("STL has no triangles", file=path)
        return Guarded(data, n_faces=n)
    head = data[:512].lstrip().lower()
    if head.startswith(b"solid") and (b"facet" in data[:4096].lower() or b"endsolid" in data[:4096].lower()):
        return _guard_text(data, path)
    if n is None:
        raise MeshError(
            f"STL of {len(data)} bytes is neither binary (84 bytes at least) nor text (solid ...)", file=path
        )
    size = 84 + 50 * n
    what = "is truncated" if size > len(data) else "has trailing bytes"
    raise MeshError(
        f"binary STL {what}: its header announces {n} triangles, that is {size} bytes; it has {len(data)}",
        file=path,
    )


def _guard_text(data: bytes, path: str) -> Guarded:
    if len(data) > MAX_TEXT_BYTES:
        raise MeshError(
            f"text STL of {len(data)} bytes exceeds {MAX_TEXT_BYTES}; save it as binary STL", file=path
        )
    lower = data.lower()
    n_facets = lower.count(b"endfacet")
    if lower.count(b"facet") != 2 * n_facets or lower.count(b"vertex") != 3 * n_facets:
        raise MeshError("text STL is truncated or malformed: facets and vertices do not pair up", file=path)
    if n_facets == 0:
        raise MeshError("STL has no triangles", file=path)
    n_solids = lower.count(b"endsolid")
    if n_solids == 0:
        raise MeshError("text STL is truncated: no endsolid", file=path)
    if n_solids > _MAX_SOLIDS:
        raise MeshError(f"text STL has {n_solids} solids; at most {_MAX_SOLIDS} are read", file=path)
    return Guarded(data, n_faces=n_facets)
