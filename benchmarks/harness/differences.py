"""Jacobians of a step by central differences of the step itself, and by Ridders' extrapolation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import robosim
from robosim.simulation import Control, Simulation, State

Array = NDArray[np.float64]

# Step size [rad, m, rad/s, m/s, N m or N] at which truncation and rounding of a step of 1 ms
# balance.
CENTRAL = 1e-7
WIDEST = 1e-4  # first step size of Ridders' method
SHRINK = 1.4  # factor from each step size to the next, as in Ridders' paper
MOST_ROUNDS = 10
DIVERGED = 2.0  # relative to the least error: then smaller steps only add rounding


class Differences:
    """Jacobians of the next (q, v) with respect to (q, v, tau), at one state.

    Args:
        simulation: simulation of the step.
        state: before the step.
        control: with forces `tau`.
    """

    def __init__(self, simulation: Simulation, state: State, control: Control) -> None:
        self.simulation, self.state = simulation, state
        self.tau = np.asarray(control.tau)
        self.end = simulation.step(state, control)
        self.rounds = 0  # number of rounds of the last `ridders`

    def starts(self, h: float) -> tuple[State, Control]:
        """Return the 6 n_v starts of one round, along a leading axis.

        They are displaced in q, v and tau, each forwards and then backwards.
        """
        n = self.simulation.model.n_v
        q, v = self.state.q, self.state.v
        qs, vs, taus = [], [], []
        for part in range(3):
            for i in range(n):
                for sign in (h, -h):
                    d = np.zeros(n)
                    d[i] = sign
                    moved = self.simulation.model.integrate(q, d) if part == 0 else q
                    qs.append(moved)
                    vs.append(v + d if part == 1 else v)
                    taus.append(self.tau + d if part == 2 else self.tau)
        return State(qs, vs), Control(tau=np.array(taus)[:, None])

    def steps(self, starts: tuple[State, Control]) -> State:
        """Return the ends of all steps, by one call on one thread.

        This is the least cost of differences.
        """
        with robosim.threads(1):
            return self.simulation.rollout(starts[0], 1, starts[1]).end

    def central(self, h: float = CENTRAL) -> Array:
        """Central differences (2 n_v, 3 n_v): rows q (tangent space), v; columns q, v, tau."""
        model = self.simulation.model
        ends = self.steps(self.starts(h))
        moved = np.hstack([model.difference(self.end.q, ends.q), ends.v - self.end.v])
        return (moved[0::2] - moved[1::2]).T / (2 * h)

    def error(self) -> float:
        """Deviation of Jacobians from Ridders' differences, relative to the largest entry or 1."""
        found = self.simulation.linearize(self.state, Control(tau=self.tau)).jacobians()
        ours = np.hstack([np.vstack(list(block)) for block in (found.q, found.v, found.tau)])
        expected = self.ridders()
        return float(np.abs(ours - expected).max() / max(1.0, np.abs(expected).max()))

    def ridders(self) -> Array:
        """Differences extrapolated entry by entry until no entry improves, after `rounds` rounds.

        Source: Ridders, "Accurate computation of F'(x) and F'(x) F''(x)", Adv. Eng. Software 4(2),
        1982.
        """
        h = WIDEST
        before = [self.central(h)]
        best, least = before[0], np.full(before[0].shape, np.inf)
        for self.rounds in range(2, MOST_ROUNDS + 1):
            h /= SHRINK
            row = [self.central(h)]
            factor = SHRINK**2
            for k, wider in enumerate(before):  # Neville: each column gains an order of h^2
                row.append((factor * row[k] - wider) / (factor - 1))
                factor *= SHRINK**2
                error = np.maximum(np.abs(row[-1] - row[-2]), np.abs(row[-1] - wider))
                best = np.where(error <= least, row[-1], best)
                least = np.minimum(least, error)
            if (np.abs(row[-1] - before[-1]) >= DIVERGED * least).all():
                break
            before = row
        return best
