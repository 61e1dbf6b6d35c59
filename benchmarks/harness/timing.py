"""Timing of two sides in alternation, so that disturbances affect both equally."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

Work = Callable[[int], object]  # repeats its work this number of times


@dataclass(frozen=True)
class Timing:
    """Medians over the slices.

    Attributes:
        ours: [s] per item.
        peer: [s] per item.
        ratio: ours / peer, the median over neighboring slices.
    """

    ours: float
    peer: float
    ratio: float


@dataclass(frozen=True)
class Patience:
    """Duration of a measurement: number of slices, and seconds per slice of each side."""

    slices: int
    seconds: float


def passes_for(work: Work, seconds: float, clock: Callable[[], float]) -> int:
    """Return the number of passes of `work` that take about `seconds`, and warm `work` up."""
    passes = 1
    while True:
        begin = clock()
        work(passes)
        spent = clock() - begin
        if spent > seconds / 4:
            return max(1, round(passes * seconds / spent))
        passes *= 4


def alternate(
    ours: Work,
    peer: Work,
    items: int,
    patience: Patience,
    *,
    peer_items: int | None = None,
    clock: Callable[[], float] = time.thread_time,
) -> Timing:
    """Time both sides in alternation; the side that is first changes every time.

    Args:
        ours: robosim's work; one pass is `items` items.
        peer: the peer's work; one pass is `peer_items` items.
        items: number of items per pass.
        patience: duration of the measurement.
        peer_items: number of items per pass of the peer, if different.
        clock: by default the processor time of this thread, so that other programs do not count.
            For work on several threads: `time.process_time` for the processor time of all threads,
            `time.perf_counter` for elapsed time.
    """
    sides = [(ours, items), (peer, items if peer_items is None else peer_items)]
    passes = [passes_for(work, patience.seconds, clock) for work, _ in sides]
    spent: list[list[float]] = [[], []]
    for k in range(patience.slices):
        for side in (0, 1) if k % 2 == 0 else (1, 0):
            work, per_pass = sides[side]
            begin = clock()
            work(passes[side])
            spent[side].append((clock() - begin) / (passes[side] * per_pass))
    ratio = median(a / b for a, b in zip(*spent, strict=True))
    return Timing(median(spent[0]), median(spent[1]), ratio)


class Bystanders:
    """Processor usage of other programs during a measurement; available on Linux only."""

    def __init__(self) -> None:
        self._begin = self._now()

    @staticmethod
    def _now() -> tuple[float, float, float]:
        """Return busy time [s] of all processors (with steal time), of this process, and total
        time.
        """
        file = Path("/proc/stat")
        if not file.exists():
            return 0.0, 0.0, 0.0
        ticks = [int(word) for word in file.read_text().split("\n", 1)[0].split()[1:9]]
        scale = 1 / os.sysconf("SC_CLK_TCK")
        idle = ticks[3] + ticks[4]
        used = os.times()
        own = used.user + used.system + used.children_user + used.children_system
        return (sum(ticks) - idle) * scale, own, sum(ticks) * scale

    def share(self) -> float:
        """Return the busy time of other programs, as a fraction of one processor."""
        busy, own, total = (now - then for now, then in zip(self._now(), self._begin, strict=True))
        processors = os.cpu_count() or 1
        return max(0.0, busy - own) / (total / processors) if total > 0 else 0.0
