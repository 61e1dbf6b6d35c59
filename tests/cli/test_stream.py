"""`robosim stream` end to end: simulated arm, outputs, refusals, interruption, transports."""

import argparse
import importlib.metadata
import json
import os
import signal
import subprocess

import numpy as np
import pytest

from robosim import load_robot
from robosim.cli import main
from robosim.errors import MissingDependencyError
from robosim.execution.tracking import Tracking
from robosim.execution.transports import find_transport, transport_names
from robosim.trajectory import Trajectory

from ..isolated import PYTHON  # noqa: TID252

UR5 = load_robot("ur5")
UP = "0,-1.57,0,-1.57,0,0"


@pytest.fixture(scope="module")
def plan_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    assert main(["plan", "ur5", "--scene", "bookshelf_small", "-o", str(path)]) == 0
    return path


def run_json(capsys, *arguments):
    code = main(["stream", *map(str, arguments), "--json"])
    out, err = capsys.readouterr()
    assert err == ""
    return code, json.loads(out)


def test_a_plan_is_followed_and_the_table_says_how_well(plan_file, tmp_path, capsys):
    plot, record = tmp_path / "tracking.png", tmp_path / "tracking.csv"
    capsys.readouterr()
    assert main(["stream", str(plan_file), "--plot", str(plot), "--record", str(record)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines()[0] == f"ur5, {plan_file} to sim: finished"
    for part in (
        "Goal successfully reached!",
        "Tracking error",
        "wrist_3_joint",
        "mrad",
        "rms",
        "Loop",
        "states",
    ):
        assert part in out
    assert f"wrote {record}\nwrote {plot}\n" in out
    assert plot.read_bytes().startswith(b"\x89PNG")
    tracking, trajectory = Tracking.load(record), Trajectory.load(plan_file)
    assert tracking.joint_names == trajectory.position_names
    assert tracking.robot == "ur5"
    # With dynamics, the default, the error is visible and within the 2 mrad of the default gains.
    assert 1e-4 < tracking.max_error.max() < 2e-3
    assert np.abs(tracking.actual[-1] - trajectory.position(trajectory.duration)).max() < 2e-3


@pytest.mark.parametrize("mode", ["trajectory", "setpoints"])
@pytest.mark.parametrize(("tracking", "bound"), [("ideal", 1e-9), ("dynamics", 2e-3)])
@pytest.mark.parametrize("rate", [125, 500])
def test_json_has_it_all(plan_file, capsys, mode, tracking, bound, rate):
    capsys.readouterr()
    code, data = run_json(
        capsys,
        plan_file,
        "--mode",
        mode,
        "--tracking",
        tracking,
        "--rate",
        rate,
        "--sim-rate",
        rate,
    )
    assert code == 0
    assert data["ok"]
    assert data["outcome"] == "finished"
    assert (data["robot"], data["to"], data["mode"]) == ("ur5", "sim", mode)
    assert data["written"] == []
    assert data["told"] == []
    assert data["simulated_time"]
    assert [joint["name"] for joint in data["joints"]] == list(UR5.joint_names)
    assert max(joint["max_error"] for joint in data["joints"]) < bound
    assert data["plan_time"] == pytest.approx(data["duration"])
    # One sample per period, none lost: in simulated time nothing is late.
    assert data["samples"] == pytest.approx(data["duration"] * rate, abs=4)
    assert data["states"] == pytest.approx(data["duration"] * rate, abs=4)
    assert data["loop"]["rate"] == rate
    assert data["loop"]["missed"] == 0
    assert data["loop"]["jitter_max"] < 1e-9


def test_the_same_command_gives_the_same_file(plan_file, tmp_path, capsys):
    for name in ("a.npz", "b.npz"):
        options = [
            "--mode",
            "setpoints",
            "--speed-scaling",
            "0.5",
            "--record",
            str(tmp_path / name),
        ]
        assert main(["stream", str(plan_file), *options]) == 0
    a, b = (Tracking.load(tmp_path / name) for name in ("a.npz", "b.npz"))
    for name in ("time", "desired", "commanded", "actual"):
        assert np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True)
    assert a.time[-1] > 1.9 * Trajectory.load(plan_file).duration


@pytest.mark.parametrize("distribution", ["humble", "jazzy", "rolling"])
def test_every_distribution(plan_file, capsys, distribution):
    capsys.readouterr()
    code, data = run_json(
        capsys, plan_file, "--distribution", distribution, "--feedforward", "inverse_dynamics"
    )
    assert code == 0
    # Humble's controller commands without looking ahead, so that its arm is late by one period of 2
    # ms.
    assert max(joint["max_error"] for joint in data["joints"]) < (
        7e-3 if distribution == "humble" else 5e-4
    )


def test_joints_that_the_plan_does_not_move_are_left_alone(tmp_path, capsys):
    """The plan is for the arm's group: the gripper is not commanded and causes no refusal."""
    path = tmp_path / "plan.json"
    group = ["--group", "manipulator", "--goal", "elbow_joint=0.5"]
    assert main(["plan", "ur5_gripper", *group, "-o", str(path)]) == 0
    capsys.readouterr()
    code, data = run_json(capsys, path)
    assert code == 0
    assert data["robot"] == "ur5_gripper"
    assert [joint["name"] for joint in data["joints"]] == list(UR5.joint_names)


def test_real_time_takes_its_time(plan_file, capsys):
    import time

    capsys.readouterr()
    begin = time.perf_counter()
    code, data = run_json(capsys, plan_file, "--real-time", "--sim-rate", 125)
    assert code == 0
    assert time.perf_counter() - begin >= data["duration"]
    assert not data["simulated_time"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ["--initial", "elbow_joint=1,wrist_1_joint=-1"],
            (
                "elbow_joint is at 1 and the trajectory starts at 0, 1 away; it has to start within"
                " 0.01: plan again from the present state\nwrist_1_joint is at -1"
            ),
        ),
        (["--tracking", "dynamics", "--max-error", "1e-4"], "it may be 0.0001 at most"),
    ],
)
def test_an_arm_that_refuses_or_does_not_arrive_is_code_3(
    plan_file, tmp_path, capsys, arguments, reason
):
    plot = tmp_path / "t.png"
    capsys.readouterr()
    code, data = run_json(capsys, plan_file, *arguments, "--plot", plot)
    assert code == 3
    assert not data["ok"]
    assert data["outcome"] in ("refused", "held")
    assert reason in data["reason"]
    # A trajectory that was not sent has no tracking to plot.
    assert plot.exists() is (data["outcome"] == "held")
    assert main(["stream", str(plan_file), *arguments]) == 3
    out, _ = capsys.readouterr()
    assert f": {data['outcome']}\n" in out
    assert reason.replace("\n", "\n  ") in out


