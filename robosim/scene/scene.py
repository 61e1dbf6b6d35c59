"""`Scene`: obstacles, held objects, allowed contacts, and named starts and goals of a robot.

The world frame W of a scene is the frame of the robot's root link. To place a robot elsewhere, move
the scene the other way (`Scene.transformed`), or add a fixed first joint to its URDF.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import SceneError, suggestion
from robosim.geometry import Compound, Shape
from robosim.pickling import maker, rebuild
from robosim.scene import objects as make
from robosim.scene.objects import (
    PointCloud,
    Pose,
    SceneObject,
    Solidity,
    checked_object,
    checked_pose,
)
from robosim.scene.targets import Configuration, LinkPose, checked_goal, checked_start
from robosim.scene.terrain import DEFAULT_DEPTH, checked_terrain

if TYPE_CHECKING:
    from robosim import _engine
    from robosim.model import Model

__all__ = ["Attachment", "Scene"]


@dataclass(frozen=True)
class Attachment:
    """Attachment of an object to `link`, which it may touch.

    `touch_links` are further links that it may touch.
    """

    link: str
    touch_links: tuple[str, ...] = ()


class Scene:
    """Obstacles, attached objects, allowed contacts, and named starts and goals.

    Mutable plain data.

    Example:
        >>> from robosim.geometry import pose
        >>> scene = Scene("desk")
        >>> scene.add_box("top", size=(1.2, 0.8, 0.04), pose=pose((0.6, 0, 0.3)))
        >>> scene.add_cylinder("mug", radius=0.04, length=0.1, pose=pose((0.6, 0.1, 0.37)))
        >>> scene.allow("mug", "top")

    Attributes:
        name: name of the scene.
        robot: name of the robot that starts and goals are meant for, or None.
        starts: start configurations by name, each a mapping of joint names to positions.
        goals: goals by name, each such a mapping or a LinkPose.
    """

    def __init__(self, name: str = "scene", *, robot: str | None = None) -> None:
        self.name = name
        self.robot = robot
        self._objects: dict[str, SceneObject] = {}
        self._attachments: dict[str, Attachment] = {}
        self._allowed: set[tuple[str, str]] = set()
        self.starts: dict[str, Configuration] = {}
        self.goals: dict[str, Configuration | LinkPose] = {}

    # Objects

    @property
    def objects(self) -> Mapping[str, SceneObject]:
        """All objects by name, including attached ones, in the order of their addition."""
        return MappingProxyType(self._objects)

    @property
    def attachments(self) -> Mapping[str, Attachment]:
        """Attachments by name of the object."""
        return MappingProxyType(self._attachments)

    def __iter__(self) -> Iterator[SceneObject]:
        return iter(self._objects.values())

    def __len__(self) -> int:
        return len(self._objects)

    def __contains__(self, name: object) -> bool:
        return name in self._objects

    def __repr__(self) -> str:
        return (
            f"Scene({self.name!r}, {len(self._objects)} objects, {len(self._attachments)} attached)"
        )

    def add(self, thing: SceneObject) -> None:
        """Add an object; SceneError if its name is taken, or it is not valid."""
        checked_object(thing)
        if thing.name in self._objects:
            raise SceneError(
                f"scene {self.name!r}: an object named {thing.name!r} is already there"
            )
        self._objects[thing.name] = thing

    def add_box(
        self,
        name: str,
        size: Sequence[float],
        pose: ArrayLike | None = None,
        color: Sequence[float] | None = None,
    ) -> None:
        """Add a box of full edge lengths `size` [m], centered on its frame.

        Here and below, `pose` is X_WO (4, 4), by default the identity, and `color` is red, green,
        blue and opacity, each 0 to 1.
        """
        self.add(make.simple_object(name, "box", (size,), pose, color))

    def add_sphere(
        self,
        name: str,
        radius: float,
        pose: ArrayLike | None = None,
        color: Sequence[float] | None = None,
    ) -> None:
        """Add a sphere [m] about the origin of its frame."""
        self.add(make.simple_object(name, "sphere", (radius,), pose, color))

    def add_cylinder(
        self,
        name: str,
        radius: float,
        length: float,
        pose: ArrayLike | None = None,
        color: Sequence[float] | None = None,
    ) -> None:
        """Add a cylinder about the z axis of its frame, centered, `length` [m] from end to end."""
        self.add(make.simple_object(name, "cylinder", (radius, length), pose, color))

    def add_capsule(
        self,
        name: str,
        radius: float,
        length: float,
        pose: ArrayLike | None = None,
        color: Sequence[float] | None = None,
    ) -> None:
        """Add a capsule about the z axis of its frame, centered.

        `length` [m] is that of its straight part, without the ends.
        """
        self.add(make.simple_object(name, "capsule", (radius, length), pose, color))

    def add_half_space(
        self, name: str, pose: ArrayLike | None = None, color: Sequence[float] | None = None
    ) -> None:
        """Add the half-space z <= 0 of the object's frame: a floor, or a wall when rotated."""
        self.add(make.simple_object(name, "half_space", (), pose, color))

    def add_convex(
        self,
        name: str,
        vertices: ArrayLike,
        pose: ArrayLike | None = None,
        color: Sequence[float] | None = None,
    ) -> None:
        """Add the convex hull of points (n, 3) [m]."""
        self.add(make.simple_object(name, "convex", (vertices,), pose, color))

    def add_shape(
        self,
        name: str,
        shape: Shape | Compound,
        pose: ArrayLike | None = None,
        color: Sequence[float] | None = None,
    ) -> None:
        """Add one shape of any type, or a body of `robosim.geometry`, in the object's frame.

        A closed `TriangleMesh` (`is_solid`) collides as the solid that it encloses, any other as a
        surface with nothing behind it. A `HeightField` is added as in `add_height_field`, a
        `PointCloud` as in `add_points`.
        """
        self.add(make.body_object(name, shape, pose, color))

    def add_compound(
        self,
        name: str,
        parts: Iterable[tuple[Shape | Compound, ArrayLike | None]],
        pose: ArrayLike | None = None,
        color: Sequence[float] | None = None,
    ) -> None:
        """Add one object of several shapes or bodies.

        Each has a pose X_OS in the object's frame (None for the identity).
        """
        self.add(make.compound_object(name, parts, pose, color))

    def add_points(
        self,
        name: str,
        points: ArrayLike,
        radius: float,
        pose: ArrayLike | None = None,
        color: Sequence[float] | None = None,
    ) -> None:
        """Add a cloud of points (n, 3) or (h, w, 3) [m], each a sphere of `radius` [m].

        A bounding volume tree keeps clouds of thousands of points fast. All points must be finite.
        `clean_cloud` removes points of a camera that are not finite, points on the robot, and
        points beyond the capacity of a grid. A cloud may be empty. `set_points` replaces the points
        by those of the next picture.
        """
        self.add(make.points_object(name, points, radius, pose, color))

    def set_points(
        self,
        name: str,
        points: ArrayLike,
        radius: float | None = None,
        pose: ArrayLike | None = None,
    ) -> None:
        """Replace the points of a cloud; with a radius, add the cloud if it does not exist.

        The cloud's color, allowed contacts and attachment stay, as do radius and pose unless given.

        Raises:
            SceneError: there is no such object and no radius, the object is not a cloud, or points,
                radius or pose are not valid.
        """
        if name not in self._objects and radius is not None:
            self.add_points(name, points, radius, pose)
            return
        thing = self._objects[self._known(name)]
        if not isinstance(thing.source, PointCloud):
            raise SceneError(f"object {name!r} is no cloud of points; add_points makes one")
        self._objects[name] = make.points_object(
            name,
            points,
            thing.source.radius if radius is None else radius,
            thing.pose if pose is None else pose,
            thing.color,
        )

    def add_height_field(
        self,
        name: str,
        heights: ArrayLike,
        spacing: float | Sequence[float],
        pose: ArrayLike | None = None,
        *,
        depth: float = DEFAULT_DEPTH,
        color: Sequence[float] | None = None,
    ) -> None:
        """Add terrain: heights (n_x, n_y) [m] over a grid; heights[i, j] is at x = i spacing, y = j
        spacing.

        The terrain is a solid block from these heights down to `depth` [m] below the lowest height,
        with sides along the border of the grid. `spacing` [m] is one number, or (2,) along x and y.

        Raises:
            SceneError: the name is taken, or a height, the spacing or the depth is not valid.
        """
        terrain = checked_terrain(heights, spacing, depth, f"object {name!r}")
        self.add(make.terrain_object(name, terrain, pose, color))

    def add_mesh(
        self,
        name: str,
        mesh: str | PathLike[str] | tuple[ArrayLike, ArrayLike],
        pose: ArrayLike | None = None,
        *,
        scale: float | Sequence[float] = 1.0,
        decompose: bool = False,
        keep: Solidity | None = None,
        color: Sequence[float] | None = None,
    ) -> None:
        """Add a mesh: a file (STL, OBJ, DAE, PLY, GLB) or (vertices (n, 3), faces (m, 3)).

        A convex mesh collides as it is. A concave mesh is never replaced by its hull silently: it
        is kept with `keep`, cut into convex pieces with `decompose=True` (the `decomp` extra), or
        else refused.

        `keep="solid"`: all triangles and the volume that they enclose. The surface must be closed,
        with faces that look outward. `keep="surface"`: any triangles, such as a scan, as a
        two-sided surface with nothing behind it. Whatever lies wholly inside without touching the
        surface is free, like a robot in a room.

        Raises:
            SceneError: the name is taken, the mesh is concave and neither `keep` nor `decompose` is
                given, or it must be solid and encloses nothing.
            MeshError: the file is missing or malformed.
            MissingDependencyError: `decompose` needs the `decomp` extra.
        """
        from robosim.scene.mesh_objects import mesh_object

        self.add(
            mesh_object(name, mesh, pose, scale=scale, decompose=decompose, keep=keep, color=color)
        )

    def remove(self, name: str) -> None:
        """Remove an object, attached or not, and the allowed pairs that name it."""
        del self._objects[self._known(name)]
        self._attachments.pop(name, None)
        self._allowed = {pair for pair in self._allowed if name not in pair}

    def move(self, name: str, pose: ArrayLike) -> None:
        """Set the pose of an object: X_WO, or X_LO if it is attached."""
        thing = self._objects[self._known(name)]
        self._objects[name] = replace(thing, pose=checked_pose(pose, f"object {name!r}"))

    def replace(self, thing: SceneObject) -> None:
        """Replace the object of the same name, keeping its attachment and its allowed pairs.

        Raises:
            SceneError: no object has that name, `thing` is not valid, or it is unbounded and
                attached.
        """
        checked_object(thing)
        if self._known(thing.name) in self._attachments:
            _check_bounded(thing)
        self._objects[thing.name] = thing

    def transformed(self, X: ArrayLike) -> Scene:
        """Return a copy in which everything posed in the world is moved by X (4, 4).

        X_WO becomes X @ X_WO.

        This places a robot: for a robot with its root at X_WR in a room, plan in
        `room.transformed(inverse(X_WR))`.
        """
        X = checked_pose(X, f"scene {self.name!r}")
        moved = self.copy()
        for name, thing in self._objects.items():
            if name not in self._attachments:
                moved._objects[name] = replace(thing, pose=X @ thing.pose)
        moved.goals = {
            name: replace(goal, pose=X @ goal.pose) if isinstance(goal, LinkPose) else goal
            for name, goal in self.goals.items()
        }
        return moved

    def copy(self) -> Scene:
        """Return an independent copy; objects are immutable and shared."""
        other = Scene(self.name, robot=self.robot)
        other._objects = dict(self._objects)
        other._attachments = dict(self._attachments)
        other._allowed = set(self._allowed)
        other.starts = {name: dict(q) for name, q in self.starts.items()}
        other.goals = {
            name: dict(g) if isinstance(g, Mapping) else g for name, g in self.goals.items()
        }
        return other

    __copy__ = copy

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = {
            "name": self.name,
            "robot": self.robot,
            "objects": tuple(self._objects.values()),
            "attachments": self._attachments,
            "allowed": sorted(self._allowed),
            "starts": self.starts,
            "goals": self.goals,
        }
        return rebuild, (_rebuilt_scene, arguments)

    # Allowed contacts

    @property
    def allowed(self) -> frozenset[tuple[str, str]]:
        """Pairs of names (sorted) that may touch: objects, or links; "*" stands for everything."""
        return frozenset(self._allowed)

    def allow(self, a: str, b: str = "*") -> None:
        """Let two objects, or an object and a link, touch; with "*" the first may touch everything.

        Names of links are checked when the scene is compiled for a robot.
        """
        for name in (a, b):
            if not isinstance(name, str) or not name:
                raise SceneError(f"an allowed pair is two names, found {a!r} and {b!r}")
        if a == b:
            raise SceneError(f"an allowed pair is two different names, found {a!r} twice")
        self._allowed.add((min(a, b), max(a, b)))

    def disallow(self, a: str, b: str = "*") -> None:
        """Take back `allow(a, b)`; nothing happens if the pair was not allowed."""
        self._allowed.discard((min(a, b), max(a, b)))

    # Attached objects

    def attach(
        self,
        name: str,
        link: str,
        *,
        pose: ArrayLike | None = None,
        touch_links: Iterable[str] = (),
        model: Model | None = None,
        q: ArrayLike | None = None,
    ) -> None:
        """Fix an object to a link, so that it moves with the robot and collides as part of it.

        Args:
            name: the object.
            link: the link that carries it; the two may touch.
            pose: X_LO, the object's pose in the link's frame. If it is missing, `model` and `q`
                locate the robot, and the object stays in place in the world: X_LO = X_WL(q)^-1
                X_WO.
            touch_links: further links that it may touch, such as fingers.
            model: the robot.
            q: (n_q,) its configuration.

        Raises:
            SceneError: there is no such object, it is attached already, the model has no such link,
                or neither `pose` nor `model` and `q` are given.
        """
        thing = self._objects[self._known(name)]
        if name in self._attachments:
            raise SceneError(
                f"object {name!r} is already attached to {self._attachments[name].link!r}"
            )
        _check_bounded(thing)
        if pose is not None:
            X_LO = checked_pose(pose, f"object {name!r}")
        else:
            X_LO = np.linalg.inv(_link_pose(name, link, model, q)) @ thing.pose
        self._objects[name] = replace(thing, pose=checked_pose(X_LO, f"object {name!r}"))
        self._attachments[name] = Attachment(link, tuple(touch_links))

    def detach(
        self,
        name: str,
        *,
        pose: ArrayLike | None = None,
        model: Model | None = None,
        q: ArrayLike | None = None,
    ) -> None:
        """Detach an object, leaving it at `pose` (X_WO), or where `model` at `q` carried it.

        Raises:
            SceneError: the object is not attached, or neither `pose` nor `model` and `q` are given.
        """
        thing = self._objects[self._known(name)]
        if name not in self._attachments:
            raise SceneError(
                f"object {name!r} is not attached; attached are: {_listed(self._attachments)}"
            )
        if pose is not None:
            X_WO = checked_pose(pose, f"object {name!r}")
        else:
            X_WO = _link_pose(name, self._attachments[name].link, model, q) @ thing.pose
        self._objects[name] = replace(thing, pose=checked_pose(X_WO, f"object {name!r}"))
        del self._attachments[name]

    # Starts and goals

    def set_start(self, joints: Mapping[str, float], name: str = "start") -> None:
        """Add or replace a named start configuration, given by joint names [rad, m]."""
        self.starts[name] = checked_start(joints, f"start {name!r}")

    def set_goal(self, goal: Mapping[str, float] | LinkPose, name: str = "goal") -> None:
        """Add or replace a named goal: positions by joint names, or the pose of a link."""
        self.goals[name] = checked_goal(goal, f"goal {name!r}")

    # Compiling and files

    def compile(self, model: Model) -> _engine.CollisionScene:
        """Compile the scene with a robot, ready for collision queries and planning.

        These pairs are checked:

        - the pairs of `model.collision_pairs`
        - every collider on a moving link with every obstacle
        - every attached object with every obstacle, and with every collider except those of its own
          link and `touch_links`
        - attached objects on different links with each other

        Allowed pairs are left out. So are two things that never move, such as the robot's base and
        the table below it.

        Cost: linear in the number of objects. The last few scenes compiled with this model are
        cached by their colliding content, and a cached scene is returned at almost no cost.

        Raises:
            SceneError: an allowed pair or an attachment names neither an object nor a link.
        """
        from robosim.scene.compile import compile_scene

        return compile_scene(self, model)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the scene as YAML, whole or not at all.

        Raises:
            FileError: the file cannot be written.
            SceneError: the file would exceed the 32 MiB that `load` reads.
        """
        from robosim.scene.save import save_scene

        save_scene(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Scene:
        """Read a scene file, written by `save` or by hand.

        Raises:
            FileError: the file cannot be read.
            SceneError: the file is not a valid scene, with file:line.
        """
        from robosim.scene.files import read_scene

        return read_scene(path)

    @classmethod
    def from_text(cls, text: str) -> Scene:
        """Read a scene from the content of a scene file, in which paths of files must be absolute.

        Raises:
            SceneError: the text is not a valid scene, with its line.
        """
        from robosim.scene.files import read_scene_text

        return read_scene_text(text)

    def _known(self, name: str) -> str:
        if name not in self._objects:
            raise SceneError(
                f"scene {self.name!r} has no object {name!r}{suggestion(name, self._objects)}"
            )
        return name


@maker
def _rebuilt_scene(
    name: str,
    robot: str | None,
    objects: Iterable[SceneObject],
    attachments: Mapping[str, Attachment],
    allowed: Iterable[tuple[str, str]],
    starts: Mapping[str, Configuration],
    goals: Mapping[str, Configuration | LinkPose],
) -> Scene:
    """Rebuild a pickled scene."""
    scene = Scene(name, robot=robot)
    for thing in objects:
        scene.add(thing)
    for held, attachment in attachments.items():
        scene._attachments[scene._known(held)] = Attachment(
            attachment.link, tuple(attachment.touch_links)
        )
    for pair in allowed:
        scene.allow(*pair)
    for start, joints in starts.items():
        scene.set_start(joints, start)
    for goal, wanted in goals.items():
        scene.set_goal(wanted, goal)
    return scene


def _check_bounded(thing: SceneObject) -> None:
    """Raise SceneError if an object is unbounded, so that no link can carry it."""
    if any(isinstance(shape, Shape) and shape.type == "half_space" for shape in thing.shapes):
        raise SceneError(f"object {thing.name!r} is unbounded and cannot be attached")


def _link_pose(name: str, link: str, model: Model | None, q: ArrayLike | None) -> Pose:
    """Return the pose X_WL of a link at q."""
    if model is None or q is None:
        raise SceneError(
            f"object {name!r}: give its pose, or the model and q that say where the robot stands"
        )
    if link not in model.link_names:
        raise SceneError(
            f"object {name!r}: {model.name!r} has no link"
            f" {link!r}{suggestion(link, model.link_names)}"
        )
    X_WL: NDArray[np.float64] = np.asarray(model.frame_pose(q, link))
    return X_WL


def _listed(names: Iterable[Any], limit: int = 30) -> str:
    """List names for a message."""
    listed = list(names)
    rest = f" and {len(listed) - limit} more" if len(listed) > limit else ""
    return ", ".join(map(str, listed[:limit])) + rest if listed else "none"
