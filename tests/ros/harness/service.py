"""A service as a test asks it, also where its server has not heard of the client yet."""

from __future__ import annotations

import time
from typing import Any

from .waiting import LIMIT, wait_for

# Seconds without the first answer after which it counts as lost; rmw gives one up after 0.1.
LOST = 5.0


def meet(node: Any, name: str) -> None:
    """Return once the node `name` has discovered all that `node` has until now.

    An answer to one whom the server has not discovered yet is lost (rmw says "client will not
    receive response"), of an action for good. What a participant has is discovered in the order in
    which it was made, so when a service that is asked for the first time now has answered, the
    actions and services that were made before can answer, too.
    """
    from rcl_interfaces.srv import ListParameters

    from robosim.ros.executor_thread import in_executor

    service = Service(node, ListParameters, f"{name}/list_parameters")
    service.ask()
    in_executor(node, service.destroy, timeout=LIMIT)


class Service:
    """A client of a service of ROS.

    `service_is_ready` tells that the client has found the server, not that the server has found the
    client: each finds the ends of the other by itself, and on a busy machine a question may come
    before. Its answer then cannot be sent ("client will not receive response", says rmw). So what a
    new client asks is asked again until it has been answered once; from there on every answer
    counts. Where a lost question has changed something, the answer is that to the second.

    Args:
        node: a spinning rclpy node.
        kind: class of the service.
        name: its name, as the node resolves it.
    """

    def __init__(self, node: Any, kind: Any, name: str) -> None:
        self.name = name
        self._node, self._kind, self._client = node, kind, node.create_client(kind, name)
        self._met = False

    def destroy(self) -> None:
        """Not to be asked any more; in the executor's thread."""
        self._node.destroy_client(self._client)

    def ask(self, request: Any = None, timeout: float = LIMIT) -> Any:
        """The answer to `request`, by default an empty one; AssertionError if none comes within
        `timeout` seconds."""
        wait_for(self._client.service_is_ready, f"the service {self.name}")
        question = self._kind.Request() if request is None else request
        begin, futures = time.monotonic(), []

        def answer() -> Any:
            due = 1 if self._met else 1 + int((time.monotonic() - begin) / LOST)
            if len(futures) < due:
                futures.append(self._client.call_async(question))
            return next((future.result() for future in futures if future.done()), None)

        result = wait_for(answer, f"an answer of {self.name}", timeout)
        self._met = True
        return result
