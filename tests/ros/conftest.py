"""Fixtures for tests of ROS 2: a private domain, processes, a client node, waiting.

Tests that need rclpy begin with `pytest.importorskip("rclpy", reason=...)`. The others run without
ROS.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ..realtime import STALLED  # noqa: TID252 (tests have no absolute name)
from .harness import waiting
from .harness.client import spinning_node
from .harness.domains import own_domain
from .harness.processes import Process, environment, node_command

_PROCESSES = pytest.StashKey[list[Process]]()
Launch = Callable[..., Process]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the output of a failed test's processes, and of the processes of its module."""
    report = yield
    if report.failed or report.outcome == STALLED:
        for process in [p for node in item.listchain() for p in node.stash.get(_PROCESSES, [])]:
            state = "running" if process.alive else f"ended with {process.popen.returncode}"
            report.sections.append(
                (f"{process.name} ({state}): {' '.join(process.command)}", process.output())
            )
    return report


@contextmanager
def _domain(folder: Path) -> Iterator[int]:
    with own_domain() as number, pytest.MonkeyPatch.context() as patch:
        for name, value in environment(number, folder).items():
            patch.setenv(name, value)
        yield number


@contextmanager
def _launcher(stash: pytest.Stash, domain: int, folder: Path) -> Iterator[Launch]:
    processes: list[Process] = []
    stash[_PROCESSES] = processes

    def launch(name: str, command: list[str], env: Mapping[str, str] | None = None) -> Process:
        log = folder / f"{len(processes)}-{name}.log"
        process = Process(name, command, log, folder, environment(domain, folder, env))
        processes.append(process)
        return process

    try:
        yield launch
    finally:
        for process in processes:
            process.kill()


def _starter(launch: Launch, folder: Path) -> Launch:
    def start(
        node: str, *arguments: str, env: Mapping[str, str] | None = None, **options: Any
    ) -> Process:
        return launch(node, node_command(node, arguments, folder=folder, **options), env)

    return start


@pytest.fixture
def domain(tmp_path: Path) -> Iterator[int]:
    """ROS_DOMAIN_ID that no other running test uses.

    The fixture sets it in the environment of this process, too.
    """
    with _domain(tmp_path) as number:
        yield number


@pytest.fixture
def launch_process(request: pytest.FixtureRequest, domain: int, tmp_path: Path) -> Iterator[Launch]:
    """`launch_process(name, command, env=None) -> Process`: start a program.

    The program runs in the test's domain and is killed at the end of the test.
    """
    with _launcher(request.node.stash, domain, tmp_path) as launch:
        yield launch


@pytest.fixture
def start(launch_process: Launch, tmp_path: Path) -> Launch:
    """Start a node of robosim.ros in a process of its own.

    `start(node, *arguments, params=None, remap=None, name=None, namespace=None, env=None) ->
    Process` runs `python -m robosim.ros.<node>`. `params` maps names of parameters to values and
    `remap` maps old names to new ones. `name` and `namespace` are the node's. The process is killed
    at the end of the test. Its output is shown if the test fails.
    """
    return _starter(launch_process, tmp_path)


@pytest.fixture
def ros_node(domain: int) -> Iterator[Any]:
    """Node of rclpy in the test's process; a thread of its own runs its callbacks."""
    with spinning_node("test_client", domain) as node:
        yield node


class World(NamedTuple):
    """Values of the fixtures `domain`, `launch_process`, `start` and `ros_node`, for a module."""

    domain: int
    launch_process: Launch
    start: Launch
    node: Any


@pytest.fixture(scope="module")
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """Processes and a client node that the tests of a module share; needs rclpy."""
    folder = tmp_path_factory.mktemp("world")
    with (
        _domain(folder) as domain,
        _launcher(request.node.stash, domain, folder) as launch,
        spinning_node("test_client", domain) as node,
    ):
        yield World(domain, launch, _starter(launch, folder), node)


@pytest.fixture
def wait_for() -> Callable[..., Any]:
    """`wait_for(condition, what, timeout=60)`: return the condition's value once it is true.

    The test fails if the condition stays false.
    """
    return waiting.wait_for
