"""Result of a guard."""

from __future__ import annotations

from dataclasses import dataclass

from robosim.errors import MeshError

__all__ = ["MAX_TEXT_BYTES", "Guarded", "number_of"]

MAX_TEXT_BYTES = (
    64 * 2**20
)  # for text formats, whose parsing takes several times the file's size in memory


@dataclass(frozen=True)
class Guarded:
    """A mesh file reduced to geometry.

    Attributes:
        data: bytes to parse.
        n_faces: number of triangles that parsing must yield, if the format declares it.
        unit: length of one unit of the file [m].
    """

    data: bytes
    n_faces: int | None = None
    unit: float = 1.0


def number_of(token: str, what: str, path: str, line: int | None = None) -> float:
    """Parse a number, which may be nan or infinite; otherwise raise MeshError.

    float() alone would also accept digits of other scripts, and underscores.
    """
    try:
        if token.isascii() and "_" not in token:
            return float(token)
    except ValueError:
        pass
    raise MeshError(f"{what} must be numbers, got {token[:40]!r}", file=path, line=line)
