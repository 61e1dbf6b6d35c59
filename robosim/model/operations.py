"""Calls of the engine's operations from the methods of `Model` and `Data`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from robosim import _engine
from robosim.errors import ModelError, suggestion
from robosim.model.checks import leading_axes, real_array
from robosim.model.parts import FloatArray

if TYPE_CHECKING:
    from robosim._engine import Model as EngineModel

__all__ = ["Axes", "Choices", "External", "Operations", "Results", "operation_index"]

Axes = Literal["world", "local"]
External = Mapping[str, ArrayLike]
Results = TypeVar("Results", bound=tuple[FloatArray, ...])

_ROWS = _engine.operations()


def operation_index(name: str) -> int:
    """Index of an operation in the engine's registry."""
    index: int = _ROWS[name]["index"]
    return index


# Operations about the center of mass, which a model without mass does not have.
_OF_CENTER = {name for name in _ROWS if name.startswith("center_of_mass")}


class Choices(NamedTuple):
    """Options of a call besides its arrays, in the engine's order.

    Attributes:
        frames: index of a link's frame, for results without an axis for frames; or several indices.
        wrench_frames: frames on which the wrenches act. Wrenches are the last input array.
        local: True for results in the frame's axes.
        joint_forces: True to include the joints' damping, friction and springs.
        columns: number of columns of arguments with any number of columns; -1 for vectors.
    """

    frames: int | tuple[int, ...] = ()
    wrench_frames: tuple[int, ...] = ()
    local: bool = False
    joint_forces: bool = False
    columns: int = -1


class Operations(ABC):
    """Base of all groups of methods."""

    name: str
    n_q: int
    n_v: int
    _engine: EngineModel
    _frames: Mapping[str, int]
    _dynamics_fault: str

    def _frame(self, link: str) -> int:
        try:
            return self._frames[link]
        except (KeyError, TypeError):
            raise ModelError(f"there is no link {link!r}{suggestion(link, self._frames)}") from None

    def _refusal(self, operation: str) -> str | None:
        """Reason why the operation is invalid for this model at every state, or None."""
        if self._dynamics_fault and _ROWS[operation]["uses_inertia"]:
            return self._dynamics_fault
        if _ROWS[operation]["solves"] and self._engine.massless:
            names = ", ".join(repr(self._engine.joints[i].name) for i in self._engine.massless)
            return (
                f"the mass matrix of {self.name!r} is singular: nothing with mass moves along with"
                f" {names}"
            )
        if operation in _OF_CENTER and _engine.total_mass(self._engine) == 0:
            return f"model {self.name!r} has no mass and so no center of mass"
        return None

    def _all_frames(self) -> Choices:
        return Choices(frames=tuple(self._frames.values()))

    def _choices(
        self,
        operation: str,
        link: str | None,
        axes: str,
        external: External | None,
        joint_forces: bool,
        columns: int = -1,
    ) -> Choices:
        if axes not in ("world", "local"):
            raise ModelError(f"frame is {axes!r}; valid are 'world' and 'local'")
        if refusal := self._refusal(operation):
            raise ModelError(refusal)
        return Choices(
            () if link is None else self._frame(link),
            tuple(self._frame(link) for link in external) if external else (),
            axes == "local",
            bool(joint_forces),
            columns,
        )

    @abstractmethod
    def _evaluate(
        self,
        operation: str,
        inputs: tuple[ArrayLike, ...],
        choices: Choices,
        out: Any,
        results: type[tuple[FloatArray, ...]] | None,
    ) -> Any:
        """Run the operation. Results go to `out`, or to memory of the Model or Data."""

    def _array(
        self,
        operation: str,
        *inputs: ArrayLike,
        out: FloatArray | None = None,
        link: str | None = None,
        axes: str = "world",
        external: External | None = None,
        joint_forces: bool = False,
        columns: int = -1,
    ) -> FloatArray:
        """Compute an operation with one result."""
        choices = self._choices(operation, link, axes, external, joint_forces, columns)
        if external:
            inputs = (*inputs, stacked_wrenches(external))
        try:
            array: FloatArray = self._evaluate(operation, inputs, choices, out, None)
        except ModelError as wrong:
            raise self._explained(wrong, inputs) from None
        return array

    def _arrays(
        self,
        results: type[Results],
        operation: str,
        *inputs: ArrayLike,
        out: Results | None = None,
        link: str | None = None,
        axes: str = "world",
        external: External | None = None,
        joint_forces: bool = False,
    ) -> Results:
        """Compute an operation with several results."""
        choices = self._choices(operation, link, axes, external, joint_forces)
        if external:
            inputs = (*inputs, stacked_wrenches(external))
        try:
            arrays: Results = self._evaluate(operation, inputs, choices, out, results)
        except ModelError as wrong:
            raise self._explained(wrong, inputs) from None
        return arrays

    def _explained(self, wrong: ModelError, inputs: tuple[ArrayLike, ...]) -> ModelError:
        """Add a hint to an error if q has only the positions of the planned joints of the robot."""
        if (
            str(wrong).startswith("q has shape")
            and np.ndim(inputs[0]) == 1
            and 0 < np.size(inputs[0]) < self.n_q
        ):
            return ModelError(
                f"{wrong}, all of {self.name!r}: of a plan that moves some joints"
                " result.configuration(t) gives them, of a motion trajectory.configuration(t,"
                " model)"
            )
        return wrong


def stacked_wrenches(external: External) -> FloatArray:
    """Stack wrenches to (..., k, 6) in the mapping's order, with their leading axes broadcast."""
    each = [
        real_array(wrench, (*leading_axes(wrench, 1), 6), f"wrench on {link!r}")
        for link, wrench in external.items()
    ]
    leading = {wrench.shape[:-1] for wrench in each}
    if len(leading) == 1:
        return np.stack(each, axis=-2)
    try:
        shape = np.broadcast_shapes(*leading)
    except ValueError:
        raise ModelError(
            "leading axes of wrenches must broadcast; they are"
            f" {', '.join(map(str, sorted(leading)))}"
        ) from None
    return np.stack([np.broadcast_to(wrench, (*shape, 6)) for wrench in each], axis=-2)
