"""Display of the planner: the last plan as messages, and marks for RViz. Needs rclpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from robosim.errors import RobosimError
from robosim.ros.messages import joint_trajectory_message
from robosim.ros.planner import messages
from robosim.ros.planner.display import Mark, plan_marks, scene_marks
from robosim.ros.planner.jobs import Job, Worker
from robosim.ros.qos import LATCHED

if TYPE_CHECKING:
    from robosim.model import Model
    from robosim.ros.planner.planning import Answer
    from robosim.ros.planner.surroundings import Surroundings
    from robosim.scene import Scene

__all__ = ["Screen"]


class Screen:
    """Publishers of the display. Meshing marks is slow, so a separate thread creates them."""

    def __init__(self, node: Any) -> None:
        self._node = node
        self._trajectory = node.create_publisher(JointTrajectory, "~/trajectory", LATCHED)
        self._markers = node.create_publisher(MarkerArray, "~/markers", LATCHED)
        self._display = self._display_publisher()
        self._plan_marks: list[Mark] = []
        self._painter = Worker("markers")

    def _display_publisher(self) -> Any:
        """Publisher of moveit_msgs/DisplayTrajectory, or None if MoveIt's messages are missing."""
        try:
            from moveit_msgs.msg import DisplayTrajectory
        except ImportError:
            return None
        return self._node.create_publisher(DisplayTrajectory, "display_planned_path", LATCHED)

    def close(self) -> None:
        """Discard marks that have not been published."""
        self._painter.close()

    def show_plan(self, answer: Answer, model: Model) -> None:
        """Publish a plan. Its marks follow."""
        result = answer.result
        assert result is not None
        assert answer.trajectory is not None
        self._trajectory.publish(joint_trajectory_message(answer.trajectory))
        if self._display is not None:
            self._display.publish(messages.display_trajectory(answer, model))

        def mark(job: Job[None]) -> None:
            self._plan_marks = plan_marks(model, result, answer.scene)
            self._publish(model, answer.scene)

        self._paint(mark)

    def show_scene(self, model_now: Callable[[], Model | None], surroundings: Surroundings) -> None:
        """Publish the node's scene again. The last plan stays."""

        def mark(job: Job[None]) -> None:
            model = model_now()
            if model is not None:
                self._publish(model, surroundings.now(model))

        self._paint(mark)

    def _paint(self, mark: Callable[[Job[None]], None]) -> None:
        def do(job: Job[None]) -> None:
            try:
                mark(job)
            except RobosimError as error:
                self._node.get_logger().error(f"markers: {error}")

        self._painter.submit(Job(do, lambda: None))

    def _publish(self, model: Model, scene: Scene | None) -> None:
        marks = [*scene_marks(scene), *self._plan_marks]
        self._markers.publish(messages.marker_array(marks, model.root_link))
