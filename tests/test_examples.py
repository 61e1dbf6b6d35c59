"""Every example runs in an empty folder, and stays short."""

import doctest
import importlib
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import robosim
from robosim.scene import Scene
from robosim.simulation import Simulation
from robosim.world import World

PACKAGE = Path(robosim.__file__).parent
SOURCES = [
    Path(folder, name) for folder, _, names in os.walk(PACKAGE, followlinks=True) for name in names
]
WITH_EXAMPLES = sorted(
    p for p in SOURCES if p.suffix == ".py" and ">>>" in p.read_text(encoding="utf-8")
)
EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("[0-9]*.py"))
NEEDS = {"13_train_a_policy": ("torch", "PyTorch is not installed, extra `torch`")}


def run_example(name: str, *options: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-W",
            "error::DeprecationWarning:__main__",
            EXAMPLES[0].with_name(name),
            *options,
        ],
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_there_are_examples() -> None:
    assert [path.name[:2] for path in EXAMPLES[:6]] == ["01", "02", "03", "04", "05", "06"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path: Path, tmp_path: Path) -> None:
    assert len(path.read_text().splitlines()) < 80
    if path.stem in NEEDS:
        package, reason = NEEDS[path.stem]
        pytest.importorskip(package, reason=reason)
    result = run_example(path.name, folder=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.strip(), "an example shows something"
    for line in result.stdout.splitlines():
        assert "Traceback" not in line


@pytest.mark.parametrize("name", ["11_golf_swing.py", "12_throw.py"])
def test_ball_comes_to_the_target_with_plain_bounces_too(name: str, tmp_path: Path) -> None:
    result = run_example(name, "--bounce", "step", "--plot", "found.png", folder=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    last = [line for line in result.stdout.splitlines() if line.startswith("step")][-1]
    assert float(last.split()[2]) < 5, "cm"
    assert (tmp_path / "found.png").stat().st_size > 0


def test_golfer_who_misses_the_ball_is_told_why_nothing_is_found(tmp_path: Path) -> None:
    result = run_example("11_golf_swing.py", "--ball", "2", folder=tmp_path)
    assert result.returncode == 1
    assert "The gradient is zero: the robot does not touch the ball" in result.stderr
    assert result.stdout.count("step") == 1, "it stops at once"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("bounce", ["step", "time_of_impact"])
def test_drone_at_rest_lifts_off_only_by_gradients_that_let_its_contacts_part(bounce: str) -> None:
    example = runpy.run_path(str(EXAMPLES[0].with_name("14_lift_off.py")))
    drone, scene, q = example["DRONE"], Scene("ground"), example["DRONE"].neutral()
    scene.add_half_space("ground")
    q[2] -= scene.compile(drone).min_distance(q)[0]
    options = {"dt": example["DT"], "solver": "lcp", "bounce": bounce}
    losses, rises, greatest = example["descend"](Simulation(World(drone, scene), **options), q, 5)
    # Zero up to rounding in the impulses of contacts that share the load. A flying drone has 3e-3
    # m^2/N here.
    assert greatest < 1e-18
    np.testing.assert_allclose(losses, example["RISE"] ** 2, rtol=1e-12)
    np.testing.assert_allclose(rises, 0, atol=1e-12)
    aware = Simulation(World(drone, scene), **options, complementarity_aware=True)
    losses, rises, _ = example["descend"](aware, q, 60)
    assert losses[-1] < example["CLOSE"]
    assert abs(rises[-1][-1] - example["RISE"]) < example["CLOSE"] ** 0.5
    np.testing.assert_allclose(rises[:10], 0, atol=1e-12, err_msg="nothing happens at first")


def test_ball_is_lifted_only_by_gradients_that_keep_it_on_its_platform() -> None:
    example = runpy.run_path(str(EXAMPLES[0].with_name("15_lift_a_ball.py")))
    world, options = World(example["MODEL"]), {"dt": example["DT"], "solver": "lcp"}
    for aware in False, True:
        simulation = Simulation(world, **options, complementarity_aware=aware)
        losses, rises, greatest = example["descend"](simulation)
        assert greatest < 1e-18, "rounding: as one body in flight 8e-4 m^2/N"
        assert len(losses) == example["MOST"] + 1
        np.testing.assert_allclose(losses, example["RISE"] ** 2, rtol=1e-12)
        np.testing.assert_allclose(rises, 0, atol=1e-12)
    simulation = Simulation(world, **options, complementarity_aware="together")
    losses, rises, greatest = example["descend"](simulation)
    # The first gradient is that of both bodies in flight as one. Some later gradients are those of
    # a ball that has landed, less than 1 um below its initial position, on its motion to RISE = 0.5
    # m.
    mass = example["PLATFORM"] + example["BALL"]
    flies = 2 * example["RISE"] * example["DT"] ** 2 / mass * example["STEPS"]
    assert flies * (1 - 1e-6) <= greatest <= flies * (1 + 1e-6 / example["RISE"])
    assert losses[-1] < example["CLOSE"]
    assert abs(rises[-1][-1] - example["RISE"]) < example["CLOSE"] ** 0.5


def test_readme_python_runs(tmp_path: Path) -> None:
    """All blocks except the one that loads a file of the reader's own."""
    readme = (Path(__file__).resolve().parents[1] / "README.md").read_text()
    blocks = [block.split("```")[0] for block in readme.split("```python\n")[1:]]
    own = [block for block in blocks if '"my_robot.urdf"' not in block]
    assert len(own) == len(blocks) - 1 == 2
    # x = v^2 / (2 mu g), to the order of the step; its derivative is -x / mu.
    checks = "assert result and q.shape == (6,)\nassert abs(run.q[-1, 0] - 1 / 9.81) < 2e-3\n"
    code = [sys.executable, "-W", "error", "-c", "\n".join([*own, checks])]
    result = subprocess.run(code, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    planned, simulated = result.stdout.splitlines()
    assert re.fullmatch(r"solved \d\.\d\d s", planned)
    x, slope = map(float, simulated.split())
    assert slope == pytest.approx(-x / 0.5, rel=1e-3)


@pytest.mark.parametrize(
    "path", WITH_EXAMPLES, ids=lambda path: path.relative_to(PACKAGE).as_posix()
)
def test_examples_in_docstrings(path: Path) -> None:
    name = ".".join(("robosim", *path.relative_to(PACKAGE).with_suffix("").parts))
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
