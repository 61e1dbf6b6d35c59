"""`robosim simulate`: simulates a robot from rest or from a saved state."""

from __future__ import annotations

import argparse
import math
import re
import warnings
from typing import TYPE_CHECKING, Any

from robosim.cli.options import add_json, add_robot, add_scene

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from robosim.cli.options import Subparsers
    from robosim.model import Joint, Model
    from robosim.scene import Scene
    from robosim.simulation import Control, Rollout, Simulation, State

STATE = (".json",)
FREE = ("floating", "planar")  # joints that do not carry weight
EXIT_DONE, EXIT_UNSOLVED = 0, 3
FLOOR_GAP = 0.01  # [m] below a robot that falls
SAMPLES = 2000  # largest number of plotted samples of a run

_EPILOG = """\
Joints swing freely, but for their damping and dry friction, unless --hold has motors keep them
where they are. The base is floating where the robot's SRDF has a virtual joint of this type for it,
as those of bundled robots that walk, fly or drive have. A robot that nothing holds, on a floating
base or a planar root joint, begins just above a floor, falls and lands, unless --scene says where
it is. A world file (`World.save`, docs/simulation.md) says all of that itself; its motors hold
where it begins.

examples:
  robosim simulate ur5 --for 2s --plot swing.png
  robosim simulate gripper_2f --base floating --for 1s --view
  robosim simulate quadruped --start standing --hold --render stand.html
  robosim simulate ur5 --scene bookshelf_small --hold --for 1s -o state.json
  robosim simulate ur5 --scene bookshelf_small --hold --for 1s --from state.json
  robosim simulate cell.yaml --for 2s --view
"""


