"""Faults of the arm's process: it is killed and comes back, or it hangs.

Other faults are in test_sim_arm_driver. In each test a monitor asserts that the arm stayed within
its limits and never moved by more than one sample's motion.
"""

from __future__ import annotations

import math
import signal
import time

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")

import robosim
from robosim.ros.names import UR_JOINTS

from .harness.arm import SUCCEEDED, ArmClient, point_to_point
from .harness.monitor import Monitor

CONTROLLER = "scaled_joint_trajectory_controller"
HOME = np.array([0, -math.pi / 2, 0, -math.pi / 2, 0, 0])
RATE = 125.0


class Arm:
    """Process of an arm, with a client and a monitor of the arm."""

    def __init__(self, start, node, **params):
        self.start, self.node = start, node
        self.params = {"robot": "ur5", "rate": RATE, **params}
        self.process = start("sim_arm", params=self.params, name=CONTROLLER)
        self.monitor = Monitor(node, robosim.load_robot("ur5"), RATE, UR_JOINTS)
        self.client = ArmClient(node, f"/{CONTROLLER}")


@pytest.fixture
def arm(start, ros_node):
    made = Arm(start, ros_node)
    yield made
    made.monitor.check()
    assert "Traceback" not in made.process.output()


FAR = np.add(HOME, [1.5, 0.6, -1.2, 0.8, -1.0, 2.0])


def test_an_arm_that_is_killed_and_comes_back_is_where_it_was_and_takes_goals_again(arm, wait_for):
    arm.client.send(point_to_point(FAR, 4.0))
    arm.monitor.wait_motion(0.3)
    arm.process.kill()
    assert arm.process.popen.returncode == -signal.SIGKILL
    arm.monitor.expect_restart()
    stopped = arm.monitor.position
    # Like a real arm, which stands where its brakes have stopped it.
    again = arm.start(
        "sim_arm", params=arm.params | {"initial_positions": stopped.tolist()}, name=CONTROLLER
    )
    wait_for(lambda: len(arm.monitor.lives) == 2, "joint states of the arm that came back")
    # The arm does not continue the motion of its previous life.
    np.testing.assert_allclose(arm.monitor.wait_rest(), stopped, atol=1e-12)
    again.wait_output("active")
    client = ArmClient(arm.node, f"/{CONTROLLER}")
    assert client.outcome(client.send(point_to_point(FAR, 2.0))).status == SUCCEEDED
    np.testing.assert_allclose(arm.monitor.wait_rest(), FAR, atol=1e-9)


def test_an_arm_that_hangs_goes_on_without_a_jump(arm):
    """The process gets no time for half a second.

    The arm catches up on some of this time, one sample at a time.
    """
    handle = arm.client.send(point_to_point(FAR, 2.0))
    arm.monitor.wait_motion(0.3)
    arm.process.freeze()
    time.sleep(0.5)  # the fault itself
    arm.process.resume()
    assert arm.client.outcome(handle).status == SUCCEEDED
    np.testing.assert_allclose(arm.monitor.wait_rest(), FAR, atol=1e-9)
