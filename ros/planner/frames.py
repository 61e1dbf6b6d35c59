"""Frames of tf: the latest transform of each, and relative poses.

A planner needs the present pose of a frame, so the latest transforms suffice, without
interpolation. Static transforms are valid forever, others as long as a joint state. This module
needs no ROS; `listen` subscribes on a node.
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
    """A frame in its parent: transform of the message, and arrival time [s], None if static."""

    parent: str
    transform: Any
    received: float | None


class Frames:
    """The latest transform of each frame. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._edges: dict[str, _Edge] = {}
        self.problem = ""  # reason why nothing arrives, if known

    def take(self, transforms: Iterable[Any], *, static: bool, received: float) -> None:
        """Store geometry_msgs/TransformStamped messages.

        Args:
            transforms: transforms of one message.
            static: True for tf_static.
            received: present time on the node's clock [s].
        """
        time = None if static else received
        fresh = {
            _name(t.child_frame_id): _Edge(_name(t.header.frame_id), t.transform, time)
            for t in transforms
        }
        with self._lock:
            self._edges.update(fresh)

    def __contains__(self, frame: str) -> bool:
        """Return true if tf has this frame, as a child or as a parent."""
        frame = _name(frame)
        with self._lock:
            return frame in self._edges or any(
                edge.parent == frame for edge in self._edges.values()
            )

    def connected(self, frame: str, target: str) -> bool:
        """Return true if tf relates two frames."""
        above = {name for name, _ in self._upward(target)}
        return any(name in above for name, _ in self._upward(frame))

    def above(
        self, frame: str, known: Container[str], *, now: float, max_age: float
    ) -> tuple[str, FloatArray] | None:
        """Find the nearest known frame at or above a frame, and the frame's pose in it.

        Return None if there is none.

        Raises Refusal as `between` does.
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
            frame, target: names of the frames.
            now: present time on the node's clock [s].
            max_age: largest age of transforms that are not static [s].

        Raises:
            Refusal: the frames are unrelated, or a transform is too old. The message names both.
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
        """The frame and all frames above, each with its edge; the topmost has none."""
        with self._lock:
            edges = dict(self._edges)
        found: list[tuple[str, _Edge | None]] = []
        name, seen = _name(frame), set[str]()
        while name not in seen:  # a cycle must not loop forever
            seen.add(name)
            edge = edges.get(name)
            found.append((name, edge))
            if edge is None:
                break
            name = edge.parent
        return found

    @staticmethod
    def _chained(edges: Iterable[tuple[str, _Edge]], now: float, max_age: float) -> FloatArray:
        """Pose of the first frame in the parent of the last."""
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
    """Edges from the first frame up to below the common frame."""
    edges = []
    for name, edge in upward.items():
        if name == common or edge is None:
            break
        edges.append((name, edge))
    return edges


def listen(node: Any, frames: Frames) -> None:
    """Store frames of /tf and /tf_static. If tf2_msgs is not installed, `problem` says so."""
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
