"""World files: saved and loaded again bit for bit, or written by hand.

Errors come with file:line.
"""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import robosim
from robosim.errors import FileError, RobosimError, SceneError
from robosim.geometry import Shape, TriangleMesh, pose
from robosim.model import ModelBuilder
from robosim.model.rebuilt import model_arguments
from robosim.scene import Scene
from robosim.simulation import Control, Simulation
from robosim.urdf import bundled_robots
from robosim.world import JointEquality, Material, Motor, PointClosure, Weld, World

from ..pickles import same  # noqa: TID252 (tests have no absolute name)
from .test_world import cell


def saved(world: World, path) -> World:
    world.save(path)
    return World.load(path)


@pytest.mark.parametrize("robot", sorted(bundled_robots()))
def test_robots_come_back_to_the_bit(robot, tmp_path):
    world = World(robosim.load_robot(robot), name=robot)
    again = saved(world, tmp_path / "world.yaml")
    assert same(model_arguments(again.model), model_arguments(world.model))
    np.testing.assert_array_equal(again.start, world.start)
    again.save(tmp_path / "again.yaml")
    assert (tmp_path / "again.yaml").read_bytes() == (tmp_path / "world.yaml").read_bytes()


def odd_robot() -> ModelBuilder:
    """Robot with names that look like numbers, a concave mesh, hulls that represent the mesh.

    It also has mimic and helical joints, and no limits.
    """
    builder = ModelBuilder("null")
    for name in ("1", "true", "a: b", "é\n"):
        builder.add_link(
            name, mass=1 / 3, com=(1e-17, 0.1, -1 / 7), inertia=0.1 * np.eye(3), place="file:3"
        )
    builder.add_joint(
        "2", "revolute", "1", "true", lower=-np.inf, upper=1 / 3, velocity=np.inf, effort=3
    )
    builder.add_joint(
        "3", "helical", "true", "a: b", pitch=0.01, axis=(1, 2, 2), stiffness=2.0, armature=0.1
    )
    builder.add_joint("4", "revolute", "a: b", "é\n", lower=-1, upper=1, mimic=("2", -2.0, 0.1))
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.1, 0.1, 0.1)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 4), (2, 3, 4), (3, 1, 4)]
    mesh = TriangleMesh(np.array(corners) / 7, faces)
    builder.add_collider("1", mesh, X_LC=pose((0.1, 0.2, 0.3), (0.1, 0.2, 0.3)))
    for k in range(2):
        builder.add_collider(
            "true", Shape.convex(mesh.vertices[k:], rounding=0.01), name=f"piece{k}", exact=mesh
        )
    builder.add_group("5", ("2", "3"), tip="a: b")
    builder.add_named_state("5", "6", {"2": 0.1, "3": -0.2})
    builder.add_end_effector("7", "a: b", "5")
    builder.add_warning("look: at [this]")
    return builder


def test_all_of_a_world_comes_back(tmp_path):
    odd = odd_robot().build()
    scene = Scene("room")
    scene.add_half_space("floor")
    scene.add_box("crate", (1, 1, 1), pose=pose((3, 0, 0.5)))
    scene.allow("crate", "floor")
    world = World(
        odd.with_damping(1 / 3),
        scene,
        materials={"crate": Material(0.3, compliance=1e-5), ("1", "floor"): Material(0.1, 0.2)},
        motors={"2": Motor(1 / 3, 2.0), "3": Motor(limit=4.0)},
        closures=[
            Weld("1", "a: b", np.eye(4)),
            PointClosure("1", "true", (0, 0, 1 / 3), axes="xz"),
        ],
        q={"2": 0.2},
        name="all: of it",
    )
    world.closures.append(JointEquality("3", None, (0.25,)))
    world.add(
        robosim.load_robot("quadruped", base="floating"),
        "dog",
        pose=pose((1, 2, 0.5), (0.1, 0.2, 0.3)),
    )
    world.add(odd, "hand", on="dog/trunk", pose=pose((0, 0, 0.2)))
    world.add_body("mesh", odd.colliders[0].shape, mass=1 / 7, pose=pose((-2, 0, 1)))
    again = saved(world, tmp_path / "world.yaml")
    assert same(model_arguments(again.model), model_arguments(world.model))
    np.testing.assert_array_equal(again.start, world.start)
    assert (again.name, again.materials, again.motors) == (
        world.name,
        world.materials,
        world.motors,
    )
    for one, other in zip(again.closures, world.closures, strict=True):
        assert type(one) is type(other)
        assert same(one._arguments(), other._arguments()) or isinstance(one, PointClosure | Weld)
    pieces = [collider for collider in again.model.colliders if collider.link == "true"]
    assert pieces[0].exact is pieces[1].exact  # a single mesh, as in the original
    world.closures.clear()
    again.closures.clear()
    ends = []
    for one in (world, again):
        simulation = Simulation(one)
        ends.append(simulation.rollout(simulation.state(), 50, Control(q_target=one.start)))
    np.testing.assert_array_equal(ends[0].q, ends[1].q)


