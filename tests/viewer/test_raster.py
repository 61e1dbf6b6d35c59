"""The rasterizer against a textbook loop over pixels; clipping; the camera's fit."""

import numpy as np
import pytest

from robosim.viewer.camera import Camera, camera_axes, direction, fit
from robosim.viewer.raster import clip_near, rasterize


def textbook(corners, width, height):
    """Test every pixel against every triangle."""
    face, best = np.full((height, width), -1), np.zeros((height, width))
    for i in range(height):
        for j in range(width):
            p = np.array([j + 0.5, i + 0.5])
            for k, t in enumerate(corners):
                a, b, c = t[:, :2]
                m = np.column_stack([b - a, c - a])
                if abs(np.linalg.det(m)) < 1e-12:
                    continue
                u, v = np.linalg.solve(m, p - a)
                if u >= 0 and v >= 0 and u + v <= 1:
                    w = t[0, 2] + u * (t[1, 2] - t[0, 2]) + v * (t[2, 2] - t[0, 2])
                    if w > best[i, j]:
                        best[i, j], face[i, j] = w, k
    return face, best


def test_agrees_with_the_textbook():
    rng = np.random.default_rng(0)
    corners = np.concatenate(
        [rng.uniform(-6, 30, (40, 3, 2)), rng.uniform(0.1, 2, (40, 3, 1))], axis=-1
    )
    corners[3, 2] = corners[3, 1]  # one without area
    drawn = rasterize(corners, 24, 18)
    face, nearness = textbook(corners, 24, 18)
    assert np.array_equal(drawn.face, face)
    assert np.allclose(drawn.nearness, nearness, rtol=1e-6)  # single precision


def test_balls_are_where_rays_meet_them():
    rng = np.random.default_rng(1)
    camera, width, height = Camera(np.zeros(3), np.array([0, 0, 1.0])), 48, 36
    focal = camera.focal(height)
    x, y = (np.arange(n) + 0.5 - n / 2 for n in (width, height))
    rays = np.stack(np.broadcast_arrays(x / focal, y[:, None] / focal, 1.0), axis=-1)
    # To both sides of the picture, in front of and behind the eye, from about a pixel to most of
    # the picture.
    centers = rng.uniform((-1.5, -1, -1), (1.5, 1, 5), (60, 3))
    radii = rng.uniform(0.1, 0.5, 60)
    drawn = rasterize(
        np.empty((0, 3, 3)), width, height, centers=centers, radii=radii, focal=focal, near=0.1
    )
    depth = np.full((60, height, width), np.inf)
    for k, (c, r) in enumerate(zip(centers, radii, strict=True)):
        along, square = rays @ c, np.einsum("...i,...i", rays, rays)
        root = along**2 - square * (c @ c - r * r)
        meets = (root >= 0) & (c[2] - r >= 0.1)
        depth[k] = np.where(meets, (along - np.sqrt(np.maximum(root, 0))) / square, np.inf)
    nearest = depth.min(axis=0)
    # Single precision decides at the rim of a ball, within 1e-6 of its size: almost none of 1,728
    # pixels.
    hit = np.isfinite(nearest)
    assert np.count_nonzero(hit != (drawn.face >= 0)) <= 1
    both = hit & (drawn.face >= 0)
    assert np.count_nonzero(both) > 400
    # At the rim the depth of a ball changes as a square root: by 1e-3 for rounding of 1e-6.
    assert np.abs(1 / drawn.nearness[both] - nearest[both]).max() < 2e-3
    assert np.mean(drawn.face[both] == depth.argmin(axis=0)[both]) > 0.99
    assert len(np.unique(drawn.face)) > 10


def test_balls_come_after_triangles_and_are_hidden_by_what_is_nearer():
    wall = np.array([[[-99.0, -99, 0.5], [999, -99, 0.5], [-99, 999, 0.5]]])  # 2 m away
    for depth, seen in ((1.0, 1), (3.0, 0)):
        centers, radii = np.array([[0.0, 0, depth]]), np.array([0.1])
        drawn = rasterize(wall, 32, 32, centers=centers, radii=radii, focal=60.0)
        assert drawn.face[16, 16] == seen
        assert drawn.face[0, 0] == 0


def test_a_ball_smaller_than_a_pixel_is_seen():
    for x in np.linspace(-0.1, 0.1, 11):
        centers = np.array([[x, 0.03, 2.0]])
        drawn = rasterize(
            np.empty((0, 3, 3)), 32, 32, centers=centers, radii=np.array([1e-4]), focal=60.0
        )
        row, column = np.argwhere(drawn.face == 0)[0]
        assert (row, column) == (int(60 * 0.03 / 2 + 16), int(60 * x / 2 + 16))
        assert np.count_nonzero(drawn.face == 0) == 1


def test_numbers_that_are_none_are_refused():
    with pytest.raises(ValueError, match="corners holds nan"):
        rasterize(np.full((1, 3, 3), np.nan), 8, 8)
    with pytest.raises(ValueError, match="0 x 8"):
        rasterize(np.empty((0, 3, 3)), 0, 8)
    with pytest.raises(ValueError, match="radius 0 is -1"):
        rasterize(np.empty((0, 3, 3)), 8, 8, centers=np.zeros((1, 3)), radii=-np.ones(1))


