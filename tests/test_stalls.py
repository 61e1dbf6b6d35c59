"""The witness of stalls, and the outcome of tests that fail during a stall."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .stalls import COUNTS_WAITING, LEAST, STOOD, WAITED, Stalls, _Family, _Look, wait_until_quiet

# Number of processors that are watched.
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
counts_waiting = pytest.mark.skipif(
    not COUNTS_WAITING, reason="this system does not count what threads wait"
)


@pytest.fixture
def stalls():
    witness = Stalls()
    yield witness
    witness.close()


def stop_for_a_while(pid):
    """Stop a process: it does not run, as if its processors were taken away."""
    os.kill(pid, signal.SIGSTOP)
    time.sleep(0.4)  # the length of the stall
    os.kill(pid, signal.SIGCONT)


def test_a_processor_that_stands_still_is_noted(stalls):
    begin = stalls.now()
    stop_for_a_while(stalls.pid)
    noted = [stall for stall in stalls.since(begin) if stall.kind == STOOD]
    assert len(noted) >= PROCESSORS
    assert max(stall.length for stall in noted) > 0.3
    end = stalls.now()
    assert all(begin < stall.end < end for stall in noted)
    assert not [stall for stall in stalls.since(end) if stall in noted]


BUSY = "import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end: pass"
DISTURB = f"""
import os, sys
os.sched_setaffinity(0, {{int(sys.argv[1])}})
for _ in range(2):
    if (pid := os.fork()) == 0:
        os.close(1)
        exec({BUSY!r})
        os._exit(0)
    print(pid)
"""


@pytest.fixture
def starve():
    """`starve()`: start a busy child on a processor that other processes mostly occupy.

    The others are not descendants of this process.
    """
    processor = str(min(os.sched_getaffinity(0)))
    own, others = [], []

    def start():
        begun = subprocess.run(
            [sys.executable, "-c", DISTURB, processor],
            check=True,
            text=True,
            stdout=subprocess.PIPE,
        )
        others.extend(map(int, begun.stdout.split()))
        code = f"import os\nos.sched_setaffinity(0, {{{processor}}})\n{BUSY}"
        own.append(subprocess.Popen([sys.executable, "-c", code]))
        return own[-1]

    yield start
    for process in own:
        process.kill()
        process.wait()
    for pid in others:
        os.kill(pid, signal.SIGKILL)


def waited(stalls, begin):
    return sum(stall.length for stall in stalls.since(begin) if stall.kind == WAITED)


@counts_waiting
def test_a_process_of_ours_that_others_keep_from_a_processor_is_noted(stalls, starve):
    begin = stalls.now()
    process = starve()
    end = time.monotonic() + 30
    while waited(stalls, begin) < 4 * LEAST:
        assert time.monotonic() < end, f"noted {stalls.since(begin)}"
    process.kill()


@counts_waiting
def test_what_our_processes_wait_for_each_other_is_no_stall():
    family = _Family(os.getpid())

    def noted(*looks):
        family.looks.clear()
        for k, (missed, taken) in enumerate(looks):
            family.looks.append(_Look(k * 0.1, (k + 1) * 0.1, missed, taken))
        return [(round(stall.end, 6), round(stall.length, 6)) for stall in family.stalls(0.0)]

    assert noted((0.3, 0.0), (0.3, 0.02), (0.3, -0.01), (0.3, 0.02)) == []  # busy by themselves
    assert noted((0.02, 0.2), (0.0, 0.2), (0.02, 0.2)) == []  # others are busy, but leave enough
    assert noted((0.06, 0.2)) == [(0.1, 0.06)]
    assert noted((0.3, 0.06)) == [(0.1, 0.06)]  # no more than others had
    assert noted((0.0, 0.2), (0.03, 0.2), (0.03, 0.2), (0.0, 0.2), (0.0, 0.2)) == [(0.3, 0.06)]
    assert noted(*[(0.1, 0.2)] * 3, *[(0.0, 0.0)] * 3, *[(0.1, 0.2)] * 2) == [
        (0.4, 0.3),
        (0.8, 0.2),
    ]
    assert [round(stall.end, 6) for stall in family.stalls(0.45)] == [0.8]


def test_waiting_for_a_quiet_machine_ends():
    begin = time.monotonic()
    busy = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        assert not wait_until_quiet(1.5)
    finally:
        busy.kill()
        busy.wait()
    assert time.monotonic() - begin >= (1.5 if COUNTS_WAITING else 0.0)


# -- The plugin: runs of pytest with stalls at chosen times ----------------------------------------

CONFTEST = """
import sys
sys.path.append({root!r})
from tests import realtime
from tests.stalls import STOOD, Stall

