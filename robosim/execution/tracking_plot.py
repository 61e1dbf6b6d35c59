"""Plots of tracking: a panel per joint with desired and actual positions, and one of all errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robosim.errors import ExecutionError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from robosim.execution.tracking import Tracking

_WIDE, _COLUMNS = 9.0, 3  # inches, panels


def plot(tracking: Tracking, title: str | None) -> Figure:
    """Plot a tracking. See Tracking.plot."""
    from matplotlib.figure import Figure

    if not len(tracking):
        raise ExecutionError("a tracking without samples cannot be plotted")
    n = len(tracking.joint_names)
    columns = min(n, _COLUMNS)
    rows = -(-n // columns)
    figure = Figure(figsize=(_WIDE, 1.9 * rows + 3.0), layout="constrained")
    grid = figure.add_gridspec(rows + 1, columns, height_ratios=[1.0] * rows + [1.5])
    first = None
    for i, name in enumerate(tracking.joint_names):
        ax = figure.add_subplot(grid[i // columns, i % columns], sharex=first)
        first = first or ax
        color = f"C{i % 10}"
        # The desired curve is wide and pale, so the actual curve on top of it does not hide it.
        ax.plot(
            tracking.time,
            tracking.desired[:, i],
            color=color,
            alpha=0.35,
            linewidth=4.0,
            label="desired",
        )
        ax.plot(tracking.time, tracking.actual[:, i], color="0.15", linewidth=0.9, label="actual")
        ax.set_title(f"{name} [{tracking.units[i]}]", fontsize="small", loc="left")
        ax.grid(alpha=0.3)
        ax.tick_params(labelsize="small", labelbottom=i + columns >= n)
        if i == 0:
            ax.legend(frameon=False, fontsize="small", loc="best")

    # Errors of all joints, in thousandths of their units.
    errors = figure.add_subplot(grid[rows, :], sharex=first)
    scaled, rms = 1e3 * tracking.error, 1e3 * tracking.rms_error
    for i, name in enumerate(tracking.joint_names):
        label = f"{name}: max {_short(1e3 * tracking.max_error[i])}, rms {_short(rms[i])}"
        errors.plot(tracking.time, scaled[:, i], color=f"C{i % 10}", linewidth=1.1, label=label)
    errors.axhline(0.0, color="0.4", linewidth=0.8)
    units = ", ".join(f"m{unit}" for unit in dict.fromkeys(tracking.units))
    errors.set_ylabel(f"error [{units}]")
    errors.set_xlabel("time [s]")
    errors.grid(alpha=0.3)
    # Errors below a nanoradian are rounding, and should not fill the panel.
    if np.ptp(scaled) < 1e-6:
        errors.set_ylim(-1e-3, 1e-3)
    figure.legend(
        *errors.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=2,
        frameon=False,
        fontsize="small",
        title=f"tracking error, actual minus desired [{units}]",
        title_fontsize="small",
    )
    heading = tracking.robot if title is None else title
    if heading:
        figure.suptitle(heading)
    return figure


def _short(value: float) -> str:
    return "0" if value < 1e-6 else f"{value:.2g}"
