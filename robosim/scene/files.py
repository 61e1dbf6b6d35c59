"""Reading of scene files: YAML, written by hand or by `Scene.save` (save.py).

    format: robosim-scene
    version: 1
    name: desk
    robot: ur5                      # optional: robot of the starts and goals
    objects:
      - name: top
        pose: {xyz: [0.6, 0, 0.3], rpy: [0, 0, 0]}   # or quaternion: [x, y, z, w]; optional
        color: [0.6, 0.4, 0.2, 1]                    # optional
        box: {size: [1.2, 0.8, 0.04]}                # exactly one shape, or several parts:
      - name: hammer
        parts:
          - cylinder: {radius: 0.01, length: 0.3}
          - box: {size: [0.1, 0.03, 0.03]}
            pose: {xyz: [0, 0, 0.15]}
    allowed: [[hammer, top]]
    attached:                       # the pose of an attached object is in the frame of its link
      - {object: hammer, link: tool0, touch_links: [left_finger]}
    starts: {start: {shoulder_pan_joint: 0.5}}
    goals:
      goal: {joints: {shoulder_pan_joint: 1}}
      other: {link: tool0, pose: {xyz: [0.5, 0, 0.4]}}

Shapes are those of robosim.geometry.Shape, by name and sizes (`robosim.geometry.shape_sizes`):

- sphere {radius}, box {size}, cylinder {radius, length}, capsule {radius, length}, ellipsoid
  {radii}, cone {radius, length}, half_space {}, convex {vertices}, triangle {vertices}; box, convex
  and triangle with an optional rounding
- mesh {file, scale, decompose | keep} or {vertices, faces, decompose | keep}, also among parts;
  keep is solid or surface
- height_field {heights, spacing, depth} or {file, spacing, depth} or {base64, columns, spacing,
  depth}
- points {radius, xyz} or {radius, file} or {radius, base64}

Files of heights and points are .npy, or text in columns. base64 encodes rows of little-endian
doubles. Paths are relative to the folder of the scene file. Lengths are in m, angles in rad.
Unknown keys, formats and versions are refused by name.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robosim.errors import FileError, RobosimError, SceneError
from robosim.files import read_file
from robosim.geometry import pose as make_pose
from robosim.geometry import shape_sizes
from robosim.scene import objects as make
from robosim.scene.mesh_objects import mesh_object
from robosim.scene.objects import Piece, Pose, SceneObject, Solidity
from robosim.scene.scene import Scene
from robosim.scene.targets import Configuration, LinkPose
from robosim.scene.terrain import DEFAULT_DEPTH, checked_terrain
from robosim.scene.yaml_nodes import MAX_BYTES, Node, parse_yaml, read_yaml

__all__ = [
    "FORMAT",
    "VERSION",
    "check_format",
    "read_part",
    "read_pose",
    "read_scene",
    "read_scene_text",
    "scene_from",
]

FORMAT, VERSION = "robosim-scene", 1
_MAX_POINT_BYTES = 64 * 2**20
_SIZES = shape_sizes()
_READ_SIZE: dict[str, Callable[[Node, str], Any]] = {
    "number": Node.number,
    "vector": lambda node, what: node.numbers(what, 3),
    "points": lambda node, what: node.table(what, 3),
}


def read_scene(path: str | PathLike[str]) -> Scene:
    """Read a scene file. See `Scene.load`."""
    return _read_scene(read_yaml(path), Path(path).stem, Path(path).parent)


def read_scene_text(text: str, *, called: str = "<scene text>") -> Scene:
    """Read a scene from text. See `Scene.from_text`."""
    if len(text) > MAX_BYTES:
        raise SceneError(f"has {len(text)} characters; at most {MAX_BYTES} are read", file=called)
    return _read_scene(parse_yaml(text, called), "scene", None)


def _read_scene(root: Node, default_name: str, folder: Path | None) -> Scene:
    check_format(root, "scene", FORMAT, VERSION)
    return scene_from(root, default_name, folder, ("format", "version"))


def check_format(root: Node, what: str, name: str, version: int) -> None:
    """Raise SceneError unless a document has this format and version."""
    top = root.mapping(what, required=("format", "version"))
    if top["format"].value != name:
        raise top["format"].error(f"format: expected {name!r}, found {top['format'].kind}")
    if top["version"].integer("version") != version:
        raise top["version"].error(
            f"version {top['version'].value} is not known to this robosim, which reads version"
            f" {version}"
        )


def scene_from(
    root: Node, default_name: str, folder: Path | None, keys: tuple[str, ...] = ()
) -> Scene:
    """Read the scene of a node, which may have other `keys`; these are ignored."""
    own = ("name", "robot", "objects", "allowed", "attached", "starts", "goals")
    top = root.mapping("scene", keys=(*keys, *own))
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
        entry = node.mapping(
            "attached", keys=("object", "link", "touch_links"), required=("object", "link")
        )
        touched = entry["touch_links"].sequence("touch_links") if "touch_links" in entry else ()
        thing, link = entry["object"].text("object"), entry["link"].text("link")
        with located(node):
            held = scene.objects[thing].pose if thing in scene else None
            scene.attach(
                thing, link, pose=held, touch_links=[t.text("touch_links") for t in touched]
            )
    for label, node in (top["starts"].mapping("starts") if "starts" in top else {}).items():
        with located(node):
            scene.set_start(_read_joints(node, f"start {label!r}"), label)
    for label, node in (top["goals"].mapping("goals") if "goals" in top else {}).items():
        with located(node):
            scene.set_goal(_read_goal(node, f"goal {label!r}"), label)
    return scene


class located:
    """Context that adds the location of a node to errors without a location."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, SceneError) and error.file is None:
            raise SceneError(str(error), file=self._node.file, line=self._node.line) from error