def test_neighboring_triangles_leave_no_gap():
    # Two halves of a square that covers the picture, cut along a diagonal through pixel centers.
    square = np.array([[-1.0, -1, 1], [33, -1, 1], [33, 33, 1], [-1, 33, 1]])
    assert np.all(rasterize(square[[[0, 1, 2], [0, 2, 3]]], 32, 32).face >= 0)


def test_light_takes_any_array_of_numbers_and_says_what_does_not_fit():
    from robosim import _engine

    given = {
        "corners": [[[-1, -1, 1], [1, -1, 1], [0, 1, 1]]],
        "centers": np.empty((0, 3)),
        "radii": [],
        "positions": [[0, 0, 0], [5, 0, 0]],
        "normals": np.array([[0, 0, 1], [0, 0, 1]]),
        "groups": [0, 0],
        "lights": [[0, 0, 2.0]],
        "n_groups": 1,
        "side": 64,
        "threads": 1,
    }
    single = {name: np.array(given[name], np.float32) for name in ("positions", "normals")}
    for numbers in ({}, single):
        assert np.array_equal(_engine.gather_light(**given | numbers), [[0, 0, 0], [1, 1, 1]])
    for name, wrong, says in (
        ("normals", np.zeros(2), r"normals has shape \(2,\); expected \(2, 3\)"),
        ("normals", np.zeros((3, 3), np.float32), r"normals has shape \(3, 3\); expected \(2, 3\)"),
        ("positions", np.array([[0, 0, 0], [np.inf, 0, 0]], np.float32), "positions holds inf"),
        ("groups", [0, 1], "groups holds 1 at index 1"),
        ("groups", [0], "groups has shape"),
        ("lights", [[0, 0, 0]], "its direction is zero"),
        ("n_groups", 0, "n_groups is 0"),
        ("side", 0, "side is 0"),
        ("threads", -1, "threads is -1"),
    ):
        with pytest.raises(ValueError, match=says):
            _engine.gather_light(**given | {name: wrong})


def test_nothing_to_draw():
    assert np.all(rasterize(np.empty((0, 3, 3)), 8, 8).face == -1)
    behind = np.array([[[100.0, 100, 1], [110, 100, 1], [100, 110, 1]]])
    assert np.all(rasterize(behind, 8, 8).face == -1)


def test_clipping_keeps_exactly_what_lies_in_front():
    rng = np.random.default_rng(2)
    triangles = rng.uniform(-1, 1, (300, 3, 3))
    kept, source = clip_near(triangles, 0.1)
    assert kept[:, :, 2].min() >= 0.1 - 1e-12

    def area(t):
        return np.linalg.norm(np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]), axis=1) / 2

    # Fraction of each triangle's area beyond the plane, by counting the points of a fine grid on
    # it.
    u, v = (
        x.ravel()
        for x in np.meshgrid(np.arange(200) / 200 + 1 / 600, np.arange(200) / 200 + 1 / 600)
    )
    u, v = u[u + v < 1], v[u + v < 1]
    z = (
        triangles[:, :1, 2]
        + u * (triangles[:, 1:2, 2] - triangles[:, :1, 2])
        + v * (triangles[:, 2:, 2] - triangles[:, :1, 2])
    )
    expected = (z >= 0.1).mean(axis=1) * area(triangles)
    assert np.allclose(np.bincount(source, area(kept), minlength=300), expected, atol=0.02)


@pytest.mark.parametrize("aspect", [0.5, 1.0, 2.2])
def test_fit_holds_every_point_and_could_not_be_nearer(aspect):
    rng = np.random.default_rng(3)
    for _ in range(20):
        points = rng.normal(size=(50, 3)) * rng.uniform(0.2, 3, 3)
        camera = fit(
            points, direction(rng.uniform(-4, 4), rng.uniform(-1, 1.5)), aspect, margin=0.05
        )
        local = (points - camera.position) @ camera.R_WC
        xy = camera.project(local, round(1000 * aspect), 1000)[:, :2] / [round(1000 * aspect), 1000]
        assert xy.min() > 0.05 - 1e-3
        assert xy.max() < 0.95 + 1e-3
        spread = np.ptp(xy, axis=0)
        # Both borders in one direction are touched, unless the nearest point is at the eye.
        assert spread.max() > 0.9 - 2e-3 or local[:, 2].min() < 0.06


def test_camera_axes_are_right_handed_and_upright():
    for forward in ([1.0, 2, -0.5], [0, 0, -1.0], [0, 0, 1.0], [-1, 0, 0.2]):
        R = camera_axes(np.array(forward))
        assert np.allclose(R.T @ R, np.eye(3), atol=1e-12)
        assert np.isclose(np.linalg.det(R), 1)
        assert np.allclose(R[:, 2], np.array(forward) / np.linalg.norm(forward))
        assert R[2, 1] <= 1e-12  # the picture's down is not up


def test_rays_and_projection_agree():
    camera = Camera(np.array([2.0, 1, 1.5]), np.zeros(3))
    rays = camera.rays(40, 30)
    points = (3 * rays) @ camera.R_WC
    pixels = camera.project(points, 40, 30)
    j, i = np.meshgrid(np.arange(40) + 0.5, np.arange(30) + 0.5)
    assert np.allclose(pixels[..., 0], j)
    assert np.allclose(pixels[..., 1], i)
    assert np.allclose(pixels[..., 2], 1 / 3)
