"""Basis of the bridges: arrays with leading axes, a world for each set of numbers, errors."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest

import robosim
from robosim.bridges.runs import Runs
from robosim.errors import SimulationError
from robosim.simulation import Simulation, StepStatus
from robosim.world import JointEquality, World

from .worlds import (
    KEYS,
    MOTORS,
    STEPS,
    SURFACES,
    control,
    many,
    model_of_all_kinds,
    sliding_world,
    values,
)


@pytest.fixture(scope="module")
def simulation():
    return sliding_world()


def test_runs_are_those_of_the_simulation(simulation):
    arrays = many(simulation, np.random.default_rng(0), 4)
    q, v, unsolved = Runs(simulation, STEPS).forward(arrays)
    for i in range(4):
        motion = simulation.rollout(
            simulation.state(arrays[0][i], arrays[1][i]), STEPS, control(arrays, i)
        )
        np.testing.assert_array_equal(q[i], motion.q)
        np.testing.assert_array_equal(v[i], motion.v)
        assert not unsolved[i]


def test_every_set_of_numbers_has_its_own_world(simulation):
    """Each of three rows of two runs has its own surfaces. All other parameters are shared."""
    rng = np.random.default_rng(1)
    arrays = many(simulation, rng, 2)
    parts = rng.uniform(0.5, 1, (3, 1))
    given = [
        parts.reshape(3, 1, *[1] * x.ndim) * x if key in SURFACES else 0.9 * x[None, None]
        for key, x in zip(KEYS, values(simulation), strict=True)
    ]
    runs = Runs(simulation, STEPS, KEYS)
    operands = [*(x[None] for x in arrays), *given]
    q, v, _ = runs.forward(operands)
    q_bar, v_bar = rng.normal(size=q.shape), rng.normal(size=v.shape)
    gradients = runs.vjp(operands, q, v, q_bar, v_bar)
    for i in range(3):
        own = simulation.with_parameters(
            {key: x[i % len(x), 0] for key, x in zip(KEYS, given, strict=True)}
        )
        for j in range(2):
            motion = own.rollout(own.state(arrays[0][j], arrays[1][j]), STEPS, control(arrays, j))
            np.testing.assert_array_equal(q[i, j], motion.q)
            np.testing.assert_array_equal(v[i, j], motion.v)
            alone = Runs(own, STEPS, KEYS).vjp(
                [*(x[j] for x in arrays), *values(own)],
                q[i, j],
                v[i, j],
                q_bar[i, j],
                v_bar[i, j],
            )
            for whole, one in zip(gradients, alone, strict=True):
                np.testing.assert_array_equal(whole[i, j], one)


def test_with_parameters_is_the_world_that_is_made_of_them(simulation):
    arrays = many(simulation, np.random.default_rng(2), 1)
    before = dict(zip(KEYS, values(simulation), strict=True))
    factors = {key: 0.5 if key in SURFACES else 2 if key in MOTORS else 1.1 for key in KEYS}
    other = simulation.with_parameters({key: factors[key] * x for key, x in before.items()})
    for key, x in before.items():
        np.testing.assert_array_equal(other.parameters[key], factors[key] * x)
    swing = [simulation.parameters[name, "swing"] for name in MOTORS]
    np.testing.assert_array_equal(swing, [20, 1, 40])  # the original is unchanged
    back = other.with_parameters(before)
    state = simulation.state(arrays[0][0], arrays[1][0])
    expected, got, changed = (
        x.rollout(state, STEPS, control(arrays, 0)) for x in (simulation, back, other)
    )
    np.testing.assert_array_equal(got.q, expected.q)
    assert np.abs(changed.v - expected.v).max() > 1e-4
    with pytest.raises(SimulationError, match="'friction' has shape"):
        simulation.with_parameters({"friction": [0.5]})
    with pytest.raises(SimulationError, match="friction"):
        simulation.with_parameters({"friction": -simulation.parameters["friction"]})


def test_other_numbers_leave_the_rest_of_the_world_as_it_is():
    """Closures, solver and time step stay unchanged."""
    held = [JointEquality("swing", coefficients=(0.2,))]
    world = Simulation(World(model_of_all_kinds(), closures=held), dt=2e-3, solver="pgs")
    q = world.model.neutral()
    q[7] = 0.1
    half = world.with_parameters({name: 0.5 * world.parameters[name] for name in MOTORS})
    expected, got = (x.rollout(x.state(q), 60).q for x in (world, half))  # no motor has a gain
    np.testing.assert_array_equal(got, expected)
    assert abs(got[-1, 7] - 0.2) < 0.01 < abs(got[0, 7] - 0.2)


def test_what_is_not_solved_is_told():
    world = sliding_world(height=0.0)
    arrays = many(world, np.random.default_rng(3), 2)
    report = world.rollout(
        world.state(arrays[0][0], arrays[1][0]), STEPS, control(arrays, 0)
    ).report
    assert report.status == StepStatus.relaxed
    assert Runs(world, STEPS).forward(arrays)[2].all()


@pytest.mark.parametrize(
    ("steps", "interval", "kept"), [(6, 1, 7), (6, 4, 3), (6, 3, 3), (6, 9, 2), (0, 1, 1)]
)
def test_as_many_states_are_kept_as_a_run_keeps(simulation, steps, interval, kept):
    state = simulation.state()
    motion = simulation.rollout(state, steps, interval=interval)
    runs = Runs(simulation, steps, interval=interval)
    assert len(motion.times) == runs.kept == kept
    q, _, _ = runs.forward([state.q, state.v, *[None] * 3])
    np.testing.assert_array_equal(q, motion.q)


def test_no_runs_are_no_runs(simulation):
    model = simulation.model
    runs = Runs(simulation, 2)
    operands = [np.zeros((0, model.n_q)), np.zeros((0, model.n_v)), *[None] * 3]
    q, v, unsolved = runs.forward(operands)
    assert q.shape == (0, 3, model.n_q)
    assert unsolved.shape == (0,)
    assert runs.vjp(operands, q, v, q, v)[0].shape == (0, model.n_q)


def test_layout_broadcasts_and_says_what_does_not_fit(simulation):
    n_q, n_v = simulation.model.n_q, simulation.model.n_v
    runs = Runs(simulation, 5, ("friction", ("mass", "arm")))
    nothing = [None] * 4
    q, v, tau, *_ = runs.layout([(n_q,), (3, n_v), (n_v,), *nothing])
    assert q == ((1, n_q), (1, n_q))
    assert v == ((3, n_v), (3, n_v))
    assert tau == ((1, 1, n_v), (1, 5, n_v))
    for shapes, message in (
        ([(n_v,), (n_v,), None, *nothing], rf"q has shape \({n_v},\); expected \(..., {n_q}\)"),
        (
            [(n_q,), (n_v,), (4, n_v), *nothing],
            rf"tau has shape .* expected \(..., 5, {n_v}\), or \({n_v},\)",
        ),
        ([(n_q,), (), None, *nothing], "v has shape"),
        ([(2, n_q), (3, n_v), None, *nothing], "leading axes do not go together"),
        (
            [(n_q,), (3, n_v), None, None, None, None, (2,)],
            r"leading axes do not go together: .*\('mass', 'arm'\)",
        ),
        ([(n_q,), (n_v,), None, None, None, (1,), None], r"friction has shape \(1,\); expected"),
    ):
        with pytest.raises(SimulationError, match=message):
            runs.layout(shapes)
    for steps, interval in (-1, 1), (1, 0):
        with pytest.raises(SimulationError, match=r"(steps|interval) is"):
            Runs(simulation, steps, interval=interval)


@pytest.mark.parametrize(("name", "package"), [("torch", "PyTorch"), ("jax", "JAX")])
def test_what_is_missing_is_named_with_its_extra(name, package, tmp_path):
    """The package is missing as if it were not installed. Everything else works without it."""
    code = f"""
import sys
sys.modules[{name!r}] = None  # as Python marks what cannot be imported
import robosim.bridges, robosim.simulation
from robosim.errors import MissingDependencyError
try:
    import robosim.bridges.{name}
except MissingDependencyError as error:
    print(error)
"""
    run = [sys.executable, "-c", code]
    result = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert package in result.stdout
    assert f"pip install 'robosim[{name}]'" in result.stdout


def test_the_core_imports_no_framework(tmp_path):
    code = "import robosim.simulation, robosim.bridges, sys; print(*sys.modules)"
    run = [sys.executable, "-c", code]
    result = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert not {"torch", "jax"} & set(result.stdout.split())


def test_runs_take_the_threads_of_the_block_where_they_are_made(simulation, monkeypatch):
    """Frameworks run them later, and on their own threads, where the block is unknown."""
    used = []
    monkeypatch.setattr("robosim.bridges.runs.threads", lambda n: used.append(n) or nullcontext())
    with robosim.threads(1):
        inside = Runs(simulation, 2)
    outside = Runs(simulation, 2)
    state = simulation.state()
    for runs in (inside, outside):
        runs.forward((state.q, state.v, None, None, None))
    assert used == [1]
