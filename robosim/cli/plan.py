"""`robosim plan`: plans a motion among obstacles, prints a table and writes a trajectory."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from robosim.cli.options import add_json, add_robot, add_scene

if TYPE_CHECKING:
    from robosim.cli.options import Subparsers
    from robosim.model import Model
    from robosim.world import World

NO_PLAN = 3

_EPILOG = """\
Without a goal, the scene's own named start and goal are used.

examples:
  robosim plan ur5 --scene bookshelf_small -o plan.json
  robosim plan ur5 --scene bookshelf_small --clearance 0.03 --view
  robosim plan ur5 --goal 0.5,-1.2,1.3,-1.6,-1.5,0
  robosim plan ur5 --start shoulder_pan_joint=6.28 --goal shoulder_pan_joint=0 --no-full-turns
  robosim plan my_arm.urdf --goal-pose 0.4 0.1 0.5 0 1 0 0 --frame tool0 --view
  robosim plan cell.yaml --goal left/elbow_joint=1.2 --group left/manipulator
"""


def add_parsers(commands: Subparsers) -> None:
    """Add this subcommand."""
    parser = commands.add_parser(
        "plan",
        help="plan a motion among obstacles",
        description="Plan a collision-free, timed motion within every limit.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_robot(parser, or_world=True)
    add_scene(parser)
    where = parser.add_argument_group("where from and where to")
    goal = where.add_mutually_exclusive_group()
    goal.add_argument(
        "--goal",
        metavar="Q1,Q2,...",
        help="positions in model order, or joint=position,... [rad, m]",
    )
    goal.add_argument(
        "--goal-named", metavar="NAME", help="a goal of the scene, or a named state of the robot"
    )
    goal.add_argument(
        "--goal-pose",
        metavar=("X", "Y", "Z", "QX", "QY", "QZ", "QW"),
        nargs=7,
        type=float,
        help="pose of a link in the world [m, quaternion]",
    )
    where.add_argument(
        "--frame",
        metavar="LINK",
        help="the link that --goal-pose is about; the end effector by default",
    )
    where.add_argument(
        "--full-turns",
        action=argparse.BooleanOptionalAction,
        default=True,
        help=(
            "whether any positions equal to --goal or --goal-named up to full turns will do, as by"
            " default; --no-full-turns asks for those given, so that a joint unwinds"
        ),
    )
    where.add_argument(
        "--start", metavar="Q1,Q2,...", help="like --goal, or the name of a start or state"
    )
    where.add_argument(
        "--group",
        metavar="NAME|JOINTS",
        help="the joints that may move: a group, or joint,joint,...",
    )
    how = parser.add_argument_group("how")
    how.add_argument(
        "--planner", metavar="NAME", default="rrt_connect", help="see `robosim planners`"
    )
    how.add_argument(
        "--seed", metavar="N", type=int, default=0, help="of the random numbers, default 0"
    )
    how.add_argument(
        "--budget",
        metavar="SECONDS",
        type=float,
        default=math.inf,
        help="wall-clock time after which to stop",
    )
    how.add_argument(
        "--velocity-scaling", metavar="S", type=float, default=1.0, help="0 to 1, default 1"
    )
    how.add_argument(
        "--acceleration-scaling", metavar="S", type=float, default=1.0, help="0 to 1, default 1"
    )
    how.add_argument(
        "--jerk-limit",
        metavar="J",
        type=float,
        help="[rad/s^3, m/s^3] for all joints; no limit by default",
    )
    how.add_argument(
        "--tool-speed",
        metavar="V|LINK=V,...",
        help=(
            "the most that a link's origin may move [m/s]: of the pose goal's link, else the only"
            " tip, or by name"
        ),
    )
    how.add_argument(
        "--clearance",
        metavar="M",
        type=float,
        default=0.0,
        help=(
            "distance to keep from everything where there is room [m]; by default only nothing"
            " touches"
        ),
    )
    out = parser.add_argument_group("what to do with the plan")
    out.add_argument(
        "-o", "--output", metavar="FILE", help="write the trajectory: .json, .csv or .npz"
    )
    out.add_argument("--plot", metavar="FILE", help="plot positions to torques: .png, .svg or .pdf")
    out.add_argument(
        "--render",
        metavar="FILE",
        help="write an animation (.html), a picture (.png) or a film (.gif, .mp4)",
    )
    out.add_argument("--view", action="store_true", help="show it in the browser")
    add_json(out)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Plan, report and write."""
    from robosim import planners
    from robosim.cli import files, report
    from robosim.cli.options import load_world, parse_speeds, scene_in
    from robosim.cli.output import busy, print_json, printable

    # Check all options before planning.
    files.check_outputs(
        {
            "--output": (args.output, files.TRAJECTORY),
            "--plot": (args.plot, files.PLOT),
            "--render": (args.render, files.RENDER),
        }
    )
    world = load_world(args)
    model, scene = world.model, scene_in(world)
    problem = make_problem(args, world)
    tool_speed = None if args.tool_speed is None else parse_speeds(args.tool_speed, "--tool-speed")
    # Plan.
    with busy("planning") as say:
        result = planners.plan(
            problem,
            planner=args.planner,
            seed=args.seed,
            budget_s=args.budget,
            velocity_scaling=args.velocity_scaling,
            acceleration_scaling=args.acceleration_scaling,
            jerk=args.jerk_limit,
            tool_speed=tool_speed,
            progress=say,
        )
    # Write files and print the summary.
    summary = report.summarize(result, model, scene)
    written: list[str] = []
    if result.trajectory is not None:
        if args.output:
            result.trajectory.save(args.output)
            written.append(args.output)
        if args.plot:
            with busy(f"plotting {args.plot}"):
                files.save_figure(result.trajectory.plot(), args.plot)
            written.append(args.plot)
        if args.render:
            with busy(f"rendering {args.render}") as say:
                files.render(args.render, model, scene, result.trajectory, q=result.q_rest, say=say)
            written.append(args.render)
    if args.json:
        print_json({**summary, "written": written})
    else:
        report.print_summary(printable(summary), written)
    if result.trajectory is None:
        return NO_PLAN
    if args.view:
        from robosim.cli.view import serve

        serve(model, scene, result.trajectory, q=result.q_rest, quiet=args.json)
    return 0


