"""Smoke tests of `benchmarks/accuracy_contact.py` and `fuzz_contact.py` on a few states."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from robosim.geometry import pose
from robosim.scene import Scene
from robosim.simulation import OneSidedCause, Simulation, StepStatus
from robosim.world import World

from .solvers import EXACT, ROUND
from .worlds import floor, free_boxes, resting

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))

# Found by the line above, so they come after it: E402.
import fuzz_contact  # noqa: E402
from harness.contact_accuracy import (  # noqa: E402
    FROZEN_BAR,
    SCENES,
    SOLVERS,
    Comparison,
    Failure,
    compared,
)
from harness.contact_fuzz import any_step, any_world, findings  # noqa: E402
from harness.derivative_audit import compare  # noqa: E402
from harness.dual import Dual, cross, projector, solved, sqrt, turned_about, turned_by  # noqa: E402
from harness.dual_bodies import DualBodies  # noqa: E402
from harness.frozen_step import ARGUMENTS, FrozenStep  # noqa: E402
from harness.kept_tallies import KeptTallies  # noqa: E402
from harness.ridders import one_sided, ridders  # noqa: E402
from harness.touching_scenes import with_solver  # noqa: E402

STATES = 2
# Scenes that are compared with parameters, for which worlds are rebuilt many times. Each takes a
# second or two.
QUICK = ("cart pole at a wall", "boxes", "boxes that give", "balls in a pit")
WORLDS = 12


@pytest.mark.parametrize(
    ("scene", "solver"), [(name, SOLVERS[k % len(SOLVERS)]) for k, name in enumerate(SCENES)]
)
def test_derivatives_are_those_of_differences(scene, solver):
    """All blocks of the Jacobians agree with differences to 1e-8 of the largest entry.

    Some scenes compare every kind of parameter as well.
    """
    tally = compared(scene, solver, STATES, seed=1, parameters=scene in QUICK)
    assert not tally.failures
    assert tally.states + tally.unsolved == STATES
    # The first state is compared with dual numbers, unless a triangle mesh touches.
    assert tally.frozen >= (scene != "gem and capsule on triangles")


def test_derivatives_on_triangles_are_those_of_differences():
    """Some normals are the nearest ones of an edge, and turn with the mesh alone."""
    assert not compared("gem and capsule on triangles", "lcp", 8, seed=1, parameters=False).failures


def test_what_was_found_is_kept(tmp_path):
    """Tallies of other options or versions are ignored, and other files are refused."""
    file, job = tmp_path / "kept.json", ("boxes", "lcp")
    tally = compared(*job, STATES, seed=1, parameters=False)
    tally.failures.append(Failure(*job, 1, 0, "v+ by q", 0.5))
    KeptTallies(file, STATES, 1, parameters=False).add(job, tally)
    again = KeptTallies(file, STATES, 1, parameters=False)
    assert again[job] == tally
    assert ("boxes", "convex") not in again
    assert job not in KeptTallies(file, STATES + 1, 1, parameters=False)
    assert job not in KeptTallies(file, STATES, 1, parameters=True)
    file.write_text(file.read_text().replace('"made_by": "', '"made_by": "0'))
    assert job not in KeptTallies(file, STATES, 1, parameters=False)
    for text in ("{", "[]", "{}"):
        file.write_text(text)
        with pytest.raises(SystemExit, match="not written by --keep"):
            KeptTallies(file, STATES, 1, parameters=False)


def test_bodies_fall_onto_those_before_them():
    """Bodies are placed without overlap, which would throw them apart.

    Then no state would be one of rest.
    """
    for name in ("boxes", "round things on a floor", "balls in a pit"):
        world = SCENES[name]().world
        scene = world.scene.compile(world.model)
        for q in (SCENES[name]().placed(np.random.default_rng(seed)) for seed in range(5)):
            assert abs(scene.min_distance(q)[0]) < 1e-6


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("name", ["balls in a pit", "race car"])
def test_what_stands_on_more_than_it_needs_is_solved(name, solver):
    """Redundant contacts are solved, also where position correction makes some of them slide.

    Their position corrections can contradict that all contacts stick.
    """
    scene = with_solver(SCENES[name](), solver)
    simulation, rng, found = scene.world.simulation(), np.random.default_rng(5), Counter()
    for _ in range(4):
        state = simulation.state(scene.placed(rng))
        for _ in range(400):
            state = simulation.step(state)
            found[state.report.status] += 1
            # One step of the pit is `rough` with `convex`: its bounds of friction are off by 7e-7.
            bar = 1e-6 if state.report.status == StepStatus.rough else 1e-12
            assert state.report.residual <= bar
    assert found[StepStatus.solved] + found[StepStatus.basic] >= 1598


@pytest.mark.parametrize("name", ["jump worm", "boxes", "gripper"])
def test_what_rests_has_derivatives(name):
    """Faces on faces, a rim on its plane and a robot's edge in a plane.

    Each has one formula whichever way it leans.
    """
    tally = compared(name, "lcp", 12, seed=1, parameters=False)
    assert not tally.failures
    assert (tally.apart, tally.flagged) == (0, 0)


def test_gradients_of_sweeps_keep_what_sweeps_have_all_but_settled():
    """Impulses of an ant's feet that are nonzero in early sweeps alone keep their accuracy.

    Their gaps count by 1 / dt, and so would rounding.
    """
    scene = with_solver(SCENES["ant"](), "pgs")
    simulation, rng = scene.world.simulation(), np.random.default_rng(2)
    cases = list(scene.cases(simulation, 1000, 1))
    for number in (596, 625, 940):
        state, control = cases[number][:2]
        jacobians = simulation.linearize(state, control).jacobians()
        sizes = np.abs(jacobians.q).max(axis=(1, 2))
        one, other = rng.normal(size=(2, 2, simulation.model.n_v))
        step = simulation.linearize(state, control)
        gradients = [step.vjp(*bars).q for bars in (one, other, one + other)]
        # Errors would be 1e-12 to 1e-11 if the adjoint of sweeps used plain double precision.
        size = (np.abs(one) + np.abs(other)).sum(axis=1) @ sizes
        assert np.abs(gradients[0] + gradients[1] - gradients[2]).max() <= 1e-13 * size
        assert np.abs(gradients[0] - np.einsum("ri,rij->j", one, jacobians.q)).max() <= 2e-13 * size


@pytest.mark.parametrize("solver", EXACT)
def test_a_box_on_many_corners_of_rough_ground_is_solved(solver):
    model, rng = free_boxes(1, (0.3, 0.25, 0.12)), np.random.default_rng(1)
    scene = Scene("ground")
    scene.add_height_field(
        "ground", 0.001 * rng.uniform(-1, 1, (20, 20)), 0.05, pose=pose((-0.5, -0.5, 0))
    )
    simulation = Simulation(World(model, scene), solver=solver, dt=2e-3)
    q = model.neutral()
    q[2] = 0.08
    state, rows = simulation.state(q), 0
    for _ in range(200):
        state = simulation.step(state)
        assert state.report.status <= StepStatus.basic
        rows = max(rows, state.report.rows)
    assert rows > 100
    assert np.abs(state.v).max() < 0.1


def test_steps_of_random_worlds_are_finite_and_solved():
    counts = Counter()
    for seed in range(1, 1 + WORLDS):
        assert list(findings(seed, counts, {})) == []
    assert counts["touching"] > counts["states"] / 2


def test_a_process_that_ends_is_told_with_its_seed(monkeypatch, tmp_path):
    """Worlds after the aborted one run in another process."""
    stand_in = tmp_path / "python"
    stand_in.write_text(f"""#!{sys.executable}
