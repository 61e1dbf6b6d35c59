"""Motions with textbook formulas, by robosim's solvers, MuJoCo and, if installed, Nimble.

All sides have the same bodies, start, friction and steps, and otherwise their defaults. Bars are
for the solvers `lcp` and `convex`, which solve rows to rounding in all motions except the dominoes.
`pgs` ends after 200 sweeps. MuJoCo's contacts are compliant by design, so that resting bodies sink
in and sticking bodies creep. MuJoCo has no restitution.

    python benchmarks/accuracy_physics.py [--quick] [--json FILE] [--markdown FILE]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import cos, inf, pi, sin
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import nimble_peer, page
from harness.free_bodies import SOLVERS, Case, G, Solid, Watched, box, mujoco, nimble, ours
from harness.report import Report, Row, arguments, require_peers
from harness.touching_scenes import ROUND_SOLVERS

from robosim.geometry import Shape
from robosim.simulation import StepIsland

Array = NDArray[np.float64]
Runs = list[tuple[Case, Watched]]

EXACT = 1e-9  # relative: rounding of a thousand steps
STILL = 1e-9  # [m or m/s]
RESIDUAL_BAR = 1e-12
# Residual of a pile that almost slides. `lcp` hands a few of its steps to `convex`, which ends with
# friction bounds that are off by 3e-8 in measurements.
PILE_RESIDUAL_BAR = 1e-7
MU = 0.3
STEEP, GENTLE = np.radians(30), np.radians(10)
HEADINGS = np.radians([0, 15, 30, 45, 60, 75])  # from an axis of friction
BLOCK = box(2.0, (0.2, 0.3, 0.1))
CUBE = (0.1, 0.1, 0.1)
SUNK = 1e-4  # [m] initial penetration, as the peers have contacts only where shapes overlap
BALL_RADIUS = 0.1  # [m]
BALL = Solid(Shape.sphere(BALL_RADIUS), 1.0, (0.4 * BALL_RADIUS**2,) * 3)
DOMINO = box(0.2, (0.02, 0.1, 0.2))
TOP = Solid(Shape.sphere(0.01), 1.0, (0.01, 0.02, 0.03))


def at(*places: tuple[float, float, float]) -> Array:
    """q of upright bodies at these positions."""
    return np.concatenate([[*place, 0, 0, 0, 1] for place in places])


def incline(angle: float, heading: float, steps: int) -> Case:
    """A block at rest on the floor, with gravity as on a slope that descends along `heading`."""
    tilted = (G * sin(angle) * cos(heading), G * sin(angle) * sin(heading), -G * cos(angle))
    return Case((BLOCK,), at((0, 0, 0.05)), np.zeros(6), steps, friction=MU, gravity=tilted)


def off_coulomb(case: Case, seen: Watched) -> float:
    """Relative deviation of a sliding block's deceleration from Coulomb's law, starting at rest."""
    g = np.array(case.gravity)
    pull = float(np.hypot(g[0], g[1]))
    speed = float(seen.velocity[-1, 0, :2] @ g[:2]) / pull
    return abs((pull - speed / (case.steps * case.dt)) / (case.friction * -g[2]) - 1)


@dataclass(frozen=True)
class Measure:
    """One figure of a motion.

    Attributes:
        name: of the figure.
        unit: of the figure.
        cases: the motions that it is computed from.
        of: function of all motions that returns the figure.
        bar: upper limit for `lcp` and `convex`; None for a figure that is only shown.
        box_too: True if the bar applies to `lcp`, too.
        residual_bar: upper limit of the residual of their steps.
    """

    name: str
    unit: str
    cases: tuple[Case, ...]
    of: Callable[[Runs], float]
    bar: float | None
    box_too: bool = True
    residual_bar: float = RESIDUAL_BAR


def worst(figure: Callable[[Case, Watched], float]) -> Callable[[Runs], float]:
    """Largest value over all motions."""
    return lambda runs: max(figure(case, seen) for case, seen in runs)


def halves(figure: Callable[[Case, Watched], float]) -> Callable[[Runs], float]:
    """Deviation from an error ratio of 2 between a step and half the step."""
    return lambda runs: abs(figure(*runs[0]) / figure(*runs[1]) - 2)


def moved(case: Case, seen: Watched) -> float:
    """Largest displacement of any body from its start [m]."""
    return float(np.linalg.norm(seen.place - seen.place[0], axis=2).max())


def drifted(case: Case, seen: Watched) -> float:
    """Largest displacement of any body after the first tenth of the time [m]."""
    place = seen.place[case.steps // 10 :]
    return float(np.linalg.norm(place - place[0], axis=2).max())


def stopped(case: Case, seen: Watched) -> float:
    """Relative deviation of the stopping distance of a sliding body from v^2 / (2 mu g)."""
    v = float(np.linalg.norm(seen.velocity[0, 0]))
    way = float(np.linalg.norm(seen.place[-1, 0] - seen.place[0, 0]))
    return abs(way / (v**2 / (2 * case.friction * G)) - 1)


def left(case: Case, seen: Watched) -> float:
    """Largest speed in the last tenth of the time [m/s]."""
    return float(np.linalg.norm(seen.velocity[-case.steps // 10 :], axis=2).max())


def rolling(case: Case, seen: Watched) -> float:
    """Relative deviation of a rolling ball's final speed from 5/7 of its initial speed.

    The solid ball is thrown without spin. The speed of its rim counts as well.
    """
    thrown = float(seen.velocity[0, 0, 0])
    return max(
        abs(float(x) / (5 / 7 * thrown) - 1) for x in (seen.velocity[-1, 0, 0], _rim(case, seen))
    )


def _rim(case: Case, seen: Watched) -> float:
    return (
        float(np.linalg.norm(seen.momentum(case)[-1, 0])) / case.solids[0].inertia[0] * BALL_RADIUS
    )


def rebound(case: Case, seen: Watched) -> float:
    """Relative deviation of a dropped ball's rebound height from e^2 of the drop height.

    The deviation is relative to the drop height.
    """
    fallen = seen.place[:, 0, 2] - BALL_RADIUS
    lowest = int(np.argmax(seen.velocity[1:, 0, 2] > seen.velocity[:-1, 0, 2])) + 1
    return abs(float(fallen[lowest:].max()) / float(fallen[0]) - case.restitution**2)


def turned(case: Case, seen: Watched) -> float:
    """Relative change of the angular momentum of a body that spins freely."""
    momentum = seen.momentum(case)[:, 0]
    return float(np.linalg.norm(momentum - momentum[0], axis=1).max() / np.linalg.norm(momentum[0]))


def gained(case: Case, seen: Watched) -> float:
    """Relative change of the energy."""
    energy = seen.energy(case)
    return float(np.abs(energy - energy[0]).max() / abs(energy[0]))


def risen(case: Case, seen: Watched) -> float:
    """Largest increase of the energy in one step, relative to the energy at the start."""
    energy = seen.energy(case)
    return float(np.diff(energy).max() / energy[0])


def fallen(case: Case, seen: Watched) -> float:
    """Time [s] when the last domino leans by more than 60 degrees; inf if one stands at the end."""
    x, y = seen.turn[..., 0], seen.turn[..., 1]
    lies = (1 - 2 * (x**2 + y**2) < 0.5).all(axis=1)
    return float(np.argmax(lies)) * case.dt if lies.any() else inf


def thrown_rod(direction: float) -> Case:
    """Painleve's rod, which slides on its tip.

    Rigid friction has no solution in forces there, but one in impulses.
    """
    rod = Solid(Shape.capsule(0.01, 1.0), 1.0, (1 / 12, 1 / 12, 1e-3))
    lean = 0.5
    q = np.array([0, 0, 0.5 * cos(lean) + 0.01, 0, sin(lean / 2), 0, cos(lean / 2)])
    v = direction * 3.0 * np.array([cos(lean), 0, sin(lean), 0, 0, 0])
    return Case((rod,), q, v, 300, friction=2.0)


def dominoes(steps: int) -> Case:
    """Five dominoes in a row, the first pushed over."""
    push = np.zeros(30)
    push[0], push[4] = 0.3, 3.0
    return Case(
        (DOMINO,) * 5, at(*((0.1 * i, 0, 0.1) for i in range(5))), push, steps, friction=0.6
    )


def measures(quick: bool) -> list[Measure]:
    """Return all measures."""
    slides = tuple(incline(STEEP, heading, 500) for heading in HEADINGS)
    stays = tuple(incline(GENTLE, heading, 1000) for heading in HEADINGS)
    stops = Case((BLOCK,), at((0, 0, 0.05)), np.array([2.0, 0, 0, 0, 0, 0]), 1000)
    rolls = Case((BALL,), at((0, 0, BALL_RADIUS)), np.array([1.0, 0, 0, 0, 0, 0]), 1000)
    drops = [
        Case((BALL,), at((0, 0, 0.6)), np.zeros(6), 800, restitution=e) for e in (0.0, 0.5, 1.0)
    ]
    spins = Case(
        (TOP,),
        at((0, 0, 1)),
        np.array([0, 0, 0, 0.3, 4.0, 0.2]),
        5000,
        gravity=(0, 0, 0),
        has_floor=False,
    )
    heights = tuple((0.0, 0.0, 0.05 + 0.1 * i - SUNK * (i + 1)) for i in range(10))
    stack = Case((box(2.0, CUBE),) * 10, at(*heights), np.zeros(60), 2000 if quick else 60_000)
    heavy = Case((box(1.0, CUBE), box(1000.0, CUBE)), at(*heights[:2]), np.zeros(12), 5000)
    rods = (thrown_rod(1.0), thrown_rod(-1.0))
    return [
        Measure(
            "a block slides down 30 degrees along an axis of friction: off Coulomb's law",
            "",
            slides[:1],
            worst(off_coulomb),
            EXACT,
        ),
        Measure("the same at six headings", "", slides, worst(off_coulomb), EXACT, box_too=False),
        Measure(
            "a block on 10 degrees, at six headings: creeps in 1 s", "m", stays, worst(moved), STILL
        ),
        Measure("a block slides to rest: off v^2 / (2 mu g)", "", (stops,), worst(stopped), 3e-3),
        Measure("and stays: speed that is left", "m/s", (stops,), worst(left), STILL),
        Measure(
            "a ball thrown without spin rolls: off 5/7 of its speed",
            "",
            (rolls,),
            worst(rolling),
            EXACT,
        ),
        *(
            Measure(
                f"a ball bounces, e = {case.restitution:g}: height off e^2",
                "",
                (case,),
                worst(rebound),
                5e-3,
            )
            for case in drops
        ),
        Measure(
            "a body spins freely for 5 s: angular momentum changes by",
            "",
            (spins,),
            worst(turned),
            5e-3,
        ),
        Measure(
            "off half of it with half the step", "", (spins, spins.finer()), halves(turned), 0.05
        ),
        Measure("energy changes by", "", (spins,), worst(gained), 5e-3),
        Measure(
            "off half of it with half the step, too",
            "",
            (spins, spins.finer()),
            halves(gained),
            0.05,
        ),
        Measure(
            f"ten boxes on top of each other, {stack.steps * stack.dt:g} s: move after a tenth by",
            "m",
            (stack,),
            worst(drifted),
            STILL,
        ),
        Measure(
            "1,000 kg on 1 kg, 5 s: move after a tenth by", "m", (heavy,), worst(drifted), STILL
        ),
        Measure(
            "five dominoes: the last one lies after",
            "s",
            (dominoes(700),),
            worst(fallen),
            1.0,
            residual_bar=PILE_RESIDUAL_BAR,
        ),
        Measure("Painleve's rod: energy rises in a step by at most", "", rods, worst(risen), EXACT),
    ]


def tumbling() -> Case:
    """A block that falls, tumbles over its corners and comes to rest."""
    return Case((BLOCK,), at((0, 0, 0.3)), np.array([1.0, 0.5, 0, 2.0, 3.0, 1.0]), 1000)


def laws(case: Case, solver: str, every: int) -> Array:
    """Violations (3,) of complementarity, friction law and dissipation over every `every`-th step.

    The first is f w of normals. The second is the excess of friction over mu f, along each axis
    with `lcp`, of the vector with `convex`. The third is the power of friction that drives instead
    of brakes. All are relative to the largest impulse of the step and the largest velocity, before
    or by the impulses.
    """
    simulation = case.simulation(solver)
    motion = simulation.rollout(simulation.state(case.q, case.v), case.steps)
    found = np.zeros(3)
    for k in range(0, case.steps, every):
        state = simulation.state(motion.q[k], motion.v[k])
        for island in simulation.linearize(state).islands:
            found = np.maximum(found, broken_laws(island, case.friction, solver))
    return found


def broken_laws(island: StepIsland, mu: float, solver: str) -> Array:
    """Violations (3,) of one island of a step, as in `laws`."""
    rows = island.rows
    most_f = max((abs(r.impulse) for r in rows), default=0.0)
    velocities = [
        max(abs(r.velocity), abs(r.target), a * abs(r.impulse))
        for r, a in zip(rows, np.diag(island.admittance), strict=True)
    ]
    most_w = max(velocities, default=0.0)
    normal = {r.of: r.impulse for r in rows if r.source == "normal"}
    broken = np.zeros(3)
    if most_f == 0 or most_w == 0:
        return broken
    for r in rows:
        if r.source == "normal":
            apart = max(-r.impulse / most_f, -r.velocity / most_w, 0.0)
            broken[0] = max(broken[0], apart, abs(r.impulse * r.velocity) / (most_f * most_w))
    for contact, pushed in normal.items():
        axes = [r for r in rows if r.of == contact and r.source.startswith("friction")]
        groups = [axes] if solver in ROUND_SOLVERS else [[r] for r in axes]
        for group in groups:
            f, w = np.array([r.impulse for r in group]), np.array([r.velocity for r in group])
            broken[1] = max(broken[1], (float(np.linalg.norm(f)) - mu * pushed) / most_f)
            broken[2] = max(broken[2], float(f @ w) / (most_f * most_w))
    return broken


def main() -> int:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        help="write the table, into a page between its markers",
    )
    options = parser.parse_args()
    require_peers("mujoco")
    report = Report("motions with a formula")
    library = nimble_peer.load()
    peers = {"MuJoCo": mujoco} | ({} if library is None else {"Nimble": partial(nimble, library)})
    table: list[list[str]] = []
    runs: dict[tuple[int, str], Watched | None] = {}
    residual = dict.fromkeys(SOLVERS, 0.0)  # without the dominoes

    def watched(measure: Measure, case: Case, side: str) -> Watched | None:
        key = (id(case), side)
        if key not in runs:
            if side in peers:
                runs[key] = peers[side](case)
            else:
                runs[key], told = ours(case, side)
                if measure.residual_bar == RESIDUAL_BAR:
                    residual[side] = max(residual[side], told.residual)
        return runs[key]

    def add(name: str, unit: str, figures: dict[str, float | None], bars: dict[str, float]) -> None:
        cells = [f"{name} [{unit}]" if unit else name]
        for side in (*SOLVERS, *peers):
            figure, bar = figures.get(side), bars.get(side)
            if figure is not None:
                report.add(Row(f"{name}, {side}", figure, unit, bar=bar))
            text = "" if figure is None else f"{figure:.2g}"
            cells.append(text if bar is None else f"**{text}**")
        table.append(cells)
        report.remark(" | ".join(cells))

    for measure in measures(options.quick):
        figures: dict[str, float | None] = {}
        for side in (*SOLVERS, *peers):
            seen = [(case, watched(measure, case, side)) for case in measure.cases]
            runs_there = [(case, x) for case, x in seen if x is not None]
            figures[side] = float(measure.of(runs_there)) if len(runs_there) == len(seen) else None
        bars = {} if measure.bar is None else {"convex": measure.bar}
        add(
            measure.name,
            measure.unit,
            figures,
            bars | ({"lcp": bars["convex"]} if bars and measure.box_too else {}),
        )

    exact = dict.fromkeys(("lcp", "convex"), RESIDUAL_BAR)
    checked = (
        incline(STEEP, pi / 6, 200),
        Case((BALL,), at((0, 0, BALL_RADIUS)), np.array([1.0, 0.5, 0, 0, 0, 3.0]), 400),
        tumbling(),
    )
    broken = {side: np.max([laws(case, side, 5) for case in checked], axis=0) for side in SOLVERS}
    of = "a block on an incline, a ball that begins to roll, a block that tumbles"
    for k, law in enumerate(("complementarity", "friction beyond its law", "friction that drives")):
        add(f"{law}, of {of}", "", {side: float(broken[side][k]) for side in SOLVERS}, exact)
    add("residual, the largest of all of these motions but the dominoes", "", dict(residual), exact)
    pile = {side: ours(dominoes(900), side)[1].residual for side in SOLVERS}
    near = dict.fromkeys(exact, PILE_RESIDUAL_BAR)
    add("the same of the dominoes, until all lie on each other at rest", "", pile, near)
    if options.markdown is not None:
        head = ["", *(f"`{solver}`" for solver in SOLVERS), *peers]
        lines = [head, ["---"] * len(head), *table]
        page.write(
            options.markdown,
            "\n".join("| " + " | ".join(x) + " |" for x in lines) + "\n",
            "physics table",
        )
    return report.finish(options)


if __name__ == "__main__":
    raise SystemExit(main())
