"""One step with contact and its derivatives, compared with MuJoCo and Pinocchio in the same run.

Each robot rests on the ground, held by constant joint forces, or slides over it. Both sides take 50
steps of 1 ms from the same state, in loops in C++: robosim with `lcp`, which has the bars, and with
`convex`, MuJoCo with its defaults and the same bodies (`harness/mjcf.py`). Before any timing, mass
matrix and nonlinear effects have to agree, and the contacts of both are counted.

All Jacobians are those of next q and v with respect to q, v and forces, for ten steps at rest in
one call from Python. Their time includes the step. They are compared with

- MuJoCo's forward differences, which have q and v alone;
- differences of robosim's own step;
- Pinocchio's forward dynamics with derivatives, which has no contact.

Each block is also timed by itself. Times are processor time in alternating slices; ratios are
medians over neighboring slices. If Nimble is installed, it is compared with `lcp`; else the figure
of its paper is printed.

A ratio written as "0.50" is ours / peer, one written as "2.0 x" is peer / ours.

    python benchmarks/bench_contact.py [--quick] [--json FILE] [--scene NAME]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from bench_rollouts import Walk
from harness import nimble_peer
from harness.contact_scenes import DT, FRICTION, KINDS, ContactScene, Kind, make
from harness.differences import Differences
from harness.mjcf import Matched, mjcf
from harness.report import Report, Row, arguments, machine, require_peers
from harness.timing import Bystanders, Patience, Timing, Work, alternate

from robosim import set_threads
from robosim.simulation import Control, Simulation, State, StepStatus

STEPS = 50
AT_ONCE = 10  # Jacobians per call: about 0.5 MB of matrices for Atlas
BLOCKS = ("q", "v", "tau")
FORWARD_BAR = 15.0  # speedup of all Jacobians over MuJoCo's forward differences, on Atlas
VJP_BAR = 2.0  # relative to the step
RESIDUAL_BAR = 1e-12
CALL_BAR = 5.0  # [us] of step() beyond the engine's time
PREDICTED_BAR = 95.0  # [%]
EXACT_BAR = 1e-8  # of Jacobians relative to Ridders differences
FORWARD_STEP = 1e-6  # of MuJoCo's differences
AGREEMENT = 1e-10  # relative, of mass matrix and nonlinear effects: rounding of a chain of joints
PINOCCHIO_STATES = 64
IDLE = 0.05  # fraction of a processor used by other programs
NIMBLE_BAR, NIMBLE_ATLAS_BAR = 20.0, 40.0  # speedup of all Jacobians over Nimble's
NIMBLE_PAPER = "Werling et al., arXiv:2103.16021v2"


def repeated(call: Callable[[], object]) -> Work:
    """Return a call as repeated work for `alternate`."""

    def work(passes: int) -> None:
        for _ in range(passes):
            call()

    return work


class Subject:
    """One scene on both sides, ready to be timed."""

    def __init__(self, kind: Kind) -> None:
        import mujoco

        self.scene: ContactScene = make(kind)
        self.kind = kind
        pairs = self.scene.simulations["lcp"].pairs
        text = mjcf(self.scene.model, pairs, dt=DT, friction=FRICTION)
        self.peer = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.peer)
        self.matched = Matched(self.scene.model, self.peer)
        self.states = {"resting": self.scene.rest, "moving": self.scene.moving}

    def check(self) -> float:
        """Return the deviation between the dynamics of both sides.

        Raises:
            AssertionError: the dynamics do not agree.
        """
        v = np.random.default_rng(0).normal(size=self.scene.model.n_v)
        error = self.matched.disagreement(self.scene.rest.q, v)
        if not error < AGREEMENT:
            raise AssertionError(
                f"{self.kind.name}: the dynamics differ from MuJoCo's by {error:.2g}"
            )
        return error

    def our_steps(self, solver: str, state: State) -> Work:
        """Return robosim's work: all steps once per pass."""
        simulation, control = self.scene.simulations[solver], self.scene.control
        return repeated(lambda: simulation.rollout(state, STEPS, control, interval=STEPS))

    def their_steps(self, state: State) -> Work:
        """Return MuJoCo's work: all steps once per pass."""
        import mujoco

        def steps() -> None:
            self.matched.put(self.data, state.q, state.v, self.scene.tau)
            mujoco.mj_step(self.peer, self.data, nstep=STEPS)

        return repeated(steps)

    def their_contacts(self, state: State) -> list[int]:
        """Return MuJoCo's number of contacts in each step."""
        import mujoco

        self.matched.put(self.data, state.q, state.v, self.scene.tau)
        counts = []
        for _ in range(STEPS):
            mujoco.mj_step(self.peer, self.data)
            counts.append(int(self.data.ncon))
        return counts

    def their_differences(self) -> Work:
        """Return MuJoCo's work: forward differences at the state of rest."""
        import mujoco

        n = 2 * self.peer.nv
        A = np.zeros((n, n))
        self.matched.put(self.data, self.scene.rest.q, self.scene.rest.v, self.scene.tau)
        mujoco.mj_forward(self.peer, self.data)  # for its warm start
        return repeated(
            lambda: mujoco.mjd_transitionFD(
                self.peer, self.data, FORWARD_STEP, False, A, None, None, None
            )
        )


