"""Files: exact round trips, atomic writes, and clear refusals of everything else."""

import contextlib
import io
import json
import os
import pickle
import random
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robosim.errors import FileError, TrajectoryError
from robosim.trajectory import Trajectory, TrajectoryLimits

FORMATS = ("json", "csv", "npz")
finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
name = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
names = st.lists(name, min_size=1, max_size=3, unique=True)


@st.composite
def trajectories(draw):
    """One piece of arbitrary numbers, or several continuous ones, with arbitrary metadata."""
    position_names = draw(names)
    n = len(position_names)
    if draw(st.booleans()):
        numbers = st.lists(finite.filter(lambda x: abs(x) < 1e100), min_size=6 * n, max_size=6 * n)
        coefficients = np.reshape(draw(numbers), (1, 6, n))
        breaks = [0.0, draw(st.floats(1e-6, 1e6))]
    else:
        rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        breaks = np.concatenate([[0], np.cumsum(rng.uniform(1e-3, 2, 4))])
        knots = rng.normal(size=(3, 5, n))
        made = Trajectory.from_knots(breaks, *knots, position_names=position_names)
        breaks, coefficients = made.breaks, made.coefficients
    bound = st.one_of(st.none(), st.lists(st.floats(0, allow_nan=False), min_size=n, max_size=n))
    limits = draw(
        st.one_of(
            st.none(),
            st.builds(
                TrajectoryLimits,
                upper=bound,
                velocity=bound,
                effort=bound,
                acceleration_source=st.text(max_size=5),
            ),
        )
    )
    json_values = st.recursive(
        st.one_of(st.none(), st.booleans(), finite, st.integers(), st.text(max_size=5)),
        lambda children: (
            st.lists(children, max_size=2)
            | st.dictionaries(st.text(max_size=3), children, max_size=2)
        ),
        max_leaves=4,
    )
    return Trajectory(
        breaks,
        coefficients,
        position_names,
        units=draw(st.sampled_from(["rad", "m", "1"])),
        robot=draw(st.text(max_size=8)),
        limits=limits,
        seed=draw(st.one_of(st.none(), st.integers())),
        metadata=draw(st.dictionaries(st.text(max_size=4), json_values, max_size=2)),
    )


def header(T):
    return (
        T.position_names,
        T.torque_names,
        T.units,
        T.robot,
        None if T.limits is None else T.limits.to_dict(),
        T.seed,
        T.metadata,
    )


def bits(array):
    return np.ascontiguousarray(array).view(np.uint64)


@given(T=trajectories(), format=st.sampled_from(["json", "npz"]))
@settings(max_examples=120, deadline=None)
def test_json_and_npz_give_back_every_bit(tmp_path_factory, T, format):
    path = tmp_path_factory.mktemp("files") / f"t.{format}"
    T.save(path)
    L = Trajectory.load(path)
    np.testing.assert_array_equal(bits(L.breaks), bits(T.breaks))
    np.testing.assert_array_equal(bits(L.coefficients), bits(T.coefficients))
    assert header(L) == header(T)


@given(T=trajectories())
@settings(max_examples=60, deadline=None)
def test_csv_gives_back_the_same_to_the_last_digits(tmp_path_factory, T):
    path = tmp_path_factory.mktemp("files") / "t.csv"
    T.save(path)
    L = Trajectory.load(path)
    np.testing.assert_array_equal(L.breaks, T.breaks)
    np.testing.assert_array_equal(L.coefficients[:, :3], T.coefficients[:, :3])
    # c_j is written as its derivative j! c_j and divided again: one rounding each.
    np.testing.assert_allclose(L.coefficients, T.coefficients, rtol=5e-16)
    assert header(L) == header(T)


def example(**fields):
    rng = np.random.default_rng(0)
    return Trajectory.from_knots(
        [0, 0.5, 1.25],
        *rng.normal(size=(3, 3, 2)),
        position_names=["shoulder", "elbow"],
        **{
            "robot": "arm",
            "seed": 7,
            "limits": TrajectoryLimits(velocity=[1, np.inf]),
            "metadata": {"a": [1]},
            **fields,
        },
    )


