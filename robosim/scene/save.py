"""Writing of scene files. For their format see files.py."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robosim.errors import SceneError
from robosim.files import write_file
from robosim.geometry import Shape, TriangleMesh, pose_to_xyz_quaternion, shape_sizes
from robosim.scene import objects as make
from robosim.scene.files import FORMAT, VERSION
from robosim.scene.objects import MeshSource, PointCloud, Pose, SceneObject
from robosim.scene.scene import Scene
from robosim.scene.targets import LinkPose
from robosim.scene.terrain import Terrain
from robosim.scene.yaml_nodes import MAX_BYTES, MAX_NODES

__all__ = ["encoded", "flow", "save_scene", "scene_lines", "shape_entry", "text", "write_lines"]

_NOT_BARE = ("true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf")
_MAX_WRITTEN_POINTS = 1000  # more points or heights are written as base64
_SIZES = shape_sizes()


def save_scene(scene: Scene, path: str | PathLike[str]) -> None:
    """Write a scene file. See `Scene.save`."""
    lines = [f"format: {FORMAT}", f"version: {VERSION}", *scene_lines(scene, Path(path).parent)]
    write_lines(path, lines, f"scene {scene.name!r}")


def write_lines(path: str | PathLike[str], lines: Iterable[str], what: str) -> None:
    """Write lines of YAML, whole or not at all.

    Raises:
        FileError: the file cannot be written.
        SceneError: the file would be too large to be read again.
    """
    data = ("\n".join(lines) + "\n").encode()
    # A row of three numbers is four values and three commas.
    if len(data) > MAX_BYTES or data.count(b",") * 4 > MAX_NODES * 3:
        raise SceneError(f"{what} is too large to be read again; give its large meshes as files")
    write_file(path, data)


def scene_lines(scene: Scene, folder: Path) -> list[str]:
    """Return the entries of a scene except format and version; `folder` is that of the file."""
    lines = [f"name: {text(scene.name)}"]
    if scene.robot is not None:
        lines.append(f"robot: {text(scene.robot)}")
    if len(scene):
        lines.append("objects:")
    for thing in scene:
        lines += _object_lines(thing, folder)
    if scene.allowed:
        lines.append("allowed:")
        lines += [f"  - {flow(list(pair))}" for pair in sorted(scene.allowed)]
    if scene.attachments:
        lines.append("attached:")
    for name, attachment in scene.attachments.items():
        entry = {
            "object": name,
            "link": attachment.link,
            "touch_links": list(attachment.touch_links),
        }
        lines.append(f"  - {flow(entry)}")
    if scene.starts:
        lines.append("starts:")
        lines += [f"  {text(name)}: {flow(joints)}" for name, joints in scene.starts.items()]
    if scene.goals:
        lines.append("goals:")
    for name, goal in scene.goals.items():
        content = (
            {"link": goal.link, "pose": pose_entry(goal.pose)}
            if isinstance(goal, LinkPose)
            else {"joints": goal}
        )
        lines.append(f"  {text(name)}: {flow(content)}")
    return lines


def _object_lines(thing: SceneObject, folder: Path) -> list[str]:
    lines = [f"  - name: {text(thing.name)}"]
    if not np.array_equal(thing.pose, np.eye(4)):
        lines.append(f"    pose: {flow(pose_entry(thing.pose))}")
    lines.append(f"    color: {flow(list(thing.color))}")
    if isinstance(thing.source, MeshSource):
        lines.append(f"    mesh: {flow(_mesh_entry(thing.source, folder))}")
    elif isinstance(thing.source, Terrain):
        lines.append(f"    height_field: {flow(_terrain_entry(thing.source))}")
    elif isinstance(thing.source, PointCloud):
        lines.append(f"    points: {flow(_points_entry(thing.source))}")
    elif len(pieces := make.pieces_of(thing)) == 1 and np.array_equal(pieces[0][1], np.eye(4)):
        lines.append(f"    {flow(shape_entry(pieces[0][0]))[1:-1]}")
    else:
        lines.append("    parts:")
        for shape, X_OS in pieces:
            lines.append(f"      - {flow({**shape_entry(shape), 'pose': pose_entry(X_OS)})}")
    return lines


def shape_entry(shape: Shape | TriangleMesh) -> dict[str, Any]:
    """Return the type of a shape and its sizes as an entry."""
    if isinstance(shape, TriangleMesh):
        return {"mesh": {
            "vertices": shape.vertices.tolist(),
            "faces": shape.faces.tolist(),
            "keep": "solid" if shape.is_solid else "surface",
        }}  # fmt: skip
    entry = {key: np.asarray(getattr(shape, key)).tolist() for key in _SIZES[shape.type]}
    if entry.get("rounding") == 0:
        del entry["rounding"]
    return {shape.type: entry}


def _points_entry(cloud: PointCloud) -> dict[str, Any]:
    if len(cloud.points) <= _MAX_WRITTEN_POINTS:
        return {"radius": cloud.radius, "xyz": cloud.points.tolist()}
    return {"radius": cloud.radius, "base64": encoded(cloud.points)}


def _terrain_entry(terrain: Terrain) -> dict[str, Any]:
    rest = {"spacing": list(terrain.spacing), "depth": terrain.depth}
    if terrain.heights.size <= _MAX_WRITTEN_POINTS:
        return {"heights": terrain.heights.tolist(), **rest}
    return {"base64": encoded(terrain.heights), "columns": terrain.heights.shape[1], **rest}


def encoded(rows: NDArray[np.float64]) -> str:
    """Encode numbers as little-endian doubles in base64."""
    return base64.b64encode(np.ascontiguousarray(rows, dtype="<f8").tobytes()).decode()


def _mesh_entry(source: MeshSource, folder: Path) -> dict[str, Any]:
    """Return the file of a mesh, or else its triangles.

    The file is relative to the scene's folder if it lies below.
    """
    entry: dict[str, Any]
    becomes = {"decompose": source.decompose} if source.keep is None else {"keep": source.keep}
    if source.file is None:
        return {
            "vertices": source.mesh.vertices.tolist(),
            "faces": source.mesh.faces.tolist(),
            **becomes,
        }
    file = Path(source.file).resolve()
    base = folder.resolve()
    entry = {"file": str(file.relative_to(base) if file.is_relative_to(base) else file)}
    return {**entry, "scale": list(source.scale), **becomes}


def pose_entry(X: Pose) -> dict[str, list[float]]:
    xyz, quaternion = pose_to_xyz_quaternion(X)
    return {"xyz": np.asarray(xyz).tolist(), "quaternion": np.asarray(quaternion).tolist()}


def text(value: str) -> str:
    """Return text as a YAML scalar: bare if unambiguous, else quoted (JSON strings are YAML)."""
    bare = re.fullmatch(r"[A-Za-z_][\w.-]*", value, re.ASCII) and value.lower() not in _NOT_BARE
    return value if bare else json.dumps(value, ensure_ascii=False)


def flow(value: Any) -> str:
    """Return plain data as one line of YAML."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return text(value)
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{text(str(k))}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Iterable):
        return "[" + ", ".join(map(flow, value)) + "]"
    raise TypeError(f"cannot be written as YAML: {value!r}")


def _number(value: float) -> str:
    """Return the shortest digits that are read back as the same double.

    The digits have a decimal point, since YAML 1.1 reads 1e-07 as text.
    """
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, int) or (value == int(value) and math.fabs(value) < 1e15):
        return str(int(value)) if value or math.copysign(1, value) > 0 else "-0.0"
    digits = repr(float(value))
    mantissa, e, exponent = digits.partition("e")
    return digits if not e or "." in mantissa else f"{mantissa}.0e{exponent}"
