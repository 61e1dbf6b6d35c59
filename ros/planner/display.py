"""Content of RViz for a scene and a plan, as marks for visualization_msgs/Marker (`messages`).

Shown are the objects of the scene, the path of each moving tip, and the robot's colliders and held
objects at the end of the motion. All marks consist of shapes and triangles, so that RViz needs no
files of robosim.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from robosim.geometry import Shape, TriangleMesh
from robosim.meshes.tessellate import tessellated
from robosim.model.tips import tip_links
from robosim.planners.positions import chain
from robosim.scene import MeshSource, PointCloud
from robosim.scene.objects import pieces_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from robosim.model import Model
    from robosim.planners import PlanResult
    from robosim.scene import Scene, SceneObject

__all__ = ["Mark", "plan_marks", "scene_marks"]

FloatArray = NDArray[np.float64]
Kind = Literal["cube", "sphere", "cylinder", "line_strip", "sphere_list", "triangle_list"]
Color = tuple[float, float, float, float]

PATH_COLOR: Color = (0.10, 0.55, 0.95, 1.0)
GHOST_COLOR: Color = (0.95, 0.55, 0.15, 0.5)
PATH_WIDTH = 0.005  # [m]
PATH_POINTS = 200
FLOOR_EDGE, FLOOR_THICKNESS = 4.0, 0.002  # [m] of the plate that represents a half-space
_EMPTY = np.empty((0, 3))


@dataclass(frozen=True, eq=False)
class Mark:
    """One marker.

    Attributes:
        namespace: owner of the marker: "scene/NAME", "path/LINK" or "goal/LINK".
        kind: kind of marker, as in visualization_msgs/Marker.
        X: (4, 4) pose in W.
        scale: [m] full sizes of a cube, sphere or cylinder; width of a line in the first entry;
            diameter of the spheres of a list; 1 for triangles.
        rgba: color and opacity, 0 to 1.
        points: (n, 3) [m] in the marker's frame: points of lines and spheres, or three per
            triangle.
    """

    namespace: str
    kind: Kind
    X: FloatArray
    scale: tuple[float, float, float]
    rgba: Color
    points: FloatArray = field(default_factory=lambda: _EMPTY)


def scene_marks(scene: Scene | None) -> list[Mark]:
    """Marks of the objects of a scene, except those that the robot holds."""
    if scene is None:
        return []
    return [
        mark
        for thing in scene
        if thing.name not in scene.attachments
        for mark in _object_marks(thing, thing.pose, f"scene/{thing.name}", thing.color)
    ]


def plan_marks(model: Model, result: PlanResult, scene: Scene | None) -> list[Mark]:
    """Marks of the paths of the robot's tips, and of the robot at the end of the motion."""
    trajectory = result.trajectory
    if trajectory is None:
        return []
    moving = {
        link
        for link in model.link_names
        if any(_moves(name, chain(model, link)) for name in trajectory.position_names)
    }
    marks = []
    poses = [
        model.link_poses(q)
        for q in result.configuration(np.linspace(0, trajectory.duration, PATH_POINTS))
    ]
    for tip in tip_links(model):
        if tip in moving:
            path = np.array([X[tip][:3, 3] for X in poses])
            scale = (PATH_WIDTH, PATH_WIDTH, PATH_WIDTH)
            marks.append(Mark(f"path/{tip}", "line_strip", np.eye(4), scale, PATH_COLOR, path))
    last = poses[-1]
    for collider in model.colliders:
        if collider.link in moving:
            X = last[collider.link] @ collider.X_LC
            marks.append(_shape_mark(collider.shape, X, f"goal/{collider.link}", GHOST_COLOR))
    for name, held in ({} if scene is None else scene.attachments).items():
        assert scene is not None
        thing = scene.objects[name]
        X = last[held.link] @ thing.pose
        marks += _object_marks(thing, X, f"goal/{name}", (*thing.color[:3], GHOST_COLOR[3]))
    return marks


def _moves(position: str, joints: set[str]) -> bool:
    """Return true if a position belongs to one of the joints."""
    return position in joints or position.split("/")[0] in joints


def _object_marks(
    thing: SceneObject, X_WO: FloatArray, namespace: str, rgba: Color
) -> Iterator[Mark]:
    """Marks of an object: its source mesh or points, otherwise its shapes."""
    if isinstance(thing.source, MeshSource):
        mesh = thing.source.mesh
        yield _triangles(mesh.vertices, mesh.faces, X_WO, namespace, rgba)
    elif isinstance(thing.source, PointCloud):
        d = 2 * thing.source.radius
        yield Mark(namespace, "sphere_list", X_WO, (d, d, d), rgba, thing.source.points)
    else:
        for shape, X_OS in pieces_of(thing):
            yield _shape_mark(shape, X_WO @ X_OS, namespace, rgba)


def _shape_mark(shape: Shape | TriangleMesh, X: FloatArray, namespace: str, rgba: Color) -> Mark:
    if isinstance(shape, TriangleMesh):
        return _triangles(shape.vertices, shape.faces.astype(np.int64), X, namespace, rgba)
    kind = str(shape.type)
    if kind == "box" and shape.rounding == 0:
        x, y, z = (float(s) for s in shape.size)
        return Mark(namespace, "cube", X, (x, y, z), rgba)
    if kind == "sphere":
        d = 2 * shape.radius
        return Mark(namespace, "sphere", X, (d, d, d), rgba)
    if kind == "ellipsoid":  # RViz scales its sphere
        x, y, z = (2 * float(a) for a in shape.radii)
        return Mark(namespace, "sphere", X, (x, y, z), rgba)
    if kind == "cylinder":
        d = 2 * shape.radius
        return Mark(namespace, "cylinder", X, (d, d, shape.length), rgba)
    if kind == "half_space":  # a plate whose upper face is the boundary
        below = X.copy()
        below[:3, 3] -= X[:3, 2] * FLOOR_THICKNESS / 2
        return Mark(namespace, "cube", below, (FLOOR_EDGE, FLOOR_EDGE, FLOOR_THICKNESS), rgba)
    mesh = tessellated(shape)
    return _triangles(mesh.vertices, mesh.faces, X, namespace, rgba)


def _triangles(
    vertices: FloatArray, faces: NDArray[np.int64], X: FloatArray, namespace: str, rgba: Color
) -> Mark:
    points = np.ascontiguousarray(np.asarray(vertices)[np.asarray(faces).reshape(-1)])
    return Mark(namespace, "triangle_list", X, (1.0, 1.0, 1.0), rgba, points)
