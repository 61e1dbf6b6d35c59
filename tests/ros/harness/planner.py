"""Client of the planner node: its service, its action and its topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robosim.execution.messages import JointTrajectory
from robosim.ros import messages
from robosim.ros.executor_thread import in_executor

from .arm import asked
from .service import meet
from .waiting import LIMIT, wait_for

SUCCEEDED, CANCELED, ABORTED = 4, 5, 6
# Long limits, for planners whose tests are not about old states: on a busy machine states may be
# late without a fault of the planner.
PATIENT = {"state_timeout": 10.0, "execution.watchdog": 2.0, "execution.profile": "ur"}


class PlannerClient:
    """Client of a planner.

    Args:
        node: a spinning rclpy node.
        planner: name of the planner's node, with its namespace.
    """

    def __init__(self, node: Any, planner: str = "/planner") -> None:
        from rclpy.action import ActionClient
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from robosim_msgs.action import PlanMotion as PlanMotionAction
        from robosim_msgs.srv import PlanMotion as PlanMotionService
        from std_msgs.msg import String

        self.node, self.planner = node, planner
        self.latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.feedback: list[tuple[str, float]] = []
        self._service = node.create_client(PlanMotionService, f"{planner}/plan")
        self._action = ActionClient(node, PlanMotionAction, f"{planner}/plan_motion")
        self._scene = node.create_publisher(String, f"{planner}/scene", self.latched)
        wait_for(self._service.service_is_ready, f"the service of {planner}")
        wait_for(self._action.server_is_ready, f"the action of {planner}")
        meet(node, planner)
        wait_for(
            lambda: self._scene.get_subscription_count() > 0, f"{planner} to listen for scenes"
        )

    @staticmethod
    def request(**fields: Any) -> Any:
        """A MotionPlanRequest."""
        from robosim_msgs.msg import MotionPlanRequest

        return MotionPlanRequest(**fields)

    @staticmethod
    def pose(
        xyz: Sequence[float], quaternion: Sequence[float] = (0, 0, 0, 1), frame: str = ""
    ) -> Any:
        """A geometry_msgs/PoseStamped."""
        from geometry_msgs.msg import PoseStamped

        message = PoseStamped()
        message.header.frame_id = frame
        p, r = message.pose.position, message.pose.orientation
        p.x, p.y, p.z = (float(c) for c in xyz)
        r.x, r.y, r.z, r.w = (float(c) for c in quaternion)
        return message

    # -- The service

    def ask(self, **fields: Any) -> Any:
        """Send a request to the service and return the future."""
        from robosim_msgs.srv import PlanMotion

        return self._service.call_async(PlanMotion.Request(request=self.request(**fields)))

    def answer(self, future: Any, timeout: float = LIMIT) -> Any:
        """Wait for a future of the service; return the MotionPlanResponse."""
        wait_for(future.done, f"an answer of {self.planner}", timeout)
        return future.result().response

    def plan(self, timeout: float = LIMIT, **fields: Any) -> Any:
        """Send a request to the service; return the MotionPlanResponse."""
        return self.answer(self.ask(**fields), timeout)

    # -- The action

    def send(self, **fields: Any) -> Any:
        """Send a request to the action; return the goal handle.

        `feedback` collects the feedback.
        """
        from robosim_msgs.action import PlanMotion

        self.feedback = notes = []

        def note(message: Any) -> None:
            notes.append((message.feedback.stage, message.feedback.fraction))

        goal = PlanMotion.Goal(request=self.request(**fields))
        future = asked(
            self.node, lambda: self._action.send_goal_async(goal, feedback_callback=note)
        )
        wait_for(future.done, f"{self.planner} to accept a goal")
        handle = future.result()
        assert handle.accepted
        return handle

    def outcome(self, handle: Any, timeout: float = LIMIT) -> tuple[int, Any]:
        """Wait for the end of a goal; return its status and the MotionPlanResponse."""
        future = asked(self.node, handle.get_result_async)
        wait_for(future.done, f"the result of {self.planner}", timeout)
        return future.result().status, future.result().result.response

    def cancel(self, handle: Any) -> None:
        """Cancel the goal, and assert that the cancellation is accepted."""
        future = asked(self.node, handle.cancel_goal_async)
        wait_for(future.done, "an answer to the cancellation")
        assert future.result().goals_canceling

    # -- Topics

    def set_scene(self, text: str) -> None:
        """Publish a scene."""
        from std_msgs.msg import String

        self._scene.publish(String(data=text))

    def latest(self, kind: Any, topic: str) -> Any:
        """Message that a late subscriber gets from a latched topic below the planner's name."""
        got: list[Any] = []
        name = topic if topic.startswith("/") else f"{self.planner}/{topic}"
        subscription = self.node.create_subscription(kind, name, got.append, self.latched)
        wait_for(lambda: got, f"something on {name}")
        in_executor(self.node, lambda: self.node.destroy_subscription(subscription))
        return got[-1]

    def marks(self) -> list[tuple[str, int]]:
        """Namespaces and types of the markers that a subscriber joining now gets."""
        from visualization_msgs.msg import MarkerArray

        array = self.latest(MarkerArray, "markers")
        assert array.markers[0].action == array.markers[0].DELETEALL
        return [(marker.ns, marker.type) for marker in array.markers[1:]]


def trajectory_of(response: Any) -> JointTrajectory:
    """Trajectory of the response."""
    return messages.joint_trajectory(response.trajectory)
