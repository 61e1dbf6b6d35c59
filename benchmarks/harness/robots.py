"""Robots whose dynamics are measured, and one description of each that both sides read."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

from harness.problem_sets import SHARED_DATA


@dataclass(frozen=True)
class Robot:
    """A robot of the benchmark.

    Attributes:
        name: as in tables.
        file: its URDF, relative to the robots of example-robot-data, or to the shared data beside
            the checkout.
        floating: True if its base is floating.
        shared: True if its URDF is in the shared data.
        massless: links whose inertia is left out, because it is physically impossible and robosim
            rejects it.
    """

    name: str
    file: str
    floating: bool
    shared: bool = False
    massless: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """Path of the URDF, which may be absent.

        Raises:
            FileNotFoundError: the package with the URDF is not installed.
        """
        if self.shared:
            return SHARED_DATA / self.file
        try:
            distribution = metadata.distribution("example-robot-data")
        except metadata.PackageNotFoundError as error:
            raise FileNotFoundError("example-robot-data is not installed") from error
        return (
            Path(str(distribution.locate_file("cmeel.prefix/share/example-robot-data/robots")))
            / self.file
        )

    def urdf(self) -> str:
        """Return the URDF without shapes, which do not matter here, and with free mimic joints.

        Pinocchio's forward dynamics does not support mimic joints, so both sides move them
        independently.

        Raises:
            FileNotFoundError: the robot's file is absent.
        """
        if not self.path.is_file():
            raise FileNotFoundError(f"{self.path} is absent")
        tree = ElementTree.parse(self.path).getroot()
        for link in tree.iter("link"):
            parts = [*link.findall("visual"), *link.findall("collision")]
            for part in parts + (
                link.findall("inertial") if link.get("name") in self.massless else []
            ):
                link.remove(part)
        for joint in tree.iter("joint"):
            for part in joint.findall("mimic"):
                joint.remove(part)
        return ElementTree.tostring(tree, encoding="unicode")


ROBOTS = (
    Robot("UR5", "ur_description/urdf/ur5_robot.urdf", floating=False),
    Robot("Panda", "panda_description/urdf/panda.urdf", floating=False),
    Robot("Solo12", "solo_description/robots/solo12.urdf", floating=True),
    # "base" is a frame that has 1 mg and an impossible inertia.
    Robot(
        "ANYmal",
        "anymal_b_simple_description/robots/anymal.urdf",
        floating=True,
        massless=("base",),
    ),
    Robot("Talos", "talos_data/robots/talos_reduced.urdf", floating=True),
    Robot("Atlas", "atlas/atlas_v3_no_head.urdf", floating=True, shared=True),
)
