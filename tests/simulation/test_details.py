"""Details of a step: its conditions, their distance from another mode, energy and momentum."""

from __future__ import annotations

import numpy as np
import pytest

import robosim
from robosim import _engine
from robosim.geometry import ManifoldFeature, Shape
from robosim.model import ModelBuilder
from robosim.simulation import Control, Simulation, StepStatus
from robosim.world import JointEquality, Material, Motor, PointClosure, Weld, World

from .worlds import G, ball_on_rails, floor, free_boxes, resting


def slider(mass=3.0, mu=0.5, **options):
    """A ball that cannot turn, above a floor, with coordinates x and z."""
    builder = ModelBuilder("slider")
    builder.add_link("root")
    builder.add_link("post", mass=1e-9, inertia=1e-12 * np.eye(3))
    builder.add_link("ball", mass=mass, inertia=np.eye(3))
    builder.add_joint("x", "prismatic", "root", "post", axis=(1, 0, 0))
    builder.add_joint("z", "prismatic", "post", "ball", axis=(0, 0, 1))
    builder.add_collider("ball", Shape.sphere(0.1))
    return Simulation(
        World(builder.build(), floor(), materials={"floor": Material(mu), "ball": Material(mu)}),
        **options,
    )


@pytest.mark.parametrize("solver", _engine.row_solvers)
def test_conditions_of_a_box_at_rest(solver):
    simulation = Simulation(World(free_boxes(1), floor()), solver=solver, sweeps=2000)
    details = simulation.linearize(simulation.state(resting(0.05)))
    assert {c.feature_A for c in details.contacts} == {
        ManifoldFeature("vertex", k, 0) for k in range(4)
    }
    assert {c.feature_B for c in details.contacts} == {ManifoldFeature("face", 0, 0)}
    assert [c.slide for c in details.contacts] == [np.inf] * 4  # a floor has no edge
    (island,) = details.islands
    assert [row.source for row in island.rows] == ["normal", "friction_1", "friction_2"] * 4
    assert [row.of for row in island.rows] == [k for k in range(4) for _ in range(3)]
    assert {row.law for row in island.rows} == {"rest"}
    assert island.clamping.all()
    # Twelve rows constrain six velocities.
    assert island.rank == 6
    assert 1 < island.condition < 100
    assert details.condition == island.condition
    np.testing.assert_allclose(island.admittance, island.admittance.T, rtol=0, atol=1e-14)
    assert np.linalg.eigvalsh(island.admittance).min() > -1e-12
    # Impulses of the rows add up to the forces.
    for number, contact in enumerate(details.contacts):
        rows = [row for row in island.rows if row.of == number]
        force = sum(row.impulse * row.direction for row in rows) / simulation.dt
        np.testing.assert_allclose(force, contact.force, rtol=0, atol=1e-12)
    # The floor is B. Without impulses the gap would shrink by G dt.
    free = -island.admittance @ [row.impulse for row in island.rows]
    np.testing.assert_allclose(
        free[::3], -G * simulation.dt, rtol=1e-9 if solver == "pgs" else 1e-12
    )


@pytest.mark.parametrize("solver", _engine.row_solvers)
def test_a_row_says_how_near_it_is_to_another_mode(solver):
    """A block slips if the force adds more speed than its friction's switch, mu G dt - F dt / m."""
    simulation = slider(solver=solver)
    dt, mass, mu = simulation.dt, 3.0, 0.5
    state = simulation.state([0, 0.1])
    force = 0.6 * mu * mass * G
    details = simulation.linearize(state, Control(tau=[force, 0]))
    (island,) = details.islands
    normal, friction = island.rows
    assert normal.switch == pytest.approx(G * dt, rel=1e-8)
    assert friction.switch == pytest.approx((mu * mass * G - force) * dt / mass, rel=1e-8)
    assert details.switch == friction.switch
    for more, mode in ((0.999, "clamping"), (1.001, "sliding")):
        pushed = simulation.linearize(
            state, Control(tau=[force + more * friction.switch * mass / dt, 0])
        )
        (contact,) = pushed.contacts
        assert (pushed.islands[0].rows[1].mode == "clamping") == (mode == "clamping")
        assert contact.mode == {"clamping": "sticking"}.get(mode, mode)
    # The switch of a moving row is its speed.
    sliding = simulation.linearize(simulation.state([0, 0.1], [0.7, 0])).islands[0].rows
    assert sliding[1].mode in ("lower", "upper")
    assert (
        sliding[1].switch == abs(sliding[1].velocity) == pytest.approx(0.7 - mu * G * dt, rel=1e-8)
    )
    rising = simulation.linearize(simulation.state([0, 0.1], [0, 0.3])).islands[0].rows
    assert [row.mode for row in rising] == ["separating"] * 2
    assert rising[0].switch == pytest.approx(0.3 - G * dt, rel=1e-8)
    assert rising[1].switch == np.inf  # friction ends with its normal


