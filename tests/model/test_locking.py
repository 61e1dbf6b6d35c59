"""Models with locked joints: the same mechanism with some joints fixed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from robosim import load_robot
from robosim.errors import ModelError
from robosim.model import Model, ModelBuilder
from robosim.urdf import bundled_robots
from robosim.world import World

from .mechanisms import branched_robot

ROBOTS = [*bundled_robots(), "branched", "flying"]


def robot(name: str) -> Model:
    if name in ("branched", "flying"):
        return branched_robot(floating=name == "flying")
    return load_robot(name)


def some_joints(model: Model, rng: np.random.Generator) -> list[str]:
    return [name for name in model.joint_names if rng.random() < 0.5]


def rows(whole: Model, locked: Model) -> tuple[list[int], list[int]]:
    """Indices of the remaining entries of q and v."""
    return (
        [whole.position_names.index(name) for name in locked.position_names],
        [whole.velocity_names.index(name) for name in locked.velocity_names],
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ROBOTS)
def test_what_is_left_moves_as_before(name, seed):
    """Poses, inertia, forces and energy equal the whole model's with locked joints at rest."""
    rng = np.random.default_rng([seed, *name.encode()])
    whole = robot(name)
    q = whole.random_configuration(rng)
    names = some_joints(whole, rng)
    locked = whole.with_locked_joints(names, q)
    assert set(locked.joint_names) == set(whole.joint_names) - set(names)

    in_q, in_v = rows(whole, locked)
    for link in whole.link_names:
        assert np.allclose(locked.frame_pose(q[in_q], link), whole.frame_pose(q, link), atol=1e-12)
    v, a = np.zeros(whole.n_v), np.zeros(whole.n_v)
    v[in_v], a[in_v] = rng.normal(size=(2, len(in_v)))
    inertia = whole.mass_matrix(q)[np.ix_(in_v, in_v)]
    tau = whole.inverse_dynamics(q, v, a, joint_forces=True)[in_v]
    # Rounding of sums over links in another order, relative to the largest term.
    assert np.allclose(
        locked.mass_matrix(q[in_q]), inertia, atol=1e-12 * (1 + np.abs(inertia).max(initial=0))
    )
    assert np.allclose(
        locked.inverse_dynamics(q[in_q], v[in_v], a[in_v], joint_forces=True),
        tau,
        atol=1e-11 * (1 + np.abs(tau).max(initial=0)),
    )
    energy = whole.potential_energy(q)
    assert locked.potential_energy(q[in_q]) == pytest.approx(energy, rel=1e-12, abs=1e-9)
    for limit in ("lower", "upper", "velocity", "acceleration", "effort"):
        entries = in_q if limit in ("lower", "upper") else in_v
        assert np.array_equal(getattr(locked.limits, limit), getattr(whole.limits, limit)[entries])


@pytest.mark.parametrize("name", ROBOTS)
def test_names_pairs_and_groups_are_kept(name):
    whole = robot(name)
    rng = np.random.default_rng(1)
    names = some_joints(whole, rng)
    locked = whole.with_locked_joints(names)
    new = set(locked.link_names) - set(whole.link_names)
    assert new <= {"world", "world_2"}
    assert list(locked.link_names) == [*new, *whole.link_names]
    assert list(locked.groups) == list(whole.groups)
    assert list(locked.end_effectors) == list(whole.end_effectors)
    for state in locked.named_states:  # valid positions of the remaining joints
        assert not set(state.positions) & set(names)
        locked.configuration(f"{state.group}/{state.name}")

    def pairs(model: Model) -> set[frozenset[str]]:
        own = model.colliders
        return {frozenset((own[a].name, own[b].name)) for a, b in model.collision_pairs}

    def body(link: str) -> int:
        return next(frame.body for frame in locked._engine.frames if frame.name == link)

    link_of = {collider.name: collider.link for collider in whole.colliders}
    assert pairs(locked) == {
        pair for pair in pairs(whole) if len({body(link_of[collider]) for collider in pair}) == 2
    }


