"""Free bodies on each other: piles, walls, card houses, plates, extreme mass ratios."""

from __future__ import annotations

import numpy as np

from robosim.geometry import Shape
from robosim.simulation import Control

from .scene import ZooScene, ground, put, scene, start_velocity


@scene
def box_on_floor() -> ZooScene:
    """One box at rest: the simplest of all scenes."""
    world = ground()
    put(world, "box", Shape.box((0.2, 0.3, 0.1)), (0, 0, 0.05))
    return ZooScene(world, comes_to_rest=True, stays=True)


@scene
def box_that_lands() -> ZooScene:
    """A box falls on an edge, tumbles and comes to rest."""
    world = ground(0.5)
    put(world, "box", Shape.box((0.2, 0.3, 0.1)), (0, 0, 0.4), rpy=(0.4, 0.3, 0.2), mu=0.5)
    return ZooScene(world, steps=1000, comes_to_rest=True, impacts=True)


@scene
def box_held_by_slope() -> ZooScene:
    """A box on a slope of 20 degrees, with friction for 27 degrees, which must not creep."""
    from robosim.geometry import pose
    from robosim.scene import Scene
    from robosim.world import Material, World

    slope = Scene("slope")
    tilt = np.deg2rad(20.0)
    slope.add_half_space("floor", pose(rpy=(0, tilt, 0)))
    world = World(scene=slope, materials={"floor": Material(0.5)})
    at = pose(rpy=(0, tilt, 0)) @ [0, 0, 0.05, 1]
    put(world, "box", Shape.box((0.2, 0.2, 0.1)), at[:3], rpy=(0, tilt, 0), mu=0.5)
    return ZooScene(world, comes_to_rest=True, stays=True)


@scene
def box_slides_to_rest() -> ZooScene:
    """A box thrown along the floor, stopped by friction."""
    world = ground(0.4)
    put(world, "box", Shape.box((0.2, 0.2, 0.1)), (0, 0, 0.05), mu=0.4)
    v = start_velocity(world, box=(2.0, 0.5, 0, 0, 0, 3.0))
    return ZooScene(world, v=v, steps=600, comes_to_rest=True)


@scene
def tower_of_10_boxes() -> ZooScene:
    """Ten boxes on each other."""
    world, rng = ground(), np.random.default_rng(10)
    for k in range(10):
        at = (*rng.uniform(-3e-3, 3e-3, 2), 0.05 + 0.1 * k)
        put(world, f"box_{k}", Shape.box((0.1, 0.1, 0.1)), at, rpy=(0, 0, rng.uniform(-0.05, 0.05)))
    return ZooScene(world, comes_to_rest=True, stays=True)