def read_pose(node: Node, what: str) -> Pose:
    """Read a pose {xyz, rpy | quaternion}, with all keys optional."""
    entry = node.mapping(what, keys=("xyz", "rpy", "quaternion"))
    if "rpy" in entry and "quaternion" in entry:
        raise entry["rpy"].error(f"{what}: give rpy or quaternion, not both")
    xyz = entry["xyz"].numbers(f"{what}, xyz", 3) if "xyz" in entry else np.zeros(3)
    if "quaternion" in entry:
        return make_pose(xyz, quaternion=read_quaternion(entry["quaternion"], what))
    return make_pose(xyz, rpy=entry["rpy"].numbers(f"{what}, rpy", 3) if "rpy" in entry else None)


def read_quaternion(node: Node, what: str) -> NDArray[np.float64]:
    """Read four numbers x, y, z, w of length 1 to within 1 %, and normalize them."""
    quaternion = node.numbers(f"{what}, quaternion", 4)
    length = float(np.linalg.norm(quaternion))
    if not abs(length - 1) < 0.01:
        raise node.error(
            f"{what}: the quaternion (x, y, z, w) {quaternion.tolist()} has length {length:.4g};"
            " expected 1"
        )
    unit: NDArray[np.float64] = quaternion / length
    return unit


def _file(node: Node, what: str, folder: Path | None) -> Path:
    """Return the path of a file, relative to the scene's folder.

    A scene that is not a file has none.
    """
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
    kinds = (*_SIZES, "mesh", "height_field", "points", "parts")
    node.mapping(what, keys=("name", "pose", "color", *kinds))
    given = [kind for kind in kinds if kind in entry]
    if len(given) != 1:
        raise node.error(
            f"{what}: expected exactly one of {', '.join(kinds)}; found"
            f" {', '.join(given) or 'none'}"
        )
    kind, body = given[0], entry[given[0]]
    pose = read_pose(entry["pose"], f"{what}, pose") if "pose" in entry else None
    color = entry["color"].numbers(f"{what}, color").tolist() if "color" in entry else None
    if kind == "mesh":
        return _read_mesh(name, body, pose, color, folder)
    if kind == "height_field":
        return _read_terrain(name, body, pose, color, folder)
    if kind == "points":
        return _read_points(name, body, pose, color, folder)
    if kind == "parts":
        parts = [
            piece
            for i, part in enumerate(body.sequence(f"{what}, parts"))
            for piece in read_part(part, f"{what}, part {i}", name, folder)
        ]
        return make.compound_object(name, parts, pose, color)
    shape = make.make_shape(what, kind, **_read_sizes(kind, body, what))
    return make.compound_object(name, [(shape, None)], pose, color)


def read_part(
    node: Node, what: str, name: str, folder: Path | None
) -> list[tuple[Piece, Pose | None]]:
    """Read one shape, or the colliding shapes of a mesh, with its pose in the object."""
    kinds = (*_SIZES, "mesh")
    entry = node.mapping(what, keys=("pose", *kinds))
    given = [kind for kind in kinds if kind in entry]
    if len(given) != 1:
        raise node.error(
            f"{what}: expected exactly one of {', '.join(kinds)}; found"
            f" {', '.join(given) or 'none'}"
        )
    X = read_pose(entry["pose"], f"{what}, pose") if "pose" in entry else None
    if given[0] == "mesh":
        return [(shape, X) for shape in _read_mesh(name, entry["mesh"], None, None, folder).shapes]
    with located(node):
        shape = make.make_shape(what, given[0], **_read_sizes(given[0], entry[given[0]], what))
    return [(shape, X)]


