"""Accuracy and hostile input of collision queries, checked in C++ (`geometry_checks/`)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.compiled import ENGINE, declare, with_engine

SOURCE = Path(__file__).with_name("geometry_checks")
TESTS = ENGINE.parent / "tests" / "engine"
FLOORS = ("base", "spatial", "geometry")
DERIVATIVES = ("twist", "sizes", "scale", "vertices")


def load() -> ctypes.CDLL:
    """Return the library with its functions declared, built if it is not in the cache.

    Raises:
        RuntimeError: no C++ compiler or CMake, or their own message.
    """
    library = ctypes.CDLL(
        str(
            with_engine(
                "geometry_checks", SOURCE, FLOORS, sorted(TESTS.glob("*.h")), purpose="this check"
            )
        )
    )
    pointer, number, long, real, text = (
        ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64, ctypes.c_double, ctypes.c_char_p,
    )  # fmt: skip
    declare(
        library,
        "",
        [
            ("accuracy_n_shape_types", number, []),
            ("accuracy_shape_type_name", text, [number]),
            ("accuracy_is_analytic", number, [number, number]),
            ("accuracy_values", None, [number, number, long, long, long, pointer]),
            ("accuracy_half_spaces", None, [long, long, long, pointer]),
            ("accuracy_derivatives", None, [number, number, long, long, long, pointer]),
            ("fuzz_new", pointer, [long, long]),
            ("fuzz_delete", None, [pointer]),
            ("fuzz_run", long, [pointer, long, long, real, pointer, pointer, text, number]),
        ],
    )
    return library


@dataclass(frozen=True)
class Values:
    """Largest errors of a pair's values.

    Attributes:
        errors: of the distance [m], the points [m] and the normal [rad].
        poses: number of poses compared.
        not_unique: poses among them without unique points or normal, compared in the distance
            alone.
        not_verified: poses among them without an exact witness to compare with.
        at: the pose with the largest value of each error.
    """

    errors: tuple[float, float, float]
    poses: int
    not_unique: int
    not_verified: int
    at: tuple[int, int, int]


@dataclass(frozen=True)
class Derivatives:
    """Largest relative errors of a pair's derivatives.

    Attributes:
        errors: by kind of derivative, of `DERIVATIVES`; negative if the pair has none.
        poses: number of poses compared.
        near_a_switch: poses left out because the features change nearby or the derivative is
            one-sided.
        jumped: poses left out because the query switched to another separating direction nearby.
        passed_over: coordinates of vertices left out because they flip an edge of the mesh to the
            other diagonal nearby.
        at: the pose with the largest value of each error.
    """

    errors: tuple[float, ...]
    poses: int
    near_a_switch: int
    jumped: int
    passed_over: int
    at: tuple[int, ...]


@dataclass(frozen=True)
class Pair:
    """Two types of shapes.

    Attributes:
        a, b: their numbers.
        names: their names.
        analytic: True if the engine has a closed form.
    """

    a: int
    b: int
    names: tuple[str, str]
    analytic: bool


class Accuracy:
    """Errors of pairs over seeded poses.

    Args:
        library: of `load`.
        seed: of the poses.
    """

    def __init__(self, library: ctypes.CDLL, seed: int):
        self._library, self._seed = library, seed

    def pairs(self) -> Iterator[Pair]:
        """Iterate over every pair of shape types, each once."""
        library, n = self._library, self._library.accuracy_n_shape_types()
        names = [library.accuracy_shape_type_name(k).decode() for k in range(n)]
        for a in range(n):
            for b in range(a, n):
                yield Pair(a, b, (names[a], names[b]), bool(library.accuracy_is_analytic(a, b)))

    @staticmethod
    def unbounded(pair: Pair) -> bool:
        """Return True for two half-spaces, which have a distance only if they face each other."""
        return pair.names == ("half_space", "half_space")

    def values(self, pair: Pair, poses: int) -> Values:
        """Return the largest errors of distance, points and normal."""
        out = (ctypes.c_double * 9)()
        if self.unbounded(pair):
            self._library.accuracy_half_spaces(self._seed, 0, poses, out)
        else:
            self._library.accuracy_values(pair.a, pair.b, self._seed, 0, poses, out)
        distance, points, normal, *rest = out
        compared, not_unique, not_verified, *at = (int(x) for x in rest)
        return Values(
            (distance, points, normal), compared, not_unique, not_verified, (at[0], at[1], at[2])
        )

    def derivatives(self, pair: Pair, poses: int) -> Derivatives:
        """Return the largest errors of derivatives."""
        out = (ctypes.c_double * 12)()
        self._library.accuracy_derivatives(pair.a, pair.b, self._seed, 0, poses, out)
        compared, near, jumped, passed_over, *at = (int(x) for x in out[4:])
        return Derivatives(tuple(out[:4]), compared, near, jumped, passed_over, tuple(at))


class Fuzz:
    """Hostile scenes.

    Args:
        library: of `load`.
        seed: of the scenes.
        vertices_of_large: number of points from which large meshes are made.
    """

    def __init__(self, library: ctypes.CDLL, seed: int, vertices_of_large: int):
        self._library = library
        self._scenes = library.fuzz_new(seed, vertices_of_large)
        self._slowest = ctypes.c_double(0)
        self._slowest_scene = ctypes.c_uint64(0)

    def __del__(self) -> None:
        if getattr(self, "_scenes", None):
            self._library.fuzz_delete(self._scenes)

    @property
    def slowest(self) -> tuple[float, int]:
        """Longest time of all queries about one scene [s], and the number of that scene."""
        return self._slowest.value, self._slowest_scene.value

    def failures(self, begin: int, end: int, tolerance: float) -> Iterator[tuple[int, str]]:
        """Yield the numbers of scenes that violate a law, and the law.

        Args:
            begin: number of the first scene.
            end: number after the last.
            tolerance: of lengths, as a fraction of the scene's size.
        """
        text = ctypes.create_string_buffer(200)
        while begin < end:
            found = self._library.fuzz_run(
                self._scenes, begin, end, tolerance,
                ctypes.byref(self._slowest), ctypes.byref(self._slowest_scene), text, len(text),
            )  # fmt: skip
            if found < end:
                yield found, text.value.decode()
            begin = found + 1
