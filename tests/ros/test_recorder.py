"""Recorder in a real process: records all messages of an arm without loss, however it ends."""

from __future__ import annotations

import signal

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")
pytest.importorskip("rosbags", reason="recordings need the extra `bag`")

from robosim.execution.joint_trajectory import from_trajectory
from robosim.ros.bags import Bag
from robosim.ros.bags.motion import find_start, fit_start, track
from robosim.ros.messages import goal_message, joint_trajectory_message
from robosim.ros.names import UR_JOINTS
from robosim.trajectory import Trajectory

from .harness.arm import SUCCEEDED, ArmClient
from .harness.service import Service
from .harness.waiting import wait_for

CONTROLLER = "scaled_joint_trajectory_controller"


def swing(at, seconds=1.5):
    """Motion to a position and back, at rest at both ends, well inside the limits."""
    way = np.array([0.0, 0.25, 0.5, 0.25, 0.0])[:, None] * np.array([1, -0.5, 0.8, 0.3, 0.5, -1.0])
    return Trajectory.from_waypoints(np.linspace(0, seconds, 5), at + way, position_names=UR_JOINTS)


@pytest.fixture
def arm(start, ros_node):
    start("sim_arm", params={"robot": "ur5e"}, name=CONTROLLER)
    return ArmClient(ros_node, f"/{CONTROLLER}")


def recorder(start, tmp_path, **params):
    """Start a recorder and wait until it receives the arm's states."""
    process = start("recorder", params={"bag": str(tmp_path / "bag"), **params})
    process.wait_output("hears /joint_states")
    process.wait_output("hears /robot_description")
    return process


def test_everything_that_the_arm_says_is_recorded(start, ros_node, arm, tmp_path):
    """Each state that another subscriber received is in the bag, in order, bit for bit.

    States are published at 500 Hz.
    """
    from std_msgs.msg import Float64MultiArray
    from trajectory_msgs.msg import JointTrajectory

    sender = ros_node.create_publisher(JointTrajectory, f"/{CONTROLLER}/joint_trajectory", 10)
    commander = ros_node.create_publisher(
        Float64MultiArray, "/forward_position_controller/commands", 2000
    )
    process = recorder(start, tmp_path)
    for publisher in (sender, commander):
        wait_for(lambda p=publisher: p.get_subscription_count() >= 2, "the arm and the recorder")
    first = arm.fresh()
    plan = swing(arm.at())
    sent = from_trajectory(plan)
    sender.publish(joint_trajectory_message(sent))
    wait_for(lambda: np.abs(arm.at() - plan.position(0.75)).max() < 0.02, "half of the way")
    arm.wait_still()
    commands = [arm.at() + 1e-4 * k for k in range(100)]
    for values in commands:
        commander.publish(Float64MultiArray(data=values.tolist()))
    last = arm.fresh(500)
    arm.fresh(250)  # on a busy machine the recorder may receive a state later than this process
    assert process.stop() == 0
    said = process.output()
    assert "/joint_states: " in said
    assert "lost" in said
    assert " 0 lost" in said

    bag = Bag(tmp_path / "bag")
    assert not bag.truncated
    states = bag.joint_states("/joint_states", joint_names=UR_JOINTS)
    stamps = [
        m.header.stamp.sec * 10**9 + m.header.stamp.nanosec
        for _, m in bag.messages("/joint_states")
    ]
    assert stamps == sorted(set(stamps))
    heard = [sample for sample in arm.samples if first.stamp <= sample.stamp <= last.stamp]
    index = {stamp: k for k, stamp in enumerate(stamps)}
    for sample in heard:
        order = [sample.names.index(name) for name in UR_JOINTS]
        assert np.array_equal(states.position[index[sample.stamp]], sample.position[order])
        assert np.array_equal(states.velocity[index[sample.stamp]], sample.velocity[order])
    # No hole: the bag has as many states as were received in between, in the arm's steps of 2 ms.
    assert index[last.stamp] - index[first.stamp] + 1 == len(heard)

    (recorded,) = bag.joint_trajectories()
    assert recorded.topic == f"/{CONTROLLER}/joint_trajectory"
    for got, put in zip(recorded.trajectory.points, sent.points, strict=True):
        assert got.positions.tolist() == put.positions.tolist()
    assert np.array_equal(bag.commands()[1], commands)
    assert "<robot" in bag.robot_description()
    assert bag.topics["/speed_scaling_state_broadcaster/speed_scaling"].count > 0

    # Arm and recorder receive the trajectory at about the same time; on a busy machine either may
    # be late.
    begun = fit_start(plan, states)
    assert abs(begun - recorded.time) < 1.0
    # A simulated arm stamps its states with its control cycle. The error left is the scatter of
    # these stamps on this machine.
    assert track(bag, plan, start=begun).rms_error.max() < 5e-3
    assert find_start(bag, plan, states) == recorded.time


