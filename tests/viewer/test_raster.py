"""The rasteriser against a textbook loop over pixels; clipping; the camera's fit."""

import numpy as np
import pytest

from robosim.viewer.camera import Camera, camera_axes, direction, fit
from robosim.viewer.raster import clip_near, rasterize


def textbook(corners, width, height):
    """Every pixel asks every triangle."""
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
    corners = np.concatenate([rng.uniform(-6, 30, (40, 3, 2)), rng.uniform(0.1, 2, (40, 3, 1))], axis=-1)
    corners[3, 2] = corners[3, 1]  # one without area
    drawn = rasterize(corners, 24, 18)
    face, nearness = textbook(corners, 24, 18)
    assert np.array_equal(drawn.face, face)
    assert np.allclose(drawn.nearness, nearness, rtol=1e-6)  # single precision


def test_chunks_do_not_change_the_picture(monkeypatch):
    rng = np.random.default_rng(1)
    corners = np.concatenate([rng.uniform(0, 64, (30, 3, 2)), rng.uniform(0.1, 2, (30, 3, 1))], axis=-1)
    whole = rasterize(corners, 64, 64)
    monkeypatch.setattr("robosim.viewer.raster._CHUNK", 7)
    assert np.array_equal(rasterize(corners, 64, 64).face, whole.face)


def test_neighbouring_triangles_leave_no_gap():
    # Two halves of a square that covers the picture, cut along a diagonal that runs through pixel centres.
    square = np.array([[-1.0, -1, 1], [33, -1, 1], [33, 33, 1], [-1, 33, 1]])
    assert np.all(rasterize(square[[[0, 1, 2], [0, 2, 3]]], 32, 32).face >= 0)


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

    # The share of each triangle's area beyond the plane, by counting a fine grid of points on it.
    u, v = (x.ravel() for x in np.meshgrid(np.arange(200) / 200 + 1 / 600, np.arange(200) / 200 + 1 / 600))
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
        camera = fit(points, direction(rng.uniform(-4, 4), rng.uniform(-1, 1.5)), aspect, margin=0.05)
        local = (points - camera.position) @ camera.R_WC
        xy = camera.project(local, round(1000 * aspect), 1000)[:, :2] / [round(1000 * aspect), 1000]
        assert xy.min() > 0.05 - 1e-3
        assert xy.max() < 0.95 + 1e-3
        spread = np.ptp(xy, axis=0)
        # Both borders of one direction are touched, unless the nearest point is at the eye's tip.
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
