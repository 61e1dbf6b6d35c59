"""The monitor detects faults: each of these lives of an arm has one fault."""

from __future__ import annotations

import itertools
import threading
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")

import robosim
from robosim.ros.names import UR_JOINTS

from .harness.monitor import Monitor

RATE = 125.0
STEP = np.pi / RATE  # the UR5's velocity limit times the period


def monitor_of(positions, numbers=None, velocity=0.0):
    """Monitor that has received these positions of the elbow; the other joints are at 0."""
    monitor = Monitor(
        SimpleNamespace(create_subscription=lambda *_: None),
        robosim.load_robot("ur5"),
        RATE,
        UR_JOINTS,
    )
    for position, number in zip(positions, numbers or range(1, len(positions) + 1), strict=True):
        hear(monitor, position, number, velocity)
    return monitor


def hear(monitor, position, number, velocity=0.0):
    """Feed one more sample to the monitor, in an order of its own, as drivers publish it."""
    from sensor_msgs.msg import JointState

    message = JointState(
        name=list(reversed(UR_JOINTS)),
        position=[0.0, 0.0, 0.0, position, 0.0, 0.0],
        velocity=[velocity] * 6,
    )
    message.header.stamp.sec = number
    monitor._on_state(message, {"publication_sequence_number": number})


def test_a_good_life_passes():
    monitor = monitor_of(np.arange(50) * STEP)
    monitor.check()
    assert monitor.largest_step() == pytest.approx(1.0, abs=1e-6)
    assert monitor.position[2] == pytest.approx(49 * STEP)


def test_a_jump_is_seen():
    with pytest.raises(AssertionError, match="elbow_joint jumped by"):
        monitor_of([0.0, 1.01 * STEP]).check()


def test_a_lost_sample_is_seen_and_gives_its_time_but_no_more():
    with pytest.raises(AssertionError, match=r"missing before numbers \[4\]"):
        monitor_of([0.0, STEP, 3 * STEP], [1, 2, 4]).check()
    monitor_of([0.0, STEP, 3 * STEP], [1, 2, 4]).check(whole=False)
    with pytest.raises(AssertionError, match="jumped"):
        monitor_of([0.0, STEP, 3.1 * STEP], [1, 2, 4]).check(whole=False)


def test_a_limit_is_seen():
    upper = robosim.load_robot("ur5").limits.upper[2]
    monitor_of([upper - STEP, upper]).check()
    with pytest.raises(AssertionError, match="above its limit"):
        monitor_of([upper - STEP, upper + 1e-6]).check()


def test_a_speed_and_a_number_that_is_none_are_seen():
    with pytest.raises(AssertionError, match="velocities"):
        monitor_of([0.0, 0.0], velocity=3.2).check()
    with pytest.raises(AssertionError):
        monitor_of([0.0, float("nan")]).check()


def test_a_new_process_is_a_new_life():
    monitor = monitor_of([0.0, STEP, 2.0, 2.0], [1, 2, 1, 2])
    monitor.check()
    assert [len(life.position) for life in monitor.lives] == [2, 2]


@pytest.mark.parametrize("asked", ["position", "velocity", "wait_rest", "wait_motion"])
def test_who_asks_before_the_first_sample_waits_for_it(asked, monkeypatch):
    monitor = monitor_of([])
    numbers = itertools.count(1)
    waits, over = threading.Event(), threading.Event()
    wait_first = monitor.wait_first

    def wait_first_and_say_so() -> None:
        waits.set()
        wait_first()

    monkeypatch.setattr(monitor, "wait_first", wait_first_and_say_so)

    def arm() -> None:
        """Publish once somebody waits; then move, or stand still if the test requires that."""
        waits.wait()
        while not over.wait(0.01):  # the arm's period
            number = next(numbers)
            hear(
                monitor,
                0.0 if asked == "wait_rest" else min(number, 10) * STEP,
                number,
                velocity=0.1,
            )

    thread = threading.Thread(target=arm)
    thread.start()
    try:
        found = getattr(monitor, asked)
        found = found() if callable(found) else found
    finally:
        over.set()
        waits.set()
        thread.join()
    assert found.shape == (6,)


def test_silence_is_no_success():
    with pytest.raises(AssertionError, match="no joint states"):
        monitor_of([]).check()
