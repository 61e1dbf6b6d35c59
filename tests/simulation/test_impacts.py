"""Impacts in their order: rows of balls by the laws of two, whatever the step; and no energy from any of them."""

from __future__ import annotations

import numpy as np
import pytest

from robosim import _engine
from robosim.simulation import Simulation
from robosim.world import Material, World

from .worlds import ball_on_rails

RADIUS = 0.1
THRESHOLD = 0.01  # [m/s] below which nothing bounces
STEPS = [1e-4, 1e-3, 4e-3]


def row_of(masses, restitution: float) -> World:
    """Balls that slide along x, smooth."""
    return World(ball_on_rails(masses), materials=dict.fromkeys((f"ball{i}" for i in range(len(masses))), Material(0.0, restitution)))


def by_events(masses, x, v, restitution: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Where balls are and how fast, one hit of two after the other; these are all faster than the threshold."""
    masses, x, v, time = (np.array(masses, float), np.array(x, float), np.array(v, float), 0.0)
    while True:
        gaps, closing = np.diff(x) - 2 * RADIUS, v[:-1] - v[1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            when = np.where(closing > 1e-12, np.maximum(gaps, 0.0) / closing, np.inf)
        i = int(np.argmin(when))
        if not time + when[i] < end:
            return x + (end - time) * v, v
        assert closing[i] > THRESHOLD
        x, time = x + when[i] * v, time + when[i]
        impulse = (1 + restitution) * closing[i] / (1 / masses[i] + 1 / masses[i + 1])
        v[i] -= impulse / masses[i]
        v[i + 1] += impulse / masses[i + 1]


def placed(gaps) -> np.ndarray:
    return np.concatenate([[0.0], np.cumsum(np.asarray(gaps) + 2 * RADIUS)])


ROWS = [
    ((1, 1, 1), 1.0),
    ((1, 1, 1), 0.7),
    ((1, 1, 1, 1, 1), 1.0),
    ((1, 1, 1, 1, 1), 0.9),
    ((2, 1, 0.5), 1.0),
    ((0.5, 1, 3), 1.0),
    ((3, 1, 2, 0.3, 1), 0.95),
]


@pytest.mark.parametrize("solver", _engine.row_solvers)
@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize(("masses", "restitution"), ROWS)
def test_a_row_of_balls_is_hit_one_after_the_other(masses, restitution, dt, solver):
    simulation = Simulation(row_of(masses, restitution), dt=dt, solver=solver, sweeps=200)
    n = len(masses)
    for gap in 0.0, 2e-6, 5e-4, 2e-3, 1e-2:
        x = placed([0.0123, *[gap] * (n - 2)])
        v = np.eye(n)[0]
        steps = round(0.2 / dt)
        motion = simulation.rollout(simulation.state(x, v), steps)
        x_end, v_end = by_events(masses, x, v, restitution, dt * steps)
        np.testing.assert_allclose(motion.v[-1], v_end, rtol=0, atol=1e-9)
        # What touches is hit at once, so that balls stand where they were to within what counts as touching.
        np.testing.assert_allclose(motion.q[-1], x_end, rtol=0, atol=1e-9 if gap != 2e-6 else 2e-5)
        assert motion.report.status.max() == 0
        if restitution == 1:
            energy = 0.5 * (np.array(masses) * motion.v**2).sum(axis=1)
            np.testing.assert_allclose(energy, energy[0], rtol=1e-12)
