"""The walk in JAX of `benchmarks/bench_rollouts.py`: same states and gradients as robosim's."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from robosim.simulation import Control, State

jax = pytest.importorskip("jax", reason="JAX is not installed, extra `jax`")
with pytest.MonkeyPatch.context() as path:
    path.setattr(sys, "path", [str(Path(__file__).parents[2] / "benchmarks"), *sys.path])
    from bench_rollouts import DIRECTION, SWEEPS, Walk
    from harness import jax_walk

STEPS = 60  # two of the feet leave the ground in the third
ROUNDING = 1e-11  # [m, rad, m/s, rad/s], and of the gradient relative to its largest entry


@pytest.fixture
def _x64():
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def compiled(function, argument):
    """Compile for a single call, without the optimizations that take most of the time."""
    lowered = jax.jit(function).lower(argument)
    return lowered.compile(compiler_options={"xla_backend_optimization_level": 0})


def test_only_feet_and_motors_act_in_the_walk():
    """Effects that the walk in JAX leaves out are absent."""
    walk = Walk(5000)
    motion = walk.run()
    for i in range(0, 5000, 7):
        control = Control(q_target=walk.control.q_target[i])
        details = walk.simulation.linearize(State(motion.q[i], motion.v[i]), control)
        assert all(
            contact.A.endswith("_foot/0") and contact.B == "floor" for contact in details.contacts
        )
        assert {joint.source for joint in details.joints} == {"motor"}
    assert not any(map(np.any, (walk.simulation.model.damping, walk.simulation.model.armature)))


@pytest.mark.usefixtures("_x64")
def test_states_and_gradients_are_those_of_the_simulation():
    walk = Walk(STEPS)
    motion = walk.run()
    robot, start = jax_walk.robot_of(walk.simulation, SWEEPS), jax_walk.start_of(walk.start.q)
    targets = jax_walk.targets_of(walk.control.q_target)
    q, v = jax_walk.numbers(compiled(partial(jax_walk.run, robot, start), targets)(targets))
    assert np.abs(q - motion.q[1:]).max() < ROUNDING
    assert np.abs(v - motion.v[1:]).max() < ROUNDING
    back = jax_walk.gradient(robot, start, np.array(DIRECTION), segment=20)
    gradient = compiled(back, targets)(targets)[1]
    expected = walk.back(motion).q_target[:, 7:]
    np.testing.assert_allclose(
        np.reshape(gradient, (STEPS, -1)), expected, rtol=0, atol=ROUNDING * np.abs(expected).max()
    )
