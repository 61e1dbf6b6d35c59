"""Parameters of a simulation by name: their values, gradients and directions.

The engine defines the list of kinds (`engine/step/parameter_kinds.h`). This module adds the names
of their owners.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import EllipsisType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import _engine
from robosim.errors import SimulationError, check_type, suggestion
from robosim.geometry import Shape, shape_sizes
from robosim.simulation.link_inertias import LINK_KINDS, LinkInertias

if TYPE_CHECKING:
    from robosim.model import Model
    from robosim.world.closure import Closure

__all__ = ["Key", "Owner", "ParameterGradient", "ParameterKind", "ParameterValues", "Parameters"]

Array = NDArray[np.float64]
Named = str | tuple[str, int]
"""A link, a joint or an object; or one of the shapes of a link or object, numbered from 0."""
Owner = Named | tuple[Named, Named]
"""Owner of a parameter, or a pair of owners."""
Key = str | tuple[str, Owner]
"""A kind of parameter, such as `"mass"`, or one owner's parameter, such as `("mass",
"forearm")`."""

# Names of the engine's owners here. Bodies are links that are welded together; here each link has
# its own numbers. A placement belongs to the joint that it places.
_OWNERS = {"body": "link", "motor": "coordinate"}
_JOINT_KINDS = ("placement",)


class ParameterKind(NamedTuple):
    """A kind of parameter.

    Attributes:
        name: name of the kind.
        owner: type of the owners: "pair", "link", "joint", "coordinate", "position", "object",
            "vertex", "closure", "equality" or "world".
        shape: shape of the numbers of one owner.
        unit: SI unit.
        about: description.
        least: smallest valid value.
        most: largest valid value. If infinite, values may be infinite (no limit); else they must be
            finite.
    """

    name: str
    owner: str
    shape: tuple[int, ...]
    unit: str
    about: str
    least: float
    most: float


class Place(NamedTuple):
    """Location of the numbers of a kind in the engine's vector: index of the first owner's numbers,
    stride from one owner to the next, and number of owners."""

    first: int
    stride: int
    owners: int


class Selected(NamedTuple):
    """Numbers of one kind, and their shape.

    Attributes:
        kind: name of the kind.
        at: index into an array of all numbers of the kind: rows, and a part of each row.
        shape: shape in which the numbers are set and returned.
        is_shared: True if all rows share one value, as all pairs of shapes of two things do.
    """

    kind: str
    at: tuple[NDArray[np.intp], slice | EllipsisType]
    shape: tuple[int, ...]
    is_shared: bool = False


class ParameterNames:
    """Names of a simulation's parameters, their owners, and their locations in the engine.

    Plain data.

    Args:
        model: model of the simulation.
        scene: objects and pairs of the simulation.
        closures: closures of the simulation.
        engine: the engine's simulation.
    """

    def __init__(
        self,
        model: Model,
        scene: _engine.CollisionScene,
        closures: Sequence[Closure],
        engine: _engine.Simulation,
    ) -> None:
        self.kinds: dict[str, ParameterKind] = {}
        self.places: dict[str, Place] = {}
        self.size = self.n_vertices = 0
        # Kinds of parameters, and their locations in the engine's vector.
        for kind in engine.parameter_kinds:
            has_one = "joint" if kind.name in _JOINT_KINDS else _OWNERS.get(kind.owner, kind.owner)
            shape = tuple(kind.shape)
            self.kinds[kind.name] = ParameterKind(
                kind.name, has_one, shape, kind.unit, kind.about, kind.least, kind.most
            )
            self.places[kind.name] = Place(kind.first, kind.stride, kind.owners)
            if kind.owner == "vertex":
                self.n_vertices = kind.owners
            elif kind.owners:
                end = kind.first + kind.stride * (kind.owners - 1) + int(np.prod(shape, dtype=int))
                self.size = max(self.size, end)
        # Owners by type.
        self._owners: dict[str, tuple[Owner, ...]] = {
            "link": model.link_names,
            "joint": model.body_joints,
            "coordinate": model.velocity_names,
            "position": model.position_names,
            "closure": tuple((c.a, c.b) for c in closures if not hasattr(c, "joint")),
            "equality": tuple(c.joint for c in closures if hasattr(c, "joint")),
            "world": (),
        }
        self._objects = list(scene.names)
        self._pairs = np.array(scene.pairs, dtype=np.intp).reshape(-1, 2)
        # Objects by name. Colliders are listed also by the name of their link.
        self._called: dict[str, list[int]] = {}
        links = [collider.link for collider in model.colliders]
        for i, name in enumerate(self._objects):
            for own in {name, *links[i : i + 1]}:
                self._called.setdefault(own, []).append(i)
        # Type of each object's shape, None for bodies made of pieces; and the rows of each object's
        # vertices.
        self.shape_types = [
            shape.type if isinstance(shape, Shape) else None for shape in scene.shapes
        ]
        self.vertices: dict[int, list[int]] = {}
        for mesh in engine.meshes:
            rows = range(mesh.first_row, mesh.first_row + len(mesh.shape.vertices))
            self.vertices.setdefault(mesh.object, []).extend(rows)

    def owners(self, kind: str) -> tuple[Owner, ...]:
        """Names of the owners of a kind of parameter, in the order of its numbers.

        Raises:
            SimulationError: there is no such kind.
        """
        owner = self._kind(kind).owner
        if owner == "pair":
            return tuple(
                (self.object_name(a), self.object_name(b)) for a, b in self._pairs.tolist()
            )
        if owner == "object":
            return tuple(map(self.object_name, range(len(self._objects))))
        if owner == "vertex":
            return tuple(self.object_name(i) for i, rows in self.vertices.items() for _ in rows)
        return self._owners[owner]

    def object_name(self, i: int) -> Named:
        """Unique name of an object."""
        name = self._objects[i]
        alike = self._called[name]
        return name if len(alike) == 1 else (name, alike.index(i))

    # Selection of numbers by key

    def select(self, key: object) -> Selected:
        """Select the numbers of a kind, or of one owner.

        Raises:
            SimulationError: there is no such kind, no owner of that name, or more than one.
        """
        if isinstance(key, str):
            kind = self._kind(key)
            count = len(self._owners["link"]) if kind.owner == "link" else self.places[key].owners
            shape = kind.shape if kind.owner == "world" else (count, *kind.shape)
            return Selected(key, (np.arange(count), ...), shape)
        if not isinstance(key, tuple) or tuple(map(type, key)) not in ((str, str), (str, tuple)):
            raise SimulationError(
                f"parameter is {key!r}; expected a kind, or a kind and the name of what has it"
            )
        name, owner = key
        if name in _size_names():
            return self._select_size(name, owner)
        kind = self._kind(name)
        rows = self._rows(kind, owner)
        if kind.owner == "pair":
            return Selected(name, (rows, ...), kind.shape, is_shared=True)
        is_one = len(rows) == 1 and kind.owner != "vertex"
        return Selected(name, (rows, ...), kind.shape if is_one else (len(rows), *kind.shape))

    def _kind(self, name: object) -> ParameterKind:
        if isinstance(name, str) and name in self.kinds:
            return self.kinds[name]
        if name in _size_names():
            raise SimulationError(
                f"{name!r} is a size of one shape; name that, too, as in ({name!r}, 'ball')"
            )
        raise SimulationError(
            "there is no kind of parameter"
            f" {name!r}{suggestion(name, [*self.kinds, *_size_names()], limit=None)}"
        )

    def _select_size(self, name: str, owner: Owner) -> Selected:
        """Select a size of a shape by the name that its type has for the size."""
        rows = self._rows(self.kinds["sizes"], owner)
        type_of_shape = self.shape_types[rows[0]]
        sizes = size_parts(type_of_shape)
        if name not in sizes:
            what = "is made of pieces" if type_of_shape is None else f"is a {type_of_shape}"
            raise SimulationError(
                f"{owner!r} {what}: it has no {name!r}{suggestion(name, sizes, limit=None)}"
            )
        width = sizes[name].stop - sizes[name].start
        return Selected("sizes", (rows, sizes[name]), () if width == 1 else (width,))

    def _rows(self, kind: ParameterKind, owner: Owner) -> NDArray[np.intp]:
        if kind.owner == "pair":
            return self._pair_rows(kind, owner)
        if kind.owner in ("object", "vertex"):
            return self._object_rows(kind, owner)
        known = self._owners[kind.owner]
        if not known:
            whose = (
                "the world" if kind.owner == "world" else f"{kind.owner}s, of which there are none"
            )
            raise SimulationError(f"{kind.name!r} is of {whose}, and not of {owner!r}")
        rows = [i for i, own in enumerate(known) if own == owner]
        if not rows and kind.owner in ("coordinate", "position"):  # of a joint with several
            rows = [i for i, own in enumerate(known) if str(own).startswith(f"{owner}/")]
        if not rows:
            names = [own for own in known if isinstance(own, str)]
            near = (
                suggestion(owner, names) if names else f"; there are {', '.join(map(repr, known))}"
            )
            raise SimulationError(f"no {kind.owner} is called {owner!r}{near}")
        return np.array(rows, dtype=np.intp)

    def _pair_rows(self, kind: ParameterKind, owner: Owner) -> NDArray[np.intp]:
        if not isinstance(owner, tuple) or len(owner) != 2:
            raise SimulationError(
                f"{kind.name!r} is of a pair, and {owner!r} is none; expected two names"
            )
        (a, b), (c, d) = (np.isin(self._pairs, self._called_so(name)).T for name in owner)
        found = (a & d) | (b & c)
        if not found.any():
            raise SimulationError(
                f"{owner[0]!r} and {owner[1]!r} cannot touch: they are no pair of this simulation"
            )
        return np.flatnonzero(found)

    def _object_rows(self, kind: ParameterKind, owner: Owner) -> NDArray[np.intp]:
        objects = self._called_so(owner)
        if len(objects) > 1:
            each = ", ".join(repr(self.object_name(i)) for i in objects)
            raise SimulationError(f"{owner!r} has {len(objects)} shapes; name one of {each}")
        if kind.owner == "object":
            return np.array(objects, dtype=np.intp)
        if objects[0] not in self.vertices:
            raise SimulationError(f"{owner!r} has no vertices; convex meshes and triangles have")
        return np.array(self.vertices[objects[0]], dtype=np.intp)

    def _called_so(self, owner: object) -> list[int]:
        """Return the objects of this name or of a link of this name; with a number, one of them."""
        name, number = owner if isinstance(owner, tuple) and len(owner) == 2 else (owner, None)
        objects = self._called.get(name) if isinstance(name, str) else None
        if objects is None:
            near = suggestion(name, self._called)
            raise SimulationError(f"no object and no link with a shape is called {name!r}{near}")
        if number is None:
            return objects
        if not isinstance(number, int | np.integer) or not 0 <= number < len(objects):
            raise SimulationError(
                f"{name!r} has no shape {number!r}; there are {len(objects)}, from 0 on"
            )
        return [objects[number]]

    # Numbers of a kind in the engine's vector

    def view(self, numbers: Array, kind: str) -> Array:
        """View of the numbers of a kind, (..., count, ...) for the engine's owners, in vectors
        (..., size) of all numbers."""
        first, stride, count = self.places[kind]
        shape, leading = self.kinds[kind].shape, numbers.shape[:-1]
        if not count or not numbers.size:
            return np.empty((*leading, count, *shape))
        size = numbers.itemsize
        # The numbers of an owner are stored column by column.
        strides = np.cumprod((size, *shape))[: len(shape)]
        found: Array = np.ndarray(
            (*leading, count, *shape),
            numbers.dtype,
            numbers,
            first * size,
            (*numbers.strides[:-1], stride * size, *strides),
        )
        return found

    def direction(self, links: LinkInertias, changes: Mapping[Key, ArrayLike]) -> dict[str, Array]:
        """Return the engine's vectors of a direction in which only these numbers change.

        Raises:
            SimulationError: as in `select`; or an array has the wrong shape or is not finite.
        """
        check_type(changes, Mapping, "parameters", SimulationError)
        numbers, vertices = np.zeros(self.size), np.zeros((self.n_vertices, 3))
        of_links = {
            kind: np.zeros((len(links.mass), *self.kinds[kind].shape)) for kind in LINK_KINDS
        }
        for key, value in changes.items():
            chosen = self.select(key)
            array = checked_shape(value, chosen.shape, key)
            if not np.isfinite(array).all():
                raise SimulationError(f"{called(key)} is {array}; it must be finite")
            if chosen.kind == "vertices":
                vertices[chosen.at] = array
            elif chosen.kind in of_links:
                of_links[chosen.kind][chosen.at] = array
            else:
                self.view(numbers, chosen.kind)[chosen.at] = array
        if any(x.any() for x in of_links.values()):
            for kind, change in links.to_bodies(of_links).items():
                self.view(numbers, kind)[...] = change
        return (
            {"parameters": numbers, "vertices": vertices}
            if self.n_vertices
            else {"parameters": numbers}
        )


class Parameters(Mapping[str, Array]):
    """Numbers by name: of a kind, `parameters["mass"]`, or of one owner, `parameters["mass",
    "forearm"]`.

    `kinds` lists the kinds with their units, and `owners` the names of their owners. A pair is
    named by two links or objects, `("friction", ("tire", "road"))`, and stands for all pairs of
    their shapes. If a link or object has several shapes, each is named by its number, `("pose",
    ("tire", 0))`, or as in `Simulation.objects`. The sizes of a shape also have the names of its
    type: `("radius", "tire")`.
    """

    def __init__(
        self, names: ParameterNames, links: LinkInertias, numbers: Array, vertices: Array
    ) -> None:
        self._names, self._links, self._numbers, self._vertices = names, links, numbers, vertices

    @property
    def kinds(self) -> Mapping[str, ParameterKind]:
        """All kinds, by name."""
        return dict(self._names.kinds)

    def owners(self, kind: str) -> tuple[Owner, ...]:
        """Names of the owners of a kind, in the order of `parameters[kind]`; none for the world.

        Each owner is listed once for each of its rows: an object once for each of its vertices.

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
            self._names.select(key)
        except SimulationError:
            return False
        return True

    def __getitem__(self, key: Key) -> Array:
        """Return the numbers of a kind, (owners, ...), or of one owner; for many runs, with their
        axes in front.

        Raises:
            SimulationError: there is no such kind, no owner of that name, or more than one.
        """
        chosen = self._names.select(key)
        found = self._all(chosen.kind)
        leading = self._numbers.shape[:-1]
        rows, part = chosen.at
        whole = (slice(None),) * len(leading)
        found = found[whole + (rows, part)]  # noqa: RUF005 (Python 3.10 has no stars in brackets)
        return (
            self._shared(found, key)
            if chosen.is_shared
            else found.reshape((*leading, *chosen.shape))
        )

    def _all(self, kind: str) -> Array:
        if kind in LINK_KINDS:
            return self._of_links(kind)
        return self._vertices if kind == "vertices" else self._names.view(self._numbers, kind)

    def _of_links(self, kind: str) -> Array:
        raise NotImplementedError

    def _shared(self, rows: Array, key: Key) -> Array:
        """Combine the rows of a pair's shapes into one number."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} of {self._names.size + self._vertices.size} numbers of"
            f" {len(self)} kinds>"
        )


class ParameterGradient(Parameters):
    """Gradient of a loss in each parameter, per unit of the parameter.

    The gradient in a pair's parameter is the sum over the pairs of shapes.

    For many runs, each array has the axes of the runs in front.
    """

    def _of_links(self, kind: str) -> Array:
        return self._links.by_links(
            {own: self._names.view(self._numbers, own) for own in LINK_KINDS}
        )[kind]

    def _shared(self, rows: Array, key: Key) -> Array:
        return np.asarray(rows.sum(axis=self._numbers.ndim - 1))


class ParameterErrors(ParameterGradient):
    """Estimated errors of a gradient. Errors of a sum add up in absolute value."""

    def _of_links(self, kind: str) -> Array:
        of_bodies = {own: self._names.view(self._numbers, own) for own in LINK_KINDS}
        found = np.zeros((len(self._links.mass), *self._names.kinds[kind].shape))
        for own, errors in of_bodies.items():
            for i in np.ndindex(errors.shape[1:]):
                alone = {name: np.zeros_like(x) for name, x in of_bodies.items()}
                at = (slice(None), *i)
                alone[own][at] = errors[at]
                found += np.abs(self._links.by_links(alone)[kind])
        return found


class ParameterValues(Parameters):
    """The values of all parameters of a simulation.

    Poses, frames and placements are twists from the present pose, hence 0, and scales are factors,
    hence 1. Sizes and scales of bodies made of pieces are nan, since such bodies have none.
    """

    def _of_links(self, kind: str) -> Array:
        found: Array = getattr(self._links, kind)
        return found

    def _shared(self, rows: Array, key: Key) -> Array:
        if not (rows == rows[0]).all():
            raise SimulationError(
                f"{called(key)} is not one number: it is {', '.join(map(str, np.unique(rows)))}"
            )
        return np.asarray(rows[0])


def called(key: Key) -> str:
    """Return the name of a parameter for error messages."""
    return repr(key) if isinstance(key, str) else f"{key[0]!r} of {key[1]!r}"


def checked_shape(value: ArrayLike, shape: tuple[int, ...], key: Key) -> Array:
    """Convert a value to an array and check its shape."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise SimulationError(
            f"{called(key)} is {value!r}; expected numbers of shape {shape}"
        ) from None
    if array.shape != shape:
        raise SimulationError(f"{called(key)} has shape {array.shape}; expected {shape}")
    return array


@cache
def size_parts(type_of_shape: str | None) -> Mapping[str, slice]:
    """Return the slice of each size among the numbers of a shape type; empty for bodies made of
    pieces."""
    found, first = {}, 0
    for name, kind in shape_sizes().get(type_of_shape or "", {}).items():
        if kind != "points":
            width = 3 if kind == "vector" else 1
            found[name] = slice(first, first + width)
            first += width
    return found


@cache
def _size_names() -> frozenset[str]:
    return frozenset(name for type_of_shape in shape_sizes() for name in size_parts(type_of_shape))
