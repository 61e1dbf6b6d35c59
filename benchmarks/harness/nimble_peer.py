"""A model over a floor in Nimble, if installed, its Jacobians, and their errors from differences.

The differences are of Nimble's own step. `nimblephysics` runs with NumPy before 2 only. Its C++
module is used directly, because the Python package around it also loads PyTorch. Links that fixed
joints weld together become one body, as in `mjcf.py`. Meshes are written to files for Nimble. The
world has y upwards, as Nimble has no gradients of contacts whose normal is along z. Bodies that a
joint connects do not touch, nor do static bodies except the floor.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from harness.mjcf import FLOOR, GRAVITY, Body, bodies, composite, plane_axes
from harness.ridders import ridders
from robosim.model import Joint, Model

Array = NDArray[np.float64]

GROUND = (20.0, 0.1, 20.0)  # [m] box whose upper face is the floor
UPWARDS = np.array(
    [[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]]
)  # rotation of W in Nimble's world: z becomes y
LONGEST = (1e-5, 3e-6)  # [rad, m, rad/s, m/s, N m or N] of Ridders' differences
AGREEMENT = 1e-6  # required agreement of both differences
MESH_FORMAT = "stl"


def load() -> Any | None:
    """Return Nimble's module, or None if it is not installed or not compatible with this NumPy."""
    if int(metadata.version("numpy").split(".")[0]) >= 2:
        return None
    try:
        return import_module("nimblephysics_libs._nimblephysics")
    except ImportError:
        return None


class Error(NamedTuple):
    """Error of Jacobians.

    Attributes:
        largest: deviation from differences of the step, relative to the largest entry, or to 1.
        open: fraction of entries without valid differences, as the step has a jump or a kink next
            to the state.
    """

    largest: float
    open: float


