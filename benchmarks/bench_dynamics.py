"""Dynamics and derivatives, beside Pinocchio in the same run: one state, batches, threads, calls from Python.

One state at a time both sides run from loops in C++ over the same 256 random states: Pinocchio's algorithms compiled
from the headers of its wheel for this processor, with the quicker of its conventions where it has two, and the engine
compiled from this checkout. Times are processor time, in slices that take turns; ratios (ours / peer) are medians over
neighbouring slices. Before anything is timed, the results of both sides have to agree.

    python benchmarks/bench_dynamics.py [--quick] [--json FILE] [--robot NAME ...]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.report import Report, Row, arguments, machine, require_peers
from harness.timing import Bystanders, Patience, Timing, Work, alternate

STATES = 256
ONE_STATE_BAR, BATCH_BAR, PYTHON_BAR, THREADS_BAR = 0.7, 0.2, 0.5, 1.8  # ours / peer; the last: times as fast
AGREEMENT = 1e-8  # of the largest entry: rounding, times the condition of the mass matrix


@dataclass(frozen=True)
class Operation:
    """What is measured.

    Attributes:
        name: of robosim's operation.
        label: in tables.
        peers: Pinocchio's algorithms for it in the loops; the quicker one counts.
        judged: whether there is a bar.
    """

    name: str
    label: str
    peers: tuple[str, ...]
    judged: bool = True


OPERATIONS = (
    Operation("forward_kinematics", "kinematics", ("forward_kinematics",), judged=False),
    Operation("joint_jacobians", "Jacobians", ("jacobians",), judged=False),
    Operation("rnea", "RNEA", ("rnea",)),
    Operation("crba", "CRBA", ("crba local", "crba world")),
    Operation("aba", "ABA", ("aba local", "aba world")),
    Operation("mass_matrix_inverse", "M inverse", ("mass_matrix_inverse",), judged=False),
    Operation("rnea_derivatives", "RNEA derivatives", ("rnea_derivatives",)),
    Operation("aba_derivatives", "ABA derivatives", ("aba_derivatives",)),
)


class Subject:
    """One robot on both sides with its states, ready to be timed."""

    def __init__(self, robot, libraries):
        from harness.matched import Matched
        from harness.pinocchio_loop import PinocchioLoop
        from harness.robosim_loop import RobosimLoop

        self.name = robot.name
        self.matched = Matched(robot)
        self.states, self.their_states = self.matched.states(STATES, seed=0)
        self.ours = RobosimLoop(self.matched.model, self.matched.source.gravity.linear, libraries[0])
        self.peer = PinocchioLoop(self.matched.source, libraries[1])
        for loop, s in ((self.ours, self.states), (self.peer, self.their_states)):
            loop.set_states(s.q, s.v, s.a, s.tau)

    def check(self) -> float:
        """The largest difference of any result, as a part of that result's largest entry.

        Raises:
            AssertionError: the sides do not agree.
        """
        worst = 0.0
        for state in range(0, STATES, 17):
            ours = self.ours.results(state)
            for world in (False, True):
                for name, theirs in self.peer.results(state, world=world).items():
                    expected = self.matched.ours(theirs)
                    error = float(np.abs(ours[name] - expected).max() / max(1.0, np.abs(expected).max()))
                    if not error < AGREEMENT:
                        raise AssertionError(f"{self.name}: {name} differs from Pinocchio's by {error:.2g}")
                    worst = max(worst, error)
        return worst

    def peer_of(self, operation: Operation, patience: Patience) -> str:
        """The quicker of Pinocchio's algorithms for an operation."""
        best, *others = operation.peers
        for other in others:
            timing = alternate(self.work(self.peer, other), self.work(self.peer, best), STATES, patience)
            best = other if timing.ratio < 1 else best
        return best

    @staticmethod
    def work(loop, name: str) -> Work:
        """A loop's run, as `alternate` wants it."""
        return lambda passes: loop.run(name, passes)


def repeated(call: Callable[[], object]) -> Work:
    """A call from Python, as often as `alternate` wants it."""

    def work(passes: int) -> None:
        for _ in range(passes):
            call()

    return work


def row(name: str, timing: Timing, bar: float | None, note: str = "") -> Row:
    """A row of times in us, with a bar on ours / peer."""
    return Row(name, 1e6 * timing.ours, "us", 1e6 * timing.peer, bar=bar, on_ratio=True, of_peer=True,
               measured=timing.ratio, note=note)  # fmt: skip


def one_state(subject: Subject, patience: Patience, report: Report) -> None:
    """One state at a time, both from loops in C++."""
    for operation in OPERATIONS:
        peer = subject.peer_of(operation, patience)
        timing = alternate(
            subject.work(subject.ours, operation.name), subject.work(subject.peer, peer), STATES, patience
        )
        note = f"Pinocchio's {peer}" if len(operation.peers) > 1 else ""
        bar = ONE_STATE_BAR if operation.judged else None
        report.add(row(f"{subject.name}: {operation.label}, one state", timing, bar, note))


def main() -> int:
    from harness.robots import ROBOTS

    parser = arguments(__doc__.splitlines()[0])
    names = [robot.name for robot in ROBOTS]
    parser.add_argument("--robot", action="append", choices=names, help="only this one; may be repeated")
    options = parser.parse_args()
    require_peers("pin", "example-robot-data")
    from harness import pinocchio_loop, robosim_loop

    patience = Patience(9, 0.002) if options.quick else Patience(41, 0.01)
    report = Report("Dynamics, beside Pinocchio")
    libraries = robosim_loop.load(), pinocchio_loop.load()
    report.remark(
        f"{machine()['cpu']}, load {os.getloadavg()[0]:.2f}; robosim for {robosim_loop.isa()}, Pinocchio with "
        + " ".join(pinocchio_loop.flags())
    )
    bystanders = Bystanders()
    for robot in ROBOTS:
        if robot.name not in (options.robot or names):
            continue
        try:
            subject = Subject(robot, libraries)
        except FileNotFoundError as error:
            report.remark(f"{robot.name}: not measured, {error}")
            continue
        report.remark(f"{robot.name}: the sides agree to {subject.check():.1e}")
        one_state(subject, patience, report)
    share = bystanders.share()
    if share > 0.05:
        report.remark(f"WARNING: other programs used {100 * share:.0f} % of a processor meanwhile")
    return report.finish(options.json)


if __name__ == "__main__":
    raise SystemExit(main())
