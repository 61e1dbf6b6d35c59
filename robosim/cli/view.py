"""`robosim view`: a robot, its scene and its motion in the browser."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from robosim.cli.options import add_robot, add_scene

if TYPE_CHECKING:
    from robosim.cli.options import Subparsers
    from robosim.model import Model
    from robosim.scene import Scene
    from robosim.simulation import Replay
    from robosim.trajectory import Trajectory
    from robosim.viewer import Viewer


def add_parsers(commands: Subparsers) -> None:
    """Add this subcommand."""
    parser = commands.add_parser(
        "view",
        help="show a robot, a scene and a motion in the browser",
        description=(
            "Show a robot in the browser: with a trajectory, a time slider; without one, joint"
            " sliders."
        ),
        allow_abbrev=False,
    )
    add_robot(parser, or_world=True)
    add_scene(parser)
    parser.add_argument(
        "--trajectory", metavar="FILE", help="a motion that `robosim plan -o` wrote"
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on; default: this machine only"
    )
    parser.add_argument(
        "--port", type=int, default=8080, help="default 8080; when it is busy, the next free one"
    )
    parser.add_argument("--no-open", action="store_true", help="do not open the browser")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Load and serve."""
    from robosim.cli.options import load_trajectory, load_world, scene_in

    world = load_world(args)
    model, scene = world.model, scene_in(world)
    trajectory = load_trajectory(args.trajectory, model)
    serve(
        model,
        scene,
        trajectory,
        q=world.start,
        host=args.host,
        port=args.port,
        open_browser=not args.no_open,
    )
    return 0


def serve(
    model: Model,
    scene: Scene | None,
    trajectory: Trajectory | Replay | None,
    *,
    q: Any = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    open_browser: bool = True,
    quiet: bool = False,
) -> None:
    """Serve until interrupted, and print the address; on stderr if `quiet`."""
    from robosim import viewer

    stream = sys.stderr if quiet else sys.stdout

    def ready(running: Viewer) -> None:
        if running.port != port and port != 0:
            print(f"port {port} is busy; listening on {running.port}", file=stream)
        print(f"see {running.url}   (Ctrl-C ends)", file=stream, flush=True)
        if open_browser:
            _open(running.url)

    viewer.show(model, scene, trajectory, q=q, host=host, port=port, on_ready=ready)


def _open(url: str) -> None:
    """Open the browser of a desktop.

    Without a desktop, a text browser would occupy the terminal.
    """
    import os
    import webbrowser

    if sys.platform == "darwin" or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME")
    ):
        webbrowser.open(url)
