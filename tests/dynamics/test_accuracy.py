"""Every operation against Pinocchio, on robots of example-robot-data and on random trees.

Bases are fixed and free-flying. Full runs take all robots, the gate takes every fifth one. Each
robot has thirty-two random states. The tolerance is max(1e-10, 10 eps cond(M)) relative to max(1,
largest entry of the reference). cond(M) counts if the operation solves with M.
"""

import numpy as np
import pytest

from robosim.errors import ModelError, UrdfError

from ..model.pinocchio_models import robots_folder  # noqa: TID252 (tests have no absolute name)
from . import example_robots
from .calls import OPERATIONS, evaluate_batch, options_of
from .example_robots import STATES, Robot, random_robots, robots
from .references import COMPARED, CONDITIONED, ELSEWHERE, REFERENCES, allowed
from .sample import Sample


def worst_ratio(robot: Robot, operation: str, *, local: bool, wrenches: bool) -> float:
    """Largest error over all states and results, in units of the tolerance."""
    options = options_of(operation, robot.own_links, local=local, wrenches=wrenches)
    inputs = robot.inputs(operation, options)
    results = evaluate_batch(robot.model, operation, inputs, options)
    answers = [REFERENCES[operation](Sample(robot, k, inputs, local=local)) for k in range(STATES)]
    references = (
        [np.array(x) for x in zip(*answers, strict=True)]
        if isinstance(answers[0], tuple)
        else [np.array(answers)]
    )
    worst = 0.0
    for value, reference in zip(results, references, strict=True):
        if operation in COMPARED:
            of_ours, of_theirs = COMPARED[operation]
            value, reference = of_ours(robot, value), of_theirs(robot, reference)
        assert value.shape == reference.shape
        rest = tuple(range(1, value.ndim))
        assert np.isfinite(value).all(), f"{robot.name}: {operation}"
        known = ~np.isnan(reference)  # references leave out what would take too long
        assert known[0].any() or reference[0].size == 0
        scale = np.abs(reference).max(axis=rest, initial=1, where=known)
        off = np.abs(value - reference).max(axis=rest, initial=0, where=known) / scale
        worst = max(worst, float((off / allowed(robot, operation)).max()))
    return worst


VARIANTS = [
    pytest.param(name, local, wrenches, id=f"{name}{', local' * local}{', wrenches' * wrenches}")
    for name, row in OPERATIONS.items()
    if name in REFERENCES
    for local in ([False, True] if row["takes_frames"] else [False])
    for wrenches in ([False, True] if row["takes_wrenches"] else [False])
]


@pytest.mark.parametrize(("operation", "local", "wrenches"), VARIANTS)
def test_agrees_with_pinocchio(operation, local, wrenches):
    ratios = {
        robot.name: worst_ratio(robot, operation, local=local, wrenches=wrenches)
        for robot in (*robots(), *random_robots())
        if not (operation in CONDITIONED and robot.singular)
    }
    worst = max(ratios, key=ratios.__getitem__)
    print(f"{operation}: worst {ratios[worst]:.2g} of what is allowed, on {worst}")
    beyond = {robot: f"{ratio:.3g}" for robot, ratio in ratios.items() if ratio > 1}
    assert not beyond, (
        f"{operation}: worst {ratios[worst]:.3g} times what is allowed, on {worst}; all {beyond}"
    )


def test_every_operation_has_a_row():
    assert set(REFERENCES) | set(ELSEWHERE) == set(OPERATIONS)
    assert not set(REFERENCES) & set(ELSEWHERE)


def test_robots_left_out_are_the_known_ones():
    singular = {robot.name for robot in robots() if robot.singular}
    known = {file.split("/")[-1] for file in example_robots.SINGULAR}
    assert singular == known | {f"{name}, free-flying" for name in known}
    assert not any(robot.singular for robot in random_robots())


def test_refused_robots_are_refused():
    """All other robots are loaded in full."""
    for file in example_robots.REFUSED_BY_PINOCCHIO:
        with pytest.raises(ValueError, match="valid URDF"):
            example_robots.load(file, free_flying=False)
    for file in example_robots.REFUSED:
        with pytest.raises(ModelError, match="principal moments"):
            example_robots.load(file, free_flying=False)
    for file in example_robots.REFUSED_AS_URDF:
        with pytest.raises(UrdfError, match=r"principal moments|not a joint|has no mass"):
            example_robots.load_urdf(robots_folder() / file, "fixed", strict=True)
