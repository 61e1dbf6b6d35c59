"""Map the poses that an arm on a table can reach.

The map shows for each point the fraction of directions in which the tool can be there. `--plot
FILE` draws it (needs matplotlib).
"""

import argparse

import numpy as np
from scipy.spatial.transform import Rotation

import robosim
from robosim.geometry import pose
from robosim.planners import IkStatus, inverse_kinematics_many
from robosim.scene import Scene

parser = argparse.ArgumentParser()
parser.add_argument("--points", type=int, default=25, help="along each axis")
parser.add_argument("--plot", metavar="FILE", help="draw the map")
options = parser.parse_args()

robot = robosim.load_robot("ur5e")
table = Scene("table")
table.add_box("table", (3, 3, 0.1), pose((0, 0, -0.06)))

# Poses of the tool at the points of an upright plane, in 24 orientations each, and which are
# solved.
x, z = np.meshgrid(np.linspace(-1.2, 1.2, options.points), np.linspace(-0.2, 1.3, options.points))
poses = np.tile(np.eye(4), (x.size, 24, 1, 1))
poses[..., :3, :3] = Rotation.create_group("O").as_matrix()
poses[..., 0, 3], poses[..., 2, 3] = x.reshape(-1, 1), z.reshape(-1, 1)
found = inverse_kinematics_many(robot, "tool0", poses.reshape(-1, 4, 4), scene=table)
share = found.solved.reshape(-1, 24).mean(axis=1).reshape(x.shape)

count = np.bincount(found.status, minlength=len(IkStatus))
print(
    f"{len(found)} poses:",
    ", ".join(f"{n} {IkStatus(i).name.lower()}" for i, n in enumerate(count)),
)
for row in np.linspace(options.points - 1, 0, 7).astype(int):
    mean, best = 100 * share[row].mean(), 100 * share[row].max()
    print(
        f"at a height of {z[row, 0]:5.2f} m: {mean:3.0f} % of all poses, {best:3.0f} % at the best"
        " point"
    )
print(found.reason(int(np.argmax(found.status == IkStatus.OUT_OF_REACH))))

if options.plot:
    import matplotlib.pyplot as plt

    plt.pcolormesh(x, z, share, vmin=0, vmax=1, shading="nearest")
    plt.colorbar(label="share of 24 orientations reached")
    plt.gca().set(aspect="equal", xlabel="x [m]", ylabel="z [m]")
    plt.savefig(options.plot, dpi=100, bbox_inches="tight")
