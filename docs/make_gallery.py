"""Draw the contact manifold of every pair of shapes anew: `python docs/make_gallery.py`.

Writes docs/images/manifolds.png: shape A below, B brought down on it until they overlap by 2 mm; the points, and at
each the normal, from A to B. A new type of shape needs its row in EXAMPLES.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from robosim.geometry import Shape, contact_manifold, pose, shape_sizes, signed_distance
from robosim.viewer.meshing import shape_mesh

IMAGE = Path(__file__).resolve().parent / "images" / "manifolds.png"
MARGIN = 0.01  # [m]
DEPTH = 0.002  # [m]
HALF_WIDTH = 0.55  # of the square that stands for a half-space [m]

PRISM = [(0.4 * np.cos(a), 0.4 * np.sin(a), z) for z in (-0.15, 0.15) for a in np.arange(5) * 0.4 * np.pi]
UP, OVER = (0.0, 0.0, 0.0), (np.pi, 0.0, 0.0)
LYING = (0.0, np.pi / 2, 0.0)
ON_MANTLE = (0.0, np.pi / 2 + np.arctan2(0.25, 0.8), 0.0)  # a cone
# The shape, how it lies below, and how on top.
EXAMPLES = {
    "sphere": (Shape.sphere(0.3), UP, UP),
    "box": (Shape.box((0.7, 0.6, 0.3)), UP, UP),
    "capsule": (Shape.capsule(0.15, 0.6), LYING, LYING),
    "cylinder": (Shape.cylinder(0.3, 0.4), UP, LYING),
    "half_space": (Shape.half_space(), UP, OVER),
    "convex": (Shape.convex(PRISM), UP, UP),
    "ellipsoid": (Shape.ellipsoid((0.4, 0.3, 0.2)), UP, UP),
    "cone": (Shape.cone(0.25, 0.8), OVER, ON_MANTLE),
    "triangle": (Shape.triangle([(-0.4, -0.3, 0), (0.4, -0.3, 0), (0, 0.4, 0)], rounding=0.02), UP, UP),
}


def main() -> None:
    """One panel for each pair."""
    pairs = list(itertools.combinations_with_replacement(shape_sizes(), 2))
    columns = 6
    rows = -(-len(pairs) // columns)
    figure = plt.figure(figsize=(2.1 * columns, 2.1 * rows), layout="constrained")
    for i, (lower, upper) in enumerate(pairs):
        axes = figure.add_subplot(rows, columns, i + 1, projection="3d", computed_zorder=False)
        draw(axes, *((upper, lower) if upper == "half_space" else (lower, upper)))
    figure.savefig(IMAGE, dpi=72)
    print(f"{IMAGE.name}: {len(pairs)} pairs, {IMAGE.stat().st_size / 1024:.0f} kB")


def draw(axes, lower: str, upper: str) -> None:
    """Bring the upper shape down on the lower one, and show where they touch."""
    A, below, _ = EXAMPLES[lower]
    B, _, above = EXAMPLES[upper]
    X_WA = pose(rpy=below)
    X_WB = pose((0.06, 0.04, 2.0)) @ pose(rpy=(0, 0, 0.5)) @ pose(rpy=above)
    for _ in range(8):  # by Newton's method along z
        witness = signed_distance(A, X_WA, B, X_WB)
        X_WB = pose((0, 0, -(witness.distance + DEPTH) / witness.normal[2])) @ X_WB
    m = contact_manifold(A, X_WA, B, X_WB, margin=MARGIN)
    for shape, X, colour in ((A, X_WA, "tab:blue"), (B, X_WB, "tab:orange")):
        vertices, faces = shape_mesh(shape, segments=32)
        if shape.type == "half_space":
            vertices = vertices * (HALF_WIDTH / np.abs(vertices).max())
        corners = (vertices @ X[:3, :3].T + X[:3, 3])[faces]
        light = shade(corners)[:, None] * np.array(matplotlib.colors.to_rgb(colour))
        axes.add_collection3d(Poly3DCollection(corners, facecolors=np.c_[light, np.full(len(light), 0.3)]))
    middle = m.p_W.mean(axis=0)
    for point in m.p_W:
        axes.plot(*np.c_[point, point + 0.18 * m.normal], color="black", lw=1.2, zorder=5)
    axes.scatter(*m.p_W.T, color="crimson", s=9, depthshade=False, zorder=6)
    axes.set_title(f"{lower}, {upper}: {len(m.gap)}".replace("_", "-"), fontsize=8, pad=0)
    for limit, centre in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), middle, strict=True):
        limit(centre - 0.42, centre + 0.42)
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
