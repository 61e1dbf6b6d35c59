"""The planned robot, from a received description or from a file."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robosim.errors import FileError, suggestion
from robosim.ros.description import joint_limits, placed, srdf_text, urdf_text
from robosim.urdf import bundled_robots, load_robot
from robosim.urdf.source import open_source

if TYPE_CHECKING:
    from robosim.model import Model

__all__ = ["RobotOptions", "load"]


@dataclass(frozen=True)
class RobotOptions:
    """Options of reading a description; values of the node's parameters of these names.

    Attributes:
        robot: a bundled robot or a file, used instead of the received description; empty to use the
            received one.
        srdf: a bundled robot with the SRDF, or a file; empty for the received one or the one in the
            folder of the robot's file.
        joint_limits: likewise for acceleration limits, which a URDF lacks.
        tf_prefix: prefix of the names in these three.
        package_dirs: folders searched first for package:// references.
    """

    robot: str = ""
    srdf: str = ""
    joint_limits: str = ""
    tf_prefix: str = ""
    package_dirs: tuple[str, ...] = ()


def load(
    options: RobotOptions,
    description: str = "",
    semantic: str = "",
    base: tuple[str, NDArray[np.float64]] | None = None,
) -> Model:
    """Load the robot.

    Args:
        options: options of reading.
        description: URDF text, used unless the options name a robot.
        semantic: SRDF text, used unless the options name one.
        base: a frame that becomes the root link, and the pose in it of the description's root link.

    Raises:
        RobosimError: a text or file cannot be read. The message has file and line.
    """
    srdf_file = _beside(options.srdf, ".srdf")
    limits_file = _beside(options.joint_limits, "joint_limits.yaml")
    if options.robot:
        source = open_source(options.robot, package_dirs=options.package_dirs)
        description = urdf_text(source, options.tf_prefix)
        srdf_file, limits_file = srdf_file or source.srdf, limits_file or source.joint_limits
    if srdf_file is not None:
        semantic = srdf_text(srdf_file, options.tf_prefix)
    if base is not None:
        description = placed(description, *base)
    return load_robot(
        description,
        package_dirs=options.package_dirs,
        srdf=semantic or False,
        joint_limits=False if limits_file is None else joint_limits(limits_file, options.tf_prefix),
        visuals=False,
    )


def _beside(name: str, ending: str) -> Path | None:
    """Return a bundled robot's file with this ending, or the file of this name; None if empty."""
    if not name:
        return None
    if name not in bundled_robots():
        if not Path(name).suffix:
            near = suggestion(name, bundled_robots(), limit=None)
            raise FileError(f"there is no bundled robot {name!r}{near} (a file needs its suffix)")
        return Path(name)
    folder = Path(str(resources.files("robosim.robots") / name))
    return folder / (f"{name}{ending}" if ending.startswith(".") else ending)
