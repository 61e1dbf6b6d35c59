"""Every subcommand on every bundled robot, scene and planner, with and without --json.

Commands, their options and choices come from the parser, and their arguments from the package's
lists, so that additions are tested without changes here. Each command exits with 0, or refuses in
one line for a reason that the test derives from the robot.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest

from robosim import load_robot
from robosim.cli import main, view
from robosim.cli.app import build_parser
from robosim.errors import UrdfError
from robosim.execution.plant import commandable
from robosim.planners import available_planners
from robosim.scene import Scene, bundled_scenes, load_scene
from robosim.urdf import bundled_robots

from ..scale import some  # noqa: TID252 (tests have no absolute name)

DONE, REFUSED, NO_PLAN = 0, 2, 3
SCENE, PLANNER = bundled_scenes()[0], next(iter(available_planners()))
# Values that keep a command short, by option.
SHORT = {"--for": "5ms", "--size": "32x24", "--budget": "20"}
# Output files of commands that write.
FILES = {"render": ["out.png", "out.html"]}


def commands() -> dict[str, argparse.ArgumentParser]:
    (choices,) = (
        a.choices for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction)
    )
    return dict(choices)


COMMANDS = commands()


def takes(command: str, option: str) -> bool:
    return any(option in (*a.option_strings, a.dest) for a in COMMANDS[command]._actions)


def of(*needed: str) -> list[str]:
    return [c for c in COMMANDS if all(takes(c, n) for n in needed)]


def run(capsys, command: str, *arguments: str) -> tuple[int, str, str]:
    """Run a command; return exit code, output and errors.

    The output is JSON with --json. A refusal is one line. No command prints a traceback.
    """
    short = [
        x for option, value in SHORT.items() if takes(command, option) for x in (option, value)
    ]
    code = main([command, *arguments, *short])
    out, err = capsys.readouterr()
    assert code in (DONE, REFUSED, NO_PLAN), (command, arguments, err)
    assert "Traceback" not in err
    assert "\x1b" not in out + err
    if code == REFUSED:
        assert out == ""
        *warnings, last = err.splitlines()
        assert last.startswith("robosim: error: ")
        assert len(last) > 30
        assert all(line.startswith(("robosim: warning: ", "robosim: ")) for line in warnings)
    elif "--json" in arguments:
        assert isinstance(json.loads(out), dict)
    else:
        assert out
        assert not {"nan", "inf", "None"} & set(out.replace(",", " ").split()), out
    return code, out, err


def ends(robot: str) -> list[np.ndarray]:
    """Two free configurations: neutral or a named state, and one near it."""
    model = load_robot(robot)
    scene, lower, upper = Scene().compile(model), model.limits.lower, model.limits.upper
    starts = [
        np.clip(model.neutral(), lower, upper),
        *(model.configuration(s.name) for s in model.named_states),
    ]
    start = next(q for q in starts if not scene.collides(q))
    is_straight = np.array([kind != "quaternion" for kind in model.position_kinds])
    goals = (
        np.clip(start + step * is_straight, lower, upper) for step in (0.02, -0.02, 1e-3, -1e-3)
    )
    return [start, next(q for q in goals if not scene.collides(q))]


def written(q: np.ndarray) -> str:
    return ",".join(repr(float(x)) for x in q)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # The server ends, as by Ctrl-C, when it would open the browser.
    monkeypatch.setattr(view, "_open", _interrupt)
    return tmp_path


def _interrupt(url: str) -> None:
    raise KeyboardInterrupt


def rest(command: str, robot: str) -> list[list[str]]:
    """Arguments required besides the robot, and the files that the command is to write."""
    if command == "plan":
        start, goal = ends(robot)
        return [["--start", written(start), "--goal", written(goal), "-o", "plan.json"]]
    return [["-o", name] for name in FILES.get(command, [])] or [[]]


def test_the_parser_is_known():
    """This test can supply every positional and required argument."""
    for command, parser in COMMANDS.items():
        for action in parser._actions:
            if action.required or not action.option_strings:
                assert action.dest in ("robot", "plan", "output"), (
                    f"{command}: no way to give {action.dest!r}"
                )
    assert set(of("robot", "--output")) >= set(FILES)
    assert {"robots", "scenes", "planners", "check"} <= set(COMMANDS) - set(of("robot")) - set(
        of("plan")
    )


@pytest.mark.parametrize(
    "command", [c for c in COMMANDS if not takes(c, "robot") and not takes(c, "plan")]
)
def test_commands_about_the_installation(command, capsys):
    for json_option in ([], ["--json"]):
        assert run(capsys, command, *json_option)[0] == DONE
    lists = {
        "robots": bundled_robots(),
        "scenes": bundled_scenes(),
        "planners": available_planners(),
    }
    if command in lists:
        assert json.loads(run(capsys, command, "--json")[1])[command] == sorted(lists[command])


@pytest.mark.parametrize("robot", bundled_robots())
@pytest.mark.parametrize("command", [c for c in of("robot") if c != "stream"])
def test_every_robot(command, robot, capsys):
    for given in rest(command, robot):
        for json_option in [[], ["--json"]] if takes(command, "--json") else [[]]:
            code, _, err = run(capsys, command, robot, *given, *json_option)
            assert code == DONE, err


def why_not(robot: str, base: str) -> str:
    """Reason why the robot cannot have this base, or an empty string.

    For example, a floating base without mass is refused.
    """
    try:
        faults = load_robot(robot, base=base).dynamics_faults
    except UrdfError as error:
        return " ".join(str(error).splitlines())
    return faults[0] if faults else ""


@pytest.mark.parametrize("robot", bundled_robots())
def test_every_choice(robot, capsys):
    """Each value of each option with a list of choices."""
    for command in of("robot"):
        if command == "stream":
            continue
        for action in COMMANDS[command]._actions:
            for choice in action.choices or ():
                if action.dest == "convex" and choice == "pieces":
                    continue  # takes minutes: tests/meshes
                given = rest(command, robot)[-1]
                code, _, err = run(capsys, command, robot, *given, action.option_strings[0], choice)
                refusal = "" if action.dest != "base" else why_not(robot, choice)
                if refusal:
                    assert code == REFUSED
                    assert re.search(rf"^robosim: error: .*{re.escape(refusal)}", err, re.MULTILINE)
                else:
                    assert (code, err) == (DONE, "")


@pytest.mark.parametrize("robot", bundled_robots())
def test_every_plan_is_streamed(robot, capsys):
    """A plan with joints that no controller can command is refused."""
    start, goal = ends(robot)
    assert (
        run(
            capsys,
            "plan",
            robot,
            "--start",
            written(start),
            "--goal",
            written(goal),
            "-o",
            "plan.json",
        )[0]
        == DONE
    )
    model = load_robot(robot)
    is_commanded = set(model.position_names) == set(commandable(model))
    for command in of("plan"):
        for action in COMMANDS[command]._actions:
            for choice in action.choices or ():
                if action.dest == "convex":
                    continue
                for json_option in [], ["--json"]:
                    code, _, err = run(
                        capsys, command, "plan.json", action.option_strings[0], choice, *json_option
                    )
                    assert code == (DONE if is_commanded else REFUSED), err
                    assert is_commanded or "can be commanded" in err


def robots_with_scenes() -> list[str]:
    """Robots for which the package has instances of all scenes."""
    import robosim.scene

    instances = Path(robosim.scene.__file__).with_name("instances")
    return sorted(
        path.name for path in instances.iterdir() if path.is_dir() and path.name in bundled_robots()
    )


@pytest.mark.parametrize(
    ("robot", "scene"), some(list(itertools.product(robots_with_scenes(), bundled_scenes())), 9)
)
def test_every_scene(robot, scene, capsys):
    for command in of("robot", "--scene"):
        given = ["-o", "out.html"] if command in FILES else []
        for json_option in [[], ["--json"]] if takes(command, "--json") else [[]]:
            code, out, err = run(capsys, command, robot, "--scene", scene, *given, *json_option)
            assert code == DONE, out + err
            assert command == "plan" or code == DONE


@pytest.mark.parametrize("scene", bundled_scenes())
def test_scenes_of_what_is_no_arm(scene, capsys):
    """A scene is made for a robot that can solve it; other robots are refused in one line."""
    robot = next(r for r in bundled_robots() if len(load_robot(r).joint_names) < 3)
    code, _, err = run(capsys, "simulate", robot, "--scene", scene)
    assert code == REFUSED
    assert robot in err
    assert scene in err


@pytest.mark.parametrize("planner", available_planners())
def test_every_planner(planner, capsys):
    robot = robots_with_scenes()[0]
    scenes = some(bundled_scenes(), 2)
    for command, scene in itertools.product(of("robot", "--planner"), scenes):
        for json_option in [], ["--json"]:
            code, out, err = run(
                capsys, command, robot, "--scene", scene, "--planner", planner, *json_option
            )
            assert code == DONE, out + err
            assert planner in out
            assert load_scene(scene).name in out


def test_no_planner_of_that_name(capsys):
    for command in of("robot", "--planner"):
        start, goal = ends(bundled_robots()[0])
        code, _, err = run(
            capsys,
            command,
            bundled_robots()[0],
            "--start",
            written(start),
            "--goal",
            written(goal),
            "--planner",
            "none",
        )
        assert code == REFUSED
        assert all(name in err for name in available_planners())
