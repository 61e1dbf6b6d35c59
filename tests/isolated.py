"""Command for a Python process that imports the installed robosim, in any folder."""

import sys

# Python puts its working folder first on its path, and in the repository's root the sources hide
# the package. From Python 3.11 on, -P leaves the folder out. -I leaves out user packages and
# PYTHON* variables, too.
PYTHON = [sys.executable, "-P" if sys.version_info >= (3, 11) else "-I"]
