"""Whether the machine ran what was ready: a witness on every processor, in a process of its own.

Tests of nodes that talk at 500 Hz need a machine that lets them. On one whose processors are taken away for a tenth of
a second, by a neighbour or by the host of a virtual machine, a test may fail without a fault of what it tests. The
witness sleeps 5 ms at a time and notes when it was woken far too late, so that such a failure says so.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["LEAST", "MachineStalled", "Stalls"]

_PERIOD = 0.005  # [s]
LEAST = 0.05  # [s] of a stall; the shortest time limit of nodes is 0.1 s
_WRITTEN = 0.1  # [s] after which a stall that is over is in the file


class MachineStalled(AssertionError):
    """A test failed while the machine did not run what was ready to run; whose fault it was is not known."""


class Stalls:
    """Notes stalls of this machine until it is closed.

    Args:
        file: to write them to.

    Attributes:
        pid: of the witness.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        with file.open("wb") as out:
            self._witness = subprocess.Popen([sys.executable, __file__], stdout=out)
        self.pid = self._witness.pid

    def since(self, begin: float) -> list[float]:
        """Lengths [s] of those that ended after `begin`, on time.monotonic's clock."""
        time.sleep(_WRITTEN)
        lines = [line.split() for line in self._file.read_text().splitlines()]
        return [float(length) for end, length in lines if float(end) > begin]

    @contextmanager
    def named(self) -> Iterator[None]:
        """A failure in here during which the machine stalled becomes MachineStalled; others stay what they are."""
        begin = time.monotonic()
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:
            lengths = ", ".join(f"{length:.2f}" for length in self.since(begin))
            if not lengths:
                raise
            raise MachineStalled(
                f"for {lengths} s the machine ran nothing on some processor, during which this failed: {error}"
            ) from error

    def close(self) -> None:
        """End the witness."""
        self._witness.kill()
        self._witness.wait()


def _watch(processor: int | None, lock: threading.Lock) -> None:
    if processor is not None:
        os.sched_setaffinity(0, {processor})  # of this thread
    last = time.monotonic()
    while True:
        time.sleep(_PERIOD)
        now = time.monotonic()
        if now - last > _PERIOD + LEAST:
            with lock:
                print(now, f"{now - last - _PERIOD:.3f}", flush=True)
        last = now


if __name__ == "__main__":
    _lock = threading.Lock()
    for _processor in os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else [None]:
        threading.Thread(target=_watch, args=(_processor, _lock)).start()
