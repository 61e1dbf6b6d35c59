"""Joints, motors and closed loops with contact: doors, linkages, vehicles, contradictions."""

from __future__ import annotations

import numpy as np

from robosim import load_robot
from robosim.geometry import Shape, pose
from robosim.model import Model, ModelBuilder
from robosim.simulation import Control
from robosim.world import Material, Motor, PointClosure, World

from .scene import ZooScene, ground, holding, put, scene, start_velocity


def _rod_inertia(mass: float, length: float) -> np.ndarray:
    """Inertia of a thin rod along x about its center, with a small moment about its own axis."""
    across = mass * length**2 / 12
    return np.diag([0.05 * across, across, across])


@scene
def door() -> ZooScene:
    """A door with dry friction in its hinge: a ball rolls against it, and a post stops it."""
    world = ground(0.5)
    builder = ModelBuilder("door")
    builder.add_link("frame")
    builder.add_link("leaf", mass=10.0, com=(0.4, 0, 0), inertia=np.diag([3.4, 0.54, 3.9]))
    builder.add_joint(
        "hinge", "revolute", "frame", "leaf", X_PJ=pose((0, 0, 1.02)), axis=(0, 0, 1), friction=0.3,
        damping=0.1, lower=-2, upper=2, velocity=10, effort=100,
    )  # fmt: skip
    builder.add_collider("leaf", Shape.box((0.8, 0.04, 2.0)), X_LC=pose((0.4, 0, 0)))
    world.add(builder.build(), "door", materials={"leaf": Material(0.5)})
    world.scene.add_box("post", (0.1, 0.1, 1.0), pose((0.5, 0.55, 0.5)))
    world.materials["post"] = Material(0.5)
    put(world, "ball", Shape.sphere(0.12), (0.65, -0.4, 0.12), mass=4.0, mu=0.5)
    v = start_velocity(world, ball=(0, 3.0, 0, -25.0, 0, 0))
    return ZooScene(world, v=v, steps=750, impacts=True)


@scene
def drawer() -> ZooScene:
    """A drawer in a slot with a millimeter of play, pulled off center: it jams and slides."""
    world = ground(0.15)
    put(world, "drawer", Shape.box((0.4, 0.3, 0.1)), (0, 0, 0.05), mass=3.0, mu=0.15)
    for name, y in (("left", 0.1755), ("right", -0.1755)):
        world.scene.add_box(name, (0.5, 0.05, 0.16), pose((0, y, 0.06)))
        world.materials[name] = Material(0.15)
    tau = np.array([12.0, 0, 0, 0, 0, -1.2])
    return ZooScene(world, Control(tau=tau), steps=400, impacts=True)


@scene
def four_bar() -> ZooScene:
    """A four-bar linkage in the x-z plane with a driven crank and a loaded coupler."""
    builder = ModelBuilder("four_bar")
    builder.add_link("frame")
    lengths = {"crank": 0.1, "coupler": 0.3, "rocker": 0.25}
    for name, length in lengths.items():
        builder.add_link(
            name, mass=2 * length, com=(length / 2, 0, 0), inertia=_rod_inertia(2 * length, length)
        )
    builder.add_joint("drive", "continuous", "frame", "crank", axis=(0, 1, 0))
    builder.add_joint(
        "pin", "continuous", "crank", "coupler", X_PJ=pose((0.1, 0, 0)), axis=(0, 1, 0)
    )
    builder.add_joint(
        "pivot", "continuous", "frame", "rocker", X_PJ=pose((0.3, 0, 0)), axis=(0, 1, 0)
    )
    world = World(
        builder.build(),
        motors={"drive": Motor(0.0, 2.0, 20.0)},
        closures=[PointClosure("coupler", "rocker", (0.3, 0, 0), (0.25, 0, 0), axes="xz")],
    )
    # The crank points up. The two other links meet above, by the law of cosines.
    a = np.array([0.0, 0.1])
    b = np.array([0.3, 0.0])
    way = b - a
    d = float(np.hypot(*way))
    along = (0.3**2 - 0.25**2 + d * d) / (2 * d)
    up = np.sqrt(0.3**2 - along**2)
    meet = a + along * way / d + up * np.array([-way[1], way[0]]) / d
    # A rotation about y by an angle maps x to (cos, -sin) in x and z.
    crank = -np.pi / 2
    coupler = -np.arctan2(*(meet - a)[::-1]) - crank
    rocker = -np.arctan2(*(meet - b)[::-1])
    q = np.array([crank, coupler, rocker])
    names = world.model.velocity_names
    tau = np.zeros(3)
    tau[names.index("pivot")] = 0.5
    v_target = np.zeros(3)
    v_target[names.index("drive")] = 6.0
    return ZooScene(world, Control(tau=tau, v_target=v_target), q=q, steps=600)


