"""What is shown as a file, of the kind that its name says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from robosim.errors import FileError
from robosim.viewer import film
from robosim.viewer.html import export_html
from robosim.viewer.picture import render_png

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from numpy.typing import ArrayLike

    from robosim.model import Model
    from robosim.scene import Scene
    from robosim.viewer.stage import Motion

ENDINGS = (".html", ".png", *film.ENDINGS)


def save(
    path: str | PathLike[str],
    model: Model,
    scene: Scene | None = None,
    trajectory: Motion | None = None,
    *,
    q: ArrayLike | None = None,
    **options: Any,
) -> None:
    """Write an animation (.html), a picture (.png) or a film (.gif, .mp4), by the name's ending.

    Args:
        path: where to; an existing file is replaced.
        model, scene, trajectory, q: as of `show`.
        options: those of `export_html`, `render_png` or `render_film`, whichever writes it.

    Raises:
        FileError: the file cannot be written, or its name ends in nothing known.
        MissingDependencyError, TrajectoryError, RobosimError: as of these.
    """
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise FileError(
            f"{Path(path)}: the name must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
        )
    writers: dict[str, Callable[..., None]] = {".html": export_html, ".png": render_png}
    write = writers.get(ending, film.render_film)
    write(path, model, scene, trajectory, q=q, **options)
