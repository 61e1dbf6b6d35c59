"""Products with derivatives against the full matrices, and against finite differences.

Second-order products are compared with differences of first-order ones. The robots are those of
example-robot-data, with wrenches. The accuracy of operations that solve with M depends on its
condition number.
"""

import itertools

import numpy as np
import pytest

from .calls import Array, Inputs, evaluate_batch, options_of
from .example_robots import Robot, robots

EPS = np.finfo(float).eps

# For inverse and forward dynamics: the operation of the matrices, the number of values before its
# matrices, the arguments of the derivatives, and the name of the cotangent.
KINDS = {
    "rnea": ("rnea_derivatives", 0, ("q", "v", "a"), "tau_bar"),
    "forward_dynamics": ("forward_dynamics_derivatives", 1, ("q", "v", "tau"), "a_bar"),
}


def times(A: Array, x: Array) -> Array:
    return np.einsum("kij,kj->ki", A, x)


def worst(value: Array, reference: Array, allowed: Array) -> float:
    """Largest error over all states, in units of the tolerance.

    The tolerance is relative to the largest entry of the reference, or to one.
    """
    scale = np.maximum(1, np.abs(reference).max(axis=1, initial=0))
    return float((np.abs(value - reference).max(axis=1, initial=0) / scale / allowed).max())


def known_robots() -> list[Robot]:
    return [robot for robot in robots() if not robot.singular]


def assert_all(ratios: dict[str, float]) -> None:
    name = max(ratios, key=ratios.__getitem__)
    print(f"worst {ratios[name]:.2g} of what is allowed, on {name}")
    beyond = {robot: f"{ratio:.3g}" for robot, ratio in ratios.items() if not ratio <= 1}
    assert not beyond, f"worst {ratios[name]:.3g} times what is allowed, on {name}; all {beyond}"


@pytest.mark.parametrize("wrenches", [False, True], ids=["", "wrenches"])
@pytest.mark.parametrize("kind", KINDS)
def test_products_are_those_of_the_matrices(kind, wrenches):
    """The tolerance is 1e-12, or 10 eps cond(M) if that is more."""
    derivatives, before, arguments, bar = KINDS[kind]
    ratios = {}
    for robot in known_robots():
        options = options_of(f"{kind}_jvp", robot.own_links, wrenches=wrenches)
        inputs = robot.inputs(f"{kind}_jvp", options)
        inputs |= {bar: np.random.default_rng(3).uniform(-2, 2, inputs["v"].shape)}
        call = {name: inputs[name] for name in arguments}
        ends = {"wrenches": inputs["wrenches"]} if wrenches else {}
        along = [inputs["dq"], inputs["dv"], inputs["da" if kind == "rnea" else "dtau"]]
        matrices = evaluate_batch(robot.model, derivatives, call | ends, options)[before:]
        jvp = evaluate_batch(
            robot.model,
            f"{kind}_jvp",
            call | dict(zip(("dq", "dv", "dx"), along, strict=True)) | ends,
            options,
        )[-1]
        vjp = evaluate_batch(robot.model, f"{kind}_vjp", call | {bar: inputs[bar]} | ends, options)[
            before:
        ]
        allowed = np.full(len(robot.q), 1e-12)
        if kind == "forward_dynamics":
            allowed = np.maximum(allowed, 10 * EPS * robot.cond)
        expected = sum(times(A, x) for A, x in zip(matrices, along, strict=True))
        ratio = worst(jvp, expected, allowed)
        for A, product in zip(matrices, vjp[:3], strict=True):
            ratio = max(ratio, worst(product, times(A.swapaxes(1, 2), inputs[bar]), allowed))
        ratios[robot.name] = ratio
    assert_all(ratios)


def gradients(
    robot: Robot, kind: str, state: Inputs, direction: Inputs, t: float, options: dict
) -> Array:
    """(n, 3 n_v) first-order product, at the state moved by t along the direction."""
    q, v, x = KINDS[kind][2]
    moved = {
        q: evaluate_batch(robot.model, "integrate", {"q": state[q], "v": t * direction["dq"]}, {})[
            0
        ],
        v: state[v] + t * direction["dv"],
        x: state[x] + t * direction[f"d{x}"],
    }
    results = evaluate_batch(robot.model, f"{kind}_vjp", state | moved, options)
    return np.concatenate(results[KINDS[kind][1] :][:3], 1)


def ridders(central: list[Array]) -> Array:
    """(n, m) limit of central differences with steps h, h/2, ...

    For each state, it is the extrapolation that differs least from the values that it is computed
    from. Ridders, "Accurate computation of F'(x) and F'(x) F''(x)", Advances in Engineering
    Software 4(2), 1982.
    """
    column, best, error = central, central[-1], np.full(len(central[0]), np.inf)
    for order in range(1, 6):
        weight = 4.0**order
        following = [(weight * b - a) / (weight - 1) for a, b in itertools.pairwise(column)]
        for (a, b), c in zip(itertools.pairwise(column), following, strict=True):
            change = np.maximum(np.abs(c - a), np.abs(c - b)).max(axis=1)
            best = np.where((change < error)[:, None], c, best)
            error = np.minimum(error, change)
        column = following
    return best


@pytest.mark.parametrize("wrenches", [False, True], ids=["", "wrenches"])
@pytest.mark.parametrize("kind", KINDS)
def test_second_order_products_are_derivatives_of_the_first(kind, wrenches):
    """The tolerance is 1e-10 + 1e4 eps cond(M), relative to the largest entry.

    It covers rounding of the gradients at steps down to 1e-4. Such small steps are needed if M is
    nearly singular and forward dynamics is strongly curved.
    """
    _, _, (q, v, x), bar = KINDS[kind]
    steps = 0.1 / 2.0 ** np.arange(14)
    ratios = {}
    for robot in known_robots():
        options = options_of(f"{kind}_hvp", robot.own_links, wrenches=wrenches)
        inputs = robot.inputs(f"{kind}_hvp", options)
        product = np.concatenate(evaluate_batch(robot.model, f"{kind}_hvp", inputs, options), 1)
        state = {name: inputs[name] for name in (q, v, x, bar, "wrenches") if name in inputs}
        at = [
            [gradients(robot, kind, state, inputs, sign * h, options) for sign in (1, -1)]
            for h in steps
        ]
        limit = ridders([(a - b) / (2 * h) for (a, b), h in zip(at, steps, strict=True)])
        cond = robot.cond if kind == "forward_dynamics" else np.ones(len(robot.q))
        ratios[robot.name] = worst(product, limit, 1e-10 + 1e4 * EPS * cond)
    assert_all(ratios)
