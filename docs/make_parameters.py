"""Make docs/ros_parameters.md from the nodes' own tables: `python docs/make_parameters.py`.

Needs no ROS.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from robosim.ros.parameters import markdown

NODES = ("sim_arm", "streamer", "planner", "recorder")
PAGE = Path(__file__).resolve().parent / "ros_parameters.md"


def page() -> str:
    """Text of the page."""
    tables = (
        f"## {name}\n\n{markdown(import_module(f'robosim.ros.{name}').PARAMETERS)}"
        for name in NODES
    )
    title = "# Parameters of the ROS 2 nodes\n\n"
    title += "Made from the nodes' own tables; a node's `--help` prints the same.\n\n"
    return title + "\n".join(tables)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
