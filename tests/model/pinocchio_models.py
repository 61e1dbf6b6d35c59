"""Pinocchio models converted to robosim's, for comparison.

Joints are matched by name. Body frames become welded massless links.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import robosim
from robosim.model import Model, ModelBuilder

pin = pytest.importorskip(
    "pinocchio", reason="the peer that the dynamics are compared with, extra `bench`"
)

# 26 robots of PyPI's example-robot-data: arms, hands, humanoids, quadrupeds and wheels, with
# revolute joints about any axis, continuous, prismatic and mimic joints.
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

# Robots with links whose inertias no body can have; the bodies that fixed joints make of these
# links are valid.
REFUSED = ("anymal.urdf", "pr2.urdf", "tiago_dual.urdf")

# Pinocchio refuses its mimic joints, whose source comes later in the tree.
REFUSED_BY_PINOCCHIO = ("talos_full_v2.urdf",)


def robots_folder() -> Path:
    folder = Path(pin.__file__).parents[3].parent / "share/example-robot-data/robots"
    if not folder.is_dir():
        pytest.skip("example-robot-data is not installed")
    return folder


# A random joint of each kind that moves. The test battery runs over JointKind, and so requires an
# entry for each kind.
PEERS = {
    "revolute": lambda axis, pitch: pin.JointModelRevoluteUnaligned(axis),
    # Pinocchio's continuous joint about any axis accepts no axis from Python.
    "continuous": lambda axis, pitch: pin.JointModelRUBX(),
    "prismatic": lambda axis, pitch: pin.JointModelPrismaticUnaligned(axis),
    "helical": pin.JointModelHelicalUnaligned,
    "planar": lambda axis, pitch: pin.JointModelPlanar(),
    "floating": lambda axis, pitch: pin.JointModelFreeFlyer(),
}


def random_tree(kinds: list[str], seed: int) -> Case:
    """Random tree of these joints in both libraries."""
    rng = np.random.default_rng(seed)
    pin.seed(seed)
    source = pin.Model()
    index = 0
    for i, kind in enumerate(kinds):
        while index > 0 and rng.random() < 0.4:  # Pinocchio needs joints in depth-first order
            index = source.parents[index]
        axis = rng.normal(size=3)
        joint = PEERS[kind](axis / np.linalg.norm(axis), rng.uniform(-0.5, 0.5))
        index = source.addJoint(index, joint, pin.SE3.Random(), f"joint{i}")
        box = pin.Inertia.FromBox(rng.uniform(0.5, 3), *rng.uniform(0.1, 0.6, 3))
        source.appendBodyToJoint(index, box, pin.SE3.Random())
        source.addFrame(pin.Frame(f"body{i}", index, 0, pin.SE3.Random(), pin.FrameType.BODY))
        source.armature[source.joints[index].idx_v] = (
            rng.uniform(0, 0.2) if source.joints[index].nv == 1 else 0.0
        )
    model = convert(source)
    frames = {
        i: f"frame {frame.name}"
        for i, frame in enumerate(source.frames)
        if frame.name.startswith("body")
    }
    return Case(model, source, frames, [f"body of {name}" for name in source.names])


def axis_of(joint: pin.JointModel) -> tuple[str, np.ndarray, float | None]:
    """Kind, axis and pitch of a one-dimensional joint, from its motion subspace."""
    data = joint.createData()
    joint.calc(data, pin.neutral(one_joint(joint)), np.zeros(joint.nv))
    S = np.asarray(data.S).reshape(6)
    if not np.any(S[3:]):
        return "prismatic", S[:3], None
    if np.any(S[:3]):
        return "helical", S[3:], float(S[:3] @ S[3:])
    return ("continuous" if joint.nq == 2 else "revolute"), S[3:], None


def one_joint(joint: pin.JointModel) -> pin.Model:
    model = pin.Model()
    model.addJoint(0, joint, pin.SE3.Identity(), "only")
    return model


def convert(source: pin.Model, name: str = "robot", *, allow_massless: bool = False) -> Model:
    """Build the same mechanism with ModelBuilder.

    A free-flying root becomes an ordinary floating joint at the same place.
    """
    builder = ModelBuilder(name)
    link_of = ["world"]
    base = source.inertias[0]
    builder.add_link(
        "world", mass=base.mass, com=base.lever, inertia=(base.inertia + base.inertia.T) / 2
    )
    for i in range(1, source.njoints):
        inertia = source.inertias[i]
        link = f"body of {source.names[i]}"
        symmetric = (inertia.inertia + inertia.inertia.T) / 2
        symmetric[np.abs(symmetric) < 1e-15] = 0  # rounding, for bodies without inertia
        builder.add_link(link, mass=inertia.mass, com=inertia.lever, inertia=symmetric)
        joint = source.joints[i]
        several = {6: ("floating", None, None), 3: ("planar", None, None)}
        kind, axis, pitch = several.get(joint.nv) or axis_of(joint)
        builder.add_joint(
            source.names[i],
            kind,
            link_of[source.parents[i]],
            link,
            X_PJ=source.jointPlacements[i].homogeneous,
            axis=(0, 0, 1) if axis is None else axis,
            pitch=pitch,
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
    return builder.build(allow_massless=allow_massless).with_gravity(source.gravity.linear)


def load(path: Path, *, free_flying: bool, by_urdf: bool) -> Case:
    """Load a robot in both libraries.

    With URDF both libraries have mimic joints; the conversion makes mimic joints free.
    """
    root = (pin.JointModelFreeFlyer(),) if free_flying else ()
    if not by_urdf:
        source = pin.buildModelFromUrdf(str(path), *root)
        model = convert(source)
        frames = {i: f"frame {frame.name}" for i, frame in enumerate(source.frames)}
        bodies = [f"body of {name}" for name in source.names]
    else:
        text = without_geometry(path)
        source = pin.buildModelFromXML(text, *root, mimic=True)
        model = robosim.load_robot(
            text, base="floating" if free_flying else "fixed", srdf=False, joint_limits=False
        ).with_gravity(source.gravity.linear)
        frames = {i: frame.name for i, frame in enumerate(source.frames)}
        child = {joint.name: joint.child for joint in model.joints} | {
            "root_joint": model.root_link
        }
        bodies = [child.get(name, model.root_link) for name in source.names]
    known = {
        i: name
        for i, name in frames.items()
        if name in model.link_names and source.frames[i].type == pin.FrameType.BODY
    }
    return Case(model, source, known, bodies)


def without_geometry(path: Path) -> str:
    """Remove the shapes from the URDF.

    Loading their meshes takes seconds, and they do not affect the dynamics.
    """
    tree = ElementTree.parse(path).getroot()
    for link in tree.iter("link"):
        for part in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(part)
    return ElementTree.tostring(tree, encoding="unicode")


class Case:
    """Models of robosim and of Pinocchio, with coordinates matched by the joints' names.

    Attributes:
        model: robosim's model.
        source: Pinocchio's model.
        frames: robosim's link by Pinocchio's frame index.
        bodies: robosim's link at each of Pinocchio's joints.
    """

    def __init__(
        self, model: Model, source: pin.Model, frames: dict[int, str], bodies: list[str]
    ) -> None:
        self.model, self.source, self.frames, self.bodies = model, source, frames, bodies
        self.pairs = []
        for i in range(1, source.njoints):
            name = source.names[i]
            if model.floating_base and i == 1:
                name = model.joint_names[0]
            own = [k for k, n in enumerate(model.position_names) if n.split("/")[0] == name]
            own_v = [k for k, n in enumerate(model.velocity_names) if n.split("/")[0] == name]
            assert len(own_v) == source.joints[i].nv, name
            if own:
                self.pairs.append((source.joints[i], own, own_v))
        self.v_order = np.concatenate([own_v for _, _, own_v in self.pairs]).astype(int)
        assert sorted(self.v_order) == list(range(model.n_v))

    def q(self, q: np.ndarray) -> np.ndarray:
        """Configuration of Pinocchio.

        It has (cos, sin) for continuous joints and (x, y, cos, sin) for planar ones.
        """
        out = np.empty(self.source.nq)
        for joint, own, _ in self.pairs:
            values = q[own]
            if joint.nq == len(own) + 1:
                values = np.concatenate([values[:-1], [np.cos(values[-1]), np.sin(values[-1])]])
            out[joint.idx_q : joint.idx_q + joint.nq] = values
        return out

    def v(self, v: np.ndarray) -> np.ndarray:
        """Velocities of Pinocchio, along the last axis of an array."""
        return v[..., self.v_order]

    @property
    def has_mimic(self) -> bool:
        """True if a joint mimics another one."""
        return any(joint.mimic for joint in self.model.joints)
