"""`robosim simulate`: let a robot go, and see what it does."""

from __future__ import annotations

import argparse
import math
import re
from typing import TYPE_CHECKING, Any

from robosim.cli.options import add_json, add_robot, add_scene

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from robosim.cli.options import Subparsers
    from robosim.model import Model
    from robosim.scene import Scene
    from robosim.simulation import Control, Motion, Simulation, State

STATE = (".json",)
EXIT_DONE, EXIT_UNSOLVED = 0, 3
FLOOR_GAP = 0.05  # [m] under a robot that falls
SAMPLES = 400  # of a run that are looked at for energies and forces

_EPILOG = """\
Joints swing freely, but for their damping and dry friction, unless --hold has motors keep them where they are.
A robot on a floating base falls on a floor, unless a scene is given.

examples:
  robosim simulate ur5 --for 2s --plot swing.png
  robosim simulate gripper_2f --base floating --for 1s
  robosim simulate ur5 --scene bookshelf_small --hold --for 1s -o state.json
  robosim simulate ur5 --scene bookshelf_small --hold --for 1s --from state.json
"""


def add_parsers(commands: Subparsers) -> None:
    """Add this subcommand."""
    parser = commands.add_parser(
        "simulate",
        help="let a robot go, and see what it does",
        description="Step a robot through time, with contact and friction, from rest or from a saved state.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_robot(parser)
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
        default="fixed",
        help="whether the root link is fixed (default: %(default)s)",
    )
    how.add_argument("--dt", metavar="TIME", default="1ms", help="length of a step (default: %(default)s)")
    how.add_argument(
        "--solver", choices=("lcp", "cone", "pgs"), default="lcp", help="of contacts (default: %(default)s)"
    )
    how.add_argument(
        "--friction",
        metavar="MU",
        type=float,
        default=1.0,
        help="of everything against everything (default: %(default)g)",
    )
    how.add_argument(
        "--hold",
        action="store_true",
        help="motors hold the joints where they are, within their effort limits",
    )
    how.add_argument("--from", dest="state", metavar="FILE", help="begin with a state that -o wrote")
    out = parser.add_argument_group("what to do with what was seen")
    out.add_argument("-o", "--output", metavar="FILE", help="write the last state: .json")
    out.add_argument(
        "--plot", metavar="FILE", help="plot positions, energy and contact forces: .png, .svg or .pdf"
    )
    add_json(out)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Load, simulate, report, write."""
    from robosim.cli import files
    from robosim.cli.options import find_scene, reading_options
    from robosim.cli.output import busy, print_json, printable
    from robosim.errors import SimulationError
    from robosim.simulation import Material, Simulation, State
    from robosim.urdf import load_robot

    files.check_outputs({"--output": (args.output, STATE), "--plot": (args.plot, files.PLOT)})
    duration, dt = parse_time(args.duration, "--for"), parse_time(args.dt, "--dt")
    if duration / dt > 1e7:
        raise SimulationError(
            f"--for {args.duration} takes {duration / dt:.3g} steps of {args.dt}; at most 1e7 are taken"
        )
    with busy(f"loading {args.robot}"):
        model = load_robot(args.robot, base=args.base, **reading_options(args))
    scene = find_scene(args.scene, model)
    if scene is None and args.base == "floating":
        scene = floor()
    plain = Material(friction=args.friction)
    names = [link.name for link in model.links] + ([] if scene is None else [thing.name for thing in scene])
    simulation = Simulation(
        model,
        scene,
        dt=dt,
        solver=args.solver,
        materials=dict.fromkeys(names, plain),
        motors=holding(model) if args.hold else None,
    )
    start = State.load(args.state) if args.state else above_floor(simulation, model, scene)
    control = hold(start) if args.hold else free()
    steps = max(round(duration / dt), 1)
    with busy(f"simulating {duration:g} s"):
        motion = simulation.run(start, steps, control)
    seen = look(simulation, motion, control)

    summary = summarize(model, motion, seen, dt)
    written = []
    if args.output:
        motion.end.save(args.output)
        written.append(args.output)
    if args.plot:
        with busy(f"plotting {args.plot}"):
            files.save_figure(plot(model, motion, seen), args.plot)
        written.append(args.plot)
    if args.json:
        print_json({**summary, "written": written})
    else:
        print_summary(printable(summary), written)
    return EXIT_DONE if motion.report.status != "inconsistent" else EXIT_UNSOLVED


def parse_time(text: str, option: str) -> float:
    """`5s`, `250ms` or `2` as seconds.

    Raises:
        SimulationError: it is no such thing, or not positive.
    """
    from robosim.errors import SimulationError

    match = re.fullmatch(r"\s*([0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(ms|s|min)?\s*", text)
    try:
        seconds = (
            float(match[1]) * {"ms": 1e-3, "s": 1.0, "min": 60.0}[match[2] or "s"] if match else math.nan
        )
    except ValueError:
        seconds = math.nan
    if not (0 < seconds < math.inf):
        raise SimulationError(f"{option} {text}: expected a positive time such as 5s, 250ms or 1min")
    return seconds


def floor() -> Scene:
    """The half-space below z = 0."""
    from robosim.scene import Scene

    scene = Scene("floor")
    scene.add_half_space("floor")
    return scene


def above_floor(simulation: Simulation, model: Model, scene: Scene | None) -> State:
    """The scene's start, or the neutral configuration; a floating robot a little above what is below it."""
    from robosim.cli.options import resting_configuration

    q = resting_configuration(model, scene)
    if model.floating_base and scene is not None:
        distance = scene.compile(model).min_distance(q)[0] if simulation.pairs else math.inf
        if math.isfinite(distance):
            q[2] += FLOOR_GAP - distance
    return simulation.state(q)


