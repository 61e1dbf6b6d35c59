"""`robosim inspect`: content of a robot description, the resulting model, and possible problems."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from robosim.cli.options import add_json, add_robot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from robosim.cli.options import Subparsers


def add_parsers(commands: Subparsers) -> None:
    """Add this subcommand."""
    parser = commands.add_parser(
        "inspect",
        help="look into a robot description",
        description=(
            "Show a robot's tree, masses, limits, colliders, and what was ignored or looks wrong."
        ),
        allow_abbrev=False,
    )
    add_robot(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Load, measure and print."""
    from robosim.cli.options import in_flags, reading_options
    from robosim.cli.output import busy, print_json, printable
    from robosim.scene import Scene
    from robosim.simulation.hulls import links_in_hulls
    from robosim.urdf import inspect_robot

    with busy(f"inspecting {args.robot}"):
        report = inspect_robot(args.robot, **reading_options(args))
        facts = report.to_dict()
        facts["left_out_of_simulations"] = links_in_hulls(
            report.model, Scene().compile(report.model)
        )
    facts["warnings"] = [in_flags(text) for text in facts["warnings"]]
    if args.json:
        print_json(facts)
    else:
        print_facts(printable(facts))
    return 0


def print_facts(facts: Mapping[str, Any]) -> None:
    """Print the facts as text."""
    from robosim.cli.output import number, paint, print_heading, print_table

    base = "free-flying" if facts["floating_base"] else "fixed"
    print(
        f"{paint(facts['name'], 'bold')}: {base} base, {len(facts['links'])} links, {facts['n_q']}"
        f" positions, {facts['n_v']} velocities, {number(facts['mass'])} kg"
    )
    if facts["dynamics_faults"]:
        n = len(facts["dynamics_faults"])
        text = (
            f"its dynamics are not valid: {n} fault{'s' if n > 1 else ''}, among the warnings below"
        )
        print(paint(text, "yellow"))
    print_heading("Tree")
    print_table(("link", "mass", "joint above it"), list(_tree(facts)), left=3)
    if facts["positions"]:
        print_heading("Limits")
        print_table(
            ("joint", "lower", "upper", "velocity", "acceleration", "effort"), _limit_rows(facts)
        )
        for line in _limit_sources(facts):
            print(f"  {line}")
    if facts["groups"] or facts["named_states"]:
        print_heading("Groups and states")
        for name, group in facts["groups"].items():
            print(
                f"  group {name}: {', '.join(group['joints'])}"
                + (f"; tip {group['tip']}" if group["tip"] else "")
            )
        for name, tool in facts["end_effectors"].items():
            print(f"  end effector {name}: on {tool['link']}, group {tool['group']}")
        for state in facts["named_states"]:
            values = ", ".join(f"{joint} {number(q)}" for joint, q in state["positions"].items())
            print(f"  state {state['group']}/{state['name']}: {values}")
    print_heading("Colliders")
    _print_colliders(facts)
    for title, key, style in (("Ignored", "ignored", "dim"), ("Warnings", "warnings", "yellow")):
        if facts[key]:
            print_heading(title)
            for line in facts[key]:
                print(f"  {paint(line, style)}")


