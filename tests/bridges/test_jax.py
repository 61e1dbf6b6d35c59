"""The JAX bridge: bits of `Simulation`, differences, and JAX transformations, x64 on and off."""

from __future__ import annotations

import gc
import subprocess

import numpy as np
import pytest

from robosim import _engine
from robosim.bridges.entries import from_entries, to_entries
from robosim.errors import SimulationError
from robosim.simulation import State

from ..isolated import PYTHON  # noqa: TID252
from .worlds import KEYS, STEPS, control, many, sliding_world, values

jax = pytest.importorskip("jax", reason="JAX is not installed, extra `jax`")
import jax.numpy as jnp  # noqa: E402 (after the skip)
from jax.test_util import check_vjp  # noqa: E402

from robosim.bridges import host  # noqa: E402
from robosim.bridges import runs as shared  # noqa: E402
from robosim.bridges.jax import rollout, step  # noqa: E402

DRIVE = ("tau", "q_target", "v_target")


@pytest.fixture(scope="module")
def simulation():
    return sliding_world()


@pytest.fixture
def _x64():
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def run(simulation, q, v, *rest, **options):
    """Run with `rest`: forces, targets and the values of `KEYS`, or the first of these."""
    drive = dict(zip(DRIVE, rest, strict=False))
    parameters = dict(zip(KEYS, rest[len(DRIVE) :], strict=False))
    return rollout(simulation, q, v, STEPS, **drive, parameters=parameters, **options)


def loss_of(states, bars):
    return sum((x * bar).sum() for x, bar in zip(states[:2], bars, strict=True))


def random_bars(states, rng):
    return [jnp.asarray(rng.normal(size=x.shape), dtype=x.dtype) for x in states[:2]]


def gradient_of(simulation, bars, **options):
    """Function for the gradient of a loss of all states, with respect to all operands."""
    return jax.grad(
        lambda operands, bars=bars: loss_of(run(simulation, *operands, **options), bars)
    )


@pytest.mark.usefixtures("_x64")
@pytest.mark.parametrize("interval", [1, 4])
@pytest.mark.parametrize("compiled", [False, True])
def test_states_and_gradients_are_those_of_the_simulation_to_the_bit(
    simulation, interval, compiled
):
    rng = np.random.default_rng(0)
    arrays, model = many(simulation, rng, 3), simulation.model
    operands = [jnp.asarray(x) for x in (*arrays, *values(simulation))]
    states = run(simulation, *operands, interval=interval)
    bars = random_bars(states, rng)
    gradient = gradient_of(simulation, bars, interval=interval)
    found = (jax.jit(gradient) if compiled else gradient)(operands)
    numbers = 0
    for i in range(3):
        motion = simulation.rollout(
            State(arrays[0][i], arrays[1][i]), STEPS, control(arrays, i), interval=interval
        )
        np.testing.assert_array_equal(states.q[i], motion.q)
        np.testing.assert_array_equal(states.v[i], motion.v)
        q_bar, v_bar = (np.asarray(bar[i]) for bar in bars)
        t_bar = from_entries(model, motion.q, q_bar)
        t_bar[0] = 0  # the first q is the given one
        expected = motion.vjp(t_bar, v_bar)
        np.testing.assert_array_equal(
            found[0][i], to_entries(model, motion.q[0], expected.q) + q_bar[0]
        )
        for got, name in zip(found[1:5], ("v", *DRIVE), strict=True):
            np.testing.assert_array_equal(got[i], getattr(expected, name))
        numbers = numbers + np.concatenate([expected.parameters[key].ravel() for key in KEYS])
    # Gradients shared by all runs are sums, which are taken in another order.
    got = np.concatenate([np.ravel(x) for x in found[5:]])
    np.testing.assert_allclose(got, numbers, rtol=1e-12, atol=1e-14)


@pytest.mark.usefixtures("_x64")
def test_gradients_are_differences_in_every_entry(simulation):
    arrays = [x[0] for x in many(simulation, np.random.default_rng(1), 1)]
    keys = (
        "friction",
        ("position_gain", "swing"),
        ("mass", "arm"),
        ("com", "arm"),
        ("radius", ("box", 0)),
    )
    operands = tuple(jnp.asarray(x) for x in (*arrays, *values(simulation, keys)))

    # Rounding over steps of 1e-7 is 1e-9, below the tolerance of 1e-6. Larger steps lift a foot.
    def states(*x):
        parameters = dict(zip(keys, x[len(arrays) :], strict=True))
        return rollout(
            simulation,
            *x[:2],
            STEPS,
            **dict(zip(DRIVE, x[2:], strict=False)),
            parameters=parameters,
        )[:2]

    check_vjp(states, lambda *x: jax.vjp(states, *x), operands, eps=1e-7, atol=1e-6, rtol=1e-5)


