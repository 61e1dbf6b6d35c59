"""A model and a floor as MJCF for MuJoCo, mapping of coordinates, and a check of the dynamics.

Links that fixed joints weld together become one body with combined mass and inertia, as MuJoCo is
faster with fewer bodies. MuJoCo's defaults (solver, softness of contacts, integrator) stay in
effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from robosim.model import Joint, Model

Array = NDArray[np.float64]

GRAVITY = (0.0, 0.0, -9.80665)  # [m/s^2] of models that specify no gravity
FLOOR = "floor"
LEAST_MOMENT = 1e-12  # [kg m^2]


@dataclass
class Body:
    """Links that form one body.

    Attributes:
        name: of the link whose frame is the body's.
        joint: joint that carries the body; None for bodies of the world and for a floating base.
        parent: the parent body, None for the world.
        X_PB: its frame in the parent's frame (of the world in W) with its joint at zero.
        links: names of the links, with the frame of each in the body's frame.
    """

    name: str
    joint: Joint | None = None
    parent: str | None = None
    X_PB: Array = field(default_factory=lambda: np.eye(4))
    links: dict[str, Array] = field(default_factory=dict)


def bodies(model: Model) -> list[Body]:
    """Group links into bodies, parents first.

    Raises:
        ValueError: a joint without counterpart in MuJoCo: mimic, helical, or floating from anything
            but the world's frame.
    """
    found = [Body(model.root_link, links={model.root_link: np.eye(4)})]
    of_link = {model.root_link: found[0]}
    children: dict[str, list[Joint]] = {}
    for joint in model.joints:
        children.setdefault(joint.parent, []).append(joint)
    waiting = [model.root_link]
    while waiting:
        link = waiting.pop()
        for joint in reversed(children.get(link, [])):
            above = of_link[link]
            X_PJ = above.links[link] @ joint.X_PJ
            if joint.mimic is not None or joint.kind == "helical":
                raise ValueError(f"{joint.name}: MuJoCo has no such joint")
            if joint.kind == "floating" and not (
                is_world(model, above) and np.array_equal(X_PJ, np.eye(4))
            ):
                raise ValueError(f"{joint.name}: in MuJoCo only the world carries a floating joint")
            if joint.kind == "fixed":
                above.links[joint.child] = X_PJ
                of_link[joint.child] = above
            else:
                body = Body(joint.child, joint, above.name, X_PJ, {joint.child: np.eye(4)})
                found.append(body)
                of_link[joint.child] = body
            waiting.append(joint.child)
    return found


def is_world(model: Model, body: Body) -> bool:
    return body.name == model.root_link and not model.floating_base


def composite(model: Model, body: Body) -> tuple[float, Array, Array]:
    """Return mass, center of mass (3,) and inertia (3, 3) about it of a body, in its frame."""
    links = {link.name: link for link in model.links}
    parts = [(links[name], X) for name, X in body.links.items() if links[name].mass > 0]
    mass = sum(link.mass for link, _ in parts)
    if not mass > 0:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    centers = [X[:3, :3] @ link.com + X[:3, 3] for link, X in parts]
    com = sum(link.mass * c for (link, _), c in zip(parts, centers, strict=True)) / mass
    inertia = np.zeros((3, 3))
    for (link, X), center in zip(parts, centers, strict=True):
        d = center - com
        # Parallel axis theorem (Steiner).
        inertia += X[:3, :3] @ link.inertia @ X[:3, :3].T + link.mass * (
            d @ d * np.eye(3) - np.outer(d, d)
        )
    return mass, com, inertia


def plane_axes(axis: Array) -> Array:
    """Rows x and y of a planar joint's plane and its normal, (3, 3).

    The axes are those of `engine/model/joints/planar.h`.
    """
    x, y, z = axis
    sign = np.copysign(1.0, z)
    a = -1 / (sign + z)
    b = x * y * a
    return np.array(
        [[1 + sign * x * x * a, sign * b, -sign * x], [b, sign + y * y * a, -y], [x, y, z]]
    )


def numbers(values: Iterable[float]) -> str:
    return " ".join(repr(float(x)) for x in values)


def frame(X: Array) -> dict[str, str]:
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(X[:3, :3]).as_quat()
    return {"pos": numbers(X[:3, 3]), "quat": numbers((w, x, y, z))}


def add_joint(element: ElementTree.Element, joint: Joint) -> None:
    if joint.kind == "floating":
        ElementTree.SubElement(element, "freejoint", name=joint.name)
        return
    if joint.kind == "planar":
        for name, kind, axis in zip(
            ("x", "y", "theta"), ("slide", "slide", "hinge"), plane_axes(joint.axis), strict=True
        ):
            ElementTree.SubElement(
                element, "joint", name=f"{joint.name}/{name}", type=kind, axis=numbers(axis),
                damping=repr(float(joint.damping)), armature=repr(float(joint.armature)),
            )  # fmt: skip
        return
    attributes = {
        "name": joint.name,
        "type": "slide" if joint.kind == "prismatic" else "hinge",
        "axis": numbers(joint.axis),
        "damping": repr(float(joint.damping)),
        "frictionloss": repr(float(joint.friction)),
        "stiffness": repr(float(joint.stiffness)),
        "springref": repr(float(joint.spring_reference)),
        "armature": repr(float(joint.armature + joint.gear_ratio**2 * joint.rotor_inertia)),
    }
    if joint.kind != "continuous" and joint.lower is not None and joint.upper is not None:
        attributes |= {"limited": "true", "range": numbers((joint.lower[0], joint.upper[0]))}
    ElementTree.SubElement(element, "joint", attributes)


def add_geom(
    element: ElementTree.Element, assets: ElementTree.Element, name: str, shape: Any, X: Array
) -> None:
    if getattr(shape, "rounding", 0.0):
        raise ValueError(f"{name}: MuJoCo has no rounded shapes")
    attributes = {"name": name, **frame(X)}
    match shape.type:
        case "sphere":
            attributes |= {"type": "sphere", "size": numbers([shape.radius])}
        case "box":
            attributes |= {"type": "box", "size": numbers(np.asarray(shape.size) / 2)}
        case "capsule" | "cylinder":
            attributes |= {"type": shape.type, "size": numbers([shape.radius, shape.length / 2])}
        case "ellipsoid":
            attributes |= {"type": "ellipsoid", "size": numbers(shape.radii)}
        case "convex":
            mesh = name.replace("/", "_")
            ElementTree.SubElement(
                assets, "mesh", name=mesh, vertex=numbers(np.ravel(shape.vertices))
            )
            attributes |= {"type": "mesh", "mesh": mesh}
        case _:
            raise ValueError(f"{name}: no geom of MuJoCo is a {shape.type}")
    ElementTree.SubElement(element, "geom", attributes)


def _excluded(
    model: Model, parts: Sequence[Body], has_colliders: set[str], pairs: Iterable[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return the pairs of bodies that MuJoCo would let touch each other and robosim does not.

    Raises:
        ValueError: of two bodies only some colliders may touch, or bodies that a joint connects
            may.
    """
    body_of = {c.name: next(b.name for b in parts if c.link in b.links) for c in model.colliders}
    count = {body: sum(b == body for b in body_of.values()) for body in has_colliders}
    wanted: dict[frozenset[str], int] = {}
    for a, b in pairs:
        if a in body_of and b in body_of:
            key = frozenset((body_of[a], body_of[b]))
            wanted[key] = wanted.get(key, 0) + 1
    parents = {body.name: body.parent for body in parts}
    out = []
    for a, b in combinations(sorted(has_colliders), 2):
        found = wanted.get(frozenset((a, b)), 0)
        # MuJoCo excludes two bodies that one joint connects, unless one of them is the world.
        is_left_out = any(
            parents[x] == y and not (y == model.root_link and not model.floating_base)
            for x, y in ((a, b), (b, a))
        )
        if found not in (0, count[a] * count[b]) or (found and is_left_out):
            raise ValueError(f"{a} and {b}: MuJoCo does not let the same of their colliders touch")
        if not found and not is_left_out:
            out.append((a, b))
    return out


