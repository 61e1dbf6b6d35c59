"""A stand-in for the controller of a UR arm, in a separate process.

ur-rtde may block or end its own process.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robosim
from robosim.execution.transports.rtde import TRANSPORT
from robosim.trajectory import Trajectory, TrajectoryLimits

HOME = np.array([0.0, -1.57, 1.57, 0.0, 0.0, 0.0])
PORTS = (30004, 30003, 29999)
_numbers = itertools.count(os.getpid() * 7)


def _until(
    condition: Callable[[], Any],
    what: str,
    unless: Callable[[], Any] = lambda: False,
    timeout: float = 60.0,
) -> Any:
    until = time.monotonic() + timeout
    while True:
        ended = unless()  # called first, as the condition may have become true just before the end
        if value := condition():
            return value
        assert not ended, f"it ended before this: {what}"
        assert time.monotonic() < until, f"not within {timeout} s: {what}"
        time.sleep(0.005)


def free_host() -> str:
    """Address of this machine at which all three ports are free. The port numbers are fixed."""
    for _ in range(100):
        number = next(_numbers) % 60000
        host = (
            f"127.71.{number // 250 + 1}.{number % 250 + 1}"
            if sys.platform == "linux"
            else "127.0.0.1"
        )
        with socket.socket() as probe:
            if all(probe.connect_ex((host, port)) for port in PORTS):
                return host
    raise AssertionError("no free address")


class Server:
    """A controller process. Its commands are listed in server/__main__.py."""

    home = HOME

    def __init__(self, **start: Any) -> None:
        self.host = free_host()
        start = {"series": "e", "model": "UR5", "q": HOME.tolist(), **start}
        self.robot = "ur5e" if start["series"] == "e" else "ur5"
        self.rate = 500.0 if start["series"] == "e" else 125.0
        command = [
            sys.executable,
            str(Path(__file__).with_name("server")),
            self.host,
            json.dumps(start),
        ]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert json.loads(self._line()) == "ready"

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def ask(self, name: str, value: Any = None) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([name, value]) + "\n")
        return json.loads(self._line())

    @property
    def state(self) -> dict[str, Any]:
        return self.ask("state")

    def set(self, **values: Any) -> None:
        self.ask("set", values)

    def servo_log(self) -> np.ndarray:
        """Set points (m, 10) of servoj cycles: time, target (6), gain, look-ahead, duration."""
        return np.array(self.ask("logs")["servo"]).reshape(-1, 10)

    def motion_log(self) -> np.ndarray:
        """States (m, 8) of all cycles in which the arm moved: time, q (6), scaling."""
        return np.array(self.ask("logs")["motion"]).reshape(-1, 8)

    def end(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def start(**options: Any) -> Server:
        servers.append(Server(**options))
        return servers[-1]

    yield start
    for server in servers:
        with contextlib.suppress(OSError, ValueError):  # it may have ended
            print(*server.state["events"], sep="\n")
        server.end()


@pytest.fixture
def connect() -> Iterator[Callable[..., Any]]:
    arms: list[Any] = []

    def reach(
        server: Server, *arguments: str, robot: str = "", joint_names: tuple[str, ...] = ()
    ) -> Any:
        parser = argparse.ArgumentParser()
        TRANSPORT.add_arguments(parser)
        # A watchdog of 2 Hz, since this machine may be busy for a tenth of a second.
        options = parser.parse_args(
            ["--rtde-host", server.host, "--rtde-watchdog", "2", *arguments]
        )
        model = robosim.load_robot(robot or server.robot)
        arms.append(TRANSPORT.connect(model, joint_names or model.position_names, options))
        return arms[-1]

    yield reach
    for arm in arms:
        arm.close()
        print(*arm.events, sep="\n")  # shows why an arm did not move, if a test fails


@pytest.fixture
def until() -> Callable[..., Any]:
    """Function until(condition, what, unless) that waits until a condition is true and returns it.

    It fails at once if `unless` becomes true, as the condition can no longer become true then.
    """
    return _until


@pytest.fixture
def make_plan() -> Callable[..., Trajectory]:
    """Function make_plan(duration, reach, joint_names) that plans a motion."""
    return _plan


def _plan(
    duration: float = 1.0, reach: float = 0.4, joint_names: tuple[str, ...] | None = None
) -> Trajectory:
    """Plan from HOME to and fro, with a different displacement for each joint."""
    model = robosim.load_robot("ur5")
    share = np.array([1.0, -0.6, 0.8, -0.4, 0.9, -1.0]) * reach
    names = model.position_names
    limits = TrajectoryLimits(
        lower=model.limits.lower, upper=model.limits.upper, velocity=model.limits.velocity
    )
    trajectory = Trajectory.from_waypoints(
        [0.0, 0.6 * duration, duration],
        [HOME, HOME + share, HOME + 0.4 * share],
        position_names=names,
        limits=limits,
    )
    return trajectory if joint_names is None else trajectory.reorder(joint_names)
