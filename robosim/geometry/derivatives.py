"""Derivatives of the signed distance of two posed shapes, and the features in contact."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from robosim import _engine
from robosim._engine import Compound, Shape, ShapeRates
from robosim.geometry.poses import Array
from robosim.geometry.queries import Witness


class WitnessRates(NamedTuple):
    """Derivatives of a `Witness` with respect to a parameter.

    For a parameter of shape s, arrays have shape s for the distance and (3,) + s for the others.
    """

    distance: Array
    p_WA: Array
    p_WB: Array
    normal: Array


class Feature(NamedTuple):
    """Feature of a shape that is in contact."""

    kind: str
    """Kind of the feature: "vertex", "edge" (also a rim), "face", or "curved".

    A curved feature is a sphere, a lateral surface, or the ball of a capsule's end.
    """
    number: int
    """Index among the shape's features of this kind, the same for a feature in any pose."""
    slide: float
    """Distance that the point may move along straight directions before the feature changes [m].

    It is inf if the feature never changes.
    """
    tilt: float
    """Angle that the normal may turn before the feature changes [rad]."""


@dataclass(eq=False, repr=False)
class WitnessDerivatives:
    """Derivatives of the closest features of two shapes.

    Witness, twist and `one_sided` are computed at once. All other arrays are computed on first
    access.
    """

    witness: Witness
    """Witness that is differentiated, as `signed_distance` returns it."""
    twist: WitnessRates
    """Derivatives with respect to the poses, (12,).

    They are in the twist of A, then of B, each [linear; angular] in its moving frame.
    """
    one_sided: bool
    """True if the derivatives are one-sided; they are then those of the reported features.

    This is so if another feature takes over at this pose, if the points are not unique (parallel
    faces or edges), or if the surfaces share their center of curvature.
    """
    _shapes: ShapeRates

    def __getstate__(self) -> dict[str, Any]:
        """Return all values, computed now, without the engine object that computes them."""
        made = {
            name for name, value in vars(type(self)).items() if isinstance(value, cached_property)
        }
        return {
            **{name: getattr(self, name) for name in sorted(made | self.__dict__.keys())},
            "_shapes": None,
        }

    @cached_property
    def sizes_A(self) -> dict[str, WitnessRates]:
        """Derivatives with respect to sizes of A, by name in `shape_sizes`.

        For a convex mesh, they are with respect to all coordinates of its vertices.
        """
        return {name: WitnessRates(*rates) for name, rates in self._shapes.sizes(False).items()}

    @cached_property
    def sizes_B(self) -> dict[str, WitnessRates]:
        """Derivatives with respect to every size of B, likewise."""
        return {name: WitnessRates(*rates) for name, rates in self._shapes.sizes(True).items()}

    @cached_property
    def scale_A(self) -> WitnessRates:
        """Derivatives in a factor, at 1, that scales A about the origin of its frame, ()."""
        return WitnessRates(*self._shapes.scale(False))

    @cached_property
    def scale_B(self) -> WitnessRates:
        """Derivatives in a factor, at 1, that scales B about the origin of its frame, ()."""
        return WitnessRates(*self._shapes.scale(True))

    @cached_property
    def feature_A(self) -> Feature:
        """Feature of A in contact."""
        return Feature(*self._shapes.feature(False))

    @cached_property
    def feature_B(self) -> Feature:
        """Feature of B in contact."""
        return Feature(*self._shapes.feature(True))

    def __repr__(self) -> str:
        names = (
            "witness",
            "twist",
            "sizes_A",
            "sizes_B",
            "scale_A",
            "scale_B",
            "feature_A",
            "feature_B",
            "one_sided",
        )
        return (
            f"WitnessDerivatives({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"
        )


def signed_distance_derivatives(
    A: Shape | Compound, X_WA: ArrayLike, B: Shape | Compound, X_WB: ArrayLike
) -> WitnessDerivatives:
    """Signed distance of two posed shapes with exact derivatives of distance, points and normal.

    Available for every pair of shapes, separated and overlapping, with respect to the poses and the
    shapes' own sizes. Curved surfaces keep their curvature: the normal on a sphere turns as the
    other shape slides along it. Two deeply overlapping shapes may have several equally short
    separating directions. The derivatives follow the direction in the result.

    For bodies made of pieces, the derivatives are those of the two closest pieces (see
    `closest_pieces`). Twist and scale refer to the bodies; sizes and features refer to the pieces.
    The size of a triangle is its three `"vertices"` (3, 3), in the frame of its mesh or height
    field. Derivatives are `one_sided` if two pairs of pieces are equally close.

    Args:
        A: the first shape, or a body made of pieces.
        X_WA: pose of A, (4, 4).
        B: the second shape, likewise.
        X_WB: pose of B, (4, 4).

    Returns:
        Witness and derivatives. If the distance is -inf (two half-spaces), all derivatives are zero
            and `one_sided`.

    Raises:
        GeometryError: a pose is not a rigid (4, 4) matrix of finite numbers.

    Example:
        >>> from robosim.geometry import Shape, pose, signed_distance_derivatives
        >>> ball = Shape.sphere(0.5)
        >>> d = signed_distance_derivatives(ball, pose(), ball, pose((2, 0, 0)))
        >>> d.twist.distance[[0, 6]]  # along x, of A and of B
        array([-1.,  1.])
        >>> d.twist.normal[1, 7]  # the normal turns as B moves along y: 1 / distance of the centers
        np.float64(0.5)
        >>> d.sizes_A["radius"].distance
        array(-1.)
    """
    witness, twist, one_sided, shapes = _engine.signed_distance_derivatives(A, X_WA, B, X_WB)
    return WitnessDerivatives(Witness(*witness), WitnessRates(*twist), one_sided, shapes)
