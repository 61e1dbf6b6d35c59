"""ROS domains that no other test on this machine uses at the same time.

Each domain has a file lock, which is released however its user ends. Domains above 101 would need
ports that the system assigns to others.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

DOMAINS = range(80, 102)

_turn = count(os.getpid())


@contextmanager
def own_domain(domains: range = DOMAINS) -> Iterator[int]:
    """Reserve a ROS_DOMAIN_ID for the caller until the end of the block."""
    folder = Path(tempfile.gettempdir()) / f"robosim-ros-domains-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    # Begin at a different domain each time: killed processes may leave shared memory behind.
    start = next(_turn)
    for step in range(len(domains)):
        domain = domains[(start + step) % len(domains)]
        with (folder / str(domain)).open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield domain
            return
    raise RuntimeError(
        f"all ROS domains from {domains[0]} to {domains[-1]} are in use: see {folder}"
    )
