"""Planning compared with OMPL's RRT-Connect with coal: search, simplification, success and safety.

Both sides run in the same process with the same shapes, pairs, limits, starts and goals. robosim
proves every edge free between samples at 5 mm. OMPL samples edges at its default 1 % of the space's
extent, and queries coal behind coal's own broad phase. OMPL's time is that of `solve` alone, minus
the cost of its calls into Python (measured, and shown). Times are the processor time of the one
thread that either side uses, so that a busy machine does not count. Whole plans are in elapsed
time: the first call, which compiles the scene, and the second. Every trajectory of robosim is then
checked by coal. If VAMP is installed (`pip install vamp-planner`), its search and simplification
are measured too, and its paths are checked in the same way. At the end come the first plan of a
process, and scenes of many objects and points by their number.

    python benchmarks/bench_planning.py [--quick] [--json FILE] [--planner NAME]
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import vamp_planner
from harness.report import Report, Row, arguments, require_peers
from harness.whole_plans import add_processes, add_scenes, first_and_second, whole_plan_rows

OMPL_BUDGET = 1.0  # [s] per problem, as for robosim
SECOND_PLAN = 3.0  # [ms] whole plan in a known scene


@dataclass(frozen=True)
class Settings:
    """Settings of a set of problems.

    They are robosim's planner, the cost of OMPL's calls into Python [s], sample counts, and VAMP.
    """

    planner: str
    overhead: float
    torque_rate: float  # [Hz]
    variants: bool  # True if OMPL also runs in variants closer to robosim, see measure
    vamp: Any | None = None  # if installed and with the robot


@dataclass
class Outcome:
    """Result of one problem: seconds of both sides, and the result of the independent check."""

    family: str
    name: str
    status: str
    search: float
    simplify: float
    first: float  # the whole plan, in a scene never compiled before
    ompl: float
    ompl_solved: bool
    ompl_checks: int
    ompl_window: float = float("nan")
    ompl_boxes: float = float("nan")
    length: float = float("nan")
    length_optimized: float = float("nan")
    length_ompl: float = float("nan")
    optimize: float = float("nan")
    again: float = float("nan")  # search and simplification, repeated immediately
    second: float = float("nan")  # the whole plan, repeated
    overlaps: int = 0
    deepest: float = 0.0
    excess: float = -1.0
    worst: str = ""
    vamp: vamp_planner.Run | None = None

    @property
    def solved(self) -> bool:
        return self.status in ("solved", "cut short")


def checker_of(case, prepared, *, by_meshes=False):
    """Return coal's checker for a case, with robosim's colliders and pairs and Pinocchio's joints.

    Args:
        case: the problem.
        prepared: the problem after `prepare`.
        by_meshes: use the original triangles of convex colliders.
    """
    from harness.coal_checker import CoalChecker

    from robosim.scene.objects import pieces_of

    model, scene = case.problem.model, case.problem.scene
    colliders = [
        (c.link, c.X_LC, c.exact if by_meshes and c.exact is not None else c.shape)
        for c in model.colliders
    ]
    obstacles = [(thing.pose @ X, shape) for thing in scene for shape, X in pieces_of(thing)]
    if scene.attachments:
        raise ValueError(f"{case.name}: attached objects are not handed to coal by this benchmark")
    frozen = dict(zip(model.position_names, prepared.start, strict=True))
    return CoalChecker(
        case.urdf, prepared.columns.names, frozen, colliders, obstacles, prepared.scene.pairs
    )


def vamp_for(case, report: Report) -> Any | None:
    """Return VAMP if it is installed and has the robot of a case; else add a remark."""
    from robosim.planners import prepare

    library = vamp_planner.load()
    if library is None:
        report.remark("VAMP: not measured, vamp-planner is not installed")
        return None
    why = vamp_planner.difference(library, case.problem.model, prepare(case.problem).columns.names)
    if why:
        report.remark(f"VAMP: not measured, its robot is another: {why}")
    return None if why else library


def callback_cost() -> float:
    """Time [s] of OMPL's call into Python and from there into an empty checker."""
    from harness.coal_checker import CoalChecker
    from harness.ompl_peer import call_cost

    empty = '<robot name="r"><link name="a"/>' + "".join(
        f'<link name="b{i}"/><joint name="j{i}" type="continuous"><parent'
        f' link="{"a" if i == 0 else f"b{i - 1}"}"/><child link="b{i}"/><axis xyz="0 0 1"/></joint>'
        for i in range(6)
    )
    checker = CoalChecker(
        empty + "</robot>", [f"j{i}" for i in range(6)], {}, [], [], np.zeros((0, 2))
    )
    q = np.zeros((5_000, 6))
    costs = []
    for _ in range(15):
        begin = time.thread_time()
        checker.count_free(q)
        inside = (time.thread_time() - begin) / len(q)
        costs.append(call_cost(checker.is_free, 6, len(q)) - inside)
    return max(float(np.median(costs)), 0.0)