def make_problem(args: argparse.Namespace, world: World) -> Any:
    """Create the planning problem that the options describe.

    Raises:
        PlanningError: there is no goal, or an option cannot be understood.
    """
    from robosim.cli.options import is_world_file, parse_positions, scene_in
    from robosim.errors import PlanningError
    from robosim.geometry import pose
    from robosim.planners import JointGoal, PoseGoal, Problem

    model, scene = world.model, scene_in(world)
    # Goal of the options, otherwise the scene's goal "goal".
    goal: Any = None
    if args.goal is not None:
        goal = JointGoal(parse_positions(args.goal, "--goal"), full_turns=args.full_turns)
    elif args.goal_named is not None:
        goal = args.goal_named if args.full_turns else JointGoal(args.goal_named, full_turns=False)
    elif args.goal_pose is not None:
        x, y, z, *quaternion = args.goal_pose
        norm = sum(c * c for c in quaternion) ** 0.5
        if not 0.99 < norm < 1.01:
            raise PlanningError(
                f"--goal-pose: the quaternion QX QY QZ QW has length {norm:.4g}; it must be 1"
            )
        goal = PoseGoal(
            args.frame or _end_effector(model),
            pose((x, y, z), quaternion=[c / norm for c in quaternion]),
        )
    elif scene is None:
        raise PlanningError(
            "there is no goal: give --goal, --goal-named or --goal-pose, or a scene that has one "
            "(--scene, see `robosim scenes`)"
        )
    elif "goal" not in scene.goals:
        known = ", ".join(scene.goals)
        hint = (
            f"name one of its goals with --goal-named: {known}"
            if known
            else "give --goal or --goal-pose"
        )
        raise PlanningError(f"scene {scene.name!r} has no goal named 'goal'; {hint}")
    if not args.full_turns and args.goal is None and args.goal_named is None:
        raise PlanningError("--no-full-turns is about --goal or --goal-named, which are not given")
    if args.frame is not None and args.goal_pose is None:
        raise PlanningError("--frame is about --goal-pose, which is not given")
    # Start of the options, in a world file relative to the world's start.
    start = None if args.start is None else parse_positions(args.start, "--start")
    by_name = start is None or isinstance(start, dict | str)
    if (
        is_world_file(args)
        and by_name
        and (not isinstance(start, str) or start not in world.scene.starts)
    ):
        # The start of the world, changed by the given positions.
        start = model.configuration(start or {}, rest=world.start)
    # Joints of the group: its name, or a list of joints.
    group: Any = args.group
    if group is not None and group not in model.groups:
        group = [joint.strip() for joint in group.split(",")]
    return Problem(model, scene, start=start, goal=goal, group=group, clearance=args.clearance)


def _end_effector(model: Model) -> str:
    """Return the default link of a goal pose.

    Raises:
        PlanningError: the robot has several tip links, or none.
    """
    from robosim.errors import PlanningError
    from robosim.model.tips import tip_links

    tips = tip_links(model)
    if len(tips) == 1:
        return tips[0]
    raise PlanningError(
        f"--goal-pose needs --frame: {model.name} has several end effectors, {', '.join(tips)}"
    )
