"""Gradients and Jacobians of rollouts: batches, numbers of threads, states kept or recomputed."""

from __future__ import annotations

import numpy as np
import pytest

import robosim
from robosim.errors import SimulationError
from robosim.simulation import Control, Simulation, State
from robosim.world import Material, Motor, World

from .worlds import floor, free_boxes, resting, sliding_box


def test_a_run_is_its_steps_one_after_the_other():
    simulation, state = sliding_box()
    rng = np.random.default_rng(2)
    tau = 0.1 * rng.normal(size=(40, 6))
    motion = simulation.rollout(state, 40, Control(tau=tau))
    q_bar, v_bar = rng.normal(size=(2, 41, 6))
    whole = motion.vjp(q_bar, v_bar)
    q, v, friction = q_bar[-1], v_bar[-1], 0
    for i in reversed(range(40)):
        one = simulation.linearize(State(motion.q[i], motion.v[i]), Control(tau=tau[i])).vjp(q, v)
        np.testing.assert_array_equal(one.tau, whole.tau[i])
        q, v = one.q + q_bar[i], one.v + v_bar[i]
        friction = friction + one.parameters["friction"]
    np.testing.assert_array_equal(q, whole.q)
    np.testing.assert_array_equal(v, whole.v)
    np.testing.assert_allclose(friction, whole.parameters["friction"], rtol=1e-12)
    for by in [], ["tau"], ("q_target", "v_target"):
        part = motion.vjp(q_bar, v_bar, by=by)
        for name in ("tau", "q_target", "v_target"):
            rows = getattr(whole, name)
            np.testing.assert_array_equal(getattr(part, name), rows if name in by else rows[:0])
        np.testing.assert_array_equal(part.q, whole.q)


def test_many_runs_are_each_one_by_itself_on_any_number_of_threads():
    for solver in "lcp", "pgs":
        simulation = Simulation(
            World(free_boxes(2), floor(), materials={"floor": Material(0.4)}),
            dt=2e-3,
            solver=solver,
        )
        rng = np.random.default_rng(6)
        starts = [simulation.state(resting(0.05, 0.2), rng.normal(size=12)) for _ in range(7)]
        tau = rng.normal(size=(7, 60, 12))
        bars = rng.normal(size=(2, 7, 61, 12))
        alone = [
            simulation.rollout(start, 60, Control(tau=x))
            for start, x in zip(starts, tau, strict=True)
        ]
        back = [one.vjp(*each) for one, *each in zip(alone, *bars, strict=True)]
        together = State([x.q for x in starts], [x.v for x in starts])
        for threads in 1, 2, 4:
            with robosim.threads(threads):
                runs = simulation.rollout(together, 60, Control(tau=tau))
                gradient = runs.vjp(*bars)
            assert runs.shape == (7,)
            for i, (one, back_one) in enumerate(zip(alone, back, strict=True)):
                np.testing.assert_array_equal(runs.times, one.times)
                np.testing.assert_array_equal(runs.q[i], one.q)
                np.testing.assert_array_equal(runs.v[i], one.v)
                assert [x[i] for x in runs.report] == list(one.report)
                for name in ("q", "v", "tau", "causes"):
                    np.testing.assert_array_equal(
                        getattr(gradient, name)[i], getattr(back_one, name)
                    )
                for name in back_one.parameters:
                    np.testing.assert_array_equal(
                        gradient.parameters[name][i], back_one.parameters[name]
                    )
                for key in (("mass", "box0"), ("friction", ("box0", "floor")), ("size", "box1")):
                    np.testing.assert_array_equal(
                        gradient.parameters[key][i], back_one.parameters[key]
                    )


