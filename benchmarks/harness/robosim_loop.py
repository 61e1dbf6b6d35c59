"""The engine's dynamics in C++ loops over the states of a robot.

The loops are `robosim_loop/robosim_loop.cpp`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from harness.compiled import declare, with_engine
from robosim.model import Model

SOURCE = Path(__file__).with_name("robosim_loop")
FLOORS = ("base", "spatial", "geometry", "model", "dynamics")

# Operations with the outputs that are compared, under the names of `PinocchioLoop.results`.
RESULTS = {
    "frame_poses": {"X_WF": 0},
    "frame_jacobians": {"J": 0},
    "rnea": {"rnea": 0},
    "crba": {"crba": 0},
    "forward_dynamics": {"aba": 0},
    "mass_matrix_inverse": {"mass_matrix_inverse": 0},
    "rnea_derivatives": {"dtau_dq": 0, "dtau_dv": 1},
    "forward_dynamics_derivatives": {"da_dq": 1, "da_dv": 2},
}


def compiled(name: str = "robosim_loop", floors: Sequence[str] = FLOORS) -> Path:
    """Return the loops with the checkout's engine in one shared library, built if not in the cache.

    Args:
        name: of the library and its source.
        floors: folders of the engine that it is made of.

    Raises:
        RuntimeError: no C++ compiler or CMake, or their own message.
    """
    return with_engine(
        name,
        SOURCE,
        floors,
        SOURCE.parent.glob("*.h"),
        purpose="the engine's side of this benchmark",
    )


def load() -> ctypes.CDLL:
    """Return the library with its functions declared."""
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
        ("add_frame", number, [pointer, text]),
        ("lanes", number, []),
        ("run", number, [pointer, text, number]),
        ("run_batch", number, [pointer, text, number, number]),
        ("run_one", number, [pointer, text, number]),
        ("output", ctypes.POINTER(real), [pointer, number]),
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
        links: links whose poses the loops compute; the Jacobian is of the last link.
        library: from `load`.
    """

    def __init__(
        self, model: Model, gravity: np.ndarray, links: Sequence[str], library: ctypes.CDLL
    ):
        self._library = library
        self.n_v = model.n_v
        self.n_links = len(links)
        self._robot = library.robot_new(model.floating_base)
        for link in model.links:
            com, I_com = _array(link.com), _array(link.inertia)
            addresses = com.ctypes.data, I_com.ctypes.data
            self._check(
                library.robot_add_link(self._robot, link.name.encode(), link.mass, *addresses)
            )
        for joint in model.joints:
            names = [name.encode() for name in (joint.name, joint.kind, joint.parent, joint.child)]
            X_PJ, axis = _array(joint.X_PJ), _array(joint.axis)
            addresses = X_PJ.ctypes.data, axis.ctypes.data
            self._check(library.robot_add_joint(self._robot, *names, *addresses, joint.armature))
        self._check(library.robot_build(self._robot, _array(gravity).ctypes.data))
        for name in links:
            self._check(library.robot_add_frame(self._robot, name.encode()))

    def __del__(self) -> None:
        if getattr(self, "_robot", None):
            self._library.robot_delete(self._robot)

    def _check(self, status: int) -> None:
        if status:
            raise ValueError(self._library.robot_error(self._robot).decode())

    def set_states(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray) -> None:
        """Set the states: q (n, n_q), v, a and tau (n, n_v)."""
        rows = [_array(values) for values in (q, v, a, tau)]
        self.n_states = len(q)
        self._library.robot_set_states(
            self._robot, len(q), *(values.ctypes.data for values in rows)
        )

    def run(self, operation: str, passes: int) -> None:
        """Run one operation on every state, `passes` times."""
        self._check(self._library.robot_run(self._robot, operation.encode(), passes))

    def run_batch(self, operation: str, passes: int, *, threads: int) -> None:
        """Run one operation on all states as one batch, `passes` times."""
        self._check(self._library.robot_run_batch(self._robot, operation.encode(), threads, passes))

    def results(self, state: int) -> dict[str, np.ndarray]:
        """Return all results for one state, under the names of `PinocchioLoop.results`."""
        out = {}
        for operation, outputs in RESULTS.items():
            self._check(self._library.robot_run_one(self._robot, operation.encode(), state))
            out.update({name: self._output(k, self._shape(name)) for name, k in outputs.items()})
        return out

    def batch_results(self, threads: int) -> dict[str, np.ndarray]:
        """Return all results by batches, with a leading axis for the states."""
        out = {}
        for operation, outputs in RESULTS.items():
            self.run_batch(operation, 1, threads=threads)
            out.update(
                {
                    name: self._output(k, (self.n_states, *self._shape(name)))
                    for name, k in outputs.items()
                }
            )
        return out

    def _output(self, index: int, shape: tuple[int, ...]) -> np.ndarray:
        return np.ctypeslib.as_array(self._library.robot_output(self._robot, index), shape).copy()

    def _shape(self, name: str) -> tuple[int, ...]:
        shapes = {
            "X_WF": (self.n_links, 4, 4),
            "J": (6, self.n_v),
            "rnea": (self.n_v,),
            "aba": (self.n_v,),
        }
        return shapes.get(name, (self.n_v, self.n_v))
