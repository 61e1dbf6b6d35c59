"""Robot description for other nodes: one text, valid anywhere on this machine, prefixed names.

Processes that read robot_description know neither robosim's folders nor the names of bundled
robots. Therefore relative mesh paths become file:// URIs, xacro is expanded, and `tf_prefix` is put
before the names of links and joints, in the URDF, in the SRDF and in joint_limits.yaml.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robosim.errors import RobosimError, SrdfError, UrdfError
from robosim.files import parse_xml, read_file
from robosim.model import Model
from robosim.urdf import load_robot
from robosim.urdf.joint_limits import read_joint_limits
from robosim.urdf.packages import resolve
from robosim.urdf.schema import without_default_namespace
from robosim.urdf.source import Source, open_source

__all__ = ["Description", "describe", "joint_limits", "placed", "srdf_text", "urdf_text"]

_MAX_SRDF_BYTES = 16 * 2**20

# Names of links and joints in URDF and SRDF: element, parent element (None: any), attributes.
_NAMES: tuple[tuple[str, str | None, tuple[str, ...]], ...] = (
    ("link", "robot", ("name",)),
    ("joint", "robot", ("name",)),
    ("parent", "joint", ("link",)),
    ("child", "joint", ("link",)),
    ("mimic", None, ("joint",)),
    ("gazebo", None, ("reference",)),
    ("joint", "transmission", ("name",)),
    ("joint", "ros2_control", ("name",)),
    ("link", "group", ("name",)),
    ("joint", "group", ("name",)),
    ("passive_joint", None, ("name",)),
    ("chain", None, ("base_link", "tip_link")),
    ("joint", "group_state", ("name",)),
    ("end_effector", None, ("parent_link",)),
    ("virtual_joint", None, ("name", "child_link")),
    ("disable_collisions", None, ("link1", "link2")),
    ("enable_collisions", None, ("link1", "link2")),
    ("disable_default_collisions", None, ("link",)),
    ("link_sphere_approximation", None, ("link",)),
)


@dataclass(frozen=True, eq=False)
class Description:
    """A robot and its texts.

    Attributes:
        model: the robot.
        urdf: text for robot_description.
        srdf: text for robot_description_semantic; "" without one.
    """

    model: Model
    urdf: str
    srdf: str


def describe(
    robot: str,
    *,
    tf_prefix: str = "",
    package_dirs: Sequence[str] = (),
    xacro_args: Mapping[str, str] | None = None,
) -> Description:
    """Read a robot.

    Args:
        robot: a bundled robot, or path of a URDF or xacro file.
        tf_prefix: prefix of the names of all links and joints.
        package_dirs: folders searched first for package:// references.
        xacro_args: values of a xacro file's arguments.

    Raises:
        RobosimError: as `robosim.load_robot`.
    """
    source = open_source(robot, package_dirs=package_dirs, xacro_args=xacro_args)
    urdf = urdf_text(source, tf_prefix)
    srdf = "" if source.srdf is None else srdf_text(source.srdf, tf_prefix)
    model = load_robot(
        urdf,
        srdf=srdf or False,
        joint_limits=(
            False if source.joint_limits is None else joint_limits(source.joint_limits, tf_prefix)
        ),
        package_dirs=package_dirs,
        visuals=False,
    )
    return Description(model, urdf, srdf)


def urdf_text(source: Source, tf_prefix: str = "") -> str:
    """URDF of an opened robot, with absolute mesh paths and prefixed names.

    Raises UrdfError if it is not a URDF.
    """
    root = _parsed(source.data, source.file, UrdfError)
    _absolute_meshes(root, source.folder)
    _prefix(root, tf_prefix)
    return _text(root)


def _parsed(data: bytes | str, file: str, error: type[RobosimError]) -> Any:
    """Root element, as `load_robot` reads it."""
    root = parse_xml(data, file=file, error=error, strict=False)
    without_default_namespace(root)
    return root


def placed(urdf: str, frame: str, X: NDArray[np.float64]) -> str:
    """Fix a URDF's robot to an added root link.

    Args:
        urdf: text, not xacro.
        frame: name of the added root link. If it is the robot's root link already, the text is
            returned unchanged.
        X: (4, 4) pose of the robot's root link in the added link.

    Raises:
        UrdfError: the text is not a URDF, or another link of the robot has that name.
    """
    from lxml import etree

    root = _parsed(urdf.encode(), "the robot's description", UrdfError)
    children = {child.get("link") for child in root.iterfind("joint/child")}
    links = [link.get("name") for link in root.iterfind("link")]
    base = next((name for name in links if name not in children), None)
    if base is None or base == frame:
        return urdf
    if frame in links:
        raise UrdfError(
            f"the robot has a link {frame!r} that is not its root link {base!r}, so it cannot be"
            " the frame in which the robot stands; give another name"
        )
    joint = etree.SubElement(root, "joint", name=f"{frame}_to_{base}", type="fixed")
    etree.SubElement(joint, "parent", link=frame)
    etree.SubElement(joint, "child", link=base)
    etree.SubElement(
        joint, "origin", xyz=_numbers(X[:3, 3]), rpy=_numbers(_roll_pitch_yaw(X[:3, :3]))
    )
    etree.SubElement(root, "link", name=frame)
    return _text(root)


def _roll_pitch_yaw(R: NDArray[np.float64]) -> tuple[float, float, float]:
    """Angles about fixed axes, as in URDF. If roll and yaw axes coincide, roll is 0."""
    level = float(np.hypot(R[0, 0], R[1, 0]))
    pitch = float(np.arctan2(-R[2, 0], level))
    if level < 1e-9:
        return 0.0, pitch, float(np.arctan2(-R[0, 1], R[1, 1]))
    return float(np.arctan2(R[2, 1], R[2, 2])), pitch, float(np.arctan2(R[1, 0], R[0, 0]))


def _numbers(values: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in values)


def srdf_text(file: Path, tf_prefix: str = "") -> str:
    """SRDF of a file, with prefixed names. Raises FileError or SrdfError."""
    root = _parsed(read_file(file, max_bytes=_MAX_SRDF_BYTES), str(file), SrdfError)
    _prefix(root, tf_prefix)
    return _text(root)


def joint_limits(file: Path, tf_prefix: str = "") -> Path | dict[str, Any]:
    """joint_limits.yaml for prefixed joints; the file itself without a prefix."""
    return _prefixed_limits(file, tf_prefix) if tf_prefix else file


def _text(root: Any) -> str:
    from lxml import etree

    return str(etree.tostring(root, encoding="unicode"))


def _absolute_meshes(root: Any, folder: Path | None) -> None:
    """Convert relative paths to file:// URIs.

    package:// stays, because every ROS process resolves it.
    """
    for mesh in root.iter("mesh", "texture"):
        uri = mesh.get("filename")
        if uri and "://" not in uri:
            path, _ = resolve(uri, folder)
            if path is not None:
                mesh.set("filename", path.absolute().as_uri())


def _prefix(root: Any, tf_prefix: str) -> None:
    if not tf_prefix:
        return
    for tag, parent, attributes in _NAMES:
        for element in root.iter(tag):
            above = element.getparent()
            if parent is not None and (above is None or above.tag != parent):
                continue
            for attribute in attributes:
                if element.get(attribute):
                    element.set(attribute, tf_prefix + element.get(attribute))


def _prefixed_limits(file: Path, tf_prefix: str) -> dict[str, Any]:
    """Content of a joint_limits.yaml, for prefixed joints."""
    content: dict[str, Any] = {}
    for joint, limits in read_joint_limits(file).by_joint.items():
        entry: dict[str, Any] = {}
        for quantity, values in limits.items():
            entry[f"has_{quantity}_limits"] = values is not None
            keys = (
                ("min_position", "max_position") if quantity == "position" else (f"max_{quantity}",)
            )
            entry.update(zip(keys, values or (), strict=False))
        content[tf_prefix + joint] = entry
    return {"joint_limits": content}
