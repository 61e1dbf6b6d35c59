"""Pickling and copying of shapes and bodies by their constructors' arguments, exact to the bit."""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Mapping
from typing import Any

from robosim._engine import Compound, HeightField, PointCloud, Shape, TriangleMesh, shape_sizes
from robosim.errors import GeometryError, suggestion
from robosim.pickling import maker, rebuild

_SIZES = shape_sizes()
# Constructor arguments of each class of bodies.
_BODIES: dict[type[Compound], Callable[[Any], dict[str, Any]]] = {
    TriangleMesh: lambda mesh: {
        "vertices": mesh.vertices,
        "faces": mesh.faces,
        "solid": mesh.is_solid,
    },
    HeightField: lambda field: {"heights": field.heights, "spacing": field.spacing},
    PointCloud: lambda cloud: {"points": cloud.points, "radius": cloud.radius},
    Compound: lambda body: {"parts": body.parts},
}
_MAKERS: dict[str, Callable[..., Shape | Compound]] = {
    **{type: getattr(Shape, type) for type in _SIZES},
    **{body.__name__: body for body in _BODIES},
}


@maker
def make_body(kind: str, arguments: Mapping[str, Any]) -> Shape | Compound:
    """Construct a shape from a type of `shape_sizes` and its sizes, or a body from its class.

    Raises:
        GeometryError: there is no such type or class, or the arguments do not fit it.
    """
    if kind not in _MAKERS:
        raise GeometryError(
            f"there is no shape or body {kind!r}{suggestion(kind, _MAKERS, limit=None)}"
        )
    return _MAKERS[kind](**arguments)


def _reduced_shape(shape: Shape) -> tuple[Any, ...]:
    sizes = {name: getattr(shape, name) for name in _SIZES[shape.type]}
    return rebuild, (make_body, {"kind": shape.type, "arguments": sizes})


def _reduced_body(body: Compound) -> tuple[Any, ...]:
    return rebuild, (
        make_body,
        {"kind": type(body).__name__, "arguments": _BODIES[type(body)](body)},
    )


def register() -> None:
    """Register the engine's shapes and bodies with `pickle` and `copy`."""
    copyreg.pickle(Shape, _reduced_shape)
    for body in _BODIES:
        copyreg.pickle(body, _reduced_body)
