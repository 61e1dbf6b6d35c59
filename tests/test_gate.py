"""Scripts of the gate: times of lanes, kept environments, and repetitions of tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from . import scale

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(shutil.which("flock") is None, reason="no flock is installed")


def bash(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code after .ci/functions.sh, in the repository, with `work` set to the folder."""
    return subprocess.run(
        ["bash", "-c", f'set -euo pipefail; work="{folder}"; source .ci/functions.sh; {code}'],
        cwd=ROOT,
        env={**os.environ, "ROBOSIM_CI_CACHE": str(folder / "cache"), **environment},
        capture_output=True,
        text=True,
        timeout=300,  # far more than any test needs, even on a busy machine
        check=False,
    )


def test_lanes_tell_their_times_and_those_of_their_children(tmp_path):
    spin = "import time\nwhile time.process_time() < 0.3: pass"
    code = f"""
    trap print_times EXIT
    busy() {{ {sys.executable} -c "{spin}"; }}
    lane idle sleep 0.2
    lane busy busy &
    wait
    lane busy busy
    fails() {{ local x=1; bash -c "exit 3"; echo goes on; }}
    lane fails fails
    lane never true
    """
    done = bash(code, tmp_path)
    assert done.returncode == 3
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line}
    assert rows["fails"][3:] == ["failed:", "status", "3"]
    assert "never" not in rows
    times = {line.split()[0]: [0.0, 0.0] for line in (tmp_path / "times").read_text().splitlines()}
    for line in (tmp_path / "times").read_text().splitlines():
        name, *seconds = line.split()[:3]
        times[name] = [a + float(b) for a, b in zip(times[name], seconds, strict=True)]
    assert times["idle"][0] >= 0.2
    assert times["idle"][1] < 0.2
    assert 0.6 <= times["busy"][1] <= times["busy"][0] + 0.1


def works(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


# Reports the end of the other lane, by killing its process or writing its file. Prints whether this
# process was scheduled idly before that and whether it still is. If the scheduling may change,
# waits for the change.
CALM = """
import os, sys, time
idle = lambda: os.sched_getscheduler(0) == os.SCHED_IDLE
print(idle(), end=" ")
if sys.argv[1] == "process":
    os.kill(int(sys.argv[2]), 9)
else:
    open(sys.argv[2], "w").close()
end = time.monotonic() + float(sys.argv[3])
while idle() and time.monotonic() < end:
    time.sleep(0.05)
print(idle())
sys.exit(3)
"""


@pytest.mark.parametrize("what", ["process", "file"])
def test_a_lane_gives_way_until_another_is_through(tmp_path, what):
    schedules_idly = works("chrt", "--idle", "0", "true")
    may_end_it = works("chrt", "--idle", "0", "sh", "-c", "chrt --other --pid 0 $$")  # root may
    (tmp_path / "calm.py").write_text(CALM)
    ends = "$other" if what == "process" else "$work/through"
    # In a process group of its own, since idle scheduling ends for the whole group.
    code = f"""
    sleep 300 &
    other=$!
    lane_of_its_own() {{
      set +m
      give_way $other "$work/through" \\
        {sys.executable} "$work/calm.py" {what} {ends} {100 if may_end_it else 2}
    }}
    set -m
    lane_of_its_own &
    wait $! || echo "status $?"
    kill $other 2>/dev/null || true
    touch "$work/through"
    give_way $$ "$work/through" {sys.executable} -c "import os; print(os.sched_getscheduler(0))"
    """
    ours = [os.sched_getscheduler(0)]  # the gate may change it meanwhile
    done = bash(code, tmp_path)
    ours.append(os.sched_getscheduler(0))
    *said, later = done.stdout.splitlines()
    assert said == [
        f"{schedules_idly} {schedules_idly and not may_end_it}",
        "status 3",
    ], done.stderr
    assert int(later) in ours


# Replaces the installation by pip.
MAKE = """
make_environment() {
  rm -rf "$1"
  mkdir -p "$1/bin"
  ln -s "$(type -P true)" "$1/bin/python"
  echo package >"$1/package.py"
  echo made >>"$work/made"
  [ -z "${HALF:-}" ] || return 1
  sizes "$1" >"$1/sizes"
}
"""


@pytest.fixture
def environment(tmp_path):
    """`environment(*arguments, HALF="")`: the folder, and the number of environments made."""

    def call(*arguments: str, **variables: str) -> tuple[Path, int]:
        done = bash(
            f'{MAKE}\nenvironment {" ".join(arguments)}\necho "$env"', tmp_path, **variables
        )
        if not variables:
            assert done.returncode == 0, done.stderr
        return Path(done.stdout.strip()), len((tmp_path / "made").read_text().splitlines())

    return call


def test_environments_are_made_once_for_the_same_requirements(environment, tmp_path):
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("numpy\n")
    folder, made = environment("lint", "-r", str(requirements))
    assert made == 1
    elsewhere = tmp_path / "elsewhere.txt"
    elsewhere.write_text("numpy\n")
    assert environment("lint", "-r", str(elsewhere)) == (folder, 1)
    elsewhere.write_text("numpy>=2\n")
    other, made = environment("lint", "-r", str(elsewhere))
    assert other != folder
    assert made == 2


def test_modules_that_python_compiles_leave_an_environment_whole(environment):
    folder, _ = environment("lint")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "package.pyc").write_text("compiled")
    assert environment("lint") == (folder, 1)


@pytest.mark.parametrize("name", ["package.py", "sizes", "bin/python"])
def test_environments_that_have_lost_something_are_made_anew(environment, name):
    folder, _ = environment("lint")
    (folder / name).unlink()
    assert environment("lint") == (folder, 2)
    assert (folder / name).exists()


def test_half_made_environments_are_made_anew(environment):
    assert environment("lint", HALF="1")[1] == 1
    folder, made = environment("lint")
    assert made == 2
    assert environment("lint") == (folder, 2)


def test_environments_are_made_by_one_of_two_runs(tmp_path):
    code = f"""{MAKE}
    eval "make_at_once() $(declare -f make_environment | tail -n +2)"
    make_environment() {{ sleep 0.3; make_at_once "$@"; }}
    (environment lint) & one=$!
    (environment lint) & other=$!
    wait $one
    wait $other
    environment lint # a shell may ask for it again
    environment lint
    """
    done = bash(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "made").read_text().splitlines() == ["made"]


def test_slices_are_spread_over_the_whole(monkeypatch):
    monkeypatch.setattr(scale, "FULL", False)
    assert scale.repeats(3, 100) == 3
    assert scale.some(range(10), 3) == [1, 5, 8]
    assert scale.some(range(10), 1) == [5]
    assert scale.some("ab", 5) == ["a", "b"]
    monkeypatch.setattr(scale, "FULL", True)
    assert scale.repeats(3, 100) == 100
    assert scale.some(range(10), 3) == list(range(10))


def test_an_unknown_scale_is_refused():
    code = f"import runpy; runpy.run_path({str(ROOT / 'tests' / 'scale.py')!r})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "ROBOSIM_TEST_SCALE": "fulll"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ROBOSIM_TEST_SCALE is 'fulll' and has to be one of gate, full" in done.stderr
