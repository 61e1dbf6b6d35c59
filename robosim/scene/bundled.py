"""Scenes that come with robosim: one instance of each family, for the command line and examples."""

from __future__ import annotations

from importlib import resources
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from robosim.errors import FileError, suggestion
from robosim.scene.families import families, generate
from robosim.scene.scene import Scene

if TYPE_CHECKING:
    from robosim.model import Model

__all__ = ["bundled_scenes", "load_scene"]

_DEFAULT_ROBOT = "ur5"


def bundled_scenes() -> tuple[str, ...]:
    """Names of the scenes that `load_scene` finds without a file."""
    return families()


def load_scene(source: str | PathLike[str], *, model: Model | None = None) -> Scene:
    """Load a bundled scene by name, or a scene file.

    A bundled scene is instance 0 of its family, with a start "start" and a goal "goal" for the
    robot. It is read from a file for the bundled arms, and generated (in about a second) for other
    robots.

    Args:
        source: one of `bundled_scenes()`, or the path of a YAML scene file.
        model: robot of a bundled scene; the bundled UR5 by default.

    Raises:
        FileError: there is no such scene or file.
        SceneError: the file is not a valid scene (with file:line), or the robot cannot solve the
            bundled scene.
    """
    name = fspath(source)
    if name not in families():
        if not Path(name).suffix and not Path(name).exists():
            near = suggestion(name, families(), limit=None)
            raise FileError(f"there is no bundled scene {name!r}{near} (a file needs its suffix)")
        return Scene.load(source)
    robot = _DEFAULT_ROBOT if model is None else model.name
    with resources.as_file(
        resources.files("robosim.scene") / "instances" / robot / f"{name}.yaml"
    ) as path:
        if path.is_file():
            return Scene.load(path)
    if model is None:
        raise FileError(
            f"the bundled scene {name!r} is missing from this installation; reinstall robosim"
        )
    return generate(name, model=model)
