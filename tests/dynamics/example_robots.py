"""Loadable robots of PyPI's example-robot-data in both libraries, with random states.

In Pinocchio's model all joints are free. Mimic joints of robosim become a linear map of velocities,
v_pinocchio = G v. Forces and derivatives of Pinocchio are then contracted with G along each axis of
velocities: tau = G^T tau_free. For a robot without mimic joints G is a permutation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np

import robosim
from robosim.model import Model

from ..model.pinocchio_models import (  # noqa: TID252 (tests have no absolute name)
    PEERS,
    convert,
    pin,
    random_tree,
    robots_folder,
    without_geometry,
)
from ..scale import some  # noqa: TID252 (tests have no absolute name)
from .calls import Array, Inputs, random_configurations, random_inputs

STATES = 32

# A file without a robot's name.
REFUSED_BY_PINOCCHIO = {"ur_description/urdf/ur3.urdf"}

# Robots with bodies, welded links included, whose inertias no distribution of mass has.
REFUSED = {
    "romeo_description/urdf/romeo_laas_small.urdf",
    "romeo_description/urdf/romeo_small.urdf",
}

# Robots with mimic joints and with a single link whose inertia no distribution of mass has. They
# are converted from Pinocchio, so that their mimic joints are free.
REFUSED_AS_URDF = {
    "alex_description/urdf/alex_psyonic_hands.urdf",
    "pr2_description/urdf/pr2.urdf",
    "romeo_description/urdf/romeo.urdf",
}

# Robots with joints that move no mass.
SINGULAR = {
    "romeo_description/urdf/romeo.urdf",
}


@functools.cache
def all_files() -> tuple[str, ...]:
    folder = robots_folder()
    return tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.urdf")))


class Robot:
    """A mechanism in both libraries, with states.

    Attributes:
        model, source: robosim's model and Pinocchio's.
        q: (STATES, n_q) configurations of robosim; Q are the same in Pinocchio's coordinates.
        G: (source.nv, model.n_v) map of velocities.
        links: Pinocchio's frames of some links; own_links are robosim's.
        points: (links, 3) a point fixed in each link, in the link's coordinates.
        point_frames: Pinocchio's frames at these points, with the links' axes.
        wrenches: (STATES, links, 6) forces and moments on these links, world axes.
        no_forces: Pinocchio's forces, zero for all bodies.
    """

    def __init__(
        self,
        name: str,
        model: Model,
        source: pin.Model,
        own_name: Callable[[str], str],
        seed: int = 0,
    ) -> None:
        self.name, self.model, self.source = name, model, source
        rng = np.random.default_rng([seed, source.nv])
        indices = {
            frame.name: i
            for i, frame in enumerate(source.frames)
            if frame.type == pin.FrameType.BODY
        }
        known = [
            (i, model._frames[own_name(link)])
            for link, i in indices.items()
            if own_name(link) in model._frames
        ]
        assert known, name
        chosen = [known[k] for k in rng.choice(len(known), min(3, len(known)), replace=False)]
        self.links, self.own_links = [i for i, _ in chosen], [k for _, k in chosen]
        self.points = rng.uniform(-0.3, 0.3, (len(chosen), 3))
        self.point_frames = [
            self._add_point(i, point) for i, point in zip(self.links, self.points, strict=True)
        ]
        self.wrenches = rng.uniform(-10, 10, (STATES, len(chosen), 6))
        self.data = source.createData()
        self.no_forces = pin.StdVec_Force([pin.Force.Zero()] * source.njoints)
        self.q = random_configurations(model, rng, STATES)
        self.G = np.zeros((source.nv, model.n_v))
        self.Q = self.configurations(self.q)
        self._rng_seed = [seed + 1, source.nv]

    def _add_point(self, link: int, point: Array) -> int:
        frame = self.source.frames[link]
        placement = frame.placement * pin.SE3(np.eye(3), point)
        added = pin.Frame(
            f"point of {frame.name}", frame.parentJoint, link, placement, pin.FrameType.OP_FRAME
        )
        return int(self.source.addFrame(added, False))

    def inputs(self, operation: str, options: dict[str, Any]) -> Inputs:
        """Inputs of the operation for all states."""
        points = np.broadcast_to(self.points, (STATES, *self.points.shape))
        given = {"q": self.q, "q0": self.q, "wrenches": self.wrenches, "point": points}
        return random_inputs(
            self.model, operation, options, np.random.default_rng(self._rng_seed), STATES, given
        )

    def configurations(self, own: Array) -> Array:
        """Convert (n, n_q) configurations to Pinocchio's coordinates; fill G."""
        model, source = self.model, self.source
        out = np.zeros((len(own), source.nq))
        joints = {joint.name: joint for joint in model.joints}
        q_of, v_of = _by_joint(model.position_names), _by_joint(model.velocity_names)
        for i in range(1, source.njoints):
            theirs, name = source.joints[i], source.names[i]
            if name not in joints:
                assert theirs.nv == 6, name  # the floating base, which has another name
                name = model.joint_names[0]
            ratio, offset = 1.0, 0.0
            while name in joints and (mimic := joints[name].mimic) is not None:
                offset += ratio * mimic.offset
                ratio *= mimic.multiplier
                name = mimic.source
            values = own[:, q_of[name]]
            assert len(v_of[name]) == theirs.nv, name
            if theirs.nv == 1:
                values = ratio * values + offset
            if theirs.nq == values.shape[1] + 1:  # an angle is a point on the circle
                values = np.column_stack(
                    [values[:, :-1], np.cos(values[:, -1]), np.sin(values[:, -1])]
                )
            out[:, theirs.idx_q : theirs.idx_q + theirs.nq] = values
            self.G[theirs.idx_v + np.arange(theirs.nv), v_of[name]] = ratio
        return out

    def one_of_two(self, theirs: Array) -> Array:
        """(n, source.nq) configurations with the largest entry of each quaternion positive.

        A quaternion and its negative are the same rotation.
        """
        out = theirs.copy()
        for joint in self.source.joints:
            if joint.nv == 6:
                quaternion = out[:, joint.idx_q + 3 : joint.idx_q + 7]
                largest = np.take_along_axis(
                    quaternion, np.abs(quaternion).argmax(axis=1)[:, None], 1
                )
                quaternion *= np.sign(largest)
        return out

    def wrapped(self, v: Array) -> Array:
        """(n, source.nv) with angles of continuous joints wrapped to (-pi, pi].

        In robosim these angles count turns, in Pinocchio they do not.
        """
        out = v.copy()
        for joint in self.source.joints:
            if joint.nv == 1 and joint.nq == 2:
                out[:, joint.idx_v] = np.angle(np.exp(1j * out[:, joint.idx_v]))
        return out

    @functools.cached_property
    def bodies(self) -> list[int]:
        """Pinocchio's joint that moves each body of robosim; a floating base has another name."""
        names = [joint.name for joint in self.model._engine.joints[1:]]
        return [
            self.source.getJointId(name) if self.source.existJointName(name) else 1
            for name in names
        ]

    @property
    def follows(self) -> bool:
        """True if a joint mimics another one."""
        return self.G.shape[0] != self.G.shape[1]

    @property
    def singular(self) -> bool:
        """True if an inverse of M has no correct digit."""
        return bool(self.cond.max() > 1 / np.finfo(float).eps)

    @functools.cached_property
    def M(self) -> Array:
        """(STATES, n_v, n_v) mass matrices from Pinocchio's crba, in robosim's order."""
        upper = np.array([np.triu(pin.crba(self.source, self.data, q)) for q in self.Q])
        return self.reduced(upper + np.triu(upper, 1).swapaxes(1, 2), [1, 2])

    @functools.cached_property
    def cond(self) -> Array:
        """(STATES,) condition numbers of M."""
        values = np.linalg.eigvalsh(self.M)
        return values[:, -1] / np.maximum(values[:, 0], 1e-300)

    def reduced(self, x: Array, axes: list[int]) -> Array:
        """Contract x with G along these axes."""
        for axis in axes:
            if self.follows:
                x = np.moveaxis(np.moveaxis(x, axis, -1) @ self.G, -1, axis)
            else:
                x = np.take(x, self.G.argmax(axis=0), axis)
        return x


