"""Values of every public class can be pickled and copied, or the reason is listed here."""

from __future__ import annotations

import copy
import dataclasses
import enum
import importlib
import inspect
import multiprocessing
import pickle
import pkgutil
from pathlib import Path

import numpy as np
import pytest

import robosim
from robosim import geometry
from robosim.bridges.runs import Runs
from robosim.errors import RobosimError
from robosim.execution.clock import ManualClock
from robosim.execution.interpolation import JointSpline, Knots
from robosim.execution.joint_trajectory import from_trajectory
from robosim.execution.messages import ArmState, Setpoint
from robosim.execution.tracking import Tracking
from robosim.geometry import Compound, HeightField, PointCloud, Shape, TriangleMesh
from robosim.pickling import rebuild
from robosim.planners import JointGoal, NoPlan, PoseGoal, Problem, Status, plan, plan_cartesian
from robosim.ros.planner.codes import ErrorCode, Refusal
from robosim.scene import Scene, families, load_scene
from robosim.scene.targets import LinkPose
from robosim.simulation import Control, Simulation, State
from robosim.trajectory import Event, TrajectoryLimits
from robosim.urdf import LoadOptions, bundled_robots
from robosim.world import JointEquality, Material, Motor, PointClosure, Weld, World

from .pickles import faults, reduce, reduced, same, with_other

WORKSPACE = "the memory of one loop; what it belongs to makes another"
LIVE = "a connection, a thread, a window, an open file or a controller's part in a running loop"
NO_VALUE = "an interface, a context or the methods of another class; there are no values of it"
MAKER = "collects what becomes a value, or reads it from a file"
COMPILED = "holds a scene that is compiled for a robot; `Scene.compile` makes another"
CANNOT = {
    "robosim.execution.arm.Arm": NO_VALUE,
    "robosim.execution.executor.": LIVE,
    "robosim.execution.goals.GoalHandle": NO_VALUE,
    "robosim.execution.guard.Guard": LIVE,
    "robosim.execution.loop.DeadlineLoop": LIVE,
    "robosim.execution.motion.Motion": NO_VALUE,
    "robosim.execution.plant.Dyn": LIVE,
    "robosim.execution.plant.Ideal": LIVE,
    "robosim.execution.plant.Plant": NO_VALUE,
    "robosim.execution.simulated.SimulatedArm": LIVE,
    "robosim.execution.tracking.TrackingRecorder": MAKER,
    "robosim.execution.transports.Transport": NO_VALUE,
    "robosim.execution.transports.": LIVE,
    "robosim.execution.watch.": LIVE,
    "robosim.model.builder.ModelBuilder": MAKER,
    "robosim.model.data.Data": WORKSPACE,
    "robosim.model.methods.": NO_VALUE,
    "robosim.model.operations.Operations": NO_VALUE,
    "robosim.pickling.Value": NO_VALUE,
    "robosim.planners.prepare.Prepared": COMPILED,
    "robosim.ros.": LIVE,
    "robosim.simulation.arguments.engine_errors": NO_VALUE,
    "robosim.simulation.columns.ParameterColumns": WORKSPACE,
    "robosim.simulation.linearization.Linearization": WORKSPACE,
    "robosim.simulation.parameters.Parameters": NO_VALUE,
    "robosim.urdf.fidelity.ModelColliders": MAKER,
    "robosim.urdf.schema.Ignored": MAKER,
    "robosim.urdf.values.Reader": MAKER,
    "robosim.viewer.server.Viewer": LIVE,
}


def public_classes() -> dict[str, type]:
    """Classes in the `__all__` of any module that can be imported here."""
    found: dict[str, type] = {}
    for info in pkgutil.walk_packages(robosim.__path__, "robosim."):
        if info.name.startswith("robosim.robots") or info.name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(info.name)
        except ImportError as error:
            if str(error.name).startswith("robosim"):
                raise
            continue
        for name in getattr(module, "__all__", ()):
            item = getattr(module, name)
            if inspect.isclass(item) and item.__module__.startswith("robosim"):
                found[f"{item.__module__}.{item.__qualname__}"] = item
    return found


