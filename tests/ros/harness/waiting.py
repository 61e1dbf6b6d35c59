"""Waiting for a condition, never for a fixed time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
LIMIT = 60.0  # [s] longer than anything takes that comes at all, on a slow and busy machine, too


def wait_for(
    condition: Callable[[], T], what: str, timeout: float = LIMIT, pause: float = 0.01
) -> T:
    """What `condition` gives as soon as it is true; AssertionError naming `what` if not within
    `timeout` seconds.

    It is looked at every `pause` seconds.
    """
    end = time.monotonic() + timeout
    while True:
        # Looked at before the condition, so that a stall cannot cost the last try.
        late = time.monotonic() > end
        value = condition()
        if value:
            return value
        assert not late, f"waited {timeout:g} s for {what}"
        time.sleep(pause)
