"""Gradients of whole runs: many at once, any number of threads, states kept or made again, Jacobians along them."""

from __future__ import annotations

import numpy as np
import pytest

import robosim
from robosim.errors import SimulationError
from robosim.simulation import Control, Material, Motor, Simulation, State

from .worlds import floor, free_boxes, resting, sliding_box


def test_a_run_is_its_steps_one_after_the_other():
    simulation, state = sliding_box()
    rng = np.random.default_rng(2)
    tau = 0.1 * rng.normal(size=(40, 6))
    motion = simulation.run(state, 40, Control(tau=tau))
    q_bar, v_bar = rng.normal(size=(2, 41, 6))
    whole = simulation.run_vjp(motion, q_bar, v_bar, Control(tau=tau))
    q, v, friction = q_bar[-1], v_bar[-1], 0
    for i in reversed(range(40)):
        one = simulation.vjp(State(motion.q[i], motion.v[i]), q, v, Control(tau=tau[i]))
        np.testing.assert_array_equal(one.tau, whole.tau[i])
        q, v = one.q + q_bar[i], one.v + v_bar[i]
        friction = friction + one.parameters["friction"]
    np.testing.assert_array_equal(q, whole.q)
    np.testing.assert_array_equal(v, whole.v)
    np.testing.assert_allclose(friction, whole.parameters["friction"], rtol=1e-12)
    for by in [], ["tau"], ("q_target", "v_target"):
        part = simulation.run_vjp(motion, q_bar, v_bar, Control(tau=tau), by=by)
        for name in ("tau", "q_target", "v_target"):
            rows = getattr(whole, name)
            np.testing.assert_array_equal(getattr(part, name), rows if name in by else rows[:0])
        np.testing.assert_array_equal(part.q, whole.q)


def test_many_runs_are_each_one_by_itself_on_any_number_of_threads():
    for solver in "lcp", "pgs":
        simulation = Simulation(
            free_boxes(2), floor(), materials={"floor": Material(0.4)}, dt=2e-3, solver=solver
        )
        rng = np.random.default_rng(6)
        starts = [simulation.state(resting(0.05, 0.2), rng.normal(size=12), time=float(i)) for i in range(7)]
        controls = [Control(tau=rng.normal(size=(60, 12))) for _ in starts]
        bars = rng.normal(size=(2, 7, 61, 12))
        alone = [simulation.run(*each) for each in zip(starts, [60] * 7, controls, strict=True)]
        back = [simulation.run_vjp(*each) for each in zip(alone, *bars, controls, strict=True)]
        for threads in 1, 2, 4:
            motions = simulation.run_many(starts, 60, controls, threads=threads)
            gradients = simulation.run_many_vjp(motions, *bars, controls, threads=threads)
            for motion, one in zip(motions, alone, strict=True):
                for a, b in zip(motion[:3], one[:3], strict=True):
                    np.testing.assert_array_equal(a, b)
                assert motion.report == one.report
            for gradient, one in zip(gradients, back, strict=True):
                for name in ("q", "v", "tau", "one_sided"):
                    np.testing.assert_array_equal(getattr(gradient, name), getattr(one, name))
                for name in one.parameters:
                    np.testing.assert_array_equal(gradient.parameters[name], one.parameters[name])


