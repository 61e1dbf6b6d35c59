"""The streamer in a real process, sending whole trajectories to an arm in another."""

from __future__ import annotations

import dataclasses
import math
import os
import signal

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")

from robosim.execution.joint_trajectory import from_trajectory
from robosim.execution.messages import JointTrajectory, JointTrajectoryPoint
from robosim.ros.names import SCALED_CONTROLLER, UR_JOINTS

from .harness.arm import ACTIVATE, DEACTIVATE, largest_step, running_arms
from .harness.processes import Process, node_command
from .harness.streamer import SPEED, StreamerClient, rest_to_rest, save
from .harness.waiting import wait_for

START = np.array([0.3, -1.2, 1.0, -1.0, -1.2, 0.2])
AWAY = START + 0.4
ONE_SAMPLE = SPEED[0] / 125 + 1e-12  # [rad], plus rounding of a difference of two positions


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A UR5 with the driver's names."""
    kinds = {
        "ur5": {
            "params": {"robot": "ur5", "initial_positions": START.tolist()},
            "name": SCALED_CONTROLLER,
        }
    }
    with running_arms(tmp_path_factory.mktemp("arms"), kinds) as arms:
        yield arms["ur5"]


@pytest.fixture
def arm(running):
    running.client.wait_still()
    return running.client


@pytest.fixture
def plan(arm):
    """Motion from the arm's position to another one."""
    at = arm.at()
    return rest_to_rest(at, AWAY if np.abs(at - AWAY).max() > 0.2 else START, 1.0)


@pytest.fixture(scope="module")
def server(running, tmp_path_factory):
    """A streamer that keeps running, shared by the tests of this module."""
    folder = tmp_path_factory.mktemp("server")
    # An arm on a busy processor may publish no state for a second without a fault.
    command = node_command("streamer", params={"profile": "ur", "watchdog": 1.0}, folder=folder)
    process = Process("server", command, folder / "log", folder, os.environ)
    try:
        yield StreamerClient(running.client.node, "/streamer", process)
        assert process.alive, process.output()
        assert "Traceback" not in process.output(), process.output()
        assert process.stop() == 0, process.output()
    finally:
        process.kill()


@pytest.fixture
def stream(running, tmp_path):
    """`stream(plan, **parameters)`: a streamer that sends one plan and ends."""
    processes = []

    def begin(plan, **params):
        params = {"plan_file": save(plan, tmp_path), "profile": "ur", "watchdog": 1.0, **params}
        command = node_command(
            "streamer", params=params, name=f"streamer{len(processes)}", folder=tmp_path
        )
        processes.append(
            Process("streamer", command, tmp_path / f"{len(processes)}.log", tmp_path, os.environ)
        )
        return processes[-1]

    yield begin
    for process in processes:
        process.kill()


def test_a_plan_from_a_file_is_followed_to_its_end(arm, plan, stream):
    process = stream(plan)
    assert process.wait() == 0, process.output()
    assert "finished: Goal successfully reached!" in process.output()
    assert "0 deadlines missed" in process.output() or "deadlines missed in" in process.output()
    assert "jitter p50" in process.output()
    # The arm follows exactly; the message is within 1e-5 of the plan.
    assert np.allclose(arm.wait_still(), plan.position(1.0), rtol=0, atol=1e-5)


def test_a_stale_start_is_refused(arm, plan, stream):
    before, seen = arm.at(), len(arm.samples)
    moved = rest_to_rest(np.add(plan.position(0.0), [0, 0, 0.02, 0, 0, 0]), plan.position(1.0), 1.0)
    process = stream(moved)
    assert process.wait() == 3, process.output()
    assert "refused: elbow_joint is at " in process.output()
    assert "it has to start within 0.01: plan again from the present state" in process.output()
    assert all((sample.position == before[:]).all() for sample in arm.samples[seen:])


def test_control_c_holds(arm, plan, stream):
    """The arm stops during the motion; exit code and last status report an unfinished plan.

    The last status arrives before the process ends.
    """
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from std_msgs.msg import String

    said = []
    latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    arm.node.create_subscription(
        String, "/streamer0/status", lambda message: said.append(message.data), latched
    )
    slow = plan.scale(8.0)
    begin, seen = arm.at(), len(arm.samples)
    process = stream(slow)
    wait_for(
        lambda: said and np.abs(arm.at() - begin).max() > 0.02, "the arm to move, and to hear of it"
    )
    assert process.stop(signal.SIGINT) == 3, process.output()
    wait_for(lambda: said[-1].startswith("stopped: "), "the last status")
    assert "stopped: asked to stop" in process.output()
    still = arm.wait_still()
    # A controller that aborts holds the position measured last.
    assert 0.01 < np.abs(still - begin).max() < 0.35
    assert largest_step(arm.samples[seen:]) <= ONE_SAMPLE


