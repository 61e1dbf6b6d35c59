"""Derivatives of the signed distance of two posed shapes, and the features that touch."""

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
    """Derivatives of a `Witness` in some parameters: of a parameter of shape s, arrays of shape s
    and (3,) + s."""

    distance: Array
    p_WA: Array
    p_WB: Array
    normal: Array


class Feature(NamedTuple):
    """The part of a shape that touches."""

    kind: str
    """"vertex", "edge" (a rim, too), "face", or "curved": a sphere, a mantle, the ball of a
    capsule's end."""
    number: int
    """Among the shape's features of this kind; the same feature has the same number in any pose."""
    slide: float
    """How far the point may move, in straight directions, until another feature takes over [m]; inf
    where none does."""
    tilt: float
    """The same of how far the normal may turn [rad]."""


@dataclass(eq=False, repr=False)
class WitnessDerivatives:
    """How the closest features of two shapes move.

    Witness, twist and `one_sided` are found at once; arrays of all else are made when they are
    first asked for.
    """

    witness: Witness
    """What is differentiated, as `signed_distance` gives it."""
    twist: WitnessRates
    """In the poses, (12,): the twist of A, then of B, each [linear; angular] in the moving
    frame."""
    one_sided: bool
    """Whether they hold to one side only: another feature takes over right here, or the points are
    not unique (parallel faces or edges), or the surfaces have their center of curvature in common.
    Then they are those of the features named."""
    _shapes: ShapeRates

    def __getstate__(self) -> dict[str, Any]:
        """All of it, made now: without the engine's part that it is made from."""
        made = {
            name for name, value in vars(type(self)).items() if isinstance(value, cached_property)
        }
        return {
            **{name: getattr(self, name) for name in sorted(made | self.__dict__.keys())},
            "_shapes": None,
        }

    @cached_property
    def sizes_A(self) -> dict[str, WitnessRates]:
        """In every size of A, by its name in `shape_sizes`; of a convex mesh in all coordinates of
        its vertices."""
        return {name: WitnessRates(*rates) for name, rates in self._shapes.sizes(False).items()}

    @cached_property
    def sizes_B(self) -> dict[str, WitnessRates]:
        """The same of B."""
        return {name: WitnessRates(*rates) for name, rates in self._shapes.sizes(True).items()}

    @cached_property
    def scale_A(self) -> WitnessRates:
        """In a factor, at 1, by which A grows about the origin of its frame, ()."""
        return WitnessRates(*self._shapes.scale(False))

    @cached_property
    def scale_B(self) -> WitnessRates:
        """The same of B."""
        return WitnessRates(*self._shapes.scale(True))

    @cached_property
    def feature_A(self) -> Feature:
        """What touches of A."""
        return Feature(*self._shapes.feature(False))

    @cached_property
    def feature_B(self) -> Feature:
        """What touches of B."""
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
    """Signed distance of two posed shapes with its exact derivatives, and those of both points and
    of the normal.

    For every pair of shapes, separated and overlapping, in the poses and in the shapes' own sizes.
    Curved surfaces keep their curvature: the normal on a sphere turns as the other shape slides
    along it. Deep inside each other two shapes may be separated equally soon in several directions;
    the derivatives follow the one that is given.

    Of bodies made of pieces they are those of the two pieces that are closest (`closest_pieces`
    says which): twist and scale of the bodies; sizes and features of the pieces, of a triangle its
    three `"vertices"` (3, 3), in the frame of its mesh or height field. They are `one_sided` where
    two pairs of pieces are as close.

    Args:
        A: the first shape, or a body made of pieces.
        X_WA: its pose, (4, 4).
        B: the second one.
        X_WB: its pose, (4, 4).

    Returns:
        Witness and derivatives. Where the distance is -inf (two half-spaces), all are zero and
            `one_sided`.

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
