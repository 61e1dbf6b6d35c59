"""Guard for OBJ: lines `v x y z` and `f i j k ...`; all other lines are not geometry.

Indices are 1-based, negative ones count from the end, and `i/t/n` is allowed.
"""

from __future__ import annotations

from itertools import pairwise

from robosim.errors import MeshError
from robosim.meshes.guards.guarded import MAX_TEXT_BYTES, Guarded, number_of

__all__ = ["guard"]


def guard(data: bytes, path: str) -> Guarded:
    """Keep vertices and faces.

    Faces become triangles (fans of their first corner) with absolute indices.
    """
    if len(data) > MAX_TEXT_BYTES:
        raise MeshError(f"OBJ of {len(data)} bytes exceeds {MAX_TEXT_BYTES}", file=path)
    vertices: list[str] = []
    faces: list[str] = []
    latest = (0, 0)  # largest index used, and the line that uses it
    # A backslash at the end of a line continues it; keep the number of lines.
    text = data.decode("utf-8-sig", errors="replace").replace("\\\r\n", " ").replace("\\\n", " ")
    for number, line in enumerate(text.splitlines(), 1):
        tokens = line.split()
        if not tokens:
            continue
        if tokens[0] == "v":
            vertices.append(_vertex(tokens, path, number))
        elif tokens[0] in ("f", "fo"):
            corners = [_index(token, len(vertices), path, number) for token in tokens[1:]]
            if len(corners) < 3:
                raise MeshError(
                    f"OBJ face {line.strip()[:60]!r} has fewer than 3 corners",
                    file=path,
                    line=number,
                )
            latest = max(latest, (max(corners), number))
            faces.extend(f"f {corners[0]} {b} {c}" for b, c in pairwise(corners[1:]))
    if latest[0] > len(vertices):
        raise MeshError(
            f"OBJ face uses vertex {latest[0]}, but there are {len(vertices)}",
            file=path,
            line=latest[1],
        )
    if not faces:
        raise MeshError("OBJ has no faces", file=path)
    return Guarded("\n".join([*vertices, *faces, ""]).encode("ascii"), n_faces=len(faces))


def _vertex(tokens: list[str], path: str, number: int) -> str:
    if len(tokens) < 4:
        raise MeshError(
            f"OBJ vertex {' '.join(tokens)[:60]!r} must be three numbers", file=path, line=number
        )
    x, y, z = (number_of(t, "OBJ vertex", path, number) for t in tokens[1:4])
    return f"v {x!r} {y!r} {z!r}"


def _index(token: str, n_vertices: int, path: str, number: int) -> int:
    """Return the 1-based vertex of a corner. A negative index counts from the latest vertex."""
    try:
        i = int(token.split("/", 1)[0])
    except ValueError:
        raise MeshError(
            f"OBJ face corner {token[:40]!r} is not an index", file=path, line=number
        ) from None
    i = i if i >= 0 else n_vertices + 1 + i
    if i < 1:
        raise MeshError(
            f"OBJ face corner {token[:40]!r} is not a valid index", file=path, line=number
        )
    return i
