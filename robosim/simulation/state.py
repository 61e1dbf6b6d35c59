"""State and control: all that a step depends on beside its simulation; and files of states."""

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
DRIVES = ("tau", "q_target", "v_target")  # of a control


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
    """(n,) what a file holds: of one state, and of a control that is one for all steps."""
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
    """Where everything is and how it moves. A step from the same state is the same to the bit.

    With leading axes it stands for many states at one time, for `Simulation.rollout`.

    Attributes:
        q: (..., n_q) configuration.
        v: (..., n_v) velocity.
        time: [s].
        report: how the step that led here was solved; None of a state that no step made. Nothing
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
        """From arrays of a step, which are fresh and finite."""
        q.setflags(write=False)
        v.setflags(write=False)
        made = object.__new__(cls)
        made.__dict__.update(q=q, v=v, time=time, _of_engine=report)
        return made

    def __getattr__(self, name: str) -> Any:
        # Only a step's report is not there from the start: few look at it, and a loop makes one for
        # each step.
        if name != "report" or "_of_engine" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.__dict__.setdefault("report", report_from(self.__dict__["_of_engine"]))

    def save(self, path: str | PathLike[str], control: Control | None = None) -> None:
        """Write it as JSON, whole or not at all; `load` gives the same numbers to the bit.

        Given a control that is one for all steps, `Control.load` gives that too: what it drives
        goes on exactly.

        Raises:
            FileError: it cannot be written.
            SimulationError: it is not one state, or the control is not one for all steps.
        """
        # repr of a float, which json writes, is the shortest text that is read back as the same
        # number.
        content: dict[str, Any] = {"format": _FORMAT, "time": float(self.time)}
        content |= {name: _row(x, name).tolist() for name, x in (("q", self.q), ("v", self.v))}
        driven = {} if control is None else {name: getattr(control, name) for name in DRIVES}
        content |= {name: _row(x, name).tolist() for name, x in driven.items() if x is not None}
        write_file(path, json.dumps(content).encode())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> State:
        """What `save` wrote.

        Raises:
            FileError: it cannot be read.
            SimulationError: it is not a state.
        """
        return _load(
            path,
            lambda content: cls(
                _row(content["q"], "q"), _row(content["v"], "v"), float(content["time"])
            ),
        )


@dataclass(frozen=True, eq=False)
class Control(Value):
    """What drives a step; it is held until the end of the step.

    For `Simulation.rollout` each array may have a row for each step, (..., steps, n), or one for
    all, (n,) or (..., 1, n), with leading axes for many runs.

    Attributes:
        tau: (n_v,) forces of the joints [N m or N], on what moves freely the wrench in its own
        axes; None for none.
        q_target: (n_q,) positions that motors pull to; None: where the joints are, so that only
        v_target counts.
        v_target: (n_v,) velocities that motors pull to; None: rest.
    """

    tau: ArrayLike | None = None
    q_target: ArrayLike | None = None
    v_target: ArrayLike | None = None

    def copy(self) -> Control:
        """The same numbers in arrays of its own, which nothing writes to."""
        return Control(
            *(x if x is None else _copied(x) for x in (self.tau, self.q_target, self.v_target))
        )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Control:
        """What `State.save` wrote beside the state: nothing drives where it was not given a
        control.

        Raises:
            FileError: it cannot be read.
            SimulationError: it is not a state, or what drives is not a list of finite numbers.
        """
        return _load(
            path,
            lambda content: cls(*(_row(content[x], x) if x in content else None for x in DRIVES)),
        )


_Loaded = TypeVar("_Loaded")


def _load(path: str | PathLike[str], make: Callable[[Any], _Loaded]) -> _Loaded:
    """What is made of the content of a file of a state."""
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
