"""Delivery of the answers of a node's services and actions before its process ends.

The middleware keeps sent messages only while the process lives, and delivers them in its own
threads. An answer whose sender ends at once is lost if the receiver is slow, or if it notices first
that the sender is gone. Services have no acknowledgment (topics have `wait_for_all_acked`), so the
answer is given time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["ARRIVING", "SENDING", "Answers"]

SENDING = 1.0  # [s] longest wait until all pending answers are sent
ARRIVING = 1.0  # [s] delivery time for the last answer


class Answers:
    """Number of pending answers, and the time of the last one.

    All methods except `see_off` run in the executor's thread.
    """

    def __init__(self) -> None:
        self._due = 0
        self._last = -math.inf

    @contextmanager
    def due(self) -> Iterator[None]:
        """Count an answer as pending within the block. It is sent when the block ends."""
        self._due += 1
        try:
            yield
        finally:
            # First, so that whoever sees no pending answer also sees the time of the last one.
            self.given()
            self._due -= 1

    def given(self) -> None:
        """Record that an answer was sent."""
        self._last = time.monotonic()

    def see_off(self) -> None:
        """Wait until pending answers are sent and have had time to arrive.

        Waits at most SENDING for answers to be sent, and until ARRIVING after the last one. Call
        from another thread than the executor's before the node is destroyed. The executor meanwhile
        sends answers, including those requested only now, such as the result of a goal that has
        just ended. Returns at once if no answer was sent recently.
        """
        end = time.monotonic() + SENDING
        while self._due and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(max(0.0, self._last + ARRIVING - time.monotonic()))
