"""Fail on a skipped test whose reason is not in the list below.

Usage: check_skips.py PYTEST_LOG [REASON ...]      (log of a run with -rs, and further reasons
                                                   that this lane allows)
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

# A test may skip only if an optional tool, data folder or peer is missing.
ALLOWED = [
    r"no Chromium is installed",
    r"rclpy is not installed: the ROS 2 tests run in CI's ros lane",
    r"\.\./shared/data.* (is|are) absent",
]


def main() -> int:
    """Print each skip; return 1 if one is not allowed."""
    log = Path(sys.argv[1]).read_text(encoding="utf-8", errors="replace")
    skips = re.findall(r"^SKIPPED .*$", log, flags=re.MULTILINE)
    allowed = [*ALLOWED, *sys.argv[2:]]
    refused = [line for line in skips if not any(re.search(reason, line) for reason in allowed)]
    print(f"{len(skips)} skips, {len(refused)} of them not on the list of allowed reasons")
    for line in skips:
        print(f"  {'not allowed: ' if line in refused else ''}{line}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
