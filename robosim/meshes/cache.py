"""An on-disk cache of arrays that are expensive to compute, keyed by content.

A key is a hash of the source file's bytes, of every parameter, and of this format's version, so an
entry is never stale. Entries are NPZ files without pickle, written atomically. A damaged entry is
ignored and rewritten. A cache folder without write access costs time but never causes an error.
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
    """Return the folder of the cache.

    It is ROBOSIM_CACHE_DIR, otherwise XDG_CACHE_HOME/robosim, otherwise the platform's usual
    folder.
    """
    if chosen := os.environ.get("ROBOSIM_CACHE_DIR"):
        return Path(chosen)
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "robosim"
    home = Path("~").expanduser()
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "robosim"


def cache_key(purpose: str, content: bytes, **parameters: object) -> str:
    """Return a file name that depends on the content and each parameter (compared by `repr`)."""
    digest = hashlib.sha256(content)
    digest.update(repr((_FORMAT, purpose, sorted(parameters.items()))).encode())
    return f"{purpose}-{digest.hexdigest()}.npz"


def load_arrays(
    key: str, names: tuple[str, ...]
) -> dict[str, NDArray[np.float64] | NDArray[np.int64]] | None:
    """Load the arrays under `key`; None unless there is a valid entry with exactly these names."""
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
    """Store float64 and int64 arrays under `key`. Do nothing if the folder cannot be written."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
        write_file(cache_folder() / key, buffer.getvalue())
    except (FileError, OSError):
        return
