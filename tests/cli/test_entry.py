"""The command itself: imports of --help, exit codes of wrong usage, pipes, interruption."""

import json
import os
import signal
import subprocess

import pytest

from robosim import _engine
from robosim.cli import app, output
from robosim.cli.options import parse_positions
from robosim.errors import PlanningError

from ..isolated import PYTHON  # noqa: TID252

HEAVY = [
    "numpy",
    "scipy",
    "trimesh",
    "matplotlib",
    "viser",
    "rich",
    "yaml",
    "lxml",
    "yourdfpy",
    "robosim._engine",
]


def robosim(*arguments, **options):
    options = {"capture_output": True, "text": True, "timeout": 60, **options}
    return subprocess.run([*PYTHON, "-m", "robosim.cli", *arguments], check=False, **options)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["plan", "--help"], ["stream", "--help"], ["--version"], []]
)
def test_help_imports_nothing_heavy(arguments):
    code = (
        "import sys\nfrom robosim.cli import main\n"
        f"code = main({arguments!r})\n"
        f"print('HEAVY', [m for m in {HEAVY!r} if m in sys.modules], code)"
    )
    done = subprocess.run([*PYTHON, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "HEAVY [] 0"


def test_every_command_is_listed_and_has_help():
    text = robosim("--help").stdout
    for command in (
        "plan",
        "stream",
        "inspect",
        "view",
        "render",
        "check",
        "robots",
        "scenes",
        "planners",
    ):
        assert f"    {command}" in text
        helped = robosim(command, "--help")
        assert helped.returncode == 0
        assert helped.stdout.startswith(f"usage: robosim {command}")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["fly"], "invalid choice"),
        (["plan"], "ROBOT"),
        (["plan", "ur5", "--seed", "x"], "invalid int value: 'x'"),
        (["plan", "ur5", "--goal", "0", "--goal-named", "home"], "not allowed with"),
        (["plan", "ur5", "--gaol", "0"], "unrecognized arguments: --gaol"),
        (["plan", "ur5", "--goal-pose", "1", "2"], "expected 7 arguments"),
        (["render", "ur5"], "-o/--output"),
    ],
)
def test_bad_usage_is_one_line_and_code_2(arguments, expected):
    done = robosim(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("robosim: error: ")
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1


def test_numbers_that_begin_with_a_minus_are_values(monkeypatch):
    seen = {}
    monkeypatch.setattr("robosim.cli.plan.run", lambda args: seen.update(vars(args)) or 0)
    pose = ["-0.4", "-1e-3", "0.5", "0", "-1", "0", "-0"]
    assert app.main(["plan", "ur5", "--start", "-1.5,-.2,3e-1", "--goal-pose", *pose]) == 0
    assert parse_positions(seen["start"], "--start") == [-1.5, -0.2, 0.3]
    assert seen["goal_pose"] == [-0.4, -1e-3, 0.5, 0, -1, 0, 0]
    assert app.main(["plan", "ur5", "--goal", "-1"]) == 0
    assert parse_positions(seen["goal"], "--goal") == [-1]


def test_positions():
    assert parse_positions("1, 2 ,-3e-1", "--goal") == [1, 2, -0.3]
    assert parse_positions("elbow=1,wrist = -2", "--goal") == {"elbow": 1, "wrist": -2}
    assert parse_positions("home", "--goal") == "home"
    for text, expected in [
        ("", "is empty"),
        ("1,x", "'x' is not a number"),
        ("a=1,2", "'2' lacks a joint name"),
        ("a=1,a=2", "given twice"),
        ("a=", "'' is not a number"),
    ]:
        with pytest.raises(PlanningError, match=expected):
            parse_positions(text, "--goal")


def test_a_closed_pipe_is_silent():
    # The reader leaves before the writer starts; a pipe without a reader accepts nothing.
    read, write = os.pipe()
    os.close(read)
    done = robosim("check", capture_output=False, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert done.stderr == ""
    assert done.returncode == 141


def test_interruption_is_one_line_and_code_130(monkeypatch, capsys):
    def interrupted(_args):
        raise KeyboardInterrupt

    monkeypatch.setattr("robosim.cli.check.run", interrupted)
    assert app.main(["check"]) == 130
    assert capsys.readouterr().err == "robosim: interrupted\n"


def test_errors_are_one_line_and_a_traceback_on_request(monkeypatch, capsys):
    def broken(_args):
        raise PlanningError("joint 'a' is odd")

    monkeypatch.setattr("robosim.cli.check.run", broken)
    assert app.main(["check"]) == 2
    assert capsys.readouterr().err == "robosim: error: joint 'a' is odd\n"
    with pytest.raises(PlanningError):
        app.main(["--debug", "check"])


def test_check(tmp_path):
    done = robosim("check")
    assert done.returncode == 0
    for part in (
        "robosim ",
        "compiler",
        "flags",
        "built for",
        "kernels for",
        "Eigen",
        "cache",
        "viser",
        "coacd",
    ):
        assert part in done.stdout
    facts = json.loads(robosim("check", "--json").stdout)
    assert facts["engine"]["cpp_standard"] >= 202002
    assert facts["engine"]["compiler"].split()[0] in ("gcc", "clang")
    assert {e["name"] for e in facts["optional"]} >= {"viser", "coacd", "ompl"}


@pytest.mark.parametrize("missing", ["", "v4"])
def test_check_tells_when_the_processor_has_more_than_the_module(monkeypatch, capsys, missing):
    """A module compiled on a lesser machine runs, and reports how it could be faster."""
    build = _engine.build_info() | {"missing_kernels": missing}
    monkeypatch.setattr(_engine, "build_info", lambda: build)
    assert app.main(["check"]) == 0
    advice = "for this processor's v4, install from source on this machine"
    assert (advice in capsys.readouterr().out) == bool(missing)


def test_check_tells_the_kernels_instruction_set_and_the_environment_forces_one():
    def kernels(**environment):
        done = robosim("check", "--json", env={**os.environ, **environment})
        return json.loads(done.stdout)["engine"] if done.returncode == 0 else done.stderr

    usable = kernels(ROBOSIM_ISA="")["usable_kernels"]
    assert usable[0] == "baseline"
    assert [name for name in ("baseline", "v3", "v4") if name in usable] == usable
    assert kernels(ROBOSIM_ISA="")["kernels"] == usable[-1]
    for name in usable:
        assert kernels(ROBOSIM_ISA=name)["kernels"] == name
    assert kernels(ROBOSIM_ISA="sse9") == (
        "robosim: error: ROBOSIM_ISA: 'sse9' is no instruction set; valid here: "
        + ", ".join(usable)
        + "\n"
    )


def test_colors_only_on_a_terminal(monkeypatch):
    class Terminal:
        def isatty(self):
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert output.paint("x", "bold", stream=Terminal()) == "\x1b[1mx\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert output.paint("x", "bold", stream=Terminal()) == "x"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert output.paint("x", "bold", stream=Terminal()) == "x"
    monkeypatch.setenv("TERM", "xterm")
    assert output.paint("x", "bold") == "x"  # pytest's stdout is no terminal


def test_control_characters_are_escaped(monkeypatch, capsys):
    assert output.printable({"a\x1b[2J": ["\r", 1, "\u00e9"]}) == {
        "a\\x1b[2J": ["\\r", 1, "\u00e9"]
    }

    def broken(_args):
        raise PlanningError("joint '\x1b[31m' is\nodd")

    monkeypatch.setattr("robosim.cli.check.run", broken)
    assert app.main(["check"]) == 2
    assert capsys.readouterr().err == "robosim: error: joint '\\x1b[31m' is odd\n"


def test_json_has_no_infinities():
    import numpy as np

    assert output.to_json({"a": np.array([1.0, np.inf]), "b": (np.float64(2), float("nan"))}) == {
        "a": [1.0, None],
        "b": [2.0, None],
    }


def test_tables_are_aligned(capsys):
    output.print_table(("joint", "lower"), [("a", "1"), ("long name", "-12.5")])
    assert capsys.readouterr().out == "  joint      lower\n  a              1\n  long name  -12.5\n"


def test_ctrl_c_while_serving_ends_cleanly(tmp_path):
    """A real SIGINT to a waiting process: no traceback."""
    code = (
        "import sys, time\nimport robosim.cli.check as check\nfrom robosim.cli import main\n"
        "def run(args):\n    print('ready', flush=True)\n    time.sleep(30)\n"
        "check.run = run\nsys.exit(main(['check']))"
    )
    process = subprocess.Popen(
        [*PYTHON, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert process.returncode == 130
    assert errors == "robosim: interrupted\n"
