"""Parameters by name: gradients, directions and values agree with the step.

Kinds and owners come from the engine's table alone. A kind added there is tested here as soon as a
world has one.
"""

from __future__ import annotations

import copy
import pickle
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import robosim
from robosim import _engine
from robosim.errors import ModelError, SimulationError
from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder
from robosim.scene import Scene
from robosim.scene.objects import SceneObject
from robosim.simulation import Control, Simulation, State
from robosim.simulation.link_inertias import LINK_KINDS, link_inertias
from robosim.world import JointEquality, Material, Motor, PointClosure, World

from .everything import everything
from .everything import model as own_model
from .worlds import floor

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from harness.ridders import one_sided, ridders

SOLVERS = _engine.row_solvers
KINDS = tuple(everything()[0].parameters.kinds)
TWISTS = ("pose", "frames", "placement")
LENGTHS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # of differences, relative to a unit
# Tolerances of derivatives. For owners with lengths, differences are over shorter steps, in which
# the same features touch.
BAR, BAR_OF_LENGTHS = 1e-8, 1e-7
HAVE_LENGTHS = ("object", "vertex", "closure", "joint", "link")
# The terms of the loss add up to 18. Velocities and positions come from separate solutions, whose
# parts cancel. So the loss is rounded by 1e-14 (measured: 3e-16 to 7e-15 at most, along directions
# without effect). Where the formula changes early, differences are over 1e-4 of a unit.
ROUNDING_OF_LOSS = 1e-14
ROUNDING = 3e-11
SMALL = 1e-6  # relative to a kind's largest derivative: smaller ones are moved together


class Step:
    """One step, and a loss of all its results that weighs positions and velocities alike."""

    def __init__(self, simulation, state, control):
        self.simulation, self.state, self.control = simulation, state, control
        n = self.simulation.model.n_v
        self.q_bar, self.v_bar = np.random.default_rng(4).normal(size=(2, n)) / [
            [simulation.dt],
            [1],
        ]
        self.end = self.simulation.step(self.state, self.control)
        self.signature = self.simulation.linearize(self.state, self.control).signature
        gradient = self.simulation.linearize(self.state, self.control).vjp(self.q_bar, self.v_bar)
        assert not gradient.one_sided
        self.values, self.by = self.simulation.parameters, gradient.parameters

    def change(self, simulation):
        """Change of the loss (1,), or None where the step follows another formula."""
        if simulation.linearize(self.state, self.control).signature != self.signature:
            return None
        end = simulation.step(self.state, self.control)
        moved = self.simulation.model.difference(self.end.q, end.q)
        return np.array([self.q_bar @ moved + self.v_bar @ (end.v - self.end.v)])

    def along(self, key, direction):
        """Function of t: change of the loss with a parameter moved by t times a direction.

        It returns None where the parameter cannot have that value.
        """

        def moved(t):
            try:
                return self.change(
                    self.simulation.with_parameters({key: self.values[key] + t * direction})
                )
            except SimulationError:
                return None

        return moved

    def tangent(self, key, direction):
        along = self.simulation.linearize(self.state, self.control).jvp(parameters={key: direction})
        return self.q_bar @ along.q + self.v_bar @ along.v

    def units(self, kind):
        """Unit by which each number of a kind is changed.

        It is zero for numbers that cannot both grow and shrink.
        """
        values, least = self.values[kind], self.values.kinds[kind].least
        # A link without moments of inertia cannot have a small value in one of them.
        usual = np.where(values == 0, float(kind != "inertia"), np.abs(values))
        return np.where(
            np.isfinite(values) & (values > least), 1.0 if kind in TWISTS else usual, 0.0
        )


def differentiated(change, enough):
    """Differentiate by differences of decreasing length until one estimate is exact enough.

    Only lengths over which the step has one formula count.
    """
    best = None
    for length in LENGTHS:
        found = ridders(change, length)
        if found is not None and (best is None or found.error[0] < best.error[0]):
            best = found
        if best is not None and best.error[0] < enough:
            break
    return best


