"""Scenes with contact, with random ("thrown") states and states at rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.varied_world import World
from robosim import load_robot
from robosim.geometry import Shape, pose
from robosim.model import Model, ModelBuilder
from robosim.scene import Scene
from robosim.simulation import Control, Simulation, State
from robosim.world import Material, Motor

Array = NDArray[np.float64]
Random = np.random.Generator

ROUND_SOLVERS = ("convex",)  # friction within a circle
DT = 2e-3
MARGIN = 1e-3  # default of Simulation
OVERLAP = 2e-3  # [m] largest overlap of thrown states
# Distance from limits [rad, m]. The law of a limit's row changes at the limit, and the row itself
# appears at the margin.
INSIDE = 5e-3
# Steps until a scene is at rest, and steps between two resting states of one run.
SETTLING, STIRRING = 400, 25
PER_RUN = 10  # number of resting states


class Case(NamedTuple):
    """Start of a step.

    Attributes:
        state: of the model.
        control: with all of its arrays.
        resting: True if the scene has come to rest there; else the state is thrown.
    """

    state: State
    control: Control
    resting: bool


@dataclass(frozen=True)
class ContactScene:
    """A world and its typical states.

    Attributes:
        name: of the scene.
        world: model, obstacles, materials, motors, options of the step.
        thrown: random configuration with contact, and a velocity.
        placed: a configuration from which the scene comes to rest.
        target: (n_q,) target of the motors.
        push: of random joint forces, (n_v,) [N m or N].
    """

    name: str
    world: World
    thrown: Callable[[Random], tuple[Array, Array]]
    placed: Callable[[Random], Array]
    target: Array
    push: Array

    def cases(self, simulation: Simulation, count: int, seed: int) -> list[Case]:
        """Return `count` cases, half of them resting; the same cases for the same seed."""
        rng = np.random.default_rng([seed, *self.name.encode()])
        found = []
        for _ in range(count - count // 2):
            q, v = self.thrown(rng)
            found.append(Case(simulation.state(q, v), self._control(rng, 0.1), False))
        while len(found) < count:
            state = simulation.state(self.placed(rng))
            state = simulation.rollout(state, SETTLING, self._control(rng, 0.0)).end
            for _ in range(min(PER_RUN, count - len(found))):
                # Displace the targets a little each time.
                control = self._control(rng, 0.01, pushed=0.1)
                state = simulation.rollout(state, STIRRING, control).end
                found.append(Case(state, control, True))
        return found

    def _control(self, rng: Random, spread: float, pushed: float = 1.0) -> Control:
        model = self.world.model
        target = self.target + spread * rng.uniform(-1, 1, model.n_q)
        force = pushed * self.push * rng.uniform(-1, 1, model.n_v)
        return Control(force * (spread > 0), target, spread * rng.uniform(-1, 1, model.n_v))


def until_touching(
    model: Model,
    scene: Scene,
    q: Array,
    index: int,
    gap: float,
    *,
    reach: float = 1.0,
    away: float = 1.0,
) -> Array:
    """Decrease one entry of q (increase if `away` is -1) until the least distance is `gap`.

    No step is longer than the distance allows, so that the motion stops at the first contact
    (conservative advancement).

    Args:
        model: its pairs count, and those with the scene.
        scene: obstacles.
        q: (n_q,) configuration without contact.
        index: of the entry in q.
        gap: [m], negative for an overlap.
        reach: largest motion of any point per unit of the entry.
        away: direction in which the shapes separate.
    """
    compiled, q = scene.compile(model), np.array(q)
    for _ in range(1000):
        distance = compiled.min_distance(q)[0]
        if distance < 1e-7:
            break
        q[index] -= away * (distance + 1e-8) / reach
    q[index] += away * gap / reach
    return q


def ground() -> Scene:
    """Return a floor at z = 0."""
    scene = Scene("floor")
    scene.add_half_space("floor")
    return scene


def turned_at_random(rng: Random) -> Array:
    """Return a random quaternion (4,), x y z w, of any rotation."""
    x = rng.normal(size=4)
    return x / np.linalg.norm(x)


def tilted(rng: Random, angle: float) -> Array:
    """Return a quaternion (4,) with random yaw, tilted by at most `angle` [rad]."""
    yaw, tilt, way = rng.uniform(-np.pi, np.pi), rng.uniform(0, angle), rng.uniform(-np.pi, np.pi)
    x, y = np.sin(tilt / 2) * np.cos(way), np.sin(tilt / 2) * np.sin(way)
    c, s = np.cos(yaw / 2), np.sin(yaw / 2)
    return np.array([c * x - s * y, c * y + s * x, s * np.cos(tilt / 2), c * np.cos(tilt / 2)])


def robot_on_ground(
    name: str,
    posture: str,
    gains: tuple[float, float],
    *,
    friction_restitution: tuple[float, float] = (0.8, 0.0),
    damping: float = 0.05,
    friction: float = 0.02,
    tilt: float = np.pi,
    is_planar: bool = False,
    pulled: float = 0.0,
) -> ContactScene:
    """Return a scene of a floating or planar robot over a floor.

    Motors pull the joints to a posture, with an offset `pulled`.
    """
    model = load_robot(name) if is_planar else load_robot(name, base="floating")
    base = 3 if is_planar else 7
    first = base if is_planar else 6
    joints = np.arange(model.n_v) >= first
    model = model.with_damping(np.where(joints, damping, 0)).with_friction(
        np.where(joints, friction, 0)
    )
    motors = {x: Motor(*gains) for x in model.velocity_names[first:]}
    scene, height = ground(), 1 if is_planar else 2
    alone = model.with_collision_pairs(np.zeros((0, 2), dtype=int))  # collides with the floor only
    rest = model.configuration(posture)
    rest[base:] += pulled
    limits = model.limits

    def near(rng: Random, spread: float) -> Array:
        """Return a random configuration in the air without self-collision."""
        while True:
            q = np.array(rest)
            q[base:] += spread * rng.uniform(-1, 1, model.n_q - base)
            q[base:] = np.clip(q[base:], limits.lower[base:] + INSIDE, limits.upper[base:] - INSIDE)
            q[height] = 3.0
            if scene.compile(model).min_distance(q)[0] > 2 * MARGIN:
                return q

    def thrown(rng: Random) -> tuple[Array, Array]:
        q = near(rng, 0.4)
        if is_planar:
            q[2] = rng.uniform(-tilt, tilt)
        else:
            q[3:7] = tilted(rng, tilt)
        q = until_touching(alone, scene, q, height, rng.uniform(-OVERLAP, MARGIN))
        v = rng.normal(size=model.n_v)
        v[: first // 2] *= 0.5
        return q, v

    def placed(rng: Random) -> Array:
        return until_touching(alone, scene, near(rng, 0.1), height, 0.0)

    push = np.where(joints, 0.05 * gains[0] * 0.1, 0.5)
    world = World(model, scene, Material(*friction_restitution), motors, options={"dt": DT})
    return ContactScene(name.replace("_", " "), world, thrown, placed, rest, push)


def catapult() -> ContactScene:
    """Return the catapult: its ball falls on the arm, whose motors push."""
    model = load_robot("catapult")
    arm, ball = slice(0, 3), slice(3, 6)
    model = model.with_damping(np.array([0.5, 0.5, 0.5, 0, 0, 0]))
    world = World(
        model, ground(), Material(0.6, 0.3, 0.0, 0.01),
        {x: Motor(400.0, 20.0) for x in model.velocity_names[arm]},
        options={"dt": DT},
    )  # fmt: skip
    rest = model.configuration("ready")
    up = vertical(model, ball)

    def thrown(rng: Random) -> tuple[Array, Array]:
        q = np.array(rest)
        q[arm] += rng.uniform(0.02, 0.3, 3)
        q[ball] = rest[ball]
        q[ball][up[0]] = up[1] * 1.0
        q[ball][1 - up[0]] = rng.uniform(-0.7, 0.7)
        q = until_touching(
            model, world.scene, q, ball.start + up[0], rng.uniform(-OVERLAP, MARGIN), away=up[1]
        )
        return q, rng.normal(size=model.n_v)

    def placed(rng: Random) -> Array:
        return thrown(rng)[0]

    return ContactScene(
        "catapult", world, thrown, placed, rest, np.array([20.0, 20, 20, 1, 1, 0.05])
    )


def vertical(model: Model, planar: slice) -> tuple[int, float]:
    """Return the index of the vertical one of a planar joint's first two entries, and its sign."""
    still, rises = model.neutral(), []
    link = next(joint.child for joint in model.joints if joint.kind == "planar")
    for k in range(2):
        q = np.array(still)
        q[planar.start + k] += 1
        rises.append(model.frame_pose(q, link)[2, 3] - model.frame_pose(still, link)[2, 3])
    k = int(np.abs(rises).argmax())
    return k, float(np.sign(rises[k]))