def measure(case, settings: Settings, report: Report) -> Outcome:
    """Measure both sides on one problem, one after the other."""
    from harness.ompl_peer import rrt_connect
    from harness.recheck import recheck

    from robosim.planners import (
        SearchStatus,
        goal_configurations,
        optimize,
        prepare,
        search,
        simplify,
    )
    from robosim.planners.stages import path_length, sampling_window

    gc.collect()
    prepared = prepare(case.problem)
    columns = list(prepared.columns.q)
    targets = goal_configurations(prepared, prepared.goals, prepared.start)
    begin = time.thread_time()
    found = search(prepared, targets.q, planner=settings.planner, deadline_s=1.0)
    searched = time.thread_time()
    short = optimized = found.path
    if found.status is SearchStatus.FOUND:
        short = simplify(prepared, found.path)
    simplified = time.thread_time()
    if found.status is SearchStatus.FOUND:
        optimized = optimize(prepared, short)
    ended = time.thread_time()
    if found.status is SearchStatus.FOUND:
        simplify(
            prepared, search(prepared, targets.q, planner=settings.planner, deadline_s=1.0).path
        )
    again = time.thread_time() - ended
    beside = None
    if settings.vamp is not None:
        # VAMP's joints have a range of half a turn to each side. Of goals that differ by full turns
        # it supports the one nearest to zero.
        nearest = targets.q[np.abs(targets.q).max(axis=1).argmin()]
        beside = vamp_planner.run(
            settings.vamp, case, prepared.columns.names, prepared.start[columns], nearest
        )
    result, first, second = first_and_second(case.problem, settings.planner)
    checker = checker_of(case, prepared)
    goal = targets.q[max(found.goal_index, 0)]
    ends = prepared.start[columns], goal[columns]

    def ompl(lower, upper, *, shorten=False):
        found = rrt_connect(
            checker.is_free, lower, upper, *ends, budget_s=OMPL_BUDGET, simplify=shorten
        )
        return found, max(found.seconds - settings.overhead * found.checks, 0.0)

    # OMPL's space is bounded by the joint limits, as its users would do; 1 % refers to this space.
    peer, peer_seconds = ompl(prepared.columns.lower, prepared.columns.upper, shorten=True)
    outcome = Outcome(
        case.family,
        case.name,
        result.status.value,
        searched - begin,
        simplified - searched,
        first,
        peer_seconds,
        peer.solved,
        peer.checks,
    )
    outcome.second, outcome.vamp = second, beside
    if found.status is SearchStatus.FOUND:
        outcome.length, outcome.length_optimized = path_length(short), path_length(optimized)
        outcome.optimize, outcome.again = ended - simplified, again
    if peer.solved:
        outcome.length_ompl = path_length(peer.simplified)
    if settings.variants:
        # Variant like robosim: joints with a range of several turns are searched over one turn.
        window = sampling_window(prepared.columns, prepared.start, goal[None])
        outcome.ompl_window = ompl(*window)[1]
        checker.use("boxes")
        outcome.ompl_boxes = ompl(*window)[1]
    exact = checker_of(case, prepared, by_meshes=True)
    if beside is not None and beside.solved:
        outcome.vamp = beside.checked(exact)
    if result.ok:
        verdict = recheck(exact, result, torque_rate=settings.torque_rate)
        outcome.overlaps, outcome.deepest = verdict.overlaps, verdict.deepest
        outcome.excess, outcome.worst = verdict.excess, verdict.worst
        if verdict.overlaps:
            report.remark(
                f"OVERLAP {case.name}: {verdict.overlaps} samples, deepest {verdict.deepest:.3g} m"
            )
        if verdict.excess > 1e-6:
            report.remark(f"LIMIT {case.name}: {verdict.worst} exceeded by {verdict.excess:.3g}")
    else:
        report.remark(f"UNSOLVED {case.name}: {result.status.value}: {result.reason}")
    return outcome


