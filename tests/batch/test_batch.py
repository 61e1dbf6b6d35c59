"""robosim.batch: the same bits as one state at a time, arrays in and out, errors, threads and processes."""

import inspect
import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from robosim import _engine, batch
from robosim.errors import ModelError
from robosim.model import Model, ModelBuilder

from ..model.mechanisms import branched_robot  # noqa: TID252 (tests have no absolute name)
from .functions import ARGUMENTS, OTHERS, alone, arguments, assert_same, calls, in_batch, of_state, parameters


@pytest.fixture(scope="module")
def robot() -> Model:
    return branched_robot()


@pytest.fixture(autouse=True)
def _threads():
    before = batch.get_threads()
    yield
    batch.set_threads(before)


def test_every_function_is_in_the_battery():
    assert set(ARGUMENTS) | OTHERS == set(batch.__all__)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_signatures_are_those_of_the_methods(name):
    function, method = getattr(batch, name), getattr(Model, name)
    own = [p for p in inspect.signature(function).parameters if p not in ("model", "threads", "out")]
    assert own == [p for p in inspect.signature(method).parameters if p not in ("self", "out")]
    assert inspect.signature(function).parameters["threads"].kind is inspect.Parameter.KEYWORD_ONLY
    assert f"`Model.{name}`" in inspect.getdoc(function)


@pytest.mark.parametrize("isa", _engine.build_info()["usable_kernels"])
def test_batches_have_the_bits_of_single_states(isa):
    run = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("bits.py"))],
        env={**os.environ, "ROBOSIM_ISA": isa},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 100 * len(ARGUMENTS)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_argument_without_batch_axis_is_shared(robot, name):
    keys = ARGUMENTS[name].split()
    given = arguments(robot, 5, seed=1)
    choices = calls(robot, name, 5)[0]
    for shared in keys if len(keys) > 1 else ():
        one = {**given, shared: given[shared][0]}
        repeated = {**given, shared: np.repeat(given[shared][:1], 5, axis=0)}
        assert_same(in_batch(robot, name, one, choices), in_batch(robot, name, repeated, choices))


@pytest.mark.parametrize("name", ARGUMENTS)
def test_out_is_filled_in_place(robot, name):
    if "out" not in parameters(getattr(batch, name)):
        return
    given = arguments(robot, 9, seed=2)
    choices = calls(robot, name, 9)[0]
    expected = in_batch(robot, name, given, choices)
    if isinstance(expected, tuple):
        out = type(expected)(*(np.full_like(array, np.nan) for array in expected))
        found = in_batch(robot, name, given, choices, out=out)
        assert all(one is other for one, other in zip(found, out, strict=True))
    else:
        out = np.full_like(expected, np.nan)
        assert in_batch(robot, name, given, choices, out=out) is out
        for bad in (
            np.empty((10, *out.shape[1:])),
            np.empty(out.shape, np.float32),
            np.empty((*out.shape, 2))[..., 0],
            np.empty((*out.shape, 1)),
        ):
            with pytest.raises(ModelError, match="out"):
                in_batch(robot, name, given, choices, out=bad)
    assert_same(out, expected)


def test_out_may_be_an_argument(robot):
    given = arguments(robot, 20, seed=3)
    expected = batch.inverse_dynamics(robot, given["q"], given["v"], given["a"])
    a = given["a"].copy()
    assert batch.inverse_dynamics(robot, given["q"], given["v"], a, out=a) is a
    np.testing.assert_array_equal(a, expected)


def test_any_real_array_like_is_an_argument(robot):
    q, v, a = (arguments(robot, 6, seed=4)[key] for key in "qva")
    expected = batch.inverse_dynamics(robot, q, v, a)
    strided = np.zeros((6, 2 * robot.n_q))[:, ::2]
    strided[:] = q
    assert_same(batch.inverse_dynamics(robot, strided, np.asfortranarray(v), a.tolist()), expected)
    single = v.astype(np.float32)
    assert_same(
        batch.inverse_dynamics(robot, q, single, a),
        batch.inverse_dynamics(robot, q, single.astype(np.float64), a),
    )


