"""Registry of planners. A module and a decorator add a planner.

A planner is a function from a `SearchQuery` to a `SearchOutcome`:

    from robosim.planners.registry import SearchOutcome, SearchQuery, planner

    @planner("my_planner")
    def my_planner(query: SearchQuery) -> SearchOutcome: ...

A planner in a module of `planners/algorithms/`, or in any installed package that names its module
under the entry point group `robosim.planners`, is found by `plan`, the command line, the
conformance tests and the benchmark without further code.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robosim.errors import MissingDependencyError, PlanningError, suggestion

if TYPE_CHECKING:
    from robosim import _engine

__all__ = [
    "Planner",
    "SearchOutcome",
    "SearchQuery",
    "SearchStatus",
    "Turns",
    "available_planners",
    "get_planner",
    "planner",
]

FloatArray = NDArray[np.float64]

# Records of a search are not frozen: freezing takes some microseconds each, and a whole search
# takes a few hundred.


@dataclass(eq=False, slots=True)
class Turns:
    """Periodicity of the goals of a search: configurations that are equal up to full turns.

    Attributes:
        goals: (k,) bool, per goal, True if any configuration equal up to full turns satisfies it,
            too.
        columns: (c,) bool, True if 2 pi more is the same pose.
        lower: (c,) least value of each that a path may have; infinite if unlimited.
        upper: (c,) greatest value of each.
    """

    goals: NDArray[np.bool_]
    columns: NDArray[np.bool_]
    lower: FloatArray
    upper: FloatArray


@dataclass(eq=False, slots=True)
class SearchQuery:
    """One search: from a free configuration to any of several free ones, moving some entries of q.

    Attributes:
        scene: collision queries: `scene.collides(q)`, `scene.edge_free(q0, q1, resolution)`.
        start: (n_q,) free and within the limits.
        goals: (k, n_q) each free and within the limits, nearest first; they differ from start in
            `columns` only.
        columns: indices of the c entries of q that may move.
        lower: (c,) least value of each; infinite if unlimited.
        upper: (c,) greatest value of each.
        seed: of the random numbers. The outcome depends on it and on `max_iterations`, never on the
            clock, unless the status is TIMEOUT.
        max_iterations: number after which the search ends. Work of several iterations
            (`_engine.work_per_iteration`) counts as several, so that a search ends in about the
            same time on any robot and scene.
        deadline_s: seconds from the call after which the search ends, too.
        resolution: [m] accuracy of edge checks, see `_engine.CollisionScene.edge_free`.
        stop: called about every 50 ms; the search ends if it returns True. None: never.
        turns: periodicity beyond the goals and the bounds, which then span one turn or a little
            more. A planner may ignore it; a planner that is `complete` should find a path to any
            turn. None: not periodic.
    """

    scene: _engine.CollisionScene
    start: FloatArray
    goals: FloatArray
    columns: tuple[int, ...]
    lower: FloatArray
    upper: FloatArray
    seed: int = 0
    max_iterations: int = 1_000_000
    deadline_s: float = float("inf")
    resolution: float = 0.005
    stop: Callable[[], bool] | None = None
    turns: Turns | None = None


class SearchStatus(Enum):
    """Outcome of a search."""

    FOUND = "found"
    EXHAUSTED = "exhausted"  # all iterations done
    TIMEOUT = "timeout"  # the deadline passed first
    CANCELLED = "cancelled"  # `stop` returned True


@dataclass(eq=False, slots=True)
class SearchOutcome:
    """Result of a planner.

    Attributes:
        status: FOUND, or the reason for failure.
        path: (p, n_q) waypoints from the start to a goal, joined by straight lines in q that are
            free; (0, n_q) if not found.
        goal_index: row of the query's goals where the path ends, or from which its end differs by
            full turns; -1 if not found.
        iterations: number of iterations.
        checks: configurations or edges checked, as the planner counts them.
        lines: number of straight lines from the start to configurations that satisfy the query,
            nearest first, that are known not to be free, or to be the path.
    """

    status: SearchStatus
    path: FloatArray
    goal_index: int = -1
    iterations: int = 0
    checks: int = 0
    lines: int = 0


Search = Callable[[SearchQuery], SearchOutcome]


@dataclass(frozen=True)
class Planner:
    """A registered planner.

    Attributes:
        name: name for users.
        search: the function.
        deterministic: True if the same query always results in the same path.
        complete: True if it finds a path whenever one exists, given enough iterations.
        requires: packages that must be importable.
    """

    name: str
    search: Search
    deterministic: bool = True
    complete: bool = False
    requires: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Packages of `requires` that are not installed."""
        return tuple(
            package for package in self.requires if importlib.util.find_spec(package) is None
        )


