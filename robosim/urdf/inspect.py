"""`inspect_robot`: a complete report of a description and of the resulting model, as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from robosim.geometry import Shape, TriangleMesh
from robosim.model import Model
from robosim.urdf.fidelity import (
    HullPair,
    MeshFidelity,
    ModelColliders,
    hull_only_pairs,
    mesh_fidelity,
)
from robosim.urdf.load import LoadedRobot, LoadOptions, load_with_report

__all__ = ["ColliderReport", "RobotReport", "inspect_robot"]

_HULL_SAMPLES = 300


@dataclass(frozen=True)
class ColliderReport:
    """One `<collision>` of the description.

    Attributes:
        link: link that carries the collider.
        names: names of the corresponding colliders of the model.
        type: type of the model's shape: "sphere", "box", "cylinder", "capsule", "convex".
        mesh: reference to the mesh file; None for a primitive.
        fidelity: comparison of a mesh with its convex colliders.
        exact: True if the mesh decides where its convex colliders overlap something.
        line: line in the description.
    """

    link: str
    names: tuple[str, ...]
    type: str
    mesh: str | None
    fidelity: MeshFidelity | None
    exact: bool
    line: int


@dataclass(frozen=True, eq=False)
class RobotReport:
    """Result of `inspect_robot`. `to_dict` returns it as JSON-ready data.

    Attributes:
        loaded: the model, and its source files.
        colliders: one per `<collision>`.
        hull_pairs: pairs of links that collide only because of convex colliders.
        hull_samples: number of random configurations used to find these pairs.
        position_sources: source of the position limits, per coordinate of q.
        velocity_sources: source of velocity, effort and acceleration limits, per coordinate of v.
    """

    loaded: LoadedRobot
    colliders: tuple[ColliderReport, ...]
    hull_pairs: tuple[HullPair, ...]
    hull_samples: int
    position_sources: Mapping[str, str]
    velocity_sources: Mapping[str, Mapping[str, str]]

    @property
    def model(self) -> Model:
        """Model of the description."""
        return self.loaded.model

    def to_dict(self) -> dict[str, Any]:
        """Convert to nested dicts and lists for JSON.

        They contain strings, numbers and None (for no limit).
        """
        loaded, model, limits = self.loaded, self.model, self.model.limits
        filtered = loaded.self_collision
        data = {
            "name": model.name,
            "file": loaded.robot.file,
            "srdf": loaded.semantics.file if loaded.semantics else None,
            "joint_limits": loaded.overrides.source if loaded.overrides else None,
            "floating_base": model.floating_base,
            "n_q": model.n_q,
            "n_v": model.n_v,
            "mass": model.total_mass,
            "root": model.root_link,
            "links": [
                {
                    "name": k.name, "mass": k.mass, "com": k.com, "inertia": k.inertia,
                    "line": loaded.robot.links[k.name].line,
                }
                for k in model.links
            ],
            "joints": [
                {
                    "name": j.name, "kind": j.kind, "parent": j.parent, "child": j.child,
                    "axis": j.axis,
                    "damping": j.damping, "friction": j.friction, "armature": j.armature,
                    "mimic": asdict(j.mimic) if j.mimic else None,
                    "line": loaded.robot.joints[j.name].line,
                }
                for j in model.joints
            ],
            "positions": [
                {
                    "name": name, "lower": limits.lower[i], "upper": limits.upper[i],
                    "source": self.position_sources[name],
                }
                for i, name in enumerate(model.position_names)
            ],
            "velocities": [
                {
                    "name": name, "velocity": limits.velocity[i],
                    "acceleration": limits.acceleration[i],
                    "effort": limits.effort[i], "sources": dict(self.velocity_sources[name]),
                }
                for i, name in enumerate(model.velocity_names)
            ],
            "acceleration_source": limits.acceleration_source,
            "groups": {g.name: {"joints": g.joints, "tip": g.tip} for g in model.groups.values()},
            "named_states": [asdict(s) for s in model.named_states],
            "end_effectors": {e.name: {"link": e.link,
                "group": e.group} for e in model.end_effectors.values()},
            "colliders": [asdict(c) for c in self.colliders],
            "collision_pairs": len(model.collision_pairs),
            "disabled_collisions": [asdict(d) for d in model.disabled_collisions],
            "self_collision_filter": None
            if filtered is None
            else {
                "samples": filtered.n_samples, "seed": filtered.seed, "margin": filtered.margin,
                "undecided": filtered.undecided,
            },
            "hull_only_pairs": [asdict(p) for p in self.hull_pairs],
            "hull_samples": self.hull_samples,
            "ignored": model.ignored,
            "warnings": model.warnings,
            "dynamics_faults": model.dynamics_faults,
        }  # fmt: skip
        plain: dict[str, Any] = _plain(data)
        return plain


def inspect_robot(source: Any, **options: Any) -> RobotReport:
    """Load a robot and report on its description and the model.

    Args:
        source: as for `load_robot`.
        **options: as for `load_robot`.

    Raises:
        RobosimError: as `load_robot` does.
    """
    loaded = load_with_report(source, LoadOptions(**options))
    model, robot = loaded.model, loaded.robot
    owners = ModelColliders(model, robot, loaded.options.colliders)
    colliders = [
        ColliderReport(
            link=name,
            names=tuple(model.colliders[i].name for i in indices),
            type=_type_of(model.colliders[indices[0]].shape),
            mesh=geometry.mesh.uri if geometry.mesh else None,
            fidelity=mesh_fidelity(robot, robot.links[name], geometry, loaded.options.colliders)
            if geometry.mesh
            else None,
            exact=model.colliders[indices[0]].exact is not None,
            line=geometry.line,
        )
        for name, geometries in owners.of_link.items()
        for geometry, indices in geometries
    ]
    pairs = hull_only_pairs(model, robot, owners, n_samples=_HULL_SAMPLES)
    positions, velocities = _limit_sources(loaded)
    return RobotReport(loaded, tuple(colliders), tuple(pairs), _HULL_SAMPLES, positions, velocities)


def _type_of(shape: Shape | TriangleMesh) -> str:
    return "mesh" if isinstance(shape, TriangleMesh) else str(shape.type)


def _limit_sources(loaded: LoadedRobot) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Source of each coordinate's limits."""
    model, robot = loaded.model, loaded.robot
    overrides = loaded.overrides.by_joint if loaded.overrides else {}
    file = loaded.overrides.source if loaded.overrides else ""
    # Position limits, per coordinate of q.
    positions: dict[str, str] = {}
    for name in model.position_names:
        joint = robot.joints.get(name.partition("/")[0])
        if joint is None or joint.kind not in ("revolute", "prismatic"):
            positions[name] = "none"
            continue
        positions[name] = (
            file if "position" in overrides.get(joint.name, {}) else f"{robot.file}:{joint.line}"
        )
        soft = joint.safety
        narrowed = soft is not None and (
            (soft.soft_lower is not None and (joint.lower is None or soft.soft_lower > joint.lower))
            or (
                soft.soft_upper is not None
                and (joint.upper is None or soft.soft_upper < joint.upper)
            )
        )
        if narrowed:
            positions[name] += ", narrowed by its safety_controller"
        followers = [
            m.name
            for m in robot.joints.values()
            if m.mimic is not None and m.mimic[0] == joint.name
        ]
        if followers:
            positions[name] += f", and what {', '.join(followers)} can follow"
    # Velocity, effort and acceleration limits, per coordinate of v.
    velocities: dict[str, dict[str, str]] = {}
    for name in model.velocity_names:
        joint = robot.joints.get(name.partition("/")[0])
        own = overrides.get(joint.name, {}) if joint else {}
        velocities[name] = {
            quantity: file
            if quantity in own
            else f"{robot.file}:{joint.line}"
            if joint is not None and getattr(joint, quantity) is not None
            else "default"
            if quantity == "acceleration"
            else "none"
            for quantity in ("velocity", "effort", "acceleration")
        }
    return positions, velocities


def _plain(value: Any) -> Any:
    """Convert to JSON-ready data.

    Arrays and tuples become lists, infinite numbers (no limit) become None.
    """
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    return value
