"""Options shared by several subcommands, and their values.

Importing this module is fast: modules that need NumPy are imported where they are used.
"""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robosim.model import Model
    from robosim.scene import Scene
    from robosim.trajectory import Trajectory
    from robosim.world import World

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_robot(parser: argparse.ArgumentParser, *, or_world: bool = False) -> None:
    """Add ROBOT and the options of reading it; `or_world` if `load_world` loads it."""
    parser.add_argument(
        "robot",
        metavar="ROBOT",
        help=(
            "a bundled robot (see `robosim robots`), a URDF or xacro file, or a folder that"
            " holds one"
        )
        + (", or a world file (.yaml)" if or_world else ""),
    )
    add_reading(parser)


# Arguments of `load_robot` as options of every command. Messages name the argument, and `in_flags`
# replaces it by the option.
_READING: dict[str, tuple[str, dict[str, Any]]] = {
    "srdf": (
        "--srdf",
        {"metavar": "FILE", "help": "groups, named states and disabled collision pairs"},
    ),
    "joint_limits": ("--joint-limits", {"metavar": "FILE", "help": "MoveIt's joint_limits.yaml"}),
    "package_dirs": (
        "--package-dir",
        {
            "metavar": "DIR",
            "action": "append",
            "default": [],
            "help": "where package:// paths are looked for; may be repeated",
        },
    ),
    "convex": (
        "--convex",
        {
            "choices": ("hull", "pieces", "mesh"),
            "default": "hull",
            "help": (
                "a collision mesh becomes its convex hull, convex pieces (needs the extra decomp),"
                " or stays"
            ),
        },
    ),
    "exact_meshes": (
        "--no-exact-meshes",
        {
            "action": "store_false",
            "help": (
                "hulls and pieces count as they are, also where the meshes for which they stand are"
                " apart"
            ),
        },
    ),
    "missing_meshes": (
        "--missing-meshes",
        {
            "choices": ("refuse", "skip"),
            "default": "refuse",
            "help": (
                "refuse a robot with a collision mesh that is missing or unreadable, or skip the"
                " mesh"
            ),
        },
    ),
    "inertia_from_meshes": (
        "--inertia-from-meshes",
        {
            "action": "store_true",
            "help": "compute inertial data that are impossible, or lacking in a body that moves",
        },
    ),
    "strict": (
        "--strict",
        {"action": "store_true", "help": "refuse whatever the URDF specification does not allow"},
    ),
}


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options of reading a robot."""
    group = parser.add_argument_group("reading the robot")
    for argument, (flag, how) in _READING.items():
        group.add_argument(flag, dest=argument, **how)


def in_flags(message: str) -> str:
    """Replace arguments of `load_robot` in a message by the corresponding options."""
    for argument, (flag, how) in _READING.items():
        given = how.get("action") != "store_false"
        message = re.sub(rf"\b{argument}={given}\b", flag, message)
        message = re.sub(rf"\b{argument}=(['\"])(.*?)\1", rf"{flag} \2", message)
        if how.get("action") == "append":
            message = re.sub(rf"\b{argument}\b", flag, message)
    return message


def add_scene(parser: argparse.ArgumentParser) -> None:
    """Add --scene."""
    parser.add_argument(
        "--scene",
        metavar="NAME|FILE|none",
        help="a bundled scene (see `robosim scenes`), a YAML scene file, or none",
    )


def add_json(parser: argparse._ActionsContainer) -> None:
    """Add --json."""
    parser.add_argument(
        "--json", action="store_true", help="print JSON on stdout, and nothing else"
    )


def reading_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the keyword arguments of `load_robot` that correspond to the options."""
    return {argument: getattr(args, argument) for argument in _READING}


def load_model(args: argparse.Namespace, **options: Any) -> Model:
    """Load the robot that the options name. Warnings go to stderr."""
    from robosim.cli.output import busy, print_warnings
    from robosim.urdf import load_robot

    with busy(f"loading {args.robot}"):
        model = load_robot(args.robot, **reading_options(args), **options)
    print_warnings([in_flags(text) for text in model.warnings], f"robosim inspect {args.robot}")
    return model


def is_world_file(args: argparse.Namespace) -> bool:
    """Return true if ROBOT is a world file."""
    name: str = args.robot
    return name.lower().endswith((".yaml", ".yml"))