def name_of(body: Body) -> str:
    """Return the name of the body's element, as one name is reserved by MuJoCo."""
    return "world_link" if body.name == "world" else body.name


def add_bodies(
    world: ElementTree.Element, assets: ElementTree.Element, model: Model
) -> tuple[list[Body], dict[str, ElementTree.Element]]:
    """Add a model with its joints, inertias and colliders below the element of the world.

    Returns:
        The bodies, and the element of each link's.

    Raises:
        ValueError: MJCF cannot express a part of the model.
    """
    parts = bodies(model)
    elements: dict[str, ElementTree.Element] = {}
    of_link: dict[str, ElementTree.Element] = {}
    for body in parts:
        # Children of static links become children of the world, as only those may have free joints.
        above = elements.get(body.parent or "", world)
        element = ElementTree.SubElement(above, "body", {"name": name_of(body), **frame(body.X_PB)})
        of_link |= dict.fromkeys(body.links, element)
        if not is_world(model, body):
            elements[body.name] = element
        if body.joint is not None:
            add_joint(element, body.joint)
        elif model.floating_base:
            ElementTree.SubElement(element, "freejoint", name=model.joint_names[0])
        mass, com, inertia = composite(model, body)
        if mass > 0 and not is_world(model, body):
            # MuJoCo requires positive moments, which point masses do not have.
            inertia += max(0.0, LEAST_MOMENT - float(np.linalg.eigvalsh(inertia)[0])) * np.eye(3)
            full = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
            ElementTree.SubElement(
                element,
                "inertial",
                mass=repr(float(mass)),
                pos=numbers(com),
                fullinertia=numbers(full),
            )
        for collider in model.colliders:
            if collider.link in body.links:
                X = body.links[collider.link] @ collider.X_LC
                add_geom(element, assets, collider.name, collider.shape, X)
    return parts, of_link


