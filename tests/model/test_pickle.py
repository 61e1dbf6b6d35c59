"""A pickled model computes bit for bit as the original; invalid pickles are refused."""

from __future__ import annotations

import copy
import copyreg
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robosim import load_robot
from robosim.errors import RobosimError
from robosim.geometry import Compound, HeightField, PointCloud, Shape, TriangleMesh, pose
from robosim.model import DisabledCollision, Model, ModelBuilder, Safety, Visual
from robosim.model.rebuilt import model_arguments, rebuilt_model
from robosim.pickling import rebuild
from robosim.scene import Scene
from robosim.simulation import Simulation
from robosim.urdf import bundled_robots
from robosim.world import World

from ..broadcasting.methods import ARGUMENTS, alone, arguments, assert_same, calls  # noqa: TID252
from ..pickles import faults, with_other  # noqa: TID252 (tests have no absolute name)
from .mechanisms import branched_robot

BOWL = TriangleMesh(
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, -0.4]],
    [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]],
)


def made_by_hand() -> Model:
    """Model with everything that a description can contain."""
    rng = np.random.default_rng(2)
    builder = ModelBuilder("by hand", floating_base=True)
    for i in range(4):
        builder.add_link(f"l{i}", mass=1 + i, com=rng.normal(size=3), inertia=np.eye(3))
    builder.add_joint(
        "weld", "fixed", "l0", "l1", X_PJ=pose(rng.normal(size=3), rpy=rng.normal(size=3))
    )
    builder.add_joint(
        "screw", "helical", "l1", "l2", axis=(1, 2, 3), pitch=0.1, lower=-2, upper=2,
        safety=Safety(-1, 1.5, 3, 4),
        acceleration=7, rotor_inertia=0.1, gear_ratio=20,
    )  # fmt: skip
    builder.add_joint(
        "hinge", "revolute", "l2", "l3", axis=rng.normal(size=3), mimic=("screw", -2.0, 0.3)
    )
    builder.add_collider(
        "l3", BOWL, X_LC=pose(rng.normal(size=3), rpy=rng.normal(size=3)), name="a/b"
    )
    builder.add_collider(
        "l1", Shape.convex(rng.normal(size=(60, 3))), X_LC=pose((0, 1, 0), rpy=(1, 2, 3))
    )
    builder.add_collider("l3", Shape.box((1, 2, 3), rounding=0.1))
    builder.add_visual("l0", Visual(mesh=Path("nowhere.stl"), rgba=(1, 0, 0, 1), name="seen"))
    builder.add_group("arm", ["screw", "hinge"], tip="l3")
    builder.add_named_state("arm", "home", {"screw": 0.5})
    builder.add_end_effector("hand", "l3", "arm")
    builder.disable_collision("l1", "l2", "never")
    builder.add_warning("look")
    builder.add_ignored("nothing")
    return builder.build()


def changed(model: Model) -> dict[str, Model]:
    """Copies of a model with changes, one by each of the methods that make one."""
    rng = np.random.default_rng(3)
    q_limit, v_limit = model.limits.upper.copy(), rng.uniform(1, 2, model.n_v)
    springs = np.where(model.stiffness > 0, 2.0, 0.0)
    pairs = model.collision_pairs[::2]
    links = [model.colliders[i].link for i in (model.collision_pairs[-1] if len(pairs) else ())]
    disabled = [DisabledCollision(*links, "asked for")] if links else []
    return {
        "with_acceleration_limits": model.with_acceleration_limits(v_limit, "a test"),
        "with_armature": model.with_armature(v_limit),
        "with_collision_pairs": model.with_collision_pairs(pairs),
        "with_damping": model.with_damping(v_limit),
        "with_disabled_collisions": model.with_disabled_collisions(disabled),
        "with_friction": model.with_friction(v_limit, width=v_limit / 100),
        "with_fault": model.with_fault(model.root_link, "cannot be"),
        "with_gravity": model.with_gravity(rng.normal(size=3)),
        "with_limits": model.with_limits(
            lower=q_limit - 1, upper=q_limit, velocity=v_limit, effort=np.inf
        ),
        "with_locked_joints": model.with_locked_joints(model.joint_names[:1]),
        "with_stiffness": model.with_stiffness(springs),
        "with_warnings": model.with_warnings(["r.urdf:3: link 'a': looks wrong"]),
    }


def models() -> Iterator[tuple[str, Callable[[], Model]]]:
    for name in bundled_robots():
        yield name, lambda name=name: load_robot(name)
        if load_robot(name).links[0].mass > 0:
            yield f"{name}, floating", lambda name=name: load_robot(name, base="floating")
    for floating in (False, True):
        yield f"branched, {floating}", lambda floating=floating: branched_robot(floating=floating)
    yield "by hand", made_by_hand


MODELS = dict(models())


