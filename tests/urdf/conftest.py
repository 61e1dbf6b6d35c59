"""What the tests of this folder share."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def example_robots() -> Path:
    """The folder of robots of the package example-robot-data."""
    try:
        distribution = metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    return Path(str(distribution.locate_file("cmeel.prefix/share/example-robot-data/robots")))
