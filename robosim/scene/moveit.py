"""MoveIt planning scenes (YAML) and motion requests.

This module reads the messages moveit_msgs/PlanningScene and MotionPlanRequest as YAML, as written
by MotionBenchMaker and similar tools: vectors as [x, y, z] or {x, y, z}, types as words or as the
message's numbers, `pose` optional.

    X_WS = X_WF X_FO X_OS     F: frame named in `header`, O: frame of the object's `pose`,
                              S: frame of the entry of `primitive_poses`

Sizes: box [x, y, z]; sphere [radius]; cylinder and cone [height, radius]. A plane ax + by + cz + d
= 0 becomes the half-space ax + by + cz + d <= 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import suggestion
from robosim.files import read_file
from robosim.geometry import Shape
from robosim.geometry import pose as make_pose
from robosim.scene import objects as make
from robosim.scene.files import located
from robosim.scene.mesh_objects import mesh_object
from robosim.scene.moveit_values import (
    entries,
    face,
    frame_id,
    has_data,
    posed,
    quaternion,
    read_plane,
    read_pose,
    read_primitive,
    vector,
)
from robosim.scene.objects import Piece, Pose, SceneObject, Solidity, checked_pose
from robosim.scene.scene import Scene
from robosim.scene.targets import Configuration
from robosim.scene.yaml_nodes import MAX_BYTES, Node, parse_yaml, read_yaml

if TYPE_CHECKING:
    from robosim.model import Model

__all__ = ["MotionRequest", "read_moveit_request", "read_moveit_scene"]

_OBJECT_KEYS = ("header", "id", "type", "pose", "primitives", "primitive_poses", "meshes",
    "mesh_poses", "planes",
                "plane_poses", "subframe_names", "subframe_poses", "operation")  # fmt: skip
_SCENE_KEYS = ("name", "robot_state", "robot_model_name", "fixed_frame_transforms",
    "allowed_collision_matrix",
               "link_padding", "link_scale", "object_colors", "world", "is_diff")  # fmt: skip


@dataclass(frozen=True)
class MotionRequest:
    """Start and goal of a MoveIt motion request.

    Attributes:
        group: name of the planning group, or None.
        start: positions by joint name.
        goal: positions by joint name.
    """

    group: str | None
    start: Configuration
    goal: Configuration


def read_moveit_scene(
    path: str | PathLike[str],
    *,
    model: Model | None = None,
    frames: Mapping[str, ArrayLike] | None = None,
    decompose: bool = False,
    keep: Solidity | None = None,
) -> Scene:
    """Read a MoveIt planning scene: YAML, or the text of a `.scene` file.

    Args:
        path: the file.
        model: the robot. It places objects given in the frame of a link that is fixed to the world,
            and attached objects given in another frame. With a model, pairs of its links in the
            allowed collision matrix are kept; without it, those pairs are left to the robot's SRDF.
        frames: poses X_WF (4, 4) of further frames that the file may name.
        decompose: True to cut concave meshes into convex pieces.
        keep: "solid" or "surface" to keep concave meshes as they are, see `Scene.add_mesh`; by
            default they are refused.

    Returns:
        The scene; the file's `robot_state` is its start "robot_state".

    Raises:
        FileError: the file cannot be read.
        SceneError: the file is malformed, names an unknown frame, or has entries that are not
            supported (padding, octomaps, removals); with file:line.
    """
    content = read_file(path, max_bytes=MAX_BYTES)
    if Path(path).suffix.lower() == ".scene" or _is_scene_text(content):
        from robosim.scene.moveit_text import parse_scene_text

        return parse_scene_text(content, path, decompose=decompose, keep=keep)
    return _SceneReader(path, model, frames or {}, decompose, keep).read(
        parse_yaml(content, fspath(path))
    )


def read_moveit_request(path: str | PathLike[str]) -> MotionRequest:
    """Read the start state and the joint goal of a MoveIt motion request in YAML.

    Raises:
        FileError: the file cannot be read.
        SceneError: the file is malformed, or its goal is not a single set of joint constraints;
            with file:line.
    """
    root = read_yaml(path)
    top = root.mapping("motion request", required=("start_state", "goal_constraints"))
    group = (
        top["group_name"].text("group_name")
        if "group_name" in top and top["group_name"].value
        else None
    )
    goals = top["goal_constraints"].sequence("goal_constraints", 1)
    constraints = goals[0].mapping("goal_constraints")
    for key in ("position_constraints", "orientation_constraints", "visibility_constraints"):
        if key in constraints and constraints[key].value:
            raise constraints[key].error(f"{key} are not read; only joint_constraints are")
    if "joint_constraints" not in constraints:
        raise goals[0].error("goal_constraints: 'joint_constraints' is missing")
    goal: Configuration = {}
    for node in constraints["joint_constraints"].sequence("joint_constraints"):
        entry = node.mapping("joint constraint", required=("joint_name", "position"))
        goal[entry["joint_name"].text("joint_name")] = entry["position"].number("position")
    if not goal:
        raise goals[0].error("joint_constraints: there is none")
    return MotionRequest(group, _read_joint_state(top["start_state"]), goal)


def _is_scene_text(content: bytes) -> bool:
    """True for the text of a `.scene` file: a name, then a line with "* id" or the final dot."""
    lines = content[:4096].split(b"\n", 2)
    second = lines[1].strip() if len(lines) > 1 else b""
    return second == b"." or (second.startswith(b"* ") and b":" not in lines[0])


class _SceneReader:
    """Reader of one scene file."""

    def __init__(
        self,
        path: str | PathLike[str],
        model: Model | None,
        frames: Mapping[str, ArrayLike],
        decompose: bool,
        keep: Solidity | None,
    ) -> None:
        self.path, self.model, self.decompose, self.keep = Path(path), model, decompose, keep
        self.frames: dict[str, Pose] = {"": np.eye(4), "world": np.eye(4)}
        self.frames |= {name: checked_pose(X, f"frame {name!r}") for name, X in frames.items()}
        self.state: Configuration = {}
        self.colors: dict[str, list[float]] = {}

    def read(self, root: Node) -> Scene:
        top = root.mapping("planning scene", keys=_SCENE_KEYS)
        scene = Scene(self.path.stem)
        if "name" in top and top["name"].value:
            scene.name = top["name"].text("name")
        # Padding, colors, frames and the robot state.
        self._refuse_padding(top)
        for node in entries(top, "object_colors"):
            entry = node.mapping("object color", required=("id", "color"))
            self.colors[entry["id"].text("id")] = vector(entry["color"], "rgba", "color").tolist()
        for node in entries(top, "fixed_frame_transforms"):
            self._read_transform(node)
        state = top.get("robot_state")
        if state is not None:
            self.state = _read_joint_state(state)
            if self.state:
                scene.set_start(self.state, "robot_state")
        # Objects of the world, moved from their frames to W.
        world = (
            top["world"].mapping("world", keys=("collision_objects", "octomap"))
            if "world" in top
            else {}
        )
        if "octomap" in world and has_data(world["octomap"]):
            raise world["octomap"].error("an octomap is not read; give its points as a point cloud")
        for node in entries(world, "collision_objects"):
            with located(node):
                thing, frame = self._read_object(node)
                moved = self._frame(frame, node) @ thing.pose
                scene.add(
                    make.SceneObject(
                        thing.name,
                        thing.shapes,
                        thing.shape_poses,
                        moved,
                        thing.color,
                        thing.source,
                    )
                )
        # Attached objects and allowed contacts.
        if state is not None and isinstance(state.value, dict):
            for node in entries(state.value, "attached_collision_objects"):
                with located(node):
                    self._attach(scene, node)
        if "allowed_collision_matrix" in top:
            self._allow(scene, top["allowed_collision_matrix"])
        return scene

    def _refuse_padding(self, top: dict[str, Node]) -> None:
        for key, neutral in (("link_padding", 0.0), ("link_scale", 1.0)):
            for node in entries(top, key):
                entry = node.mapping(key, required=("link_name",))
                size = entry.get("padding" if key == "link_padding" else "scale")
                if size is not None and size.number(key) != neutral:
                    raise size.error(
                        f"{key} of {entry['link_name'].value!r} is {size.value}, which is not"
                        f" honored; only {neutral:g} is"
                    )

    def _read_transform(self, node: Node) -> None:
        """Read a frame that is given as a child of another."""
        entry = node.mapping("fixed frame transform", required=("child_frame_id", "transform"))
        child = entry["child_frame_id"].text("child_frame_id").lstrip("/")
        transform = entry["transform"].mapping("transform", keys=("translation", "rotation"))
        xyz = (
            vector(transform["translation"], "xyz", "translation")
            if "translation" in transform
            else np.zeros(3)
        )
        rotation = quaternion(transform["rotation"]) if "rotation" in transform else None
        self.frames.setdefault(
            child, self._frame(frame_id(entry), node) @ make_pose(xyz, quaternion=rotation)
        )

    def _frame(self, name: str, node: Node) -> Pose:
        """Return the pose X_WF of a frame named in the file."""
        if name in self.frames:
            return self.frames[name]
        if self.model is not None:
            for frame in self.model._engine.frames:
                if frame.name == name and frame.body == 0:
                    X_WF: NDArray[np.float64] = np.asarray(frame.X_BF)
                    return X_WF
        near = suggestion(name, sorted(n for n in self.frames if n))
        raise node.error(
            f"the frame {name!r} is not known{near}; pass frames={{{name!r}: X_WF}} or the robot's"
            " model"
        )

    def _read_object(self, node: Node) -> tuple[SceneObject, str]:
        """Read an object posed in the frame that it names, and return that frame's name as well."""
        entry = node.mapping("collision object", keys=_OBJECT_KEYS, required=("id",))
        name = entry["id"].text("id")
        what = f"object {name!r}"
        operation = entry["operation"].text("operation") if "operation" in entry else "0"
        if operation.lower() not in ("0", "add", "\\0", "\x00"):
            raise entry["operation"].error(
                f"{what}: only the operation add is read, found {operation!r}"
            )
        pose = read_pose(entry["pose"], what) if "pose" in entry else np.eye(4)
        parts: list[tuple[Piece, Pose]] = []
        for body, X in posed(entry, "primitives", "primitive_poses", what):
            with located(body):
                parts.append((read_primitive(body, what), X))
        for body, X in posed(entry, "planes", "plane_poses", what):
            with located(body):
                parts.append((Shape.half_space(), X @ read_plane(body, what)))
        meshes = posed(entry, "meshes", "mesh_poses", what)
        color = self.colors.get(name)
        if len(meshes) == 1 and not parts:
            return self._read_mesh(name, meshes[0][0], pose @ meshes[0][1], color), frame_id(entry)
        for body, X in meshes:
            piece = self._read_mesh(name, body, X, color)
            parts += [
                (shape, piece.pose @ X_OS)
                for shape, X_OS in zip(piece.shapes, piece.shape_poses, strict=True)
            ]
        if len(parts) == 1:  # the common case: the object's frame is that of its shape
            shape, X = parts[0]
            return make.compound_object(name, [(shape, None)], pose @ X, color), frame_id(entry)
        return make.compound_object(name, parts, pose, color), frame_id(entry)

    def _read_mesh(
        self, name: str, node: Node, pose: Pose, color: list[float] | None
    ) -> SceneObject:
        what = f"object {name!r}, mesh"
        entry = node.mapping(
            what,
            keys=("vertices", "triangles", "resource", "filename", "dimensions", "scale", "type"),
        )
        resource = entry.get("resource") or entry.get("filename")
        size = entry.get("dimensions") or entry.get("scale")
        scale = vector(size, "xyz", what) if size is not None else np.ones(3)
        mesh: Any
        if resource is not None:
            mesh = self._resolve(resource, what)
        else:
            node.mapping(what, required=("vertices", "triangles"))
            vertices = [
                vector(v, "xyz", f"{what}, vertices") for v in entry["vertices"].sequence(what)
            ]
            faces = [face(t, what) for t in entry["triangles"].sequence(what)]
            mesh = (np.array(vertices).reshape(-1, 3), np.array(faces).reshape(-1, 3))
        return mesh_object(
            name, mesh, pose, scale=scale, decompose=self.decompose, keep=self.keep, color=color
        )

    def _resolve(self, node: Node, what: str) -> Path:
        """Find the file of a resource.

        It is next to the scene, or in a package's folder there or above.
        """
        text = node.text(what)
        if text.startswith("file://"):
            return Path(text[7:])
        if not text.startswith("package://"):
            return self.path.parent / text
        package, _, inside = text[10:].partition("/")
        here = self.path.resolve().parent
        for folder in (here, *here.parents):
            for root in [folder / package, *([folder] if folder.name == package else [])]:
                if (root / inside).is_file():
                    return root / inside
        raise node.error(f"{what}: no file for {text!r} beside the scene or in a folder above it")

    def _attach(self, scene: Scene, node: Node) -> None:
        entry = node.mapping("attached object",
            keys=("link_name", "object", "touch_links", "detach_posture", "weight"),
                             required=("link_name", "object"))  # fmt: skip
        link = entry["link_name"].text("link_name")
        thing, frame = self._read_object(entry["object"])
        pose = thing.pose
        if frame not in ("", link):
            if self.model is None:
                raise entry["object"].error(
                    f"attached object {thing.name!r} is given in the frame {frame!r}, not in that"
                    f" of its link {link!r}; pass the robot's model, which says how the two lie"
                )
            q = _configuration(self.model, self.state)
            on_robot = frame in self.model.link_names
            X_WF = self.model.frame_pose(q, frame) if on_robot else self._frame(frame, node)
            pose = np.linalg.inv(self.model.frame_pose(q, link)) @ X_WF @ pose
        scene.add(thing)
        touch = [t.text("touch_links") for t in entries(entry, "touch_links")]
        scene.attach(thing.name, link, pose=pose, touch_links=touch)

    def _allow(self, scene: Scene, node: Node) -> None:
        """Allow pairs that have a true entry in the matrix.

        These are pairs with an object or, with a model, of two links.

        Defaults of the matrix are allowed as "*".
        """
        keys = ("entry_names", "entry_values", "default_entry_names", "default_entry_values")
        matrix = node.mapping("allowed_collision_matrix", keys=keys)
        names = [n.text("entry_names") for n in entries(matrix, "entry_names")]
        rows = entries(matrix, "entry_values")
        links = set() if self.model is None else set(self.model.link_names)
        if len(rows) != len(names):
            raise node.error(
                f"allowed_collision_matrix: {len(names)} entry_names but {len(rows)} rows of"
                " entry_values"
            )
        for a, row in zip(names, rows, strict=True):
            enabled = row.value.get("enabled", row) if isinstance(row.value, dict) else row
            for b, cell in zip(names, enabled.sequence("entry_values", len(names)), strict=True):
                objects = (a in scene) + (b in scene)
                known = (
                    objects == 2
                    or (objects == 1 and (not links or a in links or b in links))
                    or {a, b} <= links
                )
                if a != b and known and cell.boolean("entry_values"):
                    scene.allow(a, b)
        defaults = entries(matrix, "default_entry_names"), entries(matrix, "default_entry_values")
        if len(defaults[0]) != len(defaults[1]):
            raise node.error(
                "allowed_collision_matrix: default_entry_names and default_entry_values differ in"
                " length"
            )
        for name, value in zip(*defaults, strict=True):
            if name.text("default_entry_names") in scene and value.boolean("default_entry_values"):
                scene.allow(name.value)


def _read_joint_state(node: Node) -> Configuration:
    """Read the positions of a robot state by name."""
    state = node.mapping("robot state").get("joint_state")
    if state is None:
        return {}
    entry = state.mapping("joint_state")
    names, positions = entries(entry, "name"), entries(entry, "position")
    if len(names) != len(positions):
        raise state.error(f"joint_state: {len(names)} names but {len(positions)} positions")
    return {
        n.text("joint name"): p.number("position") for n, p in zip(names, positions, strict=True)
    }


def _configuration(model: Model, state: Configuration) -> NDArray[np.float64]:
    """Return the model's neutral configuration, with the named positions replaced."""
    q: NDArray[np.float64] = np.array(model.neutral(), dtype=np.float64)
    for i, name in enumerate(model.position_names):
        q[i] = state.get(name, q[i])
    return q
