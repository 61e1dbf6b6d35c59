"""Parameters of a simulation by name: their values, gradients by them, and directions of them.

The list of kinds is the engine's (`engine/step/parameter_kinds.h`); here are the names of what has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import _engine
from robosim.errors import ModelError, SimulationError, suggestion
from robosim.geometry import Compound, shape_sizes

if TYPE_CHECKING:
    from robosim.model import Link, Model
    from robosim.simulation.closure import Closure

__all__ = ["Columns", "Key", "Owner", "ParameterGradient", "ParameterKind", "ParameterNames", "ParameterValues", "Parameters"]

Array = NDArray[np.float64]
Owner = str | tuple[str, str] | tuple[str, int]
Key = str | tuple[str, Owner]
"""A kind of parameter, such as `"mass"`, or that of one owner, such as `("mass", "forearm")`."""

_MOMENTS = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
_LINK_KINDS = ("mass", "com", "inertia")
_UNLIMITED = ("motor_limit", "lower_limit", "upper_limit")
# What the engine's owners are called here: of bodies, links that are welded together, each link has its own numbers.
_OWNERS = {"body": "link", "motor": "coordinate"}


class ParameterKind(NamedTuple):
    """A kind of parameter.

    Attributes:
        name: of the kind.
        owner: what has one: "pair", "link", "joint", "coordinate", "position", "object", "vertex", "closure", "equality"
            or "world".
        shape: of the numbers of one owner.
        unit: SI.
        about: what it is.
        least: that a value may be.
    """

    name: str
    owner: str
    shape: tuple[int, ...]
    unit: str
    about: str
    least: float


class _Place(NamedTuple):
    """Where the engine has the numbers of a kind: of the first owner, from one to the next, how many owners."""

    first: int
    stride: int
    count: int
    shape: tuple[int, ...]


class _Selected(NamedTuple):
    """Numbers of one kind: which owners have them, and which of each owner's; `is_one` where all of them are one."""

    kind: str
    rows: NDArray[np.intp]
    part: slice
    is_one: bool
    shape: tuple[int, ...]


class _LinkInertias(NamedTuple):
    """Links of bodies: what they weigh, and where they are in their bodies."""

    body: NDArray[np.intp]
    """(n,) less one; -1 of links that are fixed to the world."""
    turn: Array
    """(n, 3, 3) R_BL."""
    share: Array
    """(n,) part of the body's mass."""
    mass: Array
    offset: Array
    """(n, 3) from the body's centre of mass to the link's, in axes of the body."""


