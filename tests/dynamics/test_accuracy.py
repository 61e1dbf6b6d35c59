"""Every operation against Pinocchio on all robots of example-robot-data, fixed and free-flying, 32 random states each.

Agreement is asked to max(1e-10, 10 eps cond(M)) relative to max(1, largest entry of the reference); cond(M) counts
where the operation solves with M.
"""

import numpy as np
import pytest

from robosim import _engine

from . import example_robots
from .example_robots import STATES, Robot, evaluate_batch, robots
from .references import ELSEWHERE, REFERENCES, Sample

OPERATIONS = _engine.operations()


def inputs_of(robot: Robot, row: dict, *, wrenches: bool) -> tuple[np.ndarray, ...]:
    inputs = [getattr(robot, name) for name in row["inputs"]]
    return (*inputs, robot.wrenches.values) if wrenches else tuple(inputs)


def worst_ratio(robot: Robot, operation: str, **choices: bool) -> float:
    """Largest disagreement over all states and results, in units of what is allowed."""
    row = OPERATIONS[operation]
    options = {"local": choices.get("local", False)}
    if row["takes_frames"]:
        options["frames"] = robot.own_frames
    if choices.get("wrenches", False):
        options["wrench_frames"] = robot.wrenches.own
    ours = evaluate_batch(
        robot, operation, inputs_of(robot, row, wrenches=choices.get("wrenches", False)), **options
    )
    samples = (
        Sample(robot, k, wrenches=choices.get("wrenches", False), local=options["local"])
        for k in range(STATES)
    )
    answers = [REFERENCES[operation](sample) for sample in samples]
    theirs = list(zip(*answers, strict=True)) if isinstance(answers[0], tuple) else [answers]
    allowed = np.full(STATES, 1e-10)
    if row["solves"]:
        allowed = np.maximum(allowed, 10 * np.finfo(float).eps * robot.cond)
    worst = 0.0
    for value, answer, shape in zip(ours, theirs, row["outputs"].values(), strict=True):
        reference = np.array(answer)
        if not row["solves"]:
            reference = robot.reduced(reference, [i + 1 for i, extent in enumerate(shape) if extent == "n_v"])
        assert value.shape == reference.shape
        rest = tuple(range(1, value.ndim))
        scale = np.abs(reference).max(axis=rest, initial=1)
        off = np.abs(value - reference).max(axis=rest, initial=0) / scale
        assert np.isfinite(off).all(), f"{robot.name}: {operation}"
        worst = max(worst, float((off / allowed).max()))
    return worst


VARIANTS = [
    pytest.param(
        name, {"local": local, "wrenches": wrenches}, id=f"{name}{', local' * local}{', wrenches' * wrenches}"
    )
    for name, row in OPERATIONS.items()
    if name in REFERENCES
    for local in ([False, True] if row["takes_frames"] else [False])
    for wrenches in ([False, True] if row["takes_wrenches"] else [False])
]


@pytest.mark.parametrize(("operation", "choices"), VARIANTS)
def test_agrees_with_pinocchio(operation, choices):
    solves = OPERATIONS[operation]["solves"]
    ratios = {
        robot.name: worst_ratio(robot, operation, **choices)
        for robot in robots()
        if not (solves and robot.singular)
    }
    name = max(ratios, key=ratios.__getitem__)
    beyond = {robot: f"{ratio:.3g}" for robot, ratio in ratios.items() if ratio > 1}
    assert not beyond, f"{operation}: worst {ratios[name]:.3g} times what is allowed on {name}; {beyond}"


def test_every_operation_has_a_row():
    assert set(REFERENCES) | set(ELSEWHERE) == set(OPERATIONS)
    assert not set(REFERENCES) & set(ELSEWHERE)


def test_singular_robots_are_the_known_ones():
    singular = {robot.name for robot in robots() if robot.singular}
    known = {file.split("/")[-1] for file in example_robots.SINGULAR}
    assert singular == known | {f"{name}, free-flying" for name in known}
