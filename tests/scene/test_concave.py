"""Concave meshes, terrain and compounds as obstacles, attached objects and colliders."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from robosim import load_robot, planners
from robosim.errors import SceneError
from robosim.geometry import Compound, HeightField, PointCloud, Shape, TriangleMesh, collide, pose
from robosim.scene import Scene, Terrain, contact_derivatives, read_moveit_scene
from robosim.urdf import inspect_robot

SIZE, WALL = np.array([0.5, 0.4, 0.25]), 0.02


def bin_mesh(n: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Open box with walls of thickness `WALL`, as one closed concave mesh.

    Every edge is halved n - 1 times.
    """
    w, d, h = SIZE / [2, 2, 1]
    ring = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    outer, inner = ring * [w, d], ring * [w - WALL, d - WALL]
    levels = [(outer, 0.0), (outer, h), (inner, WALL), (inner, h)]
    vertices = np.concatenate([np.column_stack([xy, np.full(4, z)]) for xy, z in levels])
    quads = [(3, 2, 1, 0), (8, 9, 10, 11)]
    for k in range(4):
        m = (k + 1) % 4
        quads += [
            (k, m, 4 + m, 4 + k),
            (8 + m, 8 + k, 12 + k, 12 + m),
            (4 + k, 4 + m, 12 + m, 12 + k),
        ]
    corners = vertices[[t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]]
    for _ in range(n - 1):
        a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        fans = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        corners = np.concatenate([np.stack(f, axis=1) for f in fans])
    return corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3)


def bin_boxes() -> list[tuple[Shape, np.ndarray]]:
    """The open box as five boxes."""
    w, d, h = SIZE
    return [
        (Shape.box((w, d, WALL)), pose((0, 0, WALL / 2))),
        *((Shape.box((WALL, d, h)), pose((s * (w - WALL) / 2, 0, h / 2))) for s in (-1, 1)),
        *((Shape.box((w, WALL, h)), pose((0, s * (d - WALL) / 2, h / 2))) for s in (-1, 1)),
    ]


def test_moveit_scenes_may_keep_their_meshes(tmp_path):
    vertices, faces = bin_mesh()
    mesh = f"{{vertices: {vertices.tolist()}, triangles: {faces.tolist()}}}"
    text = (
        "world:\n  collision_objects:\n    - {id: bin, header: {frame_id: world}, meshes:"
        f" [{mesh}]}}\n"
    )
    (tmp_path / "scene.yaml").write_text(text)
    with pytest.raises(SceneError, match="not convex"):
        read_moveit_scene(tmp_path / "scene.yaml")
    (body,) = read_moveit_scene(tmp_path / "scene.yaml", keep="solid").objects["bin"].shapes
    assert isinstance(body, TriangleMesh)
    assert body.is_solid


FLAT = "vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0]], faces: [[0, 1, 2]]"
X_WB = pose((0.45, 0.1, 0.05), rpy=(0, 0, 0.3))


def both(n: int = 2) -> tuple[Scene, Scene]:
    mesh, boxes = Scene(), Scene()
    mesh.add_mesh("bin", bin_mesh(n), X_WB, keep="solid")
    boxes.add_compound("bin", bin_boxes(), X_WB)
    return mesh, boxes


def test_a_mesh_kept_concave_collides_as_the_boxes_that_it_is_made_of(ur5):
    mesh, boxes = (scene.compile(ur5) for scene in both())
    assert [name for name in mesh.names if name == "bin"] == ["bin"]
    rng = np.random.default_rng(0)
    q = rng.uniform(-np.pi, np.pi, (3000, 6))
    found, expected = mesh.collides_many(q), boxes.collides_many(q)
    np.testing.assert_array_equal(found, expected)
    assert 300 < (found & ~np.array([bool(mesh.pairs.size == 0)])).sum() < 2700
    for x, hits in zip(q[:300], found, strict=False):
        assert mesh.collides(x) == hits
        d, *_ = mesh.min_distance(x)
        if not hits:  # 1e-9: tolerance of iterative pairs
            assert abs(d - boxes.min_distance(x)[0]) < 1e-9
        else:
            assert d < 0
        both_names = {tuple(sorted(pair[:2])) for pair in mesh.collisions(x)}
        assert both_names == {tuple(sorted(pair[:2])) for pair in boxes.collisions(x)}


def test_edges_past_a_concave_mesh_are_proven_and_refused_as_past_its_boxes(ur5):
    mesh, boxes = (scene.compile(ur5) for scene in both())
    rng = np.random.default_rng(1)
    q = rng.uniform(-np.pi, np.pi, (2000, 6))
    q = q[~mesh.collides_many(q)][:400]
    refused = 0
    for a in q:
        b = a + rng.normal(scale=0.3, size=6)
        edge = mesh.edge_free(a, b)
        refused += not edge.free
        if edge.free:  # a free motion is free at every sample
            samples = a + np.linspace(0, 1, 60)[:, None] * (b - a)
            assert not boxes.collides_many(samples).any()
        else:  # a refused one comes within half the resolution of 5 mm
            q_touch = a + edge.t * (b - a)
            assert boxes.min_distance(q_touch)[0] < 0.0025 + 1e-6
    assert 40 < refused < 360


