"""Fail if a source distribution differs from the tracked files and PKG-INFO, each once.

Usage: check_sdist.py SDIST     (in the repository that the sdist was made of)
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
from collections import Counter


def differences(held: list[str], tracked: list[str]) -> list[str]:
    """List files that the sdist must not contain and files that it lacks, one per line."""
    folders = {name.split("/")[0] for name in held}
    if len(folders) != 1:
        return [f"must hold one folder; holds {', '.join(sorted(folders))}"]
    own = Counter(name.partition("/")[2] for name in held)
    intended = Counter([*tracked, "PKG-INFO"])
    return [
        *(f"is not tracked: {name}" for name in sorted((own - intended).elements())),
        *(f"is missing: {name}" for name in sorted((intended - own).elements())),
    ]


def main(sdist: str) -> int:
    """Print every difference; return 1 if there is one."""
    with tarfile.open(sdist) as archive:
        held = [member.name for member in archive if not member.isdir()]
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True)
    found = differences(held, listed.stdout.split("\0")[:-1])
    for line in found or [f"{len(held)} files, as tracked"]:
        print(f"{sdist}: {line}")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
