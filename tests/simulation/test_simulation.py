"""Simulations as users run them: results, repeatability to the bit, and reports."""

from __future__ import annotations

import numpy as np
import pytest

import robosim
from robosim import _engine
from robosim.errors import FileError, SimulationError
from robosim.scene import Scene
from robosim.simulation import Control, OneSidedCause, Simulation, State, StepStatus
from robosim.world import Material, Motor, World

from ..interrupts import control_c  # noqa: TID252 (tests have no absolute name)
from .worlds import G, ball_on_rails, floor, free_boxes, resting


def test_a_falling_box_comes_to_rest_and_is_carried():
    simulation = Simulation(World(free_boxes(1), floor()))
    start = simulation.state([0, 0, 0.5, 0.1, 0.2, 0.05, 1.0], time=2.0)
    motion = simulation.rollout(start, 3000)
    assert motion.report.status <= StepStatus.basic
    assert motion.report.solved
    assert motion.times[0] == 2.0
    assert motion.end.time == pytest.approx(5.0)
    # On its largest face, at rest to rounding.
    assert motion.q[-1, 2] == pytest.approx(0.05, abs=1e-9)
    assert np.abs(motion.v[-1]).max() < 1e-9
    details = simulation.linearize(motion.end)
    assert len(details.contacts) == 4
    assert {(c.A, c.B) for c in details.contacts} == {("box0/0", "floor")}
    assert {c.mode for c in details.contacts} == {"sticking"}
    # The force on the floor, which is B, points down.
    np.testing.assert_allclose(
        sum(c.force for c in details.contacts), [0, 0, -2 * G], rtol=0, atol=1e-7
    )


def test_the_same_to_the_bit_however_it_is_asked(tmp_path):
    simulation = Simulation(World(free_boxes(3), floor(), materials={"floor": Material(0.5, 0.3)}))
    start = simulation.state(
        resting(0.3, 0.6, 0.9) + 0.05 * np.sin(np.arange(21)), np.cos(np.arange(18))
    )
    motion = simulation.rollout(start, 400)
    state = start
    for i in range(400):
        state = simulation.step(state)
        if i == 199:
            state.save(tmp_path / "half.json")
        if i % 50 == 0:  # other calls in between change nothing
            simulation.step(start)
            np.testing.assert_array_equal(simulation.linearize(state).state.q, motion.q[i + 2])
    np.testing.assert_array_equal(state.q, motion.q[-1])
    np.testing.assert_array_equal(state.v, motion.v[-1])
    resumed = simulation.rollout(State.load(tmp_path / "half.json"), 200)
    np.testing.assert_array_equal(resumed.q, motion.q[200:])
    np.testing.assert_array_equal(resumed.times, motion.times[200:])


def test_substeps_are_steps():
    world = World(free_boxes(1), floor(), materials={"floor": Material(0.5, 0.3)})
    whole, parts = Simulation(world, dt=4e-3, substeps=4), Simulation(world, dt=1e-3)
    start = whole.state([0, 0, 0.2, 0.1, 0.2, 0.05, 1.0], [1, 0, -1, 0, 2, 0])
    np.testing.assert_array_equal(whole.rollout(start, 100).q, parts.rollout(start, 400).q[::4])


@pytest.mark.parametrize(("masses", "restitution", "after"), [
    ((1, 1), 1.0, (0, 1)), ((1, 3), 1.0, (-0.5, 0.5)), ((1, 1), 0.5, (0.25, 0.75)),
    ((1, 1), 0.0, (0.5, 0.5)),
    ((1, 1000), 1.0, (1 - 2000 / 1001, 2 / 1001)),
])  # fmt: skip
@pytest.mark.parametrize("solver", _engine.row_solvers)
def test_two_balls_exchange_what_newton_says(masses, restitution, after, solver):
    materials = {("ball0", "ball1"): Material(0.0, restitution)}
    simulation = Simulation(World(ball_on_rails(masses), materials=materials), solver=solver)
    end = simulation.rollout(simulation.state([0, 0.3], [1, 0]), 400).end
    np.testing.assert_allclose(end.v, after, rtol=0, atol=1e-13)


def test_friction_of_materials_is_the_geometric_mean_unless_a_pair_has_its_own():
    mu = 0.16  # geometric mean of 0.32 and 0.08
    for materials in (
        {"floor": Material(0.32), "box0": Material(0.08)},
        {"floor": Material(9.0), "box0": Material(9.0), ("floor", "box0"): Material(mu)},
    ):
        simulation = Simulation(World(free_boxes(1), floor(), materials=materials))
        end = simulation.rollout(simulation.state(resting(0.05), [1, 0, 0, 0, 0, 0]), 200).end
        assert end.v[0] == pytest.approx(1 - mu * G * 0.2, abs=1e-10)