def reports(simulation: Simulation, state: State, steps: int, control: Control) -> list[Any]:
    """Return the report of each step.

    `control` has a row of targets per step, or one row for all steps.
    """
    out = []
    for i in range(steps):
        targets = control.q_target
        now = control if targets is None else Control(q_target=np.asarray(targets)[i])
        state = simulation.step(state, now)
        out.append(state.report)
    return out


def predicted(found: list[Any]) -> float:
    """Percentage of steps whose modes the first sweeps predicted.

    In such a step no mode changed and there were no pivots.
    """
    return 100 * float(np.mean([r.class_changes == 0 and r.pivots == 0 for r in found]))


def span(counts: list[int]) -> str:
    """Format the least and the greatest count."""
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


def steps(subject: Subject, patience: Patience, report: Report) -> None:
    """Add rows for steps and MuJoCo's, their residual, and the fraction with predicted modes."""
    scene, name = subject.scene, subject.kind.name
    residual = 0.0
    for what, state in subject.states.items():
        peer = subject.their_steps(state)
        timings: dict[str, Timing] = {}
        counts: list[int] = []
        for solver, simulation in scene.simulations.items():
            timings[solver] = alternate(subject.our_steps(solver, state), peer, STEPS, patience)
            found = reports(simulation, state, STEPS, scene.control)
            residual = max(residual, *(r.residual for r in found))
            counts += [r.contacts for r in found]
            if what == "resting" and solver == "lcp":
                report.add(
                    Row(
                        f"{name}: classes predicted, {solver}",
                        predicted(found),
                        "%",
                        bar=PREDICTED_BAR if max(counts) else None,
                        at_least=True,
                        note=f"{STEPS} steps; {worst(found)}",
                    )
                )
        touching = f"contacts {span(counts)}, MuJoCo {span(subject.their_contacts(state))}"
        for solver, timing in timings.items():
            report.add(
                Row(
                    f"{name}: step, {what}, {solver}",
                    1e6 * timing.ours,
                    "us",
                    1e6 * timing.peer,
                    bar=subject.kind.mujoco_bar if solver == "lcp" else None,
                    on_ratio=True,
                    of_peer=True,
                    measured=timing.ratio,
                    note=touching,
                )
            )
    report.add(Row(f"{name}: residual", residual, bar=RESIDUAL_BAR))


def worst(found: list[Any]) -> str:
    """Count the statuses of steps that were not `solved`."""
    others = [r.status.name for r in found if r.status != StepStatus.solved]
    return ", ".join(f"{others.count(x)} {x}" for x in sorted(set(others))) or "all solved"


