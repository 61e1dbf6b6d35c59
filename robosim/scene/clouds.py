"""Cleaning of point clouds of depth cameras and lidars, for use as obstacles."""

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
    """Result of `clean_cloud`: the remaining points, and the numbers of removed points."""

    points: NDArray[np.float64]
    """(k, 3) remaining points in W [m]."""
    radius: float
    """Radius of the sphere about each point [m]: the given radius, enlarged by the largest distance
    of a merged point to the point that replaces it."""
    not_finite: int
    """Number of points that were not finite, as cameras report where they measure nothing."""
    out_of_range: int
    """Number of points nearer to the camera than `near`, or farther than `far`."""
    on_robot: int
    """Number of points within the margin of the robot, or of its attached objects."""
    merged: int
    """Number of points that another point replaces."""


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
    """Clean a camera's points: remove invalid points and points on the robot, and thin the rest.

    Points that are not finite or out of range are removed first, then points on the robot. The rest
    is merged on a grid: each cell keeps one point, the center of the bounding box of the cell's
    points. Obstacles never shrink: the radius grows by the largest distance of a point to the point
    that replaces it, at most half the diagonal of a cell, 0.87 `voxel`. The spheres about all
    original points thus lie within the spheres of the result, which reach at most 1.74 `voxel`
    beyond them. 100,000 points take some tens of milliseconds.

    Args:
        points: (n, 3) or organized (h, w, 3), in the camera's frame C [m].
        radius: radius of the sphere about each point that is an obstacle [m].
        pose: X_WC (4, 4), pose of the camera; by default points are in W.
        near, far: range of distances from the camera that are kept [m]. Many cameras report zero
        where they measure nothing.
        model, q: the robot and its configuration (n_q,) at the time of the picture; points on the
        robot are removed.
        scene: scene with the robot's attached objects; points on these are removed, too.
        margin: distance from the robot's exact colliders within which points count as on it [m].
            Choose at least the error of camera and calibration, and at least the radius of the
            result, or remaining points may touch the robot. Obstacles within the margin are not
            detected.
        voxel: edge length of the grid's cells [m]; None merges no points.
        threads: largest number of threads in the search for points on the robot, 0 for the number
            of processors.

    Raises:
        SceneError: points have the wrong shape, a length is not valid, only one of model and q is
            given, or a scene is given without them.

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
    """Return points (n, 3) or (h, w, 3) as (n, 3)."""
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
    """Compile the robot with its attached objects, without obstacles."""
    alone = Scene("robot")
    for name, attachment in ({} if scene is None else scene.attachments).items():
        assert scene is not None
        alone.add(scene.objects[name])
        alone.attach(name, attachment.link, pose=scene.objects[name].pose)
    return compile_scene(alone, model, with_tables=False)
