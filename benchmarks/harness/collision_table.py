"""Tables of timings of collision queries, for the documentation."""

from __future__ import annotations

from collections.abc import Sequence

from harness.report import Row


def cell(row: Row) -> str:
    """Format ours / the peer's = ratio, in nanoseconds, or in microseconds if either is long."""
    assert row.peer is not None
    scale, unit = (1e-3, " us") if max(row.value, row.peer) >= 10_000 else (1.0, "")
    ours, theirs = (f"{scale * x:.{0 if scale * x >= 100 else 1}f}" for x in (row.value, row.peer))
    return f"{ours} / {theirs}{unit} = **{row.ratio:.2f}**"


def document(conditions: str, rows: Sequence[Row]) -> str:
    """Return a table with one line per pair of shapes or robot, and one column per query.

    Rows of the benchmark are named "subject, query".
    """
    queries: dict[str, dict[str, str]] = {}
    robots: dict[str, dict[str, str]] = {}
    for row in rows:
        subject, _, query = row.name.partition(", ")
        (queries if " - " in subject else robots).setdefault(subject, {})[query] = cell(row)
    parts = [f"Nanoseconds of robosim / of coal = ratio, medians over poses. {conditions}"]
    for table, first in ((queries, "pair"), (robots, "robot")):
        if not table:
            continue
        columns = list(dict.fromkeys(query for cells in table.values() for query in cells))
        lines = [f"| {first} | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
        lines += [
            f"| {subject} | " + " | ".join(cells.get(query, "") for query in columns) + " |"
            for subject, cells in table.items()
        ]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
