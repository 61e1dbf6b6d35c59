"""Make the pictures of the README and the documentation: `python docs/make_pictures.py`.

Writes these pictures into docs/images:
- a real plan, its torques beside their limits, and how a simulated arm followed it
- the clearance of a plan, and a plan into a concave mesh
- a film of a pick and place
- falling dominoes and the forces between them
- the plot of `robosim simulate`, and the results of examples
- bundled robots
- the cost of a state in a batch
- a screenshot of the viewer, if a Chromium is installed

The screenshot needs the extra `view`, the cost needs an idle machine, and the results of examples
need `cma` of the extra `bench`.
"""

from __future__ import annotations

import http.server
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import robosim
from robosim import planners, viewer
from robosim.execution.simulated import SimulatedArm
from robosim.execution.streaming import stream_trajectory
from robosim.execution.tracking import Tracking
from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder
from robosim.scene import Scene, load_scene, ray_cast
from robosim.simulation import Simulation, State
from robosim.trajectory import Trajectory
from robosim.world import Material, World

IMAGES = Path(__file__).resolve().parent / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SCENES = ("bookshelf_small", "table_pick", "cage")
CLEARANCE = 0.04  # required of a plan [m]
# Bundled robots: posture, base, entry of q that lifts it onto the ground, and the viewer's
# direction about z [rad].
ROBOTS = {
    "quadruped": ("standing", "floating", 2, 0.9),
    "ant": ("standing", "floating", 2, 0.6),
    "humanoid": ("crouching", "floating", 2, 0.9),
    "drone": ("aligned", "floating", 2, 0.6),
    "race_car": ("left", "floating", 2, 0.6),
    "half_cheetah": ("standing", "fixed", 1, -1.3),
    "jump_worm": ("ready", "fixed", 1, -1.2),
    "catapult": ("ready", "fixed", None, -1.2),
    "double_cart_pole": ("center", "fixed", None, -1.0),
}


def main() -> None:
    """Plan in some scenes, then make every picture."""
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
    clearance(IMAGES / "clearance.png", ur5)
    concave(IMAGES / "concave.png", ur5)
    pick_and_place(IMAGES / "pick_and_place.gif")
    dominoes(IMAGES / "dominoes.png", IMAGES / "forces.png")
    fall(IMAGES / "fall.png")
    found(IMAGES / "find_friction.png", "10_find_friction.py")
    found(IMAGES / "golf_swing.png", "11_golf_swing.py", "--patience", "10")
    found(IMAGES / "throw.png", "12_throw.py", "--patience", "10")
    found(IMAGES / "train_a_policy.png", "13_train_a_policy.py")
    found(IMAGES / "lift_off.png", "14_lift_off.py")
    found(IMAGES / "lift_a_ball.png", "15_lift_a_ball.py")
    bundled(IMAGES / "robots.png")
    costs_of_batches(IMAGES / "batch.png", ur5)
    for path in sorted([*IMAGES.glob("*.png"), *IMAGES.glob("*.gif")]):
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")


def followed(model, trajectory) -> Tracking:
    """Tracking of the trajectory by a simulated arm with dynamics."""
    start = dict(zip(trajectory.position_names, trajectory.position(0.0), strict=True))
    arm = SimulatedArm(model, tracking="dynamics", initial=start)
    return stream_trajectory(arm, trajectory, rate=125.0).tracking


