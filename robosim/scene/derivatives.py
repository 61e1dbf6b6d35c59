"""How distances in a scene change with the configuration."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from robosim import _engine
from robosim.errors import SceneError
from robosim.geometry import Feature, Witness, WitnessRates

__all__ = ["ContactDerivatives", "contact_derivatives"]


class ContactDerivatives(NamedTuple):
    """How two objects of a scene lie, and how that changes with the configuration."""

    A: str
    """Name of the first object."""
    B: str
    """Name of the second."""
    witness: Witness
    """Distance, points and normal from A to B, in W."""
    rates: WitnessRates
    """Derivatives along the velocity v: distance (n_v,), p_WA, p_WB and normal (3, n_v)."""
    feature_A: Feature
    """What is nearest of A, and how far the next feature is."""
    feature_B: Feature
    """The same of B."""
    one_sided: bool
    """Whether the derivatives hold to one side only, see `robosim.geometry.WitnessDerivatives`."""


def contact_derivatives(
    scene: _engine.CollisionScene, q: ArrayLike, *, margin: float = 0.0, smoothing: float = 0.0
) -> list[ContactDerivatives]:
    """Distances of all pairs of objects that are near each other, with exact derivatives in the
    configuration.

    Derivatives are along v, as all of robosim's are: dx = rates.x @ v dt. For joints whose v is
    dq/dt (all but planar and floating ones) they are those in q. Curved surfaces keep their
    curvature, so that dn/dq of a ball is not zero.

    Args:
        scene: compiled, see `Scene.compile`.
        q: (n_q,) configuration.
        margin: [m] pairs with a signed distance below it are given; overlapping ones by default.
        smoothing: [m] if not zero, distances, points, normals and their derivatives are those of
            `robosim.geometry.smoothed_distance`, which do not jump from feature to feature: for
            optimizers. Which
            pairs are given and their features are exact in any case, and so are pairs with a mesh.

    Returns:
        One entry per pair, in the scene's order.

    Raises:
        SceneError: q is not (n_q,) finite numbers, the margin is negative, or smoothing out of
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
