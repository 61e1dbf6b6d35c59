"""`robosim robots`, `robosim scenes` and `robosim planners`: lists of bundled content."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from robosim.cli.options import add_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from robosim.cli.options import Subparsers


def add_parsers(commands: Subparsers) -> None:
    """Add these subcommands."""
    for name, run, text in (
        ("robots", run_robots, "list the bundled robots"),
        ("scenes", run_scenes, "list the bundled scenes"),
        ("planners", run_planners, "list the planners"),
    ):
        parser = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        add_json(parser)
        parser.set_defaults(run=run)


def run_robots(args: argparse.Namespace) -> int:
    """List the bundled robots."""
    from robosim.urdf import bundled_robots

    _print(args, "robots", bundled_robots())
    return 0


def run_scenes(args: argparse.Namespace) -> int:
    """List the bundled scenes."""
    from robosim.scene import bundled_scenes

    _print(args, "scenes", bundled_scenes())
    return 0


def run_planners(args: argparse.Namespace) -> int:
    """List the available planners, and the reasons why others are unavailable."""
    from robosim.cli.output import paint, print_json, printable
    from robosim.planners import available_planners, unavailable_planners

    others = unavailable_planners()
    if args.json:
        print_json({"planners": sorted(available_planners()), "unavailable": others})
        return 0
    _print(args, "planners", available_planners())
    for name, reason in others.items():
        print(paint(f"{printable(name)}  {printable(reason)}", "yellow"))
    return 0


def _print(args: argparse.Namespace, what: str, names: Iterable[str]) -> None:
    from robosim.cli.output import print_json

    listed = sorted(names)
    if args.json:
        print_json({what: listed})
    else:
        for name in listed:
            print(name)
