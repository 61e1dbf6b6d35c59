"""Client of a service that works before the server has discovered the client, too."""

from __future__ import annotations

import time
from typing import Any

from .waiting import LIMIT, wait_for

# Time without a first answer [s] after which the answer counts as lost. The rmw layer gives up
# after 0.1 s.
LOST = 5.0


def meet(node: Any, name: str) -> None:
    """Return once the node `name` has discovered everything that `node` has created so far.

    A server cannot answer a client that it has not discovered: rmw says "client will not receive
    response". For an action the answer is lost for good. The parts of a participant are discovered
    in the order in which they were created. So when the service called here has answered for the
    first time, the actions and services created before are answered, too.
    """
    from rcl_interfaces.srv import ListParameters

    from robosim.ros.executor_thread import in_executor

    service = Service(node, ListParameters, f"{name}/list_parameters")
    service.ask()
    in_executor(node, service.destroy, timeout=LIMIT)


class Service:
    """Client of a ROS service.

    `service_is_ready` reports that the client has discovered the server, not the reverse. Either
    side discovers the other by itself, and on a busy machine a request may arrive first. Its answer
    cannot be sent then: rmw says "client will not receive response". So a client repeats its first
    request until one is answered. From then on every request is sent once. If a lost request has
    changed something, the answer returned is the answer to the second request.

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
        """Destroy the client, in the executor's thread."""
        self._node.destroy_client(self._client)

    def ask(self, request: Any = None, timeout: float = LIMIT) -> Any:
        """Answer to `request`, by default an empty one.

        Raises AssertionError if no answer comes within `timeout` seconds.
        """
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
