"""Scene files: YAML of our own, to be written by hand as well as by `Scene.save`.

    format: robosim-scene
    version: 1
    name: desk
    robot: ur5                      # optional: whom starts and goals are for
    objects:
      - name: top
        pose: {xyz: [0.6, 0, 0.3], rpy: [0, 0, 0]}         # or quaternion: [x, y, z, w]; default the identity
        color: [0.6, 0.4, 0.2, 1]                          # optional
        box: {size: [1.2, 0.8, 0.04]}                      # exactly one shape, or several:
      - name: hammer
        parts:
          - cylinder: {radius: 0.01, length: 0.3}
          - box: {size: [0.1, 0.03, 0.03]}
            pose: {xyz: [0, 0, 0.15]}
    allowed: [[hammer, top]]
    attached: [{object: hammer, link: tool0, touch_links: [left_finger]}]   # the object's pose is then in
        that link
    starts: {start: {shoulder_pan_joint: 0.5}}
    goals: {goal: {joints: {shoulder_pan_joint: 1}}, other: {link: tool0, pose: {xyz: [0.5, 0, 0.4]}}}

Shapes: those of robosim.geometry.Shape, by name and sizes (`robosim.geometry.shape_sizes`): sphere {radius}, box
{size}, cylinder {radius, length}, capsule {radius, length}, ellipsoid {radii}, cone {radius, length}, half_space {},
convex {vertices}, triangle {vertices}; box, convex and triangle with an optional rounding; further, mesh {file, scale,
decompose} or {vertices, faces, decompose}, points {radius, xyz} or {radius, file} (.npy, or text in three columns) or
{radius, base64} (rows of little-endian doubles). Files are found relative to the scene's. Lengths in m, angles in
rad. Unknown keys, formats and versions are refused by name.
"""

from __future__ import annotations

import base64
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robosim.errors import FileError, RobosimError, SceneError
from robosim.files import read_file, write_file
from robosim.geometry import Shape, pose_to_xyz_quaternion, shape_sizes
from robosim.geometry import pose as make_pose
from robosim.scene import objects as make
from robosim.scene.mesh_objects import mesh_object
from robosim.scene.objects import MeshSource, PointCloud, Pose, SceneObject
from robosim.scene.scene import Scene
from robosim.scene.targets import Configuration, LinkPose
from robosim.scene.yaml_nodes import MAX_BYTES, MAX_NODES, Node, parse_yaml, read_yaml

__all__ = ["read_scene", "read_scene_text", "save_scene"]

FORMAT, VERSION = "robosim-scene", 1
_NOT_BARE = ("true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf")
_MAX_WRITTEN_POINTS = 1000  # larger clouds are written as base64
_MAX_POINT_BYTES = 64 * 2**20
_SIZES = shape_sizes()
_READ_SIZE: dict[str, Callable[[Node, str], Any]] = {
    "number": Node.number,
    "vector": lambda node, what: node.numbers(what, 3),
    "points": lambda node, what: node.table(what, 3),
}


def read_scene(path: str | PathLike[str]) -> Scene:
    """See `Scene.load`."""
    return _read_scene(read_yaml(path), Path(path).stem, Path(path).parent)


def read_scene_text(text: str, *, called: str = "<scene text>") -> Scene:
    """See `Scene.from_text`."""
    if len(text) > MAX_BYTES:
        raise SceneError(f"has {len(text)} characters; at most {MAX_BYTES} are read", file=called)
    return _read_scene(parse_yaml(text, called), "scene", None)


def _read_scene(root: Node, default_name: str, folder: Path | None) -> Scene:
    keys = ("format", "version", "name", "robot", "objects", "allowed", "attached", "starts", "goals")
    top = root.mapping("scene", required=("format", "version"))
    if top["format"].value != FORMAT:
        raise top["format"].error(f"format: expected {FORMAT!r}, found {top['format'].kind}")
    if top["version"].integer("version") != VERSION:
        raise top["version"].error(
            f"version {top['version'].value} is not known to this robosim, which reads version {VERSION}"
        )
    root.mapping("scene", keys=keys)

    name = top["name"].text("name") if "name" in top else default_name
    scene = Scene(name, robot=top["robot"].text("robot") if "robot" in top else None)
    for node in top["objects"].sequence("objects") if "objects" in top else ():
        with located(node):
            scene.add(_read_object(node, folder))
    for node in top["allowed"].sequence("allowed") if "allowed" in top else ():
        a, b = (entry.text("allowed pair") for entry in node.sequence("allowed pair", 2))
        with located(node):
            scene.allow(a, b)
    for node in top["attached"].sequence("attached") if "attached" in top else ():
        entry = node.mapping("attached", keys=("object", "link", "touch_links"), required=("object", "link"))
        touched = entry["touch_links"].sequence("touch_links") if "touch_links" in entry else ()
        thing, link = entry["object"].text("object"), entry["link"].text("link")
        with located(node):
            held = scene.objects[thing].pose if thing in scene else None
            scene.attach(thing, link, pose=held, touch_links=[t.text("touch_links") for t in touched])
    for label, node in (top["starts"].mapping("starts") if "starts" in top else {}).items():
        with located(node):
            scene.set_start(_read_joints(node, f"start {label!r}"), label)
    for label, node in (top["goals"].mapping("goals") if "goals" in top else {}).items():
        with located(node):
            scene.set_goal(_read_goal(node, f"goal {label!r}"), label)
    return scene