@pytest.mark.parametrize("name", ROBOTS)
def test_all_joints_may_be_locked_and_none(name):
    whole = robot(name)
    statue = whole.with_locked_joints(whole.joint_names)
    assert (statue.n_q, statue.n_v) == (0, 0)
    for link in whole.link_names:
        assert np.allclose(
            statue.frame_pose([], link), whole.frame_pose(whole.neutral(), link), atol=1e-13
        )
    same = whole.with_locked_joints([])
    assert same.position_names == whole.position_names
    q = whole.random_configuration(np.random.default_rng(2))
    assert np.array_equal(same.mass_matrix(q), whole.mass_matrix(q))


def test_followers_are_locked_with_what_they_follow():
    whole = branched_robot()
    locked = whole.with_locked_joints(["j1"], {"j1": 0.4})
    kinds = {joint.name: joint.kind for joint in locked.joints}
    assert (kinds["j1"], kinds["j5"]) == ("fixed", "fixed")
    assert kinds["j2"] == "planar"
    q = whole.configuration({"j1": 0.4})
    for link in ("l1", "l5"):
        expected = whole.frame_pose(q, link)
        assert np.allclose(locked.frame_pose(locked.neutral(), link), expected, atol=1e-14)


def test_locked_models_are_pickled_saved_and_locked_again(tmp_path):
    arm = load_robot("ur5").with_locked_joints(["elbow_joint"], {"elbow_joint": 1.2})
    q = arm.random_configuration(np.random.default_rng(3))
    assert np.array_equal(pickle.loads(pickle.dumps(arm)).mass_matrix(q), arm.mass_matrix(q))
    World(arm).save(tmp_path / "world.yaml")
    assert np.array_equal(
        World.load(tmp_path / "world.yaml").model.mass_matrix(q), arm.mass_matrix(q)
    )
    again = arm.with_locked_joints(["shoulder_pan_joint"], q)
    assert again.joint_names == arm.joint_names[1:]
    assert np.allclose(again.frame_pose(q[1:], "tool0"), arm.frame_pose(q, "tool0"), atol=1e-14)


def test_a_state_by_name_is_where_joints_are_locked():
    whole = load_robot("ur5")
    state = whole.named_states[0]
    locked = whole.with_locked_joints(["elbow_joint"], f"{state.group}/{state.name}")
    q = whole.configuration(state.positions)
    left = np.delete(q, whole.joint_names.index("elbow_joint"))
    assert np.allclose(locked.frame_pose(left, "tool0"), whole.frame_pose(q, "tool0"), atol=1e-14)


def test_a_link_that_is_called_world_keeps_its_name():
    builder = ModelBuilder("drone", floating_base=True)
    builder.add_link("world", mass=1.0, inertia=np.eye(3))
    drone = builder.build()
    q = drone.random_configuration(np.random.default_rng(4))
    locked = drone.with_locked_joints(drone.joint_names, q)
    assert locked.link_names == ("world_2", "world")
    assert np.allclose(locked.frame_pose([], "world"), drone.frame_pose(q, "world"), atol=1e-15)


@pytest.mark.parametrize(
    ("joints", "at", "message"),
    [
        (["j11"], None, "has no joint 'j11' that moves"),
        ("j1", None, "joints to lock are 'j1'; a list of names is needed"),
        (["j5"], None, "joint 'j5' follows 'j1'; lock 'j1' instead"),
        (["j1"], {"j1": np.nan}, "'j1' is nan; it must be finite"),
        (["j1"], [0.0], r"rest has shape \(1,\); expected"),
        (["j1"], "folded", "has no state 'folded'"),
    ],
)
def test_what_cannot_be_locked_is_refused(joints, at, message):
    with pytest.raises(ModelError, match=message):
        branched_robot().with_locked_joints(joints, at)
