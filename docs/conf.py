"""Sphinx configuration: `sphinx-build docs build/docs` with the `docs` extra installed."""

from importlib.metadata import version as installed_version
from importlib.util import find_spec

project = "robosim"
author = "The robosim developers"
project_copyright = "2026, the robosim developers"
version = release = installed_version("robosim")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]

# Of the bridges.
autodoc_mock_imports = [name for name in ("torch", "jax") if find_spec(name) is None]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}

napoleon_use_ivar = True  # the members of named tuples are documented once

html_theme = "furo"
html_title = "robosim"
