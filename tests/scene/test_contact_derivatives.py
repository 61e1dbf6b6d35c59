"""Derivatives of a scene's distances in the configuration, against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.errors import SceneError
from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder
from robosim.scene import Scene, contact_derivatives, load_scene

STEP = 1e-5  # in v; fourth-order differences leave 1e-16 / 1e-5 of rounding


def all_joints():
    """Floating base with a planar, a revolute and a prismatic joint, and a mimic joint.

    The planar joint is on the base. The mimic joint follows the prismatic one.
    """
    builder = ModelBuilder("all_joints", floating_base=True)
    names = ["base", "cart", "arm", "left", "right"]
    shapes = [
        Shape.box((0.3, 0.2, 0.1)),
        Shape.cylinder(0.1, 0.3),
        Shape.capsule(0.05, 0.4),
        Shape.ellipsoid((0.1, 0.06, 0.04)),
        Shape.cone(0.08, 0.2),
    ]
    for name, shape in zip(names, shapes, strict=True):
        builder.add_link(name, mass=1.0, inertia=np.diag([0.1, 0.1, 0.1]))
        builder.add_collider(name, shape, X_LC=pose((0.02, 0.01, 0.03), rpy=(0.3, 0.2, 0.1)))
    bounds = {"lower": -2, "upper": 2, "velocity": 1.0, "effort": 1.0, "acceleration": 1.0}
    plane = {key: (value,) * 3 for key, value in bounds.items()}
    builder.add_joint(
        "drive", "planar", "base", "cart", X_PJ=pose((0, 0, 0.4)), axis=(0, 0.6, 0.8), **plane
    )
    builder.add_joint(
        "turn", "revolute", "cart", "arm", X_PJ=pose((0.2, 0, 0.4)), axis=(0, 1, 0), **bounds
    )
    builder.add_joint("slide", "prismatic", "arm", "left", X_PJ=pose((0.3, 0.1, 0)), **bounds)
    builder.add_joint(
        "follow",
        "prismatic",
        "arm",
        "right",
        X_PJ=pose((0.3, -0.2, 0)),
        mimic=("slide", -0.7, 0.1),
        **bounds,
    )
    return builder.build()


def room() -> Scene:
    scene = Scene("room")
    scene.add_half_space("floor", pose((0, 0, -0.8)))
    scene.add_box("table", (0.6, 0.8, 0.04), pose((0.55, 0, 0.1), rpy=(0.1, 0.2, 0)))
    scene.add_sphere("ball", 0.08, pose((0.3, -0.4, 0.4)))
    rng = np.random.default_rng(3)
    scene.add_shape("stone", Shape.convex(rng.normal(size=(20, 3)) * 0.15), pose((-0.4, 0.3, 0.5)))
    scene.add_sphere("held", 0.05)
    scene.attach("held", "arm", pose=pose((0.2, 0.1, 0.3)))
    return scene


def differences(model, scene, q, pair, k, smoothing=0.0):
    """Fourth-order differences along entry k of v.

    Differentiates distance, p_WA, p_WB and normal of a pair.
    """

    def at(h):
        v = np.zeros(model.n_v)
        v[k] = h
        near = contact_derivatives(scene, model.integrate(q, v), margin=5.0, smoothing=smoothing)
        found = {(c.A, c.B): c.witness for c in near}
        return np.concatenate([np.atleast_1d(part) for part in found[pair]])

    near, far = at(STEP) - at(-STEP), at(2 * STEP) - at(-2 * STEP)
    return (8 * near - far) / (12 * STEP)


def test_against_differences():
    """Derivatives agree to 1e-7 of the largest entry where the same features stay in contact."""
    model = all_joints()
    scene = room().compile(model)
    rng = np.random.default_rng(1)
    compared = 0
    for _ in range(6):
        q = model.random_configuration(rng)
        q[:3] = rng.uniform(-0.5, 0.5, 3)
        for c in contact_derivatives(scene, q, margin=1.0):
            room_left = min(
                c.feature_A.slide, c.feature_A.tilt, c.feature_B.slide, c.feature_B.tilt
            )
            if (
                c.one_sided
                or room_left < 1e-3
                or abs(c.witness.distance) < 1e-3
                or c.witness.distance < -0.03
            ):
                continue
            rates = np.vstack([c.rates.distance, c.rates.p_WA, c.rates.p_WB, c.rates.normal])
            for k in rng.choice(model.n_v, 3, replace=False):
                want = differences(model, scene, q, (c.A, c.B), k)
                assert rates[:, k] == pytest.approx(
                    want, abs=1e-7 * max(1.0, np.abs(rates).max())
                ), (
                    c.A,
                    c.B,
                    k,
                )
                compared += 1
    assert compared > 150


def test_smoothed_against_differences():
    """Derivatives smoothed over 3 cm agree to 1e-7 of the largest entry, for any features."""
    model = all_joints()
    scene = room().compile(model)
    rng = np.random.default_rng(2)
    q = model.random_configuration(rng)
    q[:3] = rng.uniform(-0.5, 0.5, 3)
    exact = contact_derivatives(scene, q, margin=1.0)
    smoothed = contact_derivatives(scene, q, margin=1.0, smoothing=0.03)
    assert [(c.A, c.B, c.feature_A) for c in exact] == [(c.A, c.B, c.feature_A) for c in smoothed]
    compared = 0
    for c, true in zip(smoothed, exact, strict=True):
        assert c.witness.distance <= true.witness.distance + 1e-12
        if true.witness.distance < 0.02:  # inside, another direction of separation may be as short
            continue
        rates = np.vstack([c.rates.distance, c.rates.p_WA, c.rates.p_WB, c.rates.normal])
        for k in rng.choice(model.n_v, 3, replace=False):
            want = differences(model, scene, q, (c.A, c.B), k, smoothing=0.03)
            assert rates[:, k] == pytest.approx(want, abs=1e-7 * max(1.0, np.abs(rates).max()))
            compared += 1
    assert compared > 15


def test_only_what_moves_counts(ur5):
    """A distance depends on the joints above one of the objects, not on those above both."""
    robot = ur5
    scene = load_scene("bookshelf_small", model=robot).compile(robot)
    for c in contact_derivatives(scene, robot.neutral(), margin=0.5):
        assert np.isfinite(c.rates.distance).all()
        # All parts of a robot except its base turn together about the first joint.
        if (
            c.A in robot.link_names
            and c.B in robot.link_names
            and "base_link_inertia" not in (c.A, c.B)
        ):
            assert c.rates.distance[0] == pytest.approx(0, abs=1e-12)


def test_refused(ur5):
    robot = ur5
    scene = Scene("empty").compile(robot)
    assert contact_derivatives(scene, robot.neutral()) == []
    with pytest.raises(SceneError, match="margin is -1"):
        contact_derivatives(scene, robot.neutral(), margin=-1)
    with pytest.raises(SceneError, match="smoothing is -1"):
        contact_derivatives(scene, robot.neutral(), smoothing=-1)
    with pytest.raises(SceneError, match="q"):
        contact_derivatives(scene, [0.0, 1.0])
