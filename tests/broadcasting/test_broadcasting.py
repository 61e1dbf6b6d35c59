"""Many states in one call: same bits as single states, broadcasting, errors, threads, processes."""

import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import robosim
from robosim import _engine
from robosim.errors import ModelError
from robosim.model import Model, ModelBuilder

from ..model.mechanisms import branched_robot  # noqa: TID252 (tests have no absolute name)
from .methods import ARGUMENTS, alone, arguments, assert_same, calls, of_state, parameters, together


@pytest.fixture(scope="module")
def robot() -> Model:
    return branched_robot()


@pytest.fixture(autouse=True)
def _threads():
    before = robosim.get_threads()
    yield
    robosim.set_threads(before)


def test_the_battery_has_every_operation_on_states():
    """Left out are frames of several links, and the factor of M and solving with it.

    The latter have separate tests.
    """
    assert len(ARGUMENTS) >= len(_engine.operations()) - 3


@pytest.mark.parametrize("isa", _engine.build_info()["usable_kernels"])
def test_many_states_have_the_bits_of_single_ones(isa):
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
def test_an_argument_without_leading_axes_is_shared(robot, name):
    keys = ARGUMENTS[name]
    given = arguments(robot, 5, seed=1)
    choices = calls(robot, name, 5)[0]
    for shared in keys if len(keys) > 1 else ():
        one = {**given, shared: given[shared][0]}
        repeated = {**given, shared: np.repeat(given[shared][:1], 5, axis=0)}
        assert_same(together(robot, name, one, choices), together(robot, name, repeated, choices))


@pytest.mark.parametrize("name", ARGUMENTS)
def test_any_leading_axes_broadcast(robot, name):
    """All arguments except the last have the axes (4, 1, 3), and the last has (2, 1).

    A single argument has (4, 2, 3).
    """
    keys = ARGUMENTS[name]
    given = arguments(robot, 24, seed=14)
    choices = calls(robot, name, 24)[0]
    if len(keys) == 1:
        each = {keys[0]: given[keys[0]]}
        found = together(robot, name, {keys[0]: each[keys[0]].reshape(4, 2, 3, -1)}, choices)
    else:
        first = {key: given[key][:12].reshape(4, 1, 3, -1) for key in keys[:-1]}
        last = {keys[-1]: given[keys[-1]][:2].reshape(2, 1, -1)}
        each = {
            key: np.broadcast_to(a, (4, 2, 3, a.shape[-1])).reshape(24, -1)
            for key, a in (first | last).items()
        }
        found = together(robot, name, first | last, choices)
    assert_same(reshaped(found, 24), together(robot, name, each, choices))


def reshaped(value, n):
    """Results with one leading axis of n."""
    if isinstance(value, dict):
        return {key: reshaped(each, n) for key, each in value.items()}
    if isinstance(value, tuple):
        return type(value)(*(reshaped(each, n) for each in value))
    assert value.shape[:3] == (4, 2, 3)
    return value.reshape(n, *value.shape[3:])


def test_wrenches_and_points_broadcast(robot):
    given = arguments(robot, 6, seed=15)
    q, v, a = (given[key] for key in "qva")
    rng = np.random.default_rng(16)
    wrenches = {"l1": rng.normal(size=(5, 1, 6)), "l2": rng.normal(size=6)}
    found = robot.inverse_dynamics(q, v, a, external=wrenches)
    points = rng.normal(size=(5, 1, 3))
    jacobians = robot.jacobian(q, "l2", point=points)
    assert found.shape == (5, 6, robot.n_v)
    for i in range(5):
        for k in range(6):
            alone = robot.inverse_dynamics(
                q[k], v[k], a[k], external={"l1": wrenches["l1"][i, 0], "l2": wrenches["l2"]}
            )
            np.testing.assert_array_equal(found[i, k], alone)
            np.testing.assert_array_equal(
                jacobians[i, k], robot.jacobian(q[k], "l2", point=points[i, 0])
            )
    # One state, many wrenches.
    alone = robot.forward_dynamics(q[0], v[0], a[0], external={"l1": np.zeros((4, 6))})
    np.testing.assert_array_equal(
        alone, np.repeat(robot.forward_dynamics(q[0], v[0], a[0])[None], 4, 0)
    )


