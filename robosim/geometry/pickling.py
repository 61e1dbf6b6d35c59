"""How shapes and bodies are pickled and copied: their constructors' arguments, which give the same shape to the bit."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from typing import Any

from robosim._engine import Compound, HeightField, PointCloud, Shape, TriangleMesh, shape_sizes
from robosim.errors import GeometryError
from robosim.pickling import rebuild

_SIZES = shape_sizes()


def make_shape(type: str, sizes: Mapping[str, Any]) -> Shape:
    """The shape of a type of `shape_sizes` with these sizes.

    Raises:
        GeometryError: there is no such type, or it has not these sizes.
    """
    if type not in _SIZES:
        raise GeometryError(f"type of a shape is {type!r}; it must be one of {', '.join(_SIZES)}")
    shape: Shape = getattr(Shape, type)(**sizes)
    return shape


def _reduced(make: Any, **arguments: Any) -> tuple[Any, ...]:
    return rebuild, (make, arguments)


def register() -> None:
    """Have `pickle` and `copy` know the engine's shapes and bodies."""
    copyreg.pickle(
        Shape,
        lambda shape: _reduced(
            make_shape, type=shape.type, sizes={name: getattr(shape, name) for name in _SIZES[shape.type]}
        ),
    )
    copyreg.pickle(
        TriangleMesh,
        lambda mesh: _reduced(TriangleMesh, vertices=mesh.vertices, faces=mesh.faces, solid=mesh.is_solid),
    )
    copyreg.pickle(
        HeightField, lambda field: _reduced(HeightField, heights=field.heights, spacing=field.spacing)
    )
    copyreg.pickle(PointCloud, lambda cloud: _reduced(PointCloud, points=cloud.points, radius=cloud.radius))
    copyreg.pickle(Compound, lambda body: _reduced(Compound, parts=body.parts))
