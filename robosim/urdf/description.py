"""Content of a URDF, element by element with lines.

Meshes are not read, and the model is not built yet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robosim.model import Safety
from robosim.model.parts import JointKind

__all__ = ["GeometrySpec", "InertialSpec", "JointSpec", "LinkSpec", "MeshRef", "RobotSpec"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class InertialSpec:
    """Mass [kg], center of mass in the link [m], inertia about it in the link's axes [kg m^2].

    `fault` is the reason why they could not be read. The values are then those that could be read.
    """

    line: int
    mass: float
    com: FloatArray
    inertia: FloatArray
    fault: str = ""


@dataclass(frozen=True)
class MeshRef:
    """Reference to a mesh: the text of the reference, the path of the file, and the scale."""

    uri: str
    path: Path
    scale: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class GeometrySpec:
    """A `<collision>` or `<visual>`: a primitive with its sizes, or a mesh."""

    line: int
    name: str
    X_LG: FloatArray
    kind: str  # "box" "cylinder" "sphere" "capsule" "mesh"
    size: tuple[float, ...]  # box: full lengths; cylinder, capsule: radius, length; sphere: radius
    mesh: MeshRef | None = None
    rgba: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, eq=False)
class LinkSpec:
    """A `<link>`."""

    name: str
    line: int
    inertial: InertialSpec | None
    collisions: tuple[GeometrySpec, ...]
    visuals: tuple[GeometrySpec, ...]


@dataclass(frozen=True, eq=False)
class JointSpec:
    """A `<joint>`. None means no limit."""

    name: str
    line: int
    kind: JointKind
    parent: str
    child: str
    X_PJ: FloatArray
    axis: FloatArray
    lower: float | None
    upper: float | None
    velocity: float | None
    effort: float | None
    acceleration: float | None
    damping: float
    friction: float
    mimic: tuple[str, float, float] | None
    safety: Safety | None


@dataclass(frozen=True, eq=False)
class RobotSpec:
    """A whole `<robot>`. `file` is its name in errors."""

    name: str
    file: str
    links: dict[str, LinkSpec]
    joints: dict[str, JointSpec]
    ignored: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def roots(self) -> list[str]:
        """Links without a parent joint, in order."""
        children = {joint.child for joint in self.joints.values()}
        return [name for name in self.links if name not in children]
