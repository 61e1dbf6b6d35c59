"""A robot's folder outside of the package, found by its path."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from robosim import load_robot
from robosim.cli import main
from robosim.errors import FileError
from robosim.urdf import bundled_robots
from robosim.urdf.source import _bundled_path

URDF = '<robot name="{}"><link name="base"/></robot>'
XACRO = '<robot name="{}" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="base"/></robot>'


def folder_of(tmp_path: Path, *names: str) -> Path:
    folder = tmp_path / "my_robot"
    folder.mkdir()
    for name in names:
        text = URDF if name.endswith(".urdf") else XACRO if name.endswith(".xacro") else ""
        (folder / name).write_text(text.format(name))
    return folder


@pytest.mark.parametrize("name", bundled_robots())
def test_a_copy_of_a_bundled_folder_is_the_same_robot(name, tmp_path):
    """The companion files are used, too: groups, states, limits, the base."""
    folder = tmp_path / name
    shutil.copytree(_bundled_path(name).parent, folder)
    model, own = load_robot(folder, base="described"), load_robot(name, base="described")
    assert repr(model) == repr(own)
    assert (model.groups, model.named_states) == (own.groups, own.named_states)
    np.testing.assert_array_equal(model.limits.acceleration, own.limits.acceleration)
    assert load_robot(f"{folder}/").name == name


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["my_robot.urdf"], "my_robot.urdf"),
        (["my_robot.urdf", "other.urdf", "parts.xacro"], "my_robot.urdf"),
        (["my_robot.urdf", "my_robot.xacro"], "my_robot.urdf"),
        (["my_robot.urdf.xacro", "other.urdf"], "my_robot.urdf.xacro"),
        (["only.urdf", "README.md"], "only.urdf"),
        (["only.xacro"], "only.xacro"),
        (["only.URDF"], "only.URDF"),
    ],
)
def test_which_file_of_a_folder_is_the_robot(names, found, tmp_path, monkeypatch):
    folder = folder_of(tmp_path, *names)
    (folder / found).write_text(
        (URDF if found.lower().endswith(".urdf") else XACRO).format("chosen")
    )
    for source in (folder, str(folder)):
        assert load_robot(source).name == "chosen"
    monkeypatch.chdir(folder.parent)
    assert load_robot("my_robot").name == "chosen"
    monkeypatch.chdir(folder)
    assert load_robot(".").name == "chosen"


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (
            ["a.urdf", "b.urdf", "README.md"],
            "it holds a.urdf, b.urdf: give the path of one of them",
        ),
        (["a.urdf", "b.xacro"], "it holds a.urdf, b.xacro: give the path of one of them"),
        (["README.md", "notes.txt"], "it holds README.md, notes.txt"),
        ([], "it holds no file"),
        ([f"{i:02}.txt" for i in range(20)], "10.txt, 11.txt and 8 more"),
    ],
)
def test_a_folder_without_one_robot_says_what_it_holds(names, told, tmp_path, capsys):
    folder = folder_of(tmp_path, *names)
    with pytest.raises(FileError) as caught:
        load_robot(folder)
    assert str(caught.value).startswith(
        f"{folder}: a robot's folder must hold my_robot.urdf, or exactly one"
    )
    assert told in str(caught.value)
    for command in ("inspect", "simulate", "view", "plan"):
        assert main([command, str(folder)]) == 2
        assert told in capsys.readouterr().err


def test_every_command_takes_a_folder(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "copy"
    shutil.copytree(_bundled_path("ur5").parent, folder)
    shown: list[object] = []
    monkeypatch.setattr("robosim.viewer.show", lambda *what, **options: shown.append(what))
    assert main(["inspect", str(folder)]) == 0
    assert main(["simulate", str(folder), "--for", "1ms"]) == 0
    assert main(["view", str(folder), "--no-open"]) == 0
    assert main(["render", str(folder), "-o", str(tmp_path / "a.png"), "--size", "64x64"]) == 0
    assert main(["plan", str(folder), "--start", "home", "--goal", "up"]) == 0
    assert len(shown) == 1
    assert "ur5" in capsys.readouterr().out