def test_motors_hold_an_arm_against_gravity_within_their_limits():
    arm = robosim.load_robot("ur5")
    names = arm.joint_names
    q = np.array([0.3, -1.2, 1.1, -1.4, -1.5, 0.4])
    stiff = Simulation(World(arm, motors={name: Motor(1e5, 1e3) for name in names}))
    end = stiff.rollout(stiff.state(q), 500, Control(q_target=q)).end
    needed = arm.gravity(end.q)
    np.testing.assert_allclose(end.q, q - needed / 1e5, rtol=0, atol=1e-6)
    forces = {
        j.coordinate: j.force
        for j in stiff.linearize(end, Control(q_target=q)).joints
        if j.source == "motor"
    }
    np.testing.assert_allclose([forces[name] for name in names], needed, rtol=0, atol=1e-7)
    weak = Simulation(World(arm, motors={name: Motor(1e5, 1e3, limit=0.1) for name in names}))
    details = weak.linearize(weak.state(q), Control(q_target=q + 1))
    assert max(abs(j.force) for j in details.joints) == pytest.approx(0.1)
    # The limit is the joint's effort by default.
    details = stiff.linearize(stiff.state(q), Control(q_target=q + 1))
    assert max(abs(j.force) for j in details.joints) == pytest.approx(arm.limits.effort.max())


def test_what_lies_on_a_robot_moves_with_it_and_presses_on_it():
    """A bundled gripper falls on the floor, with hulls, mimic joints and limits together."""
    gripper = robosim.load_robot("gripper_2f", base="floating")
    simulation = Simulation(World(gripper, floor(), materials={"floor": Material(0.8)}))
    q = gripper.neutral()
    q[2] = 0.3
    motion = simulation.rollout(simulation.state(q), 2000)
    assert motion.report.status != StepStatus.inconsistent
    scene = floor().compile(gripper)
    assert scene.min_distance(motion.end.q)[0] > -1e-3
    assert np.abs(motion.end.v).max() < 1e-3
    total = sum(link.mass for link in gripper.links)
    force = sum(
        np.array(c.force) for c in simulation.linearize(motion.end).contacts if c.B == "floor"
    )
    assert -force[2] == pytest.approx(total * G, rel=1e-3)


def test_control_c_ends_a_long_run():
    simulation = Simulation(World(free_boxes(1), floor()))
    with control_c():
        simulation.rollout(simulation.state(resting(0.05)), 1_000_000)


@pytest.mark.parametrize("solver", _engine.row_solvers)
@pytest.mark.parametrize("substeps", [1, 3])
def test_what_numbers_do_not_hold_is_not_taken(solver, substeps):
    """The state stays unchanged, and gradients are those of the unchanged state."""
    simulation = Simulation(World(free_boxes(1), floor()), solver=solver, substeps=substeps)
    control = Control(tau=[0, 0, 0, 0, 1e20, 0])
    motion = simulation.rollout(simulation.state(resting(1.0)), 500, control)
    assert np.isfinite(motion.q).all()
    assert np.isfinite(motion.v).all()
    assert motion.report.status == StepStatus.diverged
    assert np.abs(motion.v[-1]).max() > 1e100
    assert (motion.q[motion.report.first_unsolved + 1 :] == motion.q[-1]).all()

    end = simulation.step(motion.end, control)
    assert (
        end.report.status
        == simulation.linearize(motion.end, control).state.report.status
        == StepStatus.diverged
    )
    assert simulation.linearize(motion.end, control).contacts == []
    np.testing.assert_array_equal(end.q, motion.end.q)
    np.testing.assert_array_equal(end.v, motion.end.v)
    q_bar, v_bar = np.arange(6.0), np.arange(6.0, 12.0)
    gradient = simulation.linearize(motion.end, control).vjp(q_bar, v_bar)
    assert gradient.causes == OneSidedCause.diverged
    np.testing.assert_array_equal(gradient.q, q_bar)
    np.testing.assert_array_equal(gradient.v, v_bar)
    assert not gradient.tau.any()
    jacobians = simulation.linearize(motion.end, control).jacobians()
    assert jacobians.causes == OneSidedCause.diverged
    by_state = np.concatenate([np.concatenate(jacobians.q), np.concatenate(jacobians.v)], axis=1)
    np.testing.assert_array_equal(by_state, np.eye(12))
    assert not jacobians.tau[0].any()
    tangent = simulation.linearize(motion.end, control).jvp(q=q_bar, v=v_bar)
    assert tangent.causes == OneSidedCause.diverged
    np.testing.assert_array_equal(tangent.q, q_bar)
    np.testing.assert_array_equal(tangent.v, v_bar)


def test_arrays_along_a_run_are_taken_step_by_step():
    simulation = Simulation(World(ball_on_rails([1.0, 1.0])))
    tau = np.zeros((30, 2))
    tau[10:20, 1] = 5.0
    motion = simulation.rollout(simulation.state([0, 1]), 30, Control(tau=tau))
    speed = np.concatenate([np.zeros(11), 5e-3 * np.arange(1, 11), np.full(10, 0.05)])
    np.testing.assert_allclose(motion.v[:, 1], speed, rtol=0, atol=1e-15)
    one = simulation.rollout(simulation.state([0, 1]), 30, Control(tau=[0.0, 5.0]))
    assert one.v[-1, 1] == pytest.approx(0.15)


