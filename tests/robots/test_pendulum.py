"""The benchmarks' pendulum of n links.

Compared with closed forms of rods, double pendulums and hanging chains.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.special import jn_zeros

from robosim.simulation import Simulation
from robosim.world import World

from .on_floor import G

FILE = Path(__file__).parents[2] / "benchmarks" / "harness" / "pendulum.py"


@pytest.fixture(scope="module")
def pendulum():
    spec = importlib.util.spec_from_file_location("pendulum", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.pendulum


def stiffness(model):
    """(n, n) stiffness of gravity at the hanging state.

    Computed by differences of a gradient that is a sum of sines.
    """
    step = 1e-4
    rows = np.eye(model.n_v) * step
    return np.array([model.gravity(row) - model.gravity(-row) for row in rows]) / (2 * np.sin(step))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 30])
def test_inertia_and_gravity_are_those_of_thin_rods(pendulum, n):
    length, mass = 1.2, 0.7
    model = pendulum(n, length=length, mass=mass)
    assert model.total_mass == pytest.approx(mass, rel=1e-14)
    rod, share = length / n, mass / n
    # In terms of angles from the vertical, each rod swings about its end and is carried by the rods
    # above.
    below = n - 1 - np.maximum.outer(np.arange(n), np.arange(n))
    M = share * rod**2 * (below + 1 / 2 - np.eye(n) / 6)
    K = share * G * rod * np.diag(np.arange(n)[::-1] + 1 / 2)
    vertical = np.tril(np.ones((n, n)))  # from the angles between rods
    np.testing.assert_allclose(
        model.mass_matrix(np.zeros(n)), vertical.T @ M @ vertical, rtol=1e-12
    )
    np.testing.assert_allclose(stiffness(model), vertical.T @ K @ vertical, rtol=1e-6, atol=1e-6)


def test_one_link_swings_as_a_rod_does(pendulum):
    model = pendulum(1, length=0.5)
    (square,) = eigh(stiffness(model), model.mass_matrix([0.0]), eigvals_only=True)
    assert square == pytest.approx(3 * G / (2 * 0.5), rel=1e-7)


def test_many_links_swing_as_a_hanging_chain_does(pendulum):
    """Hanging chain (D. Bernoulli): J0(2 w sqrt(L / g)) = 0.

    The error of rods decreases with the square of their length.
    """
    length, errors = 2.0, []
    chain = jn_zeros(0, 3) / 2 * np.sqrt(G / length)
    for n in (20, 40):
        model = pendulum(n, length=length)
        squares = eigh(stiffness(model), model.mass_matrix(np.zeros(n)), eigvals_only=True)
        errors.append(np.abs(np.sqrt(squares[:3]) / chain - 1))
    assert errors[1].max() < 0.01
    np.testing.assert_allclose(errors[0] / errors[1], 4, rtol=0.1)


def test_it_swings_in_its_plane_and_keeps_its_energy(pendulum):
    model = pendulum(5)
    assert len(model.collision_pairs) == 6  # of rods that are not neighbors
    q = np.full(5, 0.4)
    assert model.frame_pose(q, "rod_5")[0, 3] > 0  # a positive angle swings to +x
    simulation = Simulation(World(model), dt=1e-4)
    motion = simulation.rollout(simulation.state(q), 5000)
    energy = [
        model.kinetic_energy(*x) + model.potential_energy(x[0])
        for x in zip(motion.q, motion.v, strict=True)
    ]
    # Steps are accurate to first order: about 1e-4 of the swinging energy.
    assert np.ptp(energy) < 1e-3 * (np.max(energy) - model.potential_energy(np.zeros(5)))


@pytest.mark.parametrize(("links", "options"), [(0, {}), (3, {"length": 0.05})])
def test_what_is_no_pendulum_is_refused(pendulum, links, options):
    with pytest.raises(ValueError, match="needed"):
        pendulum(links, **options)
