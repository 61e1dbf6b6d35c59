"""Having something done in the thread of a node's executor."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

__all__ = ["in_executor"]


def in_executor(node: Any, do: Callable[[], None], timeout: float = 2.0) -> None:
    """Have the executor's thread call `do`, and wait for it; not to be called from that thread.

    What belongs to a node is destroyed so: rclpy (up to Jazzy at least) fails when a subscription goes away while
    another thread gathers what to wait for, and that ends the executor's thread. Where no executor runs, `do` is called
    here.

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
