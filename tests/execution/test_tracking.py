"""Tracking: errors, files that restore every bit, damaged files, the plot."""

import contextlib
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robosim.errors import ExecutionError, FileError
from robosim.execution.tracking import Tracking, TrackingRecorder

NAMES = ("shoulder", "wrist, the\nsecond", "slide")


def example(m=50, seed=0):
    rng = np.random.default_rng(seed)
    recorder = TrackingRecorder(NAMES, units=("rad", "rad", "m"), robot="arm", start=7.0)
    for k in range(m):
        desired = rng.normal(size=3) * 10 ** rng.uniform(-12, 12)
        commanded = desired + rng.normal(size=3) if k % 3 else None
        recorder.add(7.0 + k / 500, desired, commanded, desired + rng.normal(size=3))
    return recorder.tracking()


def test_errors_are_actual_minus_desired():
    desired = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    actual = np.array([[0.0, 1.0], [0.9, 1.0], [2.3, 0.5]])
    tracking = Tracking(("a", "b"), [0.0, 0.1, 0.2], desired, desired, actual)
    assert np.allclose(tracking.error, [[0, 0], [-0.1, 0], [0.3, -0.5]])
    assert np.allclose(tracking.max_error, [0.3, 0.5])
    assert np.allclose(tracking.rms_error, np.sqrt([0.1 / 3, 0.25 / 3]))
    first, second = tracking.summary()
    assert first["name"] == "a"
    assert first["unit"] == "rad"
    assert first["max_error"] == pytest.approx(0.3)
    assert first["max_error_time"] == 0.2
    assert second["final_error"] == pytest.approx(-0.5)


def test_a_recorder_grows_and_its_time_starts_where_it_shall():
    tracking = example(3000)
    assert len(tracking) == 3000
    assert tracking.time[0] == 0.0
    assert tracking.time[-1] == pytest.approx(2999 / 500)
    assert np.isnan(tracking.commanded[::3]).all()
    assert np.isfinite(tracking.commanded[1::3]).all()
    assert tracking.units == ("rad", "rad", "m")
    assert "3000 samples" in repr(tracking)


def test_without_samples_nothing_is_known_and_nothing_drawn():
    tracking = TrackingRecorder(NAMES).tracking()
    assert np.isnan(tracking.max_error).all()
    assert np.isnan(tracking.summary()[0]["final_error"])
    with pytest.raises(ExecutionError, match="without samples"):
        tracking.plot()


@pytest.mark.parametrize("ending", [".csv", ".npz", ".NPZ"])
@pytest.mark.parametrize("m", [0, 1, 50])
def test_files_give_back_every_bit(tmp_path, ending, m):
    tracking = example(m)
    tracking.save(tmp_path / f"t{ending}")
    assert [p.name for p in tmp_path.iterdir()] == [f"t{ending}"]
    again = Tracking.load(tmp_path / f"t{ending}")
    for name in ("time", "desired", "commanded", "actual"):
        assert np.array_equal(getattr(tracking, name), getattr(again, name), equal_nan=True)
    assert (again.joint_names, again.units, again.robot) == (NAMES, ("rad", "rad", "m"), "arm")


def test_csv_is_for_spreadsheets(tmp_path):
    tracking = Tracking(
        ("a",), [0.0, 0.5], [[1.0], [2.0]], [[np.nan], [2.5]], [[1.25], [2.25]], robot="r"
    )
    tracking.save(tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert lines[0] == "# robosim-tracking 1"
    assert lines[2:] == [
        '"time","a.desired","a.commanded","a.actual"',
        "0.0,1.0,,1.25",
        "0.5,2.0,2.5,2.25",
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"joint_names": ()}, "joint_names"),
        ({"joint_names": ("a", "a")}, "distinct"),
        ({"units": "deg"}, "units"),
        ({"units": ("rad",)}, "units: must be 2"),
        ({"time": [0.0, 0.2, 0.1]}, r"time\[2\]: 0.1 comes before 0.2"),
        ({"time": [0.0, 0.1]}, r"desired: must have shape \(2, 2\), has \(3, 2\)"),
        ({"actual": np.full((3, 2), np.nan)}, r"actual\[0, 0\]: is not finite"),
        ({"commanded": np.full((3, 2), np.inf)}, r"commanded\[0, 0\]: is not finite"),
        ({"desired": [[1, 2], [3], [4, 5]]}, "desired: not a regular array"),
    ],
)
def test_what_does_not_fit_is_named(change, expected):
    fields = {
        "joint_names": ("a", "b"),
        "time": [0.0, 0.1, 0.2],
        "desired": np.zeros((3, 2)),
        "commanded": np.zeros((3, 2)),
        "actual": np.zeros((3, 2)),
    }
    with pytest.raises(ExecutionError, match=expected):
        Tracking(**{**fields, **change})