def test_without_x64_all_is_computed_in_double(simulation):
    """States are the double-precision ones, rounded once.

    Gradients are the double-precision ones through the states that were not rounded.
    """
    rng = np.random.default_rng(3)
    operands = [x.astype(np.float32) for x in many(simulation, rng, 3)]
    states = run(simulation, *operands)
    bars = random_bars(states, rng)
    found = jax.jit(gradient_of(simulation, bars))([jnp.asarray(x) for x in operands])
    doubles = [x.astype(float) for x in operands]
    runs = shared.Runs(simulation, STEPS)
    q, v, _ = runs.forward(doubles)
    expected = runs.vjp(doubles, q, v, *(np.asarray(bar, dtype=float) for bar in bars))
    for got, wanted in zip((*states[:2], *found), (q, v, *expected[:5]), strict=True):
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got, wanted.astype(np.float32))
    assert (
        run(simulation, *(jnp.asarray(x, dtype=jnp.bfloat16) for x in operands)).q.dtype
        == jnp.bfloat16
    )
    with pytest.raises(SimulationError, match="int32"):
        step(simulation, operands[0].astype(int), operands[1].astype(int))


@pytest.mark.usefixtures("_x64")
def test_vmap_is_one_call_and_the_same_to_the_bit(simulation, monkeypatch):
    arrays = [jnp.asarray(x) for x in many(simulation, np.random.default_rng(4), 4)]
    bars = random_bars(run(simulation, *arrays), np.random.default_rng(5))
    friction = jnp.asarray(simulation.parameters["friction"])
    calls = []
    for name in "roll", "roll_vjp":
        plain = getattr(shared, name)

        def counted(*rest, name=name, plain=plain):
            calls.append((name, len(rest[1])))
            return plain(*rest)

        monkeypatch.setattr(shared, name, counted)

    def gradient(friction, q_bar, v_bar, *operands):
        return gradient_of(simulation, (q_bar, v_bar))((*operands, friction))

    mapped = jax.jit(jax.vmap(gradient, in_axes=(None, *[0] * 7)))(friction, *bars, *arrays)
    jax.block_until_ready(mapped)
    assert calls == [("roll", 4), ("roll_vjp", 4)]
    # Another axis in the middle: runs that share their controls.
    swapped = jax.vmap(gradient, in_axes=(None, 0, 0, 1, 1, None, None, None))(
        friction, *bars, arrays[0].T, arrays[1].T, *(x[0] for x in arrays[2:])
    )
    for i in range(4):
        alone = gradient(friction, *(x[i] for x in bars), *(x[i] for x in arrays))
        for whole, one in zip(mapped, alone, strict=True):
            np.testing.assert_array_equal(whole[i], one)
        shared_drive = gradient(
            friction,
            *(x[i] for x in bars),
            *(x[i] for x in arrays[:2]),
            *(x[0] for x in arrays[2:]),
        )
        for whole, one in zip(swapped, shared_drive, strict=True):
            np.testing.assert_array_equal(whole[i], one)


@pytest.mark.usefixtures("_x64")
def test_jacrev_is_the_jacobian_of_the_step(simulation):
    arrays = many(simulation, np.random.default_rng(6), 2)
    by_q, by_v = jax.jit(
        jax.vmap(jax.jacrev(lambda q, v: step(simulation, q, v).v, argnums=(0, 1)))
    )(*arrays[:2])
    for i in range(2):
        expected = simulation.linearize(State(arrays[0][i], arrays[1][i])).jacobians()
        for got, wanted in (
            (by_v, expected.v[1]),
            (by_q, to_entries(simulation.model, arrays[0][i], expected.q[1])),
        ):
            np.testing.assert_allclose(
                got[i], wanted, rtol=0, atol=1e-12 * max(1, np.abs(wanted).max())
            )


@pytest.mark.usefixtures("_x64")
def test_a_scan_of_checkpointed_steps_is_a_rollout(simulation):
    arrays = [jnp.asarray(x[0]) for x in many(simulation, np.random.default_rng(7), 1)]

    @jax.checkpoint
    def one(state, drive):
        q, v, unsolved = step(simulation, *state, **dict(zip(DRIVE, drive, strict=True)))
        return (q, v), unsolved

    def scanned(q, v, *drive):
        (q, v), unsolved = jax.lax.scan(one, (q, v), drive)
        return q, v, unsolved

    q, v, unsolved = jax.jit(scanned)(*arrays)
    whole = run(simulation, *arrays)
    np.testing.assert_array_equal(q, whole.q[-1])
    np.testing.assert_array_equal(v, whole.v[-1])
    assert unsolved.shape == (STEPS,)
    assert not unsolved.any()
    by_all = tuple(range(5))
    chained = jax.jit(jax.grad(lambda *x: sum(y.sum() for y in scanned(*x)[:2]), argnums=by_all))(
        *arrays
    )
    expected = jax.grad(
        lambda *x: sum(y[-1].sum() for y in run(simulation, *x)[:2]), argnums=by_all
    )(*arrays)
    for got, wanted in zip(chained, expected, strict=True):
        # Conversions between tangent space and entries at each step add a few roundings.
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12 * float(abs(wanted).max()))