def _stewart() -> tuple[Model, list[PointClosure]]:
    """Return six legs with a universal joint and a slide each, and a platform pinned to them."""
    builder = ModelBuilder("stewart")
    builder.add_link("ground")
    builder.add_link("platform", mass=5.0, inertia=np.diag([0.05, 0.05, 0.1]))
    builder.add_joint("free", "floating", "ground", "platform")
    builder.add_collider("platform", Shape.cylinder(0.16, 0.02))
    closures = []
    for k in range(6):
        foot_angle = np.pi / 3 * (k + k % 2) + (-0.15 if k % 2 else 0.15)
        top_angle = np.pi / 3 * (k + 1 - k % 2) + (0.15 if k % 2 else -0.15)
        foot = np.array([0.3 * np.cos(foot_angle), 0.3 * np.sin(foot_angle), 0.0])
        top = np.array([0.15 * np.cos(top_angle), 0.15 * np.sin(top_angle), 0.4])
        way = top - foot
        length = float(np.linalg.norm(way))
        z = way / length
        x = np.cross([0, 0, 1.0], z)
        x /= np.linalg.norm(x)
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = np.column_stack([x, np.cross(z, x), z]), foot
        for name, mass in (("cross", 0.1), ("tube", 0.5), ("rod", 0.3)):
            com = (0, 0, 0.1) if name == "tube" else (0, 0, -0.1) if name == "rod" else (0, 0, 0)
            builder.add_link(f"{name}_{k}", mass=mass, com=com, inertia=2e-3 * mass * np.eye(3))
        builder.add_joint(
            f"swing_{k}", "continuous", "ground", f"cross_{k}", X_PJ=X, axis=(1, 0, 0)
        )
        builder.add_joint(f"tilt_{k}", "continuous", f"cross_{k}", f"tube_{k}", axis=(0, 1, 0))
        builder.add_joint(
            f"slide_{k}", "prismatic", f"tube_{k}", f"rod_{k}", X_PJ=pose((0, 0, length)),
            axis=(0, 0, 1),
            lower=-0.1, upper=0.1, velocity=1, effort=500,
        )  # fmt: skip
        closures.append(PointClosure("platform", f"rod_{k}", tuple(top - [0, 0, 0.4])))
    return builder.build(), closures


@scene
def stewart_platform() -> ZooScene:
    """Six motors hold a platform with a box, which slides a little as the platform heaves."""
    model, closures = _stewart()
    q = model.neutral()
    q[model.position_names.index("free/z")] = 0.4
    world = World(
        model,
        motors={f"slide_{k}": Motor(5e4, 2e3) for k in range(6)},
        closures=closures,
        materials={"platform": Material(0.5)},
        q=q,
    )
    put(world, "load", Shape.box((0.1, 0.1, 0.1)), (0.02, 0, 0.461), mass=10.0, mu=0.5)
    at = [world.model.position_names.index(f"slide_{k}") for k in range(6)]
    start = world.start

    def control(k: int) -> Control:
        target = start.copy()
        target[at] += 0.03 * np.sin(2 * np.pi * k / 250 + np.arange(6) * 0.5) * min(1.0, k / 100)
        return Control(q_target=target)

    return ZooScene(world, control, steps=500)


@scene
def base_inside_floor() -> ZooScene:
    """An arm mounted so low that a link that only rotates is in the floor, and must stay there."""
    world = ground(0.5)
    arm = load_robot("ur5")
    q = arm.neutral()
    q[1] = -1.2
    world.add(
        arm, "arm", pose=pose((0, 0, -0.12)), q=q,
        motors={name: Motor(2000.0, 100.0) for name in arm.joint_names},
        materials={link.name: Material(0.5) for link in arm.links},
    )  # fmt: skip
    return ZooScene(world, holding(world), steps=200, contradicts=True, settles=200)


@scene
def box_between_two_walls() -> ZooScene:
    """A box of 0.2 m in a gap of 0.199 m, which must overlap one of the walls."""
    world = ground(0.5)
    put(world, "box", Shape.box((0.2, 0.2, 0.1)), (1e-4, 0.03, 0.05), mu=0.5)
    for name, side in (("left", -1), ("right", 1)):
        world.scene.add_box(name, (0.1, 0.4, 0.3), pose((side * (0.0995 + 0.05), 0, 0.1)))
        world.materials[name] = Material(0.5)
    return ZooScene(world, steps=200, contradicts=True, settles=200)


@scene
def conveyor_of_tiles() -> ZooScene:
    """Tiles in a row are driven at 0.3 m/s; a box and a can land on them and are carried along."""
    builder = ModelBuilder("conveyor")
    builder.add_link("bed")
    for k in range(8):
        builder.add_link(f"tile_{k}", mass=1.0, inertia=1e-2 * np.eye(3))
        builder.add_joint(
            f"drive_{k}",
            "prismatic",
            "bed",
            f"tile_{k}",
            X_PJ=pose((0.1005 * k, 0, -0.02)),
            axis=(1, 0, 0),
        )
        builder.add_collider(f"tile_{k}", Shape.box((0.1, 0.4, 0.04)))
    world = World(
        builder.build(),
        motors={f"drive_{k}": Motor(0.0, 2000.0) for k in range(8)},
        materials={f"tile_{k}": Material(0.5) for k in range(8)},
    )
    for k in range(7):
        world.scene.allow(f"tile_{k}", f"tile_{k + 1}")
    put(world, "box", Shape.box((0.15, 0.1, 0.1)), (0.1, 0, 0.06), mass=2.0, mu=0.5)
    put(world, "can", Shape.cylinder(0.04, 0.1), (0.4, 0.05, 0.055), mass=0.5, mu=0.5)
    v_target = np.zeros(world.model.n_v)
    v_target[:8] = 0.3
    return ZooScene(world, Control(v_target=v_target), steps=600, impacts=True)


