"""Waiting for a condition, never for a fixed time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
LIMIT = 60.0  # [s] longer than any expected event takes, even on a slow and busy machine


def wait_for(
    condition: Callable[[], T], what: str, timeout: float = LIMIT, pause: float = 0.01
) -> T:
    """Return the value of `condition` as soon as it is true.

    Raises an AssertionError that names `what` if the condition stays false for `timeout` seconds.
    The condition is evaluated every `pause` seconds.
    """
    end = time.monotonic() + timeout
    while True:
        # The clock is read before the condition is evaluated, so that a stall cannot cost the last
        # try.
        late = time.monotonic() > end
        value = condition()
        if value:
            return value
        assert not late, f"waited {timeout:g} s for {what}"
        time.sleep(pause)