def test_a_cell_is_simulated_alike(tmp_path):
    world = cell()
    again = saved(world, tmp_path / "cell.yaml")
    one, other = Simulation(world), Simulation(again)
    control = Control(q_target=world.start)
    a, b = (x.rollout(x.state(), 100, control) for x in (one, other))
    np.testing.assert_array_equal(a.v, b.v)
    bar = np.ones((101, world.model.n_v))
    np.testing.assert_array_equal(
        a.vjp(v_bar=bar).parameters["mass"], b.vjp(v_bar=bar).parameters["mass"]
    )


BY_HAND = """\
format: robosim-world
version: 1
scene:
  objects:
    - {name: floor, half_space: {}}
parts:
  - {name: left, robot: ur5, q: ready, pose: {xyz: [0, 0.5, 0]}}
  - {name: hand, robot: gripper_2f, on: left/tool0}
  - {name: dog, robot: quadruped, base: floating, q: standing, pose: {xyz: [3,0,1], rpy: [0,0,1]}}
  - {name: crate, body: {box: {size: [0.1, 0.1, 0.1]}}, mass: 0.5, pose: {xyz: [0.4, 1.2, 0.05]}}
materials:
  - {of: crate, friction: 0.7}
  - {of: [crate, floor], friction: 0.4}
motors: {left/elbow_joint: {position_gain: 2000, velocity_gain: 100}}
closures:
  - {point: [left/base_link, hand/gripper_base_link], at_a: [0.1, 0, 0], axes: xz}
  - {equality: left/wrist_1_joint, of: left/wrist_2_joint}
"""


def test_files_written_by_hand(tmp_path):
    path = tmp_path / "cell.yaml"
    path.write_text(BY_HAND)
    world = World.load(path)
    arm = robosim.load_robot("ur5")
    assert world.name == "cell"
    np.testing.assert_array_equal(world.start[:6], arm.configuration("ready"))
    assert world.motors == {"left/elbow_joint": Motor(2000.0, 100.0)}
    assert world.materials == {"crate": Material(0.7), ("crate", "floor"): Material(0.4)}
    assert [type(x) for x in world.closures] == [PointClosure, JointEquality]
    assert next(x for x in world.model.links if x.name == "crate").mass == 0.5
    assert Simulation(world).rollout(Simulation(world).state(), 5).report.solved
    # Robots and scenes beside the file.
    (tmp_path / "robot.urdf").write_text('<robot name="r"><link name="a"/></robot>')
    world.scene.save(tmp_path / "floor.yaml")
    path.write_text(
        "format: robosim-world\nversion: 1\nscene: floor.yaml\nparts: [{robot: robot.urdf}, {name:"
        " b, robot: ur5}]\n"
    )
    world = World.load(path)
    assert [thing.name for thing in world.scene] == ["floor"]
    assert "a" in world.model.link_names


