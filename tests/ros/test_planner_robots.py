"""The planner in a real process: its robot, faulty states, two robots, startup and shutdown."""

from __future__ import annotations

import os
import signal
import threading
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")

import robosim
from robosim.ros.description import describe
from robosim.ros.names import UR_JOINTS
from robosim.ros.planner.codes import ErrorCode

from .harness.arm import ArmClient, asked, running_arms
from .harness.endless import NO_WAY, install
from .harness.planner import PATIENT, PlannerClient, trajectory_of
from .harness.processes import Process, environment, node_command
from .harness.service import Service
from .harness.waiting import wait_for

Q = [0.3, -1.6, 1.2, -1.2, -1.5, 0.4]
GOAL = {"goal_joint_names": ["elbow_joint"], "goal_positions": [0.5]}


class Publisher:
    """Publisher of a robot's description and, in a thread at 50 Hz, of its joint states."""

    def __init__(self, node) -> None:
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from sensor_msgs.msg import JointState
        from std_msgs.msg import String

        self.node, self._kind, self._text = node, JointState, String
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._description = node.create_publisher(String, "robot_description", latched)
        self._states = node.create_publisher(JointState, "joint_states", 10)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.state: dict[str, float] = {}
        self.late = 0.0  # age of the stamps [s]

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._ended.set()
        self._thread.join()

    def describe(self, urdf: str) -> None:
        self._description.publish(self._text(data=urdf))

    def _run(self) -> None:
        from rclpy.duration import Duration

        while not self._ended.wait(0.02):
            if self.state:
                message = self._kind(name=list(self.state), position=list(self.state.values()))
                stamp = self.node.get_clock().now() - Duration(seconds=self.late)
                message.header.stamp = stamp.to_msg()
                self._states.publish(message)


@pytest.fixture
def publisher(ros_node):
    with Publisher(ros_node) as publishing:
        yield publishing


def until(planner, code, **fields):
    """Repeat a request until the response has this code; return the response."""

    def answer():
        response = planner.plan(**fields)
        return response if response.error_code == ErrorCode[code] else None

    found = wait_for(answer, f"an answer with {code}")
    assert found is not None
    return found


def test_description_and_states_that_come_and_go(start, ros_node, publisher):
    """First nothing is known, then the robot, then its state with each possible fault."""
    process = start("planner", params={"state_timeout": 0.5, "execution.connect_timeout": 0.5})
    planner = PlannerClient(ros_node)
    response = planner.plan(**GOAL)
    assert response.error_code == ErrorCode.INVALID_ROBOT_STATE
    assert "no robot description" in response.message

    # An invalid description is refused with the line of its error; the next one is accepted.
    publisher.describe(
        "<robot name='x'><link name='a'/>\n  <joint name='j' type='revolute'/>\n</robot>"
    )
    process.wait_output("cannot be used")
    response = planner.plan(**GOAL)
    assert response.error_code == ErrorCode.INVALID_ROBOT_STATE
    assert "<string>:2" in response.message
    publisher.describe(describe("ur5").urdf)
    response = until(planner, "ROBOT_STATE_STALE", **GOAL)
    assert "no joint state has arrived" in response.message

    publisher.state = dict(zip(UR_JOINTS[:5], Q[:5], strict=True))
    response = until(planner, "INVALID_ROBOT_STATE", **GOAL)
    assert "'wrist_3_joint'" in response.message
    # Any order, and a joint that the robot does not have.
    publisher.state = {"gripper": 0.1, **dict(zip(reversed(UR_JOINTS), reversed(Q), strict=True))}
    response = until(planner, "SUCCESS", **GOAL)
    np.testing.assert_array_equal(trajectory_of(response).points[0].positions, Q)

    # A publisher whose states are old, and one that stops.
    publisher.late = 3.0
    response = until(planner, "ROBOT_STATE_STALE", **GOAL)
    assert "s old; at most 0.5 s" in response.message
    publisher.late = 0.0
    until(planner, "SUCCESS", **GOAL)
    publisher.state = {}
    until(planner, "ROBOT_STATE_STALE", **GOAL)
    # A given start needs no state.
    given = {"start_joint_names": list(UR_JOINTS), "start_positions": Q}
    assert planner.plan(**GOAL, **given).error_code == ErrorCode.SUCCESS

    # No arm can execute the plan.
    response = planner.plan(**GOAL, **given, execute=True)
    assert response.error_code == ErrorCode.COMMUNICATION_FAILURE
    assert "follow_joint_trajectory" in response.message
    assert response.trajectory.points

    # A different robot.
    publisher.describe(describe("panda").urdf)
    panda = robosim.load_robot("panda")
    given = {
        "start_joint_names": list(panda.joint_names),
        "start_positions": panda.configuration("ready").tolist(),
    }
    response = until(
        planner, "SUCCESS", goal_joint_names=[panda.joint_names[0]], goal_positions=[0.3], **given
    )
    assert response.trajectory.joint_names[0] == panda.joint_names[0]
    assert planner.plan(**GOAL, **given).error_code == ErrorCode.INVALID_GOAL_CONSTRAINTS
    assert process.stop() == 0
    assert "Traceback" not in process.output()


