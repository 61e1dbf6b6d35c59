"""The painter: positions, colors and lighting; files written whole or not at all."""

import numpy as np
import pytest

from robosim import viewer
from robosim.errors import FileError, RobosimError, TrajectoryError
from robosim.geometry import Shape
from robosim.scene import Scene
from robosim.trajectory import Trajectory
from robosim.viewer.camera import Camera
from robosim.viewer.framing import default_camera
from robosim.viewer.meshing import corner_normals, shape_mesh
from robosim.viewer.shading import Surface, draw, to_linear
from robosim.viewer.stage import Stage

SIZE = (160, 120)


def pixel_of(point, camera):
    local = (np.asarray(point) - camera.position) @ camera.R_WC
    x, y, _ = camera.project(local, *SIZE)
    return round(float(y)), round(float(x))


def box(center, size, rgb):
    vertices, faces = shape_mesh(Shape.box(size))
    m = len(faces)
    return Surface(
        (vertices + center)[faces],
        corner_normals(vertices, faces),
        np.tile(to_linear(np.array(rgb)), (m, 1)),
        np.zeros(m, np.float32),
    )


def test_the_robot_is_where_it_should_be(arm, swing):
    image = viewer.picture(arm, None, swing, size=SIZE, ghosts=0).astype(int)
    assert image.shape == (120, 160, 3)
    stage = Stage(arm, None, swing)
    camera = default_camera(stage, SIZE[0] / SIZE[1])
    end = arm.link_poses(stage.configuration(swing.duration))
    for point, channel in ((end["tip"][:3, 3], 0), (end["link1"][:3, 3], 2)):
        i, j = pixel_of(point, camera)
        pixel = image[i, j]
        assert pixel[channel] > 1.5 * np.delete(pixel, channel).max(), f"{pixel} at {point}"
    # A blue ghost at the start, paler than paint, measured in the middle of the upper link.
    X = arm.link_poses(stage.configuration(0.0))["link1"]
    pixel = image[pixel_of(X[:3, 3] + 0.25 * X[:3, 2], camera)]
    assert pixel[2] > pixel[0] + 20
    assert pixel[0] > 60


def test_a_motion_shows_path_and_ghosts(arm, swing):
    size = (320, 240)  # large enough for the path to be a pixel wide
    still = viewer.picture(arm, None, None, q=[1.0, 0.0], size=size).astype(int)
    moving = viewer.picture(arm, None, swing, size=size).astype(int)

    def orange(image):
        r, g, b = np.moveaxis(image, -1, 0)
        return np.count_nonzero((r > g + 40) & (g > b + 15))

    assert orange(moving) > orange(still) + 100


def test_the_same_picture_every_time(arm, swing):
    pictures = [viewer.picture(arm, None, swing, size=(80, 60)) for _ in range(2)]
    assert np.array_equal(*pictures)


def test_shadow_falls_away_from_the_sun_and_under_things():
    cube = box((0, 0, 0.5), (0.4, 0.4, 0.4), (0.5, 0.5, 0.5))  # floats: nothing hides its shadow
    camera = Camera(np.array([-3.0, 0, 2.5]), np.array([0, 0, 0.2]))
    with_cube = draw(cube, [], camera, *SIZE, ground=0.0).astype(int)
    without = draw(Surface.join([]), [], camera, *SIZE, ground=0.0).astype(int)
    change = with_cube.sum(axis=-1) - without.sum(axis=-1)
    i, j = pixel_of((0, 0, 0.0), camera)
    assert change[i, j] < -20, "no ambient occlusion under the cube"
    # The sun stands behind the viewer's left shoulder, so the umbra lies ahead and to the right.
    darkest = np.unravel_index(
        np.argmin(np.where(with_cube.std(axis=-1) < 12, change, 0)), change.shape
    )
    assert change[darkest] < -150
    far = pixel_of((-1.0, 1.0, 0), camera)
    assert abs(change[far]) < 12, "far away nothing changes"


def test_light_comes_from_above():
    cube = box((0, 0, 0.5), (1, 1, 1), (0.6, 0.6, 0.6))
    camera = Camera(np.array([-4.0, 0, 3]), np.array([0, 0, 0.5]))
    image = draw(cube, [], camera, *SIZE, ground=None).astype(int)
    top, front = image[pixel_of((0, 0, 1.0), camera)], image[pixel_of((-0.5, 0, 0.5), camera)]
    assert top.sum() > front.sum() + 60