def along(path: np.ndarray, points: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Fractions of the path's length, and the configurations there."""
    way = np.concatenate([[0], np.cumsum([np.linalg.norm(b - a) for a, b in pairwise(path)])])
    at = np.linspace(0, way[-1], points)
    return at / way[-1], np.column_stack([np.interp(at, way, column) for column in path.T])


def gaps(prepared: planners.Prepared, path: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least distance between robot and surroundings along a path.

    Only pairs whose distance the motion changes are considered.
    """
    part, q = along(path)
    links = range(prepared.scene.n_colliders)
    outside = [a not in links or b not in links for a, b in prepared.scene.pairs]
    distances = np.array([prepared.scene.distances(configuration) for configuration in q])[
        :, outside
    ]
    return part, distances[:, np.ptp(distances, axis=0) > 1e-6].min(axis=1)


def clearance(path: Path, ur5) -> None:
    """Show a plan before and after optimization: pictures of both paths, and distances."""
    scene = load_scene("table_under_pick", model=ur5)
    prepared = planners.prepare(planners.Problem(ur5, scene, clearance=CLEARANCE))
    goals = planners.goal_configurations(prepared, prepared.goals, prepared.start).q
    short = planners.simplify(prepared, planners.search(prepared, goals).path)
    ways = {
        "shortcuts": short,
        f"optimized for {1e3 * CLEARANCE:.0f} mm": planners.optimize(prepared, short),
    }
    figure = plt.figure(figsize=(11, 7), layout="constrained")
    axes = figure.subplot_mosaic([["0", "1"], ["gap", "gap"]], height_ratios=[1.5, 1])
    for i, (name, way) in enumerate(ways.items()):
        part, q = along(way, 120)
        motion = Trajectory.from_waypoints(
            4 * part, q, position_names=prepared.model.position_names
        )
        axes[str(i)].imshow(viewer.picture(ur5, scene, motion, size=(900, 640), azimuth=0.9))
        axes[str(i)].set_axis_off()
        length = np.linalg.norm(np.diff(way, axis=0), axis=1).sum()
        axes[str(i)].set_title(f"{name}: length {length:.2f} rad")
        part, least = gaps(prepared, way)
        axes["gap"].plot(part, 1e3 * least, label=name)
    axes["gap"].axhline(1e3 * CLEARANCE, color="0.5", linestyle="--", label="clearance wanted")
    axes["gap"].set(
        xlabel="part of the way", ylabel="least distance [mm]", xlim=(0, 1), ylim=(0, None)
    )
    axes["gap"].grid(alpha=0.3)
    axes["gap"].legend()
    figure.savefig(path, dpi=90)
    plt.close(figure)


def bin_mesh(x: float, y: float, z: float, wall: float) -> tuple[np.ndarray, np.ndarray]:
    """Box without a lid as one closed concave mesh."""
    ring = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) / 2
    outer, inner = ring * [x, y], ring * [x - 2 * wall, y - 2 * wall]
    levels = [(outer, 0.0), (outer, z), (inner, wall), (inner, z)]
    vertices = np.concatenate([np.column_stack([at, np.full(4, height)]) for at, height in levels])
    quads = [(3, 2, 1, 0), (8, 9, 10, 11)]
    for k, m in ((0, 1), (1, 2), (2, 3), (3, 0)):
        quads += [
            (k, m, 4 + m, 4 + k),
            (8 + m, 8 + k, 12 + k, 12 + m),
            (4 + k, 4 + m, 12 + m, 12 + k),
        ]
    return vertices, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def concave(path: Path, ur5) -> None:
    """Show a plan into a bin on terrain, both kept concave, and a depth image from above."""
    scene = Scene("bin")
    i, j = np.mgrid[:40, :40] / 39
    heights = 0.04 * np.sin(9 * i) * np.cos(7 * j)
    X_WG = pose((-0.4, -0.7, -0.045))
    scene.add_height_field("ground", heights, 1.4 / 39, X_WG, depth=0.02, color=(0.55, 0.6, 0.5))
    X_WB = pose((0.45, 0.1, 0), rpy=(0, 0, 0.3))
    scene.add_mesh(
        "bin", bin_mesh(0.5, 0.4, 0.25, 0.02), X_WB, keep="solid", color=(0.75, 0.5, 0.3)
    )
    goal = np.array([-0.02, -1.487, 2.114, -2.198, -1.571, -1.891])
    start = goal + 1.3 * np.eye(6)[0]
    result = planners.plan(planners.Problem(ur5, scene, start, goal, clearance=0.02))
    assert result.trajectory is not None, result.reason

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    axes[0].imshow(viewer.picture(ur5, scene, result.trajectory, size=(900, 640), azimuth=0.9))
    axes[0].set_title("from beside the bin into it")
    axes[0].set_axis_off()
    eye, width, height = np.array([1.2, 0.8, 1.1]), 320, 228
    forward = np.array([0.3, 0.1, 0.15]) - eye
    right = np.cross(forward, (0, 0, 1))
    right, forward = right / np.linalg.norm(right), forward / np.linalg.norm(forward)
    u, v = np.meshgrid(np.linspace(-0.6, 0.6, width), np.linspace(0.43, -0.43, height))
    beams = forward + u[..., None] * right + v[..., None] * np.cross(right, forward)
    seen = ray_cast(scene.compile(ur5), goal, eye, beams.reshape(-1, 3), max_t=5.0, threads=0)
    depth = np.where(seen.hit, seen.t, np.nan).reshape(
        height, width
    )  # along `forward`, whose component in a beam is 1
    image = axes[1].imshow(depth, cmap="viridis_r")
    axes[1].set_title("what a depth camera sees at the goal")
    axes[1].set_axis_off()
    figure.colorbar(image, ax=axes[1], label="depth [m]", shrink=0.8)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def pick_and_place(path: Path) -> None:
    """Make the example's picture, larger."""
    program, here = (
        Path(__file__).resolve().parents[1] / "examples" / "06_pick_and_place.py",
        Path.cwd(),
    )
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        shown = runpy.run_path(str(program))
        os.chdir(here)
    motions = [shown["reach"].trajectory, shown["carried"]]
    look = {"size": (520, 360), "rate": 15, "azimuth": 0.25, "elevation": 0.55}
    viewer.save(path, shown["robot"], shown["at_the_beginning"], motions, **look)


def dominoes(path: Path, pushing: Path) -> None:
    """Show eight falling dominoes at four instants, and once with the forces between them."""
    size, mass, n = np.array([0.02, 0.1, 0.2]), 0.2, 8
    builder = ModelBuilder("dominoes")
    builder.add_link("root")
    x, y, z = size**2
    for i in range(n):
        builder.add_link(
            f"domino{i}", mass=mass, inertia=mass / 12 * np.diag([y + z, x + z, x + y])
        )
        builder.add_joint(f"free{i}", "floating", "root", f"domino{i}")
        builder.add_collider(f"domino{i}", Shape.box(size))
    ground = Scene("floor")
    ground.add_box("floor", (1.3, 0.4, 0.02), pose((0.4, 0, -0.01)))
    simulation = Simulation(
        World(builder.build(), ground, materials={"floor": Material(friction=0.6)})
    )
    q = np.concatenate([[0.1 * i, 0, 0.1, 0, 0, 0, 1] for i in range(n)])
    v = np.zeros(6 * n)
    v[0], v[4] = 0.3, 3.0
    motion = simulation.rollout(simulation.state(q, v), 800)
    figure, axes = plt.subplots(2, 2, figsize=(9, 5), layout="constrained")
    for axis, instant in zip(axes.flat, (0, 250, 450, 800), strict=True):
        shown = viewer.picture(
            simulation.model,
            ground,
            q=motion.q[instant],
            size=(800, 400),
            azimuth=-1.2,
            elevation=0.3,
        )
        axis.imshow(shown)
        axis.set_title(f"{motion.times[instant]:.2f} s", fontsize="small")
        axis.set_axis_off()
    figure.savefig(path, dpi=90)
    plt.close(figure)
    replay = simulation.rollout(simulation.state(q, v), 550).replay()
    shown = {"size": (1100, 500), "ghosts": 0, "azimuth": -1.2, "elevation": 0.3}
    viewer.render_png(pushing, simulation.model, ground, replay, **shown)


def fall(path: Path) -> None:
    """Plot a gripper that is thrown onto a floor, with the command `robosim simulate`."""
    from robosim.cli import main as command

    with tempfile.TemporaryDirectory() as folder:
        start = Path(folder) / "start.json"
        # Upright with its finger closed; the velocity is forward, the rotation is about the lateral
        # axis [m/s, rad/s].
        State([0, 0, 0.15, 0, 0, 0, 1, 0], [1, 0, 0, 0, 2, 0, 0]).save(start)
        run = [
            "simulate",
            "gripper_2f",
            "--base",
            "floating",
            "--from",
            str(start),
            "--for",
            "800ms",
        ]
        assert command([*run, "--friction", "0.2", "--plot", str(path)]) == 0


def found(path: Path, example: str, *options: str) -> None:
    """Copy the plot of this name that an example writes."""
    program = Path(__file__).resolve().parents[1] / "examples" / example
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, program, *options], cwd=folder, check=True)
        shutil.copyfile(Path(folder) / path.name, path)