stalls = []

class Scripted:
    def now(self): return float(len(stalls))
    def since(self, begin): return stalls[int(begin):]
    def close(self): pass

def wait_until_quiet(most):
    print("waits for quiet")
    return True

realtime.wait_until_quiet = wait_until_quiet
if {scripted}:
    realtime.Stalls = Scripted

pytest_addoption = realtime.add_options

def pytest_configure(config):
    config.addinivalue_line("markers", "realtime")
    config.pluginmanager.register(realtime.RealtimeTests(config))
"""
TESTS = """
import os, signal, time
import pytest
from conftest import STOOD, Stall, stalls

tries = {{}}

def stall(): stalls.append(Stall(float(len(stalls)), 0.2, STOOD))

def nth_try(name):
    tries[name] = tries.get(name, 0) + 1
    return tries[name]

pytestmark = pytest.mark.realtime
{tests}
"""


@pytest.fixture
def run(tmp_path):
    """`run(tests, *arguments)`: exit status and output of pytest."""

    def run(tests, *arguments, scripted=True):
        root = str(Path(__file__).parents[1])
        (tmp_path / "conftest.py").write_text(CONFTEST.format(root=root, scripted=scripted))
        (tmp_path / "test_it.py").write_text(TESTS.format(tests=tests))
        # Other installed plugins would take most of the startup time.
        command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", *arguments]
        environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        done = subprocess.run(command, cwd=tmp_path, env=environment, timeout=120, **output)
        return done.returncode, done.stdout

    return run


def last_line(output):
    return output.splitlines()[-1]


def test_a_stalled_test_is_run_again_after_the_others(run):
    tests = """
def test_a():
    if nth_try("a") < 3:
        stall()
        assert False, "too late"
def test_b():
    stall()  # which alone is no failure
    print("b runs")
"""
    status, output = run(tests)
    assert status == 0, output
    assert "2 passed, 2 again" in output
    assert "passed in the end: test_it.py::test_a" in output
    assert output.count(f": {STOOD} for 0.20 s: AssertionError: too late") == 2
    assert output.index("b runs") < output.index("waits for quiet")
    assert output.count("waits for quiet") == 2
    assert (
        last_line(output)
        == "realtime: 2 passed, 0 failed, 0 skipped, 0 stalled; 1 stalled in some try"
    )


def test_what_is_stalled_after_three_tries_is_told_and_does_not_fail(run, tmp_path):
    tests = """
def test_a():
    nth_try("a")
    stall()
    assert False, "too late"
