"""Ray casting against shapes, for sensors and line-of-sight tests, with derivatives."""

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
    """First hits of n rays o + t d with a shape, in W."""

    hit: NDArray[np.bool_]
    """True if the ray hits the shape, (n,)."""
    inside: NDArray[np.bool_]
    """True if the ray starts in the shape, (n,).

    Then t = 0, the point is the origin, and the normal is opposite to the direction.
    """
    t: Array
    """(n,) ray parameter, in lengths of the direction; inf without a hit.

    It is in meters for unit directions.
    """
    point: Array
    """Points of the hits, (n, 3) [m]; zero without a hit."""
    normal: Array
    """Outward unit normals of the surface at the hits, (n, 3); zero without a hit.

    For a triangle, the normal is on the ray's side.
    """
    piece: NDArray[np.int64]
    """Number of the piece that is hit, (n,), as in `PieceWitness`.

    It is 0 for a `Shape`, and -1 without a hit.
    """


class RayRates(NamedTuple):
    """Derivatives of a hit with respect to parameters of shape s.

    Arrays have shape s and (3,) + s.
    """

    t: Array
    point: Array
    normal: Array


class RayDerivatives(NamedTuple):
    """Derivatives of the hit of one ray. Without a hit all are zero."""

    hit: RayHits
    """Hit that is differentiated, as `ray_cast` returns it, with scalar hit, inside and t."""
    origin: RayRates
    """Derivatives with respect to the ray's origin, (3,)."""
    direction: RayRates
    """Derivatives with respect to the ray's direction, (3,)."""
    twist: RayRates
    """Derivatives in the shape's pose, (6,): its twist [linear; angular] in its own frame."""
    sizes: dict[str, RayRates]
    """Derivatives with respect to sizes of the shape, by name in `shape_sizes`.

    For vertices, they are with respect to all coordinates.
    """
    scale: RayRates
    """Derivatives in a factor, at 1, that scales the shape about the origin of its frame, ()."""
    feature: Feature
    """Feature that the ray hits."""
    one_sided: bool
    """True if the derivatives are one-sided, as at an edge.

    Also true if the ray grazes the shape or starts inside. All derivatives are then zero.
    """


def ray_cast(
    shape: Shape | Compound,
    X_WS: ArrayLike,
    origins: ArrayLike,
    directions: ArrayLike,
    *,
    max_t: float = np.inf,
    threads: int = 1,
) -> RayHits:
    """Compute the first hits of rays with a posed shape, or a body made of pieces.

    The result is exact to rounding for every type of shape. Most types have closed forms. Convex
    meshes of more than 64 faces and rounded shapes use Newton's method on the distance along the
    ray, which never passes a hit. A ray that grazes the shape within rounding may count as a hit or
    not.

    Args:
        shape: of any type, or a body, which is searched through its tree. Triangles of surfaces are
            hit from either side.
        X_WS: pose of the shape, (4, 4).
        origins: start points of the rays, (n, 3), or (3,) for all rays [m].
        directions: directions of the rays, (n, 3) or (3,), of any non-zero length.
        max_t: largest ray parameter of a hit, in lengths of the direction.
        threads: largest number of threads, 0 for the number of processors. It does not change
            results.

    Returns:
        One row per ray; n is 1 if both are (3,).

    Raises:
        GeometryError: the pose is not a rigid (4, 4) matrix of finite numbers, a direction is zero,
            a number is not finite, the numbers of origins and directions differ, or max_t or
            threads is negative.

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
    """Return rays as (n, 3) origins and directions. One that is (3,) is shared by all rays."""
    o, d = _rows("origins", origins), _rows("directions", directions)
    n = max(len(o), len(d)) if np.ndim(origins) == 2 or np.ndim(directions) == 2 else 1
    o = np.broadcast_to(o, (n, 3)) if np.ndim(origins) == 1 else o
    d = np.broadcast_to(d, (n, 3)) if np.ndim(directions) == 1 else d
    return o, d


def ray_cast_derivatives(
    shape: Shape, X_WS: ArrayLike, origin: ArrayLike, direction: ArrayLike
) -> RayDerivatives:
    """Compute the first hit of a ray, with exact derivatives of t, point and normal.

    Derivatives are with respect to the ray, the shape's pose and its own sizes. With normal n, a
    surface that moves by u at the hit, and a ray that moves by do and dd, dt = n.(u - do - t dd) /
    (n.d). On curved surfaces the normal turns as the point moves.

    Args:
        shape: of any type.
        X_WS: pose of the shape, (4, 4).
        origin: start point of the ray, (3,) [m].
        direction: direction of the ray, (3,), of any non-zero length.

    Returns:
        The hit and its derivatives.

    Raises:
        GeometryError: the pose is not a rigid (4, 4) matrix of finite numbers, the direction is
            zero, or a number of the ray is not finite.

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
