"""Setup of robosim_ros for colcon: executables, launch files, parameters.

The code is robosim.ros of the installed robosim.
"""

from pathlib import Path

from setuptools import setup

NAME = "robosim_ros"


def files(folder: str, pattern: str) -> list[str]:
    """Return the files of a folder of this package."""
    return sorted(str(path) for path in Path(folder).glob(pattern))


setup(
    name=NAME,
    version="0.1.0",
    description="ROS 2 nodes of robosim: a simulated arm, a planner, a streamer and a recorder",
    author="The robosim developers",
    maintainer="The robosim developers",
    license="BSD-3-Clause",
    packages=[],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/launch", files("launch", "*.launch.py")),
        (f"share/{NAME}/config", files("config", "*")),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    entry_points={
        "console_scripts": [
            f"{node} = robosim.ros.{node}:main"
            for node in ("sim_arm", "streamer", "planner", "recorder")
        ]
    },
)
