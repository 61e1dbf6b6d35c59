"""Worker thread that runs jobs in order, so that the node's own thread can continue to serve."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

__all__ = ["Job", "Worker"]

T = TypeVar("T")


class Job(Generic[T]):
    """A unit of work, and its result.

    Args:
        do: does the work. It receives the job, to check for cancellation.
        refuse: returns the result if the job is canceled before it begins, or the worker is closed.
        on_done: called when there is a result, in the thread that computed it.
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
        """Request cancellation, which a running job may ignore.

        A job that has not begun is refused at once.
        """
        self._cancelled.set()
        self._on_cancel()
        self.run(begin=False)

    def on_cancel(self, call: Callable[[], None]) -> None:
        """Set a function to call on cancellation. If already canceled, it is called at once."""
        self._on_cancel = call
        if self.cancelled():
            call()

    def cancelled(self) -> bool:
        """Return true if cancellation was requested."""
        return self._cancelled.is_set()

    @property
    def done(self) -> bool:
        """True if there is a result."""
        return self._done.is_set()

    def run(self, *, begin: bool = True) -> None:
        """Run or refuse the job. Only the first call has an effect."""
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
        """Wait up to `timeout` [s] for the result. Return true if there is one."""
        return self._done.wait(timeout)

    def result(self) -> T:
        """Return the result of a finished job, or raise its exception."""
        if self._error is not None:
            raise self._error
        return cast(T, self._result)


class Worker:
    """Thread that runs jobs one after the other."""

    def __init__(self, name: str) -> None:
        self._queue: queue.SimpleQueue[Job[Any] | None] = queue.SimpleQueue()
        self._closed = threading.Event()
        self._current: Job[Any] | None = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Number of jobs that have not begun."""
        return self._queue.qsize()

    @property
    def busy(self) -> bool:
        """True if a job submitted now would have to wait."""
        return self._current is not None or not self._queue.empty()

    def submit(self, job: Job[T]) -> Job[T]:
        """Queue a job. If the worker is closed, the job is refused at once."""
        if self._closed.is_set():
            job.run(begin=False)
        else:
            self._queue.put(job)
        return job

    def close(self, timeout: float = 5.0) -> None:
        """Cancel the current job, refuse waiting jobs, and end. Waits up to `timeout` [s]."""
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
        # Jobs that were submitted while the worker was being closed.
        while not self._queue.empty():
            if (job := self._queue.get()) is not None:
                job.run(begin=False)
