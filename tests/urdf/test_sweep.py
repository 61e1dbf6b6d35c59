"""Robots of example-robot-data load with their meshes, or are refused with file and line."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from robosim.urdf import load_robot

from ..scale import some  # noqa: TID252 (tests have no absolute name)

_spec = importlib.util.spec_from_file_location("sweep", Path(__file__).with_name("sweep.py"))
sweep = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sweep)


def test_example_robots(example_robots):
    paths = sorted(example_robots.rglob("*.urdf"))
    assert len(paths) >= 60
    outcomes = Counter()
    for path in paths:
        # Meshes that an installation leaves out are skipped.
        outcome, message = sweep.sweep_one(path, package_dirs=[], skip=True)
        assert outcome != "defect", f"{path}: {message}"
        if outcome == "refused":
            assert str(example_robots) in message
        outcomes[outcome] += 1
    # Refused: a file without links, and one whose joint refers to a missing link.
    assert outcomes["refused"] <= 2


def test_against_pinocchio(example_robots):
    """Link poses of each robot, and mass matrix and forces if its dynamics are valid."""
    pytest.importorskip("pinocchio", reason="pinocchio is not installed")
    from . import against_pinocchio

    compared = Counter()
    for path in some(sorted(example_robots.rglob("*.urdf")), 16):
        outcome, _ = sweep.sweep_one(path, package_dirs=[], skip=True)
        peer = against_pinocchio.read(path)
        if outcome != "loaded" or peer is None:
            continue
        model = load_robot(path, filter_self_collisions=False, missing_meshes="skip")
        found = against_pinocchio.deviation(model, peer)
        # Both libraries compute in float64 from the same text. Forces of many links are sums with
        # cancellation.
        assert found.kinematics < 1e-13, path
        assert found.dynamics is None or found.dynamics < 1e-9, path
        compared[found.dynamics is not None] += 1
    assert compared[True] >= compared[False]
    assert compared.total() >= 12


@pytest.mark.parametrize(
    "name",
    [
        "ur_description/urdf/ur5_robot.urdf",
        "panda_description/urdf/panda.urdf",
        "so_arm_description/urdf/so101.urdf",
        "double_pendulum_description/urdf/double_pendulum.urdf",
    ],
)
def test_against_yourdfpy(example_robots, name):
    """Another reader of the same files.

    Names, types, limits, and all link poses at random configurations agree.
    """
    yourdfpy = pytest.importorskip("yourdfpy", reason="yourdfpy is not installed")
    path = example_robots / name
    theirs = yourdfpy.URDF.load(str(path), load_meshes=False, build_scene_graph=True)
    ours = load_robot(path, filter_self_collisions=False)
    assert set(ours.joint_names) == set(theirs.actuated_joint_names) - {
        j.name for j in theirs.robot.joints if j.mimic is not None
    }
    assert {k.name for k in theirs.robot.links} == set(ours.link_names)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q = ours.random_configuration(rng)
        values = dict(zip(ours.joint_names, q, strict=True))
        theirs.update_cfg({n: values[n] for n in theirs.actuated_joint_names if n in values})
        poses = ours.link_poses(q)
        for link in ours.link_names:
            # yourdfpy computes in float64 from the same text.
            np.testing.assert_allclose(poses[link], theirs.get_transform(link), atol=1e-12)


def test_yourdfpy_objects_load(example_robots):
    yourdfpy = pytest.importorskip("yourdfpy", reason="yourdfpy is not installed")
    path = example_robots / "ur_description/urdf/ur5_robot.urdf"
    read = yourdfpy.URDF.load(str(path), load_meshes=False, build_scene_graph=False)
    from_object = load_robot(
        read, package_dirs=[example_robots.parent], filter_self_collisions=False
    )
    from_file = load_robot(path, filter_self_collisions=False)
    assert from_object.link_names == from_file.link_names
    q = from_file.random_configuration(np.random.default_rng(1))
    np.testing.assert_allclose(from_object.mass_matrix(q), from_file.mass_matrix(q), rtol=1e-12)


@pytest.mark.parametrize("robot", ["panda", "ur5", "solo", "kinova"])
def test_srdf_of_others(example_robots, robot):
    """Groups, states and disabled pairs of published SRDFs, or a refusal with file and line."""
    folder = example_robots / f"{robot if robot != 'ur5' else 'ur'}_description"
    urdf = {
        "panda": "urdf/panda.urdf",
        "ur5": "urdf/ur5_robot.urdf",
        "solo": "robots/solo12.urdf",
        "kinova": "robots/kinova.urdf",
    }[robot]
    outcome = sweep.outcome(
        lambda: load_robot(
            folder / urdf, srdf=folder / f"srdf/{robot}.srdf", filter_self_collisions=False
        )
    )
    assert outcome[0] != "defect", outcome[1]