def test_nobody_is_there(stream, plan):
    process = stream(plan, controller="nobody", connect_timeout=0.5)
    assert process.wait() == 3
    assert (
        "after 0.5 s: there is no action nobody/follow_joint_trajectory (namespace /)"
        in process.output()
    )


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"plan_file": "/nowhere/plan.json"}, "/nowhere/plan.json"),
        ({"require": ["luck"]}, "parameter 'require' has 'luck'; known: controller_active,"),
        ({"interface": "telepathy"}, "parameter 'interface' is 'telepathy'"),
        ({"robot": "nobody"}, "nobody"),
    ],
)
def test_bad_parameters_are_named(stream, plan, params, text):
    process = stream(plan, **params)
    assert process.wait() == 2
    assert text in process.output()
    assert "Traceback" not in process.output()


def test_a_streamer_that_stays(arm, server, plan):
    assert server.send(plan) == "finished: Goal successfully reached!"
    back = rest_to_rest(arm.wait_still(), plan.position(0.0), 1.0)
    reordered = from_trajectory(back, joint_names=UR_JOINTS[::-1])
    assert server.send(reordered) == "finished: Goal successfully reached!"
    assert np.allclose(arm.wait_still(), plan.position(0.0), rtol=0, atol=2e-5)


def test_diagnostics(arm, server, plan):
    """Diagnostics report the arm's status and the result of the last stream."""
    from diagnostic_msgs.msg import DiagnosticArray

    seen = {}

    def note(message):
        for status in message.status:
            seen[status.name] = (
                status.level,
                status.message,
                {v.key: v.value for v in status.values},
            )

    subscription = arm.node.create_subscription(DiagnosticArray, "/diagnostics", note, 10)
    assert server.send(plan).startswith("finished")
    seen.clear()
    names = ("streamer: arm", "streamer: stream")
    wait_for(lambda: all(name in seen for name in names), "diagnostics")
    arm.node.destroy_subscription(subscription)
    level, text, values = seen["streamer: arm"]
    assert (level, text, values["controller"]) == (b"\x00", "connected", SCALED_CONTROLLER)
    assert (values["safety mode"], values["program running"]) == ("NORMAL", "True")
    level, text, values = seen["streamer: stream"]
    assert (level, text, values["reason"]) == (b"\x00", "finished", "Goal successfully reached!")
    assert int(values["samples"]) > 10


def changed(plan, **fields):
    """The plan as a message, with something in it changed."""
    return dataclasses.replace(from_trajectory(plan), **fields)


def with_point(plan, index, **fields):
    message = from_trajectory(plan)
    points = list(message.points)
    points[index] = dataclasses.replace(points[index], **fields)
    return dataclasses.replace(message, points=tuple(points))


