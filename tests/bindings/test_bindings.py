"""No call ends the process, for any arguments: see battery_process.py."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ..isolated import PYTHON  # noqa: TID252

HERE = Path(__file__).parent


@pytest.mark.timeout(1700)
def test_every_call_with_every_combination_of_arguments(tmp_path):
    last = tmp_path / "last call"
    done = subprocess.run(
        [*PYTHON, str(HERE / "battery_process.py"), str(last)],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout)
    where = last.read_text().strip() if last.exists() else "the start"
    assert done.returncode in (0, 1), (
        f"crashed ({done.returncode}) in {where}\n{done.stderr[-3000:]}"
    )
    assert done.returncode == 0, done.stdout[-6000:]
    assert "calls of" in done.stdout


def test_stubs_tell_of_everything_in_the_extension_module():
    code = (
        f"import sys; sys.path.insert(0, {str(HERE)!r}); import signatures; "
        "print(*sorted(signatures.missing_from_stubs()))"
    )
    done = subprocess.run([*PYTHON, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
