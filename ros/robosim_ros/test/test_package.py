"""Checks for colcon and `ros2 run`: executables are nodes of the installed robosim."""

from __future__ import annotations

import ast
import configparser
import importlib
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

PACKAGE = Path(__file__).resolve().parent.parent
MANIFEST = ElementTree.parse(PACKAGE / "package.xml").getroot()


def setup_arguments() -> dict[str, ast.expr]:
    """Arguments of setup() in setup.py."""
    tree = ast.parse((PACKAGE / "setup.py").read_text(encoding="utf-8"))
    call = next(
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "setup"
    )
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def executables() -> list[str]:
    """Names of the entry points in setup.py."""
    made = setup_arguments()["entry_points"]
    names = next(n for n in ast.walk(made) if isinstance(n, ast.Tuple))
    return [ast.literal_eval(name) for name in names.elts]


def test_manifest_is_of_format_3_and_ament_python():
    assert MANIFEST.get("format") == "3"
    assert MANIFEST.findtext("name") == PACKAGE.name
    assert MANIFEST.findtext("export/build_type") == "ament_python"
    assert MANIFEST.findtext("license") == "BSD-3-Clause"
    assert (PACKAGE / "resource" / PACKAGE.name).is_file()


def test_version_is_the_same_everywhere():
    messages = ElementTree.parse(PACKAGE.parent / "robosim_msgs" / "package.xml").getroot()
    version = ast.literal_eval(setup_arguments()["version"])
    assert MANIFEST.findtext("version") == messages.findtext("version") == version
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)  # valid in a manifest


def test_executables_go_where_ros2_run_looks_and_use_the_active_interpreter():
    config = configparser.ConfigParser()
    config.read(PACKAGE / "setup.cfg")
    assert config["develop"]["script_dir"] == f"$base/lib/{PACKAGE.name}"
    assert config["install"]["install_scripts"] == f"$base/lib/{PACKAGE.name}"
    assert config["build_scripts"]["executable"] == "/usr/bin/env python3"


def test_no_code_of_its_own():
    assert ast.literal_eval(setup_arguments()["packages"]) == []
    assert not list(PACKAGE.rglob("__init__.py"))


@pytest.mark.parametrize("name", executables())
def test_every_executable_is_a_node_of_robosim(name):
    module = importlib.import_module(f"robosim.ros.{name}")
    assert callable(module.main)
    assert module.PARAMETERS


def test_the_four_nodes_are_there():
    assert sorted(executables()) == ["planner", "recorder", "sim_arm", "streamer"]


def test_every_ros_package_that_robosim_imports_is_a_dependency():
    sources = Path(importlib.import_module("robosim.ros").__file__).parent.rglob("*.py")
    imported = set()
    for source in sources:
        if source.is_relative_to(PACKAGE.parent / PACKAGE.name) or PACKAGE.name in source.parts:
            continue
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                imported.add(node.module.split(".")[0])
            elif isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
    ros = {
        name
        for name in imported
        if name == "rclpy" or name.endswith(("_msgs", "_srvs", "_interfaces"))
    }
    assert "rclpy" in ros
    ros.remove("moveit_msgs")  # used where it is installed, for RViz's display of MoveIt
    depended = {element.text for element in MANIFEST.iter("exec_depend")}
    assert ros <= depended, f"package.xml lacks {sorted(ros - depended)}"
