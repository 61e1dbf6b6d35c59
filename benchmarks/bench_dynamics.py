"""Dynamics and derivatives compared with Pinocchio: one state, batches, threads, calls from Python.

For one state at a time both sides run in the same process from loops in C++ over the same 256
random states: Pinocchio's algorithms compiled from the headers of its wheel for this processor,
with the faster of its conventions if it has two, and the engine compiled from this checkout. A
batch is one call of the engine for 256 states on one thread; its peer is Pinocchio's loop over
them. Times are processor time, in alternating slices; ratios (ours / peer) are medians over
neighboring slices. Before any timing, the results of both sides have to agree.

    python benchmarks/bench_dynamics.py [--quick] [--json FILE] [--markdown FILE] [--robot NAME]
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from statistics import median

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.report import Report, Row, arguments, machine, require_peers
from harness.timing import Bystanders, Patience, Timing, Work, alternate

STATES = 256
# Number of separate sets of arrays, for two threads: the pages that arrays are on determine how
# well caches can keep them.
PLACES = 3
# Ours / peer; the last is a speedup.
ONE_STATE_BAR, BATCH_BAR, PYTHON_BAR, THREADS_BAR = 0.7, 0.2, 0.5, 1.8
STATE_PARTS = ("q", "v", "a", "tau")
IDLE = 0.05  # fraction of a processor used by other programs
AGREEMENT = 1e-8  # relative to the largest entry: rounding, times the condition of the mass matrix


@dataclass(frozen=True)
class Operation:
    """A measured operation.

    Attributes:
        name: of robosim's operation.
        label: in tables.
        peers: Pinocchio's algorithms for it in the loops; the faster one counts.
        judged: True if there is a bar.
    """

    name: str
    label: str
    peers: tuple[str, ...]
    judged: bool = True


OPERATIONS = (
    Operation("frame_poses", "poses of all links", ("forward_kinematics",), judged=False),
    Operation("frame_jacobians", "Jacobian of one link", ("jacobian",), judged=False),
    Operation("rnea", "RNEA", ("rnea",)),
    Operation("crba", "CRBA", ("crba local", "crba world")),
    Operation("forward_dynamics", "ABA", ("aba local", "aba world")),
    Operation("mass_matrix_inverse", "M inverse", ("mass_matrix_inverse",), judged=False),
    Operation("rnea_derivatives", "RNEA derivatives", ("rnea_derivatives",)),
    Operation("forward_dynamics_derivatives", "ABA derivatives", ("aba_derivatives",)),
)


def many_states(n_v: int) -> int:
    """Number of states in a batch for two threads.

    It is large enough that waking a thread does not count. With up to three matrices per state it
    is small enough for a processor's cache, as both threads share the speed of main memory.
    """
    n = 16 * STATES
    while n > STATES and 3 * 8 * n_v**2 * n > 20e6:
        n //= 2
    return n


class Subject:
    """One robot on both sides with its states, ready to be timed."""

    def __init__(self, robot, libraries):
        from harness.matched import Matched
        from harness.pinocchio_loop import PinocchioLoop
        from harness.robosim_loop import RobosimLoop

        self.name = robot.name
        self.matched = Matched(robot)
        self.states, self.their_states = self.matched.states(STATES, seed=0)
        gravity = self.matched.source.gravity.linear
        self.ours, *self.many = (
            RobosimLoop(self.matched.model, gravity, self.matched.links, libraries[0])
            for _ in range(1 + PLACES)
        )
        self.peer = PinocchioLoop(self.matched.source, libraries[1])
        self.n_many = many_states(self.matched.model.n_v)
        repeated = [
            np.tile(getattr(self.states, k), (self.n_many // STATES, 1)) for k in STATE_PARTS
        ]
        for loop in self.many:
            loop.set_states(*repeated)
        for loop, s in ((self.ours, self.states), (self.peer, self.their_states)):
            loop.set_states(s.q, s.v, s.a, s.tau)

    def check(self) -> float:
        """Return the largest difference of any result, relative to that result's largest entry.

        Raises:
            AssertionError: the sides do not agree, or a batch is not bitwise equal to single
                states.
        """
        worst = 0.0
        batches = [self.ours.batch_results(threads) for threads in (1, 2)]
        for state in range(0, STATES, 17):
            ours = self.ours.results(state)
            for name, value in ours.items():
                if not all(np.array_equal(value, batch[name][state]) for batch in batches):
                    raise AssertionError(f"{self.name}: {name} has other bits in a batch")
            for world in (False, True):
                for name, theirs in self.peer.results(state, world=world).items():
                    axes = {"X_WF": (), "J": (1,)}.get(name, tuple(range(theirs.ndim)))
                    expected = self.matched.ours(theirs, axes)
                    error = float(
                        np.abs(ours[name] - expected).max() / max(1.0, np.abs(expected).max())
                    )
                    if not error < AGREEMENT:
                        raise AssertionError(
                            f"{self.name}: {name} differs from Pinocchio's by {error:.2g}"
                        )
                    worst = max(worst, error)
        return worst

    def peer_of(self, operation: Operation, patience: Patience) -> str:
        """Return the faster of Pinocchio's algorithms for an operation."""
        best, *others = operation.peers
        for other in others:
            timing = alternate(
                self.work(self.peer, other), self.work(self.peer, best), STATES, patience
            )
            best = other if timing.ratio < 1 else best
        return best

    @staticmethod
    def work(loop, name: str) -> Work:
        """Return a loop's run as work for `alternate`."""
        return lambda passes: loop.run(name, passes)

    @staticmethod
    def batch_work(loop, name: str, threads: int) -> Work:
        """Return a loop's run by batches as work for `alternate`."""
        return lambda passes: loop.run_batch(name, passes, threads=threads)


