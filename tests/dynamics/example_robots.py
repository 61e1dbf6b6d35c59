"""The robots of PyPI's example-robot-data, all that can be loaded, in both libraries, with random states.

Pinocchio's model has all joints free; mimic joints of ours become a linear map of velocities, v_theirs = G v. What a
function of theirs says of forces and derivatives is then contracted with G along each axis of velocities:
tau = G^T tau_free. G of a robot without mimic joints is a permutation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import robosim
from robosim import _engine
from robosim.model import Model

from ..model.pinocchio_models import convert, pin, robots_folder, without_geometry  # noqa: TID252

Array = np.ndarray

STATES = 32

# A file without a robot's name.
REFUSED_BY_PINOCCHIO = {"ur_description/urdf/ur3.urdf"}

# Bodies, welded links included, with inertias that no distribution of mass has.
REFUSED = {
    "romeo_description/urdf/romeo_laas_small.urdf",
    "romeo_description/urdf/romeo_small.urdf",
}

# With mimic joints, but some link alone has an inertia that no distribution of mass has: their mimic joints are free.
REFUSED_AS_URDF = {
    "alex_description/urdf/alex_psyonic_hands.urdf",
    "pr2_description/urdf/pr2.urdf",
    "romeo_description/urdf/romeo.urdf",
}

# Joints that move no mass.
SINGULAR = {
    "romeo_description/urdf/romeo.urdf",
}


@functools.cache
def all_files() -> tuple[str, ...]:
    folder = robots_folder()
    return tuple(sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.urdf")))


@dataclass
class Wrenches:
    """Forces on some of a robot's links.

    Attributes:
        frames: theirs, by index.
        own: ours.
        values: (n, frames, 6) linear and angular, world axes.
    """

    frames: list[int]
    own: list[int]
    values: Array


class Robot:
    """A mechanism in both libraries with states.

    Attributes:
        model, source: ours and theirs.
        G: (source.nv, model.n_v) the map of velocities.
        q, v, a, tau: (STATES, ...) ours; Q, V, A theirs.
        frames, own_frames: some links' frames in theirs and ours.
    """

    def __init__(
        self, name: str, model: Model, source: pin.Model, own_name: Callable[[str], str], seed: int = 0
    ) -> None:
        self.name, self.model, self.source = name, model, source
        self.data = source.createData()
        rng = np.random.default_rng([seed, source.nv])
        self.q = np.array([model.random_configuration(rng) for _ in range(STATES)]).reshape(STATES, model.n_q)
        self.v, self.a, self.tau = rng.uniform(-2, 2, (3, STATES, model.n_v))
        self.G = np.zeros((source.nv, model.n_v))
        self.Q = np.zeros((STATES, source.nq))
        self._match_joints()
        self.V, self.A = self.v @ self.G.T, self.a @ self.G.T
        indices = {frame.name: i for i, frame in enumerate(source.frames) if frame.type == pin.FrameType.BODY}
        known = [
            (i, model._frames[own_name(link)])
            for link, i in indices.items()
            if own_name(link) in model._frames
        ]
        assert known, name
        chosen = [known[k] for k in rng.choice(len(known), min(4, len(known)), replace=False)]
        self.frames, self.own_frames = [i for i, _ in chosen], [k for _, k in chosen]
        values = rng.uniform(-10, 10, (STATES, len(chosen), 6))
        self.wrenches = Wrenches(self.frames, self.own_frames, values)
        self.point = np.zeros((STATES, len(chosen), 3))  # theirs knows origins of frames only
        self.rng = rng

    def _match_joints(self) -> None:
        model, source = self.model, self.source
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
            values = self.q[:, q_of[name]]
            assert len(v_of[name]) == theirs.nv, name
            if theirs.nv == 1:
                values = ratio * values + offset
            if theirs.nq == values.shape[1] + 1:  # an angle is a point on the circle
                values = np.column_stack([values[:, :-1], np.cos(values[:, -1]), np.sin(values[:, -1])])
            self.Q[:, theirs.idx_q : theirs.idx_q + theirs.nq] = values
            self.G[theirs.idx_v + np.arange(theirs.nv), v_of[name]] = ratio

    @property
    def follows(self) -> bool:
        """Whether some joints mimic others."""
        return self.G.shape[0] != self.G.shape[1]

    @property
    def singular(self) -> bool:
        """Whether no digit of an inverse of M is left."""
        return bool(self.cond.max() > 1 / np.finfo(float).eps)

    @functools.cached_property
    def M(self) -> Array:
        """(STATES, n_v, n_v) mass matrices by their crba, in our order."""
        upper = np.array([np.triu(pin.crba(self.source, self.data, q)) for q in self.Q])
        return self.reduced(upper + np.triu(upper, 1).swapaxes(1, 2), [1, 2])

    @functools.cached_property
    def cond(self) -> Array:
        """(STATES,) condition numbers of M."""
        values = np.linalg.eigvalsh(self.M)
        return values[:, -1] / np.maximum(values[:, 0], 1e-300)

    def reduced(self, x: Array, axes: list[int]) -> Array:
        """Contracted with G along these axes."""
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


def load(file: str, *, free_flying: bool) -> Robot:
    path = robots_folder() / file
    name = f"{file.split('/')[-1]}{', free-flying' if free_flying else ''}"
    source = pin.buildModelFromUrdf(str(path), *((pin.JointModelFreeFlyer(),) if free_flying else ()))
    if "<mimic" in path.read_text() and file not in REFUSED_AS_URDF:
        model = robosim.load_robot(
            without_geometry(path),
            base="floating" if free_flying else "fixed",
            srdf=False,
            joint_limits=False,
        ).with_gravity(source.gravity.linear)
        return Robot(name, model, source, lambda link: link)
    return Robot(name, convert(source, allow_massless=file in SINGULAR), source, lambda link: f"frame {link}")


@functools.cache
def robots() -> tuple[Robot, ...]:
    """All, on fixed and on free-flying bases, but for two flying robots without joints where their base is fixed."""
    known = [file for file in all_files() if file not in REFUSED | REFUSED_BY_PINOCCHIO]
    both = [load(file, free_flying=base) for file in known for base in (False, True)]
    return tuple(robot for robot in both if robot.model.n_v > 0)


def evaluate_batch(
    robot: Robot, operation: str, inputs: tuple[Array, ...], **options: Any
) -> tuple[Array, ...]:
    """All results, one thread: these are small."""
    index = _engine.operations()[operation]["index"]
    result = _engine.evaluate_batch(index, robot.model._engine, _engine.Batch(), inputs, threads=1, **options)
    return result if isinstance(result, tuple) else (result,)
