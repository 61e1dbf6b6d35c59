"""Robots that move according to a formula.

Carts with poles, a drone that hovers, a car that rolls and brakes, a ball.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq

from robosim import load_robot
from robosim.simulation import Control, Simulation, StepStatus
from robosim.world import Material, Motor, World

from .on_floor import G, floor, on_the_floor, placed


def period(times, x):
    """Mean time [s] between upward zero crossings, linearly interpolated between samples."""
    k = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    crossings = times[k] - x[k] * (times[k + 1] - times[k]) / (x[k + 1] - x[k])
    return np.diff(crossings).mean()


def test_a_hanging_cart_pole_swings_with_the_frequency_of_the_formula():
    robot = load_robot("cart_pole")
    cart, pole, half = 1.0, 0.1, 0.5
    # (M + m) x'' + m l theta'' = 0,  4/3 m l^2 theta'' + m l x'' + m g l theta = 0  (Barto et al.,
    # linearized, hanging).
    squared = pole * G * half / (4 / 3 * pole * half**2 - (pole * half) ** 2 / (cart + pole))
    simulation = Simulation(World(robot.with_friction(0).with_damping(0)))
    motion = simulation.rollout(simulation.state([0, np.pi + 0.01]), 10_000)
    assert motion.report.status == StepStatus.solved
    # An amplitude of 0.01 rad slows it down by 1/16 of the amplitude's square, steps of 1 ms by (w
    # dt)^2 / 24.
    assert period(motion.times, motion.q[:, 1] - np.pi) == pytest.approx(
        2 * np.pi / squared**0.5, rel=1e-5
    )
    # No force acts along the rail: the center of mass stays at its place.
    lever = pole * half / (cart + pole)
    where = motion.q[:, 0] + lever * np.sin(motion.q[:, 1])
    np.testing.assert_allclose(where, where[0], rtol=0, atol=1e-7)


def test_friction_is_that_of_the_paper():
    robot = load_robot("cart_pole")
    np.testing.assert_array_equal(robot.friction, [0.0005, 0])
    np.testing.assert_array_equal(robot.damping, [0, 0.000002])
    assert robot.limits.effort[0] == 10


def test_a_hanging_double_cart_pole_has_the_two_frequencies_of_the_formula():
    robot = load_robot("double_cart_pole").with_damping(0)
    cart, pole, second = (
        next(x for x in robot.links if x.name == name) for name in ("cart", "pole", "second_pole")
    )
    m, length, half = pole.mass, 0.6, 0.3
    assert second.mass == m
    inertia = pole.inertia[1, 1]
    # Positions x, and angles of both poles from the vertical; kinetic and potential energy to
    # second order.
    M = np.array(
        [
            [cart.mass + 2 * m, m * (half + length), m * half],
            [m * (half + length), inertia + m * (half**2 + length**2), m * length * half],
            [m * half, m * length * half, inertia + m * half**2],
        ]
    )
    K = np.diag([0, m * G * (half + length), m * G * half])
    squares, modes = eigh(K, M)
    assert squares[0] == pytest.approx(0, abs=1e-9)  # the cart rolls freely
    simulation = Simulation(World(robot))
    for square, mode in zip(squares[1:], modes.T[1:], strict=True):
        x, first, then = 0.003 * mode / np.abs(mode[1:]).max()
        motion = simulation.rollout(simulation.state([x, np.pi + first, then - first]), 5000)
        # Tolerance as above, plus the contribution of the other mode.
        assert period(motion.times, motion.q[:, 1] - np.pi) == pytest.approx(
            2 * np.pi / square**0.5, rel=1e-4
        )


def test_an_upright_pole_stands_and_leaning_falls():
    robot = load_robot("cart_pole")
    simulation = Simulation(World(robot))
    assert simulation.rollout(simulation.state(), 1000).q[-1] == pytest.approx([0, 0], abs=0)
    fallen = simulation.rollout(simulation.state([0, 0.01]), 2000)
    assert fallen.q[:, 1].max() > np.pi  # to +x, for a positive angle
    assert fallen.q[:, 0].min() < 0  # and the cart to -x


def test_a_drone_hovers_at_the_speed_of_its_readme_and_climbs_with_more():
    robot = load_robot("drone", base="floating")
    thrust = 8.54858e-6  # [N s^2]
    speed = brentq(lambda w: 4 * thrust * w**2 - robot.total_mass * G, 100, 838)
    assert speed == pytest.approx(453, abs=0.5)
    simulation = Simulation(World(robot, floor()))
    q = placed(robot, "aligned")
    for factor in (0.5, 1.0, 1.2):
        tau = np.zeros(robot.n_v)
        tau[2] = factor * 4 * thrust * speed**2
        motion = simulation.rollout(simulation.state(q), 500, Control(tau=tau))
        assert motion.report.status == StepStatus.solved
        climbed = motion.q[-1, 2] - q[2]
        # Semi-implicit steps move by a (t^2 + t dt) / 2.
        assert climbed == pytest.approx(max(factor - 1, 0) * G * 0.5 * (0.5 + 1e-3) / 2, abs=1e-9)
        force, _ = on_the_floor(simulation.linearize(motion.end, Control(tau=tau)).contacts)
        np.testing.assert_allclose(
            force, [0, 0, max(1 - factor, 0) * robot.total_mass * G], rtol=0, atol=1e-9
        )


def test_a_drone_turns_against_its_rotors():
    """No external moment acts: the rotors' angular momentum is opposite to the body's."""
    robot = load_robot("drone", base="floating").with_gravity([0, 0, 0])
    simulation = Simulation(World(robot))
    tau = np.zeros(robot.n_v)
    tau[6] = 1e-3
    motion = simulation.rollout(simulation.state(), 100, Control(tau=tau))
    spin = next(link.inertia[2, 2] for link in robot.links if link.name == "front_rotor")
    assert motion.v[-1, 6] > 1
    momentum = robot.centroidal_momentum(motion.q[-1], motion.v[-1])
    np.testing.assert_allclose(momentum, 0, rtol=0, atol=1e-12)
    assert motion.v[-1, 5] == pytest.approx(
        -spin * (motion.v[-1, 5] + motion.v[-1, 6]) / 0.012, rel=0.1
    )


@pytest.fixture(scope="module")
def car():
    return load_robot("race_car", base="floating")


def rolling(car, speed):
    """Velocity of the car that rolls straight ahead."""
    v = np.zeros(car.n_v)
    v[0] = speed
    for i, name in enumerate(car.velocity_names):
        if name.endswith("_axle"):
            v[i] = speed / 0.05
    return v


def test_the_car_as_a_whole_is_the_published_one(car):
    q = car.neutral()
    np.testing.assert_allclose(car.center_of_mass(q), [0, 0, 0.074 - 0.05], rtol=0, atol=1e-9)
    M = car.mass_matrix(q)
    assert M[5, 5] == pytest.approx(0.04712, abs=1e-9)
    front, rear = (car.frame_pose(q, f"{end}_left_wheel")[0, 3] for end in ("front", "rear"))
    assert (front, rear) == pytest.approx((0.15875, -0.17145), abs=1e-12)


def test_a_car_with_free_wheels_rolls_on(car):
    simulation = Simulation(
        World(
            car,
            floor(),
            motors={f"front_{side}_steering": Motor(50, 1) for side in ("left", "right")},
        )
    )
    q = placed(car, "straight")
    hold = Control(q_target=q)
    motion = simulation.rollout(simulation.state(q, rolling(car, 1.0)), 1000, hold)
    assert motion.report.status <= StepStatus.basic
    assert motion.q[-1, 0] == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(motion.v[-1], rolling(car, 1.0), rtol=0, atol=1e-5)
    force, touching = on_the_floor(simulation.linearize(motion.end, hold).contacts)
    assert len(touching) == 4
    np.testing.assert_allclose(force, [0, 0, car.total_mass * G], rtol=0, atol=1e-6)
    # The load is shared according to the distances of the axles.
    front = sum(
        c.force[2] for c in simulation.linearize(motion.end, hold).contacts if "front" in c.A + c.B
    )
    assert abs(front) == pytest.approx(car.total_mass * G * 0.17145 / (0.15875 + 0.17145), rel=1e-6)


def test_a_car_with_locked_wheels_slides_as_far_as_friction_lets_it(car):
    mu, speed = 0.21, 1.0
    motors = {name: Motor(velocity_gain=1e3) for name in car.groups["wheels"].joints}
    motors |= {name: Motor(50, 1) for name in car.groups["steering"].joints}
    simulation = Simulation(
        World(car, floor(), motors=motors, materials={"floor": Material(mu), **wheels(car, mu)})
    )
    q = placed(car, "straight")
    v = np.zeros(car.n_v)
    v[0] = speed
    motion = simulation.rollout(simulation.state(q, v), 700, Control(q_target=q))
    assert motion.report.status <= StepStatus.basic
    # v^2 / (2 mu g), minus half of the first step's displacement, as velocity is updated before
    # position.
    assert motion.q[-1, 0] == pytest.approx(speed**2 / (2 * mu * G) - speed * 1e-3 / 2, rel=1e-4)
    assert np.abs(motion.q[-1, 1]) < 1e-9
    assert np.abs(motion.v[-1]).max() < 1e-6


def wheels(car, mu):
    return {link: Material(mu) for link in car.link_names if link.endswith("_wheel")}


def test_the_steered_car_drives_to_the_side_that_it_is_steered_to(car):
    motors = {name: Motor(velocity_gain=1e3) for name in car.groups["wheels"].joints}
    motors |= {name: Motor(50, 1) for name in car.groups["steering"].joints}
    simulation = Simulation(World(car, floor(), motors=motors))
    q = placed(car, "left")
    motion = simulation.rollout(
        simulation.state(q), 1000, Control(q_target=q, v_target=rolling(car, 0.5))
    )
    assert motion.report.status not in (StepStatus.relaxed, StepStatus.inconsistent)
    assert motion.q[-1, 1] > 0.05
    assert 2 * np.arctan2(motion.q[-1, 5], motion.q[-1, 6]) > 0.3


def test_the_ball_falls_onto_the_catapult_and_is_thrown():
    robot = load_robot("catapult")
    arm = robot.groups["arm"].joints
    motors = {name: Motor(20_000, 400) for name in arm}
    simulation = Simulation(World(robot, floor(), motors=motors))
    q = robot.configuration("ready")
    x, z = (robot.position_names.index(f"ball_joint/{axis}") for axis in "xy")
    # The ball falls freely until it touches the arm, and comes to rest on the arm.
    top = robot.frame_pose(q, "arm_3")[2, 3] + 0.025
    drop = 0.675 - 0.05 - top
    steps = int(1e3 * np.sqrt(2 * drop / G)) - 2
    motion = simulation.rollout(simulation.state(q), 400, Control(q_target=q))
    assert motion.report.status not in (StepStatus.relaxed, StepStatus.inconsistent)
    t = motion.times[steps]
    assert motion.q[steps, z] == pytest.approx(-G * t * (t + 1e-3) / 2, abs=1e-12)
    assert motion.q[-1, z] == pytest.approx(-drop, abs=0.005)
    # The arm returns to upright and throws the ball forward and up.
    thrown = simulation.rollout(
        motion.end, 300, Control(q_target=robot.configuration(dict.fromkeys(arm, 0.0)))
    )
    assert thrown.q[:, x].max() > motion.q[-1, x] + 0.3
    assert thrown.q[:, z].max() > motion.q[-1, z] + 0.2


def test_a_jump_worm_that_stretches_jumps():
    robot = load_robot("jump_worm")
    body = robot.groups["body"].joints
    simulation = Simulation(World(robot, floor(), motors=dict.fromkeys(body, Motor(200, 5))))
    ready = robot.configuration("ready")
    ready[1] -= floor().compile(robot).min_distance(ready)[0]
    flat = simulation.rollout(
        simulation.state(), 500, Control(q_target=robot.configuration("flat"))
    )
    # The contact points with the ground are redundant, more than a plane needs.
    assert flat.report.status <= StepStatus.basic
    # The head already lies on the ground. The tail, 25 mm above, sinks to the ground 0.7 m behind
    # the head's end.
    assert flat.q[-1, 2] == pytest.approx(np.arctan2(0.025, 0.7), abs=1e-5)
    np.testing.assert_allclose(flat.q[-1, 3:], 0, rtol=0, atol=1e-2)
    dt = 1e-4  # it stretches at 36 rad/s, and steps are accurate to first order
    fine = Simulation(World(robot, floor(), motors=dict.fromkeys(body, Motor(200, 5))), dt=dt)
    jump = fine.rollout(fine.state(ready), 2500, Control(q_target=robot.configuration("flat")))
    assert jump.report.status not in (StepStatus.relaxed, StepStatus.inconsistent)
    world = floor().compile(robot)
    heights = np.array([world.min_distance(q)[0] for q in jump.q])
    assert heights[-1] > 0.2
    # In the air its center of mass is in free fall.
    flies = np.flatnonzero(heights > 0.01)
    np.testing.assert_array_equal(np.diff(flies), 1)
    z = np.array([robot.center_of_mass(q)[2] for q in jump.q[flies]])
    np.testing.assert_allclose(np.diff(z, 2) / dt**2, -G, rtol=5e-2)
