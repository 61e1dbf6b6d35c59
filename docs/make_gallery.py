"""Draw the pictures of collision geometry: `python docs/make_gallery.py`.

Writes two files into docs/images. manifolds.png shows every pair of shapes, A below, B lowered
until it overlaps with A by 2 mm. It shows the contact points, and at each point the normal from A
to B. smoothing.png shows the effect of smoothing on a box. Every type of shape needs a row in
EXAMPLES.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from robosim.geometry import (
    Shape,
    contact_manifold,
    pose,
    shape_sizes,
    signed_distance,
    smoothed_distance,
)
from robosim.viewer.meshing import shape_mesh

IMAGES = Path(__file__).resolve().parent / "images"
MARGIN = 0.01  # [m]
DEPTH = 0.002  # [m]
HALF_WIDTH = 0.55  # of the square in place of a half-space [m]
SMOOTHINGS = (0.001, 0.004, 0.016)  # [m]

PRISM = [
    (0.4 * np.cos(a), 0.4 * np.sin(a), z) for z in (-0.15, 0.15) for a in np.arange(5) * 0.4 * np.pi
]
UP, OVER = (0.0, 0.0, 0.0), (np.pi, 0.0, 0.0)
LYING = (0.0, np.pi / 2, 0.0)
ON_MANTLE = (0.0, np.pi / 2 + np.arctan2(0.2, 0.5), 0.0)  # a cone
# The shape, its orientation below, and its orientation on top.
EXAMPLES = {
    "sphere": (Shape.sphere(0.3), UP, UP),
    "box": (Shape.box((0.7, 0.6, 0.3)), UP, UP),
    "capsule": (Shape.capsule(0.15, 0.6), LYING, LYING),
    "cylinder": (Shape.cylinder(0.2, 0.5), UP, LYING),
    "half_space": (Shape.half_space(), UP, OVER),
    "convex": (Shape.convex(PRISM), UP, UP),
    "ellipsoid": (Shape.ellipsoid((0.4, 0.3, 0.2)), UP, UP),
    "cone": (Shape.cone(0.2, 0.5), OVER, ON_MANTLE),
    "triangle": (
        Shape.triangle([(-0.4, -0.3, 0), (0.4, -0.3, 0), (0, 0.4, 0)], rounding=0.02),
        UP,
        UP,
    ),
}


def main() -> None:
    """Draw both pictures."""
    manifolds(IMAGES / "manifolds.png")
    smoothing(IMAGES / "smoothing.png")


def manifolds(path: Path) -> None:
    """Draw one panel for each pair."""
    pairs = list(itertools.combinations_with_replacement(shape_sizes(), 2))
    columns = 6
    rows = -(-len(pairs) // columns)
    figure = plt.figure(figsize=(2.1 * columns, 2.1 * rows), layout="constrained")
    for i, (lower, upper) in enumerate(pairs):
        axes = figure.add_subplot(rows, columns, i + 1, projection="3d", computed_zorder=False)
        draw(axes, *((upper, lower) if upper == "half_space" else (lower, upper)))
    figure.savefig(path, dpi=72)
    plt.close(figure)
    print(f"{path.name}: {len(pairs)} pairs, {path.stat().st_size / 1024:.0f} kB")


def smoothing(path: Path) -> None:
    """Plot the nearest point of a tilting box over the ground, and outlines of the smoothed box."""
    ground, box = Shape.half_space(), Shape.box((0.4, 0.3, 0.2))
    figure, (over_tilt, outline) = plt.subplots(1, 2, figsize=(9.5, 3.4), layout="constrained")
    tilts = np.deg2rad(np.linspace(-12, 12, 481))
    poses = [pose((0, 0, 0.2), rpy=(0, tilt, 0)) for tilt in tilts]
    exact = [signed_distance(ground, pose(), box, X).p_WB[0] for X in poses]
    over_tilt.plot(np.rad2deg(tilts), exact, color="black", lw=1.2, label="exact")
    angles = np.linspace(0, 2 * np.pi, 721)
    below = [pose(rpy=(0, angle, 0)) for angle in angles]  # the ground, all around the box
    outline.plot(*0.1 * np.array([[-2, -2, 2, 2, -2], [-1, 1, 1, -1, -1]]), color="black", lw=1.2)
    for e in SMOOTHINGS:
        label = f"smoothing = {1000 * e:g} mm"
        x = [smoothed_distance(ground, pose(), box, X, smoothing=e).witness.p_WB[0] for X in poses]
        over_tilt.plot(np.rad2deg(tilts), x, label=label)
        points = [
            smoothed_distance(ground, X, box, pose(), smoothing=e).witness.p_WB for X in below
        ]
        outline.plot(*np.array(points)[:, [0, 2]].T, label=label)
    over_tilt.set(
        xlabel="tilt [degrees]", ylabel="x of the nearest point [m]", title="a box over the ground"
    )
    over_tilt.legend(fontsize=8)
    outline.set(xlabel="x [m]", ylabel="z [m]", title="what counts as the box", aspect="equal")
    figure.savefig(path, dpi=90)
    plt.close(figure)
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")


def draw(axes, lower: str, upper: str) -> None:
    """Lower the upper shape onto the lower one, and show the contact points."""
    A, below, _ = EXAMPLES[lower]
    B, _, above = EXAMPLES[upper]
    X_WA = pose(rpy=below)
    X_WB = pose((0.06, 0.04, 2.0)) @ pose(rpy=(0, 0, 0.5)) @ pose(rpy=above)
    for _ in range(8):  # Newton's method along z
        witness = signed_distance(A, X_WA, B, X_WB)
        X_WB = pose((0, 0, -(witness.distance + DEPTH) / witness.normal[2])) @ X_WB
    m = contact_manifold(A, X_WA, B, X_WB, margin=MARGIN)
    for shape, X, color in ((A, X_WA, "tab:blue"), (B, X_WB, "tab:orange")):
        vertices, faces = shape_mesh(shape, segments=32)
        if shape.type == "half_space":
            vertices = vertices * (HALF_WIDTH / np.abs(vertices).max())
        corners = (vertices @ X[:3, :3].T + X[:3, 3])[faces]
        light = shade(corners)[:, None] * np.array(matplotlib.colors.to_rgb(color))
        axes.add_collection3d(
            Poly3DCollection(corners, facecolors=np.c_[light, np.full(len(light), 0.3)])
        )
    middle = m.p_W.mean(axis=0)
    for point in m.p_W:
        axes.plot(*np.c_[point, point + 0.18 * m.normal], color="black", lw=1.2, zorder=5)
    axes.scatter(*m.p_W.T, color="crimson", s=9, depthshade=False, zorder=6)
    axes.set_title(f"{lower}, {upper}: {len(m.gap)}".replace("_", "-"), fontsize=8, pad=0)
    for limit, center in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), middle, strict=True):
        limit(center - 0.46, center + 0.46)
    axes.set_box_aspect((1, 1, 1), zoom=1.3)
    axes.view_init(elev=18, azim=-55)
    axes.set_axis_off()


def shade(corners: np.ndarray) -> np.ndarray:
    """Brightness of triangles (n, 3, 3) under a lamp above the viewer's shoulder."""
    n = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    n /= np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-12)
    return 0.65 + 0.35 * n @ np.array([0.3, -0.5, 0.8])


if __name__ == "__main__":
    main()