def test_factors_broadcast(robot):
    q = arguments(robot, 6, seed=17)["q"].reshape(2, 3, -1)
    B = np.random.default_rng(18).normal(size=(3, robot.n_v))
    found = robot.mass_factor(q).solve(B[None])
    matrices = robot.mass_factor(q).solve(np.broadcast_to(B.T, (2, 1, *B.T.shape)))
    alone = robot.mass_factor(q[0, 0]).solve(np.broadcast_to(B.T, (4, *B.T.shape)))
    for i in range(2):
        for k in range(3):
            factor = robot.mass_factor(q[i, k])
            np.testing.assert_array_equal(found[i, k], factor.solve(B[k]))
            np.testing.assert_array_equal(matrices[i, k], factor.solve(B.T))
    np.testing.assert_array_equal(
        alone, np.repeat(robot.mass_factor(q[0, 0]).solve(B.T)[None], 4, 0)
    )


def test_out_of_several_leading_axes_is_filled_in_place(robot):
    given = {key: array.reshape(2, 3, -1) for key, array in arguments(robot, 6, seed=19).items()}
    expected = together(robot, "forward_dynamics_derivatives", given, {})
    out = type(expected)(*(np.full_like(array, np.nan) for array in expected))
    found = together(robot, "forward_dynamics_derivatives", given, {}, out=out)
    assert all(one is other for one, other in zip(found, out, strict=True))
    assert_same(out, expected)
    for bad in (
        np.empty((2, 3, robot.n_v), np.float32),
        np.empty((2, 3, robot.n_v + 1)),
        np.empty((3, 2, robot.n_v)),
        np.empty((2, 3, 2 * robot.n_v))[..., ::2],
        [0.0],
    ):
        with pytest.raises(ModelError, match="out"):
            together(robot, "gravity", given, {}, out=bad)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_out_is_filled_in_place(robot, name):
    if "out" not in parameters(getattr(robot, name)):
        return
    given = arguments(robot, 9, seed=2)
    choices = calls(robot, name, 9)[0]
    expected = together(robot, name, given, choices)
    if isinstance(expected, tuple):
        out = type(expected)(*(np.full_like(array, np.nan) for array in expected))
        found = together(robot, name, given, choices, out=out)
        assert all(one is other for one, other in zip(found, out, strict=True))
    else:
        out = np.full_like(expected, np.nan)
        assert together(robot, name, given, choices, out=out) is out
        for bad in (
            np.empty((10, *out.shape[1:])),
            np.empty(out.shape, np.float32),
            np.empty((*out.shape, 2))[..., 0],
            np.empty((*out.shape, 1)),
        ):
            with pytest.raises(ModelError, match="out"):
                together(robot, name, given, choices, out=bad)
    assert_same(out, expected)


def test_out_may_be_an_argument(robot):
    given = arguments(robot, 20, seed=3)
    expected = robot.inverse_dynamics(given["q"], given["v"], given["a"])
    a = given["a"].copy()
    assert robot.inverse_dynamics(given["q"], given["v"], a, out=a) is a
    np.testing.assert_array_equal(a, expected)


def test_any_real_array_like_is_an_argument(robot):
    q, v, a = (arguments(robot, 6, seed=4)[key] for key in "qva")
    expected = robot.inverse_dynamics(q, v, a)
    strided = np.zeros((6, 2 * robot.n_q))[:, ::2]
    strided[:] = q
    assert_same(robot.inverse_dynamics(strided, np.asfortranarray(v), a.tolist()), expected)
    single = v.astype(np.float32)
    assert_same(
        robot.inverse_dynamics(q, single, a),
        robot.inverse_dynamics(q, single.astype(np.float64), a),
    )


