"""Gradients of steps and rollouts, compared with each other and with finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robosim
from robosim import _engine
from robosim.errors import SimulationError
from robosim.geometry import Compound, Shape, pose
from robosim.model import ModelBuilder
from robosim.scene import Scene
from robosim.simulation import Control, OneSidedCause, Simulation, State
from robosim.world import Material, Motor, World

from ..scale import repeats  # noqa: TID252 (tests have no absolute name)
from .differences import differences
from .solvers import EXACT
from .worlds import G, ball_on_rails, floor, free_boxes, resting, sliding_box


def assert_products_of_rows(simulation, state, jacobians, names):
    """Assert that a gradient is the product of the Jacobians with the gradient of the loss."""
    q_bar, v_bar = np.random.default_rng(1).normal(size=(2, simulation.model.n_v))
    gradient = simulation.linearize(state).vjp(q_bar, v_bar)
    for name in names:
        matrices = getattr(jacobians, name)
        expected = q_bar @ matrices[0] + v_bar @ matrices[1]
        np.testing.assert_allclose(
            getattr(gradient, name), expected, rtol=0, atol=1e-12 * max(1, np.abs(matrices).max())
        )


def assert_differences(simulation, state, jacobians):
    """Assert that Jacobians with respect to state and forces agree with differences of the step."""
    model = simulation.model
    end, none = simulation.step(state), np.zeros(model.n_v)

    def after(q, v, tau):
        reached = simulation.step(State(q, v), Control(tau=tau))
        return np.stack([model.difference(end.q, reached.q), reached.v])

    # The tolerance 1e-8 covers rounding of 1e-16 over steps of 1e-6, and smaller truncation.
    for got, values, step in (
        (jacobians.q, lambda e: after(model.integrate(state.q, e), state.v, none), 1e-6),
        (jacobians.v, lambda e: after(state.q, state.v + e, none), 1e-6),
        (jacobians.tau, lambda e: after(state.q, state.v, e), 1e-4),
    ):
        expected = differences(values, model.n_v, step)
        np.testing.assert_allclose(
            got, expected, rtol=0, atol=1e-8 * max(1, np.abs(expected).max())
        )


def test_jacobians_are_products_with_unit_vectors():
    simulation, state = sliding_box(solver="lcp")  # exact to rounding
    jacobians = simulation.linearize(state).jacobians()
    assert not jacobians.one_sided
    assert_products_of_rows(simulation, state, jacobians, ("q", "v", "tau", "q_target", "v_target"))


@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("bounce", ["step", "time_of_impact"])
def test_products_with_directions_are_those_of_the_gradient(substeps, bounce):
    """Directions in all numbers at once. Boxes slide, spin and fall, one about to bounce."""
    simulation = Simulation(
        World(
            free_boxes(2),
            floor(),
            materials={name: Material(0.4, 0.3) for name in ("floor", "box0", "box1")},
        ),
        dt=2e-3,
        substeps=substeps,
        bounce=bounce,
    )
    q = resting(0.05, 0.0512)
    q[7] = 0.4
    state = simulation.state(q, [0.8, 0.3, 0, 0, 0, 1.5, 0.2, 0, -1.5, 0, 0, 0.3])
    control = Control(tau=np.linspace(-1, 1, 12))
    rng = np.random.default_rng(3)
    q_bar, v_bar = rng.normal(size=(2, 12))
    gradient = simulation.linearize(state, control).vjp(q_bar, v_bar)
    terms = []

    def along(by):
        step = rng.normal(size=np.shape(by))
        terms.append(np.sum(by * step))
        return step

    direction = {
        name: along(getattr(gradient, name)) for name in ("q", "v", "tau", "q_target", "v_target")
    }
    parameters = {name: along(by) for name, by in gradient.parameters.items()}
    tangent = simulation.linearize(state, control).jvp(**direction, parameters=parameters)
    assert tangent.causes == gradient.causes
    size = np.abs(terms).sum()
    assert q_bar @ tangent.q + v_bar @ tangent.v == pytest.approx(np.sum(terms), abs=1e-12 * size)
    # Products with the Jacobians that exist agree as well.
    jacobians = simulation.linearize(state, control).jacobians()
    only = rng.normal(size=12)
    for name in ("q", "v", "tau"):
        tangent = simulation.linearize(state, control).jvp(**{name: only})
        expected = getattr(jacobians, name) @ only
        np.testing.assert_allclose(
            [tangent.q, tangent.v], expected, rtol=0, atol=1e-12 * np.abs(expected).max()
        )
    still = simulation.linearize(state, control).jvp()
    assert not still.q.any()
    assert not still.v.any()


@pytest.mark.parametrize(
    ("direction", "message"),
    [
        ({"q": [1.0]}, r"q has shape \(1,\).*\(6,\)"),
        ({"v": np.full(6, np.nan)}, "v.* finite"),
        ({"parameters": {"dt": [1.0, 2.0]}}, r"'dt' has shape \(2,\); expected \(\)"),
        (
            {"parameters": {"masses": [1.0]}},
            "there is no kind of parameter 'masses'; did you mean 'mass'",
        ),
        ({"parameters": {"gravity": [1.0]}}, r"'gravity' has shape \(1,\); expected \(3,\)"),
        ({"parameters": {"sizes": [1.0]}}, r"'sizes' has shape \(1,\); expected \(2, 4\)"),
        ({"parameters": {"pose": np.full((2, 6), np.inf)}}, "it must be finite"),
    ],
)
def test_a_direction_that_does_not_fit_is_refused(direction, message):
    simulation, state = sliding_box()
    with pytest.raises(SimulationError, match=message):
        simulation.linearize(state).jvp(**direction)


def test_jacobians_of_a_sliding_box_are_differences():
    simulation, state = sliding_box()
    assert_differences(simulation, state, simulation.linearize(state).jacobians())


@pytest.mark.parametrize("solver", _engine.row_solvers)
def test_jacobians_of_joints_that_mimic_others_are_differences(solver):
    """A finger lands on its tip and slides.

    Its second joint mimics the first, and both move the tip.
    """
    length, radius = 0.2, 0.02
    builder = ModelBuilder("finger")
    builder.add_link("root")
    builder.add_link("palm", mass=1.0, inertia=1e-3 * np.eye(3))
    builder.add_joint("lift", "prismatic", "root", "palm", axis=(0, 0, 1))
    builder.add_link("first", mass=0.3, inertia=1e-3 * np.eye(3), com=(0, 0, -0.1))
    builder.add_joint("bend", "revolute", "palm", "first", axis=(0, 1, 0))
    builder.add_link("second", mass=0.2, inertia=1e-3 * np.eye(3), com=(0, 0, -0.1))
    knuckle = pose((0, 0, -length))
    builder.add_joint(
        "follow",
        "revolute",
        "first",
        "second",
        X_PJ=knuckle,
        axis=(0, 1, 0),
        mimic=("bend", 0.7, 0.1),
    )
    builder.add_collider("second", Shape.sphere(radius), X_LC=knuckle)
    materials = {name: Material(0.3) for name in ("second", "floor")}
    simulation = Simulation(
        World(builder.build(), floor(), materials=materials), solver=solver, dt=2e-3
    )
    height = length * (np.cos(0.5) + np.cos(0.5 + 0.7 * 0.5 + 0.1)) + radius
    state = State(np.array([height - 1e-4, 0.5]), np.array([-0.4, 0.6]))
    assert [contact.mode for contact in simulation.linearize(state).contacts] == ["sliding"]
    jacobians = simulation.linearize(state).jacobians()
    assert not jacobians.one_sided
    assert (jacobians.q[1] != 0).all()
    assert_differences(simulation, state, jacobians)
    assert_products_of_rows(simulation, state, jacobians, ("q", "v", "tau"))


def feet_of_a_table(count, solver):
    """A board on feet that all stand on the floor: rows of different contacts are redundant."""
    builder = ModelBuilder("table")
    builder.add_link("root")
    builder.add_link("top", mass=2.0, inertia=np.diag([0.05, 0.05, 0.08]))
    builder.add_joint("free", "floating", "root", "top")
    for turn in 1.3 * np.arange(count):
        foot = pose((0.3 * np.cos(turn), 0.3 * np.sin(turn), -0.05))
        builder.add_collider("top", Shape.box((0.1, 0.12, 0.1)), X_LC=foot)
    scene = floor()
    return Simulation(
        World(builder.build(), scene, materials={("top", "floor"): Material(0.8)}), solver=solver
    )


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("feet", [2, 3, 4])
def test_rows_that_imply_each_other_wherever_things_are_have_two_sided_gradients(feet, solver):
    simulation = feet_of_a_table(feet, solver)
    state = simulation.state([0, 0, 0.1, 0, 0, 0, 1])
    model, end = simulation.model, simulation.step(state)
    jacobians = simulation.linearize(state).jacobians()
    assert not jacobians.one_sided

    def after(x):
        reached = simulation.step(State(model.integrate(state.q, x), state.v))
        return np.stack([model.difference(end.q, reached.q) / simulation.dt, reached.v])

    # Differences over 1e-6 of displacements that are exact to 1e-14 have errors of a part of 1e-9.
    expected = differences(after, model.n_v)
    found = jacobians.q / np.reshape([simulation.dt, 1], (2, 1, 1))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_rows_that_imply_each_other_at_a_state_alone_have_gradients():
    """A chain of three boxes lies on the floor with both joints at their limits.

    Limits and floor constrain the chain redundantly. Near the state, their position corrections
    agree to first order, since each row's correction follows from its own gap. So there is one
    derivative.
    """
    model = robosim.load_robot("jump_worm")
    scene = floor()
    materials = {name: Material(0.8) for name in [*model.link_names, "floor"]}
    hold = Simulation(
        World(
            model,
            scene,
            materials=materials,
            motors={f"bend_{k}": Motor(1e4, 1e3, 1e6) for k in (1, 2)},
        )
    )
    q = hold.rollout(
        hold.state(), 1000, Control(q_target=model.neutral()), interval=1000
    ).end.q.copy()
    q[1] -= 1e-4
    simulation = Simulation(World(model, scene, materials=materials))
    state = simulation.state(q)
    step = simulation.linearize(state)
    assert {row.mode for row in step.islands[0].way if "limit" in row.source} == {"clamping"}
    jacobians = step.jacobians()
    assert not jacobians.one_sided
    assert not step.vjp(np.zeros(model.n_v), np.zeros(model.n_v)).one_sided

    def after(e):
        end = simulation.step(State(model.integrate(state.q, e), state.v))
        return np.stack([model.difference(step.state.q, end.q) / simulation.dt, end.v])

    found = jacobians.q / np.reshape([simulation.dt, 1], (2, 1, 1))
    np.testing.assert_allclose(
        found, differences(after, model.n_v), rtol=0, atol=1e-7 / simulation.dt
    )


def test_a_cylinder_that_rolls_on_a_table_has_two_sided_gradients():
    """The cylinder turns by 0.06 rad per step.

    The search for contacts includes faces that face the table only at the end of the step.
    """
    builder = ModelBuilder("roller")
    builder.add_link("root")
    builder.add_link("roller", mass=1.0, inertia=np.diag([2e-3, 2e-3, 1.25e-3]))
    builder.add_joint("free", "floating", "root", "roller")
    builder.add_collider("roller", Shape.cylinder(0.05, 0.1))
    scene = Scene("table")
    scene.add_box("table", (2, 1, 0.2), pose=pose((0, 0, -0.1)))
    simulation = Simulation(World(builder.build(), scene), dt=2e-3)
    turn, spin = np.sqrt(0.5), 30.0
    state = simulation.state([0, 0, 0.05, turn, 0, 0, turn], [0.05 * spin, 0, 0, 0, 0, -spin])
    for _ in range(20):
        step = simulation.linearize(state)
        assert len(step.contacts) == 2
        assert not step.jacobians().causes
        state = step.state


@pytest.mark.parametrize("shape", [Shape.cylinder(0.05, 0.3), Shape.cone(0.08, 0.3)], ids=repr)
def test_what_rolls_on_an_edge_has_the_gradient_in_the_velocity(shape):
    """A curved surface that turns fast on the edge of a box: the points of the faces that face each
    other at the end of the step do not depend on the velocity."""
    scene = Scene("step")
    scene.add_box("step", (1.0, 2.0, 0.3), pose((0.5, 0, -0.15)))
    world = World(scene=scene)
    world.add_body("roller", shape, mass=1.0)
    simulation = Simulation(world, dt=2e-3)
    model, rng, compared = simulation.model, np.random.default_rng(7), 0
    for _ in range(repeats(150, 1500)):
        x, z = rng.uniform(-0.04, 0.02), rng.uniform(-2e-4, 2e-4)
        angles = [np.pi / 2 + 0.02 * rng.normal(), 0.02 * rng.normal(), rng.uniform(-1, 1)]
        turn = Rotation.from_euler("xyz", angles).as_quat()
        q = np.r_[x, 0.02, z + np.sqrt(0.05**2 - min(x, 0) ** 2), turn]
        v = np.r_[0.3 * rng.normal(size=3), 8 * rng.normal(size=3)]
        step, along, h = simulation.linearize(simulation.state(q, v)), rng.normal(size=6), 1e-6
        ends = [simulation.linearize(simulation.state(q, v + t * along)) for t in (h, -h)]
        same = all(end.signature == step.signature for end in ends)
        if not step.contacts or step.jvp(v=along).causes or not same:
            continue
        found = step.jvp(v=along)
        forth, back = (end.state for end in ends)
        expected = np.r_[model.difference(back.q, forth.q), forth.v - back.v] / (2 * h)
        error = np.abs(np.r_[found.q, found.v] - expected).max()
        assert error < 1e-6 * np.abs(expected).max()  # rounding of the step over h
        compared += 1
    assert compared > repeats(80, 800)


@pytest.mark.parametrize("solver", _engine.row_solvers)
def test_a_ball_that_spins_about_the_axis_through_its_contact_feels_nothing_of_it(solver):
    """The relative-twist coordinates of the contact remain zero."""
    builder = ModelBuilder("top")
    builder.add_link("root")
    builder.add_link("ball", mass=1.0, inertia=4e-3 * np.eye(3))
    builder.add_joint("spin", "continuous", "root", "ball", axis=(0, 0, 1))
    builder.add_collider("ball", Shape.sphere(0.1))
    scene = Scene("floor")
    scene.add_half_space("floor", pose([0, 0, -0.0999]))
    simulation = Simulation(
        World(builder.build(), scene, materials={"floor": Material(0.5)}), solver=solver
    )
    state = simulation.state(v=[1.0])
    assert simulation.step(state).report.contacts == 1
    jacobians = simulation.linearize(state).jacobians()
    np.testing.assert_array_equal(jacobians.q, [[[1]], [[0]]])
    np.testing.assert_array_equal(jacobians.v, [[[simulation.dt]], [[1]]])
    assert not jacobians.one_sided


def test_two_balls_after_a_second():
    """Gradient of the right ball's position after 1 s with respect to (x1, x2, v1, v2).

    With the plain step, impacts occur at whole steps. Initial positions only decide in which step.
    So the gradient is (0, 1, 0.7, 0.3), where a true time of impact leads to (1, 0, 1, 0).
    """
    simulation = Simulation(
        World(ball_on_rails([1.0, 1.0]), materials={("ball0", "ball1"): Material(0.0, 1.0)})
    )
    start = np.array([0.0, 0.50037, 1.0, 0.0])  # the impact is in the middle of a step

    def end(x):
        return simulation.rollout(State(x[:2], x[2:]), 1000).q[-1, 1]

    motion = simulation.rollout(State(start[:2], start[2:]), 1000)
    q_bar, v_bar = np.zeros((2, 1001, 2))
    q_bar[-1, 1] = 1
    gradient = motion.vjp(q_bar, v_bar)
    expected = differences(lambda e: end(start + e), 4)
    np.testing.assert_allclose(
        np.concatenate([gradient.q, gradient.v]), expected, rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("solver", _engine.row_solvers)
@pytest.mark.parametrize(
    ("mass", "restitution", "expected"),
    [
        (1.0, 1.0, (1, 0, 1, 0)),
        (3.0, 1.0, (0.5, 0.5, 0.5, 0.5)),
        (1.0, 0.5, (0.75, 0.25, 0.75, 0.25)),
    ],
)
def test_bounces_in_time_have_the_gradients_of_continuous_time(mass, restitution, expected, solver):
    """Gradient of the second ball's position after 1 s, for any length of a step.

    It is with respect to initial positions and velocities of both balls.
    """
    for steps in 20, 1000:
        simulation = Simulation(
            World(
                ball_on_rails([1.0, mass]),
                materials={("ball0", "ball1"): Material(0.0, restitution)},
            ),
            bounce="time_of_impact",
            dt=1 / steps,
            solver=solver,
        )
        motion = simulation.rollout(simulation.state([0.0, 0.5], [1.0, 0.0]), steps)
        assert motion.report.coupled_bounces == 0
        q_bar, v_bar = np.zeros((2, steps + 1, 2))
        q_bar[-1, 1] = 1
        gradient = motion.vjp(q_bar, v_bar)
        assert not gradient.one_sided
        np.testing.assert_allclose(
            np.concatenate([gradient.q, gradient.v]), expected, rtol=0, atol=1e-11
        )
        # The impact is after 0.3 s. The speed after it follows from momentum and restitution.
        assert motion.q[-1, 1] == pytest.approx(
            0.5 + 0.7 * (1 + restitution) / (1 + mass), abs=1e-12
        )


def test_coupled_bounces_are_told():
    """The middle ball is hit from both sides at the same time within one step.

    The law of coupled impacts is smooth there.
    """
    simulation = Simulation(
        World(
            ball_on_rails([1.0, 2.0, 1.0]),
            materials={
                "ball0": Material(0.0, 1.0),
                "ball2": Material(0.0, 1.0),
                "ball1": Material(0.0, 1.0),
            },
        ),
        dt=0.1,
    )
    motion = simulation.rollout(simulation.state([-0.5, 0.0, 0.5], [1.0, 0.0, -1.0]), 10)
    assert motion.report.coupled_bounces == 2
    gradient = motion.vjp(np.ones((11, 3)), np.zeros((11, 3)))
    assert not gradient.one_sided
    assert motion.v[-1] == pytest.approx([-1, 0, 1], abs=1e-12)


def test_substeps_have_the_gradient_of_their_steps():
    world = World(free_boxes(1), floor(), materials={"floor": Material(0.4)})
    whole, parts = Simulation(world, dt=4e-3, substeps=4), Simulation(world, dt=1e-3)
    state = whole.state(resting(0.05), [0.8, 0.3, 0, 0, 0, 1.5])
    tau = np.array([0.3, -0.2, 0, 0, 0, 0.1])
    rng = np.random.default_rng(3)
    q_bar, v_bar = rng.normal(size=(2, 6))
    one = whole.linearize(state, Control(tau=tau)).vjp(q_bar, v_bar)
    motion = parts.rollout(state, 4, Control(tau=tau))
    bars = np.zeros((2, 5, 6))
    bars[0, -1], bars[1, -1] = q_bar, v_bar
    run = motion.vjp(*bars)
    np.testing.assert_array_equal(one.q, run.q)
    np.testing.assert_array_equal(one.v, run.v)
    np.testing.assert_allclose(one.tau, run.tau.sum(axis=0), rtol=1e-12, atol=1e-15)
    for name in one.parameters:  # a substep is exactly a quarter of a step
        part = 0.25 if name == "dt" else 1.0
        np.testing.assert_array_equal(one.parameters[name], part * run.parameters[name])


def test_friction_is_found_from_where_a_block_stops():
    """Gradient descent on mu, as for the race car, until the block stops at the wanted place."""
    wanted = 0.5

    def stopping(mu):
        simulation = Simulation(
            World(free_boxes(1), floor(), materials={("box0", "floor"): Material(mu)}), dt=2e-3
        )
        motion = simulation.rollout(simulation.state(resting(0.05), [2.0, 0, 0, 0, 0, 0]), 600)
        q_bar, v_bar = np.zeros((2, 601, 6))
        q_bar[-1, 0] = motion.q[-1, 0] - wanted  # gradient of half the squared error
        gradient = motion.vjp(q_bar, v_bar)
        return motion.q[-1, 0], gradient.parameters["friction", ("box0", "floor")]

    mu = 0.25
    for _ in range(12):
        x, slope = stopping(mu)
        # Newton's step on the position, whose derivative is slope / (x - wanted).
        mu -= (x - wanted) ** 2 / slope
    assert x == pytest.approx(wanted, abs=1e-3)
    assert mu == pytest.approx(4 / (2 * 9.80665 * wanted), rel=0.01)


def test_motors_of_an_arm_have_gradients():
    arm = robosim.load_robot("ur5")
    q = np.array([0.3, -1.2, 1.1, -1.4, -1.5, 0.4])
    names = arm.joint_names
    rng = np.random.default_rng(4)
    q_bar, v_bar = rng.normal(size=(2, 6))
    target = q + 0.01

    def simulation(gain):
        return Simulation(
            World(arm, motors={name: Motor(gain[i], 50.0) for i, name in enumerate(names)})
        )

    def loss(gain, q_target, start):
        s = simulation(gain)
        end = s.step(s.state(start), Control(q_target=q_target))
        return q_bar @ end.q + v_bar @ end.v

    gain = np.full(6, 2000.0)
    s = simulation(gain)
    gradient = s.linearize(s.state(q), Control(q_target=target)).vjp(q_bar, v_bar)
    np.testing.assert_allclose(
        gradient.parameters["position_gain"],
        differences(lambda e: loss(gain + e, target, q), 6, 1.0),
        rtol=1e-6,
        atol=1e-12,
    )
    np.testing.assert_allclose(
        gradient.q_target,
        differences(lambda e: loss(gain, target + e, q), 6, 1e-4),
        rtol=1e-7,
        atol=1e-9,
    )
    np.testing.assert_allclose(
        gradient.q, differences(lambda e: loss(gain, target, q + e), 6, 1e-4), rtol=1e-7, atol=1e-7
    )


def test_runs_have_gradients_in_what_the_world_is_made_of():
    """A box that slides and turns has gradients in all that the world is made of.

    These are mass, center of mass, sizes, gravity, the floor's height and dt.
    """
    inertia = np.diag([0.017, 0.008, 0.022])
    rng = np.random.default_rng(5)
    q_bar, v_bar = np.zeros((2, 41, 6))
    q_bar[-1], v_bar[-1] = rng.normal(size=(2, 6))
    tau = np.array([1.5, -0.4, 0, 0, 0, 0.1])
    down = np.array([0, 0, -9.8])

    def run(
        solver, mass=2.0, com=(0, 0, 0), size=(0, 0, 0), gravity=(0, 0, -9.8), floor_z=0.0, dt=2e-3
    ):
        builder = ModelBuilder("box")
        builder.add_link("root")
        builder.add_link("box", mass=mass, com=com, inertia=inertia)
        builder.add_joint("free", "floating", "root", "box")
        builder.add_collider("box", Shape.box(np.array([0.2, 0.3, 0.1]) + size))
        pose = np.eye(4)
        pose[2, 3] = floor_z
        scene = Scene("floor")
        scene.add_half_space("floor", pose=pose)
        simulation = Simulation(
            World(
                builder.build().with_gravity(gravity),
                scene,
                materials={("box", "floor"): Material(0.3)},
            ),
            dt=dt,
            substeps=2,
            solver=solver,
        )
        start = simulation.state(resting(0.0499), [0.8, 0.3, 0, 0, 0, 1.5])
        return simulation, simulation.rollout(start, 40, Control(tau=tau))

    for solver in "lcp", "pgs":
        simulation, motion = run(solver)
        gradient = motion.vjp(q_bar, v_bar)
        assert simulation.objects == ["box/0", "floor"]
        by = gradient.parameters

        def loss(solver=solver, end=motion, model=simulation.model, **changed):
            reached = run(solver, **changed)[1]
            return (
                q_bar[-1] @ model.difference(end.q[-1], reached.q[-1]) + v_bar[-1] @ reached.v[-1]
            )

        for name, got, expected in (
            ("mass", by["mass", "box"], differences(lambda e: loss(mass=2 + e[0]), 1, 1e-4)[0]),
            ("com", by["com", "box"], differences(lambda e: loss(com=e), 3, 1e-6)),
            ("size", by["size", "box"], differences(lambda e: loss(size=e), 3, 1e-6)),
            ("gravity", by["gravity"], differences(lambda e: loss(gravity=down + e), 3, 1e-4)),
            ("floor", by["pose", "floor"][2:3], differences(lambda e: loss(floor_z=e[0]), 1, 1e-6)),
            ("dt", by["dt"], differences(lambda e: loss(dt=2e-3 + e[0]), 1, 1e-6)[0]),
        ):
            # 1e-6 covers rounding of 1e-16, amplified by 80 steps, over differences of 1e-6 and
            # less.
            size = max(1, np.abs(expected).max())
            np.testing.assert_allclose(
                got, expected, rtol=0, atol=1e-6 * size, err_msg=f"{solver}: {name}"
            )


def test_a_mass_is_found_from_a_motion():
    """Newton's method on the final position of a pushed box with friction."""

    def reached(mass):
        simulation = Simulation(
            World(free_boxes(1, mass=mass), floor(), materials={("box0", "floor"): Material(0.2)}),
            dt=2e-3,
        )
        motion = simulation.rollout(
            simulation.state(resting(0.05)), 200, Control(tau=[12.0, 0, 0, 0, 0, 0])
        )
        q_bar, v_bar = np.zeros((2, 201, 6))
        q_bar[-1, 0] = 1
        gradient = motion.vjp(q_bar, v_bar)
        return motion.q[-1, 0], gradient.parameters["mass", "box0"]

    wanted, mass = reached(2.7)[0], 2.0
    for _ in range(6):
        x, slope = reached(mass)
        mass += (wanted - x) / slope
    assert mass == pytest.approx(2.7, abs=1e-10)


