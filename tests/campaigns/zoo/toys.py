"""Bodies that rotate, swing and roll, with motions known from textbooks."""

from __future__ import annotations

import numpy as np

from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder
from robosim.world import Material, World

from .scene import ZooScene, ground, put, scene, start_velocity


@scene
def newtons_cradle() -> ZooScene:
    """Five steel balls on pendulums, one of which falls against the others."""
    builder = ModelBuilder("cradle")
    builder.add_link("frame")
    radius, length = 0.02, 0.2
    for k in range(5):
        name = f"ball_{k}"
        builder.add_link(
            name, mass=0.26, com=(0, 0, -length), inertia=np.eye(3) * 0.4 * 0.26 * radius**2
        )
        builder.add_joint(
            f"string_{k}",
            "continuous",
            "frame",
            name,
            X_PJ=pose((2 * radius * k, 0, 0.3)),
            axis=(0, 1, 0),
        )
        builder.add_collider(name, Shape.sphere(radius), X_LC=pose((0, 0, -length)))
    steel = Material(friction=0.0, restitution=1.0)
    world = World(builder.build(), materials={f"ball_{k}": steel for k in range(5)})
    q = np.zeros(5)
    q[0] = 0.5
    return ZooScene(world, q=q, dt=1e-3, steps=1500, impacts=True)


@scene
def bouncing_ball() -> ZooScene:
    """A ball that rebounds with 0.7 of its speed, until it stops bouncing."""
    world = ground(surface=Material(0.5, 0.7))
    put(world, "ball", Shape.sphere(0.05), (0, 0, 0.3), surface=Material(0.5, 0.7))
    return ZooScene(world, steps=1500, comes_to_rest=True, impacts=True)


def _top(
    builder: ModelBuilder, mass: float, com: float, moments: tuple[float, float, float]
) -> None:
    builder.add_link("top", mass=mass, com=(0, 0, com), inertia=np.diag(moments))


@scene
def spinning_top() -> ZooScene:
    """A sleeping top: a disc on a rod with a small ball as its tip, at 150 rad/s, tilted."""
    builder = ModelBuilder("top", floating_base=True)
    _top(builder, 0.1, 0.03, (3e-5, 3e-5, 5e-5))
    builder.add_collider("top", Shape.sphere(2e-3), X_LC=pose((0, 0, 2e-3)))
    builder.add_collider("top", Shape.cylinder(0.035, 0.01), X_LC=pose((0, 0, 0.03)))
    world = ground(0.3)
    tilt = 0.15
    height = 2e-3 * (1 - np.cos(tilt))
    world.add(
        builder.build(),
        "top",
        pose=pose((0, 0, height), rpy=(0, tilt, 0)),
        materials={"top": Material(0.3)},
    )
    return ZooScene(world, v=start_velocity(world, top=(0, 0, 0, 0, 0, 150.0)), dt=1e-3, steps=1000)


@scene
def tippe_top() -> ZooScene:
    """A sphere with a low center of mass and a stem, which friction turns over."""
    builder = ModelBuilder("tippe", floating_base=True)
    _top(builder, 0.015, -3e-3, (1.7e-6, 1.7e-6, 1.8e-6))
    builder.add_collider("top", Shape.sphere(0.015))
    builder.add_collider("top", Shape.capsule(3e-3, 8e-3), X_LC=pose((0, 0, 0.018)))
    world = ground(0.3)
    world.add(
        builder.build(),
        "top",
        pose=pose((0, 0, 0.015), rpy=(0.1, 0, 0)),
        materials={"top": Material(0.3)},
    )
    return ZooScene(world, v=start_velocity(world, top=(0, 0, 0, 0, 0, 180.0)), dt=1e-3, steps=2000)