@pytest.mark.parametrize("solver", ["lcp", "pgs"])
def test_gradients_are_the_same_to_the_bit_for_any_interval_and_number_of_threads(solver):
    simulation = Simulation(
        World(free_boxes(2), floor(), materials={"floor": Material(0.4)}), solver=solver
    )
    rng = np.random.default_rng(8)
    start = simulation.state(resting(0.05, 0.2), rng.normal(size=(3, 12)))
    control = Control(tau=rng.normal(size=(200, 12)))
    q_end, v_end = rng.normal(size=(2, 12))
    whole = simulation.rollout(start, 200, control)
    expected = None
    for interval in 1, 10, 70, 1000:
        for threads in 1, 2, 4:
            with robosim.threads(threads):
                runs = simulation.rollout(start, 200, control, interval=interval)
                kept = [*range(0, 200, interval), 200]
                bars = np.zeros((2, len(kept), 12))
                bars[:, -1] = q_end, v_end
                gradient = runs.vjp(*bars)
            np.testing.assert_array_equal(runs.times, whole.times[kept])
            np.testing.assert_array_equal(runs.q, whole.q[:, kept])
            np.testing.assert_array_equal(runs.v, whole.v[:, kept])
            assert (runs.steps, runs.interval) == (200, interval)
            for a, b in zip(runs.report, whole.report, strict=True):
                np.testing.assert_array_equal(a, b)
            parts = (gradient.q, gradient.v, gradient.tau, *gradient.parameters.values())
            found = np.concatenate([x.reshape(3, -1) for x in parts], axis=1)
            expected = found if expected is None else expected
            np.testing.assert_array_equal(found, expected)


def test_progress_is_told_and_may_end_a_run():
    simulation, state = sliding_box()
    told = []
    motion = simulation.rollout(state, 3500, progress=told.append)
    assert told == [1000, 2000, 3000]
    q_bar, v_bar = np.ones((2, 3501, 6))
    back = []
    gradient = motion.vjp(q_bar, v_bar, progress=back.append)
    assert back == [1000, 2000, 3000]
    np.testing.assert_array_equal(gradient.q, motion.vjp(q_bar, v_bar).q)

    class Enough(Exception):
        pass

    def stop(taken):
        if taken >= 2000:
            raise Enough(taken)

    with pytest.raises(Enough, match="2000"):
        simulation.rollout(state, 3500, progress=stop)
    with pytest.raises(Enough, match="2000"):
        motion.vjp(q_bar, v_bar, progress=stop)


def test_a_loss_sees_all_states_that_were_kept():
    """Every third state is kept. The result is as with all kept and zero gradients between."""
    simulation, state = sliding_box()
    rng = np.random.default_rng(9)
    few, all_states = simulation.rollout(state, 20, interval=3), simulation.rollout(state, 20)
    kept = [0, 3, 6, 9, 12, 15, 18, 20]
    bars, wide = rng.normal(size=(2, 8, 6)), np.zeros((2, 21, 6))
    wide[:, kept] = bars
    one, other = few.vjp(*bars), all_states.vjp(*wide)
    np.testing.assert_array_equal(one.q, other.q)
    np.testing.assert_array_equal(one.v, other.v)
    np.testing.assert_array_equal(one.parameters["friction"], other.parameters["friction"])


