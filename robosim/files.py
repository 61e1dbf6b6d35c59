"""Safe reading and writing of files.

Reads are bounded and of regular files only, writes are atomic. XML is parsed without entities or
network, archives of arrays without pickle.
"""

from __future__ import annotations

import io
import os
import re
import secrets
import stat
import zipfile
from collections.abc import Collection
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
from lxml import etree

from robosim.errors import FileError, RobosimError

__all__ = ["parse_xml", "read_arrays", "read_file", "write_file"]

_MAX_XML_DEPTH = 100
_DECLARATION = re.compile(r"<\?xml\s[^>]*\?>")
_DOCTYPE = re.compile(r"<!DOCTYPE\s+[A-Za-z_][\w.-]*\s*>")
_ENCODING = re.compile(rb"<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")


def read_file(path: str | PathLike[str], *, max_bytes: int) -> bytes:
    """Read the whole content of a regular file.

    Raises:
        FileError: the file is missing, not regular (a pipe would block forever), unreadable, or
            larger than `max_bytes`.
    """
    try:
        status = Path(path).stat()
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise FileError(f"is {kind}; expected a file", file=path)
        if status.st_size > max_bytes:
            raise FileError(f"has {status.st_size} bytes; at most {max_bytes} are read", file=path)
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise FileError("no such file", file=path) from None
    except (OSError, ValueError) as e:  # ValueError: a null byte in the path
        if isinstance(e, RobosimError):
            raise
        raise FileError(
            f"cannot be read: {getattr(e, 'strerror', None) or e}", file=repr(os.fspath(path))
        ) from None


def write_file(path: str | PathLike[str], data: bytes) -> None:
    """Write a file whole or not at all: to a temporary file in its folder, then renamed to `path`.

    Raises:
        FileError: the folder is missing, not writable, or full.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as f:
            f.write(data)
        temporary.replace(target)
    except (OSError, ValueError) as e:
        raise FileError(
            f"cannot be written: {getattr(e, 'strerror', None) or e}", file=path
        ) from None
    finally:
        temporary.unlink(missing_ok=True)


def read_arrays(
    data: bytes, names: Collection[str], *, max_bytes: int, error: type[RobosimError]
) -> dict[str, np.ndarray[Any, Any]]:
    """Read the arrays of an NPZ archive, by name, without unpickling or unchecked allocation.

    Args:
        data: the archive.
        names: names of the arrays, which must be exactly these.
        max_bytes: largest unpacked size.
        error: class of the error for an archive that is damaged or has other content.
    """
    expected = {f"{name}.npy" for name in names}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) != len(expected) or {m.filename for m in members} != expected:
                raise error(f"must hold exactly {', '.join(sorted(expected))}")
            if sum(m.file_size for m in members) > max_bytes:
                raise error(f"larger than {max_bytes} bytes when unpacked")
            return {m.filename[:-4]: _read_npy(archive.read(m), m.filename, error) for m in members}
    except (RobosimError, MemoryError, RecursionError):
        raise
    except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, RuntimeError) as e:
        raise error(f"not a readable NPZ file ({e})") from None
    except Exception as e:
        # zlib.error and struct.error, raised for damaged archives, have no common base class.
        raise error(f"not a readable NPZ file ({type(e).__name__}: {e})") from None


def _read_npy(data: bytes, name: str, error: type[RobosimError]) -> np.ndarray[Any, Any]:
    """np.load, after checking the announced size, which would be allocated first."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise error(f"{name}: version {version} of the npy format is not one that robosim writes")
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        raise error(f"{name}: holds Python objects, which are never loaded")
    count = 1
    for size in shape:
        count *= size
    if count * dtype.itemsize != len(data) - stream.tell():
        raise error(f"{name}: announces {count} numbers but has {len(data) - stream.tell()} bytes")
    stream.seek(0)
    return cast("np.ndarray[Any, Any]", np.load(stream, allow_pickle=False))


