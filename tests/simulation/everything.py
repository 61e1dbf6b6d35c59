"""A world that has every kind of parameter, at a state where each has an effect."""

from __future__ import annotations

from typing import Any

import numpy as np

from robosim.geometry import Shape, pose, pose_to_xyz_quaternion
from robosim.model import Model, ModelBuilder
from robosim.scene import Scene
from robosim.scene.objects import SceneObject
from robosim.simulation import Control, Simulation, State
from robosim.world import JointEquality, Material, Motor, PointClosure, Weld, World

DT = 2e-3
SPIKE = [
    [-0.08, 0.01, -0.09],
    [-0.05, -0.1, 0.01],
    [0.09, 0.1, 0.02],
    [0.06, -0.08, 0.06],
    [-0.02, 0.07, 0.09],
]
OVERLAP = 5e-4  # [m] of touching shapes: enough that they still touch after small motions
# Start of each floating body: position [x, y], orientation (roll, pitch, yaw), velocity.
PLACES = {
    "puck": ([0, 0], [2e-3, 3e-3, 0.3], [0.8, 0.3, -0.02, 0.1, 0.05, 1.5]),
    "sled": ([1, 0], [0, 0, 0.2], [0.5, -0.4, -0.2, 0.02, -0.05, 0.3]),
    "gem": ([0, -3], [0.1, 0.2, 0], [0.3, 0.2, -0.5, 0.4, 0.2, 0.5]),
    "ball": ([2, 0], [0.3, 0.2, 0.1], [1.4, 0.3, -1.0, 0.5, -0.3, 2.0]),
    "pebble": ([0.1, 3.1], [0, 0, 0], [0.3, -0.2, -0.4, 0.3, 0.2, 0.5]),
}
JOINTS = {  # positions and velocities
    "cushion_z": (0.0, -0.3), "turn": (0.2, -0.5), "wrist": (0.104, 0.3), "grip": (-0.1, -0.4),
    "stop_x": (-0.003, -0.2),
    "first_turn": (0.3, 0.7), "second_turn": (0.33, 0.6), "third_turn": (0.05, 0.2),
    "fourth_turn": (-0.1, -0.3),
    "near_turn": (0.02, 0.1), "near_slide": (0.01, -0.1),
}  # fmt: skip