def test_an_action_is_found_in_the_states(start, ros_node, arm, tmp_path):
    """An action publishes no goals, so the start of the plan is found from the motion.

    The arm followed the plan exactly.
    """
    process = recorder(start, tmp_path)
    arm.fresh()
    plan = swing(arm.at())
    from robosim.execution.messages import Goal

    assert arm.outcome(arm.send(goal_message(Goal(from_trajectory(plan))))).status == SUCCEEDED
    arm.fresh(100)
    assert process.stop(signal.SIGTERM) == 0
    tracking = track(Bag(tmp_path / "bag"), plan)
    # A simulated arm stamps its states with its control cycle. The error left is the scatter of
    # these stamps on this machine.
    assert tracking.rms_error.max() < 5e-3


def test_start_and_stop_by_service(start, ros_node, tmp_path):
    from std_msgs.msg import String
    from std_srvs.srv import SetBool

    from robosim.ros.qos import LATCHED

    process = start("recorder", params={"bag": str(tmp_path / "bag"), "start": False})
    described = ros_node.create_publisher(String, "/robot_description", LATCHED)
    described.publish(String(data="<robot/>"))
    service = Service(ros_node, SetBool, "/recorder/record")
    wait_for(lambda: described.get_subscription_count() > 0, "the subscription")

    def record(on):
        return service.ask(SetBool.Request(data=on))

    assert record(False).message == "not recording"
    assert record(True).success
    assert record(True).message.endswith("/bag")
    assert record(False).success
    assert record(True).message.endswith("/bag_1")
    (tmp_path / "bag_2").mkdir()
    assert record(False).success
    answer = record(True)
    assert not answer.success
    assert "bag_2: exists already" in answer.message
    assert process.stop() == 0
    # The second recording has the latched messages, too.
    assert Bag(tmp_path / "bag_1").robot_description() == "<robot/>"


def test_a_killed_recorder_leaves_what_it_flushed(start, ros_node, arm, tmp_path):
    process = recorder(start, tmp_path)
    arm.fresh(1000)
    process.send(signal.SIGKILL)
    process.wait()
    left = Bag(tmp_path / "bag.partial")
    assert left.truncated
    # The file is written every half a second, and the recording lasted for two of these periods.
    assert left.joint_states("/joint_states").time[-1] > 0.5


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"topics": ["/a:std_msgs/String"]}, "must be topic:package/msg/Type"),
        ({"topics": ["/a:diagnostic_msgs/msg/Nothing"]}, "none of ROS 2's common interfaces"),
        ({"topics": ["/a:nav_msgs/msg/Odometry"]}, "cannot be had"),
        ({"depth": 0}, "'depth' is 0"),
        ({"bag": "/nowhere/at/all"}, "cannot be made"),
    ],
)
def test_what_it_cannot_do_it_says_at_once(start, params, text):
    process = start("recorder", params=params)
    assert process.wait() == 2
    assert text in process.output()
    assert "Traceback" not in process.output()
