"""Arms of other makes than UR: a Franka-like arm behind plain ros2_control.

The arm has no topic of a driver. The tests include the messages about states that cannot be
checked.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")

import robosim
from robosim.ros.description import describe
from robosim.ros.drivers import DRIVERS
from robosim.trajectory import Trajectory, TrajectoryLimits

from .harness.planner import PlannerClient
from .harness.streamer import StreamerClient, save
from .harness.waiting import wait_for

CONTROLLER = "joint_trajectory_controller"
NOT_CHECKED = "not checked, as nobody reports: whether the controller is active"


@pytest.fixture(scope="module")
def franka():
    """The robot, and the initial positions of the arm's and the gripper's joints."""
    described = describe("panda")
    model = described.model
    home = dict(zip(model.position_names, model.configuration("ready").tolist(), strict=True))
    assert len(home) == 7
    fingers = {"panda_finger_joint1": 0.02, "panda_finger_joint2": 0.02}
    return SimpleNamespace(
        model=model, urdf=described.urdf, arm=home, fingers=fingers, names=tuple(home)
    )


class Arm:
    """Process of the arm, and the positions of its joints."""

    def __init__(self, node, process, names):
        from sensor_msgs.msg import JointState

        self.process, self._names = process, names
        self._last, self.count = {}, 0
        node.create_subscription(JointState, "/joint_states", self._on_state, 100)
        wait_for(lambda: self._last, "joint states")

    def _on_state(self, message):
        self._last = dict(zip(message.name, message.position, strict=True))
        self.count += 1

    def at(self):
        last = self._last
        return np.array([last[name] for name in self._names])

    def wait_still(self):
        """Position of the arm, once it has not changed for twenty states."""
        while True:
            position, count = self.at(), self.count
            wait_for(lambda count=count: self.count >= count + 20, "joint states")
            if (self.at() == position).all():
                return position


@pytest.fixture
def launch_arm(franka, launch_process, ros_node, tmp_path):
    """`launch_arm(controller)`: a running arm."""

    def launch(controller=CONTROLLER):
        file = tmp_path / "panda.urdf"
        file.write_text(franka.urdf, encoding="utf-8")
        words = [f"{name}={value!r}" for name, value in franka.arm.items()]
        fingers = [f"{name}={value!r}" for name, value in franka.fingers.items()]
        script = Path(__file__).parent / "harness" / "plain_arm.py"
        command = [sys.executable, str(script), str(file), controller, *words, "--", *fingers]
        return Arm(ros_node, launch_process("plain_arm", command), franka.names)

    return launch


def plan(franka, by, duration=1.0):
    """Plan from the arm's initial position by the same amount in all joints."""
    start = np.array(list(franka.arm.values()))
    zero = np.zeros((2, len(start)))
    limits = TrajectoryLimits(velocity=np.full(7, 2.0), acceleration=np.full(7, 10.0))
    return Trajectory.from_knots(
        [0, duration], [start, start + by], zero, zero, position_names=franka.names, limits=limits
    )


def test_it_streams_with_no_parameter_set(franka, launch_arm, start, ros_node):
    arm = launch_arm()
    streamer = StreamerClient(ros_node, "/streamer", start("streamer"))
    way = plan(franka, 0.2)
    assert streamer.send(way).startswith("finished: ")
    np.testing.assert_allclose(arm.wait_still(), way.position(1.0), rtol=0, atol=1e-5)
    output = streamer.process.output()
    assert output.count(NOT_CHECKED) == 1
    (line,) = (line for line in output.splitlines() if NOT_CHECKED in line)
    assert "profile 'generic' (any arm under ros2_control)" in line
    for word in (
        "whether the robot's program runs",
        "the safety mode",
        "parameter 'profile'",
        "parameter 'require'",
    ):
        assert word in line
    assert "set parameter 'profile' to" not in output


def test_a_plan_from_a_file_goes_to_a_controller_under_any_name(
    franka, launch_arm, start, tmp_path
):
    """The only trajectory controller is used, and the streamer ends with success."""
    arm = launch_arm("fr3_arm_controller")
    way = plan(franka, -0.1)
    process = start("streamer", params={"plan_file": save(way, tmp_path)})
    assert process.wait() == 0, process.output()
    assert "connected to /fr3_arm_controller" in process.output()
    np.testing.assert_allclose(arm.wait_still(), way.position(1.0), rtol=0, atol=1e-5)


def test_the_planner_plans_and_executes_with_no_parameter_set(franka, launch_arm, start, ros_node):
    arm = launch_arm()
    process = start("planner", params={"state_timeout": 10.0, "execution.watchdog": 2.0})
    process.wait_output("robot: ")
    planner = PlannerClient(ros_node)
    goal = np.array(list(franka.arm.values())) + 0.1
    answer = planner.plan(
        goal_joint_names=list(franka.names), goal_positions=goal.tolist(), execute=True
    )
    assert answer.error_code == answer.SUCCESS, answer.message
    np.testing.assert_allclose(arm.wait_still(), goal, rtol=0, atol=1e-4)
    assert process.output().count(NOT_CHECKED) == 1
    assert "parameter 'execution.profile'" in process.output()


def test_what_is_required_and_not_told_is_refused_with_the_parameter_that_says_so(
    franka, launch_arm, start, ros_node
):
    arm = launch_arm()
    params = {"require": ["safety_mode", "program_running"]}
    streamer = StreamerClient(ros_node, "/streamer", start("streamer", params=params))
    before, way = arm.at(), plan(franka, 0.2)
    for _ in range(3):
        answer = streamer.send(way)
        assert answer.startswith("refused: ")
        assert (
            "whether the robot's program runs, and that is required (parameter 'require')" in answer
        )
        assert "its safety mode, and NORMAL is required (parameter 'require')" in answer
    # Each refusal is reported on the topic, and once in the log.
    assert streamer.process.output().count("refused: the arm does not say") == 1
    np.testing.assert_array_equal(arm.at(), before)


