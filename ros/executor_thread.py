"""Thread of a node's executor, and calls within it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

__all__ = ["ExecutorThread", "in_executor"]


def in_executor(node: Any, do: Callable[[], None], timeout: float = 2.0) -> None:
    """Call `do` in the executor's thread, and wait for it. Do not call from that thread.

    Entities of a node must be destroyed in this way. rclpy (up to Jazzy at least) fails if a
    subscription is destroyed while another thread collects entities to wait for, and this ends the
    executor's thread. If no executor runs, `do` is called here.

    Args:
        node: rclpy node.
        do: function to call.
        timeout: [s] after which an executor counts as not running.
    """
    executor, begun, done = node.executor, threading.Lock(), threading.Event()

    def once() -> None:
        if begun.acquire(blocking=False):
            try:
                do()
            finally:
                done.set()

    if executor is not None:
        executor.create_task(once)
        if done.wait(timeout):
            return
    once()


class ExecutorThread:
    """A thread in which a node's callbacks run.

    `executor.spin()` and `executor.shutdown()` in two threads race in rclpy (up to Jazzy at least):
    spin waits for entities that shutdown has destroyed. Therefore the thread ends first.

    Args:
        node: rclpy node.
        on_end: called in the thread if it ends by itself, with the exception of a callback, or None
            if ROS was shut down. Without it, the exception is printed, as in any thread.
    """

    def __init__(
        self, node: Any, on_end: Callable[[BaseException | None], None] | None = None
    ) -> None:
        from rclpy.executors import SingleThreadedExecutor

        self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(node)
        self._on_end = on_end
        self._finished = threading.Event()
        self._thread = threading.Thread(target=self._run, name="executor", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it. The node's callbacks do not run afterwards."""
        self._finished.set()
        self._executor.create_task(_nothing)  # wakes the executor
        self._thread.join()
        self._executor.shutdown()

    def _run(self) -> None:
        from rclpy.executors import ExternalShutdownException

        try:
            while not self._finished.is_set():
                self._executor.spin_once()
        except ExternalShutdownException:
            if self._on_end is not None:
                self._on_end(None)
        except BaseException as failure:
            if self._on_end is None:
                raise
            self._on_end(failure)


def _nothing() -> None:
    """Do nothing; a task that wakes an executor."""
