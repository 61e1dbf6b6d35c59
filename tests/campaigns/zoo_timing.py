"""Times of single steps of robosim and MuJoCo in alternation, each the least of identical runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any

import numpy as np
from harness.mjcf_world import Twin
from numpy.typing import NDArray
from zoo import ZooScene
from zoo.scene import ground, put

from robosim.geometry import Shape
from robosim.simulation import Control, Simulation, State

Array = NDArray[np.float64]

BLOCK = 20  # steps of one side before the other side's turn
CALLS, ROUNDS = 2000, 7  # for the overhead of a call


@dataclass
class Run:
    """One scene on both sides.

    Attributes:
        states: before each step, and after the last.
        controls: of each step.
        statuses: of each step, by the names of `StepStatus`.
        contacts: number of contact points of each step.
        times: [s] of each step.
        peer_times: [s] of each of MuJoCo's steps; empty without a twin.
        peer_contacts: number of contacts of each of MuJoCo's steps.
        peer_overlaps: deepest overlap of each of MuJoCo's steps [m].
    """

    states: list[State] = field(default_factory=list)
    controls: list[Control] = field(default_factory=list)
    statuses: list[str] = field(default_factory=list)
    contacts: list[int] = field(default_factory=list)
    times: Array = field(default_factory=lambda: np.zeros(0))
    peer_times: Array = field(default_factory=lambda: np.zeros(0))
    peer_contacts: list[int] = field(default_factory=list)
    peer_overlaps: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Patience:
    """Upper limits of the effort for one scene.

    Attributes:
        runs: number of timed runs.
        steps: of a run.
        states: number of states whose derivatives are compared.
        seconds: of robosim's steps in a run, and of derivatives; remaining work is skipped and
            reported.
    """

    runs: int
    steps: int
    states: int
    seconds: float


@dataclass(frozen=True)
class Overhead:
    """Overhead of a call from Python beyond the step itself [s]: robosim's, and MuJoCo's."""

    ours: float
    peer: float


def overhead() -> Overhead:
    """Measure the overhead of calls: the time of single steps minus that of steps within one call.

    The least of several alternating rounds counts.
    """
    world = ground()
    put(world, "box", Shape.box((0.1, 0.1, 0.1)), (0, 0, 1e4))
    simulation = Simulation(world)
    state, control = simulation.state(), Control()
    ours = _beyond(
        lambda: _our_step(simulation, state.q, state.v, control),
        lambda: simulation.rollout(state, CALLS, control, interval=CALLS),
    )
    try:
        import mujoco
    except ImportError:
        return Overhead(ours, 0.0)
    twin = Twin(simulation)
    twin.start(state.q, state.v)
    peer = _beyond(
        lambda: mujoco.mj_step(twin.model, twin.data),
        lambda: mujoco.mj_step(twin.model, twin.data, nstep=CALLS),
    )
    return Overhead(ours, peer)


def _beyond(one: Callable[[], Any], many: Callable[[], Any]) -> float:
    """Return the time of a single-step call beyond the time of a step in a many-step call [s]."""
    singles, shares = [], []
    for _ in range(ROUNDS):
        spent = []
        for _ in range(CALLS):
            begin = perf_counter_ns()
            one()
            spent.append(perf_counter_ns() - begin)
        singles.append(float(np.median(spent)))
        begin = perf_counter_ns()
        many()
        shares.append((perf_counter_ns() - begin) / CALLS)
    return max(min(singles) - min(shares), 0.0) * 1e-9


def _our_step(simulation: Simulation, q: Array, v: Array, control: Control) -> Any:
    """Take one step of the engine by the call that `Simulation.step` makes."""
    return simulation._engine.step((q, v), (control.tau, control.q_target, control.v_target))


def timed_run(
    scene: ZooScene,
    simulation: Simulation,
    twin: Twin | None,
    steps: int,
    cost: Overhead,
    patience: Patience,
) -> Run:
    """Run a scene several times on both sides, in alternating blocks.

    States, statuses and contacts are those of the first run; the others are bitwise equal. A run
    ends early at the limit of `patience`.

    Raises:
        AssertionError: a later run has another end.
    """
    start = simulation.state(scene.q, scene.v)
    found = Run()
    ours = np.full((patience.runs, steps), np.inf)
    peer = np.full((patience.runs, steps), np.inf)
    for i in range(patience.runs):
        q, v = start.q, start.v
        if twin is not None:
            twin.start(q, v)
        spent = 0
        first = 0
        while first < steps:
            # Take and time a block of robosim's steps.
            last = min(first + BLOCK, steps)
            for k in range(first, last):
                if i == 0:
                    found.controls.append(scene.control_at(k))
                    found.states.append(State(q, v, k * scene.dt))
                control = found.controls[k]
                begin = perf_counter_ns()
                (q, v), report = _our_step(simulation, q, v, control)
                ours[i, k] = perf_counter_ns() - begin
                spent += ours[i, k]
                if i == 0:
                    found.statuses.append(report.status)
                    found.contacts.append(report.contacts)
                    if spent * 1e-9 > patience.seconds:
                        steps = last = k + 1
                        break
            # Take the same block of MuJoCo's steps.
            if twin is not None:
                _their_block(twin, found, range(first, last), peer[i], i == 0)
            first = last
        # All runs must have the same end.
        if i == 0:
            found.states.append(State(q, v, steps * scene.dt))
        else:
            assert np.array_equal(q, found.states[-1].q), "the same run has ended elsewhere"
    # Least time of all runs, minus the overhead of a call.
    found.times = np.maximum(ours[:, :steps].min(axis=0) * 1e-9 - cost.ours, 0.0)
    if twin is not None:
        found.peer_times = np.maximum(peer[:, :steps].min(axis=0) * 1e-9 - cost.peer, 0.0)
    return found


def _their_block(twin: Twin, found: Run, block: range, spent: Array, is_first: bool) -> None:
    import mujoco

    model, data = twin.model, twin.data
    for k in block:
        twin.drive(found.controls[k])
        begin = perf_counter_ns()
        mujoco.mj_step(model, data)
        spent[k] = perf_counter_ns() - begin
        if is_first:
            found.peer_contacts.append(int(data.ncon))
            found.peer_overlaps.append(
                float(max(-data.contact.dist.min(), 0.0)) if data.ncon else 0.0
            )
