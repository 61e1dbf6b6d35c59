"""Make the pictures of the README and the documentation anew: `python docs/make_pictures.py`.

Writes into docs/images: a painted picture of a real plan, its torques beside their limits, and, where a
Chromium is installed, a screenshot of the viewer. Needs the extra `view` for the last.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import robosim
from robosim import planners, viewer
from robosim.scene import load_scene

IMAGES = Path(__file__).resolve().parent / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SCENES = ("bookshelf_small", "table_pick", "cage")


def main() -> None:
    """Plan once in some scenes, then make every picture of the first."""
    IMAGES.mkdir(exist_ok=True)
    ur5 = robosim.load_robot("ur5")
    for name in SCENES:
        scene = load_scene(name)
        result = planners.plan(planners.Problem(ur5, scene))
        assert result.trajectory is not None, result.reason
        first = name == SCENES[0]
        viewer.render_png(
            IMAGES / f"{name}.png", ur5, scene, result.trajectory, size=(1200, 900) if first else (800, 600)
        )
        if first:
            result.trajectory.plot().savefig(IMAGES / "trajectory.png", dpi=80)
            screenshot(IMAGES / "viewer.png", ur5, scene, result.trajectory)
    for path in sorted(IMAGES.glob("*.png")):
        shrink(path)
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")


def shrink(path: Path) -> None:
    """Store a PNG with a palette of 256 colours, which halves its size and can hardly be seen."""
    from PIL import Image

    with Image.open(path) as image:
        small = image.convert("RGB").quantize(
            256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.FLOYDSTEINBERG
        )
    small.save(path, optimize=True)


def screenshot(path: Path, *shown) -> None:
    """The live viewer as a browser without a screen sees it."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("no Chromium: the viewer's screenshot is left as it is")
        return
    running = viewer.show(*shown, port=0, block=False)
    options = ["--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    options += ["--hide-scrollbars", "--window-size=1000,750", "--virtual-time-budget=12000"]
    subprocess.run([browser, *options, f"--screenshot={path}", running.url], check=True, capture_output=True)
    running.stop()


if __name__ == "__main__":
    main()