def test_ghosts_let_through_and_stay_behind():
    camera = Camera(np.array([-4.0, 0, 0.5]), np.array([0, 0, 0.5]))
    red, blue, size = (0.8, 0.1, 0.1), (0.1, 0.1, 0.8), (0.1, 1, 1)
    wall, front, behind = (
        box((0, 0, 0.5), size, red),
        box((-0.5, 0, 0.5), size, blue),
        box((0.5, 0, 0.5), size, blue),
    )
    plain = draw(wall, [], camera, *SIZE, ground=None).astype(int)
    center = pixel_of((0, 0, 0.5), camera)
    assert np.array_equal(
        draw(wall, [(behind, 0.5)], camera, *SIZE, ground=None)[center], plain[center]
    )
    mixed = draw(wall, [(front, 0.5)], camera, *SIZE, ground=None).astype(int)[center]
    assert mixed[2] > plain[center][2] + 20
    assert mixed[0] > 40


def test_a_cloud_is_balls_that_shade_and_cast_shadows(arm):
    rng = np.random.default_rng(0)
    camera = Camera(np.array([-4.0, 0, 2.5]), np.array([0, 0, 0.3]))
    points = rng.uniform((-0.4, -0.4, 0.5), (0.4, 0.4, 0.52), (4000, 3))
    green = Surface(
        *(getattr(Surface.empty(), name) for name in ("corners", "normals", "albedo", "gloss")),
        points,
        np.full(4000, 0.02),
        np.tile(to_linear(np.array((0.1, 0.8, 0.1))), (4000, 1)),
    )
    image = draw(green, [], camera, *SIZE, ground=0.0).astype(int)
    bare = draw(Surface.empty(), [], camera, *SIZE, ground=0.0).astype(int)
    pixel = image[pixel_of((0, 0, 0.52), camera)]
    assert pixel[1] > 2 * max(pixel[0], pixel[2])
    # Under the points it is as dark as under a plate in the same place.
    plate = box((0, 0, 0.51), (0.84, 0.84, 0.06), (0.1, 0.8, 0.1))
    under = draw(plate, [], camera, *SIZE, ground=0.0).astype(int)
    shadow = (bare.sum(axis=-1) - under.sum(axis=-1) > 100) & (np.ptp(under, axis=-1) < 20)
    assert np.count_nonzero(shadow) > 100
    darker = (bare.sum(axis=-1) - image.sum(axis=-1))[shadow] / (
        bare.sum(axis=-1) - under.sum(axis=-1)
    )[shadow]
    assert 0.8 < np.median(darker) < 1.2


def test_many_points_are_drawn(arm):
    # Drawn as a mesh of eight triangles per point, 300,000 points would take minutes and 20 GB.
    rng = np.random.default_rng(1)
    scene = Scene("camera")
    scene.add_points(
        "cloud", rng.uniform((-1, -1, -0.02), (1, 1, 0), (300_000, 3)), 0.004, color=(0.1, 0.8, 0.1)
    )
    image = viewer.picture(arm, scene, size=SIZE).astype(int)
    assert np.count_nonzero(image[..., 1] > image[..., 0] + 40) > 3000


def test_the_robot_is_seen_past_a_cloud(arm):
    # The box around floor and wall contains the robot, but the points do not hide it from all
    # sides.
    rng = np.random.default_rng(2)
    floor = rng.uniform((-1, -1, -0.06), (1, 1, -0.05), (20_000, 3))
    wall = rng.uniform((0.9, -1, 0), (0.95, 1, 1.5), (20_000, 3))
    scene = Scene("camera")
    scene.add_points("cloud", np.concatenate([floor, wall]), 0.02)
    camera = default_camera(Stage(arm, scene), 1.0)
    assert camera.position[0] < camera.look_at[0], "looks through the wall"


def test_from_which_side(arm):
    for azimuth in (0.0, 1.0, -2.0):
        camera = default_camera(Stage(arm), 1.0, azimuth=azimuth, elevation=0.3)
        back = camera.position - camera.look_at
        assert np.isclose(np.arctan2(back[1], back[0]), azimuth)
        assert np.isclose(back[2], np.linalg.norm(back) * np.sin(0.3))


def test_png_file(arm, tmp_path):
    from PIL import Image

    path = tmp_path / "arm.png"
    viewer.render_png(path, arm, size=(64, 48))
    with Image.open(path) as image:
        assert np.array_equal(np.asarray(image.convert("RGB")), viewer.picture(arm, size=(64, 48)))
    with pytest.raises(FileError):
        viewer.render_png(tmp_path / "none" / "arm.png", arm, size=(32, 32))
    assert [p.name for p in tmp_path.iterdir()] == ["arm.png"]


def test_bad_input_is_named(arm):
    with pytest.raises(RobosimError, match="100000 x 10"):
        viewer.picture(arm, size=(100000, 10))
    stranger = Trajectory.from_waypoints([0, 1], [[0.0], [1.0]], position_names=["knee"])
    with pytest.raises(TrajectoryError, match="'knee'"):
        viewer.picture(arm, None, stranger)