@pytest.mark.parametrize(("old", "new", "line", "says"), [
    ("robosim-world", "robosim-scene", 1, "format: expected 'robosim-world'"),
    ("version: 1", "version: 2", 2, "version 2 is not known"),
    ("half_space: {}", "half_space: {size: 3}", 5, "unknown key 'size'"),
    ("robot: ur5,", "robot: ur55,", 7, "'ur55'.*did you mean 'ur5'"),
    ("q: ready", "q: redy", 7, "no state 'redy'.*did you mean 'ready'"),
    ("q: ready", "q: [0, 0]", 7, "q has shape"),
    ("on: left/tool0", "on: left/tool1", 8, "no link 'left/tool1'"),
    ("name: hand", "name: left", 8, "a part 'left' already"),
    ("name: hand, ", "", 8, "'name' is missing"),
    ("base: floating", "base: flying", 9, "flying"),
    ("mass: 0.5", "mass: -1", 10, "mass"),
    ("body: {box", "model: 0, body: {box", 10, "one of robot, body and model, found body, model"),
    ("body: {box: {size: [0.1, 0.1, 0.1]}}, mass: 0.5", "model: 0", 10,
        "there is no model 0; there are 0"),
    ("friction: 0.7", "friction: -1", 12, "friction is -1"),
    ("friction: 0.7", "fricton: 1", 12, "unknown key 'fricton'; did you mean 'friction'"),
    ("position_gain: 2000", "gain: 2000", 14, "unknown key 'gain'"),
    ("axes: xz", "axes: ab", 16, "axes is 'ab'"),
    ("point: [left/base_link, hand/gripper_base_link]", "pin: [a, b]", 16,
        "one of point, weld and equality"),
    ("closures:", "closure:", 15, "unknown key 'closure'"),
])  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(old, new, line, says, tmp_path):
    path = tmp_path / "cell.yaml"
    text = BY_HAND.replace(old, new, 1)
    assert text != BY_HAND
    path.write_text(text)
    with pytest.raises(RobosimError, match=says) as caught:
        World.load(path)
    assert str(caught.value).startswith(
        f"{path}:{line}"
    ) or f"{path.name}:{line + (old == 'closures:')}" in str(caught.value)


def test_files_that_are_cut_off_or_changed_anywhere_are_refused_or_read(tmp_path):
    path = tmp_path / "world.yaml"
    world = World(odd_robot().build(), name="odd")
    world.add_body("ball", Shape.sphere(0.1))
    world.save(path)
    whole, rng = path.read_bytes(), np.random.default_rng(1)
    refused = 0
    for k in range(300):
        data = bytearray(whole[: rng.integers(len(whole))] if k % 3 == 0 else whole)
        if k % 3:
            at = int(rng.integers(len(data)))
            data[at : at + int(rng.integers(0, 4))] = rng.choice(
                [b"-1", b"inf", b"null", b"[", b"1e400", b"x"]
            )
        path.write_bytes(bytes(data))
        try:
            World.load(path).model.neutral()
        except RobosimError:
            refused += 1
    assert refused > 200


def test_nothing_is_half_written(tmp_path):
    world = World(robosim.load_robot("ur5"))
    path = tmp_path / "world.yaml"
    world.save(path)
    before = path.read_bytes()
    with pytest.raises(FileError):
        world.save(tmp_path / "none" / "world.yaml")
    rows = np.zeros((2_000_000, 3))
    rows[:, 0] = np.arange(len(rows)) * 1e-3
    world.scene.add_points("cloud", rows, radius=1e-4)
    with pytest.raises(SceneError, match="too large to be read again"):
        world.save(path)
    assert path.read_bytes() == before
    with pytest.raises(FileError, match="no such file"):
        World.load(tmp_path / "none.yaml")


def test_the_example_of_the_format_is_read(tmp_path):
    from robosim.world import files

    example = textwrap.dedent(files.__doc__.split("\n\n")[1])
    path = tmp_path / "example.yaml"
    path.write_text(example)
    assert "hand/gripper" in World.load(path).model.groups
