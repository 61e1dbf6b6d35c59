"""Check what the documentation says: commands exist, links lead somewhere, tutorials work."""

import os
import re
import runpy
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import robosim
from robosim.model import Data, Model
from robosim.ros import drivers
from robosim.simulation import Simulation
from robosim.world import World

from .broadcasting.methods import ARGUMENTS

ROOT = Path(__file__).resolve().parents[1]
DOCS = sorted((ROOT / "docs").glob("*.md"))
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS, *TUTORIALS]
# All whose Python can run here: that of `rtde` needs an arm at the other end.
PAGES_WITH_PYTHON = [
    page.stem
    for page in DOCS
    if "```python\n" in page.read_text(encoding="utf-8") and page.stem != "rtde"
]
# Packages that their blocks import beside robosim's own requirements.
NEEDS = {
    "learning": ("torch", "jax"),
    "commands": ("viser", "matplotlib"),
    "execution": ("matplotlib",),
}
DYNAMICS = (ROOT / "docs" / "dynamics.md").read_text(encoding="utf-8")


def test_parameters_of_the_ros_nodes_are_current() -> None:
    page = runpy.run_path(str(ROOT / "docs" / "make_parameters.py"))["page"]()
    written = (ROOT / "docs" / "ros_parameters.md").read_text(encoding="utf-8")
    assert written == page, "run `python docs/make_parameters.py`"


def test_table_of_parameters_is_that_of_the_simulation() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "make_parameter_table.py"))
    written = (ROOT / "docs" / "parameters.md").read_text(encoding="utf-8")
    assert written == made["page"](), "run `python docs/make_parameter_table.py`"
    simulation = Simulation(World(robosim.load_robot("cart_pole")))
    assert re.findall(r"^\| `(\w+)` \|", written, re.MULTILINE) == list(simulation.parameters.kinds)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_page_is_in_the_contents() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    trees = re.findall(r"```{toctree}\n(.*?)```", index, re.DOTALL)
    lines = [line for tree in trees for line in tree.splitlines() if not line.startswith(":")]
    pages = {path.stem for path in DOCS} | {f"tutorials/{path.stem}" for path in TUTORIALS}
    assert sorted(lines) == sorted((pages | {"api/index"}) - {"index"})


@pytest.mark.parametrize("page", PAGES_WITH_PYTHON)
def test_python_of_a_page_runs(page: str, tmp_path: Path) -> None:
    """All of its blocks, one after the other."""
    for package in NEEDS.get(page, ()):
        pytest.importorskip(
            package, reason=f"{package} is not installed, see the extras of robosim"
        )
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    run = [sys.executable, "-W", "error", "-c", "\n".join(blocks)]
    result = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_works_in_an_empty_folder(page: Path, tmp_path: Path) -> None:
    """Follow the page: all of its `sh` and `python` blocks in order, as one program."""
    text = page.read_text(encoding="utf-8")
    assert text.count("\n") <= 150
    # No block is skipped by mistake: `console` has commands that cannot run here, `text` output.
    languages = set(re.findall(r"^ *```(.+)$", text, re.MULTILINE))
    assert languages <= {"console", "python", "sh", "text"}
    # Put each block at its line of the page, so that a traceback names this line.
    program = ["import subprocess"]
    for block in re.finditer(r"^```(python|sh)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        language, code = block.groups()
        if language == "sh":
            code = f"subprocess.run(['bash', '-ec', {code!r}], check=True)"
        program += [""] * (text.count("\n", 0, block.start(2)) - len(program))
        program += code.splitlines()
    assert len(program) > 1
    folder, home = tmp_path / "folder", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    caches = {"MPLCONFIGDIR", "ROBOSIM_CACHE_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"}
    environment = {key: value for key, value in os.environ.items() if key not in caches}
    environment |= {
        "HOME": str(home),
        "MPLBACKEND": "Agg",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    run = [sys.executable, "-W", "error", "-c", "\n".join(program)]
    result = subprocess.run(
        run, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_profiles_are_those_of_the_drivers() -> None:
    page = (ROOT / "docs" / "your_arm.md").read_text(encoding="utf-8")
    assert drivers.markdown() in page, "take the table from robosim.ros.drivers.markdown()"
    for driver in drivers.DRIVERS.values():
        assert driver is drivers.GENERIC or driver is drivers.UR or f"\n`{driver.name}`\n: " in page


def test_functions_in_the_tables_of_dynamics_exist() -> None:
    """Also those of peers that the tables map to ours: by the last column but one."""
    own, mapped = DYNAMICS.split("## One frame")[0], DYNAMICS.split("## From Pinocchio")[1]
    rows = [row.split("|")[1] for row in own.splitlines() if row.startswith("| `")]
    rows += [row.split("|")[2] for row in mapped.splitlines() if row.startswith("| `")]
    names = {name for cell in rows for name in re.findall(r"`(\w+)(?:\(|`)", cell)} - {"external"}
    assert len(names) > 40
    for name in names - {"Model", "Data"}:
        assert hasattr(Model, name), name
        assert hasattr(Data, name), name


def test_dynamics_page_names_every_method_about_states() -> None:
    for name in ARGUMENTS:
        assert re.search(rf"\b{name}\b", DYNAMICS), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_of_robosim_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8").replace("\\\n", "")  # lines that go on
    for command, rest in re.findall(
        r"robosim (plan|stream|simulate|view|inspect|render|check)((?: [^\n`|]+)?)", text
    ):
        options = re.findall(r"(?<!\w)(--[a-z][a-z0-9-]+)", rest)
        if options:
            known = help_of(command)
            assert all(option in known for option in options), (
                f"{page.name}: robosim {command}{rest}"
            )


@cache
def help_of(command: str) -> str:
    run = [sys.executable, "-m", "robosim.cli", command, "--help"]
    return subprocess.run(run, cwd="/", capture_output=True, text=True, check=True).stdout
