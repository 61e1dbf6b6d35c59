"""The wire: rclpy nodes and the dds transport against a talker and a listener.

The peer shares no code with either. It uses Cyclone DDS with types of its own, and ROS uses Fast
DDS. Each side receives every message of the other, in order, bit for bit.
"""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")
pytest.importorskip("cyclonedds", reason="the dds transport needs the extra `dds`")
pytest.importorskip("rosbags", reason="recordings need the extra `bag`")

from robosim.cli import main
from robosim.execution.messages import Setpoint
from robosim.ros.arm import RosArm, RosArmOptions
from robosim.ros.bags import Bag
from robosim.ros.dds_arm import DdsArm
from robosim.ros.names import UR_JOINTS
from robosim.trajectory import Trajectory

from .harness.arm import ArmClient
from .harness.planner import PlannerClient
from .harness.waiting import wait_for
from .wire_peer import numbers
from .wire_process import Peer

CONTROLLER = "scaled_joint_trajectory_controller"
TRAJECTORIES = f"rt/{CONTROLLER}/joint_trajectory"
COMMANDS = "rt/forward_position_controller/commands"
JOINTS = ("a_joint", "b_joint", "c_joint")
SECONDS = 2
# A busy machine may be later than a real arm should be allowed to be.
PATIENT = ("--dds-state-age", "5")
RATES = pytest.mark.parametrize("rate", [125, 500])


def floats(values):
    """Numbers from the peer's hexadecimal strings."""
    return [float(value).hex() for value in values]


# -- The nodes and the peer ------------------------------------------------------------------------


@RATES
def test_sim_arm_is_heard_and_hears(start, ros_node, domain, rate):
    """The peer receives all states that a ROS subscriber receives.

    The arm publishes JointState while it follows a JointTrajectory of the peer.
    """
    start("sim_arm", params={"robot": "ur5", "rate": float(rate)}, name=CONTROLLER)
    arm = ArmClient(ros_node, f"/{CONTROLLER}")
    count = SECONDS * rate
    order = (4, 2, 0, 5, 1, 3)
    target = np.add(arm.at(), (0.4, 0.3, -0.2, 0.5, -0.6, 0.7))
    with Peer("listen", domain, topic="rt/joint_states", type="state", count=count) as listener:
        listener.next("matched")
        where = {"joints": [UR_JOINTS[i] for i in order], "start": target[list(order)].tolist()}
        with Peer("send", domain, topic=TRAJECTORIES, duration=1.0, **where) as sender:
            sender.next("sent")
            heard = listener.heard(count)
            wait_for(lambda: np.abs(arm.at() - target).max() < 1e-9, "the arm to be there")
    stamps = [m["header"]["stamp"]["sec"] * 10**9 + m["header"]["stamp"]["nanosec"] for m in heard]
    assert stamps == sorted(set(stamps))
    ours = [sample for sample in arm.samples if stamps[0] <= sample.stamp <= stamps[-1]]
    assert [sample.stamp for sample in ours] == stamps
    for sample, message in zip(ours, heard, strict=True):
        assert message["name"] == list(sample.names)
        assert message["position"] == floats(sample.position)
        assert message["velocity"] == floats(sample.velocity)


@RATES
def test_recorder_hears_everything(start, ros_node, domain, tmp_path, rate):
    """The bag has all messages of the peer: JointState and JointTrajectory, sent concurrently."""
    process = start("recorder", params={"bag": str(tmp_path / "bag")})
    process.wait_output("recording to")
    count, ways, knots = SECONDS * rate, 40, 25
    states = {"topic": "rt/joint_states", "type": "state", "rate": rate, "count": count}
    trajectories = {
        "topic": TRAJECTORIES,
        "type": "trajectory",
        "rate": 20,
        "count": ways,
        "knots": knots,
    }
    with (
        Peer("talk", domain, joints=JOINTS, **states) as one,
        Peer("talk", domain, joints=JOINTS, **trajectories) as other,
    ):
        one.next("talked")
        other.next("talked")
        # The recorder has written all messages only after the acknowledged writers are idle.
        wait_for(lambda: recorded(tmp_path) >= (count, ways), "all of it to be in the file")
    assert process.stop() == 0
    assert f"/joint_states: {count} messages, 0 lost" in process.output()
    bag = Bag(tmp_path / "bag")
    for k, (_, message) in enumerate(bag.messages("/joint_states")):
        assert (
            message.header.stamp.sec,
            message.header.stamp.nanosec,
            message.header.frame_id,
        ) == (
            k,
            7,
            "base",
        )
        assert tuple(message.name) == JOINTS
        for channel, field in enumerate((message.position, message.velocity, message.effort)):
            assert field.tolist() == numbers(k, 3, channel)
    for k, (_, message) in enumerate(bag.messages(f"/{CONTROLLER}/joint_trajectory")):
        assert (message.header.stamp.sec, len(message.points)) == (k, knots)
        for i, point in enumerate(message.points):
            fields = (point.positions, point.velocities, point.accelerations, point.effort)
            assert [field.tolist() for field in fields] == [
                numbers(1000 * k + i, 3, c) for c in range(4)
            ]
            assert (point.time_from_start.sec, point.time_from_start.nanosec) == (i, 3 * i + 1)
    assert (
        bag.topics["/joint_states"].count,
        bag.topics[f"/{CONTROLLER}/joint_trajectory"].count,
    ) == (
        count,
        ways,
    )


