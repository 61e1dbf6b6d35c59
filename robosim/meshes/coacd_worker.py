"""Worker process that decomposes one mesh. See `pieces`.

NPZ on stdin, NPZ with arrays v0, f0, v1, f1, ... on stdout.
"""

from __future__ import annotations

import io
import os
import sys

import numpy as np


def main() -> None:
    """Handle one request."""
    # Native code may print: keep a copy of stdout for the answer, and redirect prints to stderr
    # before the import.
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.environ["OMP_NUM_THREADS"] = (
        "1"  # its threads wait for each other on shared cores, and one thread is deterministic
    )
    import coacd

    with np.load(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False) as request:
        mesh = coacd.Mesh(request["vertices"], request["faces"])
        threshold, seed, most = (
            float(request["threshold"]),
            int(request["seed"]),
            int(request["max_pieces"]),
        )
    coacd.set_log_level("error")
    parts = coacd.run_coacd(mesh, threshold=threshold, seed=seed, max_convex_hull=most)
    buffer = io.BytesIO()
    np.savez(
        buffer,
        allow_pickle=False,
        **{
            f"{name}{i}": np.asarray(a)
            for i, part in enumerate(parts)
            for name, a in zip("vf", part, strict=True)
        },
    )
    with answer:
        answer.write(buffer.getvalue())
