"""Contact manifolds: all contact points of two posed shapes with one normal, and derivatives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import _engine
from robosim._engine import Shape
from robosim.geometry.poses import Array


class ManifoldFeature(NamedTuple):
    """Feature of a shape that generates a point of a manifold."""

    kind: str
    """"vertex", "edge" (also a rim), "face", or "curved", as `Feature.kind`."""
    number: int
    """Index among the shape's features of this kind, the same for a feature in any pose."""
    part: int
    """Part of the feature.

    For a rim, which of its six representative points (1 to 6). For a face with a rim, which chord
    between them. Otherwise 0.
    """


class Manifold(NamedTuple):
    """Contact points of two shapes A and B: n points (0 to 8) with one normal, in W.

    Each satisfies `p_WB - p_WA = gap * normal`. The order of the points depends on their features
    alone, and features identify points from step to step.
    """

    distance: float
    """Signed distance of the shapes [m].

    It is the least of the gaps; for shapes that lie flat on each other, up to a millionth of their
    size.
    """
    normal: Array
    """Unit vector from A to B, (3,)."""
    gap: Array
    """Gaps along the normal, negative for penetration [m], (n,)."""
    p_WA: Array
    """Points on the surface of A [m], (n, 3)."""
    p_WB: Array
    """Points on the surface of B [m], (n, 3)."""
    p_W: Array
    """Points on the same lines, all in one plane perpendicular to the normal [m], (n, 3).

    The plane is that of the reference face, otherwise halfway between the nearest points.
    """
    features_A: tuple[ManifoldFeature, ...]
    """Feature of A that generates each point."""
    features_B: tuple[ManifoldFeature, ...]
    """Feature of B that generates each point."""
    slide: Array
    """Distance that the shapes may slide before the features of a point change [m], (n,).

    It is measured perpendicular to the normal.
    """
    reference: str | None
    """Shape with the reference face, "A" or "B", otherwise None.

    The normal is that of this face and turns with its shape alone.
    """


class ManifoldRates(NamedTuple):
    """Derivatives of a `Manifold` with respect to parameters of shape s.

    Arrays have shapes (n,) + s, (3,) + s and (n, 3) + s.
    """

    gap: Array
    normal: Array
    p_WA: Array
    p_WB: Array
    p_W: Array


class ManifoldDerivatives(NamedTuple):
    """Derivatives of the points of a contact manifold, at constant generating features."""

    manifold: Manifold
    """Manifold that is differentiated, as `contact_manifold` returns it."""
    twist: ManifoldRates
    """Derivatives with respect to the poses, (12,).

    They are in the twist of A, then of B, each [linear; angular] in its moving frame.
    """
    sizes_A: dict[str, ManifoldRates]
    """Derivatives with respect to sizes of A, by name in `shape_sizes`.

    For a convex mesh, they are with respect to all coordinates of its vertices.
    """
    sizes_B: dict[str, ManifoldRates]
    """Derivatives with respect to every size of B, likewise."""
    scale_A: ManifoldRates
    """Derivatives in a factor, at 1, that scales A about the origin of its frame, ()."""
    scale_B: ManifoldRates
    """Derivatives in a factor, at 1, that scales B about the origin of its frame, ()."""
    one_sided: NDArray[np.bool_]
    """True, for each point (n,), if its derivatives are one-sided.

    This is so if another feature takes over at this pose, or if the normal may switch to another.
    """


