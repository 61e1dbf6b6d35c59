"""Signed distance of two posed shapes whose faces and edges are smoothed away, for optimizers."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from robosim import _engine
from robosim._engine import Shape
from robosim.geometry.derivatives import WitnessRates
from robosim.geometry.queries import Witness


class SmoothedWitness(NamedTuple):
    """How two smoothed shapes lie, and how that changes with their poses."""

    witness: Witness
    """Distance, points on the smoothed shapes and normal from A to B, in W."""
    twist: WitnessRates
    """In the poses, (12,): the twist of A, then of B, each [linear; angular] in the moving
    frame."""
    one_sided: bool
    """Whether a center of curvature of one body is that of the other, so that the normal is not
    unique; all else is smooth. Always true of two half-spaces that cannot be separated."""


def smoothed_distance(
    A: Shape, X_WA: ArrayLike, B: Shape, X_WB: ArrayLike, *, smoothing: float
) -> SmoothedWitness:
    """Signed distance of two shapes, with points and normal that do not jump from feature to
    feature.

    The exact nearest point of a box on the ground jumps from corner to corner as the box tilts, and
    is not unique as it lies flat. Here each shape is replaced by a body with a smooth surface that
    holds it: the corners share by the softmax of how far they reach, weights exp(height /
    smoothing), rims and flat ends are rounded alike. Points and normal then are smooth functions of
    the poses, as long as the shapes are apart or not deep inside each other, and the derivatives
    are those of these functions. `signed_distance` itself never smooths.

    The result is deterministic and never above the exact distance; it is below by at most
    `smoothing` times, for each of the two shapes, 2.1 (box), 0.7 (capsule), 1.7 (cylinder, cone),
    1.1 (triangle), log(number of vertices) (convex mesh) or 0 (sphere, ellipsoid, half-space). A
    face of half width h hands over from one edge to the other while it turns by about smoothing / h
    radians.

    Args:
        A: the first shape.
        X_WA: its pose, (4, 4).
        B: the second one.
        X_WB: its pose, (4, 4).
        smoothing: [m], within [1e-9, 1e6]; some hundredths of the shapes' size is a good start for
            an optimizer that then makes it smaller.

    Returns:
        Witness and derivatives in the poses.

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
        The smoothing is that of Nesterov, "Smooth minimization of non-smooth functions", 2005; for
        witness points, by
        random perturbations: Montaut and others, "Differentiable collision detection: a randomized
        smoothing
        approach", 2023.
    """
    witness, twist, one_sided = _engine.smoothed_distance(smoothing, A, X_WA, B, X_WB)
    return SmoothedWitness(Witness(*witness), WitnessRates(*twist), one_sided)
