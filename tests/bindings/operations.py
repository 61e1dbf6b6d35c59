"""Calls of the engine's registered operations, by their entries: inputs, results, choices."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from robosim import _engine
from robosim.errors import RobosimError
from robosim.model import Model

__all__ = ["Operations"]

COUNTS = (0, 1, 2, 3, 9)  # states of a batch; nine leave a remainder for every number of lanes


class Operations:
    """Calls `evaluate`, `evaluate_batch` and `bind_operation` of each operation in all ways."""

    def __init__(self, name: str, model: Model, note: Callable[[str], None]) -> None:
        self.name, self.model, self.note = name, model, note
        self.calls = 0
        self.returned: set[str] = set()
        self.unexpected: dict[str, str] = {}
        self._engine = model._engine
        self._data, self._batch = _engine.OperationData(self._engine), _engine.Batch()
        neutral = np.clip(model.neutral(), model.limits.lower, model.limits.upper)
        self._q = np.array(
            [model.integrate(neutral, 0.01 * i * np.ones(model.n_v)) for i in range(max(COUNTS))]
        )

    def run(self) -> None:
        for (operation, row), choices in self._rows():
            inputs = {name: self._extents(shape, choices) for name, shape in row["inputs"].items()}
            if choices["wrench_frames"]:
                inputs["wrenches"] = (len(choices["wrench_frames"]), 6)
            self._evaluate(operation, row["index"], inputs, choices)
            self._evaluate_batch(operation, row["index"], inputs, choices)
            self._bind(operation, row["index"], inputs, choices)

    def _rows(self) -> Iterator[tuple[tuple[str, Any], dict[str, Any]]]:
        """Each operation with every choice that it has, and an invalid one."""
        last = len(self._engine.frames) - 1
        for name, row in _engine.operations().items():
            has_columns = "columns" in str((row["inputs"], row["outputs"]))
            for frames, wrenches, local, joint_forces, columns in itertools.product(
                (last, [], [0], [last, 0, last]) if row["takes_frames"] else ([], last),
                ([], [last], [0, last, 0]) if row["takes_wrenches"] else ([], [last]),
                (False, True) if row["takes_frames"] else (False,),
                (False, True),
                (-1, 0, 1, 2, 3) if has_columns else (-1,),
            ):
                choices = {"frames": frames, "wrench_frames": wrenches, "local": local}
                yield (name, row), choices | {"joint_forces": joint_forces, "columns": columns}

    def _extents(self, shape: tuple[Any, ...], choices: dict[str, Any]) -> tuple[int, ...]:
        bodies = self._engine.n_bodies - 1
        known = {
            "n_q": self.model.n_q,
            "n_v": self.model.n_v,
            "wrenches": len(choices["wrench_frames"]),
            "bodies": bodies,
            "joints": bodies,
            "inertial": 10 * bodies,
        }
        if isinstance(choices["frames"], list):
            known["frames"] = len(choices["frames"])
        if choices["columns"] >= 0:
            known["columns"] = choices["columns"]
        gone = {"frames", "columns"} - set(known)
        return tuple(n if isinstance(n, int) else known[n] for n in shape if n not in gone)

    def _array(self, name: str, shape: tuple[int, ...], count: int | None = None) -> np.ndarray:
        whole = shape if count is None else (count, *shape)
        if name.startswith("q") and shape == (self.model.n_q,):
            return np.ascontiguousarray(self._q[0] if count is None else self._q[:count])
        return 0.1 + 0.01 * np.arange(float(np.prod(whole))).reshape(whole)

    def _call(self, function: Any, *arguments: Any, told: str, **choices: Any) -> Any:
        self.note(f"{self.name}: {told}, {choices}")
        self.calls += 1
        try:
            result = function(*arguments, **choices)
        except (RobosimError, TypeError, ValueError):
            return None
        except Exception as error:
            self.unexpected.setdefault(
                told, f"{told}, {choices}\n{''.join(traceback.format_exception(error))}"
            )
            return None
        self.returned.add(f"_engine.{getattr(function, '__name__', 'BoundOperation')}")
        return result

    def _evaluate(
        self, name: str, index: int, inputs: dict[str, tuple[int, ...]], choices: dict[str, Any]
    ) -> None:
        given = tuple(self._array(n, shape) for n, shape in inputs.items())
        common = (index, self._engine, self._data)
        result = self._call(_engine.evaluate, *common, given, told=f"evaluate {name}", **choices)
        for out in (result, None if result is None else given[0]):
            self._call(
                _engine.evaluate,
                *common,
                given,
                told=f"evaluate {name} into out",
                out=out,
                **choices,
            )
        self._call(
            _engine.evaluate, *common, given[1:], told=f"evaluate {name} of too few", **choices
        )

    def _evaluate_batch(
        self, name: str, index: int, inputs: dict[str, tuple[int, ...]], choices: dict[str, Any]
    ) -> None:
        common = (index, self._engine, self._batch)
        for count, threads in [*((count, 0) for count in COUNTS), (COUNTS[-1], 1)]:
            given = tuple(self._array(n, shape, count) for n, shape in inputs.items())
            told = f"evaluate_batch {name} of {count}"
            result = self._call(
                _engine.evaluate_batch, *common, given, told=told, threads=threads, **choices
            )
            self._call(
                _engine.evaluate_batch,
                *common,
                given,
                told=told,
                out=result,
                threads=threads,
                **choices,
            )
            for k in range(
                len(given) if threads == 0 and count in (0, 2) else 0
            ):  # one that all states share
                shared = tuple(x[0] if i == k and count else x for i, x in enumerate(given))
                self._call(
                    _engine.evaluate_batch, *common, shared, told=f"{told}, {k} shared", **choices
                )

    def _bind(
        self, name: str, index: int, inputs: dict[str, tuple[int, ...]], choices: dict[str, Any]
    ) -> None:
        given = tuple(self._array(n, shape) for n, shape in inputs.items())
        for results, otherwise in ((None, None), (None, lambda *x: x), (lambda *x: x, None)):
            bound = self._call(
                _engine.bind_operation,
                index,
                self._engine,
                self._data,
                told=f"bind {name}",
                results=results,
                otherwise=otherwise,
                **choices,
            )
            if bound is None:
                continue
            for arguments in (
                given,
                tuple(x.tolist() for x in given),
                given[1:],
                ("x",) * len(given),
            ):
                result = self._call(bound, *arguments, told=f"bound {name}")
            self._call(lambda x=bound: x.results, told=f"results of {name}")
            if isinstance(result, np.ndarray) and result.shape == given[0].shape:
                self._call(bound, result, *given[1:], told=f"bound {name} of its result")
