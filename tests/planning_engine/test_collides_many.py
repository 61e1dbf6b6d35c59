"""Many configurations at once: the results equal those of single ones, bit for bit.

They depend on neither the instruction set nor the number of threads.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import robosim
from robosim import _engine
from robosim.scene import Scene, families, generate
from robosim.urdf import bundled_robots


def one_at_a_time(scene, q):
    return np.array([scene.collides(row) for row in q], dtype=bool)


def configurations(model, n, seed):
    rng = np.random.default_rng(seed)
    lower, upper = np.clip(model.limits.lower, -3, 3), np.clip(model.limits.upper, -3, 3)
    return rng.uniform(lower, upper, (n, model.n_q))


def test_all_bundled_scenes():
    model = robosim.load_robot("ur5")
    both = set()
    for i, family in enumerate(families()):
        scene = generate(family, 3, model=model).compile(model)
        q = configurations(model, 300, i)
        expected = one_at_a_time(scene, q)
        assert np.array_equal(scene.collides_many(q), expected)
        both |= set(expected)
    assert both == {True, False}


@pytest.mark.parametrize("name", bundled_robots())
def test_all_bundled_robots_collide_with_themselves_alike(name):
    model = robosim.load_robot(name)
    scene = Scene().compile(model)
    q = configurations(model, 200, 0)
    q[:100] *= 0.3
    assert np.array_equal(scene.collides_many(q), one_at_a_time(scene, q))


@pytest.mark.parametrize("name", ["arm", "mobile", "planar_arm"])
@pytest.mark.parametrize("n_obstacles", [8, 70])  # pair by pair; through a tree
def test_every_shape_and_joint(problems, name, n_obstacles):
    model = problems.models[name]()
    rng = np.random.default_rng(1)
    for seed in range(3):
        scene = problems.cluttered(model, seed, n_obstacles, size=1.3, attach=seed % 2 == 1)
        q = np.array([problems.random_q(model, rng) for _ in range(150)])
        assert np.array_equal(scene.collides_many(q), one_at_a_time(scene, q))


def test_any_number_and_any_threads(problems):
    model = problems.arm()
    scene = problems.cluttered(model, 0)
    q = configurations(model, 2000, 4)
    expected = one_at_a_time(scene, q)
    assert 0 < expected.sum() < len(expected)
    for n in (0, 1, 2, 7, 8, 9, 33):
        assert np.array_equal(scene.collides_many(q[:n]), expected[:n])
    for threads in (0, 1, 2, 5):
        assert np.array_equal(scene.collides_many(q, threads=threads), expected)


def test_wrong_arguments_are_refused(problems):
    scene = problems.cluttered(problems.planar_arm(), 0)
    with pytest.raises(ValueError, match="q has shape"):
        scene.collides_many(np.zeros((2, 5)))
    with pytest.raises(ValueError, match="finite"):
        scene.collides_many(np.array([[0, np.nan]]))
    with pytest.raises(ValueError, match="threads"):
        scene.collides_many(np.zeros((1, 2)), threads=-1)


def test_every_instruction_set_decides_alike():
    script = Path(__file__).with_name("isa_process.py")
    answers = {}
    for isa in _engine.build_info()["usable_kernels"]:
        env = os.environ | {"ROBOSIM_ISA": isa}
        run = subprocess.run(
            [sys.executable, script], env=env, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, f"{isa}: {run.stderr[-2000:]}"
        answers[isa] = run.stdout.strip()
    assert len(set(answers.values())) == 1
    assert set(answers["baseline"]) == {"0", "1"}