def test_wrong_arguments_are_refused(robot):
    given = arguments(robot, 4, seed=5)
    q, v, a = given["q"], given["v"], given["a"]
    for call, message in (
        (
            lambda: robot.inverse_dynamics(q[:, 1:], v, a),
            r"q has shape \(4, 12\); it must be \(..., 13\)",
        ),
        (
            lambda: robot.inverse_dynamics(q, v[:3], a),
            r"leading axes must broadcast; they are of q \(4,\), v \(3,\), a \(4,\)",
        ),
        (lambda: robot.inverse_dynamics(q, v, a[..., None]), r"a has shape \(4, 12, 1\)"),
        (
            lambda: robot.inverse_dynamics(q[:2, None], v, a[:, None]),
            r"q \(2, 1\), v \(4,\), a \(4, 1\)",
        ),
        (lambda: robot.inverse_dynamics(q, v, a, out=np.empty((5, robot.n_v))), "out"),
        (
            lambda: robot.inverse_dynamics(q[:, None], v, a, out=np.empty((4, robot.n_v))),
            r"out has shape \(4, 12\)",
        ),
        (
            lambda: robot.data().inverse_dynamics(q, v, a),
            r"q has shape \(4, 13\); expected \(13,\)",
        ),
        (lambda: robot.inverse_dynamics(q * np.nan, v, a), "q holds nan"),
        (lambda: robot.inverse_dynamics(q + 1j, v, a), "q has dtype complex"),
        (lambda: robot.inverse_dynamics(q, v, None), "a"),
        (lambda: robot.inverse_dynamics(q, v, a, external={"l99": np.zeros(6)}), "no link 'l99'"),
        (
            lambda: robot.inverse_dynamics(q, v, a, external={"l1": np.zeros(5)}),
            r"wrench on 'l1'.*\(5,\)",
        ),
        (
            lambda: robot.inverse_dynamics(q, v, a, external={"l1": np.zeros((3, 6))}),
            r"leading axes .* wrenches \(3,\)",
        ),
        (
            lambda: robot.inverse_dynamics(
                q, v, a, external={"l1": np.zeros((3, 6)), "l2": np.zeros((4, 6))}
            ),
            r"leading axes of wrenches must broadcast; they are \(3,\), \(4,\)",
        ),
        (lambda: robot.jacobian(q, "l1", "base"), "'base'; valid are 'world' and 'local'"),
        (lambda: robot.jacobian(q, "l44"), "no link 'l44'; did you mean 'l4'"),
        (lambda: robot.random_configuration(np.random.default_rng(), -1), "size is -1"),
        (lambda: robot.random_configuration(np.random.default_rng(), 2.5), "size is 2.5"),
        (lambda: robosim.threads(0).__enter__(), "threads is 0; it must be at least 1"),
        (lambda: robosim.set_threads(0), "0"),
    ):
        with pytest.raises(ModelError, match=message):
            call()


def test_no_states_give_no_results(robot):
    none = {key: array[:0] for key, array in arguments(robot, 1, seed=6).items()}
    assert robot.mass_matrix(none["q"]).shape == (0, robot.n_v, robot.n_v)
    assert robot.forward_dynamics(none["q"], none["v"], none["tau"]).shape == (0, robot.n_v)


def pendulum(mass: float) -> Model:
    """Two slides along one line. M is singular, since both move the same mass."""
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
        lambda: model.forward_dynamics(q, q, q),
        lambda: model.mass_matrix_inverse(q),
        lambda: model.forward_dynamics_derivatives(q, q, q),
    ):
        with pytest.raises(
            ModelError, match="mass matrix of model 'pendulum' is singular at state 0 of the batch"
        ):
            call()
    with pytest.raises(ModelError, match="singular"):
        model.forward_dynamics(q[0], q[0], q[0])
    weightless = pendulum(0.0)
    for call in (
        lambda: weightless.forward_dynamics(q, q, q),
        lambda: weightless.mass_matrix_inverse(q[0]),
        lambda: weightless.data().forward_dynamics(q[0], q[0], q[0]),
    ):
        with pytest.raises(ModelError, match="nothing with mass moves along with 'slide', 'swing'"):
            call()


