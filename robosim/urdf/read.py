"""A URDF document into a `RobotSpec`: every number checked, every reference followed, nothing built yet.

Defaults are the URDF specification's: axis (1, 0, 0), origin identity, `<mimic>` multiplier 1 and offset 0,
`<limit>` lower and upper 0. Leniences, each leaving a warning: a robot without a name takes the file's; a
velocity or effort limit of 0 means that none is given (as MoveIt reads it; taken literally the joint could
never move); moments of inertia without mass count as none; a material without colour is drawn in the default one.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from robosim.errors import MeshError, UrdfError
from robosim.files import parse_xml
from robosim.meshes import MESH_FORMATS
from robosim.model import Safety
from robosim.model.parts import JointKind
from robosim.urdf.description import GeometrySpec, InertialSpec, JointSpec, LinkSpec, MeshRef, RobotSpec
from robosim.urdf.packages import resolve
from robosim.urdf.schema import URDF, Ignored, check_structure, label
from robosim.urdf.values import MAX_LENGTH, Reader

__all__ = ["read_urdf"]

_MAX_MASS = 1e9  # [kg]
_MAX_INERTIA = 1e15  # [kg m^2]
_NO_INERTIA = 1e-15  # [kg m^2]: rounding errors of a zero; even a ball of 1 mg and 0.1 mm has more
_KINDS: tuple[str, ...] = get_args(JointKind)


def read_urdf(
    data: bytes | str,
    *,
    file: str,
    folder: Path | None,
    package_dirs: Sequence[str | PathLike[str]] = (),
    default_name: str = "robot",
    visuals: bool = True,
) -> RobotSpec:
    """Read a URDF document.

    Args:
        data: the document.
        file: how errors name it.
        folder: where it lies, for relative references; None for a string.
        package_dirs: see `robosim.urdf.packages`.
        default_name: for a robot without a name.
        visuals: whether to read `<visual>` elements.

    Raises:
        UrdfError: what cannot be honoured, with file and line.
        MeshError: a mesh reference that leads nowhere, likewise.
    """
    warnings: list[str] = []
    root = parse_xml(data, file=file, error=UrdfError, warnings=warnings)
    ignored = check_structure(root, URDF, file=file, error=UrdfError)
    return _Document(root, file, folder, package_dirs, visuals, ignored, warnings).robot(default_name)


class _Document:
    """One document on its way to a RobotSpec."""

    def __init__(
        self,
        root: Any,
        file: str,
        folder: Path | None,
        package_dirs: Sequence[str | PathLike[str]],
        visuals: bool,
        ignored: Ignored,
        warnings: list[str],
    ) -> None:
        self.root, self.file, self.folder, self.package_dirs, self.visuals = (
            root,
            file,
            folder,
            package_dirs,
            visuals,
        )
        self.ignored, self.warnings = ignored, warnings
        self.read = Reader(file, UrdfError)
        self.colours: dict[str, tuple[float, float, float, float] | None] = {}

    def warn(self, element: Any, message: str) -> None:
        self.warnings.append(f"{self.file}:{element.sourceline}: {label(element)}: {message}")

    def robot(self, default_name: str) -> RobotSpec:
        name = self.root.get("name", "").strip()
        if not name:
            self.warn(self.root, f"has no name; called {default_name!r}")
            name = default_name
        for material in self.root.iter("material"):
            self._define_material(material)
        links = {e.get("name"): self._link(e) for e in self._unique("link")}
        joints = {e.get("name"): self._joint(e) for e in self._unique("joint")}
        return RobotSpec(name, self.file, links, joints, self.ignored.texts(self.file), self.warnings)

    def _unique(self, tag: str) -> list[Any]:
        """The root's children of a kind, whose names must differ."""
        lines: dict[str, int] = {}
        elements = self.root.findall(tag)
        for e in elements:
            if e.get("name") in lines:
                raise self.read.fail(e, f"the name is taken by the {tag} in line {lines[e.get('name')]}")
            lines[e.get("name")] = e.sourceline
        return cast("list[Any]", elements)

    # Links

    def _link(self, e: Any) -> LinkSpec:
        origin = e.find("origin")
        if origin is not None and not np.array_equal(self.read.pose(e), np.eye(4)):
            raise self.read.fail(
                origin, "a link has no origin of its own in URDF; only the identity can be honoured"
            )
        inertial = e.find("inertial")
        return LinkSpec(
            name=e.get("name"),
            line=e.sourceline,
            inertial=None if inertial is None else self._inertial(inertial),
            collisions=tuple(self._geometry(c) for c in e.findall("collision")),
            visuals=tuple(self._geometry(v) for v in e.findall("visual")) if self.visuals else (),
        )

    def _inertial(self, e: Any) -> InertialSpec:
        X_LI = self.read.pose(e)
        mass = self.read.number(e.find("mass"), "value", largest=_MAX_MASS)
        tensor = e.find("inertia")
        ixx, iyy, izz = (self.read.number(tensor, a, largest=_MAX_INERTIA) for a in ("ixx", "iyy", "izz"))
        ixy, ixz, iyz = (self.read.number(tensor, a, 0.0, _MAX_INERTIA) for a in ("ixy", "ixz", "iyz"))
        inertia = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
        if np.abs(inertia).max() < _NO_INERTIA:
            inertia[:] = 0
        if mass == 0.0 and inertia.any():
            self.warn(e, "has moments of inertia but no mass; taken as massless")
            inertia[:] = 0
        R = X_LI[:3, :3]
        rotated = R @ inertia @ R.T
        return InertialSpec(e.sourceline, mass, X_LI[:3, 3], (rotated + rotated.T) / 2)

    def _geometry(self, e: Any) -> GeometrySpec:
        shape = e.find("geometry")[0]
        positive = self.read.positive
        size: tuple[float, ...] = ()
        mesh = None
        if shape.tag == "box":
            size = tuple(map(float, self.read.numbers(shape, "size", 3, largest=MAX_LENGTH)))
            if min(size) <= 0:
                raise self.read.fail(shape, f"size={shape.get('size')!r} of <box> must be positive")
        elif shape.tag == "sphere":
            size = (positive(shape, "radius"),)
        elif shape.tag in ("cylinder", "capsule"):
            size = (positive(shape, "radius"), positive(shape, "length"))
        else:
            mesh = self._mesh(shape)
        material = e.find("material") if e.tag == "visual" else None
        rgba = None if material is None else self._colour(material)
        return GeometrySpec(
            shape.sourceline, e.get("name", ""), self.read.pose(e), shape.tag, size, mesh, rgba
        )

    def _mesh(self, e: Any) -> MeshRef:
        uri = e.get("filename").strip()
        scale = tuple(map(float, self.read.numbers(e, "scale", 3, (1.0, 1.0, 1.0), MAX_LENGTH)))
        if 0.0 in scale:
            raise self.read.fail(e, f"scale={e.get('scale')!r} of <mesh> has a zero")
        path, reason = resolve(uri, self.folder, self.package_dirs)
        what = f"{label(e)}: mesh {uri[:200]!r}"
        if path is None:
            raise MeshError(f"{what} {reason}", file=self.file, line=e.sourceline)
        try:
            found = path.is_file()
        except OSError:  # for example, a name that is too long
            found = False
        if not found:
            raise MeshError(f"{what}: no such file {str(path)[:500]}", file=self.file, line=e.sourceline)
        if path.suffix.lower() not in MESH_FORMATS:
            formats = ", ".join(MESH_FORMATS)
            raise MeshError(
                f"{what}: format is not supported; use one of {formats}", file=self.file, line=e.sourceline
            )
        return MeshRef(uri, path, cast("tuple[float, float, float]", scale))

    # Materials: defined anywhere, used by name anywhere

    def _define_material(self, e: Any) -> None:
        name, colour = e.get("name", ""), e.find("color")
        if colour is None or e.getparent().tag == "collision":
            return
        r, g, b, a = (float(x) for x in self.read.numbers(colour, "rgba", 4, largest=1e6))
        rgba = tuple(min(max(x, 0.0), 1.0) for x in (r, g, b, a))
        if rgba != (r, g, b, a):
            self.warn(colour, f"rgba={colour.get('rgba')!r} is outside 0 to 1; clipped")
        if name and self.colours.setdefault(name, cast("Any", rgba)) != rgba and e.getparent() is self.root:
            self.warn(e, "is defined again with another colour; the first one counts for uses by name")
        e.set("_rgba", " ".join(map(repr, rgba)))

    def _colour(self, e: Any) -> tuple[float, float, float, float] | None:
        if e.get("_rgba"):
            r, g, b, a = map(float, e.get("_rgba").split())
            return r, g, b, a
        name = e.get("name", "")
        if name and name not in self.colours:
            self.colours[name] = None
            if self.root.find(f"material[@name={_quoted(name)}]") is None and e.find("texture") is None:
                self.warn(e, f"material {name!r} is defined nowhere; drawn in the default colour")
        return self.colours.get(name)

    # Joints

    def _joint(self, e: Any) -> JointSpec:
        kind = e.get("type").strip()
        if kind not in _KINDS:
            raise self.read.fail(e, f"unknown joint type {kind!r}; known are {', '.join(_KINDS)}")
        parent, child = e.find("parent").get("link"), e.find("child").get("link")
        if parent == child:
            raise self.read.fail(e, f"link {parent!r} is both its parent and its child")
        dynamics = e.find("dynamics") if e.find("dynamics") is not None else e.find("joint_properties")
        damping = friction = 0.0
        if dynamics is not None:
            damping, friction = (self.read.number(dynamics, a, 0.0) for a in ("damping", "friction"))
            if min(damping, friction) < 0:
                raise self.read.fail(
                    dynamics, f"damping={damping:g} and friction={friction:g} must not be negative"
                )
        lower, upper, velocity, effort, acceleration = self._limits(e, kind)
        return JointSpec(
            e.get("name"), e.sourceline, cast("JointKind", kind), parent, child, self.read.pose(e), self._axis(e, kind),
            lower, upper, velocity, effort, acceleration, damping, friction, self._mimic(e, kind), self._safety(e),
        )  # fmt: skip

    def _axis(self, e: Any, kind: str) -> Any:
        axis = e.find("axis")
        if axis is None or kind in ("fixed", "floating"):
            return np.array([1.0, 0.0, 0.0])
        xyz = self.read.numbers(axis, "xyz", 3, largest=MAX_LENGTH)
        if np.linalg.norm(xyz) < 1e-9:
            raise self.read.fail(axis, f"axis {axis.get('xyz')!r} is zero")
        return xyz

    def _limits(self, e: Any, kind: str) -> tuple[float | None, ...]:
        """Lower, upper, velocity, effort, acceleration."""
        limit = e.find("limit")
        bounded = kind in ("revolute", "prismatic")
        if limit is None:
            if bounded:
                raise self.read.fail(e, f"a {kind} joint needs a <limit>; use type=\"continuous\" for one without"
                                     if kind == "revolute" else "a prismatic joint needs a <limit>")  # fmt: skip
            return None, None, None, None, None
        lower = upper = None
        if bounded:
            lower, upper = (self.read.number(limit, a, 0.0) for a in ("lower", "upper"))
            if lower > upper:
                raise self.read.fail(limit, f"lower limit {lower:g} is above upper limit {upper:g}")
            if limit.get("lower") is None and limit.get("upper") is None:
                self.warn(
                    limit,
                    "<limit> has neither lower nor upper, so both are 0, as URDF says: the joint is locked",
                )
        elif kind != "fixed" and (limit.get("lower") or limit.get("upper")):
            self.ignored.add(f"lower and upper limit of {kind} joints", limit.sourceline)
        rates = []
        for name in ("velocity", "effort", "acceleration"):
            value = self.read.optional(limit, name)
            if value is not None and value < 0:
                raise self.read.fail(limit, f"{name} limit {value:g} is negative")
            if value == 0 and kind != "fixed":
                self.warn(limit, f"{name} limit 0 would forbid all motion; taken as none")
                value = None
            rates.append(value)
        return lower, upper, rates[0], rates[1], rates[2]

    def _mimic(self, e: Any, kind: str) -> tuple[str, float, float] | None:
        mimic = e.find("mimic")
        if mimic is None:
            return None
        if kind == "fixed":  # found in robots whose joints were frozen by changing their type
            self.ignored.add("<mimic> of fixed joints", mimic.sourceline)
            return None
        if kind not in ("revolute", "continuous", "prismatic"):
            raise self.read.fail(mimic, f"a {kind} joint cannot mimic another")
        return (
            mimic.get("joint"),
            self.read.number(mimic, "multiplier", 1.0),
            self.read.number(mimic, "offset", 0.0),
        )

    def _safety(self, e: Any) -> Safety | None:
        safety = e.find("safety_controller")
        if safety is None:
            return None
        optional = self.read.optional
        return Safety(
            soft_lower=optional(safety, "soft_lower_limit"),
            soft_upper=optional(safety, "soft_upper_limit"),
            k_position=optional(safety, "k_position"),
            k_velocity=optional(safety, "k_velocity"),
        )


def _quoted(name: str) -> str:
    """A string literal of ElementPath, which knows no escapes."""
    return f'"{name}"' if '"' not in name else f"'{name.replace(chr(39), '')}'"
