"""The UR5's primitive colliders against a mesh of the real arm's surface, if one is installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robosim import load_robot
from robosim.geometry import Shape, signed_distance
from robosim.meshes import load_mesh

DATA = Path(__file__).parents[3] / "shared" / "data" / "ur5_mbm" / "robot"
MESHES = {
    "base_link_inertia": ("base_link", "base"),
    "shoulder_link": ("shoulder_link", "shoulder"),
    "upper_arm_link": ("upper_arm_link", "upperarm"),
    "forearm_link": ("forearm_link", "forearm"),
    "wrist_1_link": ("wrist_1_link", "wrist1"),
    "wrist_2_link": ("wrist_2_link", "wrist2"),
    "wrist_3_link": ("wrist_3_link", "wrist3"),
}

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data/ur5_mbm is absent")


@pytest.fixture(scope="module")
def placements():
    """Pose of each link in the corresponding link of the older description with meshes.

    Both arms are stretched out at zero.
    """
    ours = load_robot("ur5")
    real = load_robot(
        DATA / "ur5.urdf",
        srdf=DATA / "ur5.srdf",
        package_dirs=[DATA],
        visuals=False,
        filter_self_collisions=False,
    )
    at_zero, real_at_zero = ours.link_poses(np.zeros(6)), real.link_poses(np.zeros(6))
    X_RO = np.linalg.inv(real_at_zero["base_link"])
    return ours, {
        link: np.linalg.inv(at_zero[link]) @ X_RO @ real_at_zero[theirs]
        for link, (theirs, _) in MESHES.items()
    }


@pytest.mark.parametrize("link", MESHES)
def test_colliders_cover_the_mesh_closely(link, placements):
    model, X_LM = placements
    mesh = load_mesh(DATA / "meshes" / "ur5" / "collision" / f"{MESHES[link][1]}.stl")
    rng = np.random.default_rng(0)
    # Points distributed uniformly over the surface.
    a, b, c = mesh.triangles.transpose(1, 0, 2)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    chosen = rng.choice(len(a), 800, p=area / area.sum())
    u, v = rng.random((2, 800, 1))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    points = a[chosen] + u * (b - a)[chosen] + v * (c - a)[chosen]
    points = points @ X_LM[link][:3, :3].T + X_LM[link][:3, 3]

    colliders = [
        (collider.shape, collider.X_LC) for collider in model.colliders if collider.link == link
    ]
    speck, X = Shape.sphere(1e-9), np.eye(4)
    outside = []
    for point in points:
        X[:3, 3] = point
        outside.append(
            min(signed_distance(speck, X, shape, X_LC).distance for shape, X_LC in colliders)
        )
    # No part of the arm sticks out by a centimeter. Because of the stand-off, most of the surface
    # lies slightly inside.
    assert max(outside) < 0.010
    assert np.mean(outside) > -0.012
