"""`ZooScene`, the list of all scenes, and helpers that place objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import load_robot
from robosim.geometry import Shape, TriangleMesh, bounding_box, collide, pose
from robosim.model import Model
from robosim.scene import Scene
from robosim.simulation import Control
from robosim.world import Material, Motor, World

Array = NDArray[np.float64]
Random = np.random.Generator

FLOOR = "floor"


@dataclass(frozen=True)
class ZooScene:
    """A world, its start, its control, and its expected behavior.

    Attributes:
        world: with obstacles, materials, motors and closures.
        control: constant over all steps, or a function of the number of the step.
        q: (n_q,) at the start; None for `World.start`.
        v: (n_v,) at the start; None for rest.
        dt: length of a step [s].
        steps: of a run.
        options: of `Simulation`, except dt and the solver.
        comes_to_rest: True if nothing moves in the last tenth of a run.
        stays: True if nothing moves noticeably from the start on.
        impacts: True for scenes with impacts, in which up to a tenth of the states may be flagged.
        contradicts: True if constraints contradict each other, so that any status but `diverged` is
            valid.
        settles: number of steps after which an initial overlap has been corrected.
        no_twin: the reason for which MuJoCo cannot have this scene; empty if it can.
    """

    world: World
    control: Control | Callable[[int], Control] = field(default_factory=Control)
    q: Array | None = None
    v: Array | None = None
    dt: float = 2e-3
    steps: int = 500
    options: dict[str, Any] = field(default_factory=dict)
    comes_to_rest: bool = False
    stays: bool = False
    impacts: bool = False
    contradicts: bool = False
    settles: int = 0
    no_twin: str = ""

    def control_at(self, k: int) -> Control:
        """Return the control of step k."""
        return self.control(k) if callable(self.control) else self.control


SCENES: dict[str, Callable[[], ZooScene]] = {}
"""All scenes by name, in the order of their definition."""


def scene(make: Callable[[], ZooScene]) -> Callable[[], ZooScene]:
    """Register a function that makes a scene under its own name."""
    if make.__name__ in SCENES:
        raise ValueError(f"there is a scene {make.__name__!r} already")
    SCENES[make.__name__] = make
    return make


class AbsentRobotError(Exception):
    """A robot's package is not installed."""


def ground(mu: float = 0.8, surface: Material | None = None) -> World:
    """Return a world with only a floor at z = 0 with this friction."""
    floor = Scene("zoo")
    floor.add_half_space(FLOOR)
    return World(scene=floor, materials={FLOOR: surface or Material(mu)}, name="zoo")


def put(
    world: World,
    name: str,
    shape: Shape | TriangleMesh,
    at: Sequence[float] | Array,
    *,
    rpy: Sequence[float] | None = None,
    mass: float = 1.0,
    mu: float = 0.8,
    surface: Material | None = None,
) -> None:
    """Add a free body of one shape, of this mass [kg] and friction, in this pose [m, rad]."""
    world.add_body(name, shape, mass=mass, pose=pose(at, rpy=rpy), material=surface or Material(mu))


def lowest(model: Model, q: ArrayLike) -> float:
    """Return the least height of any collider [m]."""
    poses = model.link_poses(np.asarray(q))
    return min(
        float(bounding_box(c.shape, np.asarray(poses[c.link]) @ c.X_LC)[0][2])
        for c in model.colliders
    )


def stand(
    world: World,
    robot: Model,
    posture: dict[str, float] | None = None,
    *,
    name: str = "robot",
    height: float = 0.0,
    rpy: Sequence[float] = (0.0, 0.0, 0.0),
    xy: Sequence[float] = (0.0, 0.0),
    gains: tuple[float, float] | None = None,
    mu: float = 0.8,
) -> None:
    """Add a robot with a floating base, with its lowest point at this height.

    Args:
        world: world to add to.
        robot: with a floating base.
        posture: positions by joint; all others are zero.
        name: of the robot in the world.
        height: of its lowest point [m].
        rpy: orientation of its base [rad].
        xy: position of its base [m].
        gains: of motors that hold the posture [N m/rad, N m s/rad]; None for no motors.
        mu: friction of all of its links.
    """
    q = robot.neutral()
    for joint, value in (posture or {}).items():
        q[robot.position_names.index(joint)] = value
    q[:7] = [*xy, 0.0, *_quaternion(rpy)]
    q[2] = height - lowest(robot, q)
    driven = robot.velocity_names[6:] if gains is not None else []
    world.add(
        robot,
        name,
        q=q,
        materials={link.name: Material(mu) for link in robot.links},
        motors={joint: Motor(*gains) for joint in driven} if gains is not None else None,
    )


