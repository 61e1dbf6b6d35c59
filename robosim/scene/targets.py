"""Named starts and goals of a scene: positions by joint name, or the pose of a link."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robosim.errors import SceneError
from robosim.pickling import Value
from robosim.scene.objects import Pose, checked_pose

__all__ = ["Configuration", "LinkPose", "checked_goal", "checked_start"]

Configuration = dict[str, float]  # joint name to position [rad, m]


@dataclass(frozen=True, eq=False)
class LinkPose(Value):
    """Goal pose X_WL (4, 4) of `link` in the world frame."""

    link: str
    pose: Pose

    def __post_init__(self) -> None:
        if not isinstance(self.link, str) or not self.link:
            raise SceneError(f"a goal pose needs the name of a link, found {self.link!r}")
        object.__setattr__(self, "pose", checked_pose(self.pose, f"goal pose of {self.link!r}"))


def checked_start(joints: Mapping[str, float], what: str) -> Configuration:
    """Return positions by joint name, each checked to be finite."""
    if not isinstance(joints, Mapping) or not joints:
        raise SceneError(f"{what}: expected positions by joint name, found {joints!r}")
    configuration: Configuration = {}
    for joint, value in joints.items():
        try:
            position = float(value)
        except (TypeError, ValueError):
            position = math.nan
        if not isinstance(joint, str) or not joint or not math.isfinite(position):
            raise SceneError(
                f"{what}: joint {joint!r} has the position {value!r}; expected a finite number"
            )
        configuration[joint] = position
    return configuration


def checked_goal(goal: Any, what: str) -> Configuration | LinkPose:
    """Return checked positions by joint name, or a LinkPose."""
    return goal if isinstance(goal, LinkPose) else checked_start(goal, what)