def test_derivatives_of_distances_to_a_mesh_are_those_to_its_boxes(ur5):
    mesh, boxes = (scene.compile(ur5) for scene in both())
    rng = np.random.default_rng(2)
    compared = 0
    for x in rng.uniform(-np.pi, np.pi, (40, 6)):
        near = [c for c in contact_derivatives(mesh, x, margin=0.15) if "bin" in (c.A, c.B)]
        for c in near:
            same = [
                o
                for o in contact_derivatives(boxes, x, margin=0.15)
                if {o.A, o.B} == {c.A, c.B} and abs(o.witness.distance - c.witness.distance) < 1e-9
            ]
            if c.witness.distance <= 1e-6 or not same:
                continue
            step = 1e-6
            for k in range(6):
                e = step * np.eye(6)[k]
                ends = [
                    [d for a, b, d in mesh.collisions(y, 0.3) if (a, b) == (c.A, c.B)]
                    for y in (x + e, x - e)
                ]
                if (
                    all(ends)
                    and not c.one_sided
                    and min(c.feature_A.slide, c.feature_B.slide) > 1e-3
                ):
                    # 1e-5: error of central differences over 1e-6 of curved distances at 0.1 m
                    assert abs((ends[0][0] - ends[1][0]) / (2 * step) - c.rates.distance[k]) < 1e-5
                    compared += 1
    assert compared > 60


def test_what_is_wholly_inside_a_solid_collides_and_what_is_inside_a_surface_does_not(ur5):
    vertices, faces = box_mesh(1.5)  # larger than the arm's whole wrist
    dented = vertices.copy()
    dented[faces[0][0]] *= 0.9  # concave, so that the mesh is kept
    q = ur5.neutral()
    reach = ur5.frame_pose(q, "tool0")[:3, 3]
    X = pose(reach)
    solid, surface, rounded = Scene(), Scene(), Scene()
    small = (0.4 * dented, faces)
    solid.add_mesh("block", small, X, keep="solid")
    surface.add_mesh("block", small, X, keep="surface")
    rounded.add_mesh("block", small, X, keep="solid")
    assert solid.compile(ur5).collides(q)
    # The mesh encloses the whole arm, which collides with a solid, but not with a surface.
    room = (3.0 * dented, faces)
    inside, free = Scene(), Scene()
    inside.add_mesh("room", room, keep="solid")
    free.add_mesh("room", room, keep="surface")
    assert inside.compile(ur5).collides(q)
    assert not free.compile(ur5).collides(q)
    assert inside.compile(ur5).min_distance(q)[0] < 0 < free.compile(ur5).min_distance(q)[0]
    np.testing.assert_array_equal(inside.compile(ur5).collides_many(q[None]), [True])
    assert not inside.compile(ur5).edge_free(q, q + 0.05).free
    assert free.compile(ur5).edge_free(q, q + 0.05).free


def box_mesh(edge: float) -> tuple[np.ndarray, np.ndarray]:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * edge / 2
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def test_terrain_is_a_block_with_sides_and_a_bottom(ur5):
    rng = np.random.default_rng(3)
    heights = rng.uniform(-0.1, 0.1, (12, 9))
    scene = Scene()
    scene.add_height_field("ground", heights, (0.1, 0.12), pose((0.2, -0.5, -0.1)), depth=0.3)
    ground = scene.objects["ground"].shapes[0]
    assert isinstance(ground, TriangleMesh)
    assert ground.is_solid
    field = HeightField(heights, (0.1, 0.12))
    # Above the ground, and deep in it, the block equals the field. Beside and below the block it
    # does not.
    for p in rng.uniform((-0.3, -0.3, -0.6), (1.4, 1.3, 0.4), (400, 3)):
        ball, X = Shape.sphere(0.02), pose(p)
        within = (0.02 < p[0] < 1.08) and (0.02 < p[1] < 0.94)
        if within and p[2] > -0.38 + heights.min() + 0.1:
            assert collide(ground, pose(), ball, X) == collide(field, pose(), ball, X)
        if p[2] < heights.min() - 0.33 or not (-0.02 <= p[0] <= 1.12 and -0.02 <= p[1] <= 0.98):
            assert not collide(ground, pose(), ball, X)
    assert collide(ground, pose(), Shape.sphere(0.02), pose((0.55, 0.5, -0.25)))  # wholly inside
    assert scene.compile(ur5).collides_many(rng.uniform(-np.pi, np.pi, (50, 6))).any()


