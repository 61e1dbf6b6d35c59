"""Errors that robosim raises for invalid input.

All derive from `RobosimError` and from the builtin that a caller would expect: `ValueError` for
invalid content, `OSError` for files that cannot be read or written, `ImportError` for a missing
optional package. A message about a file begins with `path:line:`, the form that editors and
compilers understand; `file` and `line` are also attributes.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from os import PathLike, fspath

__all__ = [
    "BagError",
    "ExecutionError",
    "FileError",
    "GeometryError",
    "JointLimitsError",
    "MeshError",
    "MissingDependencyError",
    "ModelError",
    "PlanningError",
    "RobosimError",
    "SceneError",
    "SimulationError",
    "SrdfError",
    "TrajectoryError",
    "UrdfError",
    "check_type",
]


def told_apart(a: float, b: float, digits: int = 6) -> tuple[str, str]:
    """Format two numbers with enough digits to distinguish them, and at least `digits`."""
    while digits < 17 and f"{a:.{digits}g}" == f"{b:.{digits}g}" and a != b:
        digits += 1
    return f"{a:.{digits}g}", f"{b:.{digits}g}"


def suggestion(name: object, known: Iterable[str], *, limit: int | None = 8) -> str:
    """Return known names close to an unknown one, as the end of an error message.

    Without a close name, list the known names.

    Args:
        name: the unknown name; its case does not matter.
        known: known names.
        limit: largest number of names to list; None for all.
    """
    names = list(known)
    by_case: dict[str, list[str]] = {}
    for own in names:
        by_case.setdefault(own.casefold(), []).append(own)
    close = difflib.get_close_matches(str(name)[:200].casefold(), by_case, n=3)
    if close:
        meant = [own for match in close for own in by_case[match]][:3]
        return f"; did you mean {' or '.join(map(repr, meant))}?"
    listed = ", ".join(map(repr, names[:limit]))
    return (
        f"; there are {listed}{', …' if len(names) > len(names[:limit]) else ''}" if names else ""
    )


class RobosimError(Exception):
    """Base class of every error that robosim raises on purpose.

    Args:
        message: what is wrong, with the invalid name and value, and what would be valid.
        file: file that the error is about, if any; precedes the message.
        line: line in that file, counted from 1.
    """

    def __init__(
        self, message: str, *, file: str | PathLike[str] | None = None, line: int | None = None
    ) -> None:
        self.file = None if file is None else fspath(file)
        self.line = line
        place = (
            ""
            if self.file is None
            else f"{self.file}: "
            if line is None
            else f"{self.file}:{line}: "
        )
        super().__init__(place + message)


def check_type(value: object, kind: type, name: str, error: type[RobosimError]) -> None:
    """Raise `error` unless the argument called `name` is of this type.

    Swapped arguments are a common cause.
    """
    if not isinstance(value, kind):
        raise error(
            f"{name} must be a {kind.__name__}, got {type(value).__name__}; are the arguments in"
            " order?"
        )


class FileError(RobosimError, OSError):
    """A file or folder is missing, unreadable, too large, or cannot be written."""


class UrdfError(RobosimError, ValueError):
    """A robot description (URDF or xacro) is malformed or has content that cannot be honored."""


class SrdfError(RobosimError, ValueError):
    """A semantic description (SRDF) is malformed or does not fit its robot."""


class JointLimitsError(RobosimError, ValueError):
    """A joint_limits.yaml is malformed or does not fit its robot."""


class MeshError(RobosimError, ValueError):
    """A mesh file is missing, malformed, or of an unsupported form."""


class GeometryError(RobosimError, ValueError):
    """A shape or a pose is invalid."""


class ModelError(RobosimError, ValueError):
    """A model, or an array passed to a model, is invalid."""


class SceneError(RobosimError, ValueError):
    """A scene, or a scene file, is invalid."""


class SimulationError(RobosimError, ValueError):
    """A simulation, or a state or control passed to a simulation, is invalid."""


class TrajectoryError(RobosimError, ValueError):
    """A trajectory, or a trajectory file, is invalid."""


class PlanningError(RobosimError, ValueError):
    """A planning problem is not well posed.

    A problem without a solution gets a status, not an error.
    """


class ExecutionError(RobosimError, ValueError):
    """An arm, or a request to an arm, is invalid.

    A goal that an arm refuses causes a Rejection, not an error.
    """


class BagError(RobosimError, ValueError):
    """A recording (rosbag2) is malformed, or lacks the requested content."""


class MissingDependencyError(RobosimError, ImportError):
    """An optional package is required and not installed. The message names the extra to install."""