def assert_alike(other: Model, model: Model) -> None:
    """Assert that two models report and compute the same for a state."""
    assert repr(other) == repr(model)
    assert_same(model_arguments(other)["numbers"], model_arguments(model)["numbers"])
    for name in ("joint_names", "position_names", "position_kinds", "velocity_names", "link_names"):
        assert getattr(other, name) == getattr(model, name)
    for name in (
        "groups",
        "named_states",
        "end_effectors",
        "warnings",
        "ignored",
        "disabled_collisions",
    ):
        assert getattr(other, name) == getattr(model, name)
    for name in ("links", "joints", "colliders"):
        assert_records(getattr(other, name), getattr(model, name))
    assert list(other.visuals) == list(model.visuals)
    for link, visuals in model.visuals.items():
        assert_records(other.visuals[link], visuals)
    assert_records((other.limits,), (model.limits,))
    np.testing.assert_array_equal(other.collision_pairs, model.collision_pairs)
    given = arguments(model, 1, 11)
    for name in ARGUMENTS:
        try:
            choices = calls(model, name, 1)[-1]
            expected = alone(model, name, given, choices, 0)
        except RobosimError as refusal:  # without mass, or with a mimic joint
            with pytest.raises(type(refusal), match=re.escape(str(refusal))):
                alone(other, name, given, choices, 0)
        else:
            assert_same(alone(other, name, given, choices, 0), expected)
    q = given["q"][0]
    if len(model.collision_pairs):
        assert_same(
            tuple(Scene().compile(other).min_distance(q)),
            tuple(Scene().compile(model).min_distance(q)),
        )


def assert_records(records: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    assert len(records) == len(expected)
    for record, other in zip(records, expected, strict=True):
        assert type(record) is type(other)
        for key in vars(other):
            a, b = getattr(record, key), getattr(other, key)
            if isinstance(b, np.ndarray):
                np.testing.assert_array_equal(a, b)
                assert a.flags.writeable == b.flags.writeable
            elif isinstance(b, (Shape, Compound)):
                assert pickle.dumps(a) == pickle.dumps(b)
            else:
                assert a == b


@pytest.mark.parametrize("name", MODELS)
def test_computes_the_same_to_the_bit(name):
    model = MODELS[name]()
    other = pickle.loads(pickle.dumps(model))
    assert_alike(other, model)
    assert pickle.dumps(pickle.loads(pickle.dumps(other))) == pickle.dumps(other)


@pytest.mark.parametrize("method", [method for method in dir(Model) if method.startswith("with_")])
def test_copies_with_changes_keep_them(method):
    differ = 0
    for name in ("branched, True", "by hand", bundled_robots()[-1]):
        model = MODELS[name]()
        one = changed(model)[method]
        assert_alike(pickle.loads(pickle.dumps(one)), one)
        differ += pickle.dumps(one) != pickle.dumps(model)
    assert differ


@pytest.mark.parametrize("name", [name for name in MODELS if name.endswith("floating")])
def test_falls_the_same_to_the_bit(name):
    floor = Scene("floor")
    floor.add_half_space("floor", pose((0, 0, -0.3)))
    simulation = Simulation(World(MODELS[name](), floor), substeps=2)
    again = pickle.loads(pickle.dumps(simulation))
    runs = [one.rollout(one.state(), 40) for one in (simulation, again)]
    np.testing.assert_array_equal(runs[1].q, runs[0].q)
    np.testing.assert_array_equal(runs[1].v, runs[0].v)
    assert runs[1].report == runs[0].report


def test_copies_are_the_model_itself():
    model = made_by_hand()
    assert copy.copy(model) is model
    assert copy.deepcopy({"a": model})["a"] is model
    two = pickle.loads(pickle.dumps([model, model]))
    assert two[0] is two[1]


@pytest.mark.parametrize("seed", range(40))
def test_hulls_are_their_own_hulls(seed):
    # On a coarse grid many points lie on faces and edges of the hull.
    rng = np.random.default_rng(seed)
    points = rng.integers(-3, 4, (120, 3)) * 0.1 if seed % 2 else rng.normal(size=(200, 3))
    hull = Shape.convex(points)
    again = Shape.convex(hull.vertices)
    np.testing.assert_array_equal(again.vertices, hull.vertices)
    np.testing.assert_array_equal(again.faces, hull.faces)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(hull)).faces, hull.faces)


def test_what_is_no_model_is_refused():
    state = model_arguments(made_by_hand())
    seen = 0
    for way, other, refused in faults(state):
        try:
            rebuild(rebuilt_model, with_other(state, way, other))
        except RobosimError:
            seen += 1
        else:
            assert not refused, f"{way}: {other!r}"
    assert seen > 500


BODIES = [
    Shape.convex(np.random.default_rng(0).normal(size=(30, 3)), rounding=0.1),
    Shape.triangle(np.eye(3), 0.1),
    Shape.box((1, 2, 3)), Shape.ellipsoid((1, 2, 3)), Shape.capsule(1, 2), BOWL,
    HeightField(np.eye(3), 0.5),
    PointCloud(np.eye(3), 0.1), Compound([(BOWL, np.eye(4)), (Shape.sphere(1), pose((1, 2, 3)))]),
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES, ids=repr)
def test_what_is_no_shape_is_refused(body):
    _, (make, state) = copyreg.dispatch_table[type(body)](body)
    for way, other, refused in faults(state):
        try:
            rebuild(make, with_other(state, way, other))
        except RobosimError:
            continue
        assert not refused or way[-1:] in (("vertices",), ("heights",), ("points",)), (
            f"{way}: {other!r}"
        )
