"""State of one call of `plan` across its stages: options, clock and counters."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from robosim.planners.result import NoPlan, Status

__all__ = ["Progress", "Run"]

Progress = Callable[[str], None]


@dataclass
class Run:
    """One call of `plan`: its options, its clock and its counters."""

    planner: str
    seed: int
    max_iterations: int
    shortcut_iterations: int
    optimizer_iterations: int
    resolution: float
    end: float
    progress: Progress | None
    stop: Callable[[], bool] | None = None
    timings: dict[str, float] = field(default_factory=dict)
    iterations: int = 0
    checks: int = 0
    cut_short: bool = False

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time spent inside to `timings[name]`.

        Raises NoPlan at its beginning if `stop` returns True.
        """
        if self.stop is not None and self.stop():
            raise NoPlan(Status.CANCELLED, f"cancelled before the stage {name!r}")
        if self.progress is not None:
            self.progress(name)
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - begin

    def left(self) -> float:
        """Seconds left of the budget."""
        return max(self.end - time.perf_counter(), 0.0)

    def metadata(self) -> dict[str, Any]:
        """Metadata of a trajectory about its planning."""
        return {"planner": self.planner, "resolution_m": self.resolution}
