"""What a guard returns."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MAX_TEXT_BYTES", "Guarded"]

MAX_TEXT_BYTES = (
    64 * 2**20
)  # of the text formats, whose parsing takes several times the file's size in memory


@dataclass(frozen=True)
class Guarded:
    """A mesh file reduced to geometry.

    Attributes:
        data: to be parsed.
        n_faces: number of triangles that must come out, where the format tells.
        unit: length of one unit of the file [m].
    """

    data: bytes
    n_faces: int | None = None
    unit: float = 1.0
