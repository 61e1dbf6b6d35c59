"""Load a robot of your own from a URDF, or build it in Python without a file."""

import numpy as np

import robosim
from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder
from robosim.planners import Problem, plan
from robosim.scene import Scene

URDF = """
<robot name="lift">
  <link name="base"/>
  <link name="carriage">
    <inertial>
      <mass value="2"/><inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision>
  </link>
  <joint name="lift" type="prismatic">
    <parent link="base"/><child link="carriage"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="1" velocity="0.5" effort="100"/>
  </joint>
</robot>
"""
lift = robosim.load_robot(URDF)  # a path to a .urdf or .xacro file works the same way
print("holding the carriage takes", lift.gravity(lift.neutral()), "N")

# A planar arm with two links, built in Python.
builder = ModelBuilder("two_link")
builder.add_link("base", mass=1.0, inertia=np.eye(3) * 1e-3)
for name, parent, x in (("upper", "base", 0.0), ("lower", "upper", 0.4)):
    builder.add_link(name, mass=1.0, com=(0.2, 0, 0), inertia=np.diag([1e-3, 0.014, 0.014]))
    builder.add_collider(
        name, Shape.capsule(0.03, 0.34), X_LC=pose((0.2, 0, 0), rpy=(0, np.pi / 2, 0))
    )
    builder.add_joint(
        f"{name}_joint",
        "revolute",
        parent,
        name,
        X_PJ=pose((x, 0, 0)),
        axis=(0, 0, 1),
        lower=-np.pi,
        upper=np.pi,
        velocity=2.0,
        effort=20.0,
        acceleration=8.0,
    )
arm = builder.build()

scene = Scene("post")
scene.add_cylinder("post", 0.05, 0.5, pose((0.55, 0.0, 0)))
result = plan(Problem(arm, scene, start=[-0.9, 0.0], goal=[0.9, 0.0]))
print(result.status.value, f"{result.trajectory.duration:.2f} s around the post")