def test_unsolved_steps_are_told():
    world = sliding_world(height=0.0)
    q, v, *_ = many(world, np.random.default_rng(9), 2)
    assert rollout(world, q, v, 2).unsolved.tolist() == [True, True]
    assert jax.jit(jax.vmap(lambda q, v: step(world, q, v).unsolved))(q, v).tolist() == [True, True]


@pytest.mark.parametrize("x64", [False, True])
def test_what_is_not_there_says_so(simulation, x64, request):
    if x64:
        request.getfixturevalue("_x64")
    q, v, *_ = (jnp.asarray(x[0]) for x in many(simulation, np.random.default_rng(10), 1))

    def speed(q):
        return (step(simulation, q, v).v ** 2).sum()

    with pytest.raises(SimulationError, match="first derivatives in reverse mode only"):
        jax.grad(lambda x: jax.grad(speed)(x).sum())(q)
    for forward_mode in (lambda: jax.jvp(speed, (q,), (q,)), lambda: jax.jacfwd(speed)(q)):
        with pytest.raises(TypeError, match="forward-mode"):
            forward_mode()
    with pytest.raises(SimulationError, match="q has shape"):
        jax.jit(speed)(q[:3])
    with pytest.raises(jax.errors.JaxRuntimeError, match="q holds nan"):
        jax.block_until_ready(jax.jit(speed)(q * jnp.nan))


def test_many_runs_in_compiled_code_come_back(simulation):
    """Arrays are above the size that JAX passes at once. Callbacks that wait for them can hang."""
    q, v = (
        jnp.asarray(np.tile(x, (2048, 1)))
        for x in many(simulation, np.random.default_rng(11), 1)[:2]
    )
    gradient = jax.jit(jax.grad(lambda q, v: (rollout(simulation, q, v, 3).v ** 2).sum()))(q, v)
    assert gradient.shape == q.shape
    np.testing.assert_array_equal(gradient, np.broadcast_to(gradient[:1], q.shape))


def compiled_ahead_of_time(world, q, v):
    return jax.jit(lambda q, v: step(world, q, v).q).lower(q, v).compile()


def test_compiled_code_says_that_its_simulation_is_gone():
    world = sliding_world()
    q, v = (jnp.asarray(x[0]) for x in many(world, np.random.default_rng(12), 1)[:2])
    compiled = compiled_ahead_of_time(world, q, v)
    np.testing.assert_array_equal(compiled(q, v), step(world, q, v).q)
    del world
    jax.clear_caches()
    gc.collect()
    with pytest.raises(jax.errors.JaxRuntimeError, match="is gone"):
        jax.block_until_ready(compiled(q, v))


def test_without_the_handler_jax_calls_back_and_finds_the_same(simulation, monkeypatch):
    """Callbacks are used on accelerators, and with another version of XLA's interface."""
    q, v = (jnp.asarray(x) for x in many(simulation, np.random.default_rng(13), 3)[:2])

    def found():
        gradient = jax.jit(jax.vmap(jax.grad(lambda q, v: (step(simulation, q, v).v ** 2).sum())))
        return step(simulation, q, v), gradient(q, v)

    handled = found()
    monkeypatch.setattr(host, "_has_handler", lambda: False)
    for one, other in zip(jax.tree.leaves(handled), jax.tree.leaves(found()), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_version_of_the_interface_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match="interface is of version 1"):
        _engine.xla_handler(lambda key: None, 1, 2)


def test_a_process_may_end_while_steps_are_still_computed():
    """JAX does not wait for results that are never read."""
    script = """
import jax, jax.numpy as jnp, robosim
from robosim.bridges.jax import step
from robosim.simulation import Simulation
from robosim.world import World
cart = Simulation(World(robosim.load_robot("cart_pole")), dt=0.02)
def one(x, _):
    q, v, _ = step(cart, x[:, :2], x[:, 2:], tau=0 * x[:, :2])
    return jnp.concatenate([q, v], axis=1), x.sum()
jax.jit(lambda x: jax.lax.scan(one, x, length=5000))(jnp.ones((16, 4)))
"""
    done = subprocess.run(
        [*PYTHON, "-c", script], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
