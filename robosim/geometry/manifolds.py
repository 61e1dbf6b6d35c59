"""Contact manifolds: all places where two posed shapes touch, with one normal, and their
derivatives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import _engine
from robosim._engine import Shape
from robosim.geometry.poses import Array


class ManifoldFeature(NamedTuple):
    """The part of a shape that generates a point of a manifold."""

    kind: str
    """"vertex", "edge" (a rim, too), "face", or "curved", as `Feature.kind`."""
    number: int
    """Among the shape's features of this kind; the same feature has the same number in any pose."""
    part: int
    """On a rim, which of the six points that stand for it (1 to 6); on a face with a rim, which
    chord between them; else 0."""


class Manifold(NamedTuple):
    """Where two shapes A and B touch, or nearly do: n points (0 to 8) with one normal, in W.

    `p_WB - p_WA = gap * normal` for each. Points come in an order that their features alone decide;
    features name the same points from step to step.
    """

    distance: float
    """The shapes' signed distance [m]: the least of the gaps, of what lies flat to a millionth of
    its size."""
    normal: Array
    """Unit vector from A to B, (3,)."""
    gap: Array
    """Along the normal, negative inside [m], (n,)."""
    p_WA: Array
    """On A's surface [m], (n, 3)."""
    p_WB: Array
    """On B's surface [m], (n, 3)."""
    p_W: Array
    """On the same lines, all in one plane across the normal: the reference's face, else half way
    between the nearest points [m], (n, 3)."""
    features_A: tuple[ManifoldFeature, ...]
    """What of A generates each point."""
    features_B: tuple[ManifoldFeature, ...]
    """The same of B."""
    slide: Array
    """How far the shapes may move across the normal until other features generate the point [m],
    (n,)."""
    reference: str | None
    """"A" or "B" where the normal is that of its face, and turns with it alone; else None."""


class ManifoldRates(NamedTuple):
    """Derivatives of a `Manifold` in parameters of shape s: arrays of shape (n,) + s, (3,) + s and
    (n, 3) + s."""

    gap: Array
    normal: Array
    p_WA: Array
    p_WB: Array
    p_W: Array


class ManifoldDerivatives(NamedTuple):
    """How the points of a contact manifold move, each with the features that generate it."""

    manifold: Manifold
    """What is differentiated, as `contact_manifold` gives it."""
    twist: ManifoldRates
    """In the poses, (12,): the twist of A, then of B, each [linear; angular] in the moving
    frame."""
    sizes_A: dict[str, ManifoldRates]
    """In every size of A, under its name in `shape_sizes`; of a convex mesh in all coordinates of
    its vertices."""
    sizes_B: dict[str, ManifoldRates]
    """The same of B."""
    scale_A: ManifoldRates
    """In a factor, at 1, by which A grows about the origin of its frame, ()."""
    scale_B: ManifoldRates
    """The same of B."""
    one_sided: NDArray[np.bool_]
    """Of each point, (n,): whether they hold to one side only, as another feature takes over right
    here or the normal may become another one."""


def contact_manifold(
    A: Shape, X_WA: ArrayLike, B: Shape, X_WB: ArrayLike, *, margin: float = 0.0
) -> Manifold:
    """All places where two posed shapes touch, with one normal: four of a box on the ground, two of
    a lying capsule.

    The normal is that of `signed_distance`; where faces, or an edge and a face, lie flat on each
    other, leaning by up to 1e-6 rad, that of a face, so that it turns with that shape alone. Seen
    along it, the points are the corners of what both shapes' faces (or straight lines) towards each
    other have in common: corners of A over B, of B over A, and crossings of edges. Each lies on
    both surfaces. Those with a gap up to the margin count, whatever the angle of the faces, so that
    a box that settles keeps its four corners; give a margin that is larger than the gaps of a
    resting body. Discs are represented by six points of their rim, and the lowest point where they
    are tilted by more than that. Of more than eight points the deepest and those farthest from each
    other stay.

    Args:
        A: the first shape.
        X_WA: its pose, (4, 4).
        B: the second shape.
        X_WB: its pose, (4, 4).
        margin: largest gap of a point [m], zero or more.

    Returns:
        The manifold; without points where the distance exceeds the margin, and for two half-spaces
            that overlap without end.

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
    """The contact manifold of two posed shapes with its exact derivatives: gaps, points and the
    normal.

    With the features that generate each point held, for every pair of shapes, in the poses and the
    shapes' own sizes. Also where faces are parallel, as under a resting box: as long as the corners
    of one shape alone touch the face of the other (`Manifold.reference`), all is smooth there.

    Args:
        A: the first shape.
        X_WA: its pose, (4, 4).
        B: the second shape.
        X_WB: its pose, (4, 4).
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
    """The manifold that the engine gives as a tuple."""
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
