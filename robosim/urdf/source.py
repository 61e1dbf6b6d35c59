"""Sources of `load_robot`, with accompanying files.

A source is a bundled robot's name, a path of a file or a robot's folder, a URDF string or a
yourdfpy object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from robosim.errors import FileError, UrdfError, suggestion
from robosim.files import read_file
from robosim.urdf.xacro import expand_xacro

__all__ = ["Source", "bundled_robots", "open_source"]

_MAX_BYTES = 32 * 2**20
_DESCRIPTIONS = (".urdf", ".xacro")


@dataclass(frozen=True)
class Source:
    """A document with its accompanying files.

    Attributes:
        data: URDF, with macros expanded.
        file: name of the document in errors.
        folder: folder of the document; None for a string.
        stem: default name of the robot.
        srdf: semantic description found in the same folder.
        joint_limits: joint_limits.yaml found in the same folder.
    """

    data: bytes | str
    file: str
    folder: Path | None
    stem: str
    srdf: Path | None = None
    joint_limits: Path | None = None


def bundled_robots() -> list[str]:
    """Names of the robots that come with the package."""
    try:
        root = resources.files("robosim.robots")
    except ModuleNotFoundError:
        return []
    return sorted(f.name for f in root.iterdir() if f.is_dir() and (f / f"{f.name}.urdf").is_file())


def open_source(
    source: Any,
    *,
    package_dirs: Sequence[str | PathLike[str]] = (),
    xacro_args: Mapping[str, str] | None = None,
) -> Source:
    """Find and read a source.

    Raises:
        FileError: there is no such bundled robot, file or folder, or a folder contains no
            description or several.
        UrdfError: a xacro file does not expand, or the argument is not a description.
    """
    if hasattr(source, "write_xml_string"):  # a yourdfpy.URDF
        return Source(bytes(source.write_xml_string()), "<yourdfpy.URDF>", None, "robot")
    if not isinstance(source, (str, PathLike)):
        raise UrdfError(
            "a robot is given by bundled name, path, URDF string or yourdfpy.URDF, not"
            f" {type(source).__name__}"
        )
    text = fspath(source)
    if isinstance(text, bytes):
        text = text.decode(errors="surrogateescape")
    if isinstance(source, str) and text.lstrip("\ufeff \t\r\n").startswith("<"):
        return Source(text, "<string>", None, "robot")
    if isinstance(source, str) and text in (names := bundled_robots()):
        return _beside(_bundled_path(text), package_dirs, xacro_args)
    path = Path(text)
    if _is_folder(path):
        return _beside(_in_folder(path), package_dirs, xacro_args)
    if isinstance(source, str) and path.suffix == "" and path.name == text and not path.exists():
        near = suggestion(text, names, limit=None)
        raise FileError(f"there is no bundled robot {text!r}{near} (a file needs its suffix)")
    return _beside(path, package_dirs, xacro_args)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # not a file name
        return False


def _in_folder(folder: Path) -> Path:
    """Find the description in a robot's folder: the one with the folder's name, or the only one.

    Raises:
        FileError: the folder contains none, or several.
    """
    try:
        names = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", file=folder) from None
    found = [name for name in names if name.lower().endswith(_DESCRIPTIONS)]
    own = folder.resolve().name
    named = [
        f"{own}{ending}"
        for ending in (".urdf", ".urdf.xacro", ".xacro")
        if f"{own}{ending}" in found
    ]
    if named or len(found) == 1:
        return folder / (named or found)[0]
    wanted = f"a robot's folder must hold {own}.urdf, or exactly one .urdf or .xacro file"
    if found:
        raise FileError(
            f"{wanted}; it holds {_listed(found)}: give the path of one of them", file=folder
        )
    raise FileError(f"{wanted}; it holds {_listed(names) if names else 'no file'}", file=folder)


def _listed(names: list[str], limit: int = 12) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def _bundled_path(name: str) -> Path:
    return Path(str(resources.files("robosim.robots") / name / f"{name}.urdf"))


def _beside(
    path: Path, package_dirs: Sequence[str | PathLike[str]], xacro_args: Mapping[str, str] | None
) -> Source:
    """Read a file, and find a .srdf of the same name and a joint_limits.yaml in its folder."""
    data: bytes | str = read_file(path, max_bytes=_MAX_BYTES)
    file = str(path)
    if path.suffix.lower() == ".xacro":
        data = expand_xacro(path, arguments=xacro_args or {}, package_dirs=package_dirs)
        file = f"{path} (expanded)"
    elif xacro_args:
        raise UrdfError("arguments are given, but it is not a .xacro file", file=path)
    stem = path.name.split(".")[0] or "robot"
    srdf, limits = path.with_name(f"{stem}.srdf"), path.with_name("joint_limits.yaml")
    return Source(
        data,
        file,
        path.parent,
        stem,
        srdf if srdf.is_file() else None,
        limits if limits.is_file() else None,
    )
