"""`robosim stream plan.json --to rtde`, end to end, from a URDF to an RTDE controller."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from robosim.cli import main
from robosim.trajectory import Trajectory

pytest.importorskip("rtde_control")

STOPPED = 1


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    """Plans of both arms around an obstacle course."""
    folder = tmp_path_factory.mktemp("plans")
    paths = {}
    for robot in ("ur5", "ur5e"):
        paths[robot] = folder / f"{robot}.json"
        assert main(["plan", robot, "--scene", "bookshelf_small", "-o", str(paths[robot])]) == 0
    return paths


def at_the_start(serve, path, **options):
    return serve(q=Trajectory.load(path).position(0.0).tolist(), **options)


@pytest.mark.parametrize(
    ("series", "mode"), [("cb3", "trajectory"), ("e", "trajectory"), ("e", "setpoints")]
)
def test_a_whole_plan_is_followed(serve, plans, capsys, tmp_path, series, mode):
    path = plans["ur5e" if series == "e" else "ur5"]
    server = at_the_start(serve, path, series=series)
    trajectory = Trajectory.load(path)
    capsys.readouterr()
    arguments = [
        "stream",
        str(path),
        "--to",
        "rtde",
        "--rtde-host",
        server.host,
        "--rtde-watchdog",
        "2",
    ]
    code = main([*arguments, "--mode", mode, "--record", str(tmp_path / "tracking.csv"), "--json"])
    out, err = capsys.readouterr()
    summary = json.loads(out)  # stdout has no lines of the library
    assert (code, err, summary["outcome"]) == (0, "", "finished"), (
        summary["reason"],
        summary["told"],
    )
    np.testing.assert_allclose(
        server.state["q"], trajectory.position(trajectory.duration), atol=2e-3
    )
    # Every set point is on the planned path. The tolerance is the motion between two path samples.
    path_points = trajectory.position(np.linspace(0.0, trajectory.duration, 20001))
    log = server.servo_log()[::7, 1:7]
    off = np.array([np.abs(path_points - q).max(axis=1).min() for q in log])
    assert np.median(off) < 1e-3
    assert off.max() < (1e-3 if mode == "trajectory" else 0.1)
    motion = server.motion_log()
    steps = np.abs(np.diff(motion[:, 1:7], axis=0))[
        np.isclose(np.diff(motion[:, 0]), 1 / server.rate)
    ]
    assert (steps <= np.pi / server.rate * (1 + 1e-6)).all()
    assert server.state["runtime_state"] == STOPPED


def test_what_does_not_fit_is_refused_with_a_reason(serve, plans, capsys):
    server = serve(series="cb3")  # at its home, away from the plan's start
    capsys.readouterr()
    assert main(["stream", str(plans["ur5"]), "--to", "rtde", "--rtde-host", server.host]) == 3
    out = capsys.readouterr().out
    assert ": refused" in out
    assert "elbow_joint is at 1.57" in out
    assert server.state["set_points"] == 0
    other = serve(series="e")
    assert main(["stream", str(plans["ur5"]), "--to", "rtde", "--rtde-host", other.host]) == 2
    assert "the plan is for 'ur5', a UR5; the controller moves a UR5e" in capsys.readouterr().err
    assert "program uploaded" not in other.state["events"]


@pytest.mark.parametrize("mode", ["trajectory", "setpoints"])
def test_ctrl_c_stops_the_arm(serve, plans, until, tmp_path, mode):
    server = at_the_start(serve, plans["ur5"], series="cb3")
    # Stream a slow plan in a separate process, and interrupt it while the arm moves.
    slow = tmp_path / "slow.json"
    Trajectory.load(plans["ur5"]).scale(5.0).save(slow)
    code = (
        f"import sys; sys.path[:] = {[p for p in sys.path if p]!r}; from robosim.cli import main;"
        " sys.exit(main())"
    )
    arguments = [
        "stream",
        str(slow),
        "--to",
        "rtde",
        "--rtde-host",
        server.host,
        "--rtde-watchdog",
        "2",
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments, "--mode", mode],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    try:
        until(
            lambda: server.state["set_points"] > 60,
            "the arm moves",
            lambda: process.poll() is not None,
        )
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    # The arm has stopped before the plan's end, and the program is ended.
    assert process.returncode == 130, (out, err)
    assert ": stopped" in out
    assert "interrupted" in out
    state = until(lambda: (s := server.state) and not any(s["qd"]) and s, "the arm stands")
    assert state["runtime_state"] == STOPPED
    assert "stop" in state["events"]
    end = Trajectory.load(slow)
    assert np.abs(np.array(state["q"]) - end.position(end.duration)).max() > 0.05


def test_help_says_what_was_tested(capsys):
    assert main(["stream", "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "--rtde-host HOST" in out
    assert "not yet tried on a real controller" in out
