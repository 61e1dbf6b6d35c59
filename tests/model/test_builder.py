"""Models built by ModelBuilder from links and joints, and its refusals."""

import copy

import numpy as np
import pytest

from robosim import _engine
from robosim.errors import ModelError
from robosim.geometry import Shape, pose
from robosim.model import DisabledCollision, Model, ModelBuilder, Safety, Visual

BOX = np.diag([0.02, 0.03, 0.04])


def chain(n: int, **options) -> ModelBuilder:
    """Chain of links l0 .. ln, each 0.1 m above the last, with revolute joints j1 .. jn about y."""
    builder = ModelBuilder("chain", **options)
    builder.add_link("l0", mass=1, inertia=BOX)
    for i in range(1, n + 1):
        add_next(builder, i)
    return builder


def add_next(builder: ModelBuilder, i: int, **options) -> None:
    builder.add_link(f"l{i}", mass=1, com=(0, 0, 0.05), inertia=BOX)
    usual = {
        "kind": "revolute",
        "parent": f"l{i - 1}",
        "axis": (0, 1, 0),
        "X_PJ": pose((0, 0, 0.1)),
    }
    builder.add_joint(f"j{i}", child=f"l{i}", **usual | options)


def test_names_and_order_are_depth_first_in_the_order_of_joints():
    builder = ModelBuilder("tree")
    for name in ("leaf", "b", "root", "a", "tip"):  # the order of links does not matter
        builder.add_link(name, mass=1, inertia=BOX)
    builder.add_joint("to_b", "revolute", "root", "b")
    builder.add_joint("to_a", "prismatic", "root", "a")
    builder.add_joint("to_tip", "fixed", "a", "tip")
    builder.add_joint("to_leaf", "continuous", "b", "leaf")
    model = builder.build()
    assert model.joint_names == ("to_b", "to_leaf", "to_a")
    assert model.link_names == ("root", "b", "leaf", "a", "tip")
    assert model.root_link == "root"
    assert "tree" in repr(model)
    assert "n_q 3" in repr(model)


def test_coordinates_of_every_joint_kind():
    builder = chain(0, floating_base=True)
    for i, kind in enumerate(
        ("revolute", "planar", "continuous", "floating", "prismatic", "helical"), start=1
    ):
        add_next(builder, i, kind=kind, axis=(0, 0, 2), pitch=0.1 if kind == "helical" else None)
    model = builder.build()
    assert (model.n_q, model.n_v) == (7 + 1 + 3 + 1 + 7 + 1 + 1, 6 + 1 + 3 + 1 + 6 + 1 + 1)
    assert model.joint_names == ("floating_base", "j1", "j2", "j3", "j4", "j5", "j6")
    assert model.position_names[:8] == (
        *(f"floating_base/{k}" for k in ["x", "y", "z", "qx", "qy", "qz", "qw"]),
        "j1",
    )
    assert model.position_names[8:11] == ("j2/x", "j2/y", "j2/theta")
    assert model.velocity_names[7:11] == ("j2/vx", "j2/vy", "j2/omega", "j3")
    q = model.neutral()
    assert np.flatnonzero(q).tolist() == [6, 18]
    length, turn, quaternion = ["length"], ["periodic angle"], ["quaternion"]
    floating = 3 * length + 4 * quaternion
    assert list(model.position_kinds) == [
        *floating, *turn, *2 * length, *turn, *turn, *floating, *length, "angle",
    ]  # fmt: skip
    np.testing.assert_allclose(model.frame_pose(q, "l5")[:3, 3], (0, 0, 0.5), atol=1e-15)
    assert model.joints[0].axis.tolist() == [0, 0, 1]


