"""Queries on bodies made of convex pieces: closest pieces, all near pieces, and contact points."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from robosim import _engine
from robosim._engine import Compound, Shape
from robosim.geometry.manifolds import Manifold, read_manifold
from robosim.geometry.queries import Witness


class PieceWitness(NamedTuple):
    """Witness points of two pieces of bodies A and B."""

    witness: Witness
    """Witness of the two pieces as shapes, in W."""
    piece_A: int
    """Number of the piece of A.

    It is the face of a `TriangleMesh`, the triangle of a `HeightField`, the point of a
    `PointCloud`, a running number over the parts of a `Compound`, or 0 for a `Shape`.
    """
    piece_B: int
    """Number of the piece of B, likewise."""


class PieceManifold(NamedTuple):
    """Contact manifold of two pieces of bodies A and B."""

    manifold: Manifold
    """Manifold of the two pieces as shapes, in W.

    For a one-sided triangle, it is along the separating direction of `contacts`.
    """
    piece_A: int
    """Number of the piece of A, as in `PieceWitness`."""
    piece_B: int
    """Number of the piece of B, likewise."""


def closest_pieces(
    A: Shape | Compound, X_WA: ArrayLike, B: Shape | Compound, X_WB: ArrayLike
) -> PieceWitness:
    """Signed distance of two posed bodies, and the pieces that attain it.

    It is the least signed distance of a piece of A and a piece of B. For separated bodies this is
    their distance, for overlapping bodies the depth of the deepest pair.

    Triangles of meshes and height fields are one-sided. A shape that touches a triangle leaves
    along an outward normal of the surface there: the face's own normal, or between the normals of
    the adjacent faces at a convex edge or vertex. The result is then the shortest of these
    translations that separates A from B, if one does, otherwise the deepest. A shape wholly in the
    solid behind a closed mesh, or under a height field, leaves through the nearest triangle. An
    open mesh does not detect a shape behind it.

    Args:
        A: the first body.
        X_WA: pose of A, (4, 4).
        B: the second body.
        X_WB: pose of B, (4, 4).

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
    """All pairs of pieces of two posed bodies that are closer than `margin` [m], sorted by number.

    `margin` must be non-negative. A triangle is omitted if its nearest point, or its shortest
    separating translation, is at an edge or vertex in a direction that is not an outward normal of
    the surface there. Another triangle represents this contact better. The closest pair is always
    included, and so are the pairs that touch next to it with the same normal.

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
    """Contact manifolds of pairs of pieces, sorted by the pieces' numbers.

    The pairs are those of `contacts`. A triangle that `contacts` omits, because a neighbor is
    touched first at a shared side, may still have corners of the other body above it. Such corners
    are included, along the triangle's normal.

    Triangles of a surface share edges and corners, so one point may touch several triangles. It is
    listed once, in the manifold of the triangle whose face has the normal, otherwise of the first
    triangle. Pairs without a point of their own have no manifold.

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
