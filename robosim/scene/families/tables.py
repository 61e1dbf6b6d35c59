"""Tables with clutter: picking from the top, and picking from a low board underneath."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from robosim.scene.families.layout import (
    CLUTTER,
    FLOOR,
    WOOD,
    Layout,
    grasps_from_above,
    grasps_from_side,
)

__all__ = ["table_pick", "table_under_pick"]

_TOP = 0.04  # [m] thickness of the table top


def table_pick(rng: Generator) -> Layout:
    """A table full of upright things; a can among them is grasped from the side."""
    layout = Layout.begin("table_pick", rng, distance=(0.22, 0.30))
    depth, width, height = rng.uniform(0.75, 0.9), rng.uniform(1.3, 1.6), rng.uniform(-0.12, 0.12)
    _table(layout, depth, width, height)
    spots = layout.spots(12, (0.12, 0.62), (-0.5, 0.5), gap=0.17)
    nearest = np.argsort(np.linalg.norm(spots - (0.40, 0.0), axis=1))
    target = int(nearest[int(rng.integers(min(3, len(nearest))))])
    X_WC = layout.can("target", spots[target], height, target=True)
    _clutter(layout, np.delete(spots, target, axis=0), height)
    layout.goals = grasps_from_side(X_WC, rng, spread=0.7, count=8, pitch=0.3)
    return layout


def table_under_pick(rng: Generator) -> Layout:
    """A high table with a board below: the arm starts at a thing on the top and is to grasp a can on the board."""
    layout = Layout.begin("table_under_pick", rng, distance=(0.33, 0.42))
    depth, width, height = rng.uniform(0.7, 0.85), rng.uniform(1.1, 1.4), rng.uniform(0.30, 0.40)
    _table(layout, depth, width, height)
    low = height - _TOP - rng.uniform(0.42, 0.50)
    layout.box("low_board", (depth - 0.05, width - 0.05, 0.03), (depth / 2, 0, low - 0.015))
    on_top = layout.spots(5, (0.10, 0.42), (-0.4, 0.4), gap=0.2)
    X_WS = layout.can("start_can", on_top[0], height)
    _clutter(layout, on_top[1:], height)
    below = layout.spots(3, (0.10, 0.32), (-0.35, 0.35), gap=0.2)
    X_WC = layout.can("target", below[0], low, target=True)
    for i, spot in enumerate(below[1:]):
        layout.can(f"can_{i + 1}", spot, low)
    layout.starts = grasps_from_above(X_WS, rng) + grasps_from_side(X_WS, rng, spread=0.6, pitch=0.4)
    layout.goals = grasps_from_side(X_WC, rng, spread=0.6, count=8, pitch=0.3)
    return layout


def _table(layout: Layout, depth: float, width: float, height: float) -> None:
    """A top whose upper face is at `height` and whose front edge is at x = 0, on four legs that reach the floor."""
    layout.box("table_top", (depth, width, _TOP), (depth / 2, 0, height - _TOP / 2))
    length = height - _TOP - FLOOR
    for i, (x, y) in enumerate([(0.03, -1), (0.03, 1), (depth - 0.03, -1), (depth - 0.03, 1)]):
        middle = FLOOR + length / 2
        layout.box(f"table_leg_{i + 1}", (0.05, 0.05, length), (x, y * (width / 2 - 0.03), middle), WOOD)


def _clutter(layout: Layout, spots: np.ndarray[tuple[int, int], np.dtype[np.float64]], height: float) -> None:
    """Boxes and cylinders of several sizes standing at the spots."""
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
