"""Print the requirements of robosim and of some extras from pyproject.toml, one per line.

Usage: requirements.py [EXTRA ...]

The output allows to create an environment before a wheel exists, and to share it among all wheels
with equal requirements.
"""

from __future__ import annotations

import sys
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib


def main(extras: list[str]) -> int:
    """Print the requirements of robosim and of these extras."""
    page = Path(__file__).resolve().parents[1] / "pyproject.toml"
    project = tomllib.loads(page.read_text(encoding="utf-8"))["project"]
    needs = [
        project["dependencies"],
        *(project["optional-dependencies"][extra] for extra in extras),
    ]
    print("\n".join(sorted({need for part in needs for need in part})))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
