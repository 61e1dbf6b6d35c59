"""Small arm in a process of its own, with faults that sim_arm does not have.

The arm shares no code with robosim. It publishes joint_states at 125 Hz and the status of a
Universal Robots driver. It follows FollowJointTrajectory goals along straight lines, and takes
`forward_position_controller/commands`. The topic `/fault` takes:
  offset RADIANS    measure joint 0 that far from its true position, at once
  silent on|off     publish no joint states
  frozen on|off     repeat the last stamp and positions in joint states
  broken on|off     publish not-a-number for joint 0
  short on|off      leave joint 0 out
The process prints "goal", "cancelled", "finished", and every fault that begins or ends.

Usage: python fake_arm.py [JOINT ...]      the joints, in the order in which they are published
"""

from __future__ import annotations

import math
import sys
import threading
import time

import rclpy
from control_msgs.action import FollowJointTrajectory
from controller_manager_msgs.msg import ControllerState
from controller_manager_msgs.srv import ListControllers
from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64, Float64MultiArray, String
from ur_dashboard_msgs.msg import SafetyMode

RATE = 125.0
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
JOINTS = ["shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3"]


class FakeArm(Node):
    """Arm with faults, see the module."""

    def __init__(self, joints: list[str]) -> None:
        super().__init__("fake_arm")
        self.joints = joints
        self.position = dict.fromkeys(joints, 0.0)
        for name, value in (("shoulder_lift_joint", -math.pi / 2), ("wrist_1_joint", -math.pi / 2)):
            if name in self.position:
                self.position[name] = value
        self.lock = threading.Lock()
        self.offset = 0.0
        self.silent = self.frozen = self.broken = self.short = False
        self.states = self.create_publisher(JointState, "/joint_states", 1000)
        self.scaled = self.create_publisher(
            Float64, "/speed_scaling_state_broadcaster/speed_scaling", 10
        )
        self.program = self.create_publisher(
            Bool, "/io_and_status_controller/robot_program_running", LATCHED
        )
        self.safety = self.create_publisher(
            SafetyMode, "/io_and_status_controller/safety_mode", LATCHED
        )
        self.program.publish(Bool(data=True))
        self.safety.publish(SafetyMode(mode=SafetyMode.NORMAL))
        self.create_subscription(String, "/fault", self.on_fault, 10)
        self.create_subscription(
            Float64MultiArray, "/forward_position_controller/commands", self.on_command, 10
        )
        self.create_service(ListControllers, "/controller_manager/list_controllers", self.on_list)
        self.server = ActionServer(
            self,
            FollowJointTrajectory,
            "/scaled_joint_trajectory_controller/follow_joint_trajectory",
            self.execute,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )
        self.message = JointState()
        # Publish in a thread, as for every goal, instead of rclpy's multi-threaded executor: that
        # executor takes a whole processor once set points arrive, and delays the other threads.
        threading.Thread(target=self.keep_publishing, daemon=True).start()

    def keep_publishing(self) -> None:
        """Publish joint states at their rate."""
        deadline = time.monotonic()
        while self.context.ok():
            self.publish()
            deadline = max(deadline + 1 / RATE, time.monotonic() - 1 / RATE)
            time.sleep(max(0.0, deadline - time.monotonic()))

    def publish(self) -> None:
        """Publish one joint state."""
        self.scaled.publish(Float64(data=100.0))
        if self.silent:
            return
        if not self.frozen:
            with self.lock:
                names = self.joints[1:] if self.short else self.joints
                position = [self.position[name] for name in names]
            position[0] += self.offset
            if self.broken:
                position[0] = math.nan
            self.message = JointState(name=names, position=position, velocity=[0.0] * len(names))
            self.message.header.stamp = self.get_clock().now().to_msg()
        self.states.publish(self.message)

    def on_fault(self, message: String) -> None:
        """Begin or end a fault."""
        what, value = message.data.split()
        if what == "offset":
            self.offset = float(value)
        else:
            assert what in ("silent", "frozen", "broken", "short")
            setattr(self, what, value == "on")
        print(f"fault {message.data}", flush=True)

    def on_command(self, message: Float64MultiArray) -> None:
        """Take a set point, in the order of the driver's joints."""
        with self.lock:
            for joint, value in zip(JOINTS, message.data, strict=True):
                self.position[f"{joint}_joint"] = value

    def on_list(
        self, _: ListControllers.Request, response: ListControllers.Response
    ) -> ListControllers.Response:
        """Report both controllers as active."""
        response.controller = [
            ControllerState(name=name, state="active")
            for name in ("scaled_joint_trajectory_controller", "forward_position_controller")
        ]
        return response

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
        trajectory = handle.request.trajectory
        times = [
            p.time_from_start.sec + p.time_from_start.nanosec * 1e-9 for p in trajectory.points
        ]
        begin = time.monotonic()
        while (now := time.monotonic() - begin) < times[-1] and not handle.is_cancel_requested:
            i = next(i for i, t in enumerate(times) if t > now)
            if i > 0:
                share = (now - times[i - 1]) / (times[i] - times[i - 1])
                before, after = trajectory.points[i - 1].positions, trajectory.points[i].positions
                with self.lock:
                    for name, a, b in zip(trajectory.joint_names, before, after, strict=True):
                        self.position[name] = a + share * (b - a)
            time.sleep(0.004)
        finished = not handle.is_cancel_requested
        print("finished" if finished else "cancelled", flush=True)
        done.set_result(finished)
        self.executor.wake()  # up to Jazzy, a future wakes no waiting coroutine


def main() -> None:
    """Run until killed."""
    rclpy.init()
    node = FakeArm(sys.argv[1:] or [f"{joint}_joint" for joint in JOINTS])
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    executor.spin()


if __name__ == "__main__":
    main()