@cache
def step(solver):
    return Step(*everything(solver=solver))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_gradients_and_directions_are_differences(solver, kind):
    """Derivatives along random directions.

    Each owner with an effect has a direction of its own. All others share one.
    """
    own, rng = step(solver), np.random.default_rng(5)
    units = own.units(kind)
    direction = units * rng.uniform(0.5, 1, units.shape) * rng.choice([-1, 1], units.shape)
    terms = np.where(direction != 0, own.by[kind] * direction, 0.0)
    largest = np.abs(terms).max()
    assert largest > 0, "the world has none that counts"
    rest, cases = direction.copy(), []
    for owner in dict.fromkeys(own.values.owners(kind)):
        rows = np.array([x == owner for x in own.values.owners(kind)])
        if np.abs(terms[rows]).max() > SMALL * largest:
            shape = own.values[kind, owner].shape
            one = direction[rows][0] if own.values.kinds[kind].owner == "pair" else direction[rows]
            cases.append(((kind, owner), one.reshape(shape)))
            rest[rows] = 0.0
    bar = BAR_OF_LENGTHS if own.values.kinds[kind].owner in HAVE_LENGTHS else BAR
    for key, way in [*cases, (kind, rest)]:
        terms = np.where(way != 0, own.by[key] * way, 0.0)
        size = np.abs(terms).sum()
        allowed = bar * size + ROUNDING
        best = differentiated(own.along(key, way), 0.1 * allowed)
        assert best is not None, key
        assert best.value[0] == pytest.approx(terms.sum(), rel=0, abs=allowed), key
        assert own.tangent(key, way) == pytest.approx(
            terms.sum(), rel=0, abs=1e-12 * size + ROUNDING_OF_LOSS
        ), key


def test_of_a_robot_with_a_floating_base_they_are_differences():
    """All numbers of a kind change at once, including the placement of the base.

    The robot slides on those feet that touch the floor.
    """
    model, scene = robosim.load_robot("quadruped", base="floating"), floor()
    motors = {name: Motor(20.0, 1.0) for name in model.joint_names if "thigh" in name}
    q, rng = np.array(model.neutral()), np.random.default_rng(14)
    q[7:] = (model.limits.lower[7:] + model.limits.upper[7:]) / 2
    q = model.integrate(q, 0.02 * rng.normal(size=model.n_v))
    q[2] -= scene.compile(model).min_distance(q)[0] + 5e-4
    v = rng.normal(size=model.n_v) - 2 * np.eye(model.n_v)[2]
    simulation = Simulation(World(model, scene, motors=motors, materials={"floor": Material(0.4)}))
    own = Step(simulation, simulation.state(q, v), Control(rng.normal(size=model.n_v), q))
    judged = []
    for kind, by in own.by.items():
        way = own.units(kind) * rng.uniform(0.1, 1, by.shape)
        terms = np.where(way != 0, by * way, 0.0)
        if terms.any():
            judged.append(kind)
            size = np.abs(terms).sum()
            best = differentiated(own.along(kind, way), 1e-9 * size)
            assert best.value[0] == pytest.approx(terms.sum(), rel=0, abs=BAR_OF_LENGTHS * size), (
                kind
            )
    assert {
        "mass",
        "com",
        "inertia",
        "placement",
        "pose",
        "friction",
        "position_gain",
        "gravity",
    } <= set(judged)


def test_at_the_end_of_its_range_a_derivative_is_of_the_side_that_there_is():
    """Examples are zero damping and links without mass."""
    own, judged = step("lcp"), []
    for kind, by in own.by.items():
        at_end = (own.values[kind] == own.values.kinds[kind].least) & (by != 0)
        way = np.where(at_end, np.random.default_rng(6).uniform(0.5, 1, at_end.shape), 0.0)
        if not way.any():
            continue
        judged.append(kind)
        lengths = (1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6)
        sides = [x[0] for y in lengths if (x := one_sided(own.along(kind, way), y)) is not None]
        found = min(pairwise(sides), key=lambda x: abs(x[0] - x[1]))[
            1
        ]  # neither too long nor lost in rounding
        terms = np.where(at_end, by * way, 0.0)
        # Truncation of fourth order, and rounding of the loss, 1e-14, over 1e-5.
        assert found == pytest.approx(terms.sum(), rel=0, abs=1e-8 * np.abs(terms).sum() + 1e-9), (
            kind
        )
    assert {"mass", "sizes", "armature", "damping"} <= set(judged)


def test_directions_of_everything_at_once_are_the_transpose_of_gradients():
    for solver in SOLVERS:
        own, rng = step(solver), np.random.default_rng(7)
        whole = {kind: rng.normal(size=x.shape) * np.isfinite(x) for kind, x in own.by.items()}
        tangent = own.simulation.linearize(own.state, own.control).jvp(parameters=whole)
        terms = np.concatenate(
            [np.nan_to_num(own.by[kind] * x).ravel() for kind, x in whole.items()]
        )
        found = own.q_bar @ tangent.q + own.v_bar @ tangent.v
        assert found == pytest.approx(terms.sum(), rel=0, abs=1e-12 * np.abs(terms).sum())


# Links and bodies


