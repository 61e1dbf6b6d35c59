"""Motion as one HTML file that plays in any browser, offline, without loading from the network."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING

import numpy as np

from robosim.viewer.framing import default_camera
from robosim.viewer.server import free_port, quiet_server
from robosim.viewer.stage import Stage
from robosim.viewer.web import WebScene

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike

    from robosim.model import Model
    from robosim.scene import Scene
    from robosim.viewer.stage import Motion

_REST = 0.8  # seconds before and after the motion
_MAX_FRAMES = 1200
_STYLE = (
    "position:fixed;top:0.6em;right:0.8em;font:0.85em sans-serif;color:#555;pointer-events:none"
)


def export_html(
    path: str | PathLike[str],
    model: Model,
    scene: Scene | None = None,
    trajectory: Motion | None = None,
    *,
    q: ArrayLike | None = None,
    rate: float = 30.0,
) -> None:
    """Write a standalone HTML animation (about 1 MB) that opens by double click.

    The file is written whole or not at all.

    Args:
        path: path of the file; an existing file is replaced.
        model, scene, trajectory, q: as in `show`.
        rate: pictures per second of motion; reduced for motions longer than 1200 pictures.

    Raises:
        MissingDependencyError: viser (extra `view`) is not installed.
        FileError: the file cannot be written.
        TrajectoryError: the trajectory names positions that the robot lacks.
    """
    from robosim.files import write_file

    stage = Stage(model, scene, trajectory, q=q)
    server = quiet_server("127.0.0.1", free_port("127.0.0.1", 0))
    try:
        web = WebScene(server, stage, default_camera(stage, 1.4))
        recording = server.get_scene_serializer()
        if stage.duration > 0:
            recording.insert_sleep(_REST)
            count = int(min(max(np.ceil(stage.duration * rate), 2), _MAX_FRAMES))
            for t in np.linspace(0, stage.duration, count + 1)[1:]:
                recording.insert_sleep(stage.duration / count)
                web.show(float(t))
            recording.insert_sleep(_REST)
        text = recording.as_html()
        if web.arrows and stage.forces is not None:
            head, tail, end = text.rpartition("</body>")
            text = f'{head}<div style="{_STYLE}">{stage.forces.legend()}</div>{tail}{end}'
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()
    write_file(path, text.encode())
