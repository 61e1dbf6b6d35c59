"""The same seed leads to the same plan in any process, thread, load and budget."""

from __future__ import annotations

import hashlib
import subprocess
import threading

import pytest

from robosim.planners import Problem, plan
from robosim.scene import families, generate

from ..isolated import PYTHON  # noqa: TID252

SCRIPT = """
import hashlib, sys
import robosim
from robosim.planners import Problem, plan
from robosim.scene import generate
ur5 = robosim.load_robot("ur5")
result = plan(Problem(ur5, generate("bookshelf_small", 3, model=ur5)), seed=int(sys.argv[1]))
motion = result.trajectory
print(hashlib.sha256(motion.coefficients.tobytes() + motion.breaks.tobytes()).hexdigest())
"""


def digest(result) -> str:
    return hashlib.sha256(
        result.trajectory.coefficients.tobytes() + result.trajectory.breaks.tobytes()
    ).hexdigest()


@pytest.fixture(scope="module")
def problem(ur5):
    return Problem(ur5, generate("bookshelf_small", 3, model=ur5))


def test_processes_agree(problem):
    here = digest(plan(problem, seed=5))
    there = subprocess.run([*PYTHON, "-c", SCRIPT, "5"], capture_output=True, text=True, check=True)
    assert there.stdout.strip() == here


def test_threads_agree(problem):
    """Eight plans at once, which also load the machine, are the same as single ones."""
    alone = [digest(plan(problem, seed=seed)) for seed in range(4)]
    results = [""] * 8

    def work(i: int) -> None:
        results[i] = digest(plan(problem, seed=i % 4))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == alone * 2


def test_budget_does_not_matter_unless_it_ends(problem):
    assert digest(plan(problem, budget_s=30.0)) == digest(plan(problem))


def test_seeds_differ(problem):
    assert len({digest(plan(problem, seed=seed)) for seed in range(4)}) == 4


@pytest.mark.parametrize("family", families())
def test_bundled_families(family, ur5, check_plan):
    """Seed 0 of every bundled family is solved from the scene's start to its goal."""
    problem = Problem(ur5, generate(family, 0, model=ur5))
    check_plan(problem, plan(problem))
