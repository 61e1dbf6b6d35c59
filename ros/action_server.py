"""Action server that executes every goal that it accepted.

rclpy's server (up to Jazzy at least) does not execute a goal whose acceptance cannot be sent, for
example to a client that it has not discovered yet on a busy machine. The goal is then known, but
neither executed nor ended. A client that requests its result waits forever, and work that the goal
callback has begun continues without anybody to cancel it.
"""

from __future__ import annotations

from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionServer

__all__ = ["ExecutingActionServer"]


class ExecutingActionServer(ActionServer):
    """See the module docstring. A callback of accepted goals, if any, has to execute them."""

    async def _execute_goal_request(self, request: Any) -> None:
        goal_id = bytes(request[1].goal_id.uuid)
        known = goal_id in self._goal_handles
        await super()._execute_goal_request(request)
        handle = self._goal_handles.get(goal_id)
        if not known and handle is not None and handle.status == GoalStatus.STATUS_ACCEPTED:
            log = self._node.get_logger()
            log.warning("a goal is executed though its acceptance could not be sent")
            self._handle.publish_status()
            self._handle_accepted_callback(handle)
