"""Fixtures for tests of ROS 2: a domain of the test's own, processes, a client node, waiting.

What needs rclpy begins with `pytest.importorskip("rclpy", reason=...)`; the rest runs without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from .harness import waiting
from .harness.client import spinning_node
from .harness.domains import own_domain
from .harness.processes import Process, environment, node_command

_PROCESSES = pytest.StashKey[list[Process]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):  # type: ignore[no-untyped-def]
    """Show what the processes of a failed test have printed."""
    report = yield
    if report.failed:
        for process in item.stash.get(_PROCESSES, []):
            state = "running" if process.alive else f"ended with {process.popen.returncode}"
            report.sections.append(
                (f"{process.name} ({state}): {' '.join(process.command)}", process.output())
            )
    return report


@pytest.fixture
def domain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[int]:
    """A ROS_DOMAIN_ID that no other test uses now; it is also in the environment of this process."""
    with own_domain() as number:
        for name, value in environment(number, tmp_path).items():
            monkeypatch.setenv(name, value)
        yield number


@pytest.fixture
def launch_process(
    request: pytest.FixtureRequest, domain: int, tmp_path: Path
) -> Iterator[Callable[..., Process]]:
    """`launch_process(name, command, env=None) -> Process`: any program in the test's domain, killed at the end."""
    processes: list[Process] = request.node.stash.setdefault(_PROCESSES, [])

    def launch(name: str, command: list[str], env: Mapping[str, str] | None = None) -> Process:
        log = tmp_path / f"{len(processes)}-{name}.log"
        process = Process(name, command, log, tmp_path, environment(domain, tmp_path, env))
        processes.append(process)
        return process

    yield launch
    for process in processes:
        process.kill()


@pytest.fixture
def start(launch_process: Callable[..., Process], tmp_path: Path) -> Callable[..., Process]:
    """`start(node, *arguments, params=None, remap=None, name=None, namespace=None, env=None) -> Process`.

    Runs `python -m robosim.ros.<node>` as a process of its own. `params` are parameters by name, `remap` new names
    by old ones, `name` and `namespace` the node's. It is killed at the end; its output is shown if the test fails.
    """

    def begin(node: str, *arguments: str, env: Mapping[str, str] | None = None, **options: Any) -> Process:
        return launch_process(node, node_command(node, arguments, folder=tmp_path, **options), env)

    return begin


@pytest.fixture
def ros_node(domain: int) -> Iterator[Any]:
    """An rclpy node in the test's process; its callbacks run in a thread of its own."""
    with spinning_node("test_client", domain) as node:
        yield node


@pytest.fixture
def wait_for() -> Callable[..., Any]:
    """`wait_for(condition, what, timeout=20)`: what the condition gives once it is true, else the test fails."""
    return waiting.wait_for
