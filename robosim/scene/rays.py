"""Rays in a scene: what depth cameras and lidars see, and lines of sight."""

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
    """Where n rays o + t d first meet a scene, in W."""

    hit: NDArray[np.bool_]
    """Whether they do, (n,)."""
    inside: NDArray[np.bool_]
    """Whether they start in a convex shape, (n,): then t = 0."""
    t: Array
    """(n,), in lengths of the direction: in meters for unit directions; inf without a hit."""
    point: Array
    """Where, (n, 3) [m]; zero without a hit."""
    normal: Array
    """Outward unit normal there, (n, 3); of a mesh on the side that the ray comes from; zero
    without a hit."""
    object: NDArray[np.int64]
    """What is hit, (n,), -1 for nothing: an index into `names`."""
    names: tuple[str, ...]
    """Of everything in the scene: the robot's colliders, "link/collider", then the scene's
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
    """Where rays first meet a robot and what stands about it.

    Exact to rounding, as `robosim.geometry.ray_cast` is.

    Args:
        scene: compiled, see `Scene.compile`.
        q: (n_q,) the robot's configuration.
        origins: where the rays start, (n, 3) or, of all the same, (3,) [m], in W.
        directions: where they go, (n, 3) or (3,), of any length but zero, in W.
        max_t: what is farther is not hit; in lengths of the direction.
        ignore: names of links, colliders and objects that rays go through, such as the link that
        carries the camera.
        threads: at most so many share the work, 0 for as many as there are processors; changes
        nothing else.

    Raises:
        SceneError: q is not (n_q,) finite numbers, a ray has no direction or is not of finite
        numbers, as many origins
            and directions are not given, max_t or threads is negative, or a name is not known.

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