def test_states_and_controls_broadcast():
    """Each entry of the leading axes is a separate run, also in its gradient and Jacobians.

    The results agree to the bit.
    """
    simulation = Simulation(World(free_boxes(1), floor()))
    rng = np.random.default_rng(3)
    q, v = np.array([resting(0.05), resting(0.5)]), rng.normal(size=(3, 1, 6))
    for tau in (
        rng.normal(size=6),  # for all steps and runs
        rng.normal(size=(20, 6)),  # for all runs
        rng.normal(size=(2, 1, 6)),  # for all steps
        rng.normal(size=(3, 1, 20, 6)),
        rng.normal(size=(3, 2, 20, 6)),
    ):
        runs = simulation.rollout(State(q, v), 20, Control(tau=tau))
        assert runs.q.shape == (3, 2, 21, 7)
        assert runs.report.status.shape == (3, 2)
        bar = rng.normal(size=(21, 6))
        gradient, jacobians = runs.vjp(v_bar=bar), runs.jacobians("v", ("mass", "box0"))
        assert gradient.tau.shape == (3, 2, 20, 6)
        assert gradient.parameters["mass", "box0"].shape == (3, 2)
        each = np.broadcast_to(tau if tau.ndim > 1 else tau[None], (3, 2, 20, 6))
        for i, k in np.ndindex(3, 2):
            alone = simulation.rollout(State(q[k], v[i, 0]), 20, Control(tau=each[i, k]))
            np.testing.assert_array_equal(runs.q[i, k], alone.q)
            back = alone.vjp(np.zeros_like(bar), bar)
            np.testing.assert_array_equal(gradient.v[i, k], back.v)
            np.testing.assert_array_equal(gradient.tau[i, k], back.tau)
            np.testing.assert_array_equal(
                gradient.parameters["inertia", "box0"][i, k], back.parameters["inertia", "box0"]
            )
            by = alone.jacobians("v", ("mass", "box0"))
            np.testing.assert_array_equal(jacobians.v[i, k], by.v)
            np.testing.assert_array_equal(
                jacobians.parameters["mass", "box0"][i, k], by.parameters["mass", "box0"]
            )
            np.testing.assert_array_equal(runs.end.q[i, k], alone.end.q)


def test_no_runs_have_no_states():
    simulation = Simulation(World(free_boxes(1), floor()))
    runs = simulation.rollout(State(np.zeros((0, 7)), np.zeros((0, 6))), 20)
    assert runs.q.shape == (0, 21, 7)
    gradient = runs.vjp()
    assert gradient.tau.shape == (0, 20, 6)
    assert gradient.parameters["mass"].shape == (0, len(simulation.model.link_names))
    assert runs.jacobians("q").q.shape == (0, 20, 2, 6, 6)


def test_a_rollout_is_not_changed_by_what_happens_to_its_control():
    simulation, state = sliding_box()
    tau = np.random.default_rng(4).normal(size=(20, 6))
    motion = simulation.rollout(state, 20, Control(tau=tau))
    expected = motion.vjp(v_bar=np.ones((21, 6)))
    tau[:] = 0
    np.testing.assert_array_equal(motion.vjp(v_bar=np.ones((21, 6))).v, expected.v)


def test_wrong_arguments_of_rollouts_are_refused():
    simulation = Simulation(World(free_boxes(1), floor()))
    start, tau = simulation.state(resting(0.05)), np.zeros(6)
    run = simulation.rollout(start, 20)
    for wrong, says in (
        (
            lambda: simulation.rollout(start, 20, Control(tau=tau[1:])),
            r"tau has shape \(5,\); it must be \(6,\), or \(..., 20, 6\)",
        ),
        (
            lambda: simulation.rollout(start, 20, Control(tau=np.zeros((19, 6)))),
            r"tau has shape \(19, 6\)",
        ),
        (lambda: simulation.rollout(start, 20, Control(tau=1.0)), r"tau has shape \(\)"),
        (
            lambda: simulation.rollout(start, 20, Control(tau="push")),
            "tau is not an array of numbers",
        ),
        (lambda: simulation.rollout(start, 20, Control(tau=np.full(6, np.nan))), "tau holds nan"),
        (lambda: simulation.rollout(start, -1), "steps is -1"),
        (
            lambda: simulation.rollout(State([0.0], [0.0]), 2),
            r"q has shape \(1,\); it must be \(..., 7\)",
        ),
        (
            lambda: simulation.rollout(State(np.tile(start.q, (3, 1)), np.zeros((2, 6))), 2),
            r"leading axes must broadcast; they are of q \(3,\), v \(2,\)",
        ),
        (
            lambda: simulation.rollout(start, 3, interval=0),
            "interval is 0; it must be at least 1, which keeps every state",
        ),
        (
            lambda: run.vjp(np.zeros((20, 6))),
            r"q_bar has shape \(20, 6\); it must broadcast to \(21, 6\)",
        ),
        (lambda: run.vjp(v_bar=np.full((21, 6), np.inf)), "v_bar holds inf"),
        (lambda: run.vjp(by=["force"]), "by has 'force'; a control has tau, q_target, v_target"),
        (
            lambda: simulation.step(State(np.tile(start.q, (3, 1)), np.zeros((3, 6)))),
            r"q has shape \(3, 7\); expected \(7,\)",
        ),
        (
            lambda: simulation.rollout(simulation.state(np.tile(start.q, (2, 1))), 3).replay(),
            r"runs of shape \(2,\); a replay must be of one",
        ),
    ):
        with pytest.raises(SimulationError, match=says):
            wrong()


