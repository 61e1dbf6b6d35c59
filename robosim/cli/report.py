"""Summary of a plan, printed as JSON or as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robosim.cli.output import milliseconds, number, paint, print_heading, print_pairs, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from robosim.model import Model
    from robosim.planners import PlanResult
    from robosim.scene import Scene
    from robosim.trajectory import Trajectory

_SAMPLES = 1000  # number of moments at which peaks and clearance are evaluated


def summarize(result: PlanResult, model: Model, scene: Scene | None) -> dict[str, Any]:
    """Summarize a result, with each joint's peaks and limits, and the smallest clearances.

    Clearances are those of the moving parts to the scene, and between parts of the robot.
    """
    summary = {**result.to_dict(), "scene": None if scene is None else scene.name}
    if result.trajectory is not None:
        summary["joints"] = joint_peaks(result.trajectory)
        around, own = _apart(scene, model, _resting(result, model))
        summary["clearance"] = clearance(result, model, around)
        summary["self_clearance"] = clearance(result, model, own)
    return summary


def joint_peaks(trajectory: Trajectory) -> list[dict[str, Any]]:
    """Displacement, peak velocity, acceleration and torque of each position, with limits if any."""
    t = np.linspace(0, trajectory.duration, _SAMPLES)
    limits = trajectory.limits
    q = trajectory.position(t)
    peaks: dict[str, NDArray[np.float64]] = {
        "velocity": np.abs(trajectory.velocity(t)).max(axis=0),
        "acceleration": np.abs(trajectory.acceleration(t)).max(axis=0),
    }
    if trajectory.inverse_dynamics is not None:
        peaks["torque"] = np.abs(trajectory.torque(t)).max(axis=0)
    joints = []
    for k, name in enumerate(trajectory.position_names):
        joint: dict[str, Any] = {
            "name": name,
            "unit": trajectory.units[k],
            "way": float(np.abs(np.diff(q[:, k])).sum()),
        }
        for quantity, values in peaks.items():
            names = trajectory.torque_names if quantity == "torque" else trajectory.position_names
            if name not in names:
                continue  # the forces of a joint with several coordinates have names of their own
            column = names.index(name)
            bound = (
                None
                if limits is None
                else getattr(limits, "effort" if quantity == "torque" else quantity)
            )
            joint[quantity] = float(values[column])
            joint[f"{quantity}_limit"] = None if bound is None else float(bound[column])
        joints.append(joint)
    return joints


def _resting(result: PlanResult, model: Model) -> set[str]:
    """Links that the motion does not move."""
    assert result.trajectory is not None
    times = np.linspace(0, result.trajectory.duration, 7)
    first, *others = (model.link_poses(result.configuration(t)) for t in times)
    return {
        link for link, X in first.items() if all(np.array_equal(X, other[link]) for other in others)
    }


def _apart(scene: Scene | None, model: Model, resting: set[str]) -> tuple[Scene, Scene]:
    """Scenes for the distances to the surroundings, and between parts of the robot.

    Objects that the robot holds are in both. Pairs of things at rest are excluded.
    """
    from robosim.scene import Scene as AnyScene

    around = AnyScene("empty") if scene is None else scene.copy()
    own = around.copy()
    for name in around.objects:
        if name not in around.attachments:
            own.remove(name)
    parts = [*dict.fromkeys(collider.link for collider in model.colliders), *around.attachments]
    for k, part in enumerate(parts):
        for other in parts[:k]:
            around.allow(part, other)
    held = {name: attachment.link for name, attachment in around.attachments.items()}
    still = [part for part in parts if held.get(part, part) in resting]
    for k, part in enumerate(still):
        for other in still[:k]:
            own.allow(part, other)
        for obstacle in around.objects:
            if obstacle not in held:
                around.allow(part, obstacle)
    return around, own


def clearance(result: PlanResult, model: Model, scene: Scene) -> dict[str, Any] | None:
    """Smallest distance along the motion at sampled moments: meters, seconds, and the two objects.

    None if there is nothing to collide with.
    """
    assert result.trajectory is not None
    compiled = scene.compile(model)
    best: dict[str, Any] | None = None
    if not len(compiled.pairs):
        return best
    for t in np.linspace(0, result.trajectory.duration, 200):
        distance, a, b, *_ = compiled.min_distance(result.configuration(t))
        if np.isfinite(distance) and (best is None or distance < best["distance"]):
            best = {"distance": float(distance), "time": float(t), "between": [a, b]}
    return best


def print_summary(summary: Mapping[str, Any], written: Sequence[str]) -> None:
    """Print the summary as text."""
    where = f" in {summary['scene']}" if summary["scene"] else ""
    status = paint(summary["status"], "bold", "green" if summary["ok"] else "red")
    print(
        f"{summary['robot']}{where}: {status}, by {summary['planner']} with seed {summary['seed']}"
    )
    if summary["reason"]:
        print(f"  {summary['reason']}")
    if summary["ok"]:
        _print_motion(summary)
        _print_joints(summary["joints"])
    print_heading("Time taken")
    print_table(("", ""), [(stage, milliseconds(s)) for stage, s in summary["timings"].items()])
    if written:
        print()
    for name in written:
        print(f"wrote {name}")


def _print_motion(summary: Mapping[str, Any]) -> None:
    print_heading("Motion")
    print_pairs(
        {
            "duration": f"{summary['duration']:.3f} s",
            "path": (
                f"{number(summary['path_length'])} in joint space, through {summary['waypoints']}"
                " waypoints"
            ),
            "clearance": _gap(summary["clearance"], "nothing to collide with"),
            "self-clearance": _gap(summary["self_clearance"], "no parts that could collide"),
            "accelerations": f"limits from {summary['acceleration_source']}",
        }
    )


def _gap(gap: Mapping[str, Any] | None, nothing: str) -> str:
    """Describe a distance, its time and its two objects."""
    if gap is None:
        return nothing
    return (
        f"{1e3 * gap['distance']:.1f} mm at {gap['time']:.2f} s, {gap['between'][0]} to"
        f" {gap['between'][1]}"
    )


def _print_joints(joints: Sequence[Mapping[str, Any]]) -> None:
    print_heading("Joints: peaks, and how much of each limit they use")
    shown = [
        q for q in ("velocity", "acceleration", "torque") if any(q in joint for joint in joints)
    ]
    rows = []
    for joint in joints:
        row = [joint["name"], f"{number(joint['way'], 3)} {joint['unit']}"]
        for quantity in shown:
            if quantity not in joint:
                row += ["", ""]
                continue
            value, limit = joint[quantity], joint[f"{quantity}_limit"]
            row += [f"{number(value, 3)} {_unit(joint['unit'], quantity)}", _share(value, limit)]
        rows.append(row)
    print_table(["joint", "way", *(text for quantity in shown for text in (quantity, ""))], rows)


def _unit(position: str, quantity: str) -> str:
    if quantity == "torque":
        return "N m" if position == "rad" else "N"
    return position + ("/s" if quantity == "velocity" else "/s2")


def _share(value: float, limit: float | None) -> str:
    return f"{100 * value / limit:.0f} %" if limit and np.isfinite(limit) else "-"
