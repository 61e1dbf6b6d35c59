"""`robosim stream --to ros2`: options, behavior without ROS, and a run against sim_arm.

The run needs rclpy.
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np
import pytest

from robosim.errors import ExecutionError, MissingDependencyError
from robosim.execution.transports import find_transport

from .harness.streamer import rest_to_rest, save


def options(*arguments, mode="trajectory"):
    parser = argparse.ArgumentParser()
    find_transport("ros2").add_arguments(parser)
    return argparse.Namespace(**vars(parser.parse_args(arguments)), mode=mode)


def test_without_rclpy_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "rclpy", None)
    with pytest.raises(MissingDependencyError) as error:
        find_transport("ros2").connect(None, ("a",), options())
    assert "source its setup.bash" in str(error.value)
    assert "--system-site-packages" in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "mode", "text"),
    [
        (("--ros2-timeout", "0"), "trajectory", "--ros2-timeout is 0.0"),
        (("--ros2-require", "controller_active,luck"), "trajectory", "--ros2-require has 'luck'"),
        (
            ("--ros2-interface", "action"),
            "setpoints",
            "--ros2-interface action takes whole trajectories",
        ),
        (("--ros2-interface", "forward_position"), "trajectory", "takes set points"),
    ],
)
def test_bad_options_are_named(arguments, mode, text):
    with pytest.raises(ExecutionError, match=text):
        find_transport("ros2").connect(None, ("a",), options(*arguments, mode=mode))


def test_the_streamer_without_rclpy(monkeypatch, capsys):
    """Its parameters can be read without rclpy; running it explains how to get ROS 2."""
    from robosim.ros.streamer import PARAMETERS, main

    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(parameter.name in shown for parameter in PARAMETERS)
    monkeypatch.setitem(sys.modules, "rclpy", None)
    assert main([]) == 2
    assert "Install ROS 2 (Humble or newer)" in capsys.readouterr().err


START = np.array([0.3, -1.2, 1.0, -1.0, -1.2, 0.2])


@pytest.mark.parametrize("mode", ["trajectory", "setpoints"])
def test_the_command_line(mode, start, launch_process, tmp_path):
    pytest.importorskip(
        "rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane"
    )
    arm = start(
        "sim_arm",
        params={"robot": "ur5", "initial_positions": START.tolist()},
        name="scaled_joint_trajectory_controller",
    )
    plan = save(rest_to_rest(START, START + 0.3, 1.0), tmp_path)
    command = [sys.executable, "-m", "robosim.cli", "stream", plan, "--to", "ros2", "--mode", mode]
    process = launch_process("stream", [*command, "--ros2-profile", "ur", "--json"])
    assert process.wait(40.0) == 0, process.output()
    text = process.output()
    assert json.loads(text[text.index("{") : text.rindex("}") + 1])["outcome"] == "finished"
    assert arm.alive
