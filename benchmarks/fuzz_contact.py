"""Steps with contact in random worlds: all numbers finite, all laws satisfied, no crashes.

Each world is a seed, from which models, obstacles, materials, motors, options, solver and bounce
are drawn (harness/contact_fuzz.py), and 20 states and controls. The checks are:

- The next state and the gradient with respect to everything are finite.
- The residual is at most 1e-12 if `lcp` reports the step as solved, and 1e-8 if it reports
  `relaxed` by its own methods.
- Rows add no energy (harness/energy_audit.py).
- In a tenth of the worlds one derivative agrees with differences (harness/derivative_audit.py).
- The same seed leads to the same bits.

Worlds run in separate processes, so that a crash identifies its seed. To run this seed alone, use
`--seed SEED --states 20`.

    python benchmarks/fuzz_contact.py [--states 1e6] [--quick] [--seed 1] [--processes N]
                                      [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.report import write_json

CHUNK = 200  # worlds per process
QUICK = 200  # worlds
IN_TIME = 600.0  # [s] limit of a process, so that no step runs forever
SHOWN = 40


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", type=float, default=1e6, help="how many (default 1e6)")
    parser.add_argument(
        "--quick", action="store_true", help="a sample that takes less than a minute"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="of the first world; the others count up"
    )
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count(), help="at a time (default: one per core)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result to a file")
    # Internal: the task of a child process.
    parser.add_argument("--worlds", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worlds is not None:
        return work(options.seed, options.worlds)
    from harness.contact_fuzz import STATES

    total = QUICK if options.quick else -(-int(options.states) // STATES)
    chunks = [(options.seed + k, min(CHUNK, total - k)) for k in range(0, total, CHUNK)]
    found: list[tuple[int, int, str]] = []
    counts: Counter[str] = Counter()
    slowest: dict[str, list[float]] = {}
    start = time.perf_counter()
    with ThreadPoolExecutor(options.processes) as threads:
        for k, (failures, counted, timed) in enumerate(
            threads.map(lambda chunk: run(*chunk), chunks), start=1
        ):
            for seed, state, text in failures[: max(0, SHOWN - len(found))]:
                print(f"seed {seed}, state {state}: {text}", flush=True)
            found += failures
            counts += counted
            keep_slowest(slowest, timed)
            print(
                f"{k} of {len(chunks)}: {counts['states']:,} states, {len(found)} failures, "
                f"{time.perf_counter() - start:.0f} s",
                flush=True,
            )
    for name, count in sorted(counts.items()):
        print(f"{name:>20} {count:,}")
    for solver, (seconds, world, at) in sorted(slowest.items()):
        print(f"slowest step of {solver}: {1e3 * seconds:.1f} ms, seed {world:.0f}, state {at:.0f}")
    if options.json is not None:
        write_json(
            options.json,
            {"worlds": total, "counts": dict(counts), "slowest": slowest, "failures": found},
        )
    return 1 if found else 0


def keep_slowest(of_all: dict[str, list[float]], of_some: dict[str, list[float]]) -> None:
    """Update `of_all` with slower steps: seconds, seed and state by solver."""
    for solver, step in of_some.items():
        of_all[solver] = max(of_all.get(solver, step), step)


def run(
    seed: int, worlds: int
) -> tuple[list[tuple[int, int, str]], Counter[str], dict[str, list[float]]]:
    """Run worlds in a child process; after a crash the remaining worlds run in another."""
    failures: list[tuple[int, int, str]] = []
    counts: Counter[str] = Counter()
    slowest: dict[str, list[float]] = {}
    while worlds > 0:
        command = [
            sys.executable,
            "-P",
            str(Path(__file__).resolve()),
            "--seed",
            str(seed),
            "--worlds",
            str(worlds),
        ]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            output, errors = process.communicate(timeout=IN_TIME)
            ending = f"the process ended with status {process.returncode}: {errors[-300:]}"
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            ending = f"took longer than {IN_TIME:.0f} s"
        last = seed - 1
        for line in output.splitlines():
            told = json.loads(line)
            last = told["seed"]
            if "counts" in told:
                counts.update(told["counts"])
                keep_slowest(slowest, told["slowest"])
                failures += [tuple(x) for x in told["failures"]]
        if process.returncode == 0:
            break
        # The last world that was started has caused the crash.
        failures.append((last, -1, ending))
        worlds -= max(last, seed) + 1 - seed
        seed = max(last, seed) + 1
    return failures, counts, slowest


def work(seed: int, worlds: int) -> int:
    """Print each world when it starts, and its findings when it is finished."""
    from harness.contact_fuzz import Slowest, findings

    for number in range(seed, seed + worlds):
        print(json.dumps({"seed": number}), flush=True)
        counts: Counter[str] = Counter()
        slowest: dict[str, Slowest] = {}
        failures = list(findings(number, counts, slowest))
        told = {"seed": number, "counts": counts, "slowest": slowest, "failures": failures}
        print(json.dumps(told), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
