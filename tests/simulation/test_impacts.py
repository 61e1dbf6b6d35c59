"""Impacts in their order: rows of balls follow two-body laws at any step and gain no energy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from robosim import _engine
from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder
from robosim.scene import Scene
from robosim.simulation import Control, Simulation, StepStatus
from robosim.world import Material, World

from .worlds import ball_on_rails

RADIUS, G = 0.1, 9.80665
THRESHOLD = 0.01  # [m/s] below which nothing bounces
TOUCHING = 1e-5  # [m] within which impacts are simultaneous
STEPS = [1e-4, 1e-3, 4e-3]


def row_of(masses, restitution: float) -> World:
    """Balls that slide along x without friction."""
    return World(
        ball_on_rails(masses),
        materials=dict.fromkeys(
            (f"ball{i}" for i in range(len(masses))), Material(0.0, restitution)
        ),
    )


def at_once(closing, admittance, restitution: float) -> np.ndarray:
    """Impulses of simultaneous impacts by Newton's law.

    Each pair separates with `restitution` times its closing velocity, or faster and without an
    impulse.
    """
    for pushes in itertools.product([True, False], repeat=len(closing)):
        on = np.array(pushes)
        f = np.zeros(len(closing))
        f[on] = np.linalg.solve(admittance[np.ix_(on, on)], (1 + restitution) * closing[on])
        if (f >= 0).all() and (admittance @ f - (1 + restitution) * closing >= -1e-12).all():
            return f
    raise AssertionError("an admittance is positive definite")


def by_events(masses, x, v, restitution: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities from event-driven simulation, one impact after the other.

    Simultaneous impacts count as one. All impacts must be faster than the threshold, below which
    another law applies.
    """
    x, v, time = np.array(x, float), np.array(v, float), 0.0
    J = np.diff(np.eye(len(x)), axis=0)
    admittance = J @ np.diag(1 / np.array(masses, float)) @ J.T
    while True:
        gaps, closing = J @ x - 2 * RADIUS, -J @ v
        comes = closing > 1e-12
        when = np.where(comes, np.maximum(gaps, 0.0) / np.where(comes, closing, 1.0), np.inf)
        if not time + when.min() < end:
            return x + (end - time) * v, v
        x, time = x + when.min() * v, time + when.min()
        met = comes & (J @ x - 2 * RADIUS <= TOUCHING)
        assert closing[met].min() > THRESHOLD
        f = at_once(closing[met], admittance[np.ix_(met, met)], restitution)
        v += J[met].T @ f / masses


def placed(gaps) -> np.ndarray:
    return np.concatenate([[0.0], np.cumsum(np.asarray(gaps) + 2 * RADIUS)])


ROWS = [
    ((1, 1, 1), 1.0),
    ((1, 1, 1), 0.7),
    ((2, 1, 0.5), 1.0),
    ((2, 1, 0.5), 0.3),
    ((0.5, 1, 3), 1.0),
    ((1, 1, 1, 1, 1), 1.0),
    ((1, 1, 1, 1, 1), 0.7),
    ((4, 2, 1, 0.5, 0.25), 1.0),
    ((3, 1, 2, 0.3, 1), 0.8),
    ((1, 2, 1, 2, 1), 0.95),
]
GAPS = (0.0, 2e-6, 5e-4, 2e-3, 1e-2)


@pytest.mark.parametrize("solver", _engine.row_solvers)
@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize(("masses", "restitution"), ROWS)
def test_a_row_of_balls_is_hit_one_after_the_other(masses, restitution, dt, solver):
    simulation = Simulation(row_of(masses, restitution), dt=dt, solver=solver, sweeps=200)
    n = len(masses)
    for gap in GAPS:
        x = placed([0.0123, *[gap] * (n - 2)])
        v = np.eye(n)[0]
        steps = round(0.2 / dt)
        motion = simulation.rollout(simulation.state(x, v), steps)
        x_end, v_end = by_events(masses, x, v, restitution, dt * steps)
        np.testing.assert_allclose(motion.v[-1], v_end, rtol=0, atol=1e-9)
        # Touching balls are hit at once, which moves them by up to the touching distance.
        np.testing.assert_allclose(motion.q[-1], x_end, rtol=0, atol=2 * TOUCHING)
        assert motion.report.status == StepStatus.solved
        if restitution == 1:
            energy = 0.5 * (np.array(masses) * motion.v**2).sum(axis=1)
            np.testing.assert_allclose(energy, energy[0], rtol=1e-12)


