"""robosim_ros for colcon: executables, launch files and parameters. The code is robosim.ros, from the installed robosim."""

from glob import glob

from setuptools import setup

NAME = "robosim_ros"

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
        (f"share/{NAME}/launch", sorted(glob("launch/*.launch.py"))),
        (f"share/{NAME}/config", sorted(glob("config/*"))),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    entry_points={
        "console_scripts": [
            f"{node} = robosim.ros.{node}:main" for node in ("sim_arm", "streamer", "planner", "recorder")
        ]
    },
)
