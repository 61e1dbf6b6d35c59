"""For all tests: a cache folder of this run's own, so that no test depends on an earlier run or on the user's files."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROBOSIM_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
