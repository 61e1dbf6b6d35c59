"""Quaternions of any length represent rotations; those that cannot be normalized are refused.

Functions come from the engine's registry and from the public signatures, so that every function of
a configuration is tested without being listed here.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from robosim import _engine, load_robot
from robosim.errors import ModelError, RobosimError
from robosim.geometry import pose
from robosim.model import Model
from robosim.model.methods import Methods
from robosim.planners import JointGoal, PoseGoal, Problem, inverse_kinematics, plan
from robosim.scene import Scene
from robosim.simulation import Control, Simulation, StepStatus
from robosim.world import World

NAMES = ("q", "q0", "q1")
LENGTHS = (0.0, 1e-200, 1e-141, 1e141, 1e200)
NORMAL = (1e-139, 1e-3, 0.5, 1e100)


@pytest.fixture(scope="module")
def model() -> Model:
    return load_robot("quadruped", base="floating")


def with_length(model: Model, length: float) -> np.ndarray:
    """Neutral configuration with a rotated base, whose quaternion has this length."""
    q = model.neutral()
    q[3:7] = length * np.array([0.0, 0.6, 0.0, 0.8])
    return q


def calls(model: Model, count: int | None):
    """Methods that take configurations, with the values of their required arguments.

    The values are for one state, or for `count` states.
    """
    for name, function in inspect.getmembers(model, inspect.isroutine):
        if name.startswith("_") or (count is not None and not hasattr(Methods, name)):
            continue
        parameters = [
            p for p in inspect.signature(function).parameters.values() if p.default is p.empty
        ]
        if not any(p.name in NAMES for p in parameters):
            continue
        given = {}
        for p in parameters:
            n = model.n_v
            if p.name in NAMES:
                n = model.n_q
            elif p.name == "x":
                n = 10 * (model._engine.n_bodies - 1)
            shape = (n,) if count is None else (count, n)
            if p.name == "link":
                given[p.name] = model.link_names[-1]
            elif p.name != "self":
                given[p.name] = np.full(shape, 0.1)
        for p in parameters:
            if p.name in NAMES:
                given[p.name] = np.broadcast_to(model.neutral(), given[p.name].shape)
        yield name, function, given


def refused(call, *arguments, kind: type[RobosimError] = ModelError, **named) -> str:
    with pytest.raises(kind) as caught:
        call(*arguments, **named)
    text = str(caught.value)
    assert "'floating_base'" in text
    assert "quaternion" in text
    return text


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("place", ["one state", "data", "many states"])
def test_functions_of_configurations(place, length, model):
    count = 3 if place == "many states" else None
    data = model.data()  # its compiled methods have no signatures of their own
    asked = set()
    for name, function, given in calls(model, count):
        if place == "data":
            function = getattr(data, name, None)
            if function is None:
                continue
        for argument in set(NAMES) & set(given):
            q = given[argument].copy()
            (q if count is None else q[1])[:] = with_length(model, length)
            text = refused(function, **(given | {argument: q}))
            assert f"{argument} holds" in text
            assert count is None or "in configuration 1" in text
            # The fast call, by position.
            if count is None and set(given) <= {*NAMES, "v", "a", "tau"}:
                refused(function, *(given | {argument: q}).values())
            asked.add((name, argument))
    # Every operation of the registry has a function.
    taken = sum(set(row["inputs"]) & set(NAMES) != set() for row in _engine.operations().values())
    assert len(asked) >= 0.9 * taken


@pytest.mark.parametrize("length", NORMAL)
def test_other_lengths_are_scaled(length, model):
    unit, other = with_length(model, 1.0), with_length(model, length)
    np.testing.assert_allclose(
        model.frame_pose(other, model.link_names[0]),
        model.frame_pose(unit, model.link_names[0]),
        atol=1e-15,
    )
    np.testing.assert_allclose(model.gravity(other), model.gravity(unit), atol=1e-12)
    np.testing.assert_allclose(
        model.integrate(other, np.ones(model.n_v)),
        model.integrate(unit, np.ones(model.n_v)),
        atol=1e-14,
    )
    np.testing.assert_allclose(
        model.mass_matrix(np.array([unit, other]))[1], model.mass_matrix(unit), atol=1e-13
    )
    np.testing.assert_allclose(model.difference(unit, other), 0, atol=1e-15)


def test_operations_of_the_registry(model):
    """All operations of the registry, also those without a public function of the same name."""
    engine = model._engine
    data, memory = _engine.OperationData(engine), _engine.Batch()
    bodies = engine.n_bodies - 1
    known = {
        "n_q": model.n_q,
        "n_v": model.n_v,
        "bodies": bodies,
        "joints": bodies,
        "inertial": 10 * bodies,
    }
    known |= {"frames": 1, "columns": 2, "wrenches": 0}
    asked = 0
    for row in _engine.operations().values():
        shapes = {
            name: tuple(known.get(n, n) for n in shape) for name, shape in row["inputs"].items()
        }
        given = {name: np.full(shape, 0.1) for name, shape in shapes.items()}
        given |= {name: model.neutral() for name, shape in shapes.items() if shape == (model.n_q,)}
        for name in (name for name, shape in shapes.items() if shape == (model.n_q,)):
            wrong = given | {name: with_length(model, 0.0)}
            choices = {"frames": [0], "columns": 2}
            refused(_engine.evaluate, row["index"], engine, data, tuple(wrong.values()), **choices)
            refused(_engine.bind_operation(row["index"], engine, data, **choices), *wrong.values())
            refused(
                _engine.bind_operation(row["index"], engine, data, **choices),
                *(x.tolist() for x in wrong.values()),
            )
            many = tuple(np.stack([x, x]) for x in wrong.values())
            refused(_engine.evaluate_batch, row["index"], engine, memory, many, **choices)
            shared = tuple(x if n == name else np.stack([x, x]) for n, x in wrong.items())
            if len(shared) > 1:
                refused(_engine.evaluate_batch, row["index"], engine, memory, shared, **choices)
            asked += 1
    assert asked >= len(_engine.operations())


@pytest.mark.parametrize("length", LENGTHS)
def test_simulation(length, model):
    from robosim.errors import SimulationError

    simulation = Simulation(World(model))
    state = simulation.state()
    q = with_length(model, length)
    refused(simulation.state, q, kind=SimulationError)
    wrong = type(state)(q, np.zeros(model.n_v))
    others = {"steps": 2}
    asked = set()
    for name, function in inspect.getmembers(simulation, inspect.ismethod):
        parameters = inspect.signature(function).parameters.values()
        required = [p for p in parameters if p.default is p.empty]
        if required and required[0].name == "state":
            refused(function, wrong, *(others[p.name] for p in required[1:]), kind=SimulationError)
            asked.add(name)
    assert {"step", "linearize", "rollout"} <= asked
    motion = simulation.rollout(state, 2)
    motion.q[1] = q
    bars = np.zeros((3, model.n_v))
    for call in (
        lambda: motion.vjp(bars, bars),
        lambda: motion.jacobians(),
        lambda: motion.replay(rate=1 / simulation.dt),
    ):
        refused(call, kind=SimulationError)
    # Targets of joints without a motor are ignored, as many callers fill in zeros.
    assert simulation.step(state, Control(q_target=q)).report.status == StepStatus.solved


@pytest.mark.parametrize("length", LENGTHS)
def test_scenes_and_planners(length, model):
    scene = Scene()
    scene.add_box("crate", (0.1, 0.1, 0.1), pose=pose((2, 0, 0)))
    compiled, good, q = scene.compile(model), model.neutral(), with_length(model, length)
    asked = 0
    for name in ("collides", "first_collision", "collisions", "min_distance", "distances"):
        refused(getattr(compiled, name), q)
        asked += 1
    for name in ("collides_many", "distances_many"):
        assert "in configuration 2" in refused(getattr(compiled, name), np.array([good, good, q]))
        asked += 1
    methods = [n for n in dir(compiled) if not n.startswith("_") and callable(getattr(compiled, n))]
    for ends in (q, good), (good, q):
        refused(compiled.edge_free, *ends)
    column = [model.n_q - 1]
    refused(compiled.trajectory_free, [0.0, 1.0], np.zeros((1, 2, 1)), column, q)
    assert len(methods) == asked + 2  # an additional method takes a quaternion, too, or is no query
    for call in (_engine.blend_corners, _engine.shortcut):
        refused(call, compiled, [good, q], column)
    refused(_engine.optimize_path, compiled, [good, q], column, [-1.0], [1.0])
    for start, goals in ((q, [good]), (good, [good, q])):
        refused(_engine.rrt_connect, compiled, start, goals, column, [-3.0], [3.0])
    refused(_engine.contact_rates, compiled, q, 0.1, 0.0)
    refused(_engine.scene_ray_cast, compiled, q, np.zeros((1, 3)), np.eye(3)[:1], 1.0, [], 1)
    for reference, seeds in (q, None), (good, [good, q]):
        refused(
            _engine.inverse_kinematics,
            model._engine,
            1,
            np.eye(4),
            reference=reference,
            seeds=seeds,
        )
    link = model.link_names[-1]
    goal = PoseGoal(link, model.frame_pose(good, link))
    for call in (
        lambda: inverse_kinematics(model, goal, start=q),
        lambda: plan(Problem(model, scene, start=q, goal=good)),
        lambda: plan(Problem(model, scene, start=good, goal=JointGoal(q))),
    ):
        refused(call, kind=RobosimError)
