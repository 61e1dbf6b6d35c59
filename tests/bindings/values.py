"""Arguments of calls by their types: plain values, results of other calls, and arrays.

Arrays are created without numbers, and get the shape that a refusal requires: "q has shape (0,);
expected (7,)".
"""

from __future__ import annotations

import collections.abc
import enum
import inspect
import itertools
import re
import types
import typing
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from signatures import ABSENT, Parameter
from worlds import World

from robosim import _engine

__all__ = ["TUPLES", "ArrayOf", "NoWay", "Shape", "Values"]

Shape = tuple[int, ...]

# Names of arrays whose numbers are constrained.
_CONFIGURATIONS = re.compile(
    r"q\d?|q_rest|q_target|start|goals?|seeds|reference|path|waypoints|knots"
)
_POSES = re.compile(r"X_\w+|poses?|X")
_RISING = re.compile(r"breaks|times")
_CORNERS = [[0.0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]
_FACES = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
# Types of parameters for which the engine accepts any object.
_PARTS = {"model": _engine.Model, "scene": _engine.CollisionScene}
# Arrays that the engine takes in tuples.
_STATE, _TANGENT = ("q", "v"), ("q_bar", "v_bar")
TUPLES = {
    "state": _STATE,
    "states": _STATE,
    "next_bar": _TANGENT,
    "bars": _TANGENT,
    "control": ("tau", "q_target", "v_target"),
}
_INDICES = {"faces": _FACES, "pairs": [[0, 1]], "group_begin": [0, 1], "periodic": [True, False]}


class NoWay(TypeError):
    """No value of this type can be made."""


class ArrayOf:
    """An array whose shape is unknown.

    `leading` is its first extent, if that is free, and `last` is its last extent, if that is known.
    """

    def __init__(self, name: str, leading: int, last: int | None = None) -> None:
        self.name, self.leading, self.last = name, leading, last


class Values:
    """Makes arguments of calls in one world, and keeps results of calls."""

    most = 2  # objects kept of each sort

    def __init__(self, world: World, folder: Path) -> None:
        self.world, self.folder = world, folder
        self.found: dict[type, list[Any]] = {}
        self.arrays: dict[str, np.ndarray] = dict(world.arrays)  # by attribute
        self._number = itertools.count()
        self._by_hand: dict[type, tuple[Any, int]] = {}  # objects and their numbers of parts
        model = world.model
        self._n_q, self._n_v = model.n_q, model.n_v
        rng = np.random.default_rng(0)
        neutral = np.clip(model.neutral(), model.limits.lower, model.limits.upper)
        moved = [model.integrate(neutral, 0.05 * rng.normal(size=model.n_v)) for _ in range(4)]
        self._states = np.clip([neutral, *moved], model.limits.lower, model.limits.upper)
        scene = [*world.scene.objects, *world.scene.attachments]
        links, joints = model.link_names, model.joint_names
        self.words = [*links[:1], *links[1:][-1:], *joints[:2], *scene, "all", "bent"]
        for kind, make in world.make.items():
            self._look_into(kind, make())
        for value in world.more:
            self.keep(value)

    def keep(self, value: Any, depth: int = 2, *, parts: int = 0) -> None:
        """Keep the result of a call, and its parts.

        An object that was constructed from `parts` arguments replaces one with fewer.
        """
        if isinstance(value, list | tuple | dict | set | frozenset) and depth > 0:
            for part in list(value.values() if isinstance(value, dict) else value)[:4]:
                self.keep(part, depth - 1)
        for kind in type(value).__mro__[:-1]:
            if not kind.__module__.startswith("robosim"):
                break
            kept = self.found.setdefault(kind, [])
            alike = [i for i, x in enumerate(kept) if _sort(x) == _sort(value)]
            if any(x is value for x in kept):
                continue
            by_hand, most = self._by_hand.get(kind, (None, 0))
            if len(alike) < self.most:
                kept.append(value)
                self._look_into(type(value), value)
                if parts > most:
                    self._by_hand[kind] = value, parts
            elif by_hand is not None and (parts > most or parts == 0):
                place = next(i for i, x in enumerate(kept) if x is by_hand)
                kept[place] = value
                self._by_hand.pop(kind)
                if parts:
                    self._by_hand[kind] = value, parts
                else:  # results of calls come first
                    kept.insert(0, kept.pop(place))

    def _look_into(self, kind: type, value: Any) -> None:
        for name in dir(kind):
            if not name.startswith("_") and not callable(inspect.getattr_static(kind, name)):
                try:
                    part = getattr(value, name)
                except Exception:
                    continue
                if isinstance(part, np.ndarray):
                    self.arrays.setdefault(name, part)

    def owners(self, kind: type) -> list[Any]:
        """Objects that methods of this class can be called on."""
        return [self.world.make[kind]()] if kind in self.world.make else self.found.get(kind, [])

    def of(self, parameter: Parameter, k: int) -> list[Any]:
        """Values for a parameter, the plainest first. Lists and arrays have k parts if they may."""
        values: list[Any] = []
        for value in self._of(parameter.type, parameter.name, k, parameter.default):
            if value is not None or parameter.default is not None:
                values.append(value)
        return values

    def _of(self, kind: Any, name: str, k: int, default: Any = ABSENT) -> list[Any]:
        origin, inner = typing.get_origin(kind), typing.get_args(kind)
        if kind in (Any, ABSENT) and name in (
            "progress",
            "stop",
            "look_up",
            "results",
            "otherwise",
        ):
            return [lambda *_: True, None]
        if kind in (Any, ABSENT) and name in _PARTS:
            return [self.world.make[_PARTS[name]](), None]
        if kind is Any or kind is ABSENT:
            return [ArrayOf(name, k), None]
        members = [member for member in dir(kind) if not member.startswith("_")]
        # A protocol of robosim accepts any object with its members.
        if getattr(kind, "_is_protocol", False) and members:
            kept = [value for values in self.found.values() for value in values]
            return [value for value in kept if all(hasattr(value, member) for member in members)][
                :2
            ]
        if _is_array(kind):
            return [ArrayOf(name, k), *([None] if "None" in str(kind) else [])]
        if kind is PathLike or origin is PathLike:
            return self._files()
        if origin is typing.Literal:
            return list(inner)
        if origin is typing.Annotated and _is_array(inner[0]):  # an array of this dtype
            return (
                [np.array(_INDICES[name], dtype=inner[1])]
                if name in _INDICES
                else [ArrayOf(name, k)]
            )
        if origin is typing.Annotated:
            size = re.search(r"FixedSize\((\d+)\)", str(kind.__metadata__))
            return self._lists(
                typing.get_args(inner[0])[0], name, int(size[1]) if size else k, default
            )
        if origin in (typing.Union, types.UnionType):
            return self._union(inner, name, k, default)
        if isinstance(kind, typing.TypeVar):
            return self._of(kind.__bound__ or object, name, k)
        if origin is not None:
            return self._generic(origin, inner, name, k, default)
        return self._plain(kind, name, k, default)

    def _files(self) -> list[str]:
        kept: dict[str, list[str]] = {}
        for path in sorted(self.folder.iterdir()):
            kept.setdefault(path.suffix, []).append(str(path))
        there = [path for paths in kept.values() for path in (*paths[:3], *paths[-4:])]
        return [
            str(self.folder / f"new{next(self._number)}{end}") for end in (".json", ".yaml", ".npz")
        ] + there

    def _union(self, members: Sequence[Any], name: str, k: int, default: Any) -> list[Any]:
        values: list[Any] = []
        failures = []
        if default is ABSENT and type(None) in members:
            members = (type(None), *(m for m in members if m is not type(None)))
        for member in members:
            try:
                values += self._of(member, name, k, default)
            except NoWay as error:
                failures.append(error)
        if len(failures) == len([m for m in members if m is not type(None)]):
            raise failures[0]
        return values

    def _generic(
        self, origin: Any, inner: Sequence[Any], name: str, k: int, default: Any
    ) -> list[Any]:
        if origin is collections.abc.Callable:
            return [lambda *_: True]
        if issubclass(origin, tuple):
            if inner[1:] == (Ellipsis,):
                return [tuple(x) for x in self._lists(inner[0], name, k, default)]
            if len(inner) == len(TUPLES.get(name, ())):
                widths = {"q": self._n_q, "q_target": self._n_q}
                whole = tuple(
                    ArrayOf(part, k, widths.get(part, self._n_v)) for part in TUPLES[name]
                )
                return [whole, (None,) * len(whole)] if name == "control" else [whole]
            if all(_is_array(t) for t in inner):  # a mesh
                return [(np.array(_CORNERS), np.array(_FACES))]
            parts = [[False, True] if t is bool else self._of(t, name, k)[:1] for t in inner]
            return [tuple(x) for x in itertools.product(*parts)]
        if issubclass(origin, collections.abc.Mapping):
            keys, values = self._of(inner[0], "key", k), self._of(inner[1], name, k)
            return [{key: value} for key in keys for value in values[:1]] + [{}]
        if issubclass(origin, type):
            return [inner[0]]
        return self._lists(inner[0], name, k, default)

    def _lists(self, inner: Any, name: str, k: int, default: Any) -> list[Any]:
        if (
            isinstance(default, tuple | list)
            and default
            and all(isinstance(x, str) for x in default)
        ):
            return [
                list(part)
                for n in range(len(default) + 1)
                for part in itertools.combinations(default, n)
            ]
        if inner is bool:
            return [list(x) for x in itertools.product((False, True), repeat=k)]
        values = self._of(inner, name, k)
        if not values:
            return []
        if isinstance(values[0], float):
            return [
                [values[0] + 0.1 * i for i in range(n)]
                for n in sorted({k, 3, 4, self._n_v}, key=lambda n: n != k)
            ]
        if isinstance(values[0], int):
            return [list(range(k)), [values[0]] * k]
        start = 1 if isinstance(values[0], str) and name not in ("name", "names") else 0
        return [
            list(itertools.islice(itertools.cycle(values[first:]), k))
            for first in range(start, min(len(values), 9))
        ]

    def _plain(self, kind: Any, name: str, k: int, default: Any) -> list[Any]:
        if kind is type(None):
            return [None]
        if kind is bool:
            return [False, True]
        if kind in (int, typing.SupportsInt, typing.SupportsIndex):
            return [k, 0, -1] if name in ("n", "count") else [1, 0, -1, 3]
        if kind in (float, typing.SupportsFloat):
            return [0.5, 0.0, 1e-3, -1.0] if default is ABSENT else [0.3, 0.0, -1.0]
        if kind is str:
            new = f"new{next(self._number)}"
            texts = (
                [path.read_text() for path in self.folder.glob("*.yaml")][:2]
                if name == "text"
                else []
            )
            kinds = ("revolute", *_engine.joint_kinds) if name == "kind" else ()
            return (
                [*texts, new, *self.words] if name == "name" else [*texts, *kinds, *self.words, new]
            )
        if kind is Path:
            return [Path(file) for file in self._files()]
        if kind in (dict, list, tuple):
            return [kind()]
        if kind in (object, slice):
            return [None]
        if inspect.isclass(kind) and issubclass(kind, enum.Enum):
            return list(kind)
        if kind in self.world.make:
            return [self.world.make[kind]()]
        if self.found.get(kind):
            return list(self.found[kind])
        raise NoWay(f"no call gives a {kind}, which {name!r} is")

    def leading(self, value: Any) -> int | None:
        """Leading extent of the arrays without shape in a value, or None if there are none."""
        if isinstance(value, ArrayOf):
            return value.leading
        parts = (
            value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
        )
        return next((n for n in map(self.leading, parts) if n is not None), None)

    def filled(self, value: Any, shape: Shape) -> Any:
        """Value whose arrays without shape are replaced by arrays of this shape."""
        if isinstance(value, ArrayOf):
            return self.numbers(
                value.name, shape if value.last is None else (*shape[:-1], value.last)
            )
        if type(value) in (list, tuple):
            return type(value)(self.filled(x, shape) for x in value)
        if type(value) is dict:
            return {key: self.filled(x, shape) for key, x in value.items()}
        return value

    def numbers(self, name: str, shape: Shape) -> np.ndarray:
        """Array of this shape, with numbers that are valid for this name."""
        size = int(np.prod(shape))
        if name in self.arrays and self.arrays[name].shape == shape:
            return self.arrays[name]
        if name == "axis":
            return np.resize(np.array([0.0, 0.0, 1.0]), shape)
        if name in _INDICES:
            given = np.array(_INDICES[name])
            return np.resize(given, shape) if size else np.zeros(shape, given.dtype)
        if name in ("vertices", "points") and shape[1:] == (3,):
            return np.resize(np.array(_CORNERS), shape)
        if shape[-1:] == (self._n_q,) and _CONFIGURATIONS.fullmatch(name):
            return np.resize(self._states, shape)
        if shape[-2:] == (4, 4):
            return np.broadcast_to(np.eye(4), shape).copy()
        if name in ("upper", "velocity", "acceleration", "effort", "box_upper"):
            return np.full(shape, 2.0)
        if name in ("lower", "box_lower"):
            return np.full(shape, -2.0)
        if _RISING.fullmatch(name):
            return np.arange(float(size)).reshape(shape)
        if shape == (3, 3):
            return 0.1 * np.eye(3)
        return 0.1 + 0.02 * np.arange(float(size)).reshape(shape)

    def shapes(self, name: str, k: int) -> Iterator[Shape]:
        """Candidate shapes, for refusals that do not name one."""
        if name in self.arrays:
            yield self.arrays[name].shape
        if _POSES.fullmatch(name):
            yield 4, 4
        n_q, n_v = self._n_q, self._n_v
        yield from (
            (n_q,),
            (n_v,),
            (3,),
            (k, n_q),
            (k, n_v),
            (4, 3),
            (k, 3),
            (4, 4),
            (),
            (4,),
            (6,),
            (2,),
            (k,),
        )
        yield from ((k, 2), (3, 3), (k, k), (k, 4, 4), (k, 3, n_q), (k, 6, n_q), (k + 1,))


def _sort(value: Any) -> str:
    """Attribute `type` of an object, such as a shape or a goal, or an empty string."""
    kind = getattr(value, "type", "")
    return kind if isinstance(kind, str) else ""


def _is_array(kind: Any) -> bool:
    if kind is ArrayLike or kind is np.ndarray or typing.get_origin(kind) is np.ndarray:
        return True
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return any(
            getattr(t, "__module__", "").startswith("numpy._typing") for t in typing.get_args(kind)
        )
    return False
