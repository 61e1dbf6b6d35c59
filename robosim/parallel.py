"""Number of threads that calls of the engine may use. Results do not depend on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from robosim import _engine
from robosim.errors import ModelError

__all__ = ["get_threads", "of_call", "set_threads", "threads"]

_in_block: ContextVar[int] = ContextVar("robosim threads", default=0)  # 0: outside of every block


def get_threads() -> int:
    """Return the number of threads that a call from here may use.

    It is the number of the innermost `threads` block, but at most that of `set_threads`. The
    default of `set_threads` is the environment variable ROBOSIM_THREADS, otherwise the number of
    processors that this process may run on.
    """
    limit = _engine.thread_limit()
    return min(_in_block.get() or limit, limit)


def set_threads(n: int) -> None:
    """Set the number of threads that calls may use, in the whole process.

    Raises:
        ModelError: n is not between 1 and 1024.
    """
    _engine.set_thread_limit(n)


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Limit the calls within a `with` block to n threads. Other Python threads are not affected.

    Raises:
        ModelError: n is below 1.
    """
    if n < 1:
        raise ModelError(f"threads is {n}; it must be at least 1")
    before = _in_block.set(n)
    try:
        yield
    finally:
        _in_block.reset(before)


def of_call() -> int:
    """Return the engine's argument `threads`: 0 for as many as `set_threads` allows."""
    return _in_block.get()
