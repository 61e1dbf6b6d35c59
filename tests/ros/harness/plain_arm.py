"""Arm behind plain ros2_control, in a process of its own: seven joints and a gripper.

The arm shares no code with robosim's nodes. It has /joint_states at 100 Hz, FollowJointTrajectory
and `joint_trajectory` of one controller, and robot_description as published by
robot_state_publisher. It has no topics of a driver and no controller manager, and the controller's
node does not report its joints. It prints "goal", "finished", "cancelled", "topic".

Usage: python plain_arm.py DESCRIPTION CONTROLLER JOINT=POSITION ... [-- JOINT=POSITION ...]
    DESCRIPTION   file with the URDF
    JOINT=...     joints of the controller and their initial positions; after --, the joints
                  that other controllers would move
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import rclpy
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

RATE = 100.0


class PlainArm(Node):
    """Arm with one controller, see the module."""

    def __init__(
        self, description: str, controller: str, own: dict[str, float], others: dict[str, float]
    ) -> None:
        super().__init__("hardware")
        self.own, self.position = tuple(own), {**others, **own}
        self.lock, self.stopped = threading.Lock(), threading.Event()
        self.states = self.create_publisher(JointState, "/joint_states", 100)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.described = self.create_publisher(String, "/robot_description", latched)
        self.described.publish(String(data=description))
        self.create_subscription(
            JointTrajectory, f"/{controller}/joint_trajectory", self.on_topic, 10
        )
        self.server = ActionServer(
            self,
            FollowJointTrajectory,
            f"/{controller}/follow_joint_trajectory",
            self.execute,
            goal_callback=self.on_goal,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )
        threading.Thread(target=self.keep_publishing, daemon=True).start()

    def keep_publishing(self) -> None:
        """Publish joint states at their rate."""
        while self.context.ok():
            with self.lock:
                names, position = list(self.position), list(self.position.values())
            message = JointState(name=names, position=position, velocity=[0.0] * len(names))
            message.header.stamp = self.get_clock().now().to_msg()
            self.states.publish(message)
            time.sleep(1 / RATE)

    def on_topic(self, message: JointTrajectory) -> None:
        """Stop the arm at an empty trajectory; leave the goal open, as ros2_control documents."""
        print("topic", flush=True)
        if not message.points:
            self.stopped.set()

    def on_goal(self, request: FollowJointTrajectory.Goal) -> GoalResponse:
        """Accept goals for exactly the joints of the controller."""
        good = set(request.trajectory.joint_names) == set(self.own)
        return GoalResponse.ACCEPT if good else GoalResponse.REJECT

    async def execute(self, handle: ServerGoalHandle) -> FollowJointTrajectory.Result:
        """Follow a goal in a thread of its own, while the executor serves others."""
        done = Future()
        threading.Thread(target=self.follow, args=(handle, done), daemon=True).start()
        await done
        handle.succeed() if done.result() else handle.canceled()
        return FollowJointTrajectory.Result()

    def follow(self, handle: ServerGoalHandle, done: Future) -> None:
        """Follow straight lines between a goal's points.

        The result of `done` is true if the arm reached the last point.
        """
        print("goal", flush=True)
        self.stopped.clear()
        trajectory = handle.request.trajectory
        times = [
            p.time_from_start.sec + p.time_from_start.nanosec * 1e-9 for p in trajectory.points
        ]
        begin, now = time.monotonic(), 0.0
        while not handle.is_cancel_requested and (now < times[-1] or self.stopped.is_set()):
            now = time.monotonic() - begin
            if not self.stopped.is_set():
                self.go(trajectory, times, min(now, times[-1]))
            time.sleep(0.004)
        finished = not handle.is_cancel_requested
        print("finished" if finished else "cancelled", flush=True)
        done.set_result(finished)
        self.executor.wake()  # up to Jazzy, a future wakes no waiting coroutine

    def go(self, trajectory: JointTrajectory, times: list[float], now: float) -> None:
        """Move to the trajectory's position at time `now`."""
        i = next((i for i, t in enumerate(times) if t >= now), len(times) - 1)
        if i == 0:
            return
        share = (now - times[i - 1]) / (times[i] - times[i - 1])
        before, after = trajectory.points[i - 1].positions, trajectory.points[i].positions
        with self.lock:
            for name, a, b in zip(trajectory.joint_names, before, after, strict=True):
                self.position[name] = a + share * (b - a)


def main() -> None:
    """Run until killed."""
    description, controller, *joints = sys.argv[1:]
    parts = " ".join(joints).split("--")
    own, others = (
        {name: float(value) for name, value in (word.split("=") for word in part.split())}
        for part in (*parts, "")[:2]
    )
    rclpy.init()
    node = PlainArm(Path(description).read_text(encoding="utf-8"), controller, own, others)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    executor.spin()


if __name__ == "__main__":
    main()
