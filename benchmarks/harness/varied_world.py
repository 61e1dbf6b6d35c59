"""A world for steps, and the same with its numbers changed: what gradients by parameters are compared on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.geometry import Compound, Shape
from robosim.model import Collider, Link, Model, ModelBuilder
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
    links: Callable[[int, Link], Link] | None = None,
    placements: Mapping[str, Array] | None = None,
    colliders: Callable[[int, Collider], Collider] | None = None,
) -> Model:
    """The same model with other numbers.

    Args:
        model: as it is.
        links: what takes the place of each, by its number in `Model.link_names`.
        placements: twists that move joints in their parents, by name.
        colliders: what takes the place of each.
    """
    numbers = {name: i for i, name in enumerate(model.link_names)}
    builder = ModelBuilder(model.name, floating_base=model.floating_base)
    for link in model.links:
        one = link if links is None else links(numbers[link.name], link)
        builder.add_link(one.name, mass=one.mass, com=one.com, inertia=one.inertia)
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
        .with_gravity(model._engine.gravity)
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
            lambda g: g.parameters["gravity"],
            lambda d: replace(world, model=model.with_gravity(model._engine.gravity + d)),
        )
    )
    dt = world.options["dt"]
    found.append(
        Group(
            "dt",
            np.array([dt]),
            FINER,
            lambda g: g.parameters["dt"].reshape(1),
            lambda d: replace(world, options={**world.options, "dt": dt + d[0]}),
        )
    )
    return [group for group in found if group.units.any()]


def columns_of(names: tuple[str, ...]) -> Callable[[StepGradient], Array]:
    """What a gradient says of these kinds, one column each."""
    return lambda gradient: np.stack([gradient.parameters[name] for name in names], axis=1)


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

    material = tuple(x.name for x in fields(Material))
    motor = "position_gain", "velocity_gain", "motor_limit"
    return [
        Group("materials", numbers, COARSER, columns_of(material), other_materials, first),
        Group("motors", np.where(np.isfinite(gains), gains, 0.0), COARSER, columns_of(motor), other_motors),
    ]


def _inertial(world: World) -> list[Group]:
    model = world.model
    # What is fixed to the world never moves.
    moving = {frame.name for frame in model._engine.frames if frame.body > 0}
    links = {link.name: link for link in model.links}
    moves = np.array([name in moving for name in model.link_names])
    mass = moves * [links[name].mass for name in model.link_names]
    moments_of = moves[:, None] * [np.linalg.eigvalsh(links[name].inertia) for name in model.link_names]
    least, moment = moments_of[:, 0], moments_of[:, 2]
    size = np.sqrt(np.divide(moment, mass, out=np.zeros_like(mass), where=mass > 0))

    def with_links(change: Callable[[int, Link], dict[str, Any]]) -> World:
        return replace(world, model=rebuilt(model, links=lambda k, link: replace(link, **change(k, link))))

    def moved_moments(k: int, link: Link, d: Array) -> dict[str, Any]:
        moments = np.array(link.inertia)
        for (i, j), x in zip(MOMENTS, d[k], strict=True):
            moments[i, j] += x
            if i != j:
                moments[j, i] += x
        return {"inertia": moments}

    joints = [joint.name for joint in model._engine.joints[1:]]
    described = {joint.name for joint in model.joints}
    return [
        Group(
            "mass", mass, COARSER, lambda g: g.parameters["mass"],
            lambda d: with_links(lambda k, link: {"mass": link.mass + d[k]}),
        ),
        Group(
            "centre of mass", np.outer(size, np.ones(3)), FINER, lambda g: g.parameters["com"],
            lambda d: with_links(lambda k, link: {"com": link.com + d[k]}),
        ),
        # Within what the builder lets pass of moments at the border of what bodies can have.
        Group(
            "inertia", np.outer(least * (least > 1e-6 * moment), np.full(6, 0.1)), FINER[1:],
            lambda g: g.parameters["inertia"],
            lambda d: with_links(lambda k, link: moved_moments(k, link, d)),
        ),
        Group(
            "placement of joints", np.outer([name in described for name in joints], np.ones(6)), FINEST,
            lambda g: g.parameters["placement"],
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
            "armature", model.armature, lambda g: g.parameters["armature"],
            lambda d: model.with_armature(model.armature + d),
        ),
        group(
            "damping", model.damping, lambda g: g.parameters["damping"], lambda d: model.with_damping(model.damping + d)
        ),
        group(
            "dry friction", model.friction, lambda g: g.parameters["joint_friction"],
            lambda d: model.with_friction(model.friction + d),
        ),
        group(
            "stiffness", model.stiffness, lambda g: g.parameters["stiffness"], lambda d: other_springs(d, none)
        ),
        group(
            "spring reference", 1.0 * springs, lambda g: g.parameters["spring_reference"],
            lambda d: other_springs(none, d), FINER,
        ),
        group(
            "lower limits", 1.0 * np.isfinite(limits.lower), lambda g: g.parameters["lower_limit"],
            lambda d: model.with_limits(lower=limits.lower + d), FINEST,
        ),
        group(
            "upper limits", 1.0 * np.isfinite(limits.upper), lambda g: g.parameters["upper_limit"],
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
            "poses of shapes", np.ones_like(still), FINEST, lambda g: g.parameters["pose"],
            lambda d: other_objects(d, same, as_large),
        ),
        Group(
            "sizes", size, FINEST, lambda g: g.parameters["sizes"], lambda d: other_objects(still, d, as_large)
        ),
        Group(
            "scales", whole, FINEST, lambda g: g.parameters["scale"],
            lambda d: other_objects(still, same, d),
        ),
        Group(
            "vertices", np.ones((sum(len(x) for x in corners), 3)), FINEST, lambda g: g.parameters["vertices"],
            lambda d: other_objects(still, same, as_large, d),
        ),
    ]  # fmt: skip