def test_friction_within_a_circle_is_one_condition():
    """Both axes of a box that slides askew have the same switch, which is its speed."""
    simulation = Simulation(
        World(free_boxes(1), floor(), materials={"floor": Material(0.3)}), solver="convex"
    )
    rows = (
        simulation.linearize(simulation.state(resting(0.05), [0.4, 0.3, 0, 0, 0, 0]))
        .islands[0]
        .rows
    )
    pairs = [rows[k : k + 2] for k in range(1, 12, 3)]
    for one, other in pairs:
        assert (one.mode, other.mode) == ("upper", "separating")
        assert one.switch == other.switch == pytest.approx(np.hypot(one.velocity, other.velocity))
        assert one.switch == pytest.approx(0.5, abs=0.01)


def test_conditions_of_joints_are_their_forces():
    arm = robosim.load_robot("ur5").with_friction(0.5)
    q = np.array(arm.limits.upper)
    motors = {name: Motor(500.0, 20.0, limit=10.0) for name in arm.joint_names[1:]}
    simulation = Simulation(
        World(arm.with_collision_pairs(np.zeros((0, 2), dtype=int)), motors=motors)
    )
    details = simulation.linearize(
        simulation.state(q, 0.1 + np.zeros(6)), Control(q_target=q + 0.1)
    )
    (island,) = details.islands
    assert [row.of for row in island.rows] == list(range(len(details.joints)))
    for row, force in zip(island.rows, details.joints, strict=True):
        assert row.source == force.source
        assert row.direction is None
        assert row.law == ""
        sign = -1 if row.source == "upper_limit" else 1
        assert sign * row.impulse / simulation.dt == pytest.approx(force.force)
    assert {row.source for row in island.rows} == {"joint_friction", "motor", "upper_limit"}
    assert island.condition >= 1


def test_closures_come_in_their_order():
    """The order is kept also if nothing else connects the bodies of the closures."""
    closures = [
        PointClosure("root", "box0", at_a=(0, 0, 1), axes="z"),
        Weld("root", "box1", at_a=(1, 0, 1)),
        PointClosure("root", "box0", at_a=(0, 0, 1), axes="x"),
    ]
    simulation = Simulation(World(free_boxes(2), closures=closures))
    start = simulation.state([0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1])
    details = simulation.linearize(start)
    assert [c.name for c in details.closures] == ["root to box0", "root to box1", "root to box0"]
    np.testing.assert_allclose(details.closures[0].force, [0, 0, 2 * G], atol=1e-9)
    rows = [row for island in details.islands for row in island.rows]
    assert sorted({row.of for row in rows}) == [0, 1, 2]
    assert {row.switch for row in rows} == {np.inf}


def test_an_impact_within_a_step_says_when():
    balls = Simulation(
        World(ball_on_rails([1.0, 1.0]), materials={("ball0", "ball1"): Material(0, 1.0)}),
    )
    details = balls.linearize(balls.state([0.0, 0.2003], [1.0, 0.0]))
    (island,) = details.islands
    assert island.rows == []
    (impact,) = island.impacts
    assert [(row.source, row.law) for row in impact.rows] == [("normal", "impact")]
    assert impact.share == pytest.approx(0.3)
    assert (impact.restored, impact.landed) == (1.0, [])
    (contact,) = details.contacts
    np.testing.assert_allclose(
        contact.force, impact.rows[0].impulse / balls.dt * contact.normal, atol=1e-9
    )
    assert balls.linearize(balls.state([0.0, 0.3], [1.0, 0.0])).islands == []


def test_without_rows_there_is_nothing_to_switch():
    details = Simulation(World(free_boxes(1))).linearize(
        Simulation(World(free_boxes(1))).state(resting(1.0))
    )
    assert details.switch == np.inf
    assert details.condition == 1.0


# -- Energy and momentum ---------------------------------------------------------------------------


def test_a_block_that_slides_gives_its_energy_to_friction():
    simulation = slider()
    balance = simulation.linearize(
        simulation.state([0, 0.1], [0.7, 0]), Control(tau=[2.0, 0])
    ).balance()
    mean = 0.7 + 0.5 * (2.0 / 3 - 0.5 * G) * simulation.dt
    assert balance.work["friction"] == pytest.approx(-0.5 * 3 * G * mean * simulation.dt, rel=1e-9)
    assert balance.work["control"] == pytest.approx(2.0 * mean * simulation.dt, rel=1e-9)
    assert balance.before.total == pytest.approx(0.5 * 3 * 0.49 + 3 * G * 0.1)
    assert balance.energy_error == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("solver", _engine.row_solvers)
