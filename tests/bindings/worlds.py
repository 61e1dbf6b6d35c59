"""Small worlds for all calls, each with objects that no call makes from nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from robosim import world
from robosim.geometry import Shape
from robosim.meshes import TriangleMesh
from robosim.model import JointKind, Model, ModelBuilder, Visual
from robosim.planners import JointGoal, PoseGoal, Problem
from robosim.scene import Scene
from robosim.simulation import Simulation
from robosim.world import JointEquality, Material, Motor, PointClosure

__all__ = ["FILES", "WORLDS", "World"]

# Files that calls can read, by name.
FILES = {
    "moveit_scene.yaml": (
        """
name: kitchen
world:
  collision_objects:
    - id: heap
      header: {frame_id: world}
      operation: 0
      primitives: [{type: 2, dimensions: [0.3]}]
      primitive_poses: [{position: [0, 0, 1]}]
"""
    ),
    "moveit_request.yaml": (
        """
group_name: all
start_state: {joint_state: {name: [joint0], position: [0.1]}}
goal_constraints: [{joint_constraints: [{joint_name: joint0, position: 0.4}]}]
"""
    ),
    "a_state.json": (
        '{"format": "robosim state 1", "time": 0.5, "q": [0.1], "v": [0.2], "q_target": [0.1]}'
    ),
}


@dataclass
class World:
    """A robot among obstacles.

    Attributes:
        name: of the world.
        model: the robot.
        scene: obstacles around the robot.
        make: functions by type that make an object; called each time, as calls may change objects.
        more: other arguments of calls.
        arrays: valid arrays by argument name, for arguments that accept few other numbers.
    """

    name: str
    model: Model
    scene: Scene
    make: Mapping[type, Callable[[], Any]] = field(default_factory=dict)
    more: Sequence[Any] = ()
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)


def _link(
    builder: ModelBuilder, name: str, size: tuple[float, float, float], mass: float = 1.0
) -> None:
    x, y, z = np.square(size)
    builder.add_link(name, mass=mass, inertia=mass / 12 * np.diag([y + z, x + z, x + y]))
    builder.add_collider(name, Shape.box(size))


def _arm(
    name: str, *, first: JointKind = "revolute", floating: bool = False, mimic: bool = False
) -> ModelBuilder:
    builder = ModelBuilder(name, floating_base=floating)
    _link(builder, "base", (0.2, 0.2, 0.1))
    for i, parent in enumerate(("base", "arm0", "arm1")[: 3 if mimic else 2]):
        _link(builder, f"arm{i}", (0.05, 0.05, 0.2), 0.5)
        builder.add_joint(
            f"joint{i}",
            first if i == 0 else "revolute",
            parent,
            f"arm{i}",
            X_PJ=_up(0.3),
            axis=(0, 1, 0),
            lower=-2.0,
            upper=2.0,
            velocity=2.0,
            effort=50.0,
            damping=0.1,
            friction=0.2,
            mimic=("joint0", 0.5, 0.0) if mimic and i == 2 else None,
        )
    builder.add_group("all", joints=["joint0", "joint1"], tip="arm1")
    builder.add_named_state("all", "bent", {"joint0": 0.5, "joint1": -0.5})
    return builder


def _up(z: float) -> np.ndarray:
    X = np.eye(4)
    X[2, 3] = z
    return X


def _scene(height: float, link: str) -> Scene:
    scene = Scene("room")
    scene.add_half_space("floor", pose=_up(height))
    scene.add_box("crate", (0.2, 0.2, 0.2), pose=_up(3.0))
    scene.add_sphere("held", 0.02, pose=_up(2.5))
    scene.attach("held", link, pose=_up(0.3))
    scene.add_points("cloud", [(0, 0, 0), (0.1, 0, 0)], 0.02, pose=_up(3.5))
    scene.add_convex("wedge", 0.1 * np.vstack([np.zeros(3), np.eye(3)]), pose=_up(4.0))
    scene.set_start({"joint0": 0.1})
    scene.set_goal({"joint0": -0.4})
    return scene


def _impact() -> Any:
    """An impact of the engine, of a ball that hits the floor within a step."""
    builder = ModelBuilder("ball")
    builder.add_link("base")
    builder.add_link("ball", mass=1.0, inertia=4e-3 * np.eye(3))
    builder.add_joint("height", "prismatic", "base", "ball")
    builder.add_collider("ball", Shape.sphere(0.1))
    scene = Scene("floor")
    scene.add_half_space("floor")
    bouncy = {("ball", "floor"): Material(restitution=0.5)}
    simulation = Simulation(world.World(builder.build(), scene, materials=bouncy))
    (island,) = simulation.linearize(simulation.state([0.1001], [-1.0]))._details.islands
    return island.impacts[0]


def _world(
    builder: Callable[[], ModelBuilder], height: float, closures: tuple[Any, ...] = ()
) -> World:
    model = builder().build()
    scene = _scene(height, model.links[-1].name)
    singles = [name for name in model.joint_names if name in model.velocity_names]

    def simulation() -> Simulation:
        return Simulation(
            world.World(
                model,
                scene,
                closures=closures,
                materials={"floor": Material(0.5, torsional_friction=0.01)},
                motors={name: Motor(50.0, 5.0) for name in singles},
            ),
            dt=2e-3,
        )

    tip = model.link_names[-1]
    q = np.clip(model.neutral(), model.limits.lower, model.limits.upper)
    near = model.integrate(q, 0.05 * np.eye(model.n_v)[:1].sum(axis=0))
    goals = (JointGoal(near), PoseGoal(tip, model.frame_pose(near, tip)))
    kept = simulation()  # shared by many calls, which must not affect each other
    return World(
        model.name,
        model,
        scene,
        {
            Model: lambda: model,
            ModelBuilder: builder,
            Scene: scene.copy,
            Simulation: lambda: kept,
            world.World: kept.world.copy,
            type(model._engine): lambda: model._engine,
            type(kept._engine): lambda: kept._engine,
            type(kept._scene): lambda: kept._scene,
            type(builder()._engine): lambda: builder()._engine,
            TriangleMesh: lambda: TriangleMesh(
                np.vstack([np.zeros(3), np.eye(3)]), [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
            ),
            np.random.Generator: lambda: np.random.default_rng(0),
        },
        [
            Visual(shape=Shape.box((0.1, 0.1, 0.1))),
            *(replace(thing, name=f"another {thing.name}") for thing in list(scene)[:1]),
            scene.objects["crate"],
            *(Problem(model, scene, start=q, goal=goal) for goal in goals),
            kept.parameters,
            kept.linearize(kept.state()).vjp(np.ones(model.n_v), np.ones(model.n_v)).parameters,
            _impact(),
        ],
        {"numbers": kept._engine.parameter_values()[0]},
    )


def _nothing() -> ModelBuilder:
    builder = ModelBuilder("nothing_moves")
    _link(builder, "base", (0.2, 0.2, 0.1))
    return builder


def _free() -> ModelBuilder:
    builder = ModelBuilder("free_bodies")
    builder.add_link("root")
    for i in range(2):
        _link(builder, f"body{i}", (0.2, 0.3, 0.1))
        builder.add_joint(f"joint{i}", "floating", "root", f"body{i}")
    return builder


# Each function makes a world: fixed, floating on a floor that it touches, with closures, with a
# mimic joint, free, rigid.
WORLDS: Mapping[str, Callable[[], World]] = {
    "fixed": lambda: _world(lambda: _arm("fixed", first="prismatic"), -1.0),
    "floating": lambda: _world(lambda: _arm("floating", floating=True), -0.0495),
    "closed": lambda: _world(
        lambda: _arm("closed"),
        -1.0,
        (
            PointClosure("base", "arm1", (0, 0, 0.6), (0, 0, 0)),
            JointEquality("joint1", "joint0", (0.0, -1.0)),
        ),
    ),
    "mimic": lambda: _world(lambda: _arm("mimic", mimic=True), -0.0495),
    "free": lambda: _world(
        _free, -0.0495, (PointClosure("body0", "body1", (0.1, 0, 0), (-0.1, 0, 0)),)
    ),
    "nothing": lambda: _world(_nothing, -1.0),
}
