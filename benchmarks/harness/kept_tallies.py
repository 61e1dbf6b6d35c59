"""Results of a long comparison in a file, so that an interrupted comparison can be resumed."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import robosim._engine
from harness.contact_accuracy import Failure, Tally
from harness.report import write_json


class KeptTallies:
    """Tallies by scene and solver, for one number of states, seed, engine and harness.

    Tallies of another number of states, seed, engine or harness are computed again.

    Args:
        file: path of the file; None to keep nothing.
        states: number of states of each scene and solver.
        seed: of states and directions.
        parameters: True if gradients with respect to parameters are compared.

    Raises:
        SystemExit: the file was not written by this class.
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
        """Add a tally and write all tallies."""
        self._found[job] = tally
        if self._file is not None:
            write_json(
                self._file,
                {"of": self._of, "tallies": [[*job, vars(t)] for job, t in self._found.items()]},
            )


def _made_by() -> str:
    """Return a digest of the engine and of the harness."""
    digest = hashlib.sha256()
    for file in (Path(robosim._engine.__file__), *sorted(Path(__file__).parent.glob("*.py"))):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _tally(content: dict) -> Tally:
    counters = {name: Counter(content[name]) for name in ("compared", "coarse", "switched")}
    return Tally(**{**content, **counters, "failures": [Failure(*x) for x in content["failures"]]})
