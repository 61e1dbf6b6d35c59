"""Scene files: saved and loaded again, written by hand, and never left half written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from robosim.errors import FileError, SceneError
from robosim.geometry import Shape, pose, shape_sizes
from robosim.meshes import TriangleMesh
from robosim.scene import (
    LinkPose,
    MeshSource,
    PointCloud,
    Scene,
    SceneObject,
    bundled_scenes,
    load_scene,
)
from robosim.scene.objects import pieces_of


def rich_scene(folder: Path) -> Scene:
    """Scene with one object of every type."""
    rng = np.random.default_rng(0)
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    facets = ""
    for triangle in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)):
        rows = "".join("vertex {} {} {}\n".format(*corners[i]) for i in triangle)
        facets += f"facet normal 0 0 0\nouter loop\n{rows}endloop\nendfacet\n"
    (folder / "parts").mkdir()
    (folder / "parts" / "wedge.stl").write_text(f"solid t\n{facets}endsolid t\n")
    scene = Scene('a "desk": 1', robot="ur5")
    X = pose(rng.normal(size=3), rpy=rng.normal(size=3))
    scene.add_box("box", rng.random(3), X, (0.1, 0.2, 0.3, 0.4))
    scene.add_sphere("yes", 1e-7, X)  # a name and a number that YAML 1.1 would read as other types
    scene.add_cylinder("1.5", 0.1, 123456.789, X)
    scene.add_capsule("capsule", 1 / 3, 2 / 3)
    scene.add_half_space("floor: level", pose((0, 0, -1e-9)))
    scene.add_convex("hull", rng.random((9, 3)))
    scene.add_compound("hämmer", [(Shape.box((1, 2, 3)), X), (Shape.sphere(1), None)], X)
    scene.add_points("cloud", rng.normal(size=(40, 3)), 0.01, X)
    scene.add_points("large cloud", rng.normal(size=(1001, 3)), 0.01)
    scene.add_mesh("wedge", folder / "parts" / "wedge.stl", X, scale=(1, -2, 0.5))
    scene.add_mesh(
        "inline",
        (scene.objects["wedge"].source.mesh.vertices, scene.objects["wedge"].source.mesh.faces),
    )
    scene.allow("box", "hull")
    scene.allow("cloud")
    scene.attach("capsule", "tool0", pose=X, touch_links=["wrist_3_link"])
    scene.set_start({"elbow_joint": 1e-17, "a b": -2.5})
    scene.set_start({"elbow_joint": np.pi}, "other")
    scene.set_goal({"elbow_joint": 1.0})
    scene.set_goal(LinkPose("tool0", X), "there")
    return scene


def assert_same(a: Scene, b: Scene) -> None:
    assert (a.name, a.robot) == (b.name, b.robot)
    assert list(a.objects) == list(b.objects)
    for one, other in zip(a, b, strict=True):
        assert one.color == other.color
        # A rotation is converted to a quaternion and back: rounding only.
        np.testing.assert_allclose(one.pose, other.pose, rtol=0, atol=1e-14)
        np.testing.assert_allclose(one.shape_poses, other.shape_poses, rtol=0, atol=1e-14)
        assert type(one.source) is type(other.source)
        if isinstance(one.source, PointCloud):
            np.testing.assert_array_equal(one.source.points, other.source.points)
        for (s, _), (t, _) in zip(pieces_of(one), pieces_of(other), strict=True):
            assert s.type == t.type
            for size in {"box": ("size",), "sphere": ("radius",), "convex": ("vertices",)}.get(
                s.type, ()
            ):
                np.testing.assert_array_equal(getattr(s, size), getattr(t, size))
    assert a.allowed == b.allowed
    assert dict(a.attachments) == dict(b.attachments)
    assert a.starts == b.starts
    assert a.goals.keys() == b.goals.keys()
    for name, goal in a.goals.items():
        if isinstance(goal, LinkPose):
            assert goal.link == b.goals[name].link
            np.testing.assert_allclose(goal.pose, b.goals[name].pose, rtol=0, atol=1e-14)
        else:
            assert goal == b.goals[name]


def test_saved_scenes_come_back_whole(tmp_path: Path):
    scene = rich_scene(tmp_path)
    path = tmp_path / "scene.yaml"
    scene.save(path)
    assert_same(scene, Scene.load(path))
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["scene.yaml"], (
        "no temporary file is left"
    )
    # A folder can be moved: the path of the mesh below it is relative to the scene.
    moved = tmp_path / "moved"
    moved.mkdir()
    (tmp_path / "parts").rename(moved / "parts")
    path.rename(moved / "scene.yaml")
    again = Scene.load(moved / "scene.yaml")
    assert again.objects["wedge"].source.file == str(moved / "parts" / "wedge.stl")


def test_the_text_of_a_file_is_the_same_scene(tmp_path: Path):
    scene = rich_scene(tmp_path)
    scene.save(tmp_path / "scene.yaml")
    text = (tmp_path / "scene.yaml").read_text()
    # A text has no folder.
    with pytest.raises(
        SceneError,
        match=r"scene text>:\d+: object 'wedge', mesh, file: 'parts/wedge.stl' is relative",
    ):
        Scene.from_text(text)
    whole = text.replace("parts/wedge.stl", str(tmp_path / "parts" / "wedge.stl"))
    assert_same(scene, Scene.from_text(whole))
    assert Scene.from_text("{format: robosim-scene, version: 1}").name == "scene"


def test_files_are_yaml_for_everybody(tmp_path: Path):
    """Another reader, with YAML 1.1's rules for plain text, reads the same names and numbers."""
    scene = rich_scene(tmp_path)
    scene.save(tmp_path / "scene.yaml")
    document = yaml.safe_load((tmp_path / "scene.yaml").read_text(encoding="utf-8"))
    assert document["version"] == 1
    assert [entry["name"] for entry in document["objects"]] == list(scene.objects)
    assert document["objects"][1]["sphere"]["radius"] == 1e-7
    assert document["starts"]["start"] == {"elbow_joint": 1e-17, "a b": -2.5}


