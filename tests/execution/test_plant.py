"""The simulated body: its step, energy, steady state, saturation, friction, stops, stability."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robosim
from robosim.errors import ExecutionError
from robosim.execution.plant import DynamicPlant, Gains, IdealPlant
from robosim.geometry import pose
from robosim.model import ModelBuilder
from robosim.planners import Problem, plan

UR5 = robosim.load_robot("ur5")
READY = np.array([0.3, -1.2, 1.1, -1.4, -1.5, 0.4])
NO_GAINS = Gains(np.array(0.0), np.array(0.0))


def random_arm(rng: np.random.Generator, n: int):
    """A chain of n joints with random friction, effort limits, speed limits and stops, if any."""
    builder = ModelBuilder("random")
    builder.add_link("l0")

    def some(part: float, value: float) -> float | None:
        return value if rng.random() < part else None

    for i in range(n):
        builder.add_link(
            f"l{i + 1}",
            mass=rng.uniform(0.1, 5),
            com=rng.normal(size=3) / 5,
            inertia=0.05 * np.eye(3),
        )
        builder.add_joint(
            f"j{i}",
            "revolute" if rng.random() < 0.8 else "prismatic",
            f"l{i}",
            f"l{i + 1}",
            X_PJ=pose(rng.normal(size=3) / 3, rpy=rng.normal(size=3)),
            axis=rng.normal(size=3),
            lower=some(0.5, -rng.exponential() * 0.05),
            upper=some(0.5, rng.exponential() * 0.05),
            velocity=some(0.7, rng.uniform(0.5, 5)),
            effort=some(0.7, 10 ** rng.uniform(-1, 2)),
            damping=0.0 if rng.random() < 0.5 else 10 ** rng.uniform(-2, 1),
            friction=0.0 if rng.random() < 0.6 else 10 ** rng.uniform(-1, 1.5),
        )
    return builder.build()


@settings(deadline=None, max_examples=200)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 7))
def test_the_velocity_solves_the_equation_of_the_step(seed, n):
    """M (v - v0) = dt (f(v) - h), with each force on its own graph.

    The definition is checked joint by joint.
    """
    rng = np.random.default_rng(seed)
    model, dt = random_arm(rng, n), 10 ** rng.uniform(-4, -3)
    gains = Gains(
        *(np.where(rng.random(n) < 0.3, 0.0, 10 ** rng.uniform(-2, 6, n)) for _ in range(2))
    )
    plant = DynamicPlant(model, model.joint_names, np.zeros(n), gains=gains, feedforward="none")
    limits, before = model.limits, np.zeros(n)
    for _ in range(10):
        q, v0, reference = plant.position, plant.velocity, rng.normal(size=n) * 0.3
        plant.step(reference, np.zeros(n), np.zeros(n), dt)
        v = plant.velocity
        rate, before = (reference - before) / dt, reference
        assert (limits.lower <= plant.position).all()
        assert (plant.position <= limits.upper).all()
        lower = np.maximum(-limits.velocity, (limits.lower - q) / dt)
        upper = np.minimum(limits.velocity, (limits.upper - q) / dt)
        # Rounding of the bounds of stops, which are differences of positions, and of forces at a
        # joint.
        slack = 1e-14 / dt + 1e-12 * np.abs(rate).max()
        assert (lower - slack <= v).all()
        assert (v <= upper + slack).all()

        M, h = model.mass_matrix(q), model.nonlinear_effects(q, v0)
        drive = gains.kp * (reference - q) + gains.kd * rate - (gains.kd + dt * gains.kp) * v
        effort = np.clip(drive, -limits.effort, limits.effort)
        needed = M @ (v - v0) / dt + h
        base = effort - model.damping * v
        # Dry friction is any force up to mu at rest. A stop exerts any inward force, from a
        # distance of 1e-5 rad on.
        rest, near = 1e-9 * (1 + np.abs(v).max()), slack + 1e-5 / dt
        most = np.where(
            v <= lower + near, np.inf, base + np.where(v <= rest, model.friction, -model.friction)
        )
        least = np.where(
            v >= upper - near, -np.inf, base - np.where(v >= -rest, model.friction, -model.friction)
        )
        # Rounding of a solution whose matrix has a condition up to about 1e6, divided by dt.
        scale = (
            (np.abs(M) @ (np.abs(v) + np.abs(v0))).max() / dt
            + np.abs(h).max()
            + np.abs(effort).max()
        )
        assert (needed <= most + 1e-8 * scale).all()
        assert (needed >= least - 1e-8 * scale).all()
        assert np.allclose(plant.effort, effort, rtol=1e-9, atol=1e-9 * scale)


def test_joints_between_which_nothing_has_mass_share_what_they_move():
    """Two joints about one axis with a massless link between them.

    Only the sum of their motions moves mass.
    """
    builder = ModelBuilder("two")
    for link in ("base", "between"):
        builder.add_link(link)
    builder.add_link("rod", mass=2.0, com=(0.0, 0.0, -0.5), inertia=np.diag([0.1, 0.1, 0.01]))
    for name, parent, child in (("a", "base", "between"), ("b", "between", "rod")):
        builder.add_joint(name, "revolute", parent, child, axis=(0, 1, 0), effort=5.0, velocity=3.0)
    model = builder.build().with_gravity([0, 0, 0])
    plant = DynamicPlant(model, ["a", "b"], [0.0, 0.0])
    plant.step(np.full(2, 0.1), np.zeros(2), np.zeros(2), 0.001)
    # Each joint exerts 5 N m. The rod of 0.6 kg m^2 receives the torque of one joint.
    assert plant.velocity.sum() == pytest.approx(5.0 * 1e-3 / 0.6, rel=1e-6)
    assert plant.velocity[0] == pytest.approx(plant.velocity[1], rel=1e-3)
    hold(plant, np.full(2, 0.1), 4.0)
    assert plant.position.sum() == pytest.approx(0.2, abs=1e-6)


def pendulum(**joint):
    """A rod of 2 kg, its center 0.5 m below a hinge about y: inertia about the hinge 0.6 kg m^2."""
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
    """Greatest energy change in the free double swing of a UR5 over 0.5 s, in steps of `period`."""
    plant = DynamicPlant(
        UR5.with_limits(velocity=100.0), UR5.joint_names, READY, gains=NO_GAINS, feedforward="none"
    )
    start, worst = UR5.potential_energy(READY), 0.0
    for _ in range(round(0.5 / period)):
        plant.step(READY, np.zeros(6), np.zeros(6), period)
        energy = UR5.kinetic_energy(plant.position, plant.velocity) + UR5.potential_energy(
            plant.position
        )
        worst = max(worst, abs(energy - start))
    assert UR5.kinetic_energy(plant.position, plant.velocity) > 30  # the arm does fall
    return worst


def test_energy_is_kept_to_first_order():
    """Without drives and friction, energy is conserved to first order.

    Half the step halves the drift.
    """
    coarse, fine = energy_drift(1e-3), energy_drift(5e-4)
    assert coarse < 1.0  # of more than 30 J that are converted
    assert 1.6 < coarse / fine < 2.4


def test_work_of_friction_is_what_energy_loses():
    """The energy lost to viscous friction is the integral of D v^2, to first order in the step."""
    model = pendulum(damping=0.4)
    plant = DynamicPlant(model, ["hinge"], [2.0], gains=NO_GAINS, feedforward="none")
    start, work, dt = model.potential_energy([2.0]), 0.0, 5e-4
    for _ in range(2000):
        plant.step(np.array([2.0]), np.zeros(1), np.zeros(1), dt)
        work += dt * 0.4 * plant.velocity[0] ** 2
    end = model.potential_energy(plant.position) + model.kinetic_energy(
        plant.position, plant.velocity
    )
    assert work > 2
    # The method is of first order, so half the step has half the error.
    assert start - end == pytest.approx(work, rel=0.01)


def test_free_fall_is_that_of_a_fine_integration():
    """The pendulum's angle after a second agrees with scipy's DOP853 of the textbook equation.

    The equation includes damping.
    """
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
    """At rest kp (q_d - q) = g(q) exactly, independent of the dynamics."""
    gains = Gains(
        np.array([4e3, 4e3, 2e3, 500.0, 500.0, 100.0]), np.array([200.0, 200, 100, 20, 20, 2])
    )
    plant = hold(
        DynamicPlant(UR5, UR5.joint_names, READY, gains=gains, feedforward="none"), READY, 3.0
    )
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
    """While the drive is at its limit L, the joint moves as under the force L alone."""
    model = pendulum(effort=3.0, velocity=50.0).with_gravity([0, 0, 0])
    plant = DynamicPlant(model, ["hinge"], [0.0], feedforward="none")
    for k in range(1, 101):
        plant.step(np.array([3.0]), np.zeros(1), np.zeros(1), 1e-3)
        if k == 1:
            assert plant.effort[0] == 3.0
    # After 0.1 s under 3 N m: v = t L / I, exact for the scheme, and q = dt^2 L / I (1 + ... +
    # 100).
    assert plant.velocity[0] == pytest.approx(0.1 * 3.0 / 0.6, rel=1e-9)
    assert plant.position[0] == pytest.approx(1e-6 * 3.0 / 0.6 * 5050, rel=1e-9)


def test_too_weak_a_drive_lets_the_arm_sink_until_it_can_hold():
    """The drive needs 9.8 N m and has 5. The arm rests at 0.53 rad, where gravity requires 5."""
    model = pendulum(effort=5.0, damping=3.0)
    plant = hold(DynamicPlant(model, ["hinge"], [1.5]), np.array([1.5]), 10.0)
    weight = model.gravity([np.pi / 2])[0]
    assert plant.position[0] == pytest.approx(np.arcsin(5.0 / weight), abs=1e-6)
    assert plant.effort[0] == 5.0


@pytest.mark.parametrize(("angle", "moves"), [(0.3, False), (0.7, True)])
def test_dry_friction_holds_up_to_its_force(angle, moves):
    """m g r sin(q) is 2.9 N m at 0.3 rad and 6.3 N m at 0.7 rad, against 5 N m of friction.

    Below the friction force the joint does not creep at all.
    """
    model = pendulum(friction=5.0, damping=0.1)
    plant = DynamicPlant(model, ["hinge"], [angle], gains=NO_GAINS, feedforward="none")
    hold(plant, np.array([angle]), 2.0)
    assert bool(plant.position[0] != angle) is moves
    assert abs(plant.velocity[0]) < 1e-12  # rounding of a step at 2 rad/s


@pytest.mark.parametrize(("begin", "beyond", "stop"), [(-1.0, 3.0, 0.5), (0.5, -3.0, -1.0)])
def test_speed_and_position_limits_are_hard(begin, beyond, stop):
    """A reference beyond the stop drives the joint to the stop at its greatest speed."""
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
    assert abs(plant.velocity[0]) < 1e-12  # rounding of a step at 2 rad/s


@pytest.mark.parametrize("kp", [0.0, 1.0, 1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("kd", [0.0, 1.0, 1e3, 1e6, 1e9])
def test_no_gain_makes_it_unstable(kp, kd):
    """A held reference, from rest, is followed except for gravity's sag.

    The PD law is evaluated at the end of the step.
    """
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
    """Default gains allow 2 mrad for inertial forces at the acceleration limits.

    See Gains.for_model. Gravity without feedforward adds its sag. With inverse dynamics, errors
    come from the corners of the reference.
    """
    start = dict(zip(UR5.joint_names, READY, strict=True))
    trajectory = plan(Problem(UR5, start=start, goal=[1.4, -0.7, 0.3, -1.0, -0.4, 2.0])).trajectory
    plant, worst = DynamicPlant(UR5, UR5.joint_names, READY, feedforward=feedforward), 0.0
    for t in np.arange(1, int(trajectory.duration * rate) + 1) / rate:
        plant.step(
            trajectory.position(t), trajectory.velocity(t), trajectory.acceleration(t), 1 / rate
        )
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
            plant.step(
                READY + rng.normal(size=6) * 0.01, rng.normal(size=6), rng.normal(size=6), 0.004
            )
        runs.append((plant.position, plant.velocity, plant.effort))
    for a, b in zip(*runs, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: DynamicPlant(UR5, ["elbow"], READY), "'elbow' is no joint of 'ur5'"),
        (lambda: DynamicPlant(UR5, ["elbow_joint"] * 2, READY), "distinct"),
        (
            lambda: DynamicPlant(UR5, UR5.joint_names, READY, feedforward="gravty"),
            "valid are none, gravity",
        ),
        (
            lambda: DynamicPlant(UR5, UR5.joint_names, READY, gains=Gains(np.ones(5), np.ones(6))),
            "kp is",
        ),
        (
            lambda: DynamicPlant(UR5, UR5.joint_names, READY, gains=Gains(np.ones(6), -np.ones(6))),
            "kd is",
        ),
        (
            lambda: DynamicPlant(massless(), ["hinge"], [0.0]),
            "nothing with mass moves along with 'hinge'",
        ),
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
