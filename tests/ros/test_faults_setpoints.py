"""Faults while set points are streamed: either process dies, or the clock jumps.

One test is about a whole trajectory whose streamer dies. Further faults are in test_streamer and
test_streamer_setpoints. In each test a monitor asserts that the arm stayed within its limits and
never moved by more than one sample's motion.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")

from robosim.ros.names import FORWARD_COMMANDS

from .harness.sim_clock import SimClock
from .harness.streamer import rest_to_rest
from .harness.system import CONTROLLER, Topic, start_system

START = np.array([0.3, -1.2, 1.0, -1.0, -1.2, 0.2])
AWAY = np.add(START, [0.8, -0.3, 0.4, -0.5, 0.6, -0.8])
RATE = 125.0
WATCHDOG = 0.1  # of the arm [s]
# Control periods, as stamped by the arm, until the watchdog checks, and time until the last set
# point arrives, which a busy machine may delay.
SLACK = 2 / RATE + 0.25
AT_START = {"rate": RATE, "initial_positions": START.tolist()}
# Longer limits than the defaults: on a busy machine states come late, which is not the fault under
# test.
SETPOINTS = {"interface": "forward_position", "rate": RATE, "watchdog": 0.4}


def stamped(monitor) -> tuple[np.ndarray, np.ndarray]:
    """Stamps [s] and positions of the arm's last life."""
    life = monitor.so_far()[-1]
    return np.array(life.stamp) * 1e-9, np.array(life.position)


def last_motion(monitor) -> float:
    """Stamp [s] of the last sample that differs from the one before."""
    stamps, positions = stamped(monitor)
    return float(stamps[1:][np.abs(np.diff(positions, axis=0)).max(axis=1) > 0][-1])


@pytest.fixture
def setpoints(start, ros_node):
    """An arm, its monitor, and a streamer of set points that has begun a motion of 4 s."""
    arm, monitor, streamer = start_system(
        start, ros_node, streamer=SETPOINTS, watchdog=WATCHDOG, **AT_START
    )
    began = streamer.begin(rest_to_rest(START, AWAY, 4.0))
    monitor.wait_motion(0.1)
    yield arm, monitor, streamer, began
    monitor.check()
    assert "Traceback" not in arm.output()


def test_the_streamer_is_killed_and_the_arm_holds_within_its_watchdog(setpoints, wait_for):
    arm, monitor, streamer, _ = setpoints
    killed = time.time()  # the arm's stamps are of this clock
    streamer.process.kill()
    held = monitor.wait_rest()
    assert np.abs(held - AWAY).max() > 0.1, "it was to be killed on the way"
    assert last_motion(monitor) - killed <= WATCHDOG + SLACK
    arm.wait_output("hold")


def test_the_arm_is_killed_and_the_streamer_holds_and_takes_the_arm_that_comes_back(
    start, setpoints, wait_for
):
    arm, monitor, streamer, began = setpoints
    arm.kill()
    monitor.expect_restart()
    stopped = monitor.position
    said = streamer.end(began)
    # The reason is the first that the streamer notices: old states, or a large distance from the
    # last state.
    assert said.startswith("held"), said
    assert "s old" in said or "from where it is meant to be" in said, said
    params = {"robot": "ur5", "rate": RATE, "initial_positions": stopped.tolist()}
    start("sim_arm", params=params, name=CONTROLLER)
    wait_for(lambda: len(monitor.lives) == 2, "the arm that came back")
    np.testing.assert_array_equal(monitor.wait_rest(), stopped)

    def follows() -> bool:
        before = monitor.wait_rest()
        said = streamer.send(rest_to_rest(before, AWAY, 1.5))
        # At first the streamer may not know yet whether the controller is active, or take the dead
        # controller for its listener and notice that before or during the motion. It holds then,
        # and the next try begins at the arm's position.
        assert said.startswith(("finished", "refused", "held")), said
        if said.startswith("refused"):
            np.testing.assert_array_equal(monitor.wait_rest(), before)
        return said.startswith("finished")

    wait_for(follows, "the arm that came back to follow")
    np.testing.assert_allclose(monitor.wait_rest(), AWAY, atol=1e-6)


def test_the_streamer_of_a_whole_trajectory_is_killed_and_the_arm_goes_to_its_end(start, ros_node):
    """This is why the action is the default on real arms: the interpolation runs on the arm.

    The end of the trajectory is at rest.
    """
    _, monitor, streamer = start_system(start, ros_node, **AT_START)
    streamer.begin(rest_to_rest(START, AWAY, 2.0))
    monitor.wait_motion(0.1)
    streamer.process.kill()
    np.testing.assert_allclose(monitor.wait_rest(), AWAY, atol=1e-6)
    monitor.check()


@pytest.mark.parametrize("interface", ["action", "forward_position"])
def test_the_clock_jumps_while_the_arm_moves(start, ros_node, wait_for, interface):
    """Clocks of arm and streamer jump forward and back; the arm never jumps.

    The arm continues its motion, or it is held and the streamer reports that.
    """
    clock = SimClock(ros_node)
    try:
        sends = {"interface": interface, "rate": RATE, "use_sim_time": True}
        _, monitor, streamer = start_system(
            start, ros_node, streamer=sends, use_sim_time=True, **AT_START
        )
        for jump in (100.0, -60.0, 0.2, -0.2):
            goal = AWAY if np.abs(monitor.position - AWAY).max() > 0.3 else START
            began = streamer.begin(rest_to_rest(monitor.wait_rest(), goal, 2.0))
            monitor.wait_motion(0.1)
            clock.jump(jump)
            said = streamer.end(began)
            rest = monitor.wait_rest()
            assert said.startswith(("finished", "held", "aborted")), f"jump of {jump} s: {said}"
            if said.startswith("finished"):
                np.testing.assert_allclose(rest, goal, atol=0.02)
            else:
                assert len(said) > len("held: ."), "it was to say why"
        # After the jumps the streamer works as before.
        goal = AWAY if np.abs(monitor.position - AWAY).max() > 0.3 else START
        assert streamer.send(rest_to_rest(monitor.wait_rest(), goal, 1.5)).startswith("finished")
        np.testing.assert_allclose(monitor.wait_rest(), goal, atol=1e-6)
        monitor.check()
    finally:
        clock.close()


def test_set_points_are_in_the_order_of_the_controllers_joints_whatever_that_of_the_plan(
    start, ros_node
):
    from std_msgs.msg import Float64MultiArray

    commands = Topic(ros_node, Float64MultiArray, f"/{FORWARD_COMMANDS}", 1000)
    _, monitor, streamer = start_system(start, ros_node, streamer=SETPOINTS, **AT_START)
    order = [3, 0, 5, 1, 4, 2]
    plan = rest_to_rest(START, AWAY, 1.5).reorder([monitor.joints[i] for i in order])
    assert streamer.send(plan).startswith("finished")
    np.testing.assert_allclose(monitor.wait_rest(), AWAY, atol=1e-6)
    np.testing.assert_allclose(commands.messages[-1].data, AWAY, atol=1e-6)
    monitor.check()
