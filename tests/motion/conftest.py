"""Robots, paths and oracles for the tests of inverse kinematics and timing."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import robosim
from robosim.geometry import pose
from robosim.model import ModelBuilder


@pytest.fixture(scope="session")
def ur5_ik():
    """Closed-form oracle tests/reference/ur5_ik.py."""
    path = Path(__file__).parent.parent / "reference" / "ur5_ik.py"
    spec = importlib.util.spec_from_file_location("ur5_ik", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def ur5():
    return robosim.load_robot("ur5")


def random_arm(seed, kinds, *, floating_base=False, effort=None, damping=0.0, friction=0.0):
    """Chain of massive links with random placements, axes and limits; the link "tip" is its tip."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder("arm", floating_base=floating_base)
    builder.add_link("link_0", mass=1.0, inertia=0.01 * np.eye(3))
    for i, kind in enumerate(kinds):
        inertia = np.diag(rng.uniform(0.01, 0.013, 3))
        builder.add_link(
            f"link_{i + 1}",
            mass=rng.uniform(0.5, 2),
            com=rng.normal(size=3) * 0.05,
            inertia=inertia,
        )
        mimic = None
        if kind == "mimic":
            kind, mimic = "revolute", (f"joint_{i - 1}", rng.uniform(-1, 1), rng.uniform(-1, 1))
        reach = 0.3 if kind == "prismatic" else 2.5
        bounds = {"lower": -reach, "upper": reach} if kind in ("revolute", "prismatic") else {}
        if kind == "planar":
            bounds = {"lower": [-1, -1, -2], "upper": [1, 1, 2]}
        builder.add_joint(
            f"joint_{i}",
            kind,
            f"link_{i}",
            f"link_{i + 1}",
            X_PJ=pose(rng.uniform(-0.3, 0.3, 3), rpy=rng.uniform(-np.pi, np.pi, 3)),
            axis=rng.normal(size=3),
            velocity=rng.uniform(1, 4),
            acceleration=rng.uniform(4, 20),
            effort=effort,
            damping=damping,
            friction=friction,
            mimic=mimic,
            **bounds,
        )
    builder.add_link("tip")
    builder.add_joint("tip", "fixed", f"link_{len(kinds)}", "tip", X_PJ=pose((0.1, 0.2, 0.05)))
    return builder.build()


@pytest.fixture(scope="session")
def make_arm():
    return random_arm


def blend_polyline(waypoints, fraction=0.4):
    """Polyline with corners rounded by quadratic Bezier curves.

    A curve covers `fraction` of the shorter edge.
    """
    points = np.asarray(waypoints, dtype=float)
    edges = np.diff(points, axis=0)
    lengths = np.linalg.norm(edges, axis=1)
    u = edges / lengths[:, None]
    cut = np.zeros(len(points))
    cut[1:-1] = fraction * np.minimum(lengths[:-1], lengths[1:])
    breaks, c = [0.0], []
    for i in range(len(edges)):
        straight = lengths[i] - cut[i] - cut[i + 1]
        if straight > 1e-12:
            c.append([points[i] + u[i] * cut[i], u[i], 0 * u[i]])
            breaks.append(breaks[-1] + straight)
        if i + 1 < len(edges) and cut[i + 1] > 0:
            d = cut[i + 1]
            c.append([points[i + 1] - d * u[i], u[i], (u[i + 1] - u[i]) / (4 * d)])
            breaks.append(breaks[-1] + 2 * d)
    return np.array(breaks), np.array(c)


@pytest.fixture(scope="session")
def blend():
    return blend_polyline
