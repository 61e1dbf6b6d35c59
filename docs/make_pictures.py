"""Make the pictures of the README and the documentation anew: `python docs/make_pictures.py`.

Writes into docs/images: a painted picture of a real plan, its torques beside their limits, how a simulated arm
followed it, what a state of a batch costs, and, where a Chromium is installed, a screenshot of the viewer. Needs the
extra `view` for the last, and an idle machine for the one before.
"""

from __future__ import annotations

import http.server
import shutil
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import robosim
from robosim import batch, planners, viewer
from robosim.execution.simulated import SimulatedArm
from robosim.execution.streaming import stream_trajectory
from robosim.execution.tracking import Tracking
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
        picture, size = ("plan.png", (1200, 900)) if first else (f"{name}.png", (800, 600))
        viewer.render_png(IMAGES / picture, ur5, scene, result.trajectory, size=size)
        if first:
            result.trajectory.plot().savefig(IMAGES / "trajectory.png", dpi=80)
            followed(ur5, result.trajectory).plot().savefig(IMAGES / "tracking.png", dpi=80)
            screenshot(IMAGES / "viewer.png", ur5, scene, result.trajectory)
    costs_of_batches(IMAGES / "batch.png", ur5)
    for path in sorted(IMAGES.glob("*.png")):
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")


def followed(model, trajectory) -> Tracking:
    """How a simulated arm with dynamics followed it."""
    start = dict(zip(trajectory.position_names, trajectory.position(0.0), strict=True))
    arm = SimulatedArm(model, tracking="dynamics", initial=start)
    return stream_trajectory(arm, trajectory, rate=125.0).tracking


def costs_of_batches(path: Path, model) -> None:
    """Time per state over the number of states, on one thread, and with one call for each."""
    functions = ("inverse_dynamics", "forward_dynamics", "forward_dynamics_derivatives")
    counts = 2 ** np.arange(13)
    rng = np.random.default_rng(0)
    q = batch.random_configuration(model, rng, counts[-1])
    v, x = rng.normal(size=(2, counts[-1], model.n_v))
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name in functions:
        one, many = getattr(model.data(), name), getattr(batch, name)
        times = []
        for n in counts:
            given = q[:n], v[:n], x[:n]
            out = many(model, *given)
            times.append(quickest(partial(many, model, *given, threads=1, out=out)) / n)
        (line,) = axes.loglog(counts, 1e6 * np.array(times), "o-", base=2, label=name)
        states = list(zip(q[:64], v[:64], x[:64], strict=True))
        each = quickest(partial(one_by_one, one, states)) / len(states)
        axes.axhline(1e6 * each, color=line.get_color(), linestyle="--")
    axes.set(xlabel="states in the batch", ylabel="time per state [us]")
    axes.set_xticks(counts, [str(n) for n in counts])
    axes.set_yticks(ticks := [0.1, 0.2, 0.5, 1, 2, 5, 10], [str(tick) for tick in ticks])
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=80)


def one_by_one(function: Callable[..., object], states: list[tuple[np.ndarray, ...]]) -> None:
    """Call it for each state."""
    for state in states:
        function(*state)


def quickest(call: Callable[[], object]) -> float:
    """Seconds of the quickest of many calls: what the machine does besides only adds."""
    times = []
    ends = time.perf_counter() + 0.3
    while time.perf_counter() < ends:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def screenshot(path: Path, *shown) -> None:
    """The live viewer as a browser without a screen sees it."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("no Chromium: the viewer's screenshot is left as it is")
        return
    running = viewer.show(*shown, port=0, block=False)
    options = ["--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    options += ["--hide-scrollbars", "--window-size=1000,700", "--virtual-time-budget=5000"]
    with urllib.request.urlopen(running.url) as answer:
        # The viewer's page without its warning that this browser renders in software.
        page = answer.read().replace(
            b"</head>", b"<style>.mantine-Notifications-root{display:none}</style></head>", 1
        )
    with serving(page) as address:
        address += f"?websocket={running.url.replace('http', 'ws', 1)}"
        subprocess.run([browser, *options, f"--screenshot={path}", address], check=True, capture_output=True)
    running.stop()


@contextmanager
def serving(page: bytes) -> Iterator[str]:
    """Serve one page on this machine while the body runs, and say where."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


if __name__ == "__main__":
    main()