@pytest.mark.parametrize("format", FORMATS)
def test_positions_are_mapped_by_name(tmp_path, format):
    T = example()
    path = tmp_path / f"t.{format}"
    T.save(path)
    L = Trajectory.load(path, position_names=["elbow", "shoulder"])
    np.testing.assert_allclose(L.position(0.3), T.position(0.3)[::-1], rtol=1e-14)
    for wanted, missing in (
        (["elbow"], "moves 'shoulder'"),
        (["elbow", "shoulder", "wrist"], "has no 'wrist'"),
    ):
        with pytest.raises(TrajectoryError, match=missing) as caught:
            Trajectory.load(path, position_names=wanted)
        assert caught.value.file == str(path)


@pytest.mark.parametrize("format", FORMATS)
def test_the_name_or_an_argument_gives_the_format(tmp_path, format):
    T = example()
    T.save(tmp_path / "plan", format=format)
    np.testing.assert_allclose(
        Trajectory.load(tmp_path / "plan", format=format).coefficients, T.coefficients, rtol=5e-16
    )
    for wrong in (tmp_path / "plan", tmp_path / "plan.yaml"):
        with pytest.raises(TrajectoryError, match="unknown trajectory format"):
            T.save(wrong)


@pytest.mark.parametrize("format", FORMATS)
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, format, monkeypatch):
    path = tmp_path / f"t.{format}"
    example().save(path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(FileError, match="No space left"):
        example(seed=8).save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]
    with pytest.raises(FileError, match="cannot be written"):
        example().save(tmp_path / "no" / f"such.{format}")
    with pytest.raises(FileError, match="no such file"):
        Trajectory.load(tmp_path / f"absent.{format}")
    (tmp_path / f"folder.{format}").mkdir()
    with pytest.raises(FileError, match="is a folder"):
        Trajectory.load(tmp_path / f"folder.{format}")


def refused(path, data, match):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    with pytest.raises(TrajectoryError, match=match) as caught:
        Trajectory.load(path)
    assert str(caught.value).startswith(str(path))
    return caught.value


JSON_CHANGES = [
    ({"version": 2}, "version: 2 of robosim-trajectory is unknown"),
    ({"version": True}, "version: True"),
    ({"version": None}, "version: None"),
    ({"format": "other"}, "format: is 'other'"),
    ({"surprise": 1}, "unknown field 'surprise'"),
    ({"position_names": "ab"}, "position_names"),
    ({"position_names": ["x", 3]}, "position_names"),
    ({"position_names": ["x"]}, "coefficients"),
    ({"torque_names": None}, "torque_names"),
    ({"units": ["deg", "deg"]}, "units"),
    ({"limits": []}, "limits"),
    ({"limits": {"velocity": [1]}}, "limits.velocity: has 1 entries"),
    ({"limits": {"velocity": [1, "2"]}}, "limits.velocity"),
    ({"limits": {"velocity": [1, -2]}}, "limits.velocity: must not be negative"),
    ({"limits": {"velocity": [1, 10**400]}}, "limits.velocity: a number is too large"),
    ({"limits": {"speed": [1, 2]}}, "limits: unknown field 'speed'"),
    ({"limits": {"acceleration_source": 5}}, "acceleration_source"),
    ({"seed": 1.5}, "seed"),
    ({"metadata": 3}, "metadata"),
    ({"robot": ["ur5"]}, "robot"),
    ({"breaks": None}, "breaks: must be a number"),
    ({"breaks": [0, "1", 2]}, r"breaks\[1\]: must be a number, is '1'"),
    ({"breaks": [0, True, 2]}, r"breaks\[1\]"),
    ({"breaks": [0, 2, 1]}, r"breaks\[2\]"),
    ({"breaks": [0, 1]}, "coefficients"),
    ({"breaks": [0, 10**400, 2]}, "too large|not a regular"),
    ({"coefficients": [[0]]}, "coefficients"),
    ({"coefficients": [[[0, 0]], [[0]]]}, "coefficients: not a regular"),
    ({"coefficients": [[[0, 0]], [[0, {}]]]}, r"coefficients\[1\]\[0\]\[1\]: must be a number"),
    ({"coefficients": [[[0, 0]], [[1, 0]]]}, "position of shoulder jumps"),
]


