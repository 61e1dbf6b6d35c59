"""Inverse kinematics of many poses compared with TRAC-IK, and straight lines of a Panda.

Poses are those of random configurations within limits, so that all can be reached. Every attempt
begins at the middle of the limits. Both sides have to come within 1e-5 m and rad, and each result
is checked by forward kinematics. TRAC-IK (Beeson and Ames, "TRAC-IK: an open-source library for
improved solving of generic inverse kinematics", Humanoids 2015) runs in the same process in its
mode "Speed" with its default timeout of 5 ms, one pose at a time. It starts two threads for each
pose, so robosim is measured on one thread and on two, in elapsed time. The sides alternate, slice
by slice.

Lines of the Panda are 0.1 to 0.3 m long, from random free configurations, in a random direction,
with constant orientation. They count if an exhaustive search over the null space
(harness/null_space_lines.py), which is an independent method, can follow them.

    python benchmarks/bench_inverse.py [--quick] [--json FILE] [--only poses|lines]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.report import Report, Row, arguments
from harness.timing import Bystanders

TOLERANCE = 1e-5  # [m], [rad]
SOLVED_BAR = 0.999  # of reachable poses
SPEED_BAR = 10.0  # relative to TRAC-IK's poses per second, with one thread
LINES, LINES_BAR = 100, 0.9  # of lines that the exhaustive search can follow


def main() -> int:
    """Measure, and return the exit status."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("poses", "lines"))
    options = parser.parse_args()
    report = Report("Inverse kinematics")
    bystanders = Bystanders()
    if options.only != "lines":
        for robot, base, tip in (
            ("ur5", "base_link", "tool0"),
            ("panda", "panda_link0", "panda_link8"),
        ):
            poses(report, robot, base, tip, 1000 if options.quick else 10_000, options.quick)
    if options.only != "poses":
        lines(report, 20 if options.quick else LINES)
    if (share := bystanders.share()) > 0.1:
        report.remark(f"other programs took {100 * share:.0f} % of a processor meanwhile")
    return report.finish(options)


def poses(report: Report, robot: str, base: str, tip: str, n: int, quick: bool) -> None:
    """Measure poses per second and the fraction of solved poses."""
    import robosim
    from robosim.planners import inverse_kinematics_many

    model = robosim.load_robot(robot)
    q = model.random_configuration(np.random.default_rng(0), n)
    X = model.frame_pose(q, tip)
    middle = 0.5 * (model.limits.lower + model.limits.upper)
    peer = trac_ik(model, robot, base, tip)

    slices = np.array_split(np.arange(n), 5 if quick else 20)
    spent: dict[str, list[float]] = {"one": [], "two": [], "peer": []}
    solved = dict.fromkeys(spent, 0)
    inverse_kinematics_many(model, tip, X[:200], start=middle)  # wakes threads and fills tables

    def ours(threads: int):
        return lambda part: (
            inverse_kinematics_many(
                model,
                tip,
                X[part],
                start=middle,
                position_tolerance=TOLERANCE,
                rotation_tolerance=TOLERANCE,
                threads=threads,
            ).q
        )

    sides = {"one": ours(1), "two": ours(2)}
    if peer is not None:
        sides["peer"] = lambda part: peer(X[part], middle)
    for number, part in enumerate(slices):
        order = list(sides) if number % 2 == 0 else list(sides)[::-1]
        for side in order:
            begin = time.perf_counter()
            found = sides[side](part)
            spent[side].append(time.perf_counter() - begin)
            solved[side] += met(model, tip, found, X[part])
    rate = {side: n / sum(times) for side, times in spent.items() if times}
    share = solved["peer"] / n if peer is not None else None
    report.add(
        Row(
            f"{robot}: poses per second, one thread",
            rate["one"],
            "1/s",
            rate.get("peer"),
            SPEED_BAR if peer is not None else None,
            at_least=True,
            on_ratio=True,
            of_peer=True,
            by_machine=True,
        )
    )
    report.add(
        Row(
            f"{robot}: poses per second, two threads",
            rate["two"],
            "1/s",
            rate.get("peer"),
            of_peer=True,
        )
    )
    report.add(Row(f"{robot}: solved", solved["one"] / n, "", share, SOLVED_BAR, at_least=True))
    if solved["one"] != solved["two"]:
        raise AssertionError(
            f"{robot}: one thread solves {solved['one']}, two solve {solved['two']}"
        )
    far = X.copy()
    far[:, :3, 3] *= 3 / np.linalg.norm(far[:, :3, 3], axis=1, keepdims=True)
    begin = time.perf_counter()
    beyond = inverse_kinematics_many(model, tip, far, start=middle, threads=1)
    report.add(Row(f"{robot}: poses per second 3 m away", n / (time.perf_counter() - begin), "1/s"))
    if beyond.attempts.any():
        raise AssertionError(f"{robot}: attempts for poses 3 m away")


