"""Parameters by name: what the table says there is has gradients, directions and values that agree with the step.

Kinds and owners come from the table alone. A kind that is added to it is judged here as soon as a world has one.
"""

from __future__ import annotations

import pickle
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from robosim.errors import SimulationError
from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder
from robosim.scene import Scene
from robosim.simulation import Control, Material, Motor, Simulation, StepGradient

from .everything import DT, everything
from .worlds import floor, free_boxes, resting

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from harness.ridders import one_sided, ridders  # noqa: E402  found by the line above

SOLVERS = ["lcp", "cone", "pgs"]
KINDS = tuple(everything()[0].parameters.kinds)
TWISTS = ("pose", "frames", "placement")
LENGTHS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # of differences, as parts of a unit
# Of derivatives; of those by what has lengths differences are of shorter steps, over which the same features touch.
BAR, BAR_OF_LENGTHS = 1e-8, 1e-7
HAVE_LENGTHS = ("object", "vertex", "closure", "joint", "link")
ROUNDING = 1e-11  # of the loss, 1e-14, over a part of 1e-3 of a unit
SMALL = 1e-6  # of the largest derivative by a kind: what has less is moved together


class Step:
    """One step, and a loss of all that comes out of it that weighs positions and velocities alike."""

    def __init__(self, solver):
        self.simulation, self.state, self.control = everything(solver=solver)
        n = self.simulation.model.n_v
        self.q_bar, self.v_bar = np.random.default_rng(4).normal(size=(2, n)) / [[DT], [1]]
        self.end = self.simulation.step(self.state, self.control)
        self.signature = self.simulation.signature(self.state, self.control)
        gradient = self.simulation.vjp(self.state, self.q_bar, self.v_bar, self.control)
        assert not gradient.one_sided
        self.values, self.by = self.simulation.parameters, gradient.parameters

    def change(self, simulation):
        """(1,) of the loss; None where the step is by another formula."""
        if simulation.signature(self.state, self.control) != self.signature:
            return None
        end = simulation.step(self.state, self.control)
        moved = self.simulation.model.difference(self.end.q, end.q)
        return np.array([self.q_bar @ moved + self.v_bar @ (end.v - self.end.v)])

    def along(self, key, direction):
        """t -> change of the loss with the parameter moved by t times a direction; None where it cannot be there."""

        def moved(t):
            try:
                return self.change(self.simulation.with_parameters({key: self.values[key] + t * direction}))
            except SimulationError:
                return None

        return moved

    def tangent(self, key, direction):
        along = self.simulation.jvp(self.state, self.control, parameters={key: direction})
        return self.q_bar @ along.q + self.v_bar @ along.v

    def units(self, kind):
        """What each number of a kind is changed by; zero where it is no number that can be greater and less."""
        values, least = self.values[kind], self.values.kinds[kind].least
        # A link without moments cannot have a little of one of them.
        usual = np.where(values == 0, float(kind != "inertia"), np.abs(values))
        return np.where(np.isfinite(values) & (values > least), 1.0 if kind in TWISTS else usual, 0.0)


def differentiated(change, enough):
    """By differences of all lengths at which the step is by one formula, until some are seen to be exact enough."""
    best = None
    for length in LENGTHS:
        found = ridders(change, length)
        if found is not None and (best is None or found.error[0] < best.error[0]):
            best = found
        if best is not None and best.error[0] < enough:
            break
    return best


@cache
def step(solver):
    return Step(solver)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_gradients_and_directions_are_differences(solver, kind):
    """By each owner that counts along a random direction of its numbers, and by all others at once."""
    own, rng = step(solver), np.random.default_rng(5)
    units = own.units(kind)
    direction = units * rng.uniform(0.5, 1, units.shape) * rng.choice([-1, 1], units.shape)
    terms = np.where(direction != 0, own.by[kind] * direction, 0.0)
    largest = np.abs(terms).max()
    assert largest > 0, "the world has none that counts"
    rest, cases = direction.copy(), []
    for owner in dict.fromkeys(own.values.owners(kind)):
        rows = np.array([x == owner for x in own.values.owners(kind)])
        if np.abs(terms[rows]).max() > SMALL * largest:
            shape = own.values[kind, owner].shape
            one = direction[rows][0] if own.values.kinds[kind].owner == "pair" else direction[rows]
            cases.append(((kind, owner), one.reshape(shape)))
            rest[rows] = 0.0
    bar = BAR_OF_LENGTHS if own.values.kinds[kind].owner in HAVE_LENGTHS else BAR
    for key, way in [*cases, (kind, rest)]:
        terms = np.where(way != 0, own.by[key] * way, 0.0)
        size = np.abs(terms).sum()
        best = differentiated(own.along(key, way), 0.1 * bar * size)
        assert best is not None, key
        assert best.value[0] == pytest.approx(terms.sum(), rel=0, abs=bar * size + ROUNDING), key
        assert own.tangent(key, way) == pytest.approx(terms.sum(), rel=0, abs=1e-12 * size + 1e-16), key
