"""The process of sim_arm: startup, shutdown, and simulated time."""

from __future__ import annotations

import math
import signal
import time

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")

from robosim.ros import messages

from .harness.arm import (
    ABORTED,
    CONFIGURE,
    SHUTDOWN,
    SUCCEEDED,
    ArmClient,
    asked,
    largest_step,
    point_to_point,
)
from .harness.service import Service
from .harness.waiting import wait_for

HOME = np.array([0, -math.pi / 2, 0, -math.pi / 2, 0, 0])
SPEED = math.pi  # [rad/s] limit of every joint of a UR5


def test_the_end_of_the_process_aborts_the_goal_and_is_clean(start, ros_node):
    ends = {
        "interrupted": lambda process, arm: process.send(signal.SIGINT),
        "terminated": lambda process, arm: process.send(signal.SIGTERM),
        "shut_down": lambda process, arm: arm.change_state(SHUTDOWN),
    }
    processes = {end: start("sim_arm", namespace=f"/{end}") for end in ends}
    for end, do in ends.items():
        process, arm = (
            processes[end],
            ArmClient(ros_node, f"/{end}/sim_arm", f"/{end}/joint_states"),
        )
        handle = arm.send(point_to_point(arm.at() + 0.5, 3.0))
        result = asked(ros_node, handle.get_result_async)
        arm.fresh(10)
        do(process, arm)
        assert process.wait() == 0
        wait_for(result.done, "the result")
        assert (result.result().status, result.result().result.error_code) == (ABORTED, -1)
        assert "Traceback" not in process.output()


BAD = {
    "unknown": ({"robt": "ur5"}, "no parameter 'robt'; did you mean 'robot'?"),
    "range": ({"rate": 5000.0}, "'rate' is 5000.0; it must be a double from 0 to 1000"),
    "robot": ({"robot": "ur55"}, "no bundled robot 'ur55'"),
    "start": (
        {"initial_positions": [0.0, 0.0]},
        "'initial_positions' has 2 numbers; there are 6 joints",
    ),
}


def test_bad_parameters_end_it_with_exit_code_2_and_a_clear_line(start):
    processes = {case: start("sim_arm", params=given) for case, (given, _) in BAD.items()}
    for case, (_, says) in BAD.items():
        assert processes[case].wait() == 2, case
        errors = [
            line
            for line in processes[case].output().splitlines()
            if line.startswith("robosim: error:")
        ]
        assert len(errors) == 1
        assert says in errors[0]
        assert "Traceback" not in processes[case].output()


def test_without_autostart_a_bad_robot_fails_to_configure_and_the_node_lives(start, ros_node):
    from lifecycle_msgs.srv import ChangeState

    process = start("sim_arm", params={"autostart": False, "robot": "ur55"})
    request = ChangeState.Request()
    request.transition.id = CONFIGURE
    assert not Service(ros_node, ChangeState, "/sim_arm/change_state").ask(request).success
    process.wait_output("cannot be configured: there is no bundled robot 'ur55'")
    assert process.stop() == 0


# -- Simulated time --------------------------------------------------------------------------------


def test_simulated_time_drives_the_arm_and_its_jumps_do_not(start, ros_node):
    from rosgraph_msgs.msg import Clock

    process = start("sim_arm", params={"use_sim_time": True, "rate": 100.0})
    publisher = ros_node.create_publisher(Clock, "/clock", 10)
    wait_for(lambda: publisher.get_subscription_count() == 1, "the node to listen to the clock")
    now = 100_000_000_000

    def tell_time():
        message = Clock()
        messages.set_time(message.clock, now)
        publisher.publish(message)

    def advance(seconds, step=0.01):
        nonlocal now
        for _ in range(round(seconds / step)):
            now += round(step * 1e9)
            tell_time()
            time.sleep(0.002)  # the clock's rate: five times real time

    def catch_up():
        """Wait until the arm has caught up with the published time, since it may be slower."""
        wait_for(
            lambda: tell_time() or arm.samples[-1].stamp >= now - 10_000_000,
            "the states to catch up",
        )

    def reaches(condition, what):
        """Let time pass until the condition is true."""

        def so():
            advance(0.05)
            return condition()

        wait_for(so, what)

    advance(0.5)
    arm = ArmClient(ros_node, "/sim_arm", while_waiting=lambda: advance(0.05))
    catch_up()

    # Nothing moves while time stands still, and a goal is followed as time passes.
    handle = arm.send(point_to_point(arm.at() + 0.5, 1.0))
    arm.set_parameters({})  # a request and its answer: real time passes
    assert arm.samples[-1].stamp <= now
    advance(0.5)
    catch_up()
    assert set(np.diff([sample.stamp for sample in arm.samples])) == {10_000_000}
    middle = arm.samples[-1].position[0]
    # Half of the motion at half of the time, up to two periods at 0.94 rad/s.
    assert abs(middle - HOME[0] - 0.25) < 0.02

    # Forward by a minute: the arm moves by no more than one sample's motion, and reports the jump.
    now += 60 * 10**9
    advance(0.02)
    process.wait_output("s are missing; the arm goes on from where it is")
    catch_up()
    assert abs(arm.samples[-1].position[0] - middle) <= 5 * SPEED * 0.01

    # Back by half a minute: likewise.
    here = arm.samples[-1].position[0]
    now -= 30 * 10**9
    advance(0.02)
    process.wait_output("the clock went back by")
    wait_for(lambda: arm.samples[-1].stamp <= now, "states from after the jump back")
    assert abs(arm.samples[-1].position[0] - here) <= 5 * SPEED * 0.01

    reaches(lambda: arm.samples[-1].position[0] - HOME[0] > 0.5 - 1e-9, "the goal")
    assert arm.outcome(handle).status == SUCCEEDED
    # Change to real time at run time.
    assert arm.set_parameters({"use_sim_time": False})[0].successful
    arm.fresh(10)
    assert largest_step(arm.samples) <= SPEED * 0.01 * (1 + 1e-9)
    assert process.stop() == 0