def all_jacobians(scene: ContactScene, by: tuple[str, ...] = BLOCKS) -> Work:
    """Return the work of all Jacobians of `AT_ONCE` steps at rest."""
    simulation = scene.simulations["lcp"]
    motion = simulation.rollout(scene.rest, AT_ONCE, scene.control)
    return repeated(lambda: motion.jacobians(*by))


def gradients(subject: Subject, patience: Patience, report: Report) -> None:
    """Add rows for all Jacobians and their peers, and for the VJP relative to the step."""
    scene, kind = subject.scene, subject.kind
    simulation = scene.simulations["lcp"]
    jacobians = all_jacobians(scene)

    def add(what: str, timing: Timing, bar: float | None = None, note: str = "") -> None:
        report.add(
            Row(
                f"{kind.name}: all Jacobians, {what}",
                1e6 * timing.ours,
                "us",
                1e6 * timing.peer,
                bar=bar,
                at_least=True,
                on_ratio=True,
                measured=1 / timing.ratio,
                note=note,
            )
        )

    timing = alternate(jacobians, subject.their_differences(), AT_ONCE, patience, peer_items=1)
    add("MuJoCo's forward differences", timing, FORWARD_BAR if kind.is_atlas else None)
    for block in BLOCKS:
        timing = alternate(all_jacobians(scene, (block,)), jacobians, AT_ONCE, patience)
        report.add(
            Row(
                f"{kind.name}: Jacobian in {block} alone",
                1e6 * timing.ours,
                "us",
                1e6 * timing.peer,
                note="beside all",
            )
        )

    differences = Differences(simulation, scene.rest, scene.control)
    error, rounds = differences.error(), differences.rounds
    is_kink = simulation.linearize(scene.rest, scene.control).jacobians().one_sided
    starts = differences.starts(1e-7)
    timing = alternate(
        jacobians, repeated(lambda: differences.steps(starts)), AT_ONCE, patience, peer_items=1
    )
    add("own central differences", timing, note=f"{len(starts[0].q)} steps")
    ridders = Timing(timing.ours, timing.peer * rounds, timing.ratio / rounds)
    add("own Ridders differences", ridders, note=f"{rounds} rounds")
    report.add(
        Row(
            f"{kind.name}: Jacobians less Ridders', relative",
            error,
            bar=None if is_kink else EXACT_BAR,
            note="one-sided: a kink here" if is_kink else "",
        )
    )
    if kind.published is not None:
        beside_nimble(subject, jacobians, patience, report)

    motion = simulation.rollout(scene.rest, STEPS, scene.control)
    q_bar, v_bar = np.zeros((2, STEPS + 1, scene.model.n_v))
    q_bar[-1] = v_bar[-1] = 1
    back = repeated(lambda: motion.vjp(q_bar, v_bar))
    timing = alternate(back, subject.our_steps("lcp", scene.rest), STEPS, patience)
    report.add(
        Row(
            f"{kind.name}: VJP beside the step",
            1e6 * (timing.ours - timing.peer),
            "us",
            1e6 * timing.peer,
            bar=VJP_BAR,
            on_ratio=True,
            of_peer=True,
            measured=timing.ratio - 1,  # the VJP first takes each step again
            note="a row of each Jacobian, and all other gradients",
        )
    )