def cart_pole() -> ContactScene:
    """Return a cart-pole that leans on a wall; its cart has springs, dry friction and limits."""
    model = load_robot("cart_pole").with_friction(0.02).with_damping(0.1)
    scene = Scene("wall")
    scene.add_box("wall", (0.2, 2.0, 4.0), pose((1.3, 0, 0)))
    names = model.velocity_names
    model = model.with_stiffness({names[1]: 3.0}, reference={names[1]: 0.8})
    world = World(
        model, scene, Material(0.5, 0.2), {names[0]: Motor(50.0, 5.0, 8.0)}, options={"dt": DT}
    )
    target = model.neutral() + np.array([0.6, 0.0])

    def thrown(rng: Random) -> tuple[Array, Array]:
        q = np.array([-0.5, rng.uniform(0.1, 3.0)])
        q = until_touching(model, scene, q, 0, rng.uniform(-OVERLAP, MARGIN), away=-1)
        return q, rng.normal(size=2)

    def placed(rng: Random) -> Array:
        return np.array([rng.uniform(-0.3, 0.3), rng.uniform(0.1, 1.0)])

    return ContactScene("cart pole at a wall", world, thrown, placed, target, np.array([5.0, 0.5]))


def panda() -> ContactScene:
    """Return an arm whose hand presses on a table."""
    model = load_robot("panda").with_damping(1.0).with_friction(0.3).with_armature(0.05)
    scene = Scene("table")
    scene.add_box("table", (1.0, 1.6, 0.1), pose((0.8, 0, 0.15), rpy=(0.05, 0.03, 0.1)))
    world = World(
        model,
        scene,
        Material(0.5),
        {x: Motor(2000.0, 100.0) for x in model.velocity_names},
        options={"dt": DT},
    )
    ready = model.configuration("ready")
    low = until_touching(model, scene, ready, 1, -0.005, reach=1.5, away=-1)

    def thrown(rng: Random) -> tuple[Array, Array]:
        while True:
            q = ready + rng.uniform(-0.25, 0.25, 7)
            if scene.compile(model).min_distance(q)[0] > 0.01:
                break
        gap = rng.uniform(-OVERLAP, MARGIN)
        return until_touching(model, scene, q, 1, gap, reach=1.5, away=-1), 0.5 * rng.normal(size=7)

    def placed(rng: Random) -> Array:
        q = ready + rng.uniform(-0.05, 0.05, 7)
        return until_touching(model, scene, q, 1, 0.01, reach=1.5, away=-1)

    return ContactScene("panda on a table", world, thrown, placed, low, np.full(7, 5.0))


