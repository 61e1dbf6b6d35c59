"""A world for steps, and the same with its numbers changed: what gradients by parameters are compared on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.geometry import Compound, Shape
from robosim.model import Collider, Model, ModelBuilder
from robosim.scene import Scene
from robosim.scene.compile import compile_scene
from robosim.simulation import Material, Motor, Simulation, StepGradient

Array = NDArray[np.float64]
# Lengths of differences, as parts of a unit, that are tried one after the other.
COARSER = (1e-1, 1e-2, 1e-3, 1e-4)
FINER = (1e-2, 1e-3, 1e-4, 1e-5)
FINEST = (1e-3, 1e-4, 1e-5, 1e-6)
MAX_SIZES = 4  # of a shape, in the gradient
MOMENTS = (
    (0, 0),
    (0, 1),
    (1, 1),
    (0, 2),
    (1, 2),
    (2, 2),
)  # of a symmetric matrix, in the order of the gradient


@dataclass(frozen=True)
class World:
    """What a simulation is made of.

    Attributes:
        model: robots and free objects.
        scene: obstacles of one shape each.
        material: of all pairs that are not in `materials`.
        motors: by coordinate.
        materials: by the pair of links or objects.
        options: other arguments of `Simulation`.
    """

    model: Model
    scene: Scene
    material: Material
    motors: Mapping[str, Motor] = field(default_factory=dict)
    materials: Mapping[tuple[str, str], Material] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def simulation(self) -> Simulation:
        """Ready to step."""
        materials = {pair: self.materials.get(pair, self.material) for pair in self.owners}
        return Simulation(self.model, self.scene, motors=self.motors, materials=materials, **self.options)

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Of links or objects, for each of `Simulation.pairs`."""
        compiled = compile_scene(self.scene, self.model, with_tables=False)
        owner = {
            name: name.rpartition("/")[0] if k < compiled.n_colliders else name
            for k, name in enumerate(compiled.names)
        }
        found = []
        for a, b in compiled.pairs:
            one, other = sorted((owner[compiled.names[a]], owner[compiled.names[b]]))
            found.append((one, other))
        return found

    @cached_property
    def owners(self) -> list[tuple[str, str]]:
        """Each of `pairs` once."""
        return list(dict.fromkeys(self.pairs))

    @cached_property
    def shapes(self) -> list[Shape | Compound]:
        """Of `Simulation.objects`."""
        return [c.shape for c in self.model.colliders] + [x.shapes[0] for x in self.scene]


def turned(X: Array, twist: Array) -> Array:
    """A pose moved by a small twist [linear; angular] in its own frame: exact to first order, and smooth."""
    x, y, z = twist[3:]
    W = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = np.linalg.norm(twist[3:])
    turn = np.eye(3) + np.sinc(angle / np.pi) * W + 0.5 * np.sinc(angle / (2 * np.pi)) ** 2 * W @ W
    moved = np.array(X)
    moved[:3, 3] = X[:3, 3] + X[:3, :3] @ twist[:3]
    moved[:3, :3] = X[:3, :3] @ turn
    return moved


def sizes(shape: Shape | Compound) -> Array:
    """(4,) sizes as the gradient counts them; zero beyond, and of bodies made of pieces."""
    found: list[float] = []
    kind = getattr(shape, "type", "")
    if kind == "box":
        found = [*shape.size, shape.rounding]
    elif kind == "sphere":
        found = [shape.radius]
    elif kind in ("capsule", "cylinder", "cone"):
        found = [shape.radius, shape.length]
    elif kind == "ellipsoid":
        found = list(shape.radii)
    elif kind in ("convex", "triangle"):
        found = [shape.rounding]
    return np.array(found + [0.0] * (MAX_SIZES - len(found)))


def resized(shape: Shape | Compound, new: Array, factor: float = 1.0) -> Shape | Compound:
    """With other sizes, all that is told in lengths times a factor."""
    kind, s = getattr(shape, "type", ""), np.asarray(new) * factor
    if kind == "box":
        return Shape.box(s[:3], s[3])
    if kind == "sphere":
        return Shape.sphere(s[0])
    if kind in ("capsule", "cylinder", "cone"):
        return getattr(Shape, kind)(s[0], s[1])
    if kind == "ellipsoid":
        return Shape.ellipsoid(s[:3])
    if kind in ("convex", "triangle"):
        return getattr(Shape, kind)(factor * np.asarray(shape.vertices), rounding=s[0])
    return shape


