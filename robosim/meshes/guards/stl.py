"""Guard for STL, binary and text.

Binary: 80 arbitrary bytes, a 32-bit count n, n records of 50 bytes. Text: `solid NAME`, then for
each triangle `facet normal ... outer loop vertex ... vertex ... vertex ... endloop endfacet`, then
`endsolid NAME`.
"""

from __future__ import annotations

import re
import struct

from robosim.errors import MeshError
from robosim.meshes.guards.guarded import MAX_TEXT_BYTES, Guarded, number_of

__all__ = ["guard"]

_MAX_SOLIDS = 1000
_RECORD = 50  # bytes
_VERTEX = rb"\s+vertex\s+(\S+)\s+(\S+)\s+(\S+)"
_FACET = re.compile(
    rb"facet\s+normal\s+\S+\s+\S+\s+\S+\s+outer\s+loop" + 3 * _VERTEX + rb"\s+endloop\s+endfacet",
    re.IGNORECASE,
)
_PART = re.compile(rb"\bfacet\s+normal\b|\bouter\s+loop\b|\bendloop\b|\bendfacet\b", re.IGNORECASE)
_SOLID = re.compile(rb"^[ \t]*(end)?solid\b.*$", re.IGNORECASE | re.MULTILINE)
_ENDSOLID = re.compile(rb"^[ \t]*endsolid\b", re.IGNORECASE | re.MULTILINE)


def guard(data: bytes, path: str) -> Guarded:
    """Distinguish binary from text, and check the count.

    The distinction is by size, because binary files may begin with `solid` as well.
    """
    n = struct.unpack_from("<I", data, 80)[0] if len(data) >= 84 else None
    size = None if n is None else 84 + _RECORD * n
    if n is not None and size is not None and size <= len(data) < size + min(n, 1) * _RECORD:
        return Guarded(data[:size], n_faces=n)  # trailing bytes, less than a record, are allowed
    if n == 0 and len(data) == 84:
        raise MeshError("STL has no triangles", file=path)
    head = data[:512].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if head.startswith(b"solid") and (_PART.search(data) or b"endsolid" in data.lower()):
        return _guard_text(data, path)
    if n is None:
        raise MeshError(
            f"STL of {len(data)} bytes is neither binary (84 bytes at least) nor text (solid ...)",
            file=path,
        )
    assert size is not None
    what = "is truncated" if size > len(data) else "has trailing bytes"
    raise MeshError(
        f"binary STL {what}: its header announces {n} triangles, that is {size} bytes; it has"
        f" {len(data)}",
        file=path,
    )


def _guard_text(data: bytes, path: str) -> Guarded:
    """Rewrite the triangles in canonical text.

    A name may contain any words, even `facet` and `vertex`.
    """
    if len(data) > MAX_TEXT_BYTES:
        raise MeshError(
            f"text STL of {len(data)} bytes exceeds {MAX_TEXT_BYTES}; save it as binary STL",
            file=path,
        )
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    rest = _FACET.sub(b"\n", data)
    if part := _PART.search(_SOLID.sub(b"", rest)):
        words = part[0].decode("ascii", "replace")
        raise MeshError(
            f"text STL is truncated or malformed: {words!r} belongs to no whole facet", file=path
        )
    n_solids = len(_ENDSOLID.findall(rest))
    if n_solids > _MAX_SOLIDS:
        raise MeshError(
            f"text STL has {n_solids} solids; at most {_MAX_SOLIDS} are read", file=path
        )
    facets = _FACET.findall(data)
    if not facets:
        raise MeshError("STL has no triangles", file=path)
    if n_solids == 0:
        raise MeshError("text STL is truncated: no endsolid", file=path)
    lines = ["solid"]
    for facet in facets:
        x = [number_of(token.decode("latin-1"), "text STL vertex", path) for token in facet]
        vertices = (f"vertex {x[k]!r} {x[k + 1]!r} {x[k + 2]!r}" for k in (0, 3, 6))
        lines += ["facet normal 0 0 0", "outer loop", *vertices, "endloop", "endfacet"]
    return Guarded("\n".join([*lines, "endsolid", ""]).encode("ascii"), n_faces=len(facets))
