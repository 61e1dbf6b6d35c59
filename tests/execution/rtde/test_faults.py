"""Faults on the way: the arm stops, does not restart by itself, and no call waits forever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from robosim.execution.goals import GoalStatus, Rejection
from robosim.execution.joint_trajectory import from_trajectory
from robosim.execution.messages import Goal, SafetyMode, Setpoint
from robosim.execution.streaming import Outcome, stream_trajectory

pytest.importorskip("rtde_control")

STOPPED, PLAYING, PAUSED = 1, 2, 4
SPEED = np.pi  # [rad/s] of every joint


class Stream:
    """A plan that a thread streams."""

    def __init__(self, arm, trajectory, **arguments):
        self.reports = []
        self.begin = time.monotonic()
        self.thread = threading.Thread(
            target=lambda: self.reports.append(stream_trajectory(arm, trajectory, **arguments))
        )
        self.thread.start()

    def ended(self):
        return not self.thread.is_alive()

    def report(self, within=60.0):
        self.thread.join(within)
        assert not self.thread.is_alive(), "the stream hangs"
        return self.reports[0]


@pytest.fixture
def moving(serve, connect, make_plan, until):
    def start(series="cb3", mode="trajectory", duration=3.0, watchdog="2"):
        server = serve(series=series)
        arm = connect(server, "--rtde-watchdog", watchdog)
        stream = Stream(arm, make_plan(duration=duration, reach=0.8), mode=mode)
        until(lambda: server.state["set_points"] > 40, "the arm moves", stream.ended)
        until(lambda: any(server.state["qd"]), "the arm moves", stream.ended)
        return server, arm, stream

    return start


def at_rest(server):
    state = server.state
    return state if not any(state["qd"]) else None


def assert_smooth(server):
    """Assert that no joint moved further in a cycle than its speed allows."""
    motion = server.motion_log()
    follows = np.isclose(np.diff(motion[:, 0]), 1 / server.rate)
    steps = np.abs(np.diff(motion[:, 1:7], axis=0))[follows]
    assert (steps <= SPEED / server.rate * (1 + 1e-6)).all()


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        ("trajectory", "protective_stop"),
        ("setpoints", "protective_stop"),
        ("trajectory", "emergency_stop"),
    ],
)
def test_a_safety_stop_ends_the_motion_and_the_program(moving, until, mode, kind):
    server, arm, stream = moving(mode=mode, watchdog="1")  # slow, so that the client acts before it
    server.ask(kind)
    report = stream.report()
    assert report.outcome in (Outcome.HELD, Outcome.ABORTED), report
    assert "STOP" in report.reason or (kind == "emergency_stop" and "program" in report.reason)
    # The program with the last set point is ended, so that unlocking the arm cannot move it.
    state = until(lambda: (s := server.state)["runtime_state"] == STOPPED and s, "the program ends")
    ended = "emergency stop" if kind == "emergency_stop" else "the dashboard stopped it"
    assert state["events"][-1] == f"program ended: {ended}"
    server.ask("unlock")
    sent = server.state["time"]
    until(lambda: server.state["time"] > sent + 0.3, "the arm had time to move")
    assert server.state["q"] == at_rest(server)["q"]
    assert server.state["set_points"] == state["set_points"]
    until(lambda: not arm.status().controller_active, "it is told")
    answer = arm.send(Goal(from_trajectory(_one_second(server))))
    assert isinstance(answer, Rejection)
    assert "connect again" in answer.text
    assert_smooth(server)


def _one_second(server):
    from robosim.trajectory import Trajectory

    q = np.array(server.state["q"])
    from robosim.execution.universal_robots import UR_JOINTS

    return Trajectory.from_waypoints([0.0, 1.0], [q, q + 0.1], position_names=UR_JOINTS)


@pytest.mark.parametrize(
    ("mode", "what", "refuse"),
    [("trajectory", "all", False), ("trajectory", "commands", True),
        ("setpoints", "commands", False),
     ("setpoints", "all", True)],
)  # fmt: skip
def test_a_lost_connection_ends_the_motion_and_is_not_taken_up_again(
    moving, until, mode, what, refuse
):
    server, arm, stream = moving(series="e", mode=mode)
    if refuse:
        server.ask("refuse")
    server.ask("drop", what)
    report = stream.report()
    assert report.outcome in (Outcome.HELD, Outcome.ABORTED), report
    assert not arm.status().connected
    # The controller's watchdog or its dashboard ends the program. Twice the watchdog's half second
    # is plenty.
    until(lambda: server.state["runtime_state"] == STOPPED, "the program ends")
    until(lambda: at_rest(server), "the arm stands")
    state = server.state
    # By itself, the library would reconnect, upload its program again, and repeat its last command.
    assert state["events"].count("program uploaded") == 1
    begin = time.monotonic()
    arm.close()
    assert time.monotonic() - begin < 8
    assert server.state["events"].count("program uploaded") == 1
    assert_smooth(server)


@pytest.mark.parametrize(("mode", "how"), [("trajectory", "freeze"), ("setpoints", "silent")])
def test_states_that_stop_stop_the_arm(moving, until, mode, how):
    server, arm, stream = moving(mode=mode)
    server.ask(how, True)
    report = stream.report()
    assert report.outcome in (Outcome.HELD, Outcome.ABORTED), report
    until(lambda: at_rest(server), "the arm stands")
    # After two seconds without a state, the connection is lost and is not resumed.
    until(lambda: not arm.status().connected, "the connection is given up")
    until(lambda: server.state["runtime_state"] == STOPPED, "the program ends")
    assert server.state["events"].count("program uploaded") == 1
    assert_smooth(server)


def test_the_process_at_the_controller_stops_by_itself_without_states(
    serve, connect, make_plan, until
):
    server = serve(series="cb3")
    arm = connect(server)
    handle = arm.send(Goal(from_trajectory(make_plan(duration=3.0))))
    until(lambda: server.state["set_points"] > 40, "the arm moves", lambda: handle.result)
    server.ask("freeze", True)
    begin = server.state["time"]
    result = until(lambda: handle.result, "the goal is given up")
    assert result.error_string == "the controller has sent no new state for 0.1 s"
    until(lambda: at_rest(server), "the arm stands")
    assert server.state["time"] - begin < 1.9  # before the connection counts as lost
    assert server.state["servoing"]
    assert_smooth(server)


def test_states_that_come_again_in_time_are_taken_up(moving, until, make_plan):
    server, arm, stream = moving()
    server.ask("freeze", True)
    assert stream.report().outcome in (Outcome.HELD, Outcome.ABORTED)
    server.ask("freeze", False)
    until(lambda: time.monotonic() - arm.state().stamp < 0.05, "states come again")
    until(lambda: at_rest(server), "the arm stands")
    assert arm.status().connected
    q = np.array(server.state["q"])
    assert stream_trajectory(arm, _one_second(server), requirements=_without_limits()).ok
    np.testing.assert_allclose(server.state["q"], q + 0.1, atol=1e-3)
    assert_smooth(server)


def _without_limits():
    from robosim.execution.checks import Requirements

    return Requirements(limits=False, program_running=True)


@pytest.mark.parametrize("mode", ["trajectory", "setpoints"])
def test_a_program_that_ends_ends_the_motion(moving, until, mode):
    server, arm, stream = moving(mode=mode)
    server.ask("stop_program")
    report = stream.report()
    assert report.outcome in (Outcome.HELD, Outcome.ABORTED), report
    assert "program" in report.reason
    assert arm.status().program_running is False
    until(lambda: at_rest(server), "the arm stands")
    assert server.state["events"].count("program uploaded") == 1


def test_a_stop_slows_down_along_the_motion(moving, make_plan, until):
    server, arm, stream = moving(series="e")
    before = until(
        lambda: (s := server.state) and max(map(abs, s["qd"])) > 0.5 and s,
        "the arm moves fast",
        stream.ended,
    )
    arm.stop()
    assert stream.report().outcome is not Outcome.FINISHED
    state = until(lambda: at_rest(server), "the arm stands")
    assert state["servoing"]  # it stays under servo control
    # The plan goes to and fro on a straight line in joint space, as does its tangent. So the arm
    # stops on that line, up to the 5e-4 rad by which set points may deviate. The exact length of
    # the ramp is tested in test_motion. Here a busy machine may merge cycles, whose speed is then
    # that of several.
    start, end = (np.array(make_plan(duration=3.0, reach=0.8).position(t)) for t in (0.0, 1.8))
    line = (end - start) / np.linalg.norm(end - start)
    way = np.array(state["q"]) - start
    assert np.abs(way - (way @ line) * line).max() < 5e-4
    assert way @ line > 0.01
    assert np.abs(np.array(state["q"]) - before["q"]).max() > 0
    assert_smooth(server)


def test_cancelling_a_goal(serve, connect, make_plan, until):
    server = serve(series="cb3")
    arm = connect(server)
    handle = arm.send(Goal(from_trajectory(make_plan(duration=3.0))))
    until(lambda: server.state["set_points"] > 40, "the arm moves", lambda: handle.result)
    handle.cancel()
    result = until(lambda: handle.result, "the goal ends")
    assert result.status is GoalStatus.CANCELED
    until(lambda: at_rest(server), "the arm stands")
    held = server.state["q"]
    until(lambda: server.state["set_points"] > 400 or at_rest(server), "it holds")
    assert server.state["q"] == held
    assert_smooth(server)


def test_a_new_goal_takes_over(serve, connect, make_plan, until):
    server = serve(series="cb3")
    arm = connect(server)
    first = arm.send(Goal(from_trajectory(make_plan(duration=3.0, reach=0.1))))
    until(lambda: server.state["set_points"] > 40, "the arm moves", lambda: first.result)
    second = arm.send(Goal(from_trajectory(make_plan(duration=3.0, reach=0.1).slice(0.5, 3.0))))
    assert until(lambda: first.result, "the first goal ends").status is GoalStatus.ABORTED
    assert until(lambda: second.result, "the second goal ends").ok
    assert_smooth(server)


def test_a_stream_that_stops_is_held(serve, connect, make_plan, until):
    server = serve(series="cb3")
    arm = connect(server)
    trajectory = make_plan(duration=2.0)
    until(arm.state, "a state")
    begin = arm.clock()
    for k in range(100):  # stops after 0.8 s of 2 s, in the middle of the motion
        arm.sleep_until(begin + k / 125)
        arm.stream(Setpoint(trajectory.position(k / 125)))
    until(lambda: any("no set point" in event.text for event in arm.events), "it is noticed")
    until(lambda: at_rest(server), "the arm stands")
    held = np.array(server.state["q"])
    ahead = np.abs(held - trajectory.position(99 / 125)).max()
    speed = np.abs(trajectory.velocity(99 / 125)).max()
    # The arm moves on for the watchdog's time and the ramp, and not to the plan's end.
    assert ahead < speed * 0.15 + speed**2 / 10
    assert_smooth(server)
    # A stream can restart at the arm's position.
    arm.stream(Setpoint(np.array(held)))
    arm.stop()
    assert arm.status().controller_active


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (lambda q: q + 0.4 * (np.arange(6) == 2), "elbow_joint"),
        (lambda q: q * np.nan, "not finite"),
        (lambda q: q[:5], "6"),
    ],
    ids=["jump", "nan", "size"],
)
def test_a_bad_set_point_stops_the_arm(serve, connect, make_plan, until, bad, text):
    server = serve(series="cb3")
    arm = connect(server)
    trajectory = make_plan(duration=2.0)
    until(arm.state, "a state")
    begin = arm.clock()
    for k in range(60):
        arm.sleep_until(begin + k / 125)
        arm.stream(Setpoint(trajectory.position(k / 125)))
    for _ in range(20):  # repeated set points must be refused, too
        arm.stream(Setpoint(bad(trajectory.position(60 / 125))))
    until(lambda: any(text in event.text for event in arm.events), "it is refused")
    until(lambda: server.state["servoing"] and at_rest(server), "the arm stands")
    speed = np.abs(trajectory.velocity(60 / 125)).max()
    far = np.abs(np.array(server.state["q"]) - trajectory.position(60 / 125)).max()
    assert far < speed * 0.1 + speed**2 / 10
    assert_smooth(server)


def test_set_points_outside_the_limits_are_clipped(serve, connect, until):
    home = np.array([0.0, -1.57, np.pi - 0.02, 0.0, 0.0, 0.0])  # near the elbow's upper limit
    server = serve(series="cb3", q=home.tolist())
    arm = connect(server)
    until(arm.state, "a state")
    begin = arm.clock()
    for k in range(100):
        arm.sleep_until(begin + k / 125)
        arm.stream(Setpoint(home + np.array([0, 0, 1e-3 * k, 0, 0, 0])))
    until(lambda: any("outside its limits" in event.text for event in arm.events), "it is told")
    assert server.motion_log()[:, 3].max() <= np.pi + 1e-12
    assert server.motion_log()[:, 3].max() > np.pi - 1e-3


SCRIPT = """
import argparse, sys, time, robosim
from robosim.execution.transports.rtde import TRANSPORT
from robosim.execution.streaming import stream_trajectory
from robosim.trajectory import Trajectory
parser = argparse.ArgumentParser()
TRANSPORT.add_arguments(parser)
model = robosim.load_robot("ur5")
arm = TRANSPORT.connect(model, model.position_names, parser.parse_args(sys.argv[2:]))
with arm:
    report = stream_trajectory(arm, Trajectory.load(sys.argv[1]), mode="{mode}")
