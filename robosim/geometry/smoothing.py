"""Signed distance of two posed shapes with smoothed faces and edges, for optimizers."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from robosim import _engine
from robosim._engine import Shape
from robosim.geometry.derivatives import WitnessRates
from robosim.geometry.queries import Witness


class SmoothedWitness(NamedTuple):
    """Witness points of two smoothed shapes, and derivatives with respect to their poses."""

    witness: Witness
    """Distance, points on the smoothed shapes and normal from A to B, in W."""
    twist: WitnessRates
    """Derivatives with respect to the poses, (12,).

    They are in the twist of A, then of B, each [linear; angular] in its moving frame.
    """
    one_sided: bool
    """True if both bodies share a center of curvature, so that the normal is not unique.

    All else is smooth. Always true of two half-spaces that cannot be separated.
    """


def smoothed_distance(
    A: Shape, X_WA: ArrayLike, B: Shape, X_WB: ArrayLike, *, smoothing: float
) -> SmoothedWitness:
    """Compute the signed distance of two shapes, with points and normal smooth in the poses.

    The exact nearest point of a box on the ground jumps from corner to corner as the box tilts, and
    is not unique if the box lies flat. Here each shape is replaced by an enclosing body with a
    smooth surface. Corners are blended by a softmax of their heights, with weights exp(height /
    smoothing). Rims and flat ends are rounded likewise. Points and normal are then smooth functions
    of the poses, unless the shapes overlap deeply. The derivatives are those of these functions.
    `signed_distance` itself never smooths.

    The result is deterministic and never above the exact distance. It is below by at most
    `smoothing` times a factor of each shape: 2.1 (box), 0.7 (capsule), 1.7 (cylinder, cone), 1.1
    (triangle), log(number of vertices) (convex mesh) or 0 (sphere, ellipsoid, half-space). The
    nearest point on a face of half width h moves from one edge to the other while the face turns by
    about smoothing / h radians.

    Args:
        A: the first shape.
        X_WA: pose of A, (4, 4).
        B: the second shape.
        X_WB: pose of B, (4, 4).
        smoothing: [m], within [1e-9, 1e6]. Some hundredths of the shapes' size is a good start for
            an optimizer, which then reduces it.

    Returns:
        Witness and derivatives with respect to the poses.

    Raises:
        GeometryError: a pose is not a rigid (4, 4) matrix of finite numbers, or smoothing is out of
            range.

    Example:
        >>> from robosim.geometry import Shape, pose, smoothed_distance
        >>> ground, box = Shape.half_space(), Shape.box((0.4, 0.2, 0.1))
        >>> flat = smoothed_distance(ground, pose(), box, pose((0, 0, 0.06)), smoothing=0.001)
        >>> flat.witness.p_WB[:2]  # the middle of the face, not one of its corners
        array([0., 0.])
        >>> # A turn about y by 1e-3 moves it by 40 mm: 0.2**2 / smoothing.
        >>> round(flat.twist.p_WB[0, 10])
        40

    Source:
        The smoothing is that of Nesterov, "Smooth minimization of non-smooth functions", 2005. For
        witness points, by random perturbations, see Montaut and others, "Differentiable collision
        detection: a randomized smoothing approach", 2023.
    """
    witness, twist, one_sided = _engine.smoothed_distance(smoothing, A, X_WA, B, X_WB)
    return SmoothedWitness(Witness(*witness), WitnessRates(*twist), one_sided)
