"""Check the floor plan of the C++ engine and of the repository.

Every `#include "floor/..."` in engine/ must name a lower floor or the file's own floor. Different
folders on the same floor must not include each other. The top level must contain only what the
design names. Run from the repository's root. Prints each breach as file:line and exits with 1. The
Python floors are checked by import-linter (see pyproject.toml).
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

FLOORS = {
    "base": 1,
    "spatial": 2,
    "geometry": 3,
    "model": 4,
    "dynamics": 5,
    "contact": 6,
    "soft": 6,
    "scene": 6,
    "step": 7,
    "rollout": 8,
    "planning": 8,
    "bindings": 9,
}
TOP_LEVEL = {
    *(
        "pyproject.toml",
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        ".clang-format",
        ".ci",
        ".github",
        ".gitignore",
    ),
    *("robosim", "engine", "planners", "robots", "ros", "tests", "benchmarks", "examples", "docs"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def include_breaches(engine: Path) -> list[str]:
    """List includes of a higher floor, of another folder on the same floor, or of missing files."""
    breaches = []
    for path in sorted(p for p in engine.rglob("*") if p.suffix in {".h", ".cpp"}):
        own = path.relative_to(engine).parts[0]
        if own not in FLOORS:
            breaches.append(f"{path}:1: the folder {own!r} is not on the floor plan")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = match.group(1)
            other = target.split("/")[0]
            if not (engine / target).is_file():
                breaches.append(
                    f"{path}:{number}: no such file: engine/{target} (includes are rooted at"
                    " engine/)"
                )
            elif other != own and FLOORS[other] >= FLOORS[own]:
                breaches.append(
                    f"{path}:{number}: {own!r} may not include {target!r}: {other!r} is not"
                    " below it"
                )
    return breaches


def top_level_breaches() -> list[str]:
    """List tracked entries of the root that the design does not name."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], capture_output=True, text=True, check=True
    ).stdout
    entries = {name.split("/")[0] for name in listed.split("\0") if name}
    valid = ", ".join(sorted(TOP_LEVEL))
    return [f"{name}: not part of the top level ({valid})" for name in sorted(entries - TOP_LEVEL)]


def main() -> int:
    """Print every breach; return 1 if there is one."""
    breaches = include_breaches(Path("engine")) + top_level_breaches()
    print("\n".join(breaches) or "floor plan: kept")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