def bundled(path: Path) -> None:
    """Show robots that are not arms, each on the ground."""
    figure, axes = plt.subplots(3, 3, figsize=(9, 7), layout="constrained")
    for axis, (name, (posture, base, lifts, azimuth)) in zip(
        axes.flat, ROBOTS.items(), strict=True
    ):
        robot = robosim.load_robot(name, base=base)
        q = robot.configuration(posture)
        ground = Scene("floor")
        ground.add_half_space("floor")
        if lifts is not None:
            q[lifts] -= ground.compile(robot).min_distance(q)[0]
        axis.imshow(
            viewer.picture(robot, ground, q=q, size=(600, 450), azimuth=azimuth, elevation=0.3)
        )
        axis.set_title(name, fontsize="small")
        axis.set_axis_off()
    figure.savefig(path, dpi=80)
    plt.close(figure)


def costs_of_batches(path: Path, model) -> None:
    """Plot the time per state over the number of states, on one thread.

    Dashed lines show the time per state with one call for each state.
    """
    functions = ("inverse_dynamics", "forward_dynamics", "forward_dynamics_derivatives")
    counts = 2 ** np.arange(13)
    rng = np.random.default_rng(0)
    q = model.random_configuration(rng, counts[-1])
    v, x = rng.normal(size=(2, counts[-1], model.n_v))
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name in functions:
        one, many = getattr(model.data(), name), getattr(model, name)
        times = []
        for n in counts:
            given = q[:n], v[:n], x[:n]
            out = many(*given)
            with robosim.threads(1):
                times.append(quickest(partial(many, *given, out=out)) / n)
        (line,) = axes.loglog(counts, 1e6 * np.array(times), "o-", base=2, label=name)
        states = list(zip(q[:64], v[:64], x[:64], strict=True))
        each = quickest(partial(one_by_one, one, states)) / len(states)
        axes.axhline(1e6 * each, color=line.get_color(), linestyle="--")
    axes.set(xlabel="states in one call", ylabel="time per state [us]")
    axes.set_xticks(counts, [str(n) for n in counts])
    axes.set_yticks(ticks := [0.1, 0.2, 0.5, 1, 2, 5, 10], [str(tick) for tick in ticks])
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=80)


