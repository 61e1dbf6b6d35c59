"""The thread of a node's executor, and having something done in it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

__all__ = ["ExecutorThread", "in_executor"]


def in_executor(node: Any, do: Callable[[], None], timeout: float = 2.0) -> None:
    """Have the executor's thread call `do`, and wait for it; not to be called from that thread.

    What belongs to a node is destroyed so: rclpy (up to Jazzy at least) fails when a subscription
    goes away while another thread gathers what to wait for, and that ends the executor's thread.
    Where no executor runs, `do` is called here.

    Args:
        node: rclpy node.
        do: what to call.
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
    the one waits for what the other has taken away. So here the thread ends first.

    Args:
        node: rclpy node.
        on_end: called in the thread if it ends by itself: with what a callback has raised, or None
            when ROS was shut down. Without it, what a callback raises is printed, as of any thread.
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
        """End it, and wait until it has. The node is not served any more."""
        self._finished.set()
        self._executor.create_task(_nothing)  # so that it looks up
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
    """A task for an executor that shall look whether it is over."""