@pytest.mark.parametrize("profile", [name for name, driver in DRIVERS.items() if driver.require])
def test_other_profiles_refuse_an_arm_that_tells_nothing(
    franka, launch_arm, start, ros_node, profile
):
    """A profile whose driver reports a status requires it, available or not.

    What is missing is named.
    """
    launch_arm()
    params = {"profile": profile, "connect_timeout": 5.0, "joints": list(franka.names)}
    streamer = StreamerClient(ros_node, "/streamer", start("streamer", params=params))
    answer = streamer.send(plan(franka, 0.2))
    assert answer.startswith("refused: the arm does not say")
    assert "(parameter 'require'" in answer
    installed = {"std_msgs", "ur_dashboard_msgs"}
    for package in {topic.package for topic in DRIVERS[profile].status} - installed:
        assert f"the ROS 2 package {package} is not installed" in answer


def test_an_empty_trajectory_for_the_streamer_stops_the_motion(franka, launch_arm, start, ros_node):
    from trajectory_msgs.msg import JointTrajectory

    arm = launch_arm()
    streamer = StreamerClient(ros_node, "/streamer", start("streamer"))
    begin = arm.at()
    before = streamer.begin(plan(franka, 0.5, 5.0))
    wait_for(lambda: np.abs(arm.at() - begin).max() > 0.02, "the arm to move")
    streamer.publisher.publish(JointTrajectory())
    assert streamer.end(before) == "stopped: asked to stop"
    assert np.abs(arm.wait_still() - begin).max() < 0.45


def test_an_empty_trajectory_for_the_controller_ends_the_goal(franka, launch_arm, start, ros_node):
    """This controller leaves the goal open, as ros2_control documents; the sender ends the goal."""
    from trajectory_msgs.msg import JointTrajectory

    arm = launch_arm()
    streamer = StreamerClient(ros_node, "/streamer", start("streamer"))
    topic = f"/{CONTROLLER}/joint_trajectory"
    publisher = ros_node.create_publisher(JointTrajectory, topic, 10)
    wait_for(lambda: publisher.get_subscription_count() > 1, "arm and streamer to listen")
    begin = arm.at()
    before = streamer.begin(plan(franka, 0.5, 5.0))
    wait_for(lambda: np.abs(arm.at() - begin).max() > 0.02, "the arm to move")
    publisher.publish(JointTrajectory())
    assert (
        streamer.end(before)
        == f"aborted: INVALID_GOAL: an empty trajectory on {topic} has stopped the arm"
    )
    arm.process.wait_output("cancelled")
    assert np.abs(arm.wait_still() - begin).max() < 0.45


@pytest.mark.parametrize("profile", [name for name, driver in DRIVERS.items() if driver.seen_by])
def test_a_driver_that_is_seen_is_pointed_to_once(franka, launch_arm, start, ros_node, profile):
    from std_msgs.msg import String

    topic = f"/{DRIVERS[profile].seen_by[0]}"
    launch_arm()
    ros_node.create_publisher(String, topic, 10)
    streamer = StreamerClient(ros_node, "/streamer", start("streamer"))
    text = f"set parameter 'profile' to '{profile}'"
    streamer.process.wait_output(text)
    for _ in range(2):
        streamer.send(plan(franka, 2.0))  # refused: too fast
    output = streamer.process.output()
    assert output.count(text) == 1
    assert topic in output


def test_several_controllers_are_listed_for_the_parameter_that_chooses(
    franka, launch_arm, start, ros_node, tmp_path
):
    from robosim.ros.controllers import controllers_on_graph

    for name in ("left_controller", "right_controller"):
        launch_arm(name)
    wait_for(lambda: len(controllers_on_graph(ros_node)) == 2, "both controllers")
    params = {"plan_file": save(plan(franka, 0.1), tmp_path), "connect_timeout": 8.0}
    process = start("streamer", params=params)
    assert process.wait() == 3
    output = process.output()
    assert (
        "there is /left_controller/follow_joint_trajectory,"
        " /right_controller/follow_joint_trajectory" in output
    )
    assert "parameter 'controller' names the controller" in output


@pytest.mark.parametrize("node", ["streamer", "planner"])
def test_simulated_time_without_a_clock_is_said_once_and_in_the_refusal(
    franka, launch_arm, start, ros_node, tmp_path, node
):
    launch_arm()
    text = "use_sim_time is true and nothing has arrived on /clock"
    if node == "streamer":
        params = {
            "plan_file": save(plan(franka, 0.1), tmp_path),
            "connect_timeout": 4.0,
            "use_sim_time": True,
        }
        process = start("streamer", params=params)
        assert process.wait() == 3
        assert f"after 4 s: {text}" in process.output()
    else:
        process = start("planner", params={"use_sim_time": True})
        process.wait_output("robot: ")
        process.wait_output(text)
        answer = PlannerClient(ros_node).plan(
            goal_joint_names=["panda_joint1"], goal_positions=[0.1]
        )
        assert answer.error_code == answer.ROBOT_STATE_STALE
        assert text in answer.message
    said = [
        line for line in process.output().splitlines() if text in line and "after 4 s" not in line
    ]
    assert len([line for line in said if "ERROR" in line]) == 1


def test_the_robot_is_the_bundled_one(franka):
    assert "panda" in robosim.urdf.bundled_robots()
    assert franka.names == tuple(f"panda_joint{i}" for i in range(1, 8))
