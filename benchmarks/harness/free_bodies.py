"""Free bodies over a floor in robosim, MuJoCo and Nimble.

All start from one state, take the same steps, and report their motion in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from harness.mjcf import FLOOR, Matched, mjcf
from harness.nimble_peer import UPWARDS, NimbleWorld
from robosim import _engine
from robosim.geometry import Shape
from robosim.model import Model, ModelBuilder
from robosim.scene import Scene
from robosim.simulation import Simulation
from robosim.world import Material, World

Array = NDArray[np.float64]

G = 9.80665  # [m/s^2]
SOLVERS = _engine.row_solvers
SWEEPS = 200  # number of sweeps of pgs


class Solid(NamedTuple):
    """A body whose center of mass is the origin of its shape.

    Attributes:
        shape: its collider.
        mass: [kg].
        inertia: (3,) principal moments about the shape's axes [kg m^2].
    """

    shape: Shape
    mass: float
    inertia: tuple[float, float, float]


def box(mass: float, size: tuple[float, float, float]) -> Solid:
    """A homogeneous box."""
    x, y, z = np.square(size)
    a, b, c = mass / 12 * np.array([y + z, x + z, x + y])
    return Solid(Shape.box(size), mass, (float(a), float(b), float(c)))


@dataclass(frozen=True)
class Case:
    """Bodies, their initial state, and the steps to take.

    Attributes:
        solids: of n bodies.
        q: (7 n,) position, then quaternion (x, y, z, w) of each.
        v: (6 n,) linear velocity, then angular velocity of each, in its own axes.
        steps: number of steps.
        dt: length of a step [s].
        friction: Coulomb's mu of all pairs.
        restitution: of all pairs.
        gravity: (3,) [m/s^2].
        has_floor: True for a floor at z = 0.
    """

    solids: tuple[Solid, ...]
    q: Array
    v: Array
    steps: int
    dt: float = 1e-3
    friction: float = 0.5
    restitution: float = 0.0
    gravity: tuple[float, float, float] = (0.0, 0.0, -G)
    has_floor: bool = True

    @property
    def model(self) -> Model:
        """Return a model of all bodies."""
        builder = ModelBuilder("bodies")
        builder.add_link("root")
        for i, solid in enumerate(self.solids):
            builder.add_link(f"body{i}", mass=solid.mass, inertia=np.diag(solid.inertia))
            builder.add_joint(f"free{i}", "floating", "root", f"body{i}")
            builder.add_collider(f"body{i}", solid.shape)
        return builder.build().with_gravity(self.gravity)

    def simulation(self, solver: str) -> Simulation:
        """Return robosim's simulation of the case."""
        scene = Scene("floor")
        if self.has_floor:
            scene.add_half_space(FLOOR)
        material = Material(self.friction, self.restitution)
        names = [f"body{i}" for i in range(len(self.solids))] + ([FLOOR] if self.has_floor else [])
        return Simulation(
            World(self.model, scene, materials=dict.fromkeys(names, material)),
            dt=self.dt,
            solver=solver,
            sweeps=SWEEPS,
            bounce="time_of_impact" if self.restitution > 0 else "step",
        )

    def finer(self) -> Case:
        """Return the case with steps of half the length."""
        return replace(self, dt=self.dt / 2, steps=2 * self.steps)


class Watched(NamedTuple):
    """Motion of n bodies at the start and after each of m steps.

    Attributes:
        place: (m + 1, n, 3) positions of their centers, in W [m].
        turn: (m + 1, n, 4) quaternions (x, y, z, w).
        velocity: (m + 1, n, 3) in W [m/s].
        spin: (m + 1, n, 3) angular velocities in their own axes [rad/s].
    """

    place: Array
    turn: Array
    velocity: Array
    spin: Array

    def energy(self, case: Case) -> Array:
        """Kinetic and potential energy of all bodies, (m + 1,) [J]."""
        mass = np.array([s.mass for s in case.solids])
        inertia = np.array([s.inertia for s in case.solids])
        moving = 0.5 * mass * (self.velocity**2).sum(2) + 0.5 * (inertia * self.spin**2).sum(2)
        return np.asarray((moving - mass * (self.place @ np.array(case.gravity))).sum(1))

    def momentum(self, case: Case) -> Array:
        """Angular momentum of each body about its own center, in W, (m + 1, n, 3) [kg m^2/s]."""
        inertia = np.array([s.inertia for s in case.solids])
        turned = Rotation.from_quat(self.turn.reshape(-1, 4)).apply(
            (inertia * self.spin).reshape(-1, 3)
        )
        return np.asarray(turned).reshape(self.spin.shape)


