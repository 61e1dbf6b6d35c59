"""Collision checks by coal with Pinocchio's kinematics, for the same shapes and pairs as robosim's.

The checker itself is C++ (`coal_checker.cpp`), compiled on first use against the headers of the
`coal` wheels. The library is kept in the user's cache directory under a name that includes the hash
of the source and the versions. The joint tree comes from Pinocchio's URDF parser, so the check
shares no kinematics with robosim.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.compiled import cached_library, checked, compiler, declare
from robosim.geometry import TriangleMesh

SOURCE = Path(__file__).with_name("coal_checker.cpp")
HEADER = Path(__file__).with_name("coal_shapes.h")
SHAPE_TYPES = {
    "sphere": 0, "box": 1, "capsule": 2, "cylinder": 3, "half_space": 4, "convex": 5,
    "ellipsoid": 6, "cone": 7,
    "triangle": 8, "mesh": 9,
}  # fmt: skip


def prefix() -> Path:
    """Return the folder into which coal's wheel installs headers and libraries."""
    import coal

    return Path(coal.__file__).resolve().parents[4]


def options(prefix: Path) -> list[str]:
    """Return the compiler options for a shared library with coal."""
    include = [f"-I{prefix}/include", f"-I{prefix}/include/eigen3"]
    return [
        "-std=c++17",
        "-O3",
        "-DNDEBUG",
        "-w",
        "-shared",
        "-fPIC",
        "-fvisibility=hidden",
        *include,
    ]


def libraries(prefix: Path) -> list[str]:
    """Return the linker options."""
    return [f"-L{prefix}/lib", "-lcoal", f"-Wl,-rpath,{prefix}/lib"]


def compiled() -> Path:
    """Return the checker's shared library, built if it is not in the cache.

    Raises:
        RuntimeError: no C++ compiler, or the compiler's own message.
    """
    import coal

    where = prefix()

    def build(folder: Path, output: Path) -> None:
        checked([compiler(), *options(where), SOURCE, "-o", output, *libraries(where)])

    made_of = [SOURCE.read_bytes(), HEADER.read_bytes(), coal.__version__, str(where)]
    return cached_library("coal_checker", made_of, build)


def _load() -> ctypes.PyDLL:
    library = ctypes.PyDLL(str(compiled()))
    pointer, number = ctypes.c_void_p, ctypes.c_int
    functions = [
        ("new", pointer, [number, pointer, pointer, pointer, pointer]),
        ("delete", None, [pointer]),
        (
            "add",
            number,
            [pointer, number, pointer, number, pointer, number, pointer, number, pointer],
        ),
        ("pair", None, [pointer, number, number]),
        ("way", None, [pointer, number]),
        ("first_overlap", number, [pointer, pointer]),
        ("count_free", number, [pointer, number, pointer]),
        ("guess", None, [pointer, number]),
        ("distances", None, [pointer, number, pointer, pointer]),
        ("motion", None, [pointer, number, pointer, pointer]),
        ("distance", ctypes.c_double, [pointer, pointer, number]),
    ]
    declare(library, "checker_", functions)
    return library


def _array(values: Any, dtype: type) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=dtype)


def shape_numbers(shape: Any) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """Convert a shape or a mesh to the arguments of `coal_shapes.h`.

    Returns:
        Type, sizes (3,), vertices (n, 3) and faces (m, 3).
    """
    size = np.zeros(3)
    vertices, faces = np.zeros((0, 3)), np.zeros((0, 3), np.int32)
    if isinstance(shape, TriangleMesh):
        return (
            SHAPE_TYPES["mesh"],
            size,
            _array(shape.vertices, float),
            _array(shape.faces, np.int32),
        )
    if shape.type == "box":
        size[:] = shape.size
    elif shape.type == "ellipsoid":
        size[:] = shape.radii
    elif shape.type == "convex":
        vertices, faces = _array(shape.vertices, float), _array(shape.faces, np.int32)
    elif shape.type == "triangle":
        vertices = _array(shape.vertices, float)
    elif shape.type != "half_space":
        size[0] = shape.radius
        size[1] = shape.length if shape.type != "sphere" else 0.0
    return SHAPE_TYPES[shape.type], size, vertices, faces


