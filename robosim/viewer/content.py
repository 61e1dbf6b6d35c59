"""Conversion of models, scenes and mesh files to colored triangle meshes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from robosim.viewer.meshing import shape_mesh

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from robosim.model import Model, Visual
    from robosim.scene import Scene
    from robosim.scene.objects import SceneObject
    from robosim.viewer.meshing import Mesh

    Color = tuple[float, float, float, float]

ROBOT_COLOR = (0.74, 0.76, 0.79, 1.0)  # if the robot's description has no color
COLLIDER_COLOR = (0.95, 0.45, 0.15, 0.45)


@dataclass(frozen=True, eq=False)
class Part:
    """One colored mesh, or a cloud of balls, in its own frame.

    Attributes:
        name: name of its owner.
        link: link that carries it, or None if it is fixed in the world.
        X: (4, 4) pose of the mesh in the link's frame, or in W.
        vertices: (n, 3) [m]; points of a cloud.
        faces: (m, 3); empty for a cloud.
        rgba: color and opacity, 0..1, sRGB.
        bounded: False for a finite picture of an unbounded shape, such as a floor.
        radius: radius of the balls of a cloud [m], 0 for a mesh.
    """

    name: str
    link: str | None
    X: NDArray[np.float64]
    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]
    rgba: Color
    bounded: bool = True
    radius: float = 0.0

    def pose(self, X_WL: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Pose of the mesh in W (4, 4), from the links' poses."""
        return self.X if self.link is None else X_WL[self.link] @ self.X

    def box(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper corner (3,) of the axis-aligned bounding box, in the part's own frame."""
        return self.vertices.min(axis=0) - self.radius, self.vertices.max(axis=0) + self.radius


def robot_parts(model: Model) -> list[Part]:
    """Return the visuals of a robot. A link without visuals is shown by its colliders.

    Raises:
        MeshError: a visual's mesh file cannot be read.
    """
    parts: list[Part] = []
    for link, visuals in model.visuals.items():
        for visual in visuals:
            for vertices, faces, rgba in _visual_meshes(visual):
                parts.append(
                    Part(
                        f"{link}/{visual.name or len(parts)}",
                        link,
                        visual.X_LV,
                        vertices,
                        faces,
                        rgba,
                    )
                )
    shown = {part.link for part in parts}
    for collider in model.colliders:
        if collider.link not in shown:
            parts.append(
                Part(
                    collider.name,
                    collider.link,
                    collider.X_LC,
                    *shape_mesh(collider.shape),
                    ROBOT_COLOR,
                )
            )
    return parts


def collider_parts(model: Model) -> list[Part]:
    """Return the colliders of a robot."""
    return [
        Part(c.name, c.link, c.X_LC, *shape_mesh(c.shape), COLLIDER_COLOR) for c in model.colliders
    ]


def scene_parts(scene: Scene) -> list[Part]:
    """Return the objects of a scene, as their source mesh or points, otherwise as their shapes."""
    parts = []
    for thing in scene.objects.values():
        held = scene.attachments.get(thing.name)
        for X_OS, (vertices, faces), bounded, radius in _object_meshes(thing):
            parts.append(
                Part(
                    thing.name,
                    held.link if held else None,
                    thing.pose @ X_OS,
                    vertices,
                    faces,
                    thing.color,
                    bounded,
                    radius,
                )
            )
    return parts


def _object_meshes(thing: SceneObject) -> Iterator[tuple[NDArray[np.float64], Mesh, bool, float]]:
    """X_OS, mesh or points, boundedness and radius of each piece of an object."""
    from robosim.geometry import Shape
    from robosim.scene.objects import MeshSource, PointCloud

    if isinstance(thing.source, MeshSource):
        yield np.eye(4), (thing.source.mesh.vertices, thing.source.mesh.faces), True, 0.0
    elif isinstance(thing.source, PointCloud):
        cloud = thing.source
        if len(cloud.points):
            yield np.eye(4), (cloud.points, np.empty((0, 3), np.int64)), True, cloud.radius
    else:
        for shape, X_OS in zip(thing.shapes, thing.shape_poses, strict=True):
            yield (
                X_OS,
                shape_mesh(shape),
                not (isinstance(shape, Shape) and shape.type == "half_space"),
                0.0,
            )


def _visual_meshes(
    visual: Visual,
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int64], Color]]:
    """Meshes of a visual with colors. A color of the visual overrides that of the mesh file."""
    if visual.shape is not None:
        yield *shape_mesh(visual.shape), visual.rgba or ROBOT_COLOR
        return
    assert visual.mesh is not None
    for vertices, faces, rgba in colored_mesh_file(visual.mesh):
        scaled = vertices * np.asarray(visual.scale)
        outward = faces if np.prod(visual.scale) > 0 else faces[:, ::-1]
        yield scaled, outward, visual.rgba or rgba or ROBOT_COLOR


def colored_mesh_file(
    path: Path,
) -> list[tuple[NDArray[np.float64], NDArray[np.int64], Color | None]]:
    """Read the pieces of a mesh file, one per color: vertices [m], faces, and color.

    The color is None if the file has none.

    Raises:
        MeshError: the file is missing or malformed.
    """
    from robosim.meshes import load_mesh

    mesh = load_mesh(path)
    colors = _face_colors(path)
    if colors is None or len(colors) != len(mesh.faces):
        return [(mesh.vertices, mesh.faces, None)]
    distinct, piece = np.unique(colors, axis=0, return_inverse=True)
    return [
        (mesh.vertices, mesh.faces[np.asarray(piece).reshape(-1) == k], _color(rgba))
        for k, rgba in enumerate(distinct)
    ]


def _face_colors(path: Path) -> NDArray[np.uint8] | None:
    """Color (m, 4) of each triangle of a file that was read without errors, in the same order.

    Return None if there is none. Only plain colors count, and textures are not opened. Colors are
    optional, so any failure returns None.
    """
    import warnings

    import trimesh

    suffix = path.suffix.lower()[1:]
    if suffix == "stl":
        return None
    colors = []
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), path.open("rb") as file:
            warnings.simplefilter("ignore")
            scene = trimesh.load_scene(file, file_type=suffix, process=False)
            for node in scene.graph.nodes_geometry:
                geometry = scene.geometry[scene.graph[node][1]]
                if not isinstance(geometry, trimesh.Trimesh):
                    continue
                visual: Any = geometry.visual
                if visual.kind in ("face", "vertex"):
                    colors.append(np.asarray(visual.face_colors, dtype=np.uint8))
                elif visual.kind == "texture":
                    colors.append(
                        np.tile(
                            np.asarray(visual.material.main_color, dtype=np.uint8),
                            (len(geometry.faces), 1),
                        )
                    )
                else:
                    return None
    except Exception:
        return None
    # More colors than a description has materials are painted vertices. One part per color would be
    # too many.
    return (
        np.concatenate(colors)
        if colors and len(np.unique(np.concatenate(colors), axis=0)) <= 64
        else None
    )


def _color(rgba: NDArray[np.uint8]) -> Color:
    r, g, b, a = (float(c) / 255 for c in rgba)
    return (r, g, b, a if a > 0 else 1.0)