@pytest.mark.parametrize(("change", "match"), JSON_CHANGES)
def test_json_that_says_something_else_is_refused_naming_the_field(tmp_path, change, match):
    path = tmp_path / "t.json"
    example().save(path)
    document = {**json.loads(path.read_text()), **change}
    refused(path, json.dumps(document), match)


@pytest.mark.parametrize(
    "field", ["breaks", "coefficients", "position_names", "format", "version", "metadata"]
)
def test_json_without_a_field_is_refused(tmp_path, field):
    path = tmp_path / "t.json"
    example().save(path)
    document = json.loads(path.read_text())
    del document[field]
    refused(path, json.dumps(document), field)


@pytest.mark.parametrize(
    ("data", "match", "line"),
    [
        ("", "Expecting value", 1),
        ('{"format":\n\n oops}', "column 2: Expecting value", 3),
        ('{"a": 1, "a": 2}', "'a' appears twice", None),
        ('{"a": NaN}', "NaN is not a number", None),
        ('{"a": Infinity}', "Infinity", None),
        ("[1, 2]", "not an object", None),
        ("3", "not an object", None),
        ("[" * 100_000, "nested too deeply|Expecting", None),
        ('{"a":' * 50_000, "nested too deeply|Expecting", None),
        ("1" * 10_000, "out of range|not an object", None),
        (b'{"a"\n: "\xff"}', "not UTF-8", 2),
        (random.Random(5).randbytes(64) + b"\xff", "UTF-8|Expecting|JSON", None),
        (b"\x00" * 100, "Expecting value", 1),
    ],
)
def test_json_that_is_none_is_refused_naming_the_line(tmp_path, data, match, line):
    error = refused(tmp_path / "t.json", data, match)
    if line is not None:
        assert error.line == line


def edit_csv(tmp_path, edit):
    path = tmp_path / "t.csv"
    example().save(path)
    lines = path.read_text().split("\n")
    edit(lines)
    return path, "\n".join(lines)


def cell(row, column, text):
    def edit(lines):
        cells = lines[row].split(",")
        cells[column] = text
        lines[row] = ",".join(cells)

    return edit


@pytest.mark.parametrize(
    ("edit", "match", "line"),
    [
        (lambda lines: lines.__setitem__(0, "# robosim-trajectory 9"), "version '9' .* unknown", 1),
        (lambda lines: lines.__setitem__(0, "time,a"), "must be '# robosim-trajectory 1'", 1),
        (lambda lines: lines.__setitem__(1, "# {"), "Expecting", 2),
        (lambda lines: lines.__setitem__(1, "# []"), "JSON object", 2),
        (lambda lines: lines.__setitem__(1, "# {}"), "position_names", 2),
        (lambda lines: lines.__setitem__(1, ""), "the header", 2),
        (lambda lines: lines.__setitem__(2, "time"), "the columns must be time", 3),
        (lambda lines: lines.__setitem__(4, "1,2"), "has 2 cells, the header has 13", 5),
        (cell(4, 3, "abc"), "could not convert", 5),
        (cell(4, 3, "nan"), "not finite", 5),
        (cell(4, 3, "1e999"), "not finite", 5),
        (cell(4, 3, '"'), "cells|unexpected end", None),
        (cell(4, 0, "0"), r"breaks\[1\]", None),
        (cell(5, 1, "9"), "last row: shoulder.position is 9.0", None),
        (cell(4, 1, "9"), "position of shoulder jumps", None),
        (lambda lines: lines.__delitem__(slice(3, None)), "at least two rows", None),
        (lambda lines: lines.__delitem__(slice(4, None)), "at least two rows", None),
        (lambda lines: lines.__delitem__(slice(1, None)), "the header", 2),
    ],
)
def test_csv_is_refused_naming_the_line(tmp_path, edit, match, line):
    path, text = edit_csv(tmp_path, edit)
    error = refused(path, text, match)
    if line is not None:
        assert error.line == line