@pytest.mark.parametrize("robot", ["everything", "quadruped", "ur5_gripper", "humanoid"])
def test_what_bodies_change_by_is_the_transpose_of_gradients_by_links(robot):
    model = own_model() if robot == "everything" else robosim.load_robot(robot, base="described")
    links, rng = link_inertias(model), np.random.default_rng(8)
    shapes = {"mass": (), "com": (3,), "inertia": (6,)}
    for _ in range(10):
        of_bodies = {
            kind: rng.normal(size=(links.n_bodies, *shape)) for kind, shape in shapes.items()
        }
        of_links = {
            kind: rng.normal(size=(len(links.mass), *shape)) for kind, shape in shapes.items()
        }
        by_links, to_bodies = links.by_links(of_bodies), links.to_bodies(of_links)
        there = np.concatenate([(by_links[kind] * of_links[kind]).ravel() for kind in LINK_KINDS])
        back = np.concatenate([(of_bodies[kind] * to_bodies[kind]).ravel() for kind in LINK_KINDS])
        assert there.sum() == pytest.approx(back.sum(), rel=0, abs=1e-14 * np.abs(there).sum())
    assert not any(by_links[kind][links.body < 0].any() for kind in LINK_KINDS)


def test_links_that_are_alone_have_the_gradient_of_their_body_to_the_bit():
    own = step("lcp")
    links, names = own.simulation._links, own.simulation.model.link_names
    bodies = {kind: own.simulation._names.view(own.by._numbers, kind) for kind in LINK_KINDS}
    alone = [names.index(name) for name in ("ball", "gem", "cushion", "thumb", "slider")]
    for kind in LINK_KINDS:
        np.testing.assert_array_equal(own.by[kind][alone], bodies[kind][links.body[alone]])


@pytest.mark.parametrize("robot", ["everything", "quadruped", "ur5_gripper", "panda"])
def test_bodies_are_the_sums_of_links_as_the_builder_adds_them(robot):
    """Each link becomes a little heavier, longer and rounder, also in a model that is rebuilt."""
    model = own_model() if robot == "everything" else robosim.load_robot(robot, base="described")
    rng = np.random.default_rng(9)
    simulation = Simulation(World(model))
    mass, com, inertia = (simulation.parameters[kind] for kind in LINK_KINDS)
    changes = {
        "mass": mass * rng.uniform(1, 2, mass.shape),
        "com": com + 0.01,
        "inertia": 1.5 * inertia,
    }
    changed = simulation.with_parameters(changes)
    again = pickle.loads(pickle.dumps(changed.model))
    for a, b in zip(again._engine.inertias[1:], changed.model._engine.inertias[1:], strict=True):
        # Sums of about ten numbers of the same size.
        assert a.mass == pytest.approx(b.mass, rel=1e-14)
        np.testing.assert_allclose(a.com, b.com, rtol=0, atol=1e-14)
        np.testing.assert_allclose(a.I_com, b.I_com, rtol=0, atol=1e-14 * np.abs(a.I_com).max())


def test_errors_of_second_order_products_are_none_that_cancel():
    own = step("lcp")
    found = own.simulation.linearize(own.state, own.control).hvp(
        own.q_bar, own.v_bar, v=np.ones(len(own.v_bar))
    )
    assert all((np.nan_to_num(x) >= 0).all() for x in found.error.parameters.values())
    assert found.error.parameters["com", "lid"].all()


# Names


def test_every_owner_of_the_table_is_a_name_of_its_rows():
    own = step("lcp")
    for values in own.values, own.by:
        assert list(values) == list(KINDS)
        for kind, numbers in values.items():
            owners = values.owners(kind)
            assert len(owners) == (0 if values.kinds[kind].owner == "world" else len(numbers))
            for owner in dict.fromkeys(owners):
                rows = numbers[[x == owner for x in owners]]
                expected = rows[0] if values.kinds[kind].owner == "pair" else np.squeeze(rows)
                np.testing.assert_array_equal(np.squeeze(values[kind, owner]), expected)
                assert (kind, owner) in values
    assert "masses" not in own.values
    assert ("mass", "bal") not in own.values


def test_links_stand_for_their_shapes():
    own = step("lcp")
    values, by = own.values, own.by
    assert by["friction", ("sled", "floor")] == pytest.approx(
        by["friction", ("sled/0", "floor")] + by["friction", ("floor", "sled/1")], rel=1e-15
    )
    np.testing.assert_array_equal(by["pose", ("sled", 1)], by["pose", "sled/1"])
    np.testing.assert_array_equal(
        by["friction", (("steps", 1), "cushion")], by["friction", ("cushion", "steps")]
    )
    np.testing.assert_array_equal(values["size", ("steps", 1)], [0.2, 0.4, 0.1])
    np.testing.assert_array_equal(values["damping", "ball_free"], np.zeros(6))
    assert values["radius", "ball"] == 0.1
    assert values["length", "sled/0"] == 0.3
    together = own.simulation.with_parameters({("friction", ("sled", "floor")): 0.7})
    rows = [set(pair) for pair in together.pairs]
    for shape in "sled/0", "sled/1":
        assert together.parameters["friction"][rows.index({shape, "floor"})] == 0.7
    apart = own.simulation.with_parameters({("friction", ("sled/0", "floor")): 0.7})
    with pytest.raises(
        SimulationError,
        match=r"'friction' of \('sled', 'floor'\) is not one number: it is 0\.5, 0\.7",
    ):
        apart.parameters["friction", ("sled", "floor")]


