"""Every error that robosim raises for what a user gave it.

All derive from `RobosimError` and from the builtin that a caller would expect (`ValueError` for bad
content, `OSError` for files that cannot be read or written, `ImportError` for an optional package
that is missing). A message that is about a file begins with `path:line:`, the form that editors and
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
    """Two numbers in words, with as many digits as it takes to tell them apart, and `digits` at
    least."""
    while digits < 17 and f"{a:.{digits}g}" == f"{b:.{digits}g}" and a != b:
        digits += 1
    return f"{a:.{digits}g}", f"{b:.{digits}g}"


def suggestion(name: object, known: Iterable[str], *, limit: int | None = 8) -> str:
    """What may have been meant by a name that nothing has, as the end of an error message; else
    what there is.

    Args:
        name: as it was given; its case does not count.
        known: names that there are.
        limit: at most so many are listed; None: all.
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
    """Base of every error that robosim raises on purpose.

    Args:
        message: what is wrong, with the offending name and value, and what would be valid.
        file: the file that it is about, if any; put before the message.
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
    """Raise `error` unless the argument called `name` is of this kind: another one was given in its
    place."""
    if not isinstance(value, kind):
        raise error(
            f"{name} must be a {kind.__name__}, got {type(value).__name__}; are the arguments in"
            " order?"
        )


class FileError(RobosimError, OSError):
    """A file or folder is missing, unreadable, too large, or cannot be written."""


class UrdfError(RobosimError, ValueError):
    """A robot description (URDF or xacro) is malformed or says something that cannot be honored."""


class SrdfError(RobosimError, ValueError):
    """A semantic description (SRDF) is malformed or does not fit its robot."""


class JointLimitsError(RobosimError, ValueError):
    """A joint_limits.yaml is malformed or does not fit its robot."""


class MeshError(RobosimError, ValueError):
    """A mesh file is missing, malformed, or of a form that cannot be used."""


class GeometryError(RobosimError, ValueError):
    """A shape or a pose is not valid."""


class ModelError(RobosimError, ValueError):
    """A model, or an array handed to one, is not valid."""


class SceneError(RobosimError, ValueError):
    """A scene, or a scene file, is not valid."""


class SimulationError(RobosimError, ValueError):
    """A simulation, or a state or control handed to one, is not valid."""


class TrajectoryError(RobosimError, ValueError):
    """A trajectory, or a trajectory file, is not valid."""


class PlanningError(RobosimError, ValueError):
    """A planning problem is not well posed. One that merely has no solution gives a status, not an
    error."""


class ExecutionError(RobosimError, ValueError):
    """An arm, or what is asked of one, is not valid. A goal that an arm refuses gives a Rejection,
    not an error."""


class BagError(RobosimError, ValueError):
    """A recording (rosbag2) is malformed, or does not hold what is asked of it."""


class MissingDependencyError(RobosimError, ImportError):
    """An optional package is needed and not installed; the message names the extra that brings
    it."""