def test_meshes_in_packages(start, ros_node, publisher, tmp_path):
    """package:// is resolved as ROS does; a missing package is named."""
    meshes = tmp_path / "install" / "share" / "my_description" / "meshes"
    meshes.mkdir(parents=True)
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    text = "solid t\n"
    for triangle in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)):
        rows = "".join("vertex {} {} {}\n".format(*corners[i]) for i in triangle)
        text += f"facet normal 0 0 0\nouter loop\n{rows}endloop\nendfacet\n"
    (meshes / "wedge.stl").write_text(text + "endsolid t\n")
    urdf = """
    <robot name="hinge"><link name="base"/>
      <link name="arm"><inertial>
        <mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><geometry><mesh filename="package://PACKAGE/meshes/wedge.stl"/></geometry>
        </collision></link>
      <joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/>
        <axis xyz="0 0 1"/>
        <limit lower="-2" upper="2" velocity="1" effort="100"/></joint></robot>"""
    prefixes = [str(tmp_path / "install"), os.environ.get("AMENT_PREFIX_PATH", "")]
    start("planner", env={"AMENT_PREFIX_PATH": os.pathsep.join(filter(None, prefixes))})
    planner = PlannerClient(ros_node)
    publisher.state = {"hinge": 0.1}
    goal = {"goal_joint_names": ["hinge"], "goal_positions": [1.0]}
    publisher.describe(urdf.replace("PACKAGE", "other_description"))
    response = until(planner, "INVALID_ROBOT_STATE", **goal)
    wait_for(
        lambda: "'other_description' is not found" in planner.plan(**goal).message,
        "the package to be named",
    )
    publisher.describe(urdf.replace("PACKAGE", "my_description"))
    response = until(planner, "SUCCESS", **goal)
    assert list(response.trajectory.joint_names) == ["hinge"]


def test_robot_and_scene_of_parameters(start, ros_node, publisher):
    start(
        "planner",
        params={"robot": "ur5", "scene": "table_pick", "max_velocity_scaling_factor": 0.5},
        name="thinker",
    )
    planner = PlannerClient(ros_node, "/thinker")
    ur5 = robosim.load_robot("ur5")
    scene = robosim.scene.load_scene("table_pick", model=ur5)
    publisher.state = scene.starts["start"]
    response = until(planner, "SUCCESS")
    end = trajectory_of(response).points[-1].positions
    goal = scene.goals["goal"]  # positions, or the pose of a link
    if isinstance(goal, dict):
        np.testing.assert_allclose(
            end, [goal[name] for name in response.trajectory.joint_names], atol=1e-9
        )
    else:
        np.testing.assert_allclose(ur5.frame_pose(end, goal.link), goal.pose, atol=1e-5)
    peak = max(np.abs(point.velocities).max() for point in trajectory_of(response).points)
    assert peak <= 0.5 * ur5.limits.velocity.max() * 1.001
    # Parameters can be changed at run time, within their ranges.
    from rcl_interfaces.srv import SetParameters
    from rclpy.parameter import Parameter

    parameters = Service(ros_node, SetParameters, "/thinker/set_parameters")
    for value, good in ((0.1, True), (1.5, False)):
        request = SetParameters.Request(
            parameters=[Parameter("max_velocity_scaling_factor", value=value).to_parameter_msg()]
        )
        assert parameters.ask(request).results[0].successful is good
    slow = planner.plan()
    peak = max(np.abs(point.velocities).max() for point in trajectory_of(slow).points)
    assert peak <= 0.1 * ur5.limits.velocity.max() * 1.001


