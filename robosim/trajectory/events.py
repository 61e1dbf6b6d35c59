"""Events during a motion: objects that are attached to a link, and detached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from robosim.errors import TrajectoryError, suggestion
from robosim.pickling import Value

ACTIONS = ("attach", "detach")


@dataclass(frozen=True)
class Event(Value):
    """An object is attached to a link, which carries it in its present relative pose, or is
    detached and stays.

    Attributes:
        time: time of the event in the motion [s].
        action: "attach" or "detach".
        object: name of the object in the scene.
        link: link that carries the object for "attach"; None for "detach".
    """

    time: float
    action: Literal["attach", "detach"]
    object: str
    link: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.time, bool) or not isinstance(
            self.time, int | float | np.floating | np.integer
        ):
            raise TrajectoryError(f"events: a time is a number of seconds, not {self.time!r}")
        if not np.isfinite(self.time):
            raise TrajectoryError(f"events: the time {self.time!r} is not finite")
        object.__setattr__(self, "time", float(self.time))
        if self.action not in ACTIONS:
            near = suggestion(self.action, ACTIONS) if isinstance(self.action, str) else ""
            raise TrajectoryError(f"events: unknown action {self.action!r}{near}")
        if not isinstance(self.object, str) or not self.object:
            raise TrajectoryError(f"events: an object is named by a string, not {self.object!r}")
        if self.action == "attach" and not (isinstance(self.link, str) and self.link):
            raise TrajectoryError(
                f"events: attaching {self.object!r} needs the name of a link, not {self.link!r}"
            )
        if self.action == "detach" and self.link is not None:
            raise TrajectoryError(
                f"events: detaching {self.object!r} takes no link, found {self.link!r}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the event in its file form."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def checked_events(
    events: Iterable[Event | Mapping[str, Any]], duration: float
) -> tuple[Event, ...]:
    """Return events of a motion in the order of their times; mappings have the file form."""
    checked = []
    try:
        listed = list(events)
    except TypeError:
        raise TrajectoryError(f"events: must be a sequence of events, not {events!r}") from None
    for event in listed:
        if isinstance(event, Mapping):
            fields = dict(event)
            try:
                event = Event(**fields)
            except TypeError:
                raise TrajectoryError(
                    f"events: an event has time, action, object and link, found {fields!r:.200}"
                ) from None
        if not isinstance(event, Event):
            raise TrajectoryError(f"events: {event!r:.100} is no Event")
        if not 0 <= event.time <= duration:
            raise TrajectoryError(
                f"events: {event.action} {event.object!r} at {event.time:g} s, the motion is from 0"
                f" to {duration:g} s"
            )
        checked.append(event)
    return tuple(sorted(checked, key=lambda event: event.time))


def moved(events: Iterable[Event], by: float, factor: float = 1.0) -> tuple[Event, ...]:
    """Return the events at factor * time + by."""
    return tuple(Event(factor * e.time + by, e.action, e.object, e.link) for e in events)
