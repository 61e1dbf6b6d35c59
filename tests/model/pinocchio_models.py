"""Pinocchio models turned into ours, for comparison: joints by name, body frames as welded massless links."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robosim.model import Model, ModelBuilder

pin = pytest.importorskip("pinocchio", reason="the peer that the dynamics are compared with, extra `bench`")

# 24 robots of PyPI's example-robot-data: arms, hands, humanoids, quadrupeds, wheels; revolute joints about any axis,
# continuous and prismatic ones. Left out are those whose inertias no body can have, which ModelBuilder refuses.
ROBOTS = (
    "a1_description/urdf/a1.urdf",
    "alexander_description/urdf/alexander_v1.lowerBodyOnly.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "asr_twodof_description/urdf/TwoDofs.urdf",
    "baxter_description/urdf/baxter.urdf",
    "borinot_description/urdf/borinot_flying_arm_2.urdf",
    "centauro_description/urdf/centauro.urdf",
    "double_pendulum_description/urdf/double_pendulum.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "finger_edu_description/robots/finger_edu.urdf",
    "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
    "go2_description/urdf/go2.urdf",
    "iris_description/robots/iris.urdf",
    "kinova_description/robots/kinova.urdf",
    "laikago_description/urdf/laikago.urdf",
    "panda_description/urdf/panda.urdf",
    "pr2_description/urdf/pr2.urdf",
    "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "so_arm_description/urdf/so101.urdf",
    "solo_description/robots/solo12.urdf",
    "talos_data/robots/talos_full_v2.urdf",
    "tiago_description/robots/tiago_dual.urdf",
    "tiago_pro_description/robots/tiago_pro.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "xarm_description/urdf/xarm7.urdf",
    "z1_description/urdf/z1.urdf",
)


def robots_folder() -> Path:
    folder = Path(pin.__file__).parents[3].parent / "share/example-robot-data/robots"
    if not folder.is_dir():
        pytest.skip("example-robot-data is not installed")
    return folder


def axis_of(joint: pin.JointModel) -> tuple[str, np.ndarray]:
    """Kind and axis of a one-dimensional joint, read off its motion subspace."""
    data = joint.createData()
    joint.calc(data, pin.neutral(one_joint(joint)), np.zeros(joint.nv))
    S = np.asarray(data.S).reshape(6)
    if np.any(S[:3]):
        return "prismatic", S[:3]
    return ("continuous" if joint.nq == 2 else "revolute"), S[3:]


def one_joint(joint: pin.JointModel) -> pin.Model:
    model = pin.Model()
    model.addJoint(0, joint, pin.SE3.Identity(), "only")
    return model


def convert(source: pin.Model, name: str = "robot") -> Model:
    """The same mechanism by ModelBuilder. A free-flying root keeps its place as an ordinary floating joint."""
    builder = ModelBuilder(name)
    link_of = ["world"]
    builder.add_link("world", mass=0)
    for i in range(1, source.njoints):
        inertia = source.inertias[i]
        link = f"body of {source.names[i]}"
        symmetric = (inertia.inertia + inertia.inertia.T) / 2
        builder.add_link(link, mass=inertia.mass, com=inertia.lever, inertia=symmetric)
        joint = source.joints[i]
        kind, axis = {6: ("floating", None), 3: ("planar", None)}.get(joint.nv) or axis_of(joint)
        builder.add_joint(
            source.names[i],
            kind,
            link_of[source.parents[i]],
            link,
            X_PJ=source.jointPlacements[i].homogeneous,
            axis=(0, 0, 1) if axis is None else axis,
            armature=source.armature[joint.idx_v],
        )
        link_of.append(link)
    for frame in source.frames:
        if frame.type == pin.FrameType.BODY and frame.name not in ("world", "universe"):
            builder.add_link(f"frame {frame.name}")
            builder.add_joint(
                f"weld of {frame.name}",
                "fixed",
                link_of[frame.parentJoint],
                f"frame {frame.name}",
                X_PJ=frame.placement.homogeneous,
            )
    return builder.build().with_gravity(source.gravity.linear)


class Mapping:
    """Moves coordinates between a model of ours and Pinocchio's, matching joints by name."""

    def __init__(self, model: Model, source: pin.Model) -> None:
        self.source = source
        self.pairs = []
        for i in range(1, source.njoints):
            own = [k for k, n in enumerate(model.position_names) if n.split("/")[0] == source.names[i]]
            own_v = [k for k, n in enumerate(model.velocity_names) if n.split("/")[0] == source.names[i]]
            assert len(own_v) == source.joints[i].nv, source.names[i]
            self.pairs.append((source.joints[i], own, own_v))
        self.v_order = np.concatenate([own_v for _, _, own_v in self.pairs]).astype(int)

    def q(self, q: np.ndarray) -> np.ndarray:
        """Theirs: (cos, sin) for continuous joints, (x, y, cos, sin) for planar ones."""
        out = np.empty(self.source.nq)
        for joint, own, _ in self.pairs:
            values = q[own]
            if joint.nq == len(own) + 1:
                values = np.concatenate([values[:-1], [np.cos(values[-1]), np.sin(values[-1])]])
            out[joint.idx_q : joint.idx_q + joint.nq] = values
        return out

    def v(self, v: np.ndarray) -> np.ndarray:
        """Theirs, of the last axis of an array."""
        return v[..., self.v_order]
