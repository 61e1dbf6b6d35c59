"""Digests: what colliding things are, in 16 bytes each, so that equal content is told at the cost
of a comparison.

Two that are alike have the same digest, whether or not they are one and the same; for two that
differ to have one by chance takes some 2^64 of them (BLAKE2b, RFC 7693). That of a body of many
points is kept as long as the body, which never changes: 300,000 points take 5 ms once, what is made
of known shapes some microseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from weakref import WeakKeyDictionary

import numpy as np

from robosim.geometry import PointCloud, Shape, TriangleMesh, shape_sizes

__all__ = ["digest_of", "shape_content"]

_SIZES = {kind: tuple(sizes) for kind, sizes in shape_sizes().items()}
_LARGE = ("convex",)  # types of shapes of any number of points
_known: WeakKeyDictionary[Shape | TriangleMesh | PointCloud, bytes] = WeakKeyDictionary()


def digest_of(parts: Iterable[bytes]) -> bytes:
    """Of some bytes in this order; where one ends and the next begins counts."""
    joined = b"".join(
        [piece for part in parts for piece in (len(part).to_bytes(8, "little"), part)]
    )
    return blake2b(joined, digest_size=16).digest()


def shape_content(shape: Shape | TriangleMesh | PointCloud) -> bytes:
    """The type of a shape or body and all that makes one of them; of what may be large its
    digest."""
    if isinstance(shape, Shape) and shape.type not in _LARGE:
        return b"".join(_content(shape))
    digest = _known.get(shape)
    if digest is None:
        digest = _known[shape] = digest_of(_content(shape))
    return digest


def _content(shape: Shape | TriangleMesh | PointCloud) -> list[bytes]:
    if isinstance(shape, PointCloud):
        return [b"points", np.float64(shape.radius).tobytes(), shape.points.tobytes()]
    if isinstance(shape, TriangleMesh):
        return [b"mesh", bytes([shape.is_solid]), shape.vertices.tobytes(), shape.faces.tobytes()]
    sizes = [
        np.asarray(getattr(shape, size), dtype=np.float64).tobytes() for size in _SIZES[shape.type]
    ]
    return [shape.type.encode(), *sizes]
