"""Tables of timings of dynamics, for the documentation."""

from __future__ import annotations

from collections.abc import Mapping

from harness.timing import Timing

# Timings by algorithm (a column) of a robot (a row).
Timings = Mapping[str, Mapping[str, Timing]]


def figure(seconds: float) -> str:
    """Format a time in microseconds with two digits or a few."""
    us = 1e6 * seconds
    return f"{us:.1f}" if us >= 10 else f"{us:.2f}"


def table(timings: Timings) -> str:
    """Return a Markdown table: microseconds of robosim and Pinocchio, and their ratio.

    It has one line per robot and one column per algorithm.
    """
    columns = list(dict.fromkeys(label for row in timings.values() for label in row))
    lines = ["| robot | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for robot, row in timings.items():
        cells = [
            f"{figure(t.ours)} / {figure(t.peer)} = **{t.ratio:.2f}**" if t else ""
            for t in (row.get(label) for label in columns)
        ]
        lines.append(f"| {robot} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def document(conditions: str, sections: Mapping[str, Timings]) -> str:
    """Return all tables, each under its title."""
    parts = [f"Microseconds of robosim / of Pinocchio = ratio, medians. {conditions}"]
    parts += [f"**{title}**\n\n{table(timings)}" for title, timings in sections.items() if timings]
    return "\n\n".join(parts) + "\n"