def repeated(call: Callable[[], object]) -> Work:
    """Return a call from Python as repeated work for `alternate`."""

    def work(passes: int) -> None:
        for _ in range(passes):
            call()

    return work


class Figures:
    """All measurements: rows of the report, and timings for the tables of the documentation."""

    def __init__(self, report: Report):
        self.report = report
        self.sections: dict[str, dict[str, dict[str, Timing]]] = {}

    def add(
        self,
        section: str,
        robot: str,
        label: str,
        timing: Timing,
        bar: float | None,
        note: str = "",
    ) -> None:
        """Add a row of times in us, with a bar on ours / peer."""
        self.sections.setdefault(section, {}).setdefault(robot, {})[label] = timing
        self.report.add(
            Row(
                f"{robot}: {label}, {section}",
                1e6 * timing.ours,
                "us",
                1e6 * timing.peer,
                bar=bar,
                on_ratio=True,
                of_peer=True,
                measured=timing.ratio,
                note=note,
            )
        )


def from_loops(subject: Subject, patience: Patience, figures: Figures) -> None:
    """Measure one state at a time and a batch on one thread, against Pinocchio's loop."""
    for operation in OPERATIONS:
        peer_name = subject.peer_of(operation, patience)
        peer = subject.work(subject.peer, peer_name)
        note = f"Pinocchio's {peer_name}" if len(operation.peers) > 1 else ""
        timing = alternate(subject.work(subject.ours, operation.name), peer, STATES, patience)
        bar = ONE_STATE_BAR if operation.judged else None
        figures.add("one state", subject.name, operation.label, timing, bar, note)
        timing = alternate(
            subject.batch_work(subject.ours, operation.name, 1), peer, STATES, patience
        )
        bar = BATCH_BAR if operation.judged else None
        figures.add(
            f"per state in a batch of {STATES}", subject.name, operation.label, timing, bar, note
        )


