"""Queries between two shapes in C++ loops over poses, robosim's and coal's (`pair_loop.h`)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness import coal_checker, robosim_loop
from harness.compiled import cached_library, checked, compiler, declare

HERE = Path(__file__).parent
FLOORS = ("base", "spatial", "geometry")


class Operation(IntEnum):
    """Timed queries, as numbered in `pair_loop.h`."""

    DISTANCE = 0
    OVERLAP = 1
    FACTORS = 2
    DENSE = 3


class Answer(NamedTuple):
    """Signed distance with witness points, see `robosim.geometry.Witness`."""

    distance: float
    p_WA: np.ndarray
    p_WB: np.ndarray
    normal: np.ndarray


class _ShapeData(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("size", ctypes.c_void_p),
        ("n_vertices", ctypes.c_int),
        ("vertices", ctypes.c_void_p),
        ("n_faces", ctypes.c_int),
        ("faces", ctypes.c_void_p),
    ]


def _declared(file: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(file))
    pointer, number, size = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
    functions = [
        ("new", pointer, []),
        ("delete", None, [pointer]),
        ("add", None, [pointer, pointer, pointer]),
        ("place", None, [pointer, size, pointer, pointer]),
        ("guess", None, [pointer, number]),
        ("run", None, [pointer, number, number, pointer]),
        ("answer", None, [pointer, size, size, pointer]),
        ("overlap", number, [pointer, size, size]),
        ("plane", ctypes.c_double, [pointer, size, size, pointer]),
    ]
    declare(library, "pairs_", functions)
    return library


def load_ours() -> ctypes.CDLL:
    """Return the engine's library, compiled from the checkout if it is not in the cache.

    Raises:
        RuntimeError: no C++ compiler or CMake, or their own message.
    """
    return _declared(robosim_loop.compiled("robosim_pair_loop", FLOORS))


def load_coal() -> ctypes.CDLL:
    """Return coal's library, compiled against its wheel if it is not in the cache.

    Raises:
        RuntimeError: no C++ compiler, or the compiler's own message.
    """
    import coal

    sources = [HERE / name for name in ("coal_pair_loop.cpp", "pair_loop.h", "coal_shapes.h")]
    prefix = coal_checker.prefix()

    def build(folder: Path, output: Path) -> None:
        checked(
            [
                compiler(),
                *coal_checker.options(prefix),
                sources[0],
                "-o",
                output,
                *coal_checker.libraries(prefix),
            ]
        )

    made_of = [*(source.read_bytes() for source in sources), coal.__version__, str(prefix)]
    return _declared(cached_library("coal_pair_loop", made_of, build))


class PairLoop:
    """Pairs of shapes with poses in one of the compiled loops.

    Args:
        library: from `load_ours` or `load_coal`.
        pairs: (A, B) of each.
        X_WA: (n, 4, 4) poses of A: the first n / len(pairs) belong to the first pair, and so on.
        X_WB: (n, 4, 4) poses of B.
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        pairs: Sequence[tuple[Any, Any]],
        X_WA: np.ndarray,
        X_WB: np.ndarray,
    ):
        self._library = library
        self._loop = library.pairs_new()
        for A, B in pairs:
            (data_A, _keep_A), (data_B, _keep_B) = _data(A), _data(B)
            library.pairs_add(self._loop, ctypes.addressof(data_A), ctypes.addressof(data_B))
        self.n = len(X_WA)
        self.n_per_pair = self.n // len(pairs)
        X_WA, X_WB = (np.ascontiguousarray(X, dtype=float) for X in (X_WA, X_WB))
        library.pairs_place(self._loop, self.n, X_WA.ctypes.data, X_WB.ctypes.data)

    def __del__(self) -> None:
        if getattr(self, "_loop", None):
            self._library.pairs_delete(self._loop)

    def guess(self, kind: int) -> None:
        """Set coal's initial guess: 0 its default, 1 bounding volumes, 2 the last answer."""
        self._library.pairs_guess(self._loop, kind)

    def seconds(self, operation: Operation, *, cold: bool) -> np.ndarray:
        """Time [s] of one query per pose, (n,); cold: with an empty cache."""
        out = np.zeros(self.n)
        self._library.pairs_run(self._loop, int(operation), cold, out.ctypes.data)
        return out

    def answer(self, pose: int) -> Answer:
        """Return the signed distance with witness points."""
        out = np.zeros(10)
        self._library.pairs_answer(self._loop, pose // self.n_per_pair, pose, out.ctypes.data)
        return Answer(float(out[0]), out[1:4], out[4:7], out[7:])

    def overlap(self, pose: int) -> bool:
        """Return True if the shapes overlap."""
        return bool(self._library.pairs_overlap(self._loop, pose // self.n_per_pair, pose))

    def plane(self, pose: int, normal: np.ndarray) -> float:
        """Distance of the supporting planes of both shapes with a normal, from within the gap.

        It is a lower bound of the distance of the shapes.
        """
        normal = np.ascontiguousarray(normal, dtype=float)
        return float(
            self._library.pairs_plane(self._loop, pose // self.n_per_pair, pose, normal.ctypes.data)
        )


def _data(shape: Any) -> tuple[_ShapeData, Any]:
    """Return the shape as the loops take it, and the objects that must stay alive as long."""
    numbers = coal_checker.shape_numbers(shape)
    size, vertices, faces = numbers[1:]
    data = _ShapeData(
        numbers[0],
        size.ctypes.data,
        len(vertices),
        vertices.ctypes.data,
        len(faces),
        faces.ctypes.data,
    )
    return data, numbers
