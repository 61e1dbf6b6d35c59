"""`State` and `Control`: the arguments of a step, and files of states."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import SimulationError
from robosim.files import read_file, write_file
from robosim.pickling import Value
from robosim.simulation.details import StepReport, report_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from robosim import _engine

__all__ = ["DRIVES", "Control", "State"]

Array = NDArray[np.float64]
_FORMAT = "robosim state 1"
_MAX_BYTES = 64 << 20
DRIVES = ("tau", "q_target", "v_target")  # fields of a control


def _frozen(value: ArrayLike, what: str) -> Array:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SimulationError(f"{what} is not an array of numbers: {error}") from None
    if array.ndim < 1 or not np.isfinite(array).all():
        raise SimulationError(f"{what} is {value!r}; it must be an array of finite numbers")
    array.setflags(write=False)
    return array


def _row(value: ArrayLike, what: str) -> Array:
    """(n,) array for a file, of a single state or a control with one row for all steps."""
    array = _frozen(value, what)
    if array.ndim != 1:
        raise SimulationError(
            f"{what} has shape {array.shape}; in a file it must be a list of finite numbers"
        )
    return array


def _copied(value: ArrayLike) -> Any:
    array = np.array(value)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class State(Value):
    """Configuration, velocity and time of a world. Steps from equal states are the same to the bit.

    With leading axes it stands for many states at one time, for `Simulation.rollout`.

    Attributes:
        q: (..., n_q) configuration.
        v: (..., n_v) velocity.
        time: time [s].
        report: how the step that led here was solved; None if no step made the state. Nothing
            depends on it.

    Raises:
        SimulationError: q or v is not an array of finite numbers, or time is not finite.
    """

    q: Array
    v: Array
    time: float = 0.0
    report: StepReport | None = field(default_factory=lambda: None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", _frozen(self.q, "q"))
        object.__setattr__(self, "v", _frozen(self.v, "v"))
        if not np.isfinite(self.time):
            raise SimulationError(f"time is {self.time}; it must be finite")

    @classmethod
    def _made(cls, q: Array, v: Array, time: float, report: _engine.StepReport) -> State:
        """Make a state from arrays of a step, which are fresh and finite."""
        q.setflags(write=False)
        v.setflags(write=False)
        made = object.__new__(cls)
        made.__dict__.update(q=q, v=v, time=time, _of_engine=report)
        return made

    def __getattr__(self, name: str) -> Any:
        # The report of a step is converted on first access: few callers read it, and a loop makes
        # one for each step.
        if name != "report" or "_of_engine" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.__dict__.setdefault("report", report_from(self.__dict__["_of_engine"]))

    def save(self, path: str | PathLike[str], control: Control | None = None) -> None:
        """Write the state as JSON, whole or not at all; `load` returns the same numbers to the bit.

        If a control with one row for all steps is given, `Control.load` returns it, so that a
        driven simulation can continue exactly.

        Raises:
            FileError: the file cannot be written.
            SimulationError: this is not a single state, or the control is not one for all steps.
        """
        # json writes the repr of a float: the shortest text that is read back as the same number.
        content: dict[str, Any] = {"format": _FORMAT, "time": float(self.time)}
        content |= {name: _row(x, name).tolist() for name, x in (("q", self.q), ("v", self.v))}
        driven = {} if control is None else {name: getattr(control, name) for name in DRIVES}
        content |= {name: _row(x, name).tolist() for name, x in driven.items() if x is not None}
        write_file(path, json.dumps(content).encode())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> State:
        """Load a state that `save` wrote.

        Raises:
            FileError: the file cannot be read.
            SimulationError: the file is not a state.
        """
        return _load(
            path,
            lambda content: cls(
                _row(content["q"], "q"), _row(content["v"], "v"), float(content["time"])
            ),
        )


@dataclass(frozen=True, eq=False)
class Control(Value):
    """Inputs of a step, constant until the end of the step.

    For `Simulation.rollout` each array may have a row for each step, (..., steps, n), or one row
    for all, (n,) or (..., 1, n), with leading axes for many runs.

    Attributes:
        tau: (n_v,) forces of the joints [N m or N], and wrenches on free bodies in their own axes;
            None for none.
        q_target: (n_q,) target positions of motors; None for the present positions, so that only
            v_target counts.
        v_target: (n_v,) target velocities of motors; None for rest.
    """

    tau: ArrayLike | None = None
    q_target: ArrayLike | None = None
    v_target: ArrayLike | None = None

    def copy(self) -> Control:
        """Return a control with the same numbers in read-only arrays of its own."""
        return Control(
            *(x if x is None else _copied(x) for x in (self.tau, self.q_target, self.v_target))
        )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Control:
        """Load the control that `State.save` wrote; an empty control if none was saved.

        Raises:
            FileError: the file cannot be read.
            SimulationError: the file is not a state, or its control is not a list of finite
                numbers.
        """
        return _load(
            path,
            lambda content: cls(*(_row(content[x], x) if x in content else None for x in DRIVES)),
        )


_Loaded = TypeVar("_Loaded")


def _load(path: str | PathLike[str], make: Callable[[Any], _Loaded]) -> _Loaded:
    """Make an object from the content of a state file."""
    try:
        content: Any = json.loads(read_file(path, max_bytes=_MAX_BYTES))
        if content["format"] != _FORMAT:
            raise SimulationError(
                f"format is {content['format']!r}; expected {_FORMAT!r}", file=path
            )
        return make(content)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        if isinstance(error, SimulationError) and error.file is not None:
            raise
        raise SimulationError(f"is not a state of robosim: {error}", file=path) from None
