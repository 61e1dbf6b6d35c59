"""`robosim inspect`: what a robot description says, what becomes of it here, and what to look at."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from robosim.cli.options import add_json, add_robot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from robosim.cli.options import Subparsers
    from robosim.model import Model


def add_parsers(commands: Subparsers) -> None:
    """Add this subcommand."""
    parser = commands.add_parser(
        "inspect",
        help="look into a robot description",
        description="Show a robot's tree, masses, limits, colliders, and what was ignored or looks wrong.",
        allow_abbrev=False,
    )
    add_robot(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Load, collect, print."""
    from robosim.cli.options import load_model
    from robosim.cli.output import print_json

    facts = collect(load_model(args))
    if args.json:
        print_json(facts)
    else:
        print_facts(facts)
    return 0


def collect(model: Model) -> dict[str, Any]:
    """All facts as nested dicts and lists, see `robosim inspect --json`."""
    limits = model.limits
    masses = {link.name: link.mass for link in model.links}
    velocity_names = list(model.velocity_names)
    return {
        "name": model.name,
        "floating_base": model.floating_base,
        "n_q": model.n_q,
        "n_v": model.n_v,
        "mass": sum(masses.values()),
        "root": model.root_link,
        "links": [
            {"name": link.name, "mass": link.mass, "com": link.com, "inertia": link.inertia}
            for link in model.links
        ],
        "joints": [
            {
                "name": joint.name,
                "kind": joint.kind,
                "parent": joint.parent,
                "child": joint.child,
                "axis": joint.axis,
                "damping": joint.damping,
                "friction": joint.friction,
                "armature": joint.armature,
                "mimic": None
                if joint.mimic is None
                else {
                    "source": joint.mimic.source,
                    "multiplier": joint.mimic.multiplier,
                    "offset": joint.mimic.offset,
                },
            }
            for joint in model.joints
        ],
        "positions": [
            {"name": name, "lower": limits.lower[k], "upper": limits.upper[k]}
            for k, name in enumerate(model.position_names)
        ],
        "velocities": [
            {
                "name": name,
                "velocity": limits.velocity[k],
                "acceleration": limits.acceleration[k],
                "effort": limits.effort[k],
            }
            for k, name in enumerate(velocity_names)
        ],
        "acceleration_source": limits.acceleration_source,
        "groups": {g.name: {"joints": list(g.joints), "tip": g.tip} for g in model.groups.values()},
        "named_states": [
            {"group": s.group, "name": s.name, "positions": dict(s.positions)} for s in model.named_states
        ],
        "end_effectors": {e.name: {"link": e.link, "group": e.group} for e in model.end_effectors.values()},
        "colliders": [{"name": c.name, "link": c.link, "type": str(c.shape.type)} for c in model.colliders],
        "collision_pairs": len(model.collision_pairs),
        "disabled_collisions": [
            {"link_a": d.link_a, "link_b": d.link_b, "reason": d.reason} for d in model.disabled_collisions
        ],
        "ignored": list(model.ignored),
        "warnings": list(model.warnings),
    }


def print_facts(facts: Mapping[str, Any]) -> None:
    """The facts for people."""
    from robosim.cli.output import number, paint, print_heading, print_table

    base = "free-flying" if facts["floating_base"] else "fixed"
    print(
        f"{paint(facts['name'], 'bold')}: {base} base, {len(facts['links'])} links, {facts['n_q']} positions, "
        f"{facts['n_v']} velocities, {number(facts['mass'])} kg"
    )
    print_heading("Tree")
    print_table(("link", "mass", "joint above it"), list(_tree(facts)), left=3)
    if facts["positions"]:
        print_heading("Limits")
        print_table(("joint", "lower", "upper", "velocity", "acceleration", "effort"), _limit_rows(facts))
        print(f"  accelerations: {facts['acceleration_source']}")
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
    """Rows of link (with branches drawn before it), mass, and the joint above it; depth first, on an explicit
    stack.
    """
    from robosim.cli.output import number

    children: dict[str, list[Mapping[str, Any]]] = {}
    for joint in facts["joints"]:
        children.setdefault(joint["parent"], []).append(joint)
    mass = {link["name"]: link["mass"] for link in facts["links"]}
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
                    trunk + ("└─ " if last else "├─ "),
                    trunk + ("   " if last else "│  "),
                    f"{joint['name']} ({joint['kind']}{follows})",
                )
            )


def _limit_rows(facts: Mapping[str, Any]) -> list[Sequence[str]]:
    """One row per coordinate. Positions and velocities of joints with several coordinates do not pair up, so
    each has its rows.
    """
    from robosim.cli.output import number

    linear = {j["name"] for j in facts["joints"] if j["kind"] == "prismatic"}
    speeds = {v["name"]: v for v in facts["velocities"]}
    rows: list[Sequence[str]] = []
    for position in facts["positions"]:
        name = position["name"]
        unit = "m" if name in linear else "rad"
        bounds = (f"{number(position[side])} {unit}".replace("- " + unit, "-") for side in ("lower", "upper"))
        speed = speeds.pop(name, None)
        rows.append((name, *bounds, *_rates(speed, unit)))
    rows += [(name, "", "", *_rates(speed, "")) for name, speed in speeds.items()]
    return rows


def _rates(speed: Mapping[str, Any] | None, unit: str) -> tuple[str, str, str]:
    from robosim.cli.output import number

    if speed is None:
        return "", "", ""
    units = (f" {unit}/s", f" {unit}/s2", " N" if unit == "m" else " N m") if unit else ("", "", "")
    keys = ("velocity", "acceleration", "effort")
    a, b, c = (
        number(speed[k]) + (u if number(speed[k]) != "-" else "") for k, u in zip(keys, units, strict=True)
    )
    return a, b, c


def _print_colliders(facts: Mapping[str, Any]) -> None:
    from robosim.cli.output import print_table

    by_link: dict[str, list[str]] = {}
    for collider in facts["colliders"]:
        by_link.setdefault(collider["link"], []).append(collider["type"])
    rows = []
    for link, kinds in by_link.items():
        counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        rows.append((link, counts))
    print_table(("link", "shapes"), rows, left=2)
    print(f"  {facts['collision_pairs']} pairs are checked for self-collision")
    reasons: dict[str, int] = {}
    for pair in facts["disabled_collisions"]:
        reasons[pair["reason"] or "no reason given"] = reasons.get(pair["reason"] or "no reason given", 0) + 1
    for reason, count in reasons.items():
        print(f"  {count} pairs of links are left out: {reason}")
