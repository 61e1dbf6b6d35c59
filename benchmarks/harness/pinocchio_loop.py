"""Pinocchio's algorithms in C++ loops over the states of a robot (`pinocchio_loop.cpp`).

The loops are compiled from the headers of the wheel `pin` without linking the wheel's library,
whose machine code is for the oldest processors. The flags are those with which Pinocchio is
fastest. On an AMD EPYC with AVX-512 and gcc 12, AVX2 and FMA (x86-64-v3) are 4 % faster than the
baseline over all algorithms and robots (29 % in ABA derivatives of Talos). They are 3 % faster than
-march=native, which is up to 5 % faster in CRBA and RNEA derivatives and up to 18 % slower
elsewhere.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from harness.compiled import cached_library, checked, compiler, cpu, declare

SOURCE = Path(__file__).with_name("pinocchio_loop.cpp")
# Definitions of the wheel's own CMake files.
DEFINITIONS = (
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)


def flags() -> tuple[str, ...]:
    """Return the compiler's options, as the module describes."""
    known = cpu().split()
    return (
        "-O3",
        "-DNDEBUG",
        "-march=x86-64-v3" if {"avx2", "fma", "bmi2"} <= set(known) else "-march=native",
    )


def compiled() -> Path:
    """Return the library of the loops, built if it is not in the cache in 2 to 4 minutes.

    Raises:
        RuntimeError: no C++ compiler, or the compiler's own message.
    """
    import pinocchio as pin

    prefix = Path(pin.__file__).resolve().parents[4]
    # Hide all symbols and bind them locally, to keep them separate from the same templates in the
    # wheel's library.
    apart = ("-fvisibility=hidden", "-fno-gnu-unique", "-Wl,-Bsymbolic")

    def build(folder: Path, output: Path) -> None:
        command = [
            compiler(),
            "-std=c++17",
            *flags(),
            "-w",
            "-shared",
            "-fPIC",
            *apart,
            *DEFINITIONS,
        ]
        checked(
            [*command, f"-I{prefix}/include", f"-I{prefix}/include/eigen3", SOURCE, "-o", output]
        )

    version = checked([compiler(), "--version"])
    made_of = [SOURCE.read_bytes(), pin.__version__, str(prefix), version, cpu(), *flags()]
    return cached_library("pinocchio_loop", made_of, build)


def load() -> ctypes.CDLL:
    """Return the library with its functions declared."""
    library = ctypes.CDLL(str(compiled()))
    pointer, number, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
    functions = [
        ("new", pointer, [pointer]),
        ("delete", None, [pointer]),
        ("add_joint", number,
         [pointer, number, text, pointer, pointer, ctypes.c_double, pointer, pointer, pointer]),
        ("set_states", None, [pointer, number, pointer, pointer, pointer, pointer]),
        ("run", number, [pointer, text, number]),
        ("results", None, [pointer, number, number, pointer]),
    ]  # fmt: skip
    declare(library, "robot_", functions)
    return library


def axis_of(joint: Any) -> np.ndarray:
    """Axis (3,) of a Pinocchio joint of one degree of freedom, zero for others."""
    if joint.nv != 1:
        return np.zeros(3)
    data = joint.createData()
    joint.calc(data, np.array([0.0] if joint.nq == 1 else [1.0, 0.0]), np.zeros(1))
    motion = np.asarray(data.S).ravel()
    return motion[:3] if motion[:3].any() else motion[3:]


class PinocchioLoop:
    """A robot as Pinocchio read it, in the compiled loops.

    Args:
        source: a `pinocchio.Model`.
        library: from `load`.
    """

    def __init__(self, source: Any, library: ctypes.CDLL):
        self._library = library
        self.n_v: int = source.nv
        self.n_joints: int = source.njoints - 1

        def array(values: Any) -> np.ndarray:
            return np.ascontiguousarray(values, dtype=float)

        gravity = array(source.gravity.linear)
        self._robot = library.robot_new(gravity.ctypes.data)
        for i in range(1, source.njoints):
            joint, inertia = source.joints[i], source.inertias[i]
            numbers = [
                array(axis_of(joint)),
                array(source.jointPlacements[i].homogeneous),
                array(inertia.lever),
                array(inertia.inertia),
                array(source.armature[joint.idx_v : joint.idx_v + joint.nv]),
            ]
            axis, X_PJ, com, I_com, armature = (values.ctypes.data for values in numbers)
            index = library.robot_add_joint(
                self._robot, source.parents[i], joint.shortname().encode(), axis, X_PJ,
                inertia.mass,
                com, I_com, armature,
            )  # fmt: skip
            if index != i:
                raise ValueError(
                    f"the loops know no {joint.shortname()}, which {source.names[i]!r} is"
                )

    def __del__(self) -> None:
        if getattr(self, "_robot", None):
            self._library.robot_delete(self._robot)

    def set_states(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray) -> None:
        """Set the states in Pinocchio's coordinates: q (n, nq), v, a and tau (n, nv)."""
        rows = [np.ascontiguousarray(values, dtype=float) for values in (q, v, a, tau)]
        self._library.robot_set_states(
            self._robot, len(q), *(values.ctypes.data for values in rows)
        )

    def run(self, algorithm: str, passes: int) -> None:
        """Run one algorithm on every state, `passes` times."""
        if self._library.robot_run(self._robot, algorithm.encode(), passes):
            raise ValueError(f"the loops have no {algorithm!r}")

    def results(self, state: int, *, world: bool) -> dict[str, np.ndarray]:
        """Return all results for one state; crba and aba in the world's or the joints' frames."""
        n = self.n_v
        shapes = {
            "X_WF": (self.n_joints, 4, 4),
            "J": (6, n),
            "rnea": (n,),
            "crba": (n, n),
            "aba": (n,),
            "mass_matrix_inverse": (n, n),
            "dtau_dq": (n, n),
            "dtau_dv": (n, n),
            "da_dq": (n, n),
            "da_dv": (n, n),
        }
        numbers = np.zeros(sum(int(np.prod(shape)) for shape in shapes.values()))
        self._library.robot_results(self._robot, state, world, numbers.ctypes.data)
        out, start = {}, 0
        for name, shape in shapes.items():
            size = int(np.prod(shape))
            out[name] = numbers[start : start + size].reshape(shape)
            start += size
        return out
