"""Calls of operations in the engine's registry, with arrays of the right shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robosim import _engine
from robosim.model import Model

Array = np.ndarray
Inputs = dict[str, Array]

OPERATIONS: dict[str, dict[str, Any]] = _engine.operations()

# Number of columns of a matrix where the number is free.
COLUMNS = 3


def extents(
    model: Model, shape: tuple[str | int, ...], options: Mapping[str, Any]
) -> tuple[int, ...]:
    """Numbers for the symbolic shape in a row of the registry."""
    bodies = model.floating_base + sum(joint.kind != "fixed" for joint in model.joints)
    known = {
        "n_q": model.n_q,
        "n_v": model.n_v,
        "frames": len(options.get("frames", ())),
        "wrenches": len(options.get("wrench_frames", ())),
        "bodies": bodies,
        "joints": bodies,
        "inertial": 10 * bodies,
        "columns": COLUMNS,
    }
    return tuple(known[extent] if isinstance(extent, str) else extent for extent in shape)


def options_of(
    operation: str,
    frames: list[int],
    *,
    local: bool = False,
    wrenches: bool = False,
    joint_forces: bool = False,
) -> dict[str, Any]:
    """Options of a call, with these frames wherever the operation takes frames."""
    row = OPERATIONS[operation]
    options: dict[str, Any] = {"local": local, "joint_forces": joint_forces}
    if row["takes_frames"]:
        options["frames"] = frames
    if wrenches:
        options["wrench_frames"] = frames
    if any("columns" in shape for shape in row["inputs"].values()):
        options["columns"] = COLUMNS
    return options


def random_inputs(
    model: Model,
    operation: str,
    options: Mapping[str, Any],
    rng: np.random.Generator,
    n: int,
    given: Mapping[str, Array] | None = None,
) -> Inputs:
    """Random (n, ...) arrays for all inputs, by name; inputs in `given` are used as they are.

    Wrenches come last and are as large as forces on a robot. The factor L of M belongs to q in
    `given`, or else to random configurations.
    """
    given = given or {}
    inputs: Inputs = {}
    for name, shape in OPERATIONS[operation]["inputs"].items():
        if name in given:
            inputs[name] = given[name]
        elif shape == ("n_q",):
            inputs[name] = random_configurations(model, rng, n)
        elif name == "L":
            q = given.get("q", random_configurations(model, rng, n))
            (inputs[name],) = evaluate_batch(model, "mass_factor", {"q": q}, {})
        else:
            inputs[name] = rng.uniform(-2, 2, (n, *extents(model, shape, options)))
    if options.get("wrench_frames"):
        shape = (n, len(options["wrench_frames"]), 6)
        inputs["wrenches"] = (
            given["wrenches"] if "wrenches" in given else rng.uniform(-10, 10, shape)
        )
    return inputs


def random_configurations(model: Model, rng: np.random.Generator, n: int) -> Array:
    return np.array([model.random_configuration(rng) for _ in range(n)]).reshape(n, model.n_q)


def evaluate(
    model: Model, operation: str, inputs: Inputs, options: Mapping[str, Any]
) -> tuple[Array, ...]:
    """All results for one state."""
    index = OPERATIONS[operation]["index"]
    data = _engine.OperationData(model._engine)
    return as_tuple(_engine.evaluate(index, model._engine, data, tuple(inputs.values()), **options))


def evaluate_batch(
    model: Model, operation: str, inputs: Inputs, options: Mapping[str, Any], *, threads: int = 1
) -> tuple[Array, ...]:
    """All results for all states."""
    index = OPERATIONS[operation]["index"]
    batch = _engine.Batch()
    return as_tuple(
        _engine.evaluate_batch(
            index, model._engine, batch, tuple(inputs.values()), threads=threads, **options
        )
    )


def as_tuple(result: Any) -> tuple[Array, ...]:
    return result if isinstance(result, tuple) else (result,)