class located:
    """Context in which an error without a place gets that of a node."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, SceneError) and error.file is None:
            raise SceneError(str(error), file=self._node.file, line=self._node.line) from error


def read_pose(node: Node, what: str) -> Pose:
    """A pose {xyz, rpy | quaternion}, each optional."""
    entry = node.mapping(what, keys=("xyz", "rpy", "quaternion"))
    if "rpy" in entry and "quaternion" in entry:
        raise entry["rpy"].error(f"{what}: give rpy or quaternion, not both")
    xyz = entry["xyz"].numbers(f"{what}, xyz", 3) if "xyz" in entry else np.zeros(3)
    if "quaternion" in entry:
        return make_pose(xyz, quaternion=read_quaternion(entry["quaternion"], what))
    return make_pose(xyz, rpy=entry["rpy"].numbers(f"{what}, rpy", 3) if "rpy" in entry else None)


def read_quaternion(node: Node, what: str) -> NDArray[np.float64]:
    """Four numbers x, y, z, w of length 1 to within 1 %, made so to rounding."""
    quaternion = node.numbers(f"{what}, quaternion", 4)
    length = float(np.linalg.norm(quaternion))
    if not abs(length - 1) < 0.01:
        raise node.error(
            f"{what}: the quaternion (x, y, z, w) {quaternion.tolist()} has length {length:.4g}; expected 1"
        )
    unit: NDArray[np.float64] = quaternion / length
    return unit


def _file(node: Node, what: str, folder: Path | None) -> Path:
    """The file that is named, relative to the scene's folder; a scene that is no file has none."""
    path = Path(node.text(what))
    if folder is None and not path.is_absolute():
        raise node.error(
            f"{what}: {str(path)!r} is relative, but the scene is no file; give an absolute path"
        )
    return path if folder is None else folder / path


def _read_object(node: Node, folder: Path | None) -> SceneObject:
    entry = node.mapping("object", required=("name",))
    name = entry["name"].text("object's name")
    what = f"object {name!r}"
    kinds = (*_SIZES, "mesh", "points", "parts")
    node.mapping(what, keys=("name", "pose", "color", *kinds))
    given = [kind for kind in kinds if kind in entry]
    if len(given) != 1:
        raise node.error(
            f"{what}: expected exactly one of {', '.join(kinds)}; found {', '.join(given) or 'none'}"
        )
    kind, body = given[0], entry[given[0]]
    pose = read_pose(entry["pose"], f"{what}, pose") if "pose" in entry else None
    color = entry["color"].numbers(f"{what}, color").tolist() if "color" in entry else None
    if kind == "mesh":
        return _read_mesh(name, body, pose, color, folder)
    if kind == "points":
        return _read_points(name, body, pose, color, folder)
    if kind == "parts":
        parts = [
            _read_part(part, f"{what}, part {i}") for i, part in enumerate(body.sequence(f"{what}, parts"))
        ]
        return make.compound_object(name, parts, pose, color)
    shape = make.make_shape(what, kind, **_read_sizes(kind, body, what))
    return make.compound_object(name, [(shape, None)], pose, color)


def _read_part(node: Node, what: str) -> tuple[Shape, Pose | None]:
    entry = node.mapping(what, keys=("pose", *_SIZES))
    given = [kind for kind in _SIZES if kind in entry]
    if len(given) != 1:
        raise node.error(
            f"{what}: expected exactly one of {', '.join(_SIZES)}; found {', '.join(given) or 'none'}"
        )
    with located(node):
        shape = make.make_shape(what, given[0], **_read_sizes(given[0], entry[given[0]], what))
    return shape, read_pose(entry["pose"], f"{what}, pose") if "pose" in entry else None


def _read_sizes(kind: str, node: Node, what: str) -> dict[str, Any]:
    """The arguments of a shape's constructor."""
    sizes = _SIZES[kind]
    if not sizes and node.is_null():
        return {}
    required = [name for name in sizes if name != "rounding"]
    entry = node.mapping(f"{what}, {kind}", keys=sizes, required=required)
    return {name: _READ_SIZE[sizes[name]](entry[name], f"{what}, {name}") for name in sizes if name in entry}


