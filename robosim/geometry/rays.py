"""Rays: where they first meet a shape, for sensors and line-of-sight tests, with derivatives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import _engine
from robosim._engine import Compound, Shape
from robosim.errors import GeometryError
from robosim.geometry.derivatives import Feature
from robosim.geometry.poses import Array


class RayHits(NamedTuple):
    """Where n rays o + t d first meet a shape, in W."""

    hit: NDArray[np.bool_]
    """Whether they do, (n,)."""
    inside: NDArray[np.bool_]
    """Whether they start in the shape, (n,): then t = 0, the point is the origin and the normal
    against the direction."""
    t: Array
    """(n,), in lengths of the direction: in meters for unit directions; inf without a hit."""
    point: Array
    """Where, (n, 3) [m]; zero without a hit."""
    normal: Array
    """Outward unit normal of the surface there, (n, 3); of a triangle on the side that the ray
    comes from; zero without a hit."""
    piece: NDArray[np.int64]
    """Number of the piece that is hit, (n,), as in `PieceWitness`: 0 of a `Shape`; -1 without a
    hit."""


class RayRates(NamedTuple):
    """Derivatives of a hit in parameters of shape s: arrays of shape s and (3,) + s."""

    t: Array
    point: Array
    normal: Array


class RayDerivatives(NamedTuple):
    """How the hit of one ray moves. Without a hit all are zero."""

    hit: RayHits
    """What is differentiated, as `ray_cast` gives it for one ray: hit, inside and t are scalars."""
    origin: RayRates
    """In the ray's origin, (3,)."""
    direction: RayRates
    """In its direction, (3,)."""
    twist: RayRates
    """In the shape's pose, (6,): its twist [linear; angular] in its own frame."""
    sizes: dict[str, RayRates]
    """In every size of the shape, under its name in `shape_sizes`; of vertices in all their
    coordinates."""
    scale: RayRates
    """In a factor, at 1, by which the shape grows about the origin of its frame, ()."""
    feature: Feature
    """What the ray hits."""
    one_sided: bool
    """Whether they hold to one side only, as at an edge; also where the ray grazes or starts
    inside: there all are zero."""


def ray_cast(
    shape: Shape | Compound,
    X_WS: ArrayLike,
    origins: ArrayLike,
    directions: ArrayLike,
    *,
    max_t: float = np.inf,
    threads: int = 1,
) -> RayHits:
    """Where rays first meet a posed shape, or a body made of pieces.

    Exact to rounding on every type of shape: closed forms; convex meshes of more than 64 faces and
    rounded shapes by Newton's method on the distance along the ray, which never passes a hit. A ray
    that grazes the shape within rounding may be answered either way.

    Args:
        shape: of any type, or a body: then through its tree; triangles of surfaces are met from
            either side.
        X_WS: its pose, (4, 4).
        origins: where the rays start, (n, 3) or, of all the same, (3,) [m].
        directions: where they go, (n, 3) or (3,), of any length but zero.
        max_t: what is farther is not hit; in lengths of the direction.
        threads: at most so many share the work, 0 for as many as there are processors; changes
            nothing else.

    Returns:
        One row per ray; n is 1 where both are (3,).

    Raises:
        GeometryError: the pose is not a rigid (4, 4) matrix of finite numbers, a ray has no
            direction or is not of finite numbers, as many origins and directions are not given, or
            max_t or threads is negative.

    Example:
        >>> import numpy as np
        >>> from robosim.geometry import Shape, pose, ray_cast
        >>> beams = np.column_stack([np.ones(3), np.zeros(3), (0, 0.3, 0.6)])
        >>> ray_cast(Shape.sphere(0.5), pose((2, 0, 0)), (0, 0, 0), beams).t.round(3)
        array([1.5, inf, inf])
        >>> ray_cast(Shape.box((1, 1, 1)), pose((2, 0, 0)), (0, 0, 0), beams).t
        array([1.5, 1.5, inf])
    """
    return RayHits(*_engine.ray_cast(shape, X_WS, *ray_rows(origins, directions), max_t, threads))


def ray_rows(origins: ArrayLike, directions: ArrayLike) -> tuple[Array, Array]:
    """Rays as (n, 3) origins and directions; where one of the two is (3,), it is that of all."""
    o, d = _rows("origins", origins), _rows("directions", directions)
    n = max(len(o), len(d)) if np.ndim(origins) == 2 or np.ndim(directions) == 2 else 1
    o = np.broadcast_to(o, (n, 3)) if np.ndim(origins) == 1 else o
    d = np.broadcast_to(d, (n, 3)) if np.ndim(directions) == 1 else d
    return o, d


def ray_cast_derivatives(
    shape: Shape, X_WS: ArrayLike, origin: ArrayLike, direction: ArrayLike
) -> RayDerivatives:
    """Where a ray first meets a posed shape, with the exact derivatives of t, point and normal.

    In the ray, the shape's pose and its own sizes: with n the normal, a surface that moves by u
    there and a ray that moves by do and dd, dt = n.(u - do - t dd) / (n.d). On curved surfaces the
    normal turns as the point moves.

    Args:
        shape: of any type.
        X_WS: its pose, (4, 4).
        origin: where the ray starts, (3,) [m].
        direction: where it goes, (3,), of any length but zero.

    Returns:
        The hit and its derivatives.

    Raises:
        GeometryError: the pose is not a rigid (4, 4) matrix of finite numbers, or the ray has no
            direction or is not of finite numbers.

    Example:
        >>> from robosim.geometry import Shape, pose, ray_cast_derivatives
        >>> d = ray_cast_derivatives(Shape.sphere(0.5), pose((2, 0, 0)), (0, 0, 0), (1, 0, 0))
        >>> d.twist.t[:3] + 0  # the sphere moves away: the hit, too
        array([1., 0., 0.])
        >>> d.sizes["radius"].t
        array(-1.)
        >>> d.origin.normal[1, 1]  # a ray beside hits the sphere where it has turned away
        np.float64(2.0)
    """
    parts = _engine.ray_cast_derivatives(shape, X_WS, origin, direction)
    hit, by_origin, by_direction, twist, sizes, scale, feature, one_sided = parts
    is_hit, inside, t, point, normal = (np.asarray(x) for x in hit)
    return RayDerivatives(
        RayHits(is_hit, inside, t, point, normal, np.where(is_hit, 0, -1)),
        RayRates(*by_origin),
        RayRates(*by_direction),
        RayRates(*twist),
        {name: RayRates(*rates) for name, rates in sizes.items()},
        RayRates(*scale),
        Feature(*feature),
        one_sided,
    )


def _rows(name: str, values: ArrayLike) -> Array:
    try:
        rows = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise GeometryError(
            f"{name} are {values!r}; numbers of shape (n, 3) or (3,) are needed"
        ) from None
    if rows.ndim not in (1, 2) or rows.shape[-1] != 3:
        raise GeometryError(f"{name} are of shape {rows.shape}; (n, 3) or (3,) is needed")
    return rows.reshape(-1, 3)