def test_welded_links_are_one_body_with_the_same_dynamics():
    # Two welded links move exactly like one link with the summed inertia, which is computed here by
    # plain NumPy, too.
    rng = np.random.default_rng(0)
    X = pose((0.1, -0.2, 0.3), rpy=(0.4, -0.5, 0.6))
    com, inertia = np.array([0.05, 0.02, -0.04]), np.diag([0.01, 0.02, 0.025])
    welded = chain(2)
    welded.add_link("tool", mass=0.7, com=com, inertia=inertia)
    welded.add_joint("weld", "fixed", "l1", "tool", X_PJ=X)
    welded.add_link("frame")
    welded.add_joint("weld2", "fixed", "tool", "frame", X_PJ=X)

    one = ModelBuilder("one")
    one.add_link("l0", mass=1, inertia=BOX)
    own, tool = np.array([0, 0, 0.05]), X[:3, :3] @ com + X[:3, 3]
    mass, center = 1.7, (own + 0.7 * tool) / 1.7

    def shifted(m, r):
        return m * (r @ r * np.eye(3) - np.outer(r, r))

    total = (
        BOX
        + shifted(1, own - center)
        + X[:3, :3] @ inertia @ X[:3, :3].T
        + shifted(0.7, tool - center)
    )
    one.add_link("l1", mass=mass, com=center, inertia=(total + total.T) / 2)
    one.add_joint("j1", "revolute", "l0", "l1", X_PJ=pose((0, 0, 0.1)), axis=(0, 1, 0))
    add_next(one, 2)

    a, b = welded.build(), one.build()
    q, v, acceleration = rng.normal(size=(3, 2))
    np.testing.assert_allclose(
        a.inverse_dynamics(q, v, acceleration), b.inverse_dynamics(q, v, acceleration), atol=1e-13
    )
    np.testing.assert_allclose(a.frame_pose(q, "frame"), a.frame_pose(q, "l1") @ X @ X, atol=1e-15)
    assert a.total_mass == pytest.approx(3.7)


def test_limits_and_their_defaults():
    builder = chain(1)
    add_next(
        builder, 2, kind="prismatic", lower=-0.1, upper=0.2, velocity=1.5, effort=30, acceleration=7
    )
    add_next(
        builder, 3, safety=Safety(soft_lower=-1, soft_upper=1, k_velocity=10), lower=-2, upper=0.5
    )
    add_next(
        builder, 4, kind="planar", axis=(0, 0, 1), lower=(-1, -2, -np.inf), upper=(1, 2, np.inf)
    )
    limits = builder.build().limits
    assert limits.lower.tolist() == [-np.inf, -0.1, -1, -1, -2, -np.inf]
    assert limits.upper.tolist() == [np.inf, 0.2, 0.5, 1, 2, np.inf]
    assert limits.velocity.tolist() == [np.inf, 1.5, *[np.inf] * 4]
    assert limits.effort.tolist() == [np.inf, 30, *[np.inf] * 4]
    assert limits.acceleration.tolist() == [5, 7, 5, 2, 2, 5]
    assert (
        limits.acceleration_source
        == "robot description for j2; default 5 rad/s^2 and 2 m/s^2 for the others"
    )
    assert (
        chain(1).build().limits.acceleration_source
        == "default 5 rad/s^2 and 2 m/s^2 (none were given)"
    )
    with pytest.raises(ValueError, match="read-only"):
        limits.lower[0] = 0


