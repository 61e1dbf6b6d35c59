"""What a long comparison has found so far, in a file, so that one that ended early goes on where it
was."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import robosim._engine
from harness.contact_accuracy import Failure, Tally
from harness.report import write_json


class KeptTallies:
    """By scene and solver, of one number of states, one seed, one engine and harness: others are
    done again.

    Args:
        file: where; None for nowhere.
        states: of each scene and solver.
        seed: of states and directions.
        parameters: whether gradients by parameters are compared.

    Raises:
        SystemExit: the file is none that this has written.
    """

    def __init__(self, file: Path | None, states: int, seed: int, *, parameters: bool):
        self._file = file
        self._of = {"states": states, "seed": seed, "parameters": parameters, "made_by": _made_by()}
        self._found: dict[tuple[str, str], Tally] = {}
        if file is None or not file.exists():
            return
        try:
            content = json.loads(file.read_text())
            if content["of"] == self._of:
                self._found = {
                    (scene, solver): _tally(tally) for scene, solver, tally in content["tallies"]
                }
        except (ValueError, KeyError, TypeError) as error:
            raise SystemExit(
                f"{file} was not written by --keep ({error!r}); name another file"
            ) from None

    def __contains__(self, job: tuple[str, str]) -> bool:
        return job in self._found

    def __getitem__(self, job: tuple[str, str]) -> Tally:
        return self._found[job]

    def add(self, job: tuple[str, str], tally: Tally) -> None:
        """And write all of them."""
        self._found[job] = tally
        if self._file is not None:
            write_json(
                self._file,
                {"of": self._of, "tallies": [[*job, vars(t)] for job, t in self._found.items()]},
            )


def _made_by() -> str:
    """A digest of the engine and of what compares with it."""
    digest = hashlib.sha256()
    for file in (Path(robosim._engine.__file__), *sorted(Path(__file__).parent.glob("*.py"))):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _tally(content: dict) -> Tally:
    counters = {name: Counter(content[name]) for name in ("compared", "coarse", "switched")}
    return Tally(**{**content, **counters, "failures": [Failure(*x) for x in content["failures"]]})
