"""The live viewer: its address and its sliders; the standalone file."""

import re
import socket
import urllib.request

import numpy as np
import pytest

from robosim import viewer
from robosim.errors import FileError, MissingDependencyError, TrajectoryError
from robosim.trajectory import Trajectory
from robosim.viewer.server import free_port

viser = pytest.importorskip("viser", reason="the extra `view` is not installed")


@pytest.fixture
def running(arm, swing):
    shown = viewer.show(arm, None, swing, port=0, block=False)
    yield shown
    shown.stop()


def test_listens_on_this_machine_only(running):
    assert running.host == "127.0.0.1"
    with socket.create_connection(("127.0.0.1", running.port), timeout=5):
        pass
    # All of 127/8 is this machine: a server that listened on all addresses would answer here, too.
    with (
        pytest.raises(OSError),  # noqa: PT011 (refused or out of reach)
        socket.create_connection(("127.0.0.2", running.port), timeout=2),
    ):
        pass


def test_serves_a_page(running):
    with urllib.request.urlopen(running.url, timeout=10) as answer:
        assert answer.status == 200
        assert b"<html" in answer.read().lower()


def test_prints_nothing(arm, capfd):
    viewer.show(arm, port=0, block=False).stop()
    assert capfd.readouterr() == ("", "")


def test_the_clock_moves_the_robot(running, arm, swing):
    for t in (0.4, 2.0):
        running._time.value = t
        running._place(running.stage.configuration(t))
        frame = running.scene.links["tip"]
        assert np.allclose(frame.position, arm.frame_pose(swing.position(t), "tip")[:3, 3])
        w, x, y, z = frame.wxyz
        assert np.allclose((x, z), 0)
        assert np.isclose(2 * np.arctan2(y, w), swing.position(t).sum())


def test_joint_sliders_move_the_robot(arm):
    shown = viewer.show(arm, q=[0.1, 0.2], port=0, block=False)
    try:
        handlers = [
            shown._joint_handler(k, type("Slider", (), {"value": v}))
            for k, v in ((0, 0.5), (1, -0.3))
        ]
        for handler in handlers:
            handler(None)
        assert np.allclose(
            shown.scene.links["tip"].position, arm.frame_pose([0.5, -0.3], "tip")[:3, 3]
        )
    finally:
        shown.stop()


def test_a_busy_port_gives_way_to_the_next(arm):
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        shown = viewer.show(arm, port=port, block=False)
        assert port < shown.port <= port + 100
        assert shown.url.endswith(str(shown.port))
        shown.stop()


def test_bad_addresses_are_named():
    with pytest.raises(FileError, match="70000"):
        free_port("127.0.0.1", 70000)
    # A documentation address: never this machine's.
    with pytest.raises(FileError, match=r"203\.0\.113\.7"):
        free_port("203.0.113.7", 8080)


def test_a_stranger_s_trajectory_is_refused(arm):
    stranger = Trajectory.from_waypoints([0, 1], [[0.0], [1.0]], position_names=["knee"])
    with pytest.raises(TrajectoryError, match="'knee'"):
        viewer.show(arm, None, stranger, port=0, block=False)


def test_a_missing_viser_names_the_extra(arm, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "viser", None)
    with pytest.raises(MissingDependencyError, match=r"robosim\[view\]"):
        viewer.show(arm, port=0, block=False)


def test_html_is_one_file_that_loads_nothing(arm, swing, tmp_path):
    path = tmp_path / "swing.html"
    viewer.export_html(path, arm, None, swing)
    text = path.read_text()
    assert "__VISER_EMBED_DATA__" in text
    assert len(text) < 3_000_000
    # No script, style or picture from another address.
    assert not re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"?(?:https?:)?//", text)
    with pytest.raises(FileError):
        viewer.export_html(tmp_path / "none" / "swing.html", arm, None, swing)
    assert [p.name for p in tmp_path.iterdir()] == ["swing.html"]
