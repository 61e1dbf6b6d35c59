"""Bodies made of convex pieces: which pieces are closest, all that are near, and where they
touch."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from robosim import _engine
from robosim._engine import Compound, Shape
from robosim.geometry.manifolds import Manifold, read_manifold
from robosim.geometry.queries import Witness


class PieceWitness(NamedTuple):
    """Two pieces of bodies A and B, and how they lie."""

    witness: Witness
    """As of two shapes, in W."""
    piece_A: int
    """Number of the piece of A: the face of a `TriangleMesh`, the triangle of a `HeightField`, the
    point of a `PointCloud`; of a `Compound` counted through its parts; 0 of a `Shape`."""
    piece_B: int
    """The same of B."""


class PieceManifold(NamedTuple):
    """Two pieces of bodies A and B, and where they touch."""

    manifold: Manifold
    """As of two shapes, in W; of a one-sided triangle about the way out that `contacts` gives."""
    piece_A: int
    """Number of the piece of A, as in `PieceWitness`."""
    piece_B: int
    """The same of B."""


def closest_pieces(
    A: Shape | Compound, X_WA: ArrayLike, B: Shape | Compound, X_WB: ArrayLike
) -> PieceWitness:
    """Signed distance of two posed bodies, and the pieces that attain it.

    It is the least signed distance of a piece of A and a piece of B: apart, the distance of the
    bodies; where they overlap, how deep the deepest pair is. Triangles of meshes and height fields
    are one-sided: a shape that meets one leaves it along an outward normal of the surface there,
    the face's own or, at an edge or a vertex that sticks out, one between those of its faces. Then
    the answer is the shortest of these ways that takes A off B, if one does, else the deepest. What
    lies wholly in the solid behind a closed mesh or under a height field leaves through the nearest
    triangle; an open mesh does not see it.

    Args:
        A: the first body.
        X_WA: its pose, (4, 4).
        B: the second body.
        X_WB: its pose, (4, 4).

    Raises:
        GeometryError: a pose is not a rigid (4, 4) matrix of finite numbers.

    Example:
        >>> import numpy as np
        >>> from robosim.geometry import HeightField, pose
        >>> ground = HeightField(np.zeros((11, 11)), 0.1)
        >>> w = closest_pieces(ground, pose(), Shape.sphere(0.2), pose((0.52, 0.51, 0.15)))
        >>> round(w.witness.distance, 12), w.witness.normal, w.piece_A
        (-0.05, array([0., 0., 1.]), 110)
    """
    witness, piece_A, piece_B = _engine.closest_pieces(A, X_WA, B, X_WB)
    return PieceWitness(Witness(*witness), piece_A, piece_B)


def contacts(
    A: Shape | Compound,
    X_WA: ArrayLike,
    B: Shape | Compound,
    X_WB: ArrayLike,
    *,
    margin: float = 0.0,
) -> list[PieceWitness]:
    """All pairs of pieces of two posed bodies that are closer than `margin` [m] (zero or more), by
    their numbers.

    Left out are triangles whose nearest point, or shortest way out, lies on an edge or a vertex in
    a direction that is no outward normal of the surface there: another triangle sees it better. The
    closest pair is always among them, and those that meet beside it with the same normal.

    Raises:
        GeometryError: a pose is not a rigid (4, 4) matrix of finite numbers, or margin is negative.

    Example:
        >>> from robosim.geometry import PointCloud, pose
        >>> cloud = PointCloud([(0, 0, 0), (1, 0, 0), (2, 0, 0)], 0.1)
        >>> lid = Shape.box((3, 1, 1))
        >>> [c.piece_A for c in contacts(cloud, pose(), lid, pose((0.2, 0, 0.65)), margin=0.1)]
        [0, 1]
    """
    found = _engine.contacts(margin, A, X_WA, B, X_WB)
    return [
        PieceWitness(Witness(*witness), piece_A, piece_B) for witness, piece_A, piece_B in found
    ]


def contact_manifolds(
    A: Shape | Compound,
    X_WA: ArrayLike,
    B: Shape | Compound,
    X_WB: ArrayLike,
    *,
    margin: float = 0.0,
) -> list[PieceManifold]:
    """The contact manifolds of pairs of pieces, in the order of their numbers.

    They are those of `contacts`. A triangle that is not among these, as another one is touched
    first at a side that they share, may have corners of the other body over it: these are there
    along the triangle's normal.

    Triangles of a surface share edges and corners, and what touches one of these touches several
    triangles: such a point is there once, in the manifold of the triangle whose face has the normal
    or else of the first. Pairs without a point of their own have no manifold.

    Raises:
        GeometryError: a pose is not a rigid (4, 4) matrix of finite numbers, or margin is negative.

    Example:
        >>> import numpy as np
        >>> from robosim.geometry import HeightField, pose
        >>> ground, box = HeightField(np.zeros((3, 3)), 1.0), Shape.box((0.4, 0.4, 0.4))
        >>> found = contact_manifolds(ground, pose(), box, pose((1, 1, 0.199)))
        >>> [(m.piece_A, m.manifold.gap.round(6).tolist()) for m in found][:2]
        [(0, [-0.001, -0.001, -0.001]), (1, [-0.001])]
    """
    found = _engine.contact_manifolds(A, X_WA, B, X_WB, margin)
    return [PieceManifold(read_manifold(m), piece_A, piece_B) for m, piece_A, piece_B in found]