print(report.outcome.value, report.reason)
"""


@pytest.fixture
def streaming_process(serve, make_plan, tmp_path, until):
    """Start a separate process that is in the middle of streaming a plan of four seconds."""
    processes = []

    def start(mode):
        server = serve(series="cb3")
        path = tmp_path / "plan.json"
        make_plan(duration=4.0).save(path)
        script = f"import sys; sys.path[:] = {[p for p in sys.path if p]!r}\n" + SCRIPT.replace(
            "{mode}", mode
        )
        command = [
            sys.executable,
            "-c",
            script,
            str(path),
            "--rtde-host",
            server.host,
            "--rtde-watchdog",
            "2",
        ]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        processes.append(process)
        until(
            lambda: server.state["set_points"] > 60,
            "the arm moves",
            lambda: process.poll() is not None,
        )
        return server, process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("mode", ["trajectory", "setpoints"])
def test_a_killed_streamer_does_not_leave_the_arm_moving(streaming_process, until, mode):
    server, process = streaming_process(mode)
    os.kill(process.pid, signal.SIGKILL)
    state = until(
        lambda: (s := server.state)["runtime_state"] == STOPPED and not any(s["qd"]) and s,
        "it stops",
    )
    assert state["events"][-1] == "program ended: stop of the program was asked for"
    assert_smooth(server)


def test_a_killed_process_at_the_controller_does_not_leave_the_arm_moving(moving, until):
    server, arm, stream = moving()
    arm._process.kill()
    report = stream.report()
    assert report.outcome in (Outcome.HELD, Outcome.ABORTED), report
    state = until(
        lambda: (s := server.state)["runtime_state"] == STOPPED and not any(s["qd"]) and s,
        "it stops",
    )
    assert state["events"][-1] == "program ended: the RTDE watchdog expired"
    assert not arm.status().connected
    assert_smooth(server)


def test_closing_in_the_middle_stops_the_arm(serve, connect, make_plan, until):
    server = serve(series="e")
    arm = connect(server)
    handle = arm.send(Goal(from_trajectory(make_plan(duration=3.0))))
    until(lambda: server.state["set_points"] > 60, "the arm moves", lambda: handle.result)
    arm.close()
    arm.close()
    state = server.state
    assert state["runtime_state"] == STOPPED
    assert not any(state["qd"])
    assert until(lambda: handle.result, "the goal ends").status is GoalStatus.ABORTED
    assert not arm.status().connected
    assert_smooth(server)
    # Another client can use the controller.
    again = connect(server)
    assert again.status().safety_mode in (None, SafetyMode.NORMAL)
