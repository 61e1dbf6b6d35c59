"""Legged robots: standing, lying, and collapsing on floor, stairs, height fields, meshes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robosim import load_robot
from robosim.geometry import TriangleMesh, pose
from robosim.model import Model
from robosim.scene import Scene
from robosim.simulation import Control
from robosim.world import Material, World

from .scene import (
    FLOOR,
    ZooScene,
    example_posture,
    example_robot,
    ground,
    hills,
    holding,
    scene,
    spare_overlaps,
    stairs,
    stand,
)

ON_ITS_BACK = (0.0, -np.pi / 2, 0.0)
HULLS = "of a concave mesh MuJoCo collides the hull"


Robot = tuple[Model, dict[str, float]]  # with a standing posture


def _bundled(name: str) -> Robot:
    model = load_robot(name, base="floating")
    posture = dict(next(x.positions for x in model.named_states if x.name == "standing"))
    if name == "humanoid":  # away from the limits of knees and elbows, with level soles
        for side in ("left", "right"):
            bent = {"hip_pitch": -0.1, "knee": 0.2, "ankle_pitch": -0.1, "elbow_pitch": -0.3}
            posture |= {f"{side}_{joint}": angle for joint, angle in bent.items()}
    return model, posture


def _example(urdf: str, srdf: str, state: str = "half_sitting", **options) -> Robot:
    model = example_robot(urdf, **options)
    return model, example_posture(srdf, model, state)


def _anymal() -> Robot:
    # "base" is a frame that has one milligram, and one of its moments is negative.
    folder = "anymal_b_simple_description"
    return _example(
        f"{folder}/robots/anymal.urdf", f"{folder}/srdf/anymal.srdf", "standing", massless=["base"]
    )


def _solo12() -> Robot:
    folder = "solo_description"
    return _example(f"{folder}/robots/solo12.urdf", f"{folder}/srdf/solo.srdf", "standing")


def _talos() -> Robot:
    model, posture = _example("talos_data/robots/talos_reduced.urdf", "talos_data/srdf/talos.srdf")
    # The grippers are slightly open, away from their limits.
    return model, posture | {f"gripper_{side}_joint": -0.3 for side in ("left", "right")}


def _icub() -> Robot:
    folder = "icub_description"
    return _example(f"{folder}/robots/icub_reduced.urdf", f"{folder}/srdf/icub.srdf")


def _collapsing(robot: Robot, height: float = 0.05, mu: float = 0.8, **turn) -> ZooScene:
    """Return a scene of a robot on a floor, without motors."""
    world = ground(mu)
    stand(world, *robot, height=height, mu=mu, **turn)
    spare_overlaps(world)
    return ZooScene(world, steps=600, impacts=True)


def _standing(robot: Robot, gains: tuple[float, float], height: float = 0.0, **turn) -> ZooScene:
    """Return a scene of a robot on a floor, held by motors."""
    world = ground()
    stand(world, *robot, gains=gains, height=height, **turn)
    spare_overlaps(world)
    return ZooScene(world, holding(world), steps=1500, comes_to_rest=True, impacts=height > 0)


def _on(terrain: Scene, robot: Robot, height: float, gains=None, **turn) -> ZooScene:
    """Return a scene of a robot on other ground, without motors or held by motors."""
    world = World(
        scene=terrain, materials={name: Material(0.8) for name in terrain.objects}, name="zoo"
    )
    stand(world, *robot, height=height, gains=gains, **turn)
    spare_overlaps(world)
    control = Control() if gains is None else holding(world)
    return ZooScene(world, control, steps=600, impacts=True)


def _stairs() -> Scene:
    terrain = Scene("stairs")
    terrain.add_half_space(FLOOR)
    stairs(terrain)
    return terrain


def _hills(seed: int) -> Scene:
    terrain = Scene("hills")
    hills(terrain, np.random.default_rng(seed))
    return terrain


def _rubble(seed: int) -> Scene:
    """Return one concave mesh: a flat pyramid next to a pit, as a closed surface."""
    rng = np.random.default_rng(seed)
    n, size = 9, 2.4
    x = np.linspace(-size / 2, size / 2, n)
    X, Y = np.meshgrid(x, x, indexing="ij")
    top = np.column_stack([X.ravel(), Y.ravel(), 0.1 * rng.uniform(0, 1, n * n)])
    at = np.arange(n * n).reshape(n, n)
    a, b, c, d = (x.ravel() for x in (at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]))
    upper = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    terrain = Scene("rubble")
    terrain.add_shape(FLOOR, TriangleMesh(top, upper), pose())
    return terrain


@scene
def humanoid_collapses() -> ZooScene:
    """The humanoid, upright, without motors."""
    return _collapsing(_bundled("humanoid"))


@scene
def humanoid_lies() -> ZooScene:
    """The humanoid on its back, without motors."""
    return _collapsing(_bundled("humanoid"), height=0.01, rpy=ON_ITS_BACK)


@scene
def humanoid_stands() -> ZooScene:
    """The humanoid, upright, held by motors."""
    return _standing(_bundled("humanoid"), (2000.0, 450.0))


@scene
def humanoid_on_stairs() -> ZooScene:
    """The humanoid collapses across five stairs."""
    return _on(_stairs(), _bundled("humanoid"), 0.4, xy=(0.6, 0.0), rpy=(0, 0.3, 0.5))


@scene
def humanoid_on_height_field() -> ZooScene:
    """The humanoid collapses on hills."""
    return _on(_hills(1), _bundled("humanoid"), 0.2, rpy=(0.2, 0.4, 0))


@scene
def humanoid_on_mesh() -> ZooScene:
    """The humanoid falls on its side on a concave mesh."""
    made = _on(_rubble(4), _bundled("humanoid"), 0.12, rpy=(np.pi / 2, 0, 0))
    return replace(made, no_twin=HULLS)


@scene
def humanoid_pushed() -> ZooScene:
    """The standing humanoid with active motors, pushed at its pelvis until it falls."""
    made = _standing(_bundled("humanoid"), (2000.0, 450.0))
    push = np.zeros(made.world.model.n_v)
    push[0] = 200.0
    hold = made.control_at(0).q_target

    def control(k: int) -> Control:
        return Control(tau=push if k < 150 else None, q_target=hold)

    return replace(made, control=control, steps=700, impacts=True, comes_to_rest=False)


@scene
def quadruped_stands() -> ZooScene:
    """The quadruped, held by motors."""
    return _standing(_bundled("quadruped"), (200.0, 8.0))


@scene
def quadruped_lands() -> ZooScene:
    """The quadruped lands from 0.2 m on its feet, with active motors."""
    return _standing(_bundled("quadruped"), (200.0, 8.0), height=0.2)


@scene
def quadruped_collapses() -> ZooScene:
    """The quadruped, without motors."""
    return _collapsing(_bundled("quadruped"))


@scene
def quadruped_on_height_field() -> ZooScene:
    """The quadruped falls on hills, with active motors."""
    return _on(_hills(2), _bundled("quadruped"), 0.2, gains=(200.0, 8.0))


@scene
def quadruped_on_mesh() -> ZooScene:
    """The quadruped collapses on a concave mesh of 128 triangles."""
    return replace(_on(_rubble(3), _bundled("quadruped"), 0.12), no_twin=HULLS)


@scene
def anymal_stands() -> ZooScene:
    """ANYmal, held by motors."""
    return _standing(_anymal(), (300.0, 10.0))


@scene
def anymal_on_stairs() -> ZooScene:
    """ANYmal collapses on stairs."""
    return _on(_stairs(), _anymal(), 0.62, xy=(0.6, 0.0))


@scene
def solo12_stands() -> ZooScene:
    """Solo12, held by motors."""
    return _standing(_solo12(), (20.0, 0.5))


@scene
def solo12_on_height_field() -> ZooScene:
    """Solo12 collapses on hills."""
    return _on(_hills(5), _solo12(), 0.17)


@scene
def talos_stands() -> ZooScene:
    """Talos with bent knees, held by motors."""
    return _standing(_talos(), (5000.0, 600.0))


@scene
def talos_collapses() -> ZooScene:
    """Talos, without motors."""
    return _collapsing(_talos())


@scene
def icub_stands() -> ZooScene:
    """The iCub, held by motors, leaning so that its soles are level."""
    return _standing(_icub(), (500.0, 50.0), rpy=(0, -0.0635, 0))


@scene
def icub_lies() -> ZooScene:
    """The iCub on its back, without motors."""
    return _collapsing(_icub(), height=0.02, rpy=ON_ITS_BACK)
