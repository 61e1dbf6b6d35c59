"""Compliant contacts: their law, their limits, and gradients with respect to compliance."""

from __future__ import annotations

import numpy as np
import pytest

from robosim import _engine
from robosim.errors import SimulationError
from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder
from robosim.simulation import Control, Simulation, StepStatus
from robosim.world import Material, World

from .worlds import G, floor, free_boxes, resting

SOLVERS = _engine.row_solvers
MASS = 3.0


def ball(material, **options):
    """A ball that moves up and down over a floor."""
    builder = ModelBuilder("ball")
    builder.add_link("root")
    builder.add_link("ball", mass=MASS, inertia=np.eye(3))
    builder.add_joint("z", "prismatic", "root", "ball", axis=(0, 0, 1))
    builder.add_collider("ball", Shape.sphere(0.1))
    return Simulation(
        World(builder.build(), floor(), materials={("ball", "floor"): material}), **options
    )


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_box_sinks_in_by_its_weight_shared_by_its_corners(solver):
    give = 2e-5
    material = Material(0.5, compliance=give, relaxation_time=5e-3)
    simulation = Simulation(
        World(free_boxes(1), floor(), materials={("box0", "floor"): material}),
        solver=solver,
        sweeps=300,
    )
    end = simulation.rollout(simulation.state(resting(0.05)), 2000).end
    details = simulation.linearize(end)
    np.testing.assert_allclose([c.gap for c in details.contacts], -2 * G / 4 * give, rtol=1e-6)
    assert {row.law for row in details.islands[0].rows} == {"soft"}
    assert {c.mode for c in details.contacts} == {"sticking"}
    np.testing.assert_allclose([-c.force[2] for c in details.contacts], 2 * G / 4, rtol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_ball_on_a_spring_and_a_damper(solver):
    """Every step follows the scalar implicit law. The period is that of a mass on a spring."""
    give, time, dt = 1e-4, 2e-4, 1e-4
    simulation = ball(Material(0.5, compliance=give, relaxation_time=time), dt=dt, solver=solver)
    motion = simulation.rollout(simulation.state([0.1]), 1000)
    gap, v = 0.0, 0.0
    for k in range(1, 1001):
        free = v - G * dt
        push = (-gap / (dt + time) - free) / (give / (dt * (dt + time)) + 1 / MASS)
        v = free + max(push, 0.0) / MASS
        gap += dt * v
        np.testing.assert_allclose(
            [motion.q[k, 0] - 0.1, motion.v[k, 0]], [gap, v], rtol=0, atol=1e-13
        )
    # The ball oscillates about its rest position. It is damped by the law and, to order dt, by the
    # step.
    sunk = motion.q[:, 0] - 0.1 + MASS * G * give
    turns = np.flatnonzero(np.diff(np.sign(sunk)))
    period = 2 * np.diff(turns).mean() * dt
    assert period == pytest.approx(2 * np.pi * np.sqrt(MASS * give), rel=5e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_stiffest_is_hard(solver):
    """The relaxation time corrects as much of an overlap as `erp`."""
    dt, erp = 1e-3, 0.2
    time = dt / erp - dt
    q, v = resting(0.049), [0.3, -0.2, -0.5, 0.4, 0, 1.0]
    ends = [
        Simulation(
            World(free_boxes(1), floor(), materials={("box0", "floor"): m}),
            dt=dt,
            erp=erp,
            solver=solver,
            sweeps=400,
        )
        for m in (Material(0.5), Material(0.5, compliance=1e-13, relaxation_time=time))
    ]
    hard, soft = (s.step(s.state(q, v)) for s in ends)
    # The hard contact changes positions alone, without effect on its friction.
    assert soft.q[2] == pytest.approx(hard.q[2], abs=1e-5 * dt)
    assert hard.q[2] - q[2] == pytest.approx(erp * 1e-3, rel=1e-3)
    assert soft.v[2] == pytest.approx(erp * 1e-3 / dt, rel=1e-3)
    assert abs(hard.v[2]) < 1e-12


def test_surfaces_give_together():
    rubber, foam = (
        Material(0.5, compliance=1e-6, relaxation_time=1e-3),
        Material(0.8, compliance=3e-6, relaxation_time=5e-3),
    )
    both = rubber.against(foam)
    assert both.friction == pytest.approx(np.sqrt(0.4))
    assert both.compliance == pytest.approx(4e-6)
    assert both.relaxation_time == pytest.approx(4e-3)
    # A hard surface contributes nothing.
    assert rubber.against(Material(0.5, relaxation_time=1.0)).numbers() == rubber.numbers()
    assert Material().against(Material()).numbers() == Material().numbers()


def test_what_bounces_by_restitution_does_not_give():
    with pytest.raises(SimulationError, match=r"restitution is 0\.5 beside a compliance of 1e-06"):
        Material(restitution=0.5, compliance=1e-6)
    simulation = ball(Material(0.5, compliance=1e-5))
    with pytest.raises(
        SimulationError,
        match=r"material of .* restitution is 0\.5.*; it must be 0 beside a compliance",
    ):
        simulation.with_parameters({"restitution": [0.5]})


def test_two_that_bounce_and_give_are_named():
    bounces = {"box0": Material(restitution=0.5)}
    with pytest.raises(SimulationError, match=r"restitution is 0\.5"):
        Simulation(
            World(
                free_boxes(1),
                floor(),
                materials={**bounces, "floor": Material(0.5, 0.5, compliance=1e-6)},
            )
        )


@pytest.mark.parametrize("solver", SOLVERS)
def test_friction_of_what_gives_is_coulombs(solver):
    """A box that is pushed along an axis slips above mu times its weight, and not below."""
    material = Material(0.5, compliance=1e-6, relaxation_time=1e-3)
    simulation = Simulation(
        World(free_boxes(1), floor(), materials={("box0", "floor"): material}),
        solver=solver,
        sweeps=300,
    )
    start = simulation.rollout(simulation.state(resting(0.05)), 500).end
    for share, slips in ((0.98, False), (1.02, True)):
        pushed = simulation.rollout(
            start, 200, Control(tau=[share * 0.5 * 2 * G, 0, 0, 0, 0, 0])
        ).end
        assert (pushed.v[0] > 1e-3) == slips
        assert slips or abs(pushed.v[0]) < 1e-6


@pytest.mark.parametrize("bounce", ["step", "time_of_impact"])
def test_a_run_tells_by_how_much_more_it_would_sink(bounce):
    """The ball rests at its weight times the compliance, whatever the relaxation time."""
    give = 1e-4
    simulation = ball(
        Material(0.5, compliance=give, relaxation_time=2e-2), margin=5e-3, bounce=bounce
    )
    motion = simulation.rollout(simulation.state([0.101]), 3000)
    assert motion.q[-1, 0] - 0.1 == pytest.approx(-MASS * G * give, rel=1e-9)
    q_bar = np.zeros((3001, 1))
    q_bar[-1] = 1
    gradient = motion.vjp(q_bar, 0 * q_bar)
    np.testing.assert_allclose(
        gradient.parameters["compliance", ("ball", "floor")], -MASS * G, rtol=1e-6
    )
    assert abs(gradient.parameters["relaxation_time", ("ball", "floor")]) < 1e-9
    assert gradient.parameters["mass", "ball"] == pytest.approx(-G * give, rel=1e-6)


def test_what_is_hard_has_no_gradient_by_how_it_would_give():
    simulation = ball(Material(0.5, 0.0, relaxation_time=1.0))
    gradient = simulation.linearize(simulation.state([0.099], [-1.0])).vjp([1.0], [1.0])
    directions = {"compliance": [1.0], "relaxation_time": [1.0]}
    assert all(gradient.parameters[name] == 0 for name in directions)
    tangent = simulation.linearize(simulation.state([0.099], [-1.0])).jvp(parameters=directions)
    assert tangent.v == 0
    soft = ball(Material(0.5, 0.0, compliance=1e-5, relaxation_time=1e-3))
    assert soft.linearize(soft.state([0.099], [-1.0])).jvp(parameters={"compliance": [1.0]}).v < 0


def test_what_gives_takes_part_where_what_is_hard_contradicts_itself():
    """A revolute link is wedged between hard walls that overlap it. The soft floor still pushes."""
    builder = ModelBuilder("wedged")
    builder.add_link("root")
    builder.add_link("bar", mass=1.0, inertia=0.1 * np.eye(3))
    builder.add_link("ball", mass=1.0, inertia=0.1 * np.eye(3))
    builder.add_joint("turn", "revolute", "root", "bar", axis=(0, 1, 0), lower=-0.1, upper=0.1)
    builder.add_joint("z", "prismatic", "bar", "ball", axis=(0, 0, 1))
    builder.add_collider("bar", Shape.capsule(0.02, 1.0), name="bar")
    builder.add_collider("ball", Shape.sphere(0.1))
    scene = floor()
    for x in (-1, 1):
        scene.add_box(f"wall{x}", (0.2, 1, 0.2), pose((x * 0.11, 0, 0.4)))
        scene.allow("ball", f"wall{x}")
    scene.allow("bar", "floor")
    simulation = Simulation(
        World(builder.build(), scene, materials={("ball", "floor"): Material(0.0, compliance=1e-4)})
    )
    state = simulation.state([0.0, 0.095])
    after = simulation.step(state)
    assert after.report.status == StepStatus.relaxed
    rows = [row for island in simulation.linearize(state).islands for row in island.rows]
    (soft,) = [row for row in rows if row.law == "soft"]
    assert soft.target == pytest.approx(0.005 / simulation.dt)
    assert soft.impulse > 0
