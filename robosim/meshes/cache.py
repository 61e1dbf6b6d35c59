"""An on-disk cache of arrays that are expensive to compute, keyed by content.

A key is a hash of the source file's bytes, of every parameter, and of this format's version: an
entry can be stale in no way. Entries are NPZ files without pickle, written atomically; one that is
damaged is ignored and rewritten. A cache folder that cannot be written costs time, never an error.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robosim.errors import FileError
from robosim.files import read_file, write_file

__all__ = ["cache_folder", "cache_key", "load_arrays", "store_arrays"]

_FORMAT = 1
_MAX_BYTES = 2**30


def cache_folder() -> Path:
    """Where entries are kept: ROBOSIM_CACHE_DIR, else XDG_CACHE_HOME/robosim, else the platform's
    usual place."""
    if chosen := os.environ.get("ROBOSIM_CACHE_DIR"):
        return Path(chosen)
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "robosim"
    home = Path("~").expanduser()
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "robosim"


def cache_key(purpose: str, content: bytes, **parameters: object) -> str:
    """A file name that changes with the content and with each parameter (compared by `repr`)."""
    digest = hashlib.sha256(content)
    digest.update(repr((_FORMAT, purpose, sorted(parameters.items()))).encode())
    return f"{purpose}-{digest.hexdigest()}.npz"


def load_arrays(
    key: str, names: tuple[str, ...]
) -> dict[str, NDArray[np.float64] | NDArray[np.int64]] | None:
    """The arrays stored under `key`, or None when there is no sound entry with just these names."""
    try:
        data = read_file(cache_folder() / key, max_bytes=_MAX_BYTES)
        with np.load(io.BytesIO(data), allow_pickle=False) as entry:
            if set(entry.files) != set(names):
                return None
            arrays = {name: entry[name] for name in names}
    except (
        FileError,
        OSError,
        ValueError,
        EOFError,
        KeyError,
        zipfile.BadZipFile,
        MemoryError,
        NotImplementedError,
    ):
        return None
    sound = all(
        a.dtype in (np.float64, np.int64) and np.all(np.isfinite(a)) for a in arrays.values()
    )
    return arrays if sound else None


def store_arrays(key: str, arrays: Mapping[str, NDArray[np.float64] | NDArray[np.int64]]) -> None:
    """Store float64 and int64 arrays under `key`; silently does nothing where the folder cannot be
    written."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        write_file(cache_folder() / key, buffer.getvalue())
    except (FileError, OSError):
        return
