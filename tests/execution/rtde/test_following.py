"""A UR controller with RTDE follows plans at both rates, in both modes, at any speed scaling."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from robosim.execution.messages import SafetyMode
from robosim.execution.streaming import Outcome, stream_trajectory
from robosim.execution.universal_robots import UR_JOINTS

pytest.importorskip("rtde_control")


def distance_from_path(positions, trajectory):
    """Distance (m,) of each position (m, 6) from the nearest point of the plan's path."""
    path = trajectory.position(np.linspace(0.0, trajectory.duration, 4001))
    return np.array([np.abs(path - q).max(axis=1).min() for q in positions])


@pytest.mark.parametrize("series", ["cb3", "e"])
@pytest.mark.parametrize("mode", ["trajectory", "setpoints"])
def test_a_plan_is_followed(serve, connect, make_plan, series, mode):
    server = serve(series=series)
    arm = connect(server)
    assert arm.joint_names == UR_JOINTS
    assert arm.rate == server.rate
    trajectory = make_plan()
    report = stream_trajectory(
        arm, trajectory, mode=mode, rate=server.rate if mode == "setpoints" else None
    )
    assert report.outcome is Outcome.FINISHED, report
    log = server.servo_log()
    # The interpolated plan is exact to 1e-5, and adjacent path samples are 4e-4 rad apart. Where
    # set points come late, as on a busy machine, the arm slows down along its tangent: at 1.3 rad/s
    # for 0.1 s.
    off = distance_from_path(log[:, 1:7], trajectory)
    assert np.median(off) < 5e-4
    assert off.max() < (5e-4 if mode == "trajectory" else 0.1)
    np.testing.assert_array_equal(log[:, 7:], [[2000.0, 0.03, 1 / server.rate]] * len(log))
    # The arm is also on time, up to the plan's speed times a few cycles of delay on a busy machine.
    moving = np.abs(log[:, 1:7] - server.home).max(axis=1) > 1e-9
    times = log[moving, 0] - log[moving, 0][0]
    wanted = trajectory.position(np.clip(times, 0.0, trajectory.duration))
    assert np.median(np.abs(log[moving, 1:7] - wanted).max(axis=1)) < 0.05
    motion = server.motion_log()
    speed = trajectory.limits.velocity / server.rate
    assert (np.abs(np.diff(motion[:, 1:7], axis=0)) <= speed * (1 + 1e-9)).all()
    np.testing.assert_allclose(
        server.state["q"], trajectory.position(trajectory.duration), atol=1e-3
    )
    assert report.tracking is not None
    assert report.tracking.max_error.max() < 0.2
    arm.close()
    state = server.state
    assert state["runtime_state"] == 1
    assert state["events"][-1] == "program ended: stop of the program was asked for"
    assert "samples at" in arm.statistics


def test_a_stream_at_a_lower_rate_is_spread_over_the_cycles(serve, connect, make_plan):
    server = serve(series="e")
    arm = connect(server)
    trajectory = make_plan()
    report = stream_trajectory(arm, trajectory, mode="setpoints", rate=125.0)
    assert report.ok, report
    motion = server.motion_log()
    # If a 125 Hz stream were not spread, one cycle in four would have four times the plan's speed.
    fastest = np.abs(trajectory.velocity(np.linspace(0, 1, 1001))).max(axis=0) / 500
    steps = np.abs(np.diff(motion[:, 1:7], axis=0)) / fastest
    assert np.percentile(steps.max(axis=1), 90) < 2.0


def test_a_lagging_arm_is_waited_for(serve, connect, make_plan):
    server = serve(series="e", lag=0.034)  # as measured on real arms at a look-ahead of 0.03 s
    trajectory = make_plan()
    report = stream_trajectory(connect(server), trajectory)
    assert report.ok, report
    assert report.tracking is not None
    # Lag times speed: 0.034 s at 0.5 rad/s and more, most of the time.
    assert np.median(np.abs(report.tracking.error).max(axis=1)) > 0.01
    # The arm arrives like exp(-t / 0.034 s), and counts as arrived when 0.02 rad are left.
    np.testing.assert_allclose(
        server.state["q"], trajectory.position(trajectory.duration), atol=0.02
    )


