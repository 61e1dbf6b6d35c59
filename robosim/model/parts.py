"""Parts of a model's description: links, joints, shapes on links, groups, named states.

All are plain, frozen records. Poses are 4x4 matrices; `X_PJ` maps the coordinates of a point from
frame J to frame P. L is the frame of a link.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from robosim import _engine

if TYPE_CHECKING:
    from robosim._engine import Shape, TriangleMesh

FloatArray = NDArray[np.float64]
JointKind = Literal["revolute", "continuous", "prismatic", "helical", "fixed", "floating", "planar"]


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid link: mass [kg], center of mass in L [m], inertia about it in the axes of L [kg m^2].

    `fault` is the reason why these numbers are not physically valid, empty if they are valid.
    `place` is file:line of the description, empty for a link made in code.
    """

    name: str
    mass: float
    com: FloatArray
    inertia: FloatArray
    fault: str = ""
    place: str = ""


@dataclass(frozen=True)
class Mimic:
    """Position of a joint that follows another: q = multiplier * q_source + offset."""

    source: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Safety:
    """Soft limits of a controller [rad or m] and its gains, as in URDF's `safety_controller`.

    The soft limits narrow the joint's position limits, because a controller keeps the joint within
    them. The gains are kept for information.
    """

    soft_lower: float | None = None
    soft_upper: float | None = None
    k_position: float | None = None
    k_velocity: float | None = None


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint as described. Limits are per q or v; None means no limit.

    X_PJ is the joint frame in the parent link. The child link's frame coincides with the joint
    frame at q = 0. `axis` is the unit axis of rotation or translation in the joint frame, or the
    normal of a planar joint's plane. `pitch` [m/rad] belongs to a helical joint and is None for all
    others. Other fields are as in `ModelBuilder.add_joint`.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    X_PJ: FloatArray
    axis: FloatArray
    lower: FloatArray | None = None
    upper: FloatArray | None = None
    velocity: FloatArray | None = None
    effort: FloatArray | None = None
    acceleration: FloatArray | None = None
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    mimic: Mimic | None = None
    safety: Safety | None = None
    pitch: float | None = None
    friction_width: float = _engine.default_friction_width
    stiffness: float = 0.0
    spring_reference: float = 0.0
    rotor_inertia: float = 0.0
    gear_ratio: float = 1.0


@dataclass(frozen=True, eq=False)
class Collider:
    """A shape, or a triangle mesh, fixed to a link, for collision.

    `name` is unique in the model: link, "/", own name or number. `exact` is the mesh that a convex
    shape approximates. Collisions and distances are computed from the mesh, contact forces from the
    shape.
    """

    name: str
    link: str
    shape: Shape | TriangleMesh
    X_LC: FloatArray
    exact: TriangleMesh | None = None


@dataclass(frozen=True, eq=False)
class Visual:
    """Appearance of a link: either a shape, or a mesh file with a scale per axis."""

    shape: Shape | None = None
    mesh: Path | None = None
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    X_LV: FloatArray = field(default_factory=lambda: np.eye(4))
    rgba: tuple[float, float, float, float] | None = None
    name: str = ""


@dataclass(frozen=True)
class Group:
    """Joints that are planned together, and the tip link that they move."""

    name: str
    joints: tuple[str, ...]
    tip: str | None = None


@dataclass(frozen=True)
class NamedState:
    """Positions [rad or m] by joint for a group, such as "home"."""

    group: str
    name: str
    positions: Mapping[str, float]


@dataclass(frozen=True)
class EndEffector:
    """A tool: the link where it is mounted and the group of its own joints."""

    name: str
    link: str
    group: str


@dataclass(frozen=True)
class DisabledCollision:
    """Two links whose collision is not checked, and the reason."""

    link_a: str
    link_b: str
    reason: str


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of every coordinate; infinite if there is none.

    Attributes:
        lower: (n_q,) least position [rad or m].
        upper: (n_q,) greatest position.
        velocity: (n_v,) greatest absolute velocity [rad/s or m/s].
        acceleration: (n_v,) greatest absolute acceleration [rad/s^2 or m/s^2].
        effort: (n_v,) greatest absolute torque or force [N m or N].
        acceleration_source: source of the acceleration limits, in words. Robot descriptions cannot
            specify these limits, so they are often a default.
    """

    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    effort: FloatArray
    acceleration_source: str