def one_by_one(function: Callable[..., object], states: list[tuple[np.ndarray, ...]]) -> None:
    """Call the function for each state."""
    for state in states:
        function(*state)


def quickest(call: Callable[[], object]) -> float:
    """Time of the fastest of many calls [s]; other work of the machine only adds time."""
    times = []
    ends = time.perf_counter() + 0.3
    while time.perf_counter() < ends:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def screenshot(path: Path, *shown) -> None:
    """Take a screenshot of the live viewer with a headless browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("no Chromium: the viewer's screenshot is left as it is")
        return
    running = viewer.show(*shown, port=0, block=False)
    options = [
        "--headless=new",
        "--no-sandbox",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
    ]
    options += ["--hide-scrollbars", "--window-size=1000,700", "--virtual-time-budget=5000"]
    with urllib.request.urlopen(running.url) as answer:
        # The viewer's page without its warning about software rendering.
        page = answer.read().replace(
            b"</head>", b"<style>.mantine-Notifications-root{display:none}</style></head>", 1
        )
    with serving(page) as address:
        address += f"?websocket={running.url.replace('http', 'ws', 1)}"
        subprocess.run(
            [browser, *options, f"--screenshot={path}", address], check=True, capture_output=True
        )
    running.stop()


@contextmanager
def serving(page: bytes) -> Iterator[str]:
    """Serve one page on this machine while the body runs; yields its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            """Discard the message."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


if __name__ == "__main__":
    main()
