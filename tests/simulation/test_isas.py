"""Steps and their Jacobians have the same bits on every instruction set, without fusing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from robosim import _engine

from ..scale import repeats  # noqa: TID252 (tests have no absolute name)

STEPS = repeats(120, 500)


@pytest.mark.parametrize("solver", _engine.row_solvers)
def test_steps_and_jacobians_do_not_depend_on_the_instruction_set(solver):
    program = str(Path(__file__).with_name("isa_process.py"))
    printed = {
        subprocess.run(
            [sys.executable, program, solver, str(STEPS)],
            env={**os.environ, "ROBOSIM_ISA": isa},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for isa in _engine.build_info()["usable_kernels"]
    }
    assert len(printed) == 1
    assert int(printed.pop().split()[0]) > 0
