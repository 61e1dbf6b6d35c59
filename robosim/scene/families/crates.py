"""Families of boxes: reach over a wall and under a lid (box), or between two bars (cage)."""

from __future__ import annotations

from numpy.random import Generator

from robosim.geometry import pose
from robosim.scene.families.layout import TARGET, WALL, Layout, grasps_from_above, grasps_from_side

__all__ = ["box", "cage"]

_WALL = 0.03  # [m] thickness of every wall


def box(rng: Generator) -> Layout:
    """A deep box under a raised lid, with a can on the bottom.

    The arm reaches over the front wall.
    """
    layout = Layout.begin("box", rng, distance=(0.28, 0.36), yaw=0.35)
    size, height, slot = rng.uniform(0.52, 0.60), rng.uniform(0.34, 0.42), rng.uniform(0.27, 0.34)
    floor = rng.uniform(-0.30, -0.10)
    _walls(layout, size, floor, height, front=height - 0.14)
    layout.box("lid", (size, size, _WALL), (size / 2 + 0.10, 0, floor + height + slot), WALL)
    for i, y in enumerate((-size / 2, size / 2)):
        layout.box(
            f"lid_post_{i + 1}",
            (_WALL, _WALL, slot),
            (size + _WALL / 2, y, floor + height + slot / 2 - _WALL / 2),
            WALL,
        )
    x, y = rng.uniform(0.22, 0.36), rng.uniform(-0.10, 0.10)
    X_WC = layout.can("target", (x, y), floor, target=True)
    layout.goals = grasps_from_above(X_WC, rng, count=4, lift=0.03)
    layout.goals += grasps_from_side(X_WC @ pose((0, 0, 0.03)), rng, spread=0.5, count=6, pitch=1.2)
    return layout


def cage(rng: Generator) -> Layout:
    """A box with a roof and a front of two bars, with a cube on the bottom.

    The arm reaches between or over the bars.
    """
    layout = Layout.begin("cage", rng, distance=(0.36, 0.45), yaw=0.35)
    size, height = rng.uniform(0.52, 0.60), rng.uniform(0.60, 0.68)
    floor = rng.uniform(-0.22, -0.05)
    _walls(layout, size, floor, height, front=0.0)
    layout.box("roof", (size, size, _WALL), (size / 2, 0, floor + height + _WALL / 2), WALL)
    first = rng.uniform(0.08, 0.11)
    for i, above in enumerate((first, first + rng.uniform(0.29, 0.33))):
        layout.box(f"bar_{i + 1}", (0.03, size, 0.03), (0.015, 0, floor + above), WALL)
    edge = 0.06
    x, y = rng.uniform(0.16, 0.28), rng.uniform(-0.12, 0.12)
    layout.box(
        "target",
        (edge, edge, edge),
        (x, y, floor + 0.001 + edge / 2),
        TARGET,
        yaw=rng.uniform(-0.3, 0.3),
    )
    X_WC = layout.scene.objects["target"].pose
    layout.goals = grasps_from_above(X_WC, rng, count=4, lift=0.01)
    layout.goals += grasps_from_side(X_WC, rng, spread=0.5, count=6, pitch=0.9)
    return layout


def _walls(layout: Layout, size: float, floor: float, height: float, front: float) -> None:
    """Add a square bottom with its upper face at `floor`, and its walls.

    There are three walls, and a front wall of height `front` if positive.
    """
    layout.box("bottom", (size, size, _WALL), (size / 2, 0, floor - _WALL / 2), WALL)
    layout.stand((0.5 * size, 0.5 * size), (0.6 * size, 0), floor - _WALL - 0.001)
    middle = floor + height / 2
    for name, y in (("side_right", -1), ("side_left", 1)):
        layout.box(name, (size, _WALL, height), (size / 2, y * (size + _WALL) / 2, middle), WALL)
    layout.box("back", (_WALL, size + 2 * _WALL, height), (size + _WALL / 2, 0, middle), WALL)
    if front > 0:
        layout.box(
            "front", (_WALL, size + 2 * _WALL, front), (-_WALL / 2, 0, floor + front / 2), WALL
        )
