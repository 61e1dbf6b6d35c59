"""Launch files and parameter files: every executable, parameter, file and argument is valid."""

from __future__ import annotations

import importlib
import itertools
from pathlib import Path

import pytest
import yaml

PACKAGE = Path(__file__).resolve().parent.parent
LAUNCH_FILES = sorted(path.name for path in (PACKAGE / "launch").iterdir())


def combinations(launch_file):
    """All combinations of the arguments with choices; the others keep their defaults."""
    choices = {name: o["choices"] for name, o in launch_file.arguments.items() if "choices" in o}
    for values in itertools.product(*choices.values()):
        yield dict(zip(choices, values, strict=True))


@pytest.fixture(params=LAUNCH_FILES)
def launch_file(request, launch_files):
    return launch_files[request.param]


def test_they_are_there():
    assert LAUNCH_FILES == ["planning.launch.py", "ur_real.launch.py", "ur_simulated.launch.py"]


@pytest.mark.parametrize(("name", "more"), [("ur_simulated", {"sim_arm"}), ("ur_real", set())])
def test_arguments_reach_the_nodes_of_the_included_file(launch_files, name, more):
    given = {
        "robot": "ur5e",
        "series": "e-series",
        "tf_prefix": "left_",
        "controller": "a",
        "scene": "cage",
    }
    nodes = {
        node.executable: node
        for node in launch_files[f"{name}.launch.py"].starts(**given, rviz="true")
    }
    assert set(nodes) == {"planner", "streamer", "rviz2"} | more
    streamer, planner = nodes["streamer"].parameters, nodes["planner"].parameters
    assert {key: streamer[key] for key in given if key != "scene"} | {
        "scene": planner["scene"]
    } == given
    assert (planner["srdf"], planner["joint_limits"], planner["tf_prefix"]) == (
        "ur5e",
        "ur5e",
        "left_",
    )
    assert streamer["interface"] == "action"
    assert (streamer["profile"], planner["execution.profile"]) == ("ur", "ur")
    assert planner["execution.controller"] == streamer["controller"]


def test_profiles_are_those_of_the_table(launch_files):
    from robosim.ros.drivers import DRIVERS, GENERIC

    profile = launch_files["planning.launch.py"].arguments["profile"]
    assert profile["choices"] == list(DRIVERS)
    assert profile["default_value"] == GENERIC.name


def test_defaults_are_those_of_the_file_that_is_launched(launch_files):
    for name, series, controller in (
        ("ur_simulated", "auto", "scaled_joint_trajectory_controller"),
        ("ur_real", "cb3", ""),
    ):
        nodes = {node.executable: node for node in launch_files[f"{name}.launch.py"].starts()}
        assert nodes["streamer"].parameters["series"] == series
        assert nodes["streamer"].parameters["controller"] == controller
        assert "rviz2" not in nodes


def test_arguments_are_declared_used_and_described(launch_file):
    used = {call.args[0] for call in launch_file.calls("LaunchConfiguration")}
    assert used == set(launch_file.arguments)
    for name, options in launch_file.arguments.items():
        assert len(options["description"]) > 10, name
        assert isinstance(options["default_value"], str) or options["default_value"].kind, name
        if "choices" in options:
            assert options["default_value"] in options["choices"], name


def test_nodes_of_this_package_exist_and_take_the_parameters(launch_file):
    count = 0
    for arguments in combinations(launch_file):
        for node in launch_file.starts(**arguments):
            if node.package != PACKAGE.name:
                continue
            known = {
                p.name: p
                for p in importlib.import_module(f"robosim.ros.{node.executable}").PARAMETERS
            }
            for name, value in node.parameters.items():
                if name == "use_sim_time":
                    assert isinstance(value, bool)
                    continue
                assert name in known, (
                    f"{launch_file.path.name} {arguments}: {node.executable} has no {name!r}"
                )
                known[name].check(value)
            count += 1
    assert count


def test_files_exist(launch_file):
    for arguments in combinations(launch_file):
        for node in launch_file.starts(**arguments):
            assert all(file.is_file() for file in node.files), node.files
            for argument in node.arguments:
                assert not argument.startswith(str(PACKAGE)) or Path(argument).is_file(), argument


def test_every_section_of_every_parameter_file_belongs_to_a_node(launch_files):
    used: dict[Path, set[str]] = {}
    for launch_file in launch_files.values():
        for arguments in combinations(launch_file):
            for node in launch_file.starts(**arguments):
                for file in node.files:
                    used.setdefault(file, set()).add(node.name or node.executable)
    for file in (PACKAGE / "config").glob("*.yaml"):
        assert file in used, f"{file.name} is used by no launch file"
        for section in yaml.safe_load(file.read_text(encoding="utf-8")):
            assert section == "/**" or section.removeprefix("/**/") in used[file], (
                f"{file.name}: no node has {section!r}"
            )


def test_packages_that_are_named_are_dependencies_or_asked_for(launch_files):
    # With rviz:=true and driver:=true; simulation needs neither.
    asked_for = {"rviz2", "ur_robot_driver"}
    manifest = (PACKAGE / "package.xml").read_text(encoding="utf-8")
    for launch_file in launch_files.values():
        named = {call.options["package"] for call in launch_file.calls("Node")}
        named |= {call.args[0] for call in launch_file.calls("FindPackageShare")}
        for package in named - {PACKAGE.name} - asked_for:
            assert f">{package}</exec_depend>" in manifest, f"package.xml lacks {package}"


def test_launch_takes_them():
    """Load the files with ROS's own launch, which no wheel has: runs only if ROS 2 is installed."""
    # Not "launch", which is this package's folder of launch files without ROS.
    sources = pytest.importorskip(
        "launch.launch_description_sources",
        reason="launch is not installed: stand-ins of it have read the files",
    )
    launch = importlib.import_module("launch")
    for name in LAUNCH_FILES:
        path = str(PACKAGE / "launch" / name)
        assert isinstance(
            sources.get_launch_description_from_python_launch_file(path), launch.LaunchDescription
        )
