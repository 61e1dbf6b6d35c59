"""Work in a process of its own: for code that may hang, exhaust memory or crash on what a user's file makes of it."""

from __future__ import annotations

import os
import subprocess
import sys

__all__ = ["run_worker"]


def run_worker(module: str, request: bytes, *, timeout: float) -> subprocess.CompletedProcess[bytes]:
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
    # Not -m: that would put the current folder first on the path, which may hold a source tree of ours.
    path = [p for p in sys.path if p]
    code = f"import sys; sys.path[:] = {path!r}; from {module} import main; main()"
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-c", code],
        input=request,
        capture_output=True,
        timeout=timeout,
        check=False,
        env=environment,
    )
