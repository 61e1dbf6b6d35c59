"""Clock of an arm behind ROS, on a ROS clock that the test controls.

The clock never goes back, and nobody waits on it forever.
"""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from robosim.execution.clock import monotonic
from robosim.ros.arm_clock import ArmClock

from .harness.waiting import wait_for


class RosClock:
    """Subset of rclpy's clock that robosim uses."""

    def __init__(self, simulated=True, now=0):
        self.ros_time_is_active, self.nanoseconds = simulated, now

    def now(self):
        return SimpleNamespace(nanoseconds=self.nanoseconds)


def made(**options):
    ros = RosClock(**options)
    return ros, ArmClock(SimpleNamespace(get_clock=lambda: ros))


def test_simulated_time_moves_forward_only():
    ros, clock = made()
    assert clock() == 0.0
    ros.nanoseconds = (
        1_700_000_000_000_000_000  # the first message sets the origin of time, no time passes
    )
    assert clock() == 0.0
    shown = []
    for step in (0.5, 0.25, -100.0, 0.5, 1e-9, 200.0):
        ros.nanoseconds += round(step * 1e9)
        shown.append(clock())
    assert shown == [0.5, 0.75, 0.75, 1.25, 1.250000001, 201.250000001]


def test_real_time_does_not_notice_when_the_system_clock_is_set():
    ros, clock = made(simulated=False, now=10**18)
    before = clock()
    ros.nanoseconds = 0
    after = clock()
    assert 0 <= after - before < 10
    assert abs(after - monotonic()) < 10
    clock.sleep_until(after + 0.01)
    assert clock() >= after + 0.01


def test_stamps_on_both_clocks():
    ros, clock = made(now=5_000_000_000)
    clock()
    ros.nanoseconds += 2_000_000_000
    assert clock() == 2.0
    assert clock.to_ros(3.5) == 8_500_000_000
    assert clock.from_ros(8_500_000_000) == 3.5


def test_sleeping_on_simulated_time():
    """The sleeper wakes once simulated time has come, however long that takes."""
    ros, clock = made(now=10**9)
    clock()
    woke = []
    thread = threading.Thread(
        target=lambda: (clock.sleep_until(1.0), woke.append(clock())), daemon=True
    )
    thread.start()
    for _ in range(10):
        assert not woke
        ros.nanoseconds += 99_000_000
    ros.nanoseconds += 20_000_000
    wait_for(lambda: woke, "the sleeper to wake")
    assert 1.0 <= woke[0] <= 1.01


def test_interrupting_whoever_waits_for_a_time_that_stands_still():
    ros, clock = made(now=10**9)
    clock()
    raised = []

    def wait():
        try:
            clock.sleep_until(1.0)
        except KeyboardInterrupt:
            raised.append(True)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    clock.interrupt()
    wait_for(lambda: raised, "the sleeper to give up")
    # While time advances, an interrupted clock still keeps it.
    ticker_ends = threading.Event()

    def tick():
        while not ticker_ends.wait(0.001):
            ros.nanoseconds += 10_000_000

    ticker = threading.Thread(target=tick, daemon=True)
    ticker.start()
    try:
        until = clock() + 0.5
        clock.sleep_until(until)
        assert clock() >= until
    finally:
        ticker_ends.set()
        ticker.join()


def test_no_time_before_the_first_message():
    _, clock = made()
    clock.interrupt()
    with pytest.raises(KeyboardInterrupt):
        clock.sleep_until(0.1)
