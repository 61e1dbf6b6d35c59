"""`robosim stream`: sends a plan to a simulated or real arm, and reports the tracking error."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from robosim.cli.options import add_json, add_reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from robosim.cli.options import Subparsers
    from robosim.execution.streaming import Progress, StreamReport
    from robosim.model import Model
    from robosim.trajectory import Trajectory

EXIT_DONE, EXIT_NOT_THERE, EXIT_INTERRUPTED = 0, 3, 130
RECORDING = (".csv", ".npz")
RATE = 125.0  # [Hz]

_EPILOG = """\
Before anything moves the plan is checked: it starts within 0.01 rad of where the arm stands, stays
within every limit, and ends at rest; controller, program and safety mode are in order as far as the
arm says.

examples:
  robosim stream plan.json --plot tracking.png
  robosim stream plan.json --mode setpoints --rate 500 --real-time --record tracking.csv
  robosim stream plan.json --to ros2
"""


def add_parsers(commands: Subparsers) -> None:
    """Add this subcommand. `add_transports` adds the options of the transports."""
    parser = commands.add_parser(
        "stream",
        help="have an arm follow a plan, simulated or real",
        description="Have an arm follow a plan, and show how closely it did.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("plan", metavar="PLAN", help="a motion that `robosim plan -o` wrote")
    parser.add_argument(
        "--to",
        metavar="NAME",
        default="sim",
        help="the arm: one of the transports below (default: %(default)s)",
    )
    parser.add_argument(
        "--robot", metavar="ROBOT", help="a bundled robot or a file; by default the plan's own"
    )
    add_reading(parser)
    how = parser.add_argument_group("how")
    how.add_argument(
        "--mode", choices=("trajectory", "setpoints"), default="trajectory",
        help="send the whole plan, which the arm interpolates, or one position per period "
        "(default: %(default)s)",
    )  # fmt: skip
    how.add_argument(
        "--rate", metavar="HZ", type=float, default=RATE,
        help="at which set points are sent, and the arm is looked at (default: %(default)g)",
    )  # fmt: skip
    how.add_argument(
        "--start-tolerance", metavar="Q", type=float, default=0.01,
        help="how far from the plan's start each joint may stand [rad or m] (default: %(default)g)",
    )  # fmt: skip
    how.add_argument(
        "--max-error", metavar="Q", type=float, default=0.2,
        help="tracking error at which the arm is held [rad or m] (default: %(default)g)",
    )  # fmt: skip
    out = parser.add_argument_group("what to do with what was seen")
    out.add_argument(
        "--plot", metavar="FILE", help="plot positions and tracking errors: .png, .svg or .pdf"
    )
    out.add_argument(
        "--record", metavar="FILE", help="write desired and actual positions: .csv or .npz"
    )
    add_json(out)
    parser.set_defaults(run=run)


def add_transports(parser: argparse.ArgumentParser) -> None:
    """Add every transport's options, one group each.

    A transport that cannot be loaded says so in its group, and when it is used.
    """
    from robosim.execution.transports import find_transport, transport_names

    for name in transport_names():
        try:
            transport = find_transport(name)
            transport.add_arguments(parser.add_argument_group(f"--to {name}", transport.summary))
        # Other transports must stay usable if a third party's module fails.
        except Exception as error:
            parser.add_argument_group(f"--to {name}", f"cannot be used: {error}")


def run(args: argparse.Namespace) -> int:
    """Load, stream, report and write."""
    from robosim.cli import files
    from robosim.cli.output import busy, print_json, printable
    from robosim.execution.limits import model_limits, strictest
    from robosim.execution.streaming import Outcome, stream_trajectory
    from robosim.execution.transports import find_transport

    # Check options, load the plan and connect.
    files.check_outputs({"--plot": (args.plot, files.PLOT), "--record": (args.record, RECORDING)})
    transport = find_transport(args.to)
    trajectory, model = load(args)
    args.plan_start = starting_positions(trajectory)
    with busy(f"connecting to {args.to}"):
        arm = transport.connect(model, trajectory.position_names, args)
    # Stream the plan.
    with arm, busy(f"streaming to {args.to}") as say:
        report = stream_trajectory(
            arm,
            trajectory,
            mode=args.mode,
            rate=args.rate,
            limits=strictest(trajectory.limits, model_limits(model, trajectory.position_names)),
            start_tolerance=args.start_tolerance,
            tracking_error=args.max_error,
            on_progress=lambda progress: say(_stage(progress)),
        )
        # Commands that the arm refused, changed or aborted, if the arm reports them.
        told = [
            event.text
            for event in getattr(arm, "events", ())
            if event.level in ("warning", "error")
        ]

    # Write files and print the summary.
    summary = summarize(report, args, trajectory, told)
    written: list[str] = []
    if report.tracking is not None and len(report.tracking):
        if args.record:
            report.tracking.save(args.record)
            written.append(args.record)
        if args.plot:
            with busy(f"plotting {args.plot}"):
                files.save_figure(report.tracking.plot(), args.plot)
            written.append(args.plot)
    if args.json:
        print_json({**summary, "written": written})
    else:
        print_summary(printable({**summary, "reason": report.reason.splitlines()}), written)
    if report.outcome is Outcome.STOPPED:
        return EXIT_INTERRUPTED
    return EXIT_DONE if report.ok else EXIT_NOT_THERE


def load(args: argparse.Namespace) -> tuple[Trajectory, Model]:
    """Load the plan and its robot.

    Raises:
        FileError, TrajectoryError: the plan cannot be read, or names no robot.
        UrdfError: the robot cannot be read.
        ExecutionError: the plan moves joints that the robot lacks or that no joint controller
            commands.
    """
    from robosim.cli.options import load_model
    from robosim.errors import FileError, TrajectoryError
    from robosim.execution.plant import joint_columns
    from robosim.trajectory import Trajectory

    trajectory = Trajectory.load(args.plan)
    if args.robot is None and not trajectory.robot:
        raise TrajectoryError(
            "the plan does not say for which robot it is; give --robot", file=args.plan
        )
    given, args.robot = args.robot, args.robot or trajectory.robot
    try:
        model = load_model(args)
    except FileError as error:
        if given is not None:
            raise
        raise FileError(
            f"the plan is for the robot {trajectory.robot!r}: {error}; give --robot"
        ) from None
    joint_columns(model, trajectory.position_names)
    return trajectory, model


def starting_positions(trajectory: Trajectory) -> dict[str, float]:
    """Positions by name at the plan's start, including joints that rest during the plan."""
    from robosim.trajectory.configurations import positions_at_rest

    start = trajectory.position(0.0).tolist()
    return {
        **positions_at_rest(trajectory),
        **dict(zip(trajectory.position_names, start, strict=True)),
    }