def npz(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name + ".npy", data)
    return out.getvalue()


def npy(array, allow_pickle=False):
    out = io.BytesIO()
    np.save(out, array, allow_pickle=allow_pickle)
    return out.getvalue()


class Bomb:
    def __reduce__(self):
        return (os.mkdir, ("pickle-was-executed",))


def test_npz_is_refused_and_never_unpickled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "t.npz"
    T = example()
    T.save(path)
    with zipfile.ZipFile(path) as archive:
        good = {name[:-4]: archive.read(name) for name in archive.namelist()}
    path.write_bytes(npz(**good))
    np.testing.assert_array_equal(Trajectory.load(path).coefficients, T.coefficients)

    document = json.loads(str(np.load(io.BytesIO(good["header"]))))
    huge = (
        b"\x93NUMPY\x01\x00v\x00"
        + b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,), }".ljust(117)
        + b"\n"
    )
    cases = [
        (pickle.dumps(Bomb()), "not a readable NPZ|hold exactly"),
        (b"", "not a readable NPZ"),
        (b"PK\x03\x04junk", "not a readable NPZ"),
        (npz(**good)[:-30], "not a readable NPZ"),
        (npz(header=good["header"]), "must hold exactly"),
        (npz(**good, extra=b""), "must hold exactly"),
        (npz(**{**good, "breaks": npy(np.array([Bomb()], dtype=object), True)}), "Python objects"),
        (npz(**{**good, "header": npy(np.array(Bomb(), dtype=object), True)}), "Python objects"),
        (npz(**{**good, "breaks": b"junk"}), "not a readable NPZ"),
        (npz(**{**good, "breaks": huge}), "announces 99999999999 numbers"),
        (npz(**{**good, "breaks": npy(np.array([0, 1, 2]))}), "must be floating point"),
        (npz(**{**good, "breaks": npy(np.array([0, np.nan, 2]))}), r"breaks\[1\]"),
        (npz(**{**good, "coefficients": npy(np.zeros((2, 6)))}), "coefficients"),
        (npz(**{**good, "header": npy(np.array(["a", "b"]))}), "header: must be one string"),
        (npz(**{**good, "header": npy(np.array("{"))}), "Expecting|column"),
        (
            npz(**{**good, "header": npy(np.array(json.dumps({**document, "version": 3})))}),
            "version: 3",
        ),
    ]
    for data, match in cases:
        refused(path, data, match)
    assert not (tmp_path / "pickle-was-executed").exists()


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("robosim.trajectory.files.MAX_BYTES", 1 << 20)
    zeros = np.zeros(1 << 18)
    data = npz(header=npy(np.array("{}")), breaks=npy(zeros), coefficients=npy(zeros))
    assert len(data) < 1 << 14
    refused(tmp_path / "t.npz", data, "larger than 1048576 bytes when unpacked")


@given(data=st.data(), format=st.sampled_from(FORMATS))
@settings(max_examples=150, deadline=None)
def test_damaged_files_load_or_are_refused_but_never_crash(tmp_path_factory, data, format):
    path = tmp_path_factory.mktemp("files") / f"t.{format}"
    example().save(path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        i = data.draw(st.integers(0, len(content) - 1))
        what = data.draw(st.integers(0, 3))
        if what == 0:
            content[i] = data.draw(st.integers(0, 255))
        elif what == 1:
            del content[i : i + data.draw(st.integers(1, 40))]
        elif what == 2:
            content[i:i] = data.draw(st.binary(max_size=8))
        else:
            content[i:i] = content[: data.draw(st.integers(1, 60))]
        if not content:
            break
    path.write_bytes(bytes(content))
    with contextlib.suppress(TrajectoryError):
        Trajectory.load(path)
