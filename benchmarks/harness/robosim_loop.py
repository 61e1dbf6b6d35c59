"""The engine's dynamics in C++ loops over the states of a robot (`robosim_loop/robosim_loop.cpp`)."""

from __future__ import annotations

import ctypes
import shutil
from pathlib import Path

import numpy as np

from harness.compiled import cached_library, checked, compiler, declare
from robosim.model import Model

SOURCE = Path(__file__).with_name("robosim_loop")
ENGINE = Path(__file__).resolve().parents[2] / "engine"
FLOORS = ("base", "spatial", "geometry", "model", "dynamics")


def compiled() -> Path:
    """The loops with the checkout's engine in one shared library, built when the cache does not hold it.

    Raises:
        RuntimeError: no C++ compiler or CMake, or their own message.
    """
    files = [ENGINE / "CMakeLists.txt", *sorted(SOURCE.iterdir())]
    for floor in FLOORS:
        files += sorted(file for file in (ENGINE / floor).rglob("*") if file.is_file())
    made_of: list[bytes | str] = [checked([compiler(), "--version"])]
    for file in files:
        made_of += [str(file.relative_to(ENGINE.parent)), file.read_bytes()]

    def build(folder: Path, output: Path) -> None:
        cmake = shutil.which("cmake")
        if cmake is None:
            raise RuntimeError("the engine's loops of this benchmark are compiled when first used: install cmake")
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        checked([cmake, "-S", SOURCE, "-B", folder, *generator, f"-DCMAKE_CXX_COMPILER={compiler()}"])
        checked([cmake, "--build", folder, "--target", "robosim_loop", "--parallel", "2"])
        (folder / "librobosim_loop.so").replace(output)

    return cached_library("robosim_loop", made_of, build)


def load() -> ctypes.CDLL:
    """The library, its functions declared."""
    library = ctypes.CDLL(str(compiled()))
    pointer, number, real, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_double, ctypes.c_char_p
    functions = [
        ("new", pointer, [number]),
        ("delete", None, [pointer]),
        ("error", text, [pointer]),
        ("add_link", number, [pointer, text, real, pointer, pointer]),
        ("add_joint", number, [pointer, text, text, text, text, pointer, pointer, real]),
        ("build", number, [pointer, pointer]),
        ("set_states", None, [pointer, number, pointer, pointer, pointer, pointer]),
        ("run", number, [pointer, text, number]),
        ("result", number, [pointer, text, number, pointer]),
    ]
    declare(library, "robot_", functions)
    return library


def _array(values: object) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=float)


class RobosimLoop:
    """A model in the compiled loops.

    Args:
        model: built from a description without mimic joints.
        gravity: (3,) its gravity [m/s^2].
        library: from `load`.
    """

    def __init__(self, model: Model, gravity: np.ndarray, library: ctypes.CDLL):
        self._library = library
        self._robot = library.robot_new(model.floating_base)
        for link in model.links:
            com, I_com = _array(link.com), _array(link.inertia)
            self._check(
                library.robot_add_link(
                    self._robot, link.name.encode(), link.mass, com.ctypes.data, I_com.ctypes.data
                )
            )
        for joint in model.joints:
            names = (name.encode() for name in (joint.name, joint.kind, joint.parent, joint.child))
            X_PJ, axis = _array(joint.X_PJ), _array(joint.axis)
            self._check(
                library.robot_add_joint(
                    self._robot, *names, X_PJ.ctypes.data, axis.ctypes.data, joint.armature
                )
            )
        gravity = _array(gravity)
        self._check(library.robot_build(self._robot, gravity.ctypes.data))

    def __del__(self) -> None:
        if getattr(self, "_robot", None):
            self._library.robot_delete(self._robot)

    def _check(self, status: int) -> None:
        if status:
            raise ValueError(self._library.robot_error(self._robot).decode())

    def set_states(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray) -> None:
        """What the loops run over: q (n, n_q), v, a and tau (n, n_v)."""
        rows = [_array(values) for values in (q, v, a, tau)]
        self._library.robot_set_states(self._robot, len(q), *(values.ctypes.data for values in rows))

    def run(self, operation: str, passes: int) -> None:
        """One operation on every state, `passes` times over."""
        self._check(self._library.robot_run(self._robot, operation.encode(), passes))