def _tree(facts: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Rows of link (with tree branches), mass and parent joint, depth first, non-recursive."""
    from robosim.cli.output import number

    children: dict[str, list[Mapping[str, Any]]] = {}
    for joint in facts["joints"]:
        children.setdefault(joint["parent"], []).append(joint)
    mass = {link["name"]: link["mass"] for link in facts["links"]}
    utf = "utf" in (sys.stdout.encoding or "").lower()
    corner, tee, bar = ("└─ ", "├─ ", "│  ") if utf else ("`- ", "|- ", "|  ")
    stack: list[tuple[str, str, str, str]] = [(facts["root"], "", "", "")]
    while stack:
        link, branch, trunk, above = stack.pop()
        yield branch + link, f"{number(mass[link])} kg" if mass[link] else "", above
        below = children.get(link, [])
        for k, joint in reversed(list(enumerate(below))):
            last = k == len(below) - 1
            mimic = joint["mimic"]
            follows = "" if mimic is None else f", follows {mimic['source']}"
            stack.append(
                (
                    joint["child"],
                    trunk + (corner if last else tee),
                    trunk + ("   " if last else bar),
                    f"{joint['name']} ({joint['kind']}{follows})",
                )
            )


def _limit_rows(facts: Mapping[str, Any]) -> list[Sequence[str]]:
    """One row per coordinate.

    Positions and velocities of joints with several coordinates do not correspond, so each has its
    own rows.
    """
    from robosim.cli.output import number

    linear = {j["name"] for j in facts["joints"] if j["kind"] == "prismatic"}
    speeds = {v["name"]: v for v in facts["velocities"]}
    rows: list[Sequence[str]] = []
    for position in facts["positions"]:
        name = position["name"]
        unit = "m" if name in linear else "rad"
        bounds = (
            f"{number(position[side])} {unit}".replace("- " + unit, "-")
            for side in ("lower", "upper")
        )
        speed = speeds.pop(name, None)
        rows.append((name, *bounds, *_rates(speed, unit)))
    rows += [(name, "", "", *_rates(speed, "")) for name, speed in speeds.items()]
    return rows


def _limit_sources(facts: Mapping[str, Any]) -> Iterator[str]:
    """Sources of the limits: one line per quantity, or several if joints differ."""
    by_quantity: dict[str, dict[str, list[str]]] = {"positions": {}, "velocity": {}, "effort": {}}
    for position in facts["positions"]:
        by_quantity["positions"].setdefault(_file(position["source"]), []).append(position["name"])
    for velocity in facts["velocities"]:
        for quantity in ("velocity", "effort"):
            source = _file(velocity["sources"][quantity])
            by_quantity[quantity].setdefault(source, []).append(velocity["name"])
    for quantity, sources in by_quantity.items():
        for source, names in sources.items():
            yield f"{quantity}: from {source}" + (
                "" if len(sources) == 1 else f" for {', '.join(names)}"
            )
    yield f"accelerations: {facts['acceleration_source']}"


def _file(source: str) -> str:
    """Source without its line, which differs from joint to joint."""
    file, _, line = source.rpartition(":")
    return file if file and line.isdecimal() else source


def _rates(speed: Mapping[str, Any] | None, unit: str) -> tuple[str, str, str]:
    from robosim.cli.output import number

    if speed is None:
        return "", "", ""
    units = (f" {unit}/s", f" {unit}/s2", " N" if unit == "m" else " N m") if unit else ("", "", "")
    keys = ("velocity", "acceleration", "effort")
    a, b, c = (
        number(speed[k]) + (u if number(speed[k]) != "-" else "")
        for k, u in zip(keys, units, strict=True)
    )
    return a, b, c


def _print_colliders(facts: Mapping[str, Any]) -> None:
    from robosim.cli.output import paint, print_table

    # One row per mesh. Primitives are counted by link and type.
    rows: list[Sequence[str]] = []
    plain: dict[str, Counter[str]] = {}
    for collider in facts["colliders"]:
        fidelity = collider["fidelity"]
        if fidelity is None:
            plain.setdefault(collider["link"], Counter())[collider["type"]] += 1
            continue
        convex, pieces = fidelity["convex"], fidelity["pieces"]
        off = "as the mesh" if convex else f"stands off by {1e3 * fidelity['standoff']:.1f} mm"
        if fidelity["left_out"] > 5e-5:
            off += f", leaves out {1e3 * fidelity['left_out']:.1f} mm"
        if collider["exact"]:
            off += "; where it overlaps, the mesh decides"
        shape = "convex mesh" if convex else "hull" if pieces == 1 else f"{pieces} pieces"
        rows.append((collider["link"], shape, off, str(collider["mesh"])))
    rows += [
        (link, ", ".join(kind if n == 1 else f"{n} x {kind}" for kind, n in kinds.items()), "", "")
        for link, kinds in plain.items()
    ]
    print_table(("link", "shape", "", ""), rows, left=4)
    # Self-collision pairs, pairs excluded by reason, and pairs of hulls only.
    print(f"  {facts['collision_pairs']} pairs are checked for self-collision")
    reasons = Counter(pair["reason"] or "no reason given" for pair in facts["disabled_collisions"])
    for reason, count in reasons.items():
        print(f"  {count} {'pair' if count == 1 else 'pairs'} of links left out: {reason}")
    if undecided := (facts["self_collision_filter"] or {}).get("undecided"):
        print(
            f"  {undecided} pairs of links stay checked because looking for their contacts would"
            " take too long"
        )
    if apart := facts["left_out_of_simulations"]:
        from robosim.simulation.hulls import told_left_out

        print(f"  {paint(told_left_out(apart), 'yellow')}")
    for pair in facts["hull_only_pairs"]:
        where = (
            f"at {pair['overlaps']} of {facts['hull_samples']} random configurations, such as"
            f" {pair['example']}"
        )
        checked = "" if pair["checked"] else " (not checked)"
        line = (
            f"{' and '.join(pair['links'])} collide only because of their hulls{checked}: {where}"
        )
        print(f"  {paint(line, 'yellow')}")
