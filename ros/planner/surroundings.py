"""The scene that is planned in: from texts that arrive, or a bundled one or file; kept between
requests."""

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
    """The node's scene. Fed and asked from different threads.

    Args:
        name: bundled scene or file to begin with; empty for none.
        tf_prefix: put before the robot's names in bundled scenes and files, where the robot has
            them so.
    """

    def __init__(self, name: str = "", tf_prefix: str = "") -> None:
        self._lock = threading.Lock()
        self._name, self._tf_prefix = name, tf_prefix
        self._arrived: Scene | RobosimError | None = None
        self._loaded: tuple[Model, Scene] | None = None  # the scene of `name` for a robot

    def update(self, text: str) -> Scene | None:
        """Take over the scene of this text; an empty one takes it back to where the node began.

        A text that is no scene is not passed over: until a better one arrives, nothing is planned
        without a scene of its own, since what stands around the robot is not known.

        Raises:
            SceneError: it is not a valid scene; with its line.
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
        """The scene as it is; the same object as long as nothing changes.

        Raises:
            RobosimError: the text that arrived last is not a scene, or the file cannot be read.
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
        """The scene that a request brings along, or None if it brings none.

        Raises:
            Refusal: it brings two.
            RobosimError: it cannot be read; with its line.
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
    """The scene with `tf_prefix` before those names of joints and links that the robot has only
    so."""
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
