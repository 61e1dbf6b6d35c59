"""Events on the time line: they follow edits of the motion, through files and pickles.

Invalid events are named.
"""

import pickle

import numpy as np
import pytest

from robosim.errors import TrajectoryError
from robosim.trajectory import Event, Trajectory

PICK, PLACE = Event(0.5, "attach", "box", "tool"), Event(2.5, "detach", "box")


def motion(*events, start=0.0):
    t = np.array([0.0, 1.0, 3.0])
    return Trajectory.from_waypoints(
        t, start + np.sin(t)[:, None], position_names=["a"], events=events
    )


def test_in_the_order_of_their_times():
    moved = motion(PLACE, PICK, Event(0.5, "detach", "lid"))
    assert moved.events == (PICK, Event(0.5, "detach", "lid"), PLACE)
    assert motion().events == ()


def test_they_follow_the_motion():
    moved = motion(PICK, PLACE)
    assert moved.scale(2).events == (
        Event(1.0, "attach", "box", "tool"),
        Event(5.0, "detach", "box"),
    )
    assert moved.slice(0.5, 2.0).events == (Event(0.0, "attach", "box", "tool"),)
    assert moved.slice(1.0, 3.0).events == (Event(1.5, "detach", "box"),)
    back = moved.reverse()
    assert back.events == ()
    twice = moved.concatenate(back, moved)
    assert [e.time for e in twice.events] == [0.5, 2.5, 6.5, 8.5]
    assert moved.reorder(["a"]).events == moved.events
    assert moved.replace(seed=3).events == moved.events
    for factor in (0.1, 1 / 3, 7.7):  # the end stays the end despite rounding
        ends = motion(Event(3.0, "detach", "box")).scale(factor)
        assert ends.events[0].time == ends.duration
        thrice = ends.concatenate(ends.reverse(), ends)
        assert thrice.events[1].time == thrice.duration


@pytest.mark.parametrize("format", ["json", "csv", "npz"])
def test_through_files(tmp_path, format):
    path = tmp_path / f"motion.{format}"
    moved = motion(PICK, PLACE)
    moved.save(path)
    assert Trajectory.load(path).events == moved.events
    motion().save(path)
    assert Trajectory.load(path).events == ()
    if format == "json":
        assert "events" not in path.read_text(), "readers of older versions would refuse the field"


def test_through_pickles():
    assert pickle.loads(pickle.dumps(motion(PICK, PLACE))).events == (PICK, PLACE)


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (Event(3.1, "detach", "box"), "at 3.1 s, the motion is from 0 to 3 s"),
        (Event(-1e-9, "detach", "box"), "at -1e-09 s"),
        ({"time": 1, "action": "attach", "object": "box"}, "needs the name of a link"),
        ({"time": 1, "action": "atach", "object": "box", "link": "tool"}, "did you mean 'attach'"),
        ({"time": 1, "action": "detach", "object": "box", "link": "tool"}, "takes no link"),
        ({"time": "1", "action": "detach", "object": "box"}, "number of seconds"),
        ({"time": float("nan"), "action": "detach", "object": "box"}, "not finite"),
        ({"time": 1, "action": "detach", "object": ""}, "named by a string"),
        ({"time": 1, "action": "detach"}, "an event has time, action, object and link"),
        ({"time": 1, "action": "detach", "object": "box", "by": "me"}, "an event has time"),
        ((1.0, "detach", "box"), "is no Event"),
        (None, "is no Event"),
    ],
)
def test_bad_events_are_named(event, says):
    with pytest.raises(TrajectoryError, match=says):
        motion(event)


def test_a_file_with_events_that_are_none_is_refused(tmp_path):
    path = tmp_path / "motion.json"
    motion(PICK).save(path)
    text = path.read_text()
    for bad in ("null", "3", '[{"time": 1}]', '["x"]'):
        start = text.index('"events": ') + len('"events": ')
        path.write_text(text[:start] + bad + text[text.index("\n", start) - 1 :])
        with pytest.raises(TrajectoryError, match="events"):
            Trajectory.load(path)


class Robot:
    name = "robot"
    position_names = ("a", "b", "c")

    def neutral(self):
        return np.array([0.0, 0.1, 0.2])


def test_the_whole_configuration():
    t = np.linspace(0, 2, 6).reshape(2, 3)
    moved = Trajectory.from_waypoints(
        [0, 1, 2],
        np.array([[0.0, 1], [1, 2], [2, 1]]),
        position_names=["c", "a"],
        metadata={"positions_at_rest": {"b": -3.0, "elsewhere": 1.0}},
    )
    whole = moved.configuration(t, Robot())
    assert whole.shape == (2, 3, 3)
    assert np.array_equal(whole[..., [2, 0]], moved.position(t))
    assert (whole[..., 1] == -3).all()
    assert moved.configuration(0.5, Robot()).shape == (3,)
    unsaid = moved.replace(metadata={})
    assert unsaid.configuration(0.0, Robot())[1] == 0.1
    assert unsaid.configuration(0.0, Robot(), [7, 8, 9])[1] == 8
    with pytest.raises(TrajectoryError, match="'d', which robot does not have"):
        moved.reorder(["a", "c"]).replace(position_names=["a", "d"]).configuration(0.0, Robot())
    for rest in ([1, 2], [1, np.nan, 2], "x"):
        with pytest.raises(TrajectoryError, match="rest must be"):
            moved.configuration(0.0, Robot(), rest)