def test_mimic_chains_resolve_to_their_source_and_bind_it():
    builder = chain(1)
    add_next(
        builder,
        2,
        mimic=("j3", -2.0, 0.1),
        lower=-1,
        upper=1,
        velocity=4,
        damping=0.5,
        armature=0.1,
        friction=3,
    )
    add_next(builder, 3, mimic=("j1", 0.5, 0.2))
    model = builder.build()
    assert model.joint_names == ("j1",)
    # q2 = -2 (0.5 q1 + 0.2) + 0.1 = -q1 - 0.3, so that -1 <= q2 <= 1 means -1.3 <= q1 <= 0.7.
    q1 = 0.37
    angle = q1 + (-q1 - 0.3) + (0.5 * q1 + 0.2)
    np.testing.assert_allclose(model.frame_pose([q1], "l3")[0, 0], np.cos(angle), atol=1e-15)
    assert model.limits.lower == pytest.approx([-1.3])
    assert model.limits.upper == pytest.approx([0.7])
    assert model.limits.velocity == pytest.approx([4])
    # |r| = 1: damping, friction and its width are unchanged. Beyond the width of 0.01 rad/s it is
    # Coulomb friction.
    assert model.joint_forces([0.3], [2.0]) == pytest.approx([-(0.5 * 2 + 3)], abs=3 * 0.01**2 / 8)
    assert model.armature == pytest.approx([0.1])


def test_a_screw_advances_by_its_pitch():
    builder = chain(0)
    add_next(builder, 1, kind="helical", axis=(0, 2, 0), pitch=-0.05, lower=-50, upper=50)
    add_next(builder, 2, kind="helical", axis=(1, 0, 0), pitch=0.2, mimic=("j1", 3.0, 0.1))
    model = builder.build()
    assert (model.joints[0].pitch, model.joints[1].pitch) == (-0.05, 0.2)
    q = 14.3
    X = pose((0, 0, 0.1), rpy=(0, q, 0)) @ pose((0, -0.05 * q, 0))
    np.testing.assert_allclose(model.frame_pose([q], "l1"), X, atol=1e-14)
    follower = 3 * q + 0.1
    X = X @ pose((0.2 * follower, 0, 0.1), rpy=(follower, 0, 0))
    np.testing.assert_allclose(model.frame_pose([q], "l2"), X, atol=1e-13)


def test_a_continuous_source_keeps_its_period_only_if_mimics_turn_whole_turns():
    for ratio, periodic in ((2.0, True), (0.5, False)):
        builder = chain(0)
        add_next(builder, 1, kind="continuous")
        add_next(builder, 2, mimic=("j1", ratio, 0.0))
        assert builder.build()._engine.joints[1].continuous is periodic
    builder = chain(0)
    add_next(builder, 1, kind="continuous")
    add_next(builder, 2, kind="helical", pitch=0.1, mimic=("j1", 2.0, 0.0))
    assert builder.build()._engine.joints[1].continuous is False


def test_fixed_root_called_world_is_the_world():
    builder = ModelBuilder("w")
    builder.add_link("world")
    builder.add_link("a", mass=1, inertia=BOX)
    builder.add_joint("j", "revolute", "world", "a")
    model = builder.build()
    assert model.link_names == ("world", "a")
    np.testing.assert_array_equal(model.frame_pose([0.3], "world"), np.eye(4))


def test_self_collision_pairs():
    builder = chain(4)
    ball = Shape.sphere(0.02)
    for link in ("l0", "l1", "l3", "l4"):  # l2 has none: l1 and l3 count as adjacent
        builder.add_collider(link, ball)
    builder.add_collider("l4", ball, name="second")
    builder.disable_collision("l4", "l0", "measured")
    model = builder.build()
    names = [collider.name for collider in model.colliders]
    assert names == ["l0/0", "l1/0", "l3/0", "l4/0", "l4/second"]
    assert [tuple(names[i] for i in pair) for pair in model.collision_pairs] == [
        ("l0/0", "l3/0"),
        ("l1/0", "l4/0"),
        ("l1/0", "l4/second"),
    ]
    disabled = {(d.link_a, d.link_b): d.reason for d in model.disabled_collisions}
    assert disabled == {
        ("l0", "l4"): "measured",
        ("l0", "l1"): "adjacent",
        ("l1", "l3"): "adjacent",
        ("l3", "l4"): "adjacent",
    }
    fewer = model.with_disabled_collisions([DisabledCollision("l4", "l1", "never")])
    assert len(fewer.collision_pairs) == 1
    assert fewer.disabled_collisions[-1] == DisabledCollision("l1", "l4", "never")
    assert len(builder.build(filter_adjacent=False).collision_pairs) == 7
    assert model.with_collision_pairs([(4, 0)]).collision_pairs.tolist() == [[0, 4]]
    assert model.with_collision_pairs([]).collision_pairs.shape == (0, 2)
    for pairs, message in (
        ([(0, 5)], r"\(0, 5\).*5 colliders"),
        ([(1, 1)], "5 colliders"),
        ([(0.0, 1.0)], "integers"),
    ):
        with pytest.raises(ModelError, match=message):
            model.with_collision_pairs(pairs)


