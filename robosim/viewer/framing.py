"""Choice of the viewpoint from which most of the moving robot is visible in its surroundings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from robosim import _engine
from robosim.viewer.camera import Camera, direction, fit
from robosim.viewer.meshing import box_mesh, tube_mesh
from robosim.viewer.shading import Surface, visible_faces
from robosim.viewer.stage import transform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from robosim.viewer.content import Part
    from robosim.viewer.stage import Stage

_ELEVATION = np.deg2rad(24.0)
_SIZE = 120  # pixels of the trial pictures' height
_CELL = 1 / 60  # of the grid that coarsens a cloud, relative to the diagonal of its box
_POSES = 5
_AZIMUTHS = np.deg2rad(np.arange(0, 360, 22.5) + 11.25)


def default_camera(
    stage: Stage,
    aspect: float,
    *,
    azimuth: float | None = None,
    elevation: float | None = None,
    margin: float = 0.05,
) -> Camera:
    """Choose a camera with all bounded content in a picture of this aspect ratio.

    Args:
        stage: content of the picture.
        aspect: width / height of the picture.
        azimuth: azimuth of the eye, about z from x [rad]; by default the best of 16. These are
            rated by the visible area of the robot (each part as its box at a few moments of the
            motion), of its tips' paths, and of each surrounding object. Each area is relative to
            the largest of the 16.
        elevation: elevation of the eye above the horizon [rad]; 24 degrees by default.
        margin: fraction of the picture left free at each border.
    """
    elevation = _ELEVATION if elevation is None else elevation
    bounds = stage.bounds()
    if azimuth is not None:
        return fit(bounds, direction(azimuth, elevation), aspect, margin=margin)
    proxies, owner = _proxies(stage)
    cameras = [fit(bounds, direction(a, elevation), aspect, margin=margin) for a in _AZIMUTHS]
    seen = []
    for camera in cameras:
        face = visible_faces(proxies, camera, round(aspect * _SIZE), _SIZE).face
        pixels = np.bincount(owner[face[face >= 0]], minlength=owner.max(initial=1) + 1)
        # Visible area of a pixel, up to a common factor.
        area = np.sum((camera.look_at - camera.position) ** 2)
        seen.append(area * pixels)
    share = np.array(seen) / np.maximum(np.max(seen, axis=0), 1e-9)
    around = share[:, 2:].mean(axis=1) if share.shape[1] > 2 else np.zeros(len(share))
    score = share[:, 0] + 0.5 * share[:, 1] + 1.5 * around / max(around.max(), 1e-9)
    return cameras[int(np.argmax(score))]


def _proxies(stage: Stage) -> tuple[Surface, NDArray[np.int64]]:
    """Triangles and balls in W, without colors, and the owner of each.

    Owner 0 is the robot at some moment, a box per part; 1 are its tips' paths; 2, 3, ... are
    surrounding objects, a box each, or coarse balls for a cloud.
    """
    robot, world = [np.empty((0, 3, 3))], [np.empty((0, 3, 3))]
    for t in np.linspace(0, stage.duration, _POSES if stage.duration > 0 else 1):
        X_WL = stage.link_poses(stage.configuration(t))
        robot += [
            transform(stage.part_pose(part, t, X_WL), _box(part))
            for part in (*stage.robot, *stage.carried)
        ]
    tubes = [tube_mesh(path, 0.02, segments=4) for path in stage.tip_paths(40)]
    paths = [np.empty((0, 3, 3)), *(vertices[faces] for vertices, faces in tubes)]
    around = [p for p in stage.world if p.rgba[3] > 0.5 and p.bounded]
    solid, clouds = ([p for p in around if (p.radius > 0) == cloud] for cloud in (False, True))
    world += [transform(p.X, _box(p)) for p in solid]
    groups = [np.concatenate(group) for group in (robot, paths, world)]
    sides = len(world[-1]) or 1  # number of triangles of a box
    owners = [
        np.full(len(groups[0]), 0),
        np.full(len(groups[1]), 1),
        2 + np.arange(len(groups[2])) // sides,
    ]
    proxies = replace(Surface.empty(), corners=np.concatenate(groups))
    for k, part in enumerate(clouds, start=2 + len(solid)):
        low, high = part.box()
        points, farthest = _engine.merged_points(part.vertices, _CELL * np.linalg.norm(high - low))
        radii = np.full(len(points), part.radius + farthest)
        proxies = Surface.join(
            [proxies, replace(Surface.empty(), centers=transform(part.X, points), radii=radii)]
        )
        owners.append(np.full(len(points), k))
    return proxies, np.concatenate(owners)


def _box(part: Part) -> NDArray[np.float64]:
    """Triangles (12, 3, 3) of a part's bounding box, in its own frame."""
    low, high = part.box()
    vertices, faces = box_mesh(np.maximum(high - low, 1e-6))
    return np.asarray((vertices + (low + high) / 2)[faces])
