"""Tracking of an arm: desired, commanded and actual positions, their errors, files and plots.

Files have format "robosim-tracking", version 1.

- CSV: line 1 "# robosim-tracking 1", line 2 "# " and the header in JSON, line 3 the column names,
  then a row per sample: time, and for each joint desired, commanded, actual; an empty cell if the
  command is unknown.
- NPZ: the arrays and the header as a JSON string; no pickle.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import ExecutionError
from robosim.files import read_arrays, read_file, write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Tracking", "TrackingRecorder"]

Array = NDArray[np.float64]

FORMAT = "robosim-tracking"
VERSION = 1
MAX_BYTES = 1 << 29
CURVES = ("desired", "commanded", "actual")


@dataclass(frozen=True, eq=False)
class Tracking:
    """Desired and actual positions of n joints at m times.

    Args:
        joint_names: (n) names of the joints of the columns.
        time: (m,) [s], not decreasing.
        desired: (m, n) desired positions [rad or m].
        commanded: (m, n) positions sent to the arm; NaN if unknown.
        actual: (m, n) measured positions.
        units: (n) "rad" or "m"; one string applies to all.
        robot: name of the robot.

    Raises:
        ExecutionError: an argument is not valid; the message names the field.
    """

    joint_names: tuple[str, ...]
    time: Array
    desired: Array
    commanded: Array
    actual: Array
    units: tuple[str, ...] | str = "rad"
    robot: str = ""

    def __post_init__(self) -> None:
        names = tuple(self.joint_names)
        if (
            not names
            or len(set(names)) != len(names)
            or not all(isinstance(n, str) and n for n in names)
        ):
            raise ExecutionError(f"joint_names: must be one or more distinct names, not {names!r}")
        units = (self.units,) * len(names) if isinstance(self.units, str) else tuple(self.units)
        if len(units) != len(names) or any(unit not in ("rad", "m") for unit in units):
            raise ExecutionError(f"units: must be {len(names)} of rad, m, not {self.units!r}")
        object.__setattr__(self, "joint_names", names)
        object.__setattr__(self, "units", units)
        time = _array("time", self.time, (-1,))
        if (np.diff(time) < 0).any():
            i = int(np.argmax(np.diff(time) < 0))
            raise ExecutionError(f"time[{i + 1}]: {time[i + 1]} comes before {time[i]}")
        object.__setattr__(self, "time", time)
        for curve in CURVES:
            values = _array(
                curve, getattr(self, curve), (len(time), len(names)), curve == "commanded"
            )
            object.__setattr__(self, curve, values)

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.time)

    def __repr__(self) -> str:
        return f"<Tracking of {len(self.joint_names)} joints, {len(self)} samples>"

    @property
    def error(self) -> Array:
        """(m, n) actual minus desired."""
        return self.actual - self.desired

    @property
    def max_error(self) -> Array:
        """(n,) largest absolute error of each joint; NaN without samples."""
        return (
            np.abs(self.error).max(axis=0) if len(self) else np.full(len(self.joint_names), np.nan)
        )

    @property
    def rms_error(self) -> Array:
        """(n,) root mean square error of each joint; NaN without samples."""
        if not len(self):
            return np.full(len(self.joint_names), np.nan)
        return np.asarray(np.sqrt(np.mean(self.error**2, axis=0)))

    def summary(self) -> list[dict[str, Any]]:
        """Per joint: name, unit, largest error and its time, root mean square and last error."""
        greatest, rms = self.max_error, self.rms_error
        at = (
            self.time[np.abs(self.error).argmax(axis=0)]
            if len(self)
            else np.full(len(greatest), np.nan)
        )
        last = self.error[-1] if len(self) else np.full(len(greatest), np.nan)
        return [
            {
                "name": name,
                "unit": self.units[i],
                "max_error": float(greatest[i]),
                "max_error_time": float(at[i]),
                "rms_error": float(rms[i]),
                "final_error": float(last[i]),
            }
            for i, name in enumerate(self.joint_names)
        ]

    def plot(self, *, title: str | None = None) -> Figure:
        """Plot the desired and actual positions of all joints, and their errors.

        Args:
            title: title of the figure; the robot's name by default.

        Returns:
            A matplotlib Figure.

        Raises:
            ExecutionError: there are no samples.
        """
        from robosim.execution.tracking_plot import plot

        return plot(self, title)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a .csv or .npz file, whole or not at all.

        Raises:
            ExecutionError: the file has another suffix.
            FileError: the file cannot be written.
        """
        writer = {".csv": _write_csv, ".npz": _write_npz}[_ending(path)]
        write_file(path, writer(self))

    @staticmethod
    def load(path: str | PathLike[str]) -> Tracking:
        """Read a file that `save` wrote; NPZ and CSV both preserve every bit.

        Raises:
            ExecutionError: the file is not valid; the message has the location.
            FileError: the file cannot be read.
        """
        reader = {".csv": _read_csv, ".npz": _read_npz}[_ending(path)]
        data = read_file(path, max_bytes=MAX_BYTES)
        try:
            return reader(data)
        except ExecutionError as error:
            raise ExecutionError(str(error), file=path, line=error.line) from None
        except (RecursionError, MemoryError, OverflowError) as error:
            message = f"nested too deeply or too large ({type(error).__name__})"
            raise ExecutionError(message, file=path) from None


