"""Small worlds: free bodies over a floor."""

from __future__ import annotations

import numpy as np

from robosim.geometry import Shape
from robosim.model import ModelBuilder
from robosim.scene import Scene
from robosim.simulation import Simulation
from robosim.world import Material, World

G = 9.80665  # [m/s^2]


def free_boxes(count, size=(0.2, 0.3, 0.1), mass=2.0, name="box"):
    """`count` boxes on floating joints, with seven entries each in q and six in v."""
    x, y, z = np.square(size)
    inertia = mass / 12 * np.diag([y + z, x + z, x + y])
    builder = ModelBuilder("boxes")
    builder.add_link("root")
    for i in range(count):
        builder.add_link(f"{name}{i}", mass=mass, inertia=inertia)
        builder.add_joint(f"free{i}", "floating", "root", f"{name}{i}")
        builder.add_collider(f"{name}{i}", Shape.box(size))
    return builder.build()


def ball_on_rails(masses, radius=0.1):
    """Balls that slide along x without friction or gravity."""
    builder = ModelBuilder("balls")
    builder.add_link("root")
    for i, mass in enumerate(masses):
        builder.add_link(f"ball{i}", mass=mass, inertia=0.4 * mass * radius**2 * np.eye(3))
        builder.add_joint(f"rail{i}", "prismatic", "root", f"ball{i}", axis=(1, 0, 0))
        builder.add_collider(f"ball{i}", Shape.sphere(radius))
    return builder.build()


def floor():
    scene = Scene("floor")
    scene.add_half_space("floor")
    return scene


def resting(*heights):
    """Configuration q of boxes above each other."""
    return np.concatenate([[0, 0, z, 0, 0, 0, 1] for z in heights])


def sliding_box(**options):
    """A box on the floor without motors that slides and turns, so that all four corners slide."""
    simulation = Simulation(
        World(free_boxes(1), floor(), materials={"floor": Material(0.4), "box0": Material(0.4)}),
        dt=2e-3,
        **options,
    )
    return simulation, simulation.state(resting(0.05), [0.8, 0.3, 0, 0, 0, 1.5])
