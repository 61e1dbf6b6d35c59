"""Distances at many configurations equal those of single ones.

All pairs of shapes are checked in all kinds of poses.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import robosim
from robosim import _engine
from robosim.scene import Scene

SCRIPT = Path(__file__).with_name("distances_process.py")


@pytest.fixture(scope="module")
def distances():
    """Names that the script defines."""
    return runpy.run_path(str(SCRIPT))


def test_every_pair_of_shapes_in_every_kind_of_pose(distances):
    assert distances["worst_error"]() < 1


def test_every_instruction_set_measures_alike():
    for isa in _engine.build_info()["usable_kernels"]:
        env = os.environ | {"ROBOSIM_ISA": isa}
        run = subprocess.run(
            [sys.executable, SCRIPT], env=env, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, f"{isa}: {run.stderr[-2000:]}"
        assert float(run.stdout) < 1


def test_a_robot_with_itself():
    model = robosim.load_robot("ur5")
    scene = Scene().compile(model)
    q = np.random.default_rng(0).uniform(-3, 3, (100, model.n_q))
    one_at_a_time = np.array([scene.distances(row) for row in q])
    assert (
        np.abs(scene.distances_many(q) - one_at_a_time).max() < 1e-9
    )  # cylinders: the accuracy of their own warm starts
    assert one_at_a_time.min() < 0 < np.median(one_at_a_time)


def test_any_number_and_any_threads_give_the_same_bits(distances):
    scene, configurations = distances["bodies"]()
    q = configurations(200)
    expected = scene.distances_many(q)
    for n in (0, 1, 2, 7, 8, 9, 33):
        assert np.array_equal(scene.distances_many(q[:n]), expected[:n])
    for threads in (0, 1, 2, 5):
        assert np.array_equal(scene.distances_many(q, threads=threads), expected)
    assert np.array_equal(scene.distances_many(q[::-1]), expected[::-1])


def test_wrong_arguments_are_refused(problems):
    scene = problems.cluttered(problems.planar_arm(), 0)
    with pytest.raises(ValueError, match="q has shape"):
        scene.distances_many(np.zeros((2, 5)))
    with pytest.raises(ValueError, match="finite"):
        scene.distances_many(np.array([[0, np.nan]]))
    with pytest.raises(ValueError, match="threads"):
        scene.distances_many(np.zeros((1, 2)), threads=-1)