# Worlds with other values


def state_after(simulation, own):
    end = simulation.step(own.state, own.control)
    return end.q.tobytes() + end.v.tobytes()


def other_values(own, rng):
    """Values of all kinds, close to the present ones."""
    found = {}
    for kind, x in own.values.items():
        spread = 1e-3 * rng.uniform(-1, 1, x.shape)
        found[kind] = spread if kind in TWISTS else np.where(np.isfinite(x), x * (1 + spread), x)
    # Moments of inertia remain physically valid.
    of_links = 1 + 1e-3 * rng.uniform(size=(len(found["inertia"]), 1))
    return found | {"inertia": own.values["inertia"] * of_links}


def test_with_its_own_values_a_world_is_itself_to_the_bit():
    own = step("lcp")
    same = own.simulation.with_parameters(own.values)
    assert state_after(same, own) == state_after(own.simulation, own)
    assert same.model is own.simulation.model
    for kind, x in own.values.items():
        np.testing.assert_array_equal(same.parameters[kind], x)
        one = own.simulation.with_parameters({kind: x})
        assert state_after(one, own) == state_after(own.simulation, own)


@pytest.mark.parametrize("solver", SOLVERS)
def test_other_values_are_those_that_were_told_and_the_original_is_untouched(solver):
    own, rng = step(solver), np.random.default_rng(10)
    before = state_after(own.simulation, own)
    kept = {kind: x.copy() for kind, x in own.values.items()}
    told = other_values(own, rng)
    changed = own.simulation.with_parameters(told)
    assert state_after(changed, own) != before
    assert state_after(own.simulation, own) == before
    for kind, x in own.simulation.parameters.items():
        np.testing.assert_array_equal(x, kept[kind])
    # Scales multiply the sizes. Vertices are set after the scales.
    moved = {*TWISTS, "scale", "sizes", "vertices"}
    for kind, x in changed.parameters.items():
        if kind not in moved:
            np.testing.assert_array_equal(x, told[kind])
    np.testing.assert_array_equal(
        changed.parameters["sizes"], told["sizes"] * told["scale"][:, None]
    )
    np.testing.assert_array_equal(changed.parameters["vertices"], told["vertices"])
    assert not any(changed.parameters[kind].any() for kind in TWISTS)
    # One by one, and back again.
    one_by_one = own.simulation
    for kind, x in told.items():
        one_by_one = one_by_one.with_parameters({kind: x})
    back = changed.with_parameters({kind: x for kind, x in kept.items() if kind not in TWISTS})
    still = own.simulation.with_parameters({kind: told[kind] for kind in TWISTS})
    assert state_after(one_by_one, own) == state_after(changed, own)
    assert state_after(back, own) == state_after(still, own)


@pytest.mark.parametrize("solver", SOLVERS)
def test_changed_worlds_are_copied_and_pickled_to_the_bit(solver):
    own, rng = step(solver), np.random.default_rng(11)
    once = own.simulation.with_parameters(other_values(own, rng))
    twists = {kind: 1e-3 * rng.normal(size=own.values[kind].shape) for kind in TWISTS}
    twice = once.with_parameters({**twists, ("mass", "lid"): 0.7, ("scale", "gem"): 1.01})
    for changed in once, twice:
        for copied in pickle.loads(pickle.dumps(changed)), copy.deepcopy(changed):
            assert state_after(copied, own) == state_after(changed, own)
            for kind, x in changed.parameters.items():
                np.testing.assert_array_equal(copied.parameters[kind], x)
            gradients = [
                x.linearize(own.state, own.control).vjp(own.q_bar, own.v_bar).parameters
                for x in (copied, changed)
            ]
            for kind, x in gradients[0].items():
                np.testing.assert_array_equal(x, gradients[1][kind])


def test_gradients_are_pickled_with_their_names():
    own = step("lcp")
    again = pickle.loads(pickle.dumps(own.by))
    assert again.owners("vertices") == own.by.owners("vertices")
    for key in (
        "mass",
        ("mass", "lid"),
        ("friction", ("ball", "floor")),
        "vertices",
        ("radius", "ball"),
    ):
        np.testing.assert_array_equal(again[key], own.by[key])


