"""Fixtures for all tests, and the plugin for tests marked `realtime`.

The fixtures are a cache folder for each run and the folder of robots of example-robot-data. Tests
in `REALTIME` are marked. Give them the whole machine (`pytest -m realtime`). See realtime.py for
tests that did not get it.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from .realtime import RealtimeTests, add_options

# Processes that talk to each other at up to 500 Hz, and stop when one of them is silent for 0.1 s.
REALTIME = [Path(__file__).with_name("ros"), Path(__file__).with_name("execution") / "rtde"]


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(RealtimeTests(config), "realtime")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROBOSIM_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(folder in item.path.parents for folder in REALTIME):
            item.add_marker("realtime")


@pytest.fixture(scope="session")
def example_robots() -> Path:
    """Folder of robots of the package example-robot-data."""
    try:
        distribution = metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    return Path(str(distribution.locate_file("cmeel.prefix/share/example-robot-data/robots")))
