"""Constraints that a tree of joints cannot have: closed loops of links, and laws between joints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import SimulationError, suggestion
from robosim.geometry import pose
from robosim.pickling import Value

if TYPE_CHECKING:
    from robosim.model import Model

__all__ = ["Closure", "JointEquality", "PointClosure", "Weld"]

Array = NDArray[np.float64]
TERMS = 5


@dataclass(frozen=True)
class PointClosure(Value):
    """A point of link `b` stays at a point of link `a`.

    Examples are a ball joint, a pin of a planar linkage and a wire through a ring.

    Attributes:
        a: name of a link; the model's root link for the world.
        b: name of another link.
        at_a: (3,) the point in `a` [m], or (4, 4) a frame there.
        at_b: (3,) the point in `b` [m], or (4, 4) a frame there.
        axes: axes of the frame at `a` along which the points stay together: `xyz`, or fewer if the
            mechanism leaves fewer (`xz` for a linkage that moves in the plane of x and z) or the
            point may slide.

    Raises:
        SimulationError: a point or frame has the wrong shape or is not finite, or the axes are not
            of x, y and z.
    """

    a: str
    b: str
    at_a: ArrayLike = (0.0, 0.0, 0.0)
    at_b: ArrayLike = (0.0, 0.0, 0.0)
    axes: str = "xyz"
    X_a: Array = field(init=False, repr=False, compare=False)
    X_b: Array = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.axes or set(self.axes) - set("xyz") or len(set(self.axes)) != len(self.axes):
            raise SimulationError(
                f"{closure_name(self)}: axes is {self.axes!r}; expected some of 'xyz', each once"
            )
        object.__setattr__(self, "X_a", _frame(self.at_a, f"{closure_name(self)}: at_a"))
        object.__setattr__(self, "X_b", _frame(self.at_b, f"{closure_name(self)}: at_b"))

    @classmethod
    def where_it_is(
        cls,
        model: Model,
        q: ArrayLike,
        a: str,
        b: str,
        at_a: ArrayLike = (0.0, 0.0, 0.0),
        axes: str = "xyz",
    ) -> PointClosure:
        """Close the loop at the point of `a`, with the point of `b` that coincides in configuration
        q.

        Raises:
            SimulationError: as in the class; or no link has that name.
        """
        X_ab = _relative(model, q, a, b)
        point = np.linalg.inv(X_ab) @ _frame(at_a, "at_a")[:, 3]
        return cls(a, b, at_a, point[:3], axes)


@dataclass(frozen=True)
class Weld(Value):
    """Two links keep their relative pose: a gripped object, or a loop closed without play.

    Attributes:
        a: name of a link; the model's root link for the world.
        b: name of another link.
        at_a: (4, 4) a frame in `a`, or (3,) the origin of a frame with the axes of `a`.
        at_b: (4, 4) the frame in `b` that coincides with it, or (3,) its origin, with the axes of
            `b`.

    Raises:
        SimulationError: a frame has the wrong shape or is not finite.
    """

    a: str
    b: str
    at_a: ArrayLike = (0.0, 0.0, 0.0)
    at_b: ArrayLike = (0.0, 0.0, 0.0)
    X_a: Array = field(init=False, repr=False, compare=False)
    X_b: Array = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "X_a", _frame(self.at_a, f"{closure_name(self)}: at_a"))
        object.__setattr__(self, "X_b", _frame(self.at_b, f"{closure_name(self)}: at_b"))

    @classmethod
    def where_it_is(cls, model: Model, q: ArrayLike, a: str, b: str) -> Weld:
        """Weld two links at their relative pose in configuration q.

        Raises:
            SimulationError: no link has that name.
        """
        return cls(a, b, _relative(model, q, a, b))


@dataclass(frozen=True)
class JointEquality(Value):
    """A joint follows a law of another: q = c0 + c1 q_of + c2 q_of^2 + c3 q_of^3 + c4 q_of^4.

    Unlike a mimic joint, which has no position of its own, the joint can violate the law and
    returns to it.

    Attributes:
        joint: joint that follows, with one position.
        of: joint to follow, with one position; None holds the first joint at c0.
        coefficients: c0, c1, ..., five at most [rad or m, per power of rad or m].

    Raises:
        SimulationError: the coefficients are not one to five finite numbers, or more than c0
            without a joint to follow.
    """

    joint: str
    of: str | None = None
    coefficients: tuple[float, ...] = (0.0, 1.0)

    def __post_init__(self) -> None:
        name = f"equality of joint {self.joint!r}"
        numbers = tuple(float(c) for c in self.coefficients)
        if not 1 <= len(numbers) <= TERMS or not np.isfinite(numbers).all():
            raise SimulationError(
                f"{name}: coefficients are {self.coefficients}; expected one to five finite numbers"
            )
        if self.of is None and numbers != (0.0, 1.0) and any(numbers[1:]):
            raise SimulationError(
                f"{name}: coefficients are {self.coefficients}, but it follows no joint; expected"
                " one number"
            )
        if self.of is None:
            numbers = numbers[:1]
        object.__setattr__(self, "coefficients", numbers)


Closure = PointClosure | Weld | JointEquality
"""Type of the entries of `World.closures`."""


def closure_name(closure: PointClosure | Weld) -> str:
    return f"closure of {closure.a!r} and {closure.b!r}"


def _frame(value: ArrayLike, what: str) -> Array:
    """Return a frame (4, 4) from a frame, or from its origin (3,)."""
    X = np.asarray(value, dtype=np.float64)
    if X.shape not in ((3,), (4, 4)) or not np.isfinite(X).all():
        raise SimulationError(
            f"{what} is {value!r}; expected a point (3,) or a pose (4, 4), finite"
        )
    return pose(X) if X.shape == (3,) else X


def _relative(model: Model, q: ArrayLike, a: str, b: str) -> Array:
    """Return the pose X_ab of link b in link a."""
    for link in a, b:
        if link not in model.link_names:
            raise SimulationError(f"there is no link {link!r}{suggestion(link, model.link_names)}")
    X: Array = np.linalg.inv(model.frame_pose(q, a)) @ model.frame_pose(q, b)
    return X
