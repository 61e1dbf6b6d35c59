"""For all tests: a cache folder of this run's own, and the plugin for those marked `realtime`.

These are the tests in `REALTIME`. Give them the whole machine (`pytest -m realtime`). What becomes
of those that did not get it, see realtime.py.
"""

from __future__ import annotations

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