@pytest.mark.parametrize("speed", [-1.0, 0.0])
def test_what_is_thrown_on_the_floor_balances(solver, speed):
    """Linear momentum balances to rounding, energy and spin to second order in dt.

    At an impact energy and spin balance to first order.
    """
    q = np.array([0, 0, 1, 0.1, 0.2, 0.3, 0.9])
    q[2] -= floor().compile(free_boxes(1)).min_distance(q)[0]
    turned = free_boxes(1).frame_pose(q, "box0")[:3, :3]
    if speed == 0:  # the box lies on the floor and slides
        q, turned = resting(0.05), np.eye(3)
    v = np.concatenate([turned.T @ [0.5, -0.4, speed], [0, 0, 1.5]])
    force = np.array([1.0, 2, 3])
    energies, spins = [], []
    for dt in (4e-4, 2e-4):
        simulation = Simulation(World(free_boxes(1), floor()), dt=dt, solver=solver, sweeps=500)
        balance = simulation.linearize(
            simulation.state(q, v), Control(tau=[*force, 0, 0, 0])
        ).balance()
        assert balance.work["contacts"] + balance.work["friction"] < 0
        given = dt * np.concatenate([turned @ force, np.cross(q[:3], turned @ force)])
        np.testing.assert_allclose((balance.momentum_rest - given)[:3], 0, rtol=0, atol=1e-14)
        energies.append(abs(balance.energy_error))
        spins.append(np.linalg.norm((balance.momentum_rest - given)[3:]))
    rate = 0.3 if speed == 0 else 0.6
    assert energies[1] < rate * energies[0] + 1e-12
    assert spins[1] < rate * spins[0] + 1e-12


def test_works_are_all_that_changes_the_kinetic_energy():
    """An arm with motors, dry friction, damping, limits, a law between joints and a pin."""
    arm = robosim.load_robot("ur5").with_friction(0.5).with_damping(2.0).with_gravity([0, 0, 0])
    arm = arm.with_collision_pairs(np.zeros((0, 2), dtype=int))
    names = arm.joint_names
    q = np.array([0.2, -1.0, 1.0, -0.5, arm.limits.upper[4] - 1e-6, 0.7])
    simulation = Simulation(
        World(
            arm,
            motors={names[1]: Motor(500.0, 20.0)},
            closures=[
                JointEquality(names[5], names[0], (0.7 - 0.2 * 0.5, 0.5)),
                PointClosure.where_it_is(arm, q, "base_link", "forearm_link", axes="z"),
            ],
        ),
        dt=1e-5,
    )
    state = simulation.state(q, [0.5, 0.3, -0.4, 0.2, 0.6, 0.1])
    balance = simulation.linearize(
        state, Control(tau=[3.0, 1, 2, -1, 2, 0.5], q_target=q + 0.2)
    ).balance()
    touched = {name for name, work in balance.work.items() if work != 0}
    assert touched == set(balance.work) - {"contacts", "friction"}
    # The remainder comes from rates of the mass matrix. It is of the order of dt^2, while works are
    # of the order of dt.
    change = balance.after.total - balance.before.total
    gross = sum(abs(work) for work in balance.work.values())
    assert abs(change) > 0.01 * gross
    assert abs(balance.energy_error) < 1e-3 * gross
    # The change of the arm's momentum comes from its connection to the world.
    total = balance.momentum_after - balance.momentum_before
    np.testing.assert_allclose(balance.momentum_rest, total - balance.impulse["closures"])


def test_substeps_balance_as_their_last():
    world = World(free_boxes(1), floor(), materials={"floor": Material(0.5, 0.3)})
    whole, part = Simulation(world, dt=4e-3, substeps=4), Simulation(world, dt=1e-3)
    state = whole.state(resting(0.051), [0.5, 0, -1, 0, 0, 0])
    last = state
    for _ in range(3):
        last = part.step(last)
    one, other = whole.linearize(state).balance(), part.linearize(last).balance()
    assert one.before == other.before
    assert one.work == other.work
    np.testing.assert_array_equal(one.momentum_after, other.momentum_after)


def test_a_step_that_diverges_is_not_taken():
    closures = [Weld("root", "box0", at_a=(0, 0, 1))]
    simulation, control = (
        Simulation(World(free_boxes(1), floor())),
        Control(tau=[0, 0, 0, 0, 1e20, 0]),
    )
    fast = simulation.rollout(simulation.state(resting(1.0)), 500, control).end
    for closed in (simulation, Simulation(World(free_boxes(1), closures=closures))):
        state = closed.state(fast.q, fast.v if closed is simulation else [1e300] * 6)
        details = closed.linearize(state, control)
        assert details.state.report.status == StepStatus.diverged
        assert (details.contacts, details.closures, details.islands) == ([], [], [])
        balance = closed.linearize(state, control).balance()
        assert set(balance.work.values()) == {0.0}
        assert not any(impulse.any() for impulse in balance.impulse.values())
