"""Recording in progress: one thread queues messages, another writes them.

A slow disk therefore delays nobody. Losses are counted by the sequence numbers of a publisher's
messages, if the middleware reports them.
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
    """Statistics of a topic's messages.

    Attributes:
        count: number of messages taken.
        lost: number of messages not received, from gaps in the publisher's sequence numbers.
        dropped: number of messages received but discarded, because the disk did not keep up.
        largest_gap: longest time between two messages [s].
        mixed: True if several publishers' numbers are interleaved, so that losses are unknown.
    """

    count: int = 0
    lost: int = 0
    dropped: int = 0
    largest_gap: float = 0.0
    mixed: bool = False
    last_ns: int | None = None
    last_number: int | None = None


class Recording:
    """Writes a bag in its own thread. `add_topic` and `put` may be called from one other thread.

    Args:
        path: folder to create.
        flush_period: longest time of data that an interruption may lose [s].
        max_queued: bytes that may wait for the disk before messages are dropped.

    Raises:
        MissingDependencyError: rosbags is not installed.
        FileError: the folder exists already or cannot be created.
    """

    def __init__(
        self, path: str | PathLike[str], *, flush_period: float = 0.5, max_queued: int = 1 << 28
    ) -> None:
        self.path = Path(path)
        self._writer = BagWriter(path)
        self._flush_period, self._max_queued = flush_period, max_queued
        # Pending work, with its number of bytes.
        self._queue: queue.SimpleQueue[tuple[int, Callable[[], None]] | None] = queue.SimpleQueue()
        # Bytes put in and taken out, each counted by one thread only.
        self._queued, self._taken = 0, 0
        self.topics: dict[str, TopicReport] = {}
        self.error: RobosimError | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._write, name="robosim-recording")
        self._thread.start()

    def add_topic(self, topic: str, type_: str, *, latched: bool = False) -> None:
        """Declare a topic before its first message. Raises BagError for an unknown type."""
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
            topic, type_, data, time_ns: as in BagWriter.write.
            number: sequence number of the publisher, increasing by one.
            alone: called at a gap in the numbers. True if there is one publisher; numbers of
                several publishers are interleaved.
        """
        if self._closed:
            return
        report = self.topics[topic]
        if report.last_ns is not None:
            report.largest_gap = max(report.largest_gap, (time_ns - report.last_ns) / 1e9)
        report.last_ns = time_ns
        if number is not None:
            # A number that does not increase is of a restarted publisher.
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
        """Write queued messages and end the file. May be called twice. Errors are in `error`."""
        if self._closed:
            return
        self._closed = True
        self._queue.put(None)
        self._thread.join()

    def summary(self) -> list[str]:
        """Return one line per topic."""
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
        """Run the writer's thread."""
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
        except Exception as error:  # any error must be reported from the thread
            known = error if isinstance(error, RobosimError) else None
            self.error = known or BagError(f"cannot go on: {error!r}", file=self.path)
            with suppress(RobosimError):
                self._writer.abandon()
