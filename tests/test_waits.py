"""Realtime tests wait for events; time passes in them only if it is the subject."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from .conftest import REALTIME

LOOK = "the pause between two looks at what is waited for"
RATE = "messages at a rate"
FAULT = "the fault itself: a process that gets no processor"
ALLOWED = {
    ("ros/harness/waiting.py", "wait_for"): LOOK,
    ("ros/wire_peer.py", "wait_for"): LOOK,
    ("ros/wire_peer.py", "listen"): LOOK,
    ("execution/rtde/conftest.py", "_until"): LOOK,
    ("ros/wire_peer.py", "talk"): RATE,
    ("ros/wire_peer.py", "arm"): RATE,
    ("ros/test_wire.py", "test_the_streamers_arm_is_heard"): RATE,
    ("ros/harness/fake_arm.py", "keep_publishing"): RATE,
    ("ros/harness/fake_arm.py", "follow"): RATE,
    ("ros/harness/plain_arm.py", "keep_publishing"): RATE,
    ("ros/harness/plain_arm.py", "follow"): RATE,
    ("ros/test_planner_world.py", "_publish"): RATE,
    ("ros/harness/sim_clock.py", "_run"): RATE,
    ("ros/test_arm_clock.py", "tick"): RATE,
    ("ros/test_monitor.py", "arm"): RATE,
    ("ros/test_planner_robots.py", "_run"): RATE,
    ("ros/test_sim_arm_process.py", "advance"): RATE,
    ("execution/rtde/server/__main__.py", "run"): "the controller's cycle",
    ("ros/test_faults_arm.py", "test_an_arm_that_hangs_goes_on_without_a_jump"): FAULT,
    ("ros/test_sim_arm_parts.py", "period"): FAULT,
}


def waits(node: ast.AST, where: str = "") -> Iterator[str]:
    """Functions that sleep, or that wait with a timeout and ignore the result."""
    for child in ast.iter_child_nodes(node):
        inner = child.name if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) else where
        if isinstance(child, (ast.Assert, ast.Return)):
            continue
        if isinstance(child, ast.Call):
            called = getattr(child.func, "attr", getattr(child.func, "id", ""))
            several = "asyncio" in ast.dump(child.func)
            if called == "sleep" or (called == "wait" and child.args and not several):
                yield inner
        elif isinstance(child, ast.Constant) and "sleep(" in str(child.value):
            yield inner  # a script
        yield from waits(child, inner)


def test_time_passes_only_where_it_is_the_subject():
    top = Path(__file__).parent
    found = {
        (file.relative_to(top).as_posix(), function)
        for folder in REALTIME
        for file in folder.rglob("*.py")
        for function in waits(ast.parse(file.read_text(encoding="utf-8")))
    }
    assert found == set(ALLOWED)