CLASSES = public_classes()


def is_record(cls: type) -> bool:
    """Return true if the class checks nothing when a value is made."""
    return hasattr(cls, "_fields") or (
        dataclasses.is_dataclass(cls) and not hasattr(cls, "__post_init__")
    )


def reason_against(name: str) -> str | None:
    """Reason for the longest prefix in `CANNOT`.

    Records and classes with examples are values in any module.
    """
    if name in CANNOT:
        return CANNOT[name]
    begins = [begin for begin in CANNOT if name.startswith(begin)]
    if not begins or is_record(CLASSES[name]) or name in made_by_name():
        return None
    return CANNOT[max(begins, key=len)]


def examples() -> list[object]:
    """Values of all classes that cannot be filled with arbitrary data."""
    model = robosim.load_robot("ur5")
    scene = load_scene(families()[0], model=model)
    result = plan(Problem(model, scene))
    tool = model.link_names[-1]
    X = model.frame_pose(model.neutral(), tool)
    down = geometry.pose((0, 0, -0.02)) @ model.frame_pose(result.q_rest, tool)
    cell = World(scene=scene)
    cell.add(model, "arm", pose=X)
    simulation = Simulation(
        World(model, scene), solver="lcp", substeps=2, complementarity_aware=True
    )
    simulation = simulation.with_parameters(
        {"placement": np.full((6, 6), 1e-3), ("mass", "forearm_link"): 2.0}
    )
    box = Shape.box((0.1, 0.2, 0.3), rounding=0.01)
    q = model.neutral()
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    mesh = TriangleMesh(corners, faces, solid=False)
    limits = TrajectoryLimits(
        lower=-np.ones(6), velocity=np.full(6, np.inf), acceleration_source="here"
    )
    points = from_trajectory(result.trajectory)
    knots = Knots.of(points.points, range(6), np.zeros(6))
    row = np.zeros((3, 2))
    return [
        model, scene, result, simulation, result.trajectory, limits, mesh, box, points,
        points.points[0],
        Problem(model, scene, goal=PoseGoal("tool0", X, 0.1, (0, 0, np.inf)), clearance=0.01),
        plan_cartesian(Problem(model, scene, start=result.q_rest, goal=PoseGoal(tool, down))),
        JointGoal(result.q_rest, full_turns=False), PoseGoal("tool0", X), LinkPose("tool0", X),
        Scene("empty"), next(iter(scene)),
        geometry.signed_distance_derivatives(box, np.eye(4), Shape.sphere(0.1),
            geometry.pose((1, 0, 0))),
        model.mass_factor(q), model.mass_factor(q[None]), Runs(simulation, 3),
        State(q, q, 1.5), simulation.step(simulation.state()),
        simulation.parameters, simulation.linearize(simulation.state()).vjp(q, q).parameters,
        simulation.rollout(simulation.state(), 3, Control(tau=q)), cell, Control(tau=q),
        Material(0.5, 0.1),
        PointClosure("tool0", "base_link", (0, 0, 1)), Weld("tool0", "base_link", X),
        JointEquality("a", "b", (1.0, 2.0)),
        HeightField([[0, 1, 2], [1, 2, 4]], (0.5, 0.25)), PointCloud(corners, 0.1),
        Compound([(box, X), (mesh, np.eye(4)), (Compound([(mesh, X)]), X)]),
        Tracking(("a", "b"), np.arange(3.0), row, row, row),
        ArmState(("a",), [1.0], [np.nan], 0.5), Setpoint([1.0, 2.0]), ManualClock(2.0),
        LoadOptions(base="floating"),
        Event(0.5, "attach", "box", "tool0"),
        NoPlan(Status.NO_PATH, "no way"), Refusal(ErrorCode.TIMED_OUT, "late"), JointSpline(knots),
    ]  # fmt: skip


_EXAMPLES: dict[str, list[object]] = {}


def made_by_name() -> dict[str, list[object]]:
    """`examples` by the names of their classes."""
    if not _EXAMPLES:
        for value in examples():
            _EXAMPLES.setdefault(f"{type(value).__module__}.{type(value).__qualname__}", []).append(
                value
            )
    return _EXAMPLES