def parse_xml(
    data: bytes | str,
    *,
    file: str,
    error: type[RobosimError],
    warnings: list[str] | None = None,
    long_texts: bool = False,
    strict: bool = True,
) -> etree._Element:
    """Parse XML without side effects: no DTD, no entities, no network, bounded depth.

    Comments and processing instructions are dropped; elements keep their `sourceline`. A wrong or
    misplaced XML declaration (`version="0.0"`, or one after blank lines, both found in published
    robots) carries no content. It is recorded in `warnings` and ignored.

    Args:
        data: the document.
        file: name of the file in errors.
        error: class of the error raised, with file and line.
        warnings: list to which warnings are appended.
        long_texts: allow a text of more than 10 MB in one element.
        strict: refuse violations of XML that other readers accept: prefixes without a namespace
            (elements and attributes then have tags with a colon), a DOCTYPE that only names the
            root, text that is invalid in its encoding (read as Latin-1, for which every byte is
            valid), and null bytes at the end. If not strict, each is recorded in `warnings`.
    """
    notes: list[str] = []
    text = data if isinstance(data, str) else _decode(data, file, error, None if strict else notes)
    if not strict and text.endswith("\x00"):  # terminator of a C string
        text = text.rstrip("\x00")
        notes.append(f"{file}:{text.count(chr(10)) + 1}: null bytes at the end; passed over")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise error("is empty; expected XML", file=file, line=1)
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise error("holds null bytes; expected XML text", file=file, line=line)

    # Blank out the declaration: the encoding has been handled, and the rest has no effect.
    declaration = _DECLARATION.search(text[:4096])
    if declaration:
        if declaration.start() > 0 or not re.search(r"version\s*=\s*[\"']1\.\d", declaration[0]):
            line = text.count("\n", 0, declaration.start()) + 1
            notes.append(
                f"{file}:{line}: XML declaration {declaration[0]!r} is not valid here; passed over"
            )
        blank = re.sub(r"[^\n]", " ", declaration[0])
        text = text[: declaration.start()] + blank + text[declaration.end() :]

    # Refuse a DTD before parsing: whether the parser expands entities depends on its version.
    start = _prolog_end(text)
    if text.startswith("<!DOCTYPE", start):
        line = text.count("\n", 0, start) + 1
        name_only = _DOCTYPE.match(text, start)
        if not name_only or strict:
            raise error(
                "has a DOCTYPE; documents with a DTD or entities are refused", file=file, line=line
            )
        notes.append(f"{file}:{line}: {name_only[0]} says nothing; passed over")
        text = text[:start] + re.sub(r"[^\n]", " ", name_only[0]) + text[name_only.end() :]
    try:
        root = _parse(text, long_texts, None if strict else notes, file)
    except etree.XMLSyntaxError as e:
        raise error(f"is not well-formed XML: {e.msg}", file=file, line=e.lineno or 1) from None
    except (ValueError, UnicodeEncodeError) as e:
        raise error(f"is not XML: {e}", file=file, line=1) from None
    if warnings is not None:
        warnings += notes
    depth = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > _MAX_XML_DEPTH:
            raise error(
                f"is nested deeper than {_MAX_XML_DEPTH} elements",
                file=file,
                line=element.sourceline,
            )
    return root


def _parse(text: str, long_texts: bool, notes: list[str] | None, file: str) -> etree._Element:
    """Parse and return the root element.

    With `notes`, prefixes without a namespace are recorded there instead of refused.
    """
    options: dict[str, Any] = {
        "resolve_entities": False, "no_network": True, "load_dtd": False, "dtd_validation": False,
        "huge_tree": long_texts, "remove_comments": True, "remove_pis": True,
    }  # fmt: skip
    data = text.encode("utf-8")
    try:
        return etree.fromstring(data, etree.XMLParser(**options))
    except etree.XMLSyntaxError:
        if notes is None:
            raise
        lenient = etree.XMLParser(**options, recover=True)
        root = etree.fromstring(data, lenient)
        faults = list(lenient.error_log)
        if root is None or any(fault.domain != etree.ErrorDomains.NAMESPACE for fault in faults):
            raise
        notes += dict.fromkeys(
            f"{file}:{fault.line}: {fault.message}; passed over" for fault in faults
        )
        return root


def _prolog_end(text: str) -> int:
    """End of the leading blanks, comments and processing instructions."""
    at = 0
    while True:
        at = len(text) - len(text[at:].lstrip())
        end = "-->" if text.startswith("<!--", at) else "?>" if text.startswith("<?", at) else None
        if end is None or (found := text.find(end, at)) < 0:
            return at
        at = found + len(end)


def _decode(data: bytes, file: str, error: type[RobosimError], notes: list[str] | None) -> str:
    """Decode by byte order mark, otherwise by the XML declaration, otherwise as UTF-8.

    With `notes`, text that is invalid in its encoding is decoded as Latin-1.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    else:
        declared = _ENCODING.search(data[:4096])
        encoding = declared[1].decode("ascii") if declared else "utf-8"
        if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
            encoding = "utf-8-sig"
    try:
        return data.decode(encoding)
    except LookupError:
        raise error(f"declares the unknown encoding {encoding!r}", file=file, line=1) from None
    except UnicodeError as e:
        start = getattr(e, "start", 0)
        line = data.count(b"\n", 0, start) + 1
        if (
            notes is not None
            and b"\x00" not in data.rstrip(b"\x00")
            and data.lstrip().startswith(b"<")
        ):
            notes.append(f"{file}:{line}: is not {encoding} text (byte {start}); read as Latin-1")
            return data.decode("latin-1")
        raise error(
            f"is not {encoding} text (byte {start}): binary, or another encoding",
            file=file,
            line=line,
        ) from None
