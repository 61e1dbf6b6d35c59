"""A recording in progress: messages are queued by one thread and written by another, so that a slow
disk delays nobody.

Losses are counted, not guessed: by the numbers that a publisher gives its messages, where the
middleware tells them.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path

from robosim.errors import BagError, RobosimError
from robosim.execution.clock import monotonic
from robosim.ros.bags.types import check_type
from robosim.ros.bags.writing import BagWriter

__all__ = ["Recording", "TopicReport"]


@dataclass
class TopicReport:
    """What became of a topic's messages.

    Attributes:
        count: taken.
        lost: not received, by the gaps in the publisher's numbers.
        dropped: received and thrown away, because the disk did not keep up.
        largest_gap: between two messages [s].
        mixed: several publishers' numbers came in turns, so that losses between them cannot be
            told.
    """

    count: int = 0
    lost: int = 0
    dropped: int = 0
    largest_gap: float = 0.0
    mixed: bool = False
    last_ns: int | None = None
    last_number: int | None = None


class Recording:
    """Writes a bag in a thread of its own. `add_topic` and `put` may be called from one other
    thread.

    Args:
        path: the folder to make.
        flush_period: how much an interruption may lose [s].
        max_queued: bytes that may wait for the disk before messages are dropped.

    Raises:
        MissingDependencyError: rosbags is not installed.
        FileError: the folder exists already or cannot be made.
    """

    def __init__(
        self, path: str | PathLike[str], *, flush_period: float = 0.5, max_queued: int = 1 << 28
    ) -> None:
        self.path = Path(path)
        self._writer = BagWriter(path)
        self._flush_period, self._max_queued = flush_period, max_queued
        # What is to be done, and how many bytes wait for it.
        self._queue: queue.SimpleQueue[tuple[int, Callable[[], None]] | None] = queue.SimpleQueue()
        # Bytes put in and taken out: each counted by one thread only.
        self._queued, self._taken = 0, 0
        self.topics: dict[str, TopicReport] = {}
        self.error: RobosimError | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._write, name="robosim-recording")
        self._thread.start()

    def add_topic(self, topic: str, type_: str, *, latched: bool = False) -> None:
        """Name a topic before its first message. Raises BagError for a type that is not known."""
        check_type(topic, type_, self.path)
        self.topics.setdefault(topic, TopicReport())
        self._queue.put((0, partial(self._writer.add_topic, topic, type_, latched=latched)))

    def put(
        self,
        topic: str,
        type_: str,
        data: bytes,
        time_ns: int,
        *,
        number: int | None = None,
        alone: Callable[[], bool] = lambda: True,
    ) -> None:
        """Queue a message.

        Args:
            topic, type_, data, time_ns: as of BagWriter.write.
            number: the publisher's, counting up by one.
            alone: asked at a gap in the numbers, whether there is one publisher; those of several
                mix.
        """
        if self._closed:
            return
        report = self.topics[topic]
        if report.last_ns is not None:
            report.largest_gap = max(report.largest_gap, (time_ns - report.last_ns) / 1e9)
        report.last_ns = time_ns
        if number is not None:
            # A number that is not greater is of a publisher that has begun anew.
            if report.last_number is not None and number > report.last_number + 1:
                if alone():
                    report.lost += number - report.last_number - 1
                else:
                    report.mixed = True
            report.last_number = number
        if self.error is not None or self._queued - self._taken > self._max_queued:
            report.dropped += 1
            return
        report.count += 1
        self._queued += len(data)
        self._queue.put((len(data), partial(self._writer.write, topic, type_, data, time_ns)))

    def close(self) -> None:
        """Write what is queued and end the file; may be called twice. Errors are in `error`."""
        if self._closed:
            return
        self._closed = True
        self._queue.put(None)
        self._thread.join()

    def summary(self) -> list[str]:
        """A line for each topic."""
        lines = []
        for name, report in sorted(self.topics.items()):
            numbered = report.last_number is not None and not report.mixed
            losses = f"{report.lost} lost" if numbered or not report.count else "losses not known"
            dropped = (
                f", {report.dropped} dropped because writing failed or lagged"
                if report.dropped
                else ""
            )
            gap = f", at most {1e3 * report.largest_gap:.1f} ms apart" if report.count > 1 else ""
            lines.append(f"{name}: {report.count} messages, {losses}{dropped}{gap}")
        return lines

    def _write(self) -> None:
        """The writer's thread."""
        flushed = monotonic()
        try:
            while True:
                try:
                    entry = self._queue.get(timeout=self._flush_period)
                except queue.Empty:
                    pass
                else:
                    if entry is None:
                        self._writer.close()
                        return
                    size, do = entry
                    do()
                    self._taken += size
                if monotonic() - flushed > self._flush_period:
                    self._writer.flush()
                    flushed = monotonic()
        except Exception as error:  # whatever it is, it must not go unnoticed in a thread
            known = error if isinstance(error, RobosimError) else None
            self.error = known or BagError(f"cannot go on: {error!r}", file=self.path)
            with suppress(RobosimError):
                self._writer.abandon()
