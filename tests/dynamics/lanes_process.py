"""Compares all operations on many states in lanes with one state at a time.

Run in a process of its own with ROBOSIM_ISA set. The argument is a file for the results. Prints the
number of results compared bit for bit. States differ in every lane. Their number is no multiple of
any number of lanes.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from calls import OPERATIONS, evaluate, evaluate_batch, options_of, random_inputs
from trees import battery

STATES = 13


def main(file: str) -> None:
    results = {}
    compared = 0
    for (k, model), operation in product(enumerate(battery()), OPERATIONS):
        row = OPERATIONS[operation]
        frames = [len(model._engine.frames) - 1, 0, len(model._engine.frames) // 2]
        for local, wrenches, joint_forces in product((False, True), repeat=3):
            if (local and not row["takes_frames"]) or (wrenches and not row["takes_wrenches"]):
                continue
            options = options_of(
                operation, frames, local=local, wrenches=wrenches, joint_forces=joint_forces
            )
            rng = np.random.default_rng([k, row["index"]])
            inputs = random_inputs(model, operation, options, rng, STATES)
            batch = evaluate_batch(model, operation, inputs, options)
            for i in range(STATES):
                alone = evaluate(
                    model, operation, {name: x[i] for name, x in inputs.items()}, options
                )
                for a, b in zip(alone, batch, strict=True):
                    assert np.asarray(a).tobytes() == b[i].tobytes(), (
                        model.name,
                        operation,
                        options,
                        i,
                    )
                    compared += 1
            for (name, _), value in zip(row["outputs"].items(), batch, strict=True):
                results[f"{k} {operation} {name} {local} {wrenches} {joint_forces}"] = value
    for k, model in enumerate(battery()):
        rng = np.random.default_rng([k, OPERATIONS["crba"]["index"]])
        results[f"{k} condition"] = np.linalg.cond(
            evaluate_batch(model, "crba", random_inputs(model, "crba", {}, rng, 200), {})[0]
        )
    np.savez(file, **results)
    print(compared)


if __name__ == "__main__":
    main(sys.argv[1])