REFUSED = {
    "another joint": (
        lambda plan: changed(plan, joint_names=(*UR_JOINTS[:5], "gripper")),
        "the trajectory moves 'gripper', which the arm has not and lacks 'wrist_3_joint'",
    ),
    "a joint too few": (
        lambda plan: JointTrajectory(UR_JOINTS[:5], (JointTrajectoryPoint(1.0, np.zeros(5)),)),
        "the trajectory lacks 'wrist_3_joint'",
    ),
    "a joint too many": (
        lambda plan: JointTrajectory(
            (*UR_JOINTS, "rail"), (JointTrajectoryPoint(1.0, np.zeros(7)),)
        ),
        "the trajectory moves 'rail', which the arm has not",
    ),
    "no points": (lambda plan: changed(plan, points=()), "the trajectory has no points"),
    "NaN": (
        lambda plan: with_point(plan, 3, positions=[0, 0, 0, math.nan, 0, 0]),
        "positions of wrist_1_joint at point 3 are nan; they have to be finite",
    ),
    "out of limits": (
        lambda plan: changed(rest_to_rest(plan.position(0.0), [7, 0, 0, 0, 0, 0], 20.0)),
        "position of shoulder_pan_joint is 7 at 20 s, above its limit 6.28",
    ),
    "too fast": (
        lambda plan: changed(rest_to_rest(plan.position(0.0), plan.position(0.0) + 0.5, 0.25)),
        "velocity of shoulder_pan_joint is 3.75 at 0.125 s, above its limit 3.1",
    ),
    "moving end": (
        lambda plan: with_point(plan, -1, velocities=[0, 0, 0, 0, 0, 0.2]),
        "the last point moves wrist_3_joint at 0.2, it must be at rest",
    ),
    "stale": (
        lambda plan: changed(rest_to_rest(plan.position(0.0) + 0.05, plan.position(1.0), 1.0)),
        "it has to start within 0.01",
    ),
    "from the past": (lambda plan: changed(plan, stamp=1000.0), "before now"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_a_reason(arm, server, plan, case):
    change, text = REFUSED[case]
    seen = len(arm.samples)
    answer = server.send(change(plan))
    assert answer.startswith("refused: ")
    assert text in answer
    arm.fresh(10)
    assert largest_step(arm.samples[seen:]) == 0.0


def refused_at_last(server, plan, text):
    """Repeat a plan until the streamer refuses it because of the arm's changed status."""

    def refused():
        answer = server.send(plan)
        # A trajectory accepted before the streamer has received the status is ended when it
        # arrives, or by the controller.
        assert answer.startswith(("refused: ", "held: ", "aborted: ")), answer
        return answer if answer.startswith("refused: ") and text in answer else None

    return wait_for(refused, f"a refusal that says {text!r}")


def test_refused_while_the_controller_is_inactive(arm, server, plan):
    assert arm.change_state(DEACTIVATE)
    try:
        refused_at_last(server, plan, "the controller is not active; it has to be")
    finally:
        assert arm.change_state(ACTIVATE)


def test_refused_after_a_protective_stop_until_all_is_well_again(arm, server, plan):
    assert arm.trigger(f"{SCALED_CONTROLLER}/protective_stop").success
    refused_at_last(server, plan, "the safety mode is PROTECTIVE_STOP; it has to be NORMAL")
    assert arm.trigger("dashboard_client/unlock_protective_stop").success
    refused_at_last(server, plan, "the robot's program is not running; it has to be")
    assert arm.trigger("dashboard_client/play").success
    wait_for(lambda: server.send(plan).startswith("finished"), "the arm to move again")


@pytest.mark.parametrize("cause", ["protective stop", "deactivation", "stop service"])
def test_a_motion_that_is_ended(arm, server, plan, cause):
    seen, begin = len(arm.samples), arm.at()
    before = server.begin(plan.scale(8.0))
    wait_for(lambda: np.abs(arm.at() - begin).max() > 0.02, "the arm to move")
    if cause == "protective stop":
        assert arm.trigger(f"{SCALED_CONTROLLER}/protective_stop").success
    elif cause == "deactivation":
        assert arm.change_state(DEACTIVATE)
    else:
        assert arm.trigger("streamer/stop").success
    answer = server.end(before)
    # The reason comes from the first to notice: the controller that aborts, or the streamer.
    assert answer.startswith(
        "stopped: asked to stop" if cause == "stop service" else ("aborted: ", "held: ")
    )
    still = arm.wait_still()
    # A controller that aborts holds the position measured last.
    assert 0.01 < np.abs(still - begin).max() < 0.35
    assert largest_step(arm.samples[seen:]) <= ONE_SAMPLE
    if cause == "protective stop":
        assert arm.trigger("dashboard_client/unlock_protective_stop").success
        assert arm.trigger("dashboard_client/play").success
    elif cause == "deactivation":
        assert arm.change_state(ACTIVATE)
    on = rest_to_rest(still, plan.position(1.0), 1.0)
    wait_for(lambda: server.send(on).startswith("finished"), "the arm to go on")


def test_one_at_a_time(arm, server, plan):
    before = server.begin(plan.scale(3.0))
    wait_for(lambda: "moving" in server.said[before:], "the streamer to begin")
    server.begin(plan)
    server.process.wait_output("a trajectory is refused: another one is being followed")
    assert server.end(before) == "finished: Goal successfully reached!"


def test_speed_scaling(arm, server, plan):
    """Scaling 1, 0.3, 0, 1: the arm slows down, stands still, and moves to the end."""
    seen, begin = len(arm.samples), arm.at()
    before = server.begin(plan.scale(3.0))
    wait_for(lambda: np.abs(arm.at() - begin).max() > 0.02, "the arm to move")
    arm.set_parameters({"speed_slider": 0.3})
    wait_for(lambda: np.abs(arm.at() - begin).max() > 0.15, "the arm to go on")
    arm.set_parameters({"speed_slider": 0.0})
    still = arm.wait_still()
    assert np.abs(still - plan.position(1.0)).max() > 0.05
    arm.fresh(100)
    assert (arm.at() == still).all()
    arm.set_parameters({"speed_slider": 1.0})
    assert server.end(before) == "finished: Goal successfully reached!"
    assert largest_step(arm.samples[seen:]) <= ONE_SAMPLE


def test_an_arm_that_dies_and_comes_back(start, ros_node, wait_for):
    """The streamer holds when states stop; it continues with the returned arm from its position."""
    from .harness.arm import ArmClient

    def begin():
        params = {"robot": "ur5", "initial_positions": START.tolist()}
        return start("sim_arm", params=params, name=SCALED_CONTROLLER)

    first = begin()
    client = ArmClient(ros_node, f"/{SCALED_CONTROLLER}")
    server = StreamerClient(ros_node, "/streamer", start("streamer", params={"profile": "ur"}))
    before = server.begin(rest_to_rest(client.at(), AWAY, 4.0))
    wait_for(lambda: np.abs(client.at() - START).max() > 0.02, "the arm to move")
    first.kill()
    assert "s old; it may be 0.2 s old at most" in server.end(before)
    assert (
        "s old" in server.send(rest_to_rest(client.at(), AWAY, 1.0))
        or "not connected" in server.said[-1]
    )
    begin()
    client.fresh(20)
    assert (client.at() == START).all()

    def done():
        answer = server.send(rest_to_rest(client.wait_still(), AWAY, 1.0))
        # At first the streamer may still use the old arm's list of controllers, and miss the next
        # answer.
        assert answer.startswith(("finished", "refused", "held: the arm does not say")), answer
        return answer.startswith("finished")

    wait_for(done, "the new arm to follow")
    assert np.allclose(client.wait_still(), AWAY, rtol=0, atol=1e-5)
