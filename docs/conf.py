"""Configuration of Sphinx: `sphinx-build -W docs build/docs` with the `docs` extra installed.

Pages of the API are written into docs/api before Sphinx reads them: one for each module.
"""

import sys
from importlib import import_module
from importlib.metadata import version as installed_version
from importlib.util import find_spec
from pathlib import Path

project = "robosim"
author = "The robosim developers"
project_copyright = "2026, the robosim developers"
version = release = installed_version("robosim")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
exclude_patterns = ["_build"]

# Optional packages that the bridges import.
autodoc_mock_imports = [name for name in ("torch", "jax") if find_spec(name) is None]
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"  # fields of named tuples have their own
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_use_ivar = True  # document the members of named tuples once
# Types of fields are looked up as names, of which `q`, `v` or `name` have several.
suppress_warnings = ["ref.python"]

html_theme = "furo"
html_title = "robosim"

# Modules of the API, in the order of the side bar.
MODULES = (
    "robosim",
    "robosim.urdf",
    "robosim.model",
    "robosim.geometry",
    "robosim.meshes",
    "robosim.scene",
    "robosim.world",
    "robosim.simulation",
    "robosim.bridges.torch",
    "robosim.bridges.jax",
    "robosim.planners",
    "robosim.trajectory",
    "robosim.execution",
    "robosim.execution.arm",
    "robosim.execution.joint_trajectory",
    "robosim.execution.messages",
    "robosim.execution.goals",
    "robosim.execution.executor",
    "robosim.execution.profiles",
    "robosim.execution.clock",
    "robosim.execution.simulated",
    "robosim.execution.streaming",
    "robosim.execution.tracking",
    "robosim.execution.transports.rtde.arm",
    "robosim.ros",
    "robosim.ros.drivers",
    "robosim.viewer",
    "robosim.errors",
)


def write_api(folder: Path) -> None:
    """Write a page for each module, and their index with the first sentence of each."""
    folder.mkdir(exist_ok=True)
    rows = []
    for name in MODULES:
        heading = f"{name}\n{'=' * len(name)}\n\n"
        entries = f".. automodule:: {name}\n"
        if name == "robosim":  # whose names have their entries in the modules that define them
            entries += "   :no-index:\n"
        write(folder / f"{name}.rst", heading + summary(name) + entries)
        rows.append(f"   {name}\n")
    index = "API reference\n=============\n\n.. toctree::\n   :maxdepth: 1\n\n" + "".join(rows)
    write(folder / "index.rst", index)


def summary(module: str) -> str:
    """Return a table of a module's names, each with its first sentence."""
    if module in autodoc_mock_imports or any(x in module for x in autodoc_mock_imports):
        return ""
    content = import_module(module)
    names = [
        name
        for name in getattr(content, "__all__", [])
        if getattr(getattr(content, name), "__module__", "").startswith("robosim")
    ]
    if module == "robosim" or not names:
        return ""
    rows = "".join(f"   {name}\n" for name in names)
    return f".. currentmodule:: {module}\n\n.. autosummary::\n   :nosignatures:\n\n{rows}\n"


def write(path: Path, text: str) -> None:
    """Write a file, unless it has this text already, so that Sphinx need not read it again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


write_api(Path(__file__).resolve().parent / "api")


def shorten_arrays(app: object) -> None:
    """Have types of arrays printed as `array`."""

    def shortened(convert):
        def converted(annotation, *args, **kwargs):
            origin = getattr(annotation, "__origin__", None)
            if getattr(origin, "__name__", "") == "ndarray":
                return "array"
            return convert(annotation, *args, **kwargs)

        return converted

    for module in list(sys.modules.values()):
        for name in "stringify_annotation", "restify":
            if getattr(module, "__name__", "").startswith("sphinx") and hasattr(module, name):
                setattr(module, name, shortened(getattr(module, name)))


def setup(app) -> None:
    """Connect to Sphinx."""
    app.connect("builder-inited", shorten_arrays)