def test_wrong_arguments_are_refused(robot):
    given = arguments(robot, 4, seed=5)
    q, v, a = given["q"], given["v"], given["a"]
    for call, message in (
        (lambda: batch.inverse_dynamics(robot, q[:, 1:], v, a), r"q has shape \(4, 12\); expected \(4, 13\)"),
        (lambda: batch.inverse_dynamics(robot, q, v[:3], a), "v holds 3 states, what comes before it 4"),
        (lambda: batch.inverse_dynamics(robot, q, v, a[..., None]), r"a has shape \(4, 12, 1\)"),
        (lambda: batch.inverse_dynamics(robot, q[0], v[0], a[0]), "no input has a batch axis"),
        (lambda: batch.inverse_dynamics(robot, q * np.nan, v, a), "q holds nan"),
        (lambda: batch.inverse_dynamics(robot, q + 1j, v, a), "q has dtype complex"),
        (lambda: batch.inverse_dynamics(robot, q, v, None), "a"),
        (lambda: batch.inverse_dynamics(robot, q, v, a, threads=0), "threads is 0; at least 1"),
        (lambda: batch.inverse_dynamics(robot, q, v, a, external={"l99": np.zeros(6)}), "no link 'l99'"),
        (
            lambda: batch.inverse_dynamics(robot, q, v, a, external={"l1": np.zeros(5)}),
            r"wrench on 'l1'.*\(5,\)",
        ),
        (
            lambda: batch.inverse_dynamics(robot, q, v, a, external={"l1": np.zeros((3, 6))}),
            "wrenches holds 3",
        ),
        (
            lambda: batch.inverse_dynamics(
                robot, q, v, a, external={"l1": np.zeros((3, 6)), "l2": np.zeros((4, 6))}
            ),
            "wrenches hold 3, 4 states",
        ),
        (lambda: batch.jacobian(robot, q, "l1", "base"), "'base'; valid are 'world' and 'local'"),
        (lambda: batch.jacobian(robot, q, "l44"), "no link 'l44'; did you mean 'l4'"),
        (lambda: batch.random_configuration(robot, np.random.default_rng(), -1), "n is -1"),
        (lambda: batch.set_threads(0), "0"),
    ):
        with pytest.raises(ModelError, match=message):
            call()


def test_no_states_give_no_results(robot):
    none = {key: array[:0] for key, array in arguments(robot, 1, seed=6).items()}
    assert batch.mass_matrix(robot, none["q"]).shape == (0, robot.n_v, robot.n_v)
    assert batch.forward_dynamics(robot, none["q"], none["v"], none["tau"]).shape == (0, robot.n_v)


def pendulum(mass: float) -> Model:
    """Two hinges about one line; without mass on the second, M is singular where both turn about the first's mass."""
    builder = ModelBuilder("pendulum")
    builder.add_link("base")
    builder.add_link("arm")
    builder.add_link("bob", mass=mass, com=(0, 0, 0), inertia=np.zeros((3, 3)))
    builder.add_joint("slide", "prismatic", "base", "arm", axis=(1, 0, 0))
    X = np.eye(4)
    builder.add_joint("swing", "prismatic", "arm", "bob", X_PJ=X, axis=(1, 0, 0))
    return builder.build(allow_massless=True)


def test_singular_mass_matrices_are_told_with_their_state():
    model = pendulum(1.0)  # both joints move the one mass along one line
    q = np.zeros((5, 2))
    for call in (
        lambda: batch.forward_dynamics(model, q, q, q),
        lambda: batch.mass_matrix_inverse(model, q),
        lambda: batch.forward_dynamics_derivatives(model, q, q, q),
    ):
        with pytest.raises(
            ModelError, match="mass matrix of model 'pendulum' is singular at state 0 of the batch"
        ):
            call()
    with pytest.raises(ModelError, match="singular"):
        model.forward_dynamics(q[0], q[0], q[0])
    weightless = pendulum(0.0)
    for call in (
        lambda: batch.forward_dynamics(weightless, q, q, q),
        lambda: weightless.mass_matrix_inverse(q[0]),
        lambda: weightless.data().forward_dynamics(q[0], q[0], q[0]),
    ):
        with pytest.raises(ModelError, match="nothing with mass moves along with 'slide', 'swing'"):
            call()


