"""Parts from scenes: standing and attached objects, half-spaces, meshes and clouds."""

import numpy as np

from robosim.geometry import pose
from robosim.scene import Scene
from robosim.viewer.content import scene_parts
from robosim.viewer.meshing import is_solid, shape_mesh
from robosim.viewer.stage import Stage, transform


def test_objects_keep_their_pose_and_color():
    scene = Scene("s")
    X = pose((1, 2, 3), rpy=(0.1, 0.2, 0.3))
    scene.add_box("crate", (0.2, 0.4, 0.6), pose=X, color=(0.1, 0.2, 0.3, 0.4))
    (part,) = scene_parts(scene)
    assert (part.name, part.link, part.bounded) == ("crate", None, True)
    assert np.allclose(part.rgba, (0.1, 0.2, 0.3, 0.4))
    expected = transform(X, shape_mesh(scene.objects["crate"].shapes[0])[0])
    assert np.allclose(transform(part.X, part.vertices), expected)


def test_a_held_object_moves_with_its_link(arm, swing):
    scene = Scene("s")
    scene.add_sphere("ball", 0.05)
    scene.attach("ball", "tip", pose=pose((0, 0, 0.2)))
    stage = Stage(arm, scene, swing)
    assert stage.world == []
    (ball,) = (p for p in stage.robot if p.name == "ball")
    X_WL = stage.link_poses(stage.configuration(1.3))
    assert np.allclose(ball.pose(X_WL), X_WL["tip"] @ pose((0, 0, 0.2)))


def test_level_half_spaces_are_the_ground_and_others_are_not(arm):
    scene = Scene("s")
    assert Stage(arm, scene).ground() == 0.0
    scene.add_half_space("cellar", pose=pose((0, 0, -2)))
    scene.add_half_space("floor", pose=pose((0, 0, -0.4)))
    scene.add_half_space("wall", pose=pose((1, 0, 0), rpy=(0, -np.pi / 2, 0)))
    scene.add_box("far", (0.1, 0.1, 0.1), pose=pose((0, 0, -5)))
    stage = Stage(arm, scene)
    assert stage.ground() == -0.4
    assert [p.name for p in stage.world] == ["wall", "far"]
    # An infinite wall does not affect the extent of the picture.
    assert stage.bounds()[:, 0].max() < 2
    scene.remove("cellar")
    scene.remove("floor")
    assert np.isclose(Stage(arm, scene).ground(), -5.05)


def test_clouds_and_meshes_are_shown_as_they_were_given():
    scene = Scene("s")
    points = np.random.default_rng(0).normal(size=(50, 3))
    scene.add_points("cloud", points, 0.01)
    cube = shape_mesh(scene_box())
    scene.add_mesh("cube", cube)
    cloud, mesh = scene_parts(scene)
    assert np.array_equal(cloud.vertices, points)
    assert cloud.radius == 0.01
    assert len(cloud.faces) == 0
    assert np.allclose(cloud.box(), (points.min(axis=0) - 0.01, points.max(axis=0) + 0.01))
    assert is_solid(mesh.vertices, mesh.faces)
    assert np.allclose(np.ptp(mesh.vertices, axis=0), (0.2, 0.2, 0.2))


def test_a_cloud_without_points_is_nothing_to_see(arm):
    scene = Scene("s")
    scene.add_points("cloud", np.empty((0, 3)), 0.01)
    assert scene_parts(scene) == []
    assert np.isfinite(Stage(arm, scene).bounds()).all()


def scene_box():
    from robosim.geometry import Shape

    return Shape.box((0.2, 0.2, 0.2))