def contact_manifold(
    A: Shape, X_WA: ArrayLike, B: Shape, X_WB: ArrayLike, *, margin: float = 0.0
) -> Manifold:
    """Compute all contact points of two posed shapes with one normal.

    A box on the ground has four points, a lying capsule two. The normal is that of
    `signed_distance`. If faces, or an edge and a face, lie flat on each other, within 1e-6 rad, it
    is a face's normal and turns with that shape alone.

    The points are those of the intersection of both shapes' facing faces (or edges), as seen along
    the normal: corners of A over B, corners of B over A, and crossings of edges. Each point lies on
    both surfaces. All points with a gap up to the margin count, at any angle of the faces, so a
    settling box keeps its four corners. Choose a margin above the gaps of a resting body.

    Discs are represented by six points of their rim, and by the lowest point of the rim if tilted
    by more than 1e-6 rad. Of more than eight points, the deepest and those farthest from each other
    are kept.

    Args:
        A: the first shape.
        X_WA: pose of A, (4, 4).
        B: the second shape.
        X_WB: pose of B, (4, 4).
        margin: largest gap of a point [m], zero or more.

    Returns:
        The manifold. It has no points if the distance exceeds the margin, or for two half-spaces
            with unbounded overlap.

    Raises:
        GeometryError: a pose is not a rigid (4, 4) matrix of finite numbers, or the margin is
            negative or not finite.

    Example:
        >>> from robosim.geometry import Shape, contact_manifold, pose
        >>> ground, box = Shape.half_space(), Shape.box((1, 1, 1))
        >>> m = contact_manifold(ground, pose(), box, pose((0, 0, 0.499)), margin=0.01)
        >>> m.gap.round(6)
        array([-0.001, -0.001, -0.001, -0.001])
        >>> m.features_B[0]
        ManifoldFeature(kind='vertex', number=0, part=0)
    """
    return read_manifold(_engine.contact_manifold(A, X_WA, B, X_WB, margin))


def contact_manifold_derivatives(
    A: Shape, X_WA: ArrayLike, B: Shape, X_WB: ArrayLike, *, margin: float = 0.0
) -> ManifoldDerivatives:
    """Compute the contact manifold, with exact derivatives of gaps, points and normal.

    Derivatives are taken at constant generating features, for every pair of shapes, with respect to
    the poses and the shapes' own sizes. They also exist for parallel faces, as under a resting box:
    all is smooth while only corners of one shape touch the face of the other
    (`Manifold.reference`).

    Args:
        A: the first shape.
        X_WA: pose of A, (4, 4).
        B: the second shape.
        X_WB: pose of B, (4, 4).
        margin: largest gap of a point [m], zero or more.

    Returns:
        The manifold and its derivatives.

    Raises:
        GeometryError: a pose is not a rigid (4, 4) matrix of finite numbers, or the margin is
            negative or not finite.

    Example:
        >>> from robosim.geometry import Shape, contact_manifold_derivatives, pose
        >>> ground, box = Shape.half_space(), Shape.box((1, 1, 1))
        >>> d = contact_manifold_derivatives(ground, pose(), box, pose((0, 0, 0.5)))
        >>> d.twist.gap[:, 9].round(6)  # each corner's gap as the box turns about x: its own y
        array([-0.5, -0.5,  0.5,  0.5])
        >>> d.sizes_B["size"].gap[0]
        array([ 0. ,  0. , -0.5])
        >>> bool(d.one_sided.any())
        False
    """
    parts = _engine.contact_manifold_derivatives(A, X_WA, B, X_WB, margin)
    manifold, twist, sizes_A, sizes_B, scale_A, scale_B, one_sided = parts
    return ManifoldDerivatives(
        read_manifold(manifold),
        ManifoldRates(*twist),
        {name: ManifoldRates(*rates) for name, rates in sizes_A.items()},
        {name: ManifoldRates(*rates) for name, rates in sizes_B.items()},
        ManifoldRates(*scale_A),
        ManifoldRates(*scale_B),
        one_sided,
    )


_Ids = list[tuple[str, int, int]]
_Parts = tuple[float, Array, Array, Array, Array, Array, _Ids, _Ids, Array, int]


def read_manifold(parts: _Parts) -> Manifold:
    """Convert the engine's tuple to a manifold."""
    distance, normal, gap, p_WA, p_WB, p_W, features_A, features_B, slide, reference = parts
    return Manifold(
        distance,
        normal,
        gap,
        p_WA,
        p_WB,
        p_W,
        tuple(ManifoldFeature(*f) for f in features_A),
        tuple(ManifoldFeature(*f) for f in features_B),
        slide,
        (None, "A", "B")[reference + 1],
    )
