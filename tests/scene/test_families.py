"""Bundled scene families: reproducible, free at both ends, solved, and for any arm."""

from __future__ import annotations

import numpy as np
import pytest

from robosim import _engine, load_robot
from robosim.errors import SceneError
from robosim.model import ModelBuilder
from robosim.scene import families, generate, load_scene

ROBOTS = ("ur5", "ur5_gripper", "ur5e", "panda")


@pytest.fixture(scope="module", params=ROBOTS)
def arm(request):
    return load_robot(request.param)


def ends(scene, model) -> tuple[np.ndarray, np.ndarray]:
    start, goal = scene.starts["start"], scene.goals["goal"]
    return tuple(
        np.array([state[name] for name in model.position_names]) for state in (start, goal)
    )


def solvable(scene, model) -> bool:
    """Return true if a search independent of the generator connects start and goal."""
    group = next(group for group in model.groups.values() if group.tip is not None)
    columns = [model.position_names.index(joint) for joint in group.joints]
    start, goal = ends(scene, model)
    lower = np.maximum(model.limits.lower[columns], np.minimum(start, goal)[columns] - np.pi / 2)
    upper = np.minimum(model.limits.upper[columns], np.maximum(start, goal)[columns] + np.pi / 2)
    found = _engine.rrt_connect(
        scene.compile(model),
        start,
        goal[None],
        columns,
        lower,
        upper,
        seed=7,
        max_iterations=300_000,
    )
    return found.status == "solved"


def assert_sound(scene, model) -> None:
    space = scene.compile(model)
    start, goal = ends(scene, model)
    for q in (start, goal):
        assert (model.limits.lower <= q).all()
        assert (q <= model.limits.upper).all()
        assert space.min_distance(q)[0] > 0.001
    assert np.abs(goal - start).max() > 0.1
    # The tool reaches the object that it is to grasp.
    tip = next(group.tip for group in model.groups.values() if group.tip is not None)
    target = scene.objects["target"].pose[:3, 3]
    assert np.linalg.norm(model.frame_pose(goal, tip)[:3, 3] - target) < 0.15
    assert np.linalg.norm(model.frame_pose(start, tip)[:3, 3] - target) > 0.15


@pytest.mark.parametrize("family", families())
def test_generated_scenes_are_sound_and_solvable(family, arm):
    scene = generate(family, 3, model=arm)
    assert (scene.name, scene.robot) == (family, arm.name)
    assert_sound(scene, arm)
    assert solvable(scene, arm)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("family", families())
def test_kept_instances_are_sound_and_solvable(family, robot):
    model = load_robot(robot)
    scene = load_scene(family, model=model)
    assert (scene.name, scene.robot) == (family, robot)
    assert_sound(scene, model)
    assert solvable(scene, model)


@pytest.mark.parametrize("family", families())
def test_same_seed_same_scene_and_another_seed_another(family, ur5):
    one, same, other = (
        generate(family, 1, model=ur5),
        generate(family, 1, model=ur5),
        generate(family, 2, model=ur5),
    )
    assert one.starts == same.starts
    assert one.goals == same.goals
    for a, b in zip(one, same, strict=True):
        assert a.name == b.name
        np.testing.assert_array_equal(a.pose, b.pose)
    assert not np.array_equal(one.objects["target"].pose, other.objects["target"].pose)


def test_things_stand_beside_each_other_not_in_each_other(ur5):
    """Targets, cans and clutter overlap nothing; boards and walls may share edges."""
    from itertools import combinations

    from robosim.geometry import signed_distance

    for family in families():
        for seed in range(3):
            scene = generate(family, seed, model=ur5)
            loose = [
                o for o in scene if o.name.startswith(("target", "can", "clutter", "start_can"))
            ]
            fixed = [o for o in scene if o not in loose]
            for a, b in [*combinations(loose, 2), *((a, b) for a in loose for b in fixed)]:
                distance = signed_distance(a.shapes[0], a.pose, b.shapes[0], b.pose).distance
                assert distance > 0, (family, seed, a.name, b.name)


def test_what_cannot_be_generated_is_said(ur5):
    with pytest.raises(SceneError, match=r"no scene family 'attic'.*bookshelf_small"):
        generate("attic", model=ur5)
    with pytest.raises(SceneError, match="seed=-1"):
        generate("box", -1, model=ur5)
    builder = ModelBuilder("stick")
    builder.add_link("a", mass=1, inertia=np.eye(3))
    builder.add_link("b", mass=1, inertia=np.eye(3))
    builder.add_joint("j", "revolute", "a", "b", lower=-1, upper=1)
    with pytest.raises(SceneError, match="'stick' has no group with a tip"):
        generate("box", model=builder.build())