def rows_of(label: str, outcomes: list[Outcome], report: Report, *, judged: bool) -> None:
    """Add the figures of a family, or with bars those of a whole set."""
    solved = [o for o in outcomes if o.solved]
    if not solved:
        report.add(
            Row(
                f"{label}: solved within 1 s", 0.0, "%", bar=99.5 if judged else None, at_least=True
            )
        )
        return
    percent = 100 * len(solved) / len(outcomes)
    search = np.array([o.search for o in solved]) * 1e3
    both = np.array([o.search + o.simplify for o in solved]) * 1e3
    ompl = np.array([o.ompl for o in outcomes]) * 1e3  # unsolved problems count with their budget
    bar = (lambda value: value) if judged else (lambda value: None)
    report.add(Row(f"{label}: solved within 1 s", percent, "%",
        peer=100 * np.mean([o.ompl_solved for o in outcomes]),
                   bar=bar(99.5), at_least=True, note=f"n = {len(outcomes)}"))  # fmt: skip
    report.add(Row(f"{label}: search, median", float(np.median(search)), "ms",
        float(np.median(ompl)),
                   bar=bar(8.0), at_least=True, on_ratio=True))  # fmt: skip
    report.add(
        Row(
            f"{label}: search, p95",
            float(np.percentile(search, 95)),
            "ms",
            float(np.percentile(ompl, 95)),
        )
    )
    report.add(
        Row(
            f"{label}: search and simplification, median",
            float(np.median(both)),
            "ms",
            bar=bar(0.5),
        )
    )
    report.add(
        Row(
            f"{label}: search and simplification, p95",
            float(np.percentile(both, 95)),
            "ms",
            bar=bar(10.0),
        )
    )
    again = float(np.nanmedian([o.again for o in solved])) * 1e3
    report.add(Row(f"{label}: the same, asked again at once, median", again, "ms"))
    both_solved = [o for o in outcomes if np.isfinite(o.length + o.length_ompl)]
    if both_solved:
        ours, optimized, theirs = (
            float(np.median([getattr(o, f"length{which}") for o in both_solved]))
            for which in ("", "_optimized", "_ompl")
        )
        report.add(Row(f"{label}: path after simplification, median", ours, "rad", theirs,
                       of_peer=True, note=f"both solved {len(both_solved)}"))  # fmt: skip
        spent = 1e3 * float(np.median([o.optimize for o in both_solved]))
        report.add(Row(f"{label}: path after optimization, median", optimized, "rad", theirs,
            bar=bar(1.0),
                       on_ratio=True, of_peer=True,
                       note=f"{spent:.1f} ms; peer: simplified by OMPL"))  # fmt: skip
    whole_plan_rows(
        label,
        np.array([o.first for o in solved]),
        np.array([o.second for o in solved]),
        report,
        bar=SECOND_PLAN if judged and label == "bundled" else None,
    )
    if judged:
        report.add(
            Row(f"{label}: overlaps by coal at 1 mm", sum(o.overlaps for o in solved), "", bar=0)
        )
        report.add(
            Row(
                f"{label}: worst excess of a limit at 10 kHz",
                max(o.excess for o in solved),
                "",
                bar=1e-6,
            )
        )
        checks, spent = sum(o.ompl_checks for o in outcomes), sum(o.ompl for o in outcomes)
        note = f"{checks / len(outcomes):.0f} checks a problem"
        report.add(Row(f"{label}: OMPL, per state check", 1e6 * spent / checks, "us", note=note))
        for field, note in (
            (
                "ompl_window",
                "its peer: OMPL over one turn of each joint instead of all that its limits allow",
            ),
            (
                "ompl_boxes",
                (
                    "its peer: that, and coal behind a hand-written loop over boxes, not its"
                    " broadphase"
                ),
            ),
        ):
            theirs = np.array([getattr(o, field) for o in outcomes]) * 1e3
            if np.isfinite(theirs).all():
                report.add(
                    Row(
                        f"{label}: search, median",
                        float(np.median(search)),
                        "ms",
                        float(np.median(theirs)),
                        note=note,
                    )
                )