def _car() -> Model:
    builder = ModelBuilder("car", floating_base=True)
    builder.add_link("chassis", mass=8.0, inertia=np.diag([0.06, 0.15, 0.18]))
    builder.add_collider("chassis", Shape.box((0.4, 0.2, 0.06)), X_LC=pose((0, 0, 0.05)))
    for x, front in ((-0.18, "rear"), (0.18, "front")):
        for y, side in ((-0.16, "right"), (0.16, "left")):
            name = f"{front}_{side}"
            builder.add_link(name, mass=0.8, inertia=np.diag([2e-3, 4e-3, 2e-3]))
            builder.add_joint(
                f"{name}_axle", "continuous", "chassis", name, X_PJ=pose((x, y, 0)), axis=(0, 1, 0)
            )
            builder.add_collider(name, Shape.cylinder(0.1, 0.05), X_LC=pose(rpy=(np.pi / 2, 0, 0)))
    return builder.build()


@scene
def wheels_over_step() -> ZooScene:
    """A car with four driven wheels climbs a step of a third of their radius."""
    world = ground(0.9)
    car = _car()
    wheels = [name for name in car.velocity_names if name.endswith("_axle")]
    world.add(
        car, "car", pose=pose((0, 0, 0.1)), motors={name: Motor(0.0, 2.0, 4.0) for name in wheels},
        materials={link.name: Material(0.9) for link in car.links},
    )  # fmt: skip
    world.scene.add_box("step", (1.5, 1.0, 0.033), pose((1.15, 0, 0.0165)))
    world.materials["step"] = Material(0.9)
    v_target = np.zeros(world.model.n_v)
    v_target[6:] = 8.0
    return ZooScene(world, Control(v_target=v_target), steps=600, impacts=True)


def _rope(links: int, radius: float, pitch: float) -> Model:
    """Return capsules on hinges about y and z in turn, the first of which is free."""
    builder = ModelBuilder("rope", floating_base=True)
    for k in range(links):
        name = f"piece_{k}"
        builder.add_link(
            name,
            mass=0.03,
            com=(pitch / 2, 0, 0),
            inertia=_rod_inertia(0.03, pitch) + 1e-7 * np.eye(3),
        )
        X = pose((pitch / 2, 0, 0), rpy=(0, np.pi / 2, 0))
        builder.add_collider(name, Shape.capsule(radius, pitch - 2 * radius), X_LC=X)
        if k:
            builder.add_joint(
                f"hinge_{k}", "continuous", f"piece_{k - 1}", name, X_PJ=pose((pitch, 0, 0)),
                axis=(0, k % 2, 1 - k % 2), damping=1e-4,
            )  # fmt: skip
    return builder.build()


@scene
def rope_over_cylinder() -> ZooScene:
    """A rope of 24 pieces falls across a round bar and hangs down on both sides."""
    world = ground(0.6)
    world.scene.add_cylinder("bar", 0.06, 0.5, pose((0, 0, 0.6), rpy=(np.pi / 2, 0, 0)))
    world.materials["bar"] = Material(0.6)
    rope = _rope(24, 8e-3, 0.04)
    world.add(
        rope, "rope", pose=pose((-0.49, 0, 0.68)),
        materials={link.name: Material(0.6) for link in rope.links},
    )  # fmt: skip
    return ZooScene(world, dt=1e-3, steps=1000, impacts=True)


@scene
def arm_against_limits() -> ZooScene:
    """An arm with its motors off falls into the limits of its joints and onto the floor."""
    world = ground(0.5)
    arm = load_robot("panda")
    world.add(arm, "arm", q="ready", materials={link.name: Material(0.5) for link in arm.links})
    return ZooScene(world, steps=750, impacts=True)


@scene
def arm_presses_wall() -> ZooScene:
    """An arm pushes its hand against a wall with the full torque of its motors."""
    world = ground(0.5)
    arm = load_robot("ur5")
    q = np.array([0, -1.2, 1.8, -0.6, 1.57, 0])
    world.add(
        arm, "arm", q=q, motors={name: Motor(2000.0, 100.0) for name in arm.joint_names},
        materials={link.name: Material(0.5) for link in arm.links},
    )  # fmt: skip
    world.scene.add_half_space("wall", pose((0.62, 0, 0), rpy=(0, -np.pi / 2, 0)))
    world.materials["wall"] = Material(0.5)
    target = q.copy()
    target[2] -= 0.5
    return ZooScene(world, Control(q_target=target), steps=600, impacts=True)
