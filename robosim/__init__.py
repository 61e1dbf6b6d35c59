"""robosim: robot motion planning and simulation in Python over a compiled C++ engine.

Functions and submodules named in `__all__` are imported on first use, so that `import robosim` is
fast.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robosim import (
        bridges,
        errors,
        geometry,
        meshes,
        model,
        planners,
        scene,
        simulation,
        trajectory,
        urdf,
        viewer,
        world,
    )
    from robosim.parallel import get_threads, set_threads, threads
    from robosim.urdf import load_robot
    from robosim.world import World

__all__ = [
    "World",
    "bridges",
    "errors",
    "geometry",
    "get_threads",
    "load_robot",
    "meshes",
    "model",
    "planners",
    "scene",
    "set_threads",
    "simulation",
    "threads",
    "trajectory",
    "urdf",
    "viewer",
    "world",
]

_FUNCTIONS = {  # every other name in __all__ is a submodule
    "World": "robosim.world",
    "get_threads": "robosim.parallel",
    "load_robot": "robosim.urdf",
    "set_threads": "robosim.parallel",
    "threads": "robosim.parallel",
}


def _missing_engine_message() -> str:
    """Explain why robosim._engine is missing, and the remedy."""
    import sys
    from pathlib import Path  # only here: its import takes as long as all others together

    here = Path(__file__).resolve().parent
    source = here.parent
    if not (source / "engine" / "CMakeLists.txt").is_file():
        return (
            f"robosim in {here} lacks its compiled part, robosim._engine; "
            "reinstall it: pip install --force-reinstall robosim"
        )
    shadow = (
        f"Python imported robosim from its source folder {source}, where robosim._engine is not"
        " built. "
    )
    installed = next((p for p in sys.path if p and any(Path(p, "robosim").glob("_engine.*"))), None)
    if installed is None:
        return f"{shadow}Install the package first: pip install {source}"
    return (
        f"{shadow}It hides the package installed in {installed}, because it comes first on"
        " sys.path: run from another folder, use `pytest` instead of `python -m pytest`, or start"
        " Python with `-P` (3.11 and newer)."
    )


if importlib.util.find_spec("robosim._engine") is None:
    raise ImportError(_missing_engine_message(), name="robosim._engine")


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        value = getattr(importlib.import_module(_FUNCTIONS[name]), name)
    elif name == "__version__":
        from importlib.metadata import version

        value = version("robosim")
    elif name in __all__:
        value = importlib.import_module(f"robosim.{name}")
    else:
        raise AttributeError(
            f"module 'robosim' has no attribute {name!r}; it has {', '.join(__all__)}"
        )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