def _stage(progress: Progress) -> str:
    paused = progress.speed_scaling < 1
    speed = f", speed scaling {100 * progress.speed_scaling:.0f} %" if paused else ""
    return (
        f"{progress.plan_time:.1f} of {progress.duration:.1f} s, error {1e3 * progress.error:.2f}"
        f" mrad{speed}"
    )


def summarize(
    report: StreamReport, args: argparse.Namespace, trajectory: Trajectory, told: Sequence[str]
) -> dict[str, Any]:
    """Summarize the run for JSON."""
    from dataclasses import asdict

    return {
        "plan": args.plan,
        "robot": args.robot,
        "to": args.to,
        "mode": args.mode,
        "outcome": report.outcome.value,
        "ok": report.ok,
        "reason": report.reason,
        "duration": trajectory.duration,
        "plan_time": report.plan_time,
        "joints": [] if report.tracking is None else report.tracking.summary(),
        "samples": 0 if report.tracking is None else len(report.tracking),
        "loop": asdict(report.statistics),
        "simulated_time": args.to == "sim" and not args.real_time,
        "states": report.states,
        "longest_gap": report.longest_gap,
        "told": list(told),
    }


def print_summary(summary: Mapping[str, Any], written: Sequence[str]) -> None:
    """Print the summary as text, with the reason as a list of lines."""
    from robosim.cli.output import paint, print_heading, print_pairs

    outcome = paint(summary["outcome"], "bold", "green" if summary["ok"] else "red")
    print(f"{summary['robot']}, {summary['plan']} to {summary['to']}: {outcome}")
    for line in summary["reason"]:
        print(f"  {line}")
    if not summary["ok"] and summary["outcome"] != "refused":
        end = (
            "the arm gave it up" if summary["outcome"] == "aborted" else "the arm was told to hold"
        )
        print(
            f"  after {summary['plan_time']:.2f} of {summary['duration']:.2f} s of the plan; {end}"
        )
    for line in summary["told"]:
        print(paint(f"  the arm: {line}", "yellow"))
    if summary["samples"]:
        _print_tracking(summary)
        loop = summary["loop"]
        print_heading("Loop")
        lines = {"samples": f"{loop['ticks']} at {loop['rate']:g} Hz"}
        if summary["simulated_time"]:
            lines["time"] = "simulated, as fast as the machine can: nothing is ever late"
        else:
            lines["missed"] = f"{loop['missed']} deadlines in {loop['stalls']} stalls"
            for what in ("lateness", "jitter"):
                p50, p99, most = (f"{1e3 * loop[f'{what}_{k}']:.3f}" for k in ("p50", "p99", "max"))
                lines[what] = f"p50 {p50}, p99 {p99}, max {most} ms"
        lines["states"] = (
            f"{summary['states']} seen, at most {1e3 * summary['longest_gap']:.1f} ms apart"
        )
        print_pairs(lines)
    if written:
        print()
    for name in written:
        print(f"wrote {name}")


def _print_tracking(summary: Mapping[str, Any]) -> None:
    from robosim.cli.output import number, print_heading, print_table

    print_heading("Tracking error")
    rows = [
        [
            joint["name"],
            f"{number(1e3 * joint['max_error'], 3)} m{joint['unit']}",
            f"{joint['max_error_time']:.2f} s",
            f"{number(1e3 * joint['rms_error'], 3)} m{joint['unit']}",
            f"{number(1e3 * joint['final_error'], 3)} m{joint['unit']}",
        ]
        for joint in summary["joints"]
    ]
    print_table(("joint", "greatest", "at", "rms", "last"), rows)
