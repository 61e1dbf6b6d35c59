"""Clouds of points as depth cameras and lidars give them, made fit to be obstacles."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import _engine
from robosim.errors import GeometryError, SceneError
from robosim.scene.compile import compile_scene
from robosim.scene.objects import checked_pose
from robosim.scene.scene import Scene

if TYPE_CHECKING:
    from robosim.model import Model

__all__ = ["CleanCloud", "clean_cloud"]


class CleanCloud(NamedTuple):
    """What is left of a cloud of points."""

    points: NDArray[np.float64]
    """(k, 3) in W [m]."""
    radius: float
    """Of the ball about each point [m]: as given, and more by how far a point is from the one that
    stands for it."""
    not_finite: int
    """How many points were not finite, as cameras give them where they see nothing."""
    out_of_range: int
    """How many points were nearer to the camera than `near`, or farther than `far`."""
    on_robot: int
    """How many points were within the margin of the robot, or of what it holds."""
    merged: int
    """How many points of the others another one stands for."""


def clean_cloud(
    points: ArrayLike,
    radius: float,
    pose: ArrayLike | None = None,
    *,
    near: float = 0.0,
    far: float = np.inf,
    model: Model | None = None,
    q: ArrayLike | None = None,
    scene: Scene | None = None,
    margin: float = 0.02,
    voxel: float | None = None,
    threads: int = 0,
) -> CleanCloud:
    """Points of a camera in W: without those that are none, those on the robot, and more than a
    grid holds.

    Points that are not finite or out of range go first, then those on the robot, and what is left
    is merged: of each cell of a grid remains one point, the middle of the box about the cell's
    points. Obstacles never shrink by that: no point is farther from the one that stands for it than
    the radius has grown, at most half the diagonal of a cell, 0.87 `voxel`. So the balls about all
    points lie within the fewer ones, which reach at most 1.74 `voxel` beyond them. 100,000 points
    take some tens of milliseconds.

    Args:
        points: (n, 3) or organized (h, w, 3), in the camera's frame C [m].
        radius: of the ball about each point that is an obstacle [m].
        pose: X_WC (4, 4), where the camera is; by default points are in W.
        near, far: points nearer to the camera or farther from it are left out [m]: many cameras
        give zero for nothing.
        model, q: the robot and its configuration (n_q,) when the picture was taken: points on it
        are left out.
        scene: whose attached objects the robot holds: points on these are left out, too.
        margin: a point within this of the robot's exact colliders is on it [m]. Choose what camera
        and calibration may
            err, and at least the radius of the result, or what is left may touch the robot. An
            obstacle as near as
            that is not seen.
        voxel: edge of the grid's cells [m]; without it no points are merged.
        threads: at most so many look for points on the robot, 0 for as many as there are
        processors.

    Raises:
        SceneError: points are no such array, a length is not valid, only one of model and q is
        given, or a scene
            without these.

    Example:
        >>> import numpy as np
        >>> from robosim import load_robot
        >>> from robosim.scene import Scene, clean_cloud
        >>> robot = load_robot("ur5")
        >>> scene = Scene("cell")
        >>> y, z = np.meshgrid(np.linspace(-1, 1, 200), np.linspace(0, 1, 100), indexing="ij")
        >>> wall = np.stack([np.full_like(y, 1.2), y, z], axis=-1)
        >>> wall[0] = np.nan  # nothing seen
        >>> seen = clean_cloud(wall, 0.005, model=robot, q=robot.neutral(), voxel=0.03)
        >>> scene.add_points("camera", seen.points, seen.radius)
        >>> seen.not_finite, seen.on_robot, seen.radius < 0.005 + 0.87 * 0.03
        (100, 0, True)
        >>> scene.set_points("camera", seen.points, seen.radius)  # the next picture
    """
    if (model is None) != (q is None):
        raise SceneError("points on the robot: model and q are needed, both of them")
    if scene is not None and model is None:
        raise SceneError("points on what the robot holds: model and q are needed beside scene")
    for name, value in (("radius", radius), ("near", near), ("margin", margin)):
        if not (np.isfinite(value) and value >= 0):
            raise SceneError(
                f"{name} is {value!r}; it must be a finite number of meters, at least 0"
            )
    if not far > near:
        raise SceneError(f"far is {far!r} m; it must exceed near, {near!r}")
    if voxel is not None and not (np.isfinite(voxel) and voxel > 0):
        raise SceneError(f"voxel is {voxel!r}; it must be a positive number of meters")
    P = point_rows(points, "a cloud")
    X_WC = checked_pose(pose, "the camera")
    finite = np.isfinite(P).all(axis=1)
    seen = P[finite]
    not_finite, out_of_range, on_robot = len(P) - len(seen), 0, 0
    if near > 0 or far < np.inf:
        squared = np.einsum("ij,ij->i", seen, seen)
        within = (squared >= near**2) & (squared <= far**2)
        out_of_range = len(seen) - int(np.count_nonzero(within))
        seen = seen[within]
    seen = seen @ X_WC[:3, :3].T + X_WC[:3, 3]
    try:
        if model is not None:
            on_it = _engine.near_robot(_robot_alone(model, scene), q, seen, margin, threads)
            on_robot = int(np.count_nonzero(on_it))
            seen = seen[~on_it]
        n = len(seen)
        if voxel is not None:
            seen, farthest = _engine.merged_points(seen, voxel)
            radius = float(np.nextafter(radius + farthest, np.inf)) if farthest > 0 else radius
    except (ValueError, GeometryError) as wrong:
        raise SceneError(str(wrong)) from None
    return CleanCloud(seen, float(radius), not_finite, out_of_range, on_robot, n - len(seen))


def point_rows(points: ArrayLike, what: str) -> NDArray[np.float64]:
    """(n, 3) of an array (n, 3) or (h, w, 3)."""
    try:
        P = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        raise SceneError(f"{what}: points must be an array of numbers") from None
    if P.ndim not in (2, 3) or P.shape[-1] != 3:
        raise SceneError(
            f"{what}: points must be (n, 3), or (h, w, 3) as of a picture, found {P.shape}"
        )
    return P.reshape(-1, 3)


def _robot_alone(model: Model, scene: Scene | None) -> _engine.CollisionScene:
    """The robot with what it holds, and nothing about it."""
    alone = Scene("robot")
    for name, attachment in ({} if scene is None else scene.attachments).items():
        assert scene is not None
        alone.add(scene.objects[name])
        alone.attach(name, attachment.link, pose=scene.objects[name].pose)
    return compile_scene(alone, model, with_tables=False)
