"""Layouts of scene families: furniture in a frame of its own, objects to grasp, and their grasps.

Furniture stands in a frame F with x pointing away from the robot, y to the left, z up. X_WF rotates
it about the robot by `azimuth`, places it at `distance` from the robot, and rotates it in place by
`yaw`. A grasp is the pose X_WT of a tool frame whose z axis is the approach direction and whose x
axis is the closing direction of the fingers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from robosim.geometry import pose
from robosim.scene.objects import Color, Pose
from robosim.scene.scene import Scene

__all__ = ["Layout", "grasps_from_above", "grasps_from_side", "rotation_z"]

WOOD: Color = (0.76, 0.60, 0.42, 1.0)
WALL: Color = (0.70, 0.73, 0.77, 1.0)
STONE: Color = (0.55, 0.56, 0.58, 1.0)
TARGET: Color = (0.85, 0.25, 0.20, 1.0)
CLUTTER: tuple[Color, ...] = (
    (0.27, 0.46, 0.65, 1.0),
    (0.42, 0.60, 0.42, 1.0),
    (0.85, 0.70, 0.35, 1.0),
    (0.5, 0.45, 0.6, 1.0),
)

FLOOR = -0.75  # [m] below the robot's base, which stands on a pedestal


@dataclass
class Layout:
    """A scene under construction.

    Attributes:
        scene: scene with the objects added so far.
        rng: source of all random numbers.
        X_WF: frame of the furniture.
        goals: grasps X_WT, any of which may become the goal.
        starts: grasps, one of which becomes the start; if empty, a named state of the robot does.
    """

    scene: Scene
    rng: Generator
    X_WF: Pose
    goals: list[Pose] = field(default_factory=list)
    starts: list[Pose] = field(default_factory=list)

    @classmethod
    def begin(
        cls,
        name: str,
        rng: Generator,
        *,
        distance: tuple[float, float],
        yaw: float = 0.25,
        azimuth: float = 2.2,
    ) -> Layout:
        """Begin with a floor, a pedestal, and a random frame F.

        Azimuth and yaw are within +-, distance within a range [m].
        """
        scene = Scene(name)
        scene.add_half_space("floor", pose((0, 0, FLOOR)), (0.87, 0.87, 0.85))
        height = -FLOOR - 0.005
        scene.add_box("pedestal", (0.2, 0.2, height), pose((0, 0, -0.005 - height / 2)), STONE)
        away = rotation_z(rng.uniform(-azimuth, azimuth)) @ pose((rng.uniform(*distance), 0, 0))
        return cls(scene, rng, away @ rotation_z(rng.uniform(-yaw, yaw)))

    def box(
        self,
        name: str,
        size: Sequence[float],
        xyz: Sequence[float],
        color: Color = WOOD,
        yaw: float = 0.0,
    ) -> None:
        """Add a box centered at xyz in F, rotated by yaw."""
        self.scene.add_box(name, size, self.X_WF @ pose(xyz) @ rotation_z(yaw), color)

    def cylinder(
        self, name: str, radius: float, length: float, xyz: Sequence[float], color: Color = WOOD
    ) -> None:
        """Add an upright cylinder centered at xyz in F."""
        self.scene.add_cylinder(name, radius, length, self.X_WF @ pose(xyz), color)

    def stand(
        self, size: Sequence[float], xy: Sequence[float], top: float, color: Color = STONE
    ) -> None:
        """Add a block centered at xy in F, from the floor up to `top`, to support furniture."""
        height = top - FLOOR
        self.box("stand", (*size, height), (*xy, FLOOR + height / 2), color)

    def can(self, name: str, xy: Sequence[float], z: float, *, target: bool = False) -> Pose:
        """Add a can of 66 mm diameter standing at height z in F; return X_WC of its center."""
        length = 0.12
        color = TARGET if target else CLUTTER[int(self.rng.integers(len(CLUTTER)))]
        self.cylinder(name, 0.033, length, (*xy, z + 0.001 + length / 2), color)
        X_WC: Pose = self.scene.objects[name].pose
        return X_WC

    def spots(
        self, count: int, x: tuple[float, float], y: tuple[float, float], gap: float
    ) -> NDArray[np.float64]:
        """Sample up to `count` points (n, 2) of F in a rectangle.

        They are at least `gap` apart, and fewer if they do not fit.
        """
        kept: list[NDArray[np.float64]] = []
        for _ in range(40 * count):
            spot = np.array([self.rng.uniform(*x), self.rng.uniform(*y)])
            if all(np.linalg.norm(spot - other) >= gap for other in kept):
                kept.append(spot)
            if len(kept) == count:
                break
        return np.array(kept).reshape(-1, 2)


def rotation_z(angle: float) -> Pose:
    """Rotation about z [rad]."""
    return pose(rpy=(0, 0, angle))


def grasps_from_side(
    X_WC: Pose, rng: Generator, *, spread: float, count: int = 6, pitch: float = 0.0
) -> list[Pose]:
    """Grasps of an upright object at C from the side, with level fingers.

    The direction is F's x within +-spread [rad], pitched down by up to `pitch`.
    """
    grasps = []
    for _ in range(count):
        turn = rotation_z(rng.uniform(-spread, spread))
        # Tool z along x, tool x along y, then pitched down about y. Either finger may be the left
        # one.
        level = np.eye(4)
        level[:3, :3] = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
        flip = rotation_z(np.pi * int(rng.integers(2)))
        grasps.append(X_WC @ turn @ pose(rpy=(0, rng.uniform(0, pitch), 0)) @ level @ flip)
    return grasps


def grasps_from_above(
    X_WC: Pose, rng: Generator, *, count: int = 6, lift: float = 0.03
) -> list[Pose]:
    """Grasps of an object at C from straight above, at random angles.

    The tool frame is `lift` [m] above C.
    """
    down = pose((0, 0, lift), rpy=(np.pi, 0, 0))
    return [X_WC @ rotation_z(rng.uniform(-np.pi, np.pi)) @ down for _ in range(count)]
