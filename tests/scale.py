"""Repetitions of tests: a short seeded slice in the gate, the whole campaign in `.ci/full`.

Campaigns, such as all robots of a package or a hundred thousand random events, run in full if the
environment variable ROBOSIM_TEST_SCALE is `full`, as set by `.ci/full`. tests/engine/scale.h does
the same for tests in C++. A test passes both numbers, and asserts the same for each.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

__all__ = ["FULL", "repeats", "some"]

T = TypeVar("T")

SCALES = {"gate": False, "full": True}
_scale = os.environ.get("ROBOSIM_TEST_SCALE") or "gate"
if _scale not in SCALES:
    raise ValueError(f"ROBOSIM_TEST_SCALE is {_scale!r} and has to be one of {', '.join(SCALES)}")
FULL = SCALES[_scale]


def repeats(gate: int, full: int) -> int:
    """Number of repetitions, in the gate and in full."""
    assert gate <= full
    return full if FULL else gate


def some(items: Sequence[T], gate: int) -> list[T]:
    """All items in full; in the gate a number of them, spread evenly over the list."""
    if FULL or gate >= len(items):
        return list(items)
    return [items[(2 * k + 1) * len(items) // (2 * gate)] for k in range(gate)]
