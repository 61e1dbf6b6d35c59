"""Scene of planning, from received texts, a bundled scene or a file; kept between requests."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from robosim.errors import RobosimError, SceneError
from robosim.ros.planner.codes import ErrorCode, Refusal
from robosim.scene import LinkPose, Scene, load_scene

if TYPE_CHECKING:
    from robosim.model import Model
    from robosim.ros.planner.request import MotionRequest

__all__ = ["Surroundings"]


class Surroundings:
    """The node's scene. Thread-safe.

    Args:
        name: initial bundled scene or file; empty for none.
        tf_prefix: prefix of the robot's names in bundled scenes and files, applied if the robot has
            the prefixed names.
    """

    def __init__(self, name: str = "", tf_prefix: str = "") -> None:
        self._lock = threading.Lock()
        self._name, self._tf_prefix = name, tf_prefix
        self._arrived: Scene | RobosimError | None = None
        self._loaded: tuple[Model, Scene] | None = None  # scene of `name`, for a robot

    def update(self, text: str) -> Scene | None:
        """Set the scene to that of a text. An empty text restores the initial scene.

        An invalid text is not ignored. Until a valid one arrives, requests without a scene of their
        own are refused, because the robot's surroundings are unknown.

        Raises:
            SceneError: the text is not a valid scene; with its line.
        """
        scene: Scene | None = None
        try:
            scene = Scene.from_text(text) if text.strip() else None
        except RobosimError as error:
            with self._lock:
                self._arrived = error
            raise
        with self._lock:
            self._arrived = scene
        return scene

    def now(self, model: Model) -> Scene | None:
        """Return the present scene; the same object while nothing changes.

        Raises:
            RobosimError: the last received text is not a scene, or the file cannot be read.
        """
        with self._lock:
            arrived, name, loaded = self._arrived, self._name, self._loaded
        if isinstance(arrived, RobosimError):
            raise SceneError(f"the scene that arrived last cannot be used: {arrived}")
        if arrived is not None or not name:
            return arrived
        if loaded is None or loaded[0] is not model:
            loaded = (model, self._load(name, model))
            with self._lock:
                self._loaded = loaded
        return loaded[1]

    def of_request(self, request: MotionRequest, model: Model) -> Scene | None:
        """Return the scene of a request, or None if the request has none.

        Raises:
            Refusal: the request has two scenes.
            RobosimError: the scene cannot be read; with its line.
        """
        if request.scene_name and request.scene_text:
            raise Refusal(
                ErrorCode.INVALID_OBJECT_NAME,
                "both scene_name and scene_text are given; give one of them",
            )
        if request.scene_text:
            return Scene.from_text(request.scene_text)
        return self._load(request.scene_name, model) if request.scene_name else None

    def _load(self, name: str, model: Model) -> Scene:
        return with_prefix(load_scene(name, model=model), self._tf_prefix, model)


def with_prefix(scene: Scene, tf_prefix: str, model: Model) -> Scene:
    """Add `tf_prefix` to names of joints and links that the robot has only with the prefix."""
    known = {*model.link_names, *model.position_names, *(joint.name for joint in model.joints)}

    def own(name: str) -> str:
        return name if name in known or tf_prefix + name not in known else tf_prefix + name

    if not tf_prefix:
        return scene
    out = Scene(scene.name, robot=scene.robot)
    for thing in scene:
        out.add(thing)
    for name, held in scene.attachments.items():
        pose = scene.objects[name].pose
        out.attach(
            name, own(held.link), pose=pose, touch_links=[own(link) for link in held.touch_links]
        )
    for pair in scene.allowed:
        out.allow(*(name if name in scene else own(name) for name in pair))
    for label, start in scene.starts.items():
        out.set_start({own(joint): value for joint, value in start.items()}, label)
    for label, goal in scene.goals.items():
        out.set_goal(
            LinkPose(own(goal.link), goal.pose)
            if isinstance(goal, LinkPose)
            else {own(j): value for j, value in goal.items()},
            label,
        )
    return out