def vertices(shape: Shape | Compound) -> Array:
    """(n, 3) those that the gradient counts."""
    kind = getattr(shape, "type", "")
    return np.array(shape.vertices if kind in ("convex", "triangle") else np.zeros((0, 3)))


def rebuilt(
    model: Model,
    *,
    inertias: Callable[[int, float, Array, Array], tuple[float, Array, Array]] | None = None,
    placements: Mapping[str, Array] | None = None,
    colliders: Callable[[int, Collider], Collider] | None = None,
) -> Model:
    """The same model with other numbers.

    Args:
        model: as it is.
        inertias: what body number k (0 for the first that moves) has in the place of its mass, centre of mass and
            moments about it, in the body's frame.
        placements: twists that move joints in their parents, by name.
        colliders: what takes the place of each.
    """
    engine = model._engine
    bodies: dict[int, list[int]] = {}
    for i, frame in enumerate(engine.frames):
        bodies.setdefault(frame.body, []).append(i)
    links = {link.name: (link.mass, link.com, link.inertia) for link in model.links}
    if inertias is not None:
        for body, frames in bodies.items():
            if body == 0:
                continue
            # The heaviest link carries the whole body.
            whole = engine.inertias[body]
            mass, com, moments = inertias(body - 1, whole.mass, np.array(whole.com), np.array(whole.I_com))
            named = [engine.frames[i] for i in frames if engine.frames[i].name in links]
            carrier = max(named, key=lambda frame: links[frame.name][0])
            X = np.asarray(carrier.X_BF)
            for frame in named:
                links[frame.name] = (0.0, np.zeros(3), np.zeros((3, 3)))
            R, p = X[:3, :3], X[:3, 3]
            links[carrier.name] = (mass, R.T @ (com - p), R.T @ moments @ R)
    builder = ModelBuilder(model.name, floating_base=model.floating_base)
    for name, (mass, com, inertia) in links.items():
        builder.add_link(name, mass=mass, com=com, inertia=(inertia + inertia.T) / 2)
    for joint in model.joints:
        twist = (placements or {}).get(joint.name)
        builder.add_joint(
            joint.name, joint.kind, joint.parent, joint.child,
            X_PJ=joint.X_PJ if twist is None else turned(joint.X_PJ, twist),
            axis=joint.axis, pitch=joint.pitch,
            mimic=None if joint.mimic is None else (joint.mimic.source, joint.mimic.multiplier, joint.mimic.offset),
        )  # fmt: skip
    for k, collider in enumerate(model.colliders):
        now = collider if colliders is None else colliders(k, collider)
        builder.add_collider(now.link, now.shape, X_LC=now.X_LC, name=now.name.removeprefix(now.link + "/"))
    limits = model.limits
    stiff = {name: k for name, k in zip(model.velocity_names, model.stiffness, strict=True) if k != 0}
    at = dict(zip(model.velocity_names, model.spring_reference, strict=True))
    new = (
        builder.build(filter_adjacent=False)
        .with_collision_pairs(model.collision_pairs)
        .with_gravity(engine.gravity)
        .with_limits(lower=limits.lower, upper=limits.upper, velocity=limits.velocity, effort=limits.effort)
        .with_damping(model.damping)
        .with_friction(model.friction, width=model.friction_width)
        .with_armature(model.armature)
    )
    return new.with_stiffness(stiff, reference={name: at[name] for name in stiff}) if stiff else new


class Group(NamedTuple):
    """Parameters of one kind.

    Attributes:
        name: of the kind.
        units: by what each is changed for a direction of 1; zero where it cannot be, or where it lies at the end of
            its range.
        steps: of differences along a direction of such units, tried one after the other.
        of: what a gradient says of them, shaped as `units`.
        changed: the world with each greater by so much.
        ties: (k,) number of the parameter that row k follows, where several are one.
    """

    name: str
    units: Array
    steps: tuple[float, ...]
    of: Callable[[StepGradient], Array]
    changed: Callable[[Array], World]
    ties: NDArray[np.intp] | None = None

    def direction(self, rng: np.random.Generator) -> Array:
        """Random, each at most one unit."""
        drawn = rng.uniform(-1, 1, self.units.shape)
        return self.units * (drawn if self.ties is None else drawn[self.ties])

    def along(self, gradient: StepGradient, direction: Array) -> tuple[float, float]:
        """What the gradient says of a direction; and its largest entry, per unit."""
        of_all = np.where(self.units == 0, 0.0, self.of(gradient))
        return float(np.sum(of_all * direction)), float(np.abs(of_all * self.units).max(initial=0.0))