def test_sweeps_have_gradients():
    """After two sweeps the impulses are far from a solution."""
    simulation = Simulation(World(free_boxes(1), floor()), solver="pgs", sweeps=2, dt=2e-3)
    model = simulation.model
    state = simulation.state(resting(0.0499), [0.8, 0.3, 0, 0.2, 0, 1.5])
    end = simulation.step(state)
    assert end.report.residual > 1e-4
    jacobians = simulation.linearize(state).jacobians()
    assert not jacobians.one_sided

    def after(v):
        reached = simulation.step(State(state.q, v))
        return np.stack([model.difference(end.q, reached.q), reached.v])

    expected = differences(lambda e: after(state.v + e), 6)
    np.testing.assert_allclose(jacobians.v, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def test_bodies_of_pieces_have_no_sizes():
    scene = Scene("terrain")
    scene.add_height_field("terrain", np.zeros((4, 4)), 0.3, pose=np.eye(4))
    simulation = Simulation(World(free_boxes(1), scene))
    gradient = simulation.linearize(simulation.state([0.4, 0.45, 0.0499, 0, 0, 0, 1])).vjp(
        [0, 0, 1, 0, 0, 0], np.zeros(6)
    )
    assert simulation.objects == ["box0/0", "terrain"]
    assert np.isnan(gradient.parameters["sizes", "terrain"]).all()
    assert np.isnan(gradient.parameters["scale", "terrain"])
    assert np.isfinite(gradient.parameters["sizes", "box0"]).all()
    # The fraction of the overlap that is corrected.
    lifted = gradient.q[2] - 1
    assert lifted == pytest.approx(-0.2, rel=1e-9)
    np.testing.assert_allclose(gradient.parameters["pose"][:, 2] / lifted, [1, -1], rtol=1e-9)


def test_shapes_that_are_wrong_are_named():
    simulation = Simulation(World(free_boxes(1), floor()))
    with pytest.raises(SimulationError, match=r"q_bar has shape \(7,\); expected \(6,\)"):
        simulation.linearize(simulation.state()).vjp(np.zeros(7), np.zeros(6))
    motion = simulation.rollout(simulation.state(), 3)
    with pytest.raises(
        SimulationError, match=r"v_bar has shape \(3, 6\); it must broadcast to \(4, 6\)"
    ):
        motion.vjp(np.zeros((4, 6)), np.zeros((3, 6)))
    with pytest.raises(
        SimulationError, match="by has 'torque'; a control has tau, q_target, v_target"
    ):
        motion.vjp(by=["torque"])


def test_gradients_on_bodies_of_turned_pieces_are_differences():
    """A box slides in the valley between two slopes that are pieces of one body."""
    slopes = [
        (Shape.box((2.0, 2.0, 0.2)), pose((x, 0, 0), rpy=(0, angle, 0)))
        for x, angle in ((-0.9, 0.5), (0.9, -0.4))
    ]
    scene = Scene("valley")
    scene.add_shape("valley", Compound(slopes), pose((0.01, 0.02, -0.05), rpy=(0.02, 0.03, 0.3)))
    simulation = Simulation(
        World(free_boxes(1), scene, materials={"valley": Material(0.1)}), dt=2e-3
    )
    model = simulation.model
    # It falls on one slope and slides down to the other.
    q = np.array([0, 0, 0.6, 0, 0, np.sin(0.15), np.cos(0.15)])
    state = simulation.rollout(simulation.state(q), 500).end
    touched = {
        tuple(contact.normal.round(1))
        for contact in simulation.linearize(state).contacts
        if contact.mode != "open"
    }
    assert len(touched) == 2
    end = simulation.step(state)
    jacobians = simulation.linearize(state).jacobians()
    assert not jacobians.one_sided

    def after(q, v):
        reached = simulation.step(State(q, v))
        return np.stack([model.difference(end.q, reached.q), reached.v])

    for got, expected in (
        (jacobians.q, differences(lambda e: after(model.integrate(state.q, e), state.v), 6)),
        (jacobians.v, differences(lambda e: after(state.q, state.v + e), 6)),
    ):
        np.testing.assert_allclose(
            got, expected, rtol=0, atol=1e-7 * max(1, np.abs(expected).max())
        )


def test_each_pair_has_its_own_friction_and_gradient():
    """Boxes on two floors side by side, with pairs listed in no order.

    Each box slides as far as the friction of its own pair allows.
    """
    model, scene = free_boxes(3), Scene("floors")
    for name, y in ("south", -1.0), ("north", 1.0):
        scene.add_box(name, (8, 2, 0.2), pose((0, y, -0.1)))
    frictions = {
        ("box2", "south"): 0.15, ("north", "box0"): 0.35, ("box1", "south"): 0.25,
        ("box0", "south"): 0.9, ("box1", "north"): 0.8, ("box2", "north"): 0.7,
        ("box0", "box1"): 0.6, ("box2", "box1"): 0.5,
    }  # fmt: skip
    simulation = Simulation(
        World(model, scene, materials={pair: Material(mu) for pair, mu in frictions.items()})
    )
    places = {"box0": (0, 1.0, "north"), "box1": (-1, -0.7, "south"), "box2": (1, -1.3, "south")}
    q = np.concatenate([[x, y, 0.05, 0, 0, 0, 1] for x, y, _ in places.values()])
    v = np.concatenate([[1.0, 0, 0, 0, 0, 0]] * 3)
    motion = simulation.rollout(simulation.state(q, v), 100)
    for k, (name, (_, _, ground)) in enumerate(places.items()):
        mu = next(mu for pair, mu in frictions.items() if set(pair) == {name, ground})
        assert motion.v[-1, 6 * k] == pytest.approx(1 - mu * G * 0.1, abs=1e-10)
        q_bar, v_bar = np.zeros((2, 101, 18))
        v_bar[-1, 6 * k] = 1
        by_pair = motion.vjp(q_bar, v_bar).parameters["friction"]
        for pair, found in zip(simulation.pairs, by_pair, strict=True):
            own = {x.split("/")[0] for x in pair} == {name, ground}
            assert found == pytest.approx(-G * 0.1 if own else 0.0, abs=1e-10)


def test_a_step_has_the_largest_residual_of_its_islands():
    """Two boxes far from each other, whose residuals differ after two sweeps, in either order."""
    for hard, easy in (0, 1), (1, 0):
        simulation = Simulation(World(free_boxes(2), floor()), solver="pgs", sweeps=2)
        v = np.zeros(12)
        v[6 * hard : 6 * hard + 6] = [1, 2, -1, 3, 2, 1]
        q = np.concatenate([[3.0 * k, 0, 0.05, 0, 0, 0, 1] for k in range(2)])
        both = simulation.step(simulation.state(q, v)).report.residual
        alone = Simulation(World(free_boxes(1), floor()), solver="pgs", sweeps=2)
        one = alone.step(
            alone.state(q[7 * hard : 7 * hard + 7], v[6 * hard : 6 * hard + 6])
        ).report.residual
        other = alone.step(
            alone.state(q[7 * easy : 7 * easy + 7], v[6 * easy : 6 * easy + 6])
        ).report.residual
        assert both == pytest.approx(max(one, other), rel=1e-6)
        assert abs(one - other) > 0.1 * max(one, other)


def test_bounces_that_no_time_is_asked_of_are_told():
    """After an untimed bounce a ball's position does not depend on its position before."""
    world = World(ball_on_rails([1.0, 1.0]), materials={("ball0", "ball1"): Material(0.0, 1.0)})
    for bounce, expected in ("step", 1), ("automatic", 0), ("time_of_impact", 0):
        simulation = Simulation(world, bounce=bounce, dt=0.01)
        motion = simulation.rollout(simulation.state([0.0, 0.5203], [1.0, 0.0]), 100)
        assert motion.report.untimed_bounces == expected
        q_bar, v_bar = np.zeros((2, 101, 2))
        q_bar[-1, 1] = 1
        assert motion.vjp(q_bar, v_bar).q[0] == pytest.approx(1 - expected, abs=1e-11)


def test_causes_are_those_of_the_engine():
    assert [cause.name for cause in OneSidedCause] == _engine.one_sided_causes
    assert [cause.value for cause in OneSidedCause] == [1 << k for k in range(len(OneSidedCause))]
