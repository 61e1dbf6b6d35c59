"""Robots on the ground, held by constant forces of their joints: the scenes of the contact
benchmark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.problem_sets import SHARED_DATA
from robosim import load_robot
from robosim.model import Model
from robosim.scene import Scene
from robosim.simulation import Control, Simulation, State
from robosim.world import Material, Motor, World

Array = NDArray[np.float64]

DT = 1e-3  # [s]
FRICTION = 0.8
SETTLING = 1000  # steps
SUNK = 1e-4  # [m] into what it rests on at the start: MuJoCo has contacts only where things overlap
SPEED = 0.5  # [m/s or rad/s] of the first coordinate, in scenes that move
HOLDING = Motor(
    position_gain=1e4, velocity_gain=1e3, limit=1e6
)  # stiff: the posture is kept while it settles
ATLAS = SHARED_DATA / "atlas"
# Off the limits, soles level. [rad]
ATLAS_POSTURE = {"hpy": -0.15, "kny": 0.3, "aky": -0.15, "ely": 0.3, "elx": 0.4, "wry": 0.3}


@dataclass(frozen=True)
class Kind:
    """What is measured.

    Attributes:
        name: in tables.
        load: gives the model.
        posture: positions by joint, or a named state of the robot.
        is_atlas: whether it is judged as one.
        mujoco_bar: of the step: ours / MuJoCo's.
        pinocchio_bar: of step and Jacobians: ours / Pinocchio's ABA with its derivatives; None
        without a bar.
        has_floor: whether there is one.
        is_put_down: whether it is moved down until it touches the floor, before it settles.
        published: [us] all Jacobians of Nimble in its paper, None where it has no such robot.
        urdf: that Pinocchio reads, where it is measured.
    """

    name: str
    load: Callable[[], Model]
    posture: str | None = None
    is_atlas: bool = False
    mujoco_bar: float = 1.0
    pinocchio_bar: float | None = None
    has_floor: bool = True
    is_put_down: bool = True
    published: float | None = None
    urdf: Path | None = None


def _bundled(name: str, base: str = "fixed") -> Callable[[], Model]:
    return lambda: load_robot(name, base=base)


def _atlas(file: str) -> Callable[[], Model]:
    def load() -> Model:
        path = ATLAS / file
        if not path.is_file():
            raise FileNotFoundError(f"{path} is absent")
        model = load_robot(path, base="floating", package_dirs=[ATLAS], visuals=False)
        # Hulls of neighboring links overlap: only the ground is touched, as in Nimble's benchmark.
        return model.with_collision_pairs(np.zeros((0, 2), np.intc))

    return load


# The paper: Werling et al., arXiv:2103.16021v2, table of Jacobians; which feet its Atlas has it
# does not say.
KINDS = (
    Kind(
        "Atlas, box feet",
        _atlas("atlas_v3_box_colliders.urdf"),
        is_atlas=True,
        pinocchio_bar=2.0,
        published=8530,
        urdf=ATLAS / "atlas_v3_box_colliders.urdf",
    ),
    Kind(
        "Atlas, mesh feet",
        _atlas("atlas_v3_no_head.urdf"),
        is_atlas=True,
        mujoco_bar=2.0,
        published=8530,
    ),
    Kind("half cheetah", _bundled("half_cheetah"), "standing", published=395),
    Kind("jump-worm", _bundled("jump_worm"), "flat", published=256),
    Kind("catapult", _bundled("catapult"), "ready", is_put_down=False, published=265),
    Kind("quadruped", _bundled("quadruped", "floating"), "standing"),
    Kind(
        "7-joint arm",
        _bundled("panda"),
        "ready",
        pinocchio_bar=0.75,
        has_floor=False,
        urdf=Path(str(files("robosim.robots") / "panda" / "panda.urdf")),
    ),
)


@dataclass(frozen=True, eq=False)
class ContactScene:
    """A robot that rests, held by constant forces.

    Attributes:
        kind: what it is of.
        model: the robot.
        simulations: by solver.
        rest: where it is, sunk into what it rests on by `SUNK`, at rest.
        moving: the same with its first coordinate at `SPEED`.
        control: the forces that hold it.
    """

    kind: Kind
    model: Model
    simulations: dict[str, Simulation]
    rest: State
    moving: State
    control: Control

    @property
    def tau(self) -> Array:
        """(n_v,) forces of joints [N m or N]."""
        return np.asarray(self.control.tau)


def _posture(kind: Kind, model: Model) -> Array:
    q = model.neutral()
    if kind.is_atlas:
        for i, name in enumerate(model.position_names):
            for part, angle in ATLAS_POSTURE.items():
                if name.endswith(part):  # the right elbow bends the other way
                    q[i] = (
                        angle
                        if angle >= model.limits.lower[i] and angle <= model.limits.upper[i]
                        else -angle
                    )
        return q
    state = next(s for s in model.named_states if s.name == kind.posture)
    for i, name in enumerate(model.position_names):
        q[i] = state.positions.get(name, q[i])
    return q


def make(kind: Kind) -> ContactScene:
    """Lets the robot settle over its floor, its joints held by motors, and takes their forces for
    constants.

    Raises:
        FileNotFoundError: its data are absent.
    """
    model = kind.load()
    scene = Scene("floor")
    if kind.has_floor:
        scene.add_half_space("floor")
    materials = {name: Material(FRICTION) for name in model.link_names}
    if kind.has_floor:
        materials["floor"] = Material(FRICTION)
    single = [name for name in model.velocity_names if "/" not in name]
    q = _posture(kind, model)
    height = next((i for i, name in enumerate(model.position_names) if name.endswith("/z")), None)
    if height is None and kind.has_floor:
        height = next(i for i, name in enumerate(model.position_names) if name.endswith("/y"))
    if height is not None and kind.is_put_down:
        q[height] -= scene.compile(model).min_distance(q)[0]
    held = Simulation(
        World(model, scene, materials=materials, motors=dict.fromkeys(single, HOLDING)), dt=DT
    )
    target = Control(q_target=q)
    settled = held.rollout(held.state(q), SETTLING, target, interval=SETTLING).end
    tau = np.zeros(model.n_v)
    for joint in held.linearize(settled, target).joints:
        if joint.source == "motor":
            tau[model.velocity_names.index(joint.coordinate)] = joint.force
    q = settled.q.copy()
    if height is not None:
        q[height] -= SUNK
    simulations = {
        solver: Simulation(World(model, scene, materials=materials), dt=DT, solver=solver)
        for solver in ("lcp", "convex")
    }
    rest = simulations["lcp"].state(q)
    v = np.zeros(model.n_v)
    v[0] = SPEED
    return ContactScene(kind, model, simulations, rest, State(q, v), Control(tau=tau))