def test_only_the_jacobians_that_are_asked_for():
    model = robosim.load_robot("cart_pole")
    motors = {name: Motor(position_gain=50.0, velocity_gain=2.0) for name in model.joint_names}
    simulation = Simulation(World(model, motors=motors), dt=5e-3)
    state, control = (
        State(np.array([0.1, 0.4]), np.array([0.2, -1.0])),
        Control(q_target=np.zeros(2)),
    )
    names = ("q", "v", "tau", "q_target", "v_target")
    everything = simulation.linearize(state, control).jacobians()
    assert all(getattr(everything, name).any() for name in names)
    for name in names:
        alone = simulation.linearize(state, control).jacobians(name)
        np.testing.assert_array_equal(getattr(alone, name), getattr(everything, name))
        assert all(getattr(alone, other).shape == (2, 2, 0) for other in names if other != name)
    with pytest.raises(
        SimulationError,
        match="by has 'masses'; Jacobians are by q, v, tau, q_target, v_target, friction, ",
    ):
        simulation.linearize(state, control).jacobians("masses")


@pytest.mark.parametrize("substeps", [1, 2])
def test_jacobians_along_a_run_are_those_of_its_steps(substeps):
    """Jacobians agree to the bit, for any number of threads and whichever states were kept.

    A box lands, slides and turns.
    """
    simulation = Simulation(
        World(free_boxes(1), floor(), materials={"floor": Material(0.4), "box0": Material(0.4)}),
        substeps=substeps,
    )
    start, steps = simulation.state(resting(0.054), [0.8, 0.3, -0.2, 0, 0.5, 1.5]), 40
    control = Control(tau=np.random.default_rng(2).normal(size=(steps, 6)))
    every = simulation.rollout(start, steps, control)
    expected = [
        simulation.linearize(State(every.q[i], every.v[i]), Control(tau=control.tau[i])).jacobians()
        for i in range(steps)
    ]
    falls = [x.v[1, 2, 2] for x in expected]
    assert max(falls) > 0.9 > 0.5 > min(falls)  # it lands on the way
    told = []
    for interval, threads in ((1, 1), (1, 2), (7, 2), (40, 1)):
        with robosim.threads(threads):
            motion = simulation.rollout(start, steps, control, interval=interval)
            found = motion.jacobians(progress=told.append)
        for name in found._fields:
            np.testing.assert_array_equal(
                getattr(found, name), [getattr(x, name) for x in expected]
            )
    partly = motion.jacobians("v")
    assert partly.q.shape == (steps, 2, 6, 0)
    np.testing.assert_array_equal(partly.v, found.v)
    assert not told  # there are fewer steps than between two reports


def test_jacobians_along_a_run_can_be_stopped():
    simulation = Simulation(World(robosim.load_robot("cart_pole")))
    motion = simulation.rollout(State(np.array([0.0, 0.3]), np.zeros(2)), 1500)

    def stop(done):
        raise RuntimeError(f"after {done}")

    with robosim.threads(1), pytest.raises(RuntimeError, match="after 1000"):
        motion.jacobians(progress=stop)
