"""Print the number of contacts, and a hash of a rollout and all its Jacobians.

It runs in a separate process with ROBOSIM_ISA set. The hash covers all bits.
"""

from __future__ import annotations

import hashlib
import sys

import numpy as np

import robosim
from robosim.scene import Scene
from robosim.simulation import Simulation
from robosim.world import Material, World

STATE, PARAMETERS = ("q", "v", "tau"), ("mass", "friction", "pose")


def main(solver: str, steps: int) -> None:
    model = robosim.load_robot("quadruped", base="floating")
    floor = Scene("floor")
    floor.add_half_space("floor")
    simulation = Simulation(World(model, floor, materials={"floor": Material(0.6)}), solver=solver)
    q = model.neutral()
    q[2] = 0.5
    v = 0.3 * np.random.default_rng(1).normal(size=model.n_v)
    v[2] = -0.5  # falls onto its side and slides
    motion = simulation.rollout(simulation.state(q, v), steps)
    jacobians = motion.jacobians(*STATE, *PARAMETERS)
    digest = hashlib.sha256()
    blocks = [getattr(jacobians, name) for name in STATE]
    for array in (motion.q, motion.v, *blocks, *jacobians.parameters.values()):
        digest.update(np.ascontiguousarray(array).tobytes())
    print(motion.report.contacts, digest.hexdigest())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