def test_saving_replaces_and_never_truncates(tmp_path: Path):
    path = tmp_path / "scene.yaml"
    scene = Scene("one")
    scene.save(path)
    scene.add_sphere("ball", 1)
    scene.save(path)
    assert "ball" in Scene.load(path)
    with pytest.raises(FileError):
        scene.save(tmp_path / "missing" / "scene.yaml")
    assert "ball" in Scene.load(path)


def test_written_by_hand(tmp_path: Path):
    (tmp_path / "cloud.npy").write_bytes(b"")
    np.save(tmp_path / "cloud.npy", np.arange(6.0).reshape(2, 3))
    (tmp_path / "cloud.csv").write_text("# x, y, z\n1, 2, 3\n4, 5, 6\n")
    (tmp_path / "scene.yaml").write_text("""
format: robosim-scene
version: 1
objects:
  - name: floor
    half_space:
  - name: top
    pose: {rpy: [0, 0, 1.5707963267948966]}
    box: &size {size: [1, 2, 3]}
  - {name: twin, box: *size, color: [1, 0, 0]}
  - {name: a, points: {radius: 0.01, file: cloud.npy}}
  - {name: b, points: {radius: 0.01, file: cloud.csv}}
""")
    scene = Scene.load(tmp_path / "scene.yaml")
    assert scene.name == "scene"
    np.testing.assert_allclose(
        scene.objects["top"].pose[:3, :3], [[0, -1, 0], [1, 0, 0], [0, 0, 1]], rtol=0, atol=1e-15
    )
    np.testing.assert_array_equal(scene.objects["twin"].shapes[0].size, (1, 2, 3))
    np.testing.assert_array_equal(scene.objects["a"].source.points, [[0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(scene.objects["b"].source.points, [[1, 2, 3], [4, 5, 6]])


def test_an_array_of_objects_is_not_unpickled(tmp_path: Path):
    np.save(tmp_path / "cloud.npy", np.array([{}], dtype=object), allow_pickle=True)
    (tmp_path / "scene.yaml").write_text(
        "format: robosim-scene\nversion: 1\nobjects: [{name: a, points: {radius: 1, file:"
        " cloud.npy}}]\n"
    )
    with pytest.raises(SceneError, match=r"cloud\.npy"):
        Scene.load(tmp_path / "scene.yaml")


def test_load_scene_finds_bundled_ones_and_files(tmp_path: Path, ur5):
    assert len(bundled_scenes()) == 7
    for name in bundled_scenes():
        scene = load_scene(name)
        assert (scene.name, scene.robot) == (name, "ur5")
        assert set(scene.starts["start"]) == set(scene.goals["goal"]) == set(ur5.position_names)
    load_scene("box").save(tmp_path / "mine.yaml")
    assert load_scene(tmp_path / "mine.yaml").name == "box"
    with pytest.raises(FileError, match=r"no bundled scene 'shelf'.*bookshelf_small"):
        load_scene("shelf")


def test_what_could_not_be_read_again_is_not_written(tmp_path: Path):
    n = 60_000
    angles = np.linspace(0, 2 * np.pi, n, endpoint=False)
    vertices = np.vstack(
        [np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1), [[0, 0, 1], [0, 0, -1]]]
    )
    ring = np.arange(n)
    faces = np.vstack(
        [
            np.c_[ring, np.roll(ring, -1), 0 * ring + n],
            np.c_[np.roll(ring, -1), ring, 0 * ring + n + 1],
        ]
    )
    scene = Scene()
    scene.add(
        SceneObject(
            "disc",
            (Shape.sphere(1),),
            np.eye(4)[None],
            np.eye(4),
            source=MeshSource(TriangleMesh(vertices, faces)),
        )
    )
    with pytest.raises(SceneError, match="too large"):
        scene.save(tmp_path / "scene.yaml")
    assert not list(tmp_path.iterdir())
    cloud = Scene()
    cloud.add_points("cloud", np.random.default_rng(0).random((100_000, 3)), 0.01)
    cloud.save(tmp_path / "cloud.yaml")
    assert Scene.load(tmp_path / "cloud.yaml").objects["cloud"].shapes[0].n_pieces == 100_000


@pytest.mark.parametrize("kind", shape_sizes())
def test_every_type_of_shape_comes_back_alone_and_in_parts(tmp_path, kind):
    """The engine's table of sizes defines the file format of every type of shape."""
    values = {
        "number": 0.3,
        "vector": (0.1, 0.2, 0.7),
        "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]][: 3 if kind == "triangle" else 4],
    }
    sizes = shape_sizes()[kind]
    shape = getattr(Shape, kind)(**{name: values[of_kind] for name, of_kind in sizes.items()})
    scene = Scene("any")
    scene.add_shape("alone", shape, pose((1, 2, 3)), (1, 0, 0))
    scene.add_compound("parts", [(shape, pose((0, 0, 1))), (shape, None)])
    scene.save(tmp_path / "any.yaml")
    again = Scene.load(tmp_path / "any.yaml")
    assert again.objects["alone"].color == (1, 0, 0, 1)
    for name in ("alone", "parts"):
        np.testing.assert_array_equal(again.objects[name].pose, scene.objects[name].pose)
        np.testing.assert_array_equal(
            again.objects[name].shape_poses, scene.objects[name].shape_poses
        )
        for loaded in again.objects[name].shapes:
            assert loaded.type == kind
            for size in sizes:
                np.testing.assert_array_equal(getattr(loaded, size), getattr(shape, size))


def test_a_rounding_may_be_left_out(tmp_path):
    scene = Scene("plain")
    scene.add_box("box", (1, 2, 3))
    scene.save(tmp_path / "plain.yaml")
    assert "rounding" not in (tmp_path / "plain.yaml").read_text()
    assert Scene.load(tmp_path / "plain.yaml").objects["box"].shapes[0].rounding == 0
