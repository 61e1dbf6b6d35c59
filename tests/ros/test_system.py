"""The whole system in real processes: `planner` plans, `streamer` sends, `sim_arm` follows.

In each test a monitor asserts that the arm stayed within its limits and never moved by more than
one sample's motion.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")

from robosim.ros import messages
from robosim.ros.names import FORWARD_COMMANDS

from .harness.system import Planner, Topic, distance_from_plan, start_system

HOME = np.array([0, -math.pi / 2, 0, -math.pi / 2, 0, 0])
FAR = np.add(HOME, [1.2, 0.3, -0.9, 0.6, -0.8, 1.5])
# Stalls of a busy machine are no failures here; the tests of faults cover their reports.
PATIENT = {"watchdog": 0.5, "tracking_error": 0.0}


def test_a_plan_is_made_sent_and_followed(start, ros_node):
    arm, monitor, streamer = start_system(start, ros_node, streamer=PATIENT)
    planner = Planner(start, ros_node, scene="bookshelf_small")
    answer = planner.plan(FAR)
    assert (answer.error_code, answer.planning_status) == (answer.SUCCESS, "solved"), answer.message
    plan = messages.joint_trajectory(answer.trajectory)
    np.testing.assert_allclose(monitor.position, HOME, atol=1e-12, err_msg="planning moves nothing")

    assert streamer.send(answer.trajectory).startswith("finished")
    np.testing.assert_allclose(monitor.wait_rest(), FAR, atol=1e-9)
    # The arm is exactly at the commanded position. It deviates from the plan by the interpolation
    # between knots, and by the stamps of joint states, which are whole periods.
    assert distance_from_plan(plan, monitor) < 1e-4
    # Back, from the arm's present position: the planner takes the start from the joint states.
    back = planner.plan(HOME)
    assert back.error_code == back.SUCCESS, back.message
    assert streamer.send(back.trajectory).startswith("finished")
    np.testing.assert_allclose(monitor.wait_rest(), HOME, atol=1e-9)
    monitor.check()
    for process in (arm, planner.process, streamer.process):
        assert process.stop() == 0
        assert "Traceback" not in process.output()


@pytest.mark.parametrize(("robot", "rate"), [("ur5", 125.0), ("ur5e", 500.0)])
def test_ten_seconds_of_set_points_and_states_without_a_loss(start, ros_node, robot, rate):
    from rclpy.qos import QoSProfile
    from std_msgs.msg import Float64MultiArray

    commands = Topic(ros_node, Float64MultiArray, f"/{FORWARD_COMMANDS}", QoSProfile(depth=5000))
    sends = {"interface": "forward_position", "rate": rate, **PATIENT}
    _, monitor, streamer = start_system(
        start, ros_node, streamer=sends, robot=robot, rate=rate, watchdog=2.0
    )
    planner = Planner(start, ros_node, srdf=robot, joint_limits=robot)
    answer = planner.plan(FAR, max_velocity_scaling_factor=0.045)
    assert answer.error_code == answer.SUCCESS, answer.message
    duration = messages.joint_trajectory(answer.trajectory).points[-1].time_from_start
    assert duration >= 10
    assert streamer.end(streamer.begin(answer.trajectory)).startswith("finished")
    np.testing.assert_allclose(monitor.wait_rest(), FAR, atol=1e-6)
    monitor.check(whole=True)
    assert monitor.count >= duration * rate
    # Only the newest set point waits to be sent, since a late one is useless. Some may be dropped
    # in a stall.
    assert (np.diff(commands.numbers) > 0).all()
    assert len(commands.numbers) >= 0.99 * duration * rate
