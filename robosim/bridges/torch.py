"""Steps and rollouts as functions of PyTorch tensors, with exact gradients: `step` and `rollout`.

    q, v, unsolved = step(simulation, q, v, tau=tau)
    q, v, unsolved = rollout(simulation, q, v, 500, tau=tau)

Leading axes of tensors are broadcast. All runs are made at once, on several threads, as in
`Simulation.rollout`. `backward`, `torch.autograd.grad`, `torch.func.grad`, `vjp`, `jacrev`, `vmap`
and their compositions work; `vmap` adds one leading axis. Second derivatives and forward mode raise
`SimulationError`.

Everything is computed in double precision on the CPU. Results have the type of the arguments (for
several types, the one that PyTorch promotes them to) and are on the same device: tensors of other
devices are copied to the CPU and back. Gradients use the states in double precision, whatever the
type, and in float64 they equal those of `Rollout.vjp` to the bit.

Gradients with respect to q are ordinary gradients by its entries, seven for a free body: those of a
function of q that normalizes quaternions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from robosim.bridges.runs import NO_SECOND_DERIVATIVES, Runs
from robosim.errors import MissingDependencyError, SimulationError
from robosim.simulation import Simulation
from robosim.simulation.parameters import Key

try:
    import torch
except ImportError as error:
    raise MissingDependencyError(
        "robosim.bridges.torch needs PyTorch: pip install 'robosim[torch]' brings it"
    ) from error

__all__ = ["States", "rollout", "step"]


class States(NamedTuple):
    """States of a step or a rollout."""

    q: torch.Tensor
    """(..., n_q), for a rollout (..., n, n_q)."""
    v: torch.Tensor
    """(..., n_v), for a rollout (..., n, n_v)."""
    unsolved: torch.Tensor
    """(...) bool: True if any step was `relaxed`, `inconsistent` or `diverged`;
    `Simulation.rollout` reports the details."""


def step(
    simulation: Simulation,
    q: torch.Tensor,
    v: torch.Tensor,
    *,
    tau: torch.Tensor | None = None,
    q_target: torch.Tensor | None = None,
    v_target: torch.Tensor | None = None,
    parameters: Mapping[Key, torch.Tensor] | None = None,
) -> States:
    """Return the state one step later, as a function of all tensors.

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
        SimulationError: a tensor has the wrong shape, is not real, not finite or out of its range,
            or tensors are on different devices.
    """
    drive = (None if x is None else x.unsqueeze(-2) for x in (tau, q_target, v_target))
    runs, values = _with_parameters(simulation, 1, parameters, 1)
    states = _run(runs, (q, v, *drive, *values))
    return States(states.q[..., 1, :], states.v[..., 1, :], states.unsolved)


def rollout(
    simulation: Simulation,
    q: torch.Tensor,
    v: torch.Tensor,
    steps: int,
    *,
    tau: torch.Tensor | None = None,
    q_target: torch.Tensor | None = None,
    v_target: torch.Tensor | None = None,
    parameters: Mapping[Key, torch.Tensor] | None = None,
    interval: int = 1,
) -> States:
    """Return all states of one run or of many, as a function of all tensors.

    One call costs less than as many calls of `step`, and so does its backward pass, which runs
    once.

    Args:
        simulation: the simulation that runs.
        q: (..., n_q) first configuration.
        v: (..., n_v) first velocity.
        steps: number of steps.
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
    parameters: Mapping[Key, torch.Tensor] | None,
    interval: int,
) -> tuple[Runs, tuple[Any, ...]]:
    """Return runs that also depend on these parameters, and the values of the parameters."""
    given = {key: x for key, x in (parameters or {}).items() if x is not None}
    return Runs(simulation, steps, tuple(given), interval), tuple(given.values())


Operands = Sequence["torch.Tensor | None"]


def _run(runs: Runs, operands: Operands) -> States:
    given = [x for x in operands if x is not None]
    dtype = reduce(torch.promote_types, (x.dtype for x in given))
    if not dtype.is_floating_point:
        raise SimulationError(f"tensors are of {dtype}; expected real floating-point numbers")
    devices = {x.device for x in given}
    if len(devices) > 1:
        raise SimulationError(
            f"tensors are on {', '.join(sorted(map(str, devices)))}; expected one device"
        )
    (device,) = devices
    layout = runs.layout([None if x is None else tuple(x.shape) for x in operands])
    plain = [
        None if x is None or at is None else _double(x).reshape(at.padded).expand(at.expanded)
        for x, at in zip(operands, layout, strict=True)
    ]
    q, v, unsolved = _Rollout.apply(runs, *plain)
    return States(q.to(dtype).to(device), v.to(dtype).to(device), unsolved.to(device))


def _double(x: torch.Tensor) -> torch.Tensor:
    if x.dtype == torch.float64 and x.device.type == "cpu":
        return x
    return x.to("cpu").to(torch.float64)  # in this order, since some devices have no float64


def _array(x: torch.Tensor | None) -> Any:
    return None if x is None else x.detach().numpy()


def _mapped(in_dims: Sequence[int | None], tensors: Operands) -> list[torch.Tensor | None]:
    """Move the mapped axis to the front, or add one of length 1 if there is none."""
    return [
        None if x is None else x.unsqueeze(0) if axis is None else x.movedim(axis, 0)
        for axis, x in zip(in_dims, tensors, strict=True)
    ]


class _Rollout(torch.autograd.Function):
    """Differentiable function (runs, operands as in `Runs`) -> (q, v, unsolved)."""

    @staticmethod
    def forward(runs: Runs, *operands: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
        return tuple(map(torch.from_numpy, runs.forward([_array(x) for x in operands])))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        ctx.runs, *operands = inputs
        q, v, unsolved = output
        ctx.mark_non_differentiable(unsolved)
        ctx.save_for_backward(q, v, *operands)

    @staticmethod
    def backward(ctx: Any, q_bar: torch.Tensor, v_bar: torch.Tensor, _: Any) -> tuple[Any, ...]:
        q, v, *operands = ctx.saved_tensors
        found = iter(_Gradient.apply(ctx.runs, q_bar, v_bar, q, v, *operands))
        return (None, *(None if x is None else _summed(next(found), x) for x in operands))

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], runs: Runs, *operands: torch.Tensor | None
    ) -> Any:
        return _Rollout.apply(runs, *_mapped(in_dims[1:], operands)), (0, 0, 0)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        raise SimulationError(NO_SECOND_DERIVATIVES)


class _Gradient(torch.autograd.Function):
    """Function (runs, q_bar, v_bar, q, v, operands) -> gradient in each given operand, of each
    run."""

    @staticmethod
    def forward(runs: Runs, *tensors: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
        q_bar, v_bar, q, v, *operands = map(_array, tensors)
        found = runs.vjp(operands, q, v, q_bar, v_bar)
        return tuple(torch.from_numpy(np.asarray(x, order="C")) for x in found if x is not None)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *bars: torch.Tensor) -> Any:
        raise SimulationError(NO_SECOND_DERIVATIVES)

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], runs: Runs, *tensors: torch.Tensor | None
    ) -> Any:
        found = _Gradient.apply(runs, *_mapped(in_dims[1:], tensors))
        return found, (0,) * len(found)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        raise SimulationError(NO_SECOND_DERIVATIVES)


def _summed(gradient: torch.Tensor, operand: torch.Tensor) -> torch.Tensor:
    """Sum a gradient over the leading axes along which the operand is the same."""
    same = [
        i
        for i, (many, one) in enumerate(zip(gradient.shape, operand.shape, strict=True))
        if many != one
    ]
    return gradient.sum(same, keepdim=True) if same else gradient