def test_b(): pass
def test_c(): print("tries:", tries)
"""
    status, output = run(tests, "--stalled-to", "stalled.txt")
    assert status == 0, output
    assert "2 passed, 2 again, 1 stalled" in output
    assert "stalled in the end: test_it.py::test_a" in output
    assert "  try 3: " in output
    assert "  try 4: " not in output
    assert (
        last_line(output)
        == "realtime: 2 passed, 0 failed, 0 skipped, 1 stalled; 1 stalled in some try"
    )
    assert (tmp_path / "stalled.txt").read_text() == "test_it.py::test_a\n"
    # Only these tests are run again, as often as required.
    status, output = run(tests, "@stalled.txt", "--tries", "1", "--stalled-to", "stalled.txt")
    assert status == 0, output
    assert (
        last_line(output)
        == "realtime: 0 passed, 0 failed, 0 skipped, 1 stalled; 1 stalled in some try"
    )
    assert "waits for quiet" not in output
    assert (tmp_path / "stalled.txt").read_text() == "test_it.py::test_a\n"


@pytest.mark.parametrize("fails_in", [1, 2, 3])
def test_a_failure_without_a_stall_is_one_in_any_try(run, fails_in):
    tests = f"""
def test_a():
    if nth_try("a") != {fails_in}: stall()
    raise ValueError("a fault")
"""
    status, output = run(tests)
    assert status == 1, output
    assert "1 failed" in output
    assert output.count("R") >= fails_in - 1
    assert last_line(output).startswith("realtime: 0 passed, 1 failed, 0 skipped, 0 stalled;")


def test_a_fixture_that_stalls_is_made_again_for_all_that_share_it(run):
    tests = """
@pytest.fixture(scope="module")
def world():
    if nth_try("world") == 1:
        stall()
        raise TimeoutError("the arm is not there")
    yield
    if nth_try("end of the world") == 1:
        stall()
        raise TimeoutError("the arm does not end")

@pytest.fixture
def other(): assert nth_try("other") > 0

def test_a(world): pass
def test_b(world): pass
def test_c(other): assert nth_try("c") > 1  # shares nothing: its failure is its own
"""
    status, output = run(tests)
    assert status == 1, output
    # In the second try a passes, and the fixture's end fails in b's. The third try runs b alone.
    assert "2 passed" in output
    assert "3 again" in output
    assert (
        last_line(output)
        == "realtime: 2 passed, 1 failed, 0 skipped, 0 stalled; 2 stalled in some try"
    )
    assert (
        "what it shares with a stalled test may be broken: TimeoutError: the arm is not there"
        in output
    )


def test_a_failure_before_a_stall_is_no_stalled_one(run):
    tests = """
@pytest.fixture
def late():
    yield
    stall()
    raise TimeoutError("the arm does not end")
def test_a(late): raise ValueError("a fault")
"""
    status, output = run(tests)
    assert status == 1, output
    assert (
        last_line(output)
        == "realtime: 0 passed, 1 failed, 0 skipped, 0 stalled; 0 stalled in some try"
    )


def test_other_tests_are_left_alone(run):
    status, output = run("pytestmark = []\ndef test_a():\n    stall()\n    assert False")
    assert status == 1, output
    assert "1 failed in" in last_line(output)


def test_the_plugin_and_the_witness_together(run):
    tests = """
from tests import realtime
def test_a(request):
    if nth_try("a") == 1:
        plugins = request.config.pluginmanager.get_plugins()
        plugin = next(p for p in plugins if isinstance(p, realtime.RealtimeTests))
        os.kill(plugin._stalls.pid, signal.SIGSTOP)
        time.sleep(0.4)
        os.kill(plugin._stalls.pid, signal.SIGCONT)
        assert False, "too late"
"""
    status, output = run(tests, scripted=False)
    assert status == 0, output
    assert f"try 1: {STOOD} for " in output
    assert last_line(output).startswith(
        "realtime: 1 passed, 0 failed, 0 skipped, 0 stalled; 1 stalled"
    )


def test_workers_of_xdist_have_one_try(run):
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    tests = """
@pytest.mark.parametrize("k", range(4))
def test_a(k):
    if k == 0:
        stall()
        assert False, "too late"
"""
    status, output = run(tests, "-p", "xdist", "-n", "2")
    assert status == 0, output
    assert (
        last_line(output)
        == "realtime: 3 passed, 0 failed, 0 skipped, 1 stalled; 1 stalled in some try"
    )
