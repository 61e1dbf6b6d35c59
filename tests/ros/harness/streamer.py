"""Plans from an arm's present position, and a client of a streamer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robosim.execution.joint_trajectory import from_trajectory
from robosim.ros.messages import joint_trajectory_message
from robosim.ros.names import UR_JOINTS
from robosim.trajectory import Trajectory, TrajectoryLimits

from .processes import Process
from .waiting import LIMIT, wait_for

ENDS = ("finished", "refused", "stopped", "held", "aborted")
SPEED, ACCELERATION = np.full(6, np.pi), np.full(6, 5.0)
LIMITS = TrajectoryLimits(
    lower=np.full(6, -2 * np.pi),
    upper=np.full(6, 2 * np.pi),
    velocity=SPEED,
    acceleration=ACCELERATION,
)


def rest_to_rest(
    start: np.ndarray, goal: np.ndarray, duration: float, joints=UR_JOINTS
) -> Trajectory:
    """Straight motion in joint space; its greatest speed is 1.875 distance / duration."""
    zero = np.zeros((2, len(joints)))
    return Trajectory.from_knots(
        [0, duration], [start, goal], zero, zero, position_names=joints, limits=LIMITS, robot="ur5"
    )


def save(plan: Trajectory, folder: Path) -> str:
    """Write a plan to a file and return the file."""
    path = folder / f"plan-{len(list(folder.glob('plan-*.json')))}.json"
    plan.save(path)
    return str(path)


class StreamerClient:
    """Client that sends trajectories to a running streamer and records its status.

    Args:
        node: a spinning rclpy node.
        name: name of the streamer, with its namespace.
        process: process that the streamer runs in.
    """

    def __init__(self, node: Any, name: str, process: Process) -> None:
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from std_msgs.msg import String
        from trajectory_msgs.msg import JointTrajectory

        self.process, self.said = process, list[str]()
        latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        node.create_subscription(
            String, f"{name}/status", lambda m: self.said.append(m.data), latched
        )
        self.publisher = node.create_publisher(JointTrajectory, f"{name}/joint_trajectory", 10)
        wait_for(lambda: self.publisher.get_subscription_count() > 0, f"{name} to listen")
        wait_for(lambda: "ready" in self.said, f"{name} to be ready")

    def begin(self, trajectory: Any) -> int:
        """Send a Trajectory, a JointTrajectory or a message.

        Returns the number of status messages before the trajectory.
        """
        before = len(self.said)
        if isinstance(trajectory, Trajectory):
            trajectory = from_trajectory(trajectory)
        if not hasattr(trajectory, "header"):
            trajectory = joint_trajectory_message(trajectory)
        self.publisher.publish(trajectory)
        return before

    def end(self, before: int, timeout: float = LIMIT) -> str:
        """Wait for the end of the trajectory that `begin` sent; return the streamer's status.

        `before` is what `begin` returned.
        """

        def ended() -> str | None:
            return next((text for text in self.said[before:] if text.startswith(ENDS)), None)

        text = wait_for(ended, "the streamer to say how it ended", timeout)
        assert text is not None
        return text

    def send(self, trajectory: Any) -> str:
        """Send a trajectory, wait for its end and return the streamer's status."""
        return self.end(self.begin(trajectory))
