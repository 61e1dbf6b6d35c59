"""Packages of RTDE, version 2 of the published protocol: framing and packing of variables.

A package is a big-endian uint16 size (header included), a type byte, and a payload. This module
follows Universal Robots' description of the interface, for a server. It shares no code with the
client that it tests.
"""

from __future__ import annotations

import struct
from asyncio import StreamReader
from functools import lru_cache
from typing import Any

REQUEST_PROTOCOL_VERSION = ord("V")
GET_CONTROLLER_VERSION = ord("v")
TEXT_MESSAGE = ord("M")
DATA = ord("U")
SETUP_OUTPUTS = ord("O")
SETUP_INPUTS = ord("I")
START = ord("S")
PAUSE = ord("P")

_FORMATS = {
    "BOOL": "?",
    "UINT8": "B",
    "UINT32": "I",
    "UINT64": "Q",
    "INT32": "i",
    "DOUBLE": "d",
    "VECTOR3D": "3d",
    "VECTOR6D": "6d",
    "VECTOR6INT32": "6i",
    "VECTOR6UINT32": "6I",
}

_COUNTS = {"VECTOR3D": 3, "VECTOR6D": 6, "VECTOR6INT32": 6, "VECTOR6UINT32": 6}

OUTPUT_TYPES = {
    "timestamp": "DOUBLE",
    "target_q": "VECTOR6D",
    "target_qd": "VECTOR6D",
    "actual_q": "VECTOR6D",
    "actual_qd": "VECTOR6D",
    "actual_current": "VECTOR6D",
    "actual_execution_time": "DOUBLE",
    "robot_mode": "INT32",
    "joint_mode": "VECTOR6INT32",
    "safety_mode": "INT32",
    "speed_scaling": "DOUBLE",
    "target_speed_fraction": "DOUBLE",
    "runtime_state": "UINT32",
    "robot_status_bits": "UINT32",
    "safety_status_bits": "UINT32",
    **{f"output_int_register_{i}": "INT32" for i in range(48)},
    **{f"output_double_register_{i}": "DOUBLE" for i in range(48)},
}

INPUT_TYPES = {
    "speed_slider_mask": "UINT32",
    "speed_slider_fraction": "DOUBLE",
    "external_force_torque": "VECTOR6D",
    **{f"input_int_register_{i}": "INT32" for i in range(48)},
    **{f"input_double_register_{i}": "DOUBLE" for i in range(48)},
}


def frame(kind: int, payload: bytes) -> bytes:
    return struct.pack(">HB", len(payload) + 3, kind) + payload


async def read(reader: StreamReader) -> tuple[int, bytes]:
    """Read the next package: type and payload.

    Raises asyncio.IncompleteReadError at the end of the stream.
    """
    size, kind = struct.unpack(">HB", await reader.readexactly(3))
    return kind, await reader.readexactly(size - 3)


def text_message(text: str, source: str = "robot", level: int = 2) -> bytes:
    """Text message. Levels: 0 exception, 1 error, 2 warning, 3 information."""
    message, origin = text.encode()[:255], source.encode()[:255]
    return frame(
        TEXT_MESSAGE,
        bytes([len(message)]) + message + bytes([len(origin)]) + origin + bytes([level]),
    )


def names_of(payload: bytes) -> list[str]:
    return [name for name in payload.decode().split(",") if name]


@lru_cache
def _packing(names: tuple[str, ...]) -> struct.Struct:
    return struct.Struct(">" + "".join(_FORMATS[OUTPUT_TYPES[name]] for name in names))


def pack(names: tuple[str, ...], values: dict[str, Any]) -> bytes:
    """Pack the outputs of a recipe. An output without a value is zero."""
    flat: list[Any] = []
    for name in names:
        value = values.get(name, 0)
        if isinstance(value, list):
            flat += value
        else:
            flat += [value] * _COUNTS.get(OUTPUT_TYPES[name], 1)
    return _packing(names).pack(*flat)


def unpack(kinds: list[str], payload: bytes) -> list[object]:
    out: list[object] = []
    at = 0
    for kind in kinds:
        form = ">" + _FORMATS[kind]
        values = struct.unpack_from(form, payload, at)
        at += struct.calcsize(form)
        out.append(values[0] if len(values) == 1 else list(values))
    if at != len(payload):
        raise ValueError(f"a data package of {len(payload)} bytes for a recipe of {at}")
    return out