def values_of(name: str) -> list[object]:
    """Examples of a public class, filled with arrays if any data will do."""
    cls = CLASSES[name]
    if name in made_by_name():
        return made_by_name()[name]
    if issubclass(cls, enum.Enum):
        return list(cls)
    if issubclass(cls, BaseException):
        return (
            [cls("what"), cls("what", file="a.urdf", line=3)]
            if issubclass(cls, RobosimError)
            else [cls("what")]
        )
    if hasattr(cls, "_fields"):
        return [cls(*(np.arange(3.0) + i for i in range(len(cls._fields))))]
    if is_record(cls):
        return [cls(**{f.name: np.arange(3.0) for f in dataclasses.fields(cls) if f.init})]
    return []


HOW = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "oldest pickle": lambda value: pickle.loads(pickle.dumps(value, 2)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_pickles_and_copies_or_says_why_not(name):
    if reason_against(name) is not None:
        return
    values = values_of(name)
    assert values, f"{name}: give an example of it, or the reason why it cannot be pickled"
    for value in values:
        for how, copied in HOW.items():
            assert same(copied(value), value), f"{name} by {how}"


def test_reasons_are_of_classes_that_there_are():
    for begin in CANNOT:
        if not begin.startswith(("robosim.ros", "robosim.execution.transports")):
            assert any(name.startswith(begin) for name in CLASSES), begin


def test_compiled_parts_say_that_they_cannot():
    model = robosim.load_robot("ur5")
    for value in (model.data(), Scene().compile(model)):
        with pytest.raises(TypeError, match="cannot pickle"):
            pickle.dumps(value)


@pytest.mark.parametrize(
    "name", sorted(name for name, cls in CLASSES.items() if issubclass(cls, BaseException))
)
def test_errors_keep_their_words_and_place(name):
    for error in values_of(name):
        back = HOW["pickle"](error)
        assert str(back) == str(error)
        assert back.__dict__ == error.__dict__


def test_what_is_no_value_is_refused_or_taken():
    refused = 0
    for value in [value for values in made_by_name().values() for value in values]:
        make, arguments = reduce(value)[:2]
        if make is not rebuild:
            continue
        for way, other, _ in faults(arguments[1]):
            try:
                rebuild(arguments[0], with_other(arguments[1], way, other))
            except RobosimError:  # and no other error
                refused += 1
    assert refused > 1000


@pytest.mark.parametrize("make", [print, Path, open, [], None, robosim.load_robot])
def test_nothing_else_is_called(make):
    with pytest.raises(RobosimError, match="must be a class or function for that, not"):
        rebuild(make, {})


def test_simulations_keep_all_that_they_were_told():
    floor = Scene("floor")
    floor.add_half_space("floor", pose=geometry.pose((0, 0, -0.4195)))  # the height of its feet
    model = robosim.load_robot("quadruped", base="described")
    motors = {name: Motor(30.0, 1.0) for name in model.joint_names if "calf" in name}
    world = World(
        model,
        floor,
        materials={"trunk": Material(0.3), ("FR_foot", "floor"): Material(0.1)},
        motors=motors,
        closures=[Weld("FL_foot", "FR_foot"), JointEquality("FL_hip_joint", "FR_hip_joint")],
    )
    told = Simulation(
        world, dt=2e-3, solver="lcp", substeps=2, erp=0.1, margin=2e-3, restitution_threshold=0.2,
        complementarity_aware="together",
    )  # fmt: skip
    factors = {"friction": 0.5, "position_gain": 1.5, "velocity_gain": 1.5, "motor_limit": 1.5}
    changed = told.with_parameters({name: x * told.parameters[name] for name, x in factors.items()})
    control = Control(q_target=model.neutral())
    for one in (told, changed):
        for how, copied in HOW.items():
            other = copied(one)
            assert same(reduced(other), reduced(one)), how
            runs = [
                simulation.rollout(simulation.state(), 8, control) for simulation in (one, other)
            ]
            assert same(runs[1], runs[0]), how
    assert not same(
        told.rollout(told.state(), 8, control).q, changed.rollout(changed.state(), 8, control).q
    )


@pytest.mark.parametrize(
    ("name", "way", "other"),
    [
        ("robosim.scene.scene.Scene", ("objects", 0, "pose"), np.full((4, 4), np.nan)),
        ("robosim.scene.scene.Scene", ("objects", 0, "pose"), np.eye(3)),
        ("robosim.scene.scene.Scene", ("objects", 0, "shape_poses"), np.zeros((1, 4, 4))),
        ("robosim.scene.scene.Scene", ("starts", "start"), {"elbow_joint": np.nan}),
        ("robosim.scene.targets.LinkPose", ("pose",), np.full((4, 4), np.nan)),
        ("robosim.planners.problem.JointGoal", ("full_turns",), "no"),
        ("robosim.planners.problem.PoseGoal", ("pose",), np.eye(3)),
        ("robosim.planners.problem.Problem", ("clearance",), np.nan),
        ("robosim.planners.result.PlanResult", ("q_rest",), np.full(6, np.nan)),
        ("robosim.planners.result.PlanResult", ("path",), np.zeros((2, 5))),
        ("robosim.planners.result.PlanResult", ("columns",), (0, 1, 2, 3, 4, 6)),
        ("robosim.trajectory.trajectory.Trajectory", ("breaks",), np.full(3, np.nan)),
        ("robosim.trajectory.trajectory.Trajectory", ("coefficients",), np.zeros((2, 3))),
        ("robosim.trajectory.limits.TrajectoryLimits", ("velocity",), np.full(6, np.nan)),
        ("robosim.world.world.World", ("materials",), {"forearm_link": 0.5}),
        ("robosim.world.world.World", ("motors",), {"elbow_joint": 3.0}),
        ("robosim.world.world.World", ("parts", 0, 3), np.eye(3)),
        ("robosim.world.world.World", ("parts", 0, 4), np.zeros(5)),
        ("robosim.simulation.simulation.Simulation", ("parameters", "mass"), np.zeros(5)),
        (
            "robosim.simulation.simulation.Simulation",
            ("parameters", "placement"),
            np.full((6, 6), np.nan),
        ),
        ("robosim.simulation.simulation.Simulation", ("parameters",), [("mass", 1.0)]),
        ("robosim.simulation.simulation.Simulation", ("dt",), np.nan),
        ("robosim.simulation.state.State", ("q",), np.full(6, np.nan)),
        ("robosim.world.material.Material", ("friction",), np.nan),
    ],
)
def test_numbers_that_are_none_are_refused(name, way, other):
    make, (cls, arguments) = reduce(made_by_name()[name][0])[:2]
    assert make is rebuild
    rebuild(cls, arguments)
    with pytest.raises(RobosimError):
        rebuild(cls, with_other(arguments, way, other))


def problems() -> list[Problem]:
    model = robosim.load_robot("ur5")
    return [Problem(model, load_scene(name, model=model)) for name in families()[:2]]


def test_plans_come_back_from_processes_that_are_started_anew():
    here = [plan(problem) for problem in problems()]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        there = pool.map(plan, problems())
    for a, b in zip(here, there, strict=True):
        assert b.ok
        assert same(a.path, b.path)
        assert same(a.trajectory.coefficients, b.trajectory.coefficients)
        t = np.linspace(0, b.trajectory.duration, 7)
        assert same(a.trajectory.torque(t), b.trajectory.torque(t))


def test_robots_are_read_faster_than_loaded_and_are_small():
    # The minimum of several times for each robot, so that other work of the machine is left out.
    from time import perf_counter

    def least(call, times):
        taken = []
        for _ in range(times):
            begin = perf_counter()
            call()
            taken.append(perf_counter() - begin)
        return min(taken)

    for name in bundled_robots():
        model = robosim.load_robot(name)
        data = pickle.dumps(model)
        assert len(data) < 100_000
        assert least(lambda data=data: pickle.loads(data), 5) < least(
            lambda name=name: robosim.load_robot(name), 3
        )
