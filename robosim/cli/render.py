"""`robosim render`: writes an HTML animation, a PNG picture, or a GIF or MP4 film of a motion."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from robosim.cli.options import add_robot, add_scene

if TYPE_CHECKING:
    from robosim.cli.options import Subparsers


def add_parsers(commands: Subparsers) -> None:
    """Add this subcommand."""
    parser = commands.add_parser(
        "render",
        help="write an HTML animation, a PNG picture or a film",
        description=(
            "Write a standalone HTML animation (.html), or a picture (.png) or a film (.gif, .mp4)"
            " painted without browser or GPU."
        ),
        allow_abbrev=False,
    )
    add_robot(parser, or_world=True)
    add_scene(parser)
    parser.add_argument(
        "--trajectory", metavar="FILE", help="a motion that `robosim plan -o` wrote"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="out.html, .png, .gif or .mp4"
    )
    picture = parser.add_argument_group("the picture or film")
    picture.add_argument(
        "--size",
        metavar="WxH",
        help="in pixels; default 1200x900 for a picture, 640x480 for a film",
    )
    picture.add_argument(
        "--ghosts",
        metavar="N",
        type=int,
        default=4,
        help="of a picture: poses between start and goal",
    )
    picture.add_argument(
        "--rate", metavar="R", type=float, help="of a film: pictures per second, default 20"
    )
    picture.add_argument(
        "--azimuth",
        metavar="DEG",
        type=float,
        help="where the eye stands, about z from x; chosen by default",
    )
    picture.add_argument(
        "--elevation", metavar="DEG", type=float, help="of the eye above the horizon"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Load, draw and write."""
    import math

    from robosim.cli import files
    from robosim.cli.options import load_trajectory, load_world, scene_in
    from robosim.cli.output import busy

    files.check_outputs({"--output": (args.output, files.RENDER)})
    size = None if args.size is None else _size(args.size)
    world = load_world(args)
    model, scene = world.model, scene_in(world)
    trajectory = load_trajectory(args.trajectory, model)
    with busy(f"rendering {args.output}") as say:
        files.render(
            args.output,
            model,
            scene,
            trajectory,
            q=world.start,
            size=size,
            ghosts=args.ghosts,
            rate=args.rate,
            say=say,
            azimuth=None if args.azimuth is None else math.radians(args.azimuth),
            elevation=None if args.elevation is None else math.radians(args.elevation),
        )
    print(f"wrote {args.output}")
    return 0


def _size(text: str) -> tuple[int, int]:
    from robosim.errors import RobosimError

    width, x, height = text.lower().partition("x")
    if not (x and width.isdecimal() and height.isdecimal()):
        raise RobosimError(f"--size {text}: expected WIDTHxHEIGHT in pixels, such as 1200x900")
    return int(width), int(height)