CSV = """# robosim-tracking 1
# {"format": "robosim-tracking", "version": 1, "joint_names": ["a"], "units": ["rad"], "robot": ""}
time,a.desired,a.commanded,a.actual
0.0,1.0,,1.0
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("tracking 1\n", "tracking 2\n", ":1: must be"),
        ('"version": 1', '"version": 2', ":2: version 2"),
        ('["rad"]', '["deg"]', "units"),
        ('["a"]', "[1]", ":2: joint_names"),
        ('"robot": ""', '"robot": 3', ":2: robot"),
        ("# {", "{", ":2: must be"),
        ("}\n", "\n", ":2: the header is not JSON"),
        ("a.actual", "b.actual", ":3: the columns"),
        (",1.0\n", "\n", ":4: has 3 cells"),
        (",1.0\n", ",x\n", ":4: could not convert"),
        (",1.0\n", ",\n", r"actual\[0, 0\]: is not finite"),
    ],
)
def test_damaged_csv_is_refused_with_its_place(tmp_path, old, new, expected):
    path = tmp_path / "t.csv"
    path.write_text(CSV)
    assert len(Tracking.load(path)) == 1
    assert old in CSV
    path.write_text(CSV.replace(old, new, 1))
    with pytest.raises(ExecutionError, match=expected) as caught:
        Tracking.load(path)
    assert str(caught.value).startswith(str(path))


@settings(deadline=None, max_examples=150)
@given(data=st.data())
def test_damaged_npz_never_crashes(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("npz") / "t.npz"
    example(5).save(path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    with contextlib.suppress(ExecutionError), np.errstate(all="ignore"):
        assert Tracking.load(path).joint_names == NAMES


def test_other_files_are_refused(tmp_path):
    with pytest.raises(ExecutionError, match=r"\.csv or \.npz"):
        example().save(tmp_path / "t.json")
    with pytest.raises(FileError, match="no such file"):
        Tracking.load(tmp_path / "t.csv")
    np.savez(tmp_path / "t.npz", time=np.zeros(3))
    with pytest.raises(ExecutionError, match="must hold exactly"):
        Tracking.load(tmp_path / "t.npz")


def test_pickled_objects_are_never_loaded(tmp_path):
    arrays = {name: np.zeros(0) for name in ("time", "desired", "commanded", "actual")}
    np.savez(
        tmp_path / "t.npz", header=np.array([print], dtype=object), allow_pickle=True, **arrays
    )
    with pytest.raises(ExecutionError):
        Tracking.load(tmp_path / "t.npz")


def test_plot_shows_each_joint_twice_and_all_errors():
    m, t = 200, np.linspace(0, 2, 200)
    desired = np.sin(t[:, None] + np.arange(3))
    tracking = Tracking(
        NAMES, t, desired, desired, desired + 1e-3, units=("rad", "rad", "m"), robot="arm"
    )
    figure = tracking.plot()
    *joints, errors = figure.axes
    assert len(joints) == 3
    for i, ax in enumerate(joints):
        wide, thin = ax.lines
        assert np.array_equal(wide.get_ydata(), tracking.desired[:, i])
        assert np.array_equal(thin.get_ydata(), tracking.actual[:, i])
        assert wide.get_linewidth() > thin.get_linewidth()
        assert len(thin.get_xdata()) == m
    curves = [line for line in errors.lines if len(line.get_xdata()) == m]
    assert np.allclose([line.get_ydata() for line in curves], 1.0)  # 1 mrad
    assert errors.get_ylabel() == "error [mrad, mm]"
    assert "max 1, rms 1" in curves[0].get_label()
    assert figure.get_suptitle() == "arm"
    assert tracking.plot(title="a title").get_suptitle() == "a title"
    out = io.BytesIO()
    figure.savefig(out, format="png")
    assert out.getbuffer().nbytes > 10_000
