"""Time, injected: whatever tells the time here is a callable that returns seconds and never goes
back."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["Clock", "ManualClock", "monotonic"]

Clock = Callable[[], float]

monotonic: Clock = time.monotonic


class ManualClock:
    """A clock that stands still until it is told to move on: for simulation and tests."""

    def __init__(self, now: float = 0.0) -> None:
        self._now = float(now)

    def __call__(self) -> float:
        """Now [s]."""
        return self._now

    def advance(self, seconds: float) -> float:
        """Move on by `seconds` >= 0 and return the new time. Raises ValueError for a step back."""
        if not seconds >= 0:
            raise ValueError(f"a clock cannot move by {seconds} s")
        self._now += seconds
        return self._now

    def advance_to(self, time: float) -> float:
        """Move on to `time` exactly, or stay where it is when that is past, and return the new
        time."""
        self._now = max(self._now, float(time))
        return self._now