def mjcf(
    model: Model,
    pairs: Sequence[tuple[str, str]],
    *,
    dt: float,
    friction: float,
    gravity: Sequence[float] = GRAVITY,
) -> str:
    """Return the MJCF of a model, over a floor at z = 0 if pairs name one.

    Args:
        model: its masses, inertias, joints with limits, damping, dry friction, springs and
            armature, and its colliders are used.
        pairs: names of colliders, or `FLOOR`, that may touch, as in `Simulation.pairs`.
        dt: length of a step [s].
        friction: Coulomb's mu of all pairs.
        gravity: (3,) [m/s^2].

    Raises:
        ValueError: MJCF cannot express a part of the model.
    """
    root = ElementTree.Element("mujoco", model=model.name)
    ElementTree.SubElement(
        root, "compiler", angle="radian", autolimits="true", inertiafromgeom="false"
    )
    ElementTree.SubElement(root, "option", timestep=repr(dt), gravity=numbers(gravity))
    default = ElementTree.SubElement(root, "default")
    ElementTree.SubElement(default, "geom", friction=f"{friction!r} 0.005 0.0001")
    assets = ElementTree.SubElement(root, "asset")
    world = ElementTree.SubElement(root, "worldbody")
    if any(FLOOR in pair for pair in pairs):
        ElementTree.SubElement(world, "geom", name=FLOOR, type="plane", size="0 0 1")
    parts, _ = add_bodies(world, assets, model)
    contact = ElementTree.SubElement(root, "contact")
    occupied = {body.name for body in parts if any(c.link in body.links for c in model.colliders)}
    for a, b in _excluded(model, parts, occupied, pairs):
        ElementTree.SubElement(contact, "exclude", body1=a, body2=b)
    return ElementTree.tostring(root, encoding="unicode")