class ParameterNames:
    """Which parameters a simulation has, whose they are, and where the engine has their numbers.

    Args:
        model: of the simulation.
        scene: its objects and pairs.
        closures: of the simulation.
        engine: itself.
    """

    def __init__(
        self,
        model: Model,
        scene: _engine.CollisionScene,
        closures: Sequence[Closure],
        engine: _engine.Simulation,
    ) -> None:
        self.model, self._scene, self._closures, self._engine = model, scene, closures, engine
        self.kinds: dict[str, ParameterKind] = {}
        self.places: dict[str, _Place] = {}
        self.size = 0
        for name, owner, count, shape, unit, about, least, first, stride in engine.parameter_kinds:
            called = "joint" if name == "placement" else _OWNERS.get(owner, owner)
            self.kinds[name] = ParameterKind(name, called, tuple(shape), unit, about, least)
            self.places[name] = _Place(first, stride, count, tuple(shape))
            width = int(np.prod(shape, dtype=int))
            if owner != "vertex" and count:
                self.size = max(self.size, first + stride * (count - 1) + width)
        self._owners: dict[str, tuple[Owner, ...]] = {}
        self._inertias: _LinkInertias | None = None
        self._columns: dict[Key, list[tuple[list[int], list[float]]]] = {}

    # Whose they are

    def owners(self, kind: str) -> tuple[Owner, ...]:
        """Names of what has a parameter of this kind, in the order of its numbers.

        Raises:
            SimulationError: there is no such kind.
        """
        owner = self._kind(kind).owner
        if owner not in self._owners:
            self._owners[owner] = tuple(self._find_owners(owner))
        return self._owners[owner]

    def _find_owners(self, owner: str) -> Iterator[Owner]:
        names = list(self._scene.names)
        if owner == "pair":
            yield from ((names[a], names[b]) for a, b in self._scene.pairs)
        elif owner == "link":
            yield from self.model.link_names
        elif owner == "joint":
            yield from self.model.body_joints
        elif owner == "coordinate":
            yield from self.model.velocity_names
        elif owner == "position":
            yield from self.model.position_names
        elif owner == "object":
            yield from names
        elif owner == "vertex":
            for _, name, _, shape in self._engine.meshes:
                yield from ((name, i) for i in range(len(shape.vertices)))
        elif owner == "closure":
            yield from ((c.a, c.b) for c in self._closures if not hasattr(c, "joint"))
        elif owner == "equality":
            yield from (c.joint for c in self._closures if hasattr(c, "joint"))

    def _kind(self, name: object) -> ParameterKind:
        if not isinstance(name, str) or name not in self.kinds:
            known = [*self.kinds, *(x for x in _size_names() if x not in self.kinds)]
            raise SimulationError(f"there is no kind of parameter {name!r}{suggestion(name, known, limit=None)}")
        return self.kinds[name]

    # Which numbers a key means

    def select(self, key: Key) -> _Selected:
        """The numbers of a kind, or of one owner.

        Raises:
            SimulationError: there is no such kind, nothing of that name, or more than one.
        """
        if isinstance(key, str):
            kind = self._kind(key)
            count = len(self.owners(key)) if kind.owner in ("link", "joint") else self.places[key].count
            is_world = kind.owner == "world"
            return _Selected(key, np.arange(count), slice(None), False, kind.shape if is_world else (count, *kind.shape))
        if not isinstance(key, tuple) or len(key) != 2:
            raise SimulationError(f"parameter is {key!r}; expected a kind, or a kind and the name of what has it")
        name, owner = key
        if name in _size_names() and name not in self.kinds:
            return self._select_size(name, owner)
        kind = self._kind(name)
        if kind.owner == "world":
            raise SimulationError(f"{name!r} is of the world; it is named without {owner!r}")
        rows = self._rows(kind, owner)
        if kind.owner == "pair":
            return _Selected(name, rows, slice(None), True, kind.shape)
        whole = kind.owner == "vertex" or len(rows) > 1
        return _Selected(name, rows, slice(None), False, (len(rows), *kind.shape) if whole else kind.shape)

    def _select_size(self, name: str, owner: Owner) -> _Selected:
        """A size of a shape by the name that its type has for it."""
        row = self._rows(self.kinds["sizes"], owner)
        shape = self._shape(int(row[0]))
        sizes = {} if isinstance(shape, Compound) else shape_sizes()[shape.type]
        first = 0
        for own, kind in sizes.items():
            width = {"number": 1, "vector": 3}.get(kind, 0)
            if own == name:
                return _Selected("sizes", row, slice(first, first + width), False, () if width == 1 else (width,))
            first += width
        what = "made of pieces" if isinstance(shape, Compound) else f"a {shape.type}"
        raise SimulationError(f"{owner!r} is {what} and has no {name!r}{suggestion(name, sizes, limit=None)}")

    def _shape(self, row: int) -> Any:
        colliders = self.model.colliders
        return colliders[row].shape if row < len(colliders) else self._scene.shapes[row]

    def _rows(self, kind: ParameterKind, owner: Owner) -> NDArray[np.intp]:
        if kind.owner == "pair":
            return self._pair_rows(kind, owner)
        if kind.owner in ("object", "vertex"):
            return self._object_rows(kind, owner)
        known = self.owners(kind.name)
        rows = [i for i, own in enumerate(known) if own == owner]
        if not rows and kind.owner in ("coordinate", "position") and isinstance(owner, str):
            rows = [i for i, own in enumerate(known) if str(own).startswith(f"{owner}/")]
        if not rows:
            raise SimulationError(f"no {kind.owner} is called {owner!r}{suggestion(owner, map(str, known))}")
        if kind.owner == "closure" and len(rows) > 1:
            raise SimulationError(f"{owner!r} are held together {len(rows)} times; take all by {kind.name!r}")
        return np.array(rows, dtype=np.intp)

    def _is_called(self, name: str) -> NDArray[np.bool_]:
        """Of each object whether it has this name, or is of this link."""
        colliders = self.model.colliders
        names = self._scene.names
        return np.array([own == name or (i < len(colliders) and colliders[i].link == name) for i, own in enumerate(names)])

    def _known_names(self) -> list[str]:
        return list(dict.fromkeys([*(c.link for c in self.model.colliders), *self._scene.names]))

    def _pair_rows(self, kind: ParameterKind, owner: Owner) -> NDArray[np.intp]:
        if not isinstance(owner, tuple) or len(owner) != 2 or not all(isinstance(x, str) for x in owner):
            raise SimulationError(f"{kind.name!r} is of a pair, and {owner!r} is none; expected two names")
        a, b = (self._is_called(str(name)) for name in owner)
        for name, which in zip(owner, (a, b), strict=True):
            if not which.any():
                raise SimulationError(f"no link and no object is called {name!r}{suggestion(name, self._known_names())}")
        pairs = np.asarray(self._scene.pairs, dtype=np.intp).reshape(-1, 2)
        found = (a[pairs[:, 0]] & b[pairs[:, 1]]) | (b[pairs[:, 0]] & a[pairs[:, 1]])
        if not found.any():
            raise SimulationError(f"{owner[0]!r} and {owner[1]!r} cannot touch: they are no pair of this simulation")
        return np.flatnonzero(found)

    def _object_rows(self, kind: ParameterKind, owner: Owner) -> NDArray[np.intp]:
        name, number = owner if isinstance(owner, tuple) else (owner, None)
        rows = np.flatnonzero(self._is_called(name)) if isinstance(name, str) else np.zeros(0, np.intp)
        if not len(rows):
            raise SimulationError(f"no link and no object is called {name!r}{suggestion(name, self._known_names())}")
        if number is not None:
            if not isinstance(number, int) or not 0 <= number < len(rows):
                raise SimulationError(f"{name!r} has no shape {number!r}; there are {len(rows)}, from 0 on")
            rows = rows[number : number + 1]
        if len(rows) > 1:
            named = [self._scene.names[i] for i in rows]
            each = named if len(set(named)) == len(named) else [f"({name!r}, {i})" for i in range(len(rows))]
            raise SimulationError(f"{name!r} has {len(rows)} shapes; name one of {', '.join(map(str, each))}")
        if kind.owner != "vertex":
            return rows
        for number_of_object, _, first, shape in self._engine.meshes:
            if number_of_object == rows[0]:
                return np.arange(first, first + len(shape.vertices))
        raise SimulationError(f"{name!r} has no vertices; convex meshes and triangles have")

    # Numbers of a kind, in the engine's vector

    def view(self, numbers: Array, kind: str) -> Array:
        """(count, *shape) of all of the engine's owners, in this vector of all numbers."""
        first, stride, count, shape = self.places[kind]
        if not count:
            return np.empty((0, *shape))
        size = numbers.itemsize
        strides = np.cumprod((size, *shape))[: len(shape)]  # an owner's numbers lie column by column
        return np.ndarray((count, *shape), numbers.dtype, numbers, first * size, (stride * size, *strides))

    # Links and their bodies

    @property
    def inertias(self) -> _LinkInertias:
        """Of all links."""
        if self._inertias is None:
            model = self.model
            links = {link.name: link for link in model.links}
            frames = {frame.name: frame for frame in model._engine.frames}
            body = np.array([frames[name].body - 1 for name in model.link_names], dtype=np.intp)
            X = np.array([frames[name].X_BF for name in model.link_names]).reshape(-1, 4, 4)
            mass = np.array([max(links[name].mass, 0.0) for name in model.link_names])
            com = np.array([links[name].com for name in model.link_names]).reshape(-1, 3)
            whole = np.array([(x.mass, *x.com) for x in model._engine.inertias[1:]]).reshape(-1, 4)
            whole = np.concatenate([whole, np.zeros((1, 4))])  # of the world
            alone = np.bincount(body + 1, minlength=len(whole))[body + 1] == 1
            offset = np.einsum("nij,nj->ni", X[:, :3, :3], com) + X[:, :3, 3] - whole[body, 1:]
            offset[alone] = 0.0  # to the bit
            share = np.divide(mass, whole[body, 0], out=np.zeros_like(mass), where=whole[body, 0] > 0)
            self._inertias = _LinkInertias(body, X[:, :3, :3], share, mass, offset)
        return self._inertias

    def by_links(self, of_bodies: Mapping[str, Array], kind: str) -> Array:
        """Gradients by the mass, centre of mass or moments of links, from those by the same of bodies.

        A body's moments are about its own centre of mass; that this moves with a link does not change them to first
        order, as the links' offsets from it balance.
        """
        body, turn, share, mass, offset = self.inertias
        m, c, moments = (
            np.concatenate([of_bodies[name], np.zeros((1, *of_bodies[name].shape[1:]))])[body] for name in _LINK_KINDS
        )
        bar = _matrices(moments, 0.5)  # contracted with a symmetric matrix this is the product with its six numbers
        trace = np.einsum("nii->n", bar)
        if kind == "mass":
            of_offset = trace * np.einsum("ni,ni->n", offset, offset) - np.einsum("ni,nij,nj->n", offset, bar, offset)
            lever = np.einsum("ni,ni->n", offset, c)
            found = m + np.divide(lever * share, mass, out=np.zeros_like(mass), where=mass > 0) + of_offset
        elif kind == "com":
            moved = share[:, None] * c
            moved = moved + 2 * mass[:, None] * (trace[:, None] * offset - np.einsum("nij,nj->ni", bar, offset))
            found = np.einsum("nji,nj->ni", turn, moved)
        else:
            found = _numbers(np.einsum("nji,njk,nkl->nil", turn, bar, turn), 2.0)
        found[body < 0] = 0.0
        return found

    def to_bodies(self, change: Mapping[str, Array]) -> dict[str, Array]:
        """What bodies change by with their links: the transpose of `by_links`."""
        body, turn, share, mass, offset = self.inertias
        n = len(self.model._engine.inertias) - 1
        m, c = change["mass"], np.einsum("nij,nj->ni", turn, change["com"])
        of_c = np.divide(share * m, mass, out=np.zeros_like(mass), where=mass > 0)[:, None] * offset + share[:, None] * c
        square, both = np.einsum("ni,ni->n", offset, offset), np.einsum("ni,ni->n", offset, c)
        eye = np.eye(3)
        moments = np.einsum("nij,njk,nlk->nil", turn, _matrices(change["inertia"], 1.0), turn)
        moments += m[:, None, None] * (square[:, None, None] * eye - np.einsum("ni,nj->nij", offset, offset))
        across = np.einsum("ni,nj->nij", offset, c)
        moments += mass[:, None, None] * (2 * both[:, None, None] * eye - across - across.transpose(0, 2, 1))
        found = {"mass": np.zeros(n), "com": np.zeros((n, 3)), "inertia": np.zeros((n, 6))}
        moving = body >= 0
        for name, of_links in (("mass", m), ("com", of_c), ("inertia", _numbers(moments, 1.0))):
            np.add.at(found[name], body[moving], of_links[moving])
        return found

    # Values

    def with_values(self, values: ParameterValues, changes: Mapping[Key, ArrayLike]) -> tuple[Array, Array, dict[str, Link]]:
        """The engine's numbers, vertices, and links with their inertias, of values in which some are others.

        Raises:
            SimulationError: as of `select`; or an array has the wrong shape, or a number is out of its range.
        """
        numbers, vertices = values._numbers.copy(), values._vertices.copy()
        links: dict[str, Link] = {}
        for key, value in changes.items():
            chosen = self.select(key)
            array = checked_numbers(value, chosen.shape, key, may_be_infinite=chosen.kind in _UNLIMITED)
            least = self.kinds[chosen.kind].least
            if (array < least).any():
                raise SimulationError(f"{_called(key)} is {array}; it must be at least {least:g}")
            if chosen.kind == "vertices":
                vertices[chosen.rows] = array
            elif chosen.kind in _LINK_KINDS:
                names = self.model.link_names
                for row, own in zip(chosen.rows, array.reshape(len(chosen.rows), *self.kinds[chosen.kind].shape), strict=True):
                    known = {link.name: link for link in self.model.links}
                    link = links.get(names[row], known[names[row]])
                    links[link.name] = replace(link, **{chosen.kind: _of_link(chosen.kind, own)})
            else:
                self.view(numbers, chosen.kind)[chosen.rows, ..., *_parts(chosen)] = array
        lower, upper = self.view(numbers, "lower_limit"), self.view(numbers, "upper_limit")
        for i in np.flatnonzero(lower > upper):
            name = self.model.position_names[i]
            raise SimulationError(f"{name!r}: lower limit {lower[i]} and upper limit {upper[i]} leave no position")
        self._set_bodies(numbers, links)
        return numbers, vertices, links

    def _set_bodies(self, numbers: Array, links: Mapping[str, Link]) -> None:
        """Bodies of which links have changed are the sums of all of theirs."""
        model = self.model
        frames = {frame.name: frame for frame in model._engine.frames}
        for body in {frames[name].body for name in links} - {0}:
            own = [(links.get(x.name, x), np.asarray(frames[x.name].X_BF)) for x in model.links if frames[x.name].body == body]
            for link, _ in own:
                check_inertia(link)
            found = own[0][0].mass, own[0][0].com, own[0][0].inertia
            if len(own) > 1 or not np.array_equal(own[0][1], np.eye(4)):
                found = _sum_of(own)
            for kind, value in zip(_LINK_KINDS, found, strict=True):
                self.view(numbers, kind)[body - 1] = value if kind != "inertia" else [value[i, j] for i, j in _MOMENTS]

    # Directions

    def direction(self, changes: Mapping[Key, ArrayLike]) -> dict[str, Array]:
        """The engine's vectors of a direction in which these numbers change, and no others.

        Raises:
            SimulationError: as of `select`; or an array has the wrong shape or is not finite.
        """
        numbers, vertices = np.zeros(self.size), np.zeros((self.places["vertices"].count, 3))
        links = {name: np.zeros((len(self.model.link_names), *self.kinds[name].shape)) for name in _LINK_KINDS}
        for key, value in changes.items():
            chosen = self.select(key)
            array = checked_numbers(value, chosen.shape, key)
            if chosen.kind == "vertices":
                vertices[chosen.rows] = array
            elif chosen.kind in links:
                links[chosen.kind][chosen.rows] = array
            else:
                self.view(numbers, chosen.kind)[chosen.rows, ..., *_parts(chosen)] = array
        for name, change in self.to_bodies(links).items() if any(x.any() for x in links.values()) else ():
            self.view(numbers, name)[...] = change
        return {"parameters": numbers, "vertices": vertices} if len(vertices) else {"parameters": numbers}


    def columns(self, key: Key) -> list[tuple[list[int], list[float]]]:
        """Of each number of a key the engine's numbers that it moves, those of vertices behind all others, and how far.

        Raises:
            SimulationError: as of `select`.
        """
        if key not in self._columns:
            shape = self.select(key).shape
            width = int(np.prod(shape, dtype=int))
            self._columns[key] = []
            for unit in np.eye(width).reshape(width, *shape):
                direction = np.concatenate([x.reshape(-1) for x in self.direction({key: unit}).values()])
                moved = np.flatnonzero(direction)
                self._columns[key].append((moved.tolist(), direction[moved].tolist()))
        return self._columns[key]


