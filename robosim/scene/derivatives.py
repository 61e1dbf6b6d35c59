"""Derivatives of distances in a scene with respect to the configuration."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from robosim import _engine
from robosim.errors import SceneError
from robosim.geometry import Feature, Witness, WitnessRates

__all__ = ["ContactDerivatives", "contact_derivatives"]


class ContactDerivatives(NamedTuple):
    """Distance of two objects of a scene, and its derivatives with respect to the configuration."""

    A: str
    """Name of the first object."""
    B: str
    """Name of the second object."""
    witness: Witness
    """Signed distance, witness points and normal from A to B, in W."""
    rates: WitnessRates
    """Derivatives along the velocity v: distance (n_v,), p_WA, p_WB and normal (3, n_v)."""
    feature_A: Feature
    """Nearest feature of A, and the distance to the next feature."""
    feature_B: Feature
    """Nearest feature of B, likewise."""
    one_sided: bool
    """True if the derivatives are one-sided, see `robosim.geometry.WitnessDerivatives`."""


def contact_derivatives(
    scene: _engine.CollisionScene, q: ArrayLike, *, margin: float = 0.0, smoothing: float = 0.0
) -> list[ContactDerivatives]:
    """Distances of all pairs of nearby objects, with exact derivatives in the configuration.

    Derivatives are along v, as all derivatives of robosim: dx = rates.x @ v dt. For joints with v =
    dq/dt (all joints except planar and floating ones) they are derivatives in q. Curved surfaces
    keep their curvature, so dn/dq of a sphere is not zero.

    Args:
        scene: compiled scene, see `Scene.compile`.
        q: (n_q,) configuration.
        margin: largest signed distance of a pair in the result [m]; overlapping pairs by default.
        smoothing: smoothing length [m]. If not zero, distances, points, normals and their
            derivatives are those of `robosim.geometry.smoothed_distance`, which do not jump between
            features, for optimizers. The selection of pairs, their features, and pairs with a mesh
            remain exact.

    Returns:
        One entry per pair, in the scene's order.

    Raises:
        SceneError: q is not (n_q,) finite numbers, the margin is negative, or smoothing is out of
            range.

    Example:
        >>> import robosim
        >>> from robosim.scene import contact_derivatives, load_scene
        >>> robot = robosim.load_robot("ur5")
        >>> scene = load_scene("bookshelf_small", model=robot)
        >>> near = contact_derivatives(scene.compile(robot), robot.neutral(), margin=0.2)
        >>> near[0].rates.distance.shape
        (6,)
    """
    try:
        rows = _engine.contact_rates(scene, q, margin, smoothing)
    except ValueError as wrong:
        raise SceneError(str(wrong)) from None
    return [
        ContactDerivatives(
            A,
            B,
            Witness(*witness),
            WitnessRates(*rates),
            Feature(*feature_A),
            Feature(*feature_B),
            one_sided,
        )
        for A, B, witness, rates, feature_A, feature_B, one_sided in rows
    ]
