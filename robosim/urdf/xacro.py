"""Expansion of xacro with ROS's own `xacro` package, in a separate process.

xacro evaluates Python expressions of the file (with few names in scope, but without bounds), reads
included files, and keeps global state. In a separate process an endless macro or a gigantic number
only reaches a time or memory limit and does not affect the caller. `$(find package)` follows
`robosim.urdf.packages`, so ROS need not be installed.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path

from robosim.errors import FileError, MissingDependencyError, UrdfError
from robosim.files import read_file
from robosim.processes import run_worker

__all__ = ["expand_xacro"]

# [s] total; single expressions and macros have tighter limits in the worker.
_TIME_LIMIT = 30.0
_MAX_BYTES = 4 * 2**20


def expand_xacro(
    path: str | PathLike[str],
    *,
    arguments: Mapping[str, str] | None = None,
    package_dirs: Sequence[str | PathLike[str]] = (),
) -> str:
    """Expand a xacro file to URDF.

    Line numbers are those of the output of the command `xacro FILE`.

    Args:
        path: the file.
        arguments: values of its `<xacro:arg>` tags.
        package_dirs: see `robosim.urdf.packages`.

    Raises:
        UrdfError: the file does not expand. The message has the file, the line if known, and
            xacro's reason.
        MissingDependencyError: xacro is not installed.
    """
    if importlib.util.find_spec("xacro") is None:
        raise MissingDependencyError(
            "a .xacro file needs xacro, which is not installed: pip install xacro"
        )
    # Expand in a worker process.
    data = read_file(path, max_bytes=_MAX_BYTES)
    absolute = str(Path(path).absolute())
    request = {
        "path": absolute,
        "arguments": {str(k): str(v) for k, v in (arguments or {}).items()},
        "package_dirs": [fspath(d) for d in package_dirs],
    }
    try:
        run = run_worker(
            "robosim.urdf.xacro_worker", json.dumps(request).encode(), timeout=_TIME_LIMIT
        )
    except subprocess.TimeoutExpired:
        raise UrdfError(
            f"xacro does not come to an end within {_TIME_LIMIT:g} s", file=path
        ) from None
    try:
        answer = json.loads(run.stdout)
    except ValueError:
        last = run.stderr.decode(errors="replace").strip().rpartition("\x1e")[2].strip()
        reason = f"while evaluating {last[:200]!r}" if last else f"exit status {run.returncode}"
        raise _error(
            path, data, f"xacro ran out of its time or memory limit {reason}", last
        ) from None
    if "urdf" in answer:
        return str(answer["urdf"])
    # Locate the error in the included file that caused it.
    culprit = Path(str(answer.get("file") or path))
    if culprit != Path(absolute):
        try:
            data = read_file(culprit, max_bytes=_MAX_BYTES)
        except FileError:
            data = b""
    else:
        culprit = Path(path)
    if answer.get("line"):
        raise UrdfError(f"xacro: {answer['error']}", file=culprit, line=answer["line"])
    raise _error(culprit, data, f"xacro: {answer['error']}", answer.get("expression", ""))


def _error(path: str | PathLike[str], data: bytes, message: str, expression: str) -> UrdfError:
    """Locate an error by searching the file for text of the message, since xacro keeps no lines."""
    text = data.decode("utf-8", errors="replace")
    # The expression, otherwise the longest word of the message that occurs in the file.
    words = re.findall(r"[^\s'\"<>()\[\]{}$,;]{3,}", message.partition("xacro: ")[2])
    for candidate in filter(None, (expression, *sorted(words, key=len, reverse=True))):
        at = text.find(candidate)
        if at >= 0:
            return UrdfError(message[:1000], file=path, line=text.count("\n", 0, at) + 1)
    return UrdfError(message[:1000], file=path, line=1)