def from_threads(subject: Subject, quick: bool, report: Report) -> None:
    """Measure the speedup of two threads over one, in elapsed time.

    Slices are longer than elsewhere: after every turn the results have to move to the other side's
    caches first.
    """
    patience = Patience(3, 0.01) if quick else Patience(9, 0.05)
    for operation in OPERATIONS:
        if not operation.judged:
            continue
        ratios = []
        for loop in subject.many:
            one, two = (subject.batch_work(loop, operation.name, threads) for threads in (1, 2))
            timing = alternate(two, one, subject.n_many, patience, clock=time.perf_counter)
            ratios.append(1 / timing.ratio)
        name = f"{subject.name}: {operation.label}, two threads to one, batch of {subject.n_many}"
        report.add(Row(name, median(ratios), "x", bar=THREADS_BAR, at_least=True, by_machine=True))


def from_python(subject: Subject, patience: Patience, figures: Figures) -> None:
    """Measure one call from Python, with a Data that is reused on both sides."""
    import pinocchio as pin

    source, their_data = subject.matched.source, subject.matched.source.createData()
    data = subject.matched.model.data()
    q, v, a, tau = (getattr(subject.states, part)[0].copy() for part in STATE_PARTS)
    their_q, their_v, their_a, their_tau = (
        getattr(subject.their_states, part)[0] for part in STATE_PARTS
    )
    calls = {
        "RNEA": (
            lambda: data.inverse_dynamics(q, v, a),
            lambda: pin.rnea(source, their_data, their_q, their_v, their_a),
        ),
        "CRBA": (lambda: data.mass_matrix(q), lambda: pin.crba(source, their_data, their_q)),
        "ABA": (
            lambda: data.forward_dynamics(q, v, tau),
            lambda: pin.aba(source, their_data, their_q, their_v, their_tau),
        ),
    }
    for label, (ours, peer) in calls.items():
        timing = alternate(repeated(ours), repeated(peer), 1, patience)
        figures.add("one call from Python", subject.name, label, timing, PYTHON_BAR)


def main() -> int:
    from harness.robots import ROBOTS

    parser = arguments(__doc__.splitlines()[0])
    names = [robot.name for robot in ROBOTS]
    parser.add_argument(
        "--robot", action="append", choices=names, help="only this one; may be repeated"
    )
    parser.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        help="write tables, into a page between its markers",
    )
    options = parser.parse_args()
    require_peers("pin", "example-robot-data")
    from harness import dynamics_table, page, pinocchio_loop, robosim_loop

    patience = Patience(9, 0.002) if options.quick else Patience(41, 0.01)
    report = Report("Dynamics, beside Pinocchio")
    figures = Figures(report)
    libraries = robosim_loop.load(), pinocchio_loop.load()
    conditions = (
        f"{machine()['cpu']}, {libraries[0].robot_lanes()} lanes; Pinocchio"
        f" {metadata.version('pin')} compiled with {' '.join(pinocchio_loop.flags())}."
    )
    report.remark(f"{conditions} Load {os.getloadavg()[0]:.2f}.")
    bystanders = Bystanders()
    for robot in ROBOTS:
        if robot.name not in (options.robot or names):
            continue
        try:
            subject = Subject(robot, libraries)
        except FileNotFoundError as error:
            report.remark(f"{robot.name}: not measured, {error}")
            continue
        report.remark(
            f"{robot.name}, {subject.matched.model.n_v} degrees of freedom: the sides agree to "
            f"{subject.check():.1e}"
        )
        from_loops(subject, patience, figures)
        from_threads(subject, options.quick, report)
        if robot.name == "UR5":
            from_python(subject, patience, figures)
    share = bystanders.share()
    report.remark(f"Other programs used {100 * share:.0f} % of a processor meanwhile."
                  + (" WARNING: the machine was not idle." if share > IDLE else ""))  # fmt: skip
    if options.markdown is not None:
        text = dynamics_table.document(conditions, figures.sections)
        page.write(options.markdown, text, "dynamics tables")
    return report.finish(options)


if __name__ == "__main__":
    raise SystemExit(main())
