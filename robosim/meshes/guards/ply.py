"""Guard for PLY: a text header with elements, counts and properties, then text or binary rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from robosim.errors import MeshError
from robosim.meshes.guards.guarded import MAX_TEXT_BYTES, Guarded

__all__ = ["guard"]

_SIZES = {
    "char": 1, "uchar": 1, "int8": 1, "uint8": 1, "short": 2, "ushort": 2, "int16": 2, "uint16": 2,
    "int": 4, "uint": 4, "int32": 4, "uint32": 4, "float": 4, "float32": 4, "double": 8,
    "float64": 8,
}  # fmt: skip
_FORMATS = ("ascii", "binary_little_endian", "binary_big_endian")
_MAX_HEADER = 64 * 1024


@dataclass
class _Element:
    name: str
    count: int
    properties: list[list[str]] = field(default_factory=list)

    def least_bytes(self, text: bool) -> int:
        """Minimum size of a row.

        A list may be empty. A number in text takes a digit and a separator.
        """
        return sum(2 if text else _SIZES[p[1] if p[0] == "list" else p[0]] for p in self.properties)


def guard(data: bytes, path: str) -> Guarded:
    """Check the header against the size of the data, and drop comments.

    A comment may name a texture file.
    """
    # Split header and body.
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"format ascii" in data[:200]:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    end = data.find(b"end_header", 0, _MAX_HEADER)
    body_start = data.find(b"\n", end) + 1
    if end < 0 or body_start == 0:
        raise MeshError("PLY has no complete header", file=path)
    lines = data[:end].decode("latin-1").splitlines()
    encoding, elements = _read_header(lines, path)
    text = encoding == "ascii"
    body = data[body_start:]
    if text:
        if len(body) > MAX_TEXT_BYTES:
            raise MeshError(
                f"text PLY of {len(body)} bytes exceeds {MAX_TEXT_BYTES}; save it as binary",
                file=path,
            )
        body = _check_text(body, elements, path)

    # Check counts and properties.
    needed = sum(e.count * e.least_bytes(text) for e in elements)
    if needed > len(body) + 1:  # + 1: the last line need not have a newline
        raise MeshError(
            f"PLY is truncated: its header announces at least {needed} bytes of data, {len(body)}"
            " are there",
            file=path,
        )
    names = {e.name: e for e in elements}
    for name in ("vertex", "face"):
        if name not in names or names[name].count == 0:
            raise MeshError(f"PLY has no {name} elements", file=path)
    coordinates = {p[1] for p in names["vertex"].properties if p[0] != "list"}
    if not coordinates >= {"x", "y", "z"}:
        raise MeshError("PLY vertices lack x, y or z", file=path)
    if not any(p[0] == "list" for p in names["face"].properties):
        raise MeshError("PLY faces have no list of vertex indices", file=path)

    # Rebuild the header without comments.
    header = ["ply", f"format {encoding} 1.0"]
    for e in elements:
        header += [
            f"element {e.name} {e.count}",
            *(f"property {' '.join(p)}" for p in e.properties),
        ]
    return Guarded("\n".join([*header, "end_header", ""]).encode("latin-1") + body)


def _read_header(lines: list[str], path: str) -> tuple[str, list[_Element]]:
    if not lines or lines[0].strip() != "ply":
        raise MeshError("PLY must begin with a line 'ply'", file=path, line=1)
    encoding, elements = "", list[_Element]()
    for number, line in enumerate(lines[1:], 2):
        tokens = line.split()
        match tokens:
            case [] | ["comment" | "obj_info", *_]:
                pass
            case ["format", name, "1.0"] if name in _FORMATS:
                encoding = name
            case ["element", name, count] if count.isdecimal() and len(count) < 11:
                if any(e.name == name for e in elements):
                    raise MeshError(f"PLY declares element {name!r} twice", file=path, line=number)
                elements.append(_Element(name, int(count)))
            case ["property", kind, _] if kind in _SIZES and elements:
                elements[-1].properties.append(tokens[1:])
            case ["property", "list", count_kind, kind, _] if {
                count_kind,
                kind,
            } <= _SIZES.keys() and elements:
                elements[-1].properties.append(tokens[1:])
            case _:
                raise MeshError(
                    f"PLY header line {line.strip()[:80]!r} is not valid", file=path, line=number
                )
    if not encoding:
        raise MeshError(
            f"PLY header lacks its format (one of {', '.join(_FORMATS)}, version 1.0)", file=path
        )
    for e in elements:
        names = [p[-1] for p in e.properties]
        if not names or len(set(names)) < len(names):
            raise MeshError(f"PLY element {e.name!r} has no properties, or one twice", file=path)
    return encoding, elements


def _check_text(body: bytes, elements: list[_Element], path: str) -> bytes:
    """Check that there is one line of numbers per announced row, and drop blank lines."""
    rows = [row for row in body.splitlines() if row.strip()]
    announced = sum(e.count for e in elements)
    if len(rows) != announced:
        raise MeshError(f"PLY announces {announced} rows of data, {len(rows)} are there", file=path)
    try:
        np.array(body.split(), dtype=np.float64)
    except ValueError as e:
        raise MeshError(f"PLY data is not numeric: {e}", file=path) from None
    return b"\n".join(rows) + b"\n"