class Parameters(Mapping[str, Array]):
    """Numbers by name: of a kind, `parameters["mass"]`, or of one owner, `parameters["mass", "forearm"]`.

    Kinds and their units are in `kinds`, and the names of what has one in `owners`. A pair is named by two links or
    objects, `("friction", ("tyre", "road"))`, and stands for all pairs of shapes of these. The sizes of a shape have
    the names of its type as well: `("radius", "tyre")`.
    """

    def __init__(self, names: ParameterNames, numbers: Array, vertices: Array) -> None:
        self._names, self._numbers, self._vertices = names, numbers, vertices

    @property
    def kinds(self) -> Mapping[str, ParameterKind]:
        """All kinds, by name."""
        return dict(self._names.kinds)

    def owners(self, kind: str) -> tuple[Owner, ...]:
        """Names of what has a parameter of a kind, in the order of `parameters[kind]`; none of the world.

        Raises:
            SimulationError: there is no such kind.
        """
        return self._names.owners(kind)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names.kinds)

    def __len__(self) -> int:
        return len(self._names.kinds)

    def __contains__(self, key: object) -> bool:
        try:
            self._names.select(key)  # type: ignore[arg-type]
        except SimulationError:
            return False
        return True

    def __getitem__(self, key: Key) -> Array:  # type: ignore[override]
        """The numbers of a kind, (owners, ...), or of one owner.

        Raises:
            SimulationError: there is no such kind, nothing of that name, or more than one.
        """
        chosen = self._names.select(key)
        rows = self._all(chosen.kind)[chosen.rows]
        found = rows[..., chosen.part] if chosen.part != slice(None) else rows
        return self._one(found, key) if chosen.is_one else found.reshape(chosen.shape)

    def _all(self, kind: str) -> Array:
        return self._vertices if kind == "vertices" else self._names.view(self._numbers, kind)

    def _one(self, numbers: Array, key: Key) -> Array:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._names.size + self._vertices.size} numbers of {len(self)} kinds>"