def groups(world: World) -> list[Group]:
    """All kinds of parameters of a world that it has any of."""
    model = world.model
    found = [*_interactions(world), *_inertial(world), *_joint_forces(world), *_geometric(world)]
    found.append(
        Group(
            "gravity",
            np.ones(3),
            (1e-1, 1e-3),
            lambda g: g.model.gravity,
            lambda d: replace(world, model=model.with_gravity(model._engine.gravity + d)),
        )
    )
    dt = world.options["dt"]
    found.append(
        Group(
            "dt",
            np.array([dt]),
            FINER,
            lambda g: np.array([g.dt]),
            lambda d: replace(world, options={**world.options, "dt": dt + d[0]}),
        )
    )
    return [group for group in found if group.units.any()]


def _interactions(world: World) -> list[Group]:
    owners, pairs = world.owners, world.pairs
    numbers = np.array([world.materials.get(pair, world.material).numbers() for pair in pairs]).reshape(-1, 6)
    numbers[numbers[:, 1] == 1, 1] = 0  # the end of its range
    first = np.array([pairs.index(pair) for pair in pairs], dtype=np.intp)

    def other_materials(d: Array) -> World:
        changed = {
            pair: Material(
                *(np.array(world.materials.get(pair, world.material).numbers()) + d[pairs.index(pair)])
            )
            for pair in owners
        }
        return replace(world, materials=changed)

    names = list(world.model.velocity_names)
    gains = np.zeros((len(names), 3))
    for name, motor in world.motors.items():
        i = names.index(name)
        limit = world.model.limits.effort[i] if motor.limit is None else motor.limit
        gains[i] = motor.position_gain, motor.velocity_gain, limit

    def other_motors(d: Array) -> World:
        changed = {name: Motor(*(gains[names.index(name)] + d[names.index(name)])) for name in world.motors}
        return replace(world, motors=changed)

    return [
        Group("materials", numbers, COARSER, lambda g: g.materials, other_materials, first),
        Group("motors", np.where(np.isfinite(gains), gains, 0.0), COARSER, lambda g: g.motors, other_motors),
    ]


def _inertial(world: World) -> list[Group]:
    model = world.model
    inertias = model._engine.inertias[1:]
    mass = np.array([x.mass for x in inertias])
    moments_of = np.array([np.linalg.eigvalsh(np.asarray(x.I_com)) for x in inertias])
    least, moment = moments_of[:, 0], moments_of[:, 2]
    size = np.sqrt(np.divide(moment, mass, out=np.zeros_like(mass), where=mass > 0))

    def with_inertias(change: Callable[[int, float, Array, Array], tuple[float, Array, Array]]) -> World:
        return replace(world, model=rebuilt(model, inertias=change))

    def moved_moments(d: Array) -> World:
        def change(k: int, m: float, c: Array, moments: Array) -> tuple[float, Array, Array]:
            for (i, j), x in zip(MOMENTS, d[k], strict=True):
                moments[i, j] += x
                if i != j:
                    moments[j, i] += x
            return m, c, moments

        return with_inertias(change)

    joints = [joint.name for joint in model._engine.joints[1:]]
    described = {joint.name for joint in model.joints}
    return [
        Group(
            "mass", mass, COARSER, lambda g: g.model.mass,
            lambda d: with_inertias(lambda k, m, c, moments: (m + d[k], c, moments)),
        ),
        Group(
            "centre of mass", np.outer(size, np.ones(3)), FINER, lambda g: g.model.com,
            lambda d: with_inertias(lambda k, m, c, moments: (m, c + d[k], moments)),
        ),
        # Within what the builder lets pass of moments at the border of what bodies can have.
        Group(
            "inertia", np.outer(least * (least > 1e-6 * moment), np.full(6, 0.1)), FINER[1:],
            lambda g: g.model.inertia, moved_moments,
        ),
        Group(
            "placement of joints", np.outer([name in described for name in joints], np.ones(6)), FINEST,
            lambda g: g.model.placement,
            lambda d: replace(world, model=rebuilt(model, placements=dict(zip(joints, d, strict=True)))),
        ),
    ]  # fmt: skip