def beside_nimble(subject: Subject, jacobians: Work, patience: Patience, report: Report) -> None:
    """Add rows for steps and Jacobians and Nimble's, and the error of Nimble's Jacobians."""
    scene, kind = subject.scene, subject.kind
    library = nimble_peer.load()
    if library is None:
        report.remark(
            f"{kind.name}: beside Nimble: not measured, as it is not installed (nimblephysics,"
            f" numpy<2); its paper has {kind.published:g} us for all Jacobians ({NIMBLE_PAPER}, on"
            " another machine)"
        )
        return
    simulation = scene.simulations["lcp"]
    peer = nimble_peer.NimbleWorld(library, scene.model, simulation.pairs, dt=DT, friction=FRICTION)
    error = peer.disagreement(scene.rest.q)
    if not error < AGREEMENT:
        raise AssertionError(f"{kind.name}: the mass matrix differs from Nimble's by {error:.2g}")
    peer.put(scene.rest.q, scene.rest.v, scene.tau)
    note = (
        f"contacts {simulation.step(scene.rest, scene.control).report.contacts}, Nimble"
        f" {peer.contacts()}"
    )

    def steps() -> None:
        peer.put(scene.rest.q, scene.rest.v, scene.tau)
        for _ in range(STEPS):
            peer.world.step()

    timing = alternate(subject.our_steps("lcp", scene.rest), repeated(steps), STEPS, patience)
    report.add(
        Row(
            f"{kind.name}: step, resting, Nimble's",
            1e6 * timing.ours,
            "us",
            1e6 * timing.peer,
            measured=1 / timing.ratio,
            note=note,
        )
    )

    def anew() -> None:  # else Nimble reuses its results for the same state
        peer.put(scene.rest.q, scene.rest.v, scene.tau)
        peer.jacobians()

    timing = alternate(jacobians, repeated(anew), AT_ONCE, patience, peer_items=1)
    peer.put(scene.rest.q, scene.rest.v, scene.tau)
    report.add(
        Row(
            f"{kind.name}: all Jacobians, Nimble's",
            1e6 * timing.ours,
            "us",
            1e6 * timing.peer,
            bar=NIMBLE_ATLAS_BAR if kind.is_atlas else NIMBLE_BAR,
            at_least=True,
            on_ratio=True,
            measured=1 / timing.ratio,
            note=note,
        )
    )
    off = peer.error()
    report.add(
        Row(
            f"{kind.name}: Nimble's Jacobians less Ridders', relative",
            off.largest,
            note=f"of its own step; {100 * off.open:.0f} % of the entries have none",
        )
    )


def beside_pinocchio(subject: Subject, library: Any, patience: Patience, report: Report) -> None:
    """Add a row for a step with all Jacobians, and Pinocchio's ABA with derivatives."""
    from harness.matched import Matched as PinocchioMatched
    from harness.pinocchio_loop import PinocchioLoop
    from harness.robots import Robot

    kind, scene = subject.kind, subject.scene
    robot = Robot(kind.name, str(kind.urdf), floating=scene.model.floating_base, shared=True)
    matched = PinocchioMatched(robot)
    loop = PinocchioLoop(matched.source, library)
    ours, theirs = matched.states(PINOCCHIO_STATES, seed=0)
    loop.set_states(theirs.q, theirs.v, theirs.a, theirs.tau)
    model = scene.model.with_gravity(matched.source.gravity.linear)
    expected = matched.ours(loop.results(0, world=True)["aba"], (0,))
    a = model.forward_dynamics(ours.q[0], ours.v[0], ours.tau[0])
    error = float(np.abs(a - expected).max() / np.abs(expected).max())
    if not error < 1e-8:  # rounding, times the condition of the mass matrix
        raise AssertionError(f"{kind.name}: ABA differs from Pinocchio's by {error:.2g}")
    local, world = (repeated_loop(loop, name) for name in ("aba local", "aba world"))
    timing = alternate(local, world, PINOCCHIO_STATES, patience)
    aba = local if timing.ratio < 1 else world
    derivatives = repeated_loop(loop, "aba_derivatives")

    def both(passes: int) -> None:
        aba(passes)
        derivatives(passes)

    timing = alternate(all_jacobians(scene), both, AT_ONCE, patience, peer_items=PINOCCHIO_STATES)
    report.add(
        Row(
            f"{kind.name}: step and Jacobians, Pinocchio's ABA and its derivatives",
            1e6 * timing.ours,
            "us",
            1e6 * timing.peer,
            bar=kind.pinocchio_bar,
            on_ratio=True,
            of_peer=True,
            measured=timing.ratio,
        )
    )


def repeated_loop(loop: Any, name: str) -> Work:
    """Return the work of an algorithm of Pinocchio on all its states."""
    return lambda passes: loop.run(name, passes)


