"""Contacts of hulls that stand for meshes: none between links whose hulls overlap at rest and whose meshes do not."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from robosim.geometry import Shape
from robosim.model import ModelBuilder
from robosim.simulation import Simulation
from robosim.world import World

from ..concave import channel  # noqa: TID252 (tests have no absolute name)


def ball_in_channel(height: float, *, exact: bool = True):
    """A ball of 10 cm that slides up and down, at rest this far above the middle of a channel [m]; no gravity."""
    mesh = channel()
    builder = ModelBuilder("channel")
    builder.add_link("channel")
    builder.add_collider("channel", Shape.convex(mesh.vertices), exact=mesh if exact else None)
    builder.add_link("ball", mass=1, inertia=1e-3 * np.eye(3))
    X = np.eye(4)
    X[2, 3] = height
    builder.add_joint(
        "z", "prismatic", "channel", "ball", X_PJ=X, axis=(0, 0, 1), lower=-1, upper=1, velocity=9, effort=9
    )
    builder.add_collider("ball", Shape.sphere(0.05))
    return builder.build(filter_adjacent=False).with_gravity((0, 0, 0))


def test_links_whose_meshes_are_apart_are_not_pressed_apart():
    simulation = Simulation(World(ball_in_channel(0.0)))
    assert simulation.pairs == []
    motion = simulation.rollout(simulation.state([0.0]), 20)
    np.testing.assert_array_equal(motion.q[-1], [0.0])
    assert pickle.loads(pickle.dumps(simulation)).pairs == []


@pytest.mark.parametrize(
    ("height", "exact"),
    [(0.0, False), (-0.1, True), (1.0, True)],
    ids=["a hull that stands for nothing", "meshes that overlap", "apart by their hulls"],
)
def test_all_others_are(height, exact):
    simulation = Simulation(World(ball_in_channel(height, exact=exact)))
    assert [set(pair) for pair in simulation.pairs] == [{"ball/0", "channel/0"}]