def test_collider_poses_survive_merging():
    builder = chain(1)
    X, X_LC = pose((0.1, 0.2, 0.3), rpy=(1, 2, 3)), pose((0, 0, 0.4), rpy=(0.1, 0, 0))
    builder.add_link("tool")
    builder.add_joint("weld", "fixed", "l1", "tool", X_PJ=X)
    builder.add_collider("tool", Shape.box((1, 2, 3)), X_LC=X_LC)
    (collider,) = builder.build().colliders
    assert (collider.link, collider.name, collider.shape.type) == ("tool", "tool/0", "box")
    np.testing.assert_allclose(collider.X_LC, X_LC, atol=1e-15)


def test_groups_states_tools_and_visuals_are_kept():
    builder = chain(2)
    builder.add_group("arm", ["j1", "j2"], tip="l2")
    builder.add_named_state("arm", "home", {"j1": 0.5})
    builder.add_end_effector("hand", "l2", "arm")
    builder.add_visual("l1", Visual(shape=Shape.sphere(1)))
    builder.add_warning("look")
    builder.add_ignored("gazebo")
    model = builder.build()
    assert model.groups["arm"].joints == ("j1", "j2")
    assert model.named_states[0].positions == {"j1": 0.5}
    assert model.end_effectors["hand"].link == "l2"
    assert len(model.visuals["l1"]) == 1
    assert (model.warnings, model.ignored) == (("look",), ("gazebo",))
    for call in (
        lambda: builder.add_group("arm", []),
        lambda: builder.add_group("b", ["j9"]),
        lambda: builder.add_group("b", [], tip="l9"),
        lambda: builder.add_named_state("arm", "home", {}),
        lambda: builder.add_named_state("leg", "home", {}),
        lambda: builder.add_named_state("arm", "bad", {"j1": np.nan}),
        lambda: builder.add_end_effector("hand", "l2", "arm"),
        lambda: builder.add_visual("l1", Visual()),
        lambda: builder.add_visual("l9", Visual(shape=Shape.sphere(1))),
        lambda: builder.add_collider("l9", Shape.sphere(1)),
        lambda: builder.disable_collision("l1", "l9"),
    ):
        with pytest.raises(ModelError):
            call()


def test_models_are_immutable_and_copy_as_themselves():
    model = chain(2).build()
    assert copy.copy(model) is model
    assert copy.deepcopy(model) is model
    moved = model.with_gravity((0, 0, -1.62))
    q = [0.4, -0.3]
    np.testing.assert_allclose(moved.gravity(q), model.gravity(q) * 1.62 / 9.80665, rtol=1e-14)


@pytest.mark.parametrize(
    ("mass", "inertia", "message"),
    [
        (-1, BOX, "negative"),
        (np.nan, BOX, "finite"),
        (1, np.diag([1, 1, 2.1]), "exceeds the sum"),
        (1, np.diag([-1, 1, 1]), "negative one is impossible"),
        (1, [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], "not symmetric"),
        (1, np.eye(2), r"\(2, 2\)"),
        (1e200, np.eye(3) * 1e300, "usable size"),
        ("heavy", BOX, "real number"),
    ],
)
def test_impossible_inertias_are_refused(mass, inertia, message):
    builder = ModelBuilder("m")
    with pytest.raises(ModelError, match=f"link 'l'.*{message}"):
        builder.add_link("l", mass=mass, inertia=inertia)


