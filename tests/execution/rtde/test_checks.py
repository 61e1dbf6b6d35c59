"""Refusals of the connection and of the checks before a motion. Nothing moves then."""

from __future__ import annotations

import argparse
import importlib.util
import socket
import sys
import time

import numpy as np
import pytest

import robosim
from robosim.errors import ExecutionError, MissingDependencyError
from robosim.execution.goals import Rejection, RejectReason
from robosim.execution.joint_trajectory import from_trajectory
from robosim.execution.messages import Goal, JointTrajectory
from robosim.execution.streaming import Outcome, stream_trajectory
from robosim.execution.transports import find_transport
from robosim.execution.transports.rtde import TRANSPORT
from robosim.execution.transports.rtde.joints import check_model, ur_order
from robosim.execution.universal_robots import UR_JOINTS
from robosim.trajectory import Trajectory

needs_library = pytest.mark.skipif(
    importlib.util.find_spec("rtde_control") is None, reason="ur-rtde is not installed"
)


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    TRANSPORT.add_arguments(parser)
    return parser.parse_args(arguments)


def test_the_transport_is_found_and_says_what_was_tested():
    assert find_transport("rtde") is TRANSPORT
    assert "not yet tried on a real controller" in TRANSPORT.summary


@pytest.mark.parametrize(
    ("option", "value"),
    [("gain", "99"), ("gain", "2001"), ("gain", "nan"), ("lookahead", "0.02"),
        ("lookahead", "0.21"),
     ("deceleration", "0"), ("watchdog", "0"), ("timeout", "61")],
)  # fmt: skip
def test_options_out_of_range_are_refused(option, value):
    model = robosim.load_robot("ur5")
    with pytest.raises(ExecutionError, match=f"--rtde-{option} is {float(value):g}; valid are"):
        TRANSPORT.connect(
            model, UR_JOINTS, options("--rtde-host", "localhost", f"--rtde-{option}", value)
        )


def test_a_host_is_needed():
    with pytest.raises(ExecutionError, match="--rtde-host"):
        TRANSPORT.connect(robosim.load_robot("ur5"), UR_JOINTS, options())


def test_other_robots_are_refused():
    panda = robosim.load_robot("panda")
    with pytest.raises(ExecutionError, match="six joints of one UR arm"):
        TRANSPORT.connect(panda, panda.position_names, options("--rtde-host", "localhost"))


def test_the_library_may_be_missing(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"pip install robosim\[rtde\]"):
        TRANSPORT.connect(robosim.load_robot("ur5"), UR_JOINTS, options("--rtde-host", "localhost"))


@pytest.mark.parametrize("prefix", ["", "left_", "cell/ur5_"])
def test_joints_in_any_order_with_any_prefix(prefix):
    wanted = tuple(prefix + name for name in UR_JOINTS)
    assert ur_order(wanted[::-1]) == wanted


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (UR_JOINTS[:5], "lacks wrist_3_joint"),
        ((*UR_JOINTS, "finger_joint"), "moves finger_joint"),
        (("a_" + UR_JOINTS[0], *UR_JOINTS[1:]), "lacks a_shoulder_lift_joint"),
        ((*UR_JOINTS, *("b_" + name for name in UR_JOINTS)), "2 joints named"),
    ],
)
def test_joints_of_something_else_are_refused_by_name(names, text):
    with pytest.raises(ExecutionError, match=text):
        ur_order(names)


@pytest.mark.parametrize(
    ("planned", "controller", "e_series", "fits"),
    [
        ("ur5", "UR5", False, True), ("ur5", "UR5", True, False), ("ur5e", "UR5", True, True),
        ("ur5e", "UR5e", True, True), ("ur5_gripper", "UR5", False, True),
        ("ur3", "UR5", False, False),
        ("ur10e", "UR10", True, True), ("ur16e", "UR16", True, True), ("UR20", "UR20", True, True),
        ("my_cell", "UR5", False, True), ("four5", "UR5", False, True),
        ("ur5", "no idea", False, True),
        ("ur50", "UR5", False, True),
    ],
)  # fmt: skip
def test_the_arm_has_to_be_the_planned_one(planned, controller, e_series, fits):
    if fits:
        check_model(planned, controller, e_series)
    else:
        with pytest.raises(
            ExecutionError, match=f"the plan is for '{planned}'.*the controller moves a"
        ):
            check_model(planned, controller, e_series)