class TrackingRecorder:
    """Recorder of samples, added one at a time at low cost; `tracking()` returns them.

    Args:
        joint_names, units, robot: as in Tracking.
        start: time of the arm's clock that becomes time 0 [s].
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        *,
        units: Sequence[str] | str = "rad",
        robot: str = "",
        start: float = 0.0,
    ) -> None:
        self.joint_names = tuple(joint_names)
        self.units = units if isinstance(units, str) else tuple(units)
        self.robot = robot
        self.start = start
        self._rows = np.empty((1024, 1 + len(CURVES) * len(self.joint_names)))
        self._count = 0

    def __len__(self) -> int:
        """Number of samples."""
        return self._count

    def add(
        self, time: float, desired: ArrayLike, commanded: ArrayLike | None, actual: ArrayLike
    ) -> None:
        """Add one sample.

        Args:
            time: time on the arm's clock [s], not before that of the last sample.
            desired, actual: (n,).
            commanded: (n,), or None if unknown.
        """
        n = len(self.joint_names)
        if self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        row = self._rows[self._count]
        row[0] = time - self.start
        row[1 : 1 + n] = desired
        row[1 + n : 1 + 2 * n] = np.nan if commanded is None else commanded
        row[1 + 2 * n :] = actual
        self._count += 1

    def tracking(self) -> Tracking:
        """Return the samples collected so far."""
        rows = self._rows[: self._count].copy()
        time, desired, commanded, actual = np.split(
            rows, np.cumsum([1, len(self.joint_names), len(self.joint_names)]), axis=1
        )
        return Tracking(
            self.joint_names,
            time[:, 0],
            desired,
            commanded,
            actual,
            units=self.units,
            robot=self.robot,
        )


def _array(field: str, value: ArrayLike, shape: tuple[int, ...], unknown: bool = False) -> Array:
    """Return a read-only copy of this shape (-1: any length); finite, or NaN if `unknown`."""
    try:
        array = np.array(value, dtype=float, order="C")
    except (TypeError, ValueError) as error:
        raise ExecutionError(f"{field}: not a regular array of numbers ({error})") from None
    if array.ndim != len(shape) or any(
        want not in (-1, is_) for want, is_ in zip(shape, array.shape, strict=True)
    ):
        raise ExecutionError(f"{field}: must have shape {shape}, has {array.shape}")
    wrong = ~(np.isfinite(array) | np.isnan(array)) if unknown else ~np.isfinite(array)
    if wrong.any():
        place = ", ".join(map(str, np.argwhere(wrong)[0]))
        raise ExecutionError(f"{field}[{place}]: is not finite")
    array.setflags(write=False)
    return array


# Files


def _ending(path: str | PathLike[str]) -> str:
    ending = Path(path).suffix.lower()
    if ending not in (".csv", ".npz"):
        raise ExecutionError(
            f"the name of a recording ends in .csv or .npz, not {ending!r}", file=path
        )
    return ending


def _header(tracking: Tracking) -> str:
    fields = {"joint_names": tracking.joint_names, "units": tracking.units, "robot": tracking.robot}
    return json.dumps({"format": FORMAT, "version": VERSION, **fields})


def _read_header(text: str) -> dict[str, Any]:
    """Return constructor arguments from a header."""
    try:
        header = json.loads(text)
    except ValueError as error:
        raise ExecutionError(f"the header is not JSON ({error})") from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ExecutionError(f"the header is not an object of format {FORMAT!r}")
    if header.get("version") != VERSION:
        raise ExecutionError(
            f"version {header.get('version')!r} of {FORMAT} is unknown here; this robosim reads"
            f" version {VERSION}"
        )
    for name in ("joint_names", "units"):
        if not isinstance(header.get(name), list) or not all(
            isinstance(x, str) for x in header[name]
        ):
            raise ExecutionError(f"{name}: missing or not a list of names")
    if not isinstance(header.get("robot"), str):
        raise ExecutionError("robot: missing or not a name")
    return {name: header[name] for name in ("joint_names", "units", "robot")}


def _columns(names: Sequence[str]) -> list[str]:
    return ["time", *(f"{name}.{curve}" for name in names for curve in CURVES)]


def _write_csv(tracking: Tracking) -> bytes:
    out = io.StringIO(newline="")
    out.write(f"# {FORMAT} {VERSION}\n# {_header(tracking)}\n")
    # Quoted, because a name may contain anything, including line breaks.
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(
        _columns(tracking.joint_names)
    )
    writer = csv.writer(out, lineterminator="\n")
    curves = np.stack([tracking.desired, tracking.commanded, tracking.actual], axis=2)
    rows = curves.reshape(len(tracking), len(CURVES) * len(tracking.joint_names))
    for t, row in zip(tracking.time.tolist(), rows.tolist(), strict=True):
        writer.writerow([repr(t), *("" if x != x else repr(x) for x in row)])
    return out.getvalue().encode()


def _read_csv(data: bytes) -> Tracking:
    try:
        lines = data.decode("utf-8").split("\n", 2)
    except UnicodeDecodeError as error:
        raise ExecutionError(f"not UTF-8 text (byte {error.start})") from None
    if lines[0].split() != ["#", FORMAT, str(VERSION)]:
        raise ExecutionError(f"must be '# {FORMAT} {VERSION}', is {lines[0]!r:.60}", line=1)
    if len(lines) < 3 or not lines[1].startswith("# "):
        raise ExecutionError("must be '# ' and the header as a JSON object", line=2)
    try:
        fields = _read_header(lines[1][2:])
    except ExecutionError as error:
        raise ExecutionError(str(error), line=2) from None
    columns = _columns(fields["joint_names"])
    reader = csv.reader(io.StringIO(lines[2], newline=""))
    rows: list[list[float]] = []
    try:
        if next(reader, None) != columns:
            raise ExecutionError(
                f"the columns must be time and each joint's {', '.join(CURVES)}", line=3
            )
        for cells in filter(None, reader):
            if len(cells) != len(columns):
                raise ExecutionError(
                    f"has {len(cells)} cells, the header has {len(columns)}",
                    line=reader.line_num + 2,
                )
            try:
                rows.append([float(cell) if cell else np.nan for cell in cells])
            except ValueError as error:
                raise ExecutionError(str(error), line=reader.line_num + 2) from None
    except csv.Error as error:
        raise ExecutionError(str(error), line=reader.line_num + 2) from None
    table = np.array(rows).reshape(len(rows), len(columns))
    desired, commanded, actual = np.moveaxis(
        table[:, 1:].reshape(len(rows), len(fields["joint_names"]), len(CURVES)), 2, 0
    )
    return Tracking(time=table[:, 0], desired=desired, commanded=commanded, actual=actual, **fields)


def _write_npz(tracking: Tracking) -> bytes:
    out = io.BytesIO()
    arrays = {name: getattr(tracking, name) for name in ("time", *CURVES)}
    np.savez_compressed(out, header=np.array(_header(tracking)), **arrays)
    return out.getvalue()


def _read_npz(data: bytes) -> Tracking:
    arrays: dict[str, Any] = dict(
        read_arrays(data, ("header", "time", *CURVES), max_bytes=MAX_BYTES, error=ExecutionError)
    )
    header = arrays.pop("header")
    if header.ndim != 0 or header.dtype.kind != "U":
        raise ExecutionError("header: must be one string")
    for name, array in arrays.items():
        if array.dtype.kind != "f":
            raise ExecutionError(f"{name}: must be floating point, is {array.dtype}")
    return Tracking(**arrays, **_read_header(str(header)))