class ParameterGradient(Parameters):
    """What a loss changes by with each parameter, per unit of it. What holds a pair stands for has the sum of its shapes'."""

    def _all(self, kind: str) -> Array:
        if kind not in _LINK_KINDS:
            return super()._all(kind)
        return self._names.by_links({name: self._names.view(self._numbers, name) for name in _LINK_KINDS}, kind)

    def _one(self, numbers: Array, key: Key) -> Array:
        return np.asarray(numbers.sum(axis=0))


class ParameterValues(Parameters):
    """The values of all parameters of a simulation. Poses and placements are twists from where things are: zero."""

    def _all(self, kind: str) -> Array:
        if kind not in _LINK_KINDS:
            return super()._all(kind)
        links = {link.name: link for link in self._names.model.links}
        of = {"mass": lambda x: x.mass, "com": lambda x: x.com, "inertia": lambda x: [x.inertia[i, j] for i, j in _MOMENTS]}
        return np.array([of[kind](links[name]) for name in self._names.model.link_names], dtype=np.float64)

    def _one(self, numbers: Array, key: Key) -> Array:
        if not (numbers == numbers[0]).all():
            raise SimulationError(f"{key!r} is not one number: it is {', '.join(map(str, np.unique(numbers)))}")
        return np.asarray(numbers[0])