class NimbleWorld:
    """A model in Nimble.

    Args:
        library: from `load`.
        model: its masses, inertias, joints with damping, dry friction and limits, and its colliders
            are used.
        pairs: names of colliders, or `FLOOR`, that may touch.
        dt: length of a step [s].
        friction: Coulomb's mu of all pairs.

    Raises:
        ValueError: a part of the model is not supported here: joints that are not floating, planar,
            prismatic or revolute, shapes that are not spheres, boxes, capsules, cylinders or convex
            meshes, springs or armature.
    """

    def __init__(
        self,
        library: Any,
        model: Model,
        pairs: Sequence[tuple[str, str]],
        *,
        dt: float,
        friction: float,
    ) -> None:
        self.nimble, self.model = library, model
        self.world = library.simulation.World()
        self.world.setGravity(UPWARDS[:3, :3] @ GRAVITY)
        self.world.setTimeStep(dt)
        self._touching = {name for pair in pairs for name in pair}
        self.skeleton = library.dynamics.Skeleton()
        self.skeleton.setSelfCollisionCheck(any(FLOOR not in pair for pair in pairs))
        self.skeleton.setAdjacentBodyCheck(False)
        self._joints: list[tuple[str, str]] = []  # kind and name, in Nimble's order
        self._friction = friction
        with tempfile.TemporaryDirectory() as folder:
            self._meshes = Path(folder)
            nodes: dict[str, Any] = {}
            for body in bodies(model):
                nodes[body.name] = self._add(body, nodes)
        self.world.addSkeleton(self.skeleton)
        if any(FLOOR in pair for pair in pairs):
            self._add_floor()

    def _add(self, body: Body, nodes: dict[str, Any]) -> Any:
        """Add a body and return its node."""
        base = "floating" if self.model.floating_base else "fixed"
        kind = base if body.joint is None else body.joint.kind
        create = {
            "fixed": self.skeleton.createWeldJointAndBodyNodePair,
            "floating": self.skeleton.createFreeJointAndBodyNodePair,
            "planar": self.skeleton.createPlanarJointAndBodyNodePair,
            "prismatic": self.skeleton.createPrismaticJointAndBodyNodePair,
            "revolute": self.skeleton.createRevoluteJointAndBodyNodePair,
            "continuous": self.skeleton.createRevoluteJointAndBodyNodePair,
        }.get(kind)
        if create is None:
            raise ValueError(f"{body.name}: no {kind} joint here")
        above = nodes.get(body.parent or "")
        joint, node = create() if above is None else create(above)
        node.setName(body.name)
        joint.setTransformFromParentBodyNode(
            self.nimble.math.Isometry3(UPWARDS @ body.X_PB if above is None else body.X_PB)
        )
        if body.joint is not None:
            self._describe(joint, body.joint)
        if kind != "fixed":
            self._joints.append(
                (kind, self.model.joint_names[0] if body.joint is None else body.joint.name)
            )
            mass, com, inertia = composite(self.model, body)
            node.setInertia(self.nimble.dynamics.Inertia(mass, com, inertia))
        node.setFrictionCoeff(self._friction)
        for collider in self.model.colliders if kind != "fixed" else ():
            if collider.link in body.links and collider.name in self._touching:
                shape_node = node.createShapeNode(self._shape(collider.name, collider.shape))
                shape_node.setRelativeTransform(
                    self.nimble.math.Isometry3(body.links[collider.link] @ collider.X_LC)
                )
                shape_node.createCollisionAspect()
        return node

    def _describe(self, to: Any, joint: Joint) -> None:
        if joint.kind == "planar":
            x, y, _ = plane_axes(joint.axis)
            to.setArbitraryPlane(x, y)
        elif joint.kind != "floating":
            if joint.stiffness or joint.armature or joint.gear_ratio**2 * joint.rotor_inertia:
                raise ValueError(f"{joint.name}: no springs or armature here")
            to.setAxis(joint.axis)
            to.setDampingCoefficient(0, joint.damping)
            to.setCoulombFriction(0, joint.friction)
            if joint.kind != "continuous" and joint.lower is not None and joint.upper is not None:
                to.setPositionLowerLimit(0, joint.lower[0])
                to.setPositionUpperLimit(0, joint.upper[0])
                to.setPositionLimitEnforced(True)

    def _shape(self, name: str, shape: Any) -> Any:
        dynamics = self.nimble.dynamics
        match shape.type:
            case "sphere":
                return dynamics.SphereShape(shape.radius)
            case "box":
                return dynamics.BoxShape(np.asarray(shape.size))
            case "capsule":
                return dynamics.CapsuleShape(shape.radius, shape.length)
            case "cylinder":
                return dynamics.CylinderShape(shape.radius, shape.length)
            case "convex":
                from scipy.spatial import ConvexHull
                from trimesh import Trimesh

                file = self._meshes / f"{name.replace('/', '_')}.{MESH_FORMAT}"
                hull = Trimesh(shape.vertices, ConvexHull(shape.vertices).simplices)
                hull.fix_normals()
                hull.export(file)
                return dynamics.MeshShape(np.ones(3), str(file))
            case _:
                raise ValueError(f"{name}: no {shape.type} here")

    def _add_floor(self) -> None:
        ground = self.nimble.dynamics.Skeleton()
        _, node = ground.createWeldJointAndBodyNodePair()
        shape_node = node.createShapeNode(self.nimble.dynamics.BoxShape(np.asarray(GROUND)))
        shape_node.setRelativeTranslation(np.array([0, -GROUND[1] / 2, 0]))
        shape_node.createCollisionAspect()
        node.setFrictionCoeff(self._friction)
        ground.setMobile(False)
        self.world.addSkeleton(ground)

    def _coordinates(self) -> list[tuple[str, int, int, int]]:
        """Return each joint in Nimble's order.

        Returns:
            Kind of the joint, its first indices in robosim's q and v, and its number of velocities.
        """
        positions = [name.split("/")[0] for name in self.model.position_names]
        velocities = [name.split("/")[0] for name in self.model.velocity_names]
        return [
            (kind, positions.index(name), velocities.index(name), velocities.count(name))
            for kind, name in self._joints
        ]

    def velocity_map(self, q: Array) -> Array:
        """Return T(q), (n_v, n_v) and orthogonal: Nimble's velocities are T(q) times robosim's."""
        T = np.zeros((self.model.n_v, self.model.n_v))
        row = 0
        for kind, i, j, width in self._coordinates():
            if kind == "floating":  # a twist in the body's axes, its angular part first
                T[row : row + 3, j + 3 : j + 6] = T[row + 3 : row + 6, j : j + 3] = np.eye(3)
            elif kind == "planar":
                c, s = np.cos(q[i + 2]), np.sin(q[i + 2])
                T[row : row + 3, j : j + 3] = [[c, -s, 0], [s, c, 0], [0, 0, 1]]
            else:
                T[row, j] = 1
            row += width
        return T

    def put(self, q: Array, v: Array, tau: Array) -> None:
        """Set robosim's state and joint forces."""
        out: list[float] = []
        for kind, i, _, width in self._coordinates():
            if kind == "floating":
                out += [*Rotation.from_quat(q[i + 3 : i + 7]).as_rotvec(), *q[i : i + 3]]
            else:
                out += [*q[i : i + width]]
        T = self.velocity_map(q)
        self._start([np.array(out), T @ v, T @ tau])

    def _start(self, numbers: Sequence[Array]) -> None:
        """Set positions, velocities and forces in Nimble's coordinates."""
        self.world.setPositions(numbers[0])
        self.world.setVelocities(numbers[1])
        self.world.setControlForces(numbers[2])

    def disagreement(self, q: Array) -> float:
        """Return the deviation of the mass matrices, relative to the largest entry."""
        self.put(q, np.zeros(self.model.n_v), np.zeros(self.model.n_v))
        T, M = self.velocity_map(q), self.model.mass_matrix(q)
        return float(
            np.abs(T.T @ self.world.getMassMatrix() @ T - M).max() / max(1.0, np.abs(M).max())
        )

    def contacts(self) -> int:
        """Return the number of contacts of the step from the current state."""
        self.nimble.neural.forwardPass(self.world, True)
        return int(self.world.getLastCollisionResult().getNumContacts())

    def jacobians(self) -> tuple[Array, ...]:
        """Return all Jacobians (n_v, n_v) of a step from the current state, which does not change.

        Jacobians of the next positions with respect to positions and velocities, and of the next
        velocities with respect to positions, velocities and forces.
        """
        snapshot, world = self.nimble.neural.forwardPass(self.world, True), self.world
        return (
            snapshot.getPosPosJacobian(world),
            snapshot.getVelPosJacobian(world),
            snapshot.getPosVelJacobian(world),
            snapshot.getVelVelJacobian(world),
            snapshot.getControlForceVelJacobian(world),
        )

    def error(self) -> Error:
        """Return the deviation of the Jacobians from Ridders' differences of Nimble's own step.

        Entries count where differences of two lengths agree.
        """
        wide, close = (np.concatenate(self._differences(longest)) for longest in LONGEST)
        found = np.concatenate(self.jacobians())
        largest = max(1.0, float(np.abs(found).max()))
        agrees = np.abs(wide - close) <= AGREEMENT * largest
        return Error(
            float(np.abs(found - close)[agrees].max(initial=0.0) / largest), float(np.mean(~agrees))
        )

    def _differences(self, longest: float) -> tuple[Array, ...]:
        world, n = self.world, self.model.n_v
        start = [world.getPositions(), world.getVelocities(), world.getControlForces()]

        def after(part: int, change: Array) -> Array:
            self._start([x + change if i == part else x for i, x in enumerate(start)])
            world.step()
            return np.concatenate([world.getPositions(), world.getVelocities()])

        columns = []
        for part in range(len(start)):
            for unit in np.eye(n):
                found = ridders(
                    partial(lambda t, part, unit: after(part, t * unit), part=part, unit=unit),
                    longest,
                )
                assert found is not None
                columns.append(found.value)
        self._start(start)
        by = np.array(columns).T
        return by[:n, :n], by[:n, n : 2 * n], by[n:, :n], by[n:, n : 2 * n], by[n:, 2 * n :]
