"""Ray casts in a scene, for depth cameras, lidars and lines of sight."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import _engine
from robosim.errors import GeometryError, SceneError
from robosim.geometry.rays import ray_rows

__all__ = ["SceneRayHits", "ray_cast"]

Array = NDArray[np.float64]


class SceneRayHits(NamedTuple):
    """First intersections of n rays o + t d with a scene, in W."""

    hit: NDArray[np.bool_]
    """(n,) True for rays that hit something."""
    inside: NDArray[np.bool_]
    """(n,) True for rays that start inside a convex shape; then t = 0."""
    t: Array
    """(n,) distance in lengths of the direction: in meters for unit directions; inf without a
    hit."""
    point: Array
    """(n, 3) point that is hit [m]; zero without a hit."""
    normal: Array
    """(n, 3) outward unit normal at the point; for a mesh, on the side that the ray comes from;
    zero without a hit."""
    object: NDArray[np.int64]
    """(n,) index into `names` of the object that is hit, -1 for none."""
    names: tuple[str, ...]
    """Names of all objects in the scene: the robot's colliders, "link/collider", then the scene's
    objects."""


def ray_cast(
    scene: _engine.CollisionScene,
    q: ArrayLike,
    origins: ArrayLike,
    directions: ArrayLike,
    *,
    max_t: float = np.inf,
    ignore: Iterable[str] = (),
    threads: int = 1,
) -> SceneRayHits:
    """Find the first intersections of rays with a robot and the objects around it.

    Exact to rounding, like `robosim.geometry.ray_cast`.

    Args:
        scene: compiled scene, see `Scene.compile`.
        q: (n_q,) configuration of the robot.
        origins: origins of the rays in W, (n, 3), or (3,) for a common origin [m].
        directions: directions of the rays in W, (n, 3) or (3,), of any length but zero.
        max_t: largest distance of a hit, in lengths of the direction.
        ignore: names of links, colliders and objects that rays pass through, such as the link that
            carries the camera.
        threads: largest number of threads, 0 for the number of processors; results do not depend on
            it.

    Raises:
        SceneError: q is not (n_q,) finite numbers, a ray has no direction or numbers that are not
            finite, the numbers of origins and directions differ, max_t or threads is negative, or a
            name is unknown.

    Example:
        >>> import numpy as np
        >>> from robosim import load_robot
        >>> from robosim.scene import load_scene, ray_cast
        >>> robot = load_robot("ur5")
        >>> scene = load_scene("table_pick", model=robot).compile(robot)
        >>> q = robot.neutral()
        >>> angles = np.linspace(-0.4, 0.4, 9)  # a lidar on the tool, which looks along its z axis
        >>> X_WT = robot.frame_pose(q, "tool0")
        >>> beams = np.column_stack([np.sin(angles), np.zeros(9), np.cos(angles)]) @ X_WT[:3, :3].T
        >>> seen = ray_cast(scene, q, X_WT[:3, 3], beams, max_t=5, ignore=["wrist_3_link"])
        >>> seen.t.shape, seen.point.shape
        ((9,), (9, 3))
    """
    try:
        o, d = ray_rows(origins, directions)
        found = _engine.scene_ray_cast(scene, q, o, d, max_t, list(ignore), threads)
    except (ValueError, GeometryError) as wrong:
        raise SceneError(str(wrong)) from None
    return SceneRayHits(*found, tuple(scene.names))