def _read_sizes(kind: str, node: Node, what: str) -> dict[str, Any]:
    """Read the arguments of a shape's constructor."""
    sizes = _SIZES[kind]
    if not sizes and node.is_null():
        return {}
    required = [name for name in sizes if name != "rounding"]
    entry = node.mapping(f"{what}, {kind}", keys=sizes, required=required)
    return {
        name: _READ_SIZE[sizes[name]](entry[name], f"{what}, {name}")
        for name in sizes
        if name in entry
    }


def _read_mesh(
    name: str, node: Node, pose: Pose | None, color: list[float] | None, folder: Path | None
) -> SceneObject:
    what = f"object {name!r}, mesh"
    entry = node.mapping(what, keys=("file", "scale", "decompose", "keep", "vertices", "faces"))
    keep = _read_keep(entry["keep"], what) if "keep" in entry else None
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
        return mesh_object(
            name, mesh, pose, scale=scale, decompose=decompose, keep=keep, color=color
        )
    except (SceneError, ImportError):
        raise
    except RobosimError as error:
        raise SceneError(f"object {name!r}: {error}", file=node.file, line=node.line) from error


def _read_keep(node: Node, what: str) -> Solidity:
    word = node.text(f"{what}, keep")
    if word == "solid" or word == "surface":
        return "solid" if word == "solid" else "surface"
    raise node.error(f"{what}, keep: expected solid or surface, found {word!r}")


def _read_terrain(
    name: str, node: Node, pose: Pose | None, color: list[float] | None, folder: Path | None
) -> SceneObject:
    what = f"object {name!r}, height_field"
    entry = node.mapping(
        what,
        keys=("heights", "file", "base64", "columns", "spacing", "depth"),
        required=("spacing",),
    )
    given = [key for key in ("heights", "file", "base64") if key in entry]
    if len(given) != 1 or ("columns" in entry) != ("base64" in entry):
        raise node.error(f"{what}: give heights, a file, or base64 and columns, one of them")
    if "heights" in entry:
        rows = entry["heights"].sequence(f"{what}, heights")
        width = len(rows[0].sequence(f"{what}, heights")) if rows else 0
        heights = entry["heights"].table(f"{what}, heights", width)
    elif "file" in entry:
        heights = _load_table(_file(entry["file"], f"{what}, file", folder), node, "heights")
    else:
        heights = _decode(entry["base64"], what, entry["columns"].integer(f"{what}, columns"))
    step = entry["spacing"]
    spacing: Any = (
        step.numbers(f"{what}, spacing", 2)
        if isinstance(step.value, list)
        else step.number(f"{what}, spacing")
    )
    depth = entry["depth"].number(f"{what}, depth") if "depth" in entry else DEFAULT_DEPTH
    with located(node):
        terrain = checked_terrain(heights, spacing, depth, what)
        return make.terrain_object(name, terrain, pose, color)


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
        points = _decode(entry["base64"], what, 3)
    else:
        points = _load_table(_file(entry["file"], f"{what}, file", folder), node, "points")
    return make.points_object(name, points, entry["radius"].number(f"{what}, radius"), pose, color)


def _decode(node: Node, what: str, columns: int) -> NDArray[np.float64]:
    """Decode rows of little-endian doubles from base64.

    This is how `save` writes more than a thousand points or heights.
    """
    try:
        data = base64.b64decode(node.text(f"{what}, base64"), validate=True)
        return np.frombuffer(data, dtype="<f8").reshape(-1, max(columns, 1))
    except ValueError as error:
        raise node.error(f"{what}, base64: not rows of {columns} doubles: {error}") from error


def _load_table(path: Path, node: Node, what: str) -> NDArray[np.float64]:
    """Load columns of numbers from a .npy file, or from text separated by blanks or commas."""
    try:
        data = read_file(path, max_bytes=_MAX_POINT_BYTES)
        if path.suffix.lower() == ".npy":
            return np.asarray(np.load(io.BytesIO(data), allow_pickle=False), dtype=np.float64)
        return np.loadtxt(data.decode().replace(",", " ").splitlines(), dtype=np.float64, ndmin=2)
    except (FileError, ValueError, EOFError, MemoryError) as error:
        raise node.error(f"{what} cannot be read from {str(path)!r}: {error}") from error


def _read_joints(node: Node, what: str) -> Configuration:
    return {joint: value.number(f"{what}, {joint}") for joint, value in node.mapping(what).items()}


def _read_goal(node: Node, what: str) -> Configuration | LinkPose:
    entry = node.mapping(what, keys=("joints", "link", "pose"))
    if entry.keys() == {"joints"}:
        return _read_joints(entry["joints"], what)
    if entry.keys() == {"link", "pose"}:
        return LinkPose(
            entry["link"].text(f"{what}, link"), read_pose(entry["pose"], f"{what}, pose")
        )
    raise node.error(
        f"{what}: expected joints, or link and pose; found {', '.join(entry) or 'nothing'}"
    )
