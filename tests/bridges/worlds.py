"""A world with all kinds of q, contacts and motors, in which no contact changes its mode."""

from __future__ import annotations

import numpy as np

from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder
from robosim.simulation import Control, Simulation
from robosim.world import Material, Motor, World

from ..simulation.worlds import floor  # noqa: TID252 (tests have no absolute name)

STEPS = 6
# All parameters of surfaces and motors, and some of links, shapes and the world.
SURFACES = (
    "friction",
    "restitution",
    "torsional_friction",
    "rolling_friction",
    "compliance",
    "relaxation_time",
)
MOTORS = ("position_gain", "velocity_gain", "motor_limit")
KEYS = (*SURFACES, *MOTORS, ("mass", "arm"), "com", ("radius", ("box", 0)), "gravity")
FELT = (
    "friction",
    "position_gain",
    "velocity_gain",
    ("mass", "arm"),
    "com",
    ("radius", ("box", 0)),
    "gravity",
)


def model_of_all_kinds(height=0.5):
    """A floating box on feet, whose arm bears a follower, and a puck on a plane.

    n_q is 11, and n_v is 10.
    """
    builder = ModelBuilder("kinds")
    builder.add_link("root")
    for name, mass in ("box", 2.0), ("arm", 0.3), ("follower", 0.1), ("puck", 0.5):
        builder.add_link(
            name, mass=mass, com=(0.01, 0, 0.02), inertia=mass * np.diag([0.01, 0.02, 0.015])
        )
    builder.add_joint("free", "floating", "root", "box")
    builder.add_joint(
        "swing", "revolute", "box", "arm", axis=(0, 1, 0), lower=-3, upper=3, effort=50.0
    )
    builder.add_joint(
        "follow", "revolute", "arm", "follower", axis=(0, 1, 0), mimic=("swing", 0.5, 0.1)
    )
    builder.add_joint("glide", "planar", "root", "puck", axis=(0, 0, 1), X_PJ=pose((0, 0, height)))
    # Three feet, since four share forces in several ways, which changes with a jump.
    for x, y in (0.1, 0.0), (-0.08, 0.12), (-0.08, -0.12):
        builder.add_collider("box", Shape.sphere(0.02), X_LC=pose((x, y, -0.03)))
    builder.add_collider("puck", Shape.sphere(0.05))
    return builder.build()


def sliding_world(height=0.5):
    """Simulation of a box that slides on the floor and an arm that is driven within its limit.

    A puck at height 0 is held in the floor, which is a contact that cannot be solved.
    """
    return Simulation(
        World(
            model_of_all_kinds(height),
            floor(),
            materials={"box": Material(0.3), "floor": Material(0.3)},
            motors={"swing": Motor(20.0, 1.0, 40.0)},
        ),
        dt=2e-3,
    )


def start(simulation, rng):
    """q and v of a box that slides and turns. Its quaternion does not have unit length."""
    q = simulation.model.neutral()
    turn = rng.uniform(-np.pi, np.pi)
    q[:7] = *rng.normal(size=2), 0.05 - 1e-4, 0, 0, np.sin(turn / 2), np.cos(turn / 2)
    q[3:7] *= rng.uniform(0.5, 2)
    q[7:] = rng.uniform(-0.5, 0.5), 3, rng.normal(), rng.uniform(-np.pi, np.pi)
    v = rng.normal(size=simulation.model.n_v)
    v[:6] = rng.uniform(0.8, 1.2), rng.uniform(-0.3, 0.3), 0, 0, 0, rng.uniform(-0.5, 0.5)
    return q, v


def values(simulation, keys=KEYS):
    """Values of these parameters."""
    return [np.array(simulation.parameters[key]) for key in keys]


def drive(simulation, rng, steps=STEPS):
    """tau, q_target and v_target, (steps, n) each."""
    model = simulation.model
    q_target = np.tile(model.neutral(), (steps, 1))
    q_target[:, 7] = rng.uniform(-0.5, 0.5, steps)
    return 0.1 * rng.normal(size=(steps, model.n_v)), q_target, rng.normal(size=(steps, model.n_v))


def many(simulation, rng, count, steps=STEPS):
    """q, v, tau, q_target, v_target of many runs, (count, ...) each."""
    runs = [(*start(simulation, rng), *drive(simulation, rng, steps)) for _ in range(count)]
    return [np.stack(column) for column in zip(*runs, strict=True)]


def control(arrays, i):
    """Control of run i of the arrays of `many`."""
    return Control(*(x[i] for x in arrays[2:5]))