def ours(case: Case, solver: str) -> tuple[Watched, Any]:
    """Simulate with one of robosim's solvers; also returns the rollout's report."""
    simulation = case.simulation(solver)
    motion = simulation.rollout(simulation.state(case.q, case.v), case.steps)
    n = len(case.solids)
    q, v = motion.q.reshape(-1, n, 7), motion.v.reshape(-1, n, 6)
    return Watched(
        q[..., :3], q[..., 3:], _to_world(q[..., 3:], v[..., :3]), v[..., 3:]
    ), motion.report


def mujoco(case: Case) -> Watched | None:
    """Simulate with MuJoCo's defaults; None for cases with restitution, which MuJoCo lacks."""
    import mujoco as library

    if case.restitution > 0:
        return None
    model = case.model
    text = mjcf(
        model,
        case.simulation("lcp").pairs,
        dt=case.dt,
        friction=case.friction,
        gravity=case.gravity,
    )
    peer = library.MjModel.from_xml_string(text)
    data = library.MjData(peer)
    Matched(model, peer).put(data, case.q, case.v, np.zeros(model.n_v))
    joints = [peer.joint(f"free{i}") for i in range(len(case.solids))]
    at_q = np.array([int(joint.qposadr[0]) for joint in joints])[:, None]
    at_v = np.array([int(joint.dofadr[0]) for joint in joints])[:, None]

    def look() -> tuple[Array, Array, Array, Array]:
        q, v = data.qpos[at_q + np.arange(7)], data.qvel[at_v + np.arange(6)]
        return q[:, :3], q[:, [4, 5, 6, 3]], v[:, :3], v[:, 3:]

    return _watched(case.steps, look, lambda: library.mj_step(peer, data))


def nimble(library: Any, case: Case) -> Watched:
    """Simulate with Nimble, whose restitution is the product of both bodies' values."""
    peer = NimbleWorld(
        library, case.model, case.simulation("lcp").pairs, dt=case.dt, friction=case.friction
    )
    peer.world.setGravity(UPWARDS[:3, :3] @ np.array(case.gravity))
    for k, restitution in enumerate((case.restitution, 1.0)[: peer.world.getNumSkeletons()]):
        skeleton = peer.world.getSkeleton(k)
        for i in range(skeleton.getNumBodyNodes()):
            skeleton.getBodyNode(i).setRestitutionCoeff(restitution)
    peer.put(case.q, case.v, np.zeros(case.model.n_v))
    n = len(case.solids)

    def look() -> tuple[Array, Array, Array, Array]:
        q, v = peer.world.getPositions().reshape(n, 6), peer.world.getVelocities().reshape(n, 6)
        turn = np.asarray(Rotation.from_rotvec(q[:, :3]).as_quat())
        return q[:, 3:], turn, _to_world(turn, v[:, 3:]), v[:, :3]

    return _watched(case.steps, look, peer.world.step)


def _watched(
    steps: int, look: Callable[[], tuple[Array, Array, Array, Array]], step: Callable[[], object]
) -> Watched:
    seen = [tuple(x.copy() for x in look())]
    for _ in range(steps):
        step()
        seen.append(tuple(x.copy() for x in look()))
    return Watched(*(np.array(part) for part in zip(*seen, strict=True)))


def _to_world(turn: Array, x: Array) -> Array:
    return np.asarray(Rotation.from_quat(turn.reshape(-1, 4)).apply(x.reshape(-1, 3))).reshape(
        x.shape
    )