@pytest.mark.parametrize("solver", ["lcp", "pgs"])
def test_gradients_are_the_same_to_the_bit_for_any_interval_and_number_of_threads(solver):
    simulation = Simulation(free_boxes(2), floor(), materials={"floor": Material(0.4)}, solver=solver)
    rng = np.random.default_rng(8)
    starts = [simulation.state(resting(0.05, 0.2), rng.normal(size=12)) for _ in range(3)]
    control = Control(tau=rng.normal(size=(200, 12)))
    q_end, v_end = rng.normal(size=(2, 12))
    whole = simulation.run_many(starts, 200, control)
    expected = None
    for interval in 1, 10, 70, 1000:
        for threads in 1, 2, 4:
            motions = simulation.run_many(starts, 200, control, interval=interval, threads=threads)
            kept = [*range(0, 200, interval), 200]
            bars = np.zeros((2, 3, len(kept), 12))
            bars[0, :, -1], bars[1, :, -1] = q_end, v_end
            for motion, one in zip(motions, whole, strict=True):
                np.testing.assert_array_equal(motion.times, one.times[kept])
                np.testing.assert_array_equal(motion.q, one.q[kept])
                np.testing.assert_array_equal(motion.v, one.v[kept])
                assert (motion.report, motion.steps, motion.interval) == (one.report, 200, interval)
            gradients = simulation.run_many_vjp(motions, *bars, control, threads=threads)
            found = [
                np.concatenate([g.q, g.v, *(x.ravel() for x in (g.tau, *g.parameters.values()))])
                for g in gradients
            ]
            expected = found if expected is None else expected
            np.testing.assert_array_equal(found, expected)


def test_progress_is_told_and_may_end_a_run():
    simulation, state = sliding_box()
    told = []
    motion = simulation.run(state, 3500, progress=told.append)
    assert told == [1000, 2000, 3000]
    q_bar, v_bar = np.ones((2, 3501, 6))
    back = []
    gradient = simulation.run_vjp(motion, q_bar, v_bar, progress=back.append)
    assert back == [1000, 2000, 3000]
    np.testing.assert_array_equal(gradient.q, simulation.run_vjp(motion, q_bar, v_bar).q)

    class Enough(Exception):
        pass

    def stop(taken):
        if taken >= 2000:
            raise Enough(taken)

    with pytest.raises(Enough, match="2000"):
        simulation.run(state, 3500, progress=stop)
    with pytest.raises(Enough, match="2000"):
        simulation.run_vjp(motion, q_bar, v_bar, progress=stop)


def test_a_loss_sees_all_states_that_were_kept():
    """With every third state kept: as with all kept and nothing asked of those between."""
    simulation, state = sliding_box()
    rng = np.random.default_rng(9)
    few, all_states = simulation.run(state, 20, interval=3), simulation.run(state, 20)
    kept = [0, 3, 6, 9, 12, 15, 18, 20]
    bars, wide = rng.normal(size=(2, 8, 6)), np.zeros((2, 21, 6))
    wide[:, kept] = bars
    one, other = simulation.run_vjp(few, *bars), simulation.run_vjp(all_states, *wide)
    np.testing.assert_array_equal(one.q, other.q)
    np.testing.assert_array_equal(one.v, other.v)
    np.testing.assert_array_equal(one.parameters["friction"], other.parameters["friction"])


def test_many_runs_share_a_control_or_have_their_own():
    simulation = Simulation(free_boxes(1), floor())
    starts = [simulation.state(resting(z)) for z in (0.05, 0.5)]
    tau = np.array([1.0, 0, 0, 0, 0, 0])
    shared = simulation.run_many(starts, 20, Control(tau=tau))
    own = simulation.run_many(starts, 20, [Control(tau=tau), Control(tau=np.tile(tau, (20, 1)))])
    for a, b in zip(shared, own, strict=True):
        np.testing.assert_array_equal(a.v, b.v)
    assert simulation.run_many([], 20) == []
    assert simulation.run_many_vjp([], [], []) == []
    bars = np.zeros((2, 21, 6))
    for wrong, says in (
        (lambda: simulation.run_many(starts, 20, [Control()]), "there are 1 controls for 2 runs"),
        (
            lambda: simulation.run_many(starts, 20, [Control(), Control(tau=tau)]),
            "tau is not given to all runs alike",
        ),
        (lambda: simulation.run_many(starts, 20, threads=0), "threads is 0; at least 1 is needed"),
        (lambda: simulation.run_many([State([0.0], [0.0])], 2), r"q has shape \(1,\); expected \(7,\)"),
        (lambda: simulation.run_many_vjp(shared, bars[:1], bars), "q_bar is of 1 runs; there are 2"),
        (
            lambda: simulation.run_many_vjp([shared[0], simulation.run(starts[1], 3)], bars, bars),
            "runs have steps 20 and 3; expected one number",
        ),
        (
            lambda: simulation.run(starts[0], 3, interval=0),
            "interval is 0; it must be at least 1, which keeps every state",
        ),
        (
            lambda: simulation.run_many_vjp(
                [shared[0], simulation.run(starts[1], 20, interval=2)], bars, bars
            ),
            "runs have interval 1 and 2; expected one number",
        ),
    ):
        with pytest.raises(SimulationError, match=says):
            wrong()


