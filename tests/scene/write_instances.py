"""Write robosim/scene/instances: instance 0 of every scene family, for the bundled arms.

Run it after a change to a family or to one of the robots; test_families checks its files.
"""

from __future__ import annotations

from pathlib import Path

from robosim import load_robot
from robosim.scene import families, generate

ROOT = Path(__file__).parents[2] / "robosim" / "scene" / "instances"
ROBOTS = ("ur5", "ur5_gripper", "ur5e", "panda")

if __name__ == "__main__":
    for robot in ROBOTS:
        (ROOT / robot).mkdir(parents=True, exist_ok=True)
        for family in families():
            generate(family, model=load_robot(robot)).save(ROOT / robot / f"{family}.yaml")
