"""Worlds: parts keep their data, and move and collide as they do alone.

Errors name the parts.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import robosim
from robosim.errors import ModelError, RobosimError, SceneError, SimulationError
from robosim.geometry import Shape, TriangleMesh, pose, signed_distance
from robosim.model import ModelBuilder
from robosim.planners import JointGoal, Problem, plan
from robosim.scene import Scene
from robosim.simulation import Control, Simulation, StepStatus
from robosim.urdf import bundled_robots
from robosim.world import JointEquality, Material, Motor, PointClosure, Weld, World


def floor() -> Scene:
    scene = Scene("floor")
    scene.add_half_space("floor")
    return scene


def cell() -> World:
    """Two arms, one with a gripper, beside ten boxes."""
    arm, panda = robosim.load_robot("ur5"), robosim.load_robot("panda")
    world = World(scene=floor(), name="cell")
    for model, name, y in (arm, "left", 0.5), (panda, "right", -0.5):
        motors = {joint: Motor(2000.0, 100.0) for joint in model.joint_names}
        world.add(model, name, pose=pose((0, y, 0)), q="ready", motors=motors)
    world.add(robosim.load_robot("gripper_2f"), "hand", on="left/tool0")
    for i in range(10):
        box = Shape.box((0.1, 0.1, 0.1))
        world.add_body(
            f"box{i}", box, mass=0.5, pose=pose((0.4 + 0.2 * i, 1.2, 0.05)), material=Material(0.7)
        )
    return world


def of_part(whole, name: str, part, values, names: str) -> np.ndarray:
    """Numbers of a part, selected from those of the whole."""
    at = {x: i for i, x in enumerate(getattr(whole, names))}
    return np.asarray(values)[..., [at[f"{name}/{x}"] for x in getattr(part, names)]]


@pytest.mark.parametrize("robot", sorted(bundled_robots()))
def test_a_part_is_what_it_is_alone(robot):
    """Poses, limits, joint data, groups, states, tools, colliders, pairs and dynamics agree."""
    alone = robosim.load_robot(robot)
    world = World(name="two")
    world.add(robosim.load_robot("ant" if robot == "ur5" else "ur5"), "other")
    X_WB = pose((0.3, -0.2, 0.1), (0.1, -0.2, 0.3))
    world.add(alone, "it", pose=X_WB)
    whole = world.model
    rng = np.random.default_rng(1)
    q, v, a = (
        whole.random_configuration(rng),
        rng.normal(size=whole.n_v),
        rng.normal(size=whole.n_v),
    )
    # Link poses agree, transformed by the part's pose.
    own_q = of_part(whole, "it", alone, q, "position_names")
    X = np.eye(4) if alone.floating_base else X_WB
    for link in alone.link_names:
        name = "it" if len(alone.links) == 1 else f"it/{link}"
        np.testing.assert_allclose(
            whole.frame_pose(q, name), X @ alone.frame_pose(own_q, link), atol=1e-12
        )
    # Limits and numbers of joints agree exactly.
    for kind in ("lower", "upper"):
        expected = getattr(alone.limits, kind)
        found = of_part(whole, "it", alone, getattr(whole.limits, kind), "position_names")
        np.testing.assert_array_equal(found, expected)
    numbers = ("damping", "friction", "friction_width", "stiffness", "spring_reference", "armature")
    for kind in ("velocity", "acceleration", "effort", *numbers):
        owner, of_whole = (x if kind in numbers else x.limits for x in (alone, whole))
        found = of_part(whole, "it", alone, getattr(of_whole, kind), "velocity_names")
        np.testing.assert_array_equal(found, getattr(owner, kind))
    # Groups, named states and end effectors have prefixed names.
    for name, group in alone.groups.items():
        assert whole.groups[f"it/{name}"].joints == tuple(f"it/{joint}" for joint in group.joints)
    for state in alone.named_states:
        found = whole.configuration(f"it/{state.group}/{state.name}")
        expected = alone.configuration(f"{state.group}/{state.name}")
        moved = [f"it/{name}" for name in state.positions]
        np.testing.assert_allclose(
            [x for x, n in zip(found, whole.position_names, strict=True) if n in moved],
            [x for x, n in zip(expected, alone.position_names, strict=True) if f"it/{n}" in moved],
        )
    assert {f"it/{name}" for name in alone.end_effectors} <= set(whole.end_effectors)

    # Pairs of colliders agree, and the whole has further pairs.
    def pairs(model, begins: str) -> set[frozenset[str]]:
        names = [collider.name for collider in model.colliders]
        found = {frozenset((names[a], names[b])) for a, b in model.collision_pairs}
        return {pair for pair in found if all(x.startswith(begins) for x in pair)}

    single = len(alone.links) == 1
    renamed = {frozenset(f"it/{x}" for x in pair) for pair in pairs(alone, "")}
    assert single or pairs(whole, "it/") == renamed
    assert len(pairs(whole, "")) > len(pairs(alone, "")) or not alone.colliders
    # Inverse dynamics agree if the part stands level on a fixed base.
    if not alone.dynamics_faults and not alone.floating_base:
        level = World()
        level.add(robosim.load_robot("cart_pole"), "other")
        level.add(alone, "it", pose=pose((0.3, -0.2, 0.1)))
        whole = level.model
        q, v, a = (
            whole.random_configuration(rng),
            rng.normal(size=whole.n_v),
            rng.normal(size=whole.n_v),
        )
        own = (
            of_part(whole, "it", alone, x, n)
            for x, n in ((q, "position_names"), (v, "velocity_names"))
        )
        tau = alone.inverse_dynamics(*own, of_part(whole, "it", alone, a, "velocity_names"))
        found = of_part(whole, "it", alone, whole.inverse_dynamics(q, v, a), "velocity_names")
        np.testing.assert_allclose(found, tau, atol=1e-9 * max(1.0, np.abs(tau).max(initial=0)))


def test_a_part_steps_as_it_does_alone():
    """Two robots far from each other move as if each were alone with its ground."""
    walker = robosim.load_robot("quadruped", base="floating")
    motors = {name: Motor(60.0, 3.0) for name in walker.velocity_names[6:]}
    surfaces = {"floor": Material(0.8)}
    alone = Simulation(World(walker, floor(), materials=surfaces, motors=motors))
    world = World(scene=floor(), materials=surfaces)
    world.add(robosim.load_robot("ur5"), "arm", pose=pose((50, 0, 1)))
    world.add(walker, "walker", motors=motors)
    both = Simulation(world)
    q = walker.configuration("standing")
    q[2] -= floor().compile(walker).min_distance(q)[0] - 1e-3
    start = alone.state(q)
    q = both.world.start
    at = [both.model.position_names.index(f"walker/{name}") for name in walker.position_names]
    q[at] = start.q
    run = alone.rollout(start, 200, Control(q_target=start.q))
    other = both.rollout(both.state(q), 200, Control(q_target=q))
    np.testing.assert_allclose(other.q[:, at], run.q, atol=1e-9)
    assert other.report.solved


def test_two_robots_a_gripper_and_ten_objects():
    """The world is composed, planned for, simulated, pickled, and differentiated by name."""
    world = cell()
    model = world.model
    assert len(world.start) == model.n_q == 6 + 7 + 1 + 70
    assert world.start[-7:].tolist() == [2.2, 1.2, 0.05, 0, 0, 0, 1]
    start, goal = world.start, world.start.copy()
    at = [model.position_names.index(name) for name in model.groups["left/manipulator"].joints]
    goal[at] = (1.0, -1.0, 0.5, 0.3, 0, 0)
    problem = Problem(
        model, world.scene, group="left/manipulator", start=start, goal=JointGoal(goal)
    )
    found = plan(problem)
    assert found.status == "solved", found.reason

    simulation = Simulation(world)
    motion = simulation.rollout(simulation.state(start), 300, Control(q_target=start))
    assert motion.report.status <= StepStatus.basic
    bar = np.zeros((301, model.n_v))
    bar[-1, model.velocity_names.index("left/elbow_joint")] = 1
    by = motion.vjp(v_bar=bar).parameters
    for key in (("mass", "left/forearm_link"), ("position_gain", "left/elbow_joint")):
        assert by[key] != 0
    assert by["mass", "box3"] == 0  # a box that the arm does not touch
    # A heavier hand: the gradient equals the difference.
    mass = float(simulation.parameters["mass", "hand/gripper_base_link"])
    ends = [
        simulation.with_parameters({("mass", "hand/gripper_base_link"): mass + h})
        .rollout(simulation.state(start), 300, Control(q_target=start))
        .v[-1]
        @ bar[-1]
        for h in (1e-4, -1e-4)
    ]
    assert by["mass", "hand/gripper_base_link"] == pytest.approx(
        (ends[0] - ends[1]) / 2e-4, rel=1e-5
    )

    again = pickle.loads(pickle.dumps(world))
    np.testing.assert_array_equal(again.start, world.start)
    same = Simulation(again).rollout(simulation.state(start), 300, Control(q_target=start))
    np.testing.assert_array_equal(same.q, motion.q)


def test_parts_collide_but_for_those_that_are_welded_together():
    world = cell()
    compiled = world.scene.compile(world.model)
    q = world.start
    assert not compiled.collides(q)
    at = world.model.position_names.index("box0/floating_base/x")
    q[at] += 0.15  # into its neighbor
    assert compiled.collides(q)
    names = [collider.name for collider in world.model.colliders]
    links = [collider.link for collider in world.model.colliders]
    pairs = {(links[a], links[b]) for a, b in world.model.collision_pairs}
    assert any("hand/" in a + b and "right/" in a + b for a, b in pairs)
    assert not any({"left/wrist_3_link", "hand/gripper_base_link"} == {a, b} for a, b in pairs)
    assert len(names) == len(set(names))


def test_broadcast_rollouts_equal_single_ones_at_any_number_of_threads():
    simulation = Simulation(cell())
    rng = np.random.default_rng(2)
    v = 0.1 * rng.normal(size=(5, simulation.model.n_v))
    start = simulation.state()
    alone = [simulation.rollout(simulation.state(start.q, x), 40) for x in v]
    for threads in 1, 2, 4:
        with robosim.threads(threads):
            runs = simulation.rollout(simulation.state(start.q, v), 40)
        for i, one in enumerate(alone):
            np.testing.assert_array_equal(runs.q[i], one.q)
            np.testing.assert_array_equal(runs.v[i], one.v)


def test_what_a_part_says_by_its_own_names():
    arm = robosim.load_robot("ur5")
    world = World(arm)  # its names stay as they are
    world.add(
        arm,
        "other",
        pose=pose((1, 0, 0)),
        materials={"tool0": Material(0.1), ("forearm_link", "upper_arm_link"): Material(0.2)},
        motors={"elbow_joint": Motor(1.0, 2.0)},
        closures=[
            PointClosure("base_link", "tool0", at_b=(0, 0, 0.1)),
            Weld("base_link", "forearm_link"),
            JointEquality("elbow_joint", "wrist_1_joint"),
        ],
    )
    assert set(world.materials) == {"other/tool0", ("other/forearm_link", "other/upper_arm_link")}
    assert world.motors == {"other/elbow_joint": Motor(1.0, 2.0)}
    point, weld, law = world.closures
    assert (point.a, point.b, weld.b) == ("other/base_link", "other/tool0", "other/forearm_link")
    np.testing.assert_array_equal(point.X_b, pose((0, 0, 0.1)))
    assert (law.joint, law.of) == ("other/elbow_joint", "other/wrist_1_joint")
    assert "elbow_joint" in world.model.joint_names


def test_where_everything_starts():
    panda, walker = robosim.load_robot("panda"), robosim.load_robot("quadruped", base="floating")
    world = World(panda, q="ready")
    np.testing.assert_array_equal(world.start, panda.configuration("ready"))
    world.add(walker, "a", q="standing")
    world.add(walker, "b", q="standing", pose=pose((1, 2, 3), (0, 0, np.pi / 2)))
    world.add(panda, "c", q={"panda_joint4": -1.0}, pose=pose((0, 1, 0)))
    world.add(panda, "d", q=panda.configuration("up"))
    model, q, stands = world.model, world.start, walker.configuration("standing")
    np.testing.assert_array_equal(of_part(model, "a", walker, q, "position_names"), stands)
    b = of_part(model, "b", walker, q, "position_names")
    np.testing.assert_allclose(b[:7], [1, 2, 3, 0, 0, np.sqrt(0.5), np.sqrt(0.5)], atol=1e-15)
    np.testing.assert_array_equal(b[7:], stands[7:])
    assert q[model.position_names.index("c/panda_joint4")] == -1.0
    np.testing.assert_array_equal(
        of_part(model, "d", panda, q, "position_names"), panda.configuration("up")
    )
    np.testing.assert_array_equal(Simulation(world).state().q, q)
    for wrong, says in ((np.zeros(3), "q has shape"), ("redy", "no state 'redy'.*'ready'")):
        with pytest.raises(ModelError, match=says):
            world.add(panda, "e", q=wrong)


def test_a_world_of_one_robot_is_that_robot():
    arm = robosim.load_robot("ur5")
    world = World(arm)
    assert world.model is arm
    np.testing.assert_array_equal(world.start, arm.neutral())


def test_copies_grow_by_themselves():
    world = World(robosim.load_robot("ur5"), floor())
    other = world.copy()
    other.add_body("ball", Shape.sphere(0.1))
    other.scene.add_box("crate", (1, 1, 1), pose=pose((5, 0, 0)))
    assert (len(world.model.links), len(world.scene)) == (len(other.model.links) - 2, 1)
    simulation = Simulation(world)
    world.add_body("late", Shape.sphere(0.1))
    assert "late" not in simulation.model.link_names


def test_a_body_may_be_a_mesh():
    """A concave L: a box of (0.4, 0.2, 0.2) and one of (0.2, 0.2, 0.2) on its left end."""
    outline = [(0, 0), (0.4, 0), (0.4, 0.2), (0.2, 0.2), (0.2, 0.4), (0, 0.4)]
    n = len(outline)
    corners = [(x, y, z) for z in (0.0, 0.2) for x, y in outline]
    flat = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    faces = [(c, b, a) for a, b, c in flat] + [(a + n, b + n, c + n) for a, b, c in flat]
    for i in range(n):
        k = (i + 1) % n
        faces += [(i, k, k + n), (i, k + n, i + n)]
    world = World(scene=floor())
    world.add_body("corner", TriangleMesh(corners, faces), mass=3.0, pose=pose((0, 0, 1e-4)))
    (link,) = (link for link in world.model.links if link.name == "corner")
    np.testing.assert_allclose(
        link.com, [(2 * 0.2 + 0.1) / 3, (2 * 0.1 + 0.3) / 3, 0.1], rtol=1e-12
    )
    part = np.diag([2 * 0.2**2, 0.2**2 + 0.4**2, 0.2**2 + 0.4**2]) * 2 / 12
    cube = np.eye(3) * 2 * 0.2**2 / 12
    expected = sum(
        own + m * (d @ d * np.eye(3) - np.outer(d, d))
        for m, own, at in ((2.0, part, (0.2, 0.1, 0.1)), (1.0, cube, (0.1, 0.3, 0.1)))
        for d in (np.array(at) - link.com,)
    )
    np.testing.assert_allclose(link.inertia, expected, atol=1e-14)
    motion = Simulation(world).rollout(Simulation(world).state(), 500)
    assert abs(motion.q[-1, 2]) < 2e-4  # it lies flat


def test_what_does_not_fit_is_refused_and_changes_nothing():
    arm = robosim.load_robot("ur5")
    free = robosim.load_robot("quadruped", base="floating")
    heavy = arm.with_gravity([0, 0, -1.62])
    named_world = ModelBuilder("map")
    named_world.add_link("world")
    world = World(arm, floor())
    for call, kind, says in (
        (lambda: World("ur5"), SimulationError, "model"),
        (lambda: World(arm, "floor"), SimulationError, "scene"),
        (lambda: world.add("ur5", "a"), SimulationError, "model"),
        (lambda: world.add(arm, ""), SimulationError, "name of a part is ''"),
        (
            lambda: world.add(arm, "a", pose=np.eye(3)),
            SceneError,
            r"part 'a': the pose must be a 4x4 array",
        ),
        (
            lambda: world.add(arm, "a", on="tool1"),
            ModelError,
            "there is no link 'tool1'.*did you mean 'tool0'",
        ),
        (
            lambda: world.add(free, "a", on="tool0"),
            ModelError,
            "floating base, so that 'tool0' cannot carry it",
        ),
        (lambda: world.add(heavy, "a"), ModelError, r"part 'a' has gravity \[0.0, 0.0, -1.62\]"),
        (
            lambda: world.add(arm, "a", motors={"elbow": Motor()}),
            SimulationError,
            "'elbow'.*of part 'a'",
        ),
        (lambda: world.add_body("a", Shape.half_space()), RobosimError, "half_space"),
        (lambda: world.add_body("a", Shape.sphere(0.1), mass=-1), ModelError, "mass"),
        (lambda: World().model, SimulationError, "world 'world' has no part"),
        (lambda: Simulation(arm), SimulationError, "world"),
    ):
        with pytest.raises(kind, match=says):
            call()
    assert (len(world._parts), world.motors, world.materials, world.closures) == (1, {}, {}, [])
    world.add(arm, "a")
    with pytest.raises(SimulationError, match="there is a part 'a' already"):
        world.add(arm, "a")
    unnamed = World(named_world.build())
    with pytest.raises(ModelError, match="there is a link 'world' already"):
        unnamed.add(arm, "arm")


@pytest.mark.parametrize("shape", [
    Shape.sphere(0.2), Shape.box((0.1, 0.2, 0.3)), Shape.box((0.1, 0.2, 0.3), rounding=0.05),
    Shape.cylinder(0.1, 0.3), Shape.capsule(0.1, 0.3), Shape.ellipsoid((0.1, 0.2, 0.3)),
    Shape.cone(0.2, 0.4),
    Shape.convex([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.4]]),
], ids=lambda shape: shape.type)  # fmt: skip
def test_bodies_have_the_mass_properties_of_their_shapes(shape):
    """Compared with a point in each cell of a grid of 18 mm, and so accurate to about 1 %."""
    world = World()
    world.add_body("thing", shape, mass=2.0)
    (link,) = (link for link in world.model.links if link.name == "thing")
    assert link.mass == 2.0
    at = np.arange(50) * 0.018 - 0.45
    grid = np.stack(np.meshgrid(at, at, at, indexing="ij"), axis=-1).reshape(-1, 3)
    # Random shifts avoid that faces coincide with rows of the grid.
    grid += np.random.default_rng(3).uniform(0, 0.018, grid.shape)
    tiny, origin = Shape.sphere(1e-9), np.eye(4)
    inside = grid[[signed_distance(shape, origin, tiny, pose(p)).distance < 0 for p in grid]]
    com = inside.mean(axis=0)
    second = (inside - com).T @ (inside - com) / len(inside)
    inertia = 2.0 * (np.trace(second) * np.eye(3) - second)
    np.testing.assert_allclose(link.com, com, atol=3e-3)
    np.testing.assert_allclose(link.inertia, inertia, atol=0.02 * np.abs(inertia).max())
