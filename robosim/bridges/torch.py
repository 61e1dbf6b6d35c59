"""Steps and rollouts as functions of PyTorch tensors, with exact gradients: `step` and `rollout`.

    q, v, unsolved = step(simulation, q, v, tau=tau)
    q, v, unsolved = rollout(simulation, q, v, 500, tau=tau)

Tensors may have leading axes, which are broadcast: all runs are made at once, on several threads,
as by `Simulation.rollout`. `backward`, `torch.autograd.grad`, `torch.func.grad`, `vjp`, `jacrev`,
`vmap` and what is composed of these work; `vmap` is one more leading axis. Second derivatives and
forward mode raise `SimulationError`.

All is computed in double precision, on the processor. What comes back has the type of what was
given (of several the one that PyTorch promotes them to) and is on the same device: other devices'
tensors are copied to the processor and back. Gradients go through the states in double precision,
whatever the type, and in float64 they are those of `Rollout.vjp` to the bit.

Gradients by q are by its entries, plain ones, seven of what moves freely: of a function of q that
scales quaternions to unit length.
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
    """What comes of a step or a rollout."""

    q: torch.Tensor
    """(..., n_q), of a rollout (..., n, n_q)."""
    v: torch.Tensor
    """(..., n_v), of a rollout (..., n, n_v)."""
    unsolved: torch.Tensor
    """(...) bool: whether some step was `relaxed`, `inconsistent` or `diverged`;
    `Simulation.rollout` tells how."""


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
    """The state one step later, a function of all tensors.

    Args:
        simulation: what takes the step.
        q: (..., n_q) configuration; quaternions of any length but zero.
        v: (..., n_v) velocity.
        tau: (..., n_v) as of `Control`, as are the next two.
        q_target: (..., n_q).
        v_target: (..., n_v).
        parameters: by name as in `Simulation.parameters`, each (..., *its shape), in the place of
        its values; of runs
            that have other values each makes a world of its own, and only runs within one go on
            several threads.

    Raises:
        SimulationError: a tensor has the wrong shape, is not real, not finite or out of its range,
        or tensors are on
            different devices.
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
    """All states of a run, or of many, each a function of all tensors.

    One call costs less than as many of `step`, and its backward pass one more.

    Args:
        simulation: what is run.
        q: (..., n_q) first configuration.
        v: (..., n_v) first velocity.
        steps: how many.
        tau: (..., steps, n_v), or (n_v,) or (..., 1, n_v) for all steps; as are the next two.
        q_target: (..., steps, n_q).
        v_target: (..., steps, n_v).
        parameters: as of `step`.
        interval: every which state is kept, beside the last; the gradient makes those between
        again.

    Returns:
        The states that were kept, n of them, the first included.

    Raises:
        SimulationError: as of `step`.
    """
    runs, values = _with_parameters(simulation, steps, parameters, interval)
    return _run(runs, (q, v, tau, q_target, v_target, *values))


def _with_parameters(
    simulation: Simulation,
    steps: int,
    parameters: Mapping[Key, torch.Tensor] | None,
    interval: int,
) -> tuple[Runs, tuple[Any, ...]]:
    """Runs that are functions of these parameters, too, and their values."""
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
    return x.to("cpu").to(torch.float64)  # in this order: some devices have no float64


def _array(x: torch.Tensor | None) -> Any:
    return None if x is None else x.detach().numpy()


def _mapped(in_dims: Sequence[int | None], tensors: Operands) -> list[torch.Tensor | None]:
    """With the mapped axis in front of all, of length 1 where there is none."""
    return [
        None if x is None else x.unsqueeze(0) if axis is None else x.movedim(axis, 0)
        for axis, x in zip(in_dims, tensors, strict=True)
    ]


class _Rollout(torch.autograd.Function):
    """(runs, operands as of `Runs`) -> (q, v, unsolved)."""

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
    """(runs, q_bar, v_bar, q, v, operands) -> the gradient by each operand that is given, of each
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
    """Over the leading axes along which the operand is the same."""
    same = [
        i
        for i, (many, one) in enumerate(zip(gradient.shape, operand.shape, strict=True))
        if many != one
    ]
    return gradient.sum(same, keepdim=True) if same else gradient