def free_bodies(
    name: str,
    shapes: Sequence[Shape],
    scene: Scene,
    material: Material,
    *,
    spread: float,
    stacked: bool = False,
    options: dict[str, object] | None = None,
) -> ContactScene:
    """Return a scene of bodies that fall one by one onto the scene and onto earlier bodies."""
    builder = ModelBuilder(name)
    builder.add_link("root")
    density = 700.0
    for k, shape in enumerate(shapes):
        points = shape.support(np.concatenate([np.eye(3), -np.eye(3)]))
        a, b, c = np.maximum(points.max(axis=0) - points.min(axis=0), 1e-3)
        mass = 0.6 * density * a * b * c
        inertia = mass / 14 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
        builder.add_link(f"body{k}", mass=mass, com=(0.002, -0.001, 0.0015), inertia=inertia)
        builder.add_joint(f"free{k}", "floating", "root", f"body{k}")
        builder.add_collider(f"body{k}", shape)
    model = builder.build()
    masses = [link.mass for link in model.links[1:]]
    world = World(model, scene, material, options={"dt": DT, **(options or {})})
    parts = [only_last(model, scene, k) for k in range(len(shapes))]

    def fallen(
        rng: Random, orientation: Callable[[Random], Array], gap: Callable[[Random], float]
    ) -> Array:
        q = model.neutral()
        for k, part in enumerate(parts):
            x, y = rng.uniform(-spread, spread, 2)
            q[7 * k : 7 * k + 3] = x, y, 3.0
            q[7 * k + 3 : 7 * k + 7] = orientation(rng)
            q = until_touching(*part, q, 7 * k + 2, gap(rng))
        return q

    def thrown(rng: Random) -> tuple[Array, Array]:
        q = fallen(rng, turned_at_random, lambda rng: rng.uniform(-OVERLAP, MARGIN))
        v = rng.normal(size=model.n_v) * np.tile([0.5, 0.5, 0.5, 2, 2, 2], len(shapes))
        return q, v

    def placed(rng: Random) -> Array:
        turn = (lambda rng: tilted(rng, 0.0)) if stacked else turned_at_random
        return fallen(rng, turn, lambda rng: 0.0)

    push = np.concatenate([m * np.array([2, 2, 2, 0.02, 0.02, 0.02]) for m in masses])
    return ContactScene(name, world, thrown, placed, model.neutral(), push)


