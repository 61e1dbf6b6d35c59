"""The PyTorch bridge: bits of `Simulation`, differences, and PyTorch's function transforms."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from robosim.bridges.entries import from_entries, to_entries
from robosim.errors import SimulationError
from robosim.simulation import State

from .worlds import FELT, KEYS, MOTORS, STEPS, control, many, sliding_world, values

torch = pytest.importorskip("torch", reason="PyTorch is not installed, extra `torch`")
from robosim.bridges import runs as shared  # noqa: E402 (after the skip)
from robosim.bridges.torch import rollout, step  # noqa: E402

DRIVE = ("tau", "q_target", "v_target")


@pytest.fixture(scope="module")
def simulation():
    return sliding_world()


def tensors(arrays, dtype=torch.float64):
    return [torch.tensor(x, dtype=dtype, requires_grad=True) for x in arrays]


def run(simulation, q, v, *rest, **options):
    """Run with `rest`: forces, targets and the values of `KEYS`, or the first of these."""
    drive = dict(zip(DRIVE, rest, strict=False))
    parameters = dict(zip(KEYS, rest[len(DRIVE) :], strict=False))
    return rollout(simulation, q, v, STEPS, **drive, parameters=parameters, **options)


def random_bars(states, rng):
    return [torch.tensor(rng.normal(size=x.shape), dtype=x.dtype) for x in states[:2]]


def loss_of(states, bars):
    return sum((x * bar).sum() for x, bar in zip(states[:2], bars, strict=True))


@pytest.mark.parametrize("interval", [1, 4])
def test_states_and_gradients_are_those_of_the_simulation_to_the_bit(simulation, interval):
    rng = np.random.default_rng(0)
    arrays, model = many(simulation, rng, 3), simulation.model
    given = tensors(arrays)
    states = run(simulation, *given, interval=interval)
    bars = random_bars(states, rng)
    gradients = torch.autograd.grad(loss_of(states, bars), given)
    for i in range(3):
        motion = simulation.rollout(
            simulation.state(arrays[0][i], arrays[1][i]),
            STEPS,
            control(arrays, i),
            interval=interval,
        )
        np.testing.assert_array_equal(states.q[i].detach(), motion.q)
        np.testing.assert_array_equal(states.v[i].detach(), motion.v)
        q_bar, v_bar = (bar[i].numpy() for bar in bars)
        t_bar = from_entries(model, motion.q, q_bar)
        t_bar[0] = 0  # the first q is the given one
        expected = motion.vjp(t_bar, v_bar)
        at_start = to_entries(model, motion.q[0], expected.q) + q_bar[0]
        np.testing.assert_array_equal(gradients[0][i], at_start)
        for got, name in zip(gradients[1:], ("v", *DRIVE), strict=True):
            np.testing.assert_array_equal(got[i], getattr(expected, name))


def test_numbers_of_the_world_have_the_gradients_of_the_simulation_to_the_bit(simulation):
    rng = np.random.default_rng(1)
    arrays = [x[0] for x in many(simulation, rng, 1)]
    given = tensors(values(simulation))
    states = run(simulation, *map(torch.tensor, arrays), *given)
    bars = random_bars(states, rng)
    gradients = torch.autograd.grad(loss_of(states, bars), given)
    motion = simulation.rollout(State(*arrays[:2]), STEPS, control([x[None] for x in arrays], 0))
    t_bar = from_entries(simulation.model, motion.q, bars[0].numpy())
    expected = motion.vjp(t_bar, bars[1].numpy())
    for got, key in zip(gradients, KEYS, strict=True):
        np.testing.assert_array_equal(got, expected.parameters[key])
        assert (float(got.abs().max()) > 1e-3) == (key in FELT)


def test_gradients_are_differences_in_every_entry(simulation):
    """Gradients of a whole rollout, also with respect to all seven numbers of a floating base.

    The quaternion may have any length.
    """
    arrays = [x[0] for x in many(simulation, np.random.default_rng(1), 1)]
    given = tensors(arrays)
    of_motor = [(name, "swing") for name in MOTORS]
    keys = (
        "friction",
        *of_motor,
        ("mass", "arm"),
        ("com", "arm"),
        ("radius", ("box", 0)),
        "gravity",
    )

    def end(q, v, tau, q_target, v_target, *numbers):
        drive = dict(zip(DRIVE, (tau, q_target, v_target), strict=True))
        parameters = dict(zip(keys, numbers, strict=True))
        return rollout(simulation, q, v, STEPS, **drive, parameters=parameters)[:2]

    inputs = (*given, *tensors(values(simulation, keys)))
    # Rounding over steps of 1e-7 is 1e-9, below the tolerance of 1e-6. Larger steps may lift a
    # foot.
    assert torch.autograd.gradcheck(end, inputs, eps=1e-7, atol=1e-6, rtol=1e-5)
    assert torch.autograd.gradcheck(
        lambda q, v, tau: step(simulation, q, v, tau=tau)[:2],
        (given[0], given[1], given[2][0].detach().requires_grad_()),
        eps=1e-7,
        atol=1e-6,
        rtol=1e-5,
    )


def test_vmap_is_one_call_and_the_same_to_the_bit(simulation, monkeypatch):
    arrays = many(simulation, np.random.default_rng(3), 4)
    given = [x.detach() for x in tensors(arrays)]
    bars = random_bars(run(simulation, *given), np.random.default_rng(4))
    calls = []
    for name in "roll", "roll_vjp":
        plain = getattr(shared, name)

        def counted(*rest, name=name, plain=plain):
            calls.append((name, len(rest[1])))
            return plain(*rest)

        monkeypatch.setattr(shared, name, counted)

    def loss(q, v, tau, q_target, v_target, friction, q_bar, v_bar):
        return loss_of(run(simulation, q, v, tau, q_target, v_target, friction), (q_bar, v_bar))

    friction = torch.tensor(simulation.parameters["friction"])
    grad = torch.func.grad(loss, argnums=tuple(range(6)))
    mapped = torch.func.vmap(grad, in_dims=(0, 0, 0, 0, 0, None, 0, 0))(*given, friction, *bars)
    assert calls == [("roll", 4), ("roll_vjp", 4)]
    # Another axis in the middle: runs that share their controls.
    swapped = torch.func.vmap(grad, in_dims=(1, 1, None, None, None, None, 0, 0))(
        given[0].T, given[1].T, *(x[0] for x in given[2:]), friction, *bars
    )
    for i in range(4):
        alone = grad(*(x[i] for x in given), friction, *(x[i] for x in bars))
        for whole, one in zip(mapped, alone, strict=True):
            np.testing.assert_array_equal(whole[i], one)
        shared_drive = grad(
            *(x[i] for x in given[:2]), *(x[0] for x in given[2:]), friction, *(x[i] for x in bars)
        )
        for whole, one in zip(swapped, shared_drive, strict=True):
            np.testing.assert_array_equal(whole[i], one)


def test_what_runs_share_has_the_sum_of_their_gradients(simulation):
    arrays = many(simulation, np.random.default_rng(5), 3)
    q, v, *_ = (x.detach() for x in tensors(arrays))
    tau, friction = (
        torch.zeros(simulation.model.n_v, dtype=q.dtype),
        torch.tensor(simulation.parameters["friction"]),
    )

    def loss(tau, friction, q, v):
        return (
            rollout(simulation, q, v, STEPS, tau=tau, parameters={"friction": friction}).v ** 2
        ).sum()

    grad = torch.func.grad(loss, argnums=(0, 1))
    whole = grad(tau, friction, q, v)
    parts = [grad(tau, friction, q[i], v[i]) for i in range(3)]
    for got, *others in zip(whole, *parts, strict=True):
        # Rounding of sums in another order.
        np.testing.assert_allclose(got, sum(others), rtol=1e-12, atol=1e-14)


def test_jacrev_is_the_jacobian_of_the_step(simulation):
    arrays = many(simulation, np.random.default_rng(6), 2)
    q, v, tau = (x.detach() for x in tensors([arrays[0], arrays[1], arrays[2][:, 0]]))

    def after(q, v, tau):
        return step(simulation, q, v, tau=tau).v

    by_q, by_v, by_tau = torch.func.vmap(torch.func.jacrev(after, argnums=(0, 1, 2)))(q, v, tau)
    for i in range(2):
        of_tau = simulation.linearize(
            State(arrays[0][i], arrays[1][i]),
            control([x[:, 0] if x.ndim == 3 else x for x in arrays[:3]] + [[None] * 2] * 2, i),
        ).jacobians()
        for got, expected in (
            (by_v, of_tau.v[1]),
            (by_tau, of_tau.tau[1]),
            (by_q, to_entries(simulation.model, arrays[0][i], of_tau.q[1])),
        ):
            np.testing.assert_allclose(
                got[i], expected, rtol=0, atol=1e-12 * max(1, np.abs(expected).max())
            )


def test_float32_comes_back_as_float32_computed_in_double(simulation):
    """States are the double-precision ones, rounded once.

    Gradients are the double-precision ones through the states that were not rounded.
    """
    rng = np.random.default_rng(7)
    single = tensors(many(simulation, rng, 3), torch.float32)
    double = [x.detach().double().requires_grad_() for x in single]
    states, exact = run(simulation, *single), run(simulation, *double)
    bars = random_bars(states, rng)
    gradients = torch.autograd.grad(loss_of(states, bars), single)
    expected = torch.autograd.grad(loss_of(exact, [bar.double() for bar in bars]), double)
    for got, wanted in zip((*states[:2], *gradients), (*exact[:2], *expected), strict=True):
        assert got.dtype == torch.float32
        np.testing.assert_array_equal(got.detach(), wanted.detach().float())
    mixed = rollout(simulation, single[0], double[1], STEPS)
    assert mixed.q.dtype == torch.float64
    with pytest.raises(SimulationError, match="int64"):
        step(simulation, single[0].long(), single[1].long())
    with pytest.raises(SimulationError, match="cpu, meta"):
        step(simulation, single[0], single[1].to("meta"))


def test_steps_one_after_the_other_are_a_rollout(simulation):
    arrays = [x[0] for x in many(simulation, np.random.default_rng(8), 1)]
    given = tensors(arrays)
    q, v, *drive = given
    for i in range(STEPS):
        q, v, unsolved = step(
            simulation, q, v, **{name: x[i] for name, x in zip(DRIVE, drive, strict=True)}
        )
        assert not unsolved
    whole = run(simulation, *given)
    np.testing.assert_array_equal(q.detach(), whole.q[-1].detach())
    np.testing.assert_array_equal(v.detach(), whole.v[-1].detach())
    chained = torch.autograd.grad(q.sum() + v.sum(), given)
    for got, expected in zip(
        chained, torch.autograd.grad(whole.q[-1].sum() + whole.v[-1].sum(), given), strict=True
    ):
        # Conversions between tangent space and entries at each step add a few roundings.
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * float(expected.abs().max()))


def test_unsolved_steps_are_told():
    world = sliding_world(height=0.0)
    q, v, *_ = map(torch.tensor, many(world, np.random.default_rng(9), 2))
    assert rollout(world, q, v, 2).unsolved.tolist() == [True, True]
    assert torch.func.vmap(lambda q, v: step(world, q, v).unsolved)(q, v).tolist() == [True, True]


def test_what_is_not_there_says_so(simulation):
    q, v, *_ = (torch.tensor(x[0]) for x in many(simulation, np.random.default_rng(10), 1))

    def speed(q):
        return (step(simulation, q, v).v ** 2).sum()

    once = q.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(speed(once), once, create_graph=True)
    for second in (
        gradient.sum().backward,
        lambda: torch.func.hessian(speed)(q),
        lambda: torch.func.grad(lambda x: torch.func.grad(speed)(x).sum())(q),
        lambda: torch.func.jvp(speed, (q,), (q,)),
        lambda: torch.func.jacfwd(speed)(q),
    ):
        with pytest.raises(SimulationError, match="first derivatives in reverse mode only"):
            second()
    with pytest.raises(SimulationError, match="finite"):
        step(simulation, q * torch.nan, v)


def test_a_policy_learns_through_rollouts_many_at_once(simulation):
    """A linear policy for the arm is learned, as an ensemble of three.

    The test uses functional_call, vmap over parameters, and grad through steps.
    """
    rng = np.random.default_rng(11)
    q, v, *_ = (torch.tensor(x) for x in many(simulation, rng, 4))
    q[:, 7], v[:, 6] = torch.linspace(-0.4, 0.4, 4), 0.0
    policy = torch.nn.Linear(2, 1, dtype=torch.float64)
    others = torch.zeros(4, simulation.model.n_v, dtype=torch.float64)

    def loss(parameters, q, v):
        total = 0.0
        for _ in range(10):
            force = torch.func.functional_call(
                policy, parameters, torch.stack([q[:, 7], v[:, 6]], dim=1)
            )
            q, v, _ = step(
                simulation, q, v, tau=torch.cat([others[:, :6], force, others[:, 7:]], dim=1)
            )
            total = total + (q[:, 7] ** 2).mean()
        return total

    parameters = {
        "weight": torch.tensor(rng.normal(size=(3, 1, 2))),
        "bias": torch.tensor(rng.normal(size=(3, 1))),
    }
    learn = torch.func.vmap(torch.func.grad_and_value(loss), in_dims=(0, None, None))
    values = []
    for _ in range(5):
        gradients, value = learn(parameters, q, v)
        values.append(value)
        parameters = {name: x - 20 * gradients[name] for name, x in parameters.items()}
    assert all((later < sooner).all() for sooner, later in pairwise(values))
