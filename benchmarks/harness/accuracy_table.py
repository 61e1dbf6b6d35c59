"""Tables of errors of collision queries, for the documentation."""

from __future__ import annotations

from collections.abc import Sequence

from harness.geometry_checks import DERIVATIVES, Derivatives, Pair, Values

Result = tuple[Pair, Values, Derivatives | None]


def figure(error: float) -> str:
    """Format an error as one digit and a power of ten."""
    return "0" if error == 0 else f"{error:.0e}".replace("e-0", "e-")


def cells(result: Result) -> list[str]:
    """Format the row of one pair."""
    pair, values, derivatives = result
    names = [name.replace("_", "-") for name in pair.names]
    errors = [figure(error) for error in values.errors]
    if derivatives is None:
        errors += ["" for _ in DERIVATIVES]
    else:
        errors += ["" if error < 0 else figure(error) for error in derivatives.errors]
    return [f"{names[0]}, {names[1]}" + (" \\*" if pair.analytic else ""), *errors]


def document(results: Sequence[Result], poses: int, derivative_poses: int, seed: int) -> str:
    """Return the table, with the numbers of poses."""
    head = [
        "pair",
        "distance [m]",
        "points [m]",
        "normal [rad]",
        *(f"by {kind}" for kind in DERIVATIVES),
    ]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join(cells(result)) + " |" for result in results]
    values = [v for _, v, _ in results]
    derivatives = [d for _, _, d in results if d is not None]
    bounded = [v for pair, v, _ in results if pair.names != ("half_space", "half_space")]
    total = sum(v.poses for v in values)
    compared = sum(d.poses for d in derivatives)
    near, jumped = sum(d.near_a_switch for d in derivatives), sum(d.jumped for d in derivatives)
    text = [
        (
            f"Worst errors of {poses:,} poses per pair (of derivatives {derivative_poses:,}), seed"
            f" {seed}. \\*: in closed form."
        ),
        "\n".join(lines),
        (
            f"Of {total:,} poses {sum(v.not_unique for v in bounded):,} have points or a normal"
            " that are not unique to double precision, and are compared in the distance alone (as"
            f" are two half-spaces); of {sum(v.not_verified for v in values):,} no exact witness"
            f" was found. Derivatives of {compared:,} poses were compared; of {near:,} they were"
            f" not, as a feature switch is within 0.01 (m or rad), and of {jumped:,}, as another"
            " way out took over during the differences; of meshes"
            f" {sum(d.passed_over for d in derivatives):,} coordinates of vertices, as an edge"
            " turned to the other diagonal."
        ),
    ]
    return "\n\n".join(text) + "\n"
