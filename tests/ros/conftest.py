"""Fixtures for tests of ROS 2: a domain of the test's own, processes, a client node, waiting.

What needs rclpy begins with `pytest.importorskip("rclpy", reason=...)`; the rest runs without.
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
    """Show what the processes of a failed test, and those of its module, have printed."""
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
    """A ROS_DOMAIN_ID that no other test uses now; it is also in the environment of this
    process."""
    with _domain(tmp_path) as number:
        yield number


@pytest.fixture
def launch_process(request: pytest.FixtureRequest, domain: int, tmp_path: Path) -> Iterator[Launch]:
    """`launch_process(name, command, env=None) -> Process`: any program in the test's domain,
    killed at the end."""
    with _launcher(request.node.stash, domain, tmp_path) as launch:
        yield launch


@pytest.fixture
def start(launch_process: Launch, tmp_path: Path) -> Launch:
    """`start(node, *arguments, params=None, remap=None, name=None, namespace=None, env=None) ->
    Process`.

    Runs `python -m robosim.ros.<node>` as a process of its own. `params` are parameters by name,
    `remap` new names by old ones, `name` and `namespace` the node's. It is killed at the end; its
    output is shown if the test fails.
    """
    return _starter(launch_process, tmp_path)


@pytest.fixture
def ros_node(domain: int) -> Iterator[Any]:
    """An rclpy node in the test's process; its callbacks run in a thread of its own."""
    with spinning_node("test_client", domain) as node:
        yield node


class World(NamedTuple):
    """What `domain`, `launch_process`, `start` and `ros_node` are for one test, for a whole
    module."""

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
    """`wait_for(condition, what, timeout=60)`: what the condition gives once it is true, else the
    test fails."""
    return waiting.wait_for
