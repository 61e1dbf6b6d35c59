"""Tests that every scene of the zoo can be stepped, and has the claimed twin in MuJoCo."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from robosim.simulation import Simulation, StepStatus

from .zoo import SCENES, AbsentRobotError

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

STEPS = 20
# Relative tolerance. Inertias of trees of about thirty bodies are kept in principal axes by MuJoCo,
# and massless bodies have moments of 1e-12 kg m^2.
AGREEMENT = 1e-11


@pytest.fixture(scope="module")
def made():
    """Return a function that makes scenes and their simulations, each once."""
    found = {}

    def make(name):
        if name not in found:
            try:
                scene = SCENES[name]()
            except AbsentRobotError as absent:
                pytest.skip(str(absent))
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message=".*overlap by their hulls")
                options = {"dt": scene.dt, "solver": "convex", **scene.options}
                found[name] = scene, Simulation(scene.world, **options)
        return found[name]

    return make


def test_there_are_at_least_forty():
    assert len(SCENES) >= 40
    assert all(make.__doc__ for make in SCENES.values())


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_takes_steps(made, name):
    scene, simulation = made(name)
    state = simulation.state(scene.q, scene.v)
    for k in range(STEPS):
        state = simulation.step(state, scene.control_at(k))
        assert state.report.status != StepStatus.diverged
        assert np.isfinite(state.q).all()
        assert np.isfinite(state.v).all()


@pytest.mark.parametrize("name", SCENES)
def test_mujoco_has_the_twin_that_is_claimed(made, name):
    """The twin has equal masses, inertias and joints; or it is rejected for the scene's reason."""
    mujoco = pytest.importorskip("mujoco", reason="the peer of the zoo, extra `bench`")
    from harness.mjcf_world import Twin

    scene, simulation = made(name)
    if scene.no_twin:
        with pytest.raises(ValueError, match=scene.no_twin):
            Twin(simulation)
        return
    twin = Twin(simulation)
    state = simulation.state(scene.q, scene.v)
    v = np.random.default_rng(0).normal(size=simulation.model.n_v)
    assert twin.disagreement(state.q, v) < AGREEMENT
    twin.start(state.q, state.v)
    for k in range(STEPS):
        twin.drive(scene.control_at(k))
        mujoco.mj_step(twin.model, twin.data)
    assert np.isfinite(twin.data.qpos).all()
