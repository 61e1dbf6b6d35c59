"""A simulation's whole world as MJCF: obstacles, pairs that may touch, motors and closures.

MuJoCo is used with the elliptic cone, its default tolerance and softness, and Euler's integrator,
or `implicitfast` if motors or springs of joints would be unstable with Euler's. Properties without
a counterpart are listed in `Twin.notes`. A world that cannot be translated raises a ValueError with
the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from harness.mjcf import Matched, add_bodies, add_geom, frame, name_of, numbers
from robosim.geometry import Shape, TriangleMesh
from robosim.scene.objects import SceneObject
from robosim.scene.terrain import Terrain
from robosim.simulation import Control, Simulation
from robosim.world import JointEquality, PointClosure

Array = NDArray[np.float64]
Friction = tuple[float, float, float]  # sliding, torsional [m], rolling [m]

WORLD = ""  # body name of static objects
LEAST_MU = 1e-5  # MuJoCo's lower bound


class Twin:
    """Counterpart of a simulation in MuJoCo.

    Args:
        simulation: robosim's simulation.

    Attributes:
        xml: the MJCF.
        model: a `mujoco.MjModel`.
        data: a `mujoco.MjData`, which `start` sets.
        notes: differences from the simulation.

    Raises:
        ValueError: there is no counterpart, with the reason.
    """

    def __init__(self, simulation: Simulation) -> None:
        import mujoco

        writer = _Writer(simulation)
        self.xml, self.notes = writer.xml, writer.notes
        self.model = mujoco.MjModel.from_xml_string(self.xml)
        self.data = mujoco.MjData(self.model)
        self.matched = Matched(simulation.model, self.model)
        self._simulation, self._motors = simulation, writer.motors

    def disagreement(self, q: Array, v: Array) -> float:
        """Return the relative difference of the mass matrices and nonlinear effects of both."""
        return self.matched.disagreement(q, v)

    def start(self, q: Array, v: Array) -> None:
        """Reset `data` and set robosim's state."""
        self.matched.put(self.data, q, v, np.zeros(len(v)))

    def drive(self, control: Control) -> None:
        """Set the drive of the next steps: joint forces, and targets of motors.

        Raises:
            ValueError: a motor with a position gain has no target.
        """
        if control.tau is not None:
            self.data.qfrc_applied[:] = self.matched.force(np.asarray(control.tau), self.data.qpos)
        else:
            self.data.qfrc_applied[:] = 0
        for k, (q, v, position_gain, velocity_gain) in enumerate(self._motors):
            if position_gain and control.q_target is None:
                raise ValueError("a motor with a position gain has no target")
            pull = 0.0
            if control.q_target is not None:
                pull += position_gain * np.asarray(control.q_target)[q]
            if control.v_target is not None:
                pull += velocity_gain * np.asarray(control.v_target)[v]
            self.data.ctrl[k] = pull