_planners: dict[str, Planner] = {}
_broken: dict[str, str] = {}  # modules that could not be imported, and the reasons


def planner(
    name: str, *, deterministic: bool = True, complete: bool = False, requires: Sequence[str] = ()
) -> Callable[[Search], Search]:
    """Register the decorated function as a planner.

    Args:
        name: unique; registering another function under it is an error.
        deterministic: whether the same query always results in the same path.
        complete: whether it finds a path whenever one exists, given enough iterations. The
            conformance tests then expect it to solve their problems, which other planners may fail
            to solve.
        requires: packages it imports when called; without them it is listed as not available.

    Raises:
        PlanningError: the name is taken.
    """

    def register(search: Search) -> Search:
        known = _planners.get(name)
        if known is not None and known.search.__module__ != search.__module__:
            raise PlanningError(
                f"planner {name!r} is already registered by {known.search.__module__}"
            )
        _planners[name] = Planner(name, search, deterministic, complete, tuple(requires))
        return search

    return register


@cache
def _load_own() -> None:
    """Import the package's own modules that register planners."""
    from robosim.planners import algorithms

    names = [
        f"{algorithms.__name__}.{module.name}"
        for module in pkgutil.iter_modules(algorithms.__path__)
    ]
    _load({name: partial(importlib.import_module, name) for name in names})


@cache
def _discover() -> None:
    """Import every module that may register planners. The entry points take about 10 ms."""
    _load_own()
    _load(
        {
            entry.value: entry.load
            for entry in importlib.metadata.entry_points(group="robosim.planners")
        }
    )


def _load(loaders: Mapping[str, Callable[[], object]]) -> None:
    """Import modules. A failed import does not affect the others."""
    for module_name, load in loaders.items():
        try:
            load()
        except Exception as error:
            _broken[module_name] = f"{type(error).__name__}: {error}"


def available_planners() -> dict[str, Planner]:
    """Return every planner whose packages are installed, by name."""
    _discover()
    return {name: found for name, found in sorted(_planners.items()) if not found.missing}


def unavailable_planners() -> dict[str, str]:
    """Return the reasons why other planners are not available.

    Keys are names of planners with missing packages, and modules that cannot be imported.
    """
    _discover()
    lacking = {
        name: f"needs {', '.join(found.missing)}: pip install {' '.join(found.missing)}"
        for name, found in sorted(_planners.items())
        if found.missing
    }
    return lacking | {
        module: f"could not be imported: {why}" for module, why in sorted(_broken.items())
    }


def get_planner(name: str) -> Planner:
    """Return the planner of this name.

    Raises:
        PlanningError: there is none.
        MissingDependencyError: it needs a package that is not installed.
    """
    _load_own()
    if name not in _planners:
        _discover()
    found = _planners.get(name)
    if found is None:
        broken = "".join(
            f" ({module} could not be loaded: {why})" for module, why in _broken.items()
        )
        near = suggestion(name, available_planners(), limit=None)
        raise PlanningError(f"there is no planner {name!r}{near}{broken}")
    if found.requires and found.missing:
        raise MissingDependencyError(
            f"planner {name!r} needs {', '.join(found.missing)}: pip install"
            f" {' '.join(found.missing)}"
        )
    return found
