"""Scenes of the contact benchmark: robots on the ground, held by constant joint forces."""

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
SETTLING = 1000  # number of steps
SUNK = 1e-4  # [m] initial penetration: MuJoCo has contacts only where shapes overlap
SPEED = 0.5  # [m/s or rad/s] of the first coordinate, in scenes with motion
HOLDING = Motor(
    position_gain=1e4, velocity_gain=1e3, limit=1e6
)  # stiff: the posture is kept while the robot settles
ATLAS = SHARED_DATA / "atlas"
# Posture off the limits, with level soles. [rad]
ATLAS_POSTURE = {"hpy": -0.15, "kny": 0.3, "aky": -0.15, "ely": 0.3, "elx": 0.4, "wry": 0.3}


@dataclass(frozen=True)
class Kind:
    """A kind of scene.

    Attributes:
        name: in tables.
        load: function that returns the model.
        posture: positions by joint, or a named state of the robot.
        is_atlas: True if the bars of Atlas apply.
        mujoco_bar: bar of the step: ours / MuJoCo's.
        pinocchio_bar: bar of step and Jacobians: ours / Pinocchio's ABA with its derivatives; None
            without a bar.
        has_floor: True if the scene has a floor.
        is_put_down: True if the robot is moved down until it touches the floor, before it settles.
        published: [us] all Jacobians in Nimble's paper, None if the paper has no such robot.
        urdf: URDF for Pinocchio, if Pinocchio is measured.
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
        # Hulls of neighboring links overlap, so only the ground may be touched, as in Nimble's
        # benchmark.
        return model.with_collision_pairs(np.zeros((0, 2), np.intc))

    return load


# Published times: Werling et al., arXiv:2103.16021v2, table of Jacobians. The paper does not say
# which feet its Atlas has.
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
    """A robot at rest, held by constant forces.

    Attributes:
        kind: kind of the scene.
        model: the robot.
        simulations: by solver.
        rest: state at rest, with a penetration of `SUNK`.
        moving: the same state with its first coordinate at `SPEED`.
        control: the forces that hold the robot.
    """

    kind: Kind
    model: Model
    simulations: dict[str, Simulation]
    rest: State
    moving: State
    control: Control

    @property
    def tau(self) -> Array:
        """Joint forces (n_v,) [N m or N]."""
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
    """Settle the robot on its floor with motors at its joints, and use their forces as constants.

    Raises:
        FileNotFoundError: the robot's files are absent.
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