def only_last(model: Model, scene: Scene, k: int) -> tuple[Model, Scene]:
    """Restrict collisions to the k-th free body against obstacles and earlier bodies."""
    pairs = [(i, k) for i in range(k)]
    rest = scene.copy()
    for i in range(len(model.colliders)):
        if i != k:
            for obstacle in scene.objects:
                rest.allow(f"body{i}", obstacle)
    return model.with_collision_pairs(np.array(pairs, dtype=int).reshape(-1, 2)), rest


def pit() -> Scene:
    """Return a scene of three slopes that descend to one point."""
    scene = Scene("pit")
    for name, yaw, slope in (("east", 0.2, -0.35), ("north", 2.2, -0.3), ("south", 4.4, -0.4)):
        scene.add_half_space(name, pose((0, 0, 0), rpy=(0, slope, yaw)))
    return scene


def terrain() -> Scene:
    """Return a height field, which consists of triangles."""
    rng = np.random.default_rng(7)
    scene = Scene("terrain")
    scene.add_height_field(
        "terrain", 0.06 * rng.uniform(-1, 1, (9, 9)), 0.25, pose=pose((-1.0, -1.0, 0))
    )
    return scene


def gem() -> Shape:
    """Return the hull of random points around a ball."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(14, 3))
    return Shape.convex(
        0.1 * points / np.linalg.norm(points, axis=1, keepdims=True) * [1, 1.2, 0.8], rounding=0.003
    )


ROUND = [Shape.sphere(0.08), Shape.sphere(0.06), Shape.sphere(0.1), Shape.sphere(0.05)]
MIXED = [Shape.cylinder(0.07, 0.15), Shape.capsule(0.05, 0.12), Shape.ellipsoid((0.06, 0.09, 0.12))]

SCENES: dict[str, Callable[[], ContactScene]] = {
    "quadruped": lambda: robot_on_ground("quadruped", "standing", (200.0, 10.0)),
    "ant": lambda: robot_on_ground("ant", "standing", (50.0, 5.0)),
    "humanoid": lambda: robot_on_ground("humanoid", "crouching", (4000.0, 200.0)),
    "half cheetah": lambda: robot_on_ground("half_cheetah", "standing", (100.0, 8.0),
        is_planar=True),
    "jump worm": lambda: robot_on_ground("jump_worm", "ready", (200.0, 5.0), is_planar=True),
    "race car": lambda: robot_on_ground("race_car", "straight", (2.0, 0.1), tilt=0.3),
    "drone": lambda: robot_on_ground("drone", "aligned", (0.1, 0.01),
        friction_restitution=(0.5, 0.4)),
    "gripper": lambda: robot_on_ground(
        "gripper_2f", "closed", (200.0, 20.0), friction_restitution=(0.5, 0.0), pulled=-0.02
    ),
    "catapult": catapult,
    "cart pole at a wall": cart_pole,
    "panda on a table": panda,
    "boxes": lambda: free_bodies(
        "boxes",
        [Shape.box((0.3, 0.25, 0.12)), Shape.box((0.2, 0.22, 0.1)),
            Shape.box((0.12, 0.1, 0.1), 0.01)],
        ground(), Material(0.6, 0.2), spread=0.04, stacked=True,
    ),
    "boxes that give": lambda: free_bodies(
        "boxes that give",
        [Shape.box((0.3, 0.25, 0.12)), Shape.box((0.2, 0.22, 0.1)),
            Shape.box((0.12, 0.1, 0.1), 0.01)],
        ground(), Material(0.6, compliance=1e-5, relaxation_time=5e-3), spread=0.04, stacked=True,
    ),
    "balls in a pit": lambda: free_bodies(
        "balls in a pit", ROUND, pit(), Material(0.5, 0.5, 0.004, 0.002), spread=0.12
    ),
    "balls that bounce in time": lambda: free_bodies(
        "balls that bounce in time", ROUND[:2], pit(), Material(0.4, 0.7, 0.0, 0.004), spread=0.3,
        options={"bounce": "time_of_impact"},
    ),
    "round things on a floor": lambda: free_bodies(
        "round things on a floor", MIXED, ground(), Material(0.5, 0.3, 0.003, 0.003), spread=0.08
    ),
    "gem and capsule on triangles": lambda: free_bodies(
        "gem and capsule on triangles", [gem(), MIXED[1]], terrain(), Material(0.7, 0.2), spread=0.3
    ),
}  # fmt: skip


def with_solver(scene: ContactScene, solver: str) -> ContactScene:
    """Return the scene with another solver."""
    return replace(
        scene, world=replace(scene.world, options={**scene.world.options, "solver": solver})
    )
