"""Families of shelves with cans: one compartment, three stacked ones, many narrow ones."""

from __future__ import annotations

from numpy.random import Generator

from robosim.scene.families.layout import FLOOR, WOOD, Layout, grasps_from_side

__all__ = ["bookshelf_small", "bookshelf_tall", "bookshelf_thin"]

_BOARD = 0.03  # [m] thickness of every board


def bookshelf_small(rng: Generator) -> Layout:
    """A single compartment at chest height, open at the front, with three cans.

    One can is grasped from the front.
    """
    layout = Layout.begin("bookshelf_small", rng, distance=(0.45, 0.60))
    width, depth, height = rng.uniform(0.75, 0.95), rng.uniform(0.38, 0.45), rng.uniform(0.26, 0.32)
    bottom = rng.uniform(0.0, 0.45)
    _boards(layout, width, depth, [bottom, bottom + height])
    _sides(layout, width, depth, bottom - _BOARD, bottom + height)
    layout.stand((0.6 * depth, 0.5 * width), (0.6 * depth, 0), bottom - _BOARD - 0.001)
    _cans(layout, [(bottom, -width / 2, width / 2)], depth, count=3)
    return layout


def bookshelf_tall(rng: Generator) -> Layout:
    """Three compartments stacked between long side walls, three cans in each."""
    layout = Layout.begin("bookshelf_tall", rng, distance=(0.45, 0.60))
    width, depth, height = rng.uniform(0.75, 0.95), rng.uniform(0.38, 0.45), rng.uniform(0.27, 0.32)
    first = rng.uniform(-0.35, -0.1)
    levels = [first + i * (height + _BOARD) for i in range(4)]
    _boards(layout, width, depth, levels)
    _sides(layout, width, depth + rng.uniform(0.0, 0.08), FLOOR, levels[-1])
    _cans(layout, [(level, -width / 2, width / 2) for level in levels[:3]], depth, count=3)
    return layout


def bookshelf_thin(rng: Generator) -> Layout:
    """A light frame of four posts with many low compartments.

    An upright board splits them, and there are two cans in each row.
    """
    layout = Layout.begin("bookshelf_thin", rng, distance=(0.42, 0.55))
    width, depth, height = rng.uniform(0.85, 1.0), rng.uniform(0.32, 0.40), rng.uniform(0.23, 0.26)
    first = rng.uniform(-0.45, -0.25)
    levels = [first + i * (height + _BOARD) for i in range(6)]
    _boards(layout, width, depth, levels)
    low, high = FLOOR, levels[-1]
    for i, (x, y) in enumerate([(0, -1), (0, 1), (depth, -1), (depth, 1)]):
        layout.box(
            f"post_{i + 1}", (0.03, 0.03, high - low), (x, y * width / 2, (low + high) / 2), WOOD
        )
    layout.box(
        "divider", (depth, 0.02, high - levels[0]), (depth / 2, 0, (high + levels[0]) / 2), WOOD
    )
    halves = [
        (level, *side) for level in levels[1:5] for side in ((-width / 2, 0.0), (0.0, width / 2))
    ]
    _cans(layout, halves, depth, count=1)
    return layout


def _boards(layout: Layout, width: float, depth: float, levels: list[float]) -> None:
    """Add horizontal boards with upper faces at the given heights and front edges at x = 0."""
    for i, level in enumerate(levels):
        layout.box(f"board_{i + 1}", (depth, width, _BOARD), (depth / 2, 0, level - _BOARD / 2))


def _sides(layout: Layout, width: float, depth: float, low: float, high: float) -> None:
    """Add left and right walls and a back, from low to high."""
    middle, height = (low + high) / 2, high - low
    for name, y in (("side_right", -1), ("side_left", 1)):
        layout.box(name, (depth, _BOARD, height), (depth / 2, y * (width + _BOARD) / 2, middle))
    layout.box("back", (0.02, width + 2 * _BOARD, height), (depth + 0.01, 0, middle))


def _cans(
    layout: Layout, spaces: list[tuple[float, float, float]], depth: float, count: int
) -> None:
    """Add `count` cans to each space (floor height, right end, left end).

    One of all cans is the target.
    """
    rng = layout.rng
    chosen = int(rng.integers(len(spaces)))
    number = 0
    for i, (floor, right, left) in enumerate(spaces):
        spots = layout.spots(count, (0.10, depth - 0.06), (right + 0.10, left - 0.10), gap=0.16)
        for j, spot in enumerate(spots):
            target = i == chosen and j == 0
            number += 0 if target else 1
            X_WC = layout.can("target" if target else f"can_{number}", spot, floor, target=target)
            if target:
                layout.goals += grasps_from_side(X_WC, rng, spread=0.5, pitch=0.15)