def test_border_cases_of_inertia_are_accepted():
    builder = ModelBuilder("m")
    builder.add_link("rod", mass=1, inertia=np.diag([0.1, 0.1, 0]))
    builder.add_link("point", mass=1)
    builder.add_link("rotor, its mass counted elsewhere", inertia=BOX)
    builder.add_link("plate, rounded", mass=1, inertia=np.diag([0.1, 0.1, 0.2001]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "screw"}, "unknown joint kind 'screw'.*revolute"),
        ({"axis": (0, 0, 0)}, "axis .* no direction"),
        ({"axis": (0, 0, np.inf)}, "not finite"),
        ({"X_PJ": np.diag([1, 1, 2, 1])}, "orthonormal"),
        ({"X_PJ": np.diag([1, 1, -1, 1])}, "orthonormal"),
        ({"X_PJ": np.zeros((3, 3))}, r"\(3, 3\)"),
        ({"lower": 1, "upper": -1}, "leave no position"),
        ({"lower": (1, 2)}, "2 numbers"),
        ({"lower": np.nan}, "nan"),
        ({"velocity": -1}, "velocity limit is -1"),
        ({"effort": -1}, "effort limit is -1"),
        ({"acceleration": -1}, "acceleration limit is -1"),
        ({"damping": -0.1}, "damping is -0.1"),
        ({"friction": np.inf}, "not finite"),
        ({"armature": -1}, "armature"),
        ({"friction_width": 0}, "friction width is 0; it must be a number > 0"),
        ({"stiffness": -2}, "stiffness is -2"),
        ({"spring_reference": np.inf}, "spring reference is not finite"),
        (
            {"kind": "planar", "stiffness": 1},
            "a planar joint has no spring; continuous, revolute, prismatic",
        ),
        ({"kind": "fixed", "stiffness": 1}, "a fixed joint has no spring"),
        ({"rotor_inertia": -1}, "rotor inertia is -1"),
        ({"gear_ratio": np.nan}, "gear ratio is not finite"),
        ({"kind": "continuous", "lower": -1}, "continuous"),
        (
            {"kind": "planar", "mimic": ("j1", 1, 0)},
            "a planar joint cannot mimic another; continuous, revolute, prismatic, helical",
        ),
        ({"mimic": ("j1", np.inf, 0)}, "multiplier"),
        ({"kind": "helical"}, "joint 'j2': a helical joint needs a pitch"),
        ({"kind": "helical", "pitch": np.nan}, "joint 'j2': pitch is not finite"),
        ({"pitch": 0.1}, "joint 'j2': a revolute joint has no pitch"),
        ({"mimic": ("j1", 1)}, "source joint, multiplier, offset"),
        ({"parent": "l2"}, "both link 'l2'"),
    ],
)
def test_impossible_joints_are_refused_as_they_are_added(options, message):
    with pytest.raises(ModelError, match=f"(?s){message}"):
        add_next(chain(1), 2, **options)


def refused(builder: ModelBuilder, message: str, **options) -> None:
    with pytest.raises(ModelError, match=message):
        builder.build(**options)


def test_impossible_trees_are_refused():
    refused(ModelBuilder("empty"), "no links")
    two_roots = chain(1)
    two_roots.add_link("alone", mass=1, inertia=BOX)
    refused(two_roots, "2 root links, 'l0', 'alone'")
    two_parents = chain(2)
    two_parents.add_joint("loop", "revolute", "l0", "l2")
    refused(two_parents, "'l2' hangs from two joints, 'j2' and 'loop'")
    ring = ModelBuilder("ring")
    for name in "ab":
        ring.add_link(name, mass=1, inertia=BOX)
    ring.add_joint("ab", "revolute", "a", "b")
    ring.add_joint("ba", "revolute", "b", "a")
    refused(ring, "cycle")
    ring.add_link("root", mass=1, inertia=BOX)
    refused(ring, "cycle: links 'a', 'b'")
    missing = chain(1)
    missing.add_joint("to nowhere", "revolute", "l1", "gone")
    refused(missing, "'to nowhere': child: there is no link 'gone'")
    for add in (
        lambda: missing.add_link("l1"),
        lambda: missing.add_joint("j1", "fixed", "l0", "x"),
    ):
        with pytest.raises(ModelError, match="exists already"):
            add()