def model() -> Model:
    """Build robots and free bodies beside each other."""
    rng = np.random.default_rng(1)
    builder = ModelBuilder("everything")

    def link(name: str, mass: float = 1.0) -> None:
        A = rng.normal(size=(3, 3))
        builder.add_link(
            name,
            mass=mass,
            com=0.02 * rng.normal(size=3),
            inertia=0.01 * (np.eye(3) + 0.04 * (A + A.T)),
        )

    def joint(name: str, kind: str, parent: str, child: str, X: Any = None, **options: Any) -> None:
        if kind not in ("fixed", "floating"):
            numbers = ("damping", 0.3), ("friction", 0.2), ("armature", 0.02), ("stiffness", 3.0)
            options |= {
                "spring_reference": 0.1,
                **{key: x * rng.uniform(0.5, 1.5) for key, x in numbers},
            }
        builder.add_joint(name, kind, parent, child, X_PJ=np.eye(4) if X is None else X, **options)

    builder.add_link("root")
    # A link that is fixed to the world, so that its mass has no effect. A gem falls on it.
    link("shelf")
    joint("shelf_fixed", "fixed", "root", "shelf", pose((0, -3, 0.1), rpy=(0.1, 0.2, 0.3)))
    builder.add_collider("shelf", Shape.box((0.5, 0.5, 0.1)))
    # Three links of one body. One of them has no mass.
    link("puck", 2.0)
    link("lid", 0.5)
    builder.add_link("label")
    joint("puck_free", "floating", "root", "puck")
    joint("puck_lid", "fixed", "puck", "lid", pose((0.03, -0.02, 0.08), rpy=(0.5, -0.3, 0.8)))
    joint("lid_label", "fixed", "lid", "label", pose((0.1, 0.02, 0.03), rpy=(0.3, 1.0, 0.2)))
    builder.add_collider("puck", Shape.box((0.2, 0.3, 0.1), rounding=0.01))
    builder.add_collider("lid", Shape.ellipsoid((0.03, 0.04, 0.02)))
    # Two shapes of one link, both in contact.
    link("sled")
    joint("sled_free", "floating", "root", "sled")
    builder.add_collider(
        "sled", Shape.capsule(0.04, 0.3), X_LC=pose((0, 0.1, 0), rpy=(0.1, np.pi / 2, 0))
    )
    builder.add_collider("sled", Shape.sphere(0.04), X_LC=pose((0.05, -0.1, 0)))
    for name, shape in (
        ("gem", Shape.convex(SPIKE, rounding=0.005)), ("ball", Shape.sphere(0.1)),
        ("pebble", Shape.sphere(0.05)),
    ):  # fmt: skip
        link(name)
        joint(f"{name}_free", "floating", "root", name)
        builder.add_collider(name, shape)
    link("stop")
    joint(
        "stop_x",
        "prismatic",
        "root",
        "stop",
        pose((6, 0, 1)),
        axis=(1, 0, 0.3),
        lower=0.0,
        upper=1.0,
    )
    link("cushion")
    joint("cushion_z", "prismatic", "root", "cushion", pose((-2, 0.3, 0.25)), axis=(0.1, 0.07, 1))
    builder.add_collider("cushion", Shape.cone(0.1, 0.2), X_LC=pose(rpy=(np.pi, 0.2, 0)))
    # An arm with a hand of two links, a finger, and a thumb that mimics the finger.
    for name, mass in (("arm", 1.0), ("hand", 0.4), ("palm", 0.3), ("finger", 0.2), ("thumb", 0.2)):
        link(name, mass)
    joint(
        "turn",
        "revolute",
        "root",
        "arm",
        pose((3, 0, 1), rpy=(0.2, 0.1, 0)),
        axis=(1, 2, 0),
        lower=-2.0,
        upper=2.0,
        velocity=0.1,  # the initial speed is above it
    )
    joint(
        "wrist",
        "prismatic",
        "arm",
        "hand",
        pose((0.3, 0, 0), rpy=(0, 0.3, 0)),
        axis=(1, 0, 1),
        lower=-0.5,
        upper=0.1,
    )
    joint("hand_palm", "fixed", "hand", "palm", pose((0.1, 0, 0.05), rpy=(0.3, 0.2, 0.1)))
    joint(
        "grip",
        "revolute",
        "palm",
        "finger",
        pose((0.1, 0.02, 0), rpy=(0.1, 0, 0)),
        axis=(0, 1, 0),
        lower=-1.0,
        upper=1.0,
    )
    builder.add_joint(
        "follow",
        "revolute",
        "palm",
        "thumb",
        X_PJ=pose((0.1, -0.02, 0)),
        axis=(0, 1, 0.2),
        mimic=("grip", -0.7, 0.1),
    )
    builder.add_collider(
        "thumb", Shape.cylinder(0.01, 0.1), X_LC=pose((0.05, 0, 0), rpy=(0, 0.3, 0))
    )
    # Two wheels coupled by a law, two pinned along a line, and a wheel welded to its slider.
    for i, name in enumerate(("first", "second", "third", "fourth", "near")):
        link(name)
        joint(
            f"{name}_turn", "continuous", "root", name, pose((0.3 * i, 5, 2)), axis=(0, 1, 0.1 * i)
        )
    link("slider")
    joint("near_slide", "prismatic", "near", "slider", pose((0.2, 0, 0)), axis=(1, 0, 0))
    return builder.build()


def obstacles() -> Scene:
    """Obstacles of one shape, two shapes, one and many triangles, and an attached object."""
    scene = Scene("ground")
    scene.add_half_space("floor")
    two = Shape.box((0.4, 0.4, 0.1)), Shape.box((0.2, 0.4, 0.1))
    where = np.stack([pose((0.05, 0, 0)), pose((0, 0, 0.1))])
    scene.add(SceneObject("steps", two, where, pose((-2, 0.3, 0.0), rpy=(0, 0, 0.2))))
    heights = 0.01 * np.random.default_rng(2).uniform(size=(4, 4))
    scene.add_height_field(
        "terrain", heights, 0.3, pose=pose((-0.5, 2.6, 0.05), rpy=(0.02, 0.01, 0))
    )
    scene.add_shape(
        "blade", Shape.triangle([[-0.2, -0.2, 0], [0.3, -0.1, 0.02], [0, 0.3, 0.01]], rounding=0.01)
    )
    scene.add_shape("held", Shape.box((0.04, 0.05, 0.06)))
    scene.allow("thumb", "blade")
    scene.attach("held", "finger", pose=pose((0.06, 0.01, 0.02), rpy=(0.1, 0.2, 0.3)))
    return scene


