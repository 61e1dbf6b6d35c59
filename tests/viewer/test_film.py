"""Films: all pictures at their times, attached objects, and files written whole or not at all."""

import io
import os

import numpy as np
import pytest

from robosim import viewer
from robosim.cli import main
from robosim.errors import FileError, MissingDependencyError, RobosimError, SceneError
from robosim.geometry import pose
from robosim.scene import Scene
from robosim.trajectory import Event, Trajectory
from robosim.viewer.film import _swatches
from robosim.viewer.framing import default_camera
from robosim.viewer.stage import Stage

SIZE = (160, 120)


def pages(path):
    """Pictures of a GIF and their durations [s]."""
    from PIL import Image, ImageSequence

    with Image.open(path) as file:
        shown = [
            (np.asarray(page.convert("RGB")).astype(int), page.info["duration"])
            for page in ImageSequence.Iterator(file)
        ]
        assert file.info["loop"] == 0
    return [image for image, _ in shown], [duration / 1000 for _, duration in shown]


@pytest.fixture(scope="module")
def picked(arm, swing):
    """A yellow ball high above the arm, attached from 0.8 s to 1.5 s."""
    scene = Scene("s")
    scene.add_sphere("ball", 0.1, pose((0.3, 0, 0.9)), color=(1, 1, 0, 1))
    return scene, swing.replace(
        events=[Event(0.8, "attach", "ball", "tip"), Event(1.5, "detach", "ball")]
    )


def test_a_gif_shows_every_moment_as_long_as_it_takes(arm, swing, tmp_path):
    path, told = tmp_path / "swing.gif", []
    viewer.render_film(
        path,
        arm,
        None,
        swing,
        size=SIZE,
        rate=7,
        azimuth=-1.5,
        progress=lambda k, n: told.append((k, n)),
    )
    images, durations = pages(path)
    assert len(images) == 15
    assert told == [(k, 15) for k in range(1, 16)]
    assert all(image.shape == (120, 160, 3) for image in images)
    # 0.8 s of rest before and after 2 s of motion. In between, each picture begins within 5 ms of
    # its time.
    assert sum(durations) == pytest.approx(2 + 2 * 0.8, abs=1e-9)
    begins = np.cumsum([0.0, *durations[:-1]])[1:] - 0.8
    assert np.abs(begins - np.linspace(0, 2, 15)[1:]).max() <= 0.005 + 1e-9
    # The red tip is at its projected position.
    stage = Stage(arm, None, swing)
    camera = default_camera(stage, SIZE[0] / SIZE[1], azimuth=-1.5)
    for k in (0, 5, 14):
        tip = arm.frame_pose(stage.configuration(2 * k / 14), "tip")[:3, 3]
        x, y, _ = camera.project((tip - camera.position) @ camera.R_WC, *SIZE)
        r, g, b = np.moveaxis(images[k], -1, 0)
        rows, columns = np.nonzero((r > 2 * g) & (r > 2 * b) & (g - b < 25))  # not the orange path
        # To two pixels: the path crosses the tip.
        assert abs(np.median(columns) - x) < 2
        assert abs(np.median(rows) - y) < 2


def test_what_is_carried_moves_from_attach_to_detach(arm, picked, tmp_path):
    scene, motion = picked
    path = tmp_path / "pick.gif"
    look = {"azimuth": -np.pi / 2, "elevation": 0.0}
    viewer.save(path, arm, scene, motion, size=SIZE, rate=10, **look)
    images, _ = pages(path)
    assert len(images) == 21
    stage = Stage(arm, scene, motion)
    camera = default_camera(stage, SIZE[0] / SIZE[1], **look)
    centers = []
    for k, image in enumerate(images):
        r, g, b = np.moveaxis(image, -1, 0)
        rows, columns = np.nonzero((r > b + 60) & (g > b + 60) & (np.abs(r - g) < 40))
        center = np.array([columns.mean(), rows.mean()])
        X = stage.object_pose("ball", k / 10)
        x, y, _ = camera.project((X[:3, 3] - camera.position) @ camera.R_WC, *SIZE)
        # The arm hides part of the ball at times: a quarter of its size, which is about ten pixels.
        assert np.linalg.norm(center - (x, y)) < 4, k
        centers.append(center)
    centers = np.array(centers)
    assert np.ptp(centers[:9], axis=0).max() < 1, "stays before"
    assert np.linalg.norm(centers[15] - centers[8]) > 10, "is carried"
    assert np.ptp(centers[15:], axis=0).max() < 4, "stays afterwards"


def test_several_motions_and_a_scene_that_does_not_fit(arm, swing, picked, tmp_path):
    scene, motion = picked
    viewer.save(tmp_path / "a.gif", arm, scene, [motion, swing.reverse()], size=(32, 32), rate=4)
    assert len(pages(tmp_path / "a.gif")[0]) == 17
    with pytest.raises(SceneError, match="no such object"):
        viewer.save(tmp_path / "b.gif", arm, None, motion, size=(32, 32))
    assert [p.name for p in tmp_path.iterdir()] == ["a.gif"]


