"""Table of errors of derivatives of steps, for the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from harness.accuracy_table import figure
from harness.contact_accuracy import ARGUMENTS, RESULTS, Tally

STATE_BLOCKS = {f"{result} by {argument}" for result in RESULTS for argument in ARGUMENTS}
KINDS = ("Jacobians", "parameters")


def worst(tally: Tally) -> Iterator[tuple[str, float, str, int]]:
    """Yield kind, largest error, its block, and its case, for Jacobians and parameters."""
    for kind in KINDS:
        errors = {
            name: error
            for name, error in tally.worst.items()
            if (name in STATE_BLOCKS) == (kind == KINDS[0])
        }
        if errors:
            name = max(errors, key=errors.__getitem__)
            yield kind, errors[name], name, tally.at[name]


def line(tally: Tally) -> str:
    """Format the results of one scene and solver for the terminal."""
    errors = ", ".join(f"{kind} {error:.1e} ({name})" for kind, error, name, _ in worst(tally))
    return (
        f"{tally.scene}, {tally.solver}: {tally.states} states, {tally.apart} apart"
        f" ({tally.flagged} one-sided), {tally.unsolved} unsolved; {errors};"
        f" {sum(tally.coarse.values())} coarse, {tally.kinks} kinks, dual numbers"
        f" {tally.worst_frozen:.1e} ({tally.frozen} states, {tally.undetermined} undetermined),"
        f" products {tally.products:.1e}, second-order {second_order(tally)}, {len(tally.failures)}"
        " failures"
    )


def second_order(tally: Tally) -> str:
    """Format the median asymmetry of second-order products."""
    return figure(float(np.median(tally.curvatures))) if tally.curvatures else ""


def cells(tally: Tally) -> list[str]:
    """Format the row of one scene and solver."""
    errors = {kind: error for kind, error, _, _ in worst(tally)}
    share = tally.apart / max(tally.states, 1)
    return [
        tally.scene,
        f"`{tally.solver}`",
        *(figure(errors[kind]) if kind in errors else "" for kind in KINDS),
        f"{100 * share:.0f} %",
        f"{100 * tally.flagged / max(tally.states, 1):.0f} %",
        figure(tally.worst_side) if tally.sides else "",
        figure(tally.worst_frozen) if tally.frozen else "",
        figure(tally.products),
        second_order(tally),
        str(len(tally.failures)),
    ]


def document(tallies: Sequence[Tally], states: int, seed: int) -> str:
    """Return the table, with the numbers of states."""
    head = [
        "scene",
        "solver",
        *KINDS,
        "apart",
        "one-sided",
        "one side",
        "dual numbers",
        "products",
        "second-order",
        "failures",
    ]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join(cells(tally)) + " |" for tally in tallies]
    compared = sum(sum(t.compared.values()) for t in tallies)
    coarse = sum(sum(t.coarse.values()) for t in tallies)
    text = [
        (
            f"Largest errors of {states:,} states per scene and solver, half of them thrown and"
            f" half at rest, seed {seed}; relative to the largest entry of the block."
        ),
        "\n".join(lines),
        (
            f"{compared:,} blocks along a random direction were compared with differences over"
            f" which classes and features stay the same, to 1e-8; {coarse:,} more are off by more"
            " than that where differences are no better themselves, and within ten times what"
            " these are worth. *Apart* are states with a direction along which something changes,"
            " however short the differences, or whose gradient says that it is *one-sided*. *One"
            " side*: the largest error of differences towards one side, of directions along which"
            f" something changes only on the other; of {sum(t.kinks for t in tallies):,} directions"
            " something changes on both, or too near, and of"
            f" {sum(t.coarse_sides for t in tallies):,} differences towards one side differ among"
            " each other as much as from the derivative, as where something slides very slowly."
            " *Dual numbers*: all states that are apart, and every tenth of the others, beside the"
            " same step in dual numbers with its classes and features held, written apart from the"
            f" engine, to 1e-10; of {sum(t.undetermined for t in tallies):,} states these do not"
            " determine the impulses, or they touch meshes of triangles, which are left to"
            " differences. *Products*: of gradients with the matrices. *Second-order*: of two"
            " products with the Hessian how far one along the other's direction is from the other"
            " along its own, relative to the sum of its terms, by median;"
            f" {sum(t.states - len(t.curvatures) for t in tallies):,} states have none, as classes"
            " or features change beside them however near, or their gradient is *one-sided*."
            f" {sum(t.unsolved for t in tallies):,} steps were `inconsistent` and left out."
        ),
    ]
    return "\n\n".join(text) + "\n"
