"""Hands and tools: grasping, carrying, dropping, inserting, screwing, pushing, rolling."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robosim.geometry import Shape, pose
from robosim.model import Model, ModelBuilder
from robosim.simulation import Control
from robosim.world import Material, Motor, World

from .scene import Array, ZooScene, ground, put, scene

PADS = 0.8  # friction of the fingers


def _gripper() -> Model:
    """Return a palm on two slides, x and z, with two fingers that slide along x.

    z = 0 is at the fingertips.
    """
    builder = ModelBuilder("gripper")
    builder.add_link("rail")
    builder.add_link("beam", mass=0.5, inertia=1e-3 * np.eye(3))
    builder.add_joint("carry", "prismatic", "rail", "beam", axis=(1, 0, 0))
    builder.add_link("palm", mass=0.7, com=(0, 0, 0.1), inertia=1e-3 * np.eye(3))
    builder.add_joint("lift", "prismatic", "beam", "palm", axis=(0, 0, 1))
    builder.add_collider("palm", Shape.box((0.16, 0.05, 0.04)), X_LC=pose((0, 0, 0.12)))
    for name, side in (("left", -1), ("right", 1)):
        builder.add_link(name, mass=0.05, com=(0, 0, 0.04), inertia=2e-5 * np.eye(3))
        builder.add_joint(
            name, "prismatic", "palm", name, X_PJ=pose((side * 0.06, 0, 0)), axis=(-side, 0, 0),
            lower=0.0, upper=0.06, velocity=1.0, effort=60.0,
        )  # fmt: skip
        builder.add_collider(
            name, Shape.box((0.015, 0.03, 0.08)), X_LC=pose((side * 0.0075, 0, 0.04))
        )
    return builder.build()


def _hand(at: tuple[float, float, float], force: float = 20.0) -> World:
    """Return a floor and a gripper with its tips at `at`, which closes with this force [N]."""
    world = ground()
    motors = {
        "carry": Motor(2e4, 500.0),
        "lift": Motor(2e4, 500.0),
        "left": Motor(2e3, 50.0, force),
        "right": Motor(2e3, 50.0, force),
    }
    links = ("palm", "left", "right")
    world.add(
        _gripper(),
        "hand",
        pose=pose(at),
        motors=motors,
        materials={x: Material(PADS) for x in links},
    )
    return world


def _targets(world: World, plan: Callable[[int], dict[str, float]]) -> Callable[[int], Control]:
    """Return controls with the targets of the start, except for the joints of the plan."""
    at = {name: i for i, name in enumerate(world.model.position_names)}
    start = world.start

    def control(k: int) -> Control:
        target = start.copy()
        for joint, value in plan(k).items():
            target[at[joint]] = value
        return Control(q_target=target)

    return control


def _ramp(k: int, first: int, last: int, most: float) -> float:
    """Interpolate from zero to `most` between these steps."""
    return most * float(np.clip((k - first) / (last - first), 0.0, 1.0))


def _grasp(close: float) -> dict[str, float]:
    return {"hand/left": close, "hand/right": close}


@scene
def gripper_lifts() -> ZooScene:
    """Two fingers close on a box and lift it."""
    world = _hand((0, 0, 0.01))
    put(world, "box", Shape.box((0.05, 0.05, 0.06)), (0, 0, 0.03), mass=0.4)

    def plan(k: int) -> dict[str, float]:
        return _grasp(_ramp(k, 0, 100, 0.06)) | {"hand/lift": _ramp(k, 150, 350, 0.15)}

    return ZooScene(world, _targets(world, plan), steps=600, comes_to_rest=True, impacts=True)


@scene
def gripper_carries() -> ZooScene:
    """Two fingers hold a ball, lift it and carry it along."""
    world = _hand((0, 0, 0.0))
    put(world, "ball", Shape.sphere(0.03), (0, 0, 0.03), mass=0.3)

    def plan(k: int) -> dict[str, float]:
        return _grasp(_ramp(k, 0, 100, 0.06)) | {
            "hand/lift": _ramp(k, 150, 300, 0.1),
            "hand/carry": _ramp(k, 300, 550, 0.25),
        }

    return ZooScene(world, _targets(world, plan), steps=600, impacts=True)


@scene
def gripper_drops() -> ZooScene:
    """Two fingers lift a box and release it."""
    world = _hand((0, 0, 0.01))
    put(world, "box", Shape.box((0.05, 0.05, 0.06)), (0, 0, 0.03), mass=0.4)

    def plan(k: int) -> dict[str, float]:
        close = _ramp(k, 0, 80, 0.06) - _ramp(k, 300, 320, 0.06)
        return _grasp(close) | {"hand/lift": _ramp(k, 100, 250, 0.15)}

    return ZooScene(world, _targets(world, plan), steps=600, comes_to_rest=True, impacts=True)


@scene
def gripper_holds_glass() -> ZooScene:
    """Two fingers hold a cylinder by friction alone, with a ball on its top."""
    world = _hand((0, 0, 0.02), force=40.0)
    put(world, "glass", Shape.cylinder(0.03, 0.08), (0, 0, 0.04), mass=0.3)

    def plan(k: int) -> dict[str, float]:
        return _grasp(_ramp(k, 0, 100, 0.06)) | {"hand/lift": _ramp(k, 150, 350, 0.1)}

    return ZooScene(world, _targets(world, plan), steps=600, comes_to_rest=True, impacts=True)


def _carried_peg(shape: Shape, start: Array, mass: float) -> World:
    """Return a peg that springs keep upright above the hole while a motor presses it down."""
    builder = ModelBuilder("peg")
    builder.add_link("frame")
    parent, X = "frame", pose((0, 0, 0))
    for name, kind, axis in (
        ("x", "prismatic", (1, 0, 0)), ("y", "prismatic", (0, 1, 0)), ("z", "prismatic", (0, 0, 1)),
        ("roll", "continuous", (1, 0, 0)), ("pitch", "continuous", (0, 1, 0)),
    ):  # fmt: skip
        link = "peg" if name == "pitch" else f"{name}_carriage"
        own = mass if name == "pitch" else 0.02
        builder.add_link(link, mass=own, inertia=own * 1e-3 * np.eye(3))
        builder.add_joint(name, kind, parent, link, X_PJ=X, axis=axis)
        parent = link
    builder.add_collider("peg", shape)
    motors = {
        "x": Motor(200.0, 5.0), "y": Motor(200.0, 5.0), "z": Motor(500.0, 50.0, 10.0),
        "roll": Motor(0.5, 0.01), "pitch": Motor(0.5, 0.01),
    }  # fmt: skip
    world = ground(0.3)
    world.add(builder.build(), "tool", q=start, motors=motors, materials={"peg": Material(0.3)})
    return world


def _to(world: World, target: Array) -> Control:
    return Control(q_target=target)


@scene
def square_peg_in_hole() -> ZooScene:
    """A tilted square peg with half a millimeter of play, pressed into its hole to the floor."""
    world = _carried_peg(
        Shape.box((0.02, 0.02, 0.06)), np.array([1e-4, -1e-4, 0.075, 0.005, 0.004]), 0.1
    )
    play, wall, depth = 5e-4, 0.03, 0.04
    off = 0.01 + play / 2 + wall / 2
    for name, x, y in (("east", off, 0), ("west", -off, 0), ("north", 0, off), ("south", 0, -off)):
        # From below the floor, so that no edge of a wall is level with an edge of the peg.
        size = (wall, 0.03, 2 * depth) if x else (2 * wall + 0.02 + play, wall, 2 * depth)
        world.scene.add_box(name, size, pose((x, y, 0)))
        world.materials[name] = Material(0.3)
    target = np.array([0, 0, 0.02, 0, 0])
    return ZooScene(world, _to(world, target), dt=1e-3, steps=800, impacts=True, comes_to_rest=True)


@scene
def round_peg_in_hole() -> ZooScene:
    """A cylinder with 0.4 mm of play in a hole of twelve flat sides."""
    world = _carried_peg(Shape.cylinder(0.01, 0.06), np.array([1e-4, 0, 0.075, 0.004, 0.002]), 0.1)
    for k in range(12):
        X = pose(rpy=(0, 0, k * np.pi / 6)) @ pose((0.0102 + 0.01, 0, 0))
        world.scene.add_box(f"side_{k}", (0.02, 0.012, 0.08), X)
        world.materials[f"side_{k}"] = Material(0.3)
    target = np.array([0, 0, 0.02, 0, 0])
    return ZooScene(world, _to(world, target), dt=1e-3, steps=800, impacts=True, comes_to_rest=True)


def _thread(
    turns: float, pitch: float, root: tuple[float, float], crest: tuple[float, float]
) -> list[Array]:
    """Return convex pieces (8, 3) of a helical rib, twelve per turn.

    Args:
        turns: of the helix, from z = 0 up.
        pitch: rise of a turn [m].
        root: radius of the wide side of the rib, and its height there [m].
        crest: radius of the narrow side of the rib, and its height there [m].
    """
    step = np.pi / 6
    pieces = []
    for k in range(round(turns * 12)):
        corners = []
        for angle in (k * step, (k + 1) * step):
            z = pitch * angle / (2 * np.pi)
            for radius, height in (root, crest):
                for side in (-0.5, 0.5):
                    corners.append(
                        [radius * np.cos(angle), radius * np.sin(angle), z + side * height]
                    )
        pieces.append(np.array(corners))
    return pieces


@scene
def nut_on_bolt() -> ZooScene:
    """A nut runs down a bolt of 6 mm pitch by its own weight, with 0.2 mm of play in the thread."""
    pitch = 6e-3
    world = ground(0.02)
    world.scene.add_cylinder("core", 8e-3, 0.05, pose((0, 0, 0.025)))
    world.materials["core"] = Material(0.02)
    for k, corners in enumerate(_thread(5, pitch, (8e-3, 3e-3), (10e-3, 1e-3))):
        name = f"thread_{k}"
        world.scene.add_convex(name, corners, pose((0, 0, 0.01)))
        world.materials[name] = Material(0.02)
    builder = ModelBuilder("nut", floating_base=True)
    builder.add_link("nut", mass=0.05, com=(0, 0, 4e-3), inertia=np.diag([4e-6, 4e-6, 7e-6]))
    for corners in _thread(1.5, pitch, (10.4e-3, 5.2e-3), (8.4e-3, 3.2e-3)):
        builder.add_collider("nut", Shape.convex(corners))
    # The rib of the nut lies between those of the bolt: half a pitch above one of them.
    at = pose((0, 0, 0.01 + 2.5 * pitch))
    world.add(builder.build(), "nut", pose=at, materials={"nut": Material(0.02)})
    return ZooScene(world, dt=1e-3, steps=500, impacts=True)


def _pusher(height: float, shape: Shape, limit: float) -> Model:
    """Return a shape on a slide along x."""
    builder = ModelBuilder("pusher")
    builder.add_link("rail")
    builder.add_link("finger", mass=1.0, inertia=1e-3 * np.eye(3))
    builder.add_joint(
        "x", "prismatic", "rail", "finger", X_PJ=pose((-0.2, 0, height)), axis=(1, 0, 0),
        lower=-1, upper=2, velocity=5, effort=limit,
    )  # fmt: skip
    builder.add_collider("finger", shape)
    return builder.build()


def _pushed(
    shape: Shape, at: tuple[float, float, float], finger: Shape, height: float, **body
) -> World:
    world = ground(0.5)
    motors = {"x": Motor(5e3, 200.0, 60.0)}
    world.add(
        _pusher(height, finger, 60.0), "push", motors=motors, materials={"finger": Material(0.5)}
    )
    put(world, "thing", shape, at, mu=0.5, **body)
    return world


@scene
def pushing_a_box() -> ZooScene:
    """A ball on a slide pushes a box off its center, so that the box rotates away."""
    world = _pushed(Shape.box((0.12, 0.12, 0.12)), (0, 0.025, 0.06), Shape.sphere(0.03), 0.05)
    plan = _targets(world, lambda k: {"push/x": _ramp(k, 0, 600, 0.5)})
    return ZooScene(world, plan, steps=600, impacts=True)


@scene
def pivoting_a_box() -> ZooScene:
    """A ball on a slide tips a tall box over its far edge, which a sill holds in place."""
    world = _pushed(Shape.box((0.1, 0.1, 0.3)), (0, 2e-3, 0.15), Shape.sphere(0.03), 0.27)
    world.scene.add_box("sill", (0.02, 0.3, 0.02), pose((0.0605, 0, 0.01)))
    world.materials["sill"] = Material(0.5)
    plan = _targets(world, lambda k: {"push/x": _ramp(k, 0, 700, 0.3)})
    return ZooScene(world, plan, steps=800, impacts=True)


@scene
def rolling_a_cylinder() -> ZooScene:
    """A moving plate rolls a cylinder between itself and the floor."""
    world = ground(0.8)
    builder = ModelBuilder("press")
    builder.add_link("rail")
    builder.add_link("beam", mass=0.5, inertia=1e-3 * np.eye(3))
    builder.add_joint("x", "prismatic", "rail", "beam", axis=(1, 0, 0))
    builder.add_link("plate", mass=2.0, inertia=1e-2 * np.eye(3))
    builder.add_joint("z", "prismatic", "beam", "plate", X_PJ=pose((0, 0, 0.111)), axis=(0, 0, 1))
    builder.add_collider("plate", Shape.box((0.6, 0.3, 0.02)))
    motors = {"x": Motor(5e3, 200.0, 60.0)}
    world.add(builder.build(), "press", motors=motors, materials={"plate": Material(0.8)})
    put(world, "roller", Shape.cylinder(0.05, 0.2), (0, 0, 0.05), rpy=(np.pi / 2, 0, 0))
    plan = _targets(world, lambda k: {"press/x": _ramp(k, 50, 550, 0.3)})
    return ZooScene(world, plan, steps=600, impacts=True)