def test_the_same_pictures_in_other_files(arm, picked, tmp_path):
    # The final picture has the ball where it was put down; HTML is written, too.
    scene, motion = picked
    image = viewer.picture(arm, scene, motion, size=SIZE, ghosts=0, azimuth=-1.5).astype(int)
    r, g, b = np.moveaxis(image, -1, 0)
    rows, columns = np.nonzero((r > b + 60) & (g > b + 60) & (np.abs(r - g) < 40))
    stage = Stage(arm, scene, motion)
    camera = default_camera(stage, SIZE[0] / SIZE[1], azimuth=-1.5)
    X = stage.object_pose("ball", 2.0)
    x, y, _ = camera.project((X[:3, 3] - camera.position) @ camera.R_WC, *SIZE)
    assert np.linalg.norm([columns.mean() - x, rows.mean() - y]) < 4
    pytest.importorskip("viser", reason="the extra `view` is not installed")
    viewer.save(tmp_path / "pick.html", arm, scene, motion)
    assert (
        b"carried" in (tmp_path / "pick.html").read_bytes()
        or (tmp_path / "pick.html").stat().st_size > 1e5
    )


def test_an_mp4(arm, swing, tmp_path):
    av = pytest.importorskip("av", reason="the extra `video` is not installed")
    path = tmp_path / "swing.mp4"
    viewer.render_film(path, arm, None, swing, size=SIZE, rate=10)
    with av.open(io.BytesIO(path.read_bytes())) as file:
        (stream,) = file.streams.video
        frames = [frame.to_ndarray(format="rgb24") for frame in file.decode(stream)]
        assert float(stream.average_rate) == 10
    assert len(frames) == 21 + 2 * 8
    assert frames[0].shape == (120, 160, 3)
    assert np.abs(frames[0].astype(int) - frames[7]).mean() < 2, "rests"
    assert np.abs(frames[0].astype(int) - frames[-1]).mean() > 2, "moves"


def test_an_mp4_without_its_package(arm, swing, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(MissingDependencyError, match=r"robosim\[video\]"):
        viewer.save(tmp_path / "a.mp4", arm, None, swing)


def test_rare_colors_keep_their_place():
    from PIL import Image

    image = np.full((200, 200, 3), (250, 250, 250), np.uint8)
    image[:, :100] = np.linspace(120, 255, 100)[None, :, None].astype(np.uint8)
    image[:4, :4] = (40, 150, 60)
    palette = Image.fromarray(_swatches(image)).quantize(64, Image.Quantize.MEDIANCUT)
    kept = np.asarray(
        Image.fromarray(image).quantize(palette=palette, dither=Image.Dither.NONE).convert("RGB")
    )
    assert np.abs(kept[0, 0].astype(int) - (40, 150, 60)).max() < 12


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("a.avi", {}, r"ends? in .*\.mp4"),
        ("a.gif", {"size": (8, 8)}, "8 x 8"),
        ("a.gif", {"rate": 0}, "rate is 0"),
        ("a.gif", {"rate": float("nan")}, "rate is nan"),
        ("a.mp4", {"size": (33, 32)}, "both must be even"),
    ],
)
def test_bad_input_is_named(arm, swing, tmp_path, name, options, says):
    with pytest.raises(RobosimError, match=says):
        viewer.render_film(tmp_path / name, arm, None, swing, **options)
    assert not list(tmp_path.iterdir())


def test_what_stands_still_is_no_film(arm, tmp_path):
    with pytest.raises(RobosimError, match="needs a motion"):
        viewer.save(tmp_path / "a.gif", arm)
    with pytest.raises(FileError, match="must end in"):
        viewer.save(tmp_path / "a.jpg", arm)
    with pytest.raises(FileError):
        viewer.save(tmp_path / "none" / "a.png", arm, size=(32, 32))


def test_by_the_command(tmp_path, capsys):
    ends = {"shoulder_lift_joint": -1.0}
    from robosim import load_robot

    ur5 = load_robot("ur5")
    start, goal = ur5.neutral(), ur5.configuration(ends)
    motion = Trajectory.from_waypoints([0, 0.5], [start, goal], position_names=ur5.position_names)
    motion.save(tmp_path / "plan.json")
    options = ["--trajectory", str(tmp_path / "plan.json"), "--size", "64x48", "--rate", "6"]
    assert main(["render", "ur5", *options, "-o", str(tmp_path / "plan.gif")]) == 0
    assert "plan.gif" in capsys.readouterr().out
    assert len(pages(tmp_path / "plan.gif")[0]) == 4
    assert (
        main(["render", "ur5", *options[:2], "-o", str(tmp_path / "plan.png"), "--size", "64x48"])
        == 0
    )
    assert main(["render", "ur5", "-o", str(tmp_path / "still.gif")]) == 2
    assert not os.path.exists(tmp_path / "still.gif")
