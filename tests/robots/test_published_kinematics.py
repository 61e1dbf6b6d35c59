"""Forward kinematics of bundled robots against their makers' publications.

Arms are compared with Denavit-Hartenberg tables, the quadruped with its maker's description.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from robosim import load_robot

PI = np.pi

# Classic convention: a [m], d [m], alpha [rad] of Rz(q) Tz(d) Tx(a) Rx(alpha).
UR = {
    "ur5": [
        (0, 0.089159, PI / 2),
        (-0.425, 0, 0),
        (-0.39225, 0, 0),
        (0, 0.10915, PI / 2),
        (0, 0.09465, -PI / 2),
        (0, 0.0823, 0),
    ],
    "ur5e": [
        (0, 0.1625, PI / 2),
        (-0.425, 0, 0),
        (-0.3922, 0, 0),
        (0, 0.1333, PI / 2),
        (0, 0.0997, -PI / 2),
        (0, 0.0996, 0),
    ],
}
# Craig's convention: a, d, alpha of Rx(alpha) Tx(a) Rz(q) Tz(d), the last row the flange.
PANDA = [
    (0, 0.333, 0),
    (0, 0, -PI / 2),
    (0, 0.316, PI / 2),
    (0.0825, 0, PI / 2),
    (-0.0825, 0.384, -PI / 2),
    (0, 0, PI / 2),
    (0.088, 0, PI / 2),
]


def rotation(axis: int, angle: float) -> np.ndarray:
    X = np.eye(4)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    X[i, i] = X[j, j] = np.cos(angle)
    X[j, i], X[i, j] = np.sin(angle), -np.sin(angle)
    return X


def translation(axis: int, length: float) -> np.ndarray:
    X = np.eye(4)
    X[axis, 3] = length
    return X


@pytest.mark.parametrize("name", UR)
def test_ur_flange_is_the_published_product(name):
    model = load_robot(name)
    rng = np.random.default_rng(0)
    for _ in range(50):
        q = rng.uniform(model.limits.lower, model.limits.upper)
        expected = np.eye(4)
        for angle, (a, d, alpha) in zip(q, UR[name], strict=True):
            expected = (
                expected
                @ rotation(2, angle)
                @ translation(2, d)
                @ translation(0, a)
                @ rotation(0, alpha)
            )
        found = np.linalg.inv(model.frame_pose(q, "base")) @ model.frame_pose(q, "tool0")
        # Twelve products of matrices whose angles are written with 16 digits.
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_panda_flange_is_the_published_product():
    model = load_robot("panda")
    rng = np.random.default_rng(0)
    for _ in range(50):
        q = rng.uniform(model.limits.lower, model.limits.upper)
        expected = np.eye(4)
        for angle, (a, d, alpha) in zip(q, PANDA, strict=True):
            expected = (
                expected
                @ rotation(0, alpha)
                @ translation(0, a)
                @ rotation(2, angle)
                @ translation(2, d)
            )
        expected = expected @ translation(2, 0.107)
        np.testing.assert_allclose(model.frame_pose(q, "panda_link8"), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", UR)
def test_ur_frames_are_those_of_ros(name):
    """REP 199's base_link is the controller's base rotated by pi; the flange's x points out.

    Names are those of ur_description.
    """
    model = load_robot(name)
    assert model.joint_names == (
        "shoulder_pan_joint",
        "shoulder_lift_joint",
        "elbow_joint",
        "wrist_1_joint",
        "wrist_2_joint",
        "wrist_3_joint",
    )
    q = np.array([0.1, -1.2, 0.7, 0.3, -0.4, 2.0])
    np.testing.assert_allclose(model.frame_pose(q, "base"), rotation(2, PI), rtol=0, atol=1e-15)
    tool, flange = model.frame_pose(q, "tool0"), model.frame_pose(q, "flange")
    np.testing.assert_allclose(flange[:3, 0], tool[:3, 2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(flange[:3, 3], tool[:3, 3], rtol=0, atol=1e-15)
    # At zero the arm lies along base_link's x, as in RViz.
    assert model.frame_pose(np.zeros(6), "wrist_1_link")[0, 3] == pytest.approx(
        0.425 + 0.3922, abs=1e-4
    )


def test_published_limits():
    ur5, panda = load_robot("ur5").limits, load_robot("panda").limits
    np.testing.assert_allclose(ur5.upper, [2 * PI, 2 * PI, PI, 2 * PI, 2 * PI, 2 * PI])
    np.testing.assert_allclose(ur5.lower, -ur5.upper)
    np.testing.assert_allclose(ur5.velocity, PI)
    np.testing.assert_allclose(ur5.effort, [150, 150, 150, 28, 28, 28])
    np.testing.assert_allclose(ur5.acceleration, 5)
    np.testing.assert_allclose(
        panda.upper, [2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973]
    )
    np.testing.assert_allclose(
        panda.lower, [-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973]
    )
    np.testing.assert_allclose(panda.velocity, [2.175] * 4 + [2.61] * 3)
    np.testing.assert_allclose(panda.acceleration, [15, 7.5, 10, 12.5, 15, 20, 20])
    np.testing.assert_allclose(panda.effort, [87] * 4 + [12] * 3)


def test_the_quadruped_moves_as_its_maker_describes_it():
    """The A1's URDF of the PyPI package example-robot-data: names, feet and limits.

    It is an older one with heavier legs.
    """
    try:
        files = metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    data = "cmeel.prefix/share/example-robot-data/robots/a1_description/urdf/a1.urdf"
    theirs = load_robot(
        Path(str(files.locate_file(data))), srdf=False, visuals=False, filter_self_collisions=False
    )
    ours = load_robot("quadruped")
    assert set(ours.joint_names) == set(theirs.joint_names)
    order = [theirs.joint_names.index(name) for name in ours.joint_names]
    rng = np.random.default_rng(0)
    for _ in range(50):
        q = ours.random_configuration(rng)
        q_theirs = np.empty(12)
        q_theirs[order] = q
        for leg in ("FR", "FL", "RR", "RL"):
            for part in ("hip", "thigh", "calf", "foot"):
                np.testing.assert_allclose(
                    ours.frame_pose(q, f"{leg}_{part}"),
                    theirs.frame_pose(q_theirs, f"{leg}_{part}"),
                    rtol=0,
                    atol=1e-14,
                )
    for limit in ("lower", "upper", "velocity", "effort"):
        np.testing.assert_allclose(
            getattr(ours.limits, limit), getattr(theirs.limits, limit)[order], rtol=1e-15
        )
