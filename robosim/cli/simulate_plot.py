"""Plot of `robosim simulate`: positions, energy, contact forces and contact points over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib
import numpy as np

from robosim.viewer.forces import SLIDING, STICKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from robosim.model import Model
    from robosim.simulation import Replay, Rollout

MODES, COLORS = ("sticking", "sliding"), (STICKING, SLIDING)
MOST_NAMES = 14  # largest number of positions in a legend
SPIKE = 10.0  # ratio to the typical force above which the scale is logarithmic


def plot(model: Model, motion: Rollout, replay: Replay) -> Figure:
    """Plot four panels, one above the other, on one time axis.

    Positions and energies are those of every step, forces and contacts those of the replay. The
    potential energy is relative to its minimum in the run.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 10), layout="constrained")
    positions, energies, forces, contacts = figure.subplots(4, 1, sharex=True)
    colors = matplotlib.colormaps["tab20"]
    positions.set_prop_cycle(color=[colors(k) for k in range(colors.N)])
    for name, x in zip(model.position_names, motion.q.T, strict=True):
        positions.plot(motion.times, x, label=name)
    positions.set(ylabel="q [rad, m]", title=f"{model.name}: {motion.report.status.name}")
    if 0 < model.n_q <= MOST_NAMES:
        positions.legend(fontsize="small", ncols=2)
    _energies(energies, model, motion)
    _forces(forces, model, replay)
    _contacts(contacts, replay)
    for axes in (positions, energies, forces, contacts):
        axes.grid(alpha=0.3)
    contacts.set(xlabel="time [s]", xlim=(motion.times[0], motion.times[-1]))
    return figure


def _energies(axes: Axes, model: Model, motion: Rollout) -> None:
    kinetic = model.kinetic_energy(motion.q, motion.v)
    potential = model.potential_energy(motion.q)
    potential = potential - potential.min()
    axes.plot(motion.times, kinetic, label="kinetic")
    axes.plot(motion.times, potential, label="potential, from its lowest")
    axes.plot(motion.times, kinetic + potential, color="black", linewidth=1, label="together")
    axes.set(ylabel="energy [J]")
    axes.legend(fontsize="small")


def _forces(axes: Axes, model: Model, replay: Replay) -> None:
    """Plot sums over all contact points, on a logarithmic scale if impacts dominate."""
    normal = np.array([sum(abs(float(c.normal @ c.force)) for c in at) for at in replay.contacts])
    friction = np.array([sum(_across(c.normal, c.force) for c in at) for at in replay.contacts])
    axes.plot(replay.times, normal, label="normal")
    axes.plot(replay.times, friction, label="friction")
    usual = float(np.median(normal[normal > 0])) if np.any(normal > 0) else 0.0
    if model.floating_base:
        # The root link carries all of the weight.
        weight = float(np.linalg.norm(model.gravity(replay.q[0])[:3]))
        axes.axhline(weight, color="black", linestyle="--", linewidth=1, label="weight")
        usual = max(usual, weight)
    if normal.max(initial=0.0) > SPIKE * usual > 0:
        axes.set_yscale("symlog", linthresh=2 * usual)
    axes.set(ylabel="forces of contacts [N]")
    axes.set_ylim(0, max(1.0, 1.3 * normal.max(initial=0.0)))
    axes.legend(fontsize="small")


def _contacts(axes: Axes, replay: Replay) -> None:
    """Plot the number of points in contact, by mode."""
    from matplotlib.ticker import MaxNLocator

    counts = [
        np.array([sum(c.mode == mode for c in at) for at in replay.contacts]) for mode in MODES
    ]
    axes.stackplot(replay.times, *counts, labels=MODES, colors=COLORS, alpha=0.8, step="post")
    axes.set(ylabel="points that push")
    axes.set_ylim(0, max(1, 1.1 * max(np.add(*counts))))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(fontsize="small")


def _across(normal: NDArray[np.float64], force: NDArray[np.float64]) -> float:
    """Magnitude of the tangential part of a force [N]."""
    return float(np.linalg.norm(force - (normal @ force) * normal))