def test_impossible_mimics_are_refused():
    itself = chain(1)
    add_next(itself, 2, mimic=("j2", 1, 0))
    refused(itself, "'j2' mimics, through other joints, itself")
    ring = chain(1)
    add_next(ring, 2, mimic=("j3", 1, 0))
    add_next(ring, 3, mimic=("j2", 1, 0))
    refused(ring, "itself")
    nothing = chain(1)
    add_next(nothing, 2, mimic=("j9", 1, 0))
    refused(nothing, "'j9', which is not a joint")
    fixed = chain(0)
    add_next(fixed, 1, kind="fixed")
    add_next(fixed, 2, mimic=("j1", 1, 0))
    refused(fixed, "'j1', which is fixed and so has no position to copy")
    apart = chain(0)
    add_next(apart, 1, lower=0, upper=1)
    add_next(apart, 2, mimic=("j1", 1, 0), lower=2, upper=3)
    refused(apart, "no common position")


def test_joints_that_move_no_mass():
    builder = chain(1)
    builder.add_link("camera")
    builder.add_joint("pan", "revolute", "l1", "camera")
    refused(builder, "'pan' move no mass")
    model = builder.build(allow_massless=True)
    np.testing.assert_allclose(model.mass_matrix([0, 0])[1], 0, atol=0)
    with pytest.raises(ModelError, match="pan"):
        model.forward_dynamics([0, 0], [0, 0], [0, 0])
    # A massless body between two joints is accepted, and so is one with armature.
    between = chain(0)
    between.add_link("cross")
    between.add_joint("roll", "revolute", "l0", "cross", axis=(1, 0, 0))
    between.add_link("hand", mass=1, com=(0, 0, 0.1), inertia=BOX)
    between.add_joint("pitch", "revolute", "cross", "hand", axis=(0, 1, 0))
    between.add_link("wheel")
    between.add_joint("spin", "continuous", "hand", "wheel", armature=0.01)
    a = between.build().forward_dynamics([0.1, 0.2, 0], [1, 2, 3], [0.1, 0.2, 0.3])
    assert np.isfinite(a).all()


@pytest.mark.parametrize(
    "kind", ["revolute", "continuous", "helical", "prismatic", "planar", "floating"]
)
def test_moments_without_mass_resist_what_turns(kind):
    """Moments of a massless link are those of a body of vanishing mass.

    They suffice for a joint that only turns, and for no other joint.
    """
    pitch = {"pitch": 0.1} if kind == "helical" else {}
    builder = chain(1)
    builder.add_link("rotor", inertia=BOX)
    builder.add_link("cap", inertia=BOX)
    builder.add_joint("spin", kind, "l1", "rotor", **pitch)
    builder.add_joint("weld", "fixed", "rotor", "cap")
    model = builder.build(allow_massless=True)
    turns = kind in ("revolute", "continuous", "helical")
    assert list(model._engine.massless) == ([] if turns else [2])
    light = chain(1)
    for name in ("rotor", "cap"):
        light.add_link(name, mass=1e-9, inertia=BOX)
    light.add_joint("spin", kind, "l1", "rotor", **pitch)
    light.add_joint("weld", "fixed", "rotor", "cap")
    other = light.build()
    q = other.random_configuration(np.random.default_rng(0))
    # Contribution of 2 ug at the distances of this chain.
    np.testing.assert_allclose(model.mass_matrix(q), other.mass_matrix(q), atol=1e-7)
    if turns:
        assert np.isfinite(model.forward_dynamics(q, np.zeros(2), np.ones(2))).all()


