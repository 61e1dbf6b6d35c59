"""The deadline loop: a fixed grid, stalls skipped and counted, no bursts, exact statistics."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robosim.errors import ExecutionError
from robosim.execution.clock import ManualClock
from robosim.execution.loop import HISTORY, DeadlineLoop, sleep_until


class Scheduler:
    """A clock that overshoots each sleep by the next of the given delays [s]."""

    def __init__(self, delays=(), start=1000.0):
        self.clock = ManualClock(start)
        self.delays = list(delays)

    def sleep_until(self, deadline):
        late = self.delays.pop(0) if self.delays else 0.0
        if deadline + late > self.clock():
            self.clock.advance(deadline + late - self.clock())

    def loop(self, rate):
        return DeadlineLoop(rate, self.clock, self.sleep_until)


def test_deadlines_are_absolute():
    """A delay shorter than a period does not shift the deadlines after it."""
    scheduler = Scheduler([0.0, 0.0005, 0.0, 0.0019, 0.0])
    loop = scheduler.loop(500.0)
    ticks = [loop.wait() for _ in range(6)]
    assert [tick.index for tick in ticks] == [0, 1, 2, 3, 4, 5]
    assert [tick.missed for tick in ticks] == [0] * 6
    # 1e-9 s is ample: rounding of times near 1000 s is 1e-13.
    wanted = 1000 + np.array([0, 0.002, 0.0045, 0.006, 0.0099, 0.010])
    assert np.allclose([tick.time for tick in ticks], wanted, rtol=0, atol=1e-9)
    assert np.allclose(
        [tick.deadline for tick in ticks], 1000 + 0.002 * np.arange(6), rtol=0, atol=1e-9
    )


def test_a_stall_is_skipped_and_counted():
    scheduler = Scheduler([0.0, 0.1005, 0.0])
    loop = scheduler.loop(100.0)
    ticks = [loop.wait() for _ in range(4)]
    assert [tick.index for tick in ticks] == [0, 1, 12, 13]
    assert [tick.missed for tick in ticks] == [0, 0, 10, 0]
    statistics = loop.statistics()
    assert (statistics.ticks, statistics.missed, statistics.stalls) == (4, 10, 1)
    assert math.isclose(statistics.lateness_max, 0.1005, abs_tol=1e-9)


@settings(deadline=None, max_examples=200)
@given(
    rate=st.floats(1.0, 2000.0),
    delays=st.lists(st.floats(0.0, 5.0) | st.floats(0.0, 0.002), max_size=60),
    work=st.lists(st.floats(0.0, 0.5) | st.just(0.0), max_size=60),
)
def test_no_pattern_of_stalls_makes_a_burst(rate, delays, work):
    """Each tick has its own grid interval, whether time was lost asleep or in the caller's work."""
    scheduler = Scheduler(delays)
    loop = scheduler.loop(rate)
    ticks = []
    for i in range(max(len(delays), len(work)) + 3):
        ticks.append(loop.wait())
        scheduler.clock.advance(work[i] if i < len(work) else 0.0)
    index = np.array([tick.index for tick in ticks])
    time = np.array([tick.time for tick in ticks]) - ticks[0].time
    assert (np.diff(index) >= 1).all()
    # Rounding of a time near 1000 s, in periods: 1e-12 s * 2000 Hz.
    assert (index <= time * rate + 1e-6).all()
    assert (time * rate < index + 1 + 1e-6).all()
    assert index[-1] + 1 == len(ticks) + sum(tick.missed for tick in ticks)
    assert loop.statistics().missed == sum(tick.missed for tick in ticks)


def test_a_clock_that_goes_back_starts_a_new_grid():
    """Deadlines of the old grid, which may be far away, are dropped without a loss of time."""
    times = iter([100.0, 100.01, 5.0, 5.01, 5.02])
    loop = DeadlineLoop(100.0, lambda: next(times), lambda deadline: None)
    ticks = [loop.wait() for _ in range(5)]
    assert [tick.index for tick in ticks] == [0, 1, 2, 3, 4]
    assert [tick.time for tick in ticks] == [100.0, 100.01, 5.0, 5.01, 5.02]
    assert loop.statistics().clock_jumps == 1
    assert "the clock went back 1 times" in str(loop.statistics())


def test_statistics_are_of_the_ticks_that_ran():
    delays = np.linspace(0.0, 0.0009, 101)
    scheduler = Scheduler(delays)
    loop = scheduler.loop(1000.0)
    times = np.array([loop.wait().time for _ in range(102)])
    statistics = loop.statistics()
    jitter = np.abs(np.diff(times) - 0.001)
    expected = (
        *np.percentile(delays, (50, 99)),
        delays[-1],
        *np.percentile(jitter, (50, 99)),
        jitter.max(),
    )
    found = (
        statistics.lateness_p50, statistics.lateness_p99, statistics.lateness_max,
        statistics.jitter_p50, statistics.jitter_p99, statistics.jitter_max,
    )  # fmt: skip
    assert np.allclose(found, expected, rtol=0, atol=1e-9)
    assert str(statistics).startswith(
        "102 samples at 1000 Hz, 0 deadlines missed; lateness p50 0.450, p99 0.891,"
    )


def test_statistics_of_nothing_and_of_more_than_the_memory():
    scheduler = Scheduler()
    loop = scheduler.loop(1000.0)
    assert loop.statistics().lateness_max == 0.0
    for _ in range(HISTORY + 10):
        loop.wait()
    assert loop.statistics().ticks == HISTORY + 10
    assert loop.statistics().lateness_p99 < 1e-9


def test_on_the_machines_own_clock():
    """With real sleeping, ticks are never early, and never more than the time allows."""
    loop = DeadlineLoop(200.0)
    ticks = [loop.wait() for _ in range(20)]
    elapsed = ticks[-1].time - ticks[0].time
    assert elapsed >= 19 / 200.0 - 1e-6
    assert ticks[-1].index == 19 + loop.statistics().missed
    sleep_until(ticks[-1].time - 1.0)  # already past


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan, math.inf])
def test_bad_rates_are_named(rate):
    with pytest.raises(ExecutionError, match="rate is"):
        DeadlineLoop(rate)


def test_a_clock_comes_with_its_sleep():
    with pytest.raises(ExecutionError, match="clock and sleep_until"):
        DeadlineLoop(10.0, ManualClock())
