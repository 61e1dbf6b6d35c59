"""Write the table of docs/parameters.md: `python docs/make_parameter_table.py`.

The rows are the kinds of parameters of a simulation.
"""

from __future__ import annotations

from pathlib import Path

import robosim
from robosim.simulation import Simulation
from robosim.world import World

PAGE = Path(__file__).resolve().parent / "parameters.md"
BEGIN, END = "<!-- begin table: python docs/make_parameter_table.py -->", "<!-- end table -->"


def table() -> str:
    """One row per kind of parameter: name, owner, shape and unit of its numbers, description."""
    lines = ["| name | owner | unit | description |", "|---|---|---|---|"]
    for kind in Simulation(World(robosim.load_robot("cart_pole"))).parameters.kinds.values():
        unit = f"`{kind.shape}` {kind.unit}" if kind.shape else kind.unit
        lines.append(f"| `{kind.name}` | {kind.owner} | {unit} | {kind.about} |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """Text of the page, with the table between its markers."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
