"""The simulated body: the equation of its step, energy, steady state, saturation, friction, stops, stability."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import robosim
from robosim.errors import ExecutionError
from robosim.execution.drives import Drives, end_velocity
from robosim.execution.plant import DynamicPlant, Gains, IdealPlant
from robosim.model import ModelBuilder
from robosim.planners import Problem, plan

UR5 = robosim.load_robot("ur5")
READY = np.array([0.3, -1.2, 1.1, -1.4, -1.5, 0.4])
NO_GAINS = Gains(np.array(0.0), np.array(0.0))


def random_problem(rng: np.random.Generator, n: int):
    """A step in which drives saturate, joints stick and stops are met."""
    A = rng.normal(size=(n, n)) * np.exp(rng.normal(size=n))
    M = A @ A.T + 1e-3 * np.eye(n)
    stops = rng.random(n) < 0.4
    drives = Drives(
        u=rng.normal(size=n) * 10 ** rng.uniform(-1, 7),
        g=np.where(rng.random(n) < 0.3, 0.0, 10 ** rng.uniform(-2, 7, n)),
        limit=np.where(rng.random(n) < 0.3, np.inf, 10 ** rng.uniform(-1, 2, n)),
        damping=np.where(rng.random(n) < 0.5, 0.0, 10 ** rng.uniform(-2, 1, n)),
        friction=np.where(rng.random(n) < 0.4, 0.0, 10 ** rng.uniform(-1, 2, n)),
        lower=np.where(stops, -rng.exponential(size=n) * (rng.random(n) < 0.8), -np.inf),
        upper=np.where(stops, rng.exponential(size=n) * (rng.random(n) < 0.8), np.inf),
    )
    return M, rng.normal(size=n) * 3, drives, 10 ** rng.uniform(-4, -2)


@settings(deadline=None, max_examples=400)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 8))
@example(seed=1855485, n=5)  # jumps between stop and rest, over the piece in which it moves
@example(seed=10013896, n=1)
def test_the_velocity_solves_the_equation_of_the_step(seed, n):
    """M (v - v0) = dt (f(v) - h) with every force on its own graph: the definition, checked joint by joint."""
    M, momentum, drives, dt = random_problem(np.random.default_rng(seed), n)
    v = end_velocity(M, momentum, drives, dt)
    assert (drives.lower <= v).all()
    assert (v <= drives.upper).all()
    needed = (M @ v - momentum) / dt
    base = np.clip(drives.u - drives.g * v, -drives.limit, drives.limit) - drives.damping * v
    # Dry friction is any force up to mu at rest, a stop any force inwards; both are exact zeros and bounds of v.
    most = np.where(v <= drives.lower, np.inf, base + np.where(v <= 0, drives.friction, -drives.friction))
    least = np.where(v >= drives.upper, -np.inf, base - np.where(v >= 0, drives.friction, -drives.friction))
    # Rounding of a Cholesky solution whose matrix has a condition up to about 1e6, divided by dt.
    scale = (np.abs(M) @ np.abs(v) + np.abs(momentum)).max() / dt + np.abs(drives.u).max()
    assert (needed <= most + 1e-8 * scale).all()
    assert (needed >= least - 1e-8 * scale).all()


def test_joints_between_which_nothing_has_mass_do_not_break_it():
    """Two joints about one axis share their inertia; at their limits no drive tells them apart."""
    n = np.zeros(2)
    far = Drives(np.full(2, 1e3), np.ones(2), np.full(2, 5.0), n, n, np.full(2, -3.0), np.full(2, 3.0))
    v = end_velocity(np.ones((2, 2)), np.zeros(2), far, 1e-3)
    assert np.allclose(v.sum(), 5e-3, rtol=1e-6)  # 1 kg m^2 that 5 N m have moved for a millisecond


def pendulum(**joint):
    """A rod of 2 kg, its centre 0.5 m below a hinge about y: inertia about the hinge 0.6 kg m^2."""
    builder = ModelBuilder("pendulum")
    builder.add_link("base")
    builder.add_link("rod", mass=2.0, com=(0.0, 0.0, -0.5), inertia=np.diag([0.1, 0.1, 0.01]))
    builder.add_joint("hinge", "revolute", "base", "rod", axis=(0, 1, 0), **joint)
    return builder.build()


def hold(plant, position, seconds, period=0.002):
    zeros = np.zeros(len(position))
    for _ in range(round(seconds / period)):
        plant.step(position, zeros, zeros, period)
    return plant


def test_ideal_tracking_is_where_it_shall_be():
    plant = IdealPlant(READY)
    plant.step(READY + 0.1, np.full(6, 0.3), np.zeros(6), 0.002)
    assert np.array_equal(plant.position, READY + 0.1)
    assert np.array_equal(plant.velocity, np.full(6, 0.3))
    assert plant.effort is None


def energy_drift(period):
    """Greatest change of the energy of a free double swing of a UR5 over half a second, from period-long steps."""
    plant = DynamicPlant(
        UR5.with_limits(velocity=100.0), UR5.joint_names, READY, gains=NO_GAINS, feedforward="none"
    )
    start, worst = UR5.potential_energy(READY), 0.0
    for _ in range(round(0.5 / period)):
        plant.step(READY, np.zeros(6), np.zeros(6), period)
        energy = UR5.kinetic_energy(plant.position, plant.velocity) + UR5.potential_energy(plant.position)
        worst = max(worst, abs(energy - start))
    assert UR5.kinetic_energy(plant.position, plant.velocity) > 30  # it does fall
    return worst


def test_energy_is_kept_to_first_order():
    """Without drives and friction energy stays; the method is of first order, so half the step halves the drift."""
    coarse, fine = energy_drift(1e-3), energy_drift(5e-4)
    assert coarse < 1.0  # of more than 30 J that are turned over
    assert 1.6 < coarse / fine < 2.4


def test_work_of_friction_is_what_energy_loses():
    """With viscous friction the energy lost is the integral of D v^2, to first order in the step."""
    model = pendulum(damping=0.4)
    plant = DynamicPlant(model, ["hinge"], [2.0], gains=NO_GAINS, feedforward="none")
    start, work, dt = model.potential_energy([2.0]), 0.0, 5e-4
    for _ in range(2000):
        plant.step(np.array([2.0]), np.zeros(1), np.zeros(1), dt)
        work += dt * 0.4 * plant.velocity[0] ** 2
    end = model.potential_energy(plant.position) + model.kinetic_energy(plant.position, plant.velocity)
    assert work > 2
    assert start - end == pytest.approx(work, rel=0.01)  # half the error at half the step: first order


def test_free_fall_is_that_of_a_fine_integration():
    """The pendulum's angle after a second against scipy's DOP853 of the textbook equation, damping and all."""
    from scipy.integrate import solve_ivp

    def rate(_t, y):
        return [y[1], (-2.0 * 9.81 * 0.5 * np.sin(y[0]) - 0.3 * y[1]) / 0.6]

    gravity = 9.81
    model = pendulum(damping=0.3).with_gravity([0, 0, -gravity])
    truth = solve_ivp(rate, (0, 1), [1.0, 0.0], method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    errors = []
    for dt in (1e-3, 5e-4):
        plant = DynamicPlant(model, ["hinge"], [1.0], gains=NO_GAINS, feedforward="none")
        for _ in range(round(1 / dt)):
            plant.step(np.array([1.0]), np.zeros(1), np.zeros(1), dt)
        errors.append(np.hypot(plant.position[0] - truth[0], plant.velocity[0] - truth[1]))
    assert errors[0] < 0.02
    assert 1.7 < errors[0] / errors[1] < 2.3  # first order


def test_steady_state_without_feedforward_is_what_gravity_and_stiffness_say():
    """At rest kp (q_d - q) = g(q), exactly: dynamics have no part in it."""
    gains = Gains(np.array([4e3, 4e3, 2e3, 500.0, 500.0, 100.0]), np.array([200.0, 200, 100, 20, 20, 2]))
    plant = hold(DynamicPlant(UR5, UR5.joint_names, READY, gains=gains, feedforward="none"), READY, 3.0)
    sag = READY - plant.position
    assert np.abs(sag).max() > 1e-3
    assert np.allclose(gains.kp * sag, UR5.gravity(plant.position), atol=1e-6)
    assert np.allclose(plant.effort, UR5.gravity(plant.position), atol=1e-6)
    assert np.abs(plant.velocity).max() < 1e-9


def test_steady_state_with_gravity_feedforward_has_no_error():
    plant = DynamicPlant(UR5, UR5.joint_names, READY)
    goal = READY + np.array([0.02, -0.03, 0.02, 0.01, -0.02, 0.05])
    assert np.abs(hold(plant, goal, 3.0).position - goal).max() < 1e-9


def test_effort_saturates_at_the_limit_and_the_motion_is_that_of_the_limit():
    """A reference far away: while the drive is at its limit L the joint moves as under the force L alone."""
    model = pendulum(effort=3.0, velocity=50.0).with_gravity([0, 0, 0])
    plant = DynamicPlant(model, ["hinge"], [0.0], feedforward="none")
    for k in range(1, 101):
        plant.step(np.array([3.0]), np.zeros(1), np.zeros(1), 1e-3)
        if k == 1:
            assert plant.effort[0] == 3.0
    # After 0.1 s under 3 N m: v = t L / I, exact for the scheme; q = dt^2 L / I (1 + ... + 100).
    assert plant.velocity[0] == pytest.approx(0.1 * 3.0 / 0.6, rel=1e-9)
    assert plant.position[0] == pytest.approx(1e-6 * 3.0 / 0.6 * 5050, rel=1e-9)


def test_too_weak_a_drive_lets_the_arm_sink_until_it_can_hold():
    """It needs 9.8 N m and has 5: it comes to rest where gravity asks for 5, which is at 0.53 rad."""
    model = pendulum(effort=5.0, damping=3.0)
    plant = hold(DynamicPlant(model, ["hinge"], [1.5]), np.array([1.5]), 10.0)
    weight = model.gravity([np.pi / 2])[0]
    assert plant.position[0] == pytest.approx(np.arcsin(5.0 / weight), abs=1e-6)
    assert plant.effort[0] == 5.0


@pytest.mark.parametrize(("angle", "moves"), [(0.3, False), (0.7, True)])
def test_dry_friction_holds_up_to_its_force(angle, moves):
    """m g r sin(q) against 5 N m of friction, at 0.3 rad 2.9 N m and at 0.7 rad 6.3 N m: no creep at all below."""
    model = pendulum(friction=5.0, damping=0.1)
    plant = DynamicPlant(model, ["hinge"], [angle], gains=NO_GAINS, feedforward="none")
    hold(plant, np.array([angle]), 2.0)
    assert bool(plant.position[0] != angle) is moves
    assert plant.velocity[0] == 0.0


@pytest.mark.parametrize(("begin", "beyond", "stop"), [(-1.0, 3.0, 0.5), (0.5, -3.0, -1.0)])
def test_speed_and_position_limits_are_hard(begin, beyond, stop):
    """Thrown at its end stop by a reference beyond it, a joint arrives at its greatest speed and stays there."""
    model = pendulum(lower=-1.0, upper=0.5, velocity=2.0, effort=1e4).with_gravity([0, 0, 0])
    gains = Gains(np.array(1e6), np.array(0.0))
    plant = DynamicPlant(model, ["hinge"], [begin], feedforward="none", gains=gains)
    before, fastest = plant.position, 0.0
    for _ in range(500):
        plant.step(np.array([beyond]), np.zeros(1), np.zeros(1), 0.002)
        fastest = max(fastest, abs(plant.position[0] - before[0]) / 0.002)
        before = plant.position
        assert -1.0 <= plant.position[0] <= 0.5
    assert fastest == pytest.approx(2.0, rel=1e-9)
    assert plant.position[0] == stop
    assert plant.velocity[0] == 0.0


@pytest.mark.parametrize("kp", [0.0, 1.0, 1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("kd", [0.0, 1.0, 1e3, 1e6, 1e9])
def test_no_gain_makes_it_unstable(kp, kd):
    """From rest a held reference is never left further than gravity's sag: the PD law is taken at the step's end."""
    plant = DynamicPlant(UR5, UR5.joint_names, READY, gains=Gains(np.array(kp), np.array(kd)))
    away = READY + 1e-3
    for period in (0.002, 0.008):
        hold(plant, away, 0.2, period)
        assert np.abs(plant.position - READY).max() < 3e-3


@pytest.mark.parametrize(
    ("feedforward", "bound"),
    [("none", 5e-3), ("gravity", 2e-3), ("inverse_dynamics", 5e-4)],
)
@pytest.mark.parametrize("rate", [125, 500])
def test_default_gains_follow_a_plan_closely(rate, feedforward, bound):
    """Default gains allow 2 mrad for inertial forces at the acceleration limits (see Gains.for_model); gravity
    without feedforward adds its sag, and inverse dynamics leave what the reference's corners make."""
    start = dict(zip(UR5.joint_names, READY, strict=True))
    trajectory = plan(Problem(UR5, start=start, goal=[1.4, -0.7, 0.3, -1.0, -0.4, 2.0])).trajectory
    plant, worst = DynamicPlant(UR5, UR5.joint_names, READY, feedforward=feedforward), 0.0
    for t in np.arange(1, int(trajectory.duration * rate) + 1) / rate:
        plant.step(trajectory.position(t), trajectory.velocity(t), trajectory.acceleration(t), 1 / rate)
        worst = max(worst, np.abs(plant.position - trajectory.position(t)).max())
    assert np.abs(trajectory.velocity(np.linspace(0, trajectory.duration, 200))).max() > 1
    assert worst < bound