def _read_mesh(
    name: str, node: Node, pose: Pose | None, color: list[float] | None, folder: Path | None
) -> SceneObject:
    what = f"object {name!r}, mesh"
    entry = node.mapping(what, keys=("file", "scale", "decompose", "vertices", "faces"))
    decompose = entry["decompose"].boolean(f"{what}, decompose") if "decompose" in entry else False
    scale: Any = 1.0
    if "scale" in entry:
        factor = entry["scale"]
        scale = (
            factor.numbers(f"{what}, scale", 3)
            if isinstance(factor.value, list)
            else factor.number(f"{what}, scale")
        )
    mesh: Any
    if "file" in entry and not {"vertices", "faces"} & entry.keys():
        mesh = _file(entry["file"], f"{what}, file", folder)
    elif {"vertices", "faces"} <= entry.keys() and "file" not in entry:
        faces = entry["faces"].table(f"{what}, faces", 3)
        mesh = (entry["vertices"].table(f"{what}, vertices", 3), faces)
    else:
        raise node.error(f"{what}: give a file, or vertices and faces")
    try:
        return mesh_object(name, mesh, pose, scale=scale, decompose=decompose, color=color)
    except (SceneError, ImportError):
        raise
    except RobosimError as error:
        raise SceneError(f"object {name!r}: {error}", file=node.file, line=node.line) from error


def _read_points(
    name: str, node: Node, pose: Pose | None, color: list[float] | None, folder: Path | None
) -> SceneObject:
    what = f"object {name!r}, points"
    entry = node.mapping(what, keys=("radius", "xyz", "base64", "file"), required=("radius",))
    if len(entry) != 2:
        raise node.error(f"{what}: give xyz, base64 or a file, one of them")
    if "xyz" in entry:
        points = entry["xyz"].table(f"{what}, xyz", 3)
    elif "base64" in entry:
        points = _decode_points(entry["base64"], what)
    else:
        points = _load_points(_file(entry["file"], f"{what}, file", folder), node)
    return make.points_object(name, points, entry["radius"].number(f"{what}, radius"), pose, color)


def _decode_points(node: Node, what: str) -> NDArray[np.float64]:
    """Rows of three little-endian doubles in base64: how `save` writes clouds of more than a thousand points."""
    try:
        data = base64.b64decode(node.text(f"{what}, base64"), validate=True)
        return np.frombuffer(data, dtype="<f8").reshape(-1, 3)
    except ValueError as error:
        raise node.error(f"{what}, base64: not rows of three doubles: {error}") from error


def _load_points(path: Path, node: Node) -> NDArray[np.float64]:
    """Three columns of numbers from a .npy file, or from text with blanks or commas between."""
    try:
        data = read_file(path, max_bytes=_MAX_POINT_BYTES)
        if path.suffix.lower() == ".npy":
            return np.asarray(np.load(io.BytesIO(data), allow_pickle=False), dtype=np.float64)
        return np.loadtxt(data.decode().replace(",", " ").splitlines(), dtype=np.float64, ndmin=2)
    except (FileError, ValueError, EOFError, MemoryError) as error:
        raise node.error(f"points cannot be read from {str(path)!r}: {error}") from error


def _read_joints(node: Node, what: str) -> Configuration:
    return {joint: value.number(f"{what}, {joint}") for joint, value in node.mapping(what).items()}


def _read_goal(node: Node, what: str) -> Configuration | LinkPose:
    entry = node.mapping(what, keys=("joints", "link", "pose"))
    if entry.keys() == {"joints"}:
        return _read_joints(entry["joints"], what)
    if entry.keys() == {"link", "pose"}:
        return LinkPose(entry["link"].text(f"{what}, link"), read_pose(entry["pose"], f"{what}, pose"))
    raise node.error(f"{what}: expected joints, or link and pose; found {', '.join(entry) or 'nothing'}")


