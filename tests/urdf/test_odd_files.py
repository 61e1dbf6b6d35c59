"""Odd but legal files, and files that look wrong, with expectations in their comments.

    must load: n_q=1                     loads with this number of coordinates
    must refuse: PATTERN                 is refused, with this error at a line of the file
    must warn|ignore|fault: PATTERN      is among Model.warnings, .ignored, .dynamics_faults
    must limits: LOWER UPPER             limits of the only coordinate
    must colliders: N                    number of colliders
    must strict: PATTERN                 is refused by strict reading only, with this error

A file without `must warn` has no warning at all.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from robosim.errors import RobosimError
from robosim.urdf import inspect_robot, load_robot

HERE = Path(__file__).parent
FILES = sorted(path for folder in ("odd", "wrong") for path in (HERE / folder).glob("*.urdf"))
_MUST = re.compile(r"<!-- must (\w+): (.*?) ?-->")


def musts(path: Path) -> dict[str, str]:
    """Expectations in the comments of a file, by their keyword."""
    data = path.read_bytes()
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin-1")
    return dict(_MUST.findall(text))


def test_there_are_enough_of_them():
    assert sum(path.parent.name == "odd" for path in FILES) >= 60
    assert sum(path.parent.name == "wrong" for path in FILES) >= 40


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_file(path):
    must = musts(path)
    assert ("load" in must) != ("refuse" in must)
    if "refuse" in must:
        for strict in (True, False):
            with pytest.raises(RobosimError, match=rf"{re.escape(str(path))}:\d+: .*"):
                load_robot(path, strict=strict)
        with pytest.raises(RobosimError, match=must["refuse"].encode("latin-1").decode()):
            load_robot(path)
        return
    model = load_robot(path)
    assert f"n_q={model.n_q}" == must["load"]
    said = {"warn": model.warnings, "ignore": model.ignored, "fault": model.dynamics_faults}
    for key, texts in said.items():
        if key in must:
            assert any(re.search(must[key], text) for text in texts), texts
        elif key != "warn" or "fault" not in must:  # a fault is a warning, too
            assert texts == ()
    assert all(f"{path.with_suffix('')}." in text for text in model.warnings)  # with file and line
    if "limits" in must:
        np.testing.assert_array_equal(
            [*model.limits.lower, *model.limits.upper], [float(x) for x in must["limits"].split()]
        )
    if "colliders" in must:
        assert len(model.colliders) == int(must["colliders"])
    if must.get("strict"):
        with pytest.raises(RobosimError, match=must["strict"]):
            load_robot(path, strict=True)
    elif "strict" not in must:
        assert load_robot(path, strict=True).n_q == model.n_q
    if "fault" in must:
        with pytest.raises(RobosimError, match="no valid dynamics"):
            model.mass_matrix(model.neutral())
    else:
        assert np.isfinite(model.mass_matrix(model.neutral())).all()


def test_inspect_says_it_all_in_one_run():
    """Every warning of every file is in the report, and in its data for JSON."""
    for path in (p for p in FILES if "warn" in musts(p)):
        report = inspect_robot(path)
        assert report.model.warnings == load_robot(path).warnings
        assert report.to_dict()["warnings"] == list(report.model.warnings)
        assert report.to_dict()["dynamics_faults"] == list(report.model.dynamics_faults)