def _joint_forces(world: World) -> list[Group]:
    model = world.model

    def group(
        name: str, units: Array, of: Callable[[StepGradient], Array], changed: Callable[[Array], Model],
        steps: tuple[float, ...] = COARSER,
    ) -> Group:  # fmt: skip
        return Group(name, np.array(units), steps, of, lambda d: replace(world, model=changed(d)))

    limits, names = model.limits, model.velocity_names
    springs = model.stiffness != 0

    def other_springs(stiffer: Array, moved: Array) -> Model:
        stiff, at = model.stiffness + stiffer, model.spring_reference + moved
        return model.with_stiffness(
            {names[i]: stiff[i] for i in np.flatnonzero(springs)},
            reference={names[i]: at[i] for i in np.flatnonzero(springs)},
        )

    none = np.zeros(model.n_v)
    return [
        group(
            "armature", model.armature, lambda g: g.model.armature,
            lambda d: model.with_armature(model.armature + d),
        ),
        group(
            "damping", model.damping, lambda g: g.model.damping, lambda d: model.with_damping(model.damping + d)
        ),
        group(
            "dry friction", model.friction, lambda g: g.model.friction,
            lambda d: model.with_friction(model.friction + d),
        ),
        group(
            "stiffness", model.stiffness, lambda g: g.model.stiffness, lambda d: other_springs(d, none)
        ),
        group(
            "spring reference", 1.0 * springs, lambda g: g.model.spring_reference,
            lambda d: other_springs(none, d), FINER,
        ),
        group(
            "lower limits", 1.0 * np.isfinite(limits.lower), lambda g: g.model.q_lower,
            lambda d: model.with_limits(lower=limits.lower + d), FINEST,
        ),
        group(
            "upper limits", 1.0 * np.isfinite(limits.upper), lambda g: g.model.q_upper,
            lambda d: model.with_limits(upper=limits.upper + d), FINEST,
        ),
    ]  # fmt: skip


def _geometric(world: World) -> list[Group]:
    model, scene, shapes = world.model, world.scene, world.shapes
    n = len(model.colliders)
    size = np.array([sizes(shape) for shape in shapes]).reshape(-1, MAX_SIZES)
    whole = np.array([isinstance(shape, Shape) for shape in shapes], dtype=float)
    corners = [vertices(shape) for shape in shapes]
    ends = np.cumsum([len(x) for x in corners], dtype=np.intp)

    def other_objects(twists: Array, larger: Array, factors: Array, displaced: Array | None = None) -> World:
        moved = None if displaced is None else np.split(displaced, ends[:-1])

        def changed(k: int, shape: Any) -> Any:
            if moved is not None and len(moved[k]):
                return getattr(Shape, shape.type)(corners[k] + moved[k], rounding=shape.rounding)
            same = not larger[k].any() and factors[k] == 0
            return shape if same else resized(shape, size[k] + larger[k], 1 + factors[k])

        new = rebuilt(
            model,
            colliders=lambda k, x: replace(x, shape=changed(k, x.shape), X_LC=turned(x.X_LC, twists[k])),
        )
        obstacles = Scene(scene.name)
        for k, thing in enumerate(scene, start=n):
            pose = turned(thing.pose, twists[k])
            obstacles.add(replace(thing, shapes=(changed(k, thing.shapes[0]),), pose=pose, source=None))
        return replace(world, model=new, scene=obstacles)

    still, same, as_large = np.zeros((len(shapes), 6)), np.zeros_like(size), np.zeros(len(shapes))
    return [
        Group(
            "poses of shapes", np.ones_like(still), FINEST, lambda g: g.objects.pose,
            lambda d: other_objects(d, same, as_large),
        ),
        Group(
            "sizes", size, FINEST, lambda g: g.objects.size, lambda d: other_objects(still, d, as_large)
        ),
        Group(
            "scales", whole, FINEST, lambda g: g.objects.scale,
            lambda d: other_objects(still, same, d),
        ),
        Group(
            "vertices", np.ones((sum(len(x) for x in corners), 3)), FINEST, lambda g: g.objects.vertices,
            lambda d: other_objects(still, same, as_large, d),
        ),
    ]  # fmt: skip