class Columns:
    """The columns of Jacobians by parameters.

    Args:
        names: of the simulation.
        keys: which parameters.

    Raises:
        SimulationError: as of `ParameterNames.select`; or a key is there twice.
    """

    def __init__(self, names: ParameterNames, keys: Sequence[Key]) -> None:
        if len(set(keys)) < len(keys):
            raise SimulationError(f"by names a parameter twice: {', '.join(map(repr, keys))}")
        self._shapes = {key: names.select(key).shape for key in keys}
        found = [column for key in keys for column in names.columns(key)]
        begin = [0, *accumulate(len(numbers) for numbers, _ in found)]
        lists = (list(chain.from_iterable(x)) for x in zip(*found, strict=True)) if found else ([], [])
        self.engine: tuple[Any, ...] | None = (begin, *lists) if keys else None
        """As the engine has them, None of none: where each begins, its numbers, what they count."""

    def by_name(self, columns: Array) -> dict[Key, Array]:
        """(..., k) as the numbers of each key."""
        found: dict[Key, Array] = {}
        first = 0
        for key, shape in self._shapes.items():
            width = int(np.prod(shape, dtype=int))
            found[key] = columns[..., first : first + width].reshape(*columns.shape[:-1], *shape)
            first += width
        return found


def check_inertia(link: Link) -> None:
    """Refuse what no body has."""
    try:
        _engine.ModelBuilder("check", False).add_link(link.name, link.mass, link.com, link.inertia)
    except ModelError as error:
        raise SimulationError(str(error)) from None


