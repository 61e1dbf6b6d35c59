"""Shapes, their bounds, and distance queries on two posed shapes."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from robosim import _engine
from robosim._engine import Compound, Shape
from robosim.geometry.poses import Array


class Witness(NamedTuple):
    """Witness points of two shapes A and B, in W.

    `p_WB - p_WA = distance * normal`. If the nearest points are not unique (parallel faces,
    coincident centers), the result is one such pair.
    """

    distance: float
    """Signed distance [m].

    It is the gap, or minus the length of the shortest translation that separates overlapping
    shapes.
    """
    p_WA: Array
    """Nearest point of A, or deepest if the shapes overlap, (3,) [m]."""
    p_WB: Array
    """Nearest point of B, or deepest if the shapes overlap, (3,) [m]."""
    normal: Array
    """Unit vector from A to B, (3,)."""


def shape_sizes() -> dict[str, dict[str, str]]:
    """Return the types of shapes with names and kinds of their sizes, in the constructors' order.

    `Shape.<type>(...)` takes these sizes as arguments, a shape has them as attributes, scene files
    as keys. Kinds are "number" (float), "vector" ((3,)) and "points" ((n, 3)), all in meters.

    Example:
        >>> shape_sizes()["capsule"]
        {'radius': 'number', 'length': 'number'}
    """
    return _engine.shape_sizes()


def signed_distance(
    A: Shape | Compound, X_WA: ArrayLike, B: Shape | Compound, X_WB: ArrayLike
) -> Witness:
    """Compute the signed distance of two posed shapes, with the points that attain it.

    Args:
        A: the first shape, or a body made of pieces.
        X_WA: pose of A, (4, 4).
        B: the second shape, likewise.
        X_WB: pose of B, (4, 4).

    Returns:
        Distance [m], negative for overlap, and the points that attain it. Exact to rounding, about
            1e-12 m for shapes of about 1 m. The overlap of two half-spaces is unbounded (distance
            -inf) unless they face each other. For bodies made of pieces it is the distance of two
            pieces, see `closest_pieces`.

    Raises:
        GeometryError: a pose is not a rigid (4, 4) matrix of finite numbers.
    """
    if isinstance(A, Compound) or isinstance(B, Compound):
        return Witness(*_engine.closest_pieces(A, X_WA, B, X_WB)[0])
    return Witness(*_engine.signed_distance(A, X_WA, B, X_WB))


def collide(
    A: Shape | Compound,
    X_WA: ArrayLike,
    B: Shape | Compound,
    X_WB: ArrayLike,
    *,
    margin: float = 0.0,
) -> bool:
    """Return true if two posed shapes or bodies are closer than `margin` [m] (non-negative).

    With the default margin, return true if they overlap. This is cheaper than `signed_distance`.
    Shapes that just touch do not overlap. Rounding decides within about 1e-14 of their size.

    Raises:
        GeometryError: a pose is not a rigid (4, 4) matrix of finite numbers, or margin is negative.
    """
    if isinstance(A, Compound) or isinstance(B, Compound):
        return _engine.bodies_closer_than(margin, A, X_WA, B, X_WB)
    return _engine.closer_than(margin, A, X_WA, B, X_WB)


def bounding_ball(shape: Shape) -> tuple[Array, float]:
    """Center (3,) and radius [m] of the smallest bounding ball, in the shape's frame.

    The radius is infinite for a half-space.
    """
    return _engine.bounding_ball(shape)


def bounding_box(shape: Shape | Compound, X_WS: ArrayLike) -> tuple[Array, Array]:
    """Lower and upper corner (3,) [m] in W of the smallest axis-aligned bounding box.

    The shape, or body made of pieces, is at pose X_WS (4, 4).
    """
    if isinstance(shape, Compound):
        return _engine.body_bounding_box(shape, X_WS)
    return _engine.bounding_box(shape, X_WS)