# Compared with rebuilt worlds

HAND = pose((0.3, 0.05, 0), rpy=(0.3, -0.2, 0.5))
GRIP = pose((0.1, 0, 0.02), rpy=(0, 0.4, 0.1))
WALL, STEPS = pose((0.37, 0.05, -0.138), rpy=(0.1, 0.1, 0)), pose((0, 0.45, -0.2), rpy=(0, 0, 0.3))
ON_STEPS = pose((0.3, 0, 0)), pose((0, 0.02, 0.05), rpy=(0, 0, 0.2))
PIN = GRIP @ pose((0.01, 0.021, 0))
SKIN = np.array([[0.05, 0, 0], [0, 0.05, 0], [-0.04, -0.05, 0], [0, 0, 0.06], [0.01, 0.02, -0.05]])


def built(
    mass=0.4, com=(0.02, 0.01, 0), inertia=2e-3, radius=0.04, wall=WALL, steps=STEPS,
    on_steps=ON_STEPS, grip=GRIP, friction=0.4, gain=20.0, force=5.0, upper=0.4, damping=0.1,
    stiffness=2.0, rest=0.1, armature=0.02, dry=0.05,
    gravity=(0, 0, -9.8), dt=2e-3, pin=PIN, law=(0.01, -0.5), skin=SKIN, rounding=0.0,
):  # fmt: skip
    """An arm over a wall, whose welded hand has two fingers, and a stone on two steps."""
    builder = ModelBuilder("arm")
    # A motor-driven arm with a welded hand and two fingers.
    builder.add_link("root")
    builder.add_link("arm", mass=1.0, com=(0.1, 0, 0.01), inertia=0.01 * np.diag([1, 1.5, 1.2]))
    builder.add_link("hand", mass=mass, com=com, inertia=inertia * np.diag([1, 1.5, 1.2]))
    forces = {
        "damping": damping,
        "friction": dry,
        "armature": armature,
        "stiffness": stiffness,
        "spring_reference": rest,
    }
    builder.add_joint(
        "turn", "revolute", "root", "arm", axis=(0, 1, 0), lower=-1.0, upper=upper, **forces
    )
    builder.add_joint("weld", "fixed", "arm", "hand", X_PJ=HAND)
    builder.add_collider("hand", Shape.sphere(radius), X_LC=pose((0.05, 0, 0)))
    for name, X in ("left", grip), ("right", pose((0.1, 0.05, 0))):
        builder.add_link(name, mass=0.1, com=(0.02, 0, 0), inertia=1e-4 * np.eye(3))
        builder.add_joint(
            f"{name}_joint", "prismatic", "hand", name, X_PJ=X, axis=(0, 1, 0.2), damping=0.3
        )
    # A stone that falls on the steps.
    builder.add_link("stone", mass=0.5, inertia=1e-3 * np.eye(3))
    builder.add_joint("free", "floating", "root", "stone")
    builder.add_collider("stone", Shape.convex(skin, rounding=rounding))
    scene = Scene("walls")
    scene.add_box("wall", (0.3, 0.3, 0.2), pose=wall)
    boxes = Shape.box((0.4, 0.4, 0.1)), Shape.box((0.3, 0.4, 0.1), rounding=0.01)
    scene.add(SceneObject("steps", boxes, np.stack(on_steps), steps))
    world = World(
        builder.build().with_gravity(gravity),
        scene,
        materials={("stone", "steps"): Material(friction)},
        motors={"turn": Motor(gain, 1.0, force)},
        closures=[
            PointClosure("hand", "left", pin, (0.01, 0.02, 0), axes="y"),
            JointEquality("right_joint", "left_joint", law),
        ],
    )
    return Simulation(world, dt=dt)


def twisted(*twists):
    """Pose (4, 4) of a sequence of twists [linear; angular]: series of matrix exponentials."""
    X = np.eye(4)
    for x, y, z, a, b, c in twists:
        A = np.array([[0, -c, b, x], [c, 0, -a, y], [-b, a, 0, z], [0, 0, 0, 0]])
        term = power = np.eye(4)
        for k in range(1, 60):
            power = power @ A / k
            term = term + power
        X = X @ term
    return X


def ends_of(simulation):
    """States along 20 steps. The arm turns down onto the wall, and the stone falls on the steps."""
    q = np.array(simulation.model.neutral())
    first = simulation.model.position_names.index("free/x")
    q[first + 1 : first + 3] = 0.45, -0.038
    v = np.zeros(simulation.model.n_v)
    v[:3], v[-4] = (1.5, 0.1, -0.1), -0.1
    motion = simulation.rollout(simulation.state(q, v), 20, Control(q_target=q + 0.3))
    return np.hstack([motion.q, motion.v])


