"""A planner that searches for as long as it is given, for tests of what happens meanwhile.

`rrt_connect` is not that planner: where there is no way, it ends after a million iterations, which
a fast machine has done in less than a second.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from robosim.ros.names import UR_JOINTS

__all__ = ["NO_WAY", "install"]

NO_WAY: dict[str, Any] = {  # from outside the cage there is no way in
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
    """Write the planner `endless` there, and return what a process needs in its environment to find
    it."""
    (folder / "endless_planner.py").write_text(_PLANNER)
    info = folder / "endless_planner-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: endless-planner\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[robosim.planners]\nendless = endless_planner\n")
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(folder)]))
    }
