"""The plot shows curves, limits and names."""

import subprocess

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="plots need matplotlib")

from robosim.errors import TrajectoryError
from robosim.trajectory import Trajectory, TrajectoryLimits

from ..isolated import PYTHON  # noqa: TID252


def example(**fields):
    t = [0.0, 1.0, 2.0]
    q = np.array([[0.0, 0], [1, 2], [0, 1]])
    limits = TrajectoryLimits(
        lower=[-3, -4], upper=[3, 4], velocity=[5, 5], acceleration=[8, np.inf], effort=[6, 7]
    )
    return Trajectory.from_waypoints(
        t, q, position_names=["a", "b"], limits=limits, robot="arm", **fields
    )


def levels(ax):
    """Heights of the dashed lines."""
    return sorted({float(line.get_ydata()[0]) for line in ax.lines if line.get_linestyle() == "--"})


def curves(ax):
    return {line.get_label(): line for line in ax.lines if line.get_linestyle() == "-"}


def test_a_motion_that_lasts_for_years_is_drawn_by_few_points():
    figure = Trajectory([0, 1e12], [[[0.0], [1e-12]]], ["a"]).plot()
    time, position = curves(figure.axes[0])["a"].get_data()
    assert len(time) < 200_000
    np.testing.assert_allclose(position, 1e-12 * time, rtol=1e-12)


def test_positions_to_torques_with_their_limits(tmp_path):
    T = example(inverse_dynamics=lambda q, v, a: v * 2)
    figure = T.plot(rate=100)
    position, velocity, acceleration, torque = figure.axes
    assert levels(position) == [-4, -3, 3, 4]
    assert levels(velocity) == [-5, 5]
    assert levels(acceleration) == [-8, 8]
    assert levels(torque) == [-7, -6, 6, 7]
    for ax, values in (
        (position, T.position),
        (velocity, T.velocity),
        (acceleration, T.acceleration),
        (torque, T.torque),
    ):
        assert list(curves(ax)) == ["a", "b"]
        for j, line in enumerate(curves(ax).values()):
            np.testing.assert_array_equal(line.get_ydata(), values(line.get_xdata())[:, j])
    assert "rad/s²" in acceleration.get_ylabel()
    figure.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("units", "label"),
    [("rad", "torque [N m]"), ("m", "force [N]"), (["rad", "m"], "torque, force [SI]")],
)
def test_efforts_have_the_unit_of_their_joints(units, label):
    figure = example(inverse_dynamics=lambda q, v, a: v, units=units).plot()
    assert figure.axes[3].get_ylabel() == label


def test_some_joints_and_no_torques():
    figure = example().plot(names=["b"])
    assert len(figure.axes) == 3
    assert list(curves(figure.axes[0])) == ["b"]
    assert levels(figure.axes[0]) == [-4, 4]
    with pytest.raises(TrajectoryError, match="no position 'x'; there are 'a', 'b'"):
        example().plot(names=["x"])


def test_importing_trajectories_does_not_import_matplotlib():
    code = (
        "import sys, robosim.trajectory; assert not {'matplotlib', 'scipy'} & set(sys.modules),"
        " sys.modules"
    )
    subprocess.run([*PYTHON, "-c", code], check=True)