TWIST = np.array([1e-3, -2e-3, 1.5e-3, 0.05, 0.1, -0.08])
SECOND = np.array([0, 1e-3, -1e-3, 0.1, -0.05, 0.02])
BY_HAND = {
    "mass of a welded link": ({("mass", "hand"): 0.55}, {"mass": 0.55}),
    "center of mass of a welded link": ({("com", "hand"): [0.03, -0.02, 0.01]},
        {"com": (0.03, -0.02, 0.01)}),
    "moments of a welded link": ({("inertia", "hand"): 3e-3 * np.array([1, 0, 1.5, 0, 0, 1.2])},
        {"inertia": 3e-3}),
    "radius": ({("radius", "hand"): 0.045}, {"radius": 0.045}),
    "scale of a ball": ({("scale", "hand/0"): 1.1}, {"radius": 0.044}),
    "scale of a mesh": (
        {("scale", "stone"): 1.02, ("rounding", "stone"): 0.001},
        {"skin": 1.02 * SKIN, "rounding": 0.00102}
    ),
    "vertices": ({("vertices", "stone"): SKIN + 0.002}, {"skin": SKIN + 0.002}),
    "pose of an obstacle": ({("pose", "wall"): TWIST}, {"wall": WALL @ twisted(TWIST)}),
    "pose of one shape of two": (
        {("pose", ("steps", 1)): TWIST}, {"on_steps": (ON_STEPS[0], ON_STEPS[1] @ twisted(TWIST))}
    ),
    "placement of a joint on a welded link": ({("placement", "left_joint"): TWIST},
        {"grip": GRIP @ twisted(TWIST)}),
    "frames of a closure": ({("frames", ("hand", "left")): [TWIST, 0 * TWIST]},
        {"pin": PIN @ twisted(TWIST)}),
    "law of joints": ({("coefficients", "right_joint"): [0.02, -0.4, 0.3, 0, 0]},
        {"law": (0.02, -0.4, 0.3)}),
    "friction": ({("friction", ("steps", "stone")): 0.2}, {"friction": 0.2}),
    "gain": ({("position_gain", "turn"): 30.0}, {"gain": 30.0}),
    "limit of a motor": ({("motor_limit", "turn"): 1.0}, {"force": 1.0}),
    "limit of a joint": ({("upper_limit", "turn"): 0.003}, {"upper": 0.003}),
    "forces of a joint": (
        {("damping", "turn"): 0.2, ("stiffness", "turn"): 3.0, ("spring_reference", "turn"): -0.1,
         ("armature", "turn"): 0.03, ("joint_friction", "turn"): 0.1},
        {"damping": 0.2, "stiffness": 3.0, "rest": -0.1, "armature": 0.03, "dry": 0.1},
    ),
    "gravity and dt": ({"gravity": [0, 1, -5], "dt": 1e-3}, {"gravity": (0, 1, -5), "dt": 1e-3}),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_a_changed_world_is_the_one_that_is_built_anew(name):
    changes, by_hand = BY_HAND[name]
    made = built()
    changed, anew = ends_of(made.with_parameters(changes)), ends_of(built(**by_hand))
    # Rounding of 1e-16, amplified over 20 steps in which contacts reverse velocities of 1.
    np.testing.assert_allclose(changed, anew, rtol=0, atol=1e-11)
    assert np.abs(changed - ends_of(made)).max() > 1e-6


def test_the_world_to_be_changed_touches_all_that_there_is():
    made = built()
    state = State(*np.split(ends_of(made)[-1], [made.model.n_q]))
    assert {contact.B for contact in made.linearize(state).contacts} == {"wall", "steps"}
    assert {force.source for force in made.linearize(state).joints} >= {
        "joint_friction",
        "motor",
        "equality",
    }
    assert made.linearize(state).closures


def test_twists_are_from_where_things_are():
    """Two twists in sequence equal those of one world, also with more than half a turn in all."""
    wide = np.array([1e-3, 0, 2e-3, 0, 0, 2.5]), np.array([0, 2e-3, 0, 0.03, 0, 2.0])
    for twists in (TWIST, SECOND), (TWIST, -TWIST), wide:
        changed = built()
        for twist in twists:
            keys = ("pose", "wall"), ("placement", "left_joint")
            changed = changed.with_parameters(
                {**dict.fromkeys(keys, twist), ("frames", ("hand", "left")): [twist, 0 * twist]}
            )
            assert not changed.parameters["pose", "wall"].any()
        X = twisted(*twists)
        anew = built(wall=WALL @ X, grip=GRIP @ X, pin=PIN @ X)
        np.testing.assert_allclose(ends_of(changed), ends_of(anew), rtol=0, atol=1e-11)
        q = changed.state().q
        for link in changed.model.link_names:
            np.testing.assert_allclose(
                changed.model.frame_pose(q, link),
                anew.model.frame_pose(q, link),
                rtol=0,
                atol=1e-14,
            )


def test_the_model_of_a_changed_world_is_as_it_is():
    changes = {
        ("mass", "hand"): 0.5,
        ("placement", "left_joint"): TWIST,
        ("pose", "hand"): TWIST,
        ("radius", "hand"): 0.05,
    }
    changed = built().with_parameters(changes)
    for model in changed.model, pickle.loads(pickle.dumps(changed.model)):
        (hand,) = (link for link in model.links if link.name == "hand")
        (joint,) = (joint for joint in model.joints if joint.name == "left_joint")
        ball = model.colliders[0]
        assert (hand.mass, ball.shape.radius) == (0.5, 0.05)
        np.testing.assert_allclose(joint.X_PJ, GRIP @ twisted(TWIST), rtol=0, atol=1e-14)
        np.testing.assert_allclose(
            ball.X_LC, pose((0.05, 0, 0)) @ twisted(TWIST), rtol=0, atol=1e-14
        )
    floating = Simulation(World(robosim.load_robot("quadruped", base="floating")))
    base, *_ = floating.parameters.owners("placement")
    moved = floating.with_parameters({("placement", base): TWIST})
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(moved)).step(moved.state()).q, moved.step(moved.state()).q
    )
    with pytest.raises(
        ModelError,
        match="cannot be pickled: the joint 'floating_base' of its floating base is moved",
    ):
        pickle.dumps(moved.model)