@scene
def eulers_disc() -> ZooScene:
    """A coin that rolls on its rim, ever flatter and faster."""
    world = ground(0.5)
    radius, thick, tilt = 0.0375, 0.012, 0.5
    height = radius * np.sin(tilt) + thick / 2 * np.cos(tilt)
    put(
        world,
        "disc",
        Shape.cylinder(radius, thick),
        (0, 0, height),
        rpy=(tilt, 0, 0),
        mass=0.4,
        mu=0.5,
    )
    turn = np.sqrt(4 * 9.81 / (radius * np.sin(tilt)))  # of the contact point about the vertical
    # Rolling without slip about an axis in the disc, with its center at rest.
    v = start_velocity(world, disc=(0, 0, 0, 0, turn * np.sin(tilt), 0))
    return ZooScene(world, v=v, dt=1e-3, steps=2000)


@scene
def rattleback() -> ZooScene:
    """An ellipsoid whose axes of inertia are rotated from those of its shape: its spin reverses."""
    builder = ModelBuilder("celt", floating_base=True)
    turn = pose(rpy=(0, 0, 0.1))[:3, :3]
    inertia = turn @ np.diag([2e-5, 1.6e-4, 1.7e-4]) @ turn.T
    builder.add_link("celt", mass=0.1, com=(0, 0, -0.005), inertia=inertia)
    builder.add_collider("celt", Shape.ellipsoid((0.1, 0.02, 0.0175)))
    world = ground(0.6)
    world.add(builder.build(), "celt", pose=pose((0, 0, 0.0175)), materials={"celt": Material(0.6)})
    return ZooScene(
        world, v=start_velocity(world, celt=(0, 0, 0, 0.3, 0, -5.0)), dt=1e-3, steps=1000
    )


@scene
def ball_rolls() -> ZooScene:
    """A ball that slides first, then rolls without slip, slowed by rolling friction."""
    surface = Material(0.3, rolling_friction=1e-3, torsional_friction=1e-3)
    world = ground(surface=surface)
    put(world, "ball", Shape.sphere(0.05), (0, 0, 0.05), surface=surface)
    v = start_velocity(world, ball=(0.5, 0, 0, 0, 0, 10.0))
    return ZooScene(world, v=v, steps=1000)


@scene
def cylinder_down_slope() -> ZooScene:
    """A cylinder that rolls down a slope without slip, into a wall."""
    from robosim.scene import Scene

    slope = Scene("slope")
    tilt = 0.2
    X = pose(rpy=(0, tilt, 0))
    slope.add_half_space("floor", X)
    slope.add_box("wall", (0.05, 0.6, 0.2), X @ pose((0.5, 0, 0.1)))
    world = World(scene=slope, materials={"floor": Material(0.6), "wall": Material(0.6)})
    at = (X @ [0, 0, 0.05, 1])[:3]
    put(world, "roller", Shape.cylinder(0.05, 0.2), at, rpy=(np.pi / 2, 0, 0), mu=0.6)
    return ZooScene(world, steps=800, impacts=True, comes_to_rest=True)


@scene
def marbles_in_bowl() -> ZooScene:
    """Six marbles roll down into a bowl of twelve flat sides."""
    world = ground(0.3)
    for k in range(12):
        angle = 2 * np.pi * k / 12
        out = np.array([np.cos(angle), np.sin(angle), 0])
        X = pose(0.16 * out + [0, 0, 0.08], rpy=(0, 0, angle)) @ pose(rpy=(0, -0.6, 0))
        world.scene.add_box(f"side_{k}", (0.3, 0.2, 0.01), X)
        world.materials[f"side_{k}"] = Material(0.3)
    for k in range(6):
        angle = k * np.pi / 3 + 0.2
        at = (0.2 * np.cos(angle), 0.2 * np.sin(angle), 0.16 + 0.02 * k)
        put(world, f"marble_{k}", Shape.sphere(0.012), at, mass=0.02, mu=0.3)
    return ZooScene(world, dt=1e-3, steps=1500, impacts=True)
