"""Conversion of a URDF document to a `RobotSpec`, with all numbers and references checked.

Defaults are those of the URDF specification: axis (1, 0, 0), origin identity, `<mimic>` multiplier
1 and offset 0, `<limit>` lower and upper 0. The following cause a warning each. A robot without a
name gets the file's name. A velocity or effort limit of 0 means no limit, as in MoveIt (literally,
the joint could never move). A material without color is drawn in the default color.

Strict reading refuses what the specification does not allow. Otherwise a description is read as far
as it has a meaning, with a warning. A visual that cannot be drawn is omitted. Invalid inertial data
are a fault of their link (`InertialSpec.fault`). An infinite limit is no limit, and a revolute or
prismatic joint without `<limit>` is unlimited.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

import numpy as np

from robosim.errors import MeshError, RobosimError, UrdfError, suggestion
from robosim.files import parse_xml
from robosim.meshes import MESH_FORMATS
from robosim.model import Safety
from robosim.model.parts import JointKind
from robosim.urdf.description import (
    GeometrySpec,
    InertialSpec,
    JointSpec,
    LinkSpec,
    MeshRef,
    RobotSpec,
)
from robosim.urdf.packages import resolve
from robosim.urdf.schema import URDF, Ignored, check_structure, label
from robosim.urdf.values import MAX_LENGTH, Reader

__all__ = ["read_urdf"]

T = TypeVar("T")

_MAX_MASS = 1e9  # [kg]
_MAX_INERTIA = 1e15  # [kg m^2]
_LONG = {"radius": 1, "length": 1}
_SIZES = {"box": {"size": 3}, "sphere": {"radius": 1}, "cylinder": _LONG, "capsule": _LONG}
_THIN = 1e-6  # [m] replaces a size of 0
_NO_INERTIA = 1e-15  # [kg m^2]: rounding errors of zero; a ball of 1 mg and 0.1 mm has more
_KINDS: tuple[str, ...] = get_args(JointKind)


def read_urdf(
    data: bytes | str,
    *,
    file: str,
    folder: Path | None,
    package_dirs: Sequence[str | PathLike[str]] = (),
    default_name: str = "robot",
    visuals: bool = True,
    strict: bool = False,
    skip_missing: bool = False,
) -> RobotSpec:
    """Read a URDF document.

    Args:
        data: the document.
        file: name of the document in errors.
        folder: folder of the document, for relative references; None for a string.
        package_dirs: see `robosim.urdf.packages`.
        default_name: name for a robot without one.
        visuals: True to read `<visual>` elements.
        strict: True to refuse what the specification does not allow.
        skip_missing: True to omit missing collision meshes with a warning.

    Raises:
        UrdfError: the document is invalid; with file and line.
        MeshError: a mesh reference cannot be resolved; with file and line.
    """
    warnings: list[str] = []
    root = parse_xml(data, file=file, error=UrdfError, warnings=warnings, strict=strict)
    ignored = check_structure(
        root, URDF, file=file, error=UrdfError, strict=strict, warnings=warnings
    )
    document = _Document(root, file, folder, package_dirs, ignored, warnings)
    document.visuals, document.strict, document.skip_missing = visuals, strict, skip_missing
    return document.robot(default_name)


class _Document:
    """A document during its conversion to a RobotSpec."""

    def __init__(
        self,
        root: Any,
        file: str,
        folder: Path | None,
        package_dirs: Sequence[str | PathLike[str]],
        ignored: Ignored,
        warnings: list[str],
    ) -> None:
        self.root, self.file, self.folder, self.package_dirs = root, file, folder, package_dirs
        self.ignored, self.warnings = ignored, warnings
        self.visuals, self.strict, self.skip_missing = True, True, False
        self.found_elsewhere: dict[str, int] = {}  # remarks on mesh references, by line
        self.read = Reader(file, UrdfError)
        self.colors: dict[str, tuple[float, float, float, float] | None] = {}

    def warn(self, element: Any, message: str) -> None:
        self.warnings.append(f"{self.file}:{element.sourceline}: {label(element)}: {message}")

    def tolerate(
        self, consequence: str, read: Callable[..., T], *arguments: Any, when: bool = True
    ) -> T | None:
        """Call `read` with these arguments. If it fails and reading is not strict, add a warning.

        The warning states the consequence.

        Returns:
            The result of `read`; None if it failed.

        Raises:
            RobosimError: `read` failed, and reading is strict or `when` is false.
        """
        try:
            return read(*arguments)
        except RobosimError as fault:
            if self.strict or not when:
                raise
            self.warnings.append(f"{fault}; {consequence}")
            return None

    def robot(self, default_name: str) -> RobotSpec:
        name = self.root.get("name", "").strip()
        if not name:
            self.warn(self.root, f"has no name; called {default_name!r}")
            name = default_name
        for material in self.root.iter("material"):
            self.tolerate("drawn in the default color", self._define_material, material)
        links = {e.get("name"): self._link(e) for e in self._unique("link")}
        joints = {e.get("name"): self._joint(e) for e in self._unique("joint")}
        if not self.strict:
            self._find_world(links, joints)
            joints = {
                name: self._with_known_source(joint, joints) for name, joint in joints.items()
            }
        self.warnings += [
            f"{self.file}:{line}: {text}" for text, line in self.found_elsewhere.items()
        ]
        return RobotSpec(
            name, self.file, links, joints, self.ignored.texts(self.file), self.warnings
        )

    def _find_world(self, links: dict[str, LinkSpec], joints: dict[str, JointSpec]) -> None:
        """Add a link "world" if joints have it as parent, as in files of Drake and Gazebo."""
        if "world" in links:
            return
        for joint in joints.values():
            if joint.parent == "world":
                text = (
                    f"joint {joint.name!r}: its parent link 'world' is not described; taken as the"
                    " world"
                )
                self.warnings.append(f"{self.file}:{joint.line}: {text}")
                links["world"] = LinkSpec("world", joint.line, None, (), ())
                return

    def _with_known_source(self, joint: JointSpec, joints: dict[str, JointSpec]) -> JointSpec:
        """Return the joint, without its mimic if the source is not a joint."""
        if joint.mimic is None or joint.mimic[0] in joints:
            return joint
        source = joint.mimic[0]
        text = (
            f"joint {joint.name!r}: mimics {source!r}, which is not a"
            f" joint{suggestion(source, joints)}"
        )
        self.warnings.append(f"{self.file}:{joint.line}: {text}; it moves by itself")
        return replace(joint, mimic=None)

    def _unique(self, tag: str) -> list[Any]:
        """Return the root's children with this tag, whose names must be unique."""
        lines: dict[str, int] = {}
        elements = self.root.findall(tag)
        for e in elements:
            if e.get("name") in lines:
                raise self.read.fail(
                    e, f"the name is taken by the {tag} in line {lines[e.get('name')]}"
                )
            lines[e.get("name")] = e.sourceline
        return cast("list[Any]", elements)

    # Links

    def _link(self, e: Any) -> LinkSpec:
        self.tolerate("passed over", self._check_link_origin, e)
        inertial = e.find("inertial")
        visuals = [self.tolerate("left out", self._geometry, v) for v in e.findall("visual")]
        collisions = [self._collision(c) for c in e.findall("collision")]
        return LinkSpec(
            name=e.get("name"),
            line=e.sourceline,
            inertial=None if inertial is None else self._inertial(inertial),
            collisions=tuple(c for c in collisions if c is not None),
            visuals=tuple(v for v in visuals if v is not None) if self.visuals else (),
        )

    def _check_link_origin(self, e: Any) -> None:
        origin = e.find("origin")
        if origin is not None and not np.array_equal(self.read.pose(e), np.eye(4)):
            raise self.read.fail(
                origin, "a link has no origin of its own in URDF; it must be the identity"
            )

    def _inertial(self, e: Any) -> InertialSpec:
        try:
            return self._valid_inertial(e)
        except UrdfError as fault:
            if self.strict:
                raise
            # Values that could be read, for messages and for a mass to which geometry is scaled.
            zero = np.zeros(3)
            mass, given = 0.0, e.find("mass")
            with contextlib.suppress(UrdfError):
                mass = 0.0 if given is None else self.read.number(given, "value", largest=_MAX_MASS)
            reason = str(fault).partition(": ")[2]
            return InertialSpec(e.sourceline, mass, zero, np.zeros((3, 3)), reason)

    def _valid_inertial(self, e: Any) -> InertialSpec:
        for tag in ("mass", "inertia"):
            if e.find(tag) is None:
                raise self.read.fail(e, f"<inertial> lacks <{tag}>")
        X_LI = self.read.pose(e)
        mass = self.read.number(e.find("mass"), "value", largest=_MAX_MASS)
        tensor = e.find("inertia")
        ixx, iyy, izz = (
            self.read.number(tensor, a, largest=_MAX_INERTIA) for a in ("ixx", "iyy", "izz")
        )
        ixy, ixz, iyz = (
            self.read.number(tensor, a, 0.0, _MAX_INERTIA) for a in ("ixy", "ixz", "iyz")
        )
        inertia = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
        if np.abs(inertia).max() < _NO_INERTIA:
            inertia[:] = 0
        if mass == 0.0 and inertia.any():
            if self.strict:
                raise self.read.fail(e, "has moments of inertia but no mass")
            self.warn(e, "has moments of inertia but no mass; they count as they are")
        R = X_LI[:3, :3]
        rotated = R @ inertia @ R.T
        return InertialSpec(e.sourceline, mass, X_LI[:3, 3], (rotated + rotated.T) / 2)

    def _collision(self, e: Any) -> GeometrySpec | None:
        shape = e.find("geometry")[0]
        if shape.tag == "mesh":
            with_way_out = "; to leave such meshes out, load with missing_meshes='skip'"
            try:
                consequence = "left out: nothing collides with it"
                return self.tolerate(consequence, self._geometry, e, when=self.skip_missing)
            except MeshError as fault:
                raise MeshError(f"{fault}{'' if self.strict else with_way_out}") from None
        sizes = [
            float(x)
            for a in _SIZES[shape.tag]
            for x in self.read.numbers(shape, a, _SIZES[shape.tag][a])
        ]
        if self.strict or min(sizes) != 0:
            return self._geometry(e)
        if max(sizes) == 0:
            self.warn(shape, f"<{shape.tag}> has no size; left out")
            return None
        self.warn(shape, f"<{shape.tag}> has a size of 0; taken as {_THIN:g} m")
        for name in _SIZES[shape.tag]:
            shape.set(
                name,
                " ".join(
                    repr(float(x) or _THIN)
                    for x in self.read.numbers(shape, name, _SIZES[shape.tag][name])
                ),
            )
        return self._geometry(e)

    def _geometry(self, e: Any) -> GeometrySpec:
        shape = e.find("geometry")[0]
        size: tuple[float, ...] = ()
        mesh = None
        if shape.tag == "mesh":
            mesh = self._mesh(shape)
        else:
            for name, n in _SIZES[shape.tag].items():
                size += tuple(map(float, self.read.numbers(shape, name, n, largest=MAX_LENGTH)))
                if min(size) <= 0:
                    raise self.read.fail(
                        shape, f"{name}={shape.get(name)!r} of <{shape.tag}> must be positive"
                    )
        material = e.find("material") if e.tag == "visual" else None
        rgba = None if material is None else self._color(material)
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
            raise MeshError(f"{what}: {reason}", file=self.file, line=e.sourceline)
        if reason:
            if self.strict:
                raise MeshError(f"{what}: {reason}", file=self.file, line=e.sourceline)
            self.found_elsewhere.setdefault(reason, e.sourceline)
        try:
            found = path.is_file()
        except OSError:  # for example, a name that is too long
            found = False
        if not found:
            raise MeshError(
                f"{what}: no such file {str(path)[:500]}", file=self.file, line=e.sourceline
            )
        if path.suffix.lower() not in MESH_FORMATS:
            formats = ", ".join(MESH_FORMATS)
            raise MeshError(
                f"{what}: format is not supported; use one of {formats}",
                file=self.file,
                line=e.sourceline,
            )
        return MeshRef(uri, path, cast("tuple[float, float, float]", scale))

    # Materials may be defined anywhere and used by name anywhere

    def _define_material(self, e: Any) -> None:
        name, color = e.get("name", ""), e.find("color")
        if color is None or e.getparent().tag == "collision":
            return
        r, g, b, a = (float(x) for x in self.read.numbers(color, "rgba", 4, largest=1e6))
        rgba = tuple(min(max(x, 0.0), 1.0) for x in (r, g, b, a))
        if rgba != (r, g, b, a):
            self.warn(color, f"rgba={color.get('rgba')!r} is outside 0 to 1; clipped")
        if (
            name
            and self.colors.setdefault(name, cast("Any", rgba)) != rgba
            and e.getparent() is self.root
        ):
            self.warn(
                e, "is defined again with another color; the first one counts for uses by name"
            )
        e.set("_rgba", " ".join(map(repr, rgba)))

    def _color(self, e: Any) -> tuple[float, float, float, float] | None:
        if e.get("_rgba"):
            r, g, b, a = map(float, e.get("_rgba").split())
            return r, g, b, a
        name = e.get("name", "")
        if name and name not in self.colors:
            self.colors[name] = None
            if (
                self.root.find(f"material[@name={_quoted(name)}]") is None
                and e.find("texture") is None
            ):
                self.warn(e, f"material {name!r} is defined nowhere; drawn in the default color")
        return self.colors.get(name)

    # Joints

    def _joint(self, e: Any) -> JointSpec:
        kind = e.get("type").strip()
        if kind not in _KINDS:
            raise self.read.fail(e, f"unknown joint type {kind!r}; known are {', '.join(_KINDS)}")
        parent, child = e.find("parent").get("link"), e.find("child").get("link")
        if parent == child:
            raise self.read.fail(e, f"link {parent!r} is both its parent and its child")
        dynamics = (
            e.find("dynamics") if e.find("dynamics") is not None else e.find("joint_properties")
        )
        damping = friction = 0.0
        if dynamics is not None:
            damping, friction = (
                self.tolerate("taken as 0", self._magnitude, dynamics, name) or 0.0
                for name in ("damping", "friction")
            )
        lower, upper, velocity, effort, acceleration = self._limits(e, kind)
        return JointSpec(
            e.get("name"), e.sourceline, cast("JointKind", kind), parent, child, self.read.pose(e),
            self._axis(e, kind),
            lower, upper, velocity, effort, acceleration, damping, friction, self._mimic(e, kind),
            self._safety(e, kind, (lower, upper)),
        )  # fmt: skip

    def _magnitude(self, e: Any, name: str) -> float:
        value = self.read.number(e, name, 0.0)
        if value < 0:
            raise self.read.fail(e, f"{name} must not be negative, got {value:g}")
        return value

    def _axis(self, e: Any, kind: str) -> Any:
        axis = e.find("axis")
        if axis is None or kind in ("fixed", "floating"):
            return np.array([1.0, 0.0, 0.0])
        xyz = self.read.numbers(axis, "xyz", 3, largest=MAX_LENGTH)
        if np.linalg.norm(xyz) < 1e-9:
            raise self.read.fail(axis, f"axis {axis.get('xyz')!r} is zero")
        return xyz

    def _limits(self, e: Any, kind: str) -> tuple[float | None, ...]:
        """Return lower, upper, velocity, effort and acceleration limits."""
        limit = e.find("limit")
        bounded = kind in ("revolute", "prismatic")
        if limit is None:
            if bounded and self.strict:
                without = '; use type="continuous" for one without' if kind == "revolute" else ""
                raise self.read.fail(e, f"a {kind} joint needs a <limit>{without}")
            if bounded:
                self.warn(e, f"a {kind} joint needs a <limit>; taken as unlimited")
            return None, None, None, None, None
        lower = upper = None
        if bounded:
            lower, upper = self._position_limits(limit)
        elif kind != "fixed" and (limit.get("lower") or limit.get("upper")):
            self.ignored.add(f"lower and upper limit of {kind} joints", limit.sourceline)
        rates = [
            self.tolerate("taken as none", self._rate, limit, name, kind)
            for name in ("velocity", "effort", "acceleration")
        ]
        return lower, upper, rates[0], rates[1], rates[2]

    def _position_limits(self, limit: Any) -> tuple[float | None, float | None]:
        lower, upper = (self._limit(limit, a, 0.0) for a in ("lower", "upper"))
        assert lower is not None
        assert upper is not None
        if lower > upper or lower == math.inf or upper == -math.inf:
            raise self.read.fail(
                limit, f"lower limit {lower:g} must not be above upper limit {upper:g}"
            )
        if limit.get("lower") is None and limit.get("upper") is None:
            self.warn(
                limit,
                "<limit> has neither lower nor upper, so both are 0, as URDF says: the joint is"
                " locked",
            )
        return None if lower == -math.inf else lower, None if upper == math.inf else upper

    def _limit(self, limit: Any, name: str, default: float | None = None) -> float | None:
        if self.strict:
            return (
                self.read.optional(limit, name)
                if default is None
                else self.read.number(limit, name, default)
            )
        return self.read.limit(limit, name, default)

    def _rate(self, limit: Any, name: str, kind: str) -> float | None:
        """Return the limit of velocity, effort or acceleration."""
        value = self._limit(limit, name)
        if value is not None and value < 0:
            raise self.read.fail(limit, f"{name} limit must not be negative, got {value:g}")
        if value == 0 and kind != "fixed":
            self.warn(limit, f"{name} limit 0 would forbid all motion; taken as none")
        return value if value and math.isfinite(value) else None

    def _mimic(self, e: Any, kind: str) -> tuple[str, float, float] | None:
        mimic = e.find("mimic")
        if mimic is None:
            return None
        if kind == "fixed":  # occurs in robots whose joints were changed to fixed ones
            self.ignored.add("<mimic> of fixed joints", mimic.sourceline)
            return None
        if kind not in ("revolute", "continuous", "prismatic"):
            raise self.read.fail(mimic, f"a {kind} joint cannot mimic another")
        return (
            mimic.get("joint"),
            self.read.number(mimic, "multiplier", 1.0),
            self.read.number(mimic, "offset", 0.0),
        )

    def _safety(self, e: Any, kind: str, hard: tuple[float | None, float | None]) -> Safety | None:
        e = e.find("safety_controller")
        if e is None:
            return None
        optional = self.read.optional if self.strict else self.read.limit
        lower, upper = optional(e, "soft_lower_limit"), optional(e, "soft_upper_limit")
        gains = {name: optional(e, name) for name in ("k_position", "k_velocity")}
        given = lower is not None or upper is not None
        if given and kind not in ("revolute", "prismatic"):
            self.ignored.add(f"soft limits of {kind} joints", e.sourceline)
            lower = upper = None
        elif given and not self.strict:
            # The default of both is 0 in URDF: templates and generators write it for no limit.
            low = max(x for x in (-math.inf, hard[0], lower) if x is not None)
            high = min(x for x in (math.inf, hard[1], upper) if x is not None)
            if not lower and not upper:
                lower = upper = None
            elif low >= high:
                self.warn(e, f"soft limits {lower} and {upper} leave no motion; passed over")
                lower = upper = None
        return Safety(soft_lower=_finite(lower), soft_upper=_finite(upper), **gains)


def _finite(value: float | None) -> float | None:
    """Return a limit, or None if it is infinite."""
    return None if value is None or math.isinf(value) else value


def _quoted(name: str) -> str:
    """Quote a string for ElementPath, which has no escapes."""
    return f'"{name}"' if '"' not in name else f"'{name.replace(chr(39), '')}'"