@needs_library
def test_an_address_where_nothing_answers():
    start = time.monotonic()
    with pytest.raises(ExecutionError, match=r"dashboard of 127\.0\.0\.2"):
        TRANSPORT.connect(robosim.load_robot("ur5"), UR_JOINTS, options("--rtde-host", "127.0.0.2"))
    assert time.monotonic() - start < 15


@needs_library
@pytest.mark.skipif(sys.platform != "linux", reason="uses an address of its own")
def test_an_address_that_accepts_and_says_nothing():
    with (
        socket.create_server(("127.71.0.9", 29999)),
        pytest.raises(ExecutionError, match=r"127\.71\.0\.9"),
    ):
        TRANSPORT.connect(
            robosim.load_robot("ur5"),
            UR_JOINTS,
            options("--rtde-host", "127.71.0.9", "--rtde-timeout", "3"),
        )


@needs_library
@pytest.mark.parametrize(
    ("start", "robot", "text"),
    [
        ({"safety_mode": 3}, "", "safety mode .* is PROTECTIVE_STOP; it has to be NORMAL"),
        ({"safety_mode": 2}, "", "safety mode .* is REDUCED; it has to be NORMAL"),
        ({"safety_mode": 7}, "", "safety mode .* is ROBOT_EMERGENCY_STOP"),
        ({"program_running": True}, "", "a program runs on .*: stop it"),
        ({"remote_control": False}, "", "enable remote control"),
        ({"robot_mode": 5}, "", r"robot mode .* is 5; it has to be 7 \(RUNNING\)"),
        ({"model": "UR10"}, "", "plan is for 'ur5e', a UR5e; the controller moves a UR10e"),
        ({"series": "cb3"}, "ur5e", "plan is for 'ur5e', a UR5e; the controller moves a UR5"),
    ],
)
def test_an_arm_that_is_not_ready_is_not_touched(serve, connect, start, robot, text):
    server = serve(**start)
    with pytest.raises(ExecutionError, match=text):
        connect(server, robot=robot)
    state = server.state
    assert "program uploaded" not in state["events"]
    assert state["set_points"] == 0


def starts_elsewhere(plan: Trajectory) -> Trajectory:
    coefficients = plan.coefficients.copy()
    coefficients[:, 0, 2] += 0.012
    return plan.replace(coefficients=coefficients)


@needs_library
@pytest.mark.parametrize(
    ("change", "text"),
    [
        (starts_elsewhere, "elbow_joint"),
        (lambda plan: plan.scale(0.05), "velocity"),
        (lambda plan: plan.slice(0.0, 0.5 * plan.duration), "rest"),
    ],
    ids=["start", "limits", "end velocity"],
)
@pytest.mark.parametrize("mode", ["trajectory", "setpoints"])
def test_a_plan_that_does_not_fit_is_refused(serve, connect, make_plan, change, text, mode):
    server = serve(series="cb3")
    report = stream_trajectory(connect(server), change(make_plan()), mode=mode)
    assert report.outcome is Outcome.REFUSED
    assert text in report.reason
    assert server.state["set_points"] == 0


@needs_library
def test_a_goal_is_judged_by_the_process_at_the_controller_too(serve, connect, make_plan):
    server = serve(series="cb3")
    arm = connect(server)
    good = from_trajectory(make_plan())
    missing = JointTrajectory(good.joint_names[:5], good.points)
    answer = arm.send(Goal(missing))
    assert isinstance(answer, Rejection)
    assert answer.reason in (RejectReason.JOINT_COUNT, RejectReason.SIZE)
    outside = make_plan()
    coefficients = outside.coefficients.copy()
    coefficients[:, 0, 2] += 3.0
    answer = arm.send(Goal(from_trajectory(outside.replace(coefficients=coefficients))))
    assert isinstance(answer, Rejection)
    assert answer.reason is RejectReason.OUT_OF_LIMITS
    assert "elbow_joint" in answer.text


@needs_library
@pytest.mark.parametrize(
    ("offset", "text"), [(0.18, "counts as a motion"), (0.5, "path tolerance violation")]
)
def test_a_start_elsewhere_that_nobody_checked_moves_nothing(
    serve, connect, make_plan, until, offset, text
):
    server = serve(series="cb3")
    arm = connect(server)
    plan = make_plan()
    coefficients = plan.coefficients.copy()
    coefficients[:, 0, 2] += offset
    handle = arm.send(Goal(from_trajectory(plan.replace(coefficients=coefficients))))
    result = until(lambda: handle.result, "the goal is given up")
    assert text in result.error_string
    np.testing.assert_allclose(server.state["q"], server.home, atol=1e-12)
