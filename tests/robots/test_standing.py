"""Robots with legs stand on their feet.

Motors hold a posture, and the ground carries exactly their weight.
"""

from __future__ import annotations

import numpy as np
import pytest

from robosim import load_robot
from robosim.simulation import Control, Simulation, StepStatus
from robosim.world import Motor, World

from .on_floor import G, floor, on_the_floor, placed

# Robot and posture, its feet, and gains of its motors, which are stiff for the weight that they
# carry.
STANDING = {
    "quadruped": ("standing", {f"{leg}_foot/0" for leg in ("FR", "FL", "RR", "RL")}, (400, 20)),
    "quadruped, low": (
        "crouching",
        {f"{leg}_foot/0" for leg in ("FR", "FL", "RR", "RL")},
        (400, 20),
    ),
    "ant": ("standing", {f"foot_{leg}/0" for leg in (1, 2, 3, 4)}, (50, 5)),
    "humanoid": ("standing", {f"{side}_foot/0" for side in ("left", "right")}, (2000, 100)),
    "humanoid, low": ("crouching", {f"{side}_foot/0" for side in ("left", "right")}, (8000, 400)),
}


@pytest.mark.parametrize("case", STANDING)
def test_motors_hold_it_on_its_feet_and_the_ground_carries_its_weight(case):
    robot = load_robot(case.split(",")[0], base="floating")
    state, feet, gains = STANDING[case]
    legs = next(named.group for named in robot.named_states if named.name == state)
    simulation = Simulation(
        World(robot, floor(), motors=dict.fromkeys(robot.groups[legs].joints, Motor(*gains)))
    )
    q = placed(robot, state)
    start, hold = simulation.state(q), Control(q_target=q)
    motion = simulation.rollout(start, 2000, hold)
    assert motion.report.status == StepStatus.solved
    details = simulation.linearize(motion.end, hold)
    force, touching = on_the_floor(details.contacts)
    assert touching == feet
    # At rest after two seconds, except for what a stiff spring and its damper have left of the
    # initial settling.
    assert np.abs(motion.v[-1]).max() < 1e-6
    np.testing.assert_allclose(
        force, [0, 0, robot.total_mass * G], rtol=0, atol=1e-5 * robot.total_mass * G
    )
    # The robot keeps its posture: no joint yields by 0.05 rad, and its trunk sinks and tilts by no
    # more.
    np.testing.assert_allclose(motion.q[-1], q, rtol=0, atol=0.05)
    # No motor is at its limit.
    limits = dict(zip(robot.velocity_names, robot.limits.effort, strict=True))
    motors = {joint.coordinate: joint.force for joint in details.joints if joint.source == "motor"}
    assert set(motors) == set(robot.groups[legs].joints)
    assert all(abs(force) < 0.9 * limits[name] for name, force in motors.items())


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_without_motors_it_falls_and_comes_to_lie_on_the_floor(name):
    robot = load_robot(name, base="floating")
    simulation = Simulation(World(robot, floor()))
    q = placed(robot, "standing")
    v = np.zeros(robot.n_v)
    v[0] = 0.1  # or it might stand like a pencil on its point
    motion = simulation.rollout(simulation.state(q, v), 2000)
    assert motion.report.status != StepStatus.inconsistent
    assert motion.q[-1, 2] < 0.5 * q[2]
    # No part penetrates the floor by more than 10 mm, half of the fall in a step at that height.
    world = floor().compile(robot)
    assert min(world.distances(q).min() for q in motion.q[::50]) > -0.01


def test_half_cheetah_stands_on_the_springs_that_its_readme_gives():
    springs = {"bthigh": 240, "bshin": 180, "bfoot": 120, "fthigh": 180, "fshin": 120, "ffoot": 60}
    stiffness = {f"{link}_joint": value for link, value in springs.items()}
    plain = load_robot("half_cheetah")
    assert not plain.stiffness.any()
    assert not plain.armature.any()
    robot = plain.with_stiffness(stiffness).with_armature(dict.fromkeys(stiffness, 0.1))
    simulation = Simulation(World(robot, floor()))
    motion = simulation.rollout(simulation.state(), 10_000)  # it rocks for a long time
    # Across its plane friction has no effect.
    assert motion.report.status <= StepStatus.basic
    force, touching = on_the_floor(simulation.linearize(motion.end).contacts)
    assert touching == {"bfoot/0", "ffoot/0"}
    assert np.abs(motion.v[-1]).max() < 1e-5
    np.testing.assert_allclose(force, [0, 0, 14 * G], rtol=0, atol=1e-5 * 14 * G)
    # Without springs the legs have only damping, and the robot sinks until they are bent to their
    # limits.
    limp = Simulation(World(plain, floor()))
    motion = limp.rollout(limp.state(), 4000)
    assert motion.q[-1, 1] < -0.3
