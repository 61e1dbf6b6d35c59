"""Trajectory files: JSON, CSV and NPZ, written atomically and checked when read.

Every file states format "robosim-trajectory" and version 1 and has the same header: names, units,
robot, limits, seed, metadata, and events if there are any.

- JSON: one object, with "breaks" and "coefficients".
- NPZ: arrays breaks and coefficients, and the header as a JSON string; no pickle.
- CSV: line 1 "# robosim-trajectory 1", line 2 "# " and the header in JSON, line 3 the column names,
  then a row per knot: time and the six derivatives 0..5 of each position just after it (the last
  row: just before it).
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Sequence
from math import factorial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robosim.errors import TrajectoryError, suggestion
from robosim.files import read_arrays, read_file, write_file
from robosim.trajectory import polynomial
from robosim.trajectory.limits import TrajectoryLimits

if TYPE_CHECKING:
    from robosim.trajectory.trajectory import Format, Trajectory

FORMAT = "robosim-trajectory"
VERSION = 1
MAX_BYTES = 1 << 29  # unpacked; a 512 MiB trajectory has over ten million numbers
DERIVATIVES = ("position", "velocity", "acceleration", "jerk", "snap", "crackle")
HEADER_FIELDS = (
    "robot",
    "position_names",
    "torque_names",
    "units",
    "limits",
    "seed",
    "metadata",
    "events",
)
_FACTORIALS = np.array([factorial(j) for j in range(6)], dtype=float)


def save(trajectory: Trajectory, path: str | os.PathLike[str], format: Format | None) -> None:
    """Write a trajectory file. See Trajectory.save."""
    write_file(path, _WRITERS[_format(path, format)](trajectory))


def load(path: str | os.PathLike[str], format: Format | None) -> Trajectory:
    """Read a trajectory file. See Trajectory.load."""
    reader = _READERS[_format(path, format)]
    data = read_file(path, max_bytes=MAX_BYTES)
    try:
        return reader(data)
    except TrajectoryError as error:
        raise TrajectoryError(str(error), file=path, line=error.line) from None
    except (RecursionError, MemoryError, OverflowError) as error:
        message = f"nested too deeply or too large ({type(error).__name__})"
        raise TrajectoryError(message, file=path) from None


def _format(path: str | os.PathLike[str], format: str | None) -> str:
    chosen = Path(path).suffix[1:].lower() if format is None else format
    if chosen not in _WRITERS:
        near = suggestion(chosen, _WRITERS)
        raise TrajectoryError(f"unknown trajectory format {chosen!r}{near}", file=path)
    return chosen


# Header, shared by all formats


def _header(trajectory: Trajectory) -> dict[str, Any]:
    header = {
        "format": FORMAT,
        "version": VERSION,
        "robot": trajectory.robot,
        "position_names": list(trajectory.position_names),
        "torque_names": list(trajectory.torque_names),
        "units": list(trajectory.units),
        "limits": None if trajectory.limits is None else trajectory.limits.to_dict(),
        "seed": trajectory.seed,
        "metadata": trajectory.metadata,
    }
    if trajectory.events:  # unknown to older readers
        header["events"] = [event.to_dict() for event in trajectory.events]
    return header


def _check_version(header: Any) -> dict[str, Any]:
    if not isinstance(header, dict):
        raise TrajectoryError(f"not an object with format {FORMAT!r}")
    if header.get("format") != FORMAT:
        raise TrajectoryError(f"format: is {header.get('format')!r}, not {FORMAT!r}")
    if type(header.get("version")) is not int or header["version"] != VERSION:
        raise TrajectoryError(
            f"version: {header.get('version')!r} of {FORMAT} is unknown here; this robosim reads"
            f" version {VERSION}"
        )
    return header


def _fields(header: dict[str, Any]) -> dict[str, Any]:
    """Return constructor arguments from a header with the right format and version."""
    unknown = set(header) - {"format", "version", *HEADER_FIELDS}
    if unknown:
        field = sorted(unknown)[0]
        raise TrajectoryError(
            f"unknown field {field!r}{suggestion(field, HEADER_FIELDS, limit=None)}"
        )
    for name, kind in (
        ("position_names", list),
        ("torque_names", list),
        ("units", list),
        ("metadata", dict),
    ):
        if not isinstance(header.get(name), kind):
            raise TrajectoryError(
                f"{name}: missing or not {'an object' if kind is dict else 'a list'}"
            )
    if not isinstance(header.get("events", []), list):
        raise TrajectoryError("events: must be a list")
    fields = {name: header[name] for name in HEADER_FIELDS if name in header}
    limits = fields.get("limits")
    if limits is not None:
        if not isinstance(limits, dict):
            raise TrajectoryError("limits: must be an object or null")
        fields["limits"] = TrajectoryLimits.from_dict(limits)
    return fields


def _parse_json(text: str, first_line: int = 1) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, value in pairs:
            if key in out:
                raise TrajectoryError(f"field {key!r} appears twice in one object")
            out[key] = value
        return out

    def refuse(constant: str) -> None:
        raise TrajectoryError(f"{constant} is not a number that JSON allows")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise TrajectoryError(
            f"column {error.colno}: {error.msg}", line=error.lineno + first_line - 1
        ) from None
    except TrajectoryError:
        raise
    except ValueError as error:
        raise TrajectoryError(f"a number is out of range ({error})") from None


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TrajectoryError(f"not UTF-8 text (byte {error.start})", line=line) from None


def _numbers(value: Any, place: str) -> None:
    """Refuse values that NumPy would convert silently: strings, booleans, nulls."""
    if isinstance(value, list):
        for i, item in enumerate(value):
            if type(item) is not float and type(item) is not int:
                _numbers(item, f"{place}[{i}]")
    else:
        raise TrajectoryError(f"{place}: must be a number, is {value!r:.50}")


# JSON


def _write_json(trajectory: Trajectory) -> bytes:
    def rows(values: Sequence[Any]) -> str:
        return "[\n  " + ",\n  ".join(json.dumps(row) for row in values) + "\n ]"

    head = ",\n ".join(
        f"{json.dumps(key)}: {json.dumps(value)}" for key, value in _header(trajectory).items()
    )
    breaks = json.dumps(trajectory.breaks.tolist())
    pieces = rows(trajectory.coefficients.tolist())
    return f'{{\n {head},\n "breaks": {breaks},\n "coefficients": {pieces}\n}}\n'.encode()


def _read_json(data: bytes) -> Trajectory:
    from robosim.trajectory.trajectory import Trajectory

    document = dict(_check_version(_parse_json(_text(data))))
    arrays = {}
    for name in ("breaks", "coefficients"):
        if name not in document:
            raise TrajectoryError(f"{name}: missing")
        arrays[name] = document.pop(name)
        _numbers(arrays[name], name)
    return Trajectory(**arrays, **_fields(document))


# CSV


def _columns(names: Sequence[str]) -> list[str]:
    return ["time", *(f"{name}.{derivative}" for name in names for derivative in DERIVATIVES)]


def _write_csv(trajectory: Trajectory) -> bytes:
    c, breaks = trajectory.coefficients, trajectory.breaks
    end = polynomial.shift(c[-1:], np.diff(breaks[-2:]))
    rows = np.concatenate([c, end]) * _FACTORIALS[:, None]  # (k + 1, 6, n)
    header = {
        key: value for key, value in _header(trajectory).items() if key not in ("format", "version")
    }
    out = io.StringIO(newline="")
    out.write(f"# {FORMAT} {VERSION}\n# {json.dumps(header)}\n")
    # Quoted, because a name may contain anything, including line breaks.
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(
        _columns(trajectory.position_names)
    )
    writer = csv.writer(out, lineterminator="\n")
    for t, row in zip(breaks.tolist(), rows, strict=True):
        writer.writerow([repr(t), *map(repr, row.T.reshape(-1).tolist())])
    return out.getvalue().encode()


def _read_csv(data: bytes) -> Trajectory:
    from robosim.trajectory.trajectory import Trajectory

    # Format and version, then the header.
    lines = _text(data).split("\n", 2)
    words = lines[0].split()
    if len(words) != 3 or words[:2] != ["#", FORMAT]:
        raise TrajectoryError(f"must be '# {FORMAT} {VERSION}', is {lines[0]!r:.60}", line=1)
    if words[2] != str(VERSION):
        raise TrajectoryError(
            f"version {words[2]!r:.20} of {FORMAT} is unknown here; this robosim reads version"
            f" {VERSION}",
            line=1,
        )
    if len(lines) < 3 or not lines[1].startswith("# "):
        raise TrajectoryError("must be '# ' and the header as a JSON object", line=2)
    header = _parse_json("  " + lines[1][2:], first_line=2)
    if not isinstance(header, dict):
        raise TrajectoryError("the header must be a JSON object", line=2)
    try:
        fields = _fields(header)
    except TrajectoryError as error:
        raise TrajectoryError(str(error), line=2) from None
    # Column names, then a row of numbers per knot.
    names = fields["position_names"]
    reader = csv.reader(io.StringIO(lines[2], newline=""))
    try:
        columns = next(reader, None)
        if columns != _columns([str(name) for name in names]):
            raise TrajectoryError(
                f"the columns must be time and, for each position name, {', '.join(DERIVATIVES)}",
                line=3,
            )
        rows = []
        for cells in reader:
            if not cells:
                continue
            place = reader.line_num + 2
            if len(cells) != len(columns):
                raise TrajectoryError(
                    f"has {len(cells)} cells, the header has {len(columns)}", line=place
                )
            try:
                rows.append([float(cell) for cell in cells])
            except ValueError as error:
                raise TrajectoryError(str(error), line=place) from None
            if not np.isfinite(rows[-1]).all():
                raise TrajectoryError("a number is not finite", line=place)
    except csv.Error as error:
        raise TrajectoryError(str(error), line=reader.line_num + 3) from None
    if len(rows) < 2:
        raise TrajectoryError("needs at least two rows of numbers", line=reader.line_num + 2)
    # Derivatives at the start of each piece are its coefficients times factorials.
    table = np.array(rows)
    knots = np.moveaxis(table[:, 1:].reshape(len(rows), len(names), 6), 1, 2)
    trajectory = Trajectory(table[:, 0], knots[:-1] / _FACTORIALS[:, None], **fields)
    # The last row repeats the end of the last piece; in an edited file it may differ.
    end = trajectory.position(trajectory.duration)
    wrong = np.abs(end - knots[-1, 0]) > 1e-8 * np.maximum(1, np.abs(end))
    if wrong.any():
        j = int(np.argmax(wrong))
        raise TrajectoryError(
            f"last row: {names[j]}.position is {knots[-1, 0, j]}, but the piece before it ends at"
            f" {end[j]}"
        )
    return trajectory


# NPZ


def _write_npz(trajectory: Trajectory) -> bytes:
    out = io.BytesIO()
    header = np.array(json.dumps(_header(trajectory)))
    np.savez_compressed(
        out, header=header, breaks=trajectory.breaks, coefficients=trajectory.coefficients
    )
    return out.getvalue()


def _read_npz(data: bytes) -> Trajectory:
    from robosim.trajectory.trajectory import Trajectory

    names = ("header", "breaks", "coefficients")
    arrays = read_arrays(data, names, max_bytes=MAX_BYTES, error=TrajectoryError)
    text = arrays["header"]
    if text.ndim != 0 or text.dtype.kind != "U":
        raise TrajectoryError("header: must be one string")
    header = _check_version(_parse_json(str(text)))
    for name in ("breaks", "coefficients"):
        if arrays[name].dtype.kind != "f":
            raise TrajectoryError(f"{name}: must be floating point, is {arrays[name].dtype}")
    return Trajectory(arrays["breaks"], arrays["coefficients"], **_fields(header))


_WRITERS: dict[str, Callable[[Trajectory], bytes]] = {
    "json": _write_json,
    "csv": _write_csv,
    "npz": _write_npz,
}
_READERS: dict[str, Callable[[bytes], Trajectory]] = {
    "json": _read_json,
    "csv": _read_csv,
    "npz": _read_npz,
}