def test_simulated_time(start, ros_node, publisher):
    """Ages are measured by the node's clock.

    With simulated time, a state is fresh if its stamp is, however much real time has passed.
    """
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState

    start("planner", params={"robot": "ur5", "use_sim_time": True})
    planner = PlannerClient(ros_node)
    clock = ros_node.create_publisher(Clock, "/clock", 10)
    states = ros_node.create_publisher(JointState, "joint_states", 10)

    def tick(seconds, stamp):
        message = JointState(name=list(UR_JOINTS), position=Q)
        message.header.stamp.sec = stamp
        states.publish(message)
        now = Clock()
        now.clock.sec = seconds
        clock.publish(now)
        return planner.plan(**GOAL)

    wait_for(lambda: tick(100, 100).error_code == ErrorCode.SUCCESS, "a plan at 100 s")
    response = wait_for(
        lambda: r if "s old" in (r := tick(200, 100)).message else None, "a stale state"
    )
    assert response.error_code == ErrorCode.ROBOT_STATE_STALE
    wait_for(lambda: tick(200, 200).error_code == ErrorCode.SUCCESS, "a plan at 200 s")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two simulated UR5s side by side, each with a prefix, a namespace and a planner."""
    folder = tmp_path_factory.mktemp("pair")
    sides = ("left", "right")
    arms = {
        side: {
            "params": {"robot": "ur5", "tf_prefix": f"{side}_"},
            "name": "scaled_joint_trajectory_controller",
            "namespace": f"/{side}",
        }
        for side in sides
    }
    with running_arms(folder, arms) as running:
        number = int(os.environ["ROS_DOMAIN_ID"])
        processes = []
        try:
            for side in sides:
                params = {"srdf": "ur5", "joint_limits": "ur5", "tf_prefix": f"{side}_", **PATIENT}
                command = node_command(
                    "planner", params=params, namespace=f"/{side}", folder=folder
                )
                log = folder / f"{side}-planner.log"
                processes.append(
                    Process(f"{side} planner", command, log, folder, environment(number, folder))
                )
            for process in processes:
                process.wait_output("robot: <Model 'ur5'")
            yield {
                side: SimpleNamespace(
                    arm=running[side].client,
                    planner=PlannerClient(running[side].client.node, f"/{side}/planner"),
                )
                for side in sides
            }
        finally:
            for process in processes:
                process.kill()


def test_two_robots(pair):
    """Each planner plans for its own arm, by its own names, and moves no other arm."""
    from visualization_msgs.msg import MarkerArray

    at = {}
    for side, other in (("left", "right"), ("right", "left")):
        mine, joints = pair[side], [f"{side}_{name}" for name in UR_JOINTS]
        start = mine.arm.fresh().position.copy()
        still = pair[other].arm.fresh().position.copy()
        assert mine.planner.plan(**GOAL).error_code == ErrorCode.INVALID_GOAL_CONSTRAINTS
        response = mine.planner.plan(
            goal_joint_names=[f"{side}_elbow_joint"], goal_positions=[0.6],
            scene_name="bookshelf_small",
            execute=True,
        )  # fmt: skip
        assert response.error_code == ErrorCode.SUCCESS, response.message
        assert list(response.trajectory.joint_names) == joints
        mine.arm.fresh()
        at[side] = mine.arm.position
        assert abs(at[side][f"{side}_elbow_joint"] - 0.6) < 1e-3
        assert abs(start[2] - 0.6) > 0.1
        np.testing.assert_array_equal(pair[other].arm.fresh().position, still)
        array = mine.planner.latest(MarkerArray, "markers")
        assert all(marker.header.frame_id.startswith(f"{side}_") for marker in array.markers)
        # The named state of the SRDF and the goal of a bundled scene are found with the prefix.
        assert mine.planner.plan(goal_name="home").error_code == ErrorCode.SUCCESS
        response = mine.planner.plan(
            scene_name="table_pick", start_joint_names=joints, start_positions=Q
        )
        assert response.error_code != ErrorCode.INVALID_GOAL_CONSTRAINTS, response.message


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ends_while_planning(start, ros_node, number, tmp_path):
    """Waiting clients get an answer, and the process ends by itself."""
    from diagnostic_msgs.msg import DiagnosticArray

    process = start("planner", params={"robot": "ur5"}, env=install(tmp_path))
    planner = PlannerClient(ros_node)
    no_way = {**NO_WAY, "allowed_planning_time": 300.0}
    handle = planner.send(**no_way)
    result = asked(ros_node, handle.get_result_async)
    wait_for(lambda: "search" in dict(planner.feedback), "the search to begin")
    waiting = [planner.ask(**no_way) for _ in range(3)]
    queued = []

    def note(message):
        queued.extend(
            v.value for status in message.status for v in status.values if v.key == "waiting"
        )

    ros_node.create_subscription(DiagnosticArray, "/diagnostics", note, 10)
    wait_for(lambda: "3" in queued, "all requests to wait in the planner")
    process.send(number)
    wait_for(lambda: result.done() and all(future.done() for future in waiting), "all answers")
    assert result.result().result.response.error_code in (ErrorCode.PREEMPTED, ErrorCode.ABORT)
    for future in waiting:
        assert future.result().response.error_code == ErrorCode.ABORT
        assert "shutting down" in future.result().response.message
    assert process.wait() == 0
    assert "Traceback" not in process.output()


def test_ends_while_executing(start, ros_node):
    """The planner is interrupted with Ctrl-C during a motion.

    The arm holds, waiting clients get an answer, and the process ends.
    """
    start("sim_arm", params={"robot": "ur5"}, name="scaled_joint_trajectory_controller")
    process = start("planner", params={"srdf": "ur5", **PATIENT})
    arm = ArmClient(ros_node, "/scaled_joint_trajectory_controller")
    planner = PlannerClient(ros_node)
    process.wait_output("robot: <Model 'ur5'")
    begin = arm.wait_still()
    handle = planner.send(
        goal_joint_names=["shoulder_pan_joint"], goal_positions=[begin[0] + 3.0], execute=True,
        max_velocity_scaling_factor=0.1,
    )  # fmt: skip
    result = asked(ros_node, handle.get_result_async)
    wait_for(lambda: arm.at()[0] > begin[0] + 0.1, "the arm to move")
    process.send(signal.SIGINT)
    wait_for(result.done, "an answer")
    assert result.result().result.response.error_code == ErrorCode.ABORT
    assert process.wait() == 0
    assert "Traceback" not in process.output()
    assert arm.wait_still()[0] < begin[0] + 2.0


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"state_timeout": -1.0}, ("'state_timeout'", "-1")),
        ({"execution.interface": "telepathy"}, ("'execution.interface'", "telepathy")),
        ({"planer": "x"}, ("'planer'", "'planner'")),
    ],
)
def test_bad_parameters(start, params, words):
    process = start("planner", params=params)
    assert process.wait() == 2
    for word in words:
        assert word in process.output()
    assert "Traceback" not in process.output()


def test_help(launch_process, tmp_path):
    process = launch_process("help", node_command("planner", ["--help"], folder=tmp_path))
    assert process.wait() == 0
    for name in ("joint_limits", "execution.start_tolerance", "allowed_planning_time"):
        assert name in process.output()
