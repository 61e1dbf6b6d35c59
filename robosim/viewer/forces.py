"""Contact forces as arrows, which start where a force acts on a movable link, along the force.

Obstacles have no arrows. Between two movable links there are two opposite arrows from the same
point. Lengths are proportional to forces, with one scale for the whole replay. In the median of all
moments with contacts, the longest arrow has LENGTH times the size of the robot. Arrows are limited
to LONGEST times that length, for example at impacts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robosim.viewer.meshing import arrow_mesh

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from robosim.model import Model
    from robosim.simulation import ContactForce, Replay
    from robosim.viewer.meshing import Mesh

    F64 = NDArray[np.float64]

LENGTH = 0.3  # of the median arrow, relative to the robot's size
LONGEST = 2.0  # relative to the median arrow
_WIDTH = 0.075  # of a head, relative to the median arrow's length
_STOUTEST = 0.3  # largest width of a head, relative to its own arrow's length
# sRGB; distinguishable by luminance, and for the color-blind.
STICKING, SLIDING = (0.0, 0.52, 0.37), (0.80, 0.08, 0.48)


class Arrows(NamedTuple):
    """Arrows of one moment."""

    start: F64
    """(k, 3) points where the forces act, in W [m]."""
    force: F64
    """(k, 3) forces in W [N]."""
    sliding: NDArray[np.bool_]
    """(k,) True for sliding contacts."""


class ForceArrows:
    """Arrows of a replay.

    Args:
        model: the robot.
        replay: states and contacts of the robot.
        held: links that carry objects of the scene, by object.
        size: size of the robot [m], which scales the arrows.

    Attributes:
        most: largest number of simultaneous arrows.
        newtons_per_meter: scale of the lengths, 0 if there is no contact force.
        length: length of the median arrow [m].
    """

    def __init__(self, model: Model, replay: Replay, held: Mapping[str, str], size: float) -> None:
        owners = {collider.name: collider.link for collider in model.colliders} | dict(held)
        movable = {name for name, link in owners.items() if tree_of(model, link)[1]}
        self._moments = [_arrows(contacts, movable) for contacts in replay.contacts]
        largest = [np.linalg.norm(a.force, axis=1).max() for a in self._moments if len(a.force)]
        self.most = max((len(a.force) for a in self._moments), default=0)
        self.length = LENGTH * size
        self.newtons_per_meter = float(np.median(largest)) / self.length if largest else 0.0

    def __getitem__(self, moment: int) -> Arrows:
        """Arrows of one of the replay's states."""
        return self._moments[moment]

    def poses(self, moment: int) -> tuple[F64, F64, F64]:
        """Poses of the mesh of `arrow_mesh` for each arrow.

        Returns:
            positions (k, 3) [m]; rotations (k, 3, 3), whose z axes are along the forces; scales (k,
                3) in the mesh's axes [m].
        """
        start, force, _ = self._moments[moment]
        newtons = np.linalg.norm(force, axis=1)
        length = np.minimum(newtons / max(self.newtons_per_meter, 1e-300), LONGEST * self.length)
        width = np.minimum(_WIDTH * self.length, _STOUTEST * length)
        return start, _upright(force / newtons[:, None]), np.column_stack([width, width, length])

    def triangles(self, moment: int) -> tuple[Mesh, F64]:
        """All arrows of a moment as one mesh in W, with the color (m, 3) of each face, sRGB."""
        vertices, faces = arrow_mesh()
        p, R, scale = self.poses(moment)
        placed = np.einsum("kij,knj->kni", R, vertices * scale[:, None, :]) + p[:, None, :]
        numbered = (np.arange(len(p))[:, None, None] * len(vertices) + faces).reshape(-1, 3)
        return (placed.reshape(-1, 3), numbered), np.repeat(
            colors(self._moments[moment]), len(faces), axis=0
        )

    def legend(self) -> str:
        """Explanation of lengths and colors."""
        shown = float(f"{self.length:.1g}")
        return (
            f"contact forces: an arrow of {100 * shown:g} cm is"
            f" {shown * self.newtons_per_meter:.3g} N; green sticks, magenta slides"
        )

    def tips(self, moment: int) -> F64:
        """Tips of the arrows of a moment (k, 3), in W [m]."""
        p, R, scale = self.poses(moment)
        return np.asarray(p + R[:, :, 2] * scale[:, 2:])


def colors(arrows: Arrows) -> F64:
    """Color of each arrow, sRGB (k, 3)."""
    return np.where(arrows.sliding[:, None], SLIDING, STICKING)


def tree_of(model: Model, link: str) -> tuple[str, bool]:
    """Root link of the tree of links that contains a link, and True if the link can move.

    Joints connect the links of a tree. Floating and planar joints separate trees.
    """
    above = {joint.child: joint for joint in model.joints}
    movable = model.floating_base
    while (joint := above.get(link)) is not None:
        movable |= joint.kind != "fixed"
        if joint.kind in ("floating", "planar"):
            break
        link = joint.parent
    return link, movable


def _arrows(contacts: list[ContactForce], movable: set[str]) -> Arrows:
    pushed = [
        (contact.point, sign * contact.force, contact.mode == "sliding")
        for contact in contacts
        for name, sign in ((contact.A, -1.0), (contact.B, 1.0))
        if contact.mode != "open" and name in movable and np.any(contact.force)
    ]
    start, force, sliding = zip(*pushed, strict=True) if pushed else ((), (), ())
    return Arrows(
        np.array(start).reshape(-1, 3),
        np.array(force).reshape(-1, 3),
        np.array(sliding, dtype=np.bool_),
    )


def _upright(directions: F64) -> F64:
    """Rotations (k, 3, 3) from z to unit directions (k, 3)."""
    helper = np.eye(3)[np.argmin(np.abs(directions), axis=1)]
    x = np.cross(helper, directions)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return np.stack([x, np.cross(directions, x), directions], axis=-1)
