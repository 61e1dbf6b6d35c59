"""Output files of the command: checks before any work, and writing of each kind."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robosim.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.figure import Figure

    from robosim.model import Model
    from robosim.scene import Scene
    from robosim.simulation import Replay
    from robosim.trajectory import Trajectory

TRAJECTORY = (".json", ".csv", ".npz")
PLOT = (".png", ".svg", ".pdf")
RENDER = (".html", ".png", ".gif", ".mp4")
_KINDS = {
    ".html": (),
    ".png": ("size", "ghosts"),
    ".gif": ("size", "rate"),
    ".mp4": ("size", "rate"),
}  # options by ending


def check_outputs(outputs: Mapping[str, tuple[str | None, tuple[str, ...]]]) -> None:
    """Refuse invalid output files before any work: (path, allowed endings) by option.

    Raises:
        FileError: an unknown ending, a folder that does not exist, or two options for one file.
    """
    seen: dict[Path, str] = {}
    for option, (name, endings) in outputs.items():
        if name is None:
            continue
        path = Path(name)
        if path.suffix.lower() not in endings:
            raise FileError(
                f"{option} {name}: the name must end in {', '.join(endings[:-1])} or {endings[-1]}"
            )
        if not path.parent.is_dir():
            raise FileError(f"{option} {name}: there is no folder {str(path.parent)!r}")
        if path.is_dir():
            raise FileError(f"{option} {name}: is a folder")
        if path.resolve() in seen:
            raise FileError(f"{option} {name}: {seen[path.resolve()]} writes the same file")
        seen[path.resolve()] = option


def save_figure(figure: Figure, name: str) -> None:
    """Write a figure. The file is written whole or not at all."""
    from robosim.files import write_file

    data = io.BytesIO()
    figure.savefig(data, format=Path(name).suffix[1:].lower(), dpi=110)
    write_file(name, data.getvalue())


def render(
    name: str,
    model: Model,
    scene: Scene | None,
    trajectory: Trajectory | Replay | None,
    *,
    q: Any = None,
    say: Callable[[str], None] | None = None,
    azimuth: float | None = None,
    elevation: float | None = None,
    **options: Any,
) -> None:
    """Write an animation, a picture or a film, by the file name's ending.

    Options of other kinds, and options that are None, are ignored. `say` is called with the
    progress of a film.
    """
    from robosim import viewer

    kind = Path(name).suffix.lower()
    chosen = {
        key: value for key, value in options.items() if key in _KINDS[kind] and value is not None
    }
    if kind != ".html":
        chosen |= {"azimuth": azimuth, "elevation": elevation}
    if "rate" in _KINDS[kind] and say is not None:
        tell = say
        chosen["progress"] = lambda done, of: tell(f"picture {done} of {of}")
    viewer.save(name, model, scene, trajectory, q=q, **chosen)