@pytest.mark.parametrize("substeps", [1, 3])
def test_balances_and_replays_are_of_the_changed_world(substeps):
    own, rng = step("lcp"), np.random.default_rng(12)
    changed = everything(substeps=substeps)[0].with_parameters(other_values(own, rng))
    end, model = changed.step(own.state, own.control), changed.model
    balance = changed.linearize(own.state, own.control).balance()
    assert balance.after.kinetic == model.kinetic_energy(end.q, end.v)
    assert balance.after.potential == model.potential_energy(end.q)
    free = Simulation(World(free_things()))
    heavier = free.with_parameters({("mass", "lid"): 0.9, ("com", "lid"): [0.02, 0.1, 0]})
    state = heavier.state(v=[1.0, 0.5, -0.3, 0, 0, 0])
    # Gravity alone determines the momentum of free bodies. It is summed over links here, and over
    # the engine's bodies in the step.
    np.testing.assert_allclose(
        heavier.linearize(state).balance().momentum_rest[:3], 0, rtol=0, atol=1e-14
    )
    motion = changed.rollout(own.state, 6, own.control)
    replay = motion.replay(rate=1e9)
    for i, contacts in enumerate(replay.contacts):
        state = State(motion.q[i], motion.v[i])
        forces = [contact.force for contact in changed.linearize(state, own.control).contacts]
        np.testing.assert_array_equal(forces, [contact.force for contact in contacts])


def free_things():
    builder = ModelBuilder("things")
    builder.add_link("root")
    builder.add_link("box", mass=1.0, com=(0.01, 0, 0), inertia=0.01 * np.eye(3))
    builder.add_link("lid", mass=0.5, com=(0, 0.03, 0), inertia=0.01 * np.eye(3))
    builder.add_joint("free", "floating", "root", "box")
    builder.add_joint("on", "fixed", "box", "lid", X_PJ=HAND)
    return builder.build()


# Invalid names and values