def everything(**options: Any) -> tuple[Simulation, State, Control]:
    """The world, its initial state and its control."""
    robot, scene = model(), obstacles()
    hard = Material(0.4, 0.3, 0.02, 0.01)
    materials: dict[Any, Material] = dict.fromkeys([*robot.link_names, *scene.objects], hard)
    for pair in ("cushion", "steps"), ("sled", "floor"):
        materials[pair] = Material(0.5, 0.0, 0.02, 0.01, compliance=1e-4, relaxation_time=2e-3)
    motors = {
        "turn": Motor(20.0, 1.0),
        "cushion_z": Motor(20.0, 1.0),
        "wrist": Motor(50.0, 2.0, 40.0),
        "first_turn": Motor(30.0, 2.0, 0.4),
    }
    q, v = np.array(robot.neutral()), np.zeros(robot.n_v)
    for joint, (position, speed) in JOINTS.items():
        q[robot.position_names.index(joint)] = position
        v[robot.velocity_names.index(joint)] = speed
    for name, (xy, rpy, speed) in PLACES.items():
        first = robot.position_names.index(f"{name}_free/x")
        q[first : first + 7] = *xy, 0.5, *pose_to_xyz_quaternion(pose(rpy=rpy))[1]
        first = robot.velocity_names.index(f"{name}_free/vx")
        v[first : first + 6] = speed
    # Closures are slightly open, so that they exert forces.
    pinned = PointClosure.where_it_is(robot, q, "third", "fourth", (0.15, 0, 0.05))
    welded = Weld.where_it_is(robot, q, "near", "slider")
    closures = [
        PointClosure("third", "fourth", (0.15, 0, 0.05), pinned.at_b + 1e-4, axes="z"),
        Weld(
            "near",
            "slider",
            welded.at_a @ pose((1e-4, 2e-4, 0), rpy=(0, 1e-3, 0)),
            pose((0, 0, 0.1)),
        ),
        JointEquality("second_turn", "first_turn", (0.1, 0.7, -0.2, 0.1, 0.05)),
    ]
    # Lower each body onto what is below it, and the blade onto the object that the finger holds.
    X = robot.frame_pose(q, "finger")
    scene.move("blade", pose(X[:3, 3] + [0.07, 0, 0.3], rpy=(0.1, 0.05, 0.2)))
    compiled = scene.compile(robot)
    names = [compiled.names[i].split("/")[0] for i in range(len(compiled.names))]

    def gap(one: str, others: set[str]) -> float:
        pairs = [{names[a], names[b]} for a, b in compiled.pairs]
        return min(
            x
            for x, pair in zip(compiled.distances(q), pairs, strict=True)
            if one in pair and pair & others
        )

    for name in PLACES:
        for _ in range(50):  # along z, which is not the normal of a slope
            q[robot.position_names.index(f"{name}_free/z")] -= (
                gap(name, {"floor", "shelf", "terrain"}) + OVERLAP
            )
    for _ in range(50):
        q[robot.position_names.index("cushion_z")] -= gap("cushion", {"steps"}) + OVERLAP
    for _ in range(50):
        scene.move(
            "blade", pose((0, 0, -gap("held", {"blade"}) - OVERLAP)) @ scene.objects["blade"].pose
        )
        compiled = scene.compile(robot)
    simulation = Simulation(
        World(robot, scene, materials=materials, motors=motors, closures=closures),
        dt=DT,
        speed_limits=True,
        **options,
    )
    rng = np.random.default_rng(3)
    tau, v_target = rng.normal(size=(2, robot.n_v))
    return simulation, simulation.state(q, v), Control(tau, q + 0.05, v_target)