def test_factored_mass_matrices_solve_as_single_ones_do(robot):
    given = arguments(robot, 30, seed=13)
    factors = batch.mass_factor(robot, given["q"])
    J = batch.jacobian(robot, given["q"], "l3").swapaxes(1, 2)
    vectors, matrices = factors.solve(given["v"]), factors.solve(J, threads=2)
    for i in range(30):
        one = robot.mass_factor(given["q"][i])
        np.testing.assert_array_equal(factors.factor[i], one.factor)
        np.testing.assert_array_equal(vectors[i], one.solve(given["v"][i]))
        np.testing.assert_array_equal(matrices[i], one.solve(J[i]))
    out = np.empty_like(given["v"])
    assert factors.solve(given["v"], out=out) is out
    with pytest.raises(ModelError, match=r"B has shape \(30, 11\); expected \(n, 12\) or \(n, 12, m\)"):
        factors.solve(given["v"][:, 1:])
    with pytest.raises(ModelError, match="B holds 29 states"):
        factors.solve(given["v"][1:])


def test_random_configurations_are_those_of_single_calls(robot):
    rng = np.random.default_rng(8)
    expected = [robot.random_configuration(rng) for _ in range(10)]
    np.testing.assert_array_equal(batch.random_configuration(robot, np.random.default_rng(8), 10), expected)


def test_threads_are_set_and_limited():
    batch.set_threads(3)
    assert batch.get_threads() == 3


def test_other_threads_run_meanwhile(robot):
    given = arguments(robot, 20000, seed=9)
    running, counted = threading.Event(), []

    def count() -> None:
        running.wait()
        for _ in range(1000):  # far less than the batch takes
            counted.append(None)

    thread = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(100)  # so that only a released lock lets the other thread in
    try:
        thread.start()
        running.set()
        before = len(counted)
        batch.forward_dynamics_derivatives(robot, given["q"], given["v"], given["tau"], threads=1)
        during = len(counted) - before
    finally:
        sys.setswitchinterval(interval)
        thread.join()
    assert during > 0


def test_calls_from_several_threads_do_not_disturb_each_other(robot):
    from concurrent.futures import ThreadPoolExecutor

    batch.set_threads(2)
    given = [arguments(robot, 50, seed=seed) for seed in range(8)]
    expected = [in_batch(robot, "forward_dynamics", one, {}) for one in given]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: in_batch(robot, "forward_dynamics", given[k % 8], {}), range(200)))
    for k, result in enumerate(found):
        np.testing.assert_array_equal(result, expected[k % 8])


def _in_child(model, given, results):
    results.put([in_batch(model, "forward_dynamics", given, {}, threads=threads) for threads in (1, 2, 8)])


def test_parent_and_child_run_batches_after_fork(robot):
    batch.set_threads(8)
    given = arguments(robot, 300, seed=10)
    expected = in_batch(robot, "forward_dynamics", given, {})
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    children = [context.Process(target=_in_child, args=(robot, given, results)) for _ in range(3)]
    for child in children:
        child.start()
    np.testing.assert_array_equal(in_batch(robot, "forward_dynamics", given, {}), expected)
    for _ in children:
        for result in results.get(timeout=60):
            np.testing.assert_array_equal(result, expected)
    for child in children:
        child.join(timeout=60)
        assert child.exitcode == 0


def test_children_work_though_a_batch_ran_while_they_were_forked(robot):
    given = arguments(robot, 5000, seed=11)
    few = {key: array[:20] for key, array in given.items()}
    expected = in_batch(robot, "forward_dynamics", few, {})
    stop = threading.Event()

    def keep_running() -> None:
        while not stop.is_set():
            in_batch(robot, "forward_dynamics_derivatives", given, {})

    thread = threading.Thread(target=keep_running)
    thread.start()
    try:
        context = multiprocessing.get_context("fork")
        for _ in range(5):
            results = context.Queue()
            child = context.Process(target=_in_child, args=(robot, few, results))
            child.start()
            for result in results.get(timeout=60):
                np.testing.assert_array_equal(result, expected)
            child.join(timeout=60)
            assert child.exitcode == 0
    finally:
        stop.set()
        thread.join()


def test_the_model_is_not_kept_alive(robot):
    import gc
    import weakref

    model = branched_robot()
    given = arguments(model, 3, seed=12)
    in_batch(model, "gravity", given, {})
    assert_same(of_state(in_batch(model, "gravity", given, {}), 1), alone(model, "gravity", given, {}, 1))
    alive = weakref.ref(model)
    del model
    gc.collect()
    assert alive() is None