def test_what_the_arm_says_is_shown(tmp_path, capsys):
    """A weak robot cannot follow: its controller aborts, and the joint is named."""
    path = tmp_path / "weak.urdf"
    import importlib.resources

    text = (importlib.resources.files("robosim.robots") / "ur5" / "ur5.urdf").read_text()
    assert 'effort="150"' in text
    path.write_text(text.replace('effort="150"', 'effort="20"'))
    plan = tmp_path / "plan.json"
    assert main(["plan", "ur5", "--start", UP, "--goal-named", "ready", "-o", str(plan)]) == 0
    capsys.readouterr()
    code, data = run_json(capsys, plan, "--robot", path, "--max-error", 10)
    assert code == 3
    assert data["outcome"] == "aborted"
    assert "PATH_TOLERANCE_VIOLATED" in data["reason"]
    assert any("position error" in line for line in data["told"])
    assert main(["stream", str(plan), "--robot", str(path), "--max-error", "10"]) == 3
    out, _ = capsys.readouterr()
    assert "  the arm: " in out
    assert "s of the plan; the arm gave it up" in out


def edited(plan_file, tmp_path, **changes):
    path = tmp_path / "edited.json"
    trajectory = Trajectory.load(plan_file).replace(**changes)
    trajectory.save(path)
    return path


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["none.json"], "none.json: no such file"),
        (
            ["PLAN", "--to", "moon"],
            "there is no transport 'moon'; there are 'dds', 'ros2', 'rtde', 'sim' (others come",
        ),
        (["PLAN", "--plot", "t.gif"], ".png, .svg or .pdf"),
        (["PLAN", "--record", "t.json"], ".csv or .npz"),
        (["PLAN", "--rate", "0"], "rate is 0.0"),
        (["PLAN", "--rate", "nan"], "rate is nan"),
        (["PLAN", "--max-error", "-1"], "tracking_error is -1.0"),
        (["PLAN", "--sim-rate", "-5"], "rate is -5.0"),
        (["PLAN", "--speed-scaling", "0"], "--speed-scaling is 0; it must be above 0"),
        (["PLAN", "--speed-scaling", "nan"], "--speed-scaling is nan"),
        (["PLAN", "--initial", "elbow_joint"], "'elbow_joint' is not joint=number"),
        (["PLAN", "--initial", "elbow=1"], "elbow"),
        (["PLAN", "--initial", "elbow_joint=9"], "begin with elbow_joint at 9"),
        (["PLAN", "--robot", "panda"], "'shoulder_pan_joint' is no joint of 'panda'"),
        (["PLAN", "--robot", "ur55"], "ur55"),
        (["PLAN", "--tracking", "perfect"], "invalid choice: 'perfect'"),
        (["PLAN", "--mode", "jump"], "invalid choice: 'jump'"),
        ([], "PLAN"),
    ],
)
def test_bad_input_is_one_line_and_code_2(plan_file, capsys, arguments, expected):
    capsys.readouterr()
    assert main(["stream", *(str(plan_file) if a == "PLAN" else a for a in arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("robosim: error: ")
    assert err.count("\n") == 1
    assert expected in err


def test_a_plan_that_does_not_name_a_robot_we_have(plan_file, tmp_path, capsys):
    capsys.readouterr()
    for robot, expected in (
        ("", "does not say for which robot"),
        ("my_arm", "the plan is for the robot 'my_arm'"),
    ):
        path = edited(plan_file, tmp_path, robot=robot)
        assert main(["stream", str(path)]) == 2
        _, err = capsys.readouterr()
        assert expected in err
        assert "--robot" in err
        assert main(["stream", str(path), "--robot", "ur5"]) == 0
        capsys.readouterr()


def test_limits_are_the_stricter_ones_of_plan_and_robot(plan_file, tmp_path, capsys):
    slower = tmp_path / "joint_limits.yaml"
    slower.write_text(
        "joint_limits:\n  elbow_joint:\n    has_velocity_limits: true\n    max_velocity: 0.5\n"
    )
    assert main(["stream", str(plan_file), "--joint-limits", str(slower)]) == 3
    out, _ = capsys.readouterr()
    assert "velocity of elbow_joint is" in out
    assert "above its limit 0.5" in out
    # A plan without limits uses its robot's.
    bare = edited(plan_file, tmp_path, limits=None)
    assert main(["stream", str(bare), "--joint-limits", str(slower)]) == 3
    assert "elbow_joint" in capsys.readouterr().out


def test_help_shows_every_transport_with_its_options(capsys):
    assert main(["stream", "--help"]) == 0
    out, _ = capsys.readouterr()
    assert {"sim", "dds", "ros2", "rtde"} <= set(transport_names())
    for name in transport_names():
        assert f"--to {name}:" in out
        assert "cannot be used" not in out
        parser = argparse.ArgumentParser()
        find_transport(name).add_arguments(parser)
        for action in parser._actions:
            for option in action.option_strings:
                assert option in out


class FakePoint:
    """Entry point of another package, whose module cannot be imported."""

    name = "broken"

    def load(self):
        raise ImportError("No module named 'their_driver'")


def test_a_broken_transport_is_named_and_spares_the_others(plan_file, monkeypatch, capsys):
    real = importlib.metadata.entry_points
    monkeypatch.setattr(
        "robosim.execution.transports.entry_points", lambda group: [FakePoint(), *real(group=group)]
    )
    assert main(["stream", "--help"]) == 0
    out, _ = capsys.readouterr()
    assert (
        "cannot be used: the transport 'broken' cannot be loaded: No module named 'their_driver'"
        in " ".join(out.split())
    )
    assert main(["stream", str(plan_file), "--to", "broken"]) == 2
    _, err = capsys.readouterr()
    assert err.startswith("robosim: error: the transport 'broken' cannot be loaded")
    assert main(["stream", str(plan_file)]) == 0


def test_a_missing_package_is_code_2_and_says_how_to_get_it(plan_file, monkeypatch, capsys):
    def connect(*_):
        raise MissingDependencyError("their_driver is not installed: pip install their_driver")

    monkeypatch.setattr(type(find_transport("sim")), "connect", connect)
    capsys.readouterr()
    assert main(["stream", str(plan_file)]) == 2
    _, err = capsys.readouterr()
    assert err == "robosim: error: their_driver is not installed: pip install their_driver\n"


@pytest.mark.parametrize("mode", ["trajectory", "setpoints"])
def test_interruption_holds_the_arm_and_says_so(plan_file, tmp_path, mode):
    record = tmp_path / "t.csv"
    slow = ["--real-time", "--speed-scaling", "0.05", "--mode", mode, "--record", str(record)]
    process = subprocess.Popen(
        [*PYTHON, "-c", WATCHED, "stream", str(plan_file), *slow],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    try:
        assert process.stdout.readline() == "it moves\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err == ""
    assert ": stopped\n" in out
    assert "interrupted" in out
    assert "the arm was told to hold" in out
    tracking, trajectory = Tracking.load(record), Trajectory.load(plan_file)
    assert np.abs(tracking.actual[-1] - trajectory.position(trajectory.duration)).max() > 0.1
    assert tracking.max_error.max() < 2e-3


# The command, which prints when the arm has begun to move, so that it can be interrupted then.
WATCHED = """
import sys
from robosim.cli import main
from robosim.execution.simulated import SimulatedArm
cycle, begun = SimulatedArm._cycle, []
def watched(self, end):
    cycle(self, end)
    if not begun and abs(self._state.velocity).max() > 0.01:
        begun.append(True)
        print("it moves")
SimulatedArm._cycle = watched
sys.exit(main(sys.argv[1:]))
"""