class _Writer:
    """Writer of the MJCF of a simulation, in the order in which its parts are added."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation, self.model = simulation, simulation.model
        self.notes: list[str] = []
        self.motors: list[tuple[int, int, float, float]] = []  # robosim's q and v, and the gains
        root = ElementTree.Element("mujoco", model=self.model.name)
        ElementTree.SubElement(
            root, "compiler", angle="radian", autolimits="true", inertiafromgeom="false"
        )
        self.root = root
        self.assets = ElementTree.SubElement(root, "asset")
        self.world = ElementTree.SubElement(root, "worldbody")
        self.parts, self.of_link = add_bodies(self.world, self.assets, self.model)
        self.names, self.bodies = self._add_objects()
        self._add_pairs()
        self._add_motors()
        self._add_closures()
        self._add_options()
        self.xml = ElementTree.tostring(root, encoding="unicode")

    def _add_options(self) -> None:
        stiff = bool(self.motors) or any(joint.stiffness for joint in self.model.joints)
        if stiff:
            self.notes.append("implicitfast")
        option = ElementTree.Element(
            "option",
            timestep=repr(self.simulation.dt),
            gravity=numbers(np.asarray(self.simulation.parameters["gravity"])),
            cone="elliptic",
            integrator="implicitfast" if stiff else "Euler",
        )
        self.root.insert(1, option)

    def _add_objects(self) -> tuple[list[str], list[str]]:
        """Return names of geoms and of their bodies, in the order of `Simulation.objects`."""
        if self.simulation.world.scene.attachments:
            raise ValueError("objects that links hold are not written")
        body_of = {link: body.name for body in self.parts for link in body.links}
        names = [collider.name for collider in self.model.colliders]
        bodies = [body_of[collider.link] for collider in self.model.colliders]
        for thing in self.simulation.world.scene:
            for k, (shape, X_OS) in enumerate(zip(thing.shapes, thing.shape_poses, strict=True)):
                name = f"{thing.name}#{k}"
                add_obstacle(self.world, self.assets, name, thing, shape, thing.pose @ X_OS)
                names.append(name)
                bodies.append(WORLD)
        return names, bodies

    def _add_pairs(self) -> None:
        """Write frictions, exclude pairs that may not touch, list pairs that MuJoCo excludes."""
        pairs: list[tuple[int, int]] = [(int(a), int(b)) for a, b in self.simulation._scene.pairs]
        frictions = self._frictions()
        own = _of_geoms(len(self.names), pairs, frictions)
        geoms = {element.get("name"): element for element in self.root.iter("geom")}
        for name, friction in zip(self.names, own, strict=True):
            element = geoms[name]
            if friction is None:  # the geom has no pairs
                element.set("contype", "0")
                element.set("conaffinity", "0")
                continue
            element.set("friction", numbers(max(x, LEAST_MU) for x in friction))
            element.set("condim", str(_dimension(friction)))

        contact = ElementTree.SubElement(self.root, "contact")
        named = [k for k, (a, b) in enumerate(pairs) if _together(own[a], own[b]) != frictions[k]]
        wanted: dict[tuple[str, str], list[int]] = {}
        for k, (a, b) in enumerate(pairs):
            wanted.setdefault(_key(self.bodies[a], self.bodies[b]), []).append(k)
        count: dict[str, int] = {}
        for body, friction in zip(self.bodies, own, strict=True):
            count[body] = count.get(body, 0) + (friction is not None)
        # MuJoCo excludes two bodies that one joint connects, unless one of them is static.
        root = self.parts[0].name if not self.model.floating_base else None
        parents = {body.name: body.parent for body in self.parts if body.parent != root}
        names = {body.name: name_of(body) for body in self.parts} | {WORLD: "world"}
        present = sorted(body for body, n in count.items() if n)
        for i, body_a in enumerate(present):
            for body_b in present[i + 1 :]:
                found = wanted.get((body_a, body_b), [])
                filtered = parents.get(body_a) == body_b or parents.get(body_b) == body_a
                if len(found) == count[body_a] * count[body_b] and not filtered:
                    continue
                if not filtered:
                    ElementTree.SubElement(
                        contact, "exclude", body1=names[body_a], body2=names[body_b]
                    )
                named += found
        # Named pairs may touch regardless of the filters of their bodies.
        for k in sorted(set(named)):
            a, b = pairs[k]
            mu, torsion, rolling = (max(x, LEAST_MU) for x in frictions[k])
            ElementTree.SubElement(
                contact, "pair", geom1=self.names[a], geom2=self.names[b],
                friction=numbers((mu, mu, torsion, rolling, rolling)),
                condim=str(_dimension(frictions[k])),
            )  # fmt: skip
        if named:
            self.notes.append(f"{len(set(named))} pairs named")

    def _frictions(self) -> list[Friction]:
        """Return the frictions of the pairs, in the order of `Simulation.pairs`."""
        values = self.simulation.parameters
        if np.any(values["restitution"] > 0):
            self.notes.append("MuJoCo has no restitution")
        if np.any(values["compliance"] > 0):
            self.notes.append("MuJoCo gives by its default")
        kinds = ("friction", "torsional_friction", "rolling_friction")
        columns = [np.asarray(values[kind]).tolist() for kind in kinds]
        return list(zip(*columns, strict=True))

    def _add_motors(self) -> None:
        motors = self.simulation.world.motors
        if not motors:
            return
        actuators = ElementTree.SubElement(self.root, "actuator")
        limits = dict(zip(self.model.velocity_names, self.model.limits.effort, strict=True))
        for joint, motor in motors.items():
            limit = float(limits[joint]) if motor.limit is None else motor.limit
            attributes = {
                "name": f"motor/{joint}", "joint": joint, "gaintype": "fixed", "gainprm": "1",
                "biastype": "affine",
                "biasprm": numbers((0.0, -motor.position_gain, -motor.velocity_gain)),
            }  # fmt: skip
            if np.isfinite(limit):
                attributes |= {"forcelimited": "true", "forcerange": numbers((-limit, limit))}
            ElementTree.SubElement(actuators, "general", attributes)
            q = self.model.position_names.index(joint)
            v = self.model.velocity_names.index(joint)
            self.motors.append((q, v, motor.position_gain, motor.velocity_gain))

    def _add_closures(self) -> None:
        closures = self.simulation.world.closures
        if not closures:
            return
        equality = ElementTree.SubElement(self.root, "equality")
        for k, closure in enumerate(closures):
            if isinstance(closure, JointEquality):
                coefficients = np.zeros(5)
                coefficients[: len(closure.coefficients)] = closure.coefficients
                attributes = {"joint1": closure.joint, "polycoef": numbers(coefficients)}
                if closure.of is not None:
                    attributes["joint2"] = closure.of
                ElementTree.SubElement(equality, "joint", attributes)
                continue
            sites = []
            for side, link, X in (("a", closure.a, closure.X_a), ("b", closure.b, closure.X_b)):
                site = f"closure/{k}/{side}"
                X_body = next(body.links[link] for body in self.parts if link in body.links)
                ElementTree.SubElement(
                    self.of_link[link], "site", {"name": site, **frame(X_body @ X)}
                )
                sites.append(site)
            kind = "connect" if isinstance(closure, PointClosure) else "weld"
            ElementTree.SubElement(equality, kind, site1=sites[0], site2=sites[1])
            if isinstance(closure, PointClosure) and set(closure.axes) != set("xyz"):
                self.notes.append(f"connect holds xyz, not {closure.axes}")


def add_obstacle(
    world: ElementTree.Element,
    assets: ElementTree.Element,
    name: str,
    thing: SceneObject,
    shape: Any,
    X: Array,
) -> None:
    """Add one shape of an obstacle, at this pose in the world.

    Raises:
        ValueError: MuJoCo has no such geom.
    """
    if isinstance(thing.source, Terrain):
        _add_height_field(world, assets, name, thing.source, X)
    elif isinstance(shape, TriangleMesh):
        raise ValueError(f"{thing.name}: of a concave mesh MuJoCo collides the hull")
    elif not isinstance(shape, Shape):
        raise ValueError(f"{thing.name}: no geom of MuJoCo is a {type(shape).__name__}")
    elif shape.type == "half_space":
        ElementTree.SubElement(
            world, "geom", {"name": name, "type": "plane", "size": "0 0 1", **frame(X)}
        )
    else:
        add_geom(world, assets, name, shape, X)


def _add_height_field(
    world: ElementTree.Element, assets: ElementTree.Element, name: str, terrain: Terrain, X: Array
) -> None:
    """Add a height field to MuJoCo's model.

    Its rows are along y, its origin is the center, and its heights start from the lowest one.
    """
    H = terrain.heights
    low, high = float(H.min()), float(H.max())
    half = [(n - 1) * d / 2 for n, d in zip(H.shape, terrain.spacing, strict=True)]
    asset = f"{name}/heights"
    ElementTree.SubElement(
        assets, "hfield", name=asset, nrow=str(H.shape[1]), ncol=str(H.shape[0]),
        # The rows of the file begin at the far end of y.
        elevation=numbers(((H - low) / max(high - low, 1e-9)).T[::-1].ravel()),
        size=numbers((*half, max(high - low, 1e-9), max(terrain.depth, 1e-3))),
    )  # fmt: skip
    middle = np.eye(4)
    middle[:3, 3] = [*half, low]
    ElementTree.SubElement(
        world, "geom", {"name": name, "type": "hfield", "hfield": asset, **frame(X @ middle)}
    )


def _by_parts(choose: Callable[[float, float], float], a: Friction, b: Friction) -> Friction:
    """Choose sliding, torsional and rolling friction, each from two values."""
    return choose(a[0], b[0]), choose(a[1], b[1]), choose(a[2], b[2])


def _of_geoms(
    count: int, pairs: Iterable[tuple[int, int]], frictions: Iterable[Friction]
) -> list[Friction | None]:
    """Return the least friction of each geom's pairs; None for geoms without pairs."""
    own: list[Friction | None] = [None] * count
    for pair, friction in zip(pairs, frictions, strict=True):
        for i in pair:
            before = own[i]
            own[i] = friction if before is None else _by_parts(min, before, friction)
    return own


def _together(a: Friction | None, b: Friction | None) -> Friction | None:
    """Return the friction that MuJoCo derives from two geoms, or None."""
    if a is None or b is None:
        return None
    larger = _by_parts(max, a, b)
    return larger if _dimension(larger) == max(_dimension(a), _dimension(b)) else None


def _dimension(friction: Friction) -> int:
    """Return MuJoCo's number of rows of a contact with this friction."""
    mu, torsion, rolling = friction
    if rolling > 0:
        return 6
    if torsion > 0:
        return 4
    return 3 if mu > 0 else 1


def _key(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a <= b else (b, a)
