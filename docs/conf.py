"""Configuration of Sphinx: `sphinx-build -W docs build/docs` with the `docs` extra installed.

Pages of the API are written into docs/api before Sphinx reads them: one for each module.
"""

import inspect
import sys
from enum import Enum
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
myst_enable_extensions = ["deflist", "dollarmath", "colon_fence"]
myst_heading_anchors = 4
exclude_patterns = ["_build"]
default_role = "py:obj"  # names in backticks are links to their entries, else code

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


# Sections of a page of the API, in their order.
SECTIONS = {
    "Classes": "autoclass",
    "Functions": "autofunction",
    "Records": "autoclass",
    "Constants": "autodata",
}


def write_api(folder: Path) -> None:
    """Write a page for each module, and their index."""
    folder.mkdir(exist_ok=True)
    for name in MODULES:
        write(folder / f"{name}.rst", page(name))
    rows = "".join(f"   {name}\n" for name in MODULES)
    head = f"{heading('API reference', '=')}.. toctree::\n   :maxdepth: 1\n\n"
    write(folder / "index.rst", head + rows)


def heading(text: str, line: str) -> str:
    """Return a heading of reStructuredText."""
    return f"{text}\n{line * len(text)}\n\n"


def page(module: str) -> str:
    """Return a module's page: its docstring, a table of its names, and their entries by section."""
    head = heading(module, "=")
    if any(package in module for package in autodoc_mock_imports):
        return f"{head}.. automodule:: {module}\n"
    content = import_module(module)
    names = {section: [] for section in SECTIONS}
    for name in getattr(content, "__all__", ()):
        thing = getattr(content, name)
        if getattr(thing, "__module__", "").startswith("robosim"):
            names[section_of(thing)].append(name)
    if module == "robosim":  # its names have their entries in the modules that define them
        return f"{head}.. automodule:: {module}\n   :no-index:\n"
    if not any(names.values()):
        return f"{head}.. automodule:: {module}\n"
    table = "".join(f"   {name}\n" for group in names.values() for name in group)
    head += f".. automodule:: {module}\n   :no-members:\n\n"
    head += f".. autosummary::\n   :nosignatures:\n\n{table}\n"
    for section, group in names.items():
        option = "   :no-value:\n" if section == "Constants" else ""
        entries = "".join(f".. {SECTIONS[section]}:: {name}\n{option}\n" for name in group)
        head += heading(section, "-") + entries if group else ""
    return head


def section_of(thing: object) -> str:
    """Return the section of a public object: records are named tuples and plain data."""
    if not inspect.isclass(thing):
        return "Functions" if callable(thing) else "Constants"
    is_record = hasattr(thing, "_fields") or hasattr(thing, "__dataclass_fields__")
    return "Records" if is_record or issubclass(thing, Enum) else "Classes"


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