import json, os, sys
first, worlds = (int(sys.argv[sys.argv.index(x) + 1]) for x in ("--seed", "--worlds"))
for seed in range(first, first + worlds):
    print(json.dumps({{"seed": seed}}), flush=True)
    if seed == 3:
        os.abort()
    failures = [[seed, 0, "x"]] if seed == 5 else []
    told = {{"seed": seed, "counts": {{"states": 1}}, "failures": failures}}
    print(json.dumps(told | {{"slowest": {{"lcp": [2.0 if seed == 4 else 1.0, seed, 7]}}}}))
""")
    stand_in.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(stand_in))
    failures, counts, slowest = fuzz_contact.run(1, 6)
    assert [(seed, state) for seed, state, _ in failures] == [(3, -1), (5, 0)]
    assert "ended with status -6" in failures[0][2]
    assert counts == {"states": 5}
    assert slowest == {"lcp": [2.0, 4, 7]}


def test_differences_tell_how_exact_they_are():
    found = ridders(lambda t: np.array([np.exp(t), t**3]), 0.1)
    assert found is not None
    np.testing.assert_allclose(found.value, [1, 0], atol=1e-11)
    assert (found.error < 1e-9).all()
    assert ridders(lambda t: None if t < 0 else np.zeros(1), 0.1) is None
    side = one_sided(lambda t: np.array([abs(np.sin(t))]) if t >= 0 else None, 1e-3)
    assert side == pytest.approx(1, abs=1e-9)


def test_the_signature_tells_one_formula_from_another():
    """The signature is constant while a box slides.

    It changes where the box sticks, has left the floor, or touches with another corner.
    """
    simulation = Simulation(World(free_boxes(1), floor()))
    slides = simulation.linearize(simulation.state(resting(0.0499), [1, 0, 0, 0, 0, 0])).signature
    assert (
        simulation.linearize(simulation.state(resting(0.04991), [1.1, 0, 0, 0, 0, 0])).signature
        == slides
    )
    tilted = simulation.model.integrate(resting(0.0499), [0, 0, 0, 0.3, 0.2, 0])
    for q, v in (
        (resting(0.0499), np.zeros(6)),
        (resting(0.5), [1, 0, 0, 0, 0, 0]),
        (tilted, [1, 0, 0, 0, 0, 0]),
    ):
        assert simulation.linearize(simulation.state(q, v)).signature != slides


# -- Dual numbers ----------------------------------------------------------------------------------

RNG = np.random.default_rng(3)
FUNCTIONS = {
    "sum and difference": (lambda a, b: 2.0 - a + b * 3.0 - b, (3,), (3,)),
    "a number times an array": (lambda a, b: a * b, (), (2, 3)),
    "quotient": (lambda a, b: b / (a * a + 1), (), (3,)),
    "matrices": (lambda a, b: a @ b, (2, 3), (3, 2)),
    "a matrix and a vector": (lambda a, b: a @ b, (2, 3), (3,)),
    "a vector and a matrix": (lambda a, b: a @ b, (3,), (3, 2)),
    "vectors": (lambda a, b: a @ b, (3,), (3,)),
    "with an array": (lambda a,
        b: np.ones((2, 3)) @ a @ np.eye(3) + np.ones((2, 1)) * (a.T @ b)[:1], (3, 3), (3, 3)),
    "cross": (cross, (3,), (3,)),
    "root": (lambda a, b: sqrt(a * a + b * b), (3,), (3,)),
    "turn": (lambda a, b: turned_about(np.array([0.6, 0, 0.8]), a) @ turned_by(b), (), (3,)),
    "a small turn": (lambda a, b: turned_by(1e-6 * a * b), (), (3,)),
    "solve": (lambda a, b: solved(a + 5 * np.eye(3), b), (3, 3), (3,)),
    "solve for a matrix": (lambda a, b: solved(a + 5 * np.eye(3), b), (3, 3), (3, 2)),
    "projector": (lambda a, b: projector(a @ b)[0], (5, 2), (2, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_dual_numbers_are_derivatives(name):
    f, *shapes = FUNCTIONS[name]
    at = [Dual(RNG.normal(size=shape), RNG.normal(size=(*shape, 2))) for shape in shapes]
    found = f(*at)
    for k in range(2):

        def moved(t, k=k):
            return f(*(Dual(a.x + t * a.d[..., k], a.d) for a in at)).x.reshape(1, -1)

        expected = ridders(moved, 1e-2).value[0]
        np.testing.assert_allclose(found.d[..., k].ravel(), expected, rtol=1e-8, atol=1e-9)


def test_a_projector_tells_where_its_rank_is_left():
    a, b = (
        Dual(RNG.normal(size=shape), RNG.normal(size=(*shape, 2))) for shape in ((5, 2), (2, 4))
    )
    assert projector(a @ b)[1] < 1e-12
    torn = a @ b
    torn.d = torn.d + RNG.normal(size=torn.d.shape)
    assert projector(torn)[1] > 0.1


@pytest.mark.parametrize(
    "name", ["quadruped", "half cheetah", "gripper", "catapult", "panda on a table", "boxes"]
)
def test_bodies_in_dual_numbers_are_those_of_the_engine(name):
    world = SCENES[name]().world
    model = world.model
    q, v = SCENES[name]().thrown(np.random.default_rng(1))
    nothing = np.zeros((model.n_v, 1))
    bodies = DualBodies(model, q, nothing, Dual(v, nothing))
    M = model.mass_matrix(q)
    np.testing.assert_allclose(bodies.M.x, M, rtol=0, atol=1e-13 * np.abs(M).max())
    # Axes of floating and planar joints turn with the body. There the bias of the dual numbers is
    # for velocities in the axes at the start.
    turning = np.zeros(model.n_v)
    free = [0] * model.floating_base + [
        model.velocity_names.index(f"{j.name}/vx") for j in model.joints if j.kind == "floating"
    ]
    for c in free:
        turning[c : c + 3] = np.cross(v[c : c + 3], v[c + 3 : c + 6])
    for joint in model.joints:
        if joint.kind == "planar":
            c = model.velocity_names.index(f"{joint.name}/vx")
            turning[c : c + 2] = v[c + 2] * v[c + 1], -v[c + 2] * v[c]
    expected = model.nonlinear_effects(q, v) + M @ turning
    np.testing.assert_allclose(bodies.bias.x, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", ["half cheetah", "catapult", "boxes", "balls that bounce in time"])
def test_a_step_in_dual_numbers_is_the_engines(name, solver):
    """Values and derivatives agree at states that touch, slide, bounce and rest."""
    scene = with_solver(SCENES[name](), solver)
    simulation = scene.world.simulation()
    frozen, rng = FrozenStep(scene.world, simulation), np.random.default_rng(1)
    n, compared = simulation.model.n_v, 0
    for case in scene.cases(simulation, 6, seed=1):
        details = simulation.linearize(case.state, case.control)
        directions = {
            x: rng.uniform(-1, 1, simulation.model.n_q if x == "q_target" else n) for x in ARGUMENTS
        }
        found = frozen.along(case, directions, details)
        if found is None:  # a contact at rest has its friction at the edge of the circle
            continue
        compared += 1
        # Impulses that `pgs` has almost settled are known by small differences. Redundant rows of
        # `convex` share impulses by their compliance, which magnifies rounding by 1e6.
        bar = 1e-9 if solver == "convex" else FROZEN_BAR
        assert found.apart < bar
        np.testing.assert_allclose(found.v, details.state.v, rtol=0, atol=1e-11)
        jacobians = simulation.linearize(case.state, case.control).jacobians()
        for k, x in enumerate(ARGUMENTS):
            matrices = getattr(jacobians, x)
            for matrix, rates in zip(matrices, (found.q, found.dv), strict=True):
                scale = max(np.abs(matrices).max(), simulation.dt)
                np.testing.assert_allclose(
                    matrix @ directions[x], rates[:, k], rtol=0, atol=bar * scale
                )
    assert compared >= (5 if solver in ROUND else 6)


def test_a_derivative_that_is_slightly_off_is_found_beside_dual_numbers():
    comparison = Comparison(SCENES["boxes"](), "lcp", 1)
    (case,) = SCENES["boxes"]().cases(comparison._simulation, 1, 1)
    jacobians = comparison._simulation.linearize(case.state, case.control).jacobians()
    scales = {x: np.ones(2) for x in ARGUMENTS}
    comparison._judge_frozen(0, case, jacobians, scales)
    assert comparison.tally.frozen == 1
    assert not comparison.tally.failures
    wrong = jacobians._replace(v=jacobians.v * (1 + 1e-8))
    comparison._judge_frozen(0, case, wrong, scales)
    assert "v+ by v, dual numbers" in {failure.what for failure in comparison.tally.failures}


def _any_step(number: int, trial: int, **options):
    """A linearized step of a random world, its control, and a random generator."""
    model, scene, arguments, drawn = any_world(number)
    simulation = Simulation(World(model, scene, **arguments), **drawn | {"substeps": 1} | options)
    rng = np.random.default_rng([number, trial, 77])
    state, control = any_step(simulation, rng)
    return simulation.linearize(state, control), control, rng


def test_impacts_in_random_worlds_have_the_derivatives_of_differences():
    """Impacts one after the other, several at once, and with restitution reduced by friction."""
    compared = limited = 0
    for number in range(75):
        for trial in range(4):
            step, control, rng = _any_step(
                number, trial, solver=EXACT[number % len(EXACT)], bounce="time_of_impact"
            )
            impacts = [impact for island in step.islands for impact in island.impacts]
            if not impacts or (found := compare(step, control, rng)) is None:
                continue
            assert not found.is_wrong or step.vjp(*np.zeros((2, step.simulation.model.n_v))).causes
            compared += 1
            limited += any(impact.landed for impact in impacts)
    assert compared > 50
    assert limited > 0


def test_steps_of_random_worlds_have_the_derivatives_of_differences_or_say_why_not():
    """Derivatives agree or report a cause for every status, also `relaxed` and `basic`."""
    compared = Counter()
    for number in range(130, 250):
        for trial in range(4):
            step, control, rng = _any_step(number, trial)
            if not step.report.contacts or (found := compare(step, control, rng)) is None:
                continue
            causes = step.vjp(*np.zeros((2, step.simulation.model.n_v))).causes
            assert not found.is_wrong or causes, (number, trial, found)
            # The limit is the rounding of the largest entry.
            assert found.pairing < 1e-7, (number, trial, found)
            compared[step.report.status.name] += not causes
    assert compared["solved"] > 80
    assert compared["relaxed"] > 1


# Corrections end an impulse that several rows share (500, 31) or that is nonzero in early sweeps
# alone (701, 743). Friction of a point that touches well above the contact plane has one motion
# (3166).
@pytest.mark.parametrize(("number", "trial"), [(500, 0), (31, 0), (701, 2), (743, 0), (3166, 1)])
def test_steps_whose_derivatives_once_were_off_are_those_of_differences(number, trial):
    step, control, rng = _any_step(number, trial)
    found = compare(step, control, rng)
    assert found is not None
    assert not found.is_wrong
    assert found.pairing < 1e-10


def test_a_direction_of_sliding_that_nothing_decides_is_a_cause():
    """Rolling friction is at its bound on a contact at rest.

    A point there could push and slide.
    """
    step, _, _ = _any_step(15, 3, solver="lcp")
    assert step.report.status == StepStatus.basic
    causes = step.vjp(*np.zeros((2, step.simulation.model.n_v))).causes
    assert causes == OneSidedCause.undetermined
    assert step.jacobians().causes == causes
