"""What a long comparison has found so far, in a file, so that one that ended early goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import robosim._engine
from harness.contact_accuracy import Failure, Tally
from harness.report import write_json


class KeptTallies:
    """By scene and solver, of one number of states, one seed and one build of the engine: others are done again.

    Args:
        file: where; None for nowhere.
        states, seed: of the comparison.
        parameters: whether gradients by parameters are compared.
    """

    def __init__(self, file: Path | None, states: int, seed: int, *, parameters: bool):
        engine = hashlib.sha256(Path(robosim._engine.__file__).read_bytes()).hexdigest()
        self._file = file
        self._of = {"states": states, "seed": seed, "parameters": parameters, "engine": engine}
        self._found: dict[tuple[str, str], Tally] = {}
        if file is None or not file.exists():
            return
        content = json.loads(file.read_text())
        if content["of"] == self._of:
            self._found = {(scene, solver): _tally(tally) for scene, solver, tally in content["tallies"]}

    def __contains__(self, job: tuple[str, str]) -> bool:
        return job in self._found

    def __getitem__(self, job: tuple[str, str]) -> Tally:
        return self._found[job]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._found)

    def add(self, job: tuple[str, str], tally: Tally) -> None:
        """And write all of them."""
        self._found[job] = tally
        if self._file is not None:
            write_json(
                self._file, {"of": self._of, "tallies": [[*job, vars(t)] for job, t in self._found.items()]}
            )


def _tally(content: dict) -> Tally:
    counters = {name: Counter(content[name]) for name in ("compared", "coarse", "switched")}
    return Tally(**{**content, **counters, "failures": [Failure(*x) for x in content["failures"]]})
