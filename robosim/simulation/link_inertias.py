"""Masses, centers of mass and moments of inertia of links, and of bodies of welded links.

The engine moves bodies. This module converts gradients and directions between the numbers of bodies
and those of their links. All are plain arrays, in the order of `Model.link_names`. Moments are the
six numbers xx, xy, yy, xz, yz, zz.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from robosim.model import Link, Model

__all__ = [
    "LINK_KINDS",
    "LinkInertias",
    "link_inertias",
    "moments_of",
    "symmetric",
    "total_inertia",
]

Array = NDArray[np.float64]
LINK_KINDS = ("mass", "com", "inertia")
_MOMENTS = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))


class LinkInertias(NamedTuple):
    """Inertias of n links."""

    mass: Array
    """(n,) masses [kg]."""
    com: Array
    """(n, 3) centers of mass in the link's frame, as in `Link`."""
    inertia: Array
    """(n, 6) moments about the center of mass, in the link's axes."""
    body: NDArray[np.intp]
    """(n,) index of the body of each link; -1 for links that are fixed to the world."""
    n_bodies: int
    """Number of bodies, without the world."""
    turn: Array
    """(n, 3, 3) rotations from the link's axes to the body's axes."""
    offset: Array
    """(n, 3) from the body's center of mass to the link's, in the body's axes."""
    share: Array
    """(n,) fraction of the body's mass."""
    per_mass: Array
    """(n,) 1 / mass of the body; 0 for a body without mass."""

    def by_links(self, of_bodies: Mapping[str, Array]) -> dict[str, Array]:
        """Convert gradients by the three kinds of bodies to gradients by those of links, with any
        axes in front.

        The moments of a body are about its own center of mass. Moving this center with a link does
        not change the moments to first order, since the offsets of the links times their masses add
        up to zero.
        """
        # Links that are fixed to the world take the zeros appended after all bodies.
        m = _of_each(of_bodies["mass"], self.body, axis=-1)
        c, moments = (_of_each(of_bodies[kind], self.body, axis=-2) for kind in ("com", "inertia"))
        # The product of this matrix and a symmetric one equals the product of their six numbers.
        bar = symmetric(moments, off_diagonal=0.5)
        o, trace = self.offset, np.einsum("...nii->...n", bar)
        by_mass = m + self.per_mass * _dot(o, c) + trace * _dot(o, o)
        by_mass -= np.einsum("ni,...nij,nj->...n", o, bar, o)
        by_place = self.share[:, None] * c
        turned = np.einsum("...nij,nj->...ni", bar, o)
        by_place += 2 * self.mass[:, None] * (trace[..., None] * o - turned)
        in_link = np.einsum("nji,...njk,nkl->...nil", self.turn, bar, self.turn)
        return {
            "mass": by_mass,
            "com": np.einsum("nji,...nj->...ni", self.turn, by_place),
            "inertia": moments_of(in_link, off_diagonal=2.0),
        }

    def to_bodies(self, of_links: Mapping[str, Array]) -> dict[str, Array]:
        """Convert changes of the three kinds of links to changes of bodies: the transpose of
        `by_links`."""
        m, c = of_links["mass"], np.einsum("nij,nj->ni", self.turn, of_links["com"])
        o, eye = self.offset, np.eye(3)
        moved = (self.per_mass * m)[:, None] * o + self.share[:, None] * c
        across = np.einsum("ni,nj->nij", o, c)
        moments = np.einsum(
            "nij,njk,nlk->nil", self.turn, symmetric(of_links["inertia"]), self.turn
        )
        moments += m[:, None, None] * (
            _dot(o, o)[:, None, None] * eye - np.einsum("ni,nj->nij", o, o)
        )
        moments += self.mass[:, None, None] * (
            2 * _dot(o, c)[:, None, None] * eye - across - across.transpose(0, 2, 1)
        )
        found, moving = {}, self.body >= 0
        for kind, change in zip(LINK_KINDS, (m, moved, moments_of(moments)), strict=True):
            found[kind] = np.zeros((self.n_bodies, *change.shape[1:]))
            np.add.at(found[kind], self.body[moving], change[moving])
        return found


