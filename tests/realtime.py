"""Pytest plugin: a test that fails for lack of a processor is *stalled*, not failed.

`Stalls` watches tests marked `realtime`. If such a test or one of its fixtures fails while the
machine did not run its processes, the failure does not count against the code under test. The test
counts as stalled. So do later failures of tests of its module that share a fixture with it, since
that fixture may be broken. Stalled tests are run again after all others, with fresh fixtures, when
the machine has become quiet, or after a time limit. Tests that are stalled in the last try are
listed, and do not change the exit status. A failure without a stall is a failure in any try.
Workers of pytest-xdist compete for the processors, and have one try.

Options: --tries N (3), and --stalled-to FILE. The file gets the names of tests that are stalled in
the last try, one per line, so that `pytest @FILE` runs them later. The last line of the output has
the numbers of tests that passed, failed, and were stalled.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from .stalls import Stall, Stalls, wait_until_quiet

_WAIT_FOR_QUIET = 60.0  # [s] before each further try, in total for all stalled tests
# Outcomes of a stalled test, in all tries but the last and in the last.
AGAIN, STALLED = "again", "stalled"


def add_options(parser: pytest.Parser) -> None:
    """Add the options of the plugin, see the module."""
    group = parser.getgroup("realtime", "tests that need a processor at the right moment")
    group.addoption("--tries", type=int, default=3, metavar="N", help="of a stalled test (3)")
    group.addoption("--stalled-to", type=Path, metavar="FILE", help="for names of stalled tests")


class RealtimeTests:
    """Plugin for tests marked `realtime`, see the module."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._stalls: Stalls | None = None  # from the first realtime test on
        self._begin = 0.0  # of the running test
        self._try = 1
        self._tries = 1 if hasattr(config, "workerinput") else config.getoption("tries")
        self._due: list[pytest.Item] = []  # stalled in this try
        self._spoilt: set[tuple[Any, ...]] = set()  # fixtures that a stalled test shared
        # Outcomes for the summary, by the tests' names.
        self._outcomes: dict[str, str] = {}
        self._stalled_tries: dict[str, list[str]] = {}

    # -- One test

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> bool | None:
        """Run the test and log the reports that count."""
        if not _is_realtime(item):
            return None
        if self._stalls is None:
            self._stalls = Stalls()
        self._begin = self._stalls.now()
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        stalled = [report for report in reports if report.outcome == STALLED]
        if any(report.failed for report in reports):  # a failure without a stall counts
            for report in stalled:
                report.outcome = "failed"
        elif stalled:
            reports = stalled[:1]
            self._spoilt |= _shared(item)
            if self._try < self._tries:
                stalled[0].outcome = AGAIN
                self._due.append(item)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Mark a failure during a stall as stalled, before the test's processes are ended."""
        report = yield
        if report.failed and _is_realtime(item) and self._stalls is not None:
            stalls = self._stalls.since(self._begin)
            if stalls or self._spoilt & _shared(item):
                report.outcome = STALLED
                report.why = _text(stalls)
        return report

    # -- All tests

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Run stalled tests again after all tests."""
        result = yield
        while self._due:
            self._try += 1
            due, self._due = self._due, []
            self._spoilt.clear()
            self._tell(f"{len(due)} stalled tests are run again")
            left = _WAIT_FOR_QUIET
            for item, following in zip(due, [*due[1:], None], strict=True):
                begin = time.monotonic()
                wait_until_quiet(left)
                left = max(0.0, left - (time.monotonic() - begin))
                item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
                if session.shouldfail:
                    raise session.Failed(session.shouldfail)
                if session.shouldstop:
                    raise session.Interrupted(session.shouldstop)
        return result

    def pytest_unconfigure(self) -> None:
        """End the witness."""
        if self._stalls is not None:
            self._stalls.close()

    # -- Reports

    def pytest_report_teststatus(self, report: pytest.TestReport | pytest.CollectReport) -> Any:
        """Letters and words of stalled tests."""
        if report.outcome in (AGAIN, STALLED):
            letter, word = ("R", "AGAIN LATER") if report.outcome == AGAIN else ("S", "STALLED")
            return report.outcome, letter, (word, {"yellow": True})
        return None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the outcome of each test."""
        tells = report.when == "call" or not report.passed
        if "realtime" not in report.keywords or not tells:
            return
        if report.outcome in (AGAIN, STALLED):
            tries = self._stalled_tries.setdefault(report.nodeid, [])
            tries.append(f"{report.why}: {_reason(report)}")
        elif self._outcomes.get(report.nodeid) == "failed":
            return
        self._outcomes[report.nodeid] = report.outcome

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """List all stalled tests with their reasons."""
        if self._stalled_tries:
            terminalreporter.section("tests that did not get a processor in time")
        for name, tries in self._stalled_tries.items():
            terminalreporter.write_line(f"{self._outcomes[name]} in the end: {name}")
            for number, why in enumerate(tries, 1):
                terminalreporter.write_line(f"  try {number}: {why}")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, None, None]:
        """Print the last line, and write the file of stalled tests."""
        yield
        outcomes = list(self._outcomes.values())
        if outcomes:
            kinds = ("passed", "failed", "skipped", STALLED)
            counts = ", ".join(f"{outcomes.count(kind)} {kind}" for kind in kinds)
            self._tell(f"realtime: {counts}; {len(self._stalled_tries)} stalled in some try")
        if file := self._config.getoption("stalled_to"):
            names = [name for name, outcome in self._outcomes.items() if outcome == STALLED]
            file.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")

    def _tell(self, text: str) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            terminal.ensure_newline()
            terminal.write_line(text)


def _is_realtime(item: pytest.Item) -> bool:
    return item.get_closest_marker("realtime") is not None


def _shared(item: pytest.Item) -> set[tuple[Any, ...]]:
    """Fixtures that the test shares with others of its module, with the module."""
    used = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}
    return {
        (item.getparent(pytest.Module), fixture.argname)
        for fixtures in used.values()
        for fixture in fixtures
        if fixture.scope in ("class", "module", "package")
    }


def _text(stalls: list[Stall]) -> str:
    if not stalls:
        return "what it shares with a stalled test may be broken"
    lengths: dict[str, float] = {}
    for stall in stalls:
        lengths[stall.kind] = lengths.get(stall.kind, 0.0) + stall.length
    return ", ".join(f"{kind} for {length:.2f} s" for kind, length in sorted(lengths.items()))


def _reason(report: pytest.TestReport) -> str:
    """First line of a failure's message."""
    crash = getattr(report.longrepr, "reprcrash", None)
    return (crash.message if crash else str(report.longrepr)).partition("\n")[0]