def test_links_with_a_fault_have_kinematics_only():
    """Operations that use inertia raise with the link, its place and the reason; others work."""
    builder = chain(2)
    builder.add_link("bad", mass=1, inertia=np.diag([1, 1, 3]), fault="cannot be", place="r.urdf:7")
    builder.add_joint("k", "revolute", "l2", "bad")
    model = builder.build()
    assert model.dynamics_faults == ("r.urdf:7: link 'bad': cannot be",)
    q = model.neutral()
    assert np.isfinite(model.frame_pose(q, "bad")).all()
    data = model.data()
    refusals = 0
    for m in (model, data):
        for call in (
            m.mass_matrix,
            m.gravity,
            m.center_of_mass,
            m.potential_energy,
            m.centroidal_momentum_matrix,
        ):
            with pytest.raises(
                ModelError, match=r"no valid dynamics: r\.urdf:7: link 'bad': cannot be"
            ):
                call(q)
            refusals += 1
    assert refusals == 10
    # Operations of the whole registry that need no inertia. They move a frame or a configuration,
    # compute the joints' own forces, or use the regressor, whose columns multiply the inertia.
    rows = _engine.operations()
    free = {name for name, row in rows.items() if not row["uses_inertia"]}
    assert free == {name for name, row in rows.items() if row["takes_frames"]} | {
        "integrate", "difference", "joint_forces", "joint_force_derivatives",
        "inertial_regressor", "regressor_times", "regressor_transpose_times",
    }  # fmt: skip
    # A link welded to the world never moves, so that its inertia does not count.
    still = ModelBuilder("still")
    still.add_link("base", mass=1, inertia=np.diag([1, 1, 3]), fault="cannot be")
    still.add_link("arm", mass=1, inertia=BOX)
    still.add_joint("j", "revolute", "base", "arm")
    assert still.build().dynamics_faults == ()


def test_deep_trees_do_not_exhaust_the_stack():
    model = chain(10_000).build()
    assert model.n_q == 10_000
    assert model.link_names[-1] == "l10000"


def test_set_acceleration_limits():
    builder = chain(2)
    builder.set_acceleration_limits(3.0, "a test")
    model = builder.build()
    assert isinstance(model, Model)
    assert model.limits.acceleration.tolist() == [3, 3]
    assert model.limits.acceleration_source == "a test"
    builder.set_acceleration_limits({"j9": 1.0})
    refused(builder, "j9")


def test_products_that_overflow_are_refused_by_the_joint_that_makes_them():
    """Chained multipliers of mimic joints, distances times masses, friction over its width."""

    def followers(multiplier: float) -> ModelBuilder:
        builder = chain(1)
        for i in (2, 3, 4):
            add_next(builder, i, mimic=(f"j{i - 1}", multiplier, 0.0))
        return builder

    assert np.isfinite(followers(1e40).build().mass_matrix([0.0])).all()
    with pytest.raises(ModelError, match="'j4' moves more than numbers can hold"):
        followers(1e60).build()
    far = chain(1)
    add_next(far, 2, X_PJ=pose((1e153, 0, 0)))
    with pytest.raises(ModelError, match="'j2' moves more than numbers can hold"):
        far.build()
    model = chain(2).build()
    for change in (
        lambda: model.with_friction({"j2": 1e308}),
        lambda: model.with_friction(1.0, width={"j2": 1e-200}),
        lambda: model.with_armature({"j2": 1e308}),
        lambda: model.with_damping({"j2": 1e308}),
        lambda: model.with_stiffness({"j2": 1e200}, reference={"j2": 1e200}),
    ):
        with pytest.raises(ModelError, match=r"'j2'.* more than numbers can hold"):
            change()
