"""Robots with mirror symmetry: mirrored states have equal energies and distances."""

from __future__ import annotations

import numpy as np
import pytest

from robosim import load_robot

from .on_floor import floor

# Parts of names that the mirror at the x-z plane swaps.
SWAPS = {
    "quadruped": {"FL": "FR", "RL": "RR"},
    "ant": {"_1": "_4", "_2": "_3"},
    "drone": {"left": "right"},
    "humanoid": {"left": "right"},
    "race_car": {"left": "right"},
}
MIRROR = np.array(
    [1.0, -1.0, 1.0]
)  # of a position or a velocity; an axis of rotation also changes its sign


def partner(name, swaps):
    for a, b in swaps.items():
        for one, other in ((a, b), (b, a)):
            if one in name:
                return name.replace(one, other)
    return name


def mirrored_joints(robot, swaps):
    """Index of the partner and sign of the angle for each joint with a coordinate."""
    joints = {joint.name: joint for joint in robot.joints}
    names = [name for name in robot.joint_names if name in joints]  # without the floating base
    images = [joints[partner(name, swaps)] for name in names]
    signs = [
        -joints[name].axis * MIRROR @ image.axis for name, image in zip(names, images, strict=True)
    ]
    np.testing.assert_allclose(np.abs(signs), 1, rtol=0, atol=1e-15)
    return [names.index(image.name) for image in images], np.round(signs)


@pytest.fixture(params=SWAPS)
def robot(request):
    return load_robot(request.param, base="floating")


def image_of(robot, q, v):
    """Mirror image of a state of a free-flying robot."""
    order, signs = mirrored_joints(robot, SWAPS[robot.name])
    q_image, v_image = q.copy(), v.copy()
    q_image[:7] *= [1, -1, 1, -1, 1, -1, 1]
    v_image[:6] *= [1, -1, 1, -1, 1, -1]
    q_image[np.add(order, 7)] = signs * q[7:]
    v_image[np.add(order, 6)] = signs * v[6:]
    return q_image, v_image


def test_energies_and_distances_are_those_of_the_mirror_image(robot):
    rng = np.random.default_rng(0)
    world = floor().compile(robot)
    for _ in range(50):
        turn = rng.normal(size=4)
        joints = rng.uniform(
            *np.clip([robot.limits.lower[7:], robot.limits.upper[7:]], -np.pi, np.pi)
        )
        q = np.concatenate([rng.normal(size=3), turn / np.linalg.norm(turn), joints])
        v = rng.normal(size=robot.n_v)
        q_image, v_image = image_of(robot, q, v)
        # Masses and inertias have nine printed digits, equal on both sides: the rest is rounding.
        assert robot.kinetic_energy(q_image, v_image) == pytest.approx(
            robot.kinetic_energy(q, v), rel=1e-12
        )
        assert robot.potential_energy(q_image) == pytest.approx(
            robot.potential_energy(q), rel=1e-12, abs=1e-12
        )
        np.testing.assert_allclose(
            np.sort(world.distances(q_image)), np.sort(world.distances(q)), rtol=0, atol=1e-9
        )


def test_limits_are_those_of_the_mirror_image(robot):
    order, signs = mirrored_joints(robot, SWAPS[robot.name])
    limits = robot.limits
    ends = np.sort(signs * [limits.lower[7:], limits.upper[7:]], axis=0)
    np.testing.assert_array_equal(ends, [limits.lower[7:][order], limits.upper[7:][order]])
    for values in (limits.velocity, limits.acceleration, limits.effort):
        np.testing.assert_array_equal(values[6:], values[6:][order])


def test_postures_are_their_own_mirror_images(robot):
    for state in robot.named_states:
        q = robot.configuration(f"{state.group}/{state.name}")
        q_image, _ = image_of(robot, q, np.zeros(robot.n_v))
        if state.name != "left":  # the car's wheels, steered
            np.testing.assert_array_equal(q_image, q, err_msg=state.name)
