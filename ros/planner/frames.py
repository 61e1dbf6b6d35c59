"""Frames of tf: the latest transform of each, and how one lies in another.

A planner asks where a frame is *now*, so that the latest transforms are enough; nothing is
interpolated. Static ones hold for ever, others as long as a joint state does. Without ROS; `listen`
feeds it from a node.
"""

from __future__ import annotations

import threading
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robosim.errors import MissingDependencyError, RobosimError
from robosim.geometry import pose
from robosim.ros.planner.codes import ErrorCode, Refusal

__all__ = ["Frames", "listen"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class _Edge:
    """A frame in its parent: the message's transform, and when it arrived [s]; None for a static
    one."""

    parent: str
    transform: Any
    received: float | None


class Frames:
    """The latest of each frame. Fed and asked from different threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._edges: dict[str, _Edge] = {}
        self.problem = ""  # why nothing arrives, where that is known

    def take(self, transforms: Iterable[Any], *, static: bool, received: float) -> None:
        """Take in geometry_msgs/TransformStamped.

        Args:
            transforms: of one message.
            static: from tf_static.
            received: now, on the node's clock [s].
        """
        time = None if static else received
        fresh = {
            _name(t.child_frame_id): _Edge(_name(t.header.frame_id), t.transform, time)
            for t in transforms
        }
        with self._lock:
            self._edges.update(fresh)

    def __contains__(self, frame: str) -> bool:
        """Whether tf has told of this frame, as a child or as a parent."""
        frame = _name(frame)
        with self._lock:
            return frame in self._edges or any(
                edge.parent == frame for edge in self._edges.values()
            )

    def connected(self, frame: str, target: str) -> bool:
        """Whether tf has told how two frames lie."""
        above = {name for name, _ in self._upward(target)}
        return any(name in above for name, _ in self._upward(frame))

    def above(
        self, frame: str, known: Container[str], *, now: float, max_age: float
    ) -> tuple[str, FloatArray] | None:
        """The nearest of the known frames at or above a frame, and the frame's pose in it; None if
        there is none.

        Raises Refusal: as `between`.
        """
        edges: list[tuple[str, _Edge]] = []
        for name, edge in self._upward(frame):
            if name in known:
                return name, self._chained(edges, now, max_age)
            if edge is not None:
                edges.append((name, edge))
        return None

    def between(self, frame: str, target: str, *, now: float, max_age: float) -> FloatArray:
        """X_TF: (4, 4) pose of a frame in a target frame.

        Args:
            frame, target: names.
            now: on the node's clock [s].
            max_age: [s] older transforms do not count, static ones aside.

        Raises:
            Refusal: nobody has told how they lie, or not lately; names both.
        """
        ours, theirs = dict(self._upward(frame)), dict(self._upward(target))
        common = next((name for name in ours if name in theirs), None)
        if common is None:
            raise Refusal(
                ErrorCode.FRAME_TRANSFORM_FAILURE,
                f"tf has no transform between {frame!r} and {target!r}: {self._why(frame, target)}",
            )
        X_CF, X_CT = (
            self._chained(_until(common, names), now, max_age) for names in (ours, theirs)
        )
        X: FloatArray = np.linalg.inv(X_CT) @ X_CF
        return X

    def _why(self, *frames: str) -> str:
        if self.problem:
            return self.problem
        unknown = [frame for frame in frames if frame not in self]
        if unknown:
            return (
                f"nothing has arrived on /tf and /tf_static of {' and '.join(map(repr, unknown))}"
            )
        return "they belong to trees that are not connected"

    def _upward(self, frame: str) -> list[tuple[str, _Edge | None]]:
        """The frame and all above it, each with its edge; the topmost has none."""
        with self._lock:
            edges = dict(self._edges)
        found: list[tuple[str, _Edge | None]] = []
        name, seen = _name(frame), set[str]()
        while name not in seen:  # a loop is no tree, and must not hang us
            seen.add(name)
            edge = edges.get(name)
            found.append((name, edge))
            if edge is None:
                break
            name = edge.parent
        return found

    @staticmethod
    def _chained(edges: Iterable[tuple[str, _Edge]], now: float, max_age: float) -> FloatArray:
        """The pose of the first frame in the parent of the last."""
        X = np.eye(4)
        for name, edge in edges:
            if edge.received is not None and abs(now - edge.received) > max_age:
                raise Refusal(
                    ErrorCode.FRAME_TRANSFORM_FAILURE,
                    f"the transform from {edge.parent!r} to {name!r} is {now - edge.received:.3g} s"
                    f" old; at most {max_age:g} s are allowed (parameter 'state_timeout')",
                )
            t, r = edge.transform.translation, edge.transform.rotation
            try:
                X = pose((t.x, t.y, t.z), quaternion=(r.x, r.y, r.z, r.w)) @ X
            except RobosimError as error:
                text = f"the transform from {edge.parent!r} to {name!r} is not valid: {error}"
                raise Refusal(ErrorCode.FRAME_TRANSFORM_FAILURE, text) from error
        return X


def _name(frame: str) -> str:
    return frame.lstrip("/")


def _until(common: str, upward: dict[str, _Edge | None]) -> list[tuple[str, _Edge]]:
    """The edges from the first frame up to below the common one."""
    edges = []
    for name, edge in upward.items():
        if name == common or edge is None:
            break
        edges.append((name, edge))
    return edges


def listen(node: Any, frames: Frames) -> None:
    """Feed frames from /tf and /tf_static; where tf2_msgs is not installed, `problem` says so."""
    from robosim.ros.qos import ANYONES, STATIC
    from robosim.ros.run import require

    try:
        require("tf2_msgs")
    except MissingDependencyError as error:
        frames.problem = str(error)
        node.get_logger().warning(f"goals in frames of tf are refused: {error}")
        return
    from tf2_msgs.msg import TFMessage

    def take(message: Any, *, static: bool) -> None:
        received = node.get_clock().now().nanoseconds * 1e-9
        frames.take(message.transforms, static=static, received=received)

    node.create_subscription(TFMessage, "/tf", lambda m: take(m, static=False), ANYONES)
    node.create_subscription(TFMessage, "/tf_static", lambda m: take(m, static=True), STATIC)
