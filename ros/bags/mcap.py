"""Sequential reader of MCAP files that does not trust their content.

MCAP (mcap.dev/spec) is a magic number, followed by records: a byte for the kind, a length in 64
bits, the content. Schemas name types, channels topics, and messages refer to channels. A chunk is a
sequence of such records, optionally compressed. Everything is defined before its use, so no index
is needed. A file that ends in the middle, because its writer was interrupted, is read up to there.
"""

from __future__ import annotations

import struct
import sys
import zlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from robosim.errors import BagError, FileError

__all__ = ["McapScan", "Message"]

_MAGIC = b"\x89MCAP0\r\n"
_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END, _FOOTER = 0x03, 0x04, 0x05, 0x06, 0x0F, 0x02
# Largest size of a record and of an unpacked chunk, beyond all that recorders write.
_MAX_BYTES = 1 << 28
_MAX_NAMES = 10_000


class Message(NamedTuple):
    """One message: topic, type ("std_msgs/msg/String"), log time [ns], and content in CDR."""

    topic: str
    type: str
    time_ns: int
    data: bytes


class McapScan:
    """A pass over the messages, in the order of the file.

    Attributes:
        truncated: True if the file ended in the middle of a record; known after the pass.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.truncated = False
        self._schemas: dict[int, str] = {}
        self._channels: dict[int, tuple[str, str]] = {}

    def __iter__(self) -> Iterator[Message]:
        """Iterate over the messages.

        Raises BagError for malformed content other than an early end, FileError if the file cannot
        be read.
        """
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, 2)
                file.seek(0)
                if file.read(8) != _MAGIC:
                    raise self._error(
                        "is not an MCAP file: it does not begin with MCAP's magic number"
                    )
                yield from self._records(file, size)
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"cannot be read: {error.strerror or error}", file=self.path) from None

    def _records(self, file: BinaryIO, size: int) -> Iterator[Message]:
        while True:
            head = file.read(9)
            if len(head) < 9:
                self.truncated = True
                return
            kind, length = struct.unpack("<BQ", head)
            if kind in (_DATA_END, _FOOTER):
                return
            whole = length <= size - file.tell()
            if whole and length > _MAX_BYTES:
                raise self._error(f"a record of {length} bytes; at most {_MAX_BYTES} are read")
            if kind == _CHUNK:
                yield from self._chunk(file.read(length if whole else _MAX_BYTES), whole)
            elif not whole:
                pass
            elif kind in (_SCHEMA, _CHANNEL, _MESSAGE):
                message = self._record(kind, file.read(length))
                if message is not None:
                    yield message
            else:
                file.seek(length, 1)
            if not whole:
                self.truncated = True
                return

    def _chunk(self, data: bytes, whole: bool) -> Iterator[Message]:
        """Records in a chunk.

        A chunk at the end of a truncated file yields its complete records.
        """
        # Unpack the chunk, or its beginning if the file is truncated.
        fields = _Fields(data, self)
        try:
            _, _, length, checksum = fields.take("<QQQI")
            compression = fields.text()
            (packed_length,) = fields.take("<Q")
            packed = fields.bytes(packed_length if whole else min(packed_length, fields.left))
        except BagError:
            if whole:
                raise
            return
        if length > _MAX_BYTES:
            raise self._error(f"a chunk of {length} bytes; at most {_MAX_BYTES} are unpacked")
        try:
            content = _unpack(packed, compression, length)
        except Exception as error:  # decompressors raise their own kinds
            if not whole:
                return
            raise self._error(
                f"a chunk cannot be unpacked from {compression!r} ({error})"
            ) from None
        if whole and len(content) != length:
            raise self._error(f"a chunk says {length} bytes and has {len(content)}")
        if whole and checksum and zlib.crc32(content) != checksum:
            raise self._error("a chunk's checksum is wrong: the file is damaged")
        # Read the records inside.
        at = 0
        while at + 9 <= len(content):
            kind, size = struct.unpack_from("<BQ", content, at)
            at += 9
            if size > len(content) - at:
                break
            if kind in (_SCHEMA, _CHANNEL, _MESSAGE):
                message = self._record(kind, content[at : at + size])
                if message is not None:
                    yield message
            at += size
        if whole and at != len(content):
            raise self._error("a record in a chunk reaches beyond its end")

    def _record(self, kind: int, data: bytes) -> Message | None:
        fields = _Fields(data, self)
        if kind == _MESSAGE:
            number, _, time_ns, _ = fields.take("<HIQQ")
            if number not in self._channels:
                raise self._error(f"a message belongs to channel {number}, which was not announced")
            return Message(*self._channels[number], time_ns, fields.bytes(fields.left))
        if len(self._schemas) + len(self._channels) > _MAX_NAMES:
            raise self._error(f"more than {_MAX_NAMES} topics and types")
        if kind == _SCHEMA:
            (number,) = fields.take("<H")
            self._schemas[number] = fields.text()
        else:
            number, schema = fields.take("<HH")
            self._channels[number] = (fields.text(), self._schemas.get(schema, ""))
        return None

    def _error(self, text: str) -> BagError:
        return BagError(text, file=self.path)


class _Fields:
    """Reads fields from the front of a record, never beyond its end."""

    def __init__(self, data: bytes, scan: McapScan) -> None:
        self._data, self._at, self._scan = data, 0, scan

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def bytes(self, size: int) -> bytes:
        if size > self.left:
            raise self._scan._error(f"a record ends {size - self.left} bytes too early")
        self._at += size
        return self._data[self._at - size : self._at]

    def take(self, format: str) -> tuple[Any, ...]:
        return struct.unpack(format, self.bytes(struct.calcsize(format)))

    def text(self) -> str:
        (size,) = self.take("<I")
        return self.bytes(size).decode("utf-8", errors="replace")


def _unpack(packed: bytes, compression: str, length: int) -> bytes:
    """Decompress, but stop if the output exceeds `length`, so that a bomb is not unpacked."""
    if compression == "":
        return packed
    if compression == "lz4":
        from lz4.frame import LZ4FrameDecompressor

        return bytes(LZ4FrameDecompressor().decompress(packed, max_length=length + 1))
    if compression == "zstd":
        # rosbags installs the second for Python versions without the first.
        zstd = import_module(
            "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
        )
        return bytes(zstd.ZstdDecompressor().decompress(packed, max_length=length + 1))
    raise ValueError("known are none, lz4 and zstd")
