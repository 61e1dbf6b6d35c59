"""Plots of trajectories: positions to torques over time, with dashed limits in their joints'
colors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robosim.errors import TrajectoryError, suggestion
from robosim.trajectory.polynomial import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from robosim.trajectory.trajectory import Trajectory


MOST_DRAWN = 100_000  # points per curve, far more than the width of a figure


def plot(trajectory: Trajectory, names: Sequence[str] | None, rate: float) -> Figure:
    """Plot a trajectory. See Trajectory.plot."""
    from matplotlib.figure import Figure

    # Select positions and units.
    shown = trajectory.position_names if names is None else tuple(names)
    unknown = [name for name in shown if name not in trajectory.position_names]
    if unknown:
        near = suggestion(unknown[0], trajectory.position_names)
        raise TrajectoryError(f"names: the trajectory has no position {unknown[0]!r}{near}")
    index = [trajectory.position_names.index(name) for name in shown]
    units = {trajectory.units[i] for i in index}
    unit = units.pop() if len(units) == 1 else "SI"
    limits = trajectory.limits
    time, *curves = trajectory.sample(min(rate, MOST_DRAWN / trajectory.duration))

    # Panels of position, velocity and acceleration with their limits.
    rows = 4 if trajectory.inverse_dynamics is not None else 3
    figure = Figure(figsize=(9, 2.2 * rows + 0.6), layout="constrained")
    axes = figure.subplots(rows, 1, sharex=True)
    for order, (ax, label) in enumerate(
        zip(axes, ("position", "velocity", "acceleration"), strict=False)
    ):
        ax.set_ylabel(f"{label} [{unit}{('', '/s', '/s²')[order]}]")
        lower = upper = None
        if limits is not None:
            upper = (limits.upper, limits.velocity, limits.acceleration)[order]
            lower = limits.lower if order == 0 else (None if upper is None else -upper)
        _curves(ax, time, curves[order], index, shown, lower, upper)
    # Panel of torques.
    if rows == 4:
        torque_names = [name for name in shown if name in trajectory.torque_names]
        torque_index = [trajectory.torque_names.index(name) for name in torque_names]
        if names is None:
            torque_names, torque_index = (
                list(trajectory.torque_names),
                list(range(len(trajectory.torque_names))),
            )
        upper = None if limits is None else limits.effort
        effort = {"rad": "torque [N m]", "m": "force [N]"}.get(unit, "torque, force [SI]")
        axes[3].set_ylabel(effort)
        _curves(
            axes[3],
            time,
            trajectory.torque(time),
            torque_index,
            torque_names,
            None if upper is None else -upper,
            upper,
        )
    axes[-1].set_xlabel("time [s]")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    if trajectory.robot:
        figure.suptitle(trajectory.robot)
    return figure


def _curves(
    ax: Axes,
    time: Array,
    values: Array,
    index: Sequence[int],
    names: Sequence[str],
    lower: Array | None,
    upper: Array | None,
) -> None:
    """Draw one line per joint and a dashed line per finite limit."""
    ax.grid(alpha=0.3)
    for order, (i, name) in enumerate(zip(index, names, strict=True)):
        ax.plot(time, values[:, i], color=f"C{order % 10}", label=name, linewidth=1.5)
    drawn: set[float] = set()
    for order, i in enumerate(index):
        for bound in (lower, upper):
            if bound is not None and np.isfinite(bound[i]):
                # Equal limits share one gray line, since it belongs to several joints.
                value = float(bound[i])
                shared = sum(1 for j in index if bound[j] == bound[i]) > 1
                if value not in drawn:
                    ax.axhline(
                        value,
                        color="0.4" if shared else f"C{order % 10}",
                        linestyle="--",
                        linewidth=0.9,
                    )
                drawn.add(value)
