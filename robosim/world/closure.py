"""What closes loops, which a tree of joints cannot have: points and frames held together, and laws
between joints."""

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
    """A point of link `b` stays at a point of link `a`: a ball joint, a pin of a flat linkage, a
    wire through a ring.

    Attributes:
        a: name of a link; the model's root link for the world.
        b: name of another.
        at_a: (3,) the point in `a` [m], or (4, 4) a frame there.
        at_b: (3,) the point in `b` [m], or (4, 4) a frame there.
        axes: of the frame at `a`, those along which the points stay together: `xyz`, or fewer where
        the mechanism
            leaves fewer (of a linkage that moves in the plane of x and z, `xz`) or the point may
            slide.

    Raises:
        SimulationError: a point or frame is neither, or the axes are not of x, y and z.
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
        """At the point of `a`, with that point of `b` which is there in the configuration q.

        Raises:
            SimulationError: as the class; or a link has no such name.
        """
        X_ab = _relative(model, q, a, b)
        point = np.linalg.inv(X_ab) @ _frame(at_a, "at_a")[:, 3]
        return cls(a, b, at_a, point[:3], axes)


@dataclass(frozen=True)
class Weld(Value):
    """Two links stay as they are to each other: what is gripped, or closes a loop without play.

    Attributes:
        a: name of a link; the model's root link for the world.
        b: name of another.
        at_a: (4, 4) a frame in `a`, or (3,) a point of it, with its axes.
        at_b: (4, 4) the frame in `b` that stays there, or (3,) a point of it, with its axes.

    Raises:
        SimulationError: a frame is none.
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
        """As the links are to each other in the configuration q.

        Raises:
            SimulationError: a link has no such name.
        """
        return cls(a, b, _relative(model, q, a, b))


@dataclass(frozen=True)
class JointEquality(Value):
    """A joint follows a law of another: q = c0 + c1 q_of + c2 q_of^2 + c3 q_of^3 + c4 q_of^4.

    Unlike a joint that mimics, which has no position of its own, it can be off the law, and comes
    back to it.

    Attributes:
        joint: that follows, with one position.
        of: that it follows, with one position; None holds the joint at c0.
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
"""What `World` takes as `closures`."""


def closure_name(closure: PointClosure | Weld) -> str:
    return f"closure of {closure.a!r} and {closure.b!r}"


def _frame(value: ArrayLike, what: str) -> Array:
    """A frame (4, 4), or one at a point (3,)."""
    X = np.asarray(value, dtype=np.float64)
    if X.shape not in ((3,), (4, 4)) or not np.isfinite(X).all():
        raise SimulationError(
            f"{what} is {value!r}; expected a point (3,) or a pose (4, 4), finite"
        )
    return pose(X) if X.shape == (3,) else X


def _relative(model: Model, q: ArrayLike, a: str, b: str) -> Array:
    """X_ab of two links."""
    for link in a, b:
        if link not in model.link_names:
            raise SimulationError(f"there is no link {link!r}{suggestion(link, model.link_names)}")
    X: Array = np.linalg.inv(model.frame_pose(q, a)) @ model.frame_pose(q, b)
    return X