class Matched:
    """Map between coordinates of a model and of MuJoCo's model from its MJCF.

    MuJoCo expresses the linear velocity of a floating joint, and the whole velocity of a planar
    joint, in fixed axes; robosim uses moving axes. MuJoCo's v is T(q) times robosim's v.

    Args:
        model: robosim's model.
        peer: a `mujoco.MjModel` of `mjcf(model, ...)`.
    """

    def __init__(self, model: Model, peer: Any) -> None:
        self.model, self.peer = model, peer
        kinds = {joint.name: joint.kind for joint in model.joints}
        self._joints: list[tuple[str, int, int, int, int]] = []  # kind, robosim's q and v, MuJoCo's
        for name in model.joint_names:
            kind = kinds.get(name, "floating")
            q, v = (
                next(i for i, x in enumerate(names) if name in (x, x.rpartition("/")[0]))
                for names in (model.position_names, model.velocity_names)
            )
            theirs = peer.joint(f"{name}/x" if kind == "planar" else name)
            self._joints.append((kind, q, v, int(theirs.qposadr[0]), int(theirs.dofadr[0])))

    def position(self, q: Array) -> Array:
        """Convert robosim's q (n_q,) to MuJoCo's (nq,)."""
        out = np.zeros(self.peer.nq)
        for kind, i, _, k, _ in self._joints:
            if kind == "floating":
                x, y, z, w = q[i + 3 : i + 7]
                out[k : k + 7] = [*q[i : i + 3], w, x, y, z]
            else:
                width = 3 if kind == "planar" else 1
                out[k : k + width] = q[i : i + width]
        return out

    def velocity_map(self, q: Array) -> Array:
        """Return T(q), (nv, n_v)."""
        T = np.zeros((self.peer.nv, self.model.n_v))
        for kind, i, j, _, m in self._joints:
            if kind == "floating":
                T[m : m + 3, j : j + 3] = _rotation(q[i + 3 : i + 7])
                T[m + 3 : m + 6, j + 3 : j + 6] = np.eye(3)
            elif kind == "planar":
                c, s = np.cos(q[i + 2]), np.sin(q[i + 2])
                T[m : m + 3, j : j + 3] = [[c, -s, 0], [s, c, 0], [0, 0, 1]]
            else:
                T[m, j] = 1
        return T

    def force(self, tau: Array, qpos: Array) -> Array:
        """Convert robosim's joint forces (n_v,) to MuJoCo's (nv,), at MuJoCo's qpos (nq,)."""
        out = np.zeros(self.peer.nv)
        for kind, _, j, k, m in self._joints:
            if kind == "floating":
                w, x, y, z = qpos[k + 3 : k + 7]
                out[m : m + 3] = _rotation(np.array([x, y, z, w])) @ tau[j : j + 3]
                out[m + 3 : m + 6] = tau[j + 3 : j + 6]
            elif kind == "planar":
                c, s = np.cos(qpos[k + 2]), np.sin(qpos[k + 2])
                out[m : m + 3] = [
                    c * tau[j] - s * tau[j + 1],
                    s * tau[j] + c * tau[j + 1],
                    tau[j + 2],
                ]
            else:
                out[m] = tau[j]
        return out

    def turning(self, q: Array, v: Array) -> Array:
        """MuJoCo's acceleration minus T(q) times robosim's, (nv,), due to rotating axes."""
        rates = np.zeros(self.model.n_v)
        for kind, _, j, _, _ in self._joints:
            if kind == "floating":
                rates[j : j + 3] = np.cross(v[j + 3 : j + 6], v[j : j + 3])
            elif kind == "planar":
                rates[j : j + 2] = [-v[j + 2] * v[j + 1], v[j + 2] * v[j]]
        return self.velocity_map(q) @ rates

    def put(self, data: Any, q: Array, v: Array, tau: Array) -> None:
        """Reset a `mujoco.MjData` and set robosim's state and joint forces."""
        import mujoco

        mujoco.mj_resetData(self.peer, data)
        T = self.velocity_map(q)
        data.qpos[:], data.qvel[:] = self.position(q), T @ v
        data.qfrc_applied[:] = T @ tau  # T is orthogonal

    def disagreement(self, q: Array, v: Array) -> float:
        """Deviation of mass matrix and nonlinear effects, relative to the largest entry of each."""
        import mujoco

        data = mujoco.MjData(self.peer)
        self.put(data, q, v, np.zeros(self.model.n_v))
        mujoco.mj_forward(self.peer, data)
        M = np.zeros((self.peer.nv, self.peer.nv))
        mujoco.mj_fullM(self.peer, data, M)
        T = self.velocity_map(q)
        pairs = (
            (self.model.mass_matrix(q), T.T @ M @ T),
            (self.model.nonlinear_effects(q, v), T.T @ (data.qfrc_bias + M @ self.turning(q, v))),
        )
        return max(float(np.abs(a - b).max() / max(1.0, np.abs(b).max())) for a, b in pairs)


def _rotation(quaternion: Array) -> Array:
    from scipy.spatial.transform import Rotation

    matrix: Array = Rotation.from_quat(quaternion).as_matrix()
    return matrix
