"""Planner that searches until its time is up, for tests of events during a search.

`rrt_connect` is no such planner: if there is no path, it ends after a million iterations, which
take a fast machine less than a second.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from robosim.ros.names import UR_JOINTS

__all__ = ["NO_WAY", "install"]

NO_WAY: dict[str, Any] = {  # no path leads into the cage from outside
    "scene_name": "cage",
    "start_joint_names": list(UR_JOINTS),
    "start_positions": [0.0] * 6,
    "planner": "endless",
}
_PLANNER = '''
import time
from robosim.planners import SearchOutcome, SearchStatus, planner
import numpy as np

@planner("endless")
def endless(query):
    """Searches until it is told to stop, in Python and in C++ by turns, as planners do."""
    end = time.monotonic() + query.deadline_s
    while time.monotonic() < end:
        if query.stop is not None and query.stop():
            return SearchOutcome(SearchStatus.CANCELLED, np.empty((0, len(query.start))))
        query.scene.edge_free(query.start, query.goals[0], 1e-4)
    return SearchOutcome(SearchStatus.TIMEOUT, np.empty((0, len(query.start))))
'''


def install(folder: Path) -> dict[str, str]:
    """Write the planner `endless`; return the environment in which a process finds the planner."""
    (folder / "endless_planner.py").write_text(_PLANNER)
    info = folder / "endless_planner-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: endless-planner\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[robosim.planners]\nendless = endless_planner\n")
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(folder)]))
    }
