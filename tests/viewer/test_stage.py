"""Colored parts from models and mesh files."""

import numpy as np
import pytest

from robosim.errors import RobosimError, SceneError
from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder, Visual
from robosim.model.tips import tip_links
from robosim.scene import Scene
from robosim.trajectory import Event
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
    # A file may have any value there.
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


def test_colors_of_a_mesh_file(tmp_path):
    import trimesh

    scene = trimesh.Scene()
    for k, color in enumerate([(255, 0, 0, 255), (0, 0, 255, 255)]):
        thing = trimesh.creation.box(extents=(1, 1, 1 + k))
        thing.visual = trimesh.visual.TextureVisuals(
            material=trimesh.visual.material.PBRMaterial(baseColorFactor=color)
        )
        scene.add_geometry(
            thing, transform=trimesh.transformations.translation_matrix([2 * k, 0, 0])
        )
    path = tmp_path / "two.glb"
    path.write_bytes(scene.export(file_type="glb"))
    parts = {tuple(np.round(p.rgba, 2)): p for p in robot_parts(model_with_mesh(path))}
    assert set(parts) == {(1, 0, 0, 1), (0, 0, 1, 1)}
    red = parts[1, 0, 0, 1]
    assert len(red.faces) == 12
    # The description's own color takes precedence over the file's.
    painted = robot_parts(model_with_mesh(path, rgba=(0.2, 0.3, 0.4, 1.0)))
    assert {p.rgba for p in painted} == {(0.2, 0.3, 0.4, 1.0)}


def test_one_motion_after_the_other(arm, swing):
    from robosim.trajectory import Trajectory

    one = Trajectory.from_waypoints([0, 1.5], [[0.0], [1.0]], position_names=["joint1"])
    stage = Stage(arm, None, [swing, one, swing.reverse()])
    assert stage.duration == 5.5
    for t in (0.0, 0.7, 1.999):
        assert np.allclose(stage.configuration(t), swing.position(t))
    # Joints that the second motion does not move stay where the first has left them.
    assert np.allclose(stage.configuration(2.75), [1.0, one.position(0.75)[0]])
    assert np.allclose(stage.configuration(99), swing.position(0))
    assert Stage(arm, None, []).duration == 0.0
    for wrong in (3, ["swing"]):
        with pytest.raises(RobosimError, match="a motion is a Trajectory"):
            Stage(arm, None, wrong)


def picked(swing):
    """A ball in the world, attached at 0.8 s, put down at 1.5 s."""
    scene = Scene("s")
    scene.add_sphere("ball", 0.05, pose((0.3, 0, 0.9)), color=(1, 1, 0, 1))
    scene.add_box("table", (0.1, 0.1, 0.1), pose((2, 0, 0)))
    return scene, swing.replace(
        events=[Event(0.8, "attach", "ball", "tip"), Event(1.5, "detach", "ball")]
    )


def test_an_object_is_carried_from_attach_to_detach(arm, swing):
    scene, motion = picked(swing)
    stage = Stage(arm, scene, motion)
    assert [p.name for p in stage.carried] == ["ball"]
    assert [p.name for p in stage.world] == ["table"]
    X_start = pose((0.3, 0, 0.9))

    def tip(t):
        return arm.frame_pose(swing.position(t), "tip")

    held = np.linalg.inv(tip(0.8)) @ X_start
    assert len(stage.bounds()) > 0
    for t in np.linspace(0, 2, 41):
        expected = X_start if t < 0.8 else tip(min(t, 1.5)) @ held
        assert np.allclose(stage.object_pose("ball", t), expected, rtol=0, atol=1e-12), t
        X_WL = arm.link_poses(swing.position(t))
        assert np.allclose(stage.part_pose(stage.carried[0], t, X_WL), expected, rtol=0, atol=1e-12)
    # The given scene is not modified.
    assert scene.attachments == {}
    assert np.array_equal(scene.objects["ball"].pose, X_start)


def test_an_object_that_is_held_from_the_start_is_let_go_and_handed_over(arm, swing):
    scene, _ = picked(swing)
    scene.attach("ball", "tip", pose=pose((0, 0, 0.2)))
    events = [Event(0.5, "attach", "ball", "link0"), Event(1.0, "detach", "ball")]
    later = swing.reverse().replace(events=[Event(0.0, "attach", "ball", "tip")])
    stage = Stage(arm, scene, [swing.replace(events=events), later])

    def link(name, t):
        return arm.frame_pose(stage.configuration(t), name)

    over = np.linalg.inv(link("link0", 0.5)) @ link("tip", 0.5) @ pose((0, 0, 0.2))
    down = link("link0", 1.0) @ over
    again = np.linalg.inv(link("tip", 2.0)) @ down
    for t in np.linspace(0, 4, 41):
        expected = (
            link("tip", t) @ pose((0, 0, 0.2))
            if t < 0.5
            else link("link0", t) @ over
            if t < 1
            else down
            if t < 2
            else link("tip", t) @ again
        )
        assert np.allclose(stage.object_pose("ball", t), expected, rtol=0, atol=1e-12), t


def test_events_that_cannot_be_are_named(arm, swing):
    scene, _ = picked(swing)
    for event, says in (
        (Event(1.0, "attach", "bal", "tip"), "did you mean 'ball'"),
        (Event(1.0, "attach", "ball", "tipp"), "did you mean 'tip'"),
        (Event(1.0, "detach", "ball"), "nothing carries it"),
    ):
        with pytest.raises(SceneError, match=says):
            Stage(arm, scene, swing.replace(events=[event]))
    with pytest.raises(SceneError, match="no such object"):
        Stage(arm, None, swing.replace(events=[Event(1.0, "detach", "ball")]))


def test_the_browser_moves_what_is_carried(arm, swing):
    pytest.importorskip("viser", reason="the extra `view` is not installed")
    from robosim import viewer

    scene, motion = picked(swing)
    shown = viewer.show(arm, scene, motion, port=0, block=False)
    try:
        for t in (0.0, 0.7, 1.1, 1.4, 1.6, 2.0):
            shown._show(t)
            assert np.allclose(
                shown.scene.objects["ball"].position,
                shown.stage.object_pose("ball", t)[:3, 3],
                atol=1e-6,
            )
    finally:
        shown.stop()
