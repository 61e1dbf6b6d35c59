"""Accuracy of distances, points, normals and their derivatives, for every pair of shapes.

Each result is compared in extended precision (long double) with a reference that is independent of
the engine: a second implementation of the shapes' support functions. The lower bound of the
distance comes from the supporting planes with the result's normal. The upper bound comes from the
points for separated shapes, and for overlapping shapes from branch and bound over all directions,
which proves that no translation separates the shapes sooner. Points and normal are compared with
the solution of the witness conditions by Newton's method, itself verified. Derivatives are compared
with Ridders differences of the query. (coal, which is accurate to about 1e-6, is compared by
bench_collision.py.)

    python benchmarks/accuracy_geometry.py [--poses 10000] [--quick] [--markdown docs/geometry.md]
                                           [--json FILE]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.report import Report, Row, arguments

CLOSED_FORM_BAR, ITERATIVE_BAR, DERIVATIVE_BAR = 1e-10, 1e-9, 1e-7
POSES = 10_000
QUICK = 20  # factor by which a quick run has fewer poses


def main() -> int:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--poses", type=int, default=POSES, help="per pair (default 10000)")
    parser.add_argument(
        "--derivative-poses", type=int, default=POSES, help="per pair (default 10000)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the poses")
    parser.add_argument("--only", metavar="SHAPE", help="pairs with this type of shape")
    parser.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        help="write the table, into a page between its markers",
    )
    options = parser.parse_args()
    from harness import accuracy_table, geometry_checks, page

    fewer = QUICK if options.quick else 1
    poses, derivative_poses = options.poses // fewer, options.derivative_poses // fewer
    accuracy = geometry_checks.Accuracy(geometry_checks.load(), options.seed)
    report, results, start = Report("Accuracy of collision queries"), [], time.perf_counter()
    for pair in accuracy.pairs():
        if options.only is not None and options.only not in pair.names:
            continue
        # Values of the pair: distance, points and normal.
        name = ", ".join(pair.names)
        values = accuracy.values(pair, poses)
        bar = CLOSED_FORM_BAR if pair.analytic else ITERATIVE_BAR
        for kind, unit, error, at in zip(
            ("distance", "points", "normal"),
            ("m", "m", "rad"),
            values.errors,
            values.at,
            strict=True,
        ):
            report.add(Row(f"{name}: {kind}", error, unit, bar=bar, note=f"pose {at}"))
        # Derivatives of the pair, by kind.
        derivatives = (
            None if accuracy.unbounded(pair) else accuracy.derivatives(pair, derivative_poses)
        )
        if derivatives is not None:
            for kind, error, at in zip(
                geometry_checks.DERIVATIVES, derivatives.errors, derivatives.at, strict=True
            ):
                if error >= 0:
                    report.add(
                        Row(f"{name}: by {kind}", error, bar=DERIVATIVE_BAR, note=f"pose {at}")
                    )
        results.append((pair, values, derivatives))
        report.remark(f"{name}: {values}, {derivatives}, {time.perf_counter() - start:.0f} s")
    if options.markdown is not None:
        text = accuracy_table.document(results, poses, derivative_poses, options.seed)
        page.write(options.markdown, text, "accuracy table")
    return report.finish(options)


if __name__ == "__main__":
    raise SystemExit(main())
