"""Motion as one PNG picture: the robot at its goal, a ghost at its start, and its tips' paths."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from robosim.errors import RobosimError
from robosim.viewer.framing import default_camera
from robosim.viewer.meshing import corner_normals, tube_mesh
from robosim.viewer.shading import Surface, draw, to_linear
from robosim.viewer.stage import Stage, transform

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from robosim.model import Model
    from robosim.scene import Scene
    from robosim.viewer.content import Part
    from robosim.viewer.stage import Motion

_TRACE = (1.0, 0.48, 0.12)
_START = (0.16, 0.44, 0.78)
_GLOSS = 0.6


def render_png(
    path: str | PathLike[str],
    model: Model,
    scene: Scene | None = None,
    trajectory: Motion | None = None,
    *,
    q: ArrayLike | None = None,
    size: tuple[int, int] = (1200, 900),
    ghosts: int = 4,
    azimuth: float | None = None,
    elevation: float | None = None,
) -> None:
    """Write a PNG picture, without browser, window or GPU. Arguments are as in `picture`.

    The file is written whole or not at all.

    Raises:
        FileError: the file cannot be written.
        TrajectoryError: the trajectory names positions that the robot lacks.
    """
    from PIL import Image

    from robosim.files import write_file

    image = picture(
        model,
        scene,
        trajectory,
        q=q,
        size=size,
        ghosts=ghosts,
        azimuth=azimuth,
        elevation=elevation,
    )
    data = io.BytesIO()
    Image.fromarray(image).save(data, "PNG")
    write_file(path, data.getvalue())


def picture(
    model: Model,
    scene: Scene | None = None,
    trajectory: Motion | None = None,
    *,
    q: ArrayLike | None = None,
    size: tuple[int, int] = (1200, 900),
    ghosts: int = 4,
    azimuth: float | None = None,
    elevation: float | None = None,
) -> NDArray[np.uint8]:
    """Render the robot in its scene: solid at the motion's end, ghosts at its start and between.

    The ghost at the start is blue, those between are fainter.

    Args:
        model: the robot.
        scene: surroundings of the robot.
        trajectory: motion of the robot. Without a motion the robot is drawn once. For the replay of
            a simulation, the last contact forces are drawn as well, as arrows like those of `show`.
            Arrows are visible through what hides them.
        q: configuration if there is no trajectory; neutral by default.
        size: width and height [pixels], 16 to 8192 each.
        ghosts: number of ghosts between start and goal.
        azimuth, elevation: direction of the eye, about z from x and above the horizon [rad]; chosen
            by visibility by default.

    Returns:
        sRGB picture (height, width, 3).
    """
    width, height = size
    if not (16 <= width <= 8192 and 16 <= height <= 8192):
        raise RobosimError(
            f"a picture of {width} x {height} pixels: each must lie between 16 and 8192"
        )
    stage = Stage(model, scene, trajectory, q=q)
    camera = default_camera(stage, width / height, azimuth=azimuth, elevation=elevation)
    painter = Painter(stage)
    end = stage.duration
    parts = (*stage.world, *stage.robot, *stage.carried)
    solid = [painter.surface(p, end) for p in parts if p.rgba[3] >= 0.99]
    lines = tip_lines(stage)
    layers = [(painter.surface(p, end), p.rgba[3]) for p in parts if p.rgba[3] < 0.99]
    if end > 0:
        moved = painter.moving_parts()
        for k, t in reversed(list(enumerate(_spaced_times(stage, ghosts + 2)[:-1]))):
            ghost = Surface.join([painter.surface(p, float(t), _START) for p in moved])
            layers.append((ghost, 0.8 if k == 0 else 0.26))
    return draw(
        Surface.join(solid),
        layers,
        camera,
        width,
        height,
        ground=stage.ground(),
        lines=lines,
        marks=arrows(stage, end),
    )


class Painter:
    """Converts parts to surfaces. Normals do not depend on a part's pose and are computed once."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._normals: dict[int, NDArray[np.float64]] = {}
        self._poses: tuple[float, Mapping[str, NDArray[np.float64]]] | None = None

    def _poses_at(self, t: float) -> Mapping[str, NDArray[np.float64]]:
        """X_WL of all links at time t. The result for the latest time is cached."""
        if self._poses is None or self._poses[0] != t:
            self._poses = t, self.stage.link_poses(self.stage.configuration(t))
        return self._poses[1]

    def surface(
        self, part: Part, t: float, tint: tuple[float, float, float] | None = None
    ) -> Surface:
        """Surface of the part at time t, in its own color or blended with a tint."""
        X = self.stage.part_pose(part, t, self._poses_at(t))
        rgb = np.array(part.rgba[:3])
        if tint is not None:
            rgb = 0.35 * rgb + 0.65 * np.array(tint)
        if part.radius > 0:
            n = len(part.vertices)
            return replace(
                Surface.empty(),
                centers=transform(X, part.vertices),
                radii=np.full(n, part.radius),
                tints=np.tile(to_linear(rgb), (n, 1)),
            )
        key, m = id(part), len(part.faces)
        if key not in self._normals:
            self._normals[key] = corner_normals(part.vertices, part.faces)
        return Surface(
            transform(X, part.vertices)[part.faces],
            self._normals[key] @ X[:3, :3].T,
            np.tile(to_linear(rgb), (m, 1)),
            np.full(m, _GLOSS if part.link else 0.0, np.float32),
        )

    def moving_parts(self) -> list[Part]:
        """Parts of the robot and of carried objects whose pose changes during the motion."""
        stage = self.stage
        parts = (*stage.robot, *stage.carried)

        def places(t: float) -> list[NDArray[np.float64]]:
            X_WL = self._poses_at(t)
            return [stage.part_pose(part, t, X_WL) for part in parts]

        end, moving = places(stage.duration), np.zeros(len(parts), bool)
        for t in np.linspace(0, stage.duration, 12)[:-1]:
            moving |= [
                not np.allclose(X, Y, rtol=0, atol=1e-4)
                for X, Y in zip(places(float(t)), end, strict=True)
            ]
        return [part for part, moves in zip(parts, moving, strict=True) if moves]


def tip_lines(stage: Stage) -> Surface:
    """Paths of the tips, as tubes."""
    return Surface.join([_tube(path) for path in stage.tip_paths()])


def _tube(path: NDArray[np.float64]) -> Surface:
    vertices, faces = tube_mesh(path, 0.006)
    m = len(faces)
    color = np.tile(to_linear(np.array(_TRACE)), (m, 1))
    return Surface(
        vertices[faces], corner_normals(vertices, faces), color, np.full(m, 0.2, np.float32)
    )


def arrows(stage: Stage, t: float) -> Surface | None:
    """Contact forces at time t, or None without forces."""
    if stage.forces is None:
        return None
    (vertices, faces), rgb = stage.forces.triangles(stage.moment(t))
    gloss = np.zeros(len(faces), np.float32)
    return Surface(vertices[faces], corner_normals(vertices, faces), to_linear(rgb), gloss)


def _spaced_times(stage: Stage, count: int) -> NDArray[np.float64]:
    """Moments of the motion at about equal distances in joint space."""
    t = np.linspace(0, stage.duration, 400)
    q = np.array([stage.configuration(float(x)) for x in t])
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(q, axis=0), axis=1))])
    return (
        np.asarray(np.interp(np.linspace(0, way[-1], count), way, t))
        if way[-1] > 0
        else np.zeros(count)
    )
