"""Random problems among boxes on arms of many kinds: robosim must solve all that OMPL solves.

OMPL's planner is RRT-Connect. Both sides have 10 s of elapsed time. OMPL queries the same scene at
samples. Its space is the full range of the joint limits, so it includes every turn of every joint.
A problem counts as solved by OMPL only if robosim's check, which misses nothing between samples,
finds its path free: a path that cuts through the corner of a box is no solution.

    python benchmarks/bench_random.py [--quick] [--json FILE] [--robot NAME] [--planner NAME]
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.report import Report, Row, arguments, require_peers

BUDGET = 10.0  # [s] of elapsed time, for either side
STEP = 0.02  # between OMPL's samples, Euclidean in q: about 1 to 2 cm of an arm's reach


def example_robot(file: str):
    """Load a robot of the package example-robot-data."""
    from harness.robots import Robot

    import robosim

    path = Robot(file, file, floating=False).path
    return robosim.load_robot(path, package_dirs=[path.parents[4]], visuals=False)


def mobile_arm():
    """Return a UR5 on a platform that moves over the ground."""
    import robosim

    folder = resources.files("robosim.robots") / "ur5"
    tree = ElementTree.fromstring((folder / "ur5.urdf").read_text(encoding="utf-8"))
    children = {joint.find("child").get("link") for joint in tree.iter("joint")}
    root = next(link.get("name") for link in tree.iter("link") if link.get("name") not in children)
    tree.extend(
        ElementTree.fromstring(
            f"""<more><link name="ground"/><link name="platform"><inertial><mass value="60"/>
            <inertia ixx="3" ixy="0" ixz="0" iyy="4" iyz="0" izz="6"/></inertial>
            <collision><origin xyz="-0.2 0 -0.15"/>
            <geometry><box size="0.8 0.5 0.2"/></geometry></collision></link>
            <joint name="drive" type="planar"><origin xyz="0 0 0.3"/><parent link="ground"/>
            <child link="platform"/><axis xyz="0 0 1"/>
            <limit lower="-2" upper="2" velocity="1" effort="500"/></joint>
            <joint name="mount" type="fixed"><parent link="platform"/><child link="{root}"/></joint>
            </more>"""
        )
    )
    with resources.as_file(folder) as here:
        return robosim.load_robot(
            ElementTree.tostring(tree, encoding="unicode"),
            package_dirs=[here, here.parent],
            visuals=False,
        )


def bundled(name: str):
    """Load a robot of robosim."""
    import robosim

    return robosim.load_robot(name, visuals=False)


# Each robot, and prefixes of the names of joints that move; all joints without any prefix.
ROBOTS: dict[str, tuple[Callable, tuple[str, ...]]] = {
    "UR5 with gripper": (lambda: bundled("ur5_gripper"), ("shoulder", "elbow", "wrist")),
    "xArm7": (lambda: example_robot("xarm_description/urdf/xarm7.urdf"), ("joint",)),
    "Panda": (lambda: bundled("panda"), ("panda_joint",)),
    "Kinova": (
        lambda: example_robot("kinova_description/robots/kinova.urdf"),
        ("j2s6s200_joint_",),
    ),
    "TIAGo": (lambda: example_robot("tiago_description/robots/tiago.urdf"), ("arm_", "torso")),
    "mobile UR5": (mobile_arm, ()),
}


def moving(model, beginnings: tuple[str, ...]) -> list[str]:
    """Return the joints of a problem: those with these prefixes, without fingers."""
    names = [name for name in model.joint_names if name.startswith(beginnings or "")]
    return [
        name for name in names if not any(word in name for word in ("finger", "gripper", "knuckle"))
    ]


def problems(model, group: list[str], count: int) -> Iterator:
    """Yield problems with random boxes within reach, and two random free configurations each.

    Links that always touch are allowed to touch.
    """
    from robosim.planners import Problem
    from robosim.planners.positions import make_columns
    from robosim.scene import Scene

    columns = make_columns(model, group)
    lower = np.where(np.isfinite(columns.lower), columns.lower, -np.pi)
    upper = np.where(np.isfinite(columns.upper), columns.upper, np.pi)
    rest = np.clip(model.neutral(), model.limits.lower, model.limits.upper)
    rng = np.random.default_rng(7)

    def draw(n: int) -> np.ndarray:
        q = np.repeat(rest[None], n, axis=0)
        q[:, list(columns.q)] = rng.uniform(lower, upper, (n, len(columns.q)))
        return q

    # Pairs of links that touch in almost all configurations would leave no free configuration.
    alone = Scene().compile(model)
    touching: dict[tuple[str, str], int] = {}
    link_of = {c.name: c.link for c in model.colliders}
    looked_at = draw(200)
    for q in looked_at:
        for a, b in {tuple(sorted((link_of[a], link_of[b]))) for a, b, _ in alone.collisions(q)}:
            touching[a, b] = touching.get((a, b), 0) + 1
    always = [pair for pair, n in touching.items() if n > 0.95 * len(looked_at)]
    reach = np.array(
        [model.frame_pose(q, link)[:3, 3] for q in draw(50) for link in model.link_names[-3:]]
    )
    middle, spread = reach.mean(axis=0), reach.std(axis=0)
    while count > 0:
        scene = Scene("boxes")
        for pair in always:
            scene.allow(*pair)
        for i in range(int(rng.integers(3, 9))):
            X = np.eye(4)
            X[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
            X[:3, :3] *= np.sign(np.linalg.det(X[:3, :3]))
            X[:3, 3] = middle + 1.2 * spread * rng.normal(size=3)
            scene.add_box(f"box{i}", rng.uniform(0.05, 0.3, 3), X)
        compiled = scene.compile(model)
        free = [q for q in draw(300) if not compiled.collides(q)]
        if len(free) < 2:
            continue
        count -= 1
        yield Problem(model, scene, free[0], free[1], group=group)


def ompl_solves(problem, prepared) -> tuple[bool, float]:
    """Return True if OMPL finds a path that is free, and its time [s]."""
    from harness.ompl_peer import rrt_connect

    columns = list(prepared.columns.q)
    q = prepared.start.copy()

    def is_free(x) -> bool:
        q[columns] = x
        return not prepared.scene.collides(q)

    # Joints without limits have a range of two more turns to either side, which is ample.
    ends = prepared.start[columns], np.asarray(prepared.goals[0].positions)[columns]
    lower, upper = prepared.columns.lower.copy(), prepared.columns.upper.copy()
    endless = ~(np.isfinite(lower) & np.isfinite(upper))
    lower[endless] = np.minimum(*ends)[endless] - 2 * np.pi
    upper[endless] = np.maximum(*ends)[endless] + 2 * np.pi
    begin = time.perf_counter()
    found = rrt_connect(is_free, lower, upper, *ends, budget_s=BUDGET, step=STEP)
    seconds = time.perf_counter() - begin
    if not found.solved:
        return False, seconds
    path = np.repeat(prepared.start[None], len(found.path), axis=0)
    path[:, columns] = found.path
    return (
        all(prepared.scene.edge_free(a, b, 1e-4).free for a, b in itertools.pairwise(path)),
        seconds,
    )


def measure(name: str, count: int, planner: str, report: Report) -> int:
    """Measure one robot's problems on both sides.

    Returns:
        The number of problems that OMPL solved and robosim did not.
    """
    from robosim.planners import plan, prepare

    load, beginnings = ROBOTS[name]
    model = load()
    group = moving(model, beginnings)
    ours, theirs, times, peer_times = 0, 0, [], []
    lost = []
    for i, problem in enumerate(problems(model, group, count)):
        begin = time.perf_counter()
        result = plan(problem, planner=planner, budget_s=BUDGET)
        times.append(time.perf_counter() - begin)
        solved, seconds = ompl_solves(problem, prepare(problem))
        peer_times.append(seconds)
        ours += result.ok
        theirs += solved
        if solved and not result.ok:
            lost.append(i)
            report.remark(f"LOST {name} {i}: {result.status.value}: {result.reason}")
        if sys.stderr.isatty():
            print(f"\r{name}: {i + 1}", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print("\r" + " " * 40 + "\r", end="", file=sys.stderr)
    note = f"n = {count}, {len(group)} joints"
    report.add(Row(f"{name}: solved within {BUDGET:g} s", ours, "", peer=theirs, note=note))
    report.add(Row(f"{name}: of what OMPL solves, not solved", len(lost), "", bar=0))
    for label, p in (("median", 50), ("p95", 95)):
        report.add(
            Row(f"{name}: whole plan, {label}", 1e3 * float(np.percentile(times, p)), "ms",
                1e3 * float(np.percentile(peer_times, p)), note="its peer: OMPL's search alone")
        )  # fmt: skip
    return len(lost)


def main() -> int:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument(
        "--planner", default="rrt_connect", help="which of robosim's planners to measure"
    )
    parser.add_argument("--robot", choices=ROBOTS, help="one of the robots alone")
    parser.add_argument("--count", type=int, metavar="N", help="problems per robot")
    options = parser.parse_args()
    require_peers("ompl", "example-robot-data")
    from harness import ompl_peer

    ompl_peer.silence()
    report = Report("Random problems, beside OMPL RRT-Connect over the same scenes")
    for name in [options.robot] if options.robot else ROBOTS:
        measure(name, options.count or (3 if options.quick else 100), options.planner, report)
    return report.finish(options)


if __name__ == "__main__":
    raise SystemExit(main())