def holding(model: Model) -> dict[str, Any]:
    """Motors that hold each joint by a tenth of a second's swing: gains from the inertia that it has at the most."""
    import numpy as np

    from robosim.simulation import Motor

    inertia = np.diag(model.mass_matrix(model.neutral()))
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


def hold(state: State) -> Control:
    """Targets where the joints are."""
    from robosim.simulation import Control

    return Control(q_target=state.q)


def free() -> Control:
    """Nothing drives."""
    from robosim.simulation import Control

    return Control()


def look(simulation: Simulation, motion: Motion, control: Control) -> dict[str, NDArray[Any]]:
    """Energies, and what contacts push with, at up to SAMPLES instants of a run."""
    import numpy as np

    from robosim.simulation import State

    model = simulation.model
    at = np.unique(np.linspace(0, len(motion.times) - 1, SAMPLES).astype(int))
    kinetic, potential, pushing, points = [], [], [], []
    for i in at:
        kinetic.append(model.kinetic_energy(motion.q[i], motion.v[i]))
        potential.append(model.potential_energy(motion.q[i]))
        contacts = simulation.details(State(motion.q[i], motion.v[i]), control).contacts
        pushing.append(sum(abs(float(c.normal @ c.force)) for c in contacts))
        points.append(sum(c.mode != "open" for c in contacts))
    return {
        "times": motion.times[at],
        "kinetic": np.array(kinetic),
        "potential": np.array(potential),
        "pushing": np.array(pushing),
        "points": np.array(points),
    }


def summarize(model: Model, motion: Motion, seen: dict[str, NDArray[Any]], dt: float) -> dict[str, Any]:
    """What is printed."""
    energy = seen["kinetic"] + seen["potential"]
    return {
        "robot": model.name,
        "time": float(motion.times[-1]),
        "steps": len(motion.times) - 1,
        "dt": dt,
        "status": motion.report.status,
        "residual": motion.report.residual,
        "first_unsolved": motion.first_unsolved,
        "energy": [float(energy[0]), float(energy[-1])],
        "contacts": int(seen["points"][-1]),
        "pushing": float(seen["pushing"][-1]),
        "fastest": float(abs(motion.v[-1]).max(initial=0.0)),
        "q": {name: float(x) for name, x in zip(model.position_names, motion.q[-1], strict=True)},
    }


def print_summary(summary: dict[str, Any], written: list[str]) -> None:
    """For people."""
    from robosim.cli.output import number, print_heading, print_pairs, print_table

    print(
        f"{summary['robot']}: {summary['steps']} steps of {number(1e3 * summary['dt'])} ms, {summary['status']}"
    )
    first = summary["first_unsolved"]
    print_pairs(
        {
            "time": f"{number(summary['time'])} s",
            "energy": f"{number(summary['energy'][0])} to {number(summary['energy'][1])} J",
            "at the end": f"fastest coordinate {number(summary['fastest'])} per s, {summary['contacts']} points "
            f"push with {number(summary['pushing'])} N",
            **(
                {}
                if first is None
                else {"not solved as asked": f"from step {first} on; see docs/simulation.md"}
            ),
        }
    )
    print_heading("at the end")
    print_table(("", "q"), [(name, number(x)) for name, x in summary["q"].items()])
    for name in written:
        print(f"wrote {name}")


def plot(model: Model, motion: Motion, seen: dict[str, NDArray[Any]]) -> Any:
    """Positions, energies and forces over time, one above the other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 8), layout="constrained")
    upper, middle, lower = figure.subplots(3, 1, sharex=True)
    for name, x in zip(model.position_names, motion.q.T, strict=True):
        upper.plot(motion.times, x, label=name)
    upper.set(ylabel="q [rad, m]", title=f"{model.name}: {motion.report.status}")
    if model.n_q <= 14:
        upper.legend(fontsize="small", ncols=2)
    middle.plot(seen["times"], seen["kinetic"], label="kinetic")
    middle.plot(seen["times"], seen["potential"], label="potential")
    middle.plot(seen["times"], seen["kinetic"] + seen["potential"], label="together")
    middle.set(ylabel="energy [J]")
    middle.legend(fontsize="small")
    lower.plot(seen["times"], seen["pushing"])
    lower.set(ylabel="contacts push with [N]", xlabel="time [s]")
    return figure