def recorded(folder):
    """Numbers of states and trajectories in the present recording."""
    topics = Bag(folder / "bag.partial").topics
    names = ("/joint_states", f"/{CONTROLLER}/joint_trajectory")
    return tuple(topics[name].count if name in topics else 0 for name in names)


@RATES
def test_the_streamers_arm_is_heard(ros_node, domain, rate):
    """The streamer publishes set points and receives joint states.

    It uses the port over rclpy that the planner uses, too.
    """
    count = SECONDS * rate
    arm = RosArm(ros_node, JOINTS, RosArmOptions(interface="forward_position"))
    given = ("c_joint", "other", "a_joint", "b_joint")
    with (
        Peer("listen", domain, topic=COMMANDS, type="commands", count=count) as listener,
        Peer(
            "talk",
            domain,
            topic="rt/joint_states",
            type="state",
            joints=given,
            rate=rate,
            count=count,
        ) as talker,
    ):
        listener.next("matched")
        wait_for(
            lambda: ros_node.count_subscribers("/forward_position_controller/commands") > 0,
            "the listener",
        )
        wait_for(lambda: arm.state() is not None, "the first state")
        begin = time.monotonic()
        for k in range(count):
            time.sleep(max(0.0, begin + k / rate - time.monotonic()))
            arm.stream(Setpoint(np.array(numbers(k, 3))))
        heard = listener.heard(count)
        talker.next("talked")
        last = numbers(count - 1, 4)
        wait_for(
            lambda: arm.state().position.tolist() == [last[2], last[3], last[0]], "the last state"
        )
        assert (arm.states, arm.malformed) == (count, 0)
    arm.close()
    assert [message["data"] for message in heard] == [floats(numbers(k, 3)) for k in range(count)]


def test_the_planners_trajectory_is_heard(start, ros_node, domain):
    """The plan in the service's answer and the published JointTrajectory are equal bit for bit."""
    start("sim_arm", params={"robot": "ur5"}, name=CONTROLLER)
    process = start("planner", params={"joint_limits": "ur5"})
    process.wait_output("robot: <Model 'ur5'")
    arm, planner = ArmClient(ros_node, f"/{CONTROLLER}"), PlannerClient(ros_node)
    with Peer("listen", domain, topic="rt/planner/trajectory", type="trajectory") as listener:
        listener.next("matched")
        wait_for(lambda: ros_node.count_subscribers("/planner/trajectory") > 0, "the listener")
        goal = np.add(arm.at(), 0.3).tolist()
        response = planner.plan(goal_joint_names=list(UR_JOINTS), goal_positions=goal)
        (message,) = listener.heard(1)
    trajectory = response.trajectory
    assert len(trajectory.points) > 2
    assert message["joint_names"] == list(trajectory.joint_names)
    for told, point in zip(message["points"], trajectory.points, strict=True):
        assert told["positions"] == floats(point.positions)
        assert told["velocities"] == floats(point.velocities)
        assert told["accelerations"] == floats(point.accelerations)
        span = point.time_from_start
        assert told["time_from_start"] == {"sec": span.sec, "nanosec": span.nanosec}


# -- The dds transport without ROS, and a real ROS -------------------------------------------------


@pytest.mark.parametrize("mode", ["trajectory", "setpoints"])
def test_stream_to_dds_moves_a_ros_arm(start, ros_node, domain, tmp_path, capsys, mode):
    """From the command line, with everything required of a real arm: program and safety mode."""
    start("sim_arm", params={"robot": "ur5"}, name=CONTROLLER)
    arm = ArmClient(ros_node, f"/{CONTROLLER}")
    begin = arm.wait_still()
    way = np.array([0, 0.15, 0.5, 0.85, 1])[:, None] * np.array([0.4, -0.3, 0.3, 0.2, 0.5, -0.6])
    plan = Trajectory.from_waypoints(
        np.linspace(0, 1.5, 5), begin + way, position_names=UR_JOINTS, robot="ur5"
    )
    plan.save(tmp_path / "plan.json")
    code = main(
        ["stream", str(tmp_path / "plan.json"), "--to", "dds", "--mode", mode, "--json", *PATIENT]
    )
    report = json.loads(capsys.readouterr().out)
    assert (code, report["outcome"]) == (0, "finished"), report["reason"]
    # The goal tolerance of set points is 0.02; afterwards the arm arrives at the last set point.
    np.testing.assert_allclose(arm.wait_still(), plan.position(1.5), atol=1e-9)


@RATES
def test_the_transport_hears_a_ros_arm(start, ros_node, domain, rate):
    """Every state that a ROS subscriber receives arrives, bit for bit."""
    taken = []

    class Recording(DdsArm):
        def _take_joint_state(self, message, now):
            super()._take_joint_state(message, now)
            stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
            taken.append((stamp, self.state().position))

    start("sim_arm", params={"robot": "ur5", "rate": float(rate)}, name=CONTROLLER)
    arm = ArmClient(ros_node, f"/{CONTROLLER}")
    with Recording(UR_JOINTS) as ours:
        ours.wait_until_ready(60.0)
        wait_for(lambda: ours.status().program_running, "that the program runs")
        wait_for(lambda: len(taken) >= SECONDS * rate, "states")
        assert ours.refused == {}
    arm.fresh()
    stamps = [stamp for stamp, _ in taken]
    heard = [sample for sample in arm.samples if stamps[0] <= sample.stamp <= stamps[-1]]
    assert [sample.stamp for sample in heard] == stamps
    for sample, (_, position) in zip(heard, taken, strict=True):
        order = [sample.names.index(name) for name in UR_JOINTS]
        assert np.array_equal(position, sample.position[order])
