"""Collision queries in hostile scenes: every answer finite, certified, and in time.

Each scene is two shapes of 1e-6 to 1e3 m, among them needles, discs, flat hulls, repeated points and hulls of 100,000
points; centres, axes, faces and edges coincide, are parallel or touch exactly, one shape lies inside the other. Asked
are the witness both ways round, whether the shapes overlap, and all derivatives. What has to hold is in
`tests/engine/certificate.h`: both points on the surfaces and on planes of support that prove the distance, no shorter
way out in any of 20 other directions, the right sign, finite derivatives; lengths to 1e-9 of the scene's size.

    python benchmarks/fuzz_geometry.py [--queries 1e7] [--seed 1] [--json FILE]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.report import write_json

CHUNK = 250_000  # scenes of one seed: each seed has its own meshes
TOLERANCE = 1e-9
IN_TIME = 1.0  # [s] for all that is asked about one scene: no loop without end, on a machine that does other things too
SHOWN = 40
LARGE = 100_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--queries", type=float, default=1e7, help="how many scenes (default 1e7, some minutes)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the first chunk; the others count up")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result to a file")
    options = parser.parse_args()
    from harness.geometry_checks import Fuzz, load

    library = load()
    total, done, seed = int(options.queries), 0, options.seed
    failures: list[dict[str, object]] = []
    slowest, start = 0.0, time.perf_counter()
    while done < total:
        fuzz, n = Fuzz(library, seed, LARGE), min(CHUNK, total - done)
        for number, text in fuzz.failures(0, n, TOLERANCE):
            failures.append({"seed": seed, "scene": number, "broken": text})
            if len(failures) <= SHOWN:
                print(f"seed {seed}, scene {number}: {text}", flush=True)
        took, number = fuzz.slowest
        if took > IN_TIME:
            failures.append({"seed": seed, "scene": number, "broken": f"took {took:.1f} s"})
            print(f"seed {seed}, scene {number}: took {took:.1f} s", flush=True)
        slowest, done, seed = max(slowest, took), done + n, seed + 1
        print(f"{done:.3g} scenes, {len(failures)} failures, {time.perf_counter() - start:.0f} s", flush=True)
    print(f"slowest scene {1e3 * slowest:.3g} ms")
    if options.json is not None:
        write_json(options.json, {"scenes": done, "slowest": slowest, "failures": failures})
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