def _quaternion(rpy: Sequence[float]) -> Array:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_euler("xyz", rpy).as_quat())


def holding(world: World) -> Control:
    """Return the control with which all motors hold the posture at the start."""
    return Control(q_target=world.start)


def start_velocity(world: World, **of: Sequence[float]) -> Array:
    """Return velocities (n_v,) at rest, except for the given bodies.

    A body's velocity (6,) is its linear and angular velocity in its own axes.
    """
    names = world.model.velocity_names
    v = np.zeros(len(names))
    for name, values in of.items():
        at = [i for i, x in enumerate(names) if x == name or x.startswith(f"{name}/")]
        if len(at) != len(values):
            raise ValueError(f"{name} has {len(at)} coordinates among {names}")
        v[at] = values
    return v


def _example_robots() -> Path:
    """Return the folder of robots of example-robot-data.

    Raises:
        AbsentRobotError: the package is not installed.
    """
    try:
        distribution = metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        raise AbsentRobotError("example-robot-data is not installed") from None
    return Path(str(distribution.locate_file("cmeel.prefix/share/example-robot-data/robots")))


def _example_xml(file: str) -> ElementTree.Element:
    """Parse a URDF or SRDF of example-robot-data.

    Raises:
        AbsentRobotError: the package or the file is missing.
    """
    path = _example_robots() / file
    if not path.is_file():
        raise AbsentRobotError(f"example-robot-data has no {file}")
    return ElementTree.parse(path).getroot()


def example_robot(file: str, massless: Sequence[str] = (), **options: Any) -> Model:
    """Load a robot of example-robot-data with a floating base and hulls of forty vertices.

    Args:
        file: its URDF, relative to the package's robots.
        massless: links whose inertia is left out, because it is physically impossible.
        options: of `load_robot`.

    Raises:
        AbsentRobotError: the package or the file is missing.
    """
    tree = _example_xml(file)
    for link in tree.iter("link"):
        if link.get("name") in massless:
            for part in link.findall("inertial"):
                link.remove(part)
    options = {"base": "floating", "hull_vertices": 40, "visuals": False} | options
    folder = _example_robots()
    text = ElementTree.tostring(tree, encoding="unicode")
    return load_robot(text, package_dirs=[folder.parent.parent, folder.parent], **options)


def example_posture(file: str, model: Model, name: str = "half_sitting") -> dict[str, float]:
    """Read a posture from an SRDF of example-robot-data, for the joints that the model has.

    Raises:
        AbsentRobotError: the package or the file is missing.
    """
    states = [x for x in _example_xml(file).iter("group_state") if x.get("name") == name]
    if not states:
        raise ValueError(f"{file} has no state {name!r}")
    values = {x.get("name", ""): x.get("value", "") for x in states[0].iter("joint")}
    return {joint: float(value) for joint, value in values.items() if joint in model.position_names}


def spare_overlaps(world: World) -> None:
    """Disable collisions between links whose hulls overlap at the start, as an SRDF would."""
    model, q = world.model, world.start
    poses = model.link_poses(q)
    for a, b in model.collision_pairs:
        A, B = model.colliders[a], model.colliders[b]
        X_A, X_B = (np.asarray(poses[c.link]) @ c.X_LC for c in (A, B))
        if collide(A.shape, X_A, B.shape, X_B):
            world.scene.allow(A.link, B.link)


def stairs(
    scene: Scene, count: int = 5, rise: float = 0.15, run: float = 0.3, width: float = 2.0
) -> None:
    """Add steps that rise along x from x = 0, each a box down to the ground."""
    for k in range(count):
        height = rise * (k + 1)
        scene.add_box(f"stair_{k}", (run, width, height), pose((run * (k + 0.5), 0, height / 2)))


def hills(
    scene: Scene, rng: Random, *, size: float = 4.0, cells: int = 32, height: float = 0.15
) -> None:
    """Add a height field of smooth hills around the origin, nowhere below z = 0."""
    x = np.linspace(-size / 2, size / 2, cells + 1)
    X, Y = np.meshgrid(x, x, indexing="ij")
    H = np.zeros_like(X)
    for _ in range(6):
        kx, ky, phase = *rng.uniform(-4, 4, 2), rng.uniform(0, 2 * np.pi)
        H += np.sin(kx * X + ky * Y + phase)
    H = height * (H - H.min()) / (H.max() - H.min())
    scene.add_height_field(FLOOR, H, size / cells, pose((-size / 2, -size / 2, 0)))
