"""Make the table of docs/parameters.md anew from the list of kinds that a simulation has:
`python docs/make_parameter_table.py`."""

from __future__ import annotations

from pathlib import Path

import robosim
from robosim.simulation import Simulation
from robosim.world import World

PAGE = Path(__file__).resolve().parent / "parameters.md"
BEGIN, END = "<!-- begin table: python docs/make_parameter_table.py -->", "<!-- end table -->"


def table() -> str:
    """One row for each kind: its name, whose it is, the shape of one owner's numbers, unit, what it
    is."""
    lines = ["| name | of each | shape | unit | |", "|---|---|---|---|---|"]
    for kind in Simulation(World(robosim.load_robot("cart_pole"))).parameters.kinds.values():
        lines.append(
            f"| `{kind.name}` | {kind.owner} | `{kind.shape}` | {kind.unit} | {kind.about} |"
        )
    return "\n".join(lines) + "\n"


def page() -> str:
    """The page's text with this table in its place."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
