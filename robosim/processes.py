"""Work in separate processes, for code that may hang, exhaust memory or crash on a user's file."""

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
    """Run `module.main()` in a new Python process with the import path of this process.

    Args:
        module: full name of the module.
        request: data for its stdin.
        timeout: [s].

    Returns:
        Exit status, stdout and stderr.

    Raises:
        subprocess.TimeoutExpired: the process took longer and was killed.
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
    """Start `module.main()` in a new Python process with the import path of this process.

    The call returns at once. The process does not get signals of the terminal: the caller must pass
    on a Ctrl-C.

    Args:
        module: full name of the module.
        arguments: end of its sys.argv.
        pass_fds: file descriptors to inherit.
        output: file for its output.
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
    # Not -m, which would put the current folder first on the path. The folder may hold a source
    # tree of robosim.
    path = [p for p in sys.path if p]
    code = f"import sys; sys.path[:] = {path!r}; from {module} import main; main()"
    return [sys.executable, "-c", code]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
