"""Families of cluttered tables: picking from the top, and from a low board underneath."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from robosim.scene.families.layout import (
    CLUTTER,
    FLOOR,
    WOOD,
    Layout,
    grasps_from_side,
    rotation_z,
)
from robosim.scene.objects import Pose

__all__ = ["table_pick", "table_under_pick"]

_TOP = 0.04  # [m] thickness of the table top
_GAP = (0.10, 0.13)  # [m] from the axis of a can to the boxes on both sides

_Spots = NDArray[np.float64]  # (n, 2) points of F


def table_pick(rng: Generator) -> Layout:
    """A desk with an over-shelf.

    The arm moves from a can in a nook of upright boxes to a can in another nook.
    """
    layout = Layout.begin("table_pick", rng, distance=(0.24, 0.32))
    depth, width, height = rng.uniform(0.75, 0.9), rng.uniform(1.4, 1.6), rng.uniform(-0.12, 0.12)
    _table(layout, depth, width, height)
    side = rng.choice((-1.0, 1.0))
    here = (rng.uniform(0.36, 0.46), -side * rng.uniform(0.28, 0.36))
    there = (rng.uniform(0.36, 0.46), side * rng.uniform(0.28, 0.36))
    layout.starts = grasps_from_side(
        _nook(layout, "start", here, height, deep=0.31), rng, spread=0.25, pitch=0.4
    )
    layout.goals = grasps_from_side(
        _nook(layout, "target", there, height, deep=0.31), rng, spread=0.25, pitch=0.4
    )
    # An over-shelf on two panels, as on a desk. The cans are reached under it, and the arm passes
    # below or in front of it.
    shelf, span = height + rng.uniform(0.42, 0.46), width - 0.1
    layout.box("over_shelf", (0.34, span, 0.03), (0.43, 0, shelf), WOOD)
    for i, y in enumerate((-1, 1)):
        tall = shelf - 0.015 - height
        layout.box(
            f"panel_{i + 1}",
            (0.34, 0.02, tall),
            (0.43, y * (span / 2 - 0.01), height + tall / 2),
            WOOD,
        )
    _clutter(
        layout,
        _apart(layout.spots(16, (0.12, 0.66), (-0.48, 0.48), gap=0.2), (here, there)),
        height,
    )
    return layout


def table_under_pick(rng: Generator) -> Layout:
    """A high table with a board below, and a can in a nook on each.

    The arm moves from the upper can to the lower one.

    A rail under the front edge lowers the opening.
    """
    layout = Layout.begin("table_under_pick", rng, distance=(0.33, 0.42))
    depth, width, height = rng.uniform(0.7, 0.85), rng.uniform(1.1, 1.4), rng.uniform(0.30, 0.40)
    _table(layout, depth, width, height)
    rail = rng.uniform(0.05, 0.08)
    layout.box("rail", (0.02, width - 0.11, rail), (0.03, 0, height - _TOP - rail / 2))
    low = height - _TOP - rng.uniform(0.44, 0.50)
    layout.box("low_board", (depth - 0.05, width - 0.05, 0.03), (depth / 2, 0, low - 0.015))
    here = (rng.uniform(0.20, 0.36), rng.uniform(-0.30, 0.30))
    there = (rng.uniform(0.24, 0.36), rng.uniform(-0.28, 0.28))
    layout.starts = grasps_from_side(
        _nook(layout, "start", here, height), rng, spread=0.25, pitch=0.4
    )
    layout.goals = grasps_from_side(
        _nook(layout, "target", there, low, tall=0.24), rng, spread=0.25, pitch=0.3
    )
    _clutter(layout, _apart(layout.spots(8, (0.10, 0.55), (-0.5, 0.5), gap=0.2), (here,)), height)
    below = _apart(layout.spots(6, (0.12, 0.55), (-0.45, 0.45), gap=0.2), (there,))
    for i, spot in enumerate(below):
        layout.can(f"can_{i + 1}", spot, low)
    return layout


def _nook(
    layout: Layout,
    which: str,
    spot: tuple[float, float],
    height: float,
    tall: float = 0.38,
    deep: float = 0.18,
) -> Pose:
    """Add a can between two upright boxes and in front of a third, open toward the robot.

    Returns the pose of the can, rotated with the nook.

    Args:
        layout: layout to add to.
        which: "target", or "start" for the can at which the arm starts.
        spot: position of the can in F.
        height: height of the surface below the can.
        tall: largest height of the boxes; they are at least two thirds of it.
        deep: depth of the nook, from the back of the can to the front, within 3 cm.
    """
    rng = layout.rng
    layout.can(
        "target" if which == "target" else "start_can", spot, height, target=which == "target"
    )
    # The nook faces the robot, so that the arm can reach in.
    turn = rng.uniform(-0.2, 0.2)
    along, across = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
    for name, direction, gap, wide in (
        ("right", -across, rng.uniform(*_GAP), 0.0),
        ("left", across, rng.uniform(*_GAP), 0.0),
        ("back", along, rng.uniform(0.06, 0.08), np.pi / 2),
    ):
        size = (
            (0.13 if wide else deep) + rng.uniform(-0.03, 0.03),
            rng.uniform(0.03, 0.05),
            rng.uniform(2 / 3, 1.0) * tall,
        )
        x, y = (
            np.asarray(spot)
            + (gap + size[1] / 2) * direction
            - (0.0 if wide else deep / 2 - 0.065) * along
        )
        color = CLUTTER[int(rng.integers(len(CLUTTER)))]
        layout.box(
            f"clutter_{which}_{name}",
            size,
            (x, y, height + 0.001 + size[2] / 2),
            color,
            yaw=turn + wide,
        )
    X_WC: Pose = layout.scene.objects["target" if which == "target" else "start_can"].pose
    return X_WC @ rotation_z(turn)


def _apart(spots: _Spots, nooks: Sequence[tuple[float, float]]) -> _Spots:
    """Return the spots that are clear of the nooks and of the access to them."""
    keep = [all(abs(y - v) > 0.36 or x - u > 0.29 for u, v in nooks) for x, y in spots]
    return spots[keep]


def _table(layout: Layout, depth: float, width: float, height: float) -> None:
    """Add a table top with its upper face at `height`, on four legs that reach the floor.

    The front edge is at x = 0.
    """
    layout.box("table_top", (depth, width, _TOP), (depth / 2, 0, height - _TOP / 2))
    length = height - _TOP - FLOOR
    for i, (x, y) in enumerate([(0.03, -1), (0.03, 1), (depth - 0.03, -1), (depth - 0.03, 1)]):
        middle = FLOOR + length / 2
        layout.box(
            f"table_leg_{i + 1}", (0.05, 0.05, length), (x, y * (width / 2 - 0.03), middle), WOOD
        )


def _clutter(layout: Layout, spots: _Spots, height: float) -> None:
    """Add boxes and cylinders of several sizes at the spots."""
    rng = layout.rng
    for i, (x, y) in enumerate(spots):
        color = CLUTTER[int(rng.integers(len(CLUTTER)))]
        tall = rng.uniform(0.15, 0.38)
        xyz = (x, y, height + 0.001 + tall / 2)
        if rng.random() < 0.4:
            layout.cylinder(f"clutter_{i + 1}", rng.uniform(0.03, 0.06), tall, xyz, color)
        else:
            size = (rng.uniform(0.03, 0.08), rng.uniform(0.08, 0.18), tall)
            layout.box(f"clutter_{i + 1}", size, xyz, color, yaw=rng.uniform(-np.pi, np.pi))
