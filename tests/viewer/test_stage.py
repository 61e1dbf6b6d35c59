"""From models and mesh files to coloured parts."""

import numpy as np

from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder, Visual
from robosim.model.tips import tip_links
from robosim.viewer.content import robot_parts
from robosim.viewer.stage import Stage


def test_configurations_follow_names_not_positions(arm, swing):
    backwards = swing.reorder(["joint1", "joint0"])
    for t in (0.0, 0.7, 2.0):
        assert np.allclose(Stage(arm, None, backwards).configuration(t), swing.position(t))


def test_what_the_motion_leaves_alone_stays_at_rest(arm, swing):
    from robosim.trajectory import Trajectory

    one = Trajectory.from_waypoints([0, 1], [[0.0], [1.0]], position_names=["joint1"])
    assert np.allclose(Stage(arm, None, one, q=[0.3, -0.2]).configuration(1.0), [0.3, 1.0])


def test_what_a_plan_notes_of_the_other_joints(arm):
    from robosim.trajectory import Trajectory

    def rest_of(noted):
        motion = Trajectory.from_waypoints(
            [0, 1], [[0.0], [1.0]], position_names=["joint1"], metadata={"positions_at_rest": noted}
        )
        return Stage(arm, None, motion, q=[0.3, 0.0]).configuration(0.0)[0]

    assert rest_of({"joint0": -0.7}) == -0.7
    # A file may hold anything there.
    for noted in (None, [1], {"joint0": "x"}, {"knee": 1.0}, {"joint0": [1.0]}):
        assert rest_of(noted) == 0.3


def test_tip_path(arm, swing):
    stage = Stage(arm, None, swing)
    assert stage.tips == ["tip"]
    (path,) = stage.tip_paths(50)
    assert np.allclose(path[-1], arm.frame_pose([1.0, 0.0], "tip")[:3, 3])
    assert Stage(arm).tip_paths() == []


def test_tips_without_groups():
    builder = ModelBuilder("bare")
    builder.add_link("a")
    builder.add_link("b", mass=1.0, inertia=np.eye(3))
    builder.add_joint("j", "continuous", "a", "b")
    assert tip_links(builder.build()) == ["b"]


def test_links_without_visuals_show_their_colliders():
    builder = ModelBuilder("mixed")
    for name in ("a", "b"):
        builder.add_link(name, mass=1.0, inertia=np.eye(3))
        builder.add_collider(name, Shape.sphere(0.1))
    builder.add_joint("j", "revolute", "a", "b", X_PJ=pose((1, 0, 0)), lower=-1, upper=1)
    builder.add_visual("a", Visual(shape=Shape.box((1, 2, 3)), rgba=(1, 0, 0, 1)))
    parts = robot_parts(builder.build())
    assert [(p.link, len(p.vertices) == 8) for p in parts] == [("a", True), ("b", False)]


def test_bounds_hold_the_whole_motion(arm, swing):
    stage = Stage(arm, None, swing)
    bounds = stage.bounds()
    for t in np.linspace(0, 2, 7):
        X = arm.link_poses(stage.configuration(t))
        assert np.all(bounds.min(axis=0) <= X["tip"][:3, 3])
        assert np.all(bounds.max(axis=0) >= X["tip"][:3, 3])


def write_obj(path):
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")


def model_with_mesh(path, **visual):
    builder = ModelBuilder("mesh")
    builder.add_link("a")
    builder.add_visual("a", Visual(mesh=path, **visual))
    return builder.build()


def test_mesh_files_are_scaled_and_stay_right_side_out(tmp_path):
    write_obj(tmp_path / "t.obj")
    for scale in ((2.0, 1.0, 1.0), (-2.0, 1.0, 1.0)):
        (part,) = robot_parts(model_with_mesh(tmp_path / "t.obj", scale=scale))
        a, b, c = (part.vertices[part.faces[:, k]] for k in range(3))
        assert np.isclose(np.einsum("ij,ij->", a, np.cross(b, c)) / 6, 2 / 6)


def test_colours_of_a_mesh_file(tmp_path):
    import trimesh

    scene = trimesh.Scene()
    for k, colour in enumerate([(255, 0, 0, 255), (0, 0, 255, 255)]):
        thing = trimesh.creation.box(extents=(1, 1, 1 + k))
        thing.visual = trimesh.visual.TextureVisuals(
            material=trimesh.visual.material.PBRMaterial(baseColorFactor=colour)
        )
        scene.add_geometry(thing, transform=trimesh.transformations.translation_matrix([2 * k, 0, 0]))
    path = tmp_path / "two.glb"
    path.write_bytes(scene.export(file_type="glb"))
    parts = {tuple(np.round(p.rgba, 2)): p for p in robot_parts(model_with_mesh(path))}
    assert set(parts) == {(1, 0, 0, 1), (0, 0, 1, 1)}
    red = parts[1, 0, 0, 1]
    assert len(red.faces) == 12
    # The description's own colour goes before the file's.
    painted = robot_parts(model_with_mesh(path, rgba=(0.2, 0.3, 0.4, 1.0)))
    assert {p.rgba for p in painted} == {(0.2, 0.3, 0.4, 1.0)}
