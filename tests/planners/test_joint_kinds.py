"""Every kind of joint that a plan may move, planned end to end. All of `JointKind` are included."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from robosim.geometry import Shape, pose
from robosim.model import JointKind, Model, ModelBuilder
from robosim.planners import JointGoal, PoseGoal, Problem, plan
from robosim.scene import Scene

INERTIA = np.diag([0.01, 0.01, 0.01])
# Kinds that no plan moves are left out.
KINDS = [kind for kind in get_args(JointKind) if kind not in ("fixed", "floating")]


def robot(kind: JointKind) -> Model:
    """Two joints of this kind with crossed axes, each with an arm to the side."""
    builder = ModelBuilder(kind)
    builder.add_link("base")
    parent = "base"
    for i, axis in enumerate([(0, 0, 1), (0, 1, 0)]):
        builder.add_link(f"arm{i}", mass=1.0, com=(0.2, 0, 0), inertia=INERTIA)
        shape = Shape.capsule(0.03, 0.4)
        builder.add_collider(f"arm{i}", shape, X_LC=pose((0.25, 0, 0), rpy=(0, np.pi / 2, 0)))
        bounds = {} if kind == "continuous" else {"lower": -1.3, "upper": 1.3}
        builder.add_joint(
            f"joint{i}",
            kind,
            parent,
            f"arm{i}",
            axis=axis,
            X_PJ=pose((0.5 * i, 0, 0.1 * i)),
            pitch=0.25 if kind == "helical" else None,
            velocity=1.5,
            acceleration=3.0,
            effort=60.0,
            damping=0.3,
            **bounds,
        )
        parent = f"arm{i}"
    return builder.build()


@pytest.mark.parametrize("kind", KINDS)
def test_plans_round_an_obstacle_to_positions_and_poses(kind, check_plan):
    """A ball is in the way. The plan avoids it within all limits, and a pose is reached.

    Limits include torques.
    """
    model = robot(kind)
    end = np.full(model.n_q, 0.9)
    end[-1] = -0.5  # changes only the angle of a planar joint
    start = -end
    scene = Scene("ball")
    scene.add_sphere(
        "ball", 0.05, model.frame_pose(0.5 * (start + end), "arm1") @ pose((0.4, 0, 0))
    )
    problem = Problem(model, scene, start, JointGoal(end))
    result = plan(problem, seed=1)
    check_plan(problem, result)
    assert len(result.path) > 2
    goal = PoseGoal("arm1", model.frame_pose(end, "arm1"))
    posed = Problem(model, scene, start, goal)
    reached = plan(posed, seed=1)
    check_plan(posed, reached)
    q = reached.configuration(reached.trajectory.duration)
    # 1e-6 m and rad per axis.
    np.testing.assert_allclose(model.frame_pose(q, "arm1"), goal.pose, atol=5e-6)
