"""MoveIt's planning scenes, scene texts and requests, with values computed by hand.

The 70 problems of ur5_mbm are read if they are installed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robosim import load_robot
from robosim.errors import SceneError
from robosim.geometry import Shape, pose, signed_distance
from robosim.scene import MeshSource, Scene, read_moveit_request, read_moveit_scene

DATA = Path(__file__).parents[3] / "shared" / "data" / "ur5_mbm"
TURN = np.sqrt(0.5)

SCENE = """
name: kitchen
robot_model_name: ur5
robot_state:
  joint_state:
    name: [shoulder_pan_joint, elbow_joint]
    position: [0.5, -0.25]
  attached_collision_objects:
    - link_name: tool0
      touch_links: [wrist_3_link]
      object:
        id: held
        header: {frame_id: tool0}
        pose: {position: [0, 0, 0.1]}
        primitives: [{type: sphere, dimensions: [0.02]}]
fixed_frame_transforms:
  - child_frame_id: table
    transform: {translation: [1, 0, 0.5], rotation: [0, 0, 0.7071067811865476, 0.7071067811865476]}
link_padding: [{link_name: forearm_link, padding: 0}]
object_colors: [{id: can, color: {r: 1, g: 0.5, b: 0, a: 1}}]
allowed_collision_matrix:
  entry_names: [can, box, tool0, wrist_3_link]
  entry_values:
    - [false, true, true, false]
    - [true, false, false, false]
    - [true, false, false, true]
    - [false, false, true, false]
  default_entry_names: [floor, forearm_link]
  default_entry_values: [true, true]
world:
  octomap: {header: {frame_id: world}, octomap: {data: []}}
  collision_objects:
    - id: can
      header: {frame_id: table}
      pose: {position: {x: 0.1, y: 0.2, z: 0.3}, orientation: {x: 0, y: 0, z: 0, w: 1}}
      primitives: [{type: cylinder, dimensions: [0.4, 0.05]}]
      primitive_poses: [{position: [0, 0, 0.2], orientation: [0, 0, 0, 1]}]
    - id: box
      primitives: [{type: 1, dimensions: [0.1, 0.2, 0.3]}]
      primitive_poses:
        - {position: [1, 2, 3], orientation: [0.7071067811865476, 0, 0, 0.7071067811865476]}
    - id: floor
      planes: [{coef: [0, 0, 2, 1]}]
    - id: heap
      operation: 0
      primitives: [{type: cone, dimensions: [0.4, 0.1]}, {type: SPHERE, dimensions: [0.3]}]
      primitive_poses: [{}, {position: [0, 0, 1]}]
    - id: wedge
      meshes:
        - vertices: [{x: 0, y: 0, z: 0}, [1, 0, 0], [0, 1, 0], [0, 0, 1]]
          triangles: [{vertex_indices: [0, 2, 1]}, [0, 1, 3], [0, 3, 2], [1, 2, 3]]
      mesh_poses: [{position: [5, 0, 0]}]