def run_set(label: str, cases: Iterable, settings: Settings, report: Report) -> list[Outcome]:
    """Measure all cases of a set and add its rows, family by family and then together."""
    outcomes: list[Outcome] = []
    for case in cases:
        outcomes.append(measure(case, settings, report))
        if sys.stderr.isatty():
            print(f"\r{label}: {len(outcomes)} {case.name:<40}", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print("\r" + " " * 70 + "\r", end="", file=sys.stderr)
    for family in dict.fromkeys(o.family for o in outcomes):
        rows_of(family, [o for o in outcomes if o.family == family], report, judged=False)
    if outcomes:
        rows_of(label, outcomes, report, judged=True)
    pairs = [
        (
            vamp_planner.Ours(
                o.solved, o.search + o.simplify, o.again, o.length, o.length_optimized, o.overlaps
            ),
            o.vamp,
        )
        for o in outcomes
        if o.vamp is not None
    ]
    if pairs:
        vamp_planner.add_rows(label, pairs, report)
    return outcomes


def main() -> int:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument(
        "--planner", default="rrt_connect", help="which of robosim's planners to measure"
    )
    parser.add_argument("--per-family", type=int, metavar="N", help="problems per family")
    options = parser.parse_args()
    require_peers("pin", "coal", "ompl", "coacd")  # the last one decomposes the forearm of ur5_mbm
    from harness import ompl_peer
    from harness.coal_checker import compiled
    from harness.problem_sets import DATA, bundled, motion_bench_maker

    compiled()
    ompl_peer.silence()
    report = Report("Planning, beside OMPL RRT-Connect at 1 % resolution with coal")
    overhead = callback_cost()
    report.remark(
        f"OMPL's call into Python costs {1e6 * overhead:.2f} us per state check, taken off its"
        " times"
    )
    settings = Settings(
        options.planner, overhead, 1000.0 if options.quick else 10_000.0, not options.quick
    )
    n_bundled, n_mbm = (3, 2) if options.quick else (100, 10)
    ours = run_set("bundled", bundled(options.per_family or n_bundled), settings, report)
    if DATA.is_dir():
        cases = list(motion_bench_maker(options.per_family or n_mbm))
        settings = replace(
            settings, vamp=vamp_for(cases[0], report)
        )  # VAMP has no robot like the bundled one
        real = run_set("ur5_mbm", cases, settings, report)
        medians = [float(np.median([o.ompl for o in outcomes])) * 1e3 for outcomes in (ours, real)]
        report.add(Row("OMPL's median, bundled against ur5_mbm", medians[0], "ms", medians[1],
                       bar=2.0, on_ratio=True,
                       note="the bundled families must not be easier than that"))  # fmt: skip
    else:
        report.remark(f"ur5_mbm: not measured, {DATA} is absent")
    add_processes(report, 3 if options.quick else 9)
    add_scenes(report, quick=options.quick)
    return report.finish(options)


if __name__ == "__main__":
    raise SystemExit(main())