class CoalChecker:
    """A robot whose `joints` move, with all other joints frozen, among obstacles.

    Args:
        urdf: URDF text.
        joints: names of the joints that move; configurations below are in this order [rad, m].
        frozen: positions of other joints by name; joints that are not named are at zero.
        colliders: (link, X_LC (4, 4), shape or mesh) of the robot, attached objects included.
        obstacles: (X_WO (4, 4), shape).
        pairs: (m, 2) indices into colliders followed by obstacles; exactly these are checked.
    """

    def __init__(
        self,
        urdf: str,
        joints: Sequence[str],
        frozen: Mapping[str, float],
        colliders: Sequence[tuple[str, np.ndarray, Any]],
        obstacles: Sequence[tuple[np.ndarray, Any]],
        pairs: np.ndarray,
    ):
        import pinocchio as pin

        self._library = _load()
        full = pin.buildModelFromXML(urdf)
        reference = pin.neutral(full)
        for name, value in frozen.items():
            if full.existJointName(name):
                joint = full.joints[full.getJointId(name)]
                # Pinocchio represents continuous joints by (cos, sin).
                turned = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
                reference[joint.idx_q : joint.idx_q + joint.nq] = turned
        locked = [i for i in range(1, full.njoints) if full.names[i] not in set(joints)]
        model = pin.buildReducedModel(full, locked, reference)
        self._to_pin = [list(joints).index(name) for name in list(model.names)[1:]]
        kinds = [self._joint_kind(model.joints[i]) for i in range(1, model.njoints)]
        parents = _array([model.parents[i] - 1 for i in range(1, model.njoints)], np.int32)
        prismatic = _array([kind for kind, _ in kinds], np.int32)
        placements = _array(
            [model.jointPlacements[i].homogeneous for i in range(1, model.njoints)], float
        )
        axes = _array([axis for _, axis in kinds], float)
        self._checker = self._library.checker_new(
            len(kinds),
            parents.ctypes.data,
            prismatic.ctypes.data,
            placements.ctypes.data,
            axes.ctypes.data,
        )
        self._buffer = np.zeros(len(kinds))
        self._address = self._buffer.ctypes.data
        for link, X_LC, shape in colliders:
            frame = model.frames[model.getFrameId(link)]
            self._add(frame.parentJoint - 1, frame.placement.homogeneous @ X_LC, shape)
        for X_WO, shape in obstacles:
            self._add(-1, X_WO, shape)
        self.pairs = _array(pairs, np.int32)
        for a, b in self.pairs:
            self._library.checker_pair(self._checker, int(a), int(b))

    @staticmethod
    def _joint_kind(joint: Any) -> tuple[bool, np.ndarray]:
        """Return whether a Pinocchio joint of one degree of freedom is prismatic, and its axis."""
        data = joint.createData()
        if joint.nv != 1:
            raise ValueError(f"a {joint.shortname()} is not a joint of one coordinate")
        joint.calc(data, np.array([0.0] if joint.nq == 1 else [1.0, 0.0]), np.zeros(1))
        motion = np.asarray(data.S).ravel()
        slides = bool(np.linalg.norm(motion[:3]) > 0.5)
        return slides, motion[:3] if slides else motion[3:]

    def _add(self, joint: int, X: np.ndarray, shape: Any) -> None:
        X = _array(X, float)
        kind, size, vertices, faces = shape_numbers(shape)
        self._library.checker_add(
            self._checker, joint, X.ctypes.data, kind, size.ctypes.data,
            len(vertices), vertices.ctypes.data, len(faces), faces.ctypes.data,
        )  # fmt: skip

    def __del__(self) -> None:
        if getattr(self, "_checker", None):
            self._library.checker_delete(self._checker)

    def use(self, way: str) -> None:
        """Select coal's broad phase: "trees" (coal's own, the default) or "boxes"."""
        self._library.checker_way(self._checker, ["trees", "boxes"].index(way))

    def rows(self, q: np.ndarray) -> np.ndarray:
        """Reorder configurations (n, joints) to the order of the checker's own joints."""
        return _array(np.atleast_2d(q)[:, self._to_pin], float)

    def is_free(self, q: Sequence[float]) -> bool:
        """Return True if no pair overlaps at q."""
        for k, i in enumerate(self._to_pin):
            self._buffer[k] = q[i]
        return bool(self._library.checker_first_overlap(self._checker, self._address) < 0)

    def count_free(self, q: np.ndarray) -> int:
        """Count the free ones of configurations (n, joints), in one call into C++."""
        return self.count_free_rows(self.rows(q))

    def count_free_rows(self, rows: np.ndarray) -> int:
        """Count the free ones of `rows(q)`, for timing."""
        return int(self._library.checker_count_free(self._checker, len(rows), rows.ctypes.data))

    def guess(self, kind: int) -> None:
        """Select coal's initial guess: 0 its default, 1 bounding volumes, 2 the last answer."""
        self._library.checker_guess(self._checker, kind)

    def distances(self, q: np.ndarray) -> np.ndarray:
        """Signed distances [m] of all pairs at configurations (n, joints): (n, pairs)."""
        return self.distances_rows(self.rows(q))

    def distances_rows(self, rows: np.ndarray) -> np.ndarray:
        """Signed distances as `distances` returns them, from `rows(q)`, for timing."""
        out = np.zeros((len(rows), len(self.pairs)))
        self._library.checker_distances(self._checker, len(rows), rows.ctypes.data, out.ctypes.data)
        return out

    def motion(self, q: np.ndarray) -> np.ndarray:
        """Largest displacement [m] of any point of the robot between successive configurations.

        The shape of the result is (n - 1,).
        """
        rows, motion = self.rows(q), np.zeros(max(len(q) - 1, 0))
        self._library.checker_motion(self._checker, len(rows), rows.ctypes.data, motion.ctypes.data)
        return motion

    def overlaps(self, q: np.ndarray) -> list[tuple[int, int, float]]:
        """Find the configurations (n, joints) that are not free.

        Returns:
            (row, pair, signed distance [m]) of each, for its first overlapping pair.
        """
        found = []
        for row, configuration in enumerate(self.rows(q)):
            pair = self._library.checker_first_overlap(self._checker, configuration.ctypes.data)
            if pair >= 0:
                distance = self._library.checker_distance(
                    self._checker, configuration.ctypes.data, pair
                )
                found.append((row, int(pair), float(distance)))
        return found
