"""Collision queries in hostile scenes: every result finite, certified, and in time.

Each scene is two shapes of 1e-6 to 1e3 m, among them needles, discs, flat hulls, repeated points
and hulls of 100,000 points. Centers, axes, faces and edges coincide, are parallel or touch exactly,
or one shape lies inside the other. The queries are the witness in both orders, the overlap test,
the contact manifold, and all derivatives. The laws are in `tests/engine/certificate.h` and
`manifold_certificate.h`:

- Both points are on the surfaces and on supporting planes that prove the distance.
- The sign is right, and no separating translation in 20 other directions is shorter.
- The manifold's points are on both surfaces along the normal, with no gap below the distance.
- Derivatives are finite.

The tolerance of lengths is 1e-9 of the scene's size.

    python benchmarks/fuzz_geometry.py [--queries 1e7] [--seed 1] [--threads N] [--json FILE]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.report import write_json

CHUNK = 250_000  # scenes per seed: each seed has its own meshes
TOLERANCE = 1e-9
# [s] limit for all queries of one scene, so that no loop runs forever, on a machine that is also
# used by other programs.
IN_TIME = 1.0
SHOWN = 40
LARGE = 100_000


@dataclass(frozen=True)
class Failure:
    """A scene that violates a law.

    Attributes:
        seed, scene: identification of the scene.
        broken: the violated law.
    """

    seed: int
    scene: int
    broken: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--queries", type=float, default=1e7, help="how many scenes (default 1e7, some minutes)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="of the first chunk; the others count up"
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=os.cpu_count(),
        help="scenes at a time (default: as many as cores)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result to a file")
    options = parser.parse_args()
    from harness.geometry_checks import Fuzz, load

    library = load()
    total, start = int(options.queries), time.perf_counter()
    chunks = [
        (options.seed + k, min(CHUNK, total - first))
        for k, first in enumerate(range(0, total, CHUNK))
    ]

    def run(chunk: tuple[int, int]) -> tuple[list[Failure], float]:
        seed, scenes = chunk
        fuzz = Fuzz(library, seed, LARGE)
        found = [
            Failure(seed, number, text) for number, text in fuzz.failures(0, scenes, TOLERANCE)
        ]
        took, number = fuzz.slowest
        if took > IN_TIME:  # repeat, as the machine may have paused: a slow scene is slow again
            again = Fuzz(library, seed, LARGE)
            list(again.failures(number, number + 1, TOLERANCE))
            took = min(took, again.slowest[0])
        if took > IN_TIME:
            found.append(Failure(seed, number, f"took {took:.1f} s, twice"))
        return found, took

    failures: list[Failure] = []
    slowest = 0.0
    with ThreadPoolExecutor(options.threads) as threads:  # the library releases Python's lock
        for k, (found, took) in enumerate(threads.map(run, chunks), start=1):
            for failure in found[: max(0, SHOWN - len(failures))]:
                print(f"seed {failure.seed}, scene {failure.scene}: {failure.broken}", flush=True)
            failures += found
            slowest = max(slowest, took)
            done = min(k * CHUNK, total)
            print(
                f"{done:,} scenes, {len(failures)} failures, {time.perf_counter() - start:.0f} s",
                flush=True,
            )
    print(f"slowest scene {1e3 * slowest:.3g} ms")
    if options.json is not None:
        write_json(
            options.json,
            {
                "scenes": total,
                "slowest": slowest,
                "failures": [asdict(failure) for failure in failures],
            },
        )
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
