"""Overhead of the bridges to PyTorch and JAX: steps, rollouts and their gradients.

A quadruped stands on the ground with `pgs`, its motors following targets. `ours` is the bridge's
call, compiled if the framework compiles (`jax.jit`); the peer is `Simulation`'s own call for the
same. Both alternate. Times of other calls in between, and of callbacks on other threads, count. The
results have to be bitwise equal.

    python benchmarks/bench_bridges.py [--quick] [--json FILE]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from bench_rollouts import Walk
from harness.report import Report, Row, arguments, require_peers
from harness.timing import Patience, alternate

from robosim.simulation import Control, State

STEPS, RUNS = 100, 64


class Plain:
    """Calls of `Simulation`: a run, and the gradient of a loss with respect to all targets.

    The loss is the sum of squares of the last velocities.
    """

    def __init__(self, walk: Walk) -> None:
        self.simulation = walk.simulation
        self.start = walk.start
        self.target = np.asarray(walk.control.q_target)[:STEPS]

    def run(self, runs: int, steps: int) -> Any:
        """Run without gradient; one step of one run by `step`."""
        control = Control(q_target=self.target[0] if steps == 1 else self.target[:steps])
        if runs == 1 and steps == 1:
            return self.simulation.step(self.start, control).v
        return self.simulation.rollout(self.starts(runs), steps, control).v[:, -1]

    def there_and_back(self, runs: int, steps: int) -> Any:
        """Run with gradient."""
        n_v = self.simulation.model.n_v
        control = Control(q_target=self.target[0] if steps == 1 else self.target[:steps])
        if runs == 1 and steps == 1:
            v = self.simulation.step(self.start, control).v
            return self.simulation.linearize(self.start, control).vjp(np.zeros(n_v), 2 * v).q_target
        made = self.simulation.rollout(self.starts(runs), steps, control)
        v_bar = np.zeros((runs, steps + 1, n_v))
        v_bar[:, -1] = 2 * made.v[:, -1]
        return made.vjp(v_bar=v_bar).q_target

    def starts(self, runs: int) -> State:
        """Repeat the start for a number of runs."""
        return State(np.tile(self.start.q, (runs, 1)), np.tile(self.start.v, (runs, 1)))


def of_torch(plain: Plain, runs: int, steps: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return both calls by PyTorch's bridge."""
    import torch

    from robosim.bridges.torch import rollout, step

    q, v = (torch.tensor(np.tile(x, (runs, 1))) for x in (plain.start.q, plain.start.v))
    target = torch.tensor(np.tile(plain.target[:steps], (runs, 1, 1)))
    if runs == 1:
        q, v, target = q[0], v[0], target[0]

    def there(target: Any) -> Any:
        if steps == 1:
            return step(plain.simulation, q, v, q_target=target[..., 0, :]).v
        return rollout(plain.simulation, q, v, steps, q_target=target).v[..., -1, :]

    wanted = target.clone().requires_grad_()
    return (
        lambda: there(target),
        lambda: torch.autograd.grad((there(wanted) ** 2).sum(), wanted)[0],
    )


def of_jax(plain: Plain, runs: int, steps: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return both calls by JAX's bridge."""
    import jax
    import jax.numpy as jnp

    from robosim.bridges.jax import rollout, step

    jax.config.update("jax_enable_x64", True)
    q, v = (jnp.asarray(np.tile(x, (runs, 1))) for x in (plain.start.q, plain.start.v))
    target = jnp.asarray(np.tile(plain.target[:steps], (runs, 1, 1)))
    if runs == 1:
        q, v, target = q[0], v[0], target[0]

    def there(target: Any) -> Any:
        if steps == 1:
            return step(plain.simulation, q, v, q_target=target[..., 0, :]).v
        return rollout(plain.simulation, q, v, steps, q_target=target).v[..., -1, :]

    run = jax.jit(there)
    back = jax.jit(jax.grad(lambda target: (there(target) ** 2).sum()))
    return lambda: jax.block_until_ready(run(target)), lambda: jax.block_until_ready(back(target))


def times_over(call: Callable[[], Any]) -> Callable[[int], None]:
    """Return a function that repeats a call a given number of times."""

    def work(passes: int) -> None:
        for _ in range(passes):
            call()

    return work


def main() -> int:
    """Measure, check, report."""
    args = arguments(str(__doc__).split("\n\n", maxsplit=1)[0]).parse_args()
    require_peers("torch", "jax", extra="torch,jax")
    patience = Patience(5, 0.1) if args.quick else Patience(21, 0.3)
    plain = Plain(Walk(STEPS))
    report = Report("bridges beside the simulation's own calls, a quadruped that stands, pgs")
    for name, bridge in ("torch", of_torch), ("jax", of_jax):
        for runs, steps in (1, 1), (1, STEPS), (RUNS, 1), (RUNS, STEPS):
            calls = bridge(plain, runs, steps)
            peers = (
                lambda: plain.run(runs, steps),  # noqa: B023
                lambda: plain.there_and_back(runs, steps),  # noqa: B023
            )
            for what, ours, peer in zip(("there", "there and back"), calls, peers, strict=True):
                if not np.array_equal(np.asarray(ours()).ravel(), np.asarray(peer()).ravel()):
                    raise SystemExit(
                        f"{name}, {runs} runs of {steps} steps, {what}: not the same to the bit"
                    )
                timing = alternate(
                    times_over(ours), times_over(peer), 1, patience, clock=time.perf_counter
                )
                report.add(
                    Row(
                        f"{name}: {runs} x {steps} steps, {what}",
                        timing.ours * 1e6,
                        "us",
                        peer=timing.peer * 1e6,
                        of_peer=True,
                        measured=timing.ratio,
                    )
                )
    return report.finish(args)


if __name__ == "__main__":
    raise SystemExit(main())
