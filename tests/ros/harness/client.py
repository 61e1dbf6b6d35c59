"""ROS node in the test's own process.

A thread serves the node, so that the test can wait for what arrives.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def spinning_node(name: str, domain: int, **options: Any) -> Iterator[Any]:
    """Node of rclpy in `domain`, with a context of its own and one thread that runs callbacks.

    Errors of callbacks are raised at the end of the block.
    """
    import rclpy

    from robosim.ros.executor_thread import ExecutorThread

    context = rclpy.Context()
    rclpy.init(args=[], context=context, domain_id=domain)
    errors: list[BaseException | None] = []
    node = rclpy.create_node(name, context=context, **options)
    executor = ExecutorThread(node, errors.append)
    try:
        yield node
    finally:
        executor.stop()
        node.destroy_node()
        rclpy.try_shutdown(context=context)
    for error in errors:
        if error is not None:
            raise error
