"""A pendulum of any number of links, for measurements of cost and comparisons with closed forms."""

from __future__ import annotations

import numpy as np

from robosim.geometry import Shape, pose
from robosim.model import Model, ModelBuilder


def pendulum(
    links: int, *, length: float = 1.0, mass: float = 1.0, thickness: float = 0.02
) -> Model:
    """Equal rods, each hinged to the end of the one above.

    They swing in the x-z plane and hang down at zero. The joints `hinge_1`, ... rotate about -y: q
    is the angle between a rod and the one above, positive towards +x.

    Args:
        links: at least 1.
        length: of all rods together [m].
        mass: of all rods together [kg], uniform along the rods.
        thickness: diameter of the capsules that are their colliders [m], at most the length of a
            rod. In their inertia the rods are thin; about their own axes they have that of a
            cylinder.

    Raises:
        ValueError: there are no links, or they are shorter than thick.
    """
    if links < 1:
        raise ValueError(f"a pendulum of {links} links; at least 1 is needed")
    rod, share, radius = length / links, mass / links, thickness / 2
    if not rod > thickness:
        raise ValueError(
            f"{links} links in {length} m are {rod} m long, and {thickness} m thick: longer ones"
            " are needed"
        )
    across, along = share * rod**2 / 12, share * radius**2 / 2
    builder = ModelBuilder(f"pendulum of {links}")
    builder.add_link("ceiling")
    for i in range(1, links + 1):
        above = "ceiling" if i == 1 else f"rod_{i - 1}"
        end = 0.0 if i == 1 else -rod
        builder.add_link(
            f"rod_{i}", mass=share, com=(0, 0, -rod / 2), inertia=np.diag([across, across, along])
        )
        builder.add_joint(
            f"hinge_{i}", "continuous", above, f"rod_{i}", X_PJ=pose((0, 0, end)), axis=(0, -1, 0)
        )
        builder.add_collider(
            f"rod_{i}", Shape.capsule(radius, rod - thickness), X_LC=pose((0, 0, -rod / 2))
        )
    return builder.build()
