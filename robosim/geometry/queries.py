"""Shapes, what bounds them, and how two posed shapes lie to each other."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from robosim import _engine
from robosim._engine import Compound, Shape
from robosim.geometry.poses import Array


class Witness(NamedTuple):
    """How the closest features of two shapes A and B lie, in W.

    `p_WB - p_WA = distance * normal`. Where the nearest points are not unique (parallel faces,
    coincident centers), one pair of them is given.
    """

    distance: float
    """Signed [m]: the gap, or minus the length of the shortest translation that separates
    overlapping shapes."""
    p_WA: Array
    """Nearest (when overlapping: deepest) point of A, (3,) [m]."""
    p_WB: Array
    """The same of B, (3,) [m]."""
    normal: Array
    """Unit vector from A to B, (3,)."""


def shape_sizes() -> dict[str, dict[str, str]]:
    """The types of shapes, each with its sizes: name and kind, in the order of the constructor's
    arguments.

    `Shape.<type>(...)` takes them, a shape has them as attributes, scene files as keys. Kinds:
    "number" (float), "vector" ((3,)) and "points" ((n, 3)), all in meters.

    Example:
        >>> shape_sizes()["capsule"]
        {'radius': 'number', 'length': 'number'}
    """
    return _engine.shape_sizes()


def signed_distance(
    A: Shape | Compound, X_WA: ArrayLike, B: Shape | Compound, X_WB: ArrayLike
) -> Witness:
    """Signed distance of two posed shapes, with the points that attain it.

    Args:
        A: the first shape, or a body made of pieces.
        X_WA: its pose, (4, 4).
        B: the second one.
        X_WB: its pose, (4, 4).

    Returns:
        Distance [m], negative inside, and the points that attain it: exact to rounding, on shapes
            of about 1 m some 1e-12 m. Two half-spaces overlap without end (distance -inf) unless
            they face each other. Of bodies made of pieces it is that of two pieces: see
            `closest_pieces`.

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
    """Whether two posed shapes, or bodies made of pieces, are closer than `margin` [m] (zero or
    more).

    By default, whether they overlap.

    Cheaper than `signed_distance`. Shapes that just touch do not overlap; rounding decides within
    about 1e-14 of their size.

    Raises:
        GeometryError: a pose is not a rigid (4, 4) matrix of finite numbers, or margin is negative.
    """
    if isinstance(A, Compound) or isinstance(B, Compound):
        return _engine.bodies_closer_than(margin, A, X_WA, B, X_WB)
    return _engine.closer_than(margin, A, X_WA, B, X_WB)


def bounding_ball(shape: Shape) -> tuple[Array, float]:
    """Center (3,) and radius [m], in the shape's frame, of the smallest ball around it; infinite
    for a half-space."""
    return _engine.bounding_ball(shape)


def bounding_box(shape: Shape | Compound, X_WS: ArrayLike) -> tuple[Array, Array]:
    """Lower and upper corner (3,) [m] in W of the smallest axis-aligned box around a shape, or a
    body made of pieces, at pose X_WS (4, 4)."""
    if isinstance(shape, Compound):
        return _engine.body_bounding_box(shape, X_WS)
    return _engine.bounding_box(shape, X_WS)
