"""Stage drawn by viser: the same nodes serve the live viewer and the standalone HTML file.

Every link of the robot is a frame node. A motion only moves frames, so each mesh is sent once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robosim.errors import MissingDependencyError
from robosim.viewer.camera import Camera
from robosim.viewer.forces import colors
from robosim.viewer.meshing import arrow_mesh, is_solid, split_creases

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from numpy.typing import NDArray

    from robosim.viewer.content import Part
    from robosim.viewer.stage import Stage

TRACE_COLOR = (235, 110, 30)
_GLASS = 0.6  # opacity of a robot in see-through mode, in front of arrows
_UNSEEN = 1e-6  # size of an unused arrow [m]
_HALF_PRECISION = 2.0**-11  # largest relative error of a half-precision number


def import_viser() -> ModuleType:
    """Import the viser package.

    Raises:
        MissingDependencyError: it is not installed.
    """
    try:
        import viser
    except ImportError as error:
        raise MissingDependencyError(
            "the browser viewer needs the package viser: pip install 'robosim[view]' brings it"
        ) from error
    return viser


class WebScene:
    """Nodes of a stage on a viser server.

    Args:
        server: a viser.ViserServer.
        stage: content to show.
        camera: initial camera.
    """

    def __init__(self, server: Any, stage: Stage, camera: Camera) -> None:
        self.server = server
        self.stage = stage
        scene = server.scene
        server.initial_camera.position = tuple(camera.position)
        server.initial_camera.look_at = tuple(camera.look_at)
        server.initial_camera.fov = camera.fov
        # viser's own sun in the zenith casts the shadows. Vertical surfaces get light from behind
        # the visitor's shoulder and from the sky. An environment map would arrive late, and not at
        # all in the HTML file.
        scene.configure_environment_map(None)
        scene.add_light_hemisphere(
            "/sky", sky_color=(255, 255, 255), ground_color=(190, 185, 180), intensity=1.7
        )
        shoulder = camera.look_at + 4 * (camera.position - camera.look_at) + 2 * camera.R_WC[:, 0]
        scene.add_light_directional("/light", intensity=1.3, position=tuple(shoulder))
        scene.add_grid(
            "/grid",
            position=(0.0, 0.0, stage.ground()),
            infinite_grid=True,
            fade_distance=12.0,
            shadow_opacity=0.2,
            cell_color=(222, 225, 230),
            section_color=(195, 199, 206),
        )
        self.links: dict[str, Any] = {}
        self._placed: dict[str, NDArray[np.float64]] = {}
        for part in (*stage.robot, *stage.colliders):
            if part.link is not None and part.link not in self.links:
                name = f"/robot/{len(self.links)}_{_node(part.link)}"
                self.links[part.link] = scene.add_frame(name, show_axes=False)
        self._robot = self._add(stage.robot, "robot")
        self.colliders = self._add(stage.colliders, "colliders", visible=False)
        self._add(stage.world, "world")
        self.objects: dict[str, Any] = {}
        for part in stage.carried:
            if part.name not in self.objects:
                name = f"/carried/{len(self.objects)}_{_node(part.name)}"
                self.objects[part.name] = scene.add_frame(name, show_axes=False)
        self._add(stage.carried, "carried")
        self.traces = [
            scene.add_line_segments(
                f"/trace/{k}", np.stack([path[:-1], path[1:]], axis=1), TRACE_COLOR, thickness=0.006
            )
            for k, path in enumerate(stage.tip_paths())
        ]
        self.arrows = self._add_arrows()
        self.see_through(bool(self.arrows))
        self.show(0.0)

    def show(self, t: float) -> None:
        """Move all nodes to their poses at time t of the motion."""
        self.place(self.stage.configuration(t))
        for name, frame in self.objects.items():
            self._move(frame, f"object/{name}", self.stage.object_pose(name, t))
        if self.arrows:
            self._place_arrows(self.stage.moment(t))

    def place(self, q: NDArray[np.float64]) -> None:
        """Move the robot to a configuration. Links that do not move cost nothing."""
        poses = self.stage.link_poses(q)
        for name, frame in self.links.items():
            self._move(frame, name, poses[name])

    def _move(self, frame: Any, name: str, X: NDArray[np.float64]) -> None:
        """Move a node to X in W, unless it is there."""
        if name in self._placed and np.array_equal(self._placed[name], X):
            return
        self._placed[name] = X
        frame.position = tuple(X[:3, 3])
        frame.wxyz = tuple(wxyz(X[:3, :3]))

    def see_through(self, wanted: bool) -> None:
        """Set whether the robot is translucent, so that arrows in and behind it are visible."""
        for part, node in zip(self.stage.robot, self._robot, strict=True):
            if part.radius > 0:
                continue  # points have no opacity
            opacity = part.rgba[3] * (_GLASS if wanted else 1.0)
            node.opacity = opacity if opacity < 1 else None

    def _add_arrows(self) -> list[Any]:
        """Add one node for the largest number of simultaneous arrows."""
        forces = self.stage.forces
        if forces is None or not forces.most:
            return []
        vertices, faces = split_creases(*arrow_mesh())
        self._arrow_moment: int | None = None
        n = forces.most
        return [
            self.server.scene.add_batched_meshes_simple(
                "/forces",
                vertices.astype(np.float32),
                faces.astype(np.uint32),
                np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)),
                np.zeros((n, 3)),
                batched_scales=np.full((n, 3), _UNSEEN),
                batched_colors=np.zeros((n, 3), np.uint8),
                lod="off",
                cast_shadow=False,
                receive_shadow=False,
            )
        ]

    def _place_arrows(self, moment: int) -> None:
        """Place the arrows of a moment, and shrink the node's other arrows out of sight."""
        forces = self.stage.forces
        assert forces is not None
        if moment == self._arrow_moment:
            return
        self._arrow_moment = moment
        positions, R, scales = forces.poses(moment)
        k, (node,) = len(positions), self.arrows
        rgb = [_vivid((*rgb, 1.0)) for rgb in colors(forces[moment])]
        for name, values, rest in (
            ("batched_positions", positions, (0.0, 0.0, 0.0)),
            ("batched_wxyzs", [wxyz(r) for r in R], (1.0, 0.0, 0.0, 0.0)),
            ("batched_scales", scales, (_UNSEEN, _UNSEEN, _UNSEEN)),
            ("batched_colors", np.rint(255 * np.reshape(rgb, (-1, 3))), (0, 0, 0)),
        ):
            old = getattr(node, name)
            new = np.empty_like(old)
            new[:k], new[k:] = np.reshape(values, (k, old.shape[1])), rest
            if not np.array_equal(new, old):
                setattr(node, name, new)

    def _add(self, parts: Iterable[Part], kind: str, *, visible: bool = True) -> list[Any]:
        handles = []
        for k, part in enumerate(parts):
            parent = f"/{kind}" if part.link is None else self.links[part.link].name
            if kind == "carried":
                parent = self.objects[part.name].name
            name = f"{parent}/{kind}_{k}_{_node(part.name)}"
            if part.radius > 0:
                handles.append(self._add_cloud(part, name, visible))
                continue
            vertices, faces = split_creases(part.vertices, part.faces)
            handles.append(
                self.server.scene.add_mesh_simple(
                    name,
                    vertices.astype(np.float32),
                    faces.astype(np.uint32),
                    color=_vivid(part.rgba),
                    opacity=None if part.rgba[3] >= 1 else part.rgba[3],
                    side="front" if is_solid(part.vertices, part.faces) else "double",
                    position=tuple(part.X[:3, 3]),
                    wxyz=tuple(wxyz(part.X[:3, :3])),
                    visible=visible,
                )
            )
        return handles

    def _add_cloud(self, part: Part, name: str, visible: bool) -> Any:
        """Add one node for all points, about their center.

        Half precision is used if it is fine enough.
        """
        low, high = part.vertices.min(axis=0), part.vertices.max(axis=0)
        middle = (low + high) / 2
        coarse = _HALF_PRECISION * float((high - low).max()) / 2 > part.radius / 4
        return self.server.scene.add_point_cloud(
            name,
            part.vertices - middle,
            np.array(_vivid(part.rgba)),
            point_size=part.radius,
            point_shape="circle",
            precision="float32" if coarse else "float16",
            position=tuple(part.X[:3, :3] @ middle + part.X[:3, 3]),
            wxyz=tuple(wxyz(part.X[:3, :3])),
            visible=visible,
        )


def wxyz(R: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quaternion (w, x, y, z) of a rotation matrix, in viser's order."""
    from robosim.geometry import pose_to_xyz_quaternion

    X = np.eye(4)
    X[:3, :3] = R
    quaternion = pose_to_xyz_quaternion(X)[1]
    return np.roll(quaternion, 1)


def _vivid(rgba: tuple[float, ...]) -> tuple[float, float, float]:
    """Adjust a color for the browser's film-like tone mapping, which grays and brightens.

    The result looks like the given color.
    """
    r, g, b = rgba[:3]
    gray = (r + g + b) / 3
    r, g, b = (min(max(0.95 * (gray + 1.15 * (c - gray)), 0.0), 1.0) for c in (r, g, b))
    return r, g, b


def _node(name: str | None) -> str:
    """Name as part of a node's path, in which a slash would mean a child."""
    return str(name).replace("/", ".")