def test_joints_that_are_not_commanded_are_held_fast():
    names = ["elbow_joint", "shoulder_pan_joint"]
    plant = DynamicPlant(UR5, names, READY)
    goal = READY[[2, 0]] + np.array([0.05, -0.05])
    hold(plant, goal, 2.0)
    assert np.abs(plant.position - goal).max() < 1e-9
    full = READY.copy()
    full[[2, 0]] = goal
    assert np.allclose(plant.effort, UR5.gravity(full)[[2, 0]], atol=1e-6)


def test_the_same_run_gives_the_same_bits():
    runs = []
    for _ in range(2):
        plant = DynamicPlant(UR5, UR5.joint_names, READY, feedforward="inverse_dynamics")
        rng = np.random.default_rng(3)
        for _ in range(100):
            plant.step(READY + rng.normal(size=6) * 0.01, rng.normal(size=6), rng.normal(size=6), 0.004)
        runs.append((plant.position, plant.velocity, plant.effort))
    for a, b in zip(*runs, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: DynamicPlant(UR5, ["elbow"], READY), "'elbow' is no joint of 'ur5'"),
        (lambda: DynamicPlant(UR5, ["elbow_joint"] * 2, READY), "distinct"),
        (lambda: DynamicPlant(UR5, UR5.joint_names, READY, feedforward="gravty"), "valid are none, gravity"),
        (lambda: DynamicPlant(UR5, UR5.joint_names, READY, gains=Gains(np.ones(5), np.ones(6))), "kp is"),
        (lambda: DynamicPlant(UR5, UR5.joint_names, READY, gains=Gains(np.ones(6), -np.ones(6))), "kd is"),
        (lambda: DynamicPlant(massless(), ["hinge"], [0.0]), "nothing with mass moves along with 'hinge'"),
    ],
)
def test_what_cannot_be_is_refused(make, expected):
    with pytest.raises(ExecutionError, match=expected):
        make()


def massless():
    builder = ModelBuilder("massless")
    builder.add_link("base", mass=1.0)
    builder.add_link("rod")
    builder.add_joint("hinge", "revolute", "base", "rod", axis=(0, 1, 0))
    return builder.build(allow_massless=True)