def load_world(args: argparse.Namespace, also_told: Sequence[str] = (), **options: Any) -> World:
    """Load the world of ROBOT and --scene: a world file, or a robot at the start of a scene.

    Args:
        also_told: names of further arguments, None by default, that a world file specifies as well.
        options: options of `load_robot`.

    Raises:
        FileError, SceneError, SimulationError: the world cannot be read, or options repeat what a
            world file specifies.
    """
    from robosim.cli.output import busy, print_warnings
    from robosim.errors import SimulationError
    from robosim.world import World

    if not is_world_file(args):
        model = load_model(args, **options)
        scene = find_scene(args.scene, model)
        return World(model, scene, q=resting_configuration(model, scene))
    for argument, flag in {
        **{argument: flag for argument, (flag, _) in _READING.items()},
        **{argument: f"--{argument}" for argument in ("scene", *also_told)},
    }.items():
        if getattr(args, argument) != _default(argument):
            raise SimulationError(
                f"{args.robot} is a world file, which says that itself; leave out {flag}"
            )
    with busy(f"loading {args.robot}"):
        world = World.load(args.robot)
    print_warnings(
        [in_flags(text) for text in world.model.warnings], "robosim inspect, of each robot"
    )
    return world


def _default(argument: str) -> Any:
    """Return the value of an argument whose option is absent."""
    how = _READING.get(argument, ("", {}))[1]
    actions = {"store_true": False, "store_false": True}
    return how.get("default", actions.get(how.get("action", "")))


def scene_in(world: World) -> Scene | None:
    """Return the scene of a world; None if the scene is empty."""
    scene = world.scene
    return scene if len(scene) or scene.starts or scene.goals else None


def find_scene(name: str | None, model: Model) -> Scene | None:
    """Return the scene of --scene: a file, or a bundled scene of this robot; None for none.

    Raises:
        FileError, SceneError: the scene does not exist or is invalid.
    """
    from robosim.cli.output import busy
    from robosim.scene import load_scene

    if name is None or name == "none":
        return None
    with busy(f"loading {name}"):
        return load_scene(name, model=model)


def load_trajectory(name: str | None, model: Model) -> Trajectory | None:
    """Load the trajectory of a file, for this robot.

    Raises:
        FileError, TrajectoryError: it cannot be read, or moves joints that the robot lacks.
    """
    from robosim.trajectory import Trajectory
    from robosim.trajectory.configurations import position_columns

    if name is None:
        return None
    trajectory = Trajectory.load(name)
    position_columns(model, trajectory)
    return trajectory


def parse_positions(text: str, option: str, what: str = "joint") -> Any:
    """Parse a configuration: `q1,q2,...`, `joint=q,...`, or the name of a state.

    Returns:
        List of numbers, dict of numbers by joint name, or the name itself.

    Raises:
        PlanningError: numbers and names are mixed, or a number cannot be read.
    """
    from robosim.errors import PlanningError

    items = [item.strip() for item in text.split(",") if item.strip()]
    if not items:
        raise PlanningError(
            f"{option} is empty; expected numbers, joint=number, or the name of a state"
        )
    if any("=" in item for item in items):
        named: dict[str, float] = {}
        for item in items:
            joint, equals, value = item.partition("=")
            if not equals:
                raise PlanningError(
                    f"{option}: {item!r} lacks a {what} name; expected {what}=number"
                )
            if joint.strip() in named:
                raise PlanningError(f"{option}: {what} {joint.strip()!r} is given twice")
            named[joint.strip()] = _number(value, option)
        return named
    if len(items) == 1 and not _is_number(items[0]):
        return items[0]
    return [_number(item, option) for item in items]


def parse_speeds(text: str, option: str) -> float | dict[str, float]:
    """Parse speeds of links: one number, or `link=number,...`.

    Raises:
        PlanningError: the text is neither.
    """
    from robosim.errors import PlanningError

    given = parse_positions(text, option, "link")
    if isinstance(given, str) or (isinstance(given, list) and len(given) != 1):
        raise PlanningError(f"{option} is {text!r}; expected one number, or link=number,...")
    speeds: float | dict[str, float] = given[0] if isinstance(given, list) else given
    return speeds


def _number(text: str, option: str) -> float:
    from robosim.errors import PlanningError

    try:
        return float(text)
    except ValueError:
        raise PlanningError(f"{option}: {text.strip()!r} is not a number") from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def resting_configuration(model: Model, scene: Scene | None) -> Any:
    """Return the default configuration q (n_q,): neutral, or the scene's start for its joints."""
    q = model.neutral()
    index = {name: k for k, name in enumerate(model.position_names)}
    for name, value in ({} if scene is None else scene.starts.get("start", {})).items():
        if name in index:
            q[index[name]] = value
    return q