def calls(subject: Subject, patience: Patience, report: Report) -> None:
    """Add rows for calls from Python, the engine's own time and MuJoCo's calls, at rest."""
    import mujoco

    scene, name = subject.scene, subject.kind.name
    simulation, rest, control = scene.simulations["lcp"], scene.rest, scene.control
    step = repeated(lambda: simulation.step(rest, control))
    timing = alternate(step, subject.our_steps("lcp", rest), 1, patience, peer_items=STEPS)
    report.add(
        Row(
            f"{name}: step() over a step of a rollout",
            1e6 * (timing.ours - timing.peer),
            "us",
            bar=CALL_BAR,
            note=f"{1e6 * timing.ours:.3g} us, in a rollout {1e6 * timing.peer:.3g} us",
        )
    )
    subject.matched.put(subject.data, rest.q, rest.v, scene.tau)
    theirs = repeated(lambda: mujoco.mj_step(subject.peer, subject.data))
    timing = alternate(step, theirs, 1, patience)
    report.add(
        Row(
            f"{name}: step() beside mj_step, from Python",
            1e6 * timing.ours,
            "us",
            1e6 * timing.peer,
            of_peer=True,
            measured=timing.ratio,
        )
    )
    linearize = repeated(lambda: simulation.linearize(rest, control).jacobians(*BLOCKS))
    timing = alternate(linearize, all_jacobians(scene), 1, patience, peer_items=AT_ONCE)
    report.add(
        Row(
            f"{name}: linearize().jacobians() over those of a rollout",
            1e6 * (timing.ours - timing.peer),
            "us",
            note=f"{1e6 * timing.ours:.3g} us, in a rollout {1e6 * timing.peer:.3g} us",
        )
    )


def walking(count: int, report: Report) -> None:
    """Add rows for the fraction of predicted modes while a quadruped steps in place."""
    walk = Walk(count)
    for solver in ("lcp", "convex"):
        found = reports(walk.with_solver(solver), walk.start, count, walk.control)
        if solver == "lcp":
            report.add(
                Row(
                    f"quadruped that walks: classes predicted, {solver}",
                    predicted(found),
                    "%",
                    bar=PREDICTED_BAR,
                    at_least=True,
                    note=f"{count} steps; {worst(found)}",
                )
            )
        report.add(
            Row(
                f"quadruped that walks: residual, {solver}",
                max(r.residual for r in found),
                bar=RESIDUAL_BAR,
            )
        )


def main() -> int:
    """Measure, check, report."""
    parser = arguments(str(__doc__).splitlines()[0])
    names = [kind.name for kind in KINDS]
    parser.add_argument(
        "--scene", action="append", choices=names, help="only this one; may be repeated"
    )
    options = parser.parse_args()
    require_peers("mujoco", "pin")
    set_threads(1)  # the peers have one thread, too
    from harness import pinocchio_loop

    patience = Patience(5, 0.02) if options.quick else Patience(21, 0.05)
    report = Report("One step with contact, and its derivatives")
    library = pinocchio_loop.load()
    report.remark(
        f"{machine()['cpu']}; MuJoCo {metadata.version('mujoco')}, Pinocchio"
        f" {metadata.version('pin')} compiled with {' '.join(pinocchio_loop.flags())}."
    )
    bystanders = Bystanders()
    for kind in KINDS:
        if kind.name not in (options.scene or names):
            continue
        try:
            subject = Subject(kind)
        except FileNotFoundError as error:
            report.remark(f"{kind.name}: not measured, {error}")
            continue
        report.remark(f"{kind.name}: the dynamics of both agree to {subject.check():.1e}")
        steps(subject, patience, report)
        gradients(subject, patience, report)
        calls(subject, patience, report)
        if kind.urdf is not None:
            beside_pinocchio(subject, library, patience, report)
    if options.scene is None:
        walking(400 if options.quick else 2000, report)
    share = bystanders.share()
    report.remark(f"Other programs used {100 * share:.0f} % of a processor meanwhile."
                  + (" WARNING: the machine was not idle." if share > IDLE else ""))  # fmt: skip
    return report.finish(options)


if __name__ == "__main__":
    raise SystemExit(main())
