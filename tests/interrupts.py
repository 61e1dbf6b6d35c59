"""Control-C during a call."""

from __future__ import annotations

import _thread
import contextlib
import gc
import signal
import threading
from collections.abc import Iterator

import pytest


@contextlib.contextmanager
def control_c(after_s: float = 0.5) -> Iterator[None]:
    """Interrupt the main thread after some seconds, and expect KeyboardInterrupt in the body.

    Background jobs of a shell begin without Python's handler. Garbage is not collected in the body:
    an exception in a callback of the collector, such as Hypothesis', is printed and lost.
    """
    was = signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()
    try:
        threading.Timer(after_s, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        gc.enable()
        signal.signal(signal.SIGINT, was)
