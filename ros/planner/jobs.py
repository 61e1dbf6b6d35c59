"""One thread that does what is asked for, in order, while the node's own thread goes on
listening."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

__all__ = ["Job", "Worker"]

T = TypeVar("T")


class Job(Generic[T]):
    """Something to do, and what came of it.

    Args:
        do: does it; gets the job, so that it can see whether it is to stop.
        refuse: what comes of it where it is cancelled before it begins, or the worker is closed.
        on_done: called when there is a result, in the thread that made it.
    """

    def __init__(
        self,
        do: Callable[[Job[T]], T],
        refuse: Callable[[], T],
        on_done: Callable[[], None] = lambda: None,
    ) -> None:
        self._do, self._refuse, self._on_done = do, refuse, on_done
        self._done = threading.Event()
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._begun = False
        self._on_cancel: Callable[[], None] = lambda: None
        self._result: T | None = None
        self._error: BaseException | None = None

    def cancel(self) -> None:
        """Ask it to stop; it may have no use for that. One that has not begun is done at once:
        refused."""
        self._cancelled.set()
        self._on_cancel()
        self.run(begin=False)

    def on_cancel(self, call: Callable[[], None]) -> None:
        """Have this called when it is to stop; at once if it is already."""
        self._on_cancel = call
        if self.cancelled():
            call()

    def cancelled(self) -> bool:
        """Whether it is to stop."""
        return self._cancelled.is_set()

    @property
    def done(self) -> bool:
        """Whether there is a result."""
        return self._done.is_set()

    def run(self, *, begin: bool = True) -> None:
        """Do it, or refuse it; the first call counts."""
        with self._lock:
            if self._begun:
                return
            self._begun = True
        try:
            self._result = self._do(self) if begin else self._refuse()
        except BaseException as error:
            self._error = error
        self._done.set()
        self._on_done()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is done, `timeout` [s] at most; whether it is."""
        return self._done.wait(timeout)

    def result(self) -> T:
        """What came of it, once it is done. Raises what its function raised."""
        if self._error is not None:
            raise self._error
        return cast(T, self._result)


class Worker:
    """The thread. Jobs are done one after the other."""

    def __init__(self, name: str) -> None:
        self._queue: queue.SimpleQueue[Job[Any] | None] = queue.SimpleQueue()
        self._closed = threading.Event()
        self._current: Job[Any] | None = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many jobs have not begun."""
        return self._queue.qsize()

    @property
    def busy(self) -> bool:
        """Whether a job that is submitted now would have to wait."""
        return self._current is not None or not self._queue.empty()

    def submit(self, job: Job[T]) -> Job[T]:
        """Have a job done; at once refused when the worker is closed."""
        if self._closed.is_set():
            job.run(begin=False)
        else:
            self._queue.put(job)
        return job

    def close(self, timeout: float = 5.0) -> None:
        """Cancel what goes on, refuse what waits, and end. Waits for that, `timeout` [s] at
        most."""
        self._closed.set()
        with self._lock:
            if self._current is not None:
                self._current.cancel()
        self._queue.put(None)
        self._thread.join(timeout)

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            with self._lock:
                self._current = job
            job.run(begin=not self._closed.is_set())
            with self._lock:
                self._current = None
        # Whatever slipped in while the worker was being closed.
        while not self._queue.empty():
            if (job := self._queue.get()) is not None:
                job.run(begin=False)
