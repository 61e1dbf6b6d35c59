"""Recording while messages arrive: losses, disks that fail or lag.

Losses are counted, a disk that fails or lags is reported, and no caller waits for the disk.
"""

from __future__ import annotations

import threading

import numpy as np
import pytest

pytest.importorskip("rosbags", reason="recordings need the extra `bag`")

from robosim.errors import BagError, FileError, MissingDependencyError
from robosim.ros.bags import Bag
from robosim.ros.bags.recording import Recording
from robosim.ros.bags.types import FLOAT64, types
from robosim.ros.bags.writing import BagWriter

from .harness.waiting import LIMIT, wait_for


def number(value):
    """Serialized std_msgs/Float64."""
    store = types()
    return bytes(store.serialize_cdr(store.types[FLOAT64](data=float(value)), FLOAT64))


def test_what_is_put_is_written_in_order(tmp_path):
    recording = Recording(tmp_path / "bag", flush_period=0.05)
    recording.add_topic("/a", FLOAT64)
    recording.add_topic("/silent", FLOAT64, latched=True)
    for k in range(5000):
        recording.put("/a", FLOAT64, number(k), 10**9 + k * 2_000_000, number=k + 1)
    # Flushed messages can be read while the recording goes on.
    wait_for(lambda: "/a" in Bag(tmp_path / "bag.partial").topics, "the first flush")
    recording.close()
    recording.close()
    bag = Bag(tmp_path / "bag")
    times, values = bag.numbers("/a")
    assert np.array_equal(values, np.arange(5000.0))
    assert np.allclose(times, 0.002 * np.arange(5000), rtol=0, atol=1e-9)
    assert recording.summary() == [
        "/a: 5000 messages, 0 lost, at most 2.0 ms apart",
        "/silent: 0 messages, 0 lost",
    ]
    recording.put("/a", FLOAT64, number(0), 0)  # after the end of the recording: ignored
    assert recording.topics["/a"].count == 5000


@pytest.mark.parametrize(
    ("numbers", "alone", "lost"),
    [
        ([1, 2, 3, 7, 8, 10], True, "4 lost"),
        ([5, 6, 7, 1, 2, 3], True, "0 lost"),  # a publisher that begins again
        ([5, 6, 7, 1, 3], True, "1 lost"),
        ([900, 901, 902], True, "0 lost"),  # a publisher that began before the recording
        ([1, 900, 2, 901], False, "losses not known"),
        ([None, None], True, "losses not known"),  # a middleware that does not number messages
    ],
)
def test_losses_are_counted_by_the_publishers_numbers(tmp_path, numbers, alone, lost):
    recording = Recording(tmp_path / "bag")
    recording.add_topic("/a", FLOAT64)
    for k, n in enumerate(numbers):
        recording.put("/a", FLOAT64, number(k), k, number=n, alone=lambda: alone)
    recording.close()
    assert recording.summary()[0].startswith(f"/a: {len(numbers)} messages, {lost}")


def test_a_disk_that_lags_costs_messages_and_not_the_callers_time(tmp_path, monkeypatch):
    """The writer is blocked until the queue is full.

    Messages that do not fit are counted, and the others are written.
    """
    go = threading.Event()
    write = BagWriter.write

    def slow(self, *arguments):
        assert go.wait(LIMIT)
        write(self, *arguments)

    monkeypatch.setattr(BagWriter, "write", slow)
    size = len(number(0))
    recording = Recording(tmp_path / "bag", max_queued=100 * size)
    recording.add_topic("/a", FLOAT64)
    for k in range(1000):
        recording.put("/a", FLOAT64, number(k), k)
    report = recording.topics["/a"]
    assert (report.count, report.dropped) == (101, 899)
    go.set()
    recording.close()
    assert np.array_equal(Bag(tmp_path / "bag").numbers("/a")[1], np.arange(101.0))
    assert "899 dropped because writing failed or lagged" in recording.summary()[0]


def test_a_disk_that_fails_is_told_and_keeps_what_it_has(tmp_path, monkeypatch):
    write, count = BagWriter.write, 0

    def full(self, *arguments):
        nonlocal count
        count += 1
        if count > 50:
            raise FileError("cannot be written: No space left on device", file=self.partial)
        write(self, *arguments)

    monkeypatch.setattr(BagWriter, "write", full)
    recording = Recording(tmp_path / "bag")
    recording.add_topic("/a", FLOAT64)
    for k in range(100):
        recording.put("/a", FLOAT64, number(k), k)
    wait_for(lambda: recording.error is not None, "the failure")
    recording.put("/a", FLOAT64, number(0), 100)
    recording.close()
    assert "No space left on device" in str(recording.error)
    assert recording.topics["/a"].dropped == 1
    left = Bag(tmp_path / "bag.partial")
    assert left.truncated
    assert left.topics["/a"].count == 50


def test_types_that_are_not_known_are_refused_before_anything_is_recorded(tmp_path):
    recording = Recording(tmp_path / "bag")
    with pytest.raises(
        BagError, match=r"type 'my_msgs/msg/Own' of topic /a is none of ROS 2's common"
    ):
        recording.add_topic("/a", "my_msgs/msg/Own")
    recording.close()


def test_without_rosbags_it_says_how_to_get_it(tmp_path, monkeypatch):
    types.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "rosbags.typesys", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'robosim\[bag\]'"):
        BagWriter(tmp_path / "bag")
    assert not (tmp_path / "bag.partial").exists()