"""


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    path = tmp_path / "kitchen.yaml"
    path.write_text(SCENE)
    return path


def test_planning_scene_by_hand(kitchen: Path):
    scene = read_moveit_scene(kitchen)
    assert scene.name == "kitchen"
    assert list(scene.objects) == ["can", "box", "floor", "heap", "wedge", "held"]

    # A cylinder is [height, radius]; frame, object and primitive poses compose.
    can = scene.objects["can"]
    assert (can.shapes[0].radius, can.shapes[0].length) == (0.05, 0.4)
    X = pose((1, 0, 0.5), quaternion=(0, 0, TURN, TURN)) @ pose((0.1, 0.2, 0.3)) @ pose((0, 0, 0.2))
    np.testing.assert_allclose(can.pose @ can.shape_poses[0], X, rtol=0, atol=1e-15)
    assert can.color == (1, 0.5, 0, 1)

    # Quaternions are x y z w: a quarter turn about x maps y to z.
    box = scene.objects["box"]
    np.testing.assert_array_equal(box.shapes[0].size, (0.1, 0.2, 0.3))
    np.testing.assert_allclose((box.pose @ [0, 1, 0, 1])[:3], [1, 2, 4], rtol=0, atol=1e-15)

    # 2 z + 1 = 0: solid below z = -1/2.
    floor = scene.objects["floor"]
    for z, distance in ((0.0, 0.4), (-1.0, -0.6)):
        found = signed_distance(
            Shape.sphere(0.1), pose((3, 4, z)), floor.shapes[0], floor.pose @ floor.shape_poses[0]
        )
        assert found.distance == pytest.approx(distance, abs=1e-12)

    heap = scene.objects["heap"]
    assert [shape.type for shape in heap.shapes] == ["cone", "sphere"]
    assert (heap.shapes[0].radius, heap.shapes[0].length) == (0.1, 0.4)
    assert isinstance(scene.objects["wedge"].source, MeshSource)
    np.testing.assert_allclose(scene.objects["wedge"].pose[:3, 3], (5, 0, 0))

    assert scene.attachments["held"].link == "tool0"
    assert scene.attachments["held"].touch_links == ("wrist_3_link",)
    np.testing.assert_allclose(scene.objects["held"].pose, pose((0, 0, 0.1)))
    assert scene.starts["robot_state"] == {"shoulder_pan_joint": 0.5, "elbow_joint": -0.25}
    # Pairs of two links belong to the SRDF, unless the robot's model is given.
    assert scene.allowed == {("box", "can"), ("can", "tool0"), ("can", "wrist_3_link")} - {
        ("can", "wrist_3_link")
    } | {("*", "floor")}


def test_a_model_places_what_the_file_leaves_to_it(kitchen: Path, ur5):
    scene = read_moveit_scene(kitchen, model=ur5)
    assert ("tool0", "wrist_3_link") in scene.allowed
    scene.compile(ur5)
    text = SCENE
    for frame in ("tool0", "table"):
        text = text.replace(f"header: {{frame_id: {frame}}}", "header: {frame_id: base}")
    kitchen.write_text(text)
    with pytest.raises(SceneError, match="the frame 'base' is not known"):
        read_moveit_scene(kitchen)
    scene = read_moveit_scene(kitchen, model=ur5)
    X = ur5.frame_pose(np.zeros(6), "base") @ pose((0.1, 0.2, 0.5))
    np.testing.assert_allclose(scene.objects["can"].pose, X, rtol=0, atol=1e-12)
    # The pose of an attached object is given at the file's robot state.
    q = np.array([0.5, 0, -0.25, 0, 0, 0])
    X = np.linalg.inv(ur5.frame_pose(q, "tool0")) @ ur5.frame_pose(q, "base") @ pose((0, 0, 0.1))
    np.testing.assert_allclose(scene.objects["held"].pose, X, rtol=0, atol=1e-12)
    again = read_moveit_scene(kitchen, model=ur5, frames={"base": pose((7, 0, 0))})
    np.testing.assert_allclose(again.objects["can"].pose, pose((7.1, 0.2, 0.5)), rtol=0, atol=1e-12)


@pytest.mark.parametrize("newer", [False, True])
def test_scene_text(tmp_path: Path, newer):
    object_pose = "1 0 0\n0 0 0.7071067811865476 0.7071067811865476\n" if newer else ""
    subframes = "1\ntip\n0 0 1\n0 0 0 1\n" if newer else ""
    plain = "0 0 0\n0 0 0 1\n" if newer else ""
    none = "0\n" if newer else ""
    path = tmp_path / "desk.scene"
    path.write_text(
        "my desk\n"
        f"* a box\n{object_pose}1\nbox\n0.1 0.2 0.3\n0 1 0\n0 0 0 1\n0 0.5 1 1\n{subframes}"
        f"* rest\n{plain}2\nsphere\n0.5\n0 0 2\n0 0 0 1\n0 0 0 0\n"
        f"cylinder\n0.1 0.4\n0 0 0\n0 0 0 1\n0 0 0 0\n{none}"
        f"* tip\n{plain}1\ncone\n0.2 0.3\n0 0 0\n0 0 0 1\n0 0 0 0\n{none}"
        f"* wedge\n{plain}1\nmesh\n4 4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n0 2 1\n0 1 3\n0 3 2\n1 2 3\n"
        f"0 0 3\n0 0 0 1\n0 0 0 0\n{none}"
        f"* floor\n{plain}1\nplane\n0 0 1 0.5\n0 0 0\n0 0 0 1\n0 0 0 0\n{none}.\n"
    )
    scene = read_moveit_scene(path)
    assert scene.name == "my desk"
    assert list(scene.objects) == ["a box", "rest", "tip", "wedge", "floor"]
    box = scene.objects["a box"]
    np.testing.assert_array_equal(box.shapes[0].size, (0.1, 0.2, 0.3))
    assert box.color == (0, 0.5, 1, 1)
    np.testing.assert_allclose(
        box.pose[:3, 3], (0, 0, 0) if newer else (0, 1, 0), rtol=0, atol=1e-15
    )
    rest = scene.objects["rest"]
    assert [shape.type for shape in rest.shapes] == ["sphere", "cylinder"]
    # In scene texts a cylinder is radius, length, and so is a cone.
    assert (rest.shapes[1].radius, rest.shapes[1].length) == (0.1, 0.4)
    tip = scene.objects["tip"].shapes[0]
    assert (tip.type, tip.radius, tip.length) == ("cone", 0.2, 0.3)
    np.testing.assert_allclose(rest.shape_poses[0][:3, 3], (0, 0, 2))
    assert isinstance(scene.objects["wedge"].source, MeshSource)
    np.testing.assert_allclose(scene.objects["wedge"].pose[:3, 3], (0, 0, 3))
    np.testing.assert_allclose(scene.objects["floor"].pose[:3, 3], (0, 0, -0.5))


def test_a_mesh_resource_is_found_beside_or_above(tmp_path: Path):
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (tmp_path / "pack" / "meshes").mkdir(parents=True)
    (tmp_path / "scenes").mkdir()
    (tmp_path / "pack" / "meshes" / "wedge.obj").write_text(corners)
    path = tmp_path / "scenes" / "scene.yaml"
    path.write_text(
        "world:\n  collision_objects:\n    - id: a\n"
        "      meshes: [{resource: 'package://pack/meshes/wedge.obj', dimensions: [2, 2, 2]}]\n"
    )
    scene = read_moveit_scene(path)
    np.testing.assert_allclose(scene.objects["a"].shapes[0].vertices.max(axis=0), (2, 2, 2))


@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data/ur5_mbm is absent")
def test_all_real_problems_start_and_end_free():
    """All 70 starts and goals are free with the robot's meshes.

    The forearm needs convex pieces, which coacd computes.
    """
    pytest.importorskip(
        "coacd", reason="the forearm's hull falsely meets the wrist; pieces need the extra `decomp`"
    )
    robot = load_robot(
        DATA / "robot" / "ur5.urdf",
        srdf=DATA / "robot" / "ur5.srdf",
        package_dirs=[DATA / "robot"],
        convex={"forearm_link": "pieces"},
        visuals=False,
    )
    files = sorted(DATA.glob("*_ur5/scene*.yaml"))
    assert len(files) == 70
    for file in files:
        scene: Scene = read_moveit_scene(file, model=robot)
        request = read_moveit_request(file.with_name(file.name.replace("scene", "request")))
        assert request.group == "manipulator"
        space = scene.compile(robot)
        start = np.array([request.start[name] for name in robot.position_names])
        goal = np.array([request.goal[name] for name in robot.position_names])
        for q in (start, goal):
            assert not space.collides(q), (file, space.collisions(q))
