"""Files that make a release are consistent; the sdist check works on made-up archives."""

import io
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # installed with pytest there

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
PYTHONS = [(3, minor) for minor in range(10, 15)]


def test_wheels_are_built_for_the_pythons_that_readme_names() -> None:
    builds = PROJECT["tool"]["cibuildwheel"]["build"]
    assert builds == [f"cp{major}{minor}-*" for major, minor in PYTHONS]
    assert PROJECT["project"]["requires-python"] == ">=3.10"
    assert "CPython 3.10 to 3.14" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_workflow_runs_the_tools_that_are_tried_here() -> None:
    pinned = set((ROOT / ".ci" / "wheels-requirements.txt").read_text().split())
    steps = [step.get("run", "") for job in WORKFLOW["jobs"].values() for step in job["steps"]]
    used = re.findall(r"pipx run (\S+)", "\n".join(steps))
    assert sorted(tool.split("==")[0] for tool in used) == ["build", "cibuildwheel"]
    assert set(used) <= pinned


def test_nothing_is_published_untested() -> None:
    jobs = WORKFLOW["jobs"]
    assert set(jobs["publish"]["needs"]) == set(jobs) - {"publish"}
    assert jobs["publish"]["if"] == "github.ref_type == 'tag'"
    # Only one job may publish, and this job runs no code of the project.
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert [name for name, job in jobs.items() if "permissions" in job] == ["publish"]
    assert not any("run" in step for step in jobs["publish"]["steps"])
    machines = jobs["wheels"]["strategy"]["matrix"]["machine"]
    assert jobs["tests"]["strategy"]["matrix"]["machine"] == machines


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        (["p-1/PKG-INFO", "p-1/LICENSE", "p-1/tests/a.py"], ""),
        (["p-1/PKG-INFO", "p-1/LICENSE"], "is missing: tests/a.py"),
        (["p-1/PKG-INFO", "p-1/LICENSE", "p-1/tests/a.py", "p-1/b/x.o"], "is not tracked: b/x.o"),
        (["p-1/LICENSE", "p-1/tests/a.py"], "is missing: PKG-INFO"),
        (["p-1/PKG-INFO", "LICENSE"], "must hold one folder; holds LICENSE, p-1"),
    ],
)
def test_sdist_is_what_is_tracked(held: list[str], expected: str, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    for name in ("LICENSE", "tests/a.py"):
        (tmp_path / name).write_text(name)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "LICENSE", "tests"], cwd=tmp_path, check=True)
    with tarfile.open(tmp_path / "p-1.tar.gz", "w:gz") as archive:
        for name in held:
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    result = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "check_sdist.py"), "p-1.tar.gz"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == bool(expected)
    assert result.stdout == f"p-1.tar.gz: {expected or '3 files, as tracked'}\n"
