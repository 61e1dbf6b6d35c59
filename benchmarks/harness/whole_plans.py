"""Times that a user waits: whole calls of `plan`, the first of a process, and scenes.

Scenes are compiled and read from files.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from harness.report import Report, Row

_ROBOT = "ur5"
_FIRST = """
import time
begin = time.perf_counter()
import robosim
from robosim.planners import Problem, plan
from robosim.scene import load_scene
imported = time.perf_counter()
model = robosim.load_robot("ur5")
problem = Problem(model, load_scene("table_pick", model=model))
loaded = time.perf_counter()
plan(problem)
first = time.perf_counter()
plan(problem)
print(imported - begin, loaded - imported, first - loaded, time.perf_counter() - first)
"""


def seconds(work: Callable[[], Any], repeat: int = 1) -> float:
    """Median elapsed time of `repeat` calls."""
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return float(np.median(times))


def first_and_second(problem: Any, planner: str) -> tuple[Any, float, float]:
    """Plan in a scene that was never compiled, and repeat the call.

    Returns:
        The plan, and the seconds of the first and the second call.
    """
    from robosim.planners import plan
    from robosim.scene.compiled import forget_compiled

    forget_compiled(problem.model)
    begin = time.perf_counter()
    result = plan(problem, planner=planner, budget_s=1.0)
    first = time.perf_counter() - begin
    return result, first, seconds(lambda: plan(problem, planner=planner, budget_s=1.0))


def whole_plan_rows(
    label: str, first: np.ndarray, second: np.ndarray, report: Report, *, bar: float | None
) -> None:
    """Add rows of first and second calls [s]; the bar is for the median of the second [ms]."""
    for name, times, limit in (("first", first, None), ("second", second, bar)):
        times = 1e3 * times
        note = f"p95 {np.percentile(times, 95):.1f} ms"
        report.add(
            Row(
                f"{label}: whole plan, {name} call, median",
                float(np.median(times)),
                "ms",
                bar=limit,
                note=note,
            )
        )


def add_processes(report: Report, runs: int) -> None:
    """Add rows for the first plan of a process, and for the time before it."""
    found = []
    here = Path(__file__).parent  # not the root, where `robosim` would be the source tree
    command = [sys.executable, "-c", _FIRST]
    for _ in range(runs):
        done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=True)
        found.append([float(x) for x in done.stdout.split()])
    names = ("import", "robot and scene read", "first plan", "second plan")
    for name, value in zip(names, np.median(found, axis=0), strict=True):
        report.add(Row(f"a new process, {_ROBOT} table_pick: {name}", 1e3 * float(value), "ms"))


def boxes(n: int) -> Any:
    """Return a scene of n small boxes around the robot, like an occupancy map."""
    from robosim.geometry import pose
    from robosim.scene import Scene

    scene, rng = Scene("map"), np.random.default_rng(0)
    for i, direction in enumerate(rng.normal(size=(n, 3))):
        place = direction / np.linalg.norm(direction) * rng.uniform(1, 2)
        scene.add_box(f"box{i}", (0.02, 0.02, 0.02), pose(place))
    return scene


def room(n: int, seed: int) -> np.ndarray:
    """Return n points (n, 3) of a table and a wall, as cameras see them.

    They have 2 mm of noise, and none is within the robot's base.
    """
    rng = np.random.default_rng(seed)
    u, v = rng.uniform(-1, 1, (2, 2 * n))
    table = np.stack([u, v, np.full(2 * n, -0.05)], axis=1)
    wall = np.stack([np.full(2 * n, -0.7), u, 0.6 + 0.6 * v], axis=1)
    points = np.where(rng.random((2 * n, 1)) < 0.5, table, wall) + rng.normal(
        scale=0.002, size=(2 * n, 3)
    )
    return points[np.linalg.norm(points[:, :2], axis=1) > 0.25][:n]


def add_growth(
    label: str, sizes: Iterable[int], work: Callable[[int], float], bar: float, report: Report
) -> None:
    """Add rows of seconds of `work(n)` for growing n, each four times the last.

    The bar is for the ratio of the largest step.
    """
    before: float | None = None
    for n in sizes:
        now = work(n)
        note = "" if before is None else f"{now / before:.1f} times that of a quarter"
        report.add(Row(f"{label}, {n:,}", 1e3 * now, "ms", note=note))
        ratio, before = (now / before if before is not None else 0.0), now
    report.add(Row(f"{label}, against a quarter of them", ratio, "", bar=bar, note="linear: 4"))


def add_scenes(report: Report, *, quick: bool) -> None:
    """Add rows for scenes of many objects and points: compiled, planned in, written and read."""
    import robosim
    from robosim.planners import Problem, plan
    from robosim.scene import Scene, load_scene
    from robosim.scene.compiled import forget_compiled

    model = robosim.load_robot(_ROBOT)
    Scene().compile(model)  # precompute the data that depend on the robot only

    def compiled_anew(scene: Scene) -> None:
        forget_compiled(model)
        scene.compile(model)

    def cloud(n: int) -> float:
        scene, clouds = Scene(), iter([room(n, seed) for seed in range(4)])
        scene.add_points("cloud", next(clouds), 0.004)

        def new_points() -> None:
            scene.set_points("cloud", next(clouds))
            scene.compile(model)

        return seconds(new_points, 3)

    add_growth(
        "boxes compiled", (500, 2000, 8000), lambda n: _anew(boxes(n), compiled_anew), 7.0, report
    )
    sizes = (10_000, 40_000, 160_000) if quick else (20_000, 80_000, 320_000)
    add_growth("new points of a cloud, compiled", sizes, cloud, 7.0, report)

    scene = load_scene("table_pick", model=model)
    clouds = [room(100_000, seed) for seed in range(6)]
    scene.add_points("cloud", clouds[0], 0.004)
    problem = Problem(model, scene)

    def seen(points: np.ndarray) -> float:
        return seconds(lambda: (scene.set_points("cloud", points), plan(problem)))

    times = [seen(points) for points in clouds[1:]]
    report.add(
        Row(
            "100,000 new points and a plan among them",
            1e3 * float(np.median(times)),
            "ms",
            bar=200.0,
        )
    )

    with tempfile.TemporaryDirectory() as folder:
        for label, scene in (
            ("table_pick", load_scene("table_pick", model=model)),
            ("2000 boxes", boxes(2000)),
        ):
            file = Path(folder) / "scene.yaml"
            scene.save(file)
            if label == "table_pick":  # read and planned in repeatedly
                read = seconds(lambda file=file: Scene.load(file), 15)
                planned = np.median(
                    [first_and_second(Problem(model, scene), "rrt_connect")[1] for _ in range(15)]
                )
                report.add(Row(f"{label}: read from its file; peer: the first plan in it",
                    1e3 * read, "ms",
                               1e3 * float(planned), bar=1.0, on_ratio=True,
                               at_least=True))  # fmt: skip
            else:
                report.add(
                    Row(
                        f"{label}: read from a file",
                        1e3 * seconds(lambda file=file: Scene.load(file), 3),
                        "ms",
                    )
                )


def _anew(scene: Any, work: Callable[[Any], None]) -> float:
    return seconds(lambda: work(scene), 3)
