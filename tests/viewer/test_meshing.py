"""Shapes as triangle meshes: closed, facing outward, of the right size.

Normals are smooth on curved surfaces and separate at edges.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from robosim.geometry import PointCloud, Shape, shape_sizes
from robosim.viewer.meshing import corner_normals, is_solid, shape_mesh, split_creases, tube_mesh

SHAPES = {
    "sphere": (SimpleNamespace(type="sphere", radius=0.3), 4 / 3 * np.pi * 0.3**3),
    "box": (
        SimpleNamespace(type="box", size=np.array([0.2, 0.4, 0.6]), rounding=0.0),
        0.2 * 0.4 * 0.6,
    ),
    "cylinder": (SimpleNamespace(type="cylinder", radius=0.2, length=0.5), np.pi * 0.2**2 * 0.5),
    "capsule": (
        SimpleNamespace(type="capsule", radius=0.2, length=0.5),
        np.pi * 0.2**2 * 0.5 + 4 / 3 * np.pi * 0.2**3,
    ),
    "cone": (SimpleNamespace(type="cone", radius=0.2, length=0.5), np.pi / 3 * 0.2**2 * 0.5),
    "ellipsoid": (
        SimpleNamespace(type="ellipsoid", radii=np.array([0.1, 0.2, 0.4])),
        4 / 3 * np.pi * 0.1 * 0.2 * 0.4,
    ),
}


def volume(vertices, faces):
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


@pytest.mark.parametrize("name", SHAPES)
def test_closed_outward_and_of_the_right_volume(name):
    shape, exact = SHAPES[name]
    vertices, faces = shape_mesh(shape, segments=96)
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    directed = {tuple(e) for e in edges}
    assert len(directed) == len(edges), "an edge is used twice in the same direction"
    assert all((b, a) in directed for a, b in directed), (
        "an edge has no neighbor: the surface is open"
    )
    # Inscribed: never larger, and with 96 segments smaller by less than 1 %. A positive volume
    # means outward faces.
    assert 0.99 * exact <= volume(vertices, faces) <= exact * (1 + 1e-12)


@pytest.mark.parametrize("name", ["sphere", "capsule", "cylinder", "cone", "ellipsoid"])
def test_vertices_lie_on_the_surface(name):
    shape, _ = SHAPES[name]
    vertices, _ = shape_mesh(shape)
    if name == "ellipsoid":
        assert np.allclose(np.linalg.norm(vertices / shape.radii, axis=1), 1, atol=1e-12)
        return
    if name == "cone":
        across, up = np.hypot(vertices[:, 0], vertices[:, 1]), vertices[:, 2] + shape.length / 2
        on_mantle = np.isclose(across, shape.radius * (1 - up / shape.length), atol=1e-12)
        assert (on_mantle | ((up == 0) & (across == 0))).all()
        return
    half = getattr(shape, "length", 0.0) / 2
    if name == "cylinder":
        assert np.allclose(np.abs(vertices[:, 2]), half)
        return
    axis = np.clip(vertices[:, 2], -half, half)
    distance = np.linalg.norm(vertices - np.column_stack([0 * axis, 0 * axis, axis]), axis=1)
    assert np.allclose(distance, shape.radius, atol=1e-12)


def test_solid_or_not():
    for shape, _ in SHAPES.values():
        vertices, faces = shape_mesh(shape)
        assert is_solid(vertices, faces)
        soup = np.arange(3 * len(faces)).reshape(-1, 3)
        assert is_solid(vertices[faces].reshape(-1, 3), soup), "repeated vertices count as one"
        assert not is_solid(vertices, faces[:, ::-1]), "inside out"
        assert not is_solid(vertices, faces[1:]), "open"
        turned = faces.copy()
        turned[3] = turned[3, ::-1]
        assert not is_solid(vertices, turned), "one face the wrong way round"


def test_normals_are_round_on_a_sphere_and_sharp_on_a_box():
    vertices, faces = shape_mesh(SHAPES["sphere"][0])
    normals = corner_normals(vertices, faces)
    # The mean of face normals differs from the true normal by less than the angle of a face, 2 pi /
    # 48.
    assert np.einsum("ijk,ijk->ij", normals, vertices[faces] / 0.3).min() > np.cos(2 * np.pi / 48)
    vertices, faces = shape_mesh(SHAPES["box"][0])
    normals = corner_normals(vertices, faces)
    assert np.allclose(np.sort(np.abs(normals), axis=-1), [0, 0, 1], atol=1e-12)


def test_repeated_vertices_count_as_one():
    vertices, faces = shape_mesh(SHAPES["sphere"][0])
    soup, numbering = vertices[faces].reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3)
    assert np.allclose(corner_normals(soup, numbering), corner_normals(vertices, faces), atol=1e-9)


def test_split_creases_keeps_the_surface():
    vertices, faces = shape_mesh(SHAPES["cylinder"][0])
    split_vertices, split_faces = split_creases(vertices, faces)
    assert np.array_equal(split_vertices[split_faces], vertices[faces])
    # Each rim vertex belongs to the side and to an end; the two centers belong to an end only.
    assert len(split_vertices) == 2 * (len(vertices) - 2) + 2


def test_half_space_is_a_square_with_its_normal_upwards():
    vertices, faces = shape_mesh(SimpleNamespace(type="half_space"))
    assert np.all(vertices[:, 2] == 0)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    assert np.all(np.cross(b - a, c - a)[:, 2] > 0)


def test_tube_keeps_its_radius_around_bends_and_repeated_points():
    t = np.linspace(0, 3, 200)
    path = np.stack([np.cos(t), np.sin(t), 0.2 * t], axis=1)
    path = np.insert(path, 50, path[50], axis=0)
    vertices, faces = tube_mesh(path, 0.01)
    nearest = np.linalg.norm(vertices[:, None, :] - path[None, :, :], axis=-1).min(axis=1)
    assert np.allclose(nearest, 0.01, rtol=0.02)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    middle = (a + b + c) / 3
    center = path[np.linalg.norm(middle[:, None] - path[None], axis=-1).argmin(axis=1)]
    assert np.all(np.einsum("ij,ij->i", np.cross(b - a, c - a), middle - center) > 0), (
        "faces point inwards"
    )
    assert len(tube_mesh(np.zeros((5, 3)), 0.01)[0]) == 0


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_of_a_new_type_is_drawn_by_its_farthest_points(name):
    known, exact = SHAPES[name]
    sizes = [getattr(known, size) for size in shape_sizes()[name]]
    unknown = SimpleNamespace(type="new", support=getattr(Shape, name)(*sizes).support)
    vertices, faces = shape_mesh(unknown, segments=96)
    assert is_solid(vertices, faces)
    assert 0.99 * exact <= volume(vertices, faces) <= exact * (1 + 1e-12)


def test_a_cloud_is_a_ball_about_each_of_its_points():
    points = np.array([(0, 0, 0), (1, 2, 3)])
    vertices, faces = shape_mesh(PointCloud(points, 0.1))
    nearest = np.linalg.norm(vertices[:, None] - points, axis=2)
    np.testing.assert_allclose(nearest.min(axis=1), 0.1, rtol=1e-12)
    n = len(vertices) // 2
    assert (nearest.argmin(axis=1) == np.repeat([0, 1], n)).all()
    assert ((faces < n).all(axis=1) | (faces >= n).all(axis=1)).all()
    assert is_solid(vertices, faces)
