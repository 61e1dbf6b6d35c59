"""A ROS node in the test's own process, served by a thread, so that the test can wait for what arrives."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def spinning_node(name: str, domain: int, **options: Any) -> Iterator[Any]:
    """An rclpy node in `domain`, in a context of its own; one thread runs callbacks. Their errors come at the end."""
    import rclpy
    from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor

    context = rclpy.Context()
    rclpy.init(args=[], context=context, domain_id=domain)
    errors: list[BaseException] = []
    node = rclpy.create_node(name, context=context, **options)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def spin() -> None:
        try:
            executor.spin()
        except ExternalShutdownException:
            pass
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=spin, name=f"spin {name}", daemon=True)
    thread.start()
    try:
        yield node
    finally:
        executor.shutdown()
        thread.join(timeout=10)
        node.destroy_node()
        rclpy.try_shutdown(context=context)
    if errors:
        raise errors[0]