@pytest.mark.parametrize(("changes", "text"), [
    ({"masses": 1.0}, "there is no kind of parameter 'masses'; did you mean 'mass'?"),
    ({("frction", ("ball", "floor")): 1.0},
        "there is no kind of parameter 'frction'; did you mean 'friction'"),
    ({"radius": 1.0}, "'radius' is a size of one shape; name that, too, as in ('radius', 'ball')"),
    ({("mass", "bal"): 1.0}, "no link is called 'bal'; did you mean 'ball'?"),
    ({("damping", "cushion_x"): 1.0},
        "no coordinate is called 'cushion_x'; did you mean 'cushion_z'"),
    ({("placement", "puck_lid"): np.zeros(6)}, "no joint is called 'puck_lid'; "),
    ({("radius", "bal"): 1.0},
        "no object and no link with a shape is called 'bal'; did you mean 'ball'"),
    ({("pose", "label"): np.zeros(6)}, "no object and no link with a shape is called 'label'; "),
    ({("frames", ("fourth", "third")): np.zeros((2, 6))},
     "no closure is called ('fourth', 'third'); there are ('third', 'fourth'), ('near', 'slider')"),
    ({("gravity", "ball"): np.zeros(3)}, "'gravity' is of the world, and not of 'ball'"),
    ({("friction", ("ball", "flor")): 1.0}, "is called 'flor'; did you mean 'floor'?"),
    ({("friction", ("lid", "puck")): 1.0},
        "'lid' and 'puck' cannot touch: they are no pair of this simulation"),
    ({("friction", "ball"): 1.0},
        "'friction' is of a pair, and 'ball' is none; expected two names"),
    ({("pose", "sled"): np.zeros(6)}, "'sled' has 2 shapes; name one of 'sled/0', 'sled/1'"),
    ({("pose", "steps"): np.zeros(6)},
        "'steps' has 2 shapes; name one of ('steps', 0), ('steps', 1)"),
    ({("pose", ("sled", 2)): np.zeros(6)}, "'sled' has no shape 2; there are 2, from 0 on"),
    ({("radius", "puck"): 1.0},
        "'puck' is a box: it has no 'radius'; there are 'size', 'rounding'"),
    ({("radius", "terrain"): 1.0}, "'terrain' is made of pieces: it has no 'radius'"),
    ({("scale", "terrain"): 2.0},
        "'scale' of 'terrain' is 2.0 where there is none: 'terrain' is made of pieces"),
    ({("sizes", "ball"): [0.1, 0.2, 0, 0]},
        "'sizes' of 'ball' is 0.2 where there is none: 'ball/0' is a sphere"),
    ({("vertices", "ball"): np.zeros((1, 3))},
        "'ball' has no vertices; convex meshes and triangles have"),
    ({("vertices", "gem"): np.zeros((4, 3))},
        "'vertices' of 'gem' has shape (4, 3); expected (5, 3)"),
    ({("vertices", "gem"): np.zeros((5, 3))}, "convex: the 5 points are flat"),
    ({"mass": [1.0]}, "'mass' has shape (1,); expected (22,)"),
    ({("mass", "ball"): "heavy"}, "'mass' of 'ball' is 'heavy'; expected numbers of shape ()"),
    ({("mass", "ball"): np.nan}, "'mass' of 'ball' is nan; it must be finite"),
    ({("upper_limit", "turn"): np.nan}, "'upper_limit' of 'turn' is nan; it must be finite"),
    ({("friction", ("ball", "floor")): np.inf},
        "'friction' of ('ball', 'floor') is inf; it must be finite"),
    ({("mass", "ball"): -1.0}, "'mass' of 'ball' is -1.0; it must be at least 0"),
    ({("mass", "ball"): 0.0, ("inertia", "ball"): np.zeros(6)},
        "joint 'ball_free' moves no mass and no armature"),
    ({("inertia", "ball"): [1, 0, 1, 0, 0, 5]},
        "link 'ball': principal moments 1, 1, 5 kg m^2: the largest exceeds"),
    ({("lower_limit", "turn"): 3.0},
        "'turn': lower limit 3.0 and upper limit 2.0 leave no position"),
    ({("radius", "ball"): 0.0}, "radius is 0 m"),
    ({("restitution", ("ball", "floor")): 1.5},
        "'restitution' of ('ball', 'floor') is 1.5; it must be at most 1"),
    ({"dt": 0.0}, "dt is 0; it must be positive"),
    ({3: 1.0}, "parameter is 3; expected a kind, or a kind and the name of what has it"),
    ({("mass", "ball", "floor"): 1.0}, "parameter is ('mass', 'ball', 'floor'); expected a kind"),
    ([("mass", 1.0)], "parameters must be a Mapping, got list"),
])  # fmt: skip
def test_changes_that_cannot_be_are_named(changes, text):
    own = step("lcp")
    with pytest.raises(SimulationError) as caught:
        own.simulation.with_parameters(changes)
    assert text in str(caught.value)
    assert state_after(own.simulation, own) == own.end.q.tobytes() + own.end.v.tobytes()


@pytest.mark.parametrize(("direction", "text"), [
    ({("mass", "bal"): 1.0}, "no link is called 'bal'; did you mean 'ball'?"),
    ({("friction", ("lid", "puck")): 1.0}, "'lid' and 'puck' cannot touch"),
    ({"mass": [1.0]}, "'mass' has shape (1,); expected (22,)"),
    ({("mass", "ball"): np.inf}, "'mass' of 'ball' is inf; it must be finite"),
    ([("mass", 1.0)], "parameters must be a Mapping, got list"),
])  # fmt: skip
def test_directions_that_cannot_be_are_named(direction, text):
    own = step("lcp")
    with pytest.raises(SimulationError) as caught:
        own.simulation.linearize(own.state, own.control).jvp(parameters=direction)
    assert text in str(caught.value)
