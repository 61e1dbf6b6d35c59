"""Steps and rollouts as functions of JAX arrays, with exact gradients: `step` and `rollout`.

    q, v, unsolved = step(simulation, q, v, tau=tau)
    q, v, unsolved = rollout(simulation, q, v, 500, tau=tau)

Leading axes of arrays are broadcast. All runs are made at once, on several threads, as in
`Simulation.rollout`. `jit`, `grad`, `vjp`, `jacrev`, `vmap`, `lax.scan`, `checkpoint` and their
compositions work; `vmap` adds one leading axis. Second derivatives raise `SimulationError`, forward
mode raises JAX's own error.

Everything is computed in double precision on the host: on CPUs by a handler of XLA's foreign
function interface, from accelerators by `jax.pure_callback`. Code that was compiled ahead of time
does not keep the simulation alive, so the caller must. Results have the type of the arguments (for
several types, the one that JAX promotes them to). Gradients use the states in double precision,
even with `jax_enable_x64` off, and in float64 they equal those of `Rollout.vjp` to the bit.

Gradients with respect to q are ordinary gradients by its entries, seven for a free body: those of a
function of q that normalizes quaternions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from robosim.bridges.runs import NO_SECOND_DERIVATIVES, Runs
from robosim.errors import MissingDependencyError, SimulationError
from robosim.simulation import Simulation
from robosim.simulation.parameters import Key

try:
    import jax
    import jax.numpy as jnp

    from robosim.bridges.host import call  # needs JAX, too
except ImportError as error:
    raise MissingDependencyError(
        "robosim.bridges.jax needs JAX: pip install 'robosim[jax]' brings it"
    ) from error

__all__ = ["States", "rollout", "step"]


class States(NamedTuple):
    """States of a step or a rollout."""

    q: jax.Array
    """(..., n_q), for a rollout (..., n, n_q)."""
    v: jax.Array
    """(..., n_v), for a rollout (..., n, n_v)."""
    unsolved: jax.Array
    """(...) bool: True if any step was `relaxed`, `inconsistent` or `diverged`;
    `Simulation.rollout` reports the details."""


def step(
    simulation: Simulation,
    q: jax.typing.ArrayLike,
    v: jax.typing.ArrayLike,
    *,
    tau: jax.typing.ArrayLike | None = None,
    q_target: jax.typing.ArrayLike | None = None,
    v_target: jax.typing.ArrayLike | None = None,
    parameters: Mapping[Key, jax.typing.ArrayLike] | None = None,
) -> States:
    """Return the state one step later, as a function of all arrays.

    Args:
        simulation: the simulation that takes the step.
        q: (..., n_q) configuration; quaternions of any length but zero.
        v: (..., n_v) velocity.
        tau: (..., n_v) forces, as in `Control`.
        q_target: (..., n_q) target positions, as in `Control`.
        v_target: (..., n_v) target velocities, as in `Control`.
        parameters: values by name as in `Simulation.parameters`, each `(..., *its shape)`, which
            replace those of the simulation. Each distinct set of values makes a world of its own,
            and only runs in the same world go in parallel.

    Raises:
        SimulationError: an array has the wrong shape or is not real.
        jax.errors.JaxRuntimeError: a number is not finite or out of its range; the message is that
            of the `SimulationError`.
    """
    drive = (None if x is None else jnp.expand_dims(x, -2) for x in (tau, q_target, v_target))
    runs, values = _with_parameters(simulation, 1, parameters, 1)
    states = _run(runs, (q, v, *drive, *values))
    return States(states.q[..., 1, :], states.v[..., 1, :], states.unsolved)


def rollout(
    simulation: Simulation,
    q: jax.typing.ArrayLike,
    v: jax.typing.ArrayLike,
    steps: int,
    *,
    tau: jax.typing.ArrayLike | None = None,
    q_target: jax.typing.ArrayLike | None = None,
    v_target: jax.typing.ArrayLike | None = None,
    parameters: Mapping[Key, jax.typing.ArrayLike] | None = None,
    interval: int = 1,
) -> States:
    """Return all states of one run or of many, as a function of all arrays.

    One call costs less than as many calls of `step`, and so does its backward pass, which runs
    once.

    Args:
        simulation: the simulation that runs.
        q: (..., n_q) first configuration.
        v: (..., n_v) first velocity.
        steps: number of steps; static, as is `interval`.
        tau: (..., steps, n_v), or (n_v,) or (..., 1, n_v) for all steps.
        q_target: (..., steps, n_q), likewise.
        v_target: (..., steps, n_v), likewise.
        parameters: as in `step`.
        interval: number of steps between stored states; the last state is always stored. The
            gradient recomputes the states between.

    Returns:
        The n stored states, including the first.

    Raises:
        SimulationError: as in `step`.
    """
    runs, values = _with_parameters(simulation, steps, parameters, interval)
    return _run(runs, (q, v, tau, q_target, v_target, *values))


def _with_parameters(
    simulation: Simulation,
    steps: int,
    parameters: Mapping[Key, jax.typing.ArrayLike] | None,
    interval: int,
) -> tuple[Runs, tuple[Any, ...]]:
    """Return runs that also depend on these parameters, and the values of the parameters."""
    given = {key: x for key, x in (parameters or {}).items() if x is not None}
    return Runs(simulation, steps, tuple(given), interval), tuple(given.values())


Operands = tuple[Any, ...]  # as in `Runs`, of jax.Array or None


def _run(runs: Runs, operands: Operands) -> States:
    arrays = [None if x is None else jnp.asarray(x) for x in operands]
    dtype = jnp.result_type(*(x for x in arrays if x is not None))
    if not jnp.issubdtype(dtype, jnp.floating):
        raise SimulationError(f"arrays are of {dtype}; expected real floating-point numbers")
    layout = runs.layout([None if x is None else x.shape for x in arrays])
    plain = tuple(
        None
        if x is None or at is None
        else jnp.broadcast_to(x.astype(dtype).reshape(at.padded), at.expanded)
        for x, at in zip(arrays, layout, strict=True)
    )
    states: States = _rollout(runs, plain)
    return states


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _rollout(runs: Runs, operands: Operands) -> States:
    states: States = _call(_forward, runs, _outlines(runs, operands), operands)
    return states


def _rollout_and_states(runs: Runs, operands: Operands) -> tuple[States, Operands]:
    """Run, and also return q and v in double precision: as their bits if there is no float64."""
    outlines = _outlines(runs, operands)
    if outlines.q.dtype == jnp.float64:
        states = _rollout(runs, operands)
        return states, (operands, states.q, states.v)
    bits = [jax.ShapeDtypeStruct((*x.shape, 2), jnp.uint32) for x in outlines[:2]]
    states, q, v = _call(_forward_with_bits, runs, (outlines, *bits), operands)
    return states, (operands, q, v)


def _rollout_vjp(runs: Runs, kept: Operands, bars: States) -> tuple[Operands]:
    operands, q, v = kept
    found = _gradient(runs, operands, q, v, bars.q, bars.v)
    return (
        tuple(None if x is None else _summed(g, x) for g, x in zip(found, operands, strict=True)),
    )


_rollout.defvjp(_rollout_and_states, _rollout_vjp)


def _gradient(runs: Runs, operands: Operands, *arrays: jax.Array) -> Operands:
    """Gradient in each operand that is given, of each run."""
    outlines = tuple(
        None if x is None else jax.ShapeDtypeStruct(runs.leading(operands) + core, x.dtype)
        for x, core in zip(operands, runs.core_shapes, strict=True)
    )
    found: Operands = _call(_backward, runs, outlines, operands, *arrays)
    return found


@partial(jax.custom_jvp, nondiff_argnums=(0, 1, 2))
def _call(function: Any, runs: Runs, outlines: Any, *arguments: Any) -> Any:
    return call(
        function,
        runs.simulation,
        (runs.steps, runs.parameters, runs.interval, runs.threads),
        outlines,
        *arguments,
    )


@_call.defjvp
def _call_jvp(function: Any, runs: Runs, outlines: Any, primals: Any, tangents: Any) -> Any:
    raise SimulationError(NO_SECOND_DERIVATIVES)


def _outlines(runs: Runs, operands: Operands) -> States:
    """Shapes and types of the results."""
    leading, model = runs.leading(operands), runs.simulation.model
    q, v = (
        jax.ShapeDtypeStruct((*leading, runs.kept, n), operands[0].dtype)
        for n in (model.n_q, model.n_v)
    )
    return States(q, v, jax.ShapeDtypeStruct(leading, jnp.bool_))


def _summed(gradient: jax.Array, operand: jax.Array) -> jax.Array:
    """Sum a gradient over the leading axes along which the operand is the same."""
    same = [
        i
        for i, (many, one) in enumerate(zip(gradient.shape, operand.shape, strict=True))
        if many != one
    ]
    return gradient.sum(axis=tuple(same), keepdims=True) if same else gradient


# Functions on the host

Settings = tuple[int, tuple[Key, ...], int, int]  # fields of Runs


def _forward(simulation: Simulation, settings: Settings, operands: Operands) -> States:
    return _forward_with_bits(simulation, settings, operands)[0]


def _forward_with_bits(
    simulation: Simulation, settings: Settings, operands: Operands
) -> tuple[States, Any, Any]:
    q, v, unsolved = Runs(simulation, *settings).forward(_doubles(operands))
    dtype: Any = operands[0].dtype
    return States(q.astype(dtype), v.astype(dtype), unsolved), _bits(q), _bits(v)


def _backward(
    simulation: Simulation, settings: Settings, operands: Operands, *arrays: Any
) -> Operands:
    q, v, q_bar, v_bar = arrays
    states = (x if x.dtype != np.uint32 else _from_bits(x) for x in map(np.asarray, (q, v)))
    found = Runs(simulation, *settings).vjp(_doubles(operands), *states, *_doubles((q_bar, v_bar)))
    return tuple(None if x is None else x.astype(operands[0].dtype) for x in found)


def _doubles(arrays: Sequence[Any]) -> list[Any]:
    return [None if x is None else np.asarray(x).astype(np.float64) for x in arrays]


def _bits(x: Any) -> Any:
    return np.ascontiguousarray(x).view(np.uint32).reshape(*x.shape, 2)


def _from_bits(x: Any) -> Any:
    return np.ascontiguousarray(x).view(np.float64)[..., 0]
