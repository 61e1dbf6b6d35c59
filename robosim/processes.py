"""Work in a process of its own: for code that may hang, exhaust memory or crash on what a user's
file makes of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import IO

__all__ = ["run_worker", "start_worker"]


def run_worker(
    module: str, request: bytes, *, timeout: float
) -> subprocess.CompletedProcess[bytes]:
    """Run `module.main()` in a new Python process that imports from where we do.

    Args:
        module: full name.
        request: given to it on stdin.
        timeout: [s].

    Returns:
        Exit status, stdout and stderr.

    Raises:
        subprocess.TimeoutExpired: it took longer; it has been ended.
    """
    return subprocess.run(
        _command(module),
        input=request,
        capture_output=True,
        timeout=timeout,
        check=False,
        env=_environment(),
    )


def start_worker(
    module: str, arguments: Sequence[str], *, pass_fds: Sequence[int] = (), output: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start `module.main()` in a new Python process that imports from where we do, and let it run.

    It does not get the terminal's signals: a Ctrl-C is ours to pass on.

    Args:
        module: full name.
        arguments: the end of its sys.argv.
        pass_fds: file descriptors that it shares.
        output: a file for what it prints.
    """
    return subprocess.Popen(
        [*_command(module), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        pass_fds=pass_fds,
        start_new_session=True,
        env=_environment(),
    )


def _command(module: str) -> list[str]:
    # Not -m: that would put the current folder first on the path, which may hold a source tree of
    # ours.
    path = [p for p in sys.path if p]
    code = f"import sys; sys.path[:] = {path!r}; from {module} import main; main()"
    return [sys.executable, "-c", code]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