def link_inertias(model: Model) -> LinkInertias:
    """Inertias of the links of a model."""
    links = {link.name: link for link in model.links}
    own = [links[name] for name in model.link_names]
    frames = {frame.name: frame for frame in model._engine.frames}
    body = np.array([frames[link.name].body - 1 for link in own], dtype=np.intp)
    X = np.array([frames[link.name].X_BF for link in own]).reshape(-1, 4, 4)
    mass = np.array([link.mass for link in own], dtype=np.float64)
    com = np.array([link.com for link in own], dtype=np.float64).reshape(-1, 3)
    moments = moments_of(
        np.array([link.inertia for link in own], dtype=np.float64).reshape(-1, 3, 3)
    )
    # Mass and center of mass of each link's body. The world comes last, at index -1, with zeros.
    bodies = model._engine.inertias[1:]
    whole = np.array([*((x.mass, *x.com) for x in bodies), (0.0,) * 4]).reshape(-1, 4)[body]
    offset = np.einsum("nij,nj->ni", X[:, :3, :3], com) + X[:, :3, 3] - whole[:, 1:]
    offset[np.bincount(body + 1)[body + 1] == 1] = 0.0  # a link alone is its body, to the bit
    share, per_mass = (
        np.divide(x, whole[:, 0], out=np.zeros_like(mass), where=whole[:, 0] > 0)
        for x in (mass, 1.0)
    )
    return LinkInertias(
        mass, com, moments, body, len(bodies), X[:, :3, :3], offset, share, per_mass
    )


def total_inertia(links: Sequence[tuple[Link, Array]]) -> tuple[float, Array, Array]:
    """Mass, center of mass and moments (3, 3) about the center of mass, of links that are welded
    together, each with its pose."""
    if len(links) == 1:  # the link's frame is that of the body: keep its exact numbers
        (link, _), *_ = links
        return link.mass, link.com, link.inertia
    mass = sum(link.mass for link, _ in links)
    at = [X[:3, :3] @ link.com + X[:3, 3] for link, X in links]
    com = sum((link.mass * p for (link, _), p in zip(links, at, strict=True)), np.zeros(3))
    com = com / mass if mass > 0 else com
    inertia = np.zeros((3, 3))
    for (link, X), p in zip(links, at, strict=True):
        d, R = p - com, X[:3, :3]
        inertia += R @ link.inertia @ R.T + link.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return mass, com, (inertia + inertia.T) / 2


def symmetric(moments: Array, off_diagonal: float = 1.0) -> Array:
    """Symmetric matrices (..., 3, 3) from six numbers (..., 6), with a factor on off-diagonal
    entries."""
    found = np.empty((*moments.shape[:-1], 3, 3))
    for k, (i, j) in enumerate(_MOMENTS):
        found[..., i, j] = found[..., j, i] = moments[..., k] * (1.0 if i == j else off_diagonal)
    return found


def moments_of(matrices: Array, off_diagonal: float = 1.0) -> Array:
    """Six numbers (..., 6) from symmetric matrices (..., 3, 3): the inverse of `symmetric`."""
    return np.stack(
        [matrices[..., i, j] * (1.0 if i == j else off_diagonal) for i, j in _MOMENTS], axis=-1
    )


def _dot(a: Array, b: Array) -> Array:
    """(...,) dot products of rows."""
    products: Array = np.einsum("...i,...i->...", a, b)
    return products


def _of_each(of_bodies: Array, body: NDArray[np.intp], axis: int) -> Array:
    """Entries of the links' bodies along an axis; zeros for links that are fixed to the world,
    whose body is -1."""
    world = list(of_bodies.shape)
    world[axis] = 1
    with_world = np.concatenate([of_bodies, np.zeros_like(of_bodies, shape=world)], axis=axis)
    found: Array = np.take(with_world, body, axis=axis)
    return found