@scene
def pile_of_50_boxes() -> ZooScene:
    """Fifty boxes of different sizes fall into a heap."""
    world, rng = ground(0.6), np.random.default_rng(50)
    for k in range(50):
        size = rng.uniform(0.06, 0.14, 3)
        at = (
            *(0.2 * (np.array([k % 3, k // 3 % 3]) - 1) + rng.uniform(-0.01, 0.01, 2)),
            0.12 + 0.2 * (k // 9),
        )
        put(
            world, f"box_{k}", Shape.box(size), at, rpy=rng.uniform(-0.4, 0.4, 3),
            mass=float(1000 * size.prod()), mu=0.6,
        )  # fmt: skip
    return ZooScene(world, steps=750, impacts=True)


@scene
def pile_of_100_balls() -> ZooScene:
    """A hundred balls fall into a box without a lid."""
    world, rng = ground(0.4), np.random.default_rng(100)
    _bin(world, 0.5, 0.4)
    for k in range(100):
        row = np.array([k % 4, k // 4 % 4]) - 1.5
        at = (*(0.1 * row + rng.uniform(-0.01, 0.01, 2)), 0.06 + 0.1 * (k // 16))
        put(world, f"ball_{k}", Shape.sphere(rng.uniform(0.03, 0.045)), at, mass=0.1, mu=0.4)
    return ZooScene(world, steps=600, impacts=True)


def _bin(world, size: float, height: float) -> None:
    """Add four walls around the origin."""
    from robosim.geometry import pose

    for name, x, y in (("east", 1, 0), ("west", -1, 0), ("north", 0, 1), ("south", 0, -1)):
        wall = (0.05, size + 0.1, 2 * height) if x else (size + 0.1, 0.05, 2 * height)
        at = ((size / 2 + 0.025) * x, (size / 2 + 0.025) * y, 0)
        world.scene.add_box(name, wall, pose(at))
        world.materials[name] = world.materials["floor"]


@scene
def card_house() -> ZooScene:
    """Three tents of cards that lean on each other by friction: two, a card across, one on top."""
    world, rng = ground(0.8), np.random.default_rng(3)
    length, thick, width, lean = 0.09, 0.002, 0.06, np.deg2rad(20.0)
    card = Shape.box((thick, width, length))
    rise = length / 2 * np.cos(lean) + thick / 2 * np.sin(lean)
    # Half of the distance between the upper corners of two cards that touch.
    apart = length / 2 * np.sin(lean) + thick / 2 * np.cos(lean)
    top = 2 * rise
    pitch = 4 * apart

    def tent(name: str, x: float, z: float) -> None:
        for side in (-1, 1):
            put(
                world, f"{name}_{side}", card,
                (x + side * apart, rng.uniform(-1e-3, 1e-3), z + rise),
                rpy=(0, -side * lean, 0), mass=0.002,
            )  # fmt: skip

    tent("left", -pitch / 2, 0)
    tent("right", pitch / 2, 0)
    floor = Shape.box((1.6 * pitch, 1.1 * width, thick))
    put(world, "across", floor, (0, 0, top + thick / 2), mass=0.004)
    tent("upper", 0, top + thick)
    return ZooScene(world, dt=1e-3, steps=600, comes_to_rest=True, stays=True)


@scene
def dominoes() -> ZooScene:
    """Fifteen dominoes, the first of which is pushed over."""
    world, rng = ground(0.5), np.random.default_rng(15)
    for k in range(15):
        at = (0.022 * k, rng.uniform(-1e-3, 1e-3), 0.024)
        turn = (0, 0, rng.uniform(-0.02, 0.02))
        put(world, f"domino_{k}", Shape.box((0.008, 0.024, 0.048)), at, rpy=turn, mass=0.01, mu=0.5)
    v = start_velocity(world, domino_0=(0.1, 0, 0, 0, 6.0, 0))
    return ZooScene(world, v=v, dt=1e-3, steps=1000, impacts=True)


@scene
def brick_wall() -> ZooScene:
    """Five courses of bricks in bond, with half bricks at the ends."""
    world, rng = ground(0.7), np.random.default_rng(5)
    length, height = 0.2, 0.065
    for course in range(5):
        shift = length / 2 * (course % 2)
        count = 4 - course % 2
        sizes = [length] * count
        xs = [shift + length * (k + 0.5) for k in range(count)]
        if course % 2:
            sizes += [length / 2] * 2
            xs += [length / 4, 4 * length - length / 4]
        for k, (size, x) in enumerate(zip(sizes, xs, strict=True)):
            put(
                world, f"brick_{course}_{k}", Shape.box((size - 2e-3, 0.095, height)),
                (x, rng.uniform(-1e-3, 1e-3), height * (course + 0.5)),
                rpy=(0, 0, rng.uniform(-4e-3, 4e-3)), mass=15 * size, mu=0.7,
            )  # fmt: skip
    return ZooScene(world, steps=400, comes_to_rest=True, stays=True)


@scene
def million_to_one() -> ZooScene:
    """A block of one ton on a block of one gram."""
    world = ground()
    put(world, "gram", Shape.box((0.1, 0.1, 0.1)), (0, 0, 0.05), mass=1e-3)
    put(world, "tonne", Shape.box((0.1, 0.1, 0.1)), (2e-3, 1e-3, 0.15), rpy=(0, 0, 0.04), mass=1e3)
    return ZooScene(world, comes_to_rest=True, stays=True)


@scene
def thin_plates() -> ZooScene:
    """Eight plates of half a millimeter on each other, which initially fall by a millimeter."""
    world, rng = ground(0.4), np.random.default_rng(8)
    for k in range(8):
        put(
            world, f"plate_{k}", Shape.box((0.2, 0.2, 5e-4)),
            (*rng.uniform(-5e-3, 5e-3, 2), 2.5e-4 + 1.5e-3 * k), rpy=(0, 0, rng.uniform(-0.1, 0.1)),
            mass=0.05, mu=0.4,
        )  # fmt: skip
    return ZooScene(world, comes_to_rest=True, impacts=True)


@scene
def thin_plate_dropped() -> ZooScene:
    """A plate of one millimeter that lands flat at 4 m/s: eight times its thickness per step."""
    world = ground(0.5)
    put(world, "plate", Shape.box((0.3, 0.3, 1e-3)), (0, 0, 0.02), mass=0.5, mu=0.5)
    v = start_velocity(world, plate=(0, 0, -4.0, 0, 0, 0))
    return ZooScene(world, v=v, comes_to_rest=True, impacts=True)


@scene
def overlap_at_start() -> ZooScene:
    """Three boxes that initially overlap each other and the floor by 20 mm."""
    world = ground()
    for k in range(3):
        at = (0.01 * k, 0.004 * k, 0.03 + 0.08 * k)
        put(world, f"box_{k}", Shape.box((0.1, 0.1, 0.1)), at, rpy=(0, 0, 0.07 * k))
    return ZooScene(world, settles=100, comes_to_rest=True)


@scene
def capsules_and_cylinders() -> ZooScene:
    """A heap of twenty bodies of all round shapes."""
    world, rng = ground(0.6), np.random.default_rng(20)
    shapes = (
        Shape.capsule(0.03, 0.1),
        Shape.cylinder(0.04, 0.08),
        Shape.ellipsoid((0.06, 0.04, 0.03)),
        Shape.sphere(0.04),
    )
    for k in range(20):
        at = (*(0.13 * (np.array([k % 2, k // 2 % 2]) - 0.5)), 0.1 + 0.14 * (k // 4))
        put(world, f"piece_{k}", shapes[k % 4], at, rpy=rng.uniform(-1, 1, 3), mass=0.3, mu=0.6)
    return ZooScene(world, steps=750, impacts=True)


@scene
def stack_pushed_at_its_foot() -> ZooScene:
    """Four boxes, the lowest of which is pulled away by a force."""
    world = ground(0.4)
    for k in range(4):
        at = (2e-3 * k, -1e-3 * k, 0.05 + 0.1 * k)
        put(world, f"box_{k}", Shape.box((0.15, 0.15, 0.1)), at, rpy=(0, 0, 0.03 * k), mu=0.4)
    tau = np.zeros(24)
    tau[0] = 25.0
    return ZooScene(world, Control(tau=tau), steps=400)
