"""Trajectory controllers on the ROS graph, and the joints that they move. Needs rclpy."""

from __future__ import annotations

import time
from typing import Any

from robosim.execution.clock import monotonic
from robosim.ros.executor_thread import in_executor

__all__ = ["ACTION", "controllers_on_graph", "joints_of"]

ACTION = "/follow_joint_trajectory"
_KIND = "control_msgs/action/FollowJointTrajectory"


def controllers_on_graph(node: Any) -> list[str]:
    """Full names of the trajectory controllers in a node's namespace, under any name."""
    from rclpy.action import get_action_names_and_types

    space = node.get_namespace().rstrip("/") + "/"
    return [
        name.removesuffix(ACTION)
        for name, kinds in get_action_names_and_types(node)
        if name.startswith(space)
        and name.endswith(ACTION)
        and _KIND in kinds
        and node.count_publishers(f"{name}/_action/status") > 0  # a client alone creates a name too
    ]


def joints_of(node: Any, controller: str, patience: float) -> list[str]:
    """Query a controller's parameter `joints`. Return [] for the many controllers without answer.

    Args:
        node: rclpy node that is spun in another thread.
        controller: name of the controller.
        patience: [s] to find the service, and again for its answer.
    """
    from rcl_interfaces.srv import GetParameters

    client = node.create_client(GetParameters, f"{controller}/get_parameters")
    try:
        end = monotonic() + patience
        while not client.service_is_ready() and monotonic() < end:
            time.sleep(0.02)
        if not client.service_is_ready():
            return []
        answers: list[Any] = []

        def ask() -> None:
            future = client.call_async(GetParameters.Request(names=["joints"]))
            future.add_done_callback(lambda done: answers.append(done.result()))

        node.executor.create_task(ask)
        while not answers and monotonic() < end + patience:
            time.sleep(0.01)
        return (
            list(answers[0].values[0].string_array_value) if answers and answers[0].values else []
        )
    finally:
        in_executor(node, lambda: node.destroy_client(client))
