"""Robots whose colliders are convex hulls, for both sides of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

import robosim
from harness.robots import ROBOTS
from robosim.geometry import Shape

SIDES = 24  # sides of the prisms that replace round shapes


@dataclass(frozen=True)
class HullRobot:
    """A robot with the same hulls and pairs on both sides.

    Attributes:
        name: as in tables.
        urdf: for the peer's kinematics.
        model: robosim's model.
        colliders: (link, X_LC, hull) of each.
        pairs: (m, 2) indices into colliders.
    """

    name: str
    urdf: str
    model: Any
    colliders: list[tuple[str, np.ndarray, Shape]]
    pairs: np.ndarray


def hull(shape: Shape) -> Shape:
    """Return the shape itself if it is a hull, else the hull of points on its whole surface."""
    if shape.type == "convex":
        return shape
    if shape.type == "box":
        return Shape.convex(
            [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
            * np.asarray(shape.size)
            / 2
        )
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(SIDES)], axis=1)
    half = 0.0 if shape.type == "sphere" else shape.length / 2
    if shape.type == "cylinder":
        rings = [(shape.radius, -half), (shape.radius, half)]
    elif shape.type in ("sphere", "capsule"):
        up = np.deg2rad([0, 30, 60, 89.9])
        ends = [(shape.radius * np.cos(a), half + shape.radius * np.sin(a)) for a in up]
        rings = [*ends, *((r, -z) for r, z in ends)]
    else:
        raise ValueError(f"no hull of a {shape.type} is made here")
    return Shape.convex(np.concatenate([r * ring + (0, 0, z) for r, z in rings]))


def _of(name: str, urdf: str, model: Any) -> HullRobot:
    colliders = [(c.link, c.X_LC, hull(c.shape)) for c in model.colliders]
    return HullRobot(name, urdf, model, colliders, np.asarray(model.collision_pairs))


def hull_robots() -> list[HullRobot]:
    """Return the bundled UR5 with primitives as hulls, and example-robot-data's with mesh hulls."""
    bundled = files("robosim.robots") / "ur5" / "ur5.urdf"
    meshed = ROBOTS[0].path
    model = robosim.load_robot(
        meshed, package_dirs=[meshed.parents[4]], srdf=meshed.parents[1] / "srdf" / "ur5.srdf"
    )
    return [
        _of("UR5", bundled.read_text(), robosim.load_robot("ur5")),
        _of("UR5 with meshes", meshed.read_text(), model),
    ]
