"""A planner is a function with a decorator, which makes it known everywhere."""

from __future__ import annotations

import importlib.metadata
import json

import numpy as np
import pytest

from robosim.cli import main
from robosim.errors import PlanningError
from robosim.planners import (
    Problem,
    SearchOutcome,
    SearchStatus,
    available_planners,
    get_planner,
    plan,
    planner,
    registry,
)


@pytest.fixture
def clean(monkeypatch):
    available_planners()
    monkeypatch.setattr(registry, "_planners", dict(registry._planners))


def straight(query):
    free = query.scene.edge_free(query.start, query.goals[0], query.resolution)
    if not free:
        return SearchOutcome(SearchStatus.EXHAUSTED, np.empty((0, len(query.start))), -1, 1, 1)
    return SearchOutcome(SearchStatus.FOUND, np.array([query.start, query.goals[0]]), 0, 1, 1)


def test_new_planner(clean, arm, robots):
    planner("straight_only")(straight)
    assert "straight_only" in available_planners()
    result = plan(Problem(arm, None, [0, 0, 0], [1, 0, 0]), planner="straight_only")
    assert result.ok
    assert result.planner == "straight_only"
    assert not plan(
        Problem(arm, robots.pillar_scene(), [1, 0, 0], [-1, 0, 0]), planner="straight_only"
    )


def test_name_is_taken(clean):
    with pytest.raises(PlanningError, match="already registered by robosim"):
        planner("rrt_connect")(straight)


def test_installed_packages_are_found(monkeypatch, clean):
    """Entry points of the group robosim.planners are loaded when planners are first looked up."""

    class Entry:
        value = "elsewhere.planners"

        @staticmethod
        def load():
            planner("from_elsewhere")(straight)

    monkeypatch.setattr(
        importlib.metadata,
        "entry_points",
        lambda group: [Entry] if group == "robosim.planners" else [],
    )
    registry._discover.cache_clear()
    try:
        assert get_planner("from_elsewhere").search is straight
    finally:
        registry._discover.cache_clear()


def test_other_packages_are_not_looked_for_where_a_planner_is_our_own(monkeypatch, clean):
    """Looking for packages reads the disk, about 10 ms of the first plan."""

    def entry_points(group):
        raise AssertionError("nothing is missing")

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    registry._discover.cache_clear()
    try:
        assert get_planner("rrt_connect").name == "rrt_connect"
    finally:
        registry._discover.cache_clear()


def test_a_broken_package_takes_no_other_planner_down(monkeypatch, clean, capsys):
    class Entry:
        value = "broken.planners"

        @staticmethod
        def load():
            raise NameError("name 'np' is not defined")

    monkeypatch.setattr(registry, "_broken", {})
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [Entry])
    registry._discover.cache_clear()
    try:
        assert "rrt_connect" in available_planners()
        with pytest.raises(
            PlanningError, match=r"broken\.planners could not be loaded: NameError: name 'np'"
        ):
            get_planner("from_elsewhere")
        assert main(["planners"]) == 0
        shown = capsys.readouterr().out
        assert (
            "broken.planners  could not be imported: NameError: name 'np' is not defined" in shown
        )
        assert main(["planners", "--json"]) == 0
        listed = json.loads(capsys.readouterr().out)
        assert "rrt_connect" in listed["planners"]
        assert listed["unavailable"]["broken.planners"].startswith("could not be imported")
    finally:
        registry._discover.cache_clear()


def test_names():
    assert "rrt_connect" in available_planners()
    with pytest.raises(
        PlanningError, match=r"there is no planner 'nothing like it'; there are .*'rrt_connect'"
    ):
        get_planner("nothing like it")
