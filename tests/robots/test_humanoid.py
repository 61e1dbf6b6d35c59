"""Segments of the humanoid are those of the anthropometric table."""

from __future__ import annotations

import numpy as np
import pytest

from robosim import load_robot

MASS, STATURE = 73.0, 1.741
# de Leva (1996), table 4, men: fraction of the mass, length [m], center as a fraction of the length
# from the upper end (of the foot from the heel), radii of gyration as fractions of the length,
# about x, y and z as the humanoid stands, and the segment's links.
TABLE = {
    "lower trunk": (0.1117, 0.1457, 0.6115, (0.615, 0.551, 0.587), ["pelvis"]),
    "middle trunk": (
        0.1633,
        0.2155,
        0.4502,
        (0.482, 0.383, 0.468),
        ["lumbar_1", "lumbar_2", "abdomen"],
    ),
    "upper trunk": (0.1596, 0.1707, 0.2999, (0.716, 0.454, 0.659), ["thorax_1", "thorax"]),
    "head": (0.0694, 0.2033, 0.5976, (0.362, 0.376, 0.312), ["neck_1", "neck_2", "head"]),
    "upper arm": (
        0.0271,
        0.2817,
        0.5772,
        (0.285, 0.269, 0.158),
        ["*_shoulder_1", "*_shoulder_2", "*_upper_arm"],
    ),
    "forearm": (0.0162, 0.2689, 0.4574, (0.276, 0.265, 0.121), ["*_forearm_1", "*_forearm"]),
    "hand": (0.0061, 0.0862, 0.79, (0.628, 0.513, 0.401), ["*_wrist", "*_hand"]),
    "thigh": (0.1416, 0.4222, 0.4095, (0.329, 0.329, 0.149), ["*_hip_1", "*_hip_2", "*_thigh"]),
    "shank": (0.0433, 0.4340, 0.4459, (0.255, 0.249, 0.103), ["*_shank"]),
    "foot": (0.0137, 0.2581, 0.4415, (0.124, 0.245, 0.257), ["*_ankle", "*_foot"]),
}


@pytest.fixture(scope="module")
def robot():
    return load_robot("humanoid")


def composite(robot, names):
    """Mass, center in the root's frame, and inertia about the center, of some links at zero."""
    poses = robot.link_poses(np.zeros(robot.n_q))
    links = [link for link in robot.links if link.name in names]
    assert len(links) == len(names)
    mass = sum(link.mass for link in links)
    # All frames are parallel at zero.
    centers = [poses[link.name][:3, 3] + link.com for link in links]
    center = sum(link.mass * c for link, c in zip(links, centers, strict=True)) / mass
    inertia = np.zeros((3, 3))
    for link, c in zip(links, centers, strict=True):
        r = c - center
        inertia += link.inertia + link.mass * (r @ r * np.eye(3) - np.outer(r, r))
    return mass, center, inertia


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("segment", TABLE)
def test_each_segment_is_that_of_the_table(robot, segment, side):
    share, length, center, radii, links = TABLE[segment]
    names = [name.replace("*", side) for name in links]
    mass, where, inertia = composite(robot, names)
    assert mass == pytest.approx(share * MASS, rel=1e-9)
    np.testing.assert_allclose(
        inertia, mass * np.diag(np.square(radii)) * length**2, rtol=0, atol=1e-8
    )
    joint = robot.frame_pose(np.zeros(robot.n_q), names[-1])[:3, 3]
    if segment == "foot":
        assert where[0] - joint[0] == pytest.approx(center * length - 0.065, abs=1e-8)
    elif "trunk" in segment:
        assert where[2] - joint[2] == pytest.approx((1 - center) * length, abs=1e-8)
    elif segment != "head":
        assert joint[2] - where[2] == pytest.approx(center * length, abs=1e-8)


def test_it_is_as_tall_as_the_table_says(robot):
    at_zero = robot.link_poses(np.zeros(robot.n_q))
    ends = []
    for collider in robot.colliders:
        if collider.link in ("head", "left_foot"):
            (lower, upper) = extent(collider)
            z = at_zero[collider.link][2, 3] + collider.X_LC[2, 3]
            ends += [z + lower, z + upper]
    assert max(ends) - min(ends) == pytest.approx(STATURE, abs=1e-3)


def extent(collider):
    """Lower and upper end of a ball or of an unrotated box, relative to its center."""
    half = collider.shape.radius if collider.link == "head" else collider.shape.size[2] / 2
    return -half, half


def test_every_joint_is_named_for_its_axis(robot):
    axes = {"roll": (1, 0, 0), "pitch": (0, 1, 0), "yaw": (0, 0, 1), "knee": (0, 1, 0)}
    moving = [joint for joint in robot.joints if joint.kind != "fixed"]
    assert len(moving) == 34
    for joint in moving:
        np.testing.assert_array_equal(
            joint.axis, axes[joint.name.split("_")[-1]], err_msg=joint.name
        )