def _by_joint(names: tuple[str, ...]) -> dict[str, list[int]]:
    out: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        out.setdefault(name.split("/")[0], []).append(k)
    return out


def load_urdf(path: Path, base: Literal["fixed", "floating"], *, strict: bool = False) -> Model:
    return robosim.load_robot(
        without_geometry(path), base=base, srdf=False, joint_limits=False, strict=strict
    )


def load(file: str, *, free_flying: bool) -> Robot:
    path = robots_folder() / file
    name = f"{file.split('/')[-1]}{', free-flying' if free_flying else ''}"
    source = pin.buildModelFromUrdf(
        str(path), *((pin.JointModelFreeFlyer(),) if free_flying else ())
    )
    if "<mimic" in path.read_text() and file not in REFUSED_AS_URDF:
        model = load_urdf(path, "floating" if free_flying else "fixed").with_gravity(
            source.gravity.linear
        )
        return Robot(name, model, source, lambda link: link)
    return Robot(
        name, convert(source, allow_massless=file in SINGULAR), source, lambda link: f"frame {link}"
    )


@functools.cache
def robots() -> tuple[Robot, ...]:
    """All robots on fixed and on free-flying bases; in the gate a subset with the singular ones.

    Robots without joints are left out on fixed bases.
    """
    known = [file for file in all_files() if file not in REFUSED | REFUSED_BY_PINOCCHIO]
    chosen = sorted({*some(known, 12), *SINGULAR})
    both = [load(file, free_flying=base) for file in chosen for base in (False, True)]
    return tuple(robot for robot in both if robot.model.n_v > 0)


@functools.cache
def random_robots() -> tuple[Robot, ...]:
    """Random trees of each kind of joint and of all kinds, and Pinocchio's sample models.

    Axes and armature of the trees are random.
    """
    kinds = list(PEERS)
    found = []
    for seed, chosen in enumerate([*([kind] * 5 for kind in kinds), kinds * 2, kinds[::-1] * 3]):
        case = random_tree(chosen, seed)
        found.append(
            Robot(
                f"tree of {chosen[0]}, {seed}",
                case.model,
                case.source,
                lambda link: f"frame {link}",
            )
        )
    pin.seed(1)
    rng = np.random.default_rng(1)
    humanoid = pin.buildSampleModelHumanoidRandom(True)
    for source in (humanoid, pin.buildSampleModelHumanoid(), pin.buildSampleModelManipulator()):
        for i in range(1, source.njoints):  # no body can have their random inertias
            box = pin.Inertia.FromBox(rng.uniform(0.5, 3), *rng.uniform(0.1, 0.6, 3))
            source.inertias[i] = pin.SE3.Random().act(box)
        found.append(Robot(source.name, convert(source), source, lambda link: f"frame {link}"))
    return tuple(found)