def save_scene(scene: Scene, path: str | PathLike[str]) -> None:
    """See `Scene.save`."""
    lines = [f"format: {FORMAT}", f"version: {VERSION}", f"name: {_text(scene.name)}"]
    if scene.robot is not None:
        lines.append(f"robot: {_text(scene.robot)}")
    if len(scene):
        lines.append("objects:")
    for thing in scene:
        lines += _object_lines(thing, Path(path).parent)
    if scene.allowed:
        lines.append("allowed:")
        lines += [f"  - {_flow(list(pair))}" for pair in sorted(scene.allowed)]
    if scene.attachments:
        lines.append("attached:")
    for name, attachment in scene.attachments.items():
        entry = {"object": name, "link": attachment.link, "touch_links": list(attachment.touch_links)}
        lines.append(f"  - {_flow(entry)}")
    if scene.starts:
        lines.append("starts:")
        lines += [f"  {_text(name)}: {_flow(joints)}" for name, joints in scene.starts.items()]
    if scene.goals:
        lines.append("goals:")
    for name, goal in scene.goals.items():
        content = (
            {"link": goal.link, "pose": _pose_entry(goal.pose)}
            if isinstance(goal, LinkPose)
            else {"joints": goal}
        )
        lines.append(f"  {_text(name)}: {_flow(content)}")
    data = ("\n".join(lines) + "\n").encode()
    # Every row of three numbers is four values and three commas.
    if len(data) > MAX_BYTES or data.count(b",") * 4 > MAX_NODES * 3:
        raise SceneError(
            f"scene {scene.name!r} is too large to be read again; give its large meshes as files"
        )
    write_file(path, data)


def _object_lines(thing: SceneObject, folder: Path) -> list[str]:
    lines = [f"  - name: {_text(thing.name)}"]
    if not np.array_equal(thing.pose, np.eye(4)):
        lines.append(f"    pose: {_flow(_pose_entry(thing.pose))}")
    lines.append(f"    color: {_flow(list(thing.color))}")
    if isinstance(thing.source, MeshSource):
        lines.append(f"    mesh: {_flow(_mesh_entry(thing.source, folder))}")
    elif isinstance(thing.source, PointCloud):
        lines.append(f"    points: {_flow(_points_entry(thing.source))}")
    elif len(thing.shapes) == 1 and np.array_equal(thing.shape_poses[0], np.eye(4)):
        shape = thing.shapes[0]
        lines.append(f"    {shape.type}: {_flow(_sizes_entry(shape))}")
    else:
        lines.append("    parts:")
        for shape, X_OS in zip(thing.shapes, thing.shape_poses, strict=True):
            lines.append(f"      - {_flow({shape.type: _sizes_entry(shape), 'pose': _pose_entry(X_OS)})}")
    return lines


def _sizes_entry(shape: Shape) -> dict[str, Any]:
    entry = {key: np.asarray(getattr(shape, key)).tolist() for key in _SIZES[shape.type]}
    if entry.get("rounding") == 0:
        del entry["rounding"]
    return entry


def _points_entry(cloud: PointCloud) -> dict[str, Any]:
    if len(cloud.points) <= _MAX_WRITTEN_POINTS:
        return {"radius": cloud.radius, "xyz": cloud.points.tolist()}
    data = np.ascontiguousarray(cloud.points, dtype="<f8").tobytes()
    return {"radius": cloud.radius, "base64": base64.b64encode(data).decode()}


def _mesh_entry(source: MeshSource, folder: Path) -> dict[str, Any]:
    """The file, relative to the scene's folder where it lies below it, or else the triangles themselves."""
    entry: dict[str, Any]
    if source.file is None:
        return {
            "vertices": source.mesh.vertices.tolist(),
            "faces": source.mesh.faces.tolist(),
            "decompose": source.decompose,
        }
    file = Path(source.file).resolve()
    base = folder.resolve()
    entry = {"file": str(file.relative_to(base) if file.is_relative_to(base) else file)}
    return {**entry, "scale": list(source.scale), "decompose": source.decompose}


def _pose_entry(X: Pose) -> dict[str, list[float]]:
    xyz, quaternion = pose_to_xyz_quaternion(X)
    return {"xyz": np.asarray(xyz).tolist(), "quaternion": np.asarray(quaternion).tolist()}


def _text(text: str) -> str:
    """Text as a YAML scalar: bare where it cannot be taken for anything else, else quoted (JSON strings are YAML)."""
    bare = re.fullmatch(r"[A-Za-z_][\w.-]*", text, re.ASCII) and text.lower() not in _NOT_BARE
    return text if bare else json.dumps(text, ensure_ascii=False)


def _flow(value: Any) -> str:
    """Plain data as one line of YAML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(str(k))}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Iterable):
        return "[" + ", ".join(map(_flow, value)) + "]"
    raise TypeError(f"cannot be written as YAML: {value!r}")


def _number(value: float) -> str:
    """The shortest digits that give the same double back; with a point, without which YAML 1.1 reads 1e-07 as text."""
    if isinstance(value, int) or (value == int(value) and math.fabs(value) < 1e15):
        return str(int(value)) if value or math.copysign(1, value) > 0 else "0"
    digits = repr(float(value))
    mantissa, e, exponent = digits.partition("e")
    return digits if not e or "." in mantissa else f"{mantissa}.0e{exponent}"
