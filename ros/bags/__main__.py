"""python -m robosim.ros.bags BAG: shows the content of a recording and its tracking error."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from robosim.errors import RobosimError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Show a recording. Return the exit status: 0, or 1 with a line on standard error."""
    parser = argparse.ArgumentParser(
        prog="python -m robosim.ros.bags",
        description=(
            "Show what is in a recording (rosbag2, MCAP), and compare it with the plan that an arm"
            " followed."
        ),
    )
    parser.add_argument("bag", help="folder of the recording, or an .mcap file")
    parser.add_argument(
        "--plan", metavar="FILE", help="the plan that was followed; prints each joint's error"
    )
    parser.add_argument(
        "--start", type=float, metavar="SECONDS", help="when it began (default: as found)"
    )
    parser.add_argument(
        "--tf-prefix", default="", metavar="TEXT", help="what the recorded joints' names begin with"
    )
    parser.add_argument(
        "--joint-states", metavar="TOPIC", help="topic of the joint states, if there are several"
    )
    parser.add_argument("--plot", metavar="FILE", help="draw plan and recording (.png, .pdf, .svg)")
    parser.add_argument(
        "--save", metavar="FILE", help="write plan and recording, side by side (.csv, .npz)"
    )
    parser.add_argument(
        "--trajectory",
        metavar="FILE",
        help="write the recorded motion as a trajectory (.json, ...)",
    )
    parser.add_argument(
        "--cutoff", type=float, metavar="HZ", help="low-pass for --trajectory (default: none)"
    )
    options = parser.parse_args(arguments)
    try:
        return _show(options)
    except (RobosimError, OSError) as error:
        print(f"robosim: error: {' '.join(str(error).splitlines())}", file=sys.stderr)
        return 1


def _show(options: argparse.Namespace) -> int:
    from robosim.ros.bags.motion import find_start, to_trajectory, track
    from robosim.ros.bags.reading import Bag
    from robosim.trajectory import Trajectory

    if (options.plot or options.save) and not options.plan:
        raise RobosimError("--plot and --save compare with a plan; name it with --plan")
    # List the topics.
    bag = Bag(options.bag)
    interrupted = ", interrupted" if bag.truncated else ""
    print(f"{bag.path}: {bag.duration:.2f} s{interrupted}")
    for name, topic in sorted(bag.topics.items()):
        lasted = (topic.last_ns - topic.first_ns) / 1e9
        rate = f", {(topic.count - 1) / lasted:.1f} Hz" if topic.count > 2 and lasted > 0 else ""
        print(f"  {name} ({topic.type}): {topic.count}{rate}")

    if options.trajectory:
        states = bag.joint_states(options.joint_states)
        made = to_trajectory(states, cutoff=options.cutoff)
        made.save(options.trajectory)
        print(f"{options.trajectory}: {made.duration:.2f} s, {len(made.breaks)} knots")
    if options.plan:
        # Compare with the plan.
        plan = Trajectory.load(options.plan)
        prefixed = [f"{options.tf_prefix}{name}" for name in plan.position_names]
        start = options.start
        if start is None:
            start = find_start(
                bag, plan, bag.joint_states(options.joint_states, joint_names=prefixed)
            )
        tracking = track(
            bag, plan, start=start, tf_prefix=options.tf_prefix, joint_states=options.joint_states
        )
        print(f"plan of {plan.duration:.2f} s, begun at {start:.3f} s")
        for row in tracking.summary():
            print(
                f"  {row['name']}: error at most {row['max_error']:.3g} {row['unit']} (at"
                f" {row['max_error_time']:.2f} s), rms {row['rms_error']:.3g}, at the end"
                f" {row['final_error']:.3g}"
            )
        if options.save:
            tracking.save(options.save)
        if options.plot:
            tracking.plot(title=f"{plan.robot or 'arm'}: {bag.path.name}").savefig(options.plot)
            print(options.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
