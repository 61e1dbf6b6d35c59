"""Clocks: callables that return seconds and never go back, passed in as arguments."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["Clock", "ManualClock", "monotonic"]

Clock = Callable[[], float]

monotonic: Clock = time.monotonic


class ManualClock:
    """A clock that moves only on request, for simulation and tests."""

    def __init__(self, now: float = 0.0) -> None:
        self._now = float(now)

    def __call__(self) -> float:
        """Return the present time [s]."""
        return self._now

    def advance(self, seconds: float) -> float:
        """Advance by `seconds` >= 0 and return the new time.

        Raises ValueError for a negative step.
        """
        if not seconds >= 0:
            raise ValueError(f"a clock cannot move by {seconds} s")
        self._now += seconds
        return self._now

    def advance_to(self, time: float) -> float:
        """Advance to `time` exactly, or stay if it has passed, and return the new time."""
        self._now = max(self._now, float(time))
        return self._now