@pytest.mark.parametrize(("change", "text"), [
    ({"dt": 0.0}, "dt is 0; it must be positive"),
    ({"solver": "newton"}, "solver is 'newton'; there are 'lcp', 'convex', 'pgs'"),
    ({"integrator": "leapfrog"}, "integrator is 'leapfrog'; there are 'semi_implicit'"),
    ({"substeps": 0}, "substeps is 0; it must be at least 1"),
    ({"erp": -0.1}, "erp is -0.1; it must lie between 0 and 1"),
    ({"materials": {"flor": Material()}},
        "materials name 'flor', which is no link and no object; did you mean"),
    ({"materials": {("box0", "wall"): Material()}}, "materials name 'wall'"),
    ({"motors": {"free": Motor(1, 1)}}, "motors name 'free', which is no coordinate"),
])  # fmt: skip
def test_what_cannot_be_used_is_named(change, text):
    options = dict(change)
    made_of = {name: options.pop(name) for name in ("materials", "motors") if name in change}
    world = World(free_boxes(1), floor(), **made_of)
    with pytest.raises(SimulationError, match=text.replace("[", r"\[").replace("?", r"\?")):
        Simulation(world, **options)


@pytest.mark.parametrize(
    "change",
    [
        {"friction": -1.0},
        {"restitution": 1.5},
        {"torsional_friction": np.nan},
        {"rolling_friction": np.inf},
        {"compliance": -1e-6},
        {"relaxation_time": np.inf},
        {"restitution": 0.5, "compliance": 1e-6},
    ],
)
def test_materials_that_cannot_be_are_named(change):
    with pytest.raises(SimulationError, match=f"material: {next(iter(change))} is"):
        Material(**change)


def test_states_and_controls_that_do_not_fit_are_named():
    simulation = Simulation(World(free_boxes(1), floor()))
    state = simulation.state()
    for control, text in (
        (Control(tau=[1.0]), r"tau has shape \(1,\); expected \(6,\)"),
        (Control(q_target=np.zeros(6)), r"q_target has shape \(6,\); expected \(7,\)"),
        (Control(v_target=np.full(6, np.nan)), "v_target holds nan at index 0"),
    ):
        for call in (simulation.step, simulation.linearize):
            with pytest.raises(SimulationError, match=text):
                call(state, control)
    with pytest.raises(
        SimulationError, match=r"tau has shape \(3, 6\); it must be \(6,\), or \(..., 4, 6\)"
    ):
        simulation.rollout(state, 4, Control(tau=np.zeros((3, 6))))
    with pytest.raises(SimulationError, match=r"steps is -1; it must not be negative"):
        simulation.rollout(state, -1)
    with pytest.raises(SimulationError, match=r"q has shape \(3,\); it must be \(..., 7\)"):
        simulation.state(np.zeros(3))
    with pytest.raises(SimulationError, match="finite"):
        State(np.array([np.inf]), np.zeros(1))


@pytest.mark.parametrize("content", [
    b"", b"{", b"[]", b"3", b'{"format": "robosim state 2", "q": [], "v": [], "time": 0}',
    b"[" * 100_000,
    b'{"format": "robosim state 1", "q": ["x"], "v": [], "time": 0}',
    b'{"format": "robosim state 1", "q": [1e999], "v": [], "time": 0}',
    b'{"format": "robosim state 1", "q": [], "v": [], "time": null}', b"\xff\xfe",
])  # fmt: skip
def test_files_that_are_no_states_are_refused(tmp_path, content):
    path = tmp_path / "state.json"
    path.write_bytes(content)
    with pytest.raises(SimulationError, match=r"state\.json"):
        State.load(path)


def test_a_control_is_kept_with_the_state(tmp_path):
    path = tmp_path / "state.json"
    state = State([0.1, -1 / 3], [2e-308, 0.7], 1 / 7)
    control = Control(tau=[1 / 3, -2.0], q_target=np.array([0.3, 1e-17]))
    state.save(path, control)
    read = Control.load(path)
    np.testing.assert_array_equal(read.tau, control.tau)
    np.testing.assert_array_equal(read.q_target, control.q_target)
    assert read.v_target is None
    np.testing.assert_array_equal(State.load(path).q, state.q)
    assert State.load(path).time == state.time
    state.save(path)
    assert Control.load(path).tau is None
    with pytest.raises(SimulationError, match="in a file it must be a list of finite numbers"):
        state.save(path, Control(tau=np.zeros((5, 2))))
    path.write_bytes(b'{"format": "robosim state 1", "q": [], "v": [], "time": 0, "tau": ["x"]}')
    with pytest.raises(SimulationError, match=r"state\.json.*tau"):
        Control.load(path)


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        State.load(tmp_path / "none.json")


def test_an_empty_world_flies():
    simulation = Simulation(World(free_boxes(1), Scene()))
    end = simulation.rollout(simulation.state(v=[1, 0, 0, 0, 0, 0]), 1000).end
    assert simulation.step(end).report.rows == 0
    np.testing.assert_allclose(end.v[:3], [1, 0, -G], rtol=1e-12)
