"""Colcon packages beside robosim.ros: found by colcon, not in the wheel, and consistent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest installs it

TOP = Path(__file__).resolve().parents[2]
ROS = TOP / "ros"
PACKAGES = {path.parent.name: path.parent for path in ROS.glob("*/package.xml")}


def test_colcon_finds_both_and_no_package_around_them():
    assert sorted(PACKAGES) == ["robosim_msgs", "robosim_ros"]
    # colcon looks for no packages inside a package.
    assert not [
        name for name in ("package.xml", "setup.py", "CMakeLists.txt") if (ROS / name).exists()
    ]
    assert not (TOP / "package.xml").exists()


def test_the_wheel_leaves_them_out():
    with (TOP / "pyproject.toml").open("rb") as file:
        excluded = tomllib.load(file)["tool"]["scikit-build"]["wheel"]["exclude"]
    assert sorted(excluded) == sorted(f"robosim/ros/{name}/**" for name in PACKAGES)


def test_interfaces_are_declared_to_depend_on_what_they_use():
    folder = PACKAGES["robosim_msgs"]
    manifest = ElementTree.parse(folder / "package.xml").getroot()
    assert manifest.findtext("member_of_group") == "rosidl_interface_packages"
    assert manifest.findtext("export/build_type") == "ament_cmake"
    used = set()
    for text in (
        *folder.glob("msg/*.msg"),
        *folder.glob("srv/*.srv"),
        *folder.glob("action/*.action"),
    ):
        for line in text.read_text(encoding="utf-8").splitlines():
            words = line.split("#")[0].split()
            if words and "/" in words[0]:
                used.add(words[0].split("/")[0])
    depended = {element.text for element in manifest.iter("depend")}
    assert used == depended
    cmake = (folder / "CMakeLists.txt").read_text(encoding="utf-8")
    assert all(f"find_package({name} REQUIRED)" in cmake for name in used)


def test_launch_files_and_executables():
    """Run the package's own tests, as `colcon test` does."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        str(ROS / "robosim_ros" / "test"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROS / "robosim_ros")
    assert done.returncode == 0, done.stdout + done.stderr
