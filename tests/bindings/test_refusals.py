"""Calls that ended the process, hung, or raised an unexpected exception in the past."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from robosim import _engine, load_robot
from robosim.errors import ModelError
from robosim.model import ModelBuilder
from robosim.scene import Scene
from robosim.simulation import Control, Simulation
from robosim.simulation.state import DRIVES
from robosim.world import World

BY = [by for n in range(len(DRIVES) + 1) for by in itertools.combinations(DRIVES, n)]


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_gradients_of_many_runs_by_some_controls(by, count):
    """Requested gradients equal those of all controls, and others have no rows."""
    arm = load_robot("ur5")
    simulation = Simulation(World(arm))
    start = simulation.state(0.1 * np.arange(count)[:, None] + np.zeros(6))
    runs = simulation.rollout(
        start, 7, Control(tau=0.1 * np.arange(count)[:, None, None] + np.zeros((7, 6)))
    )
    bars = np.ones((8, 6))
    whole, some = runs.vjp(bars, bars), runs.vjp(bars, bars, by=by)
    np.testing.assert_array_equal(some.q, whole.q)
    for name in DRIVES:
        kept = getattr(some, name)
        np.testing.assert_array_equal(kept, getattr(whole, name)[:, : kept.shape[1]])
        assert kept.shape[:2] == (count, 7 if name in by else 0)


@pytest.mark.parametrize("robot", ["ur5", "quadruped"])
@pytest.mark.parametrize("by", [("q_target",), ("v_target",), ("tau",), ("q_target", "v_target")])
def test_jacobians_by_nothing_that_moves(robot, by):
    model = load_robot(robot, base="floating" if robot == "quadruped" else "fixed")
    simulation = Simulation(World(model))
    state = simulation.state()
    some, every = (
        simulation.linearize(state).jacobians(*by),
        simulation.linearize(state).jacobians(),
    )
    for name in ("q", "v", *DRIVES):
        found = getattr(some, name)
        assert found.size == (getattr(every, name).size if name in by else 0)
        np.testing.assert_array_equal(found, getattr(every, name)[:, :, : found.shape[-1]])


@pytest.mark.parametrize("name", ["velocity", "acceleration"])
def test_limits_that_must_be_given(name):
    limits = {"velocity": [0.1], "acceleration": [1.0]}
    with pytest.raises(ModelError, match=name):
        _engine.brake([0.0], **(limits | {name: None}))
    path = np.zeros((1, 3, 1))
    with pytest.raises(ModelError, match=name):
        _engine.time_path([0.0, 1.0], path, **(limits | {name: None}))


def test_paths_of_what_cannot_move():
    builder = ModelBuilder("rock")
    builder.add_link("rock", mass=1.0)
    compiled = Scene().compile(builder.build())
    for call in (_engine.blend_corners, _engine.shortcut):
        with pytest.raises(ModelError, match="'rock' has nothing that moves"):
            call(compiled, np.zeros((2, 0)), [])
    with pytest.raises(ModelError, match="'rock' has nothing that moves"):
        _engine.optimize_path(compiled, np.zeros((2, 0)), [], [], [])


def test_memory_of_another_model():
    small, large = load_robot("cart_pole"), load_robot("humanoid")
    data, batch = _engine.OperationData(small._engine), _engine.Batch()
    row = _engine.operations()["crba"]["index"]
    q, many = large.neutral(), np.stack([large.neutral()] * 2)
    _engine.evaluate_batch(row, small._engine, batch, (np.stack([small.neutral()] * 2),))
    for call in (
        lambda: _engine.evaluate(row, large._engine, data, (q,)),
        lambda: _engine.bind_operation(row, large._engine, data),
        lambda: _engine.evaluate_batch(row, large._engine, batch, (many,)),
    ):
        with pytest.raises(ModelError, match="another model than 'humanoid'"):
            call()
    for wrong in (None, 1, q):
        with pytest.raises(TypeError):
            _engine.bind_operation(row, wrong, data)
        with pytest.raises(TypeError):
            _engine.bind_operation(row, large._engine, wrong)


def test_pairs_and_tables_of_other_types():
    model = load_robot("ur5")._engine
    with pytest.raises(ModelError, match="pairs is not an array of integers"):
        _engine.turn_tables(model, "none")
    with pytest.raises(ModelError, match="tables must hold"):
        _engine.CollisionScene(model, [], [], None, [], [[0, 1]], [1.0])
