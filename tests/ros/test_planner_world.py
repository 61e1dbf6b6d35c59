"""World of the planner over tf: the base's pose, and goals and scenes in other frames.

The base is away from the origin and moves.
"""

from __future__ import annotations

import threading

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")

import robosim
from robosim.geometry import pose, pose_to_xyz_quaternion
from robosim.ros.planner.codes import ErrorCode
from robosim.scene import Scene

from .harness.planner import PATIENT, PlannerClient, trajectory_of
from .harness.plans import Q
from .harness.waiting import wait_for

X_WB = pose((1.0, 2.0, 0.5), rpy=(0.0, 0.1, 1.2))
X_WM = pose((-3.0, 0.0, 0.2), rpy=(0.0, 0.0, 0.4))
GOAL = [Q[0] + 1.2, *Q[1:]]
TIP = "tool0"


@pytest.fixture(scope="module")
def ur5():
    return robosim.load_robot("ur5")


class Surroundings:
    """Publisher of a UR5's surroundings: its joint states, repeatedly, and latched transforms.

    The transforms come from several publishers.
    """

    def __init__(self, node, model):
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from sensor_msgs.msg import JointState
        from tf2_msgs.msg import TFMessage

        self.node, self._kind, self._message = node, TFMessage, JointState
        self._latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._publishers = {}
        self._joints = model.position_names
        self._states = node.create_publisher(JointState, "joint_states", 10)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._publish, daemon=True)
        self._thread.start()

    def _publish(self):
        while not self._ended.wait(0.02):
            message = self._message(name=list(self._joints), position=[float(q) for q in Q])
            message.header.stamp = self.node.get_clock().now().to_msg()
            self._states.publish(message)

    def close(self):
        self._ended.set()
        self._thread.join()

    def place(self, parent, child, X):
        """Set the pose of a frame from now on."""
        from geometry_msgs.msg import TransformStamped

        if child not in self._publishers:
            self._publishers[child] = self.node.create_publisher(
                self._kind, "/tf_static", self._latched
            )
        message = TransformStamped(child_frame_id=child)
        message.header.frame_id = parent
        xyz, quaternion = pose_to_xyz_quaternion(X)
        t, r = message.transform.translation, message.transform.rotation
        t.x, t.y, t.z = xyz.tolist()
        r.x, r.y, r.z, r.w = quaternion.tolist()
        self._publishers[child].publish(self._kind(transforms=[message]))


@pytest.fixture
def around(ros_node, ur5):
    around = Surroundings(ros_node, ur5)
    yield around
    around.close()


def reached(ur5, response):
    """Pose of the tip at the end of a plan, in the robot's root link."""
    assert response.error_code == ErrorCode.SUCCESS, response.message
    trajectory = trajectory_of(response)
    at = dict(zip(ur5.position_names, Q, strict=True))
    at |= dict(zip(trajectory.joint_names, trajectory.points[-1].positions, strict=True))
    return ur5.frame_pose([at[name] for name in ur5.position_names], TIP)


def test_goals_scenes_and_marks_are_in_the_world(start, ros_node, around, ur5, tmp_path):
    around.place("world", "base_link", X_WB)
    around.place("world", "map", X_WM)
    process = start("planner", params={"robot": "ur5", **PATIENT})
    process.wait_output("robot: ")
    planner = PlannerClient(ros_node)
    X_BG = ur5.frame_pose(GOAL, TIP)
    for frame, X in (
        ("", X_WB),
        ("world", X_WB),
        ("map", np.linalg.inv(X_WM) @ X_WB),
        ("base_link", np.eye(4)),
    ):
        given = planner.pose(*pose_to_xyz_quaternion(X @ X_BG), frame=frame)
        got = reached(ur5, planner.plan(goal_poses=[given], goal_link=TIP))
        np.testing.assert_allclose(got, X_BG, rtol=0, atol=1e-4, err_msg=frame)
    assert "with its base at (1, 2, 0.5) in 'world', as tf says" in process.output()

    # A block at the tip's goal is in collision. A block where the tip would be with the base at the
    # origin is not.
    goal = {"goal_joint_names": list(ur5.position_names), "goal_positions": GOAL}
    size = (0.06, 0.06, 0.06)
    for X, code in ((X_WB @ X_BG, ErrorCode.GOAL_IN_COLLISION), (X_BG, ErrorCode.SUCCESS)):
        scene = Scene("s")
        scene.add_box("block", size, X)
        scene.save(tmp_path / "scene.yaml")
        text = (tmp_path / "scene.yaml").read_text(encoding="utf-8")
        assert planner.plan(scene_text=text, **goal).error_code == code

    from visualization_msgs.msg import MarkerArray

    def marked():
        array = planner.latest(MarkerArray, "markers")
        return len(array.markers) > 1 and {marker.header.frame_id for marker in array.markers} == {
            "world"
        }

    wait_for(marked, "marks in the world")


def test_a_base_that_moves_is_followed_and_an_unknown_frame_is_refused(
    start, ros_node, around, ur5
):
    process = start("planner", params={"robot": "ur5", **PATIENT})
    process.wait_output("robot: ")
    planner = PlannerClient(ros_node)
    X_BG = ur5.frame_pose(GOAL, TIP)

    def plan(X, frame="world"):
        return planner.plan(
            goal_poses=[planner.pose(*pose_to_xyz_quaternion(X), frame=frame)], goal_link=TIP
        )

    np.testing.assert_allclose(
        reached(ur5, plan(X_BG)), X_BG, rtol=0, atol=1e-4
    )  # without a transform, the base is at the origin
    for X in (X_WB, X_WM):
        around.place("world", "base_link", X)

        def follows(X=X):
            response = plan(X @ X_BG)
            return response if response.error_code == ErrorCode.SUCCESS else None

        response = wait_for(follows, "the planner to hear where the base is")
        np.testing.assert_allclose(reached(ur5, response), X_BG, rtol=0, atol=1e-4)
    refused = plan(X_BG, "camera")
    assert refused.error_code == ErrorCode.FRAME_TRANSFORM_FAILURE
    assert "the frame 'camera' is not known" in refused.message
    around.place("nowhere", "camera", np.eye(4))
    wait_for(
        lambda: "tf has no transform between 'camera' and " in plan(X_BG, "camera").message,
        "both names",
    )


def test_the_parameter_places_the_base(start, ros_node, around, ur5):
    pose_of_base = [1.0, 2.0, 0.5, 0.0, 0.1, 1.2]
    process = start(
        "planner",
        params={"robot": "ur5", "base_pose": pose_of_base, "world_frame": "cell", **PATIENT},
    )
    process.wait_output("in 'cell', as parameter 'base_pose' says")
    planner = PlannerClient(ros_node)
    X_BG = ur5.frame_pose(GOAL, TIP)
    for frame in ("", "cell"):
        given = planner.pose(*pose_to_xyz_quaternion(X_WB @ X_BG), frame=frame)
        got = reached(ur5, planner.plan(goal_poses=[given], goal_link=TIP))
        np.testing.assert_allclose(got, X_BG, rtol=0, atol=1e-4)
