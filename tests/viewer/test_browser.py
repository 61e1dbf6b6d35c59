"""A real browser shows a planned shelf motion, and a simulation with its contact forces.

Both are shown in the live viewer, and in the standalone file without any network.
"""

import os
import shutil
import signal
import subprocess

import numpy as np
import pytest

from ..isolated import PYTHON  # noqa: TID252

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
WIDTH, HEIGHT = 1100, 500
OFFLINE = ["--host-resolver-rules=MAP * ~NOTFOUND"]
GRIPPER = ["simulate", "gripper_2f", "--base", "floating"]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
pytest.importorskip("viser", reason="the extra `view` is not installed")


def screenshot(address, path, *options, lacks):
    """Screenshot of an address by the browser, (height, width, 3) as integers.

    `lacks(image)` lists what is missing in the picture. On a busy machine the page may not be drawn
    within the browser's time limit. The limit is then increased while something is missing.
    """
    for budget in (4_000, 20_000, 100_000):
        image = shown_within(budget, address, path, *options)
        if not lacks(image):
            break
    assert not lacks(image)
    return image


def shown_within(budget, address, path, *options):
    """Screenshot after `budget` of the page's own time [ms].

    Headless Chromium occasionally hangs at startup. It is then started once more with an empty
    profile. A page that makes it hang does so again.
    """
    from PIL import Image

    software = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    window = [
        f"--window-size={WIDTH},{HEIGHT}",
        f"--virtual-time-budget={budget}",
        f"--screenshot={path}",
    ]
    for last in (False, True):
        profile = f"--user-data-dir={path.parent / f'profile{budget}{int(last)}'}"
        command = [
            CHROMIUM,
            "--headless=new",
            "--no-sandbox",
            profile,
            *software,
            *window,
            *options,
            address,
        ]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=120)
            break
        except subprocess.TimeoutExpired:
            if last:
                raise
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def middle(image):
    """Part of a picture without panels and notes."""
    return image[20:450, 315:760]


def lacks_robot_or_shelf(image):
    """List of what is missing: blue joint caps, the orange path, a wooden shelf."""
    r, g, b = np.moveaxis(middle(image), -1, 0)
    shown = {
        "light (hardly any shades)": len(np.unique(middle(image).reshape(-1, 3), axis=0)) > 800,
        "robot": np.count_nonzero((b > r + 35) & (b > g + 10) & (g > r)) > 200,
        "path of the tip": np.count_nonzero((r > 180) & (r > g + 40) & (g > b + 30)) > 50,
        "shelf": np.count_nonzero((r > g + 12) & (g > b + 12) & (r < 240)) > 5000,
    }
    return [thing for thing, is_shown in shown.items() if not is_shown]


@pytest.fixture(scope="module")
def plan_file(tmp_path_factory):
    from robosim.cli import main

    path = tmp_path_factory.mktemp("plan") / "plan.json"
    assert main(["plan", "ur5", "--scene", "bookshelf_small", "-o", str(path)]) == 0
    return path


def live_screenshot(arguments, path, lacks):
    """Screenshot of the viewer that a command opens."""
    command = [*PYTHON, "-m", "robosim.cli", *arguments]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"}
        | dict.fromkeys(("DISPLAY", "WAYLAND_DISPLAY"), ""),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        url = next(line.split()[1] for line in process.stdout if line.startswith("see http"))
        return screenshot(url, path, lacks=lacks)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=15) == 0


def test_live_viewer(plan_file, tmp_path):
    shown = ["view", "ur5", "--scene", "bookshelf_small", "--trajectory", str(plan_file)]
    live_screenshot(
        [*shown, "--port", "0", "--no-open"], tmp_path / "live.png", lacks_robot_or_shelf
    )


def test_standalone_file_without_network(plan_file, tmp_path):
    from robosim.cli import main

    page = tmp_path / "motion.html"
    shown = ["ur5", "--scene", "bookshelf_small", "--trajectory", str(plan_file)]
    assert main(["render", *shown, "-o", str(page)]) == 0
    screenshot(page.as_uri(), tmp_path / "page.png", *OFFLINE, lacks=lacks_robot_or_shelf)


def greens(image):
    """Number of pixels of arrows at sticking contacts."""
    r, g, b = np.moveaxis(middle(image), -1, 0)
    return np.count_nonzero((g > r + 40) & (g > b + 5))


def lacks_gripper(image):
    return [] if np.count_nonzero(middle(image).max(axis=-1) < 150) > 2000 else ["gripper"]


def lacks_gripper_or_forces(image):
    return lacks_gripper(image) + ([] if greens(image) > 500 else ["arrows of forces"])


@pytest.fixture(scope="module")
def at_rest(tmp_path_factory):
    """State file of a gripper at rest on the floor."""
    from robosim.cli import main

    path = tmp_path_factory.mktemp("rest") / "rest.json"
    assert main([*GRIPPER, "--for", "500ms", "-o", str(path)]) == 0
    return path


def test_forces_in_the_live_viewer(at_rest, tmp_path):
    shown = [*GRIPPER, "--from", str(at_rest), "--for", "2s", "--view"]
    live_screenshot(shown, tmp_path / "live.png", lacks_gripper_or_forces)


@pytest.mark.parametrize("touching", [True, False])
def test_forces_in_the_standalone_file(touching, at_rest, tmp_path):
    from robosim.cli import main

    page = tmp_path / "motion.html"
    # From its start, the gripper falls for 45 ms. The picture may be taken at any time of the
    # motion.
    when = ["--from", str(at_rest), "--for", "2s"] if touching else ["--for", "30ms"]
    assert main([*GRIPPER, *when, "--render", str(page)]) == 0
    lacks = lacks_gripper_or_forces if touching else lacks_gripper
    image = screenshot(page.as_uri(), tmp_path / "page.png", *OFFLINE, lacks=lacks)
    assert touching or greens(image) == 0
