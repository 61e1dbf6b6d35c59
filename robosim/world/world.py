"""`World`: robots and free objects, obstacles, materials, motors and closures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from robosim import _engine
from robosim.errors import SimulationError, check_type, suggestion
from robosim.geometry import Shape, TriangleMesh
from robosim.meshes import TriangleMesh as Triangles
from robosim.meshes import mesh_mass_properties, shape_mass_properties
from robosim.model import Model, ModelBuilder
from robosim.model.composition import ROOT, Part, check_part, compose
from robosim.pickling import maker, rebuild
from robosim.scene import Scene
from robosim.scene.objects import checked_pose
from robosim.world.closure import Closure, JointEquality
from robosim.world.files import read_world, write_world
from robosim.world.material import Material
from robosim.world.motor import Motor

__all__ = ["World"]

Array = NDArray[np.float64]
Pair = str | tuple[str, str]
Configuration = ArrayLike | Mapping[str, float]


class World:
    """Robots and free objects among obstacles, with materials, motors and closed loops.

    A world begins empty or with one robot, and grows by `add`: another robot, a tool on a flange, a
    free object. Each part keeps the limits, groups, named states and disabled collision pairs of
    its files. If a part has a name, all of its names begin with that name and a slash.

    Args:
        model: first part, whose names stay unchanged; None for an empty world.
        scene: obstacles, and pairs that may touch without a warning (`Scene.allow`); None for none.
        materials: by name of a link or an object, or by a pair of names; `Material()` by default.
        motors: by name of a joint.
        closures: points and frames of links that stay together, and laws between joints. Two links
            that a closure holds together do not collide, like two links that a joint connects.
        q: start configuration of the first part: (n_q,), positions by name, or the name of a state
            such as "ready"; None for the neutral configuration.
        name: name of the world.

    Raises:
        SimulationError: an argument has the wrong type.

    Example:
        >>> import robosim
        >>> from robosim.geometry import Shape, pose
        >>> from robosim.world import World
        >>> arm, gripper = robosim.load_robot("ur5"), robosim.load_robot("gripper_2f")
        >>> world = World(name="cell")
        >>> world.add(arm, "left", pose=pose((0, 0.5, 0)))
        >>> world.add(arm, "right", pose=pose((0, -0.5, 0)))
        >>> world.add(gripper, "hand", on="left/tool0")
        >>> world.add_body("box", Shape.box((0.1, 0.1, 0.1)), mass=0.5, pose=pose((0.4, 0, 0.05)))
        >>> len(world.model.joint_names), list(world.model.groups)
        (14, ['left/manipulator', 'right/manipulator', 'hand/gripper'])
    """

    def __init__(
        self,
        model: Model | None = None,
        scene: Scene | None = None,
        *,
        materials: Mapping[Pair, Material] | None = None,
        motors: Mapping[str, Motor] | None = None,
        closures: Sequence[Closure] = (),
        q: Configuration | None = None,
        name: str = "world",
    ) -> None:
        if model is not None:
            check_type(model, Model, "model", SimulationError)
        if scene is not None:
            check_type(scene, Scene, "scene", SimulationError)
        _check_values(materials, Material, "materials")
        _check_values(motors, Motor, "motors")
        self.name = name
        self.scene: Scene = Scene() if scene is None else scene
        self.materials: dict[Pair, Material] = dict(materials or {})
        self.motors: dict[str, Motor] = dict(motors or {})
        self.closures: list[Closure] = list(closures)
        self._parts: list[Part] = []
        self._starts: list[Array] = []
        self._model: Model | None = None
        if model is not None:
            self._begin(model, q)

    def _begin(self, model: Model, q: Configuration | None) -> None:
        """Make this the first part, whose names stay unchanged."""
        self._parts, self._starts = [Part("", model, ROOT, np.eye(4))], [_configuration(model, q)]
        self._model = model

    def add(
        self,
        model: Model,
        name: str,
        *,
        pose: ArrayLike | None = None,
        on: str | None = None,
        q: Configuration | None = None,
        materials: Mapping[Pair, Material] | None = None,
        motors: Mapping[str, Motor] | None = None,
        closures: Sequence[Closure] = (),
    ) -> None:
        """Add a robot, a tool or a free object.

        The links and joints of the part are called "name/link" and "name/joint"; the link of a part
        with a single link is called "name". Links of different parts collide, except those that are
        welded together.

        Args:
            model: model of the part. A model with a floating base is free; one with a fixed base is
                welded to its parent.
            name: name of the part, unique in the world.
            pose: (4, 4) pose of the root link in the world or, with `on`, in that link; None for
                the same frame. A free part starts at this pose; None leaves its base where `q` has
                it.
            on: link that carries the part, such as "left/tool0"; None for the world.
            q: start configuration of the part, as in `World`, by its own names.
            materials: by the part's own names; a pair may also name existing links and objects.
            motors: by the part's own names.
            closures: closures of the part's own links and joints.

        Raises:
            SimulationError: the name is empty or taken.
            SceneError: the pose is not valid.
            ModelError: there is no link `on`, or it would carry a floating base; gravity differs;
                or q is not a configuration of the model.
        """
        check_type(model, Model, "model", SimulationError)
        if not isinstance(name, str) or not name:
            raise SimulationError(
                f"name of a part is {name!r}; it must be a string that is not empty"
            )
        if any(part.name == name for part in self._parts):
            raise SimulationError(
                f"there is a part {name!r} already; each must have a name of its own"
            )
        # Check that the part fits the others, and check its materials and motors.
        part = Part(name, model, ROOT if on is None else on, checked_pose(pose, f"part {name!r}"))
        for k, one in enumerate((*self._parts, part)):
            # A nameless first part has not been checked against other parts before.
            if k in (0, len(self._parts)):
                check_part(one, self._parts[:k])
        _check_values(materials, Material, "materials")
        _check_values(motors, Motor, "motors")
        for joint in motors or {}:
            if joint not in model.velocity_names:
                near = suggestion(joint, model.velocity_names)
                raise SimulationError(
                    f"motors name {joint!r}, which is no coordinate of part {name!r}{near}"
                )
        # Rename links and joints to those of the whole.
        own = {link: part.link(link) for link in model.link_names}
        own |= {collider.name: part.collider(collider) for collider in model.colliders}
        surfaces: dict[Pair, Material] = {}
        for names, material in (materials or {}).items():
            if isinstance(names, str):
                surfaces[own.get(names, names)] = material
            else:
                a, b = names
                surfaces[own.get(a, a), own.get(b, b)] = material
        held = [_renamed(closure, part) for closure in closures]
        start = _configuration(model, q)
        if model.floating_base and pose is not None:
            start[:3], start[3:7] = (
                part.X_PB[:3, 3],
                Rotation.from_matrix(part.X_PB[:3, :3]).as_quat(),
            )

        self._parts.append(part)
        self._starts.append(start)
        self._model = None
        self.materials |= surfaces
        self.motors |= {part.renamed(joint): motor for joint, motor in (motors or {}).items()}
        self.closures += held

    def add_body(
        self,
        name: str,
        shape: Shape | TriangleMesh,
        *,
        mass: float = 1.0,
        pose: ArrayLike | None = None,
        material: Material | None = None,
    ) -> None:
        """Add a free object: one rigid body of one shape, of uniform density.

        Args:
            name: name of the object and its link.
            shape: shape in the frame of the link.
            mass: mass [kg].
            pose: (4, 4) in the world at the start; None for the world's frame.
            material: material of its surface; None for `Material()`.

        Raises:
            SimulationError: as in `add`.
            ModelError: the mass is not positive.
            MeshError: the shape has no volume, or is a rounded convex mesh.
        """
        if isinstance(shape, TriangleMesh):
            solid = mesh_mass_properties(Triangles(shape.vertices, shape.faces.astype(np.int64)))[0]
        else:
            check_type(shape, Shape, "shape", SimulationError)
            solid = shape_mass_properties(shape)
        builder = ModelBuilder(name, floating_base=True)
        density = mass / solid.volume
        builder.add_link(name, mass=mass, com=solid.com, inertia=density * solid.inertia)
        builder.add_collider(name, shape)
        body = builder.build()
        self.add(body, name, pose=pose, materials=None if material is None else {name: material})

    @property
    def model(self) -> Model:
        """All parts in one model, composed anew after each `add`. A single part is returned itself.

        Raises:
            SimulationError: the world has no part.
        """
        if not self._parts:
            raise SimulationError(f"world {self.name!r} has no part; add a robot or a free object")
        if self._model is None:
            self._model = compose(self.name, self._parts)
        return self._model

    @property
    def start(self) -> Array:
        """(n_q,) start configuration of all parts, a fresh array."""
        model = self.model
        if model is self._parts[0].model:
            return np.array(self._starts[0])
        q: Array = model.neutral()
        at = {name: i for i, name in enumerate(model.position_names)}
        for part, start in zip(self._parts, self._starts, strict=True):
            q[[at[part.renamed(name)] for name in part.model.position_names]] = start
        return q

    def save(self, path: str | PathLike[str]) -> None:
        """Write the whole world as one YAML file, whole or not at all; `load` returns the same
        numbers to the bit.

        Raises:
            FileError: the file cannot be written.
            SceneError: the file would be too large to be read again.
            ModelError: a part is from a simulation that has moved the joint of its floating base.
        """
        write_world(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> World:
        """Read a world file, written by `save` or by hand.

        See `robosim/world/files.py` for the format.

        Raises:
            FileError: the file cannot be read.
            SceneError: the file is not a world file, or an entry is not valid, with file:line.
        """
        return read_world(path)

    def copy(self) -> World:
        """Return an independent copy, to which parts can be added."""
        other = World(
            None,
            self.scene.copy(),
            materials=self.materials,
            motors=self.motors,
            closures=self.closures,
            name=self.name,
        )
        other._parts, other._starts, other._model = (
            list(self._parts),
            list(self._starts),
            self._model,
        )
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = {
            "parts": [
                (*part, start) for part, start in zip(self._parts, self._starts, strict=True)
            ],
            "scene": self.scene,
            "materials": self.materials,
            "motors": self.motors,
            "closures": self.closures,
            "name": self.name,
        }
        return rebuild, (_rebuilt_world, arguments)

    def __repr__(self) -> str:
        parts = ", ".join(repr(part.name or part.model.name) for part in self._parts)
        return f"<World {self.name!r}: {parts or 'no parts'}; {len(self.scene)} obstacles>"


def _check_values(given: Mapping[Any, Any] | None, kind: type[Any], what: str) -> None:
    check_type({} if given is None else given, Mapping, what, SimulationError)
    for name, value in (given or {}).items():
        check_type(value, kind, f"{what}[{name!r}]", SimulationError)


@maker
def _rebuilt_world(parts: Sequence[tuple[str, Model, str, Array, Array]], **made_of: Any) -> World:
    """Rebuild a pickled world, part by part."""
    first = [(model, q) for name, model, _, _, q in parts if not name]
    model, q = first[0] if first else (None, None)
    world = World(model, q=q, **made_of)
    for name, model, parent, X_PB, q in parts:
        if name:
            world.add(model, name, pose=X_PB, on=None if parent == ROOT else parent)
            world._starts[-1] = _configuration(model, q)
    return world


def _configuration(model: Model, q: Configuration | None) -> Array:
    """Return a configuration (n_q,) in a fresh array."""
    if q is None:
        return model.neutral()
    if isinstance(q, str | Mapping):
        return model.configuration(q)
    array = np.array(q)
    _engine.check_configuration(model._engine, array)
    return np.array(array, dtype=np.float64)


def _renamed(closure: Closure, part: Part) -> Closure:
    """Rename the links and joints of a part's closure to those of the whole."""
    if isinstance(closure, JointEquality):
        of = None if closure.of is None else part.renamed(closure.of)
        return replace(closure, joint=part.renamed(closure.joint), of=of)
    changes: dict[str, Any] = {"a": part.link(closure.a), "b": part.link(closure.b)}
    return replace(closure, **changes)
