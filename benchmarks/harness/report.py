"""Rows of a benchmark with value, peer, ratio and bar: printed, written as JSON, and judged."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

TIMES = ("s", "ms", "us", "ns")


@dataclass
class Row:
    """One measured figure.

    Attributes:
        name: name of the figure.
        value: robosim's figure.
        unit: of value and peer.
        peer: the peer's figure, in the same run, or None.
        bar: bound of `value` (or of the ratio, with `on_ratio`), or None for a figure that is only
            shown.
        at_least: True if the bar is a lower bound, else an upper bound.
        on_ratio: True if the bar applies to the ratio.
        of_peer: True if the ratio is ours / peer, as for times, else peer / ours.
        measured: the ratio, if measured separately; else it is the ratio of the two figures.
        by_machine: True if the result of the bar depends on the machine, as for times and for the
            gain of a second core.
        note: remarks for the reader.
    """

    name: str
    value: float
    unit: str = ""
    peer: float | None = None
    bar: float | None = None
    at_least: bool = False
    on_ratio: bool = False
    of_peer: bool = False
    measured: float | None = None
    by_machine: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        self.by_machine |= not self.on_ratio and self.unit in TIMES

    @property
    def ratio(self) -> float | None:
        """Ratio of the peer's figure to ours, or with of_peer of ours to the peer's."""
        if self.measured is not None or self.peer is None:
            return self.measured
        over, under = (self.value, self.peer) if self.of_peer else (self.peer, self.value)
        return None if under == 0 else over / under

    @property
    def passed(self) -> bool | None:
        """True if the bar is reached; None without a bar."""
        if self.bar is None:
            return None
        figure = self.ratio if self.on_ratio else self.value
        if figure is None:
            return False
        return figure >= self.bar if self.at_least else figure <= self.bar

    def cells(self) -> list[str]:
        """Return the row as text."""
        bar = (
            ""
            if self.bar is None
            else (
                f"{'>=' if self.at_least else '<='}"
                f" {self.bar:g}{' x' if self.on_ratio and not self.of_peer else ''}"
            )
        )
        verdict = {None: "", True: "ok", False: "MISSED"}[self.passed]
        peer = "" if self.peer is None else f"{self.peer:.4g}"
        ratio = (
            ""
            if self.ratio is None
            else f"{self.ratio:.3f}"
            if self.of_peer
            else f"{self.ratio:.1f} x"
        )
        return [self.name, f"{self.value:.4g}", self.unit, peer, ratio, bar, verdict, self.note]


@dataclass
class Report:
    """All rows of a benchmark, and lines of text that belong to them."""

    title: str
    rows: list[Row] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Append a row."""
        self.rows.append(row)

    def remark(self, text: str) -> None:
        """Print a line and keep it for the file."""
        self.remarks.append(text)
        print(text, flush=True)

    def show(self) -> None:
        """Print the table."""
        ratio = (
            "ours/peer"
            if all(row.of_peer for row in self.rows if row.peer is not None)
            else "peer/ours"
        )
        head = ["", "ours", "unit", "peer", ratio, "bar", "", ""]
        table = [head, *(row.cells() for row in self.rows)]
        widths = [max(len(line[i]) for line in table) for i in range(len(head))]
        print(f"\n{self.title}")
        for line in table:
            print(
                "  ".join(
                    cell.ljust(width) for cell, width in zip(line, widths, strict=True)
                ).rstrip()
            )

    def finish(self, options: argparse.Namespace) -> int:
        """Print the table and write the file that the options name.

        Returns:
            The exit status: 1 if a bar is missed.
        """
        self.show()
        missed = [row for row in self.rows if row.passed is False]
        slow = [row for row in missed if row.by_machine and options.any_machine]
        missed = [row for row in missed if row not in slow]
        if slow:
            print(f"\nmissed, and not judged on any machine: {', '.join(row.name for row in slow)}")
        if missed:
            print(f"\nmissed: {', '.join(row.name for row in missed)}")
        else:
            print(f"\nevery {'other ' if slow else ''}bar is reached")
        if options.json is not None:
            write_json(
                options.json,
                {
                    "title": self.title,
                    "machine": machine(),
                    "rows": [asdict(r) | {"ratio": r.ratio, "passed": r.passed} for r in self.rows],
                    "remarks": self.remarks,
                },
            )
        return 1 if missed else 0


def machine() -> dict[str, str]:
    """Describe the machine of the measurements."""
    cpu = ""
    if Path("/proc/cpuinfo").exists():
        lines = [
            line
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ]
        cpu = lines[0].split(":", 1)[1].strip() if lines else ""
    return {
        "cpu": cpu,
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "system": platform.platform(),
    }


def write_json(file: Path, content: Any) -> None:
    """Write a file completely or not at all."""
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=file.name)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(content, stream, indent=1)
    Path(temporary).replace(file)


def require_peers(*packages: str, extra: str = "bench") -> None:
    """Exit with status 2 unless all these distributions are installed.

    The message names the extra that installs them.
    """
    missing = []
    for package in packages:
        try:
            metadata.version(package)
        except metadata.PackageNotFoundError:
            missing.append(package)
    if missing:
        print(
            f"not installed: {', '.join(missing)}; pip install 'robosim[{extra}]'", file=sys.stderr
        )
        raise SystemExit(2)


def arguments(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that all benchmarks have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--quick", action="store_true", help="a sample that takes less than a minute"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to a file")
    parser.add_argument(
        "--any-machine",
        action="store_true",
        help=(
            "do not fail for bars that the machine decides: seconds, and what a second core brings"
        ),
    )
    return parser
