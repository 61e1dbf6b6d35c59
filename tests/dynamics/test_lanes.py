"""Lanes against one state at a time, bit for bit, and instruction sets against each other.

Every instruction set runs every operation with every option, on mechanisms with joints of every
kind, with different data in each lane.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from robosim import _engine

from .calls import OPERATIONS
from .trees import battery

EPS = np.finfo(float).eps
SETS = _engine.build_info()["usable_kernels"]

# Operations whose rounding errors grow with the condition number of M.
CONDITIONED = {name for name, row in OPERATIONS.items() if row["solves"]} | {"mass_solve"}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """By instruction set, the number of results compared, and all results."""
    folder = tmp_path_factory.mktemp("lanes")
    program = str(Path(__file__).with_name("lanes_process.py"))
    out = {}
    for isa in SETS:
        file = folder / f"{isa}.npz"
        run = subprocess.run(
            [sys.executable, program, str(file)],
            env={**os.environ, "ROBOSIM_ISA": isa},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, f"{isa}: {run.stderr[-2000:]}"
        with np.load(file) as arrays:
            out[isa] = int(run.stdout), dict(arrays)
    return out


def test_lanes_have_the_bits_of_single_states(results):
    """The processes assert this; the test asserts that they went through all operations."""
    operations = {key.split()[1] for key in results[SETS[0]][1]}
    assert operations == set(OPERATIONS) | {"condition"}
    for isa in SETS:
        compared, arrays = results[isa]
        assert compared == sum(len(x) for key, x in arrays.items() if not key.endswith("condition"))


@pytest.mark.parametrize("isa", SETS[1:])
def test_instruction_sets_agree(results, isa):
    """Instruction sets differ in fused products and so in rounding.

    The tolerance is 1e-13 of the largest entry of a result, or of one. For operations that solve
    with M it is 1e-12, or ten eps cond(M) if that is more.
    """
    _, first = results[SETS[0]]
    _, other = results[isa]
    assert first.keys() == other.keys()
    differ = 0
    for key, reference in first.items():
        k, operation = key.split()[:2]
        allowed = 1e-13
        if operation in CONDITIONED:
            allowed = max(1e-12, 10 * EPS * first[f"{k} condition"].max())
        value = other[key]
        off = np.abs(value - reference).max(initial=0) / max(1, np.abs(reference).max(initial=0))
        assert off <= allowed or operation == "condition", (
            f"{key}: {off:.2g}, allowed {allowed:.2g}"
        )
        differ += off > 0
    assert differ > len(battery())  # else the same set ran twice