def met(model, tip: str, q, X) -> int:
    """Count the configurations (n, n_q) within limits that reach their pose; NaN for none."""
    from scipy.spatial.transform import Rotation

    there = np.isfinite(q).all(axis=1)
    found = model.frame_pose(np.where(there[:, None], q, 0.0), tip)
    position = np.linalg.norm(found[:, :3, 3] - X[:, :3, 3], axis=1)
    turn = Rotation.from_matrix(np.swapaxes(X[:, :3, :3], 1, 2) @ found[:, :3, :3]).magnitude()
    # TRAC-IK's tolerance applies to each component.
    close = (position <= TOLERANCE * 3**0.5) & (turn <= TOLERANCE * 3**0.5)
    inside = ((q >= model.limits.lower - 1e-9) & (q <= model.limits.upper + 1e-9)).all(axis=1)
    return int((there & close & inside).sum())


def trac_ik(model, robot: str, base: str, tip: str):
    """Return a function from poses and a start to configurations.

    None if pytracik is not installed.
    """
    try:
        import pytracik
    except ImportError:
        print("pytracik is not installed: no peer for poses")
        return None
    from scipy.spatial.transform import Rotation

    import robosim

    folder = Path(robosim.__file__).parent / "robots" / robot
    with tempfile.NamedTemporaryFile("w", suffix=".urdf") as file:
        file.write((folder / f"{robot}.urdf").read_text(encoding="utf-8"))
        file.flush()
        solver = pytracik.TRAC_IK(
            base, tip, Path(file.name).read_text(), 0.005, TOLERANCE, pytracik.SolveType.Speed
        )
    n = pytracik.get_num_joints(solver)
    # Both sides have the same limits, and poses relative to the base of the chain.
    pytracik.set_joint_limits(solver, list(model.limits.lower[:n]), list(model.limits.upper[:n]))
    X_BW = np.linalg.inv(model.frame_pose(model.neutral(), base))

    def solve(X, start):
        local = X_BW @ X
        turns = Rotation.from_matrix(local[:, :3, :3]).as_quat()
        out = np.full((len(X), model.n_q), np.nan)
        for i in range(len(X)):
            found = pytracik.ik(solver, start[:n], *local[i, :3, 3], *turns[i])
            if found[0] >= 0:
                out[i] = start
                out[i, :n] = found[1:]
        return out

    return solve


def lines(report: Report, n: int) -> None:
    """Count the Panda's lines that are followed to their end, and time them.

    Only lines that the exhaustive search can follow count.
    """
    from harness.null_space_lines import can_be_followed, random_lines

    import robosim
    from robosim.planners import PoseGoal, Problem, plan_cartesian

    model = robosim.load_robot("panda")
    ours, dense, both, seconds = 0, 0, 0, []
    for q, X in random_lines(model, "panda_link8", n):
        begin = time.perf_counter()
        result = plan_cartesian(Problem(model, None, q, PoseGoal("panda_link8", X)))
        seconds.append(time.perf_counter() - begin)
        can = can_be_followed(model, "panda_link8", q, X)
        ours, dense, both = ours + result.ok, dense + can, both + (result.ok and can)
    report.remark(
        f"panda: {n} lines, {dense} of which a dense search follows; {ours} are followed, {both} of"
        " them these"
    )
    report.add(
        Row(
            "panda: lines followed, of a dense search's",
            both / max(dense, 1),
            "",
            None,
            LINES_BAR,
            at_least=True,
        )
    )
    report.add(Row("panda: time per line, median", 1e3 * median(seconds), "ms"))
    report.add(Row("panda: time per line, 95 %", 1e3 * float(np.quantile(seconds, 0.95)), "ms"))


if __name__ == "__main__":
    raise SystemExit(main())
