"""Gradients of steps of whole robots on the ground against differences of the same steps."""

from __future__ import annotations

import numpy as np
import pytest

from robosim import load_robot
from robosim.simulation import Control, Simulation, State
from robosim.world import Motor, World

from .on_floor import floor


def standing(name, posture, gains, solver, askew=0.0):
    """Robot on its feet after settling, with motors; all feet stick.

    `askew` is the deviation of joints from the posture [rad].
    """
    robot = load_robot(name, base="floating")
    group = next(state.group for state in robot.named_states if state.name == posture)
    joints = robot.groups[group].joints
    simulation = Simulation(
        World(robot, floor(), motors=dict.fromkeys(joints, Motor(*gains))), solver=solver
    )
    q = robot.configuration(posture)
    q[7:] += askew * np.random.default_rng(1).uniform(-1, 1, len(joints))
    q[2] -= floor().compile(robot).min_distance(q)[0]
    control = Control(tau=np.zeros(robot.n_v), q_target=q)
    return simulation, simulation.rollout(simulation.state(q), 300, control).end, control


def jumping_worm(solver):
    """Worm during its push-off."""
    robot = load_robot("jump_worm")
    motors = dict.fromkeys(robot.groups["body"].joints, Motor(200, 5))
    simulation = Simulation(World(robot, floor(), motors=motors), solver=solver)
    start = robot.configuration("ready")
    start[1] -= floor().compile(robot).min_distance(start)[0]
    control = Control(tau=np.zeros(robot.n_v), q_target=robot.configuration("flat"))
    return simulation, simulation.rollout(simulation.state(start), 20, control).end, control


# No joint is at a limit, and no symmetry makes rows linearly dependent at this state only. If an
# ant stands straight, the lines of its shins intersect in a point, so that the conditions on its
# feet have rank 11 instead of 12. A step has kinks at such a state.
WORLDS = {
    "quadruped stands": lambda solver: standing("quadruped", "standing", (400, 20), solver),
    "ant stands askew": lambda solver: standing("ant", "standing", (50, 5), solver, askew=0.15),
    "humanoid crouches": lambda solver: standing("humanoid", "crouching", (8000, 400), solver),
    "worm jumps": jumping_worm,
}


@pytest.mark.parametrize("solver", ["lcp", "convex"])
@pytest.mark.parametrize("world", WORLDS)
def test_they_are_those_of_the_step_that_is_taken(world, solver):
    simulation, state, control = WORLDS[world](solver)
    model, rng = simulation.model, np.random.default_rng(0)
    next_state = simulation.step(state, control)
    assert simulation.linearize(state, control).contacts
    q_bar, v_bar = rng.normal(size=(2, model.n_v))

    def loss(dq, dv, dtau):
        moved = State(model.integrate(state.q, dq), state.v + dv)
        after = simulation.step(moved, Control(tau=control.tau + dtau, q_target=control.q_target))
        return q_bar @ model.difference(next_state.q, after.q) + v_bar @ after.v

    gradient = simulation.linearize(state, control).vjp(q_bar, v_bar)
    for which, along in enumerate((gradient.q, gradient.v, gradient.tau)):
        step = (1e-7, 1e-7, 1e-4)[which]
        for _ in range(3):
            direction = rng.normal(size=model.n_v)
            way = [np.zeros(model.n_v)] * 3
            way[which] = direction * step
            forward, back = loss(*way), loss(*(-x for x in way))
            # Rounding and curvature errors of the differences.
            scale = np.abs(along).max() * np.abs(direction).sum()
            assert (forward - back) / (2 * step) == pytest.approx(
                along @ direction, abs=1e-5 * scale + 1e-9
            )