def test_bodies_of_pieces_become_obstacles():
    scene = Scene()
    mesh = TriangleMesh(*bin_mesh())
    nested = Compound(
        [(mesh, pose((0, 0, 1))), (PointCloud(np.eye(3), 0.1), pose()), (Shape.sphere(0.1), pose())]
    )
    scene.add_shape("bin", mesh)
    scene.add_shape("all", nested, pose((1, 0, 0)))
    scene.add_shape("cloud", PointCloud(np.eye(3), 0.1))
    scene.add_shape("ground", HeightField(np.zeros((3, 3)), 0.1))
    assert scene.objects["bin"].shapes == (mesh,)
    assert len(scene.objects["all"].shapes) == 5
    np.testing.assert_array_equal(scene.objects["all"].shape_poses[0], pose((0, 0, 1)))
    assert isinstance(scene.objects["ground"].source, Terrain)


def test_a_held_mesh_moves_with_the_arm(ur5):
    held, boxes = Scene(), Scene()
    for scene in (held, boxes):
        scene.add_box("wall", (0.1, 2, 2), pose((0.75, 0, 0)))
    held.add_mesh("bin", bin_mesh(), keep="solid")
    boxes.add_compound("bin", bin_boxes())
    for scene in (held, boxes):
        scene.attach(
            "bin", "tool0", pose=pose((0, 0, 0.05)), touch_links=["wrist_3_link", "wrist_2_link"]
        )
    rng = np.random.default_rng(4)
    q = rng.uniform(-np.pi, np.pi, (2000, 6))
    found = held.compile(ur5).collides_many(q)
    np.testing.assert_array_equal(found, boxes.compile(ur5).collides_many(q))
    assert 200 < found.sum() < 1900


@pytest.mark.parametrize("clearance", [0.0, 0.03])
def test_a_plan_into_a_concave_mesh_is_free_of_its_boxes(ur5, clearance):
    mesh, boxes = both(3)
    space = boxes.compile(ur5)
    goal = np.array(
        [-0.0203809, -1.48661902, 2.11429293, -2.19847023, -1.57079633, -1.89117722]
    )  # tool in the bin
    start = goal + 1.1 * np.eye(6)[0]  # beside the bin, at the same height
    assert not mesh.compile(ur5).edge_free(start, goal).free
    result = planners.plan(planners.Problem(ur5, mesh, start, goal, clearance=clearance), seed=0)
    assert result.status is planners.Status.SOLVED, result.reason
    assert len(result.path) > 2  # around the wall
    for a, b in pairwise(result.path):
        assert not space.collides_many(a + np.linspace(0, 1, 200)[:, None] * (b - a)).any()


def test_files_keep_meshes_and_terrain(tmp_path, ur5):
    scene, _ = both()
    scene.add_mesh("sheet", bin_mesh(), pose((0, 1, 0)), keep="surface")
    scene.add_height_field(
        "ground", np.arange(12.0).reshape(4, 3) / 100, 0.2, pose((0, -2, 0)), depth=0.5
    )
    scene.add_height_field(
        "hills", np.random.default_rng(0).normal(size=(40, 30)) / 100, (0.1, 0.05)
    )
    scene.add_compound(
        "mixed", [(TriangleMesh(*bin_mesh()), pose((0, 0, 3))), (Shape.sphere(0.1), None)]
    )
    scene.add_shape("plain", TriangleMesh(*bin_mesh(), solid=False), pose((4, 0, 0)))
    scene.save(tmp_path / "scene.yaml")
    again = Scene.load(tmp_path / "scene.yaml")
    for thing in scene:
        other = again.objects[thing.name]
        assert type(other.source) is type(thing.source)
        np.testing.assert_allclose(other.shape_poses, thing.shape_poses, atol=1e-15)
        for a, b in zip(thing.shapes, other.shapes, strict=True):
            if isinstance(a, TriangleMesh):
                assert isinstance(b, TriangleMesh)
                assert a.is_solid == b.is_solid
                np.testing.assert_array_equal(a.vertices, b.vertices)
                np.testing.assert_array_equal(a.faces, b.faces)
    np.save(tmp_path / "heights.npy", np.zeros((5, 4)))
    text = (
        "format: robosim-scene\nversion: 1\nobjects:\n  - name: ground\n"
        "    height_field: {file: heights.npy, spacing: [0.1, 0.2], depth: 0.5}\n"
    )
    (tmp_path / "ground.yaml").write_text(text)
    assert (
        len(Scene.load(tmp_path / "ground.yaml").objects["ground"].shapes[0].faces)
        == 2 * 12 + 3 * 14
    )


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (f"mesh: {{{FLAT}, keep: solid}}", ":4: .*encloses nothing.*surface"),
        (f"mesh: {{{FLAT}, keep: hollow}}", "keep: expected solid or surface"),
        ("mesh: {vertices: [[0,0,0]], faces: [[0,0,0]], keep: surface}",
            "none of its 1 faces has an area"),
        ("height_field: {spacing: 0.1}", "give heights, a file, or base64"),
        ("height_field: {heights: [[0, 0]], spacing: 0.1}", "1 by 2; at least 2 by 2"),
        ("height_field: {heights: [[0, 0], [0]], spacing: 0.1}", "expected 2 entries, found 1"),
        ("height_field: {heights: [[0, 0], [0, 0]], spacing: -1}", "spacing is -1"),
        ("height_field: {heights: [[0, 0], [0, 0]], spacing: 1, depth: 0}", "depth is 0"),
    ],
)  # fmt: skip
def test_bad_files_are_refused_with_their_line(entry, words):
    text = f"format: robosim-scene\nversion: 1\nobjects:\n  - name: thing\n    {entry}\n"
    with pytest.raises(SceneError, match=words):
        Scene.from_text(text)


