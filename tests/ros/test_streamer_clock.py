"""A streamer and an arm on simulated time, which pauses and jumps back and ahead.

One test ends the streamer while time stands still.
"""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")

from robosim.ros.names import SCALED_CONTROLLER

from .harness.arm import ArmClient, largest_step
from .harness.sim_clock import SimClock
from .harness.streamer import SPEED, StreamerClient, rest_to_rest, save

START = np.array([0.3, -1.2, 1.0, -1.0, -1.2, 0.2])
ONE_SAMPLE = SPEED[0] / 125 + 1e-12  # [rad], plus rounding of a difference of two positions


@pytest.fixture
def time(ros_node):
    made = SimClock(ros_node)
    yield made
    made.close()


@pytest.fixture
def arm(start, ros_node, time):
    params = {"robot": "ur5", "initial_positions": START.tolist(), "use_sim_time": True}
    start("sim_arm", params=params, name=SCALED_CONTROLLER)
    return ArmClient(ros_node, f"/{SCALED_CONTROLLER}")


def test_simulated_time_pauses_and_jumps(start, ros_node, time, arm, wait_for):
    """The arm stands while time does; either jump moves it by one sample's motion at most."""
    process = start(
        "streamer", params={"use_sim_time": True, "interface": "forward_position", "profile": "ur"}
    )
    server = StreamerClient(ros_node, "/streamer", process)
    seen = len(arm.samples)
    before = server.begin(rest_to_rest(arm.at(), START + 0.4, 4.0))
    wait_for(lambda: np.abs(arm.at() - START).max() > 0.02, "the arm to move")
    time.pause()
    standing = arm_stands(arm, time, wait_for)
    assert np.abs(standing - START).max() < 0.39
    time.jump(-500.0)
    time.resume()
    wait_for(lambda: np.abs(arm.at() - standing).max() > 0.02, "the arm to go on after a jump back")
    time.jump(500.0)
    # After a jump ahead the last state is suddenly old: the streamer holds and reports why, unless
    # it receives a newer state first.
    assert server.end(before).startswith(("held: ", "finished: "))
    assert largest_step(arm.samples[seen:]) <= ONE_SAMPLE
    on = rest_to_rest(still(arm, wait_for), START + 0.4, 1.0)
    wait_for(lambda: server.send(on).startswith("finished"), "the arm to go on")


def still(arm, wait_for):
    """Wait until twenty states in a row, received from now on, are equal; return the position."""
    seen = len(arm.samples)

    def same():
        last = arm.samples[max(seen, len(arm.samples) - 20) :]
        return len(last) == 20 and all((s.position == last[0].position).all() for s in last)

    wait_for(same, "the arm to stand still")
    return arm.at()


def arm_stands(arm, time, wait_for):
    """Wait until the arm has caught up with the paused time; return its position.

    No state arrives after that.
    """
    last = time.now - round(1e9 / 125)
    wait_for(lambda: arm.samples[-1].stamp > last, "the states to catch up")
    return arm.at()


@pytest.mark.parametrize("interface", ["action", "forward_position"])
def test_control_c_while_simulated_time_stands_still(
    start, time, arm, wait_for, tmp_path, interface
):
    path = save(rest_to_rest(arm.at(), START + 0.4, 6.0), tmp_path)
    params = {"use_sim_time": True, "plan_file": path, "interface": interface, "profile": "ur"}
    process = start("streamer", params=params)
    wait_for(lambda: np.abs(arm.at() - START).max() > 0.02, "the arm to move")
    time.pause()
    arm_stands(arm, time, wait_for)
    assert process.stop() == 3, process.output()
    assert "stopped: " in process.output()
    time.resume()
    assert np.abs(still(arm, wait_for) - START).max() < 0.39
