"""Live viewer: a viser server on this machine, with a clock for motions or sliders for joints."""

from __future__ import annotations

import contextlib
import errno
import io
import logging
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from robosim.errors import FileError
from robosim.viewer.framing import default_camera
from robosim.viewer.stage import Stage
from robosim.viewer.web import WebScene, import_viser

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from robosim.model import Model
    from robosim.scene import Scene
    from robosim.viewer.stage import Motion

_FRAME = 1 / 60  # the clock's step while playing [s]
_PAUSE = 0.8  # rest at the end before a motion plays again [s]


def show(
    model: Model,
    scene: Scene | None = None,
    trajectory: Motion | None = None,
    *,
    q: ArrayLike | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    block: bool = True,
    on_ready: Callable[[Viewer], None] | None = None,
) -> Viewer:
    """Show a robot, its scene and its motion in the browser.

    With a trajectory there is a time slider with play, pause and speed. Without a trajectory there
    is a slider for each joint. Colliders can be shown over the visuals. The server listens on this
    machine only, unless `host` is another address.

    Args:
        model: the robot.
        scene: surroundings of the robot.
        trajectory: motion of the robot, or the replay of a simulation (`Simulation.replay`).
            Contact forces of a replay are drawn as arrows from the points where they act on movable
            links: green for sticking, magenta for sliding.
        q: configuration if there is no trajectory; neutral by default.
        host: address to listen on; "0.0.0.0" lets everybody in the network look and move sliders.
        port: port to listen on. If it is busy, the next free port is taken (see Viewer.port).
        block: True to serve until interrupted (Ctrl-C), False to return at once and serve from a
            thread.
        on_ready: called with the viewer once it serves, before blocking.

    Raises:
        MissingDependencyError: viser (extra `view`) is not installed.
        FileError: nothing can listen on this host and port.
        TrajectoryError: the trajectory names positions that the robot lacks.
    """
    viewer = Viewer(Stage(model, scene, trajectory, q=q), host, port)
    if not block:
        if on_ready is not None:
            on_ready(viewer)
        return viewer
    try:  # Ctrl-C may arrive as soon as on_ready has run
        if on_ready is not None:
            on_ready(viewer)
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        pass
    finally:
        viewer.stop()
    return viewer


class Viewer:
    """A running viewer. `url` is its address; `stop()` ends it."""

    def __init__(self, stage: Stage, host: str, port: int) -> None:
        self.stage = stage
        self.server = quiet_server(host, free_port(host, port))
        self.host, self.port = host, int(self.server.get_port())
        self.scene = WebScene(self.server, stage, default_camera(stage, 1.2, margin=0.08))
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._add_toggles()
        if stage.duration > 0:
            self._add_clock()
        else:
            self._add_joint_sliders()

    @property
    def url(self) -> str:
        """Address for a browser."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)
        return f"http://{host}:{self.port}"

    def stop(self) -> None:
        """End the server."""
        self._stopped.set()
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()

    def _add_toggles(self) -> None:
        gui = self.server.gui
        gui.set_panel_label(f"robosim · {self.stage.model.name}")
        gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium")
        with gui.add_folder("Show"):
            self._toggle("colliders", self.scene.colliders, False)
            if self.scene.traces:
                self._toggle("path of the tip", self.scene.traces, True)
            if self.scene.arrows and self.stage.forces is not None:
                self._toggle("contact forces", self.scene.arrows, True)
                glass = gui.add_checkbox("see through the robot", True)
                glass.on_update(lambda _event: self._see_through(glass.value))
                gui.add_markdown(self.stage.forces.legend())

    def _toggle(self, label: str, handles: list[Any], visible: bool) -> None:
        box = self.server.gui.add_checkbox(label, visible)

        def changed(_event: Any) -> None:
            with self.server.atomic():
                for handle in handles:
                    handle.visible = box.value

        box.on_update(changed)

    def _see_through(self, wanted: bool) -> None:
        with self.server.atomic():
            self.scene.see_through(wanted)

    def _add_clock(self) -> None:
        gui, stage = self.server.gui, self.stage
        with gui.add_folder("Motion"):
            self._end = float(
                np.ceil(1e3 * stage.duration - 1e-6) / 1e3
            )  # on the slider's grid of milliseconds
            self._time = gui.add_slider("time [s]", 0.0, self._end, 0.001, 0.0)
            self._play = gui.add_checkbox("play", True)
            self._speed = gui.add_slider("speed", 0.1, 2.0, 0.1, 1.0)

        self._time.on_update(lambda _event: self._show(self._time.value))
        threading.Thread(target=self._run_clock, daemon=True).start()

    def _run_clock(self) -> None:
        """Advance the time slider by real time while playing. Restart after a pause at the end."""
        now, last = 0.0, time.perf_counter()
        while not self._stopped.wait(_FRAME):
            step, last = (time.perf_counter() - last) * self._speed.value, time.perf_counter()
            if not self._play.value or not self.server.get_clients():
                continue
            if abs(now - self._time.value) > 0.001:  # the user has moved the slider
                now = self._time.value
            if now >= self._end:
                self._stopped.wait(_PAUSE)
                now, last = 0.0, time.perf_counter()
            else:
                now = min(now + step, self._end)
            self._time.value = round(now, 3)

    def _add_joint_sliders(self) -> None:
        model, gui = self.stage.model, self.server.gui
        self._q = self.stage.configuration(0.0)
        lower, upper = model.limits.lower, model.limits.upper
        movable = [k for k, name in enumerate(model.position_names) if name in model.joint_names]
        with gui.add_folder("Joints"):
            for k in movable:
                low = max(float(lower[k]), -2 * np.pi)
                high = min(float(upper[k]), 2 * np.pi)
                start = min(max(float(self._q[k]), low), high)
                slider = gui.add_slider(
                    model.position_names[k], low, high, max((high - low) / 1000, 1e-6), start
                )
                slider.on_update(self._joint_handler(k, slider))

    def _joint_handler(self, k: int, slider: Any) -> Callable[[Any], None]:
        def moved(_event: Any) -> None:
            with self._lock:
                self._q[k] = slider.value
                q = self._q.copy()
            self._place(q)

        return moved

    def _show(self, t: float) -> None:
        with self._lock, self.server.atomic():
            self.scene.show(t)

    def _place(self, q: Any) -> None:
        with self._lock, self.server.atomic():
            self.scene.place(q)


def quiet_server(host: str, port: int) -> Any:
    """Start a viser server that prints nothing, not even if a client disconnects in a handshake."""
    viser = import_viser()
    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
    with contextlib.redirect_stdout(io.StringIO()):
        return viser.ViserServer(host=host, port=port, verbose=False)


def free_port(host: str, port: int) -> int:
    """Return the first free port from `port` on, or any free one for 0.

    Raises:
        FileError: the host is not an address of this machine, the port is not allowed, or a hundred
            ports are busy.
    """
    if not 0 <= port <= 65535:
        raise FileError(f"port {port} does not exist; ports are 0 to 65535")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
    except OSError as error:
        raise FileError(
            f"cannot listen on host {host!r}: {error.strerror}; 127.0.0.1 is this machine"
        ) from None
    for candidate in range(port, min(port + 100, 65536)):
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address[0], candidate, *address[2:]))
                return int(probe.getsockname()[1])
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise FileError(
                        f"cannot listen on {host}:{candidate}: {error.strerror}"
                    ) from None
    raise FileError(f"ports {port} to {port + 99} of {host} are all busy; name another with port")