@pytest.mark.parametrize("solver", _engine.row_solvers)
@pytest.mark.parametrize("dt", STEPS)
def test_as_many_leave_as_come(dt, solver):
    """In Newton's cradle of five touching balls, the others stand still."""
    simulation = Simulation(row_of([1] * 5, 1.0), dt=dt, solver=solver)
    for coming in 1, 2, 3, 4:
        x = np.arange(5) * 2 * RADIUS
        x[:coming] -= 0.0123
        v = np.where(np.arange(5) < coming, 1.0, 0.0)
        motion = simulation.rollout(simulation.state(x, v), round(0.1 / dt))
        np.testing.assert_allclose(motion.v[-1], v[::-1], rtol=0, atol=1e-9)


@pytest.mark.parametrize("solver", _engine.row_solvers)
@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("gap", GAPS)
def test_what_does_not_bounce_goes_on_together(gap, dt, solver):
    masses = np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    simulation = Simulation(
        row_of(masses, 0.0), dt=dt, solver=solver, bounce="time_of_impact", sweeps=500
    )
    motion = simulation.rollout(
        simulation.state(placed([0.0123, *[gap] * 3]), np.eye(5)[0]), round(0.5 / dt)
    )
    np.testing.assert_allclose(motion.v[-1], masses[0] / masses.sum(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("solver", _engine.row_solvers)
def test_where_the_last_ball_is_has_the_gradient_of_continuous_time(solver):
    """The gradient is with respect to initial positions and velocities, at any length of a step.

    Equal elastic balls pass on their velocities.
    """
    for dt in 1e-3, 4e-3, 0.1:
        simulation = Simulation(row_of([1, 1, 1], 1.0), dt=dt, solver=solver)
        steps = round(0.4 / dt)
        state = simulation.state(placed([0.0523, 0.0201]), [1.0, 0.0, 0.0])
        motion = simulation.rollout(state, steps)
        q_bar, v_bar = np.zeros((2, steps + 1, 3))
        q_bar[-1, 2] = 1
        gradient = motion.vjp(q_bar, v_bar)
        assert not gradient.one_sided
        np.testing.assert_allclose(gradient.q, [1, 0, 0], rtol=0, atol=1e-9)
        np.testing.assert_allclose(gradient.v, [0.4, 0, 0], rtol=0, atol=1e-9)


def point() -> ModelBuilder:
    """A ball that slides along x and z."""
    builder = ModelBuilder("ball")
    builder.add_link("world")
    builder.add_link("cart")
    builder.add_joint("x", "prismatic", "world", "cart", axis=(1, 0, 0))
    builder.add_link("ball", mass=1.0, inertia=4e-3 * np.eye(3))
    builder.add_joint("z", "prismatic", "cart", "ball", axis=(0, 0, 1))
    builder.add_collider("ball", Shape.sphere(RADIUS))
    return builder


def errors(of_steps, expected, counts=(100, 400, 1600)) -> list[float]:
    """Errors for several step counts. Each count is four times the one before."""
    return [float(np.abs(of_steps(n) - expected).max()) for n in counts]


def test_a_bounce_on_the_ground_has_the_gradient_of_continuous_time():
    """Gradient of the end of a ball thrown at the ground, to first order in dt.

    It is with respect to initial positions and velocities.
    """
    scene, end = Scene("ground"), 0.6
    scene.add_half_space("ground")
    world = World(point().build(), scene, materials={("ball", "ground"): Material(0.0, 0.9)})
    height, down = 0.5, -1.0
    fast = np.sqrt(down**2 + 2 * G * height)
    hit = (down + fast) / G
    # z = e v (T - t) - g (T - t)^2 / 2 with v and t of the impact.
    by_height = 0.9 * (G / fast) * (end - hit) + (1 / fast) * (-0.9 * fast + G * (end - hit))
    by_speed = 0.9 * (down / fast) * (end - hit) + (1 + down / fast) / G * (
        -0.9 * fast + G * (end - hit)
    )

    def gradient(steps: int) -> np.ndarray:
        simulation = Simulation(world, dt=end / steps)
        motion = simulation.rollout(simulation.state([0, RADIUS + height], [0.3, down]), steps)
        bar = np.zeros((steps + 1, 2))
        bar[-1, 1] = 1
        found = motion.vjp(bar, 0 * bar)
        assert not found.one_sided
        return np.array([found.q[1], found.v[1]])

    coarse, middle, fine = errors(gradient, [by_height, by_speed])
    assert middle < 0.5 * coarse
    assert fine < 0.5 * middle
    assert fine < 5e-3


def test_ground_and_wall_have_the_gradient_of_continuous_time():
    """Ground and wall are elastic. The ball flies on mirrored at both, and so do its gradients."""
    scene, end = Scene("room"), 0.5
    scene.add_half_space("ground")
    scene.add_half_space("wall", pose((1.0, 0, 0), rpy=(0, -np.pi / 2, 0)))
    bouncy = {("ball", name): Material(0.0, 1.0) for name in scene.objects}
    world = World(point().build(), scene, materials=bouncy)

    def gradient(steps: int) -> np.ndarray:
        simulation = Simulation(world, dt=end / steps)
        motion = simulation.rollout(simulation.state([0.2, RADIUS + 0.3], [2.0, -1.5]), steps)
        assert motion.v[-1, 0] < 0  # off the wall
        bar = np.zeros((steps + 1, 2))
        bar[-1] = [1, 0.5]
        found = motion.vjp(bar, 0 * bar)
        return np.concatenate([found.q, found.v])

    fast = np.sqrt(1.5**2 + 2 * G * 0.3)
    hit = (-1.5 + fast) / G
    late = -fast + G * (end - hit)
    of_z = [
        G / fast * (end - hit) + late / fast,
        -1.5 / fast * (end - hit) + (1 - 1.5 / fast) / G * late,
    ]
    expected = np.array([-1, 0.5 * of_z[0], -end, 0.5 * of_z[1]])
    coarse, middle, fine = errors(gradient, expected)
    assert middle < 0.5 * coarse
    assert fine < 0.5 * middle
    assert fine < 5e-3


def test_two_balls_under_control_have_the_gradient_of_continuous_time():
    """Gradient with respect to the force on the first ball at each time.

    After the impact the force has no effect.
    """
    end = 1.0
    world = row_of([1.0, 1.0], 1.0)

    def force(t):
        return 1.5 + np.cos(3 * t)

    def gradient(steps: int) -> np.ndarray:
        dt = end / steps
        simulation = Simulation(world, dt=dt)
        times = dt * np.arange(steps)
        drives = Control(np.stack([force(times), 0 * times], axis=1))
        motion = simulation.rollout(simulation.state([0.0, 0.5], [0.0, 0.0]), steps, drives)
        bar = np.zeros((steps + 1, 2))
        bar[-1, 1] = 1
        return motion.vjp(bar, 0 * bar).tau[:: steps // 20, 0] / dt

    # x = 0.75 t^2 + (1 - cos 3 t) / 9 until 0.3. Then the second ball moves at v(t_c).
    low, high = 0.0, end
    for _ in range(60):
        hit = 0.5 * (low + high)
        low, high = (hit, high) if 0.75 * hit**2 + (1 - np.cos(3 * hit)) / 9 < 0.3 else (low, hit)
    fast = 1.5 * hit + np.sin(3 * hit) / 3
    times = end * np.arange(20) / 20
    sooner = (hit - times) / fast
    by_force = (1 - force(hit) * sooner) * (end - hit) + fast * sooner
    expected = np.where(times < hit, by_force, 0.0)
    assert np.abs(times - hit).min() > 5e-3
    coarse, middle, fine = errors(gradient, expected)
    assert middle < 0.5 * coarse
    assert fine < 0.5 * middle
    assert fine < 5e-3


@pytest.mark.parametrize("solver", _engine.row_solvers)
def test_friction_of_an_impact_goes_along_the_one_motion_that_its_point_has(solver):
    """A ball on a leaning hinge, 5 cm above the floor at the impact.

    Friction follows the motion of the ball's own point, not of the point below it on the floor.
    """
    axis, arm = np.array([1.0, 2.0, 0.5]) / np.sqrt(5.25), np.array([0.5, 0.1, 0.0])
    builder = ModelBuilder("leaning")
    builder.add_link("root")
    builder.add_link("ball", mass=1.0, com=arm, inertia=0.004 * np.eye(3))
    builder.add_joint(
        "hinge", "continuous", "root", "ball", X_PJ=pose((0, 0, RADIUS + 0.05)), axis=axis
    )
    builder.add_collider("ball", Shape.sphere(RADIUS), X_LC=pose(arm))
    scene = Scene("floor")
    scene.add_half_space("floor")
    world = World(
        builder.build(), scene, materials=dict.fromkeys(("ball", "floor"), Material(0.3, 0.5))
    )
    simulation = Simulation(world, dt=4e-3, solver=solver)
    step = simulation.linearize(simulation.state([0.0], [40.0]))
    ((impact,),) = (island.impacts for island in step.islands)
    normal, friction = impact.rows
    (contact,) = step.contacts
    assert contact.gap == pytest.approx(0.05)
    # The nearest point of the ball, and its motion about the hinge.
    motion = np.cross(axis, arm - (0, 0, RADIUS))
    along = np.array([*motion[:2], 0.0]) / np.linalg.norm(motion[:2])
    assert motion[2] < 0
    assert abs(friction.direction @ along) == pytest.approx(1, abs=1e-12)
    assert abs(friction.impulse) == pytest.approx(0.3 * normal.impulse, rel=1e-12)
    below = np.cross(axis, arm - (0, 0, RADIUS + 0.05))
    assert abs(along @ below) / np.linalg.norm(below[:2]) < 1 - 1e-3  # has another direction
