"""The answers of a node's services and actions, and seeing them off before its process ends.

The middleware keeps what was sent only as long as the process lives, and delivers it in threads of
its own: an answer whose sender ends at once is lost when the receiver is slow, or hears first that
the sender has gone. Nobody tells whether an answer was taken (for topics `wait_for_all_acked` does,
services have nothing like it), so it is given time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["ARRIVING", "SENDING", "Answers"]

SENDING = 1.0  # [s] at most, until everybody who waits is answered
ARRIVING = 1.0  # [s] that the last answer is given to arrive


class Answers:
    """Who still waits for an answer, and when the last one was given.

    All but `see_off` belongs to the executor's thread.
    """

    def __init__(self) -> None:
        self._due = 0
        self._last = -math.inf

    @contextmanager
    def due(self) -> Iterator[None]:
        """While somebody waits; when the block ends, the answer is given."""
        self._due += 1
        try:
            yield
        finally:
            # First: whoever sees that none is due also sees when the last one was given.
            self.given()
            self._due -= 1

    def given(self) -> None:
        """An answer is on its way."""
        self._last = time.monotonic()

    def see_off(self) -> None:
        """Return when all answers are given, after SENDING at the latest, and the last one was so
        ARRIVING ago.

        To be called before the node goes, from another thread than the executor's: that one sends
        meanwhile, also what is asked for only now, such as the result of a goal that has just
        ended. Returns at once where nobody was answered lately.
        """
        end = time.monotonic() + SENDING
        while self._due and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(max(0.0, self._last + ARRIVING - time.monotonic()))