def test_bad_meshes_are_refused(ur5):
    scene = Scene()
    vertices, faces = bin_mesh()
    with pytest.raises(SceneError, match="keep='solid'"):
        scene.add_mesh("bin", (vertices, faces))
    with pytest.raises(SceneError, match=r"encloses nothing.*keep=.surface."):
        scene.add_mesh("bin", (vertices, faces[1:]), keep="solid")
    with pytest.raises(SceneError, match="encloses nothing"):
        scene.add_mesh("bin", (vertices, faces[:, ::-1]), keep="solid")
    with pytest.raises(SceneError, match="either kept or decomposed"):
        scene.add_mesh("bin", (vertices, faces), keep="solid", decompose=True)
    with pytest.raises(SceneError, match="keep is 'hollow'"):
        scene.add_mesh("bin", (vertices, faces), keep="hollow")  # type: ignore[arg-type]
    with pytest.raises(SceneError, match=r"height \(0, 1\) is nan"):
        scene.add_height_field("ground", [[0, np.nan], [0, 0]], 0.1)
    scene.add_mesh("bin", (vertices, faces[1:]), keep="surface")


def test_a_robot_may_keep_its_meshes(tmp_path):
    vertices, faces = bin_mesh(2)
    obj = [f"v {x} {y} {z}" for x, y, z in vertices] + [
        f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces
    ]
    (tmp_path / "bin.obj").write_text("\n".join(obj))
    link = """<link name="{0}"><inertial>
      <mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
      </inertial>{1}</link>"""
    collision = "<collision><geometry>{}</geometry></collision>"
    ways = [
        ("x", "world", "tray", "1 0 0"),
        ("z", "world", "post", "0 0 1"),
        ("y", "post", "tip", "0 1 0"),
    ]
    joints = "".join(
        f"""<joint name="{n}" type="prismatic">
      <parent link="{a}"/><child link="{b}"/><axis xyz="{axis}"/>
      <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>"""
        for n, a, b, axis in ways
    )
    (tmp_path / "robot.urdf").write_text(
        "<robot name='tray'><link name='world'/>"
        + link.format("tray", collision.format("<mesh filename='bin.obj'/>"))
        + link.format("post", "")
        + link.format("tip", collision.format("<sphere radius='0.05'/>"))
        + joints
        + "</robot>"
    )
    options = {"filter_self_collisions": False}
    kept = load_robot(tmp_path / "robot.urdf", convex="mesh", **options)
    hull = load_robot(tmp_path / "robot.urdf", exact_meshes=False, **options)
    assert isinstance(kept.colliders[0].shape, TriangleMesh)
    assert kept.colliders[0].shape.is_solid
    scene = Scene()
    exact, filled = scene.compile(kept), scene.compile(hull)
    ball = Shape.sphere(0.05)
    rng = np.random.default_rng(6)
    for q in rng.uniform((-0.4, -0.1, -0.4), (0.4, 0.5, 0.4), (150, 3)):
        x, z, y = (q[kept.position_names.index(n)] for n in ("x", "z", "y"))
        at = pose((-x, y, z))  # pose of the ball in the tray
        hits = any(collide(shape, X, ball, at) for shape, X in bin_boxes())
        assert exact.collides(q) == hits
        assert filled.collides(q) >= hits
        np.testing.assert_array_equal(exact.collides_many(q[None]), [hits])
    in_it = np.zeros(3)
    in_it[kept.position_names.index("z")] = 0.12
    assert not exact.collides(in_it)
    assert filled.collides(in_it)
    assert (
        inspect_robot(tmp_path / "robot.urdf", convex="mesh", **options).colliders[0].type == "mesh"
    )