@pytest.mark.parametrize("mode", ["trajectory", "setpoints"])
def test_speed_scaling_is_followed(serve, connect, make_plan, until, mode):
    server = serve(series="cb3")
    arm = connect(server)
    trajectory = make_plan(duration=1.5)
    reports = []
    thread = threading.Thread(
        target=lambda: reports.append(stream_trajectory(arm, trajectory, mode=mode))
    )
    thread.start()
    until(lambda: server.state["set_points"] > 30, "the arm moves", lambda: not thread.is_alive())
    server.set(target_speed_fraction=0.3)
    before = server.state["time"]
    until(lambda: server.state["time"] > before + 1.0, "a second at 0.3")
    server.set(speed_scaling=0.0)
    until(lambda: arm.status().speed_scaling == 0.0, "the scaling is reported")
    until(lambda: not any(server.state["qd"]), "the arm stands")
    paused = server.state
    until(lambda: server.state["time"] > paused["time"] + 0.7, "a pause")
    assert server.state["q"] == paused["q"]
    assert thread.is_alive()
    server.set(speed_scaling=1.0, target_speed_fraction=1.0)
    thread.join(60)
    assert reports[0].ok, reports[0]
    # The path is kept, except for set points that come late on a busy machine.
    motion = server.motion_log()
    off = distance_from_path(motion[:, 1:7], trajectory)
    assert np.median(off) < 1e-3
    assert off.max() < (5e-3 if mode == "trajectory" else 0.1)
    # 1.5 s of plan, at 0.3 for a second, and 0.7 s at 0, last at least 2.9 s.
    log = server.servo_log()
    assert motion[-1, 0] - log[0, 0] > 2.5
    # At 0.3 the joints moved at 0.3 of the plan's greatest speed.
    fastest = np.abs(trajectory.velocity(np.linspace(0, 1.5, 1001))).max(axis=0)
    slow = np.flatnonzero(np.isclose(motion[:, 7], 0.3))
    late = slow[motion[slow, 0] > motion[slow[0], 0] + 0.4]  # set points ramp within 0.2 s
    steps = np.abs(motion[late[1:], 1:7] - motion[late[1:] - 1, 1:7]) * 125
    assert (np.median(steps, axis=0) <= 0.35 * fastest).all()


@pytest.mark.parametrize("pause", [0.3, 1.5])
def test_a_paused_program_pauses_the_plan_until_the_watchdog_ends_it(
    serve, connect, make_plan, until, pause
):
    server = serve(series="cb3")
    arm = connect(server, "--rtde-watchdog", "1")
    reports = []
    trajectory = make_plan()
    thread = threading.Thread(target=lambda: reports.append(stream_trajectory(arm, trajectory)))
    thread.start()
    until(lambda: server.state["set_points"] > 30, "the arm moves", lambda: not thread.is_alive())
    server.ask("pause")
    time = server.state["time"]
    until(lambda: arm.status().speed_scaling == 0.0, "the pause is noticed")
    until(lambda: server.state["time"] > time + pause, "a pause")
    server.ask("resume")
    thread.join(60)
    assert (
        np.abs(np.diff(server.motion_log()[:, 1:7], axis=0))
        <= trajectory.limits.velocity / 125 * 1.0001
    ).all()
    if pause < 1.0:
        assert reports[0].ok, reports[0]
    else:
        assert reports[0].outcome in (Outcome.ABORTED, Outcome.HELD), reports[0]
        assert "program" in reports[0].reason


# Delays in control cycles of 8 ms: below and above a tenth of a second.
@pytest.mark.parametrize("late", [4, 40])
def test_set_points_are_sent_again_until_the_library_knows_that_a_pause_has_ended(
    serve, connect, make_plan, until, late
):
    server = serve(series="cb3")
    arm = connect(server)
    reports = []
    trajectory = make_plan()
    thread = threading.Thread(target=lambda: reports.append(stream_trajectory(arm, trajectory)))
    thread.start()
    until(lambda: server.state["set_points"] > 30, "the arm moves", lambda: not thread.is_alive())
    server.ask("late", late)
    server.ask("pause")
    paused = server.state["time"]
    until(lambda: arm.status().speed_scaling == 0.0, "the pause is noticed")
    until(
        lambda: server.state["time"] > paused + (late + 5) / 125,
        "the pause is noticed by the library",
    )
    server.ask("resume")
    thread.join(60)
    if late == 4:
        assert reports[0].ok, reports[0]
        goal = trajectory.position(trajectory.duration)
        np.testing.assert_allclose(server.state["q"], goal, atol=1e-3)
    else:
        assert reports[0].outcome is Outcome.ABORTED, reports[0]
        assert "does not take set points" in reports[0].reason
        until(lambda: server.state["runtime_state"] == 1, "the program ends")


def test_joints_are_matched_by_name_and_a_prefix_is_found(serve, connect, make_plan, monkeypatch):
    import robosim

    server = serve(series="cb3")
    plain = robosim.load_robot("ur5")
    names = tuple(reversed(plain.position_names))
    arm = connect(server, joint_names=names)
    assert arm.joint_names == UR_JOINTS
    trajectory = make_plan(joint_names=names)
    assert stream_trajectory(arm, trajectory).ok
    goal = trajectory.reorder(UR_JOINTS).position(trajectory.duration)
    np.testing.assert_allclose(server.state["q"], goal, atol=1e-3)
    status = arm.status()
    assert status.safety_mode is SafetyMode.NORMAL
    assert status.program_running
    assert status.controller_active


def test_two_plans_one_after_the_other(serve, connect, make_plan):
    server = serve(series="cb3")
    arm = connect(server)
    there = make_plan()
    assert stream_trajectory(arm, there).ok
    assert stream_trajectory(arm, there.reverse(), mode="setpoints").ok
    np.testing.assert_allclose(server.state["q"], server.home, atol=2e-3)
    assert server.state["events"].count("watchdog 2 Hz") == 1
