"""A real browser sees a planned shelf motion: in the live viewer, and in the standalone file with no network at all."""

import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

# The installed package, not the source folder that pytest runs in.
ISOLATED = "-P" if sys.version_info >= (3, 11) else "-I"

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WIDTH, HEIGHT = 1100, 500

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
pytest.importorskip("viser", reason="the extra `view` is not installed")


def screenshot(address, path, *options):
    """What the browser shows at an address, (height, width, 3) as integers."""
    from PIL import Image

    software = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    window = [f"--window-size={WIDTH},{HEIGHT}", "--virtual-time-budget=4000", f"--screenshot={path}"]
    profile = f"--user-data-dir={path.parent / 'profile'}"
    subprocess.run(
        [CHROMIUM, "--headless=new", "--no-sandbox", profile, *software, *window, *options, address],
        check=True,
        capture_output=True,
        timeout=120,
    )
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def assert_shows_robot_and_shelf(image):
    """Blue joint caps, the orange path and a wooden shelf, in the part of the picture that no panel covers."""
    middle = image[20:450, 315:760]
    r, g, b = np.moveaxis(middle, -1, 0)
    cap = np.count_nonzero((b > r + 35) & (b > g + 10) & (g > r))
    path = np.count_nonzero((r > 180) & (r > g + 40) & (g > b + 30))
    wood = np.count_nonzero((r > g + 12) & (g > b + 12) & (r < 240))
    assert len(np.unique(middle.reshape(-1, 3), axis=0)) > 800, "hardly any shades: nothing is lit"
    assert cap > 200, "no robot"
    assert path > 50, "no path of the tip"
    assert wood > 5000, "no shelf"


@pytest.fixture(scope="module")
def plan_file(tmp_path_factory):
    from robosim.cli import main

    path = tmp_path_factory.mktemp("plan") / "plan.json"
    assert main(["plan", "ur5", "--scene", "bookshelf_small", "-o", str(path)]) == 0
    return path


def test_live_viewer(plan_file, tmp_path):
    command = [sys.executable, ISOLATED, "-m", "robosim.cli", "view", "ur5", "--scene", "bookshelf_small"]
    process = subprocess.Popen(
        [*command, "--trajectory", str(plan_file), "--port", "0", "--no-open"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        url = process.stdout.readline().split()[1]
        image = screenshot(url, tmp_path / "live.png")
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=15)
    assert_shows_robot_and_shelf(image)


def test_standalone_file_without_network(plan_file, tmp_path):
    from robosim.cli import main

    page = tmp_path / "motion.html"
    shown = ["ur5", "--scene", "bookshelf_small", "--trajectory", str(plan_file)]
    assert main(["render", *shown, "-o", str(page)]) == 0
    image = screenshot(page.as_uri(), tmp_path / "page.png", "--host-resolver-rules=MAP * ~NOTFOUND")
    assert_shows_robot_and_shelf(image)
