"""Small messages inside MoveIt's, in their YAML form: vectors, poses, primitives, planes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from robosim.errors import SceneError, suggestion
from robosim.geometry import Shape
from robosim.geometry import pose as make_pose
from robosim.scene import objects as make
from robosim.scene.files import read_quaternion
from robosim.scene.objects import Pose
from robosim.scene.yaml_nodes import Node

_PRIMITIVES = {"1": "box", "2": "sphere", "3": "cylinder", "4": "cone"}
_SIZES = {"box": 3, "sphere": 1, "cylinder": 2, "cone": 2}


def entries(mapping: Mapping[str, Node], key: str) -> list[Node]:
    """Return a sequence that may be missing or null."""
    if key not in mapping or mapping[key].is_null():
        return []
    return mapping[key].sequence(key)


def frame_id(entry: Mapping[str, Node]) -> str:
    """Return the frame that a header names, or an empty name."""
    header = entry.get("header")
    inner = (
        header.value.get("frame_id")
        if header is not None and isinstance(header.value, dict)
        else None
    )
    return inner.value.lstrip("/") if inner is not None and isinstance(inner.value, str) else ""


def has_data(node: Node) -> bool:
    """True if an octomap message has data."""
    while isinstance(node.value, dict) and "octomap" in node.value:
        node = node.value["octomap"]
    data = node.value.get("data") if isinstance(node.value, dict) else None
    return data is not None and bool(data.value) and not data.is_null()


def vector(node: Node, axes: str, what: str) -> NDArray[np.float64]:
    """Read a vector [x, y, z] or {x: , y: , z: }."""
    if isinstance(node.value, dict):
        axis_of = {axis: axis for axis in axes}
        entry = node.mapping(what, keys=tuple(axis_of), required=tuple(axis_of))
        return np.array([entry[axis].number(f"{what}, {axis}") for axis in axes])
    return node.numbers(what, len(axes))


def quaternion(node: Node) -> NDArray[np.float64]:
    """Read a unit quaternion [x, y, z, w] or {x, y, z, w}."""
    if not isinstance(node.value, dict):
        return read_quaternion(node, "orientation")
    flat = Node(
        [node.mapping("orientation", required="xyzw")[axis] for axis in "xyzw"],
        node.line,
        node.file,
    )
    return read_quaternion(flat, "orientation")


def read_pose(node: Node, what: str) -> Pose:
    """Read a pose {position, orientation}, both optional."""
    entry = node.mapping(f"{what}, pose", keys=("position", "orientation"))
    xyz = (
        vector(entry["position"], "xyz", f"{what}, position")
        if "position" in entry
        else np.zeros(3)
    )
    return make_pose(
        xyz, quaternion=quaternion(entry["orientation"]) if "orientation" in entry else None
    )


def posed(entry: Mapping[str, Node], bodies: str, poses: str, what: str) -> list[tuple[Node, Pose]]:
    """Return bodies with their poses.

    The two lists must have equal lengths, or the poses be absent.
    """
    listed, placed = entries(entry, bodies), entries(entry, poses)
    if placed and len(placed) != len(listed):
        raise entry[poses].error(f"{what}: {len(listed)} {bodies} but {len(placed)} {poses}")
    where = [read_pose(p, what) for p in placed] if placed else [np.eye(4)] * len(listed)
    return list(zip(listed, where, strict=True))


def read_primitive(node: Node, what: str) -> Shape:
    """Read a shape_msgs/SolidPrimitive."""
    entry = node.mapping(
        f"{what}, primitive",
        keys=("type", "dimensions", "polygon"),
        required=("type", "dimensions"),
    )
    word = entry["type"].text("type").lower()
    kind = _PRIMITIVES.get(word, word)
    if kind not in _SIZES:
        raise entry["type"].error(f"{what}: unknown primitive {word!r}{suggestion(word, _SIZES)}")
    sizes = entry["dimensions"].numbers(f"{what}, {kind}, dimensions", _SIZES[kind])
    if kind == "box":
        return make.make_shape(what, "box", sizes)
    if kind == "sphere":
        return make.make_shape(what, "sphere", float(sizes[0]))
    height, radius = sizes.tolist()
    return make.make_shape(what, kind, radius, height)


def read_plane(node: Node, what: str) -> Pose:
    """Read a shape_msgs/Plane, and return the frame of its half-space."""
    entry = node.mapping(f"{what}, plane", keys=("coef",), required=("coef",))
    return plane_pose(entry["coef"].numbers(f"{what}, plane", 4), what)


def plane_pose(coefficients: NDArray[np.float64], what: str) -> Pose:
    """Return a frame in which z <= 0 is the half-space ax + by + cz + d <= 0."""
    length = float(np.linalg.norm(coefficients[:3]))
    if length < 1e-9:
        raise SceneError(
            f"{what}: a plane needs a normal other than zero, found {coefficients.tolist()}"
        )
    z = coefficients[:3] / length
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    X = np.eye(4)
    X[:3, :3] = np.stack([x, np.cross(z, x), z], axis=1)
    X[:3, 3] = -coefficients[3] / length * z
    return X


def face(node: Node, what: str) -> NDArray[np.float64]:
    """Read the three indices of a shape_msgs/MeshTriangle, or of a bare sequence."""
    indices = (
        node.mapping(what, required=("vertex_indices",))["vertex_indices"]
        if isinstance(node.value, dict)
        else node
    )
    return indices.numbers(f"{what}, triangles", 3)