def _of_link(kind: str, own: Array) -> Any:
    """As `Link` has it."""
    if kind == "mass":
        return float(own)
    return own.copy() if kind == "com" else _matrices(own[None], 1.0)[0]


def _sum_of(links: Sequence[tuple[Link, Array]]) -> tuple[float, Array, Array]:
    """Mass, centre of mass and moments about it of links that are welded together, each with its pose in the body."""
    mass = sum(link.mass for link, _ in links)
    at = [X[:3, :3] @ link.com + X[:3, 3] for link, X in links]
    com = sum((link.mass * p for (link, _), p in zip(links, at, strict=True)), np.zeros(3))
    com = com / mass if mass > 0 else com
    inertia = np.zeros((3, 3))
    for (link, X), p in zip(links, at, strict=True):
        d, R = p - com, X[:3, :3]
        inertia += R @ link.inertia @ R.T + link.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return mass, com, (inertia + inertia.T) / 2


def _called(key: Key) -> str:
    return repr(key) if isinstance(key, str) else f"{key[0]} of {key[1]!r}"


def checked_numbers(
    value: ArrayLike, shape: tuple[int, ...], key: Key, *, may_be_infinite: bool = False
) -> Array:
    """As an array of this shape, finite."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise SimulationError(f"{key!r} is {value!r}; expected numbers of shape {shape}") from None
    if array.shape != shape:
        raise SimulationError(f"{key!r} has shape {array.shape}; expected {shape}")
    if not np.isfinite(array).all() and (not may_be_infinite or np.isnan(array).any()):
        raise SimulationError(f"{key!r} is {value!r}; it must be finite")
    return array


def _parts(chosen: _Selected) -> tuple[slice, ...]:
    return () if chosen.part == slice(None) else (chosen.part,)


def _size_names() -> frozenset[str]:
    return frozenset(name for sizes in shape_sizes().values() for name, kind in sizes.items() if kind != "points")


def _matrices(six: Array, off_diagonal: float) -> Array:
    """(n, 3, 3) symmetric, of (n, 6); entries off the diagonal times a factor."""
    found = np.empty((len(six), 3, 3))
    for k, (i, j) in enumerate(_MOMENTS):
        found[:, i, j] = found[:, j, i] = six[:, k] * (1.0 if i == j else off_diagonal)
    return found


def _numbers(matrices: Array, off_diagonal: float) -> Array:
    """The reverse."""
    return np.stack([matrices[:, i, j] * (1.0 if i == j else off_diagonal) for i, j in _MOMENTS], axis=1)
