"""Loop at a fixed rate with absolute deadlines: without drift, and without bursts after a stall.

Deadlines are on the grid anchor + k / rate. A late wake-up runs at once, for the last deadline that
has passed; earlier deadlines are skipped and counted. Each interval of the grid therefore has at
most one tick, whatever the scheduler does, and a caller who moves one sample per tick never makes
up for lost time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robosim.errors import ExecutionError
from robosim.execution.clock import Clock, monotonic

__all__ = ["DeadlineLoop", "LoopStatistics", "Tick", "sleep_until"]

HISTORY = 1 << 16  # ticks used for percentiles: the last two minutes at 500 Hz


def sleep_until(deadline: float) -> None:
    """Sleep until the monotonic clock shows `deadline` [s] or later."""
    while (left := deadline - monotonic()) > 0:
        time.sleep(left)


@dataclass(frozen=True)
class Tick:
    """One iteration of the loop.

    Attributes:
        index: index of the tick's deadline, counted from 0; strictly increasing.
        time: time of the wake-up [s].
        missed: number of deadlines skipped since the tick before.
        deadline: deadline of the tick [s].
    """

    index: int
    time: float
    missed: int
    deadline: float


@dataclass(frozen=True)
class LoopStatistics:
    """Statistics of a loop's deadlines.

    Percentiles are over the last 65536 ticks, all else over all ticks.

    Attributes:
        rate: requested rate [Hz].
        ticks: number of iterations that ran.
        missed: number of skipped deadlines.
        stalls: number of times that one or more deadlines were skipped.
        clock_jumps: number of times that the clock went back, which starts a new grid.
        lateness_p50, lateness_p99, lateness_max: time from a deadline to its wake-up [s].
        jitter_p50, jitter_p99, jitter_max: deviation of the time between two ticks from 1 / rate
        [s].
    """

    rate: float
    ticks: int
    missed: int
    stalls: int
    clock_jumps: int
    lateness_p50: float
    lateness_p99: float
    lateness_max: float
    jitter_p50: float
    jitter_p99: float
    jitter_max: float

    def __str__(self) -> str:
        late = (self.lateness_p50, self.lateness_p99, self.lateness_max)
        jitter = (self.jitter_p50, self.jitter_p99, self.jitter_max)
        text = f"{self.ticks} samples at {self.rate:g} Hz, {self.missed} deadlines missed"
        if self.stalls:
            text += f" in {self.stalls} stall{'s' if self.stalls > 1 else ''}"
        if self.clock_jumps:
            text += f", the clock went back {self.clock_jumps} times"
        for what, values in (("lateness", late), ("jitter", jitter)):
            p50, p99, most = (f"{1e3 * value:.3f}" for value in values)
            text += f"; {what} p50 {p50}, p99 {p99}, max {most} ms"
        return text


class DeadlineLoop:
    """Loop at `rate` [Hz] on a clock. Memory is allocated at construction, not in the loop.

    Args:
        rate: iterations per second.
        clock: returns the time; requires a matching `sleep_until`.
        sleep_until: waits until that clock shows a time or later.

    Raises:
        ExecutionError: the rate is not positive and finite, or only one of clock and sleep_until is
            given.
    """

    def __init__(
        self,
        rate: float,
        clock: Clock | None = None,
        sleep_until: Callable[[float], None] | None = None,
    ) -> None:
        if not (math.isfinite(rate) and rate > 0):
            raise ExecutionError(
                f"rate is {rate!r}; expected a positive number of turns per second"
            )
        if (clock is None) != (sleep_until is None):
            raise ExecutionError("clock and sleep_until belong together: give both or neither")
        self.rate = float(rate)
        self.period = 1.0 / self.rate
        self._clock = monotonic if clock is None else clock
        self._sleep_until = _sleep_until if sleep_until is None else sleep_until
        self._anchor = math.nan
        self._base = 0  # index of the tick at the anchor
        self._index = -1
        self._last = math.nan
        self._ticks = self._missed = self._stalls = self._jumps = 0
        self._lateness = np.zeros(HISTORY)
        self._jitter = np.zeros(HISTORY)
        self._lateness_max = self._jitter_max = 0.0

    def wait(self) -> Tick:
        """Wait for the next deadline. The first call starts the grid and returns at once."""
        # An exception in the sleep (Ctrl-C) leaves the loop unchanged: the next call waits for the
        # same deadline.
        index = self._index + 1
        if self._ticks == 0:
            return self._start_grid(index, self._clock())
        deadline = self._anchor + (index - self._base) * self.period
        self._sleep_until(deadline)
        now = self._clock()
        if now < self._last:
            self._jumps += 1
            return self._start_grid(index, now)
        late = max(now - deadline, 0.0)
        # The wake-up belongs to the last deadline that has passed; earlier deadlines are skipped.
        missed = int(late * self.rate)
        self._index = index + missed
        self._missed += missed
        self._stalls += missed > 0
        jitter = abs(now - self._last - self.period)
        slot = self._ticks % HISTORY
        self._lateness[slot], self._jitter[slot] = late, jitter
        self._lateness_max = max(self._lateness_max, late)
        self._jitter_max = max(self._jitter_max, jitter)
        self._last = now
        self._ticks += 1
        return Tick(self._index, now, missed, deadline + missed * self.period)

    def _start_grid(self, index: int, now: float) -> Tick:
        self._anchor, self._base, self._last, self._index = now, index, now, index
        slot = self._ticks % HISTORY
        self._lateness[slot] = self._jitter[slot] = 0.0
        self._ticks += 1
        return Tick(self._index, now, 0, now)

    def statistics(self) -> LoopStatistics:
        """Return statistics of the deadlines so far."""
        # The first tick has no deadline and no interval, and is left out.
        first = 1 if self._ticks <= HISTORY else 0
        count = min(self._ticks, HISTORY)
        late50, late99 = _percentiles(self._lateness[first:count])
        jitter50, jitter99 = _percentiles(self._jitter[first:count])
        return LoopStatistics(
            self.rate, self._ticks, self._missed, self._stalls, self._jumps,
            late50, late99, self._lateness_max, jitter50, jitter99, self._jitter_max,
        )  # fmt: skip


_sleep_until = sleep_until  # the constructor's argument hides this name


def _percentiles(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, float]:
    if not len(values):
        return 0.0, 0.0
    p50, p99 = np.percentile(values, (50, 99))
    return float(p50), float(p99)
