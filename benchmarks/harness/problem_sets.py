"""Planning problems: seven bundled families, and 70 problems of MotionBenchMaker if present.

The latter are for a UR5 with gripper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import robosim
from robosim.model import Model
from robosim.planners import Problem
from robosim.scene import Scene, read_moveit_request, read_moveit_scene

SHARED_DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
DATA = SHARED_DATA / "ur5_mbm"


@dataclass(frozen=True, eq=False)
class Case:
    """One problem of one family, and the URDF text of its robot for peers."""

    family: str
    name: str
    problem: Problem
    urdf: str


def bundled(per_family: int) -> Iterator[Case]:
    """Yield seeds 0 to per_family - 1 of every bundled family, for the bundled UR5."""
    from robosim.scene import families, generate

    model = robosim.load_robot("ur5")
    urdf = (resources.files("robosim.robots") / "ur5" / "ur5.urdf").read_text(encoding="utf-8")
    for family in families():
        for seed in range(per_family):
            yield Case(
                family,
                f"{family} seed {seed}",
                Problem(model, generate(family, seed, model=model)),
                urdf,
            )


def mbm_robot() -> Model:
    """Return the UR5 with Robotiq gripper, made of hulls.

    The forearm is made of convex pieces, as its hull falsely touches the wrist.
    """
    return robosim.load_robot(
        DATA / "robot" / "ur5.urdf",
        srdf=DATA / "robot" / "ur5.srdf",
        package_dirs=[DATA / "robot"],
        convex={"forearm_link": "pieces"},
        visuals=False,
    )


def motion_bench_maker(per_family: int) -> Iterator[Case]:
    """Yield the first per_family problems of each family of ur5_mbm, if the folder exists."""
    if not DATA.is_dir():
        return
    model = mbm_robot()
    urdf = (DATA / "robot" / "ur5.urdf").read_text(encoding="utf-8")
    for folder in sorted(path for path in DATA.iterdir() if path.name.endswith("_ur5")):
        for file in sorted(folder.glob("scene*.yaml"))[:per_family]:
            number = file.stem.removeprefix("scene")
            scene: Scene = read_moveit_scene(file, model=model)
            request = read_moveit_request(folder / f"request{number}.yaml")
            problem = Problem(
                model, scene, start=request.start, goal=request.goal, group=request.group
            )
            yield Case(
                f"mbm {folder.name.removesuffix('_ur5')}", f"{folder.name} {number}", problem, urdf
            )
