"""A process of Python that imports the installed robosim, from whatever folder it starts in."""

import sys

# Python puts the folder that it starts in first on its path: in the repository's root, the sources
# hide the package. -P leaves the folder out, from Python 3.11 on; -I leaves out user packages and
# PYTHON* variables, too.
PYTHON = [sys.executable, "-P" if sys.version_info >= (3, 11) else "-I"]
