"""Films of motions: GIF, which opens everywhere, or MP4, which is smaller and has all colors."""

from __future__ import annotations

import importlib
import io
import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robosim.errors import FileError, MissingDependencyError, RobosimError
from robosim.viewer.framing import default_camera
from robosim.viewer.picture import Painter, arrows, tip_lines
from robosim.viewer.shading import Surface, View
from robosim.viewer.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from numpy.typing import ArrayLike, NDArray

    from robosim.model import Model
    from robosim.scene import Scene
    from robosim.viewer.stage import Motion

    Image = NDArray[np.uint8]

ENDINGS = (".gif", ".mp4")
_REST = 0.8  # seconds of the first and of the last picture
_MOST = 1200  # pictures
_SUNS, _SKIES = 8, 16  # numbers of lights; a third of a picture's
_WORKERS = 4  # pictures that are painted concurrently, with some 100 MB each
_PALETTE_PICTURES = 6  # pictures that determine a GIF's colors


def render_film(
    path: str | os.PathLike[str],
    model: Model,
    scene: Scene | None = None,
    trajectory: Motion | None = None,
    *,
    q: ArrayLike | None = None,
    size: tuple[int, int] = (640, 480),
    rate: float = 20.0,
    azimuth: float | None = None,
    elevation: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write a motion as GIF or MP4, by the file name's ending, without browser, window or GPU.

    The file is written whole or not at all. Objects of the scene are attached and released by the
    motion's events. A picture of 640 x 480 pixels takes about a quarter of a second.

    Args:
        path: path of the file; an existing file is replaced.
        model, scene, trajectory, q: as in `show`.
        size: width and height [pixels], 16 to 4096 each; even for an MP4.
        rate: pictures per second of motion, 1 to 100. A GIF rounds the duration of each picture to
            hundredths of a second. The rate is reduced for motions longer than 1200 pictures.
        azimuth, elevation: as in `picture`.
        progress: called with the number of painted pictures and the total number.

    Raises:
        MissingDependencyError: an MP4 needs PyAV (extra `video`).
        FileError: the file cannot be written, or its ending is unknown.
        TrajectoryError: the trajectory names positions that the robot lacks.
        RobosimError: there is no motion, or size or rate is invalid.
    """
    from robosim.files import write_file

    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise FileError(f"{os.fspath(path)}: a film ends in {' or '.join(ENDINGS)}")
    width, height = size
    if not (16 <= width <= 4096 and 16 <= height <= 4096):
        raise RobosimError(
            f"a film of {width} x {height} pixels: each must lie between 16 and 4096"
        )
    if ending == ".mp4" and (width % 2 or height % 2):
        raise RobosimError(f"an MP4 of {width} x {height} pixels: both must be even")
    if not 1 <= rate <= 100:
        raise RobosimError(f"rate is {rate!r}; it must lie between 1 and 100 pictures per second")
    av = _import_av() if ending == ".mp4" else None
    stage = Stage(model, scene, trajectory, q=q)
    if not stage.duration > 0:
        raise RobosimError(
            "a film needs a motion; render_png makes a picture of a robot that stands"
        )
    count = int(min(max(np.ceil(stage.duration * rate - 1e-6), 1), _MOST))
    times = np.linspace(0, stage.duration, count + 1)
    camera = default_camera(stage, width / height, azimuth=azimuth, elevation=elevation)
    view = View(
        camera, width, height, ground=stage.ground(), n_sun=_SUNS, n_sky=_SKIES, line_shadows=False
    )
    images = _told(_frames(stage, view, times), len(times), progress)
    data = _gif(images, times) if av is None else _mp4(av, images, times, size)
    write_file(path, data)


def _told(
    images: Iterator[Image], count: int, progress: Callable[[int, int], None] | None
) -> Iterator[Image]:
    for k, image in enumerate(images, start=1):
        if progress is not None:
            progress(k, count)
        yield image


def _frames(stage: Stage, view: View, times: NDArray[np.float64]) -> Iterator[Image]:
    """Pictures at these times of the motion, in order. Several are painted concurrently."""
    painter = Painter(stage)
    parts = (*stage.world, *stage.robot, *stage.carried)
    fixed = [p for p in stage.world if p.rgba[3] >= 0.99]
    standing, lines = Surface.join([painter.surface(p, 0.0) for p in fixed]), tip_lines(stage)

    def surfaces(t: float) -> tuple[Surface, list[tuple[Surface, float]], Surface | None]:
        moving = [
            painter.surface(p, t) for p in (*stage.robot, *stage.carried) if p.rgba[3] >= 0.99
        ]
        clear = [(painter.surface(p, t), p.rgba[3]) for p in parts if p.rgba[3] < 0.99]
        return Surface.join([standing, *moving]), clear, arrows(stage, t)

    def paint(surface: Surface, clear: list[tuple[Surface, float]], marks: Surface | None) -> Image:
        return view.draw(surface, clear, lines=lines, marks=marks)

    workers = min(os.cpu_count() or 1, _WORKERS)
    waiting: deque[Future[Image]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for t in times:
                waiting.append(pool.submit(paint, *surfaces(float(t))))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:  # if the consumer has stopped
                future.cancel()


def _gif(images: Iterator[Image], times: NDArray[np.float64]) -> bytes:
    """Encode all pictures with one palette, so that static content is stored once."""
    from PIL import Image as pillow

    painted = list(images)
    chosen = painted[:: max(len(painted) // _PALETTE_PICTURES, 1)]
    palette = pillow.fromarray(_swatches(np.concatenate(chosen))).quantize(
        256, pillow.Quantize.MEDIANCUT
    )
    pages = [
        pillow.fromarray(image).quantize(palette=palette, dither=pillow.Dither.NONE)
        for image in painted
    ]
    # Each picture begins at the hundredth of a second nearest to its time.
    begins = np.rint(100 * (times + _REST * (times > 0)))
    ends = np.append(begins[1:], begins[-1] + 100 * _REST)
    data = io.BytesIO()
    milliseconds = [int(10 * ms) for ms in np.maximum(ends - begins, 1)]
    pages[0].save(
        data,
        "GIF",
        save_all=True,
        append_images=pages[1:],
        duration=milliseconds,
        loop=0,
        optimize=False,
    )
    return data.getvalue()


def _swatches(image: Image) -> Image:
    """Picture (1, n, 3) of the same colors, with a larger share of rare ones.

    Counts are raised to the power 0.4. Otherwise large floors and skies would leave no palette
    colors for small objects.
    """
    pixels = image.reshape(-1, 3)
    coarse = pixels.astype(np.int64) >> 2
    number = (coarse[:, 0] << 12) | (coarse[:, 1] << 6) | coarse[:, 2]
    counts = np.bincount(number)
    there = np.flatnonzero(counts)
    sums = [np.bincount(number, weights=pixels[:, k])[there] for k in range(3)]
    colors = np.rint(np.stack(sums, axis=-1) / counts[there, None]).astype(np.uint8)
    return np.repeat(colors, np.ceil(counts[there] ** 0.4).astype(int), axis=0)[None]


def _mp4(
    av: ModuleType, images: Iterator[Image], times: NDArray[np.float64], size: tuple[int, int]
) -> bytes:
    """Encode as H.264, which every browser and phone plays."""
    rate = Fraction((len(times) - 1) / times[-1]).limit_denominator(10_000)
    rest = round(_REST * rate)
    data = io.BytesIO()
    with av.open(data, "w", format="mp4") as file:
        stream = file.add_stream("libx264", rate=rate, options={"crf": "18"})
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        for k, image in enumerate(images):
            frame: Any = av.VideoFrame.from_ndarray(image, format="rgb24")
            for _ in range(1 + rest if k in (0, len(times) - 1) else 1):
                file.mux(stream.encode(frame))
        file.mux(stream.encode())
    return data.getvalue()


def _import_av() -> ModuleType:
    try:
        return importlib.import_module("av")
    except ImportError as error:
        raise MissingDependencyError(
            "an MP4 needs the package av: pip install 'robosim[video]' brings it; a GIF needs"
            " nothing more"
        ) from error
