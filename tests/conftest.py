"""For all tests: a cache folder of this run's own, and what becomes of tests that need a processor at the right moment.

Tests in `REALTIME` are marked `realtime`. Give them the whole machine (`pytest -m realtime`). A failure of theirs while
the machine stood still becomes MachineStalled, so that it can be told from others and the test be run again: it says
nothing of what it tests.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from .stalls import Stalls

# Processes that talk to each other at up to 500 Hz, and stop when one of them is silent for 0.1 s.
REALTIME = [Path(__file__).with_name("ros"), Path(__file__).with_name("execution") / "rtde"]
_STALLS = pytest.StashKey[Stalls]()


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
def _stalls(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Stalls]:
    stalls = request.config.stash[_STALLS] = Stalls(tmp_path_factory.mktemp("stalls") / "stalls.txt")
    yield stalls
    stalls.close()


@pytest.fixture(autouse=True)
def _witnessed(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("realtime"):
        request.getfixturevalue("_stalls")


def _named(item: pytest.Item) -> Generator[None, None, None]:
    if item.get_closest_marker("realtime") is None or _STALLS not in item.config.stash:
        return (yield)
    with item.config.stash[_STALLS].named():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """What a test needs may fail so, too."""
    return (yield from _named(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """The test itself."""
    return (yield from _named(item))