def test_only_the_jacobians_that_are_asked_for():
    model = robosim.load_robot("cart_pole")
    motors = {name: Motor(position_gain=50.0, velocity_gain=2.0) for name in model.joint_names}
    simulation = Simulation(model, motors=motors, dt=5e-3)
    state, control = State(np.array([0.1, 0.4]), np.array([0.2, -1.0])), Control(q_target=np.zeros(2))
    names = ("q", "v", "tau", "q_target", "v_target")
    everything = simulation.jacobians(state, control)
    assert all(getattr(everything, name).any() for name in names)
    for name in names:
        alone = simulation.jacobians(state, control, by=[name])
        np.testing.assert_array_equal(getattr(alone, name), getattr(everything, name))
        assert all(getattr(alone, other).shape == (2, 2, 0) for other in names if other != name)
    with pytest.raises(
        SimulationError, match="by has 'masses'; Jacobians are by q, v, tau, q_target, v_target, friction, "
    ):
        simulation.jacobians(state, control, by=["masses"])


@pytest.mark.parametrize("substeps", [1, 2])
def test_jacobians_along_a_run_are_those_of_its_steps(substeps):
    """To the bit, for any number of threads and whichever states were kept; a box lands, slides and turns."""
    simulation = Simulation(
        free_boxes(1), floor(), materials={"floor": Material(0.4), "box0": Material(0.4)}, substeps=substeps
    )
    start, steps = simulation.state(resting(0.054), [0.8, 0.3, -0.2, 0, 0.5, 1.5]), 40
    control = Control(tau=np.random.default_rng(2).normal(size=(steps, 6)))
    every = simulation.run(start, steps, control)
    expected = [
        simulation.jacobians(State(every.q[i], every.v[i]), Control(tau=control.tau[i])) for i in range(steps)
    ]
    falls = [x.v[1, 2, 2] for x in expected]
    assert max(falls) > 0.9 > 0.5 > min(falls)  # it lands on the way
    told = []
    for interval, threads in ((1, 1), (1, 2), (7, 2), (40, 1)):
        motion = simulation.run(start, steps, control, interval=interval)
        found = simulation.run_jacobians(motion, control, threads=threads, progress=told.append)
        for name in found._fields:
            np.testing.assert_array_equal(getattr(found, name), [getattr(x, name) for x in expected])
    partly = simulation.run_jacobians(motion, control, by=["v"])
    assert partly.q.shape == (steps, 2, 6, 0)
    np.testing.assert_array_equal(partly.v, found.v)
    assert not told  # in fewer steps than it is asked after


def test_jacobians_along_a_run_can_be_stopped():
    simulation = Simulation(robosim.load_robot("cart_pole"))
    motion = simulation.run(State(np.array([0.0, 0.3]), np.zeros(2)), 1500)

    def stop(done):
        raise RuntimeError(f"after {done}")

    with pytest.raises(RuntimeError, match="after 1000"):
        simulation.run_jacobians(motion, threads=1, progress=stop)
    with pytest.raises(SimulationError, match="tau has shape"):
        simulation.run_jacobians(motion, Control(tau=np.zeros((3, 2))))