def test_factored_mass_matrices_solve_as_single_ones_do(robot):
    given = arguments(robot, 30, seed=13)
    factors = robot.mass_factor(given["q"])
    J = robot.jacobian(given["q"], "l3").swapaxes(1, 2)
    vectors, matrices = factors.solve(given["v"]), factors.solve(J)
    for i in range(30):
        one = robot.mass_factor(given["q"][i])
        np.testing.assert_array_equal(factors.factor[i], one.factor)
        np.testing.assert_array_equal(vectors[i], one.solve(given["v"][i]))
        np.testing.assert_array_equal(matrices[i], one.solve(J[i]))
    out = np.empty_like(given["v"])
    assert factors.solve(given["v"], out=out) is out
    with pytest.raises(
        ModelError, match=r"B has shape \(30, 11\); it must be \(..., 12\) or \(..., 12, m\)"
    ):
        factors.solve(given["v"][:, 1:])
    with pytest.raises(
        ModelError, match=r"leading axes must broadcast; they are of L \(30,\), B \(29,\)"
    ):
        factors.solve(given["v"][1:])


def test_random_configurations_are_those_of_single_calls(robot):
    rng = np.random.default_rng(8)
    expected = [robot.random_configuration(rng) for _ in range(10)]
    for size in (10, (2, 5), (10,)):
        found = robot.random_configuration(np.random.default_rng(8), size)
        np.testing.assert_array_equal(
            found, np.reshape(expected, (*np.atleast_1d(size), robot.n_q))
        )
    assert robot.random_configuration(rng, (3, 0)).shape == (3, 0, robot.n_q)


def test_threads_are_set_and_limited():
    robosim.set_threads(3)
    assert robosim.get_threads() == 3
    with robosim.threads(2):
        assert robosim.get_threads() == 2
        with robosim.threads(8):
            assert robosim.get_threads() == 3
        seen = []
        thread = threading.Thread(target=lambda: seen.append(robosim.get_threads()))
        thread.start()
        thread.join()
        assert seen == [3]
        assert robosim.get_threads() == 2
    with pytest.raises(KeyError), robosim.threads(1):
        raise KeyError
    assert robosim.get_threads() == 3


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
        with robosim.threads(1):
            robot.forward_dynamics_derivatives(given["q"], given["v"], given["tau"])
        during = len(counted) - before
    finally:
        sys.setswitchinterval(interval)
        thread.join()
    assert during > 0


def test_calls_from_several_threads_do_not_disturb_each_other(robot):
    from concurrent.futures import ThreadPoolExecutor

    robosim.set_threads(2)
    given = [arguments(robot, 50, seed=seed) for seed in range(8)]
    expected = [together(robot, "forward_dynamics", one, {}) for one in given]
    with ThreadPoolExecutor(4) as pool:
        found = list(
            pool.map(lambda k: together(robot, "forward_dynamics", given[k % 8], {}), range(200))
        )
    for k, result in enumerate(found):
        np.testing.assert_array_equal(result, expected[k % 8])


def _in_child(model, given, results):
    found = []
    for threads in (1, 2, 8):
        with robosim.threads(threads):
            found.append(together(model, "forward_dynamics", given, {}))
    results.put(found)


def test_parent_and_child_compute_after_fork(robot):
    robosim.set_threads(8)
    given = arguments(robot, 300, seed=10)
    expected = together(robot, "forward_dynamics", given, {})
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    children = [context.Process(target=_in_child, args=(robot, given, results)) for _ in range(3)]
    for child in children:
        child.start()
    np.testing.assert_array_equal(together(robot, "forward_dynamics", given, {}), expected)
    for _ in children:
        for result in results.get(timeout=60):
            np.testing.assert_array_equal(result, expected)
    for child in children:
        child.join(timeout=60)
        assert child.exitcode == 0


def test_children_compute_though_a_call_ran_while_they_were_forked(robot):
    given = arguments(robot, 5000, seed=11)
    few = {key: array[:20] for key, array in given.items()}
    expected = together(robot, "forward_dynamics", few, {})
    stop = threading.Event()

    def keep_running() -> None:
        while not stop.is_set():
            together(robot, "forward_dynamics_derivatives", given, {})

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
    together(model, "gravity", given, {})
    assert_same(
        of_state(together(model, "gravity", given, {}), 1), alone(model, "gravity", given, {}, 1)
    )
    alive = weakref.ref(model)
    del model
    gc.collect()
    assert alive() is None