def add_parsers(commands: Subparsers) -> None:
    """Add this subcommand."""
    parser = commands.add_parser(
        "simulate",
        help="let a robot go, and see what it does",
        description=(
            "Step a robot through time, with contact and friction, from rest or from a saved state."
        ),
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_robot(parser, or_world=True)
    add_scene(parser)
    how = parser.add_argument_group("how")
    how.add_argument(
        "--for",
        dest="duration",
        metavar="TIME",
        default="5s",
        help="how long: 5s, 250ms (default: %(default)s)",
    )
    how.add_argument(
        "--base",
        choices=("fixed", "floating"),
        help="how the root link is held (default: as the robot's SRDF says, else fixed)",
    )
    how.add_argument(
        "--dt", metavar="TIME", default="1ms", help="length of a step (default: %(default)s)"
    )
    how.add_argument(
        "--solver",
        metavar="NAME",
        default="convex",
        help="of contacts, as `Simulation` has them: convex, lcp, pgs (default: %(default)s)",
    )
    how.add_argument(
        "--friction",
        metavar="MU",
        type=float,
        help="of everything against everything (default: 1; in a world file as it says)",
    )
    how.add_argument(
        "--hold",
        action="store_true",
        help=(
            "motors hold the joints where they are, within their effort limits; with --from where"
            " the run that wrote it held them"
        ),
    )
    begin = how.add_mutually_exclusive_group()
    begin.add_argument(
        "--start",
        metavar="Q1,Q2,...",
        help=(
            "begin at rest there: positions in model order, joint=position,... [rad, m], or a named"
            " state"
        ),
    )
    begin.add_argument(
        "--from", dest="state", metavar="FILE", help="begin with a state that -o wrote"
    )
    out = parser.add_argument_group("what to do with what was seen")
    out.add_argument("-o", "--output", metavar="FILE", help="write the last state: .json")
    out.add_argument(
        "--plot",
        metavar="FILE",
        help="plot positions, energy, forces and contacts: .png, .svg or .pdf",
    )
    out.add_argument(
        "--render",
        metavar="FILE",
        help=(
            "write an animation (.html), a picture (.png) or a film (.gif, .mp4), with contact"
            " forces as arrows"
        ),
    )
    out.add_argument(
        "--view", action="store_true", help="show it in the browser, with contact forces as arrows"
    )
    add_json(out)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Load, simulate, report and write."""
    from robosim.cli import files
    from robosim.cli.options import is_world_file, load_world, scene_in
    from robosim.cli.output import busy, print_json, printable
    from robosim.errors import SimulationError
    from robosim.simulation import Control, Simulation, State, StepStatus
    from robosim.world import Material

    # Check all options before simulating.
    files.check_outputs(
        {
            "--output": (args.output, STATE),
            "--plot": (args.plot, files.PLOT),
            "--render": (args.render, files.RENDER),
        }
    )
    duration, dt = parse_time(args.duration, "--for"), parse_time(args.dt, "--dt")
    if duration / dt > 1e7:
        raise SimulationError(
            f"--for {args.duration} takes {duration / dt:.3g} steps of {args.dt}; at most 1e7 are"
            " taken"
        )
    # Complete the world: floor, materials, and motors that hold the joints.
    world = load_world(args, ("base", "friction"), base=args.base or "described")
    model, scene = world.model, scene_in(world)
    if not is_world_file(args):
        if args.scene is None and may_fall(model):
            world.scene = scene = floor()
        plain = Material(friction=1.0 if args.friction is None else args.friction)
        names = [link.name for link in model.links] + (
            [] if scene is None else [thing.name for thing in scene]
        )
        world.materials = dict.fromkeys(names, plain)
    if args.hold:
        world.motors = holding(model) | world.motors
    with warnings.catch_warnings():  # the summary reports them
        warnings.simplefilter("ignore")
        simulation = Simulation(world, dt=dt, solver=args.solver)
    # Simulate.
    start = State.load(args.state) if args.state else at_rest(simulation, args)
    control = held(start, args.state) if world.motors else Control()
    steps = max(round(duration / dt), 1)
    with busy(f"simulating {duration:g} s") as say:
        motion = simulation.rollout(
            start, steps, control, progress=lambda taken: say(f"{taken * dt:.2f} s")
        )

    # Write files and print the summary.
    summary = {"base": base_of(args, model), "scene": scene_of(args, scene)}
    summary |= summarize(simulation, motion, control)
    written = []
    if args.output:
        motion.end.save(args.output, control)
        written.append(args.output)
    if args.plot:
        from robosim.cli.simulate_plot import plot

        with busy(f"plotting {args.plot}"):
            replay = motion.replay(rate=SAMPLES / (steps * dt))
            files.save_figure(plot(model, motion, replay), args.plot)
        written.append(args.plot)
    shown = motion.replay() if args.render or args.view else None
    if args.render:
        with busy(f"rendering {args.render}") as say:
            files.render(args.render, model, scene, shown, say=say)
        written.append(args.render)
    if args.json:
        print_json({**summary, "written": written})
    else:
        print_summary(printable(summary), written)
    if args.view:
        from robosim.cli.view import serve

        serve(model, scene, shown, quiet=args.json)
    return EXIT_DONE if motion.report.status < StepStatus.inconsistent else EXIT_UNSOLVED


def parse_time(text: str, option: str) -> float:
    """Parse `5s`, `250ms` or `2` as seconds.

    Raises:
        SimulationError: the text is not a duration, or it is not positive.
    """
    from robosim.errors import SimulationError

    match = re.fullmatch(r"\s*([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(ms|s|min)?\s*", text)
    try:
        seconds = (
            float(match[1]) * {"ms": 1e-3, "s": 1.0, "min": 60.0}[match[2] or "s"]
            if match
            else math.nan
        )
    except ValueError:
        seconds = math.nan
    if not (0 < seconds < math.inf):
        raise SimulationError(
            f"{option} {text}: expected a positive time such as 5s, 250ms or 1min"
        )
    return seconds


def may_fall(model: Model) -> bool:
    """Return true if the robot or a part of it can fall.

    Its base is floating, or a joint from its root is floating or planar.
    """
    return model.floating_base or any(joint.kind in FREE for joint in root_joints(model))


def root_joints(model: Model) -> list[Joint]:
    """Joints that the root link carries."""
    return [joint for joint in model.joints if joint.parent == model.root_link]


def base_of(args: argparse.Namespace, model: Model) -> dict[str, str]:
    """Base of the robot, fixed or floating, and the input that determines it."""
    from robosim.cli.options import is_world_file

    kind = "floating" if model.floating_base else "fixed"
    if is_world_file(args):
        return {"kind": kind, "why": "world file"}
    if args.base is not None:
        return {"kind": kind, "why": "--base"}
    joints = root_joints(model)
    if not model.floating_base and any(joint.kind in FREE for joint in joints):
        free = next(joint for joint in joints if joint.kind in FREE)
        return {"kind": kind, "why": f"the {free.kind} joint {free.name!r} moves on it"}
    return {
        "kind": kind,
        "why": "virtual joint of its SRDF" if model.floating_base else "by default",
    }


def scene_of(args: argparse.Namespace, scene: Scene | None) -> dict[str, str]:
    """Name of the scene, and the input that determines it."""
    from robosim.cli.options import is_world_file

    if is_world_file(args):
        return {"name": "none" if scene is None else scene.name, "why": "world file"}
    if args.scene is not None:
        return {"name": "none" if scene is None else scene.name, "why": "--scene"}
    if scene is None:
        return {"name": "none", "why": "the base is held"}
    return {"name": scene.name, "why": "something is free to fall; --scene none leaves it out"}


def floor() -> Scene:
    """The half-space below z = 0."""
    from robosim.scene import Scene

    scene = Scene("floor")
    scene.add_half_space("floor")
    return scene


def at_rest(simulation: Simulation, args: argparse.Namespace) -> State:
    """Initial state at rest, from --start.

    Positions default to the start of the world or scene, or to the nearest ones within the limits.
    A robot that can fall starts slightly above the scene, unless all positions are given or a world
    file places it.

    Raises:
        ModelError, PlanningError, SimulationError: the positions cannot be understood.
    """
    import numpy as np

    from robosim.cli.options import is_world_file, parse_positions, scene_in

    model, scene = simulation.model, scene_in(simulation.world)
    q = np.clip(simulation.world.start, model.limits.lower, model.limits.upper)
    positions = None if args.start is None else parse_positions(args.start, "--start")
    if isinstance(positions, list):
        return simulation.state(positions)
    if positions is not None:
        q = model.configuration(positions, rest=q)
    if scene is not None and not is_world_file(args):
        q = lifted(model, scene, q)
    return simulation.state(q)


def lifted(model: Model, scene: Scene, q: NDArray[Any]) -> NDArray[Any]:
    """Raise the whole robot in q until it just clears the scene.

    Return q itself if no single joint carries all of the robot.
    """
    import numpy as np

    joints = root_joints(model)
    if model.floating_base:
        link = model.root_link
    elif len(joints) == 1 and joints[0].kind in FREE:
        link = joints[0].child
    else:
        return q
    alone = model.with_collision_pairs(np.empty((0, 2), dtype=int))
    checker = scene.compile(alone)
    if not len(checker.pairs):
        return q
    # The joint's own velocity that lifts its child by 1 m/s without rotation.
    J = model.jacobian(q, link)
    direction = np.where(np.abs(J[3:]).max(axis=0) > 1e-9, 0.0, J[2])
    if direction @ direction < 1e-9:
        return q  # the joint moves in a level plane
    up = direction / (direction @ direction)
    lifted: NDArray[Any] = model.integrate(q, up * (FLOOR_GAP - checker.min_distance(q)[0]))
    return lifted


def holding(model: Model) -> dict[str, Any]:
    """Motors that hold each joint with a time constant of a tenth of a second.

    Gains follow from the joint's largest inertia.
    """
    from robosim.world import Motor

    inertia = held_inertia(model)
    singles = {
        joint.name
        for joint in model.joints
        if joint.kind in ("revolute", "continuous", "prismatic", "helical")
    }
    rate = 2 * math.pi / 0.1
    return {
        name: Motor(float(m) * rate**2, 2 * float(m) * rate)
        for name, m in zip(model.velocity_names, inertia, strict=True)
        if name in singles
    }


def held_inertia(model: Model) -> NDArray[Any]:
    """(n_v,) inertia that each joint moves at neutral [kg m^2 or kg]: all links beyond the joint.

    For a floating robot whose child link may rest on the floor, all other links, if more.
    """
    import numpy as np

    q = model.neutral()
    M = model.mass_matrix(q)
    inertia: NDArray[Any] = np.diag(M).copy()
    if not model.floating_base:
        return inertia
    names = list(model.velocity_names)
    for joint in model.joints:
        if joint.name in names:
            # The base moves so that the child link stands still.
            v = np.eye(model.n_v)[k := names.index(joint.name)]
            J = model.jacobian(q, joint.child)
            v[:6] = np.linalg.solve(J[:, :6], -J[:, k])
            inertia[k] = max(inertia[k], v @ M @ v)
    return inertia


def held(state: State, file: str | None) -> Control:
    """Targets at the joints' positions, or at those of the run that wrote the file."""
    from robosim.simulation import Control

    before = Control() if file is None else Control.load(file)
    return Control(q_target=state.q if before.q_target is None else before.q_target)


def summarize(simulation: Simulation, motion: Rollout, control: Control) -> dict[str, Any]:
    """Summarize a run for printing."""
    model = simulation.model
    energy = [
        model.kinetic_energy(motion.q[i], motion.v[i]) + model.potential_energy(motion.q[i])
        for i in (0, -1)
    ]
    contacts = simulation.linearize(motion.end, control).contacts
    return {
        "robot": model.name,
        "time": float(motion.times[-1]),
        "steps": motion.steps,
        "dt": simulation.dt,
        "status": motion.report.status.name,
        "residual": motion.report.residual,
        "first_unsolved": None if motion.report.solved else motion.report.first_unsolved,
        "energy": energy,
        "left_out": [list(pair) for pair in simulation.left_out],
        "contacts": sum(c.mode != "open" for c in contacts),
        "pushing": sum(abs(float(c.normal @ c.force)) for c in contacts),
        "fastest": float(abs(motion.v[-1]).max(initial=0.0)),
        "q": {name: float(x) for name, x in zip(model.position_names, motion.q[-1], strict=True)},
    }


def print_summary(summary: dict[str, Any], written: list[str]) -> None:
    """Print the summary as text."""
    from robosim.cli.output import number, print_heading, print_pairs, print_table
    from robosim.simulation.hulls import told_left_out

    print(
        f"{summary['robot']}: {summary['steps']} steps of {number(1e3 * summary['dt'])} ms,"
        f" {summary['status']}"
    )
    first = summary["first_unsolved"]
    hint = (
        "a shorter --dt may help" if summary["status"] == "diverged" else "see docs/simulation.md"
    )
    print_pairs(
        {
            "base": f"{summary['base']['kind']} ({summary['base']['why']})",
            "scene": f"{summary['scene']['name']} ({summary['scene']['why']})",
            "time": f"{number(summary['time'])} s",
            "energy": f"{number(summary['energy'][0])} to {number(summary['energy'][1])} J",
            "at the end": (
                f"fastest coordinate {number(summary['fastest'])} per s, {summary['contacts']}"
                f" points push with {number(summary['pushing'])} N"
            ),
            **({} if first is None else {"not solved as asked": f"from step {first} on; {hint}"}),
        }
    )
    if summary["left_out"]:
        print(told_left_out(summary["left_out"]))
    print_heading("at the end")
    print_table(("", "q"), [(name, number(x)) for name, x in summary["q"].items()])
    for name in written:
        print(f"wrote {name}")
