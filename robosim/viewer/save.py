"""Export of views to a file, in the format of its ending."""

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
        path: path of the file; an existing file is replaced.
        model, scene, trajectory, q: as in `show`.
        options: options of `export_html`, `render_png` or `render_film`, by format.

    Raises:
        FileError: the file cannot be written, or its ending is unknown.
        MissingDependencyError, TrajectoryError, RobosimError: as in these functions.
    """
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise FileError(
            f"{Path(path)}: the name must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
        )
    writers: dict[str, Callable[..., None]] = {".html": export_html, ".png": render_png}
    write = writers.get(ending, film.render_film)
    write(path, model, scene, trajectory, q=q, **options)
